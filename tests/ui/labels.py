#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data with several labels a sample, and runs that learn them.  Usage: see harness.py."""
import sys

import harness
from harness import Role, THERE
from masks import write_png

SIDE = 16
SETTINGS = {'image_size': SIDE, 'batch_size': 8, 'amp': 'false'}


def write_data(home, n=48):
    """Writes images whose left third is red, middle third green and right third blue, where the
    sample has the label.  Each combination of red and green is equally frequent; three of the
    samples have blue, and of the first that is not known."""
    rows = []
    for i in range(n):
        labels = [i % 2, i // 2 % 2, int(i in (1, 6, 11))]
        pixels = [[(220 if labels[min(x * 3 // SIDE, 2)] and channel == min(x * 3 // SIDE, 2) else 30 + i)
                   for x in range(SIDE) for channel in range(3)] for _ in range(SIDE)]
        write_png(home.file(f'data/{i:02}.png'), pixels, 2)
        rows.append(f'{i:02}.png,{labels[0]},{labels[1]},{"" if i == 0 else labels[2]}\n')
    return home.write('data/list.csv', 'file,red,green leaf,blue\n' + ''.join(rows))


def open_data(window, data, **settings):
    window.open_settings(data=data, **dict(SETTINGS, **settings))


def test_labels_are_shown_with_their_samples(home):
    """The page states how many samples have each label, of which share of all; the pictures below
    have the names of their labels, with a question mark where that is not known."""
    window = home.window()
    window.ready()
    open_data(window, write_data(home), data__task='labels')
    window.page('Data')
    window.text('Any number for each sample')
    window.find_where('the list of labels', lambda n: n.name == 'Labels' and 'do not add up to 100' in n.description, states=THERE)
    for name, n in ('red: 24 (50.0 %)', 4), ('green leaf: 24 (50.0 %)', 4), ('blue: 3 (6.2 %)', 3):
        window.wait_for(f'{n} pictures of {name}', lambda name=name, n=n: sum(
            node.name.startswith('A sample: ') for node in window.find(Role.LIST_ITEM, name, states=THERE).inside()) == n)
    blue = [n.name for n in window.find(Role.LIST_ITEM, 'blue: 3 (6.2 %)', states=THERE).inside() if n.name.startswith('A sample')]
    assert blue == ['A sample: red, blue', 'A sample: green leaf, blue', 'A sample: red, green leaf, blue'], blue
    levels = [window.find(Role.LIST_ITEM, name, states=THERE).inside(Role.LEVEL_BAR)[0].value for name in ('red: 24 (50.0 %)', 'blue: 3 (6.2 %)')]
    assert levels == [0.5, 3 / 48], levels
    window.find_where('the frequencies', lambda n: n.name == 'Frequency of labels' and n.description.splitlines() == [
        'red: 24 (50.0 %)', 'green leaf: 24 (50.0 %)', 'blue: 3 (6.2 %)'], states=THERE)
    samples = window.find_where('the samples', lambda n: n.name == 'Samples with their labels', states=THERE)
    window.wait_for('their names', lambda: '01.png: red, blue' in [n.name for n in samples.children() if n])
    names = [n.name for n in samples.children() if n]
    assert len(names) == len(set(names)), names
    assert not window.nameless(), window.nameless()
    window.page('Train')
    window.find_where('the task', lambda n: n.name == 'Several labels', Role.MENU_ITEM, states=())


def test_a_label_that_is_not_known_has_a_question_mark(home):
    window = home.window()
    window.ready()
    for i in range(4):
        write_png(home.file(f'data/{i}.png'), [bytes([60 * i] * 3 * SIDE)] * SIDE, 2)
    open_data(window, home.write('data/list.csv', 'file,red,blue\n0.png,1,\n1.png,,0\n2.png,0,1\n3.png,1,0\n'), data__task='labels')
    window.page('Data')
    for name in '0.png: red, blue?', '3.png: red', '2.png: blue':
        window.find_where(name, lambda n, name=name: n.name == name, states=THERE)
    window.find(Role.LIST_ITEM, 'blue: 1 (25.0 %)', states=THERE)


def test_settings_of_classes_know_labels(home):
    """One label can be learned; samples are not balanced by labels, but the setting can be switched
    off where it refuses the data."""
    window = home.window()
    window.ready()
    for i in range(8):
        write_png(home.file(f'one/{i}.png'), [bytes([30 * i] * 3 * SIDE)] * SIDE, 2)
    one = home.write('one/list.csv', 'file,bright\n' + ''.join(f'{i}.png,{int(i > 3)}\n' for i in range(8)))
    open_data(window, one, data__task='labels', data__val_split=0)
    window.ready()

    def can_be_changed(name):
        return window.find(Role.COMBO_BOX, name, states=THERE).sensitive()
    window.page('Train')
    window.wait_for('no balance', lambda: not can_be_changed('Balance classes'))
    assert can_be_changed('Class weights')
    open_data(window, one, data__task='labels', data__val_split=0, data__balance='sampling')
    window.wait_for('the balance', lambda: can_be_changed('Balance classes'))
    window.wait_for('the refusal', lambda: not window.find(Role.PUSH_BUTTON, 'Start').sensitive())
    window.choose('Balance classes', 'None')
    window.ready()


TESTS = [test_labels_are_shown_with_their_samples, test_a_label_that_is_not_known_has_a_question_mark, test_settings_of_classes_know_labels]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
