# SPDX-License-Identifier: MIT
"""dynoctl diagnose, and diagnosis.json at the end of a run: bottlenecks and faults are provoked in
the real program."""
import contextlib, glob, json, os, random, sqlite3, struct, sys, zlib
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import CONVNET, Case, SMALL, TINY, main

PHASES = ['wait_data', 'copy', 'forward', 'backward', 'optimizer', 'validation', 'saving', 'idle', 'step']


class Diagnose(Case):
    def train(self, *arguments, expect=0):
        return self.run_it('train', '--data', TINY, *SMALL, '--out', 'run', *arguments, expect=expect)

    def diagnose(self, folder='run'):
        diagnosis, = self.lines('diagnose', '--run', folder, '--json')
        return diagnosis

    def ids(self, diagnosis):
        return [finding['id'] for finding in diagnosis['findings']]

    def write_png(self, name, size, seed):
        """Writes grey noise, which takes a while to inflate and to scale."""
        noise = random.Random(seed).randbytes(size)
        rows = zlib.compress(b''.join(b'\x04' + noise for _ in range(size)), 1)
        data = b'\x89PNG\r\n\x1a\n'
        for kind, body in (b'IHDR', struct.pack('>IIBBBBB', size, size, 8, 0, 0, 0, 0)), (b'IDAT', rows), (b'IEND', b''):
            data += struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(data)

    def test_the_object_is_as_documented(self):
        self.train('--epochs', '3')
        diagnosis = self.diagnose()
        self.assertEqual(list(diagnosis), ['verdict', 'knob', 'expected_gain', 'samples_per_s', 'ceilings', 'phases_ms', 'findings'])
        self.assertEqual(list(diagnosis['ceilings']), ['loader', 'gpu'])
        self.assertGreater(diagnosis['ceilings']['loader'], 0)
        self.assertGreater(diagnosis['ceilings']['gpu'], 0)
        phases = diagnosis['phases_ms']
        self.assertEqual(list(phases), PHASES)
        self.assertAlmostEqual(sum(phases[name] for name in PHASES[:-1]), phases['step'], places=6)
        self.assertGreater(phases['validation'], 0)
        for finding in diagnosis['findings']:
            self.assertEqual(list(finding), ['id', 'level', 'text', 'action'])
            self.assertIn(finding['level'], ('good', 'note', 'warning', 'problem'))
        with open(self.path('run/diagnosis.json')) as file:
            self.assertEqual(json.load(file), diagnosis)
        text = self.run_it('diagnose', '--run', 'run').stdout.decode()
        self.assertTrue(text.startswith(diagnosis['verdict'] + '\n'))
        for words in 'loader ceiling', 'device ceiling', 'wait for data', 'before the run', 'in the run', 'after the run':
            self.assertIn(words, text)
        with open(self.path('run/log')) as file:
            self.assertIn('Diagnosis: ', file.read())
        told, = self.lines('diagnose', '--run', 'run', '--checklist', '--json')
        states = {item['id']: item['state'] for item in told['checklist']}
        self.assertEqual((states['settings-recorded'], states['batch-measured'], states['run-ended'], states['memory-planned']),
                         ('done', 'open', 'done', 'done'))
        lines = self.run_it('diagnose', '--run', 'run', '--checklist').stdout.decode().splitlines()
        self.assertEqual([lines[i + 1] for i, line in enumerate(lines) if not line], ['in the run', 'after the run'])
        boxes = {'done': '[x] ', 'open': '[ ] ', 'unknown': '[?] '}
        for item in told['checklist']:
            self.assertEqual(list(item), ['id', 'list', 'state', 'text', 'next'])
            self.assertIn(boxes[item['state']] + item['text'], lines)
            self.assertEqual(item['next'] is None, item['state'] == 'done')

    def test_train_ends_with_the_verdict(self):
        told = self.train('--epochs', '3').stdout.decode().splitlines()
        verdict, = [line for line in told if line.startswith('diagnosis: ')]
        self.assertEqual(verdict, 'diagnosis: ' + self.diagnose()['verdict'])
        self.assertIn(told.index(verdict), (len(told) - 1, len(told) - 2))

    def test_json_of_a_run_ends_with_its_diagnosis(self):
        lines = self.lines('train', '--data', TINY, *SMALL, '--out', 'run', '--epochs', '3', '--json')
        self.assertEqual([line['event'] for line in lines[-2:]], ['done', 'diagnosis'])
        self.assertEqual(len(self.events(lines, 'diagnosis')), 1)
        told, again = lines[-1], self.diagnose()
        self.assertEqual(list(told), ['event', *again])
        self.assertEqual(self.ids(told), self.ids(again))
        for name in PHASES:  # metrics.csv has rounded values
            self.assertAlmostEqual(told['phases_ms'][name], again['phases_ms'][name], places=2)

    def test_without_a_folder_it_is_told_too_and_of_a_resumed_run_as_a_whole(self):
        lines = self.lines('train', '--data', TINY, *SMALL, '--no-out', '--epochs', '3', '--json')
        self.assertGreater(lines[-1]['ceilings']['gpu'], 0)
        self.assertIn('prepared', self.ids(lines[-1]))
        self.train('--epochs', '4', '--set', 'lr=0', '--steps', '6')
        lines = self.lines('train', '--resume', 'run', '--epochs', '4', '--json')
        self.assertIn('stuck-at-chance', self.ids(lines[-1]))
        self.assertEqual(self.ids(lines[-1]), self.ids(self.diagnose()))

    def test_ceilings_that_a_search_measured_are_taken(self):
        def end():
            lines = self.lines('train', '--data', TINY, *SMALL, '--out', 'run', '--force', '--epochs', '2', '--json')
            return lines[-1]['ceilings']['gpu']
        self.train('--epochs', '2')
        with open(self.path('run/facts.ini')) as file:
            facts = dict(line.rstrip('\n').split('=', 1) for line in file if '=' in line)
        with open(self.path('run/settings.ini')) as file:
            settings = [line for line in file.read().split('[settings]\n')[1].splitlines() if '=' in line]
        history, = glob.glob(os.path.join(self.environment['XDG_DATA_HOME'], 'dyno', 'history.sqlite'))
        with contextlib.closing(sqlite3.connect(history)) as store, store:
            fingerprint = int(facts['fingerprint'])
            store.execute('INSERT INTO searches (model, settings, fingerprint, device, begin_us, seen_us, state) '
                          "VALUES (?, '', ?, ?, 1, 1, 'finished')",
                          (facts['model'], fingerprint - (1 << 64) * (fingerprint >> 63), facts['device']))
            store.execute("INSERT INTO trials (search, number, time_us, stage, settings, outcome, samples_per_s) "
                          "VALUES (1, 1, 1, 'gpu', ?, 'ok', 1e9)", ('\n'.join(settings) + '\n',))
        self.assertEqual(end(), 1e9)
        self.assertIn('device ceiling  1,000,000,000 samples/s   (measured by a search)\n',
                      self.run_it('diagnose', '--run', 'run').stdout.decode())

    def test_times_of_epochs_are_events_and_columns(self):
        lines = self.lines('train', '--data', TINY, *SMALL, '--out', 'run', '--epochs', '2', '--json')
        epochs = self.events(lines, 'epoch')
        for epoch in epochs:
            self.assertTrue(0 < epoch['validation_seconds'] < epoch['seconds'])
        self.assertEqual(epochs[0]['saving_seconds'], 0)
        self.assertGreater(epochs[1]['saving_seconds'], 0)
        with open(self.path('run/metrics.csv')) as file:
            head, *rows = [line.rstrip('\n').split(',') for line in file]
        told = [row[head.index('validation_seconds')] for row in rows]
        self.assertEqual(len([cell for cell in told if cell]), 2)
        self.assertGreater(sum(int(row[head.index('decoded')]) for row in rows), 0)

    def test_large_pictures_are_cpu_bound_and_the_cache_would_hold_them(self):
        for i in range(24):
            self.write_png(f"photos/{'ab'[i % 2]}/{i:02}.png", 2800, i)
        self.run_it('train', '--data', 'photos', *SMALL, '--set', 'image_size=16', '--set', 'batch_size=4', '--epochs', '4',
                    '--out', 'run')
        diagnosis = self.diagnose()
        self.assertIn('cpu-bound', self.ids(diagnosis))
        self.assertIn('cache-fits', self.ids(diagnosis))
        self.assertIn('data pipeline limits', diagnosis['verdict'])
        self.assertEqual(diagnosis['knob'], 'cache')
        self.assertGreater(diagnosis['expected_gain'], 0.5)
        self.assertLess(diagnosis['ceilings']['loader'], diagnosis['ceilings']['gpu'])
        phases = diagnosis['phases_ms']
        with open(self.path('run/metrics.csv')) as file:
            head, *rows = [line.rstrip('\n').split(',') for line in file]
        fetch, decode = (sum(float(row[head.index(name)]) for row in rows) for name in ('fetch_ms', 'decode_ms'))
        self.assertTrue(0 < fetch < decode, (fetch, decode))
        self.assertGreater(phases['wait_data'], (phases['step'] - phases['validation'] - phases['saving']) / 2)

    def test_a_diverged_run_says_so(self):
        self.train('--epochs', '50', '--set', 'lr=90', expect=8)
        diagnosis = self.diagnose()
        self.assertTrue({'diverged', 'not-a-number'} & set(self.ids(diagnosis)), self.ids(diagnosis))
        self.assertIn('The loss', diagnosis['verdict'])
        self.assertIn(diagnosis['knob'], ('lr', 'clip_norm'))

    def test_the_first_bad_layer_is_named(self):
        """One layer's weight is so large that the layer overflows; the layers around it do not."""
        self.train(*CONVNET, '--steps', '1', '--save-weights', 'w.safetensors')
        with open(self.path('w.safetensors'), 'rb') as file:
            data = bytearray(file.read())
        size, = struct.unpack_from('<Q', data)
        header = json.loads(data[8:8 + size])
        convolutions = [name for name in header if name != '__metadata__' and len(header[name]['shape']) == 4]
        name = sorted(convolutions)[1]
        begin, end = header[name]['data_offsets']
        for at in range(8 + size + begin, 8 + size + end, 4):
            struct.pack_into('<f', data, at, 3e38)
        with open(self.path('w.safetensors'), 'wb') as file:
            file.write(data)
        self.train(*CONVNET, '--force', '--weights', 'w.safetensors', '--epochs', '3', expect=8)
        finding, = [f for f in self.diagnose()['findings'] if f['id'] == 'not-a-number']
        self.assertIn(f"first layer whose output is not finite is “{name.rsplit('.', 1)[0]}”", finding['text'])

    def test_a_bad_gradient_ends_the_run(self):
        """The loss is finite but a gradient is not: that of the middle layer, which has large
        inputs and a large layer above it."""
        mlp = ('train', '--data', TINY, *SMALL, '--model', 'mlp', '--set', 'data.normalise=true')
        self.run_it(*mlp, '--steps', '1', '--save-weights', 'w.safetensors', '--no-out')
        with open(self.path('w.safetensors'), 'rb') as file:
            data = bytearray(file.read())
        size, = struct.unpack_from('<Q', data)
        header = json.loads(data[8:8 + size])
        for name, value in (('1.weight', 0), ('1.bias', 1e20), ('3.weight', 0), ('3.bias', 1e-20), ('5.weight', 1e20)):
            begin, end = header[name]['data_offsets']
            for place, at in enumerate(range(8 + size + begin, 8 + size + end, 4)):
                struct.pack_into('<f', data, at, value * (place % 7 if name == '5.weight' else 1))
        with open(self.path('w.safetensors'), 'wb') as file:
            file.write(data)
        run = self.run_it(*mlp, '--out', 'run', '--weights', 'w.safetensors', '--epochs', '3', expect=8)
        self.assertIn('The gradients were not finite for 5 steps in a row', run.stderr.decode())
        self.assertIn('in “3.wgrad (backward pass)”', run.stderr.decode())

    def test_without_learning_it_is_stuck_at_chance(self):
        self.train('--epochs', '4', '--set', 'lr=0')
        self.assertIn('stuck-at-chance', self.ids(self.diagnose()))

    def test_the_plan_says_what_a_setting_mends(self):
        plan = ('plan', '--data', TINY, *SMALL)
        self.assertNotIn('cores', self.run_it(*plan).stdout.decode())
        told = self.run_it(*plan, '--set', 'workers=250', '--set', 'data.val_split=0').stdout.decode()
        self.assertIn('!  250 workers share ', told)
        self.assertIn('     Set data.val_split=0.1\n', told)

    def test_too_many_workers_are_named(self):
        self.train('--epochs', '1', '--set', 'workers=250')
        self.assertIn('workers-above-cores', self.ids(self.diagnose()))

    def test_a_killed_run_and_one_of_an_earlier_version(self):
        self.train('--epochs', '3')
        with open(self.path('run/metrics.csv')) as file:
            rows = [line.rstrip('\n').split(',') for line in file]
        columns = rows[0].index('epoch_seconds') + 1
        os.remove(self.path('run/facts.ini'))
        with open(self.path('run/metrics.csv'), 'w') as file:
            file.write('\n'.join(','.join(row[:columns]) for row in rows) + '\n99,4,1.2')
        diagnosis = self.diagnose()
        self.assertIsNone(diagnosis['ceilings']['loader'])
        self.assertGreater(diagnosis['ceilings']['gpu'], 0)
        phases = diagnosis['phases_ms']
        self.assertAlmostEqual(sum(phases[name] for name in PHASES[:-1]), phases['step'], places=6)
        self.assertGreater(phases['validation'], 0)

    def test_no_run_is_bad_data(self):
        os.mkdir(self.path('empty'))
        error, = self.lines('diagnose', '--run', 'empty', '--json', expect=3)
        self.assertEqual(error['event'], 'error')
        self.assertIn('metrics.csv', error['text'])
        self.run_it('diagnose', expect=2)


main()
