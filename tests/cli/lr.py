# SPDX-License-Identifier: MIT
"""dynoctl lr: events, files, the same curve when repeated, exit codes, and the files that it does
not change."""
import csv, os, signal, struct, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, PROGRAM, main

# A job that is learned within a dozen steps.
JOB = ['--data', 'builtin:waves?length=16&samples=200&classes=2', '--model', 'mlp', '--set', 'model.width=0.25',
       '--set', 'batch_size=32', '--set', 'amp=false', '--set', 'workers=1', '--set', 'autotune=false']
# The kernels may take any time to compile.
PATIENT = ['--minutes', '100']
# Rates that are far too low to change anything.
FLAT = ['--from', '1e-9', '--to', '1e-8']


class Test(Case):
    def measure(self, *arguments, expect=0, environment=None):
        return self.lines('lr', *JOB, *PATIENT, '--json', *arguments, expect=expect, environment=environment)

    def rows(self, folder):
        with open(self.path(f'{folder}/lr.csv'), newline='') as file:
            return list(csv.DictReader(file))

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()


class Curve(Test):
    def test_events_and_files_agree(self):
        environment = dict(self.environment, DYNO_MODULE_DIR='')
        lines = self.measure('--steps', '60', '--to', '100', '--out', self.path('out'), environment=environment)
        points, rows = self.events(lines, 'point'), self.rows('out')
        suggestion, = self.events(lines, 'suggestion')
        self.assertEqual(lines[-1], suggestion)
        self.assertEqual(len(self.events(lines, 'plan')), 1)
        self.assertEqual([p['step'] for p in points], list(range(1, len(points) + 1)))
        self.assertEqual(len(rows), len(points))
        for point, row in zip(points, rows):
            self.assertEqual((int(row['step']), int(row['skipped'])), (point['step'], point['skipped']))
            for key in ('lr', 'loss', 'smoothed'):
                self.assertEqual(row[key], '' if point[key] is None else f'{point[key]:.9g}')
        for step, point in enumerate(points):
            self.assertAlmostEqual(point['lr'] / (1e-6 * 1e8 ** (step / 59)), 1, 9)
        self.assertEqual((suggestion['steps'], suggestion['steps_asked']), (len(points), 60))
        self.assertEqual(suggestion['end'], 'diverged')
        self.assertLess(len(points), 60)
        self.assertIn(suggestion['verdict'], ('steepest', 'tenth'))
        self.assertIn(suggestion['steepest'], [p['lr'] for p in points])
        self.assertIn(suggestion['minimum'], [p['lr'] for p in points])
        self.assertAlmostEqual(suggestion['lr'] / min(suggestion['steepest'], suggestion['minimum'] / 10), 1, 1)
        self.assertIn(f"lr={suggestion['lr']:.2g} is suggested", suggestion['text'])
        self.assertGreater(suggestion['fall'], suggestion['noise'])
        self.assertIn(b'<svg', self.read('out/lr.svg')[:1000])
        self.assertEqual(sorted(os.listdir(self.path('out'))), ['lr.csv', 'lr.svg'])

    def test_workers_change_no_bit(self):
        """The number of workers changes no bit, for any learning rate."""
        for name, more in (('none', ['--set', 'workers=0']), ('three', ['--set', 'workers=3', '--set', 'prefetch=8', '--set', 'lr=3']),
                           ('other', ['--seed', '7'])):
            self.run_it('lr', *JOB, *PATIENT, *more, '--steps', '20', '--from', '1e-4', '--to', '0.01', '--out', self.path(name), '-q',
                        expect=None)
        self.assertEqual(self.read('none/lr.csv'), self.read('three/lr.csv'))
        self.assertNotEqual(self.read('none/lr.csv'), self.read('other/lr.csv'))

    def run_it(self, *arguments, expect=0, environment=None):
        """expect None: 0 or 1, since a short curve may or may not show a fall."""
        if expect is not None:
            return super().run_it(*arguments, expect=expect, environment=environment)
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=environment or self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertIn(done.returncode, (0, 1), done.stderr.decode())
        return done

    def test_words(self):
        done = self.run_it('lr', *JOB, *PATIENT, '--to', '100', '--steps', '60', '--out', 'out')
        text = done.stdout.decode()
        self.assertRegex(text, r'diverged at [0-9.e+-]+, step \d+ of 60, in ')
        self.assertIn('in out: lr.csv, lr.svg', text)
        self.assertRegex(text, r'\nlr=[0-9.e-]+ is suggested: ')
        self.assertNotIn('\r', text)
        self.assertEqual(self.run_it('lr', *JOB, *PATIENT, '--to', '100', '--steps', '60', '-q').stdout, b'')

    def test_weights_are_started_from_and_stay(self):
        self.run_it('train', *JOB, '--epochs', '4', '--set', 'lr=0.02', '--out', self.path('run'), '-q')
        weights, before = self.path('run/weights-last.safetensors'), self.read('run/weights-last.safetensors')
        listed = self.lines('runs', '--json')
        first = [self.events(self.measure(*FLAT, '--steps', '10', *more, expect=1), 'point')[0]['loss']
                 for more in ([], ['--weights', weights])]
        self.assertLess(first[1], first[0])
        self.assertEqual(self.read('run/weights-last.safetensors'), before)
        self.assertEqual(self.lines('runs', '--json'), listed)
        self.assertEqual(os.listdir(self.folder), ['run'])

    def test_without_the_module_there_is_a_note(self):
        lines = self.measure('--steps', '10', *FLAT, '--out', self.path('out'), expect=1,
                          environment=dict(self.environment, DYNO_MODULE_DIR='/nonexistent'))
        self.assertIn('the curve was not drawn', self.events(lines, 'warning')[0]['text'])
        self.assertEqual(os.listdir(self.path('out')), ['lr.csv'])


class Ends(Test):
    def test_no_fall_is_exit_1(self):
        lines = self.measure('--steps', '20', *FLAT, '--out', self.path('out'), expect=1)
        suggestion, = self.events(lines, 'suggestion')
        error, = self.events(lines, 'error')
        self.assertEqual((suggestion['lr'], suggestion['verdict'], suggestion['end']), (None, 'no-fall', 'whole'))
        self.assertEqual((error['text'], error['code']), (suggestion['text'], 1))
        self.assertEqual(len(self.rows('out')), 20)

    def test_a_sample_that_fp16_cannot_hold_is_no_divergence(self):
        """AMP skips the step with this sample, once an epoch."""
        rows, inputs = 64, 4
        for name, kind, values, shape in (('X.npy', '<f4', [1e6 if i == 0 else (i // inputs) % 2 - 0.5 for i in range(rows * inputs)],
                                           (rows, inputs)),
                                          ('y.npy', '<i8', [i % 2 for i in range(rows)], (rows,))):
            header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
            with open(self.path(name), 'wb') as file:
                file.write(b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little') + header)
                file.write(struct.pack(f"<{len(values)}{'f' if kind == '<f4' else 'q'}", *values))
        lines = self.lines('lr', '--data', self.path('X.npy'), '--model', 'mlp', '--set', 'model.width=0.25', '--set', 'batch_size=16',
                           '--set', 'amp=true', '--set', 'data.val_split=0', '--set', 'workers=0', '--set', 'autotune=false',
                           *FLAT, *PATIENT, '--steps', '16', '--json', '--out', self.path('out'), expect=1)
        points = self.events(lines, 'point')
        self.assertEqual([len([p for p in points[i:i + 4] if p['loss'] is None and p['skipped']]) for i in range(0, 16, 4)], [1] * 4)
        self.assertEqual(self.events(lines, 'suggestion')[0]['end'], 'whole')
        self.assertEqual(len([row for row in self.rows('out') if row['loss'] == row['smoothed'] == '' and row['skipped'] == '1']), 4)

    def test_what_cannot_be_is_usage(self):
        for arguments, word in ((['--from', '1', '--to', '1'], '--to is the greater'), (['--from', '0'], 'both are above 0'),
                                (['--to', '1000'], 'between 1e-20 and 100'), (['--steps', '9'], 'between 10 and 10000'),
                                (['--steps', '0'], 'between 10 and 10000'), (['--minutes', '0'], 'above 0'),
                                (['--from', 'nan'], 'both are above 0'), (['--model', 'nothing'], 'nothing')):
            self.assertIn(word, self.run_it('lr', *JOB, *arguments, expect=2).stderr.decode())
        self.assertIn('--data', self.run_it('lr', '--model', 'mlp', expect=2).stderr.decode())
        self.run_it('lr', '--data', self.path('missing'), '--model', 'mlp', expect=3)
        self.run_it('lr', *JOB, '--weights', self.path('missing'), expect=3)

    def test_an_earlier_test_is_kept(self):
        self.measure('--steps', '10', *FLAT, '--out', self.path('out'), expect=1)
        before = self.read('out/lr.csv')
        done = self.run_it('lr', *JOB, '--steps', '11', *FLAT, '--out', self.path('out'), expect=2)
        self.assertIn('holds an earlier test (lr.csv)', done.stderr.decode())
        self.assertEqual(self.read('out/lr.csv'), before)
        self.measure('--steps', '11', *FLAT, '--out', self.path('out'), '--force', expect=1)
        self.assertEqual(len(self.rows('out')), 11)

    def test_interrupted_keeps_what_was_measured(self):
        with subprocess.Popen([PROGRAM, 'lr', *JOB, '--json', *FLAT, '--steps', '10000', '--minutes', '1000', '--out', 'out'],
                              cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if b'"step": 15,' in line:
                    process.send_signal(signal.SIGINT)
            errors = process.stderr.read().decode()
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn(b'"end": "stopped"', lines[-1])
        self.assertIn('the test was stopped after step', errors)
        rows = self.rows('out')
        self.assertGreaterEqual(len(rows), 15)
        self.assertLess(len(rows), 10000)
        self.assertEqual(sum(b'"event": "point"' in line for line in lines), len(rows))

    def test_several_processes_are_refused(self):
        environment = dict(self.environment, OMPI_COMM_WORLD_SIZE='2', OMPI_COMM_WORLD_RANK='0')
        self.assertIn('it is for one process', self.run_it('lr', *JOB, expect=2, environment=environment).stderr.decode())


main()
