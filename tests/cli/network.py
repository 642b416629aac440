# SPDX-License-Identifier: MIT
"""Networks of ONNX files train as the model that they were exported from.  A run has all that
resuming needs, also where neither the file nor Dyno's copy of it exists."""
import csv, json, math, os, random, shutil, struct, sys, tempfile
from unittest import mock
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import CONVNET, Case, SMALL, TINY, main
from onnxgraph import SCHEMA, Graph, model_of, png, read, softmax, values_of, write

SETTINGS = SMALL[SMALL.index('--set'):]
SETTINGS = [word for pair in zip(SETTINGS[::2], SETTINGS[1::2]) if pair[1] != 'model.width=0.125' for word in pair]


# Parameters have names and shapes that no layer of Dyno gives them, and every operator occurs.
NODES = [
    ('Conv /stem/Conv x,onnx::Conv_193,onnx::Conv_194 a', {'strides': [2, 2], 'pads': [1, 1, 1, 1]}),
    ('BatchNormalization bn a,gamma,beta,average,spread b', {'epsilon': 0.001}), ('HardSwish - b c', {}),
    ('Split halves c,sizes d,e', {'axis': 1}), ('LeakyRelu - d f', {'alpha': 0.25}), ('Elu - e g', {'alpha': 0.5}),
    ('Concat joined g,f h', {'axis': 1}), ('Reshape - h,groups i', {}), ('Transpose - i j', {'perm': [0, 2, 1, 3, 4]}),
    ('Reshape - j,image k', {}), ('AveragePool mean k l', {'kernel_shape': [3, 3], 'strides': [2, 2], 'pads': [1, 1, 1, 1]}),
    # a gate of linear layers
    ('GlobalAveragePool - l m', {}), ('Flatten - m n', {'axis': 1}), ('MatMul squeeze n,onnx::MatMul_200 o', {}),
    ('Add - o,onnx::Add_201 p', {}), ('Softplus - p q', {}), ('Gemm excite q,onnx::Gemm_202,bare r', {'transB': 1}),
    ('HardSigmoid - r s', {'alpha': 1 / 6, 'beta': 0.5}), ('Unsqueeze - s,places t', {}), ('Mul gated l,t u', {}),
    # channels-last layout
    ('Transpose - u v', {'perm': [0, 2, 3, 1]}), ('LayerNormalization norm v,onnx::ln_w,onnx::ln_b w', {'epsilon': 0.000001}),
    ('MatMul wide w,onnx::MatMul_210 aa', {}), ('Add - narrow,aa ab', {}), ('Div - ab,root ac', {}), ('Erf - ac ad', {}),
    ('Add - ad,one ae', {}), ('Mul - ab,ae af', {}), ('Mul gelu af,half ag', {}), ('MatMul back ag,onnx::MatMul_211 ah', {}),
    ('Mul scaled ah,layer_scale ai', {}), ('Add sum v,ai aj', {}), ('Transpose - aj ak', {'perm': [0, 3, 1, 2]}),
    ('Mul by ak,factor al', {}), ('Tanh - al am', {}), ('Mish - ak an', {}), ('Mul both am,an ao', {}),
    ('Sigmoid - ao ap', {}), ('Mul silu ao,ap aq', {}), ('GlobalAveragePool - aq ar', {}), ('Flatten - ar at', {}),
    ('MatMul /head at,onnx::MatMul_220 au', {}), ('Add - bias_of_the_head,au y', {})]
SHAPES = {'onnx::Conv_193': (8, 3, 3, 3), 'onnx::Conv_194': (8,), 'gamma': (8,), 'beta': (8,), 'average': (8,), 'spread': (8,),
          'onnx::MatMul_200': (8, 3), 'onnx::Add_201': (3,), 'onnx::Gemm_202': (8, 3), 'bare': (8,), 'onnx::ln_w': (8,),
          'onnx::ln_b': (8,), 'onnx::MatMul_210': (8, 12), 'narrow': (12,), 'onnx::MatMul_211': (12, 8), 'layer_scale': (8,),
          'factor': (8, 1, 1), 'onnx::MatMul_220': (8, 4), 'bias_of_the_head': (4,)}
CONSTANTS = {'sizes': ((2,), [3, 5]), 'groups': ((5,), [0, 2, 4, 8, 8]), 'image': ((4,), [0, 8, 8, 8]), 'places': ((2,), [2, 3]),
             'root': ((), [2 ** 0.5]), 'one': ((), [1.0]), 'half': ((), [0.5])}


# Tensors in layouts that Dyno has to copy them into.
COPIES = [
    ('Conv stem input,stem.weight a', {'kernel_shape': [3, 3], 'strides': [2, 2], 'pads': [1, 1, 1, 1], 'group': 1}),
    # pixel unshuffle
    ('Reshape r1 a,blocks b', {}), ('Transpose t1 b c', {'perm': [0, 1, 3, 5, 2, 4]}), ('Reshape r2 c,small d', {}),
    ('Conv mix d,mix.weight e', {'kernel_shape': [1, 1], 'strides': [1, 1], 'pads': [0, 0, 0, 0], 'group': 1}),
    # linear layers over the pixels
    ('Reshape r3 e,tokens f', {}), ('MatMul m1 f,tokens.in g', {}), ('Add a1 g,tokens.bias h', {}), ('Tanh act h i', {}),
    ('MatMul m2 i,tokens.out j', {}), ('Reshape r4 j,image k', {}), ('Add sum1 e,k l', {}),
    # windows of 2 x 2 pixels: a linear layer over the pixels, then a normalisation of each pixel
    ('Reshape r5 l,grid m', {}), ('Transpose t2 m n', {'perm': [0, 2, 4, 3, 5, 1]}), ('Reshape r6 n,windows o', {}),
    ('Transpose t3 o p', {'perm': [0, 1, 3, 2]}), ('MatMul m3 p,window.weight q', {}),
    ('Transpose t4 q r', {'perm': [0, 1, 3, 2]}), ('LayerNormalization norm r,norm.weight,norm.bias s', {'epsilon': 0.00001}),
    ('Reshape r7 s,pixels t', {}), ('Transpose t5 t u', {'perm': [0, 5, 1, 3, 2, 4]}), ('Reshape r8 u,image v', {}),
    ('Add sum2 v,l w', {}),
    # operations on other axes than the channels
    ('Mul columns w,columns.weight x', {}), ('Concat joined x,l y', {'axis': 2}), ('Slice cut y,one,three,last z', {}),
    # a reshape whose old and new axes have no boundary in common
    ('Reshape r9 z,odd za', {}), ('MatMul m4 za,odd.weight zb', {}), ('Reshape r10 zb,image2 zc', {}),
    # flattened with channels last
    ('Transpose t6 zc zd', {'perm': [0, 2, 3, 1]}), ('Flatten flat zd ze', {'axis': 1}),
    ('Gemm head ze,head.weight,head.bias output', {'transB': 1})]
COPIED_SHAPES = {'stem.weight': (8, 3, 3, 3), 'mix.weight': (6, 32, 1, 1), 'tokens.in': (16, 5), 'tokens.bias': (5,), 'tokens.out': (5, 16),
                 'window.weight': (4, 4), 'norm.weight': (6,), 'norm.bias': (6,), 'columns.weight': (4,), 'odd.weight': (12, 12),
                 'head.weight': (4, 96), 'head.bias': (4,)}
COPIED_CONSTANTS = {name: ((len(values),), values) for name, values in {
    'blocks': [0, 8, 4, 2, 4, 2], 'small': [0, 32, 4, 4], 'tokens': [0, 6, 16], 'image': [0, 6, 4, 4], 'grid': [0, 6, 2, 2, 2, 2],
    'windows': [0, 4, 4, 6], 'pixels': [0, 2, 2, 2, 2, 6], 'one': [1], 'three': [3], 'last': [3], 'odd': [0, 8, 12],
    'image2': [0, 6, 8, 2]}.items()}


# Attention over groups of 8 x 8 tokens.
def attend(name, q, k, v):
    """Scores of the queries and transposed keys, applied to the values."""
    return [(f'MatMul {name}.scores {q},{k} {name}.a', {}), (f'Mul {name}.scale {name}.a,factor {name}.b', {}),
            (f'Softmax {name}.softmax {name}.b {name}.c', {'axis': -1}), (f'MatMul {name} {name}.c,{v} {name}.d', {})]


def layer(name, x):
    return [(f'MatMul {name}.m {x},{name}.weight {name}.w', {}), (f'Add {name}.n {name}.w,{name}.bias {name}.u', {})]


def parts(name, split, perm):
    return [(f'Reshape {name}.split {name}.u,{split} {name}.s', {}), (f'Transpose {name}.turn {name}.s {name}.t', {'perm': perm}),
            *((f'Gather {name}.{part} {name}.t,{at} {name}.{part}', {'axis': 0}) for part, at in zip('qkv', ('at0', 'at1', 'at2')))]


ATTENTIONS = [
    ('Conv stem input,stem.weight a', {'kernel_shape': [3, 3], 'strides': [2, 2], 'pads': [1, 1, 1, 1], 'group': 1}),
    ('Reshape flat a,channels b', {}), ('Transpose tokens b t0', {'perm': [0, 2, 1]}),
    # attention over rows, in their stored order
    *layer('row', 't0'), *parts('row', 'rows', [3, 0, 1, 4, 2, 5]), ('Transpose row.kt row.k row.kk', {'perm': [0, 1, 2, 4, 3]}),
    *attend('row', 'row.q', 'row.kk', 'row.v'), ('Transpose row.back row.d row.e', {'perm': [0, 1, 3, 2, 4]}),
    ('Reshape row.all row.e,steps row.f', {}), ('Add row.sum row.f,t0 t1', {}),
    # attention over windows of 4 x 2, merged with the batch axis
    *layer('win', 't1'), *parts('win', 'windows', [5, 0, 1, 3, 6, 2, 4, 7]),
    *((f'Reshape win.{part}{part} win.{part},grouped win.{part}{part}', {}) for part in 'qkv'),
    ('Transpose win.kt win.kk win.kkk', {'perm': [0, 1, 3, 2]}), *attend('win', 'win.qq', 'win.kkk', 'win.vv'),
    ('Transpose win.back win.d win.e', {'perm': [0, 2, 1, 3]}), ('Reshape win.grid win.e,grid win.f', {}),
    ('Transpose win.image win.f win.g', {'perm': [0, 1, 3, 2, 4, 5]}), ('Reshape win.all win.g,steps win.h', {}),
    ('Add win.sum win.h,t1 t2', {}),
    # attention over columns, with three linear layers
    *(node for part in 'qkv' for node in (
        *layer(f'col.{part}', 't2'), (f'Reshape col.{part}.split col.{part}.u,heads col.{part}.s', {}),
        (f'Transpose col.{part}.turn col.{part}.s col.{part}', {'perm': [0, 3, 2, 4, 1] if part == 'k' else [0, 3, 2, 1, 4]}))),
    *attend('col', 'col.q', 'col.k', 'col.v'), ('Transpose col.back col.d col.e', {'perm': [0, 3, 2, 1, 4]}),
    ('Reshape col.all col.e,steps col.f', {}), ('Add col.sum col.f,t2 t3', {}),
    # keys that a linear layer over the tokens makes, in another layout than the queries
    *layer('far', 't3'), ('Reshape far.split far.u,apart far.s', {}), ('Transpose far.turn far.s far.q', {'perm': [0, 2, 1, 3]}),
    ('Transpose far.t t3 far.r', {'perm': [0, 2, 1]}), ('MatMul far.along far.r,along.weight far.v', {}),
    ('Reshape far.kt far.v,keys far.k', {}), *attend('far', 'far.q', 'far.k', 'far.q'),
    ('Transpose far.back far.d far.e', {'perm': [0, 2, 1, 3]}), ('Reshape far.all far.e,steps far.f', {}), ('Add far.sum far.f,t3 t4', {}),
    # attention between channels
    *layer('cross', 't4'), ('Reshape cross.split cross.u,apart cross.s', {}),
    ('Transpose cross.turn cross.s cross.q', {'perm': [0, 2, 3, 1]}), ('Transpose cross.kt cross.s cross.k', {'perm': [0, 2, 1, 3]}),
    *attend('cross', 'cross.q', 'cross.k', 'cross.q'), ('Transpose cross.back cross.d cross.e', {'perm': [0, 3, 1, 2]}),
    ('Reshape cross.all cross.e,steps cross.f', {}), ('Add cross.sum cross.f,t4 t5', {}),
    ('Transpose last t5 t6', {'perm': [0, 2, 1]}), ('Reshape image t6,square t7', {}), ('Tanh act t7 t8', {}),
    ('GlobalAveragePool pool t8 t9', {}), ('Flatten one t9 t10', {'axis': 1}),
    ('Gemm head t10,head.weight,head.bias output', {'transB': 1})]
ATTENTION_SHAPES = {
    'stem.weight': (16, 3, 3, 3), 'along.weight': (64, 64), 'head.weight': (4, 16), 'head.bias': (4,),
    **{f'{name}.weight': (16, n) for name, n in (('row', 48), ('win', 48), ('col.q', 16), ('col.k', 16), ('col.v', 16), ('far', 16),
                                                 ('cross', 16))},
    **{f'{name}.bias': (n,) for name, n in (('row', 48), ('win', 48), ('col.q', 16), ('col.k', 16), ('col.v', 16), ('far', 16),
                                            ('cross', 16))}}
ATTENTION_CONSTANTS = {
    'factor': ((), [0.75]), 'at0': ((), [0]), 'at1': ((), [1]), 'at2': ((), [2]),
    **{name: ((len(values),), values) for name, values in {
        'channels': [0, 16, 64], 'rows': [0, 8, 8, 3, 2, 8], 'windows': [0, 2, 4, 4, 2, 3, 2, 8], 'grouped': [-1, 2, 8, 8],
        'grid': [-1, 2, 4, 4, 2, 16], 'steps': [0, 64, 16], 'heads': [0, 8, 8, 2, 8], 'apart': [0, 64, 2, 8], 'keys': [0, 2, 8, 64],
        'square': [0, 16, 8, 8]}.items()}}


# Products, sums and repetitions that no layer has: heads of 4 values, with a bias for each distance
# of two tokens and a mask; fewer keys than queries; sums of other axes than the pixels'.
PRODUCTS = [
    ('Conv stem input,stem.weight a', {'kernel_shape': [4, 4], 'strides': [4, 4], 'pads': [0, 0, 0, 0], 'group': 1}),
    ('Reshape r1 a,rows b', {}), ('Transpose t1 b t', {'perm': [0, 2, 1]}),
    ('ScatterND zeroed v.bias,places,zeros vb0', {}), ('MatMul q t,q.weight qa', {}), ('Reshape r2 qa,heads qb', {}), ('Transpose t2 qb qc', {'perm': [0, 2, 1, 3]}),
    ('MatMul k t,k.weight ka', {}), ('Reshape r3 ka,heads kb', {}), ('Transpose t3 kb kc', {'perm': [0, 2, 3, 1]}),
    ('MatMul v t,v.weight va0', {}), ('Add vbias vb0,va0 va', {}), ('Reshape r4 va,heads vb', {}), ('Transpose t4 vb vc', {'perm': [0, 2, 1, 3]}),
    ('MatMul scores qc,kc sa', {}), ('Mul scale sa,half sb', {}), ('Gather bias table,distances ba', {'axis': 0}),
    ('Transpose t5 ba bb', {'perm': [2, 0, 1]}), ('Unsqueeze u1 bb,first bc', {}), ('Add biased sb,bc sc', {}),
    ('Add masked sc,mask sd', {}), ('Softmax softmax sd se', {'axis': -1}), ('MatMul taken se,vc sf', {}),
    ('Transpose t6 sf sg', {'perm': [0, 2, 1, 3]}), ('Reshape r5 sg,whole h', {}),
    # fewer keys than queries
    ('MaxPool fewer a ma', {'kernel_shape': [2, 2], 'strides': [2, 2], 'pads': [0, 0, 0, 0]}), ('Reshape r6 ma,rows mb', {}),
    ('Transpose t7 mb mc', {'perm': [0, 2, 1]}), ('MatMul few.scores h,mb na', {}), ('Mul few.scale na,half nb', {}),
    ('Softmax few.softmax nb nc', {'axis': 2}), ('MatMul few.taken nc,mc nd', {}), ('Add joined h,nd oa', {}),
    # rows of length 1, times factors of the rows
    ('ReduceL2 length oa,last ob', {'keepdims': 1}), ('Div unit oa,ob oc', {}), ('Mul by oc,factors oe1', {}),
    ('ReduceMean middle oe1 oe2', {'axes': [2], 'keepdims': 1}), ('Sub centred oe1,oe2 od', {}),
    ('Einsum alike od,t oe', {'equation': 'nti,nsi->nts'}), ('Sub less oe,sc4 of', {}),
    ('ReduceSum together of,last og', {'keepdims': 0}), ('Reshape r7 og,ones oh', {}), ('Expand wide oh,wide oi', {}),
    ('Mul all oi,od oj', {}), ('ReduceMean mean oj om', {'axes': [1], 'keepdims': 0}),
    ('Gemm head om,head.weight,head.bias output', {'transB': 1})]
PRODUCT_SHAPES = {'stem.weight': (8, 3, 4, 4), 'q.weight': (8, 8), 'k.weight': (8, 8), 'v.weight': (8, 8), 'v.bias': (8,), 'table': (31, 2),
                  'factors': (16, 1), 'sc4': (16, 1), 'head.weight': (4, 8), 'head.bias': (4,)}
PRODUCT_CONSTANTS = {
    'half': ((), [0.5]), 'places': ((3, 1), [0, 5, -2]), 'zeros': ((3,), [0.0, 0.0, 0.0]), 'distances': ((16, 16), [15 + i - k for i in range(16) for k in range(16)]),
    'mask': ((1, 1, 16, 16), [-100.0 if i // 8 != k // 8 else 0.0 for i in range(16) for k in range(16)]),
    **{name: ((len(values),), values) for name, values in {
        'rows': [0, 8, -1], 'heads': [0, 16, 2, 4], 'first': [0], 'whole': [0, 16, 8], 'last': [2], 'ones': [0, 16, 1],
        'wide': [1, 16, 8]}.items()}}


def random_values(shapes):
    draw = random.Random(3)
    return {name: (dims, [draw.uniform(0.2, 1) if len(dims) != 2 else draw.uniform(-1, 1) for _ in range(math.prod(dims))])
            for name, dims in shapes.items()}


class Network(Case):
    made = None  # a run and its network, copied for each test

    def setUp(self):
        super().setUp()
        if not Network.made:
            self.run_it('train', *CONVNET, '--data', TINY, '--steps', '2', '--out', 'first')
            self.run_it('save', '--run', 'first', '--to', 'onnx', '--keep-batchnorm', '--out', 'net.onnx')
            Network.made = tempfile.mkdtemp(prefix='dynoctl-made-')
            shutil.copytree(self.folder, Network.made, dirs_exist_ok=True)
        shutil.copytree(Network.made, self.folder, dirs_exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.made or '', ignore_errors=True)

    def train(self, out, *arguments, data=TINY):
        return self.run_it('train', '--data', data, *SETTINGS, '--out', out, *arguments).stdout.decode()

    def losses(self, run):
        with open(self.path(f'{run}/metrics.csv')) as file:
            return [row['loss'] for row in csv.DictReader(file) if row['loss']]

    def forget(self):
        """Removes the file and the user's folder of networks."""
        os.remove(self.path('net.onnx'))
        shutil.rmtree(os.path.join(self.home, 'dyno', 'networks'))

    def model(self, run):
        with open(self.path(f'{run}/settings.ini')) as file:
            return next(line.split('=', 1)[1].strip() for line in file if line.startswith('model='))

    def test_equals_the_model_that_it_was_written_from(self):
        self.train('own', '--model', 'simplecnn', '--set', 'model.width=0.125', '--weights', 'first/weights.safetensors',
                   '--steps', '4')
        self.train('read', '--model', 'net.onnx', '--steps', '4')
        self.assertEqual(self.losses('own'), self.losses('read'))
        self.assertRegex(self.model('read'), '^net@[0-9a-f]{16}$')
        # Without the file's weights the run starts with another loss.
        self.train('fresh', '--model', 'net.onnx', '--weights', 'none', '--steps', '4')
        self.assertNotEqual(self.losses('fresh')[0], self.losses('read')[0])

    def test_a_run_needs_no_file(self):
        self.train('whole', '--model', 'net.onnx', '--steps', '4')
        self.train('part', '--model', 'net.onnx', '--steps', '2')
        self.forget()
        self.run_it('train', '--resume', 'part', '--steps', '4')
        self.assertEqual(self.losses('part'), self.losses('whole'))
        # The run resumes twice, also with no other file beside the checkpoint.
        os.mkdir(self.path('bare'))
        shutil.copy(self.path('part/checkpoint.safetensors'), self.path('bare'))
        self.run_it('train', '--resume', 'bare', '--data', TINY, '--steps', '5')
        shutil.rmtree(os.path.join(self.home, 'dyno', 'networks'), ignore_errors=True)
        self.run_it('train', '--resume', 'part', '--steps', '6')
        self.assertEqual(self.losses('part')[4], self.losses('bare')[-1])
        scores = self.lines('evaluate', '--weights', 'part/weights.safetensors', '--data', TINY, '--json')
        self.assertRegex(scores[-1]['model'], '^net@')
        # The saved file is read as a network again.
        self.run_it('save', '--run', 'part', '--to', 'onnx', '--keep-batchnorm', '--out', 'back.onnx')
        self.run_it('model', 'back.onnx')

    def test_other_classes(self):
        told = self.run_it('train', '--data', 'builtin:shapes?size=16&samples=80&classes=3', *SETTINGS, '--model', 'net.onnx',
                           '--steps', '1', '--out', 'three')
        self.assertIn('kept: “circle”, “square”, “triangle”; not used: “ring”', told.stderr.decode())

    def test_plan_and_model(self):
        plan = self.run_it('plan', '--data', TINY, *SETTINGS, '--model', 'net.onnx').stdout.decode()
        self.assertIn('it fits', plan)
        layers = self.lines('model', 'net.onnx', '--json')[0]
        self.assertEqual((layers['title'], layers['outputs'], layers['notes']), ('net', 4, []))
        own = self.lines('model', 'simplecnn', '--width', '0.125', '--classes', '4', '--size', '16', '--json')[0]
        for key in 'parameters', 'states', 'flops', 'activation_bytes':
            self.assertEqual(layers[key], own[key], key)

    def save(self, run, *options):
        self.run_it('save', '--run', run, '--to', 'onnx', '--out', 'saved.onnx', '--force', *options)
        with open(self.path('saved.onnx'), 'rb') as file:
            return Graph(file.read(), self)

    def check_saved(self, run, *options):
        """Asserts that the saved file computes the predictions of the run; returns its graph."""
        side = 16
        pixels = bytes((i * 37 + i * i // 11) % 256 for i in range(3 * side * side))
        with open(self.path('x.png'), 'wb') as file:
            file.write(png(pixels, side))
        line, = self.events(self.lines('predict', '--run', run, '--top', '4', '--json', 'x.png'), 'prediction')
        expected = [share for _, share in sorted((one['id'], one['probability']) for one in line['classes'])]
        self.assertLess(max(expected), 0.999) # the outputs are not saturated
        graph = self.save(run, '--normalise', *options)
        fed = [float(pixels[3 * i + c]) for c in range(3) for i in range(side * side)]
        for got, wanted in zip(softmax(graph.run(fed)), expected, strict=True):
            self.assertAlmostEqual(got, wanted, delta=2e-5)
        return graph

    def write_network(self, name, *network, **more):
        with open(self.path(name), 'wb') as file:
            file.write(model_of(*network, {'x': [3, 16, 16]}, {'y': [4]}, **more))

    def test_parameters_of_any_name_are_saved(self):
        parameters = random_values(SHAPES)
        self.write_network('odd.onnx', NODES, {**parameters, **CONSTANTS})
        self.train('odd', '--model', 'odd.onnx', '--set', 'lr=0', '--steps', '1')
        graph = self.save('odd', '--keep-batchnorm')
        for name, (dims, values) in parameters.items():
            shape, saved = graph.constants[name]
            self.assertEqual(shape, dims, name)
            if name not in ('average', 'spread'): # the running statistics change with a step
                self.assertEqual(saved, [struct.unpack('<f', struct.pack('<f', value))[0] for value in values], name)
        self.train('trained', '--model', 'odd.onnx', '--steps', '2')
        self.check_saved('trained')
        self.check_saved('trained', '--keep-batchnorm')
        # Read as a network, the saved file is the same network, and saving that gives the same
        # file.
        self.save('trained', '--keep-batchnorm')
        os.rename(self.path('saved.onnx'), self.path('again.onnx'))
        one, two = (self.lines('model', name, '--json')[0] for name in ('odd.onnx', 'again.onnx'))
        for key in 'parameters', 'states', 'flops', 'activation_bytes':
            self.assertEqual(one[key], two[key], key)
        self.train('more', '--model', 'again.onnx', '--set', 'lr=0', '--steps', '1')
        self.save('more', '--keep-batchnorm')
        graphs = []
        for name in 'again.onnx', 'saved.onnx':
            with open(self.path(name), 'rb') as file:
                graphs.append(read(file.read(), 'Model')['graph'])
        self.assertEqual(graphs[0]['node'], graphs[1]['node'])
        for before, after in zip(*(graph['initializer'] for graph in graphs), strict=True):
            if before['name'] not in ('average', 'spread'):
                self.assertEqual(before, after)

    def write_outside(self, name):
        """Moves the values of the file's tensors to an external file, as exporters do."""
        outside = {13: ('external_data', 'Pair', 1), 14: ('data_location', 'int', 0)}
        with open(self.path(name), 'rb') as file:
            model = read(file.read(), 'Model')
        with open(self.path(name + '.data'), 'wb') as file:
            for tensor in model['graph']['initializer']:
                values = tensor.pop('raw_data')
                tensor['data_location'] = 1
                tensor['external_data'] = [{'key': key, 'value': str(value)} for key, value in (
                    ('location', name + '.data'), ('offset', file.tell()), ('length', len(values)))]
                file.write(values)
        with open(self.path(name), 'wb') as file, mock.patch.dict(SCHEMA, Tensor={**SCHEMA['Tensor'], **outside}):
            file.write(write('Model', model))

    def test_weights_that_an_exporter_has_merged(self):
        # The file has equal weights only once: Identity nodes copy the weight, or two nodes read
        # it.
        nodes = [('Identity - beta second.beta', {}), ('Identity - second.beta third.beta', {}),
                 ('Conv conv x,weight a', {}), ('Add - a,beta b', {}), ('Tanh - b c', {}), ('Add - c,beta d', {}),
                 ('Mul - d,second.beta e', {}), ('Tanh - e f', {}), ('Mul - f,third.beta g', {}),
                 ('GlobalAveragePool - g h', {}), ('Flatten - h i', {}), ('Gemm head i,out,last y', {'transB': 1})]
        shapes = {'weight': (8, 3, 1, 1), 'beta': (8, 1, 1), 'out': (4, 8), 'last': (4,)}
        parameters = random_values(shapes)
        self.write_network('merged.onnx', nodes, parameters)
        self.train('merged', '--model', 'merged.onnx', '--set', 'lr=0', '--steps', '1')
        graph = self.save('merged')
        for name in 'beta', 'beta@2', 'second.beta', 'third.beta':
            dims, values = graph.constants[name]
            self.assertEqual(dims, (8, 1, 1))
            self.assertEqual(values, [struct.unpack('<f', struct.pack('<f', value))[0] for value in parameters['beta'][1]], name)
        # The equal weights are trained separately.
        self.train('apart', '--model', 'merged.onnx', '--steps', '3')
        constants = self.check_saved('apart').constants
        self.assertEqual(len({tuple(constants[name][1]) for name in ('beta', 'beta@2', 'second.beta', 'third.beta')}), 4)
        # The values may lie in an external file beside the network.
        self.write_outside('merged.onnx')
        self.train('outside', '--model', 'merged.onnx', '--steps', '3')
        self.assertEqual(self.losses('outside'), self.losses('apart'))

    def test_copies_in_another_order(self):
        """Dyno reads a network that computes the same as the file, and writes the network in its
        own layout."""
        draw = random.Random(5)
        values = {name: (dims, [value if len(dims) == 1 else draw.uniform(-0.3, 0.3) for value in values])
                  for name, (dims, values) in random_values(COPIED_SHAPES).items()}
        file = model_of(COPIES, {**values, **COPIED_CONSTANTS}, {'input': [3, 16, 16]}, {'output': [4]})
        with open(self.path('copies.onnx'), 'wb') as out:
            out.write(file)
        notes = self.lines('model', 'copies.onnx', '--json')[0]['notes']
        self.assertRegex(' '.join(notes), 'copies [0-9]+ tensors into another order.*first for Conv “mix”')
        self.train('same', '--model', 'copies.onnx', '--set', 'lr=0', '--steps', '1')
        pixels = [draw.uniform(-1, 1) for _ in range(3 * 16 * 16)]
        for got, wanted in zip(self.save('same').run(pixels), Graph(file, self).run(pixels), strict=True):
            self.assertAlmostEqual(got, wanted, delta=1e-5)
        self.train('trained', '--model', 'copies.onnx', '--steps', '2')
        self.check_saved('trained')

    def test_attentions_of_groups(self):
        """The groups may be of any kind, and queries, keys and values may have any layout."""
        draw = random.Random(7)
        values = {name: (dims, [draw.uniform(-0.4, 0.4) for _ in values])
                  for name, (dims, values) in random_values(ATTENTION_SHAPES).items()}
        file = model_of(ATTENTIONS, {**values, **ATTENTION_CONSTANTS}, {'input': [3, 16, 16]}, {'output': [4]})
        with open(self.path('groups.onnx'), 'wb') as out:
            out.write(file)
        layers = {one['name']: one for one in self.lines('model', 'groups.onnx', '--json')[0]['layers']}
        flops = [layers[name]['flops'] for name in ('row', 'win', 'col', 'far', 'cross')]
        self.assertEqual(flops, [4 * 64 * 8 * 16] * 3 + [4 * 64 * 64 * 16, 4 * 2 * 8 * 8 * 64])
        self.train('same', '--model', 'groups.onnx', '--set', 'lr=0', '--steps', '1')
        pixels = [draw.uniform(-1, 1) for _ in range(3 * 16 * 16)]
        for got, wanted in zip(self.save('same').run(pixels), Graph(file, self).run(pixels), strict=True):
            self.assertAlmostEqual(got, wanted, delta=1e-5)
        self.train('trained', '--model', 'groups.onnx', '--steps', '2')
        self.check_saved('trained')

    def test_products_of_any_axes(self):
        """Products, sums and repetitions compute what the file says, and are trained."""
        draw = random.Random(9)
        values = {name: (dims, [draw.uniform(-0.5, 0.5) / (128 if name == 'stem.weight' else 1) for _ in values])
                  for name, (dims, values) in random_values(PRODUCT_SHAPES).items()}
        file = model_of(PRODUCTS, {**values, **PRODUCT_CONSTANTS}, {'input': [3, 16, 16]}, {'output': [4]})
        with open(self.path('products.onnx'), 'wb') as out:
            out.write(file)
        self.train('same', '--model', 'products.onnx', '--set', 'lr=0', '--set', 'data.normalise=false', '--steps', '1')
        side = 16
        pixels = bytes((i * 37 + i * i // 11) % 256 for i in range(3 * side * side))
        with open(self.path('x.png'), 'wb') as out:
            out.write(png(pixels, side))
        line, = self.events(self.lines('predict', '--run', 'same', '--top', '4', '--json', 'x.png'), 'prediction')
        got = [share for _, share in sorted((one['id'], one['probability']) for one in line['classes'])]
        fed = [float(pixels[3 * i + c]) for c in range(3) for i in range(side * side)]
        for one, wanted in zip(got, softmax(Graph(file, self).run(fed)), strict=True):
            self.assertAlmostEqual(one, wanted, delta=2e-5)
        self.train('trained', '--model', 'products.onnx', '--set', 'optimizer=adam', '--set', 'lr=0.002', '--set', 'weight_decay=0',
                   '--set', 'warmup_epochs=0', '--set', 'schedule=constant', '--steps', '6')
        # The saved file computes the same, and read as a network it is the same network.
        graph = self.check_saved('trained')
        self.assertEqual(set(PRODUCT_SHAPES) - set(graph.constants), set())
        # Elements that the network replaces by zeros, or whose distances the mask hides, do not move.
        hidden = {'v.bias': [0, 5, 6], 'table': [*range(16), *range(46, 62)]}
        for name, (_, before) in values.items():
            still = [i for i, (one, other) in enumerate(zip(before, graph.constants[name][1])) if abs(one - other) < 1e-6]
            self.assertEqual(still, hidden.get(name, []), name)
        with open(self.path('trained/weights.safetensors'), 'rb') as file:
            names = json.loads(file.read(struct.unpack('<Q', file.read(8))[0]))
        self.assertEqual(set(names) - {'__metadata__'}, set(PRODUCT_SHAPES))
        self.save('trained')
        os.rename(self.path('saved.onnx'), self.path('again.onnx'))
        one, two = (self.lines('model', name, '--json')[0] for name in ('products.onnx', 'again.onnx'))
        self.assertEqual(one['parameters'], two['parameters'])

    def test_recurrent_layers_of_an_exporter(self):
        """The weights of LSTM and GRU nodes become those of PyTorch's modules, and compute the same."""
        nodes = [('Reshape rows input,rows a', {}), ('Transpose /rnn/Transpose a b', {'perm': [1, 0, 2]}),
                 ('LSTM /rnn/LSTM b,onnx::LSTM_1,onnx::LSTM_2,onnx::LSTM_3,,h0,h0 c', {'hidden_size': 6, 'direction': 'bidirectional'}),
                 ('Transpose /rnn/Transpose_1 c d', {'perm': [0, 2, 1, 3]}), ('Reshape /rnn/Reshape d,joined e', {}),
                 ('GRU /stem/gru/GRU e,onnx::GRU_1,onnx::GRU_2,onnx::GRU_3,,h1 f,g', {'hidden_size': 5, 'linear_before_reset': 1}),
                 ('Reshape - f,steps fs', {}),
                 ('GRU /stem/gru/GRU_1 fs,onnx::GRU_4,onnx::GRU_5,onnx::GRU_6,,h1 i,j', {'hidden_size': 5, 'linear_before_reset': 1}),
                 ('Concat states g,j k', {'axis': 0}), ('Gather last k,end h', {'axis': 0}), ('Gemm head h,head.weight,head.bias output', {'transB': 1})]
        draw = random.Random(11)
        values = {name: (dims, [draw.uniform(-0.5, 0.5) for _ in range(math.prod(dims))]) for name, dims in {
            'onnx::LSTM_1': (2, 24, 32), 'onnx::LSTM_2': (2, 24, 6), 'onnx::LSTM_3': (2, 48), 'onnx::GRU_1': (1, 15, 12),
            'onnx::GRU_2': (1, 15, 5), 'onnx::GRU_3': (1, 30), 'onnx::GRU_4': (1, 15, 5),
            'onnx::GRU_5': (1, 15, 5), 'onnx::GRU_6': (1, 30), 'head.weight': (4, 5), 'head.bias': (4,)}.items()}
        constants = {'rows': ((3,), [0, 24, 32]), 'joined': ((3,), [0, 0, -1]), 'steps': ((3,), [0, -1, 5]), 'end': ((), [-1]),
                     'h0': ((2, 1, 6), [0.0] * 12), 'h1': ((1, 1, 5), [0.0] * 5)}
        file = model_of(nodes, {**values, **constants}, {'input': [3, 16, 16]}, {'output': [4]})
        with open(self.path('rnn.onnx'), 'wb') as out:
            out.write(file)
        self.train('same', '--model', 'rnn.onnx', '--set', 'lr=0', '--steps', '1')
        pixels, graph = [draw.uniform(-1, 1) for _ in range(3 * 16 * 16)], self.save('same')
        for got, wanted in zip(graph.run(pixels), Graph(file, self).run(pixels), strict=True):
            self.assertAlmostEqual(got, wanted, delta=1e-5)
        single = lambda numbers: [struct.unpack('<f', struct.pack('<f', number))[0] for number in numbers]
        # i, f, g, o of i, o, f, c, of the second direction
        block = lambda values, part: single(values[1][24 * 32 + part * 6 * 32:24 * 32 + (part + 1) * 6 * 32])
        self.assertEqual(graph.constants['rnn.weight_ih_l0_reverse'],
                         ((24, 32), sum((block(values['onnx::LSTM_1'], part) for part in (0, 2, 3, 1)), [])))
        # r, z, n of z, r, h, of the second bias
        bias = single(values['onnx::GRU_6'][1][15:])
        self.assertEqual(graph.constants['stem.gru.bias_hh_l1'], ((15,), bias[5:10] + bias[:5] + bias[10:]))
        # The values may lie in an external file beside the network.
        self.write_outside('rnn.onnx')
        self.train('outside', '--model', 'rnn.onnx', '--set', 'lr=0', '--steps', '1')
        self.assertEqual(self.losses('outside'), self.losses('same'))
        self.train('trained', '--model', 'rnn.onnx', '--steps', '2')
        self.check_saved('trained')

    def test_gelu_by_tanh_is_saved(self):
        nodes = [('GlobalAveragePool - x e', {}), ('Flatten - e a', {}), ('Gemm wide a,in,shift b', {'transB': 1}),
                 ('Gelu - b c', {'approximate': 'tanh'}), ('Gemm head c,out,last y', {})]
        shapes = {'in': (6, 3), 'shift': (6,), 'out': (6, 4), 'last': (4,)}
        self.write_network('tanh.onnx', nodes, random_values(shapes), opset=20)
        self.train('tanh', '--model', 'tanh.onnx', '--steps', '1')
        self.assertIn('Tanh', [node['op_type'] for node in self.check_saved('tanh').nodes])

    def test_pads_and_windows_are_those_of_the_file(self):
        nodes = [('Conv c input,weight,shift a', {'kernel_shape': [3, 2], 'strides': [1, 2], 'pads': [0, 1, 2, 3]}),
                 ('Reshape pixels a,flat aa', {}), ('Pad along aa,shift_by,fill ab', {}), ('Reshape image ab,shape ac', {}),
                 ('Pad p ac,pads,fill b', {}), ('MaxPool m b d', {'kernel_shape': [3, 2], 'strides': [2, 3], 'pads': [1, 0, 0, 1]}),
                 ('MaxPool ceil d e', {'kernel_shape': [2, 2], 'strides': [2, 2], 'pads': [0, 1, 0, 1], 'ceil_mode': 1}),
                 ('AveragePool v e f', {'kernel_shape': [2, 2], 'strides': [1, 1], 'pads': [0, 1, 1, 0], 'count_include_pad': 1}),
                 ('Tanh t f g', {}), ('GlobalMaxPool all g h', {}), ('Flatten flat h i', {'axis': 1}),
                 ('Gemm head i,out,last output', {'transB': 1})]
        parameters = random_values({'weight': (6, 3, 3, 2), 'shift': (6,), 'out': (4, 7), 'last': (4,)})
        parameters['weight'] = (6, 3, 3, 2), [0.1 * value - 0.06 for value in parameters['weight'][1]]
        constants = {'pads': ((8,), [0, 2, -1, 1, 0, -1, 3, 0]), 'fill': ((), [0.25]), 'flat': ((3,), [0, 6, 160]),
                     'shift_by': ((6,), [0, 0, 3, 0, 0, -3]), 'shape': ((4,), [0, 6, 16, 10])}
        file = model_of(nodes, {**parameters, **constants}, {'input': [3, 16, 16]}, {'output': [4]})
        with open(self.path('pads.onnx'), 'wb') as out:
            out.write(file)
        self.train('pads', '--model', 'pads.onnx', '--set', 'lr=0', '--steps', '1')
        saved, values = self.save('pads'), [math.sin(i * i) for i in range(3 * 16 * 16)]
        self.assertEqual([node['op_type'] for node in saved.nodes].count('Pad'), 3)
        wanted = Graph(file, self).run(values)
        self.assertGreater(max(abs(a - b) for a, b in zip(wanted, Graph(file, self).run([0.0] * len(values)))), 0.01)
        for got, value in zip(saved.run(values), wanted, strict=True):
            self.assertAlmostEqual(got, value, delta=1e-5)
        self.train('trained', '--model', 'pads.onnx', '--steps', '2')
        self.check_saved('trained')

    def test_refusals(self):
        with open(self.path('net.onnx'), 'rb') as file:
            good = file.read()
        for name, content, words in (('cut.onnx', good[:2000], 'longer than what is around it'),
                                     ('none.onnx', None, 'none.onnx'),
                                     ('op.onnx', good.replace(b'Relu', b'Rely'), 'operators that Dyno does not have: 4 Rely')):
            if content:
                with open(self.path(name), 'wb') as file:
                    file.write(content)
            for command in (['train', '--data', TINY], ['plan', '--data', TINY], ['model']):
                model = ['--model', name] if command != ['model'] else [name]
                done = self.run_it(*command, *model, expect=2)
                self.assertIn(words, done.stderr.decode())
        gray = self.run_it('train', '--data', 'synthetic:16x16x1?classes=4', *SETTINGS, '--model', 'net.onnx', expect=3).stderr.decode()
        self.assertIn('takes samples of 3 channels, the data has 1', gray)
        self.train('run', '--model', 'net.onnx', '--steps', '1')
        self.forget()
        name = self.model('run')
        gone = self.run_it('train', '--data', TINY, '--model', name, expect=2).stderr.decode()
        self.assertIn('is not known here', gone)
        # A run whose copy of the network is damaged is refused, with the name of the network.
        with open(self.path('run/weights.safetensors'), 'rb') as file:
            data = file.read()
        size = struct.unpack('<Q', data[:8])[0]
        header = json.loads(data[8:8 + size])
        network = header['__metadata__']['network']
        header['__metadata__']['network'] = network[:400] + ('A' if network[400] != 'A' else 'B') + network[401:]
        text = json.dumps(header).encode()
        with open(self.path('run/weights.safetensors'), 'wb') as file:
            file.write(struct.pack('<Q', len(text)) + text + data[8 + size:])
        shutil.rmtree(os.path.join(self.home, 'dyno', 'networks'), ignore_errors=True)
        bad = self.run_it('evaluate', '--weights', 'run/weights.safetensors', '--data', TINY, expect=3).stderr.decode()
        self.assertIn('“run/weights.safetensors”: the network in its metadata is damaged', bad)
        # So is one under the name of another network.
        header['__metadata__'].update(network=network, model=name[:-1] + ('0' if name[-1] != '0' else '1'))
        text = json.dumps(header).encode()
        with open(self.path('run/weights.safetensors'), 'wb') as file:
            file.write(struct.pack('<Q', len(text)) + text + data[8 + size:])
        bad = self.run_it('evaluate', '--weights', 'run/weights.safetensors', '--data', TINY, expect=3).stderr.decode()
        self.assertIn('the network in its metadata is damaged: its name and its content differ', bad)


main()
