#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data with several labels per sample, and runs that learn them.  Usage: see harness.py."""
import csv
import json
import os
import re
import sys

import harness
from harness import GLib, Role, State, THERE
from masks import choose_the_run, write_png

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


def dynoctl(home, *arguments):
    return home.run(os.environ['DYNO_UI_DYNOCTL'], *arguments)


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


def test_best_model_searches_by_metrics_of_labels(home):
    """The metric that selects the best epoch comes first; a search may begin with a single
    label."""
    window = home.window()
    window.ready()
    for i in range(8):
        write_png(home.file(f'one/{i}.png'), [bytes([30 * i] * 3 * SIDE)] * SIDE, 2)
    one = home.write('one/list.csv', 'file,bright\n' + ''.join(f'{i}.png,{int(i > 3)}\n' for i in range(8)))
    open_data(window, one, data__task='labels', data__val_split=0.25)
    window.page('Tune')
    window.find(Role.RADIO_BUTTON, 'Best Model').act()

    def offered():
        return [n.name for n in window.find(Role.COMBO_BOX, 'Best in', states=THERE).inside(Role.MENU_ITEM)]
    window.wait_for('the metrics', lambda: offered() == ['Mean average precision', 'Loss', 'Label accuracy', 'Exact match', 'Micro F1'])
    window.find_where('that a search may begin', lambda n: n.name == 'Start Tuning', Role.PUSH_BUTTON, states=(*THERE, State.SENSITIVE))


def cells(table, row):
    return [harness.Node(table.buses, *table.call('Table', 'GetAccessibleAt', '(ii)', row, column)[0]).now().name
            for column in range(table.get('Table', 'NColumns'))]


def percent(share):
    return f'{100 * share:.1f} %'


def test_a_run_of_labels_is_evaluated(home):
    """The figures are those of dynoctl; the table has a row for each label; the worst samples name
    their wrong labels."""
    window = home.window()
    data = write_data(home)
    open_data(window, data, epochs=3, data__val_split=0.5)
    window.ready()
    window.press('Start')
    window.page('Train')
    window.finished()
    said = window.text('Finished in ')
    assert re.search(r'best mean average precision [\d.]+ %', said), said
    assert window.has('Mean average precision') and not window.has('Label accuracy'), 'the tile has another metric than the sentence'
    window.find(Role.CHART, 'Mean average precision')
    window.ready()
    choose_the_run(window)
    window.press('Evaluation', Role.RADIO_BUTTON)
    window.press('Evaluate the Validation Samples')
    window.text_with('24 validation samples of “list.csv”')
    truth = json.loads(dynoctl(home, 'evaluate', '--run', home.newest_run(), '--data', data, '--part', 'validation', '--json'))
    titles = {'Mean Average Precision': 'mean_average_precision', 'Micro F1': 'f1_micro', 'Macro F1': 'f1_macro',
              'Label Accuracy': 'label_accuracy', 'Exact Match': 'exact_match'}
    for title, key in titles.items():
        value = percent(truth[key]) if truth[key] is not None else '–'
        window.find_where(f'{title}: {value}', lambda n, text=f'{title}: {value}': n.name == text)
    table = window.find_where('the table', lambda n: n.name == 'Figures of each output', Role.TABLE, Role.TREE_TABLE)
    assert table.n_rows == 3
    for row, one in enumerate(truth['labels']):
        own = [one['label'], str(one['samples'])] + [percent(one[key]) if one[key] is not None else '–' for key in (
            'precision', 'recall', 'f1', 'average_precision')]
        shown = cells(table, row)
        assert shown[:6] == own, (shown, own)
        assert len(shown) == 7 and (shown[6] == '–') == (one['roc_auc'] is None), (shown, one)
        assert one['roc_auc'] is None or abs(float(shown[6]) - one['roc_auc']) < 1e-3, (shown, one)
    assert not window.has('Confusion matrix', Role.CHART), 'labels have no confusion matrix'
    path = home.file('samples.csv')
    window.press('Save Table…')
    window.save_as('Save the Table of Samples', path, 'Save')
    window.text('Saved in ' + path)
    with open(path, newline='') as file:
        rows = {row['sample']: row for row in csv.DictReader(file)}

    def describe(row):
        """The text below the picture of a sample."""
        known = [n for n in ('red', 'green leaf', 'blue') if row['truth of ' + n] in ('0', '1')]
        there = {n: row['truth of ' + n] == '1' for n in known}
        predicted = {n: float(row['predicted ' + n]) >= 0.5 for n in known}
        missed = [n for n in known if there[n] and not predicted[n]]
        added = [n for n in known if predicted[n] and not there[n]]
        if not missed and not added:
            return 'all labels are right'
        return f'{len(missed) + len(added)} of {len(known)} labels wrong' + (missed and '\nmissed: ' + ', '.join(missed) or '') + (
            added and '\nwrongly predicted: ' + ', '.join(added) or '')
    worst = sorted(rows.values(), key=lambda row: -float(row['loss']))
    expected = [row['sample'] + ': ' + describe(row) for row in worst]
    assert any('missed' in text or 'wrongly' in text for text in expected), expected
    samples = window.find_where('the samples', lambda n: n.name == 'Samples shown', states=())
    window.wait_for('all of them, the worst first', lambda: sorted(n.name for n in samples.children() if n) == sorted(expected))
    assert [n.name for n in samples.children() if n][0] == expected[0]
    assert not window.nameless(), window.nameless()


def test_a_run_of_labels_predicts(home):
    """Each row has the labels of at least 50 %, the most probable first, or says that there is
    none; the table is that of dynoctl."""
    window = home.window()
    data = write_data(home)
    open_data(window, data, epochs=30, lr=0.01, data__val_split=0.25)
    window.ready()
    window.press('Start')
    window.page('Train')
    window.finished()
    window.ready()
    images = [home.file(f'data/{i:02}.png') for i in range(8)]
    window.activate('predict', GLib.Variant('aay', [path.encode() + b'\0' for path in images]))
    window.text_with('8 images, ')
    path = home.file('predictions.csv')
    window.press('Save Table…')
    window.save_as('Save the Table of Predictions', path, 'Save')
    window.text('Saved in ' + path)
    with open(path, newline='') as file:
        text = file.read()
    assert text == dynoctl(home, 'predict', '--run', home.newest_run(), '--csv', '--data', *images), text
    rows = list(csv.DictReader(text.splitlines()))
    assert {row['labels'] for row in rows} >= {'', 'red'}, rows  # otherwise the run has learned nothing
    for row in rows:
        shares = sorted(((float(row[n]), n) for n in ('red', 'green leaf', 'blue') if float(row[n]) >= 0.5), reverse=True)
        words = ', '.join(f'{name} {percent(share)}' for share, name in shares) or 'no label'
        item = window.find_where(f'{words} of {row["sample"]}', lambda n, row=row, words=words: n.name == f'{row["sample"]}: {words}',
                                 Role.LIST_ITEM, states=THERE)
        assert len(item.inside(Role.LEVEL_BAR)) == len(shares), row
        assert row['labels'].split('|') == [name for _, name in shares] or not shares, row
    assert not window.nameless(), window.nameless()


TESTS = [test_labels_are_shown_with_their_samples, test_a_label_that_is_not_known_has_a_question_mark, test_settings_of_classes_know_labels,
         test_best_model_searches_by_metrics_of_labels, test_a_run_of_labels_is_evaluated, test_a_run_of_labels_predicts]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
