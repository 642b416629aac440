# SPDX-License-Identifier: MIT
"""PyTorch's .pth files as weights.  They are made without PyTorch, by Python's pickle and zipfile
and by classes with the names of PyTorch's."""
import collections, io, json, os, pickle, struct, sys, types, zipfile
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import CONVNET, Case, TINY, main

torch, utils = types.ModuleType('torch'), types.ModuleType('torch._utils')
sys.modules.update({'torch': torch, 'torch._utils': utils})


def _rebuild_tensor_v2(*arguments):
    raise AssertionError('never called')


def _rebuild_parameter(*arguments):
    raise AssertionError('never called')


for function in _rebuild_tensor_v2, _rebuild_parameter:
    function.__module__ = 'torch._utils'
    setattr(utils, function.__name__, function)
for name in 'FloatStorage', 'HalfStorage', 'BFloat16Storage', 'LongStorage':
    setattr(torch, name, type(name, (), {'__module__': 'torch'}))
WIDTHS = {'FloatStorage': 4, 'HalfStorage': 2, 'BFloat16Storage': 2, 'LongStorage': 8}


class Storage:
    def __init__(self, kind, key, data):
        self.kind, self.key, self.data = kind, key, data


class Tensor:
    def __init__(self, storage, shape, stride, offset=0):
        self.arguments = (storage, offset, tuple(shape), tuple(stride), False, collections.OrderedDict())

    def __reduce_ex__(self, protocol):
        return utils._rebuild_tensor_v2, self.arguments


class Parameter:
    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce_ex__(self, protocol):
        return utils._rebuild_parameter, (self.tensor, True, collections.OrderedDict())


class Pickler(pickle.Pickler):
    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        storages[value.key] = value.data
        return ('storage', getattr(torch, value.kind), value.key, 'cpu', len(value.data) // WIDTHS[value.kind])


storages = {}


def c_stride(shape):
    stride = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        stride[i] = stride[i + 1] * shape[i + 1]
    return stride


def save(path, value, protocol=2, method=zipfile.ZIP_STORED, change=None, zip64=False):
    """Writes a file as torch.save does."""
    storages.clear()
    text = io.BytesIO()
    Pickler(text, protocol).dump(value)
    entries = {'data.pkl': text.getvalue(), 'byteorder': b'little', **{'data/' + key: data for key, data in storages.items()},
               'version': b'3\n'}
    if change:
        change(entries)
    with zipfile.ZipFile(path, 'w', method) as archive:
        for name, data in entries.items():
            with archive.open('archive/' + name, 'w', force_zip64=zip64) as file:
                file.write(data)


def read_safetensors(path):
    with open(path, 'rb') as file:
        data = file.read()
    size, = struct.unpack('<Q', data[:8])
    header = json.loads(data[8:8 + size])
    del header['__metadata__']
    return {name: (row['dtype'], row['shape'], data[8 + size + row['data_offsets'][0]:8 + size + row['data_offsets'][1]])
            for name, row in header.items()}


def transpose(data, rows, columns):
    return b''.join(data[4 * (r * columns + c):4 * (r * columns + c) + 4] for c in range(columns) for r in range(rows))


class Evil:
    def __reduce__(self):
        return os.system, ('touch evil',)


class Pth(Case):
    def classes(self, weights):
        return [(line['sample'], line['classes']) for line in
                self.lines('predict', '--weights', weights, '--model', 'simplecnn', '--image-size', '16', '--json',
                           '--top', '4', '--data', 'builtin:shapes?size=16&samples=8&classes=4')
                if line['event'] == 'prediction']

    def make(self, kinds=None, wrap=lambda value: value, **options):
        """Writes the run's weights as a .pth; kinds: a function that returns another kind of
        storage and its bytes."""
        state = collections.OrderedDict()
        for i, (name, (dtype, shape, data)) in enumerate(read_safetensors(self.path('run/weights.safetensors')).items()):
            kind = 'LongStorage' if dtype == 'I64' else 'FloatStorage'
            stride, offset = c_stride(shape), 0
            if kinds and kind == 'FloatStorage':
                kind, data = kinds(data)
            elif len(shape) == 2: # transposed, and at an offset in its storage
                data, stride, offset = b'\x7f' * 12 + transpose(data, *shape), [1, shape[0]], 3
            elif kind == 'FloatStorage' and i % 3 == 0: # a part of a storage, as tensors that share one
                data, offset = b'\x7f' * 8 + data + b'\x7f' * 4, 2
            state[name] = Tensor(Storage(kind, str(i), data), shape, stride, offset)
            if i % 2:
                state[name] = Parameter(state[name])
        state.__dict__['_metadata'] = collections.OrderedDict(version=1)
        save(self.path('w.pth'), wrap(state), **options)
        return 'w.pth'

    def refused(self, weights, words):
        done = self.run_it('predict', '--weights', weights, '--model', 'simplecnn', TINY, expect=3)
        self.assertIn(words, done.stderr.decode())

    def test_pth(self):
        # a width of 1 and sixteen pixels, which the file does not state
        self.run_it('train', '--data', TINY, *CONVNET, '--set', 'model.width=1', '--steps', '1', '--set', 'data.val_split=0',
                    '--out', 'run')
        self.check_tensors()
        self.check_refusals()

    def check_tensors(self):
        def ids(told):
            return [(sample, [one['id'] for one in classes]) for sample, classes in told]

        expected = self.classes('run/weights.safetensors')
        nested = self.make(wrap=lambda state: {'epoch': 3, 'lr': 0.5, 'model': {'module': state}, 'none': None,
                                               'list': [1, (True, 'x')]}, protocol=4, zip64=True)
        told = self.classes(nested)
        self.assertEqual(ids(told), ids(expected))
        for (_, here), (_, there) in zip(told, expected):
            self.assertEqual([one['probability'] for one in here], [one['probability'] for one in there])

        def bfloat(data):
            return 'BFloat16Storage', b''.join(data[i + 2:i + 4] for i in range(0, len(data), 4))
        for (_, here), (_, there) in zip(self.classes(self.make(kinds=bfloat)), expected):
            here, there = ({one['id']: one['probability'] for one in classes} for classes in (here, there))
            for i in range(4):
                self.assertAlmostEqual(here[i], there[i], delta=0.05)

    def check_refusals(self):
        self.refused(self.make(wrap=lambda state: {'a': state, 'b': Evil()}), 'posix.system')
        self.assertFalse(os.path.exists(self.path('evil')))
        self.refused(self.make(method=zipfile.ZIP_DEFLATED), 'compressed')
        save(self.path('w.pth'), {'a': 1}, protocol=0)
        self.refused('w.pth', 'opcode')
        self.refused(self.make(change=lambda entries: entries.pop('data/0')), 'is not there')
        self.refused(self.make(change=lambda entries: entries.update({'data/0': b'12'})), 'too few')
        self.refused(self.make(change=lambda entries: entries.update(byteorder=b'big')), 'little-endian')
        self.refused(self.make(change=lambda entries: entries.update({'data.pkl': entries['data.pkl'][:-9]})), 'damaged')
        self.refused(self.make(wrap=lambda state: [state]), 'no dict')
        for shape, stride, offset in ((9,), (1,), 0), ((2, 2), (1 << 40, 1), 0), ((3,), (0,), 2), ((1 << 40,), (0,), 0):
            save(self.path('w.pth'), {'x': Tensor(Storage('FloatStorage', '0', bytes(8)), shape, stride, offset)})
            self.refused('w.pth', 'does not lie in its storage')
        with open(self.path('w.pth'), 'wb') as file: # PyTorch's format before 1.6
            file.write(b'\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.')
        self.refused('w.pth', 'before 1.6')
        with open(self.path(self.make()), 'r+b') as file:
            file.truncate(os.path.getsize(self.path('w.pth')) - 10)
        self.refused('w.pth', 'damaged')
        # Cyclic and deeply nested dictionaries end with an error.
        circle = {}
        circle['again'] = circle
        for i in range(40):
            circle = {str(k): circle for k in range(40)}
        save(self.path('w.pth'), circle)
        self.run_it('predict', '--weights', 'w.pth', '--model', 'simplecnn', TINY, expect=3)


main()
