# SPDX-License-Identifier: MIT
"""Verbs that do not train: their JSON, their text and their exit codes."""
import json, os, shutil, struct, subprocess, sys, zlib
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, PROGRAM, SMALL, TINY, main

VERBS = ['devices', 'presets', 'inspect', 'convert', 'model', 'plan', 'train', 'tune', 'lr', 'quick', 'diagnose', 'export', 'bench', 'kernels']


class Help(Case):
    def test_version(self):
        self.assertRegex(self.run_it('--version').stdout.decode(), r'^dynoctl \d+\.\d+\.\d+\n$')

    def test_help_names_every_verb(self):
        text = self.run_it('--help').stdout.decode()
        for verb in VERBS:
            self.assertIn(f'  {verb} ', text)

    def test_every_verb_has_help(self):
        for verb in VERBS:
            self.assertIn(f'dynoctl {verb}', self.run_it(verb, '--help').stdout.decode())

    def test_nothing_is_usage(self):
        self.run_it(expect=2)

    def test_unknown_verb_names_the_nearest(self):
        self.assertIn('did you mean train?', self.run_it('trian', expect=2).stderr.decode())

    def test_unknown_option_is_usage_with_a_hint(self):
        for verb in VERBS:
            text = self.run_it(verb, '--jsno', expect=2).stderr.decode()
            self.assertIn('did you mean --json?', text)
            self.assertIn(f"Try 'dynoctl {verb} --help'", text)

    def test_lost_output_is_exit_7_and_a_gone_reader_is_not(self):
        with open('/dev/full', 'w') as full:
            done = subprocess.run([PROGRAM, 'presets'], env=self.environment, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 7)
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, 'w') as pipe:
            done = subprocess.run([PROGRAM, 'presets'], env=self.environment, stdout=pipe, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0)

    def test_no_x_is_linked(self):
        done = subprocess.run(['ldd', PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            self.skipTest('no ldd for this program')
        for line in done.stdout.decode().lower().splitlines():
            for word in ('libx', 'libgtk', 'libgdk', 'wayland', 'cairo', 'pango'):
                self.assertFalse(line.strip().startswith(word) or f'lib{word}' in line, line)


class Lists(Case):
    def test_devices(self):
        devices = self.lines('devices', '--json')
        self.assertGreaterEqual(len(devices), 1)
        for index, device in enumerate(devices):
            self.assertEqual(device['index'], index)
            self.assertIn(device['matrix'], ('none', 'nv', 'khr'))
            self.assertGreater(device['vram_bytes'], 0)
            if device['software']:
                self.assertEqual(device['note'], 'software, slow')
        if devices[0]['software']:
            self.assertIn('(software, slow)', self.run_it('devices').stdout.decode())

    def test_devices_measured(self):
        environment = self.without_ceilings()
        plain = self.lines('devices', '--json', environment=environment)
        self.assertEqual([device['ceilings'] for device in plain], [None] * len(plain))
        self.assertNotIn('measured', self.run_it('devices', environment=environment).stdout.decode())
        measured, = self.lines('devices', '--measure', '--device', '0', '--json', environment=environment)
        ceilings = measured['ceilings']
        for name in ('copy_gb_per_s', 'fma_tflop_per_s', 'fp32_tflop_per_s'):
            self.assertGreater(ceilings[name], 0)
        self.assertTrue(ceilings['fp32_kernel'])
        self.assertEqual(ceilings['matrix_tflop_per_s'] is None, measured['matrix'] == 'none')
        self.assertEqual(ceilings['matrix_kernel'] is None, measured['matrix'] == 'none')
        kept, = self.lines('devices', '--device', '0', '--json', environment=environment)
        self.assertEqual(kept, measured)
        text = self.run_it('devices', '--device', '0', environment=environment).stdout.decode()
        self.assertRegex(text, r'   measured    copy [0-9.]+ GB/s, fp32 in registers [0-9.e-]+ TFLOP/s\n')
        self.assertIn(f"TFLOP/s ({ceilings['fp32_kernel']})", text)

    def test_devices_has_no_such_device(self):
        self.run_it('devices', '--device', '99', expect=4)
        self.run_it('devices', '--device', '-2', expect=2)

    def test_no_driver_is_exit_4(self):
        environment = dict(self.environment, VK_ICD_FILENAMES='/nonexistent.json', VK_DRIVER_FILES='/nonexistent.json')
        self.run_it('devices', expect=4, environment=environment)
        self.run_it('plan', '--data', TINY, *SMALL, expect=4, environment=environment)

    def test_presets_without_a_device(self):
        environment = dict(self.environment, VK_ICD_FILENAMES='/nonexistent.json', VK_DRIVER_FILES='/nonexistent.json')
        presets = self.lines('presets', '--json', environment=environment)
        self.assertEqual([p['id'] for p in presets][:8],
                         ['rtx3060', 'rtx3080', 'rtx3090', 'rtx4060', 'rtx4090', 't4', 'v100', 'a100'])

    def test_presets(self):
        presets = self.lines('presets', '--json')
        self.assertEqual(presets[0]['id'], 'this-gpu')
        one, = self.lines('presets', 'rtx3090', '--json')
        self.assertEqual(one['vram_bytes'], 24 << 30)
        self.assertEqual([(r['image_size'], r['batch_safe'], r['batch_max']) for r in one['rows'][:2]], [(512, 12, 16), (224, 24, 32)])
        self.assertIn('300-500 samples/s', self.run_it('presets', 'rtx3090').stdout.decode())

    def test_unknown_preset(self):
        self.assertIn('rtx3060', self.run_it('presets', 'rtx9999', expect=2).stderr.decode())

    def test_broken_user_preset_is_left_out_with_a_warning(self):
        folder = os.path.join(self.environment['XDG_DATA_HOME'], 'dyno', 'presets')
        os.makedirs(folder)
        with open(os.path.join(folder, 'mine.preset'), 'w') as file:
            file.write('[preset]\nname=Mine\nvram=6GB\nprefetch=-1\n')
        with open(os.path.join(folder, 'broken.preset'), 'wb') as file:
            file.write(b'\xff\x00nothing')
        done = self.run_it('presets')
        self.assertIn('mine', done.stdout.decode())
        self.assertNotIn('broken', done.stdout.decode())
        self.assertIn('broken.preset', done.stderr.decode())
        self.assertIn('prefetch=-1', done.stderr.decode())

    def test_kernels(self):
        of_pixels = self.events(self.lines('kernels', '--model', 'unet_small', '--batch', '2', '--json'), 'choice')
        self.assertTrue(any(' w224 ' in choice['key'] for choice in of_pixels), of_pixels)
        choices = self.events(self.lines('kernels', '--batch', '2', '--json'), 'choice')
        self.assertGreater(len(choices), 0)
        for choice in choices:
            self.assertIn(choice['chosen'], choice['variants'])

    def test_every_usable_variant_passes_the_self_test(self):
        variants = self.events(self.lines('kernels', '--batch', '2', '--self-test', '--json'), 'variant')
        usable = [v for v in variants if v['usable']]
        self.assertGreater(len(usable), 0)
        for variant in usable:
            self.assertTrue(variant['passed'], variant)
            self.assertLess(variant['error'], variant['tolerance'])
        for variant in variants:
            self.assertTrue(variant['usable'] or variant['text'])


class Data(Case):
    def test_model(self):
        facts, = self.lines('model', 'mobilenetv2', '--json')
        self.assertEqual(facts['parameters'], 3504872)
        self.assertEqual(facts['layers'][-1]['shape'], [1, 1, 1, 1000])
        self.assertEqual(sum(layer['flops'] for layer in facts['layers']), facts['flops'])
        facts, = self.lines('model', 'resnet18', '--size', '64x32x1', '--classes', '7', '--batch', '3', '--amp', '--json')
        self.assertEqual(facts['layers'][1]['shape'], [3, 32, 16, 64])
        self.assertEqual(facts['layers'][1]['parameters'], 64 * 49)
        self.assertEqual(facts['layers'][1]['activation_bytes'], 3 * 32 * 16 * 64 * 2)
        self.assertNotIn('lr_factor', facts['layers'][1])
        decayed, = self.lines('model', 'simplecnn', '--layer-decay', '0.5', '--json')
        factors = {layer['name']: layer['lr_factor'] for layer in decayed['layers'] if 'lr_factor' in layer}
        self.assertEqual(factors, {'0': 0.0625, '1': 0.0625, '4': 0.125, '5': 0.125, '8': 0.25, '9': 0.25, '12': 0.5, '13': 0.5, '18': 1})
        self.assertRegex(self.run_it('model', 'simplecnn', '--layer-decay', '0.5').stdout.decode(), r'(?m)^8 .* x 0\.25$')
        self.assertIn('from 0.01 to 1', self.run_it('model', 'simplecnn', '--layer-decay', '1.5', expect=2).stderr.decode())
        names = [line['model'] for line in self.lines('model', '--json')]
        self.assertIn('headpose_resnet50', names)
        self.assertIn('features.18.0', self.run_it('model', 'mobilenetv2').stdout.decode())
        for wrong in ('0', '12x', '3x4x5x6', 'big'):
            self.run_it('model', 'mlp', '--size', wrong, expect=3 if wrong == '0' else 2)

    def test_inspect(self):
        facts, = self.lines('inspect', TINY, '--json')
        self.assertEqual((facts['kind'], facts['samples'], facts['classes'], sum(facts['class_counts'])), ('shapes', 80, 4, 80))
        self.assertEqual(sorted({example['target'] for example in facts['examples']}), sorted(facts['class_names']))
        self.assertEqual((len(facts['examples']), facts['warnings']), (24, []))
        self.run_it('inspect', TINY, '--preview', self.path('sheet.png'))
        with open(self.path('sheet.png'), 'rb') as file:
            self.assertEqual(file.read(8), b'\x89PNG\r\n\x1a\n')
        for data, name, code in ((TINY, 'sheet.jpg', 7), ('builtin:waves', 'waves.png', 3)):
            self.run_it('inspect', data, '--preview', self.path(name), expect=code)
            self.assertFalse(os.path.exists(self.path(name)))
        self.run_it('inspect', TINY, '--preview', self.path('changed.png'), '--set', 'augment.rotate=45')
        with open(self.path('sheet.png'), 'rb') as plain, open(self.path('changed.png'), 'rb') as changed:
            self.assertNotEqual(plain.read(), changed.read())
        self.run_it('inspect', TINY, '--set', 'augment.rotate=45', expect=2)
        self.run_it('inspect', TINY, '--preview', self.path('none.png'), '--set', 'augment.time_mask=0.5', expect=3)

    def read_png(self, name):
        """The rows of a PNG of eight bits, red, green and blue."""
        with open(self.path(name), 'rb') as file:
            data = file.read()
        at, packed = 8, b''
        while at < len(data):
            size, kind = struct.unpack_from('>I4s', data, at)
            if kind == b'IHDR':
                width, height = struct.unpack_from('>II', data, at + 8)
            packed += data[at + 8:at + 8 + size] if kind == b'IDAT' else b''
            at += size + 12
        raw, rows, before = zlib.decompress(packed), [], bytes(3 * width)
        for y in range(height):
            line = bytearray(raw[y * (3 * width + 1):(y + 1) * (3 * width + 1)])
            kind, row = line[0], line[1:]
            for i in range(len(row)):
                left, up, corner = row[i - 3] if i > 2 else 0, before[i], before[i - 3] if i > 2 else 0
                guess = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
                row[i] = (row[i] + (0, left, up, (left + up) // 2, guess)[kind]) & 255
            rows.append(row)
            before = row
        return rows

    def test_preview_has_the_pixels_of_the_samples(self):
        """Bytes as they are, floats from the least to the greatest of the sample; one channel and two are grey, of four
        the first three are drawn.  A tile of two by two pixels is 224 pixels wide, below a title."""
        for kind, code, channels, first, second, colours in (
                ('|u1', 'B', 3, [10, 20, 30, 40, 50, 60, 70, 80, 90, 1, 2, 3], [255] * 12,
                 [(10, 20, 30), (40, 50, 60), (70, 80, 90), (1, 2, 3), (255, 255, 255)]),
                ('|u1', 'B', 1, [10, 20, 30, 40], [50] * 4, [(10,) * 3, (20,) * 3, (30,) * 3, (40,) * 3, (50,) * 3]),
                ('<f4', 'f', 1, [-1, 0, 1, 3], [5] * 4, [(0,) * 3, (64,) * 3, (128,) * 3, (255,) * 3, (0,) * 3]),
                ('<f4', 'f', 2, [0, 9, 10, 9, 5, 9, 10, 9], [1, 0] * 4, [(0,) * 3, (255,) * 3, (128,) * 3, (255,) * 3, (255,) * 3]),
                ('<f4', 'f', 4, [0, 1, 2, 4] * 4, [4, 2, 0, 0] * 4, [(0, 64, 128)] * 4 + [(255, 128, 0)])):
            self.write_array('X.npy', kind, (2, 2, 2, channels), struct.pack(f'<{8 * channels}{code}', *first, *second))
            self.write_array('y.npy', '|u1', (2,), bytes([0, 1]))
            self.run_it('inspect', self.path('X.npy'), '--set', 'data.layout=nhwc', '--preview', self.path('tiles.png'))
            rows = self.read_png('tiles.png')
            self.assertEqual((len(rows), len(rows[0])), (2 * (26 + 154), 3 * 2 * 260))
            found = [tuple(rows[2 * (38 + y)][6 * x:6 * x + 3]) for x, y in ((30, 30), (90, 30), (30, 90), (90, 90), (150, 30))]
            self.assertEqual(found, colours, (kind, channels))

    def test_inspect_of_masks(self):
        """inspect counts the pixels of each class; it guesses that a folder holds images and masks,
        and data.task overrides the guess."""
        def png(name, width, height, pixels):
            def chunk(kind, data):
                return len(data).to_bytes(4, 'big') + kind + data + zlib.crc32(kind + data).to_bytes(4, 'big')
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            raw = b''.join(b'\0' + pixels[width * y:width * (y + 1)] for y in range(height))
            with open(self.path(name), 'wb') as file:
                file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 0, 0, 0, 0))
                           + chunk(b'IDAT', zlib.compress(raw)) + chunk(b'IEND', b''))

        facts, = self.lines('inspect', 'builtin:masks?size=32&samples=20', '--json')
        self.assertEqual((facts['kind'], facts['task'], facts['target'], facts['classes']), ('drawn-masks', 'pixels', 'mask', 4))
        self.assertEqual([field['shape'] for field in facts['fields']], [[32, 32, 3], [32, 32], []])
        self.assertTrue(0 <= 20 * 32 * 32 - sum(facts['class_counts']) < 4)
        self.assertTrue(all('background' in example['target'] for example in facts['examples']))
        for name in 'abc':
            png(f'set/images/{name}.png', 4, 4, bytes([200] * 16))
            png(f'set/masks/{name}.png', 4, 4, bytes([0] * 8 + [1] * 4 + [255] * 4))
        data = self.path('set')
        facts, = self.lines('inspect', data, '--json')
        self.assertEqual((facts['kind'], facts['class_counts'], facts['ignored_pixels']), ('masks', [24, 12], 12))
        self.assertEqual((facts['task_guessed'], facts['examples'][1]['name'], facts['examples'][1]['target']), (True, 'images/b.png', '0 50 %, 1 25 %'))
        text = self.run_it('inspect', data).stdout.decode()
        for words in ('task        pixels, a guess: “images” and “masks”', 'one for each pixel', '    0      24  50.0 %',
                      '25.0 % of the pixels are ignored', 'data.task=classes'):
            self.assertIn(words, text)
        facts, = self.lines('inspect', data, '--set', 'data.task=classes', '--json')
        self.assertEqual((facts['task'], facts['class_names']), ('classes', ['images', 'masks']))
        self.run_it('inspect', TINY, '--set', 'data.task=pixels', expect=3)
        self.run_it('convert', data, self.path('set.tar'), expect=3)
        self.run_it('inspect', data, '--preview', self.path('masks.png'))
        self.assertTrue(os.path.getsize(self.path('masks.png')) > 1000)
        sheets = []
        for setting in None, 'augment.flip=false', 'augment.rotate=45':
            self.run_it('inspect', 'builtin:masks?size=32&samples=20', '--preview', self.path('sheet.png'),
                        *(['--set', setting] if setting else []))
            with open(self.path('sheet.png'), 'rb') as file:
                sheets.append(file.read())
        self.assertEqual(sheets[0], sheets[1])  # the device draws the masks as the loader does
        self.assertNotEqual(sheets[0], sheets[2])

    def write_array(self, name, kind, shape, data):
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        with open(self.path(name), 'wb') as file:
            file.write(b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little') + header + data)

    def test_task_is_said_as_a_guess_and_set(self):
        """The targets are whole numbers stored as floats, whose task is a guess."""
        self.write_array('X.npy', '<f4', (8, 3), bytes(8 * 3 * 4))
        self.write_array('y.npy', '<f4', (8,), struct.pack('<8f', *(i % 3 for i in range(8))))
        data = self.path('X.npy')
        facts, = self.lines('inspect', data, '--json')
        self.assertEqual((facts['task'], facts['task_guessed'], facts['targets']), ('values', True, 1))
        self.assertIn('all are whole numbers', facts['task_reason'])
        text = self.run_it('inspect', data).stdout.decode()
        self.assertIn('task        values, a guess: “y.npy” holds floats', text)
        self.assertIn('data.task=classes learns classes', text)
        facts, = self.lines('inspect', data, '--set', 'data.task=classes', '--json')
        self.assertEqual((facts['task'], facts['task_guessed'], facts['classes']), ('classes', False, 3))
        self.run_it('inspect', data, '--set', 'data.task=labels', expect=3)

    def test_sequences_are_told_as_such(self):
        data = 'builtin:waves?length=40&channels=5&samples=20'
        facts, = self.lines('inspect', data, '--json')
        self.assertEqual([field['role'] for field in facts['fields']], ['input', 'target', 'length', 'seed'])
        self.assertEqual((facts['fields'][0]['axes'], facts['fields'][0]['shape']), ('TF', [40, 5]))
        for arguments in (['inspect', data], ['plan', '--data', data, '--model', 'mlp']):
            self.assertIn('up to 40 steps of 5 values', self.run_it(*arguments).stdout.decode())

    def test_the_model_decides_what_three_axes_are(self):
        """An array of (N, T, F) is images of one channel for one model and sequences for another,
        in every verb."""
        values = [(i % 7 - 3 + i // 120 % 2) / 3 for i in range(24 * 20 * 6)]
        self.write_array('X.npy', '<f4', (24, 20, 6), struct.pack(f'<{len(values)}f', *values))
        self.write_array('y.npy', '<i4', (24,), struct.pack('<24i', *[i % 2 for i in range(24)]))
        data = ['--data', self.folder, '--set', 'model.width=0.125', '--set', 'batch_size=8', '--set', 'autotune=false']
        self.assertIn('models for sequences read them as (N, T, F)', self.run_it('inspect', self.folder).stdout.decode())
        for model, words in (('cnn1d', '20 steps of 6 values'), ('mlp', '6x20 (width x height)')):
            self.assertIn(words, self.run_it('plan', *data, '--model', model).stdout.decode())
        told = {}
        for model in ('cnn1d', 'mlp'):
            lines = self.lines('train', *data, '--model', model, '--steps', '1', '--out', model, '--json')
            told[model] = [line['text'] for line in lines if line['event'] == 'warning' and 'read as sequences of 20 steps of 6' in line['text']]
        self.assertEqual((len(told['cnn1d']), len(told['mlp'])), (1, 0))
        for run, samples in (('cnn1d', 'X.npy'), ('mlp', 'X.npy')):
            predicted = self.lines('predict', '--run', run, samples, '--json')
            self.assertEqual(len([line for line in predicted if 'sample' in line]), 24, predicted[:2])
        self.run_it('save', '--run', 'cnn1d', '--to', 'onnx', '--out', 'm.onnx')

    def test_inspect_says_what_is_fed(self):
        self.write_array('X.npy', '|u1', (6, 3, 8, 9), bytes(range(216)) * 6)
        self.write_array('y.npy', '|u1', (6,), bytes([0, 1, 2, 0, 1, 2]))
        facts, = self.lines('inspect', self.folder, '--json')
        self.assertEqual([facts[key] for key in ('kind', 'axes', 'channels', 'min_height', 'min_width')], ['npy', 'NCHW', 3, 8, 9])
        self.assertIn('divided by 255', facts['fed'])
        self.assertTrue(any('the same' in warning for warning in facts['warnings']))
        text = self.run_it('inspect', self.path('X.npy')).stdout.decode()
        self.assertIn('NCHW', text)
        self.assertIn('data.normalise=false', text)
        plan, = self.lines('plan', '--data', self.folder, *SMALL, '--model', 'mlp', '--set', 'data.layout=nhwc', '--json')
        self.assertEqual((plan['height'], plan['width']), (3, 8))

    def test_missing_data_is_exit_3(self):
        for verb in (['inspect'], ['plan', *SMALL, '--data'], ['train', *SMALL, '--data']):
            text = self.run_it(*verb, '/nonexistent/data', expect=3).stderr.decode()
            self.assertIn('/nonexistent/data', text)

    def test_corrupt_data_is_exit_3(self):
        with open(self.path('X.npy'), 'wb') as file:
            file.write(b'\x93NUMPY\x01\x00\x76\x00{broken')
        with open(self.path('train-images-idx3-ubyte'), 'wb') as file:
            file.write(b'\x00\x00\x08\x03\x7f\xff\xff\xff\x00\x00\x00\x1c\x00\x00\x00\x1c')
        for name in ('X.npy', 'train-images-idx3-ubyte'):
            self.run_it('inspect', self.path(name), expect=3)
        events = self.events(self.lines('train', '--data', self.path('X.npy'), *SMALL, '--json', expect=3), 'error')
        self.assertEqual(events[0]['code'], 3)

    def test_data_is_needed(self):
        self.assertIn('--data is missing', self.run_it('train', expect=2).stderr.decode())
        self.run_it('inspect', expect=2)


class Profile(Case):
    def test_layers_add_up_and_are_in_the_trace(self):
        """Layers, totals and the trace come from one measurement, which uses the job's own
        settings."""
        path = self.path('step.json')
        settings = [*SMALL, '--set', 'checkpointing=true', '--set', 'autotune=false']
        lines = self.lines('profile', '--data', TINY, *settings, '--repeats', '2', '--trace', path, '--json')
        layers, (total,) = self.events(lines, 'layer'), self.events(lines, 'total')
        model, = (a for i, a in enumerate(SMALL) if SMALL[i - 1] == '--model')
        named = {layer['name']: layer['kind'] for layer in json.loads(self.run_it('model', model, '--json').stdout)['layers']}
        self.assertEqual((total['model'], total['micro_batches'], total['amp']), (model, 1, False))
        self.assertIn(total['peak_layer'], [layer['name'] for layer in layers])
        self.assertEqual(total['live_bytes'], max(layer['live_bytes'] for layer in layers))
        for name in ('forward_us', 'backward_us', 'optimizer_us', 'gflop', 'dispatches'):
            self.assertAlmostEqual(sum(layer[name] for layer in layers), total[name], delta=1e-6 * total[name])
        for layer in layers[:-2]:
            self.assertEqual(named[layer['name']], layer['kind'])
        self.assertEqual([layer['name'] for layer in layers[-2:]], ['loss', 'optimizer'])
        with open(path, encoding='utf-8') as file:
            events = json.load(file)['traceEvents']
        spans = {kind: [e for e in events if e['ph'] == 'X' and e['cat'] == kind] for kind in ('stage', 'layer', 'kernel')}
        self.assertEqual([e['name'] for e in spans['stage']], ['forward', 'backward', 'optimizer'])
        self.assertEqual(len(spans['kernel']), total['dispatches'])
        self.assertLessEqual({e['name'] for e in spans['layer']}, {layer['name'] for layer in layers})
        for kind in spans:
            self.assertAlmostEqual(sum(e['dur'] for e in spans[kind]),
                                   total['forward_us'] + total['backward_us'] + total['optimizer_us'], delta=0.01 * len(events))
            for before, after in zip(spans[kind], spans[kind][1:]):
                self.assertAlmostEqual(before['ts'] + before['dur'], after['ts'], delta=0.01)
        memory = [e['args']['MB'] * 1e6 for e in events if e['ph'] == 'C']
        self.assertAlmostEqual(max(memory), total['live_bytes'], delta=1)
        self.assertEqual((len(memory), memory[-1]), (total['dispatches'] + 1, 0))

    def test_words_and_mistakes(self):
        out = self.run_it('profile', '--data', TINY, *SMALL, '--set', 'autotune=false', '--repeats', '1').stdout.decode()
        self.assertRegex(out, r'(?m)^layer +kind +forward ms +backward ms')
        self.assertRegex(out, r'(?m)^sum ')
        self.assertRegex(out, r'most memory of activations: .+, in ')
        self.assertIn('--repeats is 1 to 101', self.run_it('profile', '--data', TINY, *SMALL, '--repeats', '0', expect=2).stderr.decode())
        done = self.run_it('profile', '--data', TINY, *SMALL, '--set', 'autotune=false', '--repeats', '1', '--trace', self.path('no/step.json'), expect=7)
        self.assertIn('no/step.json', done.stderr.decode())
        self.run_it('profile', '--data', TINY, *SMALL, '--set', 'memory.shrink=false', '--set', 'vram_budget=100000', expect=6)


class Plan(Case):
    def test_components_add_up(self):
        plan, = self.lines('plan', '--data', TINY, *SMALL, '--json')
        self.assertEqual(plan['event'], 'plan')
        self.assertEqual(sum(plan['components'].values()), plan['total_bytes'])
        self.assertTrue(plan['fits'])
        self.assertGreater(plan['parameters'], 0)

    def test_a_budget_too_small_does_not_fit(self):
        plan, = self.lines('plan', '--data', TINY, *SMALL, '--set', 'vram_budget=100000', '--json', expect=6)[:1]
        self.assertFalse(plan['fits'])
        self.assertTrue(plan['text'])

    def test_a_batch_larger_than_the_training_part_is_the_one_that_runs(self):
        """plan and train state the same batch, also for a data set with its own validation part."""
        bmp = b'BM' + struct.pack('<IHHIIiiHHIIiiII', 54 + 768, 0, 0, 54, 40, 16, 16, 1, 24, 0, 768, 0, 0, 0, 0)
        for folder, n in (('train', 12), ('val', 20)):
            for label in ('a', 'b'):
                os.makedirs(self.path(f'set/{folder}/{label}'))
                for i in range(n // 2):
                    with open(self.path(f'set/{folder}/{label}/{i}.bmp'), 'wb') as file:
                        file.write(bmp + os.urandom(768))
        for data, most in ((TINY, 72), (self.path('set'), 12)):
            arguments = ['--data', data, *SMALL, '--set', 'batch_size=100']
            plan, = self.lines('plan', *arguments, '--json')
            self.assertEqual((plan['batch_size'], plan['asked_batch_size'], plan['steps_per_epoch']), (most, 100, 1))
            words = f'The training part has only {most} samples: batch_size is reduced to {most}'
            self.assertIn(words, self.run_it('plan', *arguments).stdout.decode())
            lines = self.lines('train', *arguments, '--steps', '1', '--no-out', '--json')
            self.assertIn(words, [line['text'] for line in lines if line['event'] == 'warning'])
            planned, = [line for line in lines if line['event'] == 'plan'][-1:]
            self.assertEqual((planned['batch_size'], planned['total_bytes']), (most, plan['total_bytes']))

    def test_a_software_device_starts_with_fp32(self):
        plan, = self.lines('plan', '--data', TINY, *SMALL, '--json')
        asked, = self.lines('plan', '--data', TINY, *SMALL, '--set', 'amp=true', '--json')
        self.assertEqual((plan['amp'], asked['amp']), (not plan['software'], True))

    def test_settings_have_their_order(self):
        """Defaults, preset, settings file and --set override each other in this order."""
        with open(self.path('mine.ini'), 'w') as file:
            file.write('[settings]\nworkers=1\nprefetch=3\nbatch_size=5\n')
        base = ['plan', '--data', 'builtin:shapes?size=224&samples=200', '--model', 'simplecnn', '--json']
        plan, = self.lines(*base, '--preset', 'rtx3060', '--level', 'safe')
        self.assertEqual((plan['batch_size'], plan['budget_bytes']), (32, 11776 << 20))
        plan, = self.lines(*base, '--preset', 'rtx3060', '--settings', self.path('mine.ini'))
        self.assertEqual((plan['batch_size'], plan['budget_bytes']), (5, 11776 << 20))
        plan, = self.lines(*base, '--preset', 'rtx3060', '--settings', self.path('mine.ini'), '--set', 'batch_size=3')
        self.assertEqual(plan['batch_size'], 3)

    def test_bad_settings_are_usage(self):
        for bad in ('batch_size=0', 'batch_size=nan', 'lr=-1', 'lr=1e99', 'batchsize=3', 'amp', 'model.width='):
            self.run_it('plan', '--data', TINY, *SMALL, '--set', bad, expect=2)
        self.run_it('plan', '--data', TINY, *SMALL, '--level', 'huge', expect=2)
        self.run_it('plan', '--data', TINY, '--model', 'nothing', expect=2)
        self.run_it('plan', '--data', TINY, *SMALL, '--settings', '/nonexistent.ini', expect=2)

    def test_a_bad_value_in_a_file_is_a_warning(self):
        with open(self.path('bad.ini'), 'w') as file:
            file.write('[settings]\nbatch_size=-1\nnothing=3\nepochs=2\n')
        done = self.run_it('plan', '--data', TINY, *SMALL, '--settings', self.path('bad.ini'))
        self.assertIn('batch_size', done.stderr.decode())
        self.assertIn('nothing', done.stderr.decode())

    def test_nothing_to_resume_is_exit_3(self):
        self.assertIn('/nonexistent/run', self.run_it('train', '--resume', '/nonexistent/run', expect=3).stderr.decode())

    def test_no_such_device(self):
        self.run_it('plan', '--data', TINY, *SMALL, '--device', '99', expect=4)


class Bench(Case):
    def test_line_is_that_of_the_reference(self):
        line, = self.lines('bench', '--workload', 'simplecnn32', '--batch', '2', '--mode', 'fp32', '--steps', '1', '--no-autotune')
        self.assertEqual(list(line), ['workload', 'batch', 'mode', 'images_per_s', 'step_ms', 'peak_mib'])
        self.assertEqual((line['workload'], line['batch'], line['mode']), ('simplecnn32', 2, 'fp32'))
        self.assertAlmostEqual(line['images_per_s'], 2e3 / line['step_ms'], delta=line['images_per_s'] * 0.01 + 0.1)

    def test_kernels_name_every_dispatch(self):
        arguments = ['bench', '--workload', 'simplecnn32', '--batch', '2', '--mode', 'fp32', '--steps', '1', '--no-autotune',
                     '--kernels', '--json']
        environment = self.without_ceilings()
        done = self.run_it(*arguments, environment=environment)
        self.assertIn('measuring what', done.stderr.decode())
        done = self.run_it(*arguments, environment=environment)
        self.assertNotIn('measuring what', done.stderr.decode())
        lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
        total, = self.events(lines, 'total')
        kernels = self.events(lines, 'kernel')
        self.assertEqual(len(kernels), total['dispatches'])
        self.assertEqual([k['us'] for k in kernels], sorted((k['us'] for k in kernels), reverse=True))
        device, = self.lines('devices', '--device', '0', '--json', environment=environment)
        for kernel in kernels:
            self.check_against(device['ceilings'], kernel)
        sums = self.events(lines, 'sum')
        self.assertEqual([s['us'] for s in sums], sorted((s['us'] for s in sums), reverse=True))
        self.assertEqual(sum(s['count'] for s in sums), total['dispatches'])
        for rows in (kernels, sums):
            for name in ('us', 'floor_us', 'gflop', 'mb'):
                self.assertAlmostEqual(sum(r[name] for r in rows), total[name], delta=1e-6 * total[name])
        self.assertAlmostEqual(total['over_floor'], total['us'] / total['floor_us'], delta=1e-6 * total['over_floor'])

    def test_trace_has_the_dispatches_in_order_and_back_to_back(self):
        path = self.path('step.json')
        line, = self.lines('bench', '--workload', 'simplecnn32', '--batch', '2,3', '--mode', 'fp32', '--steps', '1', '--no-autotune',
                           '--trace', path)[:1]
        self.assertEqual(line['batch'], 2)
        with open(path, encoding='utf-8') as file:
            events = json.load(file)['traceEvents']
        names = {e['pid']: e['args']['name'] for e in events if e['name'] == 'process_name'}
        self.assertEqual(names, {1: 'simplecnn32, batch 2, fp32', 2: 'simplecnn32, batch 3, fp32'})
        for process in names:
            spans = [e for e in events if e['ph'] == 'X' and e['pid'] == process]
            stages = [e for e in spans if e['cat'] == 'stage']
            dispatches = [e for e in spans if e['cat'] != 'stage']
            self.assertEqual([e['name'] for e in stages], ['forward', 'backward', 'optimizer'])
            self.assertEqual(sum(e['args']['dispatches'] for e in stages), len(dispatches))
            for before, after in zip(dispatches, dispatches[1:]):
                self.assertAlmostEqual(before['ts'] + before['dur'], after['ts'], delta=0.01)
            for e in dispatches:
                stage, = (s for s in stages if s['name'] == e['cat'])
                self.assertGreaterEqual(e['ts'], stage['ts'])
                self.assertLessEqual(round(e['ts'] + e['dur'], 3), round(stage['ts'] + stage['dur'], 3))
                self.assertGreater(e['args']['floor_us'], 0)

    def check_against(self, ceilings, kernel):
        """Shares and the time floor follow from the kernel's own figures and the stored
        ceilings."""
        flops = ceilings['matrix_tflop_per_s' if 'MATRIX' in kernel['variant'] else 'fma_tflop_per_s']
        floor = max(kernel['mb'] * 1e3 / ceilings['copy_gb_per_s'], kernel['gflop'] * 1e3 / flops)
        self.assertAlmostEqual(kernel['floor_us'], floor, delta=1e-6 * floor)
        for name, value, ceiling in (('of_bandwidth', kernel['gb_per_s'], ceilings['copy_gb_per_s']),
                                     ('of_flops', kernel['tflop_per_s'], flops)):
            if value > 0:
                self.assertAlmostEqual(kernel[name], value / ceiling, delta=1e-6 * kernel[name])
            else:
                self.assertIsNone(kernel[name])
        if kernel['us'] > 0:
            self.assertAlmostEqual(kernel['over_floor'], kernel['us'] / floor, delta=1e-6 * kernel['over_floor'])

    def test_kernels_in_words_end_with_a_sum(self):
        text = self.run_it('bench', '--workload', 'simplecnn32', '--batch', '2', '--mode', 'fp32', '--steps', '1', '--no-autotune',
                           '--kernels', '--rows', '3').stdout.decode()
        self.assertRegex(text, r'\nat most: [0-9.]+ GB/s, [0-9.e-]+ TFLOP/s in fp32')
        self.assertRegex(text.splitlines()[2], r'us +share +GFLOP +MB +TFLOP/s +of max +GB/s +of max +floor us +us/floor +kernel$')
        self.assertTrue(text.splitlines()[-1].startswith('sum '))
        self.assertNotIn('e+', text)

    def test_prediction_is_the_forward_pass_alone(self):
        arguments = ['bench', '--predict', '--workload', 'simplecnn32', '--batch', '2', '--mode', 'fp32', '--steps', '1',
                     '--no-autotune']
        line, = self.lines(*arguments)
        self.assertEqual(list(line), ['workload', 'batch', 'mode', 'predict', 'images_per_s', 'step_ms', 'peak_mib'])
        self.assertIs(line['predict'], True)
        lines = self.lines(*arguments, '--kernels', '--json')
        self.assertEqual({kernel['pass'] for kernel in self.events(lines, 'kernel')}, {'apply', 'forward', 'pool'})

    def test_usage(self):
        self.run_it('bench', '--predict', '--trace', self.path('trace.json'), expect=2)
        self.run_it('bench', '--predict', '--loader', '--data', TINY, expect=2)
        self.run_it('bench', '--workload', 'nothing', expect=2)
        self.run_it('bench', '--workload', 'resnet18', '--mode', 'int8', expect=2)
        self.run_it('bench', '--workload', 'resnet18', '--batch', '0', expect=2)
        self.run_it('bench', '--loader', expect=2)
        self.run_it('bench', '--loader', '--data', TINY, '--workers', '1,x', expect=2)
        self.run_it('bench', '--loader', '--data', TINY, '--mode', 'amp', expect=2)
        self.run_it('bench', '--workload', 'resnet18', '--data', TINY, expect=2)

    def test_loader_needs_no_device(self):
        environment = {**os.environ, 'VK_DRIVER_FILES': '/nonexistent', 'VK_ICD_FILENAMES': '/nonexistent'}
        line, = self.lines('bench', '--loader', '--data', TINY, '--workers', '1', '--batch', '4', '--set', 'cache=true', '--json',
                           environment=environment)
        self.assertEqual((line['event'], line['of']), ('ceiling', 'loader'))
        self.assertEqual({key: line['settings'][key] for key in ('batch_size', 'workers', 'cache')},
                         {'batch_size': 4, 'workers': 1, 'cache': True})
        self.assertTrue(line['low'] <= line['samples_per_s'] <= line['high'])
        self.assertEqual(list(line['stages_us']), ['read', 'decode', 'resample', 'stage', 'copy'])
        self.assertGreater(line['stages_us']['stage'], 0)  # the samples come from the cache
        self.run_it('bench', '--loader', '--data', 'synthetic:8x8x3', expect=3, environment=environment)

    def test_loader_tells_its_stages_apart(self):
        self.run_it('inspect', TINY, '--preview', self.path('sheet.png'))
        for name in ('a', 'b'):
            os.makedirs(self.path('sheets/' + name))
            for i in range(4):
                shutil.copy(self.path('sheet.png'), self.path(f'sheets/{name}/{i}.png'))
        line, = self.lines('bench', '--loader', '--data', self.path('sheets'), '--workers', '1', '--batch', '2', '--set', 'image_size=40',
                           '--set', 'pinned=false', '--json')
        for stage in ('read', 'decode', 'resample', 'copy'):
            self.assertGreater(line['stages_us'][stage], 0, stage)
        header = self.run_it('bench', '--loader', '--data', self.path('sheets'), '--workers', '0', '--batch', '2', '--set',
                             'image_size=40').stdout.decode().splitlines()[0]
        self.assertRegex(header, r'first epoch +read us +decode us +resample us +stage us +copy us')


if __name__ == '__main__':
    main()
