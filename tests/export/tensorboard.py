#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TensorBoard event files, read by a strict reader of their format: framing, checksums,
every field of every message.  tensorboard.py EXPORT_RUN"""
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXPORT_RUN = sys.argv.pop(1)
HEAD = ('step,epoch,loss,accuracy,top5,lr,samples_per_s,step_ms,grad_norm,loss_scale,skipped,vram_bytes,seconds,'
        'train_loss,train_accuracy,train_top5,val_loss,val_accuracy,val_top5,epoch_samples_per_s,epoch_seconds').split(',')
MTIME = 1700000000.25


def crc32c(data):
    """Bit by bit: slow but simple."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xa282ead8) & 0xffffffff


def records(data):
    while data:
        size, size_crc = struct.unpack('<QI', data[:12])
        assert size_crc == masked(data[:8]), 'checksum of a length'
        body, crc = data[12:12 + size], data[12 + size:16 + size]
        assert len(body) == size and len(crc) == 4, 'cut'
        assert struct.unpack('<I', crc)[0] == masked(body), 'checksum of a record'
        yield body
        data = data[16 + size:]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if byte < 0x80:
            assert byte or shift == 7, 'a longer varint than needed'
            return value, at


def fields(data):
    """Yields (number, wire type, value) of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire, value = key & 7, None
        if wire == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(wire)
            if wire == 2:
                size, at = varint(data, at)
            assert size is not None, f'wire type {wire}'
            value, at = data[at:at + size], at + size
            assert len(value) == size, 'a field that is cut'
        yield key >> 3, wire, value


def message(data, allowed, repeated=()):
    """Returns {number: value}; every number must be allowed, have its wire type, and occur once."""
    found = {}
    for number, wire, value in fields(data):
        assert allowed[number] == wire, (number, wire)
        if number in repeated:
            found.setdefault(number, []).append(value)
        else:
            assert number not in found, f'field {number} twice'
            found[number] = value
    return found


def events(path):
    """Returns [(wall time, step, {tag: value}, {tag: metadata})], and the version of the first."""
    rows, version = [], None
    for body in records(path.read_bytes()):
        event = message(body, {1: 1, 2: 0, 3: 2, 5: 2})
        time = struct.unpack('<d', event[1])[0]
        if version is None:
            version = event[3].decode()
            assert set(event) == {1, 3}
            continue
        assert set(event) == {1, 2, 5}
        values, metadata = {}, {}
        for one in message(event[5], {1: 2}, repeated=(1,))[1]:
            value = message(one, {1: 2, 2: 5, 9: 2})
            tag = value[1].decode()
            assert tag not in values
            values[tag] = struct.unpack('<f', value[2])[0]
            if 9 in value:
                meta = message(value[9], {1: 2, 4: 0})
                metadata[tag] = (message(meta[1], {1: 2})[1].decode(), meta[4])
        rows.append((time, event[2], values, metadata))
    return version, rows


def as_float(text):
    """The value rounded to a float."""
    return struct.unpack('<f', struct.pack('<f', float(text)))[0]


class TensorBoard(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix='dyno-tensorboard-')
        self.addCleanup(self.scratch.cleanup)
        self.run_folder = Path(self.scratch.name) / 'run'
        self.run_folder.mkdir()

    def write_run(self, n, validated=True):
        """Writes rows as metrics.csv has them: [{column: text}]."""
        rows = []
        for step in range(1, n + 1):
            row = {name: '' for name in HEAD}
            row |= {'step': str(step), 'epoch': str(1 + (step - 1) // 4), 'loss': f'{2 / step:.9g}',
                    'accuracy': f'{step / n:.6g}', 'top5': '1', 'lr': '0.05', 'samples_per_s': f'{100 + step}',
                    'step_ms': '12.5000', 'grad_norm': 'inf' if step == 2 else '0.75', 'loss_scale': '65536',
                    'skipped': '1' if step == 2 else '0', 'vram_bytes': '123456789', 'seconds': f'{step * 0.25:.4f}'}
            if step % 4 == 0:
                val = f'{3 / step:.9g}' if validated else 'nan'
                row |= {'train_loss': '0.5', 'train_accuracy': '0.25', 'train_top5': '0.75', 'val_loss': val,
                        'val_accuracy': val, 'val_top5': val, 'epoch_samples_per_s': '99', 'epoch_seconds': '1.2500'}
            rows.append(row)
        path = self.run_folder / 'metrics.csv'
        path.write_text('\n'.join([','.join(HEAD), *(','.join(row[name] for name in HEAD) for row in rows)]) + '\n')
        os.utime(path, (MTIME, MTIME))
        return rows

    def export(self):
        out = Path(self.scratch.name) / 'out'
        out.mkdir()
        done = subprocess.run([EXPORT_RUN, 'tensorboard', self.run_folder, out], capture_output=True, text=True, check=True)
        return Path(done.stdout.strip())

    def test_every_number_of_the_log_is_there(self):
        rows = self.write_run(300)  # more than are copied from the log at a time
        version, read = events(self.export())
        self.assertEqual(version, 'brain.Event:2')
        steps = [row for row in read if any(tag.startswith('step/') for tag in row[2])]
        epochs = [row for row in read if any(tag.startswith('epoch/') for tag in row[2])]
        self.assertEqual(len(steps) + len(epochs), len(read))
        first_of_epoch = HEAD.index('train_loss')
        for got, row in zip(steps, rows, strict=True):
            self.assertEqual(got[1], int(row['step']))
            for name in HEAD[2:first_of_epoch]:
                self.assertEqual(got[2]['step/' + name], as_float(row[name]), name)
        ends = [row for row in rows if row['train_loss']]
        for got, row in zip(epochs, ends, strict=True):
            self.assertEqual(got[1], int(row['step']))
            self.assertEqual({tag: value for tag, value in got[2].items() if not math.isnan(value)},
                             {'epoch/' + name: as_float(row[name]) for name in HEAD[first_of_epoch:]})

    def test_times_end_when_the_log_was_last_written(self):
        rows = self.write_run(6)
        for got, row in zip([row for row in events(self.export())[1] if 'step/loss' in row[2]], rows, strict=True):
            self.assertAlmostEqual(got[0], MTIME - float(rows[-1]['seconds']) + float(row['seconds']), places=3)

    def test_a_tag_says_once_that_it_is_a_scalar(self):
        self.write_run(9)
        said = [(tag, meta) for row in events(self.export())[1] for tag, meta in row[3].items()]
        tags = {tag for row in events(next(Path(self.scratch.name).glob('out/*')))[1] for tag in row[2]}
        self.assertEqual(len(said), len(tags))
        self.assertEqual(dict(said), {tag: ('scalars', 1) for tag in tags})

    def test_what_was_never_measured_is_left_out(self):
        self.write_run(8, validated=False)
        tags = {tag for row in events(self.export())[1] for tag in row[2]}
        self.assertIn('epoch/train_loss', tags)
        self.assertFalse([tag for tag in tags if 'val_' in tag])
        self.assertNotIn('step/upload_ms', tags)

    def test_a_run_without_a_step_is_a_file_with_a_version(self):
        self.write_run(0)
        self.assertEqual(events(self.export()), ('brain.Event:2', []))

    def test_the_name_is_one_that_tensorboard_reads(self):
        self.write_run(1)
        parts = self.export().name.split('.')
        self.assertEqual(parts[:3], ['events', 'out', 'tfevents'])
        self.assertEqual(len(parts[3]), 10)
        int(parts[3])


if __name__ == '__main__':
    unittest.main()
