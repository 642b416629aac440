#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exports.py DYNOCTL [--keep FOLDER]: `dynoctl export` of very different settings, read back by
readers.py.  --keep leaves the files in FOLDER, for readers.py where more programs are installed."""
import json, math, os, struct, subprocess, sys, tempfile, unittest
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import readers

PROGRAM = os.path.abspath(sys.argv[1])
SHAPES = 'builtin:shapes?size=32&samples=400&classes=10'
# Each overrides the defaults, which differ with the machine's cores.
CASES = {
    'plain': (SHAPES, {'workers': 2, 'batch_size': 16, 'epochs': 2, 'amp': False}),
    'amp': (SHAPES, {'workers': 2, 'batch_size': 16, 'accumulate': 2, 'epochs': 3, 'amp': True, 'clip_norm': 1,
                     'vram_budget': '4GB', 'loss.weights': '1,2,0.5,1,0,1e6,1,1,1,0.25'}),
    'other': (SHAPES, {'workers': 0, 'batch_size': 48, 'accumulate': 3, 'epochs': 7, 'amp': False, 'optimizer': 'adamw',
                       'lr': 1e-05, 'weight_decay': 1e-20, 'schedule': 'step', 'warmup_epochs': 1.5, 'label_smoothing': 0.1,
                       'clip_norm': 0.25, 'image_size': 48, 'augment.flip': True, 'augment.brightness': 0.25,
                       'augment.contrast': 0.25, 'augment.saturation': 0.5, 'augment.hue': 0.125, 'augment.crop': 0.25,
                       'augment.crop_ratio': 1.5, 'augment.flip_vertical': True, 'augment.erase': 0.375, 'augment.shift': 4,
                       'augment.mixup': 0.25, 'augment.cutmix': 1, 'augment.rotate': 15, 'augment.pad': 'reflect', 'augment.noise': 0.125,
                       'data.shuffle': False, 'data.val_split': 0.25, 'data.test_split': 0.125, 'cache': True, 'pinned': False, 'prefetch': 5,
                       'persistent_workers': False, 'checkpointing': True, 'deterministic': True, 'autotune': False,
                       'seed': 2 ** 53 - 1}),
    'constant': (SHAPES, {'workers': 1, 'batch_size': 400, 'epochs': 4, 'schedule': 'constant', 'warmup_epochs': 2, 'schedule_epochs': 3, 'lr': 3,
                          'amp': True, 'data.val_split': 0}),
    'lstm': (SHAPES, {'MODEL': 'cnnlstm', 'workers': 1, 'batch_size': 16, 'amp': False, 'augment.flip': True, 'clip_norm': 0.5,
                      'clip_value': 0.125}),
    'mobile': (SHAPES, {'MODEL': 'mobilenetv2', 'workers': 1, 'batch_size': 16, 'amp': False, 'model.dropout': 0.375}),
    'adam': (SHAPES, {'workers': 1, 'batch_size': 16, 'epochs': 1, 'amp': False, 'optimizer': 'adam', 'lr': 0.002, 'weight_decay': 0.01,
                      'clip_value': 0.5}),
    'rmsprop': (SHAPES, {'workers': 1, 'batch_size': 16, 'epochs': 1, 'amp': False, 'optimizer': 'rmsprop', 'lr': 0.002, 'momentum': 0.75,
                         'loss.focal': 1.5, 'loss.dice': 0.25}),
    'lion': (SHAPES, {'workers': 1, 'batch_size': 16, 'epochs': 1, 'amp': False, 'optimizer': 'lion', 'lr': 0.0002, 'weight_decay': 0.1,
                      'weight_decay.norms': False}),
    'gone': ('/nowhere/photos', {'workers': 3, 'batch_size': 8, 'image_size': 24, 'amp': False,
                                 'loss.weights': '1,2'}),
}
# Another value for each setting with a word as its value.
OTHER_WORDS = {'optimizer': 'adamw', 'schedule': 'step', 'best_metric': 'loss', 'model.freeze': 'layer1', 'loss.class_weights': 'balanced',
               'loss.weights': '1,2,0.5,1,0,4,1,1,1,0.25', 'augment.crop_from': 'source', 'augment.pad': 'reflect',
               'data.balance': 'sampling', 'data.layout': 'nchw', 'data.task': 'classes', 'data.group_column': 'patient'}
COUNTS = ('data.folds', 'threads', 'loader.nice', 'schedule_epochs', 'early_stop.patience', 'image_size', 'augment.shift', 'vram_budget', 'exchange.bucket')
NAMES = ['it\'s "quoted"', 'a\nb\tc\\d', '# no: comment', '$(touch evil) `touch evil` ; touch evil', '{{[*&!%@', 'ä 漢 😀 \u2028 \x85 \u202e',
         '-x --y', "'''", '"""', 'yes', '1e5', '~', '\\\\', '\x01\x7f', b'raw \xff\xfe'.decode('utf-8', 'surrogateescape')]


def another(key, value):
    """A different value of the setting, which other programs accept too."""
    if isinstance(value, bool):
        return not value
    if key == 'layer_decay':  # 1 is its largest value
        return 0.75
    if isinstance(value, str):
        return OTHER_WORDS[key]
    if value == 0 and key not in COUNTS:  # integers are written without a decimal point
        return 0.25
    if isinstance(value, int):
        return value * 2 if value > 1 else 3
    return round(value * 0.75 + 0.03, 6)


def write_settings(path, data, values, model=None):
    """Dyno's own JSON stores any name that is UTF-8; data_escaped in the key file's [run] stores
    the others."""
    model, values = model or values.get('MODEL', 'resnet18'), {key: value for key, value in values.items() if key != 'MODEL'}
    escaped = ''.join(chr(b) if 32 <= b < 127 and b != 92 else f'\\{b:03o}' for b in os.fsencode(data))
    with open(path, 'w', encoding='utf-8') as file:
        file.write('# Dyno settings\n# Card: Card\n# Measured: 61.3 samples/s\n')
        file.write('[run]\ndata_escaped=' + escaped.replace('\\', '\\\\') + f'\nmodel={model}\n[settings]\n')
        for key, value in values.items():
            file.write(f'{key}={str(value).lower() if isinstance(value, bool) else value}\n')


def write_npy(path, shape, number=lambda i: i / 7):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    head += ' ' * (63 - (10 + len(head)) % 64) + '\n'
    count = math.prod(shape)
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
        file.write(struct.pack(f'<{count}f', *(number(i) for i in range(count))))


class Exports(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix='dyno-exports-')
        self.folder = self.holder.name

    def tearDown(self):
        self.holder.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_it(self, *arguments, expect=0):
        environment = dict(os.environ, SOURCE_DATE_EPOCH='1700000000')
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=environment, check=False, timeout=600,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, expect, (arguments, done.stdout, done.stderr))
        return done

    def formats(self, of='settings'):
        lines = map(json.loads, self.run_it('export', '--list', '--json').stdout.decode().splitlines())
        return {line['id']: line for line in lines if line['of'] == of}

    def export_all(self, settings, folder):
        os.makedirs(folder)
        for name, line in self.formats().items():
            self.run_it('export', '--settings', settings, '--to', name, '--out', os.path.join(folder, line['file_name']))

    def check(self, folder):
        said = []
        self.assertTrue(readers.check(folder, said.append), '\n'.join(said))
        self.assertEqual(len(said), len(readers.FORMATS))
        return said

    def test_every_format_has_a_reader(self):
        known = {name: file for name, file, check in readers.FORMATS}
        listed = {name: line['file_name'] for name, line in self.formats().items() if name not in ('keyfile', 'json')}
        self.assertEqual(listed, known)

    def test_values(self):
        for name, (data, values) in CASES.items():
            with self.subTest(name):
                settings = self.path(name + '.ini')
                write_settings(settings, data, values)
                self.export_all(settings, self.path(name))
                for line in self.check(self.path(name)):
                    print(f'{name}: {line}', flush=True)

    def test_each_setting_by_itself(self):
        """Each setting is changed separately, and every file must have the change; readers.py knows
        the settings of each format."""
        data, values = CASES['plain']
        write_settings(self.path('plain.ini'), data, values)
        self.run_it('export', '--settings', 'plain.ini', '--to', 'json', '-o', 'plain.json')
        plain = readers.read_json(self.path('plain.json'))['settings']
        for key, value in plain.items():
            with self.subTest(key):
                # Generated data have no column of groups: a list that is not there is not opened.
                write_settings(self.path('one.ini'), '/nowhere/list.csv' if key == 'data.group_column' else data, {**values, key: another(key, value)})
                self.export_all(self.path('one.ini'), self.path(key))
                self.assertNotEqual(readers.read_json(self.path(key + '/settings.json'))['settings'][key], value)
                self.check(self.path(key))

    def test_names_of_any_kind(self):
        for i, name in enumerate(NAMES):
            with self.subTest(name):
                settings = self.path(f'{i}.ini')
                write_settings(settings, '/data/' + name, {'workers': 1, 'amp': False}, model='mlp')
                self.export_all(settings, self.path(str(i)))
                # The JSON, with the expected values, cannot hold these bytes.
                if '\udcff' not in name:
                    self.check(self.path(str(i)))
                constants, _tree = readers.read_python(self.path(f'{i}/train.py'))
                self.assertEqual(constants['DATA'], '/data/' + name)
                readers.run_shell(self.path(f'{i}/torchrun.sh'), [], {}, self.path('script.py'))
                self.assertEqual(readers.read_python(self.path('script.py'))[0]['DATA'], '/data/' + name)
                write_settings(settings, '/data/' + name, {'workers': 1, 'amp': False})
                self.run_it('export', '--settings', settings, '--to', 'torchrun', '--out', self.path('run.sh'), '--force')
                self.assertIn('--data-path=/data/' + name, readers.run_shell(self.path('run.sh'), [], {}))
                self.assertFalse(os.path.exists(self.path('evil')))

    def test_a_program_without_its_requirements_is_missing_not_wrong(self):
        write_settings(self.path('a.ini'), *CASES['plain'])
        self.export_all(self.path('a.ini'), self.path('made'))
        package = self.path('modules/lightning/pytorch')
        os.makedirs(package)
        for folder, text in ((os.path.dirname(package), ''), (package, 'LightningModule = object\n')):
            with open(os.path.join(folder, '__init__.py'), 'w', encoding='utf-8') as file:
                file.write(text)
        with open(self.path('modules/jsonargparse.py'), 'w', encoding='utf-8') as file:
            file.write('')
        for error, missing in (('ModuleNotFoundError("Requirement \'jsonargparse\' not met.")', True),
                               ('ModuleNotFoundError("No such module", name="no_module_at_all")', True),
                               ('ModuleNotFoundError("No such module", name="lightning.nothing")', False),
                               ('ValueError("Key not expected")', False)):
            with open(os.path.join(package, 'cli.py'), 'w', encoding='utf-8') as file:
                file.write(f'def LightningCLI(*arguments, **options):\n    raise {error}\n')
            done = subprocess.run([sys.executable, '-B', readers.__file__, self.path('made')], check=False, stdout=subprocess.PIPE,
                                  env=dict(os.environ, PYTHONPATH=self.path('modules')), timeout=600)
            line, = (line for line in done.stdout.decode().splitlines() if line.strip().startswith('lightning:'))
            self.assertEqual(('; missing:' in line, 'WRONG' in line, done.returncode), (missing, not missing, not missing), line)

    def test_shapes_are_the_data_sets(self):
        write_npy(self.path('X.npy'), (40, 5))
        write_npy(self.path('y.npy'), (40, 3))
        for data, pytorch, tensorflow, outputs, task in (
                (self.path('X.npy'), (5,), (5,), 3, (True, False)),
                ('builtin:waves?length=20&channels=3&samples=60&classes=4', (3, 20), (20, 3), 4, (False, False)),
                ('builtin:masks?size=32&samples=60&classes=3', (3, 32, 32), (32, 32, 3), 3, (False, True)),
                ('synthetic:24x16x1?classes=6&samples=100', (1, 24, 16), (24, 16, 1), 6, (False, False))):
            write_settings(self.path('a.ini'), data, {'batch_size': 8})
            for name, shape in (('pytorch', pytorch), ('tensorflow', tensorflow)):
                self.run_it('export', '--settings', 'a.ini', '--to', name, '-o', 'a.py', '-f')
                constants, _tree = readers.read_python(self.path('a.py'))
                self.assertEqual((constants['SAMPLE_SHAPE'], constants['N_OUTPUTS'],
                                  (constants['PREDICTS_VALUES'], constants['PREDICTS_PIXELS'])), (shape, outputs, task), data)

    def test_several_labels_have_their_loss(self):
        """Scripts train with the loss of labels, files for other programs state what they need, and no program smooths
        labels as classes or takes one of them for the class."""
        write_npy(self.path('X.npy'), (40, 8, 8, 3))
        write_npy(self.path('y.npy'), (40, 3), lambda i: i * i % 5 % 2)
        values = {'batch_size': 8, 'workers': 1, 'amp': False, 'label_smoothing': 0.1, 'loss.weights': '1,2,0.5'}
        made = {}
        for task in ('labels', 'values'):
            write_settings(self.path('a.ini'), self.path('X.npy'), {**values, 'data.task': task})
            self.export_all(self.path('a.ini'), self.path(task))
            made[task] = {name: open(os.path.join(self.path(task), line['file_name']), encoding='utf-8').read()
                          for name, line in self.formats().items()}
        for name in ('pytorch', 'tensorflow'):
            constants, tree = readers.read_python(os.path.join(self.path('labels'), self.formats()[name]['file_name']))
            self.assertEqual([constants[key] for key in ('N_OUTPUTS', 'PREDICTS_VALUES', 'PREDICTS_LABELS', 'PREDICTS_PIXELS')],
                             [3, False, True, False])
            if name == 'pytorch':
                self.assertEqual(constants['CLASS_WEIGHTS'], [1, 2, 0.5])
                torch = readers.find_module('torch')
                if torch:
                    readers.run_script(os.path.join(self.path('labels'), 'train.py'), torch)
        for name in ('torchrun', 'slurm'):
            self.assertIn('PREDICTS_LABELS = True', made['labels'][name])
            self.assertIn('with several labels', made['labels'][name])
        for name in ('lightning', 'accelerate', 'timm', 'ultralytics'):
            self.assertIn('any number of 3 labels: the loss is BCEWithLogitsLoss', made['labels'][name])
            self.assertNotIn('BCEWithLogitsLoss', made['values'][name])
        self.assertIn('learns one class of a sample', made['labels']['timm'])
        self.assertIn('cannot train with these labels', made['labels']['ultralytics'])
        self.assertNotIn('label_smoothing_factor', json.loads(made['labels']['trainingarguments']))
        self.assertEqual(readers.read_yaml(os.path.join(self.path('labels'), 'args.yaml'))['num_classes'], 3)

    def test_key_file_and_json_come_round(self):
        data, values = CASES['other']
        write_settings(self.path('a.ini'), data, values)
        first = self.run_it('export', '--settings', 'a.ini', '--to', 'json', '-o', 'b.json')
        self.run_it('export', '--settings', 'b.json', '--to', 'keyfile', '-o', 'c.ini')
        self.run_it('export', '--settings', 'c.ini', '--to', 'json', '-o', 'd.json')
        self.assertEqual(first.stdout, b'')
        with open(self.path('b.json'), 'rb') as b, open(self.path('d.json'), 'rb') as d:
            self.assertEqual(b.read(), d.read())
        with open(self.path('c.ini'), encoding='utf-8') as c:
            self.assertIn('# Card: Card\n# Data set: ' + data + '\n# Measured: 61.3 samples/s\n', c.read())

    def test_a_folder_gives_its_settings(self):
        for name in ('settings.ini', 'best.ini'):
            os.makedirs(self.path(name + '-run'))
            write_settings(self.path(f'{name}-run/{name}'), SHAPES, {'batch_size': 77})
            done = self.run_it('export', '--settings', name + '-run', '--to', 'deepspeed')
            self.assertEqual(json.loads(done.stdout)['train_micro_batch_size_per_gpu'], 77)
        self.assertIn(b'best.ini', self.run_it('export', '--settings', self.folder, '--to', 'json', expect=2).stderr)

    def test_the_rate_of_a_run_is_that_of_its_log(self):
        os.makedirs(self.path('run'))
        write_settings(self.path('run/settings.ini'), SHAPES, {})
        with open(self.path('run/settings.ini'), encoding='utf-8') as file:
            text = file.read().replace('# Measured: 61.3 samples/s\n', '')
        with open(self.path('run/settings.ini'), 'w', encoding='utf-8') as file:
            file.write(text)
        with open(self.path('run/metrics.csv'), 'w', encoding='utf-8') as file:
            file.write('step,epoch,loss,samples_per_s,step_ms,vram_bytes,train_loss,val_loss,epoch_samples_per_s,epoch_seconds,samples\n'
                       '1,1,2.5,nan,9000,5242880,2.5,2.5,80.5,1,80\n2,2,2.4,90,1000,7340032,2.4,2.4,99,1,80\n3,3,2.4,95,1000,7340032,,,,,97\n')
        self.run_it('export', '--settings', 'run', '--to', 'json', '-o', 'a.json')
        whole = readers.read_json(self.path('a.json'))
        self.assertEqual((whole['samples_per_s'], whole['vram_bytes'], whole['card']), (88.5, 7340032, 'Card'))

    def test_what_json_cannot_hold_is_told(self):
        write_settings(self.path('a.ini'), SHAPES, {'label_smoothing': 0.1, 'schedule': 'step', 'epochs': 10})
        words = self.run_it('export', '--settings', 'a.ini', '--to', 'deepspeed').stderr.decode()
        self.assertIn('label_smoothing = 0.1', words)
        self.assertIn('schedule = step', words)
        self.assertNotIn('batch_size', words)
        words = self.run_it('export', '--settings', 'a.ini', '--to', 'trainingarguments').stderr.decode()
        self.assertIn('momentum = 0.9 (there: 0)', words)
        self.assertNotIn('label_smoothing', words)
        self.assertEqual(self.run_it('export', '--settings', 'a.ini', '--to', 'timm').stderr, b'')

    def test_a_file_that_is_there_stays(self):
        write_settings(self.path('a.ini'), SHAPES, {})
        with open(self.path('mine'), 'w', encoding='utf-8') as file:
            file.write('mine')
        arguments = ['export', '--settings', 'a.ini', '--to', 'accelerate', '-o', 'mine']
        self.assertIn(b'exists', self.run_it(*arguments, expect=2).stderr)
        self.assertEqual(open(self.path('mine'), encoding='utf-8').read(), 'mine')
        self.run_it(*arguments, '--force')
        self.assertEqual(readers.read_yaml(self.path('mine'))['distributed_type'], 'NO')
        self.run_it('export', '--settings', 'a.ini', '--to', 'accelerate', '-o', 'no/such/folder/file', expect=7)

    def test_mistakes_are_usage_errors(self):
        write_settings(self.path('a.ini'), SHAPES, {})
        for arguments, word in ((['--settings', 'a.ini'], '--to'), (['--to', 'json'], '--settings'),
                                (['--settings', 'a.ini', '--run', '.', '--to', 'csv'], 'either'),
                                (['--settings', 'a.ini', '--to', 'pytorhc'], 'did you mean pytorch?'),
                                (['--settings', 'a.ini', '--to', 'zzzzzzzzz'], '--list'),
                                (['--settings', 'a.ini', '--to', 'csv'], '--run'), (['--run', '.', '--to', 'json'], '--settings'),
                                (['--settings', 'nothing.ini', '--to', 'json'], 'nothing.ini')):
            done = self.run_it('export', *arguments, expect=2)
            self.assertIn(word, done.stderr.decode())
            self.assertEqual(done.stdout, b'')

    def test_broken_settings_end_well(self):
        """Any file gives either complete settings or an error."""
        import random
        write_settings(self.path('a.ini'), SHAPES, CASES['other'][1])
        self.run_it('export', '--settings', 'a.ini', '--to', 'json', '-o', 'a.json')
        chance = random.Random(5)
        for source in ('a.ini', 'a.json'):
            whole = open(self.path(source), 'rb').read()
            for i in range(20):
                broken = bytearray(whole)
                for _ in range(chance.choice((1, 3, 30))):
                    broken[chance.randrange(len(broken))] = chance.choice((0, 10, 34, 61, 91, 93, 123, 255, chance.randrange(256)))
                with open(self.path('broken'), 'wb') as file:
                    file.write(broken[:chance.randrange(len(broken))] if i % 5 == 0 else broken)
                done = subprocess.run([PROGRAM, 'export', '--settings', 'broken', '--to', chance.choice(('slurm', 'pytorch', 'timm'))],
                                      cwd=self.folder, check=False, timeout=600, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertIn(done.returncode, (0, 2), done.stderr)
                self.assertNotIn(b'CRITICAL', done.stderr)


def keep(folder):
    test = Exports()
    test.setUp()
    for name, (data, values) in CASES.items():
        write_settings(test.path(name + '.ini'), data, values)
        test.export_all(test.path(name + '.ini'), os.path.join(os.path.abspath(folder), name))
    test.tearDown()


if __name__ == '__main__':
    if '--keep' in sys.argv:
        keep(sys.argv[sys.argv.index('--keep') + 1])
    else:
        unittest.main(argv=[sys.argv[0]], verbosity=2)
