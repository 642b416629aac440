# SPDX-License-Identifier: MIT
"""dynoctl predict and evaluate: from a weights file alone to classes, tables and scores."""
import csv, io, os, struct, sys, zlib
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, SMALL, TINY, main


def png(size, grey, cut=0):
    rows = zlib.compress((b'\0' + bytes([grey]) * size) * size)
    data = b'\x89PNG\r\n\x1a\n'
    for kind, body in (b'IHDR', struct.pack('>IIBBBBB', size, size, 8, 0, 0, 0, 0)), (b'IDAT', rows), (b'IEND', b''):
        data += struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
    return data[:len(data) - cut]


class Predict(Case):
    def test_a_run_predicts_and_is_evaluated(self):
        self.run_it('train', '--data', TINY, *SMALL, '--steps', '2', '--set', 'data.val_split=0', '--out', 'run')
        self.check_files_folders_and_what_cannot_be_read()
        self.check_evaluation_adds_up()

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(data)

    def check_files_folders_and_what_cannot_be_read(self):
        self.write('new/deep/b.png', png(20, 200))
        self.write('new/a.png', png(30, 10))
        self.write('new/broken.png', png(30, 10, 30))
        self.write('new/text', b'no image')
        lines = self.lines('predict', '--run', 'run', '--top', '2', '--json', '--data', 'new/deep/b.png', 'new', 'gone.png')
        told = self.events(lines, 'prediction')
        self.assertEqual([one['sample'] for one in told], ['new/deep/b.png', 'new/a.png', 'new/deep/b.png'])
        self.assertEqual(told[0]['classes'], told[2]['classes'])
        self.assertEqual([len(one['classes']) for one in told], [2, 2, 2])
        self.assertGreaterEqual(told[0]['classes'][0]['probability'], told[0]['classes'][1]['probability'])
        self.assertIn(told[0]['classes'][0]['class'], ('circle', 'square', 'triangle', 'ring'))
        texts = [one['text'] for one in self.events(lines, 'unreadable')]
        for name in 'gone.png', 'new/text':
            self.assertTrue(any(name in text for text in texts), texts)
        self.assertEqual([one['sample'] for one in self.events(lines, 'unreadable') if one['sample']], ['new/broken.png'])
        done, = self.events(lines, 'done')
        self.assertEqual((done['samples'], done['unreadable']), (4, 3))
        self.assertGreater(done['samples_per_s'], 0)
        self.run_it('predict', '--run', 'run', 'gone.png', expect=3)

        done = self.run_it('predict', '--run', 'run', '--csv', '--top', '9', 'new')
        table = list(csv.DictReader(io.StringIO(done.stdout.decode())))
        self.assertEqual([row['sample'] for row in table], ['new/a.png', 'new/broken.png', 'new/deep/b.png'])
        self.assertAlmostEqual(sum(float(table[0][f'probability_{i}']) for i in range(1, 5)), 1, places=4)
        self.assertTrue(table[1]['problem'] and not table[1]['class_1'])
        self.assertIn(b'samples/s', done.stderr)

    def check_evaluation_adds_up(self):
        told, = self.lines('evaluate', '--run', 'run', '--data', TINY, '--worst', '3', '--json')
        self.assertEqual(told['samples'], 80)
        self.assertEqual([sum(row) for row in told['confusion']], [one['samples'] for one in told['classes']])
        right = sum(told['confusion'][i][i] for i in range(4))
        self.assertAlmostEqual(told['accuracy'], right / 80)
        self.assertEqual(len(told['worst']), 3)
        self.assertGreaterEqual(told['worst'][0]['loss'], told['worst'][2]['loss'])
        text = self.run_it('evaluate', '--weights', 'run/weights.safetensors', '--data', TINY).stdout.decode()
        for words in 'accuracy', 'precision', 'confusion matrix', 'worst: ':
            self.assertIn(words, text)
        for arguments in (('--data', TINY), ('--run', 'run'), ('--run', 'run', '--weights', 'x', '--data', TINY),
                          ('--run', 'run', '--data', TINY, '--part', 'training')):
            self.run_it('evaluate', *arguments, expect=2)
        self.run_it('evaluate', '--run', 'gone', '--data', TINY, expect=3)


main()
