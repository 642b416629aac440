#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The search for the best model in the window.  Usage: see harness.py."""
import csv
import os
import sys

import data
import harness
from harness import Role, State, THERE

CHART = 'Settings and values of the trials'


def open_search(window, epochs, **settings):
    """Opens the page, set up for a search with the shortest possible trials."""
    window.small_shapes(epochs=epochs, **settings)
    window.page('Tune')
    window.find(Role.RADIO_BUTTON, 'Best Model').act()
    window.find(Role.SPIN_BUTTON, 'Trials at most')


def limit(window, trials, seeds):
    window.find(Role.SPIN_BUTTON, 'Trials at most').value = trials
    window.find(Role.SPIN_BUTTON, 'Seeds at most').value = seeds


def find_folder(home):
    """The folder of the only search among the runs."""
    folder, = (os.path.join(home.runs, name) for name in os.listdir(home.runs) if os.path.exists(os.path.join(home.runs, name, 'accuracy.csv')))
    return folder


def read_rows(home):
    with open(os.path.join(find_folder(home), 'accuracy.csv'), newline='') as file:
        return list(csv.DictReader(file))


def over(window):
    window.find(Role.PUSH_BUTTON, 'Start Tuning')
    window.find_where('that another may begin', lambda n: n.name == 'Start Tuning', Role.PUSH_BUTTON, states=(*THERE, State.SENSITIVE))


def chart(window):
    return window.find(Role.CHART, CHART, states=THERE).description


def cells(window):
    return [n.name for n in window.nodes(Role.TABLE_CELL, states=())]


def test_what_is_searched_can_be_chosen(home):
    """Trials vary only the chosen settings, in the chosen range; without any, no search begins."""
    window = home.window()
    open_search(window, epochs=1, lr=0.01)
    window.find_where('the choice', lambda n: n.name == 'Settings to search', Role.TOGGLE_BUTTON).act()
    window.find(Role.CHECK_BOX, 'Learning rate', states=THERE)
    for check in window.nodes(Role.CHECK_BOX, states=THERE):
        if check.has(State.CHECKED):
            check.act()
    window.text_with('over one setting at least')
    window.find_where('that none may begin', lambda n: n.name == 'Start Tuning' and not n.sensitive(), Role.PUSH_BUTTON, states=THERE)
    for name in 'Learning rate', 'Batch size':
        window.find(Role.CHECK_BOX, name, states=THERE).act()
    entry = window.find(Role.TEXT, 'Learning rate, to', states=THERE)
    entry.text = '0.02'
    window.focus_on(entry)
    window.key('Return')
    window.wait_without_text('over one setting at least')
    window.key('Escape')
    assert not window.nameless(), window.nameless()
    limit(window, 4, 2)
    window.press('Start Tuning')
    over(window)
    rows = read_rows(home)
    assert {row['over'] for row in rows} == {'lr=0.000333333..0.02\nbatch_size=16|32|64|128'}, rows[0]['over']
    assert {row['optimizer'] for row in rows} == {'sgd'} and all(float(row['lr']) <= 0.02 for row in rows), rows


def test_a_search_gives_settings_to_train_with(home):
    """A search shows its verdict, its trials as a list and as a chart, its files, and the settings
    for the next run."""
    window = home.window()
    open_search(window, epochs=3, lr=0.002)
    window.choose('Best in', 'Loss')
    limit(window, 6, 2)
    window.press('Start Tuning')
    verdict = window.text_with('on 2 seed')
    over(window)
    rows = read_rows(home)
    assert len({row['trial'] for row in rows}) == 6 and {row['metric'] for row in rows} == {'loss'}, rows
    assert {'Stopped early', 'Finalist', 'Chosen'} <= set(cells(window)), cells(window)
    with open(os.path.join(find_folder(home), 'best.ini')) as file:
        assert verdict.split(':')[0] in file.read().replace('\n# ', ' '), 'the file and the page do not say the same'
    with open(os.path.join(find_folder(home), 'report.html')) as file:
        assert verdict.split(':')[0] in file.read()
    window.find(Role.PUSH_BUTTON, 'Open Report', states=THERE)
    assert chart(window).startswith('6 trials. Trial '), chart(window)
    assert not window.nameless(), window.nameless()

    # Trials are selected by keys in the chart, and in the list.
    window.focus(Role.CHART, CHART)
    said = chart(window)
    window.key('Home')
    window.key('Down')
    window.wait_for('another trial', lambda: chart(window) != said)
    second = chart(window)
    window.key('Up')
    window.wait_for('the best', lambda: chart(window) == said)
    window.key('Down')
    window.wait_for('the second', lambda: chart(window) == second)
    selected = window.wait_for('its row to be selected', lambda: [n.name for n in window.nodes(Role.TABLE_CELL, states=(State.SELECTED,))])
    assert second.startswith(f'6 trials. Trial {selected[0]}:'), (selected, second)

    # Every run of the search is in the history.
    runs = home.run(os.environ['DYNO_UI_DYNOCTL'], 'runs', '--json')
    assert runs.count(os.path.join(find_folder(home), 'trials')) >= 6, runs

    assert abs(window.number('Learning rate') - 0.002) < 1e-9
    window.page('Tune')
    window.find(Role.PUSH_BUTTON, 'Use These Settings', states=THERE).act()
    chosen = [row for row in rows if row['trial'] == verdict.lower().split('trial ')[1].split()[0]][0]
    window.wait_for_numbers({'Learning rate': float(chosen['lr'])})
    assert chosen['lr'] != '0.002', 'the settings are the old ones'


def test_a_search_that_was_stopped_goes_on(home):
    """A search goes on in the same window, and in the next window after its own was closed during
    the search."""
    first = home.window()
    open_search(first, epochs=200)
    first.press('Start Tuning')
    first.text('Trial ')
    first.page('Train')  # no run may begin while the search is active
    first.find_where('why no run can begin', lambda n: 'The tuner is at work.' in n.description)
    first.page('Tune')
    first.press('Stop Tuning')
    first.find(Role.PUSH_BUTTON, 'Go On')
    stopped = read_rows(home)
    first.press('Go On')
    first.text('Trial ')
    first.close()
    first.text_with('the search can be resumed')
    first.press('Stop')
    first.end()
    closed = read_rows(home)
    assert closed[:len(stopped)] == stopped, 'the runs from before are gone'
    own = [row['to_epoch'] for row in closed if row['trial'] == '0']
    assert len(own) == len(set(own)), f'the settings were trained again: {own}'

    second = home.window()
    open_search(second, epochs=200)
    assert second.find(Role.PUSH_BUTTON, 'Go On').description.startswith('Resumes the search of accuracy, which has '), 'it is not said which'
    limit(second, 1, 1)
    second.press('Go On')
    second.find(Role.CHART, CHART, states=THERE)
    over(second)
    assert read_rows(home)[:len(closed)] == closed, 'the runs from before are gone'
    second.open_settings({'Batch size': 24}, data='builtin:shapes?size=16&samples=100', model='mlp', amp='false', batch_size=24, epochs=200)
    second.ready()
    second.page('Tune')
    over(second)
    assert not second.has('Go On', Role.PUSH_BUTTON), 'it would go on with other settings'


def test_a_search_without_validation_is_refused_in_words(window):
    open_search(window, epochs=3, data__val_split=0)
    said = window.text_with('has nothing to validate on')
    assert '“Validation share”' in said, f'a key is not named as the form does: {said}'
    assert not window.find(Role.PUSH_BUTTON, 'Start Tuning').sensitive()
    window.small_shapes(epochs=3, data__val_split=0.2)
    window.page('Tune')
    over(window)
    assert not window.has_text('nothing to validate on')
    # The search for the fastest settings needs no validation, and has a state of its own.
    window.find(Role.RADIO_BUTTON, 'Fastest').act()
    window.text('Find the Fastest Settings')


def test_a_refused_search_is_forgotten_with_its_settings(home):
    """The reason is shown until the settings change."""
    window = home.window()
    folder = home.file('photos')
    for name in 'bus', 'car':
        os.makedirs(os.path.join(folder, name))
        for i in range(20):
            data.write_png(os.path.join(folder, name, f'{i}.png'), 16)
    window.open_settings({'Batch size': 8}, data=folder, model='mlp', amp='false', batch_size=8, image_size=16, epochs=3)
    window.ready()
    window.page('Tune')
    window.find(Role.RADIO_BUTTON, 'Best Model').act()
    window.find(Role.SPIN_BUTTON, 'Trials at most')
    over(window)
    for name in 'bus', 'car':
        for i in range(20):
            with open(os.path.join(folder, name, f'{i}.png'), 'wb') as file:
                file.write(b'no picture any more')
    window.press('Start Tuning')
    window.text_with('More samples than allowed')
    over(window)
    window.set_number('Epochs', 4)
    window.page('Tune')
    window.wait_without_text('More samples than allowed')


def test_a_second_search_has_its_own_space(home):
    """The trials of a second search start from its own settings, and have none of the first
    search."""
    window = home.window()
    open_search(window, epochs=3, lr=0.002)
    limit(window, 1, 1)
    window.press('Start Tuning')
    over(window)
    window.text_with('Learning rate\u00a00.002')
    open_search(window, epochs=3, lr=0.005)
    over(window)
    window.press('Start Tuning')
    window.text_with('Learning rate\u00a00.005')
    over(window)
    assert not window.has_text('Learning rate\u00a00.002'), window.shown()


TESTS = [test_what_is_searched_can_be_chosen, test_a_search_gives_settings_to_train_with, test_a_search_that_was_stopped_goes_on, test_a_search_without_validation_is_refused_in_words,
         test_a_refused_search_is_forgotten_with_its_settings, test_a_second_search_has_its_own_space]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
