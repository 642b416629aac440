#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tuner in the window.  Usage: see harness.py."""
import os
import re
import sys

import harness
from harness import Role, State, THERE


def small_search(window, **settings):
    """Prepares a search with the shortest possible trials, which does not end before it is
    stopped."""
    window.open_settings({'Samples': 200, 'Batch size': 16}, data='builtin:shapes?size=16&samples=200', model='mlp', amp='false', batch_size=16,
                         prefetch=2, **settings)
    window.ready()
    window.set_number('Minutes', 60)


def batches_measured(window):
    """The number of batch sizes with measured trials."""
    cells = [n.name for n in window.nodes(Role.TABLE_CELL, states=())]
    return len({cells[i - 1] for i, name in enumerate(cells) if name == 'Measured'})


def test_tuning_calls_proven_what_was_proven(window):
    small_search(window, workers=0)
    window.press('Start Tuning')
    window.find_where('a measured trial', lambda n: n.name == 'Measured', states=())
    window.page('Train')
    window.find_where('why no run can begin', lambda n: 'The tuner is at work.' in n.description)
    window.page('Tune')
    window.press('Stop Tuning')
    window.find(Role.PUSH_BUTTON, 'Start Tuning')
    window.text('Best so far, not proven')
    shown = window.shown()
    assert 'already as fast' not in shown and not window.has_text('proven by a second run'), 'claimed without a proof'
    best = shown[shown.index('Best so far, not proven') + 2]
    assert '\u2713 Proof' not in shown and not {'\u2013 samples/s', '0\u00a0B'} & set(shown), f'something that was not measured has a number: {shown}'
    offered = window.has('Use These Settings', Role.PUSH_BUTTON)
    assert offered == (best != 'batch 16, fp32, 0 workers'), f'"{best}" is {"" if offered else "not "}offered to one who has batch 16'


def test_a_search_shows_what_it_found(home):
    """A search is paused and resumed, and then has the curve in words, the chosen trial, a report
    in a file, and an entry among the runs."""
    window = home.window()
    small_search(window, workers=1)
    kept = home.file('data/dyno/searches')
    for i in range(105):
        old = os.path.join(kept, f'2001-01-01T00-{i // 60:02}-{i % 60:02}')
        os.makedirs(old)
        for name in ('trials.csv', 'mine.txt')[:1 + (i == 0)]:
            open(os.path.join(old, name), 'w').close()
    window.press('Start Tuning')
    window.find_where('a stage at work', lambda n: n.name.startswith('\u25cf '), Role.LABEL)
    window.press('Pause')
    window.press('Resume')
    window.find_where('a measured trial', lambda n: n.name == 'Measured', states=())
    window.press('Stop Tuning')
    window.find(Role.PUSH_BUTTON, 'Start Tuning')
    window.find(Role.PUSH_BUTTON, 'Save Report…', states=THERE)
    words = window.find(Role.CHART, 'Throughput and memory by batch size', states=THERE).description
    assert re.search(r'^Batch \d+: [\d,.]+ samples/s (measured|expected), ', words, re.M) and 'advised' in words, words
    assert window.has('Measured, chosen', states=()), 'no trial is marked as chosen'
    path = home.file('report.html')
    window.press('Save Report…')
    window.save_as('Save Report', path, 'Save')
    with open(path) as report:
        assert '<svg' in report.read()
    window.page('Runs')  # the page lists the search and the report that is kept of each search

    def reports():
        return [n for n in window.nodes(states=THERE) if n.name.startswith('Open Report: ')]

    def all_listed():
        return len(reports()) == sum(os.path.exists(os.path.join(kept, name, 'report.html')) for name in os.listdir(kept))
    assert len(os.listdir(kept)) == 101 and os.listdir(os.path.join(kept, min(os.listdir(kept)))) == ['mine.txt'], 'the oldest are kept'
    folder = os.path.join(kept, max(os.listdir(kept)))
    window.wait_for('its files', lambda: sorted(os.listdir(folder)) == ['report.html', 'trials.csv'])
    window.wait_for('the report that was kept', lambda: len(reports()) == 1)
    window.ready()
    os.remove(os.path.join(folder, 'report.html'))
    reports()[0].act()
    window.text('The report cannot be shown')
    window.press('Close message')
    window.wait_for('a list without it', lambda: not reports())
    assert window.find(None, 'Use Settings: MLP on Shapes', states=THERE).sensitive(), 'a list that is made anew cannot be used'
    window.open_settings({'Epochs': 7, 'Batch size': 24}, batch_size=24, epochs=7)
    window.page('Runs')
    window.find_where('its settings', lambda n: n.name == 'Use Settings: MLP on Shapes', states=(*THERE, State.SENSITIVE)).act()
    window.wait_for_numbers({'Samples': 200})
    assert window.number('Epochs') != 7


def test_a_stopped_search_holds_the_device_until_it_has_let_go(home):
    """Stop does not wait for a measurement in the driver, and no run begins before the measurement
    has ended."""
    gate = home.file('gate')
    held = home.window(VK_ADD_LAYER_PATH=os.environ['DYNO_FAULTS_FOLDER'], VK_INSTANCE_LAYERS='VK_LAYER_DYNO_faults', DYNO_FAULTS='gate=' + gate)
    held.small_shapes(epochs=1)
    with open(gate, 'w'):
        pass  # from now on the driver compiles no kernel
    held.page('Tune')
    held.press('Start Tuning')
    held.text_with('Compiling kernels')
    held.press('Stop Tuning')
    again = held.find(Role.PUSH_BUTTON, 'Start Tuning')
    start = held.find(Role.PUSH_BUTTON, 'Start')
    assert not start.sensitive() and not again.sensitive(), 'a run would begin on a device that is in use'
    assert 'still holds the device' in start.description, start.description
    os.remove(gate)
    held.ready()
    held.wait_for('the tuner too', lambda: held.find(Role.PUSH_BUTTON, 'Start Tuning').sensitive())
    held.press('Start')
    held.page('Train')
    held.finished()


def test_a_second_search_begins_anew(home):
    """A search shows neither the trials nor the note of the one before."""
    gate = home.file('gate')
    window = home.window(VK_ADD_LAYER_PATH=os.environ['DYNO_FAULTS_FOLDER'], VK_INSTANCE_LAYERS='VK_LAYER_DYNO_faults', DYNO_FAULTS='gate=' + gate)

    def listed():
        return any(n.name.startswith('Measured') for n in window.nodes(Role.TABLE_CELL, states=()))
    small_search(window, workers=0)
    window.press('Start Tuning')
    window.wait_for('a measured trial', listed)
    window.press('Stop Tuning')
    window.wait_for('that another may begin', lambda: window.look(Role.PUSH_BUTTON, 'Start Tuning', (*THERE, State.SENSITIVE)))
    assert listed(), 'the first search has no trial'
    with open(gate, 'w'):
        window.press('Start Tuning')  # the driver compiles no kernel, so nothing can be measured
    window.text_with('Compiling kernels')
    assert not listed(), 'trials of the search before are listed'
    assert not window.has_text('minutes would do'), 'an hour is called too short'

    def stop():
        window.press('Stop Tuning')
        os.remove(gate)
        window.wait_for('the end', lambda: window.look(Role.PUSH_BUTTON, 'Start Tuning', (*THERE, State.SENSITIVE)))
    stop()
    for minutes, short in (0.5, True), (60, False):
        window.set_number('Minutes', minutes)
        with open(gate, 'w'):
            window.press('Start Tuning')
        window.text_with('Compiling kernels')
        assert window.has_text('minutes would do') == short, f'{minutes} minutes: {window.shown()}'
        stop()


TESTS = [test_tuning_calls_proven_what_was_proven, test_a_search_shows_what_it_found, test_a_stopped_search_holds_the_device_until_it_has_let_go,
         test_a_second_search_begins_anew]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
