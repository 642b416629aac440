#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data with masks, and runs with a class for each pixel.  Usage: see harness.py."""
import csv
import os
import re
import sys
import zlib

import harness
from harness import GLib, Role, State, THERE

SIDE = 32
SETTINGS = {'model__width': 0.5, 'image_size': SIDE, 'batch_size': 4, 'amp': 'false', 'epochs': 1, 'data__val_split': 0.25}


def write_png(path, rows, colour):
    """Writes a picture of 8-bit samples; colour: the PNG colour type, 2 for RGB, 3 for a
    palette."""
    def chunk(kind, data):
        return len(data).to_bytes(4, 'big') + kind + data + zlib.crc32(kind + data).to_bytes(4, 'big')
    head = (len(rows[0]) // (3 if colour == 2 else 1)).to_bytes(4, 'big') + len(rows).to_bytes(4, 'big') + bytes([8, colour, 0, 0, 0])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + (chunk(b'PLTE', bytes(range(256)) * 3) if colour == 3 else b'') +
                   chunk(b'IDAT', zlib.compress(b''.join(b'\0' + bytes(row) for row in rows))) + chunk(b'IEND', b''))


def write_data(home, ignored=0, n=16):
    """Writes grey images with masks: class 1 on the left half of each second mask, class 2 on that
    of the others, and this many ignored rows at the bottom."""
    folder = home.file('data')
    for i in range(n):
        kind, grey = i % 2 + 1, 40 + 3 * i
        ids = [[kind if x < SIDE // 2 else 0 for x in range(SIDE)] if y < SIDE - ignored else [255] * SIDE for y in range(SIDE)]
        shown = [[(200 if x < SIDE // 2 and channel == i % 2 else grey) for x in range(SIDE) for channel in range(3)] for y in range(SIDE)]
        write_png(f'{folder}/images/{i:02}.png', shown, 2)
        write_png(f'{folder}/masks/{i:02}.png', ids, 3)
    home.write('data/classes.txt', 'ground\nred bar\ngreen bar\n')
    return folder


def open_data(window, data, model='unet_small', **settings):
    window.open_settings(data=data, model=model, **dict(SETTINGS, **settings))


def train(window, data):
    open_data(window, data)
    window.ready()
    window.press('Start')
    window.page('Train')
    window.finished()
    window.ready()


def choose_the_run(window):
    window.page('Runs')
    table = window.find_where('the list', lambda n: n.name == 'Runs', Role.TABLE, Role.TREE_TABLE)
    window.wait_for('the run', lambda: table.n_rows == 1)
    table.call('Table', 'AddRowSelection', '(i)', 0)


def close(pixel, rgb):
    return all(abs(a - b) <= 6 for a, b in zip(pixel, rgb))


def test_masks_are_shown_over_the_samples(home):
    """Masks are shown in the colours of their classes, with each class's share of the counted
    pixels; ignored pixels are hatched."""
    window = home.window()
    screen = harness.Screen()
    window.ready()
    # Without notes to scroll past.
    open_data(window, write_data(home, ignored=8), data__task='pixels', data__val_split=0)
    window.page('Data')
    window.text('Images and masks')

    def row_of(name):
        """Looks the row up again: the list may be rebuilt when notes on the data arrive."""
        return window.find(Role.LIST_ITEM, name + ' of the pixels', states=THERE)
    for name in 'ground: 50.0 %', 'red bar: 25.0 %', 'green bar: 25.0 %':
        window.wait_for('four pictures', lambda name=name: sum(n.name == 'A sample' for n in row_of(name).inside()) == 4)
    window.find_where('the share that counts for no class', lambda n: (
        n.name == 'Classes' and '  25.0 % of all pixels count for no class' in n.description), states=THERE)
    window.find_where('the balance', lambda n: n.name == 'Balance of classes' and n.description.splitlines()[1:2] == [
        'red bar: 25.0 % of the pixels'], states=THERE)

    def pictures():
        row = row_of('red bar: 25.0 %')
        if not row.has(State.FOCUSED):
            row.call('Component', 'GrabFocus')  # scrolls it into view
        return [n for n in row.inside() if n.name == 'A sample']

    def is_covered(picture):
        x, y, width, height = picture.extents()
        now = screen.pixels([(x + width * part // 100, y + height * line // 100, 1, 1) for part, line in ((25, 30), (75, 30))])
        hatched = screen.pixels([(x, y + height * 95 // 100, width, 1)])
        if not now or not hatched or not all((*now, *hatched)):  # not scrolled into view yet
            return False
        left, right = [(p[2], p[1], p[0]) for p in now]
        line = {tuple(hatched[0][i:i + 3]) for i in range(0, len(hatched[0]), 4)}
        # The left half is red over grey of its brightness, and the right half is unchanged.
        return 160 > left[0] > left[1] + 50 and close(left[1:], [left[1]] * 2) and close(right, [right[0]] * 3) and right[0] < 120 and \
            max(map(max, line)) > 130 and min(map(min, line)) < 60
    window.wait_for('masks over the pictures', lambda: [is_covered(n) for n in pictures()] == [True] * 4)


def test_masks_move_with_what_the_network_sees(home):
    """Rotated pictures have rotated masks."""
    window = home.window()
    screen = harness.Screen()
    window.ready()
    open_data(window, write_data(home), augment__rotate=90)
    window.page('Data')

    def row():
        """Looks the row up again and scrolls it into view."""
        row = window.find(Role.LIST_ITEM, 'red bar: 25.0 % of the pixels', states=THERE)
        if not row.has(State.FOCUSED):
            row.call('Component', 'GrabFocus')
        return row
    window.find(Role.TOGGLE_BUTTON, 'As the Network Sees Them', states=THERE).act()

    def red(pixel):
        return pixel[2] > pixel[1] + 40 and close(pixel[:2], [pixel[0]] * 2)

    def moved():
        pictures = [n.extents() for n in row().inside() if n.name == 'A sample as the network sees it']
        now = screen.pixels(pictures) if len(pictures) == 4 else None
        if not now:
            return False
        shares = []
        for (_, _, width, height), pixels in zip(pictures, now):
            marked = [red(pixels[i:i + 3]) for i in range(0, len(pixels), 4)]
            columns = [sum(marked[x::width]) for x in range(width)]
            shares.append((sum(marked) / len(marked), max(columns) / height, min(columns) / height))
        # A mask that was not rotated would have whole columns of the class, and others without a
        # pixel of it.
        return all(share > 0.15 for share, _, _ in shares) and any(most < 0.95 or least > 0.05 for _, most, least in shares)
    window.wait_for('moved masks', moved)


def test_the_window_closes_while_the_network_looks(home):
    """A thread is using the device at that moment, and the exit of the process must wait for it."""
    window = home.window()
    window.ready()
    open_data(window, write_data(home), augment__rotate=90)
    window.page('Data')
    window.find(Role.LIST_ITEM, 'red bar: 25.0 % of the pixels', states=THERE)
    window.find(Role.TOGGLE_BUTTON, 'As the Network Sees Them', states=THERE).act()
    home.leave()


def test_a_model_that_does_not_suit_masks_is_replaced(home):
    """The button beside the reason replaces the model, in both directions."""
    window = home.window()
    folder = write_data(home)
    window.ready()
    for data, wrong, sentence, button in (folder, 'simplecnn', 'the data has a mask for each image', 'Use Small U-Net'), \
            ('builtin:shapes?size=32&samples=100', 'unet_small', 'the data has no masks', 'Use SimpleCNN'):
        open_data(window, data, wrong)
        window.page('Train')
        step = window.wait_for(f'the step to say "{sentence}"', lambda sentence=sentence: next(
            (n for n in window.nodes(Role.PUSH_BUTTON) if n.name.startswith('Model: ') and sentence in n.description), None))
        assert not window.find(Role.PUSH_BUTTON, 'Start').sensitive()
        step.act()
        window.press(button)
        window.ready()
        window.find(Role.PUSH_BUTTON, 'Model: ' + button[4:])


def test_a_run_of_masks_is_evaluated(home):
    """A run of masks shows the mean IoU; its evaluation has figures, a table, a matrix, pictures
    and a table of samples."""
    window = home.window()
    train(window, write_data(home))
    said = window.text('Finished in ')
    best = re.search(r'best mean IoU ([\d.]+) %', said)
    assert best, said
    assert window.has('Mean IoU') and not window.has('Pixel accuracy'), 'the tile has another metric than the sentence'
    charts = [n.name for n in window.nodes(Role.CHART)]
    assert 'Mean IoU' in charts and 'Pixel accuracy' not in charts, charts
    choose_the_run(window)
    window.press('Evaluation', Role.RADIO_BUTTON)
    window.press('Evaluate the Validation Samples')
    window.text_with('4 validation samples of “data”')
    figures = {n.name.split(': ')[0]: float(re.search(r'[\d.]+', n.name.split(': ')[1])[0])
               for n in window.nodes() if n.name.startswith(('Mean IoU: ', 'Mean Dice: ', 'Pixel Accuracy: '))}
    assert set(figures) == {'Mean IoU', 'Mean Dice', 'Pixel Accuracy'}, figures
    assert abs(figures['Mean IoU'] - float(best[1])) <= 0.11, (figures, best[1])
    path = home.file('samples.csv')
    window.press('Save Table…')
    window.save_as('Save the Table of Samples', path, 'Save')
    window.text('Saved in ' + path)
    with open(path, newline='') as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 and abs(sum(float(r['pixel_accuracy']) for r in rows) * 25 - figures['Pixel Accuracy']) < 0.06, (rows, figures)
    samples = window.find_where('the samples', lambda n: n.name == 'Samples shown', states=())

    def order():
        return [n.name.split(': ')[0] for n in samples.children() if n]
    worst = [r['sample'] for r in sorted(rows, key=lambda r: float(r['mean_iou']))]
    window.text('Samples with the Lowest Mean IoU: Truth, Prediction')
    window.wait_for('all four, the worst first', lambda: order() == worst)
    assert all(len(n.inside(Role.IMAGE, Role.ICON, states=())) == 2 for n in samples.children()), 'truth and prediction are not beside each other'
    matrix = window.find(Role.CHART, 'Confusion matrix')
    window.focus_on(matrix)
    window.wait_for('the first cell', lambda: re.match(r'[\d.]+ % of the pixels of “ground” are right', matrix.now().description))

    def shows_worst_of(name):
        """Return lists the samples that have the class in mask or prediction, by their IoU of the
        class."""
        window.key('Return')
        window.text(f'Samples with the Lowest IoU of “{name}”: Truth, Prediction')
        own = sorted((r for r in rows if r['IoU of ' + name]), key=lambda r: (float(r['IoU of ' + name]), int(r['index'])))
        window.wait_for('those with the class', lambda: order() == [r['sample'] for r in own])
    shows_worst_of('ground')
    window.key('Down', 'Right')
    window.wait_for('its second', lambda: re.match(r'[\d.]+ % of the pixels of “red bar” are right', matrix.now().description))
    shows_worst_of('red bar')
    window.press('Show the Worst')
    window.wait_for('all of them', lambda: order() == worst)
    assert not window.nameless(), window.nameless()


def test_a_run_of_masks_predicts_and_saves_them(home):
    """Predictions show the classes of a mask with their shares; saved masks equal those of dynoctl,
    have the sizes of their images, and overwrite no file."""
    window = home.window()
    folder = write_data(home)
    train(window, folder)
    wide = home.file('wide.png')
    write_png(wide, [bytes(200 if x < 40 else 50 for x in range(90) for _ in range(3))] * 47, 2)
    images = [f'{folder}/images/{name}.png' for name in ('00', '01')] + [wide]
    window.activate('predict', GLib.Variant('aay', [path.encode() + b'\0' for path in images]))
    row = window.find_where('its classes', lambda n: re.match(r'.*00\.png: .*\d %', n.name), Role.LIST_ITEM, states=THERE)
    shares = [float(s) for s in re.findall(r' ([\d.]+) %', row.name)]
    assert abs(sum(shares) - 100) < 0.2 and shares == sorted(shares, reverse=True), row.name
    assert len(row.inside(Role.LEVEL_BAR)) == len(shares)
    window.text_with('3 images, ')
    path = home.file('shares.csv')
    window.press('Save Table…')
    window.save_as('Save the Table of Predictions', path, 'Save')
    with open(path, newline='') as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 and all(abs(sum(float(v) for k, v in r.items() if k.startswith('share of ')) - 1) < 1e-5 for r in rows), rows
    home.run(os.environ['DYNO_UI_DYNOCTL'], 'predict', '--run', home.newest_run(), '--data', *images, '--masks', home.file('same'))

    def type_in(dialog, place):
        chooser = window.find(Role.FILE_CHOOSER, dialog)
        window.key('ctrl+l')
        field = window.wait_for('the place to type in', lambda: next((n for n in chooser.inside(Role.TEXT, states=harness.SHOWING)), None))
        field.text = place
        window.press('Open')

    def save_in(place):
        window.press('Save Masks…')
        type_in('Folder for the Masks', place)
    os.makedirs(home.file('out'))
    save_in(home.file('out'))
    window.text_with('3 masks saved in ' + home.file('out'))
    rows = [n for n in window.nodes(Role.LIST_ITEM, states=THERE) if re.match(r'/.*\.png: .*\d %', n.name)]
    assert len(rows) == 3, [n.name for n in rows]  # those of the first prediction are gone
    for name in '00.png', '01.png', 'wide.png':
        with open(home.file('out/' + name), 'rb') as one, open(home.file('same/' + name), 'rb') as other:
            mask = one.read()
            assert mask == other.read(), name
        assert name != 'wide.png' or mask[16:24] == bytes([0, 0, 0, 90, 0, 0, 0, 47]), mask[16:24]
    with open(images[0], 'rb') as file:
        before = file.read()
    window.find_where('the button again', lambda n: n.name == 'Save Masks…' and n.sensitive(), Role.PUSH_BUTTON)
    save_in(folder + '/images')
    window.text_with('the file exists already')
    window.press('Choose Images…')  # other images, whose masks are not needed
    type_in('Images to Predict', wide)
    said = window.text_with('1 image, ')
    assert 'saved in' not in said, said
    with open(images[0], 'rb') as file:
        assert file.read() == before, 'an image was written over by its mask'
    assert not window.nameless(), window.nameless()


TESTS = [test_masks_are_shown_over_the_samples, test_masks_move_with_what_the_network_sees, test_the_window_closes_while_the_network_looks, test_a_model_that_does_not_suit_masks_is_replaced,
         test_a_run_of_masks_is_evaluated, test_a_run_of_masks_predicts_and_saves_them]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
