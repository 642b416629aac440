#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""planranks.py DYNOCTL: what plan tells of several ranks before any of them is started."""
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


if __name__ == '__main__':
    main()
