# SPDX-License-Identifier: MIT
"""dynoctl with too few resources: threads, descriptors, memory, a disk that does not answer."""
import json, os, resource, shutil, signal, struct, subprocess, sys, threading, unittest
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, PROGRAM, SMALL, TINY, main

PRELOAD = os.environ.get('DYNO_TEST_PRELOAD')


class Faults(Case):
    def end(self, process, seconds=600):
        """Returns the exit code and the standard error of a process; a hang and a signal are
        failures."""
        try:
            _, words = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail('it hangs')
        self.assertGreaterEqual(process.returncode, 0, words.decode())
        return process.returncode, words.decode()

    def picture(self, name):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(b'\x89PNG\r\n\x1a\n')

    def start(self, *arguments, environment=None, limit=None, stdout=subprocess.DEVNULL, pass_fds=()):
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=dict(self.environment, **(environment or {})),
                                stdout=stdout, stderr=subprocess.PIPE, pass_fds=pass_fds,
                                preexec_fn=(lambda: resource.setrlimit(limit[0], (limit[1], limit[1]))) if limit else None)

    @unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
    def test_too_few_threads_are_fewer_workers_or_an_error(self):
        """The test tries every number of threads, from none to enough."""
        codes = []
        for most in range(0, 16):
            code, words = self.end(self.start('train', '--data', TINY, *SMALL, '--set', 'workers=3', '--steps', '2', '--no-out',
                                              environment={'LD_PRELOAD': PRELOAD, 'DYNO_TEST_THREADS': str(most)}))
            codes.append(code)
            self.assertTrue(code == 0 or 'thread' in words, words)
            self.assertNotIn('critical', words)
        self.assertNotEqual(codes[0], 0)
        # With four threads a run has all that it needs.
        self.assertEqual(codes[4:], [0] * 12, codes)

    @unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
    def test_a_search_without_threads_is_an_error(self):
        for most in range(0, 3):
            code, words = self.end(self.start('tune', '--data', TINY, '--model', 'mlp', '--set', 'model.width=0.125', '--minutes',
                                              '0.01', environment={'LD_PRELOAD': PRELOAD, 'DYNO_TEST_THREADS': str(most)}))
            self.assertTrue(code == 0 or words, words)

    @unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
    def test_a_file_that_does_not_answer_is_left_at_the_first_interrupt(self):
        for name in ('a/1.png', 'a/stuck.png', 'b/2.png'):
            self.picture('photos/' + name)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            opened, write = os.pipe()
            process = self.start('train', '--data', 'photos', *SMALL, pass_fds=(write,), environment={
                'LD_PRELOAD': PRELOAD, 'DYNO_TEST_STUCK': 'stuck.png', 'DYNO_TEST_STUCK_FD': str(write)})
            os.close(write)
            with os.fdopen(opened, 'rb') as file:
                self.assertEqual(file.read(1), b'\0')
            process.send_signal(number)
            got, words = self.end(process, 300)
            self.assertEqual(got, code, words)
            self.assertIn('nothing was written', words)
            self.assertNotIn('ended at once', words)
        self.assertEqual(os.listdir(self.folder), ['photos'])

    def wait_for(self, process, stream, text):
        """Reads lines until one holds the text, and kills the process."""
        lines = []
        late = threading.Timer(600, process.kill)
        late.start()
        for line in stream:
            lines.append(line.decode())
            if text in lines[-1]:
                break
        late.cancel()
        process.kill()
        process.communicate()
        self.assertIn(text, ''.join(lines[-1:]), lines)
        self.assertNotIn('\r', ''.join(lines))

    @unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
    def test_a_long_scan_is_told_of(self):
        self.picture('photos/a/1.png')
        self.picture('photos/b/stuck.png')
        process = self.start('train', '--data', 'photos', *SMALL, environment={'LD_PRELOAD': PRELOAD, 'DYNO_TEST_STUCK': 'stuck.png'})
        self.wait_for(process, process.stderr, 'reading the data set')

    @unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
    def test_a_pipe_is_told_what_takes_long(self):
        """While weights on a disk that does not answer are read, no event arrives, but progress
        lines do."""
        self.run_it('train', '--data', TINY, *SMALL, '--steps', '1', '--no-out', '--save-weights', 'stuck.safetensors')
        process = self.start('train', '--data', TINY, *SMALL, '--no-out', '--weights', 'stuck.safetensors', stdout=subprocess.PIPE,
                             environment={'LD_PRELOAD': PRELOAD, 'DYNO_TEST_STUCK': 'stuck.safetensors'})
        self.wait_for(process, process.stdout, 'preparing weights')

    @unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
    def test_an_unplugged_disk_is_a_pause(self):
        self.array('X.npy', '<f4', (32, 16, 16, 1), struct.pack(f'<{32 * 256}f', *(i % 7 / 7 for i in range(32 * 256))))
        self.array('y.npy', '<i8', (32,), struct.pack('<32q', *(i % 2 for i in range(32))))
        process = self.start('train', '--data', 'X.npy', *SMALL, '--epochs', '1000000', '--out', 'run', '--json', stdout=subprocess.PIPE,
                             environment={'LD_PRELOAD': PRELOAD, 'DYNO_TEST_UNPLUGGED': self.path('unplugged')})
        paused, done = None, None
        for line in process.stdout:
            event = json.loads(line)
            if event['event'] == 'step' and event['step'] == 3:
                open(self.path('unplugged'), 'w').close()
            if event['event'] == 'warning' and 'paused' in event['text']:
                paused = event['text']
                self.assertTrue(os.path.exists(self.path('run/checkpoint.safetensors')))
                os.unlink(self.path('unplugged'))
            if event['event'] == 'warning' and 'continues where it was' in event['text']:
                process.send_signal(signal.SIGTERM)
            done = event if event['event'] == 'done' else done
        code, words = self.end(process)
        self.assertEqual(code, 143, words)
        self.assertIn('X.npy', paused)
        self.assertIn('Input/output error', paused)
        self.assertIn('continues where it was', words)
        self.assertEqual(done['unreadable'], 0)
        self.assertGreaterEqual(done['steps'], 3)

    def array(self, name, kind, shape, data):
        head = str({'descr': kind, 'fortran_order': False, 'shape': shape})
        head += ' ' * (63 - (10 + len(head)) % 64) + '\n'
        with open(self.path(name), 'wb') as file:
            file.write(b'\x93NUMPY\x01\0' + struct.pack('<H', len(head)) + head.encode() + data)

    def test_a_search_tries_its_files_first(self):
        """With a file that cannot be written, or a full disk (files cannot grow), no trial runs."""
        for name in ('best.ini', 'best.json', 'report.html', 'trials.csv'):
            os.makedirs(self.path(f'{name}.d/{name}'))
            code, words = self.end(self.start('tune', '--data', TINY, '--model', 'mlp', '--minutes', '9', '--force', '--out', f'{name}.d'))
            self.assertEqual(code, 7, words)
            self.assertIn(name, words)
            self.assertEqual(os.listdir(self.path(f'{name}.d')), [name])
        code, words = self.end(self.start('tune', '--data', TINY, '--model', 'mlp', '--minutes', '9', '--out', 'full',
                                          limit=(resource.RLIMIT_FSIZE, 1000)))
        self.assertEqual(code, 7, words)
        self.assertEqual(os.listdir(self.path('full')), [])

    def failing(self, number, *arguments, least=100000):
        """Runs a job in which the allocation with that number fails; returns its exit code and
        standard error, and whether there was such an allocation."""
        hit = self.path('hit')
        if os.path.exists(hit):
            os.unlink(hit)
        code, words = self.end(self.start(*arguments, environment={
            'LD_PRELOAD': PRELOAD, 'DYNO_VALIDATION': '0', 'DYNO_TEST_ALLOC': str(number), 'DYNO_TEST_ALLOC_BYTES': str(least),
            'DYNO_TEST_ALLOC_FILE': hit}))
        return code, words, os.path.exists(hit)

    def assertWhole(self, name):
        """Asserts that a safetensors file has the length that its header states."""
        with open(self.path(name), 'rb') as file:
            size = struct.unpack('<Q', file.read(8))[0]
            header = json.loads(file.read(size))
        ends = [tensor['data_offsets'][1] for key, tensor in header.items() if key != '__metadata__']
        self.assertEqual(os.path.getsize(self.path(name)), 8 + size + max(ends))

    @unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
    def test_each_large_allocation_may_fail(self):
        """A resumed run either goes on without the memory, or exits with 6 and advice, and its
        checkpoint is complete."""
        model = ['--model', 'mlp', '--set', 'batch_size=8', '--set', 'amp=false', '--set', 'workers=1', '--set', 'autotune=false']
        self.run_it('train', '--data', TINY, *model, '--steps', '1', '--out', 'run')
        shutil.copytree(self.path('run'), self.path('first'))
        codes = []
        for number in range(1, 100):
            shutil.rmtree(self.path('run'))
            shutil.copytree(self.path('first'), self.path('run'))
            code, words, hit = self.failing(number, 'train', '--resume', 'run', '--steps', '2')
            if not hit:
                break
            codes.append(code)
            self.assertIn(code, (0, 6), words)
            if code == 6:
                self.assertIn('memory', words)
                self.assertIn('ulimit -v', words)
            self.assertEqual([name for name in os.listdir(self.path('run')) if name.startswith('.dyno-')], [])
            self.assertWhole('run/checkpoint.safetensors')
        self.assertFalse(hit)
        self.assertEqual(code, 0, words)
        self.assertIn(6, codes)

    @unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
    def test_data_that_find_no_memory_are_no_bad_data(self):
        self.array('X.npy', '<f4', (50000, 1), bytes(200000))
        self.array('y.npy', '<i8', (50000,), struct.pack('<50000q', *(i % 2 for i in range(50000))))
        codes = []
        for number in range(1, 100):
            code, words, hit = self.failing(number, 'inspect', 'X.npy')
            if not hit:
                break
            codes.append(code)
            self.assertIn(code, (0, 6), words)
            self.assertTrue(code == 0 or 'memory' in words, words)
        self.assertFalse(hit)
        self.assertEqual(code, 0, words)
        self.assertIn(6, codes)

    def test_too_little_address_space_is_exit_6(self):
        """The exit code is 6 also where the libraries of the driver would crash: while the driver
        is loaded, the device is opened or kernels are compiled.  A limit that is large enough for
        them suffices for any number of threads."""
        codes = []
        for megabytes in (200, 350, 500, 650, 700, 750, 800, 950, 1400):
            code, words = self.end(self.start('train', '--data', TINY, *SMALL, '--steps', '2', '--no-out', '-q',
                                              environment={'DYNO_VALIDATION': '0'}, limit=(resource.RLIMIT_AS, megabytes * 1000000)))
            codes.append(code)
            self.assertIn(code, (0, 6), f'{megabytes} MB: {words}')
            self.assertTrue(code == 0 or 'ulimit -v' in words, words)
        self.assertEqual((codes[0], codes[-1]), (6, 0))

    @unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
    def test_durations_are_not_of_the_wall_clock(self):
        """The wall clock jumps ten years forward during a run."""
        jumped = 0
        process = self.start('train', '--data', TINY, *SMALL, '--epochs', '100000', '--no-out', '--json', stdout=subprocess.PIPE,
                             environment={'LD_PRELOAD': PRELOAD, 'DYNO_TEST_JUMP': self.path('jump')})
        for line in process.stdout:
            event = json.loads(line)
            if event['event'] == 'epoch' and not jumped:
                open(self.path('jump'), 'w').close()
                jumped = event['epoch']
            if event['event'] == 'epoch' and event['epoch'] == jumped + 30:
                process.send_signal(signal.SIGTERM)
            self.assertNotEqual(event['event'], 'warning', event)
        code, words = self.end(process)
        self.assertEqual(code, 143, words)
        run, = self.lines('runs', '--json')
        self.assertEqual(run['state'], 'stopped')
        self.assertGreater(int(run['end'][:4]), int(run['begin'][:4]) + 8, 'the clock did not jump')
        self.assertLess(run['seconds'], 365 * 86400)
        self.assertGreater(run['samples_per_s'], 0.001)
        self.assertLess(run['epoch_overhead_seconds'], 365 * 86400)

    def test_too_few_descriptors_are_an_error_or_enough(self):
        for most in (3, 9, 15, 24):
            self.end(self.start('train', '--data', TINY, *SMALL, '--steps', '2', '--no-out', limit=(resource.RLIMIT_NOFILE, most)), seconds=240)


if __name__ == '__main__':
    main()
