# SPDX-License-Identifier: MIT
"""dynoctl save --to onnx: the file's structure by a strict reader of Protocol Buffers, its values by
an evaluation of its graph in plain Python, against dynoctl predict."""
import array, json, math, os, struct, sys, zlib
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
    'Attribute': {1: ('name', 'str', 0), 2: ('f', 'float', 0), 3: ('i', 'int', 0), 8: ('ints', 'int', 1),
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
    kind = {1: 'f', 7: 'q', 10: 'e'}[tensor['data_type']]
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
        known, used, names = set(self.constants) | {graph['input'][0]['name']}, set(), set()
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
            test.assertEqual(value['type']['tensor_type']['elem_type'], 1)
            test.assertEqual(value['type']['tensor_type']['shape']['dim'][0], {'dim_param': 'batch'})
        self.nodes = graph['node']
        self.metadata = {pair['key']: pair['value'] for pair in self.model['metadata_props']}
        self.shape = [dim['dim_value'] for dim in graph['input'][0]['type']['tensor_type']['shape']['dim'][1:]]

    def run(self, values):
        known = dict(self.constants, input=((1, *self.shape), values))
        for node in self.nodes:
            attributes = {one['name']: one.get('i', one.get('f', one['ints'])) if one['type'] != 7 else one['ints']
                          for one in node['attribute']}
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
        size = a[0][2] * a[0][3]
        return a[0], [function(value, b[1][i // size]) for i, value in enumerate(a[1])]

    def Add(self, a, b):
        return self.channelwise(a, b, lambda x, y: x + y)

    def Mul(self, a, b):
        return self.channelwise(a, b, lambda x, y: x * y)

    def Gemm(self, x, weight, bias, transB):
        outputs, inputs = weight[0]
        return (1, outputs), [bias[1][k] + sum(map(float.__mul__, x[1], weight[1][k * inputs:(k + 1) * inputs]))
                              for k in range(outputs)]

    def GlobalAveragePool(self, x):
        _, c, h, w = x[0]
        return (1, c, 1, 1), [sum(x[1][k * h * w:(k + 1) * h * w]) / (h * w) for k in range(c)]

    def windows(self, x, kernel_shape, strides, pads):
        _, c, h, w = x[0]
        oh, ow = ((side + 2 * pads[i] - kernel_shape[i]) // strides[i] + 1 for i, side in enumerate((h, w)))
        for y in range(oh):
            for z in range(ow):
                yield [(i, j, a * w + b) for i in range(kernel_shape[0]) for j in range(kernel_shape[1])
                       for a, b in ((y * strides[0] + i - pads[0], z * strides[1] + j - pads[1]),) if 0 <= a < h and 0 <= b < w]

    def MaxPool(self, x, kernel_shape, strides, pads):
        _, c, h, w = x[0]
        places = list(self.windows(x, kernel_shape, strides, pads))
        oh = (h + 2 * pads[0] - kernel_shape[0]) // strides[0] + 1
        return ((1, c, oh, len(places) // oh),
                [max(x[1][k * h * w + place] for _, _, place in window) for k in range(c) for window in places])

    def Conv(self, x, weight, bias=None, *, kernel_shape, strides, pads, group):
        _, c, h, w = x[0]
        outputs, inputs = weight[0][:2]
        taps = kernel_shape[0] * kernel_shape[1]
        places = list(self.windows(x, kernel_shape, strides, pads))
        oh = (h + 2 * pads[0] - kernel_shape[0]) // strides[0] + 1
        out = []
        for k in range(outputs):
            first = k // (outputs // group) * inputs
            for window in places:
                out.append((bias[1][k] if bias else 0.0)
                           + sum(weight[1][(k * inputs + n) * taps + i * kernel_shape[1] + j] * x[1][(first + n) * h * w + place]
                                 for n in range(inputs) for i, j, place in window))
        return (1, outputs, oh, len(places) // oh), out

    def BatchNormalization(self, x, weight, bias, mean, variance, epsilon):
        size = x[0][2] * x[0][3]
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


main()
