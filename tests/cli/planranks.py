#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""planranks.py DYNOCTL: plan and tune of several ranks before any of them is started."""
import signal
from dynoctl import *

PAGE = 2 << 20
PLAN = ['plan', '--data', 'builtin:shapes?size=32&samples=200', '--model', 'simplecnn', '--set', 'batch_size=8',
        '--set', 'accumulate=3']


class Ranks(Case):
    def plan(self, *arguments, peers='0'):
        environment = dict(self.environment, DYNO_PEER_COPIES=peers)
        return self.lines(*PLAN, '--json', *arguments, environment=environment)[-1]['ranks']

    def test_through_the_host(self):
        ranks = self.plan('--ranks', '4')
        self.assertEqual((ranks['ranks'], ranks['hosts'], ranks['global_batch']), (4, 1, 4 * 8 * 3))
        self.assertGreater(ranks['exchange_bytes'], 0)
        self.assertGreaterEqual(ranks['staging_bytes'], ranks['exchange_bytes'])
        self.assertEqual(ranks['inbox_bytes'], 0)
        self.assertEqual(ranks['rate'], 'assumed')
        self.assertIsNone(ranks['speedup'])
        self.assertIsNone(ranks['device_speedup'])

    def test_from_device_to_device(self):
        ranks = self.plan('--ranks', '4', peers='1')
        least = 3 * ranks['exchange_bytes']
        self.assertEqual(ranks['inbox_bytes'] % PAGE, 0)
        self.assertGreaterEqual(ranks['inbox_bytes'], least)
        self.assertLess(ranks['inbox_bytes'], least + 2 * PAGE)
        self.assertEqual(self.plan('--ranks', '4', '--hosts', '2', peers='1')['inbox_bytes'], 0)
        self.assertEqual(self.plan('--ranks', '64', peers='1')['inbox_bytes'], 0)

    def test_words(self):
        done = self.run_it(*PLAN, '--ranks', '2', environment=dict(self.environment, DYNO_PEER_COPIES='1'))
        self.assertIn('ranks   2 on 1 host: 48 samples per step', done.stdout.decode())
        self.assertIn('from device to device', done.stdout.decode())


class Tune(Case):
    """A search that is stopped once it has a measurement."""
    TUNE = ['tune', '--data', 'builtin:shapes?size=8&samples=400', '--model', 'mlp', '--set', 'model.width=0.125', '--set',
            'autotune=false']

    def tune(self, *arguments):
        process = subprocess.Popen([PROGRAM, *arguments, '--json', '--minutes', '10'], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        told = []
        for line in process.stdout:
            told.append(json.loads(line))
            if told[-1]['event'] == 'trial' and told[-1]['outcome'] == 'ok':
                process.send_signal(signal.SIGINT)
                break
        output, words = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 130, words.decode())
        self.words = words.decode()
        return told + [json.loads(line) for line in output.decode().splitlines()]

    def test_as_one_of_two(self):
        told = self.tune(*self.TUNE, '--ranks', '2', '--out', 'two')
        best, = self.events(told, 'best')
        exchange, = [e for e in self.events(told, 'ceiling') if e['of'] == 'exchange']
        ranks, settings = best['ranks'], best['settings']
        self.assertIn('measured as one of 2 ranks, on ', self.words)
        self.assertEqual((ranks['ranks'], ranks['hosts']), (2, 1))
        self.assertEqual(ranks['global_batch'], 2 * settings['batch_size'] * settings['accumulate'])
        self.assertAlmostEqual(exchange['samples_per_s'] * ranks['exchange_ms'] / 1e3, ranks['global_batch'] / 2, places=3)
        self.assertIn('each of 2 ranks', ' '.join(best['reasons']))
        # The history has only rates of one process.
        self.assertEqual(self.lines('runs', '--searches', '--json'), [])
        # A search is resumed with its own number of ranks, and refused with one rank.
        words = self.run_it('tune', *self.TUNE[1:], '--resume', 'two', expect=2).stderr.decode()
        self.assertIn('its ranks differs', words)
        again, = self.events(self.tune('tune', '--resume', 'two', '--out', 'more'), 'best')
        self.assertEqual(again['ranks']['ranks'], 2)

    def test_refused(self):
        self.assertIn('--goal is for one process', self.run_it(*self.TUNE, '--ranks', '2', '--goal', 'accuracy=0.9', expect=2).stderr.decode())
        for wrong in (['--ranks', '0'], ['--ranks', '2', '--hosts', '3']):
            self.assertIn('--ranks is 1 to', self.run_it(*self.TUNE, *wrong, expect=2).stderr.decode())


if __name__ == '__main__':
    main()
