# SPDX-License-Identifier: MIT
"""Tests of a card that is not present, with its real driver: cards.py CARD-SCRIPT CARD DYNOCTL.

Every variant of the kernels compiles, the kernels of a step spill no registers, every workload runs
to its end, and plan predicts the outcome.  Nothing is computed, so no value is checked, and Dyno's
test of each variant before its first use, which all would fail, is off."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT, CARD, DYNOCTL = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
SHAPES = ['--data', 'builtin:shapes?size=32&samples=64', '--model', 'simplecnn', '--set', 'model.width=0.25',
          '--set', 'batch_size=8']
# A batch of 4 fits the smallest of these cards, one of 512 fits none.  There is none in between,
# since the shim has 4 GiB in total for any card.
BIG = ['--data', 'synthetic:224x224x3?samples=4096', '--model', 'resnet50', '--set', 'autotune=false']
# Each has kernels that no other has; the other workloads of bench repeat them in other sizes.
WORKLOADS = ('simplecnn32', 'resnet50', 'mobilenetv2', 'efficientnet_b0', 'densenet121', 'convnext_tiny', 'vit_small', 'cnnlstm')
# These workloads also run without AMP on cards with AMP; the others do not, to save time.
PLAIN = ('resnet50', 'vit_small', 'cnnlstm')
# Submissions are never marked as done, so objects that wait for them are left at the end; this is
# due to the shim.
SHIM_SAYS = ('has not been destroyed',)


class Card(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dyno-vendors-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_it(self, *arguments, expect=0):
        environment = dict(os.environ, DYNO_VALIDATION='1', DYNO_SELF_TEST='0')
        environment['XDG_CACHE_HOME'] = os.path.join(os.environ.get('XDG_CACHE_HOME', self.folder), 'vendors', CARD)
        done = subprocess.run([SCRIPT, CARD, DYNOCTL, *arguments], capture_output=True, text=True, cwd=self.folder,
                              env=environment, check=False)
        self.assertEqual(done.returncode, expect, f'{arguments}: {done.stdout[-2000:]}{done.stderr[-4000:]}')
        messages = [line for line in done.stderr.splitlines()
                    if 'Vulkan validation' in line and not any(known in line for known in SHIM_SAYS)]
        self.assertEqual(messages[:3], [], arguments)
        self.assertNotIn('Validation was asked for, but', done.stderr)
        return done

    def lines(self, *arguments, expect=0):
        return [json.loads(line) for line in self.run_it(*arguments, expect=expect).stdout.splitlines()]

    def device(self):
        device, = self.lines('devices', '--json')
        return device

    def modes(self):
        return ['fp32', 'amp'] if self.device()['fp16'] else ['fp32']

    def test_device(self):
        """The device is the card's driver, and not a CPU; its number of processors is known."""
        device = self.device()
        self.assertFalse(device['software'], device)
        self.assertGreater(device['processors'], 0)
        self.assertIn(device['subgroup_size'], (32, 64))
        self.assertEqual(device['matrix'], 'khr' if CARD == 'navi31' else 'none')

    def check_kernels(self, events):
        kernels = [e for e in events if e['event'] == 'kernel']
        self.assertGreater(len(kernels), 10)
        for kernel in kernels:
            said = kernel['statistics']
            self.assertIsNotNone(said, kernel)
            self.assertGreater(said['registers'], 0, kernel)
            self.assertEqual(said['spills'], 0, kernel)
            self.assertEqual(said['scratch_bytes'], 0, kernel)
            if said['subgroup_size']:
                self.assertIn(said['subgroup_size'], (32,) if 'MATRIX' in kernel['macros'] else (32, 64), kernel)

    def test_kernels(self):
        """Every variant compiles; the variants that are chosen without timing spill nothing."""
        events = self.lines('kernels', '--stats', '--json', '--model', 'resnet18', '--batch', '32')
        variants = [e for e in events if e['event'] == 'variant']
        self.assertGreater(len(variants), 10)
        for variant in variants:
            self.assertTrue(variant['compiles'], variant)
        self.check_kernels(events)
        self.check_kernels(self.lines('kernels', '--stats', '--json', '--model', 'mobilenetv2', '--batch', '32'))

    def test_workloads(self):
        """Each workload has a process of its own: the shim never releases the objects of a
        submission, nor their memory."""
        modes = self.modes()
        for mode in modes:
            for workload in WORKLOADS if mode == modes[-1] else PLAIN:
                row, = self.lines('bench', '--no-autotune', '--steps', '1', '--batch', '4', '--mode', mode, '--workload', workload)
                self.assertNotIn('error', row)

    def test_train_and_tune(self):
        self.run_it('train', *SHAPES, '--set', 'autotune=false', '--epochs', '1', '--out', 'run')
        self.assertTrue(os.path.exists(os.path.join(self.folder, 'run', 'weights.safetensors')))
        if CARD == 'navi31':
            self.check_search()

    def check_search(self):
        """The shim's steps end without a result: a search runs them, and reports that for each."""
        events = self.lines('tune', *SHAPES, '--minutes', '3', '--out', 'tuned', '--json', expect=1)
        measured = [e for e in events if e['event'] in ('trial', 'ceiling')]
        kinds = {e.get('of', e.get('stage')) for e in measured}
        self.assertLessEqual({'today', 'baseline', 'loader', 'gpu'}, kinds, events)
        for event in measured:
            if event.get('of') == 'loader':
                self.assertEqual(event['outcome'], 'ok', event)
                self.assertGreater(event['samples_per_s'], 0, event)
            else:
                self.assertEqual(event['outcome'], 'failed', event)
                self.assertIn('counted no sample', event['text'])
                self.assertGreater(event['planned_bytes'], 0, event)

    def plan_and_train(self, folder, *settings, expect=0):
        said = self.run_it('plan', *settings, expect=expect).stdout
        self.run_it('train', *settings, '--steps', '1', '--out', folder, expect=expect)
        return said

    def test_plan_says_what_happens(self):
        """Training ends as plan predicts: after one step, with exit code 6 for lack of memory, or
        in micro-batches."""
        small = [*BIG, '--set', 'amp=false', '--set', 'batch_size=4']
        self.assertNotIn('micro-batches', self.plan_and_train('fits', *small))
        large = [*BIG, '--set', 'amp=false', '--set', 'batch_size=512']
        self.assertIn('does not fit', self.plan_and_train('refused', *large, '--set', 'memory.shrink=false', expect=6))
        # 16 samples take more than the budget of 1 GB, and 8 take less.
        shrunk = [*BIG, '--set', 'amp=false', '--set', 'batch_size=16', '--set', 'vram_budget=1GB']
        self.assertIn('micro-batches', self.plan_and_train('shrunk', *shrunk))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
