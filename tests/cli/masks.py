# SPDX-License-Identifier: MIT
"""Data with masks: train, evaluate and predict with a class for each pixel, compared with counts
that this file computes itself."""
import csv, json, math, os, random, struct, sys, zlib
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, TINY, main

SIZE, SAMPLES, CLASSES, IGNORED = 32, 20, 3, 255
SETTINGS = ['--model', 'unet_small', '--set', 'model.width=0.5', '--set', f'image_size={SIZE}', '--set', 'batch_size=4',
            '--set', 'amp=false', '--set', 'workers=1', '--set', 'autotune=false', '--set', 'data.val_split=0.3']
LEARNS = ['--set', 'model.width=1']  # learns in six epochs, which a narrower model does not


def png(rows, colour):
    """Encodes 8-bit samples; colour: the PNG colour type, 2 for RGB, 3 for a palette."""
    chunks = [(b'IHDR', struct.pack('>IIBBBBB', len(rows[0]) // (3 if colour == 2 else 1), len(rows), 8, colour, 0, 0, 0))]
    if colour == 3:
        chunks.append((b'PLTE', bytes(range(256)) * 3))
    chunks += [(b'IDAT', zlib.compress(b''.join(b'\0' + bytes(row) for row in rows))), (b'IEND', b'')]
    return b'\x89PNG\r\n\x1a\n' + b''.join(
        struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body)) for kind, body in chunks)


def read_ids(path):
    """Reads the indices of a PNG with an 8-bit palette."""
    with open(path, 'rb') as file:
        data = file.read()
    at, pixels = 8, b''
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b'IHDR':
            width, height, bits, colour = struct.unpack('>IIBB', body[:10])
            assert (bits, colour) == (8, 3), (bits, colour)
        pixels += body if kind == b'IDAT' else b''
        at += 12 + size
    pixels, rows, before = zlib.decompress(pixels), [], bytes(width)
    for y in range(height):
        line = bytearray(pixels[y * (width + 1):(y + 1) * (width + 1)])
        how, row = line[0], line[1:]
        for x in range(width):
            a, b, c = row[x - 1] if x else 0, before[x], before[x - 1] if x else 0
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[x] = (row[x] + (0, a, b, (a + b) // 2, nearest)[how]) % 256
        rows.append(list(row))
        before = bytes(row)
    return rows


class Masks(Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(5)
        self.masks = [self.draw(f'data/images/{i:02}.png', f'data/masks/{i:02}.png') for i in range(SAMPLES)]

    def draw(self, image, mask):
        """Draws a bar of a class on the background, each in its own colour, and ignored rows."""
        middle, wide, kind = self.random.randrange(8, 24), self.random.randrange(3, 8), self.random.randrange(1, CLASSES)
        ids = [[kind if abs(x - middle) <= wide else 0 for x in range(SIZE)] for y in range(SIZE)]
        for _ in range(self.random.randrange(1, 8)):
            ids[self.random.randrange(SIZE)] = [IGNORED] * SIZE
        colours = {0: (20, 30, 40), 1: (220, 40, 30), 2: (30, 60, 230)}
        shown = [[channel for x in range(SIZE) for channel in
                  (min(255, c + self.random.randrange(25)) for c in colours[kind if abs(x - middle) <= wide else 0])] for y in range(SIZE)]
        for name, rows, colour in (image, shown, 2), (mask, ids, 3):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            with open(self.path(name), 'wb') as file:
                file.write(png(rows, colour))
        return ids

    def names(self):
        with open(self.path('data/classes.txt'), 'w') as file:
            file.write('background\nred bar\nblue bar\n')

    def train(self, *arguments, expect=0):
        return self.lines('train', '--data', 'data', *SETTINGS, '--json', *arguments, expect=expect)

    def count(self, masks):
        """Returns counts by [truth][predicted] and the number of ignored pixels, for samples by
        their number."""
        table, ignored = [[0] * CLASSES for _ in range(CLASSES)], 0
        for i, predicted in masks.items():
            for truth_row, row in zip(self.masks[i], predicted):
                for truth, got in zip(truth_row, row):
                    if truth < CLASSES:
                        table[truth][got] += 1
                    else:
                        ignored += 1
        return table, ignored

    def figures(self, table):
        right = [table[i][i] for i in range(CLASSES)]
        there, predicted = [sum(row) for row in table], [sum(row[i] for row in table) for i in range(CLASSES)]
        union = [there[i] + predicted[i] - right[i] for i in range(CLASSES)]
        counted = [i for i in range(CLASSES) if union[i]]
        return {'mean_iou': sum(right[i] / union[i] for i in counted) / len(counted),
                'mean_dice': sum(2 * right[i] / (there[i] + predicted[i]) for i in counted) / len(counted),
                'pixel_accuracy': sum(right) / sum(there)}

    def test_figures_are_those_of_the_masks(self):
        self.names()
        lines = self.train(*LEARNS, '--epochs', '6', '--out', 'run')
        done, = self.events(lines, 'done')
        plan, = self.events(lines, 'plan')
        planned, = self.events(self.lines('plan', '--data', 'data', *SETTINGS, '--json'), 'plan')
        self.assertEqual(planned['steps_per_epoch'], plan['steps_per_epoch'])
        self.assertEqual(plan['steps_per_epoch'], 3)  # 14 remaining samples, 4 a step
        epochs = self.events(lines, 'epoch')
        best = max(epochs, key=lambda e: e['val_mean_iou'])
        self.assertEqual(done['best_val_mean_iou'], best['val_mean_iou'])
        self.assertGreater(best['val_mean_iou'], 0.5)
        # The stored weights are those of the best epoch, and evaluate gives the figures of that
        # epoch's validation.
        validation, = self.lines('evaluate', '--run', 'run', '--data', 'data', '--part', 'validation', '--json')
        for name in 'mean_iou', 'mean_dice', 'pixel_accuracy':
            self.assertAlmostEqual(validation[name], best[f'val_{name}'], 6)
        predictions = self.lines('predict', '--run', 'run', '--data', 'data/images', '--masks', 'out', '--batch', '3', '--json')
        masks = {}
        for line in self.events(predictions, 'prediction'):
            masks[int(os.path.basename(line['sample'])[:2])] = rows = read_ids(self.path(line['mask']))
            for one in line['classes']:
                self.assertAlmostEqual(one['share'], sum(row.count(one['id']) for row in rows) / SIZE ** 2, 9)
            self.assertEqual([one['class'] for one in line['classes']], ['background', 'red bar', 'blue bar'])
        self.assertEqual(sorted(masks), list(range(SAMPLES)))
        everything, = self.lines('evaluate', '--run', 'run', '--data', 'data', '--json', '--worst', '3', '--table', 'table.csv')
        table, ignored = self.count(masks)
        self.assertEqual(everything['confusion'], table)
        self.assertEqual(everything['ignored_pixels'], ignored)
        self.assertEqual([c['pixels'] for c in everything['classes']], [sum(row) for row in table])
        for name, value in self.figures(table).items():
            self.assertAlmostEqual(everything[name], value, 9)
        own = {i: self.figures(self.count({i: mask})[0])['mean_iou'] for i, mask in masks.items()}
        self.assertEqual([round(w['mean_iou'], 6) for w in everything['worst']], [round(x, 6) for x in sorted(own.values())[:3]])
        with open(self.path('table.csv')) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), SAMPLES)
        for row in rows:
            i = int(os.path.basename(row['sample'])[:2])
            self.assertAlmostEqual(float(row['mean_iou']), own[i], 6)
            self.assertEqual(int(row['ignored']), self.count({i: masks[i]})[1])
        text = self.run_it('evaluate', '--run', 'run', '--data', 'data').stdout.decode()
        self.assertIn(f'mean IoU {100 * everything["mean_iou"]:.1f} %', text)
        self.assertIn('red bar', text)

    def test_losses_do_not_depend_on_the_batch(self):
        """The validation loss does not depend on the batch size, though batches have different
        shares of counted pixels."""
        self.train('--steps', '2', '--out', 'run')
        seen = []
        for batch in '2', '5':
            epoch, = self.events(self.train('--epochs', '1', '--weights', 'run/weights.safetensors', '--set', 'lr=0',
                                            '--set', f'batch_size={batch}', '--set', 'model.freeze=down,up', '--out', f'b{batch}'), 'epoch')
            seen.append(epoch)
        for name in 'val_loss', 'val_mean_iou', 'val_pixel_accuracy':
            self.assertAlmostEqual(seen[0][name], seen[1][name], 6)

    def test_a_resumed_run_goes_on_as_if_it_had_not_ended(self):
        common = [word for setting in ('augment.flip=true', 'augment.rotate=20', 'loss.dice=0.5', 'loss.focal=2') for word in ('--set', setting)]
        whole = self.events(self.train('--epochs', '4', '--out', 'whole', *common), 'epoch')
        self.assertLess(whole[3]['train_loss'], whole[0]['train_loss'])
        self.train('--epochs', '2', '--out', 'part', '--set', 'schedule_epochs=4', *common)
        rest = self.events(self.lines('train', '--resume', 'part', '--epochs', '4', '--json'), 'epoch')
        self.assertEqual([e['epoch'] for e in rest], [3, 4])
        for a, b in zip(whole[2:], rest):
            for name in 'train_loss', 'val_loss', 'val_mean_iou', 'val_mean_dice':
                self.assertEqual(a[name], b[name], name)

    def test_pixels_are_weighed(self):
        """Classes are weighted by their numbers of pixels, so a rare class counts as much as a
        frequent one."""
        self.names()
        first = {}
        for name, how in ('plain', []), ('even', ['--set', 'loss.class_weights=balanced']), ('named', ['--set', 'loss.weights=red bar=9']):
            first[name] = self.events(self.train('--steps', '1', '--out', name, *how), 'step')[0]['loss']
        self.assertEqual(len(set(first.values())), 3, first)
        for loss in first.values():
            self.assertTrue(0 < loss < 4 and math.isfinite(loss), first)

    def test_saved_models_end_in_the_logits(self):
        self.names()
        self.train('--epochs', '2', '--out', 'run')
        self.run_it('save', '--run', 'run', '--to', 'onnx', '-o', 'net.onnx')
        layers = self.lines('model', 'net.onnx', '--json')
        self.assertTrue(any(str(CLASSES) in json.dumps(line) for line in layers))
        # The network of the file, which has an output for each pixel, trains on the same data.
        epoch, = self.events(self.lines('train', '--data', 'data', '--model', 'net.onnx', *SETTINGS[4:], '--json', '--epochs', '1',
                                        '--out', 'again'), 'epoch')
        self.assertIn('val_mean_iou', epoch)
        saved, = self.lines('save', '--run', 'run', '--to', 'int8', '--data', 'data', '--json')
        own, = self.lines('evaluate', '--run', 'run', '--data', 'data', '--json')
        self.assertAlmostEqual(saved['fp32']['mean_iou'], own['mean_iou'], 9)
        rounded, = self.lines('evaluate', '--weights', 'run/weights-int8.safetensors', '--data', 'data', '--json')
        self.assertAlmostEqual(saved['int8']['mean_iou'], rounded['mean_iou'], 9)
        self.assertAlmostEqual(saved['cost']['mean_iou'], own['mean_iou'] - rounded['mean_iou'], 9)
        text = self.run_it('save', '--run', 'run', '--to', 'int8', '--data', 'data', '-f').stdout.decode()
        self.assertIn(f"{100 * own['mean_iou']:.2f} %", text)

    def test_focal_and_dice_loss_reach_the_training(self):
        def first(*settings):
            lines = self.train('--epochs', '1', '--out', f'run{len(settings)}{settings[-1:]}', *(
                word for setting in settings for word in ('--set', setting)))
            step, epoch = self.events(lines, 'step')[0], self.events(lines, 'epoch')[0]
            return step['loss'], epoch['val_loss']
        plain, focal, dice, half = (first(*settings) for settings in (
            (), ('loss.focal=2',), ('loss.dice=1',), ('loss.focal=2', 'loss.dice=0.5')))
        self.assertLess(focal[0], 0.8 * plain[0])
        self.assertTrue(0 < dice[0] < 1, dice)
        # With the same weights and samples, a loss that is half focal and half Dice is the mean of
        # the two losses.
        self.assertAlmostEqual(half[0], (focal[0] + dice[0]) / 2, 5)
        # Validation measures the plain loss.
        for one in focal, dice, half:
            self.assertGreater(one[1], 0.3 * plain[1])
        done = self.lines('train', '--data', TINY, '--model', 'mlp', '--steps', '2', '--out', 'tiny', '--json', '--set', 'loss.focal=2',
                          '--set', 'autotune=false')
        self.assertEqual(len(self.events(done, 'done')), 1)

    def test_refusals_name_what_would_do(self):
        def refused(*arguments, expect=2):
            return self.run_it(*arguments, expect=expect).stderr.decode()
        self.assertIn('unet_small', refused('train', '--data', 'data', '--model', 'resnet18', '--steps', '1', '--out', 'x'))
        self.assertIn('no masks', refused('train', '--data', TINY, '--model', 'unet_small', '--steps', '1', '--out', 'x'))
        self.assertFalse(os.path.exists(self.path('x')))
        self.assertIn('loss.focal', self.run_it('train', '--data', 'data', *SETTINGS, '--steps', '1', '--out', 'x', '--set', 'loss.focal=1',
                                                '--set', 'label_smoothing=0.1', expect=3).stderr.decode())
        for key, word in (('augment.mixup=0.2', 'augment.mixup'), ('data.balance=sampling', 'loss.class_weights')):
            self.assertIn(word, refused('train', '--data', 'data', *SETTINGS, '--steps', '1', '--out', 'x', '--set', key, expect=3))
        self.train('--steps', '1', '--out', 'run')
        self.assertIn('no masks', refused('evaluate', '--run', 'run', '--data', TINY, expect=3))
        for arguments, word in (([], '--masks'), (['--masks', 'out', '--csv'], '--csv')):
            self.assertIn(word, refused('predict', '--run', 'run', '--data', 'data/images', *arguments))
        with open(self.path('file'), 'w'):
            pass
        self.assertIn('file', refused('predict', '--run', 'run', '--data', 'data/images', '--masks', 'file', expect=7))

    def test_masks_have_the_size_of_their_images(self):
        """A mask has the size of its picture: the network's mask is scaled to it, and pixels that
        were cropped are ignored."""
        self.names()
        self.train(*LEARNS, '--epochs', '6', '--out', 'run')
        sizes = {'wide': (80, 40), 'tall': (33, 90), 'small': (16, 16), 'same': (SIZE, SIZE)}
        os.makedirs(self.path('new'))
        for name, (width, height) in sizes.items():
            side = min(width, height)
            inside = [3 * side // 8 <= x - (width - side) // 2 < 5 * side // 8 for x in range(width)]
            row = [channel for x in range(width) for channel in ((220, 40, 30) if inside[x] else (20, 30, 40))]
            with open(self.path(f'new/{name}.png'), 'wb') as file:
                file.write(png([row] * height, 2))
        told = self.events(self.lines('predict', '--run', 'run', '--data', 'new', '--masks', 'out', '--json'), 'prediction')
        small = self.events(self.lines('predict', '--run', 'run', '--data', 'new', '--masks', 'read', '--mask-size', 'network', '--json'), 'prediction')
        for line, other in zip(told, small):
            name = os.path.basename(line['sample'])[:-len('.png')]
            width, height = sizes[name]
            side = min(width, height)
            rows, read = read_ids(self.path(line['mask'])), read_ids(self.path(other['mask']))
            self.assertEqual((len(rows[0]), len(rows), len(read[0]), len(read)), (width, height, SIZE, SIZE))
            left, top = (width - side) / 2, (height - side) / 2
            for y in range(height):
                for x in range(width):
                    # Each pixel has the class of the network's pixel at its centre; on the border
                    # of two pixels, the first one's.
                    at = (x + 0.5 - left) * SIZE / side, (y + 0.5 - top) * SIZE / side
                    if min(at) <= 0 or max(at) > SIZE:
                        self.assertEqual(rows[y][x], IGNORED, (name, x, y))
                    else:
                        self.assertEqual(rows[y][x], read[math.ceil(at[1]) - 1][math.ceil(at[0]) - 1], (name, x, y))
            self.assertEqual(line['classes'], other['classes'])
            for one in line['classes']:
                self.assertAlmostEqual(one['share'], sum(row.count(one['id']) for row in read) / SIZE ** 2, 9)
            self.assertEqual(rows[height // 2][width // 2], 1, name)  # the bar
        # Masks of drawn pictures have the default size of the drawing.
        drawn = self.events(self.lines('predict', '--run', 'run', '--data', 'builtin:masks?size=48&samples=2', '--masks', 'drawn', '--json'), 'prediction')
        self.assertEqual(len(read_ids(self.path(drawn[0]['mask']))), 48)
        for arguments, word in ((['--masks', 'x', '--mask-size', 'huge'], 'image or network'), (['--mask-size', 'network'], '--masks')):
            self.assertIn(word, self.run_it('predict', '--run', 'run', '--data', 'new', *arguments, expect=2).stderr.decode())

    def test_equal_names_do_not_replace_each_other(self):
        self.draw('more/00.png', 'unused/00.png')
        self.train('--steps', '1', '--out', 'run')
        lines = self.events(self.lines('predict', '--run', 'run', '--data', 'data/images/00.png', 'more/00.png', '--masks', 'out', '--json'), 'prediction')
        self.assertEqual([os.path.basename(line['mask']) for line in lines], ['00.png', '1-00.png'])
        self.assertEqual(sorted(os.listdir(self.path('out'))), ['00.png', '1-00.png'])
        # A mask does not replace its own image either.
        with open(self.path('more/00.png'), 'rb') as file:
            image = file.read()
        message = self.run_it('predict', '--run', 'run', '--data', 'more', '--masks', 'more', expect=7).stderr.decode()
        self.assertIn('00.png', message)
        with open(self.path('more/00.png'), 'rb') as file:
            self.assertEqual(file.read(), image)


if __name__ == '__main__':
    main()
