# SPDX-License-Identifier: MIT
"""Presets: plan, queue and train begin with the values that `presets` shows for each row; values of
Dyno are marked as such; memory and AMP are those of the card and of the present device."""
import json, math, os, struct, sys, zlib
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, SMALL, TINY, main

LEVELS = ['safe', 'recommended', 'max']
IDS = ['rtx3060', 'rtx3080', 'rtx3090', 'rtx4060', 'rtx4090', 't4', 'v100', 'a100']


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def png(size):
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', size, size, 8, 2, 0, 0, 0))
            + chunk(b'IDAT', zlib.compress((b'\0' + bytes(3 * size)) * size)) + chunk(b'IEND', b''))


class Presets(Case):
    def biwi(self):
        """Writes two sequences, the first for training, with as many frames as the largest
        batch."""
        image = png(480)
        for sequence, frames in ('01', 128), ('02', 2):
            folder = self.path(f'biwi/{sequence}')
            os.makedirs(folder)
            for frame in range(3, 3 + frames):
                with open(f'{folder}/frame_{frame:05}_rgb.png', 'wb') as file:
                    file.write(image)
                with open(f'{folder}/frame_{frame:05}_pose.txt', 'w') as file:
                    file.write('1 0 0\n0 1 0\n0 0 1\n\n0 0 900\n')
        return ['--data', self.path('biwi'), '--model', 'headpose_resnet18', '--set', 'image_size=224']

    def plan(self, preset, level, *job):
        plan, = self.lines('plan', *job, '--preset', preset, '--level', level, '--json')
        return plan

    def check_rows(self, job, rows, derived=False):
        """Each level of each preset gives the batch size of the row, which its note names; derived:
        whether the note calls every batch size derived."""
        for preset, (workload, size) in rows.items():
            shown, = self.lines('presets', preset, '--json')
            row, = [r for r in shown['rows'] if (r['workload'], r['image_size']) == (workload, size)]
            for level in LEVELS:
                plan = self.plan(preset, level, *job)
                self.assertEqual(plan['batch_size'], row['batch_' + level], (preset, level, job))
                note = plan['preset_notes'][0]
                self.assertIn(f'{shown["name"]}\'s row for {workload}', note)
                self.assertEqual('derived' in note, derived or 'batch_' + level in row['derived'], (preset, level, note))

    def test_images(self):
        # A model whose batches all fit the device.
        narrow = ['--model', 'simplecnn', '--set', 'model.width=0.125']
        job = ['--data', 'builtin:shapes?size=224&samples=400', *narrow]
        self.check_rows(job, {preset: ('', 224) for preset in IDS})
        large = ['--data', 'builtin:shapes?size=512&samples=400', *narrow]
        self.check_rows(large, {preset: ('', 512) for preset in IDS if preset not in ('rtx3060', 'rtx4060')})

    def test_sequences(self):
        for steps in 16, 64, 128:
            job = ['--data', f'builtin:waves?length={steps}&samples=400', '--model', 'cnnlstm']
            self.check_rows(job, {'rtx4060': ('sequences', 0)})
            self.check_rows(job, {'rtx3060': ('', 224)}, derived=True)

    def test_head_pose(self):
        self.check_rows(self.biwi(), {'rtx3090': ('biwi, values to predict', 224), 'rtx4090': ('', 224)})
        poses = ['--data', 'builtin:poses?size=224&samples=400', '--model']
        self.check_rows([*poses, 'headpose_resnet18'], {'rtx3090': ('headpose, values to predict', 224)})
        self.check_rows([*poses, 'resnet18'], {'rtx3090': ('', 224)})

    def test_queue(self):
        added, = self.lines('queue', 'add', *self.biwi(), '--preset', 'rtx3090', '--json')
        self.assertEqual(added['settings']['batch_size'], 64)

    def test_budget_is_what_a_program_gets(self):
        job = ['--data', TINY, *SMALL]
        for preset in IDS:
            shown, = self.lines('presets', preset, '--json')
            total, usable = shown['vram_total_bytes'], shown['vram_usable_bytes']
            self.assertLessEqual(total, shown['vram_bytes'])
            self.assertEqual((total >> 20) - (usable >> 20), max(512, math.ceil((total >> 20) / 50)))
            self.assertEqual(self.plan(preset, 'safe', *job)['budget_bytes'], usable)
            self.assertIn(f'{usable >> 20} of the {total >> 20} MiB', self.run_it('presets', preset).stdout.decode())
        shown, = self.lines('presets', 't4', '--json')
        self.assertEqual(shown['vram_total_bytes'], 15360 << 20)

    def test_derived_values_are_marked(self):
        table = self.run_it('presets').stdout.decode()
        lines = {line.split()[0]: line for line in table.splitlines() if line}
        for preset in IDS:
            one, = self.lines('presets', preset, '--json')
            usual = next(r for r in one['rows'] if r['image_size'] == 224)
            self.assertEqual('*' in lines[preset], 'batch_max' in usual['derived'] or 'prefetch' in one['derived'], preset)
        self.assertIn('* derived', table)
        self.assertIn('16-32*', lines['v100'])
        self.assertIn(' 4*', lines['a100'])
        self.assertIn('64*', lines['rtx4060'])

    def test_expected_numbers(self):
        numbers = {'rtx3060': ['70 samples/s', '1.66 GB', '8 s an epoch', '10-15 times'],
                   'rtx3090': ['300-500 samples/s', '90-100 %', '18-22 GB', '350 W', '4-6 degrees', '45 before: 2.25 times'],
                   'rtx4060': ['105 samples/s (82 before', '43-49 %', '28-32 before', '2.07 GB (1.82 before']}
        for preset, words in numbers.items():
            text = self.run_it('presets', preset).stdout.decode()
            for word in words:
                self.assertIn(word, text)
        one, = self.lines('presets', 'rtx4060', '--json')
        self.assertEqual((one['expected'][0]['samples_per_s'], one['expected'][0]['before_samples_per_s']), ([105, 105], [82, 82]))

    def test_amp_is_left_off_where_the_device_does_it_badly(self):
        job = ['--data', TINY, *SMALL[:4], '--preset', 'rtx3060', '--json']
        plan, = self.lines('plan', *job)
        asked, = self.lines('plan', *job, '--set', 'amp=true')
        self.assertEqual((plan['amp'], asked['amp']), (not plan['software'], True))
        self.assertEqual(any('AMP is left off' in note for note in plan['preset_notes']), plan['software'])
        self.assertFalse(any('AMP' in note for note in asked['preset_notes']))

    def test_train_says_the_same_and_compares(self):
        # The batch size is that of other tests, so that the kernels are compiled already.
        with open(self.path('mine.preset'), 'w') as file:
            file.write('[preset]\nname=Mine\nvram=1GB\n[row 1]\nimage_size=16\nbatch_safe=4\nbatch_recommended=8\n'
                       '[expected]\nsamples_per_s=1000000-2000000\npower_w=3\n')
        job = ['train', '--data', TINY, *SMALL[:4], *SMALL[8:], '--preset', self.path('mine.preset'), '--epochs', '1', '--no-out']
        done = self.run_it(*job, '--json')
        lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
        plan, = self.events(lines, 'plan')
        self.assertEqual((plan['batch_size'], plan['amp'], plan['budget_bytes']), (8, not plan['software'], 896 << 20))
        for note in plan['preset_notes']:
            self.assertIn(note, done.stderr.decode())
        compared, = self.events(lines, 'expected')
        self.assertEqual(compared['samples_per_s']['expected'], [1e6, 2e6])
        self.assertEqual(compared['samples_per_s']['measured'], self.events(lines, 'done')[0]['samples_per_s'])
        self.assertIn('samples/s (expected 1e+06-2e+06)', self.run_it(*job).stdout.decode())


main()
