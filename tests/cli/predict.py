# SPDX-License-Identifier: MIT
"""dynoctl predict and evaluate: from a weights file to classes, tables and scores."""
import array, csv, io, json, math, os, struct, sys, zipfile, zlib
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import CONVNET, Case, SMALL, TINY, main


def png(size, grey, cut=0):
    rows = zlib.compress((b'\0' + bytes([grey]) * size) * size)
    data = b'\x89PNG\r\n\x1a\n'
    for kind, body in (b'IHDR', struct.pack('>IIBBBBB', size, size, 8, 0, 0, 0, 0)), (b'IDAT', rows), (b'IEND', b''):
        data += struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
    return data[:len(data) - cut]


def npy(shape, values, kind='f4'):
    head = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    head += b' ' * (-(len(head) + 11) % 64) + b'\n'
    return b'\x93NUMPY\x01\0' + struct.pack('<H', len(head)) + head + array.array({'f4': 'f', 'i8': 'q', 'u1': 'B'}[kind], values).tobytes()


def wave(steps, rate):
    return npy((steps, 2), [part for t in range(steps) for part in (math.sin(rate * t), math.cos(rate * t))])


class Predict(Case):
    def test_a_run_predicts_and_is_evaluated(self):
        self.run_it('train', '--data', TINY, *CONVNET, '--steps', '2', '--set', 'data.val_split=0', '--out', 'run')
        self.check_files_folders_and_what_cannot_be_read()
        self.check_evaluation_adds_up()
        self.check_int8_weights()
        self.check_fine_tuning()

    def test_several_labels_are_saved_and_measured(self):
        """The weights of several labels keep their task in every form, and int8 weights are compared by the share of
        labels that are right."""
        self.write('X.npy', npy((40, 4), [math.sin(i * i) for i in range(160)]))
        self.write('y.npy', npy((40, 3), [i * i % 5 % 2 for i in range(120)], 'i8'))
        self.write('y.names', b'red\ngreen (dark)\nblue\n')
        self.run_it('train', '--data', 'X.npy', *SMALL, '--steps', '2', '--set', 'data.val_split=0', '--out', 'run')
        self.run_it('save', '--run', 'run', '--to', 'onnx')
        with open(self.path('run/model.onnx'), 'rb') as file:
            saved = file.read()
        self.assertIn(b'\x0a\x04task\x12\x06labels', saved)
        self.assertIn(b'["red","green (dark)","blue"]', saved)
        cost, = self.lines('save', '--run', 'run', '--to', 'int8', '--data', 'X.npy', '--json')
        whole, = self.lines('evaluate', '--run', 'run', '--data', 'X.npy', '--json')
        small, = self.lines('evaluate', '--weights', 'run/weights-int8.safetensors', '--data', 'X.npy', '--json')
        for name, one in ('fp32', whole), ('int8', small):
            self.assertEqual(cost[name], {'samples': 40, 'loss': one['loss'], 'label_accuracy': one['label_accuracy']})
        self.assertTrue(0 < whole['label_accuracy'] < 1, whole)
        self.assertAlmostEqual(cost['cost']['label_accuracy'], whole['label_accuracy'] - small['label_accuracy'])
        text = self.run_it('save', '--run', 'run', '--to', 'int8', '--force', '--data', 'X.npy').stdout.decode()
        self.assertRegex(text, rf"label accuracy +{100 * whole['label_accuracy']:.2f} %")

    def test_calibrated_classes(self):
        """The probabilities change, and the classes do not."""
        self.write('X.npy', npy((200, 4), [math.sin(i * i) + i // 4 % 2 for i in range(800)]))
        self.write('y.npy', npy((200,), [i % 2 if i % 3 else i // 3 % 2 for i in range(200)], 'i8'))
        self.run_it('train', '--data', 'X.npy', *SMALL, '--epochs', '3', '--set', 'data.val_split=0.5', '--out', 'run')
        arguments = 'evaluate', '--run', 'run', '--data', 'X.npy', '--part', 'validation'
        before, = self.lines(*arguments, '--json')
        found, = self.lines(*arguments, '--json', '--calibrate')
        after, = self.lines(*arguments, '--json')
        fitted = found['calibration']
        self.assertEqual(fitted['file'], 'run/weights.safetensors')
        self.assertEqual(after['accuracy'], before['accuracy'])
        self.assertEqual(after['roc_auc'], before['roc_auc'])
        self.assertLess(after['loss'], before['loss'])
        for one, loss, off in (before, 'loss_before', 'calibration_error_before'), (after, 'loss', 'calibration_error'):
            self.assertAlmostEqual(one['loss'], fitted[loss], delta=1e-6)
            self.assertAlmostEqual(one['calibration_error'], fitted[off], delta=1e-6)
        text = self.run_it(*arguments, '--calibrate', '--worst', '0').stdout.decode()
        self.assertRegex(text, r'calibrated, run/weights.safetensors: temperature \d+\.\d{3}, loss ')
        tensors = self.tensors('run/weights.safetensors')[0]
        self.assertAlmostEqual(float(tensors['output.temperature']), fitted['temperature'], delta=1e-4)

    def test_mirror_images(self):
        """Probabilities and values are the means of those of the images and of the same images written mirrored; pairs
        lie in different batches, and an image that cannot be read is listed once."""
        n, height, width, channels = 20, 16, 19, 3
        images = [[[[(31 * i + y * y * 7 + x * x * (i % 5 + 3) + 50 * c) % 256 for c in range(channels)] for x in range(width)] for y in range(height)]
                  for i in range(n)]
        targets = {'classes': ((n,), [i % 3 for i in range(n)], 'i8'),
                   'labels': ((n, 3), [i * i % 5 % 2 for i in range(3 * n)], 'i8'),
                   'values': ((n, 2), [math.sin(i) for i in range(2 * n)], 'f4')}

        def put(name, reverse, kind):
            rows = [value for image in images for row in image for pixel in (row[::-1] if reverse else row) for value in pixel]
            self.write(name, npy((n, height, width, channels), rows, kind))

        for task, (shape, y, kind) in targets.items():
            put('X.npy', False, 'f4' if task == 'values' else 'u1')
            put('mirrored.npy', True, 'f4' if task == 'values' else 'u1')
            self.write('y.npy', npy(shape, y, kind))
            self.run_it('train', '--data', 'X.npy', *CONVNET, '--steps', '2', '--set', 'data.val_split=0.4', '--set', f'data.task={task}', '--out', task)
            top = () if task == 'values' else ('--top', '3')

            def predict(data, *options):
                found = []
                for line in self.lines('predict', '--run', task, '--data', data, '--json', '--batch', '7', *top, *options):
                    if line['event'] == 'prediction':
                        found.append({str(one.get('id', one.get('name'))): one.get('probability', one.get('value')) for one in line[task]})
                return found

            plain, mirrored, both = predict('X.npy'), predict('mirrored.npy'), predict('X.npy', '--mirror')
            self.assertEqual(len(both), n)
            self.assertNotEqual(plain, mirrored)
            for a, b, c in zip(plain, mirrored, both):
                self.assertEqual(set(a), set(c))
                for key in c:
                    self.assertAlmostEqual(c[key], (a[key] + b[key]) / 2, delta=2e-6)
            one, = self.lines('evaluate', '--run', task, '--data', 'X.npy', '--mirror', '--json', '--batch', '7')
            two, = self.lines('evaluate', '--run', task, '--data', 'X.npy', '--mirror', '--json', '--batch', '16')
            self.assertAlmostEqual(one['loss'], two['loss'], delta=1e-6)
            if task == 'classes':
                self.assertAlmostEqual(one['loss'], -sum(math.log(both[i][str(i % 3)]) for i in range(n)) / n, delta=1e-5)
                self.run_it('evaluate', '--run', task, '--data', 'X.npy', '--mirror', '--part', 'validation', '--table', 'part.csv')
                with open(self.path('part.csv'), newline='') as file:
                    rows = list(csv.DictReader(file))
                self.assertTrue(0 < len(rows) < n)
                for row in rows:
                    at = int(row['index'])
                    self.assertAlmostEqual(float(row['loss']), -math.log(both[at][str(at % 3)]), delta=1e-5)
        for i in range(5):
            self.write(f'new/{i}.png', png(8, 40 * i, cut=20 * (i == 2)))
        self.run_it('train', '--data', TINY, *CONVNET, '--steps', '2', '--set', 'data.val_split=0', '--out', 'run')
        lines = self.lines('predict', '--run', 'run', '--data', 'new', '--mirror', '--batch', '3', '--json')
        self.assertEqual([line['event'] for line in lines], ['prediction', 'prediction', 'unreadable', 'prediction', 'prediction', 'done'])
        self.assertEqual((lines[-1]['samples'], lines[-1]['unreadable']), (5, 1))
        self.write('steps.npy', npy((6, 4), [math.sin(i) for i in range(24)]))
        self.write('y.npy', npy((6,), [i % 2 for i in range(6)], 'i8'))
        self.run_it('train', '--data', 'steps.npy', *SMALL, '--set', 'data.val_split=0', '--steps', '1', '--out', 'flat')
        out = self.run_it('predict', '--run', 'flat', '--data', 'steps.npy', '--mirror', expect=3)
        self.assertIn('has no mirror images', out.stderr.decode())
        out = self.run_it('evaluate', '--run', 'flat', '--data', 'steps.npy', '--mirror', '--calibrate', expect=2)
        self.assertIn('without the mirror image', out.stderr.decode())

    def tensors(self, name):
        """Returns the metadata and the tensors, each as header and bytes."""
        with open(self.path(name), 'rb') as file:
            data = file.read()
        size, = struct.unpack_from('<Q', data)
        header = json.loads(data[8:8 + size])
        metadata = header.pop('__metadata__')
        return metadata, {key: (row['dtype'], row['shape'], data[8 + size:][slice(*row['data_offsets'])])
                          for key, row in header.items()}

    def write_tensors(self, name, metadata, tensors):
        header, at = {'__metadata__': metadata}, 0
        for key, (kind, shape, data) in tensors.items():
            header[key] = {'dtype': kind, 'shape': shape, 'data_offsets': [at, at + len(data)]}
            at += len(data)
        text = json.dumps(header).encode()
        self.write(name, struct.pack('<Q', len(text)) + text + b''.join(data for _, _, data in tensors.values()))

    def check_fine_tuning(self):
        """Fine-tuning from the run's weights leaves frozen tensors bit-identical, and the head has
        its own learning rate."""
        def tune(name, *options):
            self.run_it('train', '--data', TINY, *CONVNET, '--steps', '1', '--set', 'data.val_split=0', '--set', 'weight_decay=0',
                        '--set', 'warmup_epochs=0', '--set', 'schedule=constant', '--set', 'lr=0.01', '--no-out', '--weights',
                        'run/weights.safetensors', '--save-weights', name, *options)
            return {key: array.array('f', data) for key, (kind, _, data) in self.tensors(name)[1].items() if kind == 'F32'}
        before = {key: array.array('f', data)
                  for key, (kind, _, data) in self.tensors('run/weights.safetensors')[1].items() if kind == 'F32'}
        head = list(before)[-2:]
        frozen = tune('frozen.safetensors', '--freeze', '0,1')
        self.assertEqual({key for key in before if before[key] == frozen[key]},
                         {key for key in before if key.startswith(('0.', '1.'))})
        slow, fast = tune('slow.safetensors'), tune('fast.safetensors', '--set', 'head_lr_factor=10')
        decayed = tune('decayed.safetensors', '--set', 'layer_decay=0.5')
        for key in before:
            if 'running' in key:
                continue
            steps = [[b - a for a, b in zip(before[key], after[key])] for after in (slow, fast, decayed)]
            self.assertGreater(math.hypot(*steps[0]), 0, key)
            self.assertAlmostEqual(math.hypot(*steps[1]) / math.hypot(*steps[0]), 10 if key in head else 1, delta=0.02, msg=key)
            layer = {'0': 0, '1': 0, '4': 1, '5': 1, '8': 2, '9': 2, '12': 3, '13': 3, '18': 4}[key.split('.')[0]]
            self.assertAlmostEqual(math.hypot(*steps[2]) / math.hypot(*steps[0]), 0.5 ** (4 - layer), delta=0.02, msg=key)

    def check_int8_weights(self):
        """Weights are within half a quantisation step of their channel, and predicting needs no
        other file."""
        told, = self.lines('save', '--run', 'run', '--to', 'int8', '--json')
        self.assertEqual((told['format'], told['bytes']), ('int8', os.path.getsize(self.path('run/weights-int8.safetensors'))))
        before, (metadata, after) = self.tensors('run/weights.safetensors')[1], self.tensors('run/weights-int8.safetensors')
        self.assertIn('int8', metadata['quantisation'])
        worst, roundest = 0, ''
        for name, (kind, shape, data) in before.items():
            if name.endswith('num_batches_tracked'):
                continue
            if len(shape) < 2:
                self.assertEqual(after[name], (kind, shape, data), name)
                continue
            self.assertEqual(after[name][:2], ('I8', shape), name)
            self.assertEqual(after[name + '_scale'][:2], ('F32', shape[:1]), name)
            values, q, scales = (array.array(code, part) for code, part in
                                 (('f', data), ('b', after[name][2]), ('f', after[name + '_scale'][2])))
            row = len(values) // shape[0]
            restored = [one * scales[i // row] for i, one in enumerate(q)]
            for i, (one, other) in enumerate(zip(values, restored, strict=True)):
                self.assertLessEqual(abs(one - other), 0.5001 * scales[i // row], name)
            worst, roundest = max((worst, roundest), (math.dist(values, restored) / math.hypot(*values), name))
        self.assertAlmostEqual(told['largest_error'], worst, places=6)
        self.assertTrue(0 < worst < 0.02, worst)
        self.assertEqual(told['largest_error_tensor'], roundest)
        # In each row of the last one, all values but the first are less than half a step.
        last = [name for name, (_, shape, _) in before.items() if len(shape) > 1][-1]
        self.assertNotEqual(last, roundest)
        n_rows, n_columns = before[last][1]
        changed = {**before, last: (*before[last][:2], array.array('f', ([1] + [0.0039] * (n_columns - 1)) * n_rows).tobytes())}
        self.write_tensors('round.safetensors', {key: value for key, value in metadata.items() if key != 'quantisation'}, changed)
        rounder, = self.lines('save', '--weights', 'round.safetensors', '--to', 'int8', '--out', 'small.safetensors', '--json')
        self.assertEqual(rounder['largest_error_tensor'], last)
        self.assertAlmostEqual(rounder['largest_error'], 0.0039 * math.sqrt(n_columns - 1) / math.sqrt(1 + 0.0039 ** 2 * (n_columns - 1)), places=6)
        # Weights that do not state what they are of are those of no run.
        for key in 'model', 'outputs', 'input':
            some = {name: value for name, value in metadata.items() if name.split('.')[0] != key or name == 'model.width'}
            self.assertLess(len(some), len(metadata))
            self.write_tensors('bare.safetensors', some, after)
            bare = self.run_it('save', '--weights', 'bare.safetensors', '--to', 'onnx', '--out', 'bare.onnx', expect=3).stderr.decode()
            self.assertIn('“bare.safetensors” does not state its model, input and outputs', bare)
        whole, = self.lines('evaluate', '--run', 'run', '--data', TINY, '--json')
        small, = self.lines('evaluate', '--weights', 'run/weights-int8.safetensors', '--data', TINY, '--json')
        self.assertNotEqual(whole['loss'], small['loss'])
        self.assertAlmostEqual(whole['loss'], small['loss'], delta=0.01)
        cost, = self.lines('save', '--run', 'run', '--to', 'int8', '--force', '--data', TINY, '--json')
        for name, one in ('fp32', whole), ('int8', small):
            self.assertEqual([cost[name][key] for key in ('samples', 'loss', 'accuracy')], [one[key] for key in ('samples', 'loss', 'accuracy')])
        self.assertAlmostEqual(cost['cost']['loss'], small['loss'] - whole['loss'])
        self.assertAlmostEqual(cost['cost']['accuracy'], whole['accuracy'] - small['accuracy'])
        self.assertEqual(cost['cost']['more_than_a_point'], cost['cost']['accuracy'] > 0.01)
        text = self.run_it('save', '--run', 'run', '--to', 'int8', '--force', '--data', TINY).stdout.decode()
        self.assertRegex(text, rf"accuracy +{100 * whole['accuracy']:.2f} % +{100 * small['accuracy']:.2f} %")
        self.assertRegex(text, rf"loss +{whole['loss']:.4f} +{small['loss']:.4f}")
        self.run_it('save', '--run', 'run', '--to', 'onnx', '--data', TINY, expect=2)
        self.run_it('save', '--run', 'run', '--to', 'int8', '--half', expect=2)
        for change in (('F32', [1], b'\0\0\0\0'), ('F32', after['0.weight_scale'][1], b'\0\0\xc0\x7f' * after['0.weight_scale'][1][0]),
                       None):
            self.write_tensors('broken.safetensors', metadata, {key: change if key == '0.weight_scale' else value
                                                                for key, value in after.items() if change or key != '0.weight_scale'})
            told = self.run_it('evaluate', '--weights', 'broken.safetensors', '--data', TINY, expect=3).stderr.decode()
            self.assertIn('0.weight_scale', told)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(data)

    def check_files_folders_and_what_cannot_be_read(self):
        self.write('new/deep/b.png', png(20, 200))
        self.write('new/a.png', png(30, 10))
        self.write('new/broken.png', png(30, 10, 30))
        self.write('new/text', b'no image')
        lines = self.lines('predict', '--run', 'run', '--top', '2', '--json', '--data', 'new/deep/b.png', 'new', 'gone.png')
        told = self.events(lines, 'prediction')
        self.assertEqual([one['sample'] for one in told], ['new/deep/b.png', 'new/a.png', 'new/deep/b.png'])
        self.assertEqual(told[0]['classes'], told[2]['classes'])
        self.assertEqual([len(one['classes']) for one in told], [2, 2, 2])
        self.assertGreaterEqual(told[0]['classes'][0]['probability'], told[0]['classes'][1]['probability'])
        self.assertIn(told[0]['classes'][0]['class'], ('circle', 'square', 'triangle', 'ring'))
        texts = [one['text'] for one in self.events(lines, 'unreadable')]
        for name in 'gone.png', 'new/text':
            self.assertTrue(any(name in text for text in texts), texts)
        self.assertEqual([one['sample'] for one in self.events(lines, 'unreadable') if one['sample']], ['new/broken.png'])
        done, = self.events(lines, 'done')
        self.assertEqual((done['samples'], done['unreadable']), (4, 3))
        self.assertAlmostEqual(done['samples_per_s'] * done['seconds'], 4, places=3)
        # The rate leaves out the first of several batches, which includes compilation.
        done, = self.events(self.lines('predict', '--run', 'run', '--json', '--batch', '8', TINY), 'done')
        self.assertGreater(abs(done['samples_per_s'] * done['seconds'] - 80), 1e-6)
        self.assertGreater(done['samples_per_s'] * done['seconds'], 72)
        self.run_it('predict', '--run', 'run', 'gone.png', expect=3)

        self.write('+1+cmd,.png', png(30, 10))
        # Must not be read as a formula by a spreadsheet.
        done = self.run_it('predict', '--run', 'run', '--csv', '+1+cmd,.png')
        self.assertTrue(done.stdout.splitlines()[1].startswith(b'"\'+1+cmd,.png",'), done.stdout)
        done = self.run_it('predict', '--run', 'run', '--csv', '--top', '9', 'new')
        table = list(csv.DictReader(io.StringIO(done.stdout.decode())))
        self.assertEqual([row['sample'] for row in table], ['new/a.png', 'new/broken.png', 'new/deep/b.png'])
        self.assertAlmostEqual(sum(float(table[0][f'probability_{i}']) for i in range(1, 5)), 1, places=4)
        self.assertTrue(table[1]['problem'] and not table[1]['class_1'])
        self.assertIn(b'samples/s', done.stderr)

    def test_images_for_weights_of_one_channel(self):
        """Grey files give the values that the array held; colour files are converted to luma, which
        is reported."""
        greys = [(i * 53) % 256 for i in range(8)]
        self.write('data/X.npy', npy((8, 16, 16, 1), [grey for grey in greys for _ in range(256)], 'u1'))
        self.write('data/y.npy', npy((8,), [i % 2 for i in range(8)], 'i8'))
        self.run_it('train', '--data', 'data', *SMALL, '--steps', '2', '--set', 'data.val_split=0', '--out', 'run')
        for i, grey in enumerate(greys):
            self.write(f'images/{i}.png', png(16, grey))
        truth = self.events(self.lines('predict', '--run', 'run', '--json', 'data'), 'prediction')
        done = self.run_it('predict', '--run', 'run', '--json', 'images')
        told = self.events([json.loads(line) for line in done.stdout.decode().splitlines()], 'prediction')
        self.assertEqual([one['classes'] for one in told], [one['classes'] for one in truth])
        self.assertIn('read as luma, 0.299 R', done.stderr.decode())
        # A colour array, and with labels also a folder and an archive of it.
        colours = [next((r, g, b) for r in range(256) for g in range(256) for b in (0, 255)
                        if (r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16 == grey) for grey in greys]
        self.write('colours.npy', npy((8, 16, 16, 3), [part for colour in colours for part in colour * 256], 'u1'))
        told = self.events(self.lines('predict', '--run', 'run', '--json', 'colours.npy'), 'prediction')
        self.assertEqual([one['classes'] for one in told], [one['classes'] for one in truth])
        with zipfile.ZipFile(self.path('folder.zip'), 'w') as archive:
            for i, grey in enumerate(greys):
                self.write(f'folder/{i % 2}/{i}.png', png(16, grey))
                archive.write(self.path(f'folder/{i % 2}/{i}.png'), f'{i % 2}/{i}.png')
        truth, = self.lines('evaluate', '--run', 'run', '--json', '--data', 'data')
        for data in 'folder', 'folder.zip':
            done = self.run_it('evaluate', '--run', 'run', '--json', '--data', data)
            told = json.loads(done.stdout)
            self.assertEqual([told[key] for key in ('samples', 'unreadable', 'accuracy')], [8, 0, truth['accuracy']])
            self.assertAlmostEqual(told['loss'], truth['loss'], places=9)
            self.assertIn('read as luma, 0.299 R', done.stderr.decode())

    def test_models_have_a_size_of_their_own(self):
        for model, shape in ('cnnlstm', '256x64x1'), ('resnet18', '224x224x3'):
            self.assertIn(shape, self.run_it('model', model).stdout.decode())
        self.assertIn(b'256x64x1', self.run_it('model', '--help').stdout)

    def test_values_are_told_with_their_names(self):
        """The text, CSV and JSON output of predict and of evaluate for head poses have the same
        numbers; the cost of int8 is listed for each value."""
        poses = 'builtin:poses?size=32&samples=24'
        self.run_it('train', '--data', poses, *SMALL, '--model', 'headpose_resnet18', '--set', 'model.width=0.05',
                    '--set', 'image_size=32', '--steps', '2', '--set', 'data.val_split=0', '--out', 'run')
        names = ['yaw', 'pitch', 'roll']
        told = self.events(self.lines('predict', '--run', 'run', '--json', poses), 'prediction')
        self.assertEqual(len(told), 24)
        for one in told:
            self.assertEqual([(row['name'], row['unit']) for row in one['values']], [(name, 'degrees') for name in names])
            self.assertNotIn('classes', one)
        table = list(csv.DictReader(io.StringIO(self.run_it('predict', '--run', 'run', '--csv', poses).stdout.decode())))
        text = self.run_it('predict', '--run', 'run', poses).stdout.decode().splitlines()
        self.assertEqual(list(table[0]), ['sample', *(f'{name} (degrees)' for name in names), 'problem'])
        for one, row, line in zip(told, table, text, strict=True):
            values = [value['value'] for value in one['values']]
            for name, value in zip(names, values, strict=True):
                self.assertAlmostEqual(float(row[f'{name} (degrees)']), value, delta=1e-5 * max(1, abs(value)))
            self.assertEqual(line, f"{one['sample']}: " + ', '.join(f'{name} (degrees) {value:.6g}' for name, value in zip(names, values)))
        done, = self.lines('evaluate', '--run', 'run', '--data', poses, '--worst', '2', '--json')
        self.assertEqual([row['name'] for row in done['values']], names)
        self.assertEqual((len(done['worst']), set(done['worst'][0])), (2, {'sample', 'index', 'loss'}))
        for row in done['values']:
            self.assertLessEqual(row['mean_absolute_error'], row['rms_error'])
            self.assertLessEqual(row['r2'], 1)
        self.assertAlmostEqual(done['rms_error'] ** 2, sum(row['rms_error'] ** 2 for row in done['values']) / len(names), delta=1e-6 * done['rms_error'] ** 2)
        self.assertAlmostEqual(done['r2'], sum(row['r2'] for row in done['values']) / len(names), places=6)
        text = self.run_it('evaluate', '--run', 'run', '--data', poses).stdout.decode()
        for row in done['values']:
            self.assertRegex(text, rf"{row['name']} \(degrees\) +{row['mean_absolute_error']:.6g} +{row['rms_error']:.6g}")
        self.assertIn('squared error', text)
        rows = self.table('--run', 'run', '--data', poses)
        for i, name in enumerate(names):
            errors = [abs(float(row[f'truth of {name} (degrees)']) - float(row[f'predicted {name} (degrees)'])) for row in rows]
            self.assertAlmostEqual(sum(errors) / 24, done['values'][i]['mean_absolute_error'], places=4)
        cost, = self.lines('save', '--run', 'run', '--to', 'int8', '--data', poses, '--json')
        for i, row in enumerate(done['values']):
            self.assertAlmostEqual(cost['fp32']['mean_absolute_errors'][i], row['mean_absolute_error'], places=6)
            self.assertAlmostEqual(cost['cost']['mean_absolute_errors'][i],
                                   cost['int8']['mean_absolute_errors'][i] - cost['fp32']['mean_absolute_errors'][i], places=9)
        text = self.run_it('save', '--run', 'run', '--to', 'int8', '--force', '--data', poses).stdout.decode()
        self.assertIn('mean absolute error of yaw (degrees)', text)

    def test_half_precision_says_the_same(self):
        self.run_it('train', '--data', TINY, *SMALL, '--steps', '2', '--set', 'data.val_split=0', '--out', 'run')
        whole, half = ([[row['probability'] for row in sorted(one['classes'], key=lambda row: row['id'])]
                        for one in self.events(self.lines('predict', '--run', 'run', '--top', '4', '--json', TINY, *more), 'prediction')]
                       for more in ([], ['--amp']))
        self.assertNotEqual(whole, half)
        for one, other in zip(whole, half, strict=True):
            self.assertLess(max(abs(a - b) for a, b in zip(one, other, strict=True)), 0.01)

    def test_what_is_assumed_of_the_input_is_said(self):
        """The weights file has no description of its input, or the arrays have another size than
        the file's."""
        self.run_it('train', '--data', TINY, *CONVNET, '--steps', '1', '--set', 'data.val_split=0', '--out', 'run')
        metadata, tensors = self.tensors('run/weights.safetensors')
        self.write_tensors('bare.safetensors', {'model': 'simplecnn', 'model.width': '0.125'}, tensors)
        self.write('a.png', png(16, 99))
        told = self.run_it('predict', '--weights', 'bare.safetensors', '--image-size', '16', 'a.png').stderr.decode()
        self.assertIn('does not state how its input is normalised; it is fed bytes / 255', told)
        self.assertNotIn('normalised', self.run_it('predict', '--run', 'run', 'a.png').stderr.decode())
        self.write('b.npy', npy((2, 20, 20, 3), [i % 256 for i in range(2400)], 'u1'))
        self.assertIn('are 20 x 20; the weights of “run/weights.safetensors” were made at 16 x 16',
                      self.run_it('predict', '--run', 'run', 'b.npy').stderr.decode())

    def test_the_parts_of_a_run(self):
        self.run_it('train', '--data', TINY, *SMALL, '--set', 'epochs=2', '--set', 'data.val_split=0.3', '--set', 'seed=5', '--out', 'run')
        with open(self.path('run/metrics.csv'), encoding='utf-8') as file:
            losses = [float(row['val_loss']) for row in csv.DictReader(file) if row['val_loss']]
        told, = self.lines('evaluate', '--run', 'run', '--data', TINY, '--part', 'validation', '--json')
        self.assertEqual((told['samples'], told['part']), (24, 'validation'))
        self.assertTrue(any(abs(told['loss'] - loss) < 1e-4 for loss in losses), (told['loss'], losses))
        rest, = self.lines('evaluate', '--run', 'run', '--data', TINY, '--part', 'training', '--json')
        self.assertEqual(rest['samples'], 56)
        done = self.run_it('evaluate', '--run', 'run', '--data', TINY, '--json')
        self.assertIn('samples that trained the run may be among these', done.stderr.decode())
        whole = json.loads(done.stdout)
        self.assertAlmostEqual(whole['loss'] * 80, told['loss'] * 24 + rest['loss'] * 56, places=3)
        for data, part, words, code in (
                (TINY.replace('80', '84'), 'validation', '84 samples; the run “run” divided 80', 3), (TINY, 'some', 'it is all', 2)):
            self.assertIn(words, self.run_it('evaluate', '--run', 'run', '--data', data, '--part', part, expect=code).stderr.decode())
        other = self.run_it('evaluate', '--run', 'run', '--data', TINY + '&seed=7', '--part', 'validation').stderr.decode()
        self.assertIn('though it has as many samples', other)
        self.assertNotIn('may be among these', self.run_it('evaluate', '--run', 'run', '--data', TINY + '&seed=7').stderr.decode())
        self.assertIn('with --run DIR', self.run_it('evaluate', '--weights', 'run/weights.safetensors', '--data', TINY, '--part', 'validation',
                                                    expect=2).stderr.decode())

    def table(self, *arguments):
        self.run_it('evaluate', *arguments, '--table', 'samples.csv')
        with open(self.path('samples.csv'), encoding='utf-8') as file:
            return list(csv.DictReader(file))

    def check_table_and_figures(self, told):
        """The figures follow from the table, which has a line for each sample; the areas are
        computed by pairs of samples."""
        rows = self.table('--run', 'run', '--data', TINY)
        names = [one['class'] for one in told['classes']]
        shares = [{one['class']: one['probability'] for one in sample['classes']} for sample in
                  self.events(self.lines('predict', '--run', 'run', '--json', '--top', '4', TINY), 'prediction')]
        self.assertEqual([int(row['index']) for row in rows], list(range(80)))
        self.assertAlmostEqual(sum(float(row['loss']) for row in rows) / 80, told['loss'], places=6)
        areas = []
        for i, name in enumerate(names):
            self.assertEqual([sum(row['truth'] == name and row['predicted'] == other for row in rows) for other in names],
                             told['confusion'][i])
            pairs = [(shares[a][name], shares[b][name]) for a in range(80) for b in range(80)
                     if rows[a]['truth'] == name != rows[b]['truth']]
            areas.append(sum((x > y) + (x == y) / 2 for x, y in pairs) / len(pairs))
            right, wrong = told['confusion'][i][i], sum(row[i] for row in told['confusion'])
            self.assertAlmostEqual(told['classes'][i]['f1'] or 0, 2 * right / (wrong + told['classes'][i]['samples']))
        for row, share in zip(rows, shares, strict=True):
            self.assertAlmostEqual(float(row['probability']), share[row['predicted']], places=6)
        self.assertAlmostEqual(told['roc_auc'], sum(areas) / 4, places=5)
        self.assertAlmostEqual(told['f1_macro'], sum(one['f1'] or 0 for one in told['classes']) / 4)
        self.assertIn('gone/samples.csv', self.run_it('evaluate', '--run', 'run', '--data', TINY, '--table', 'gone/samples.csv',
                                                       expect=7).stderr.decode())

    def check_evaluation_adds_up(self):
        told, = self.lines('evaluate', '--run', 'run', '--data', TINY, '--worst', '3', '--json')
        self.assertEqual(told['samples'], 80)
        self.assertEqual([sum(row) for row in told['confusion']], [one['samples'] for one in told['classes']])
        right = sum(told['confusion'][i][i] for i in range(4))
        self.assertAlmostEqual(told['accuracy'], right / 80)
        self.assertEqual(len(told['worst']), 3)
        self.assertGreaterEqual(told['worst'][0]['loss'], told['worst'][2]['loss'])
        self.check_table_and_figures(told)
        text = self.run_it('evaluate', '--weights', 'run/weights.safetensors', '--data', TINY).stdout.decode()
        for words in 'accuracy', 'macro F1', 'ROC AUC', 'precision', 'confusion matrix', 'worst: ':
            self.assertIn(words, text)
        for arguments in (('--data', TINY), ('--run', 'run'), ('--run', 'run', '--weights', 'x', '--data', TINY),
                          ('--weights', 'run/weights.safetensors', '--data', TINY, '--part', 'training')):
            self.run_it('evaluate', *arguments, expect=2)
        self.run_it('evaluate', '--run', 'gone', '--data', TINY, expect=3)

    def check_same(self, evaluated, predicted):
        """Asserts that evaluate reports for its samples what predict reports for the same samples
        without labels."""
        self.assertEqual(len(evaluated), len(predicted))
        for one, other in zip(evaluated, predicted, strict=True):
            self.assertEqual(one['predicted'], other['classes'][0]['class'])
            self.assertAlmostEqual(one['probability'], other['classes'][0]['probability'], places=5)

    def test_sequences_without_labels(self):
        for i in range(12):
            self.write(f'data/{"slow" if i % 2 else "fast"}/{i:02}.npy', wave(6 + i, 0.2 if i % 2 else 1.5))
        self.run_it('train', '--data', 'data', *SMALL, '--model', 'cnnlstm', '--steps', '3', '--set', 'data.val_split=0', '--out', 'run')
        told, = self.lines('evaluate', '--run', 'run', '--data', 'data', '--worst', '12', '--json')
        truth = sorted(told['worst'], key=lambda one: os.path.basename(one['sample']))
        for i in range(12):
            self.write(f'alone/{i:02}.npy', wave(6 + i, 0.2 if i % 2 else 1.5))
        files = [f'alone/{i:02}.npy' for i in range(12)]
        for arguments in ['alone'], files:
            done = self.lines('predict', '--run', 'run', '--json', *arguments)
            self.assertEqual([one['sample'] for one in self.events(done, 'prediction')], files)
            self.check_same(truth, self.events(done, 'prediction'))
        one, = self.events(self.lines('predict', '--run', 'run', '--json', files[0]), 'prediction')
        self.check_same(truth[:1], [one])
        self.write('wide.npy', npy((4, 3), range(12)))
        self.write('cube.npy', npy((2, 4, 3), range(24)))
        for file, words in (('wide.npy', '3 features a step; the weights'), ('cube.npy', 'a sequence is (steps, features)'),
                            ('builtin:shapes?size=16&samples=8&classes=2', 'were made for sequences of 2 features a step')):
            self.assertIn(words, self.run_it('predict', '--run', 'run', file, expect=3).stderr.decode())

    def test_arrays_without_labels(self):
        values = [(7 * i * i + 3 * i) % 11 / 11 for i in range(12 * 5)]
        self.write('data/X.npy', npy((12, 5), values))
        self.write('data/y.npy', npy((12,), [i % 3 for i in range(12)], 'i8'))
        self.run_it('train', '--data', 'data', *SMALL, '--model', 'mlp', '--steps', '3', '--set', 'data.val_split=0', '--out', 'run')
        told, = self.lines('evaluate', '--run', 'run', '--data', 'data', '--worst', '12', '--json')
        truth = sorted(told['worst'], key=lambda one: one['index'])
        self.write('Z.npy', npy((12, 5), values))
        self.write('first.npy', npy((5,), values[:5]))
        self.write('rest.npy', npy((11, 5), values[5:]))
        with zipfile.ZipFile(self.path('alone.npz'), 'w') as file:
            file.write(self.path('Z.npy'), 'X.npy')
        for arguments in ['Z.npy'], ['alone.npz'], ['data'], ['first.npy', 'rest.npy']:
            done = self.events(self.lines('predict', '--run', 'run', '--json', *arguments), 'prediction')
            self.check_same(truth, done)
        self.assertEqual([one['sample'] for one in done[:2]], ['first.npy', 'rest.npy #0'])
        self.write('wide.npy', npy((2, 6), range(12)))
        text = self.run_it('predict', '--run', 'run', 'wide.npy', expect=3).stderr.decode()
        self.assertIn('have 6 channels; the weights of', text)
        lines = self.lines('predict', '--run', 'run', '--json', 'Z.npy', 'wide.npy')
        self.assertIn('another shape', self.events(lines, 'unreadable')[0]['text'])


main()
