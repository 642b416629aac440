# SPDX-License-Identifier: MIT
"""What others may have written: files of a run's folder, a preset, a history, names that become part of scripts."""
import ast, contextlib, os, random, sqlite3, subprocess, sys
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
        """Not by a signal, and without orders for the terminal."""
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

    def test_names_are_no_part_of_scripts(self):
        """A data set's name with a line break, quotes and orders of a shell stays a text."""
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
