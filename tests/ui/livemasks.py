#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The masks of a few validation samples during a run.  Usage: see harness.py."""
import csv
import os
import re
import sys

import harness
import masks
from harness import Role, State, THERE

CARD = 'Validation Samples: Truth, Prediction'


def begin(window, data, **settings):
    masks.open_data(window, data, **settings)
    window.ready()
    window.press('Start')
    window.page('Train')


def title(window):
    """The expander of the card, once it is shown; its description names the epoch."""
    return window.find(Role.TOGGLE_BUTTON, CARD)


def epoch(window):
    said = re.match(r'After epoch ([\d,]+)$', title(window).description)
    return int(said[1].replace(',', '')) if said else 0


def wait_for_epoch(window, least):
    return window.wait_for(f'epoch {least}', lambda: epoch(window) >= least and epoch(window))


def samples(window):
    """The widgets named like "images/03.png: Mean IoU 41.2 %", in their order."""
    return [n for n in window.nodes(Role.LIST_ITEM, states=THERE) if ': Mean IoU ' in n.name]


def names(window):
    return [n.name.split(': ')[0] for n in samples(window)]


def test_masks_follow_a_run(home):
    """The card shows the masks of the same samples after each epoch; samples can be chosen by the
    keyboard, and the card can be folded."""
    window = home.window()
    screen = harness.Screen()
    window.ready()
    begin(window, masks.write_data(home), epochs=1000000)
    first = wait_for_epoch(window, 1)
    shown = names(window)
    assert len(set(shown)) == 4, shown
    later = wait_for_epoch(window, first + 1)
    assert names(window) == shown, (names(window), shown)

    def is_covered(sample):
        """Whether both truth and prediction have a coloured left half and a grey right half."""
        pictures = [n.extents() for n in sample.inside(Role.IMAGE) if n.name in ('Truth', 'Prediction')]
        now = screen.pixels(pictures)
        if not now or len(pictures) != 2 or pictures[0][0] >= pictures[1][0]:
            return False
        halves = []
        for (_, _, width, height), pixels in zip(pictures, now):
            left, right = [[pixels[at + k] for k in (2, 1, 0)] for part in (width // 4, width * 3 // 4)
                           for at in [4 * (width * (height // 2) + part)]]
            halves.append(max(left) - min(left) > 50 and masks.close(right, [right[0]] * 3))
        return halves == [True, True]
    window.focus_on(samples(window)[0])  # scrolls it into view
    window.wait_for('masks over both pictures', lambda: all(is_covered(n) for n in samples(window)[:3]))
    window.key('Return')
    window.text_with(shown[0] + '\nMean IoU ')

    def classes():  # the classes are listed anew after each epoch
        listed = [label.name for n in window.nodes(states=THERE) if n.name == 'Classes' for label in n.inside(Role.LABEL)]
        return listed[:1] == ['ground'] and set(listed) <= {'ground', 'red bar', 'green bar'} and len(listed) > 1
    window.wait_for('its classes', classes)
    assert not window.nameless(), window.nameless()
    window.key('Escape')
    window.wait_without_text(shown[0] + '\nMean IoU ')
    window.focus_on(title(window))
    window.key('space')
    window.wait_for('the samples to be folded away', lambda: not any(n.showing() for n in samples(window)))
    window.key('space')
    window.wait_for('the samples', lambda: len([n for n in samples(window) if n.showing()]) == 4)
    wait_for_epoch(window, later + 1)
    assert names(window) == shown
    window.stop()
    assert names(window) == shown, 'the masks went with the end of the run'


def test_masks_are_those_of_the_run(home):
    """The last masks have the score that dynoctl computes with the last weights; runs without masks
    or without validation show none."""
    window = home.window()
    folder = masks.write_data(home, ignored=3)
    window.ready()
    for epochs in 2, 1:
        begin(window, folder, epochs=epochs, lr=0.003)
        window.finished()
        window.ready()
        assert wait_for_epoch(window, epochs) == epochs
        table = home.file(f'samples-{epochs}.csv')
        home.run(os.environ['DYNO_UI_DYNOCTL'], 'evaluate', '--weights', home.newest_run() + '/weights-last.safetensors', '--data', folder,
                 '--table', table)
        with open(table, newline='') as file:
            worth = {row['sample']: float(row['mean_iou']) for row in csv.DictReader(file)}
        said = {n.name.split(': ')[0]: float(re.search(r'([\d.]+) %$', n.name)[1]) for n in samples(window)}
        assert len(said) == 4 and all(abs(said[name] - 100 * worth[name]) < 0.06 for name in said), (said, worth)
        if epochs == 1:
            break
        window.small_shapes(epochs=1)
        window.press('Start')
        window.page('Train')
        window.finished()
        window.ready()
        assert not window.look(Role.TOGGLE_BUTTON, CARD), 'a run with classes of images shows masks'
        begin(window, folder, epochs=1, data__val_split=0)
        window.finished()
        window.ready()
        assert not window.look(Role.TOGGLE_BUTTON, CARD), 'a run without validation shows masks'


TESTS = [test_masks_follow_a_run, test_masks_are_those_of_the_run]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
