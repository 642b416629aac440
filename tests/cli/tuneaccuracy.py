# SPDX-License-Identifier: MIT
"""dynoctl tune --for METRIC: trials, files, the same search after a resume, and refusals before it
begins."""
import configparser, csv, json, os, re, signal, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, PROGRAM, main

# A step takes less than a millisecond, and three epochs learn the task in part.
JOB = ['--data', 'builtin:waves?length=16&samples=160&classes=3', '--model', 'mlp', '--set', 'model.width=0.25', '--set', 'batch_size=16',
       '--set', 'amp=false', '--set', 'workers=1', '--set', 'autotune=false', '--set', 'deterministic=true', '--set', 'data.val_split=0.4',
       '--set', 'lr=0.002', '--epochs', '3']
# The kernels may take any time to compile.
PATIENT = ['--minutes', '1000']


class Test(Case):
    def search(self, *arguments, expect=0, metric='accuracy', job=JOB):
        return self.lines('tune', *job, *(['--for', metric] if metric else []), *PATIENT, '--json', *arguments, expect=expect)

    def rows(self, name):
        with open(self.path(name), newline='') as file:
            return list(csv.DictReader(file))

    def settings(self, name):
        parser = configparser.ConfigParser(interpolation=None)
        parser.optionxform = str
        parser.read(self.path(name))
        return dict(parser['settings'])

    @staticmethod
    def key(row):
        """The values of a trial that do not depend on the clock."""
        return {key: value for key, value in row.items() if key not in ('seconds', 'train_seconds')}


class Search(Test):
    def test_trials_files_and_history(self):
        lines = self.search('--trials', '6', '--seeds', '2', '--out', 'out')
        trials, (best,), rows = self.events(lines, 'trial'), self.events(lines, 'best'), self.rows('out/accuracy.csv')
        self.assertEqual(lines[-1], best)
        self.assertEqual((best['rungs'], best['metric'], best['trials'], best['known'], best['stopped']), ([1, 3], 'accuracy', 6, 0, False))
        self.assertEqual(list(best), ['event', 'metric', 'higher_is_better', 'trial', 'proven', 'verdict', 'stopped', 'text', 'rungs', 'best_trials', 'final',
                                      'importance', 'trials', 'known', 'out', 'settings'])
        self.assertEqual((best['out'], best['higher_is_better'], best['verdict'] == 'proven'), ('out', True, best['proven']))
        self.assertEqual(best['final'][0], {'trial': 0, 'failed': False, 'values': best['final'][0]['values'], 'pairs': 0, 'gain': None,
                                            'low': None, 'high': None})
        for trial in trials:
            self.assertEqual(list(trial), ['event', 'trial', 'stage', 'seed', 'from_epochs', 'epochs', 'outcome', 'value', 'best', 'seconds', 'at_once',
                                           'text', 'settings'])
            self.assertEqual((trial['outcome'], trial['text']), ('ok', None))
        # The best is that of the search so far, without the final.
        for i, trial in enumerate(trials):
            self.assertEqual(trial['best'], max(t['value'] for t in trials[:i + 1] if t['stage'] == 'search'))
        # Each trial has one line, in the order in which trials ended.
        self.assertEqual([(t['trial'], t['stage'], t['seed'], t['from_epochs'], t['epochs']) for t in trials],
                         [(int(r['trial']), r['stage'], int(r['run_seed']), int(r['from_epoch']), int(r['to_epoch'])) for r in rows])
        for trial, row in zip(trials, rows):
            self.assertEqual('' if trial['value'] is None else f"{trial['value']:.9g}", row['value'])
        self.assertEqual([(t['trial'], t['epochs']) for t in trials[:2]], [(0, 1), (0, 3)])
        self.assertEqual({t['trial'] for t in trials}, set(range(6)))
        promoted = [t for t in trials if t['stage'] == 'search' and t['trial'] > 0 and t['epochs'] == 3]
        self.assertTrue(1 <= len(promoted) <= 2, promoted)
        # The value is that of the best epoch in the run's own file.
        for trial in trials:
            name = f"{trial['trial']:03}" + (f"-{trial['seed']}" if trial['stage'] == 'final' else '')
            values = [float(r['val_accuracy']) for r in self.rows(f'out/trials/{name}/metrics.csv') if r['val_accuracy']]
            self.assertAlmostEqual(max(values[:trial['epochs']]), trial['value'], 7)
            self.assertEqual(trial['settings']['epochs'], 3)
        # The chosen settings are those of one of the trials, and the file has them.
        chosen = [t['settings'] for t in trials if t['trial'] == best['trial']]
        self.assertIn(best['settings'], chosen)
        written = self.settings('out/best.ini')
        for key, value in best['settings'].items():
            self.assertEqual(written[key], value if isinstance(value, str) else json.dumps(value) if isinstance(value, bool) else written[key])
        self.assertEqual(float(written['lr']), best['settings']['lr'])
        with open(self.path('out/best.json')) as file:
            self.assertEqual(json.load(file)['proven'], best['proven'])
        if not best['proven']:
            with open(self.path('out/best.ini')) as file:
                self.assertRegex(file.readline(), r'^# (Not proven|Your settings stay)')
        self.assertIn('lr', best['importance'])
        self.assertNotIn('augment.mix', best['importance']) # it applies to images only
        self.assertEqual(sorted(os.listdir(self.path('out'))), ['accuracy.csv', 'best.ini', 'best.json', 'report.html', 'trials'])
        # In the final, all candidates use the same seeds.
        final = [t for t in trials if t['stage'] == 'final']
        if best['final'][1:]:
            self.assertEqual({t['seed'] for t in final}, {2, 3})
            self.assertEqual({t['trial'] for t in final}, {c['trial'] for c in best['final']})
            for c in best['final'][1:]:
                self.assertAlmostEqual(c['gain'], sum(a - b for a, b in zip(c['values'], best['final'][0]['values'])) / 2, 9)
        # The trials are runs of dynoctl with entries in the history.
        folders = {os.path.basename(run['folder']) for run in self.lines('runs', '--json') if run.get('folder')}
        self.assertEqual(folders, set(os.listdir(self.path('out/trials'))))
        self.run_it('export', '--settings', 'out', '--to', 'pytorch', '--out', 'script.py')
        self.run_it('train', '--settings', 'out/best.ini', '--epochs', '1', '--no-out', '-q')

    def test_stopping_at_rungs_costs_no_bit(self):
        """A trial that was stopped and resumed is bit-identical to an uninterrupted run; its value
        is that of its best epoch, which with this learning rate is not the last one."""
        high = ['--set', 'lr=1']
        lines = self.search(*high, '--trials', '1', '--out', 'out')
        self.run_it('train', *JOB, *high, '--out', 'whole', '-q')
        columns = ('step', 'epoch', 'loss', 'lr', 'grad_norm', 'val_loss', 'val_accuracy')
        stopped, whole = ([[row[c] for c in columns] for row in self.rows(f'{name}/metrics.csv')] for name in ('out/trials/000', 'whole'))
        self.assertEqual(len(whole), 18)
        self.assertEqual(stopped, whole)
        values = [float(row[-1]) for row in whole if row[-1]]
        self.assertEqual([t['value'] for t in self.events(lines, 'trial')], [values[0], max(values)])
        # The second part began after the first epoch.
        with open(self.path('out/trials/000/facts.ini')) as file:
            self.assertIn('\nbegin_step=6\n', file.read())

    def test_trials_at_once_have_the_bits_of_runs_alone(self):
        lines = self.search('--trials', '4', '--seeds', '1', '--at-once', '3', '--out', 'out')
        trials = self.events(lines, 'trial')
        self.assertEqual([(t['trial'], t['at_once']) for t in trials if t['stage'] == 'search' and t['epochs'] == 1],
                         [(0, 1), (1, 3), (2, 3), (3, 3)])
        self.assertEqual([int(r['at_once']) for r in self.rows('out/accuracy.csv')], [t['at_once'] for t in trials])
        columns = ('step', 'epoch', 'loss', 'lr', 'grad_norm', 'val_loss', 'val_accuracy')
        for n in 1, 2, 3:
            at_once = [[row[c] for c in columns] for row in self.rows(f'out/trials/{n:03}/metrics.csv')]
            self.run_it('train', '--settings', f'out/trials/{n:03}/settings.ini', '--out', f'alone-{n}', '-q')
            alone = [[row[c] for c in columns] for row in self.rows(f'alone-{n}/metrics.csv')]
            self.assertIn(len(at_once), (6, 18))
            self.assertEqual(at_once, alone[:len(at_once)])
        error = self.run_it('tune', *JOB, '--at-once', '2', expect=2).stderr.decode()
        self.assertIn('--at-once and --over are of a search for the best validation', error)
        self.run_it('tune', *JOB, '--for', 'loss', '--at-once', '9', expect=2)

    def test_chosen_settings_are_searched(self):
        """Only these settings differ between trials, and a resumed search has the same space."""
        over = ['--over', 'lr=0.001..0.004', '--over', 'model.width=0.25|0.5']
        lines = self.search('--trials', '4', '--seeds', '1', *over, '--out', 'out')
        lines += self.search('--trials', '6', '--seeds', '1', '--resume', 'out', job=[], metric=None)
        trials = {t['trial']: t['settings'] for t in self.events(lines, 'trial') if t['stage'] == 'search'}
        self.assertEqual(len(trials), 6)
        self.assertTrue(all(0.001 <= settings['lr'] <= 0.004 for settings in trials.values()), trials)
        self.assertEqual({settings['model.width'] for settings in trials.values()}, {0.25, 0.5})
        rest = [{key: value for key, value in settings.items() if key not in ('lr', 'model.width')} for settings in trials.values()]
        self.assertTrue(all(settings == rest[0] for settings in rest), rest)
        self.assertEqual(set(self.events(lines, 'best')[-1]['importance']), {'lr', 'model.width'})
        error = self.run_it('tune', '--resume', 'out', *over, expect=2).stderr.decode()
        self.assertIn('leave out --over', error)
        error, = self.events(self.search('--over', 'epochs=1..3', '--out', 'other', expect=2), 'error')
        self.assertIn('“epochs” cannot be searched', error['text'])
        self.assertFalse(os.path.exists(self.path('other')))

    def test_words(self):
        text = self.run_it('tune', *JOB, '--for', 'loss', *PATIENT, '--trials', '2', '--seeds', '1', '--out', 'out').stdout.decode()
        self.assertRegex(text, r'trial +rung +epochs +seed +loss +best +time +settings')
        self.assertRegex(text, r'\n +0 +2/2 +3 +1 +[0-9.]+ +[0-9.]+ +[0-9.]+ s +yours\n')
        rows = re.findall(r'(?m)^ +([01]) +([12]/2|final) +[13] +\d+ +([0-9.]+) +([0-9.]+) +[0-9.]+ s +(yours|.*=.*)$', text)
        self.assertGreaterEqual(len(rows), 3, text)
        self.assertTrue(all((row[4] == 'yours') == (row[0] == '0') for row in rows), text)
        values = [float(row[2]) if row[1] != 'final' else float('inf') for row in rows]
        self.assertEqual([float(row[3]) for row in rows], [min(values[:i + 1]) for i in range(len(rows))], text)
        self.assertNotEqual([row[3] for row in rows], [row[2] for row in rows], text)
        self.assertRegex(text, r'\n(Trial \d|Not proven|Your settings stay)')
        self.assertIn('in out: best.ini, best.json, report.html, accuracy.csv, trials', text)
        done = self.run_it('tune', *JOB, '--for', 'loss', *PATIENT, '--trials', '2', '--seeds', '1', '--resume', 'out', '-q')
        self.assertEqual((done.stdout, done.stderr), (b'', b''))

    def test_own_settings_that_diverge_are_a_result(self):
        """The learning rates are 2000 times the usual one."""
        lines = self.search('--set', 'lr=100', '--set', 'momentum=0.999', '--trials', '2', '--seeds', '1', '--out', 'out')
        first, second = self.events(lines, 'trial')[:2]
        self.assertEqual((first['trial'], first['outcome'], first['value']), (0, 'failed', None))
        self.assertIn('take a lower lr', first['text'])
        self.assertEqual(second['trial'], 1)
        self.assertEqual(self.rows('out/accuracy.csv')[0]['outcome'], 'diverged')
        self.assertFalse(self.events(lines, 'best')[0]['proven'])


    def test_metrics_that_are_measured_on_request(self):
        """The run's own file has values of this metric only because the search requests it."""
        for metric, better in ('f1_macro', max), ('roc_auc', max), ('calibration_error', min):
            lines = self.search('--trials', '1', '--out', metric, metric=metric)
            values = [float(r['val_' + metric]) for r in self.rows(f'{metric}/trials/000/metrics.csv') if r['val_' + metric]]
            self.assertEqual(len(values), 3)
            self.assertAlmostEqual(self.events(lines, 'trial')[-1]['value'], better(values), 6)


class Resume(Test):
    def test_goes_on_to_the_same_end(self):
        more = ['--trials', '4', '--seeds', '1']
        self.search(*more, '--out', 'whole')
        self.search('--trials', '2', '--seeds', '1', '--out', 'parts')
        before = [self.key(row) for row in self.rows('parts/accuracy.csv') if row['stage'] == 'search']
        # Data, model, settings and metric are those of the folder.
        lines = self.search('--resume', 'parts', *more, job=[], metric=None)
        self.assertEqual(self.events(lines, 'best')[0]['known'], len(self.rows('parts/accuracy.csv')) - len(self.events(lines, 'trial')))
        whole, parts = ([self.key(row) for row in self.rows(f'{name}/accuracy.csv') if row['stage'] == 'search'] for name in ('whole', 'parts'))
        self.assertEqual(parts[:len(before)], before)
        self.assertEqual(parts, whole)

    def test_interrupted_keeps_all_and_goes_on(self):
        with subprocess.Popen([PROGRAM, 'tune', *JOB, '--for', 'accuracy', *PATIENT, '--json', '--out', 'out'], cwd=self.folder,
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            lines, interrupted = [], False
            for line in process.stdout:
                lines.append(json.loads(line))
                # One signal only: the search may have passed the trial's next event already, and a
                # second signal would end it at once.
                if lines[-1].get('trial') == 1 and not interrupted:
                    process.send_signal(signal.SIGINT)
                    interrupted = True
            errors = process.stderr.read().decode()
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn('to resume: dynoctl tune --resume out', errors)
        best, = self.events(lines, 'best')
        self.assertEqual((best['proven'], best['stopped']), (False, True))
        self.assertEqual(len(self.rows('out/accuracy.csv')), len(self.events(lines, 'trial')))
        self.assertTrue(os.path.exists(self.path('out/best.ini')))
        again = self.search('--resume', 'out', '--trials', '2', '--seeds', '1', job=[], metric=None)
        self.assertEqual(self.events(again, 'best')[0]['known'], len(self.events(lines, 'trial')))

    def test_another_job_is_refused(self):
        self.search('--trials', '1', '--out', 'out')
        for more, names in ((['--set', 'batch_size=8'], 'batch_size'), (['--for', 'loss'], 'metric')):
            done = self.run_it('tune', *JOB, '--for', 'accuracy', *more, '--resume', 'out', expect=None)
            self.assertIn(f'its {names} differs', done.stderr.decode())
        # Without the data and the model, the settings are those of the folder, and then those of the command.
        done = self.run_it('tune', '--resume', 'out', '--set', 'batch_size=8', expect=None)
        self.assertIn('its batch_size differs', done.stderr.decode())
        for more, says in ((['--out', 'out'], 'holds an earlier search'), (['--resume', 'out', '--out', 'other'], 'leave out --out')):
            done = self.run_it('tune', *JOB, '--for', 'accuracy', *more, expect=2)
            self.assertIn(says, done.stderr.decode())

    def run_it(self, *arguments, expect=0, environment=None):
        """expect None: any failure."""
        if expect is not None:
            return super().run_it(*arguments, expect=expect, environment=environment)
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=environment or self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertNotEqual(done.returncode, 0)
        return done


class Refused(Test):
    def refuse(self, *arguments, expect, says, job=JOB):
        done = self.run_it('tune', *job, *arguments, '--out', 'out', expect=expect)
        self.assertIn(says, done.stderr.decode())
        self.assertEqual(os.listdir(self.folder), [])

    def test_before_any_trial(self):
        accuracy = ['--for', 'accuracy']
        self.refuse(*accuracy, '--goal', 'accuracy=0.9', expect=2, says='leave out one of them')
        self.refuse(*accuracy, '--ranks', '2', expect=2, says='leave out --ranks')
        self.refuse('--trials', '3', expect=2, says='add --for accuracy')
        self.refuse(*accuracy, '--trials', '0', expect=2, says='--trials is 1 to')
        self.refuse(*accuracy, '--seeds', '11', expect=2, says='--seeds 1 to 10')
        self.refuse('--for', 'mean_abs_error', expect=2, says='log_loss, balanced_accuracy, f1_macro, precision_macro, roc_auc, calibration_error')
        self.refuse(*accuracy, '--set', 'data.val_split=0', expect=3, says='data.val_split above 0')


if __name__ == '__main__':
    main()
