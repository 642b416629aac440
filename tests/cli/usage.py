# SPDX-License-Identifier: MIT
"""Mistakes of a user: each is a usage error that names the option, exits with 2, and writes
nothing.  Also names of any bytes."""
import os, struct, subprocess, sys, zlib
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, PROGRAM, SMALL, TINY, main

RUN = ['--data', TINY, *SMALL]
NUMBERS = ['nan', '1e99', '', 'abc', '99999999999999999999', '-5', '0x10', '1,5', 'true']
VERBS = {
    'devices': [], 'presets': [], 'inspect': [TINY], 'plan': RUN, 'train': RUN, 'tune': RUN,
    'export': ['--list'],
    'bench': ['--workload', 'simplecnn32', '--batch', '2', '--mode', 'fp32', '--steps', '1'], 'kernels': [],
}


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


# 8x8 grey pixels.
PNG = (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 8, 8, 8, 0, 0, 0, 0))
       + chunk(b'IDAT', zlib.compress(bytes(72))) + chunk(b'IEND', b''))


class Usage(Case):
    def refuse(self, *arguments, names):
        """Asserts exit code 2, the name in the message, and an empty folder."""
        done = self.run_it(*arguments, expect=2)
        words = done.stderr.decode()
        self.assertIn(names, words, arguments)
        self.assertNotIn('assertion', words)
        self.assertEqual(done.stdout, b'')
        self.assertEqual(os.listdir(self.folder), [], arguments)
        return words

    def homeless(self):
        """Returns an environment in which no folder can be made in the home and no XDG folder is
        set."""
        environment = {key: value for key, value in self.environment.items() if not key.startswith('XDG_')}
        return dict(environment, HOME='/proc/nowhere')

    def test_a_home_that_cannot_be_written_is_said_once(self):
        words = self.run_it('devices', environment=self.homeless()).stderr.decode()
        self.assertEqual(words.count('Caches are not kept'), 1, words)
        self.assertIn('/proc/nowhere', words)
        words = self.run_it('devices', '--state-dir', 'state', environment=self.homeless()).stderr.decode()
        self.assertNotIn('not kept', words)
        self.assertTrue(os.listdir(self.path('state/cache')))

    def test_a_state_folder_holds_presets_and_must_be_writable(self):
        os.makedirs(self.path('state/presets'))
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../data/presets/t4.preset')) as source, \
                open(self.path('state/presets/mine.preset'), 'w') as mine:
            mine.write(source.read())
        self.run_it('presets', 'mine', expect=2, environment=self.homeless())
        self.run_it('presets', 'mine', '--state-dir', 'state', environment=self.homeless())
        words = self.run_it('presets', '--state-dir', '/proc/nowhere', expect=7).stderr.decode()
        self.assertIn('/proc/nowhere', words)

    def test_numbers_of_options(self):
        for verb, options in {'devices': ['device'], 'plan': ['device', 'epochs', 'seed'], 'train': ['device', 'epochs', 'steps'],
                              'tune': ['device', 'minutes'], 'bench': ['device', 'batch', 'steps', 'rows'],
                              'kernels': ['device', 'batch']}.items():
            for option in options:
                for value in NUMBERS:
                    if value == '0x10' or (option, value) in (('seed', '-5'), ('batch', '1,5')):
                        # These accept numbers in C's notation; a seed may be negative; bench takes
                        # lists.
                        continue
                    with self.subTest(verb=verb, option=option, value=value):
                        self.refuse(verb, *VERBS[verb], f'--{option}', value, names=option)

    def test_numbers_of_settings(self):
        for key in ('batch_size', 'workers', 'lr', 'data.val_split', 'vram_budget', 'model.width'):
            for value in NUMBERS:
                with self.subTest(key=key, value=value):
                    self.refuse('plan', *RUN, '--set', f'{key}={value}', names=key)

    def test_device_minus_1_is_refused(self):
        for verb in ('devices', 'plan', 'train', 'tune', 'bench', 'kernels'):
            self.refuse(verb, *VERBS[verb], '--device', '-1', names='--device -1')

    def test_level_without_a_preset_is_refused(self):
        self.refuse('plan', *RUN, '--level', 'max', names='--level max')
        self.run_it('plan', *RUN, '--preset', 'rtx3060', '--level', 'max', '--set', 'batch_size=8')

    def test_missing_values(self):
        for verb, options in {'plan': ['data', 'model', 'preset', 'level', 'settings', 'set', 'epochs', 'seed', 'device'],
                              'train': ['out', 'weights', 'save-weights', 'resume', 'steps'], 'tune': ['minutes', 'out', 'resume'],
                              'bench': ['workload'], 'kernels': ['model'], 'inspect': ['targets', 'preview', 'set'],
                              'export': ['settings', 'run', 'to', 'out']}.items():
            for option in options:
                self.refuse(verb, f'--{option}', names=option)

    def test_empty_strings(self):
        for verb, options in {'plan': ['data', 'model', 'preset', 'settings', 'set', 'targets'],
                              'train': ['out', 'weights', 'save-weights', 'resume'], 'tune': ['out', 'resume'], 'inspect': ['targets', 'preview']}.items():
            for option in options:
                self.refuse(verb, *VERBS[verb], f'--{option}', '', names=option)
        self.refuse('plan', *VERBS['plan'], '--set', 'lr=0.1', '--set', '', names='set')  # not only the first of several
        self.refuse('inspect', '', names='empty')
        self.refuse('presets', '', names='empty')
        self.refuse('', names='no verb')

    def test_unknown_names_suggest_the_nearest(self):
        self.assertIn('did you mean “resnet18”?', self.refuse('plan', '--data', TINY, '--model', 'resnet81', names='--model'))
        self.assertIn('did you mean “resnet18”?', self.refuse('kernels', '--model', 'resnet81', names='--model'))
        self.assertIn('did you mean “batch_size”?', self.refuse('plan', *RUN, '--set', 'batchsize=3', names='--set'))
        self.assertIn('did you mean --epochs?', self.refuse('plan', *RUN, '--epcohs', '3', names='--epcohs'))
        self.assertIn('rtx3090', self.refuse('plan', *RUN, '--preset', 'rtx3099', names='rtx3099'))
        self.assertIn('did you mean inspect?', self.refuse('inspekt', names='inspekt'))
        self.assertIn('did you mean plan?', self.refuse('help', 'plam', names='plam'))

    def test_superfluous_arguments(self):
        for verb in VERBS:
            self.refuse(verb, *VERBS[verb], 'more', 'and more', names='more')

    def test_help_of_a_verb(self):
        for verb in VERBS:
            self.assertEqual(self.run_it('help', verb).stdout, self.run_it(verb, '--help').stdout)
        self.assertEqual(self.run_it('-V').stdout, self.run_it('--version').stdout)


class Failures(Case):
    def test_every_failure_is_an_event(self):
        with open(self.path('file'), 'w'):
            pass
        for arguments, code in ((['plan', *RUN, '--epcohs', '3'], 2), (['plan', *RUN, '--set', 'lr=nan'], 2), (['train'], 2),
                                (['nothing'], 2), (['inspect', '/nonexistent'], 3), (['plan', *RUN, '--device', '99'], 4),
                                (['plan', *RUN, '--set', 'vram_budget=100000'], 6),
                                (['train', *RUN, '--steps', '1', '--out', self.path('file/run')], 7), (['bench', '--mode', 'int8'], 2)):
            with self.subTest(arguments=arguments):
                error, = self.events(self.lines(*arguments, '--json', expect=code), 'error')
                self.assertEqual(error['code'], code)
                self.assertTrue(error['text'])

    def test_a_plan_that_does_not_fit_is_exit_6(self):
        done = self.run_it('plan', *RUN, '--set', 'vram_budget=100000', expect=6)
        self.assertIn('it does not fit', done.stdout.decode())
        self.assertIn('budget', done.stderr.decode())

    def test_a_plan_that_is_shrunk_fits_in_micro_batches(self):
        """plan reports the change that train makes with memory.shrink; without it neither
        succeeds."""
        arguments = ['--data', 'builtin:shapes?size=16&samples=200&classes=4', '--model', 'mlp', '--set', 'batch_size=100', '--set', 'amp=false']
        whole, = self.lines('plan', *arguments, '--json')
        budget = ['--set', f'vram_budget={whole["total_bytes"] - whole["components"]["snapshot"] - 1}']
        plan, = self.lines('plan', *arguments, *budget, '--json')
        self.assertEqual((whole['micro_batches'], plan['fits'], plan['micro_batches']), (1, False, 2))
        self.assertIn('each batch of 100 goes through the device in 2 micro-batches of 50', self.run_it('plan', *arguments, *budget).stdout.decode())
        done = self.run_it('train', *arguments, *budget, '--steps', '1', '--no-out')
        self.assertIn('2 micro-batches of 50', done.stderr.decode())
        for verb in (['plan'], ['train', '--steps', '1', '--no-out']):
            error = self.run_it(*verb, *arguments, *budget, '--set', 'memory.shrink=false', expect=6).stderr.decode()
            self.assertIn('batch_size 50 with accumulate 2 keeps the effective batch', error)
            self.assertIn('smaller images (image_size)', error)

    def test_a_tensor_too_large_is_exit_6(self):
        self.assertIn('too large', self.run_it('plan', '--data', 'synthetic:4096x4096x3', '--model', 'simplecnn', '--set',
                                               'batch_size=4096', expect=6).stderr.decode())

    def test_a_preset_larger_than_the_device_names_both_numbers(self):
        device = self.lines('devices', '--json')[0]
        with open(self.path('huge.preset'), 'w') as file:
            file.write('[preset]\nname=Huge\nvram=4000GB\nvram_usable=4000GB\n')
        plan, = self.lines('plan', *RUN, '--preset', self.path('huge.preset'), '--json')
        self.assertEqual((plan['budget_bytes'], plan['limit_bytes']), (4000 << 30, device['vram_bytes']))
        text = self.run_it('plan', *RUN, '--preset', self.path('huge.preset')).stdout.decode()
        self.assertRegex(text, r'budget  3\.91 TiB, but the device has [0-9.]+ [MG]iB: it fits')
        self.assertIn("% of the device's memory", text)

    def test_a_closed_standard_output_is_said(self):
        for closed in ('>&-', '>/dev/full'):
            done = subprocess.run(['sh', '-c', f'"$0" presets {closed}', PROGRAM], env=self.environment, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 7)
            self.assertIn('standard output cannot be written', done.stderr.decode())

    def test_closed_streams_reach_no_file_of_the_run(self):
        done = subprocess.run(['sh', '-c', 'exec "$@" <&- >&- 2>&-', 'sh', PROGRAM, 'train', *RUN, '--steps', '2', '--out',
                               self.path('run')], env=self.environment)
        self.assertEqual(done.returncode, 7)
        with open(self.path('run/metrics.csv')) as file:
            self.assertEqual(len(file.read().splitlines()), 3)
        with open(self.path('run/settings.ini')) as file:
            self.assertNotIn('samples to train', file.read())


class Names(Case):
    """A name may hold any byte but NUL and slash; on the terminal it stays on one line and prints
    no control sequences."""
    NAME = 'a\x1b[31mred\nsecond\r\x07\u202etxt\u0085'

    def assert_clean(self, done, name):
        for stream in (done.stdout, done.stderr):
            text = stream.decode()
            for bad in ('\x1b', '\r', '\x07', '\u202e', '\u0085', 'red\nsecond'):
                self.assertNotIn(bad, text)
        self.assertIn(r'a\x1b[31mred\nsecond\r\x07\u202etxt\x85', (done.stdout + done.stderr).decode(), name)

    def make_folder(self):
        folder = self.path(self.NAME)
        for name in (self.NAME, 'other'):
            os.makedirs(os.path.join(folder, name))
            with open(os.path.join(folder, name, 'good.png'), 'wb') as file:
                file.write(PNG)
            with open(os.path.join(folder, name, self.NAME + '.jpg'), 'wb') as file:
                file.write(b'nothing')
        return folder

    def test_missing_files(self):
        missing = self.path(self.NAME)
        for arguments, code in ((['inspect', missing], 3), (['plan', *SMALL, '--data', missing], 3),
                                (['plan', *RUN, '--settings', missing], 2), (['plan', *RUN, '--preset', missing], 2),
                                (['plan', *RUN, '--model', self.NAME], 2), (['plan', *RUN, '--set', self.NAME + '=1'], 2),
                                (['plan', *RUN, '--' + self.NAME], 2), ([self.NAME], 2),
                                (['train', *RUN, '--steps', '1', '--weights', missing], 3),
                                (['train', *RUN, '--resume', missing], 3)):
            with self.subTest(arguments=arguments):
                self.assert_clean(self.run_it(*arguments, expect=code), arguments)

    def test_folders(self):
        self.assert_clean(self.run_it('inspect', self.make_folder()), 'inspect')
        out = self.path('out' + self.NAME)
        done = self.run_it('train', *RUN, '--steps', '1', '--out', out)
        self.assert_clean(done, 'train')
        self.assertTrue(os.path.isfile(os.path.join(out, 'weights.safetensors')))
        self.assert_clean(self.run_it('train', *RUN, '--steps', '1', '--out', out, expect=2), 'again')

    def test_json_keeps_the_name(self):
        facts, = self.lines('inspect', self.make_folder(), '--json')
        self.assertIn(self.NAME, facts['class_names'])


if __name__ == '__main__':
    main()
