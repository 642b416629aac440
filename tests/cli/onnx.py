# SPDX-License-Identifier: MIT
"""dynoctl save --to onnx: the file's structure by a strict reader of Protocol Buffers, its values by
an evaluation of its graph in plain Python, against dynoctl predict."""
import array, itertools, json, math, os, struct, sys, zlib
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, main

# message -> field -> (name, kind, repeated); what is not here must not be in the file
SCHEMA = {
    'Model': {1: ('ir_version', 'int', 0), 2: ('producer_name', 'str', 0), 3: ('producer_version', 'str', 0),
              7: ('graph', 'Graph', 0), 8: ('opset_import', 'Opset', 1), 14: ('metadata_props', 'Pair', 1)},
    'Opset': {1: ('domain', 'str', 0), 2: ('version', 'int', 0)},
    'Pair': {1: ('key', 'str', 0), 2: ('value', 'str', 0)},
    'Graph': {1: ('node', 'Node', 1), 2: ('name', 'str', 0), 5: ('initializer', 'Tensor', 1), 11: ('input', 'Value', 1),
              12: ('output', 'Value', 1)},
    'Node': {1: ('input', 'str', 1), 2: ('output', 'str', 1), 3: ('name', 'str', 0), 4: ('op_type', 'str', 0),
             5: ('attribute', 'Attribute', 1)},
    'Attribute': {1: ('name', 'str', 0), 2: ('f', 'float', 0), 3: ('i', 'int', 0), 4: ('s', 'str', 0), 8: ('ints', 'int', 1),
                  20: ('type', 'int', 0)},
    'Tensor': {1: ('dims', 'int', 1), 2: ('data_type', 'int', 0), 8: ('name', 'str', 0), 9: ('raw_data', 'bytes', 0)},
    'Value': {1: ('name', 'str', 0), 2: ('type', 'Type', 0)},
    'Type': {1: ('tensor_type', 'TensorType', 0)},
    'TensorType': {1: ('elem_type', 'int', 0), 2: ('shape', 'Shape', 0)},
    'Shape': {1: ('dim', 'Dim', 1)},
    'Dim': {1: ('dim_value', 'int', 0), 2: ('dim_param', 'str', 0)},
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if byte < 128:
            return value, at


def read(data, message):
    fields = {name: [] for name, kind, repeated in SCHEMA[message].values() if repeated}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        name, kind, repeated = SCHEMA[message][key >> 3]
        assert key & 7 == {'int': 0, 'float': 5}.get(kind, 2), (message, name)
        if kind == 'int':
            value, at = varint(data, at)
        elif kind == 'float':
            value, at = struct.unpack_from('<f', data, at)[0], at + 4
        else:
            size, at = varint(data, at)
            assert at + size <= len(data), (message, name)
            value, at = data[at:at + size], at + size
            value = value.decode() if kind == 'str' else value if kind == 'bytes' else read(value, kind)
        if repeated:
            fields[name].append(value)
        else:
            assert name not in fields, (message, name)
            fields[name] = value
    return fields


def values_of(tensor):
    kind = {1: 'f', 6: 'i', 7: 'q', 10: 'e'}[tensor['data_type']]
    values = [value for value, in struct.iter_unpack('<' + kind, tensor['raw_data'])]
    assert len(values) == math.prod(tensor['dims'])
    return tuple(tensor['dims']), values


class Graph:
    """Of one sample; a value is (shape, list of floats)."""
    def __init__(self, data, test):
        self.model = read(data, 'Model')
        graph = self.model['graph']
        test.assertEqual((self.model['ir_version'], self.model['opset_import']), (8, [{'domain': '', 'version': 17}]))
        self.constants = {tensor['name']: values_of(tensor) for tensor in graph['initializer']}
        test.assertEqual(len(self.constants), len(graph['initializer']))
        known, used, names = set(self.constants) | {one['name'] for one in graph['input']}, set(), set()
        for node in graph['node']: # each value once, before it is read, and each constant used
            test.assertTrue(known.issuperset(node['input']), node)
            test.assertFalse(known & set(node['output']), node)
            test.assertNotIn(node['name'], names)
            names.add(node['name'])
            known |= set(node['output'])
            used |= set(node['input'])
        test.assertEqual(set(self.constants) - used, set())
        test.assertIn('output', known)
        for value in graph['input'] + graph['output']:
            test.assertEqual(value['type']['tensor_type']['elem_type'], 6 if value['name'] == 'length' else 1)
            test.assertEqual(value['type']['tensor_type']['shape']['dim'][0], {'dim_param': 'batch'})
        self.nodes = graph['node']
        self.metadata = {pair['key']: pair['value'] for pair in self.model['metadata_props']}
        self.shape = [dim['dim_value'] for dim in graph['input'][0]['type']['tensor_type']['shape']['dim'][1:]]

    def run(self, values, length=None):
        known = dict(self.constants, input=((1, *self.shape), values), length=((1,), [length]))
        for node in self.nodes:
            attributes = {one['name']: one[{1: 'f', 2: 'i', 3: 's', 7: 'ints'}[one['type']]] for one in node['attribute']}
            known[node['output'][0]] = getattr(self, node['op_type'])(*[known[name] for name in node['input']], **attributes)
        return known['output'][1]

    def Cast(self, x, to):
        return x

    def Identity(self, x):
        return x

    def Relu(self, x):
        return x[0], [max(value, 0.0) for value in x[1]]

    def Flatten(self, x, axis):
        return (1, len(x[1])), x[1]

    def channelwise(self, a, b, function):
        if len(a[1]) == len(b[1]):
            return a[0], [function(x, y) for x, y in zip(a[1], b[1])]
        if len(b[1]) == b[0][-1] > 1: # a mask of steps
            return a[0], [function(value, b[1][i % len(b[1])]) for i, value in enumerate(a[1])]
        size = len(a[1]) // len(b[1]) if len(b[1]) > 1 else len(a[1])
        return a[0], [function(value, b[1][i // size]) for i, value in enumerate(a[1])]

    def Add(self, a, b):
        return self.channelwise(a, b, lambda x, y: x + y)

    def Mul(self, a, b):
        return self.channelwise(a, b, lambda x, y: x * y)

    def Sub(self, a, b):
        return self.channelwise(a, b, lambda x, y: x - y)

    def Div(self, a, b):
        return self.channelwise(a, b, lambda x, y: x // y if isinstance(x, int) and isinstance(y, int) else x / y)

    def Max(self, a, b):
        return self.channelwise(a, b, max)

    def Min(self, a, b):
        return self.channelwise(a, b, min)

    def Less(self, a, b):
        return self.channelwise(a, b, lambda x, y: int(x < y))

    def Reshape(self, x, shape):
        assert shape[1][0] == 0 and math.prod(shape[1][1:]) == len(x[1])
        return (1, *shape[1][1:]), x[1]

    def Unsqueeze(self, x, axes):
        shape = list(x[0])
        for axis in axes[1]:
            shape.insert(axis, 1)
        return tuple(shape), x[1]

    def Transpose(self, x, perm):
        steps = [math.prod(x[0][axis + 1:]) for axis in perm]
        shape = tuple(x[0][axis] for axis in perm)
        return shape, [x[1][sum(map(int.__mul__, place, steps))] for place in itertools.product(*map(range, shape))]

    def Concat(self, *parts, axis):
        assert axis == 0
        return (sum(part[0][0] for part in parts), *parts[0][0][1:]), [value for part in parts for value in part[1]]

    def Gather(self, x, index, axis):
        outer, inner = math.prod(x[0][:axis]), math.prod(x[0][axis + 1:])
        return ((*x[0][:axis], *index[0], *x[0][axis + 1:]),
                [x[1][(a * x[0][axis] + i % x[0][axis]) * inner + b] for a in range(outer) for i in index[1] for b in range(inner)])

    def GatherND(self, x, index, batch_dims):
        assert (batch_dims, index[0]) == (1, (1, 1))
        return (1, x[0][2]), x[1][index[1][0] * x[0][2]:(index[1][0] + 1) * x[0][2]]

    def ReduceSum(self, x, axes, keepdims):
        assert (axes[1], keepdims) == ([2], 0)
        steps = x[0][2]
        return x[0][:2], [sum(x[1][k * steps:(k + 1) * steps]) for k in range(x[0][1])]

    def ReduceMean(self, x, axes, keepdims):
        shape, sums = self.ReduceSum(x, ((1,), axes), keepdims)
        return shape, [value / x[0][2] for value in sums]

    def LSTM(self, x, w, r, b, length=None, *, hidden_size, direction):
        """Gates in ONNX's order, i, o, f, g; forward."""
        assert direction == 'forward' and w[0][0] == r[0][0] == b[0][0] == 1
        steps, _, inputs = x[0]
        sigmoid = lambda value: 1 / (1 + math.exp(-value))
        h, c, y = [0.0] * hidden_size, [0.0] * hidden_size, []
        for t in range(steps):
            if t >= (length[1][0] if length else steps):
                y += [0.0] * hidden_size
                continue
            gates = [b[1][k] + b[1][4 * hidden_size + k]
                     + sum(map(float.__mul__, w[1][k * inputs:(k + 1) * inputs], x[1][t * inputs:(t + 1) * inputs]))
                     + sum(map(float.__mul__, r[1][k * hidden_size:(k + 1) * hidden_size], h)) for k in range(4 * hidden_size)]
            i, o, f, g = (gates[k * hidden_size:(k + 1) * hidden_size] for k in range(4))
            c = [sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k]) for k in range(hidden_size)]
            h = [sigmoid(o[k]) * math.tanh(c[k]) for k in range(hidden_size)]
            y += h
        return (steps, 1, 1, hidden_size), y

    def Gemm(self, x, weight, bias, transB):
        outputs, inputs = weight[0]
        return (1, outputs), [bias[1][k] + sum(map(float.__mul__, x[1], weight[1][k * inputs:(k + 1) * inputs]))
                              for k in range(outputs)]

    def GlobalAveragePool(self, x):
        _, c, h, w = x[0]
        return (1, c, 1, 1), [sum(x[1][k * h * w:(k + 1) * h * w]) / (h * w) for k in range(c)]

    def windows(self, x, kernel_shape, strides, pads, dilations=(1, 1)):
        """Of an image; a sequence is one with a single row."""
        _, c, h, w = x[0]
        oh, ow = ((side + 2 * pads[i] - dilations[i] * (kernel_shape[i] - 1) - 1) // strides[i] + 1
                  for i, side in enumerate((h, w)))
        for y in range(oh):
            for z in range(ow):
                yield [(i, j, a * w + b) for i in range(kernel_shape[0]) for j in range(kernel_shape[1])
                       for a, b in ((y * strides[0] + i * dilations[0] - pads[0], z * strides[1] + j * dilations[1] - pads[1]),)
                       if 0 <= a < h and 0 <= b < w]

    def over_time(self, function, x, *others, kernel_shape, strides, pads, dilations=None, **more):
        if dilations:
            more['dilations'] = [1, *dilations]
        shape, values = function(((*x[0][:2], 1, x[0][2]), x[1]), *others, kernel_shape=[1, *kernel_shape],
                                 strides=[1, *strides], pads=[0, pads[0], 0, pads[1]], **more)
        return (*shape[:2], shape[3]), values

    def MaxPool(self, x, kernel_shape, strides, pads):
        if len(x[0]) == 3:
            return self.over_time(self.MaxPool, x, kernel_shape=kernel_shape, strides=strides, pads=pads)
        _, c, h, w = x[0]
        places = list(self.windows(x, kernel_shape, strides, pads))
        oh = (h + 2 * pads[0] - kernel_shape[0]) // strides[0] + 1
        return ((1, c, oh, len(places) // oh),
                [max(x[1][k * h * w + place] for _, _, place in window) for k in range(c) for window in places])

    def Conv(self, x, weight, bias=None, *, kernel_shape, strides, pads, group, dilations=None):
        if len(x[0]) == 3:
            weight = ((*weight[0][:2], 1, weight[0][2]), weight[1])
            return self.over_time(self.Conv, x, weight, *([bias] if bias else []), kernel_shape=kernel_shape, strides=strides,
                                  pads=pads, group=group, dilations=dilations)
        dilations = dilations or (1, 1)
        _, c, h, w = x[0]
        outputs, inputs = weight[0][:2]
        taps = kernel_shape[0] * kernel_shape[1]
        places = list(self.windows(x, kernel_shape, strides, pads, dilations))
        oh = (h + 2 * pads[0] - dilations[0] * (kernel_shape[0] - 1) - 1) // strides[0] + 1
        out = []
        for k in range(outputs):
            first = k // (outputs // group) * inputs
            for window in places:
                out.append((bias[1][k] if bias else 0.0)
                           + sum(weight[1][(k * inputs + n) * taps + i * kernel_shape[1] + j] * x[1][(first + n) * h * w + place]
                                 for n in range(inputs) for i, j, place in window))
        return (1, outputs, oh, len(places) // oh), out

    def BatchNormalization(self, x, weight, bias, mean, variance, epsilon):
        size = math.prod(x[0][2:])
        return x[0], [(value - mean[1][i // size]) / math.sqrt(variance[1][i // size] + epsilon) * weight[1][i // size]
                      + bias[1][i // size] for i, value in enumerate(x[1])]


def softmax(values):
    shares = [math.exp(value - max(values)) for value in values]
    return [share / sum(shares) for share in shares]


def png(pixels, size):
    rows = zlib.compress(b''.join(b'\0' + pixels[3 * size * y:3 * size * (y + 1)] for y in range(size)))
    data = b'\x89PNG\r\n\x1a\n'
    for kind, body in (b'IHDR', struct.pack('>IIBBBBB', size, size, 8, 2, 0, 0, 0)), (b'IDAT', rows), (b'IEND', b''):
        data += struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
    return data


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
        # Nothing is replaced unasked, and what cannot be written is said.
        self.run_it('save', '--run', 'mlp', '--to', 'onnx', '-o', 'm.onnx', expect=2)
        self.run_it('save', '--run', 'mlp', '--to', 'tflite', expect=2)
        self.run_it('save', '--run', 'gone', '--to', 'onnx', expect=3)

    def test_images_as_rows_equal_predict(self):
        self.check('cnnlstm', 0.05)

    def test_sequences_equal_predict(self):
        """Of several lengths: the file has a second input, which says them."""
        random, sequences = array.array('f', [math.sin(i * i * 0.7) for i in range(97)]), {}
        for i, length in enumerate((3, 12, 7, 9)):
            name = f'data/{"ab"[i % 2]}/{i}.npy'
            values = sequences[name] = [random[(5 * i + k * k + k) % 97] for k in range(length * 3)]
            head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({length}, 3)}}".ljust(117) + '\n'
            os.makedirs(self.path(os.path.dirname(name)), exist_ok=True)
            with open(self.path(name), 'wb') as file:
                file.write(b'\x93NUMPY\1\0' + struct.pack('<H', 118) + head.encode() + struct.pack(f'<{3 * length}f', *values))
        for model in 'cnnlstm', 'cnn1d', 'cnn1d_dilated':
            train = ('train', '--data', 'data', '--model', model, '--steps', '1', '--set', 'model.width=0.1', '--set',
                     'batch_size=4', '--set', 'amp=false', '--set', 'autotune=false', '--set', 'data.val_split=0')
            self.run_it(*train, '--set', 'lr=0.1', '--out', model)
            lines = self.events(self.lines('predict', '--run', model, '--top', '2', '--json', '--data', 'data'), 'prediction')
            self.assertEqual(len(lines), len(sequences))
            for options in (), ('--keep-batchnorm',):
                graph = self.save(model, *options)
                self.assertEqual('BatchNormalization' in [node['op_type'] for node in graph.nodes], options != ())
                for line in lines:
                    values, = [values for name, values in sequences.items() if name.endswith(line['sample'])]
                    fed = values + [0.0] * (36 - len(values))
                    expected = [share for _, share in sorted((one['id'], one['probability']) for one in line['classes'])]
                    for got, wanted in zip(softmax(graph.run(fed, len(values) // 3)), expected, strict=True):
                        self.assertAlmostEqual(got, wanted, delta=2e-5)
            # Its tensors are those of the run, by name and shape.
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
        """A run starts from the initialisers of a file, by their names."""
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
        # It says of itself what the weights of the run do: model, classes and normalisation.
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
        # Folded, its batch norms are not there.
        self.run_it('save', '--run', 'run', '--to', 'onnx', '-o', 'folded.onnx')
        for command in (*train, '--no-out'), ('predict', *shapes):
            told = self.run_it(*command, '--weights', 'folded.onnx', expect=3).stderr.decode()
            self.assertIn('it has no tensor “1.weight”', told)
            self.assertIn('with --keep-batchnorm', told)


main()
