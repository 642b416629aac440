# SPDX-License-Identifier: MIT
"""On a CPU device no sentence about the device says GPU: in plans, runs, their files, diagnoses,
measurements and exports.  Presets are made for GPUs, and advice may mention a GPU that is not
present."""
import os, re, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, SMALL, TINY, main

# Sentences about other devices than the one in use.
OF_OTHERS = [
    r'a GPU with a Vulkan driver is some hundred times as fast',  # diagnosis: software-device
    r'smaller images \(image_size\), or a GPU',                   # diagnosis where cores are shared
    r'No GPU is used: ',                                          # quick
    r'Install the Vulkan driver of the GPU, if there is one',
    # Exported scripts for other programs.
    r'on the CPU where there is no GPU',
    r'each GPU has a batch of this size', r'GPUS=N takes N GPUs', r"list_physical_devices\('GPU'\)", r'Each process of torchrun gets the GPU of its number',
]


class DeviceWords(Case):
    def check(self, where, text):
        for words in OF_OTHERS:
            text = re.sub(words, '', text)
        found = [line for line in text.splitlines() if re.search(r'\bGPUs?\b', line)]
        self.assertEqual(found, [], where)

    def say(self, *arguments, expect=0):
        done = self.run_it(*arguments, expect=expect)
        self.check(arguments, done.stdout.decode() + done.stderr.decode())
        return done

    def test_nothing_calls_it_a_gpu(self):
        listed = self.lines('devices', '--json')
        if not listed[0]['software']:
            self.fail(f'the first device is no software device: {listed[0]}')
        self.assertIn('this-gpu  This device (', self.run_it('presets').stdout.decode())
        self.say('plan', '--data', TINY, *SMALL)
        self.say('train', '--data', TINY, *SMALL, '--epochs', '2', '--out', 'run')
        self.say('diagnose', '--run', 'run')
        self.say('evaluate', '--data', TINY, '--weights', 'run/weights.safetensors')
        self.say('runs', 'show', '1')
        for name in sorted(os.listdir(self.path('run'))):
            if not name.endswith(('.safetensors', '.png')):
                with open(self.path(f'run/{name}'), encoding='utf-8', errors='replace') as file:
                    self.check(name, file.read())

    def test_nor_does_an_export(self):
        self.run_it('train', '--data', TINY, *SMALL, '--steps', '1', '--out', 'run')
        for line in self.lines('export', '--list', '--json'):
            name = line['id']
            if line['of'] != 'settings':
                continue
            self.run_it('export', '--settings', 'run', '--to', name, '--out', f'of-{name}')
            with open(self.path(f'of-{name}'), encoding='utf-8', errors='replace') as file:
                self.check(name, file.read())


if __name__ == '__main__':
    main()
