# SPDX-License-Identifier: MIT
"""Networks of ONNX files: they train as the model that they were written from, and a run is all that
is needed to go on, also where neither the file nor Dyno's copy of it is there."""
import csv, json, os, shutil, struct, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, SMALL, TINY, main

SETTINGS = SMALL[SMALL.index('--set'):]
SETTINGS = [word for pair in zip(SETTINGS[::2], SETTINGS[1::2]) if pair[1] != 'model.width=0.125' for word in pair]


class Network(Case):
    def setUp(self):
        super().setUp()
        self.run_it('train', *SMALL, '--data', TINY, '--steps', '2', '--out', 'first')
        self.run_it('save', '--run', 'first', '--to', 'onnx', '--keep-batchnorm', '--out', 'net.onnx')

    def train(self, out, *arguments, data=TINY):
        return self.run_it('train', '--data', data, *SETTINGS, '--out', out, *arguments).stdout.decode()

    def losses(self, run):
        with open(self.path(f'{run}/metrics.csv')) as file:
            return [row['loss'] for row in csv.DictReader(file) if row['loss']]

    def forget(self):
        """Neither the file nor the user's folder of networks."""
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
        # Without the file's weights it starts elsewhere.
        self.train('fresh', '--model', 'net.onnx', '--weights', 'none', '--steps', '4')
        self.assertNotEqual(self.losses('fresh')[0], self.losses('read')[0])

    def test_a_run_needs_no_file(self):
        self.train('whole', '--model', 'net.onnx', '--steps', '4')
        self.train('part', '--model', 'net.onnx', '--steps', '2')
        self.forget()
        self.run_it('train', '--resume', 'part', '--steps', '4')
        self.assertEqual(self.losses('part'), self.losses('whole'))
        # also with nothing beside the checkpoint, and once more
        os.mkdir(self.path('bare'))
        shutil.copy(self.path('part/checkpoint.safetensors'), self.path('bare'))
        self.run_it('train', '--resume', 'bare', '--data', TINY, '--steps', '5')
        shutil.rmtree(os.path.join(self.home, 'dyno', 'networks'), ignore_errors=True)
        self.run_it('train', '--resume', 'part', '--steps', '6')
        self.assertEqual(self.losses('part')[4], self.losses('bare')[-1])
        scores = self.lines('evaluate', '--weights', 'part/weights.safetensors', '--data', TINY, '--json')
        self.assertRegex(scores[-1]['model'], '^net@')
        # and back: what is written is read as a network again
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
        # A run whose copy of the network was damaged is refused; the name says which network it was.
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


main()
