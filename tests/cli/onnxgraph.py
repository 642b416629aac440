# SPDX-License-Identifier: MIT
"""ONNX files in plain Python: a strict Protocol Buffers reader, a writer for the models of tests,
and an evaluation of a graph."""
import itertools, math, struct, zlib

# message -> field -> (name, kind, repeated); a field that is not listed must not be in the file
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


def write(message, fields):
    """Encodes a message; fields are as `read` returns them, and any may be left out."""
    def number(value):
        value &= (1 << 64) - 1
        digits = bytearray()
        while value > 127:
            digits.append(value & 127 | 128)
            value >>= 7
        return bytes(digits + bytes([value]))
    data = b''
    for key, (name, kind, repeated) in SCHEMA[message].items():
        for value in (fields.get(name, []) if repeated else [fields[name]] if name in fields else []):
            if kind == 'int':
                data += number(key << 3) + number(value)
            elif kind == 'float':
                data += number(key << 3 | 5) + struct.pack('<f', value)
            else:
                body = value if kind == 'bytes' else value.encode() if kind == 'str' else write(kind, value)
                data += number(key << 3 | 2) + number(len(body)) + body
    return data


def model_of(nodes, initializers, inputs, outputs, opset=17):
    """Encodes a model.  nodes: "Conv name x,weight y" and a dictionary of attributes; initializers:
    name -> (dims, floats or ints); inputs and outputs: name -> dims after the batch."""
    def attribute(name, value):
        field, kind = {int: ('i', 2), float: ('f', 1), str: ('s', 3), list: ('ints', 7)}[type(value)]
        return {'name': name, field: value, 'type': kind}

    def tensor(name, dims, values):
        kind, letter = (7, 'q') if values and isinstance(values[0], int) else (1, 'f')
        return {'dims': dims, 'data_type': kind, 'name': name, 'raw_data': struct.pack(f'<{len(values)}{letter}', *values)}

    def value(name, dims):
        shape = {'dim': [{'dim_param': 'batch'}, *({'dim_value': dim} for dim in dims)]}
        return {'name': name, 'type': {'tensor_type': {'elem_type': 1, 'shape': shape}}}
    parts = [(*text.split(' '), attributes) for text, attributes in nodes]
    return write('Model', {'ir_version': 8, 'opset_import': [{'domain': '', 'version': opset}], 'graph': {
        'node': [{'op_type': op, 'name': name, 'input': taken.split(','), 'output': made.split(','),
                  'attribute': [attribute(*item) for item in attributes.items()]} for op, name, taken, made, attributes in parts],
        'name': 'net', 'initializer': [tensor(name, *one) for name, one in initializers.items()],
        'input': [value(*one) for one in inputs.items()], 'output': [value(*one) for one in outputs.items()]}})


def values_of(tensor):
    kind = {1: 'f', 6: 'i', 7: 'q', 10: 'e'}[tensor['data_type']]
    values = [value for value, in struct.iter_unpack('<' + kind, tensor['raw_data'])]
    assert len(values) == math.prod(tensor['dims'])
    return tuple(tensor['dims']), values


def sigmoid(value):
    return 1 / (1 + math.exp(-value))


class Graph:
    """Evaluates a graph for one sample; a value is (shape, list of floats)."""
    def __init__(self, data, test):
        self.model = read(data, 'Model')
        graph = self.model['graph']
        test.assertEqual((self.model['ir_version'], self.model['opset_import']), (8, [{'domain': '', 'version': 17}]))
        self.constants = {tensor['name']: values_of(tensor) for tensor in graph['initializer']}
        test.assertEqual(len(self.constants), len(graph['initializer']))
        known, used, names = set(self.constants) | {one['name'] for one in graph['input']}, set(), set()
        # Each value is written once, before it is read, and each constant is used.
        for node in graph['node']:
            test.assertTrue(known.issuperset(set(node['input']) - {''}), node)
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
        self.metadata = {pair['key']: pair['value'] for pair in self.model.get('metadata_props', [])}
        self.shape = [dim['dim_value'] for dim in graph['input'][0]['type']['tensor_type']['shape']['dim'][1:]]

    def run(self, values, length=None):
        known = dict(self.constants, input=((1, *self.shape), values), length=((1,), [length]))
        of_samples = {'input', 'length'}
        for node in self.nodes:
            if of_samples & set(node['input']):
                of_samples |= set(node['output'])
                # the batch size is in no shape
                assert node['op_type'] != 'Reshape' or known[node['input'][1]][1][0] in (0, -1), node
            attributes = {one['name']: one[{1: 'f', 2: 'i', 3: 's', 7: 'ints'}[one['type']]] for one in node['attribute']}
            made = getattr(self, node['op_type'])(*[known[name] if name else None for name in node['input']], **attributes)
            known.update(zip(node['output'], made if isinstance(made, list) else [made]))
        return known['output'][1]

    def Cast(self, x, to):
        return x

    def Identity(self, x):
        return x

    def Relu(self, x):
        return x[0], [max(value, 0.0) for value in x[1]]

    def Sigmoid(self, x):
        return x[0], [1 / (1 + math.exp(-value)) for value in x[1]]

    def Sqrt(self, x):
        return x[0], [math.sqrt(value) for value in x[1]]

    def Reciprocal(self, x):
        return x[0], [1 / value for value in x[1]]

    def Tanh(self, x):
        return x[0], [math.tanh(value) for value in x[1]]

    def Erf(self, x):
        return x[0], [math.erf(value) for value in x[1]]

    def Softplus(self, x):
        return x[0], [math.log1p(math.exp(value)) for value in x[1]]

    def LeakyRelu(self, x, alpha):
        return x[0], [value if value > 0 else alpha * value for value in x[1]]

    def Elu(self, x, alpha):
        return x[0], [value if value > 0 else alpha * math.expm1(value) for value in x[1]]

    def HardSigmoid(self, x, alpha, beta):
        return x[0], [min(max(alpha * value + beta, 0.0), 1.0) for value in x[1]]

    def HardSwish(self, x):
        return self.Mul(x, self.HardSigmoid(x, 1 / 6, 0.5))

    def Clip(self, x, low, high):
        return x[0], [min(max(value, low[1][0]), high[1][0]) for value in x[1]]

    def Flatten(self, x, axis):
        return (1, len(x[1])), x[1]

    def broadcast(self, a, b, function):
        if a[0] == b[0]:
            return a[0], [function(x, y) for x, y in zip(a[1], b[1])]
        n = max(len(a[0]), len(b[0]))
        shapes = [(1,) * (n - len(one[0])) + tuple(one[0]) for one in (a, b)]
        shape = tuple(max(pair) for pair in zip(*shapes))
        assert all(one in (1, whole) for one_shape in shapes for one, whole in zip(one_shape, shape))
        steps = [[0 if one[i] == 1 else math.prod(one[i + 1:]) for i in range(n)] for one in shapes]
        return shape, [function(*(one[1][sum(map(int.__mul__, place, step))] for one, step in zip((a, b), steps)))
                       for place in itertools.product(*map(range, shape))]

    def Add(self, a, b):
        return self.broadcast(a, b, lambda x, y: x + y)

    def Mul(self, a, b):
        return self.broadcast(a, b, lambda x, y: x * y)

    def Sub(self, a, b):
        return self.broadcast(a, b, lambda x, y: x - y)

    def Div(self, a, b):
        return self.broadcast(a, b, lambda x, y: x // y if isinstance(x, int) and isinstance(y, int) else x / y)

    def Max(self, a, b):
        return self.broadcast(a, b, max)

    def Min(self, a, b):
        return self.broadcast(a, b, min)

    def Less(self, a, b):
        return self.broadcast(a, b, lambda x, y: int(x < y))

    def Reshape(self, x, shape):
        dims = [x[0][i] if dim == 0 else dim for i, dim in enumerate(shape[1])]
        if -1 in dims:
            dims[dims.index(-1)] = len(x[1]) // -math.prod(dims)
        assert math.prod(dims) == len(x[1])
        return tuple(dims), x[1]

    def Expand(self, x, shape):
        return self.Mul(x, (tuple(shape[1]), [1.0] * math.prod(shape[1])))

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
        shape = parts[0][0]
        outer, sizes = math.prod(shape[:axis]), [math.prod(part[0][axis:]) for part in parts]
        return ((*shape[:axis], sum(part[0][axis] for part in parts), *shape[axis + 1:]),
                [value for k in range(outer) for part, size in zip(parts, sizes) for value in part[1][k * size:(k + 1) * size]])

    def Slice(self, x, starts, ends, axes):
        (first,), (end,), (axis,) = starts[1], ends[1], axes[1]
        return self.Gather(x, ((end - first,), list(range(first, end))), axis)

    def Gather(self, x, index, axis):
        outer, inner = math.prod(x[0][:axis]), math.prod(x[0][axis + 1:])
        return ((*x[0][:axis], *index[0], *x[0][axis + 1:]),
                [x[1][(a * x[0][axis] + i % x[0][axis]) * inner + b] for a in range(outer) for i in index[1] for b in range(inner)])

    def ScatterND(self, x, index, updates):
        assert len(x[0]) == 1 == index[0][1]
        values = list(x[1])
        for at, value in zip(index[1], updates[1], strict=True):
            values[at] = value
        return x[0], values

    def GatherND(self, x, index, batch_dims):
        assert (batch_dims, index[0]) == (1, (1, 1))
        return (1, x[0][2]), x[1][index[1][0] * x[0][2]:(index[1][0] + 1) * x[0][2]]

    def ReduceSum(self, x, axes, keepdims=1):
        axes = [axis % len(x[0]) for axis in axes[1]]
        letters = ''.join(chr(97 + axis) for axis in range(len(x[0])))
        shape, values = self.Einsum(x, equation=letters + '->' + ''.join(c for i, c in enumerate(letters) if i not in axes))
        return (tuple(1 if i in axes else dim for i, dim in enumerate(x[0])) if keepdims else shape), values

    def ReduceL2(self, x, axes, keepdims=1):
        shape, values = self.ReduceSum(self.Mul(x, x), axes, keepdims)
        return shape, [math.sqrt(value) for value in values]

    def Einsum(self, *operands, equation):
        terms, result = equation.split('->')
        terms = terms.split(',')
        extents = {}
        for (shape, _), term in zip(operands, terms, strict=True):
            for dim, letter in zip(shape, term, strict=True):
                extents[letter] = max(dim, extents.get(letter, 1))
        summed = [letter for letter in extents if letter not in result]

        def step(shape, term, letter):
            at = term.find(letter)
            return 0 if at < 0 or shape[at] == 1 else math.prod(shape[at + 1:])
        shape, values = tuple(extents[letter] for letter in result), []
        for place in itertools.product(*(range(extents[letter]) for letter in result)):
            total = 0.0
            for more in itertools.product(*(range(extents[letter]) for letter in summed)):
                digits = dict(zip([*result, *summed], place + more))
                total += math.prod(taken[sum(digit * step(one, term, letter) for letter, digit in digits.items())]
                                   for (one, taken), term in zip(operands, terms))
            values.append(total)
        return shape, values

    def ReduceMean(self, x, axes, keepdims):
        shape, sums = self.ReduceSum(x, ((len(axes),), axes), keepdims)
        return shape, [value * len(sums) / len(x[1]) for value in sums]

    def recurrent(self, step, gates, x, w, r, b, length, hidden_size, direction):
        """Y and Y_h of a layer.  step: from the sums of the gates over x and over the state to the new state and cell."""
        steps, _, inputs = x[0]
        n, count, size = {'forward': 1, 'bidirectional': 2}[direction], length[1][0] if length else steps, gates * hidden_size
        assert (w[0], r[0]) == ((n, size, inputs), (n, size, hidden_size)) and (not b or b[0] == (n, 2 * size))
        y, last = [[0.0] * (n * hidden_size) for _ in range(steps)], []
        for d in range(n):
            h = cell = [0.0] * hidden_size
            for t in range(count)[::-1 if d else 1]:
                of_x, of_h = ([(b[1][(2 * d + part) * size + k] if b else 0)
                               + sum(map(float.__mul__, m[1][(d * size + k) * len(v):(d * size + k + 1) * len(v)], v)) for k in range(size)]
                              for part, m, v in ((0, w, x[1][t * inputs:(t + 1) * inputs]), (1, r, h)))
                h, cell = step(*([values[k * hidden_size:(k + 1) * hidden_size] for k in range(gates)] for values in (of_x, of_h)), h, cell)
                y[t][d * hidden_size:(d + 1) * hidden_size] = h
            last += h
        return [((steps, n, 1, hidden_size), sum(y, [])), ((n, 1, hidden_size), last)]

    def LSTM(self, x, w, r, b=None, length=None, h=None, c=None, *, hidden_size, direction='forward'):
        """Gates are in ONNX's order i, o, f, c, and initial states are 0."""
        def step(of_x, of_h, h, cell):
            i, o, f, g = ([a + b for a, b in zip(*pair)] for pair in zip(of_x, of_h))
            cell = [sigmoid(f[k]) * cell[k] + sigmoid(i[k]) * math.tanh(g[k]) for k in range(hidden_size)]
            return [sigmoid(o[k]) * math.tanh(cell[k]) for k in range(hidden_size)], cell
        return self.recurrent(step, 4, x, w, r, b, length, hidden_size, direction)

    def GRU(self, x, w, r, b=None, length=None, h=None, *, hidden_size, direction='forward', linear_before_reset):
        """Gates are in ONNX's order z, r, h, and initial states are 0."""
        def step(of_x, of_h, h, _):
            z, reset = ([sigmoid(a + b) for a, b in zip(of_x[gate], of_h[gate])] for gate in (0, 1))
            new = [math.tanh(a + b * c) for a, b, c in zip(of_x[2], reset, of_h[2])]
            return [(1 - z[k]) * new[k] + z[k] * h[k] for k in range(hidden_size)], None
        assert linear_before_reset == 1
        return self.recurrent(step, 3, x, w, r, b, length, hidden_size, direction)

    def Gemm(self, x, weight, bias=None, transB=0):
        shape, values = self.MatMul(x, self.Transpose(weight, [1, 0]) if transB else weight)
        return (shape, values) if bias is None else self.Add((shape, values), bias)

    def MatMul(self, x, weight):
        *outer, inputs, outputs = weight[0]
        assert x[0][-1] == inputs
        if outer: # a matrix for each index of the outer axes
            letters = ''.join(chr(97 + axis) for axis in range(len(outer)))
            if tuple(outer) != tuple(x[0][:-2]):
                return self.Einsum(x, weight, equation=f'{letters}xy,{letters}yz->{letters}xz')
            sizes = [math.prod(one[0][-2:]) for one in (x, weight)]
            parts = [[one[1][k * size:(k + 1) * size] for k in range(math.prod(outer))] for one, size in zip((x, weight), sizes)]
            return ((*x[0][:-1], outputs), [value for a, b in zip(*parts)
                                            for value in self.MatMul((x[0][-2:], a), (weight[0][-2:], b))[1]])
        columns = [weight[1][k::outputs] for k in range(outputs)]
        return ((*x[0][:-1], outputs),
                [sum(map(float.__mul__, x[1][at:at + inputs], column)) for at in range(0, len(x[1]), inputs) for column in columns])

    def Softmax(self, x, axis):
        assert axis in (2 ** 64 - 1, len(x[0]) - 1) # -1, read as unsigned
        return x[0], [value for at in range(0, len(x[1]), x[0][-1]) for value in softmax(x[1][at:at + x[0][-1]])]

    def LayerNormalization(self, x, weight, bias, epsilon):
        c, out = x[0][-1], []
        for at in range(0, len(x[1]), c):
            row = x[1][at:at + c]
            mean = sum(row) / c
            deviation = math.sqrt(sum((value - mean) ** 2 for value in row) / c + epsilon)
            out += [(value - mean) / deviation * w + b for value, w, b in zip(row, weight[1], bias[1])]
        return x[0], out

    def GlobalAveragePool(self, x):
        c, size = x[0][1], math.prod(x[0][2:])
        return (1, c, *(1 for _ in x[0][2:])), [sum(x[1][k * size:(k + 1) * size]) / size for k in range(c)]

    def GlobalMaxPool(self, x):
        c, size = x[0][1], math.prod(x[0][2:])
        return (1, c, *(1 for _ in x[0][2:])), [max(x[1][k * size:(k + 1) * size]) for k in range(c)]

    def Pad(self, x, pads, value):
        shape, values = x
        n = len(shape)
        for axis, before, after in zip(range(n), pads[1][:n], pads[1][n:]):
            inner, outer, size = math.prod(shape[axis + 1:]), math.prod(shape[:axis]), shape[axis]
            fill = value[1] * inner
            values = [one for k in range(outer) for i in range(-before, size + after)
                      for one in (values[(k * size + i) * inner:(k * size + i + 1) * inner] if 0 <= i < size else fill)]
            shape = (*shape[:axis], before + size + after, *shape[axis + 1:])
        return shape, values

    def AveragePool(self, x, kernel_shape, strides, pads, count_include_pad=0):
        if len(x[0]) == 3:
            return self.over_time(self.AveragePool, x, kernel_shape=kernel_shape, strides=strides, pads=pads,
                                  count_include_pad=count_include_pad)
        _, c, h, w = x[0]
        places = list(self.windows(x, kernel_shape, strides, pads))
        oh = self.count_windows(h, kernel_shape[0], strides[0], pads[0], pads[2])
        return ((1, c, oh, len(places) // oh),
                [sum(x[1][k * h * w + place] for _, _, place in window)
                 / (math.prod(kernel_shape) if count_include_pad else len(window)) for k in range(c) for window in places])

    @staticmethod
    def count_windows(side, span, stride, before, after, ceil_mode=0):
        count = (side + before + after - span + (stride - 1 if ceil_mode else 0)) // stride + 1
        return count - (ceil_mode and (count - 1) * stride >= side + before)

    def windows(self, x, kernel_shape, strides, pads, dilations=(1, 1), ceil_mode=0):
        """The windows of an image; a sequence is an image with a single row."""
        _, c, h, w = x[0]
        oh, ow = (self.count_windows(side, dilations[i] * (kernel_shape[i] - 1) + 1, strides[i], pads[i], pads[2 + i], ceil_mode)
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

    def MaxPool(self, x, kernel_shape, strides, pads, ceil_mode=0):
        if len(x[0]) == 3:
            return self.over_time(self.MaxPool, x, kernel_shape=kernel_shape, strides=strides, pads=pads)
        _, c, h, w = x[0]
        places = list(self.windows(x, kernel_shape, strides, pads, ceil_mode=ceil_mode))
        oh = self.count_windows(h, kernel_shape[0], strides[0], pads[0], pads[2], ceil_mode)
        return ((1, c, oh, len(places) // oh),
                [max(x[1][k * h * w + place] for _, _, place in window) for k in range(c) for window in places])

    def Conv(self, x, weight, bias=None, *, kernel_shape, strides, pads, group=1, dilations=None):
        if len(x[0]) == 3:
            weight = ((*weight[0][:2], 1, weight[0][2]), weight[1])
            return self.over_time(self.Conv, x, weight, *([bias] if bias else []), kernel_shape=kernel_shape, strides=strides,
                                  pads=pads, group=group, dilations=dilations)
        dilations = dilations or (1, 1)
        _, c, h, w = x[0]
        outputs, inputs = weight[0][:2]
        taps = kernel_shape[0] * kernel_shape[1]
        places = list(self.windows(x, kernel_shape, strides, pads, dilations))
        oh = self.count_windows(h, dilations[0] * (kernel_shape[0] - 1) + 1, strides[0], pads[0], pads[2])
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
