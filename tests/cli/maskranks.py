# SPDX-License-Identifier: MIT
"""maskranks.py DYNOCTL: several processes train on masks, and on samples with several labels, with
the same result as one process that accumulates gradients.  The ranks' masks have very different
numbers of counted pixels, and their classes different weights."""
import os, random
from severalranks import *
import labels
from masks import png

SIZE, SAMPLES, IGNORED = 16, 22, 255
MASKS = ['train', '--data', 'data', '--model', 'unet_small', '--seed', '1', '--set', 'amp=false', '--set', 'workers=1', '--set', 'autotune=false',
         '--set', 'model.width=0.25', '--set', f'image_size={SIZE}', '--set', 'data.val_split=0.3', '--set', 'deterministic=true', '--json', '--no-out']
FIGURES = 'val_mean_iou', 'val_mean_dice', 'val_pixel_accuracy'


def write_data():
    """Writes data in which nearly all rows of every second mask are ignored, and class 2 is
    rare."""
    chance = random.Random(3)
    for i in range(SAMPLES):
        middle, kind = chance.randrange(3, 13), 2 if i % 5 == 0 else 1
        ids = [[kind if abs(x - middle) < 3 else 0 for x in range(SIZE)] if i % 2 == 0 or y < 2 else [IGNORED] * SIZE for y in range(SIZE)]
        shown = [[chance.randrange(40) + (180 if abs(x - middle) < 3 and channel == kind else 30) for x in range(SIZE) for channel in range(3)]
                 for y in range(SIZE)]
        for name, rows, colour in ('images', shown, 2), ('masks', ids, 3):
            os.makedirs(f'{folder}/data/{name}', exist_ok=True)
            with open(f'{folder}/data/{name}/{i:02}.png', 'wb') as file:
                file.write(png(rows, colour))
    with open(f'{folder}/data/classes.txt', 'w') as file:
        file.write('ground\nred\ngreen\n')


def last_epoch(out):
    return ([event for event in events(out) if event['event'] == 'epoch'] or [{}])[-1]


def near(a, b, within):
    return a is not None and b is not None and abs(a - b) <= within * max(1, abs(a))


def trains_alike():
    """The 15 training samples are divided into steps of 4 over all processes; in the last step some
    ranks have fewer samples, or none."""
    for n, settings in (2, ['loss.weights=green=9,red=2']), (4, ['augment.flip=true', 'label_smoothing=0.1']):
        more = [word for setting in settings for word in ('--set', setting)]
        one = run([dynoctl, *MASKS, '--epochs', '2', '--set', f'batch_size={4 // n}', '--set', f'accumulate={n}', *more])
        several = run(ranks(n, *MASKS, '--epochs', '2', '--set', f'batch_size={4 // n}', *more))
        check(f'{n} ranks train on masks', one[0] == several[0] == 0, one[2] + several[2])
        pairs = list(zip(losses(one[1]), losses(several[1])))
        check(f'{n} ranks have the losses of one process', len(losses(one[1])) == len(losses(several[1])) == len(pairs) > 6 and
              all(near(a, b, 1e-4) for a, b in pairs), pairs)
        a, b = last_epoch(one[1]), last_epoch(several[1])
        check(f'{n} ranks have its loss of an epoch', near(a.get('train_loss'), b.get('train_loss'), 1e-4), f'{a}\n{b}')


def validates_alike():
    """With constant weights, the pixel counts of each pair of classes are exactly equal."""
    code, out, err = run([dynoctl, *MASKS[:-1], '--epochs', '8', '--set', 'batch_size=4', '--out', 'kept'])
    check('one process trains', code == 0, out + err)
    still = ['--weights', 'kept/weights.safetensors', '--set', 'lr=0', '--set', 'model.freeze=down,up', '--epochs', '1']
    one = run([dynoctl, *MASKS, *still, '--set', 'batch_size=4'])
    expected = last_epoch(one[1])
    check('the masks are not all of one class', 0.2 < (expected.get('val_mean_iou') or 0) < 1, expected)
    for n, batch in (2, 2), (3, 1), (4, 3):
        several = run(ranks(n, *MASKS, *still, '--set', f'batch_size={batch}'))
        told = last_epoch(several[1])
        check(f'{n} ranks count the pixels of one process', several[0] == 0 and all(name in told and told[name] == expected[name] for name in FIGURES),
              f'{expected}\n{told}\n{several[2]}')
        check(f'{n} ranks have its loss of the validation', near(expected.get('val_loss'), told.get('val_loss'), 1e-5), f'{expected}\n{told}')


def labels_alike():
    """The figures need the predictions of all ranks, of which the last ones have fewer or none.  The
    model has no running statistics, which follow the batches of a rank."""
    labels.write_data(f'{folder}/labels')
    job = ['train', '--data', 'labels/flags.csv', '--model', 'mlp', *labels.SETTINGS[2:], '--set', 'lr=0.003', '--seed', '3', '--json', '--epochs', '2', '--no-out']
    one = run([dynoctl, *job, '--set', 'batch_size=4', '--set', 'accumulate=2'])
    two = run(ranks(2, *job, '--set', 'batch_size=4'))
    expected, got = last_epoch(one[1]), last_epoch(two[1])
    check('2 ranks have the losses of one process on labels',
          all(near(expected.get(name), got.get(name), 1e-4) for name in ('train_loss', 'val_loss')), f'{expected}\n{got}\n{one[2]}{two[2]}')
    check('the predictions differ from the truth', 0.2 < (expected.get('val_mean_average_precision') or 0) < 1, expected)
    still = [*job, '--set', 'lr=0', '--set', 'data.val_split=0.6']
    expected = last_epoch(run([dynoctl, *still])[1])
    for n, batch in (2, 3), (3, 8):
        several = run(ranks(n, *still, '--set', f'batch_size={batch}'))
        got = last_epoch(several[1])
        check(f'{n} ranks have the figures of one process on labels',
              all(near(expected.get(name), got.get(name), 1e-6) for name in ('val_mean_average_precision', 'val_f1_micro', 'val_exact_match')),
              f'{expected}\n{got}\n{several[2]}')


write_data()
trains_alike()
validates_alike()
labels_alike()
finish()
