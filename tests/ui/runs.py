#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Past and queued runs: comparison, diagnosis, predictions, the queue.  Usage: see harness.py."""
import csv
import json
import os
import re
import signal
import subprocess
import sys

import data
import harness
from harness import GLib, Node, Role, State, THERE


def test_a_run_is_diagnosed(window):
    """The page shows the phases of a step during a run and the findings of its folder afterwards;
    the advice of a finding sets the settings."""
    window.open_settings({'Workers': 64, 'Epochs': 5000}, data='builtin:shapes?size=32&samples=2000', amp='false', batch_size=16, workers=64, epochs=5000,
                         model__width=0.25)
    presets = [n.name for n in window.find(Role.COMBO_BOX, 'Preset', states=THERE).inside(Role.MENU_ITEM)]
    window.choose('Preset', next(name for name in presets if name.startswith('RTX 3090')))
    window.set_number('Workers', 64)
    window.set_number('Batch size', 16)
    window.ready()
    window.press('Start')
    window.page('Diagnose')
    window.text_with('Forward')
    window.wait_for('the numbers of the preset', lambda: any(re.search(r'“RTX 3090.*”.*: [\d.]+ samples/s \(expected 300-500\)', t) for t in window.shown()))
    bar = window.find(Role.DRAWING_AREA, 'Time of a step by phase')
    window.wait_for('the times of the phases', lambda: re.search(r'Forward .*%.*ms', bar.now().description))
    row = window.find_where('the rate', lambda n: n.name.startswith('This run: '), Role.LIST_ITEM)
    window.focus_on(row)
    before = row.name
    window.wait_for('another rate', lambda: row.now().name != before)
    assert row.has(State.FOCUSED), 'the focus is lost with each judgement'
    window.press('Stop')
    window.press('Save')
    window.ready()
    row = window.find_where('memory by component', lambda n: n.name.startswith('Weights: '), Role.LIST_ITEM)
    assert row.parent.now().name == 'Memory by Component'
    finding = window.find_where('the finding', lambda n: '64 workers share' in n.name, Role.LIST_ITEM, states=THERE)
    assert re.match(r'Set “Workers: \d+”', finding.description), f'no title: {finding.description}'
    button = window.button_name('Apply: Workers')
    window.press(button)
    window.wait_for_numbers({'Workers': int(button.split()[-1])})


def cell(table, row, column):
    return Node(table.buses, *table.call('Table', 'GetAccessibleAt', '(ii)', row, column)[0])


def test_past_runs_are_compared_renamed_and_deleted(home):
    window = home.window()
    for lr, schedule in (0.05, 'cosine'), (0.02, 'constant'):
        window.small_shapes(epochs=1, lr=lr, schedule=schedule)
        window.wait_for_numbers({'Learning rate': lr})
        window.ready()
        window.press('Start')
        window.finished()
        window.ready()
    window.page('Runs')
    table = window.find_where('the list', lambda n: n.name == 'Runs', Role.TABLE, Role.TREE_TABLE)
    window.wait_for('two runs', lambda: table.n_rows == 2)

    def select(button, *rows):
        """Selects rows, repeatedly, since the list may be reloading."""
        def question():
            for row in rows or (0,):
                table.call('Table', 'AddRowSelection', '(i)', row)
            return window.find(Role.PUSH_BUTTON, button).sensitive()
        window.wait_for(f'"{button}" for {rows or (0,)}', question)

    def named(name):
        return any(n.name == name for n in table.inside())

    def choose_in_menu(toggle, item):
        window.press(toggle, Role.TOGGLE_BUTTON)
        window.find_where('its menu', lambda n: n.name == item).act()
    select('Tags…', 0, 1)
    window.text('Learning rate')
    window.text_with('0.02')
    window.text('Cosine')  # worded as in the settings and not as in files
    window.text('Constant')
    names = [n.name for n in table.inside()]
    assert any(re.fullmatch(r'(Today|Yesterday) \d\d:\d\d', n) for n in names), 'no cell says when'
    assert 'MLP on Shapes' in names, 'the list is wider than it need be'
    assert any(re.fullmatch(r'MLP on Shapes, (Today|Yesterday) \d\d:\d\d', n.name) for n in window.nodes(states=())), 'a run without a name is called by its folder'
    chart = window.find(Role.CHART, 'Loss')
    window.wait_for('the curves of both', lambda: chart.now().description.count(', ') >= 2)
    window.choose('Horizontal axis of the runs', 'Epoch')
    window.wait_for('epochs', lambda: chart.now().description.startswith('Epoch '))
    window.focus_on(chart)
    window.key('Home', 'End')
    window.wait_for('the end of the only epoch', lambda: chart.now().description.startswith('Epoch 1.00: '))
    window.choose('Horizontal axis of the runs', 'Step')
    window.wait_for('steps', lambda: chart.now().description.startswith('Step '))
    path = home.file('both.csv')
    window.press('Export', Role.RADIO_BUTTON)
    window.press('Comparison (CSV)…')
    window.save_as('Export the Comparison', path, 'Save')
    window.exported('both.csv')
    with open(path, newline='') as file:
        written = list(csv.DictReader(file))
    assert len(written) == 2 and {r['lr'] for r in written} == {'0.05', '0.02'} and all(r['state'] == 'finished' for r in written), written
    assert 'seed' not in written[0], 'settings that are equal have columns'
    window.press('Curves', Role.RADIO_BUTTON)
    path = home.file('their curves.csv')
    choose_in_menu('Save the curves of the selected runs', 'Numbers (CSV)…')
    window.save_as('Export Curves', path, 'Export')
    window.exported('their curves.csv')
    with open(path, newline='') as file:
        lines = list(csv.reader(file))
    assert len(lines[0]) >= 3 and len(lines) > 4 and all(len(line) == len(lines[0]) for line in lines), lines[:2]
    table.call('Table', 'RemoveRowSelection', '(i)', 1)
    x, y, width, height = cell(table, 0, 1).extents()  # a curve with the focus
    home.run('xdotool', 'mousemove', str(x + width // 2), str(y + height // 2), 'click', '1')
    window.wait_for('the focus on the list', lambda: table.has(State.FOCUSED))
    for key, row in ('Down', 1), ('Up', 0):
        window.key(key)
        window.wait_for(f'row {row} to be selected', lambda: table.call('Table', 'GetSelectedRows')[0] == [row])
    select('Tags…', 0)
    window.press('Tags…')
    window.find(Role.TEXT, 'Tags of the runs').text = 'night,  good'
    window.press('Tag')
    window.wait_for('its tags', lambda: named('night, good'))
    window.press('Set Up Again')
    window.wait_for_numbers({'Learning rate': 0.02})
    window.page('Runs')
    window.wait_for('the list again', lambda: table.n_rows == 2)
    window.focus_on(table)
    window.key('ctrl+f')
    window.wait_for_focus('Find runs')
    assert window.find(Role.RADIO_BUTTON, 'Runs').has(State.CHECKED), 'Ctrl+F leaves the page'
    words = window.find(Role.TEXT, 'Find runs')
    words.text = 'GOOD mlp'
    window.wait_for('the run that has both words', lambda: table.n_rows == 1 and named('night, good'))
    window.text('1 of 2 runs')
    words.text = 'good resnet18'
    window.text('No run has all of these words. Escape shows all runs.')
    window.key('Escape')
    window.wait_for('all runs', lambda: words.text == '' and table.n_rows == 2)
    window.wait_for('the focus on the list', lambda: table.has(State.FOCUSED))
    window.key('n')  # begins a word
    window.wait_for('its letter', lambda: words.text == 'n' and words.has(State.FOCUSED))
    window.key('Escape')
    window.wait_for('the list once more', lambda: words.text == '' and table.has(State.FOCUSED))
    select('Rename…')
    window.press('Rename…')
    entry = window.find(Role.TEXT, 'Name of the run')
    assert entry.text == '', 'words that stand for a name are offered as one'
    assert not window.nameless(), window.nameless()
    entry.text = 'the slower one'
    window.press('Rename')
    window.wait_for('its name', lambda: named('the slower one'))
    select('Delete')
    window.press('Delete')
    window.wait_for('it to go', lambda: table.n_rows == 1)
    window.press('Undo')
    window.wait_for('it to come back', lambda: table.n_rows == 2 and named('the slower one'))
    select('Delete')
    window.press('Delete')
    window.find(Role.PUSH_BUTTON, 'Undo')
    window.page('Train')
    window.page('Runs')
    window.find_where('the list', lambda n: n == table, Role.TREE_TABLE, Role.TABLE)
    window.wait_for('no offer any more, since the page was left', lambda: not window.look(Role.PUSH_BUTTON, 'Undo'))


def test_a_run_predicts_images(home):
    """Each file is listed with its classes, or with the reason why it could not be read."""
    window = home.window()
    folder = home.file('pictures')
    os.makedirs(folder)
    data.write_png(os.path.join(folder, 'black.png'), 16)
    with open(os.path.join(folder, 'broken.png'), 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\nno more')
    window.open_settings({'Epochs': 1, 'Samples': 100}, data='builtin:shapes?size=16&samples=100&classes=4', model='mlp', amp='false', batch_size=16,
                         epochs=1)
    window.ready()
    window.press('Start')
    window.page('Train')
    window.finished()
    window.ready()
    window.wait_for('Predict to be sensitive', lambda: window.look(Role.PUSH_BUTTON, 'Predict…', (*harness.SHOWING, State.SENSITIVE)))
    paths = [os.path.join(folder, name).encode() + b'\0' for name in ('black.png', 'broken.png')]
    window.activate('predict', GLib.Variant('aay', paths))  # as dropping files does
    row = window.find_where('its classes', lambda n: re.match(r'.*black\.png: \w+ [\d.]+ %, \w+', n.name), Role.LIST_ITEM, states=THERE)
    assert len(row.inside(Role.LEVEL_BAR)) == 4
    assert window.has('Predictions of “MLP on Shapes”', states=()), 'the dialog does not name the run'
    window.find_where('the broken one with its reason', lambda n: re.match(r'.*broken\.png: .{5}', n.name), Role.LIST_ITEM, states=THERE)
    window.text_with('1 could not be read')
    window.text_with('images/s on ')
    assert not window.nameless(), window.nameless()
    path = home.file('predictions.csv')
    window.press('Save Table…')
    window.save_as('Save the Table of Predictions', path, 'Save')
    with open(path, newline='') as file:
        written, = csv.DictReader(file)  # files that the scan refuses have no row
    assert written['sample'].endswith('black.png') and written['class_1'] in row.name and 'class_4' in written, written
    window.key('Escape')
    window.wait_without_text('images/s on ')
    window.ready()


def train_and_choose(window):
    """Trains the job that is set up, the first of the window, and selects its run in the list."""
    window.ready()
    window.press('Start')
    window.page('Train')
    window.finished()
    window.page('Runs')
    table = window.find_where('the list', lambda n: n.name == 'Runs', Role.TABLE, Role.TREE_TABLE)
    window.wait_for('the run', lambda: table.n_rows == 1)
    table.call('Table', 'AddRowSelection', '(i)', 0)


def evaluate(window):
    """Evaluates the selected run on its own validation samples."""
    window.press('Evaluation', Role.RADIO_BUTTON)
    window.press('Evaluate the Validation Samples')


def test_a_run_is_evaluated(home):
    """A run is evaluated on its own validation samples and then on a folder; a cell of the matrix
    lists as many samples as it counts, and the exported table has all samples."""
    window = home.window()
    folder = home.file('pictures')
    for name in 'circle', 'square':
        os.makedirs(os.path.join(folder, name))
        for i in range(3):
            data.write_png(os.path.join(folder, name, f'{i}.png'), 16)
    window.open_settings({'Epochs': 1, 'Samples': 100}, data='builtin:shapes?size=16&samples=100&classes=4', model='mlp', amp='false', batch_size=16,
                         epochs=1)
    train_and_choose(window)
    evaluate(window)
    window.text_with('10 validation samples of “')
    accuracy = float(re.search(r'[\d.]+', window.find_where('the accuracy', lambda n: n.name.startswith('Accuracy: ')).name)[0])
    matrix = window.find(Role.CHART, 'Confusion matrix')
    samples = window.find_where('the samples', lambda n: n.name == 'Samples shown', states=())

    def n_samples():
        return len([n for n in samples.children() if n])
    window.wait_for('all ten, the worst first', lambda: n_samples() == 10)
    path = home.file('samples.csv')
    window.press('Save Table…')
    window.save_as('Save the Table of Samples', path, 'Save')
    window.text('Saved in ' + path)
    with open(path, newline='') as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10 and abs(sum(r['truth'] == r['predicted'] for r in rows) * 10 - accuracy) < 1e-9, (accuracy, rows)
    names = ['circle', 'square', 'triangle', 'ring']
    counts = {(t, p): sum(r['truth'] == t and r['predicted'] == p for r in rows) for t in names for p in names}
    # The cell is of a predicted class for which samples of other classes were taken too.
    truth, predicted = max((cell for cell in counts if cell[0] != cell[1]),
                           key=lambda cell: counts[cell] > 0 and sum(counts[other, cell[1]] for other in names if other != cell[0]))
    count = counts[truth, predicted]
    assert count > 0 and sum(counts[other, predicted] for other in names) > count, counts
    window.focus_on(matrix)
    window.wait_for('the first cell', lambda: re.match(r'\d+ of \d+ of “circle” are right', matrix.now().description))
    for key in ['Right'] * names.index(predicted) + ['Down'] * names.index(truth):
        window.key(key)
    window.wait_for('its cell', lambda: re.match(rf'{count} of \d+ of “{truth}” were taken for “{predicted}”', matrix.now().description))
    window.key('Return')
    window.text(f'{count} Sample{"" if count == 1 else "s"} of “{truth}”, Taken for “{predicted}”')
    window.wait_for('its samples', lambda: n_samples() == count)
    most = max(counts, key=counts.get)
    assert counts[most] > 1, counts
    window.focus_on(matrix)
    right, down = names.index(most[1]) - names.index(predicted), names.index(most[0]) - names.index(truth)
    for key in ['Right' if right > 0 else 'Left'] * abs(right) + ['Down' if down > 0 else 'Up'] * abs(down) + ['Return']:
        window.key(key)
    of_cell = [r['sample'] for r in sorted((r for r in rows if (r['truth'], r['predicted']) == most), key=lambda r: -float(r['loss']))]
    # The number of samples does not show that the list is new, since the previous cell may have had
    # as many.
    window.wait_for(f'its samples too, in their order: {of_cell}', lambda: [n.name.split(': ')[0] for n in samples.children()] == of_cell)
    window.press('Show the Worst')
    window.text('Samples with the Largest Loss')
    window.wait_for('all of them', lambda: n_samples() == 10)
    assert not window.has('Show the Worst'), 'the worst are offered beside themselves'
    assert not window.nameless(), window.nameless()
    window.press('Data', Role.TOGGLE_BUTTON)
    window.find_where('the choice', lambda n: n.name == 'Folder…').act()
    chooser = window.find(Role.FILE_CHOOSER, 'Labelled Data')
    window.key('ctrl+l')
    field = window.wait_for('the place to type in', lambda: next((n for n in chooser.inside(Role.TEXT, states=harness.SHOWING)), None))
    field.text = folder
    window.press('Open')
    window.text_with('6 samples of “pictures”')
    window.wait_for('six', lambda: n_samples() == 6)
    window.press('Export', Role.RADIO_BUTTON)
    window.wait_without_text('samples of “pictures”')
    for item, *arguments in ('ONNX…', '--to', 'onnx'), ('ONNX in Half Precision…', '--to', 'onnx', '--half'), ('Weights in int8…', '--to', 'int8'):
        path, same = home.file(item.split('…')[0] + '.bin'), home.file('same')
        window.press(item)
        window.save_as('Export the Trained Network', path, 'Save')
        window.exported(os.path.basename(path))
        home.run(os.environ['DYNO_UI_DYNOCTL'], 'save', '--run', home.newest_run(), '--force', '--out', same, *arguments)
        with open(path, 'rb') as one, open(same, 'rb') as other:
            assert one.read() == other.read(), item
    window.ready()


def test_a_run_is_calibrated(home):
    """The evaluation has the figures after the calibration, which the weights keep; twice; nothing is calibrated on test
    samples."""
    window = home.window()
    window.open_settings({'Epochs': 2, 'Samples': 200}, data='builtin:shapes?size=16&samples=200&classes=4', model='mlp', amp='false', batch_size=16,
                         epochs=2, data__val_split=0.5, data__test_split=0.2)
    train_and_choose(window)
    evaluate(window)
    window.text_with('80 validation samples of “')

    def calibrate(before):
        window.press('Calibrate')
        said = window.text_with('The weights are calibrated: temperature ') if before is None else window.wait_for(
            'another calibration', lambda: next((t for t in window.shown() if 'The weights are calibrated' in t and before not in t), None))
        said = re.search(r'temperature ([\d.]+), loss ([\d.]+) before and ([\d.]+) now', said)
        window.find_where('the loss now', lambda n: n.name == 'Loss: ' + said[3])
        return said
    first = calibrate(None)
    weights = home.newest_run() + '/weights.safetensors'
    with open(weights, 'rb') as file:
        kept = json.loads(file.read(int.from_bytes(file.read(8), 'little')))['__metadata__']['output.temperature']
    assert abs(float(first[1]) / float(kept) - 1) < 0.01, (first[0], kept)
    second = calibrate(first[0])
    assert second[2] == second[3] == first[3], (first[0], second[0])
    window.press('Data', Role.TOGGLE_BUTTON)
    window.find_where('the choice', lambda n: n.name == 'Test Samples of the Run').act()
    window.text_with('40 test samples of “')
    assert not any('calibrated' in text for text in window.shown()), 'the calibration is of other samples'
    assert not window.find(Role.PUSH_BUTTON, 'Calibrate').sensitive()
    window.press('Data', Role.TOGGLE_BUTTON)
    window.find_where('the choice', lambda n: n.name == 'Validation Samples of the Run').act()
    window.text_with('80 validation samples of “')
    assert window.find(Role.PUSH_BUTTON, 'Calibrate').sensitive()


def test_a_run_of_one_class_is_evaluated(home):
    """The evaluation opens the data as the run opened them."""
    window = home.window()
    folder = home.file('one class')
    os.makedirs(os.path.join(folder, 'only'))
    for i in range(20):
        data.write_png(os.path.join(folder, 'only', f'{i}.png'), 16)
    window.open_settings({'Epochs': 1}, data=folder, model='mlp', amp='false', batch_size=4, epochs=1, data__one_class='true', image_size=16)
    window.ready()
    window.press('Start')
    window.finished()
    window.page('Runs')
    table = window.find_where('the list', lambda n: n.name == 'Runs', Role.TABLE, Role.TREE_TABLE)
    window.wait_for('the run', lambda: table.n_rows == 1)
    table.call('Table', 'AddRowSelection', '(i)', 0)
    evaluate(window)
    window.text_with('2 validation samples of “one class”')
    window.find_where('the accuracy', lambda n: n.name == 'Accuracy: 100.0 %')


def test_jobs_are_queued_moved_and_removed(window):
    """A job has the settings of the time when it was added; keys change the order, which is that of
    dynoctl."""
    for epochs in 3, 7:
        window.small_shapes(epochs=epochs)
        window.wait_for_numbers({'Epochs': epochs})
        window.press('Add to queue')
        window.find(Role.PUSH_BUTTON, f'{"1 job" if epochs == 3 else "2 jobs"} in the queue')
    window.page('Runs')

    def order():
        return [t for t in window.shown() if re.match(r'(.*, )?Epochs [37]\b', t)]

    def first(what):
        jobs = order()
        return len(jobs) == 2 and what in jobs[0]
    window.wait_for('both in their order', lambda: first('Epochs 3'))
    assert not window.nameless(), window.nameless()
    window.focus_on(window.find(Role.LIST_ITEM, 'MLP on Shapes, Waiting'))
    window.key('alt+Down')
    window.wait_for('the other order', lambda: first('Epochs 7'))
    for n in 1, 0:
        window.press('Take out of the queue')
        window.wait_for(f'{n} left', lambda: len(order()) == n)


def test_a_queue_that_is_worked_off_shows_its_job_at_work(window):
    """The job was shown as waiting before; the run ends with the queue, or on its own if this test
    fails."""
    window.small_shapes(epochs=20000)
    window.press('Add to queue')
    window.page('Runs')
    window.find(Role.LIST_ITEM, 'MLP on Shapes, Waiting')
    window.press('Start the Queue')
    window.find(Role.LIST_ITEM, 'MLP on Shapes, Running')
    window.press('Stop the Queue')
    window.find(Role.PUSH_BUTTON, 'Start the Queue')
    window.wait_for('its job not to run', lambda: not window.has('MLP on Shapes, Running', Role.LIST_ITEM))


def test_a_queue_is_followed_again_after_an_error(home):
    """The history cannot be opened for a while; a job that is queued by dynoctl after that is listed."""
    window = home.window()
    window.small_shapes(epochs=20000)
    window.press('Add to queue')
    window.page('Runs')
    window.find(Role.LIST_ITEM, 'MLP on Shapes, Waiting')
    history = home.file('data/dyno/history.sqlite')
    window.page('Train')
    os.rename(history, history + '.kept')
    os.mkdir(history)
    window.page('Runs')
    window.text_with(history)
    os.rmdir(history)
    os.rename(history + '.kept', history)
    home.run(os.environ['DYNO_UI_DYNOCTL'], 'queue', 'add', '--data', 'builtin:waves', '--model', 'mlp')
    window.find(Role.LIST_ITEM, 'MLP on Waves, Waiting')


def test_a_queue_that_goes_on_elsewhere_is_not_started_again(home):
    """The queue is not started again before dynoctl has released it, since the window stopped it, or
    was killed; its stopped job is still in the queue."""
    window = home.window()
    window.small_shapes(epochs=20000)
    window.press('Add to queue')
    window.page('Runs')
    window.find(Role.LIST_ITEM, 'MLP on Shapes, Waiting')
    for by_window in True, False:
        queue = subprocess.Popen([os.environ['DYNO_UI_DYNOCTL'], 'queue', 'start', '--quiet'], env=home.environment, stderr=subprocess.DEVNULL)
        try:
            window.find(Role.LIST_ITEM, 'MLP on Shapes, Running')
            window.find(Role.PUSH_BUTTON, 'Stop the Queue')
            assert not window.look(Role.PUSH_BUTTON, 'Start the Queue', THERE), 'a queue that is worked off can be started'
            if by_window:
                window.press('Stop the Queue')
                queue.wait()
        finally:
            queue.kill()
            queue.wait()
        window.find(Role.LIST_ITEM, 'MLP on Shapes, Stopped')
        assert window.find(Role.PUSH_BUTTON, 'Start the Queue').sensitive(), 'a job that was stopped cannot go on'
    window.close()
    window.end()
    again = home.window()
    again.page('Home')
    again.find(Role.PUSH_BUTTON, '1 job in the queue')


TESTS = [test_a_run_is_diagnosed, test_past_runs_are_compared_renamed_and_deleted, test_a_run_predicts_images, test_a_run_is_evaluated, test_a_run_is_calibrated, test_a_run_of_one_class_is_evaluated, test_jobs_are_queued_moved_and_removed,
         test_a_queue_that_is_worked_off_shows_its_job_at_work, test_a_queue_is_followed_again_after_an_error, test_a_queue_that_goes_on_elsewhere_is_not_started_again]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
