#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run in trackio's database and in MLflow's folder of runs, read as these programs read them: the tables
and columns that trackio's queries name, the keys and files that MLflow's file store wants.
trackers.py EXPORT_RUN DYNOCTL"""
import csv
import datetime
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXPORT_RUN = os.path.abspath(sys.argv.pop(1))
DYNOCTL = os.path.abspath(sys.argv.pop(1))
HEAD = ('step,epoch,loss,accuracy,top5,lr,samples_per_s,step_ms,grad_norm,loss_scale,skipped,vram_bytes,seconds,'
        'train_loss,train_accuracy,train_top5,val_loss,val_accuracy,val_top5,epoch_samples_per_s,epoch_seconds').split(',')
OF_EPOCH = HEAD[HEAD.index('train_loss'):]
MTIME = 1700000000.25


def scalar(text):
    if text[:1] in '"\'':
        assert text[0] == text[-1] and len(text) > 1, text
        return text[1:-1]
    if text in ('null', ''):
        return None
    if text == '[]':
        return []
    return int(text) if re.fullmatch(r'-?\d+', text) else text


def yaml(path):
    """Parses flat files only, with unique keys."""
    found = {}
    for line in path.read_text().splitlines():
        key, value = line.split(': ', 1)
        assert key not in found and not key.startswith(' '), line
        found[key] = scalar(value)
    return found


class Trackers(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix='dyno-trackers-')
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)
        self.run_folder = self.folder / 'cnn-shapes-1'
        self.run_folder.mkdir()

    def write_run(self, n, name='cnn-shapes-1', columns=HEAD):
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        rows = []
        for step in range(1, n + 1):
            row = dict.fromkeys(HEAD, '')
            row |= {'step': str(step), 'epoch': str(1 + (step - 1) // 4), 'loss': f'{2 / step:.9g}', 'accuracy': f'{step / n:.6g}',
                    'top5': '1', 'lr': '0.05', 'samples_per_s': str(100 + step), 'step_ms': '2.5', 'grad_norm': 'nan', 'loss_scale': '1',
                    'skipped': '0', 'vram_bytes': '1000', 'seconds': f'{step * 0.5:.6g}'}
            if step % 4 == 0:
                row |= {'train_loss': '0.5', 'train_accuracy': '0.25', 'train_top5': '1', 'val_loss': '', 'val_accuracy': '', 'val_top5': '',
                        'epoch_samples_per_s': '99', 'epoch_seconds': '2'}
            rows.append(row)
        path = folder / 'metrics.csv'
        with path.open('w', newline='') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerow(columns)
            writer.writerows([row[key] for key in HEAD] for row in rows)
        os.utime(path, (MTIME, MTIME))
        (folder / 'settings.ini').write_text('[run]\ndata=builtin:shapes\nmodel=simplecnn\n[settings]\nlr=0.03\nbatch_size=8\n')
        (folder / 'facts.ini').write_text('')
        return rows

    def export(self, kind, place, name='cnn-shapes-1', fails=False):
        done = subprocess.run([EXPORT_RUN, kind, self.folder / name, place], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1 if fails else 0, done.stderr)
        return done.stderr if fails else Path(done.stdout.strip())

    def force(self, kind, place):
        subprocess.run([DYNOCTL, 'export', '--run', self.run_folder, '--to', kind, '--out', place, '--force'], check=True, stdout=subprocess.DEVNULL)

    def expected(self, row):
        got = {('epoch/' if key in OF_EPOCH else 'step/') + key: float(value) for key, value in row.items()
               if value not in ('', 'nan') and key not in ('step', 'epoch')}
        return got

    def known(self, values):
        """Removes the counts without a column in this log, which are 0."""
        for key, value in values.items():
            self.assertIn(key.split('/')[0], ('step', 'epoch'))
            self.assertTrue(key.split('/')[1] in HEAD or value == 0, key)
        return {key: value for key, value in values.items() if key.split('/')[1] in HEAD}

    # --- trackio ---

    def rows_of(self, path, run='cnn-shapes-1'):
        with sqlite3.connect(path) as db:
            return db.execute('SELECT timestamp, step, metrics FROM metrics WHERE run_name = ? ORDER BY timestamp', (run,)).fetchall()

    def test_trackio_has_every_number_of_every_step(self):
        rows = self.write_run(9)
        path = self.export('trackio', self.folder / 'new' / 'place.db')
        got = self.rows_of(path)
        self.assertEqual([step for _, step, _ in got], list(range(1, 10)))
        for (time, _, text), row in zip(got, rows, strict=True):
            self.assertEqual(self.known(json.loads(text)), self.expected(row))
            when = datetime.datetime.fromisoformat(time)
            self.assertEqual(when.utcoffset(), datetime.timedelta(0))
            self.assertAlmostEqual(when.timestamp(), MTIME - float(rows[-1]['seconds']) + float(row['seconds']), places=3)

    def test_trackio_has_the_settings_once(self):
        self.write_run(4)
        path = self.export('trackio', self.folder)
        self.assertEqual(path.name, 'dyno.db')
        with sqlite3.connect(path) as db:
            (config, created), = db.execute('SELECT config, created_at FROM configs WHERE run_name = ?', ('cnn-shapes-1',))
        config = json.loads(config)
        self.assertEqual((config['model'], config['data'], config['settings']['lr'], config['settings']['batch_size']),
                         ('simplecnn', 'builtin:shapes', 0.03, 8))
        datetime.datetime.fromisoformat(created)

    def test_trackio_keeps_other_runs_and_replaces_one_when_forced(self):
        self.write_run(4)
        self.write_run(5, 'other')
        path = self.export('trackio', self.folder)
        self.export('trackio', self.folder, 'other')
        self.assertIn('--force', self.export('trackio', self.folder, fails=True))
        self.assertEqual((len(self.rows_of(path)), len(self.rows_of(path, 'other'))), (4, 5))
        self.write_run(3)
        self.force('trackio', path)
        self.assertEqual((len(self.rows_of(path)), len(self.rows_of(path, 'other'))), (3, 5))
        with sqlite3.connect(path) as db:
            self.assertEqual(db.execute('SELECT COUNT(*) FROM configs').fetchone(), (2,))

    def test_trackio_adds_to_the_database_of_a_later_version(self):
        self.write_run(2)
        path = self.folder / 'dyno.db'
        with sqlite3.connect(path) as db:
            db.execute('CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, run_name TEXT NOT NULL, '
                       'step INTEGER NOT NULL, metrics TEXT NOT NULL, log_id TEXT, space_id TEXT)')
            db.execute('CREATE UNIQUE INDEX idx_metrics_log_id ON metrics(log_id) WHERE log_id IS NOT NULL')
        self.assertEqual(len(self.rows_of(self.export('trackio', path))), 2)

    def test_another_file_is_left_as_it_is(self):
        self.write_run(2)
        path = self.folder / 'other.db'
        path.write_bytes(b'no database at all, but a text that is long enough for a header of one.' * 20)
        before = path.read_bytes()
        self.assertIn('other.db', self.export('trackio', path, fails=True))
        self.assertEqual(path.read_bytes(), before)

    # --- MLflow ---

    def test_mlflow_has_the_experiment_and_the_run(self):
        self.write_run(4)
        run = self.export('mlflow', self.folder / 'mlruns')
        root = self.folder / 'mlruns'
        self.assertEqual(run.parent.parent, root)
        default, own = yaml(root / '0' / 'meta.yaml'), yaml(run.parent / 'meta.yaml')
        self.assertEqual((default['name'], default['experiment_id']), ('Default', '0'))
        self.assertEqual(own['name'], 'dyno')
        self.assertEqual(own['experiment_id'], run.parent.name)
        self.assertTrue(own['artifact_location'].startswith('file:///'))
        self.assertEqual(set(own), {'artifact_location', 'creation_time', 'experiment_id', 'last_update_time', 'lifecycle_stage', 'name'})
        meta = yaml(run / 'meta.yaml')
        self.assertEqual(set(meta), {'artifact_uri', 'deleted_time', 'end_time', 'entry_point_name', 'experiment_id', 'lifecycle_stage', 'run_id',
                                     'run_name', 'run_uuid', 'source_name', 'source_type', 'source_version', 'start_time', 'status', 'tags', 'user_id'})
        self.assertRegex(run.name, r'^[0-9a-f]{32}$')
        self.assertEqual((meta['run_id'], meta['run_uuid'], meta['experiment_id']), (run.name, run.name, run.parent.name))
        self.assertEqual((meta['run_name'], meta['lifecycle_stage'], meta['artifact_uri']),
                         ('cnn-shapes-1', 'active', self.run_folder.resolve().as_uri()))
        self.assertEqual(meta['start_time'], int((MTIME - 2) * 1000))
        self.assertEqual((run / 'tags' / 'mlflow.runName').read_text(), 'cnn-shapes-1')
        self.assertEqual((run / 'params' / 'lr').read_text(), '0.03')
        self.assertEqual((run / 'params' / 'model').read_text(), 'simplecnn')

    def test_mlflow_has_every_number_of_every_step(self):
        rows = self.write_run(9)
        run = self.export('mlflow', self.folder / 'mlruns')
        got = {}
        for path in (run / 'metrics').rglob('*'):
            if path.is_file():
                self.assertTrue(path.read_bytes().endswith(b'\n'))
                for line in path.read_text().splitlines():
                    time, value, step = line.split(' ')
                    got.setdefault(int(step), {})[str(path.relative_to(run / 'metrics'))] = float(value)
                    self.assertEqual(int(time), int((MTIME - float(rows[-1]['seconds']) + float(rows[int(step) - 1]['seconds'])) * 1000))
        self.assertEqual({step: self.known(values) for step, values in got.items()}, {int(row['step']): self.expected(row) for row in rows})
        self.assertFalse((run / 'metrics' / 'epoch' / 'val_loss').exists())

    def test_mlflow_keeps_one_experiment_and_replaces_a_run_when_forced(self):
        self.write_run(4)
        self.write_run(5, 'other')
        place = self.folder / 'mlruns'
        run, other = self.export('mlflow', place), self.export('mlflow', place, 'other')
        self.assertEqual(run.parent, other.parent)
        self.assertIn('--force', self.export('mlflow', place, fails=True))
        self.write_run(3)
        self.force('mlflow', place)
        self.assertEqual(len((run / 'metrics/step/loss').read_text().splitlines()), 3)
        self.assertEqual(len((other / 'metrics/step/loss').read_text().splitlines()), 5)
        self.assertEqual(sorted(p.name for p in place.iterdir()), sorted(['0', run.parent.name]))

    def test_no_name_of_a_column_leads_out_of_the_folder(self):
        self.write_run(4, columns=[name.replace('accuracy', '../../../out').replace('top5', '.mae °') for name in HEAD])
        run = self.export('mlflow', self.folder / 'mlruns')
        names = {str(path.relative_to(run / 'metrics')) for path in (run / 'metrics').rglob('*') if path.is_file()}
        self.assertLessEqual({'step/_._.._.._out', 'step/_mae __', 'epoch/train_.._.._.._out'}, names)
        for name in names:
            self.assertRegex(name, r'^(step|epoch)/[A-Za-z0-9_\- ][A-Za-z0-9_.\- ]*$')
        self.assertFalse([path for path in self.folder.rglob('*') if path.name == 'out'])

    # --- while a run goes on ---

    def test_settings_log_each_epoch_as_it_ends(self):
        home = {**os.environ, 'TRACKIO_DIR': str(self.folder / 'trackio'), 'XDG_DATA_HOME': str(self.folder / 'home')}
        home.pop('MLFLOW_TRACKING_URI', None)
        options = ['--data', 'builtin:shapes?size=16&samples=80&classes=4', '--model', 'simplecnn', '--set', 'model.width=0.125',
                   '--set', 'batch_size=8', '--set', 'amp=false', '--set', 'workers=1', '--set', 'autotune=false',
                   '--set', 'log.trackio=true', '--set', 'log.mlflow=true']
        subprocess.run([DYNOCTL, 'train', *options, '--epochs', '2', '--out', 'live'], cwd=self.folder, env=home, check=True, stdout=subprocess.DEVNULL)
        with (self.folder / 'live' / 'metrics.csv').open() as file:
            rows = list(csv.DictReader(file))
        got = self.rows_of(self.folder / 'trackio' / 'dyno.db', 'live')
        self.assertEqual([step for _, step, _ in got], [int(row['step']) for row in rows])
        for (_, _, text), row in zip(got, rows, strict=True):
            self.assertAlmostEqual(json.loads(text)['step/loss'], float(row['loss']), places=6)
            self.assertEqual('epoch/val_loss' in json.loads(text), row['val_loss'] != '')
        run = (self.folder / 'mlruns').glob('*/*/meta.yaml')
        meta, = run
        self.assertEqual(yaml(meta)['status'], 3)
        self.assertEqual([int(line.split(' ')[2]) for line in (meta.parent / 'metrics/step/loss').read_text().splitlines()],
                         [int(row['step']) for row in rows])
        self.assertEqual(len((meta.parent / 'metrics/epoch/val_loss').read_text().splitlines()), 2)
        # values of steps after the one at which the run is resumed, as a killed run leaves them
        with sqlite3.connect(self.folder / 'trackio' / 'dyno.db') as db:
            db.execute("INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES ('2030-01-01T00:00:00+00:00', 'live', 999, '{}')")
        with (meta.parent / 'metrics/step/loss').open('a') as file:
            file.write('1 9.0 999\n')
        subprocess.run([DYNOCTL, 'train', '--resume', 'live', '--epochs', '3'], cwd=self.folder, env=home, check=True, stdout=subprocess.DEVNULL)
        with (self.folder / 'live' / 'metrics.csv').open() as file:
            steps = [int(row['step']) for row in csv.DictReader(file)]
        self.assertEqual([step for _, step, _ in self.rows_of(self.folder / 'trackio' / 'dyno.db', 'live')], steps)
        self.assertEqual([int(line.split(' ')[2]) for line in (meta.parent / 'metrics/step/loss').read_text().splitlines()], steps)


if __name__ == '__main__':
    unittest.main()
