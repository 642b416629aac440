# SPDX-License-Identifier: MIT
"""dynoctl save --to onnx: the structure and values of the file, evaluated by onnxgraph.py and
compared with dynoctl predict."""
import array, json, math, os, struct, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, main
from onnxgraph import Graph, png, softmax


class Onnx(Case):
    def save(self, run, *options):
        self.run_it('save', '--run', run, '--to', 'onnx', '-o', 'm.onnx', '--force', *options)
        with open(self.path('m.onnx'), 'rb') as file:
            return Graph(file.read(), self)

    def check(self, model, width):
        side = 16
        self.run_it('train', '--data', f'builtin:shapes?size={side}&samples=32&classes=3', '--model', model, '--steps', '2',
                    '--set', f'model.width={width}', '--set', 'batch_size=8', '--set', 'amp=false', '--set', 'autotune=false',
                    '--set', 'data.val_split=0', '--out', model)
        pixels = bytes((i * 37 + i * i // 11) % 256 for i in range(3 * side * side))
        with open(self.path('x.png'), 'wb') as file:
            file.write(png(pixels, side))
        line, = [line for line in self.lines('predict', '--run', model, '--top', '3', '--json', 'x.png')
                 if line['event'] == 'prediction']
        expected = [share for _, share in sorted((one['id'], one['probability']) for one in line['classes'])]
        raw = [float(pixels[3 * i + c]) for c in range(3) for i in range(side * side)]
        for options in (), ('--keep-batchnorm',), ('--normalise',), ('--half',):
            graph = self.save(model, *options)
            ops = [node['op_type'] for node in graph.nodes]
            self.assertEqual('BatchNormalization' in ops, model != 'mlp' and '--keep-batchnorm' in options)
            self.assertEqual(graph.shape, [3, side, side])
            self.assertEqual(json.loads(graph.metadata['classes']), ['circle', 'square', 'triangle'])
            mean, deviation = (json.loads(graph.metadata['input.' + name]) for name in ('mean', 'deviation'))
            fed = raw if '--normalise' in options else [(value / 255 - mean[i // (side * side)]) / deviation[i // (side * side)]
                                                        for i, value in enumerate(raw)]
            for got, wanted in zip(softmax(graph.run(fed)), expected, strict=True):
                self.assertAlmostEqual(got, wanted, delta=5e-3 if '--half' in options else 2e-5)

    def test_equals_predict(self):
        self.check('mlp', 0.125)
        self.check('simplecnn', 0.125)
        # No file is overwritten without being asked, and an unsupported target is reported.
        self.run_it('save', '--run', 'mlp', '--to', 'onnx', '-o', 'm.onnx', expect=2)
        self.run_it('save', '--run', 'mlp', '--to', 'tflite', expect=2)
        self.run_it('save', '--run', 'gone', '--to', 'onnx', expect=3)

    def test_images_as_rows_equal_predict(self):
        self.check('cnnlstm', 0.05)

    def test_sequences_equal_predict(self):
        """Sequences differ in length; the file has a second input for the lengths."""
        random, sequences = array.array('f', [math.sin(i * i * 0.7) for i in range(97)]), {}
        for i, length in enumerate((3, 12, 7, 9)):
            name = f'data/{"ab"[i % 2]}/{i}.npy'
            values = sequences[name] = [random[(5 * i + k * k + k) % 97] for k in range(length * 3)]
            head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({length}, 3)}}".ljust(117) + '\n'
            os.makedirs(self.path(os.path.dirname(name)), exist_ok=True)
            with open(self.path(name), 'wb') as file:
                file.write(b'\x93NUMPY\1\0' + struct.pack('<H', 118) + head.encode() + struct.pack(f'<{3 * length}f', *values))
        for model in 'cnnlstm', 'cnn1d', 'cnn1d_dilated', 'wavenet', 'lstm_stack', 'gru_stack':
            train = ('train', '--data', 'data', '--model', model, '--steps', '1', '--set', 'model.width=0.1', '--set',
                     'batch_size=4', '--set', 'amp=false', '--set', 'autotune=false', '--set', 'data.val_split=0')
            self.run_it(*train, '--set', 'lr=0.1', '--out', model)
            lines = self.events(self.lines('predict', '--run', model, '--top', '2', '--json', '--data', 'data'), 'prediction')
            self.assertEqual(len(lines), len(sequences))
            for options in (), ('--keep-batchnorm',):
                graph = self.save(model, *options)
                self.assertEqual('BatchNormalization' in [node['op_type'] for node in graph.nodes],
                                 options != () and model not in ('wavenet', 'lstm_stack', 'gru_stack'))
                for line in lines:
                    values, = [values for name, values in sequences.items() if name.endswith(line['sample'])]
                    fed = values + [0.0] * (36 - len(values))
                    expected = [share for _, share in sorted((one['id'], one['probability']) for one in line['classes'])]
                    for got, wanted in zip(softmax(graph.run(fed, len(values) // 3)), expected, strict=True):
                        self.assertAlmostEqual(got, wanted, delta=2e-5)
            # The tensors of the file are those of the run, by name and shape.
            told = self.run_it(*train, '--set', 'lr=0', '--seed', '9', '--no-out', '--weights', 'm.onnx', '--save-weights',
                               'b.safetensors', '--force').stdout.decode()
            before, after = self.tensors(model + '/weights.safetensors'), self.tensors('b.safetensors')
            self.assertEqual(list(before), list(after), told)
            for name in before:
                if 'weight' in name or 'bias' in name:
                    self.assertEqual(before[name], after[name], name)

    def tensors(self, name):
        with open(self.path(name), 'rb') as file:
            data = file.read()
        size, = struct.unpack_from('<Q', data)
        header = json.loads(data[8:8 + size])
        return {key: data[8 + size + row['data_offsets'][0]:8 + size + row['data_offsets'][1]]
                for key, row in header.items() if key != '__metadata__'}

    def test_weights_come_back(self):
        """A run starts from the initialisers of a file, which are matched by name."""
        train = ('train', '--data', 'builtin:shapes?size=16&samples=32&classes=3', '--model', 'simplecnn', '--steps', '1',
                 '--set', 'model.width=0.125', '--set', 'batch_size=8', '--set', 'amp=false', '--set', 'data.val_split=0')
        self.run_it(*train, '--set', 'lr=0.1', '--out', 'run')
        self.run_it('save', '--run', 'run', '--to', 'onnx', '--keep-batchnorm', '-o', 'w.onnx')
        self.run_it(*train, '--set', 'lr=0', '--seed', '9', '--no-out', '--weights', 'w.onnx', '--save-weights',
                    'b.safetensors')
        before, after = self.tensors('run/weights.safetensors'), self.tensors('b.safetensors')
        self.assertEqual(list(before), list(after))
        for name in before:
            if name.endswith(('.weight', '.bias')):
                self.assertEqual(before[name], after[name], name)
        # The file describes itself as the run's weights do: model, classes and normalisation.
        shapes = ('--top', '3', '--json', '--data', 'builtin:shapes?size=16&samples=8&classes=3')
        expected, done = (self.run_it('predict', *source, *shapes) for source in (('--run', 'run'), ('--weights', 'w.onnx')))
        self.assertEqual(done.stderr, b'')
        for before, after in zip(*(self.events([json.loads(line) for line in one.stdout.decode().splitlines()], 'prediction')
                                   for one in (expected, done)), strict=True):
            self.assertEqual(before, after)
        self.assertIn(before['classes'][0]['class'], ('circle', 'square', 'triangle'))
        told = self.run_it(*train, '--no-out', '--set', 'data.normalise=false', '--weights', 'w.onnx')
        self.assertIn('were made for bytes / 255, less mean 0.33', (told.stdout + told.stderr).decode())
        told = self.run_it(*train, '--no-out', '--set', 'data.normalise=weights', '--weights', 'w.onnx')
        self.assertNotIn('were made for', (told.stdout + told.stderr).decode())
        # A folded file has no batch norms.
        self.run_it('save', '--run', 'run', '--to', 'onnx', '-o', 'folded.onnx')
        for command in (*train, '--no-out'), ('predict', *shapes):
            told = self.run_it(*command, '--weights', 'folded.onnx', expect=3).stderr.decode()
            self.assertIn('it has no tensor “1.weight”', told)
            self.assertIn('with --keep-batchnorm', told)


main()
