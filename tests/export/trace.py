#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of runs, compared with the Trace Event Format and with the files of the run: names of all
rows, spans that nest, the numbers of metrics.csv and sensors.csv.  trace.py EXPORT_RUN"""
import json
import math
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

EXPORT_RUN = sys.argv.pop(1)
STEP = ('step,epoch,loss,accuracy,lr,samples_per_s,step_ms,wait_data_ms,upload_ms,forward_ms,backward_ms,optimizer_ms,'
        'skipped,vram_bytes,seconds,workers,decode_ms').split(',')
EPOCH = 'train_loss,train_accuracy,val_loss,val_accuracy,epoch_seconds,validation_seconds,saving_seconds'.split(',')


def check(events):
    """Checks every rule of the format that readers depend on."""
    named, spans = set(), {}
    for e in events:
        assert e['ph'] in 'XCM' and isinstance(e['name'], str) and e['name']
        assert isinstance(e['pid'], int) and isinstance(e['tid'], int)
        if e['ph'] == 'M':
            named.add((e['name'], e['pid'], e['tid']))
            continue
        ts = Fraction(str(e['ts']))
        assert ts >= 0
        if e['ph'] == 'C':
            assert len(e['args']) == 1 and all(math.isfinite(v) for v in e['args'].values())
        else:
            duration = Fraction(str(e['dur']))
            assert duration >= 0
            spans.setdefault((e['pid'], e['tid']), []).append((ts, ts + duration))
        assert ('process_name', e['pid'], 0) in named, 'a process without a name'
        assert e['ph'] == 'C' or ('thread_name', e['pid'], e['tid']) in named, 'a thread without a name'
    for row in spans.values():
        row.sort(key=lambda span: (span[0], -span[1]))
        inside = []
        for begin, end in row:
            while inside and inside[-1] <= begin:
                inside.pop()
            assert not inside or end <= inside[-1], 'spans that overlap'
            inside.append(end)


class Trace(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix='dyno-trace-')
        self.addCleanup(self.scratch.cleanup)
        self.run_folder = Path(self.scratch.name) / 'net-digits-1'
        self.run_folder.mkdir()

    def write_run(self, n=12, each_ms=100.0, **numbers):
        seconds = 0.0
        lines = [','.join(STEP + EPOCH)]
        for step in range(1, n + 1):
            seconds += each_ms / 1e3
            row = {'step': step, 'epoch': 1 + (step - 1) // 4, 'loss': 1 / step, 'accuracy': 0.5, 'lr': 0.1,
                   'samples_per_s': 320, 'step_ms': each_ms, 'wait_data_ms': each_ms * 0.2, 'upload_ms': each_ms * 0.05,
                   'forward_ms': each_ms * 0.2, 'backward_ms': each_ms * 0.4, 'optimizer_ms': each_ms * 0.1, 'skipped': 0,
                   'vram_bytes': 1 << 28, 'seconds': f'{seconds:.4f}', 'workers': 4, 'decode_ms': each_ms * 3} | numbers
            values = [str(row[name]) for name in STEP]
            if step % 4 == 0:
                values += ['0.5', '0.5', '0.75', '0.5', '1.0', '0.25', '0.05']
                seconds += 0.3
            else:
                values += [''] * len(EPOCH)
            lines.append(','.join(values))
        (self.run_folder / 'metrics.csv').write_text('\n'.join(lines) + '\n')

    def export(self):
        path = Path(self.scratch.name) / 'out.json'
        subprocess.run([EXPORT_RUN, 'trace', self.run_folder, path], check=True, capture_output=True)

        def refuse(name):
            raise ValueError(f'{name} is no JSON')

        trace = json.loads(path.read_text(), parse_constant=refuse)
        check(trace['traceEvents'])
        return trace['traceEvents']

    def spans(self, events, *names):
        return [e for e in events if e['ph'] == 'X' and (e['name'] in names or e['cat'] in names)]

    def test_each_step_has_its_phases(self):
        self.write_run()
        events = self.export()
        steps = self.spans(events, 'step')
        self.assertEqual([e['name'] for e in steps], [f'step {i}' for i in range(1, 13)])
        self.assertEqual([e['args']['loss'] for e in steps], [float(f'{1 / i:.17g}') for i in range(1, 13)])
        for name, ms in (('wait for data', 20), ('copy', 5), ('forward', 20), ('backward', 40), ('optimizer', 10)):
            found = self.spans(events, name)
            self.assertEqual(len(found), 12, name)
            for span, step in zip(found, steps):
                self.assertAlmostEqual(span['dur'], ms * 1e3, delta=0.01)
                self.assertGreaterEqual(span['ts'] + 0.01, step['ts'])
                self.assertLessEqual(span['ts'] + span['dur'], step['ts'] + step['dur'] + 0.01)
        self.assertAlmostEqual(steps[0]['ts'], 0, delta=1)
        # After the end of the first epoch, which takes 0.3 s.
        self.assertAlmostEqual(steps[5]['ts'], 800000, delta=1)
        self.assertAlmostEqual(steps[5]['dur'], 100000, delta=1)

    def test_ends_of_epochs_stand_between_the_steps(self):
        self.write_run()
        events = self.export()
        self.assertEqual([e['name'] for e in self.spans(events, 'epoch')], ['epoch 1', 'epoch 2', 'epoch 3'])
        for name, begin, seconds in (('validation', 0.4, 0.25), ('saving', 0.65, 0.05)):
            found = self.spans(events, name)
            self.assertEqual(len(found), 3)
            self.assertAlmostEqual(found[0]['ts'], begin * 1e6, delta=1)
            self.assertAlmostEqual(found[0]['dur'], seconds * 1e6, delta=1)

    def test_no_step_begins_before_the_epoch_has_ended(self):
        """step_ms counts from the end of the previous step, including anything in between."""
        self.write_run(step_ms=400.0)
        events = self.export()
        steps, ends = self.spans(events, 'step'), self.spans(events, 'saving')
        self.assertAlmostEqual(steps[4]['ts'], 700000, delta=1)
        self.assertAlmostEqual(ends[0]['ts'] + ends[0]['dur'], 700000, delta=1)

    def test_stages_longer_than_the_step_are_drawn_shorter(self):
        """The times of the device and of the host come from two clocks, and are rounded."""
        self.write_run(forward_ms=90, backward_ms=90)
        events = self.export()
        self.assertEqual([e['args']['ms'] for e in self.spans(events, 'backward')], [90] * 12)
        self.assertLess(self.spans(events, 'backward')[3]['dur'], 50000)

    def test_steps_shorter_than_their_digits_still_nest(self):
        self.write_run(n=200, each_ms=0.0333)
        self.assertEqual(len(self.spans(self.export(), 'step')), 200)

    def test_what_was_not_measured_is_not_drawn(self):
        self.write_run(upload_ms=0, forward_ms=0, backward_ms=0, optimizer_ms=0, wait_data_ms='nan', loss='nan', workers=0)
        events = self.export()
        self.assertEqual({e['name'] for e in self.spans(events, 'device', 'host')}, {'validation', 'saving'})
        self.assertEqual({e['name'] for e in events if e['ph'] == 'C'}, {'throughput', 'device memory'})
        self.assertIsNone(self.spans(events, 'step')[0]['args']['loss'])

    def test_values_beside_the_steps_are_curves(self):
        self.write_run()
        counted = {}
        for e in self.export():
            if e['ph'] == 'C':
                counted.setdefault(e['name'], []).append(next(iter(e['args'].values())))
        self.assertEqual(counted, {'loss': [1 / i for i in range(1, 13)], 'throughput': [320] * 12,
                                   'device memory': [256] * 12, "loader's workers": [75] * 12})

    def write_sensors(self, rows):
        lines = ['unix_time,step,gpu_power_w,cpu_busy_percent']
        lines += [','.join(str(value) for value in row) for row in rows]
        (self.run_folder / 'sensors.csv').write_text('\n'.join(lines) + '\n')

    def sensors(self):
        found = [e for e in self.export() if e['ph'] == 'C' and 'power' in e['name'].lower()]
        return [(round(e['ts'] / 1e6, 3), e['args']['W']) for e in found]

    def test_sensors_lie_on_the_clock_of_the_steps(self):
        self.write_run()
        self.write_sensors([(1000, 0, 20, 1), (1000.15, 1, 100, 50), (1000.45, 4, 110, 'nan'), (1000.6, 4, 60, 60)])
        got = self.sensors()
        self.assertEqual([watt for _, watt in got], [20, 100, 110, 60])
        times = [time for time, _ in got]
        self.assertEqual(times, sorted(times))
        self.assertEqual(times, [0, 0.1, 0.4, 0.55])

    def test_sensors_of_a_pause_are_left_out(self):
        self.write_run()
        self.write_sensors([(1000.15, 1, 100, 50), (1300, 1, 10, 1), (1600.1, 2, 120, 50)])
        self.assertEqual([watt for _, watt in self.sensors()], [100, 120])


if __name__ == '__main__':
    unittest.main()
