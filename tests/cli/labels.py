# SPDX-License-Identifier: MIT
"""Data with several labels per sample: inspect, train, resume, evaluate and predict, compared with
figures that this file computes itself from the table of an evaluation."""
import csv, json, math, os, random, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, main
from masks import png

SIZE, SAMPLES = 16, 60
LABELS = 'red', 'green', 'blue', 'rare'
SETTINGS = ['--model', 'simplecnn', '--set', 'model.width=0.5', '--set', 'batch_size=8', '--set', 'amp=false', '--set', 'workers=1',
            '--set', 'autotune=false', '--set', 'data.val_split=0.3', '--set', 'lr=0.02', '--set', 'schedule_epochs=4', '--set', 'deterministic=true']


def write_data(folder, chance=None):
    """Writes images with a bar for each of their labels; returns the labels of each image, where
    None is not known."""
    chance = chance or random.Random(7)
    os.makedirs(f'{folder}/images')
    rows = []
    for i in range(SAMPLES):
        states = [chance.random() < share for share in (0.5, 0.4, 0.3, 0.15)]
        shown = [[chance.randrange(60) for x in range(SIZE) for channel in range(3)] for y in range(SIZE)]
        for k, there in enumerate(states):
            for y in range(4 * k, 4 * k + 3) if there else ():
                for x in range(3, 13):
                    for channel in range(3):
                        shown[y][3 * x + channel] += 150 if channel == k or k == 3 else 0
        with open(f'{folder}/images/{i:02}.png', 'wb') as file:
            file.write(png(shown, 2))
        rows.append([None if k == 3 and i % 9 == 4 else int(there) for k, there in enumerate(states)])
    with open(f'{folder}/flags.csv', 'w') as file:
        file.write('file,' + ','.join(LABELS) + '\n')
        for i, states in enumerate(rows):
            file.write(f'images/{i:02}.png,' + ','.join('' if state is None else str(state) for state in states) + '\n')
    return rows


def average_precision(pairs):
    """The sum over the thresholds of the rise of the recall times the precision; None: undefined."""
    positive = sum(truth for score, truth in pairs)
    if positive in (0, len(pairs)):
        return None
    area, before = 0, 0
    for threshold in sorted({score for score, truth in pairs}, reverse=True):
        chosen = [truth for score, truth in pairs if score >= threshold]
        area += (sum(chosen) - before) / positive * sum(chosen) / len(chosen)
        before = sum(chosen)
    return area


def figures(rows):
    """Figures of the rows of a table, by their names in the JSON output."""
    known = [(float(row['predicted ' + label]), float(row['truth of ' + label]), label) for row in rows for label in LABELS
             if row['truth of ' + label] not in ('', 'nan')]
    areas = [average_precision([(score, truth) for score, truth, other in known if other == label]) for label in LABELS]
    areas = [area for area in areas if area is not None]
    right = sum(1 for score, truth, label in known if truth and score >= 0.5)
    chosen, there = sum(1 for score, truth, label in known if score >= 0.5), sum(truth for score, truth, label in known)
    exact = sum(all((float(row['predicted ' + label]) >= 0.5) == (float(row['truth of ' + label]) == 1) for label in LABELS
                    if row['truth of ' + label] not in ('', 'nan')) for row in rows)
    shares = [sum((float(row['predicted ' + label]) >= 0.5) == (float(row['truth of ' + label]) == 1) for label in LABELS
                  if row['truth of ' + label] not in ('', 'nan')) / sum(row['truth of ' + label] not in ('', 'nan') for label in LABELS)
              for row in rows]
    return {'mean_average_precision': sum(areas) / len(areas), 'f1_micro': 2 * right / (chosen + there), 'exact_match': exact / len(rows),
            'label_accuracy': sum(shares) / len(shares)}


class Labels(Case):
    def setUp(self):
        super().setUp()
        self.rows = write_data(self.path('data'))
        self.data = self.path('data/flags.csv')

    def train(self, *more, expect=0):
        return self.lines('train', '--data', self.data, *SETTINGS, '--seed', '3', '--json', *more, expect=expect)

    def epochs(self, lines):
        return [line for line in lines if line.get('event') == 'epoch']

    def test_the_test_part_has_the_metrics_of_labels(self):
        """The result equals an evaluation of the samples, whose rare label is divided like the
        others."""
        done, = self.events(self.train('--epochs', '2', '--set', 'data.test_split=0.25', '--out', 'tested'), 'done')
        self.assertEqual(done['test_samples'], 15)
        self.run_it('evaluate', '--run', 'tested', '--data', self.data, '--part', 'test', '--table', 'tested.csv')
        with open(self.path('tested.csv'), encoding='utf-8') as file:
            rows = list(csv.DictReader(file))
        for name, value in figures(rows).items():
            self.assertAlmostEqual(done['test_' + name], value, places=4, msg=name)
        self.assertIn(sum(float(row['truth of rare'] or 0) == 1 for row in rows), (1, 2, 3))

    def test_inspect(self):
        facts = json.loads(self.run_it('inspect', self.data, '--json').stdout)
        self.assertEqual((facts['task'], facts['class_names']), ('labels', list(LABELS)))
        self.assertEqual(facts['class_counts'], [sum(row[k] == 1 for row in self.rows) for k in range(4)])
        self.assertIn('rare?', ' '.join(example['target'] for example in facts['examples']))

    def test_evaluation_equals_the_validation_and_the_definitions(self):
        epochs = self.epochs(self.train('--epochs', '4', '--out', 'run'))
        os.rename(self.path('run/weights.safetensors'), self.path('best'))
        os.rename(self.path('run/weights-last.safetensors'), self.path('run/weights.safetensors'))
        done = json.loads(self.run_it('evaluate', '--run', 'run', '--data', self.data, '--part', 'validation', '--table', 'table.csv',
                                      '--json').stdout)
        with open(self.path('table.csv'), newline='') as file:
            expected = figures(list(csv.DictReader(file)))
        last = epochs[-1]
        for name, value in expected.items():
            self.assertAlmostEqual(done[name], value, delta=1e-6, msg=name)
            self.assertAlmostEqual(last['val_' + name], value, delta=1e-6, msg=name)
        self.assertAlmostEqual(done['loss'], last['val_loss'], delta=1e-5)
        self.assertGreater(last['val_mean_average_precision'], 0.6)
        os.rename(self.path('best'), self.path('run/weights.safetensors'))
        best = max(epochs, key=lambda epoch: (epoch['val_mean_average_precision'], -epoch['val_loss']))
        done = json.loads(self.run_it('evaluate', '--run', 'run', '--data', self.data, '--part', 'validation', '--json').stdout)
        self.assertAlmostEqual(done['mean_average_precision'], best['val_mean_average_precision'], delta=1e-6)
        self.assertAlmostEqual(done['loss'], best['val_loss'], delta=1e-5)

    def test_resumed_twice_is_equal_to_the_bit(self):
        """The run is resumed after its second and third epoch."""
        self.train('--epochs', '4', '--out', 'whole')
        self.train('--epochs', '2', '--out', 'parts')
        for epochs in '3', '4':
            self.run_it('train', '--resume', 'parts', '--epochs', epochs, '--set', 'workers=2')
        for name in 'weights.safetensors', 'weights-last.safetensors':
            with open(self.path('whole/' + name), 'rb') as one, open(self.path('parts/' + name), 'rb') as other:
                self.assertTrue(one.read() == other.read(), name)

    def test_predict(self):
        self.train('--epochs', '6', '--out', 'run')
        out = self.run_it('predict', '--run', 'run', '--data', 'data/images', '--csv').stdout.decode().splitlines()
        rows = list(csv.DictReader(out))
        self.assertEqual(list(rows[0]), ['sample', 'labels', *LABELS, 'problem'])
        for row in rows:
            chosen = sorted((label for label in LABELS if float(row[label]) >= 0.5), key=lambda label: -float(row[label]))
            self.assertEqual(row['labels'], '|'.join(chosen))
        self.assertGreater(len({row['labels'] for row in rows}), 3)
        lines = [line for line in self.lines('predict', '--run', 'run', '--data', 'data/images', '--json') if line['event'] == 'prediction']
        self.assertEqual(['|'.join(one['label'] for one in line['labels']) for line in lines], [row['labels'] for row in rows])
        two = [line for line in self.lines('predict', '--run', 'run', '--data', 'data/images', '--json', '--top', '2')
               if line['event'] == 'prediction']
        self.assertEqual({len(line['labels']) for line in two}, {2})
        self.run_it('predict', '--run', 'run', '--data', 'data/images', '--top', '0', expect=2)

    def test_calibrated_weights(self):
        """evaluate, predict and another calibration use temperature and thresholds of the file; the run can be resumed."""
        self.train('--epochs', '3', '--out', 'run')

        def evaluate(*options):
            return json.loads(self.run_it('evaluate', '--run', 'run', '--data', self.data, '--part', 'validation', '--json', *options).stdout)

        for part in ((), ('--part', 'training')):
            out = self.run_it('evaluate', '--run', 'run', '--data', self.data, '--calibrate', *part, expect=3)
            self.assertIn('add --part validation', out.stderr.decode())
        before, found = evaluate(), evaluate('--calibrate')
        fitted = found.pop('calibration')
        self.assertEqual({**found, 'seconds': 0}, {**before, 'seconds': 0})
        after = evaluate()
        self.assertLess(after['loss'], before['loss'])
        for one, loss, f1 in (before, 'loss_before', 'f1_macro_before'), (after, 'loss', 'f1_macro'):
            self.assertAlmostEqual(one['loss'], fitted[loss], delta=1e-6)
            self.assertAlmostEqual(one['f1_macro'], fitted[f1], delta=1e-9)
        self.assertEqual(after['mean_average_precision'], before['mean_average_precision'])
        self.assertNotEqual(fitted['thresholds'], [0.5] * len(LABELS))
        again = evaluate('--calibrate')['calibration']
        self.assertAlmostEqual(again['temperature'] / fitted['temperature'], 1, delta=1e-4)
        self.assertEqual([round(one, 3) for one in again['thresholds']], [round(one, 3) for one in fitted['thresholds']])

        out = self.run_it('predict', '--run', 'run', '--data', 'data/images', '--csv').stdout.decode().splitlines()
        chosen = 0
        for row in csv.DictReader(out):
            above = [label for label, threshold in zip(LABELS, again['thresholds']) if float(row[label]) >= threshold]
            self.assertEqual(sorted(row['labels'].split('|')) if above else [''], sorted(above) or [''])
            chosen += above != [label for label in LABELS if float(row[label]) >= 0.5]
        self.assertGreater(chosen, 0)
        self.run_it('save', '--run', 'run', '--to', 'onnx')
        with open(self.path('run/model.onnx'), 'rb') as file:
            self.assertIn(b'output.temperature', file.read())
        self.run_it('train', '--resume', 'run', '--epochs', '4')

    def test_settings(self):
        """Weights, smoothing and mixed batches train; balancing by sampling is refused."""
        plain = self.epochs(self.train('--epochs', '1', '--no-out'))[-1]['train_loss']
        for setting in 'loss.class_weights=balanced', 'label_smoothing=0.1', 'augment.mixup=0.5', 'loss.focal=2':
            loss = self.epochs(self.train('--epochs', '1', '--no-out', '--set', setting))[-1]['train_loss']
            self.assertTrue(math.isfinite(loss) and loss != plain, setting)
        out = self.run_it('train', '--data', self.data, *SETTINGS, '--no-out', '--set', 'loss.focal=2', '--set', 'label_smoothing=0.1', expect=3)
        self.assertIn('labels that are 0 or 1', out.stderr.decode())
        for setting, code, words in (('data.balance=sampling', 3, 'loss.class_weights to balanced'), ('best_metric=accuracy', 2, 'mean_average_precision')):
            out = self.run_it('train', '--data', self.data, *SETTINGS, '--no-out', '--set', setting, expect=code)
            self.assertIn(words, out.stderr.decode())

    def test_balanced_weights(self):
        """They are PyTorch's pos_weight: the samples without a label over those with it."""
        weights = [f'{label}={sum(row[k] == 0 for row in self.rows) / sum(row[k] == 1 for row in self.rows)}' for k, label in enumerate(LABELS)]
        losses = [self.epochs(self.train('--epochs', '1', '--no-out', '--set', 'data.val_split=0', '--set', setting))[-1]['train_loss']
                  for setting in ('loss.class_weights=balanced', 'loss.weights=' + ','.join(weights))]
        self.assertAlmostEqual(*losses, delta=1e-6)

    def test_other_data_are_refused(self):
        self.train('--epochs', '1', '--out', 'run')
        out = self.run_it('evaluate', '--run', 'run', '--data', 'builtin:shapes?size=16&samples=20', expect=3)
        self.assertIn('several labels of a sample', out.stderr.decode())


if __name__ == '__main__':
    main()
