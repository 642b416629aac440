# SPDX-License-Identifier: MIT
"""The history of runs: what train stores in it, how runs changes it, and training without it."""
import contextlib, glob, json, os, re, shutil, signal, sqlite3, subprocess, sys, unittest
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import CONVNET, Case, PROGRAM, SMALL, TINY, main


class History(Case):
    def train(self, *more, **options):
        return self.run_it('train', '--data', TINY, *SMALL, '--epochs', '2', *more, **options)

    def runs(self, *arguments, **options):
        return self.lines('runs', *arguments, '--json', **options)

    def file(self):
        return os.path.join(self.home, 'dyno', 'history.sqlite')

    def rates(self, folder):
        """The rate of this folder's run from every source, by source."""
        with open(self.path(f'{folder}/facts.ini')) as file:
            facts = dict(line.rstrip('\n').split('=', 1) for line in file if '=' in line)
        with open(self.path(f'{folder}/diagnosis.json')) as file:
            kept = json.load(file)['samples_per_s']
        exported = json.loads(self.run_it('export', '--settings', folder, '--to', 'json').stdout)['samples_per_s']
        entry, = [run for run in self.runs('list') if run['folder'] == self.path(folder)]
        diagnosed, = self.lines('diagnose', '--run', folder, '--json')
        watched, = self.lines('watch', '--once', '--json', folder)
        return {'facts': int(facts['rate.samples']) / float(facts['rate.seconds']), 'left': kept, 'exported': exported,
                'history': entry['samples_per_s'], 'diagnosed': diagnosed['samples_per_s'], 'watched': watched['run']['samples_per_s']}

    def test_the_rate_of_a_run_is_one_number(self):
        """All sources agree on the rate, also for a resumed run, and for a run that the history
        imports from its folder."""
        train = ('train', '--data', TINY, *SMALL, '--json')
        done, = self.events(self.lines(*train, '--epochs', '2', '--out', 'run'), 'done')
        self.assertGreater(done['samples_per_s'], 0)
        for who, rate in self.rates('run').items():
            self.assertEqual(rate, done['samples_per_s'], who)
        done, = self.events(self.lines('train', '--resume', 'run', '--epochs', '4', '--json'), 'done')
        with open(self.path('run/facts.ini')) as file:
            samples, = re.findall(r'(?m)^rate\.samples=(\d+)$', file.read())
        # An epoch of 80 samples without those for validation; the first step of each part does not
        # count.
        steps, batch = 10, 8
        self.assertLess(int(samples), 4 * steps * batch)
        self.assertGreater(int(samples), 2 * steps * batch)
        for who, rate in self.rates('run').items():
            self.assertEqual(rate, done['samples_per_s'], who)
        self.run_it('runs', 'delete', '1')
        self.run_it('runs', 'import', 'run')
        self.assertEqual(self.rates('run')['history'], done['samples_per_s'])

    def test_list_and_show(self):
        self.assertEqual(self.runs(), [])
        self.train('--out', 'a', '--set', 'lr=0.01')
        self.train('--no-out', *CONVNET)
        newest, first = self.runs()
        self.assertEqual([first['id'], newest['id']], [1, 2])
        self.assertEqual((first['name'], first['model'], first['data'], first['state']), ('a', 'mlp', TINY, 'finished'))
        self.assertEqual((first['steps'], first['epochs'], first['folder']), (18, 2, self.path('a')))
        self.assertIsNone(newest['folder'])
        for key in 'samples_per_s', 'seconds', 'planned_bytes', 'vram_bytes', 'n_train', 'parameters':
            self.assertGreater(first[key], 0, key)
        shown, = self.runs('show', '1')
        self.assertEqual(shown['settings']['lr'], 0.01)
        self.assertEqual([epoch['epoch'] for epoch in shown['epoch_list']], [1, 2])
        self.assertEqual([run['id'] for run in self.runs('--model', 'simplecnn')], [2])
        self.assertEqual([run['id'] for run in self.runs('list', '--data', 'shapes', '--limit', '1')], [2])
        self.assertEqual(self.runs('--data', 'no such'), [])
        words = self.run_it('runs').stdout.decode()
        self.assertIn('simplecnn', words)
        self.assertIn('lr=0.01', self.run_it('runs', 'show', '1').stdout.decode())

    def test_compare_and_rename(self):
        self.train('--no-out', '--set', 'lr=0.01')
        self.train('--no-out', '--set', 'lr=0.02', '--seed', '3')
        compared, = self.runs('compare', '1', '2')
        self.assertEqual(compared['a']['settings'], {'lr': 0.01, 'seed': 1})
        self.assertEqual(compared['b']['settings'], {'lr': 0.02, 'seed': 3})
        words = self.run_it('runs', 'compare', '1', '2').stdout.decode()
        self.assertRegex(words, r'lr +0.01 +0.02')
        self.assertNotIn('momentum', words)
        # Neither a validation nor a rate.
        self.train('--no-out', '--set', 'data.val_split=0', '--steps', '1')
        words = self.run_it('runs', 'compare', '1', '3').stdout.decode()
        self.assertRegex(words, r'validation loss +[0-9.]+ +-\n')
        self.assertRegex(words, r'samples/s +[0-9.,]+ +-\n')
        self.run_it('runs', 'rename', '1', 'slow one')
        self.assertEqual(self.runs('show', '1')[0]['name'], 'slow one')

    def test_delete_removes_what_is_asked_for(self):
        for name in 'kept', 'gone', 'shared', 'taken':
            self.train('--out', name)
        self.run_it('runs', 'delete', '1')
        self.assertTrue(os.path.exists(self.path('kept/weights.safetensors')))
        self.run_it('runs', 'delete', '2', '--files')
        self.assertFalse(os.path.exists(self.path('gone')))
        with open(self.path('shared/mine.txt'), 'w') as file:
            file.write('mine')
        self.run_it('runs', 'delete', '3', '--files')
        self.assertEqual(os.listdir(self.path('shared')), ['mine.txt'])
        # The folder has files of another run, which this history does not know.
        shutil.rmtree(self.path('taken'))
        self.train('--out', 'taken', '--seed', '9', '--state-dir', 'other')
        said = self.run_it('runs', 'delete', '4', '--files', expect=2).stderr.decode()
        self.assertIn('another', said)
        self.assertTrue(os.path.exists(self.path('taken/weights.safetensors')))
        self.assertEqual([run['id'] for run in self.runs()], [4])
        self.assertEqual([run['id'] for run in self.runs('--state-dir', 'other')], [1])

    def test_words_that_are_wrong(self):
        for arguments in ('show',), ('show', 'x'), ('show', '0'), ('show', '7'), ('compare', '1'), ('unmake',), ('list', 'x'), \
                ('--limit', '-1'):
            self.run_it('runs', *arguments, expect=2)

    def test_resumed_run_goes_on_in_its_entry(self):
        self.train('--out', 'a', '--steps', '3')
        self.run_it('train', '--resume', 'a', '--epochs', '3')
        run, = self.runs()
        self.assertEqual((run['state'], run['steps'], run['epochs']), ('finished', 27, 3))

    def test_a_run_is_named_at_its_start(self):
        """A resumed run keeps its name, also one that it got later; folds are numbered."""
        self.train('--out', 'a', '--steps', '3', '--name', 'first')
        self.assertEqual(self.runs()[0]['name'], 'first')
        self.run_it('runs', 'rename', '1', 'second')
        told = self.run_it('train', '--resume', 'a', '--name', 'third', expect=2).stderr.decode()
        self.assertIn('keeps its name', told)
        self.run_it('train', '--resume', 'a', '--epochs', '2')
        self.assertEqual([run['name'] for run in self.runs()], ['second'])
        self.train('--out', 'b', '--steps', '3', '--name', '  ')
        self.assertEqual(self.runs()[0]['name'], 'b')
        self.train('--out', 'c', '--epochs', '1', '--folds', '2', '--name', 'parts')
        self.assertEqual([run['name'] for run in self.runs()][:2], ['parts, fold 2', 'parts, fold 1'])
        shutil.rmtree(self.path('c/fold-2'))
        self.run_it('train', '--resume', 'c', '--name', 'parts')
        self.assertEqual([run['name'] for run in self.runs()][:3], ['parts, fold 2', 'parts, fold 2', 'parts, fold 1'])

    def start(self):
        return subprocess.Popen([PROGRAM, 'train', '--data', TINY, *SMALL, '--epochs', '100000', '--json', '--no-out'], cwd=self.folder,
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def follow(self, process, name):
        for line in process.stdout:
            if json.loads(line).get('event') == name:
                return

    def test_killed_run_does_not_run_for_ever(self):
        process = self.start()
        self.follow(process, 'epoch')
        while not self.runs():  # a thread of its own writes the history
            self.assertIsNone(process.poll())
        self.assertEqual([run['state'] for run in self.runs()], ['running'])
        self.run_it('runs', 'delete', '1', expect=2)
        process.kill()
        process.communicate()
        self.assertEqual([run['state'] for run in self.runs()], ['killed'])
        self.run_it('runs', 'delete', '1')

    def test_two_processes(self):
        processes = [self.start() for _ in range(2)]
        for process in processes:
            self.follow(process, 'epoch')
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.communicate()
            self.assertEqual(process.returncode, 143)
        self.assertEqual(sorted((run['id'], run['state']) for run in self.runs()), [(1, 'stopped'), (2, 'stopped')])

    def test_time_of_a_run(self):
        job = ['--data', TINY, *SMALL, '--epochs', '50']
        plan, = self.events(self.lines('plan', *job, '--json'), 'plan')
        self.assertIsNone(plan['total_seconds'])
        self.assertEqual(plan['total_steps'], 450)
        self.assertIn('not known yet', self.run_it('plan', *job).stdout.decode())
        self.train('--out', 'a')
        run, = self.runs()
        plan, = self.events(self.lines('plan', *job, '--json'), 'plan')
        self.assertEqual((plan['rate_of_run'], plan['samples_per_s']), (1, run['samples_per_s']))
        self.assertAlmostEqual(plan['epoch_seconds'], 72 / run['samples_per_s'] + run['epoch_overhead_seconds'])
        self.assertAlmostEqual(plan['total_seconds'], 50 * plan['epoch_seconds'] + run['preparation_seconds'])
        self.assertIn('in run 1', self.run_it('plan', *job).stdout.decode())
        other = [*job, '--set', 'batch_size=4']
        plan, = self.events(self.lines('plan', *other, '--json'), 'plan')
        self.assertIsNone(plan['total_seconds'])
        self.assertIsNone(plan['least_seconds'])
        with contextlib.closing(sqlite3.connect(self.file())) as file, file:
            model, fingerprint, device, settings = file.execute(
                'SELECT model, fingerprint, device, settings FROM runs').fetchone()
            file.execute('INSERT INTO searches (id, model, settings, fingerprint, device, begin_us, seen_us, state) '
                         "VALUES (1, ?, '', ?, ?, 1, 1, 'finished')", (model, fingerprint, device))
            settings = re.sub(r'batch_size *= *\d+', 'batch_size=4', settings)
            file.executemany('INSERT INTO trials (search, number, time_us, stage, settings, outcome, samples_per_s) '
                             "VALUES (1, ?, 1, ?, ?, 'ok', ?)", [(1, 'loader', settings, 500), (2, 'gpu', settings, 36)])
        plan, = self.events(self.lines('plan', *other, '--json'), 'plan')
        self.assertIsNone(plan['total_seconds'])
        self.assertEqual((plan['most_samples_per_s'], plan['least_seconds']), (36, 50 * 72 / 36))
        self.assertIn('at least 1:40', self.run_it('plan', *other).stdout.decode())

    def test_import(self):
        self.train('--out', 'all/a', '--set', 'lr=0.01', '--set', 'best_metric=f1_macro', '--set', 'data.test_split=0.25')
        self.train('--out', 'all/b', '--steps', '5')
        before = {run['folder']: run for run in self.runs()}
        for path in glob.glob(self.file() + '*'):
            os.unlink(path)
        self.assertIn('2 runs', self.run_it('runs', 'import', 'all').stdout.decode())
        after = {run['folder']: run for run in self.runs()}
        self.assertEqual(set(after), set(before))
        for folder, run in after.items():
            for key in 'model', 'data', 'steps', 'epochs', 'metric', 'best_epoch', 'n_train', 'state', 'device', 'vram_bytes':
                self.assertEqual(run[key], before[folder][key], key)
            if run['epochs']:
                self.assertAlmostEqual(run['samples_per_s'], before[folder]['samples_per_s'], delta=1)
                self.assertAlmostEqual(run['best_metric'], before[folder]['best_metric'], places=5)
        shown, = self.runs('show', str(after[self.path('all/a')]['id']))
        self.assertEqual((shown['settings']['lr'], len(shown['epoch_list'])), (0.01, 2))
        # Of the test part, too, the value is that of the chosen metric.
        with open(self.path('all/a/test.ini')) as file:
            tested = dict(line.rstrip('\n').split('=', 1) for line in file if '=' in line)
        self.assertEqual((shown['metric'], shown['test_metric']), ('f1_macro', float(tested['f1_macro'])))
        self.assertNotEqual(tested['f1_macro'], tested['accuracy'])
        self.assertIn('0 runs', self.run_it('runs', 'import', 'all').stdout.decode())
        self.run_it('runs', 'import', self.folder, expect=2)
        # A folder without facts.ini, as earlier versions left it: the log shows whether the run has
        # ended.
        for name, state in ('a', 'finished'), ('b', 'stopped'):
            shutil.copytree(self.path('all/' + name), self.path('old/' + name))
            os.unlink(self.path(f'old/{name}/facts.ini'))
            self.run_it('runs', 'import', 'old/' + name)
            run, = [run for run in self.runs() if run['folder'] == self.path('old/' + name)]
            self.assertEqual(run['state'], state)

    def test_searches_of_one_folder(self):
        """A resumed search goes on in the same files, which are deleted with the last of its
        entries.  A name can be removed again."""
        self.runs()
        os.mkdir(self.path('tuned'))
        for name in 'best.ini', 'trials.csv':
            open(self.path('tuned/' + name), 'w').close()
        with contextlib.closing(sqlite3.connect(self.file())) as file, file:
            file.executemany('INSERT INTO searches (id, model, settings, begin_us, seen_us, state, folder) '
                             "VALUES (?, 'mlp', '', 1, 1, 'finished', ?)", [(i, self.path('tuned').encode()) for i in (1, 2)])
        for name, expected in ('the first', 'the first'), ('', None):
            self.run_it('runs', 'rename', 's1', name)
            self.assertEqual(self.runs('show', 's1')[0]['name'], expected)
        self.run_it('runs', 'delete', 's2', '--files')
        self.assertEqual(sorted(os.listdir(self.path('tuned'))), ['best.ini', 'trials.csv'])
        self.run_it('runs', 'delete', 's1', '--files')
        self.assertFalse(os.path.exists(self.path('tuned')))
        self.assertEqual(self.runs('--searches'), [])

    def test_a_search_that_goes_on_keeps_its_files(self):
        """The deletion is refused before any file is removed."""
        self.runs()
        os.mkdir(self.path('tuned'))
        open(self.path('tuned/trials.csv'), 'w').close()
        # The search was last seen at a time in the future, which no clock has reached.
        with contextlib.closing(sqlite3.connect(self.file())) as file, file:
            file.execute("INSERT INTO searches (id, model, settings, begin_us, seen_us, state, folder) VALUES (1, 'mlp', '', 1, ?, 'running', ?)",
                         (1 << 60, self.path('tuned').encode()))
        self.assertEqual(self.runs('show', 's1')[0]['state'], 'running')
        said = self.run_it('runs', 'delete', 's1', '--files', expect=2).stderr.decode()
        self.assertIn('is in progress', said)
        self.assertEqual(os.listdir(self.path('tuned')), ['trials.csv'])
        self.assertEqual(self.runs('show', 's1')[0]['folder'], self.path('tuned'))

    # --- without the history

    def test_lost_file_is_made_from_folders(self):
        self.train('--out', os.path.join(self.home, 'dyno', 'runs', 'of the window'))
        with open(self.file(), 'wb') as file:
            file.write(b'nothing of it is left')
        self.assertEqual([(run['name'], run['epochs']) for run in self.runs()], [('of the window', 2)])

    def test_damaged_file_is_begun_anew(self):
        self.train('--no-out')
        with open(self.file(), 'r+b') as file:
            file.write(b'no database any more')
        said = self.train('--no-out').stderr.decode()
        self.assertEqual(said.count('damaged'), 1)
        self.assertEqual(len(glob.glob(self.file() + '.corrupt-*')), 1)
        self.assertEqual(self.runs()[0]['state'], 'finished')

    def test_newer_file_is_only_read(self):
        self.train('--no-out')
        with sqlite3.connect(self.file()) as database:
            database.execute('PRAGMA user_version = 1000')
        self.assertIn('newer', self.train('--no-out').stderr.decode())
        self.assertEqual(len(self.runs()), 1)
        self.run_it('runs', 'rename', '1', 'x', expect=7)

    def test_folder_cannot_be_written(self):
        self.train('--no-out')
        os.chmod(self.home, 0o755)
        os.chmod(os.path.dirname(self.file()), 0o555)
        os.chmod(self.file(), 0o644)  # a file of an older version, which others can read
        other = {'user': 65534} if os.geteuid() == 0 else {}

        def run_it(*arguments):
            try:
                done = subprocess.run([PROGRAM, 'runs', *arguments], cwd='/', env=dict(self.environment, HOME='/nonexistent'), **other,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1200)
            except PermissionError:
                self.skipTest('no other user can run the program')
            self.assertIn('cannot be written', done.stderr.decode())
            return done
        listed = run_it('--json')
        self.assertEqual((listed.returncode, json.loads(listed.stdout)['state']), (0, 'finished'))
        self.assertEqual(run_it('rename', '1', 'x').returncode, 7)

    def test_held_by_another(self):
        self.train('--no-out')
        with sqlite3.connect(self.file()) as database:
            database.execute('BEGIN EXCLUSIVE')
            said = self.train('--out', 'a').stderr.decode()
            self.assertIn('Another process holds the history', said)
            self.assertIn('kept beside it', said)
            self.assertEqual(len(glob.glob(self.file() + '.late-*')), 1)
        newest, first = self.runs()
        self.assertEqual((newest['state'], newest['epochs'], newest['folder']), ('finished', 2, self.path('a')))
        self.assertEqual(glob.glob(self.file() + '.late-*'), [])
        self.assertEqual(len(self.runs()), 2)

    def test_files_are_the_users_only(self):
        """Files with names of data, models and folders are private where Dyno chooses the place; a
        folder that the user names gets the permissions of the umask."""
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        mode = lambda *names: oct(os.stat(os.path.join(*names)).st_mode & 0o777)
        self.train('--out', 'a')
        self.train('--out', os.path.join(self.home, 'dyno', 'runs', 'b'), '--state-dir', os.path.join(self.home, 'dyno'))
        self.train('--out', 'state/runs/c', '--state-dir', 'state')
        for folder in os.path.join(self.home, 'dyno'), self.path('state'):
            self.assertEqual(mode(folder), '0o700')
            self.assertEqual(mode(folder, 'runs'), '0o700')
            self.assertEqual(mode(folder, 'history.sqlite'), '0o600')
        self.assertEqual(mode(self.path('a')), '0o755')
        self.assertEqual(mode(self.path('a/checkpoint.safetensors')), '0o644')

    def test_disk_is_full(self):
        self.train('--no-out')
        done = subprocess.run([PROGRAM, 'train', '--data', TINY, *SMALL, '--epochs', '2', '--no-out', '-q'], cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=1200, **self.full_disk(4096))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.decode().count('not recorded in the history'), 1)
        self.assertEqual(len(self.runs()), 1)

    @unittest.skipUnless(os.environ.get('DYNO_TEST_PRELOAD'), 'a sanitizer must be the first library that is loaded')
    def test_files_cannot_be_locked(self):
        environment = dict(self.environment, LD_PRELOAD=os.environ['DYNO_TEST_PRELOAD'], DYNO_TEST_NO_LOCKS='1')
        said = self.train('--no-out', environment=environment).stderr.decode()
        self.assertIn('cannot be locked', said)
        self.run_it('runs', expect=7, environment=environment)


if __name__ == '__main__':
    main()
