# SPDX-License-Identifier: MIT
"""Files that others may have written: a run's folder, a preset, a history, names that become part
of scripts."""
import ast, contextlib, csv, io, os, random, sqlite3, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, PROGRAM, main

VALUES = ['', 'nan', '-1', '1e999', '18446744073709551616', '-9223372036854775809', '\033[2J', '%s%n', 'x' * 100000, '[run]', '=1+1', '\u202e']
HEAD = 'step,epoch,loss,accuracy,lr,samples_per_s,step_ms,wait_data_ms,vram_bytes,seconds,train_loss,train_accuracy,val_loss,val_accuracy\n'
SETTINGS = '[run]\nmodel=mlp\ndata=shapes\n\n[settings]\nepochs=4\nbatch_size=32\n'
NAME = 'x\nimport os; os.abort()\n$(touch broken)`touch broken`"\'<script>'


class Hostile(Case):
    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'w', errors='surrogateescape') as file:
            file.write(text)

    def ends(self, *arguments):
        """Asserts that dynoctl is not ended by a signal, and prints no control sequences for the
        terminal."""
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300)
        self.assertGreaterEqual(done.returncode, 0, f'{arguments}\n{done.stderr.decode()}')
        self.assertNotIn(b'\033', done.stdout + done.stderr)
        return done

    def test_facts_and_logs_of_a_run(self):
        names = ['fingerprint', 'device', 'software', 'device_bytes', 'n_train', 'steps_per_epoch', 'max_steps', 'batch_size', 'parts',
                 'flops_per_sample', 'ranks', 'state', 'problem', 'bad_layer']
        for seed, value in enumerate(VALUES):
            self.write('run/settings.ini', SETTINGS)
            self.write('run/metrics.csv', HEAD + f'1,1,{value},0.5,0.1,9,10,4,100,1,,,,\n{value},{value}\n')
            self.write('run/facts.ini', '[run]\n' + ''.join(f'{name}={value}\n' for name in names))
            self.write('run/sensors.csv', f'unix_time,step\n{value},{value}\n')
            for command in (['watch', '--once', 'run'], ['diagnose', '--run', 'run']):
                self.ends(*command)
        for seed in range(4):
            noise = random.Random(seed).randbytes(3000).decode('latin-1')
            for name in 'facts.ini', 'metrics.csv', 'settings.ini':
                self.write(f'run/{name}', noise)
            self.ends('watch', '--once', 'run')
            self.ends('diagnose', '--run', 'run')

    def test_presets(self):
        for value in VALUES:
            self.write('own.preset', f'[preset]\nid={value}\nname={value}\n[settings]\nbatch_size={value}\nlr={value}\nnone={value}\n')
            self.ends('presets', './own.preset')

    def test_contents_of_the_history(self):
        self.run_it('runs')
        path = os.path.join(self.home, 'dyno', 'history.sqlite')
        with contextlib.closing(sqlite3.connect(path)) as file:
            columns = [row[1] for row in file.execute('PRAGMA table_info(runs)') if row[1] not in ('id', 'uid')]
            for number, value in enumerate([*VALUES, -1, 2**63 - 1, 1e308, b'\xff\0\xfe', NAME], 1):
                names = ', '.join(columns)
                with contextlib.suppress(sqlite3.IntegrityError):
                    file.execute(f'INSERT INTO runs (id, uid, {names}) VALUES (?, ?, {", ".join("?" * len(columns))})',
                                 [number, number, *[value] * len(columns)])
            file.commit()
            count = file.execute('SELECT count(*) FROM runs').fetchone()[0]
        self.assertGreater(count, 10)
        self.assertEqual(self.ends('runs').returncode, 0)
        self.assertEqual(len(self.lines('runs', '--json')), count)
        for number in range(1, count + 1):
            self.ends('runs', 'show', str(number))
        self.ends('runs', 'compare', '1', '2')

    def fill(self, file, table, values, row=None, keys=()):
        """Inserts a row for each value, with the value in all columns; or, for each value and each
        of the keys, a copy of the given row with the value in the column of that key."""
        columns = [found[1] for found in file.execute(f'PRAGMA table_info({table})')]
        for number, value in enumerate(values, 1):
            for key in keys or [None]:
                cells = dict(zip(columns, row)) if row else dict.fromkeys(columns, value)
                cells.update({key: value, 'id': None} if key else {name: number for name in ('id', 'uid', 'run', 'search') if name in columns})
                with contextlib.suppress(sqlite3.IntegrityError):
                    file.execute(f'INSERT INTO {table} ({", ".join(cells)}) VALUES ({", ".join("?" * len(cells))})', list(cells.values()))
        file.commit()
        return file.execute(f'SELECT count(*) FROM {table}').fetchone()[0]

    def test_contents_of_searches_and_of_the_queue(self):
        self.run_it('queue', 'add', '--data', 'builtin:shapes?size=16&samples=16&classes=4', '--model', 'mlp', '--steps', '1', '--out', 'own')
        values = [*VALUES, -1, 2**63 - 1, 1e308, b'\xff\0\xfe', NAME]
        with contextlib.closing(sqlite3.connect(os.path.join(self.home, 'dyno', 'history.sqlite'))) as file:
            counts = [self.fill(file, table, values) for table in ('searches', 'trials', 'epochs')]
            job = file.execute('SELECT * FROM jobs').fetchone()
            n_jobs = self.fill(file, 'jobs', values, job, ('data', 'targets', 'preset', 'weights_in', 'folder', 'device', 'state', 'process',
                                                           'attempts', 'exit_code', 'add_us', 'place'))
        self.assertGreater(min(counts), 10)
        self.assertGreater(n_jobs, 100)
        self.assertEqual(self.ends('runs', '--searches').returncode, 0)
        self.assertEqual(len(self.lines('runs', '--searches', '--json')), counts[0])
        for number in range(1, counts[0] + 1):
            self.ends('runs', 'show', f's{number}')
        self.ends('runs', 'rename', 's1', '=1+1')
        self.ends('runs', 'delete', 's2')
        self.assertEqual(self.ends('queue', 'list').returncode, 0)
        self.assertEqual(len(self.lines('queue', 'list', '--json')), n_jobs)
        self.assertEqual(self.ends('queue', 'remove', '2').returncode, 0)
        self.assertEqual(self.ends('queue', 'clear').returncode, 0)

    def test_a_job_of_the_queue_whose_settings_cannot_be_read(self):
        """The job is refused by name, and nothing else is trained instead."""
        self.run_it('queue', 'add', '--data', 'builtin:shapes?size=16&samples=16&classes=4', '--model', 'mlp', '--steps', '1', '--out', 'own')
        with contextlib.closing(sqlite3.connect(os.path.join(self.home, 'dyno', 'history.sqlite'))) as file:
            job = file.execute('SELECT * FROM jobs').fetchone()
            whole, = file.execute('SELECT settings FROM jobs').fetchone()
            file.execute('DELETE FROM jobs')
            bad = ['', b'\xff\xfe', '\033[2J', 'x' * 100000, whole.replace('lr=', 'lr=fast'), whole + 'learning=1\n', whole.replace('seed=', 'seed=-1e99')]
            self.fill(file, 'jobs', bad, job, ('settings',))
        done = self.ends('queue', 'start')
        self.assertEqual(done.stderr.count(b'cannot be read'), len(bad), done.stderr.decode())
        for words in (b'lr=fast', b'learning=1', b'seed=-1e99', b'\\x1b[2J'):
            self.assertIn(words, done.stderr)
        self.assertEqual([(job['state'], job['exit_code']) for job in self.lines('queue', 'list', '--json')], [('failed', 3)] * len(bad))
        self.assertEqual(self.lines('runs', '--json'), [])

    def test_trials_of_a_search(self):
        """An unreadable line is skipped; a line of another search is an error."""
        data = 'builtin:shapes?size=16&samples=80&classes=4'
        self.ends('tune', '--data', data, '--model', 'mlp', '--set', 'model.width=0.125', '--minutes', '0.001', '--out', 'found')
        with open(self.path('found/trials.csv'), newline='') as file:
            text = file.read()
        head, first, *_ = text.splitlines(keepends=True)
        row, = csv.reader([first])
        facts = head.split(',').index('text') + 1  # the columns before the settings
        measured, others = io.StringIO(), io.StringIO()
        row[2:6] = ['ok', '100', '90', '110']
        for value in VALUES:
            for column in range(len(row)):
                cells = [value if place == column else cell for place, cell in enumerate(row)]
                csv.writer(measured if column < facts else others, lineterminator='\n').writerow(cells)
        for lines, codes in ((measured, (0, 1)), (others, (2,))):
            self.write('found/trials.csv', head + lines.getvalue() + 'torn,"')
            done = self.ends('tune', '--resume', 'found', '--minutes', '0.001', '--out', 'more', '--force')
            self.assertIn(done.returncode, codes, done.stderr.decode())
        self.assertIn(b'belongs to another search', done.stderr)
        for noise in (b'', b'\0', head.encode(), head.encode() + b'\xff' * 100000, os.urandom(3000)):
            with open(self.path('found/trials.csv'), 'wb') as file:
                file.write(noise)
            done = self.ends('tune', '--resume', 'found', '--minutes', '0.001', '--out', 'more', '--force')
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(b'trials.csv', done.stderr)

    def test_names_are_no_part_of_scripts(self):
        """A data set's name with a line break, quotes and shell commands stays plain text in
        scripts."""
        written = []
        data = NAME.replace('\n', '\\n')
        self.write('own/settings.ini', f'[run]\nmodel=mlp\ndata={data}\n\n[settings]\nepochs=4\nbatch_size=32\n')
        for to in 'pytorch', 'lightning', 'tensorflow', 'ultralytics', 'timm', 'slurm', 'torchrun', 'accelerate', 'yaml':
            done = self.ends('export', '--settings', 'own/settings.ini', '--to', to, '--out', 'out', '--force')
            if done.returncode != 0:
                continue
            with open(self.path('out')) as file:
                text = file.read()
            written.append(to)
            self.assertFalse([line for line in text.splitlines() if line.startswith(('import os; os.abort', '$(touch'))], text)
            if text.startswith('#!/usr/bin/env python3'):
                nodes = list(ast.walk(ast.parse(text)))
                self.assertFalse([node for node in nodes if isinstance(node, ast.Attribute) and node.attr == 'abort'], to)
            if text.startswith('#!/bin/bash'):
                self.assertEqual(subprocess.run(['bash', '-n', self.path('out')]).returncode, 0, text)
        self.assertIn('pytorch', written)
        self.assertIn('slurm', written)
        self.assertFalse(os.path.exists(self.path('broken')))


if __name__ == '__main__':
    main()
