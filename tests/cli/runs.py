# SPDX-License-Identifier: MIT
"""dynoctl train and its files: its folder, its lock, files that a refused start must not change,
and signals."""
import json, os, pty, re, signal, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, PROGRAM, SMALL, TINY, main

FILES = ['checkpoint.safetensors', 'curves.png', 'curves.svg', 'log', 'metrics.csv', 'settings.ini', 'weights.safetensors']


class Runs(Case):
    def train(self, *arguments, expect=0, environment=None):
        return self.run_it('train', '--data', TINY, *SMALL, *arguments, expect=expect, environment=environment)

    def contents(self, folder):
        """Names and contents of all files in a folder."""
        found = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), 'rb') as file:
                found[name] = file.read()
        return found

    def start(self, *arguments):
        """Starts a long run, and returns after its first step."""
        process = subprocess.Popen([PROGRAM, 'train', '--data', TINY, *SMALL, '--epochs', '5000', '--json', *arguments],
                                   cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.wait_for(process, 'step')
        return process

    def wait_for(self, process, name):
        for line in process.stdout:
            if json.loads(line).get('event') == name:
                return
        self.fail(f'no {name} came: ' + process.stderr.read().decode())


class Folder(Runs):
    def test_it_holds_all_of_a_run(self):
        self.train('--epochs', '1', '--out', 'run')
        self.assertEqual([name for name in sorted(os.listdir(self.path('run'))) if name in FILES], FILES)

    def test_without_out_a_new_one_is_made_and_named(self):
        first = self.train('--steps', '1').stdout.decode()
        # At the start, at the end, and in the command to resume.
        self.assertEqual(first.count('runs/mlp-shapes-1'), 3, first)
        self.train('--steps', '1')
        self.assertEqual(sorted(os.listdir(self.path('runs'))), ['mlp-shapes-1', 'mlp-shapes-2'])
        done, = self.events(self.lines('train', '--data', TINY, *SMALL, '--steps', '1', '--json'), 'done')
        self.assertEqual(done['out'], 'runs/mlp-shapes-3')

    def test_no_out_keeps_nothing(self):
        self.train('--steps', '1', '--no-out')
        self.assertEqual(os.listdir(self.folder), [])
        self.train('--steps', '1', '--no-out', '--out', 'run', expect=2)

    def test_a_checkpoint_goes_on_in_its_folder(self):
        self.train('--steps', '2', '--out', 'run')
        self.run_it('train', '--resume', 'run/checkpoint.safetensors', '--steps', '3')
        self.assertEqual(len(self.contents(self.path('run'))['metrics.csv'].splitlines()), 4)
        self.assertFalse(os.path.exists(self.path('runs')))

    def test_a_run_that_is_through_is_left_as_it_is(self):
        self.train('--epochs', '1', '--set', 'warmup_epochs=0', '--out', 'run')
        before = self.contents(self.path('run'))
        again = self.run_it('train', '--resume', 'run', '--set', 'checkpoint_minutes=3')
        self.assertIn('gone through 1 epoch, and ends after 1; more epochs (--epochs)', again.stderr.decode())
        self.assertNotIn('weights.safetensors', again.stdout.decode())
        self.assertNotRegex(again.stdout.decode() + again.stderr.decode(), r'done: \d+ steps')
        self.assertEqual(self.contents(self.path('run')), before)
        longer = self.run_it('train', '--resume', 'run', '--epochs', '2')
        words = longer.stdout.decode() + longer.stderr.decode()
        self.assertRegex(words, r'rate continues at \S+ after \S+: its schedule now spans 2 epochs in place of 1; schedule_epochs=1')
        self.assertRegex(words, r'done: \d+ steps')

    def test_steps_that_were_asked_for_are_not_the_end(self):
        """A run of 27 steps reports that it stopped as asked and how to resume; after a resume it
        reports separate figures for this process and for the run."""
        said = self.train('--epochs', '3', '--steps', '5', '--out', 'run')
        words = said.stdout.decode() + said.stderr.decode()
        self.assertRegex(words, r'stopped after 5 of 27 steps as asked, in \S+.*; resume with: dynoctl train --resume run\n')
        self.assertNotIn('done:', words)
        self.assertNotIn('of them now', words)
        self.assertIn('  stopped as asked  ', self.run_it('runs').stdout.decode())
        shown = self.run_it('runs', 'show', '1').stdout.decode()
        self.assertIn(', stopped as asked, begun', shown)
        self.assertIn('to stop at step 5, before its 3 epochs were over; resume with: dynoctl train --resume', shown)
        run, = self.lines('runs', '--json')
        self.assertEqual((run['state'], run['stopped_as_asked']), ('finished', True))
        self.assertIn('stopped as asked', self.run_it('watch', '--once', 'run').stdout.decode())
        done, = self.events(self.lines('train', '--resume', 'run', '--steps', '9', '--json'), 'done')
        self.assertEqual((done['steps'], done['steps_before'], done['steps_of_epochs'], done['state']), (9, 5, 27, 'finished'))
        self.assertGreater(done['seconds_before'], 0)
        self.assertGreater(done['seconds'], done['seconds_before'])
        said = self.run_it('train', '--resume', 'run')
        words = said.stdout.decode() + said.stderr.decode()
        self.assertRegex(words, r'done: 27 steps in \S+( s)?, 18 of them now in ')
        self.assertNotIn('as asked', words)
        self.assertNotIn('as asked', self.run_it('runs').stdout.decode())
        self.assertIn('finished', self.run_it('watch', '--once', 'run').stdout.decode())
        # A run whose limit is not below the steps of its epochs does not stop early; without a
        # folder there is nothing to resume.
        for steps, ends in ('9', 'done: 9 steps'), ('10', 'done: 10 steps'), ('8', 'stopped after 8 of 9 steps as asked'):
            said = self.train('--epochs', '1', '--steps', steps, '--no-out')
            words = said.stdout.decode() + said.stderr.decode()
            self.assertIn(ends, words)
            self.assertNotIn('resume with', words)
        self.assertEqual([(run['steps'], run['stopped_as_asked']) for run in self.lines('runs', '--json')[:3]], [(8, True), (10, False), (9, False)])

    def test_steps_of_another_size_count_to_the_end(self):
        self.train('--epochs', '2', '--steps', '1', '--out', 'run')
        batch, = re.findall(r'(?m)^batch_size=(\d+)', self.contents(self.path('run'))['settings.ini'].decode())
        plan = json.loads(self.run_it('plan', '--data', TINY, *SMALL, '--set', 'batch_size=1', '--json').stdout)
        steps = self.events(self.lines('train', '--resume', 'run', '--set', 'batch_size=1', '--json'), 'step')
        self.assertEqual(steps[0]['step'], 2)
        self.assertEqual(steps[-1]['step'], 1 + 2 * plan['steps_per_epoch'] - int(batch))
        self.assertTrue(all(step['lr'] > 0 for step in steps))

    def test_without_settings_the_checkpoint_says_them(self):
        """The settings are those of the checkpoint and not the defaults, so that a run resumes
        unchanged."""
        mine = ('--set', 'lr=0.0125', '--set', 'momentum=0.5', '--set', 'schedule=constant', '--set', 'seed=7')
        self.train(*mine, '--steps', '2', '--out', 'run')
        os.unlink(self.path('run/settings.ini'))
        done = self.run_it('train', '--resume', 'run', '--steps', '3', expect=2)
        self.assertIn('--data is missing: no settings.ini states', done.stderr.decode())
        done = self.run_it('train', '--resume', 'run', '--data', TINY, '--set', 'momentum=0.75', '--steps', '3')
        self.assertIn('There is no settings.ini beside', done.stderr.decode())
        self.assertNotIn(' was ', done.stderr.decode())  # the report of a setting that differs
        kept = self.contents(self.path('run'))['settings.ini'].decode().splitlines()
        for line in 'lr=0.0125', 'momentum=0.75', 'schedule=constant', 'seed=7', 'model=mlp':
            self.assertIn(line, kept)
        self.assertEqual(len(self.contents(self.path('run'))['metrics.csv'].splitlines()), 4)

    def test_others_files_stay(self):
        os.mkdir(self.path('run'))
        for name in ('weights.safetensors.backup', 'metrics.csv.sorted', '.dyno-a1B2c3'):
            with open(self.path(f'run/{name}'), 'w') as file:
                file.write('mine')
        self.train('--steps', '1', '--out', 'run')
        left = self.contents(self.path('run'))
        self.assertEqual((left['weights.safetensors.backup'], left['metrics.csv.sorted']), (b'mine', b'mine'))
        self.assertNotIn('.dyno-a1B2c3', left)

    def test_steps_past_the_epochs_have_epochs_of_their_own(self):
        said = self.train('--epochs', '1', '--steps', '20', '--out', 'run').stdout.decode()
        self.assertIn('epoch 1/3 ', said)
        self.assertIn('epoch 2/3 ', said)
        self.assertIn('epoch 3 of 3, step 20 of 20', self.run_it('watch', '--once', 'run').stdout.decode())

    def test_two_runs_are_kept_apart_also_after_kill(self):
        first = self.start('--out', 'run')
        done = self.train('--steps', '1', '--out', 'run', '--force', expect=7)
        self.assertIn('Another run is writing into “run”', done.stderr.decode())
        first.kill()
        first.communicate()
        self.train('--steps', '1', '--out', 'run', '--force')

    def test_a_size_limit_is_an_error_of_the_disk(self):
        done = subprocess.run([PROGRAM, 'train', '--data', TINY, *SMALL, '--steps', '3', '--out', 'run'], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **self.full_disk(8192))
        self.assertEqual(done.returncode, 7, done.stderr.decode())
        self.assertIn('weights', done.stderr.decode())
        self.assertEqual([name for name in os.listdir(self.path('run')) if name.startswith('.dyno-')], [])


class Refused(Runs):
    def test_a_refused_resume_changes_nothing(self):
        self.train('--steps', '2', '--out', 'run')
        before = self.contents(self.path('run'))
        self.run_it('train', '--resume', 'run', '--model', 'simplecnn', expect=3)
        self.run_it('train', '--resume', 'run', '--set', 'optimizer=adamw', expect=3)
        self.run_it('train', '--resume', 'run', '--set', 'vram_budget=100000', expect=6)
        self.assertEqual(self.contents(self.path('run')), before)
        self.run_it('train', '--resume', 'run', '--steps', '3')

    def test_without_a_checkpoint_it_says_what_the_folder_is(self):
        """The error distinguishes the folder of a run that was killed before its first checkpoint,
        another folder, and one that does not exist."""
        process = self.start('--out', 'run', '--set', 'batch_size=1', '--data', 'builtin:shapes?size=16&samples=100000&classes=4')
        process.kill()
        process.communicate()
        self.assertEqual([name for name in os.listdir(self.path('run')) if name.startswith('checkpoint')], [])
        words = self.run_it('train', '--resume', 'run', expect=3).stderr.decode()
        self.assertIn('its run ended before it had saved one', words)
        self.assertIn('settings.ini', words)
        os.mkdir(self.path('empty'))
        self.assertIn('“empty” is not the folder of a run', self.run_it('train', '--resume', 'empty', expect=3).stderr.decode())
        self.assertIn('There is no “none” to resume', self.run_it('train', '--resume', 'none', expect=3).stderr.decode())

    def test_a_failed_start_leaves_nothing(self):
        self.train('--set', 'vram_budget=100000', '--steps', '1', '--out', 'a/b/run', expect=6)
        self.train('--set', 'vram_budget=100000', '--steps', '1', expect=6)
        self.assertEqual(os.listdir(self.folder), [])
        os.mkdir(self.path('empty'))
        self.train('--set', 'vram_budget=100000', '--steps', '1', '--out', 'empty', expect=6)
        self.assertEqual(os.listdir(self.path('empty')), [])

    def test_settings_of_the_run_hold_on_a_software_device(self):
        self.train('--set', 'amp=true', '--steps', '1', '--out', 'run')
        done = self.run_it('train', '--resume', 'run', '--steps', '2')
        self.assertIn(b'amp=true', self.contents(self.path('run'))['settings.ini'])
        self.assertNotIn('amp was', done.stderr.decode())
        self.run_it('train', '--resume', 'run', '--set', 'amp=false', '--steps', '3')
        self.assertIn(b'amp=false', self.contents(self.path('run'))['settings.ini'])


class SavedWeights(Runs):
    def test_a_place_that_cannot_be_written_is_told_before_the_first_step(self):
        for place in ('nowhere/w', '.'):
            lines = self.lines('train', '--data', TINY, *SMALL, '--steps', '1', '--json', '--save-weights', place, expect=7)
            self.assertEqual(self.events(lines, 'step'), [])
            self.assertIn(place, self.events(lines, 'error')[0]['text'])

    def test_a_file_is_replaced_by_force_alone(self):
        with open(self.path('w'), 'w') as file:
            file.write('mine')
        os.symlink('w', self.path('link'))
        for place in ('w', 'link'):
            self.train('--steps', '1', '--save-weights', place, expect=2)
            self.assertFalse(os.path.exists(self.path('runs')))
        self.train('--steps', '1', '--save-weights', 'link', '--force')
        self.assertFalse(os.path.islink(self.path('link')))
        with open(self.path('w')) as file:
            self.assertEqual(file.read(), 'mine')  # the link is replaced, not followed

    def test_a_user_at_a_terminal_is_asked(self):
        """Only an answer that begins with y, in either case, replaces the file."""
        for answer, code in ((b'no, not yet\n', 2), (b'\n', 2), (b'Yes\n', 0)):
            with open(self.path('w'), 'w') as file:
                file.write('mine')
            terminal, end = pty.openpty()
            self.addCleanup(os.close, terminal)
            os.write(terminal, answer)
            done = subprocess.run([PROGRAM, 'train', '--data', TINY, *SMALL, '--steps', '1', '--no-out', '-q', '--save-weights', 'w'], cwd=self.folder,
                                  env=self.environment, stdin=end, stdout=subprocess.PIPE, stderr=end, timeout=600)
            os.close(end)
            self.assertEqual(done.returncode, code)
            self.assertIn('“w” exists. Replace it? [y/N] ', os.read(terminal, 4096).decode())
            with open(self.path('w'), 'rb') as file:
                self.assertEqual(file.read() == b'mine', code == 2)

    def test_inside_the_folder_of_the_run(self):
        self.train('--steps', '1', '--out', 'run', '--save-weights', 'run/other.safetensors')
        self.assertTrue(os.path.isfile(self.path('run/other.safetensors')))


class Hangup(Runs):
    def test_a_terminal_that_goes_saves_and_ends_nothing(self):
        # The process that starts the tests may ignore SIGHUP (nohup), and dynoctl does not change
        # that.
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        process = self.start('--out', 'run')
        process.send_signal(signal.SIGHUP)
        self.wait_for(process, 'checkpoint')
        self.wait_for(process, 'step')
        process.send_signal(signal.SIGTERM)
        _, words = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 143, words.decode())
        self.assertIn('the terminal is gone', words.decode())


if __name__ == '__main__':
    main()
