# SPDX-License-Identifier: MIT
"""The queue: frozen settings, the order of jobs, failures, signals, and a start that was killed."""
import json, os, signal, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, PROGRAM, SMALL, TINY, main

LONG = '5000'  # epochs of a run that goes on until it is stopped


class Queue(Case):
    def setUp(self):
        super().setUp()
        self.process = None

    def tearDown(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        super().tearDown()

    def add(self, *more, **options):
        return self.run_it('queue', 'add', '--data', TINY, *SMALL, *more, **options)

    def jobs(self):
        return self.lines('queue', 'list', '--json')

    def states(self):
        return [job['state'] for job in self.jobs()]

    def start(self):
        self.process = subprocess.Popen([PROGRAM, 'queue', 'start', '--json'], cwd=self.folder, env=self.environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def follow(self, name):
        for line in self.process.stdout:
            event = json.loads(line)
            if event.get('event') == name:
                return event
        self.fail(f'no {name}')

    def test_one_after_another_with_frozen_settings(self):
        settings = self.path('mine.ini')
        with open(settings, 'w') as file:
            file.write('[settings]\nlr=0.01\nepochs=2\n')
        self.add('--settings', settings, '--seed', '5')
        os.unlink(settings)  # the job keeps a copy of the settings
        self.add('--epochs', '1', '--steps', '4', '--out', 'mine', '--name', ' at night ')
        self.assertEqual(self.states(), ['waiting', 'waiting'])
        self.assertEqual(self.jobs()[1]['folder'], self.path('mine'))
        self.assertEqual([job['name'] for job in self.jobs()], [None, 'at night'])
        self.assertRegex(self.run_it('queue', 'list').stdout.decode(), r'2 +at night +waiting')
        lines = self.lines('queue', 'start', '--json')
        self.assertEqual([(job['id'], job['state']) for job in self.events(lines, 'job')],
                         [(1, 'running'), (1, 'finished'), (2, 'running'), (2, 'finished')])
        self.assertEqual(self.states(), ['finished', 'finished'])
        second, first = self.lines('runs', '--json')
        self.assertEqual((first['state'], first['epochs'], first['folder']), ('finished', 2, self.jobs()[0]['folder']))
        self.assertEqual((second['steps'], second['name']), (4, 'at night'))
        shown, = self.lines('runs', 'show', '1', '--json')
        self.assertEqual((shown['settings']['lr'], shown['settings']['seed'], shown['settings']['batch_size']), (0.01, 5, 8))
        # All jobs are done, so nothing is run again.
        self.assertIn('no job waits', self.run_it('queue', 'start').stderr.decode())

    def test_goes_on_after_a_failure(self):
        for name in 'first', 'second':
            self.add('--epochs', '1', '--out', name)
        with open(self.path('first'), 'w') as file:
            file.write('in the way')
        self.run_it('queue', 'start', expect=1)
        self.assertEqual(self.states(), ['failed', 'finished'])
        self.assertGreater(self.jobs()[0]['exit_code'], 0)
        self.assertRegex(self.jobs()[0]['error'], '^(?!dynoctl).*first')
        self.assertIsNone(self.jobs()[1]['error'])
        # The job that failed is tried again only by request, and the other one is not repeated.
        os.unlink(self.path('first'))
        self.run_it('queue', 'start')
        self.assertEqual(self.states(), ['failed', 'finished'])
        self.run_it('queue', 'retry', '1')
        self.assertEqual([(job['state'], job['exit_code'], job['error']) for job in self.jobs()],
                         [('waiting', None, None), ('finished', 0, None)])
        self.run_it('queue', 'start')
        self.assertIsNone(self.jobs()[0]['error'])
        self.assertEqual([(job['state'], job['attempts']) for job in self.jobs()], [('finished', 2), ('finished', 1)])
        self.assertIn('add it again', self.run_it('queue', 'retry', '1', expect=2).stderr.decode())

    def test_stops_on_failure(self):
        for name in 'first', 'second':
            self.add('--epochs', '1', '--out', name)
        with open(self.path('first'), 'w') as file:
            file.write('in the way')
        self.run_it('queue', 'start', '--stop-on-failure', expect=1)
        # The last job's error is its own, not that of the queue, which ends with it.
        self.assertRegex(self.jobs()[0]['error'], '^(?!dynoctl).*first')
        self.assertEqual(self.states(), ['failed', 'waiting'])

    def interrupt(self, number, code):
        self.add('--epochs', LONG, '--out', 'long')
        self.add('--epochs', '1', '--out', 'short')
        self.start()
        self.follow('epoch')
        self.process.send_signal(number)
        self.process.communicate()
        self.assertEqual(self.process.returncode, code)
        self.assertEqual(self.states(), ['stopped', 'waiting'])
        self.assertTrue(os.path.exists(self.path('long/checkpoint.safetensors')))

    def test_interrupt_saves_and_the_next_start_goes_on(self):
        self.interrupt(signal.SIGINT, 130)
        before = self.lines('runs', '--json')[0]['steps']
        first = self.jobs()[0]
        self.assertEqual((first['attempts'], first['exit_code']), (1, 130))
        self.assertGreaterEqual(first['end'], first['begin'])
        # A second attempt has neither an exit code nor an end while it runs, and then its own.
        self.start()
        job = self.follow('job')
        self.assertEqual((job['state'], job['attempts'], job['exit_code'], job['end']), ('running', 2, None, None))
        self.assertGreater(self.follow('step')['step'], before)
        job = self.jobs()[0]
        self.assertEqual((job['state'], job['attempts'], job['exit_code'], job['end']), ('running', 2, None, None))
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()
        job = self.jobs()[0]
        self.assertEqual((job['state'], job['attempts'], job['exit_code']), ('stopped', 2, 143))
        self.assertGreaterEqual(job['begin'], first['end'])
        self.run_it('queue', 'remove', '1')
        self.run_it('queue', 'start')
        self.assertEqual(self.states(), ['finished'])

    def test_stop_reaches_the_process_that_runs_the_queue(self):
        """Also the second time; without a job that runs there is nothing to stop."""
        self.add('--epochs', LONG)
        self.assertIn(b'no job is running', self.run_it('queue', 'stop', expect=2).stderr)
        for attempt in 1, 2:
            self.start()
            self.follow('step')
            self.run_it('queue', 'stop')
            self.process.communicate()
            job = self.jobs()[0]
            self.assertEqual((job['state'], job['attempts'], job['exit_code']), ('stopped', attempt, 143))
            self.assertIn(b'no job is running', self.run_it('queue', 'stop', expect=2).stderr)

    def test_terminate(self):
        self.interrupt(signal.SIGTERM, 143)

    def test_killed_start_is_taken_up_again(self):
        self.add('--epochs', LONG, '--out', 'long')
        self.start()
        self.follow('epoch')
        self.process.kill()  # the run gets a signal when its queue's process dies, saves and ends
        self.process.wait()
        # The reading ends with the run, which holds the other reference to the write end of the
        # pipe.
        self.process.stdout.read()
        run, = self.lines('runs', '--json')
        self.assertEqual(run['state'], 'stopped')
        self.process.stdout.close()
        self.start()
        job = self.follow('job')
        self.assertEqual((job['id'], job['state'], job['attempts']), (1, 'running', 2))
        self.assertGreater(self.follow('step')['epoch'], 1)
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()
        self.assertEqual(self.process.returncode, 130)
        self.assertEqual(len(self.lines('runs', '--json')), 1)

    def test_attempts_without_a_checkpoint_begin_anew(self):
        """The files that they left are written over, and the run counts from its first step."""
        self.add('--epochs', LONG, '--out', 'long')
        for attempt in 1, 2, 3:
            self.start()
            job = self.follow('job')
            self.assertEqual((job['state'], job['attempts']), ('running', attempt))
            self.assertEqual(self.follow('step')['step'], 1)
            self.process.send_signal(signal.SIGINT)
            self.process.communicate()
            self.assertEqual(self.states(), ['stopped'])
            os.unlink(self.path('long/checkpoint.safetensors'))

    def test_one_start_at_a_time(self):
        self.add('--epochs', LONG, '--out', 'long')
        self.start()
        self.follow('epoch')
        self.assertIn('already run by process', self.run_it('queue', 'start', expect=2).stderr.decode())
        self.run_it('queue', 'remove', '1', expect=2)
        self.add('--epochs', '1', '--out', 'later')
        self.run_it('queue', 'clear')  # all but the running job
        self.assertEqual(self.states(), ['running'])
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()

    def test_remove_and_clear(self):
        for _ in range(3):
            self.add()
        folder = self.jobs()[1]['folder']
        self.assertTrue(os.path.isdir(folder))
        self.run_it('queue', 'remove', '2')
        self.assertFalse(os.path.exists(folder))
        self.assertEqual([job['id'] for job in self.jobs()], [1, 3])
        self.run_it('queue', 'clear')
        self.assertEqual(self.jobs(), [])
        self.run_it('queue', 'remove', '1', expect=2)

    def test_words_that_are_wrong(self):
        self.add('--out', 'a')
        self.add('--out', 'a', expect=2)
        for arguments in ('remove',), ('remove', 'x'), ('retry',), ('retry', 'x'), ('unmake',), ('start', '1'), ('add',), ('add', '--data', TINY, '--steps', '0'), \
                ('add', '--data', TINY, '--set', 'lr=x'):
            self.run_it('queue', *arguments, expect=2)
        self.assertEqual(len(self.jobs()), 1)

    def test_a_file_that_is_not_there_is_refused(self):
        """The file is refused when the job is added, and not later when nobody watches; the folder
        that was reserved is removed."""
        with open(self.path('X.npy'), 'wb') as file:
            file.write(b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '|u1', 'fortran_order': False, 'shape': (4, 8, 8, 3), }".ljust(117) + b'\n' + bytes(768))
        data = ('--data', TINY)
        for option, name, arguments, code, step in [
                ('--data', 'gone', (), 3, 'name a file, a folder, or a built-in data set'),
                ('--targets', 'gone.npy', ('--data', 'X.npy'), 3, 'name the file that holds a target'),
                ('--settings', 'gone.ini', data, 2, 'name a settings.ini of a run'),
                ('--preset', 'gone.preset', data, 2, "a preset that 'dynoctl presets' lists"),
                ('--weights', 'gone.safetensors', data, 3, 'name another file, or leave --weights out')]:
            said = self.run_it('queue', 'add', *arguments, option, name, expect=code).stderr.decode()
            for words in option, name, 'No such file', step:
                self.assertIn(words, said)
        with open(self.path('words.safetensors'), 'w') as file:
            file.write('no weights\n')
        said = self.run_it('queue', 'add', *data, '--weights', 'words.safetensors', expect=3).stderr.decode()
        self.assertIn('words.safetensors', said)
        self.assertIn('name another file', said)
        self.assertEqual(self.jobs(), [])
        self.assertFalse(os.path.exists(self.path('runs')))


if __name__ == '__main__':
    main()
