#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Networks of ONNX files: opening, refusing and offering them again, and the weights to start from.
Usage: see harness.py."""
import os
import sys

import harness
import onnxwriter
from harness import Node, Role, SHOWING, THERE

RANDOM = 'None: random values'


def weights(window):
    return window.find(Role.LIST_ITEM, 'Start weights', states=THERE).description


def wait_for_weights(window, text):
    window.wait_for(f'the start weights "{text}"', lambda: weights(window) == text)


def models(window):
    return [n.name for n in window.find(Role.COMBO_BOX, 'Model', states=THERE).inside(Role.MENU_ITEM)]


def chosen(window):
    combo = window.find(Role.COMBO_BOX, 'Model', states=THERE)
    return Node(combo.buses, *combo.call('Selection', 'GetSelectedChild', '(i)', 0)[0]).now().name


def choose(window, title):
    """Chooses a model; separators between the models count as rows."""
    combo = window.find(Role.COMBO_BOX, 'Model', states=THERE)
    names = [n.name for n in combo.inside(Role.MENU_ITEM, Role.SEPARATOR)]
    combo.select_child(names.index(title))


def wait_for_model(window, title):
    window.wait_for(f'the model {title}', lambda: chosen(window) == title)


def open_small(window, name='small.onnx', **options):
    """Opens a network that fits the window's small data set."""
    path = onnxwriter.write_network(window.home.file(name), **options)
    window.small_shapes(epochs=1)
    window.open(path)
    wait_for_weights(window, os.path.basename(name))
    return path


def test_a_network_is_opened_and_trained(home):
    """A network is opened by the last entry of the chooser; its run starts from the weights of the
    file, and the run, its title and the list of runs show the network's title."""
    window = home.window()
    path = onnxwriter.write_network(home.file('small.onnx'))
    window.small_shapes(epochs=1)
    window.page('Train')
    assert weights(window) == RANDOM and models(window)[-1] == 'Open a network…', models(window)
    choose(window, 'Open a network…')
    chooser = window.find(Role.FILE_CHOOSER, 'Open a Network')
    window.key('ctrl+l')
    field = window.wait_for('the place to type in', lambda: next((n for n in chooser.inside(Role.TEXT, states=SHOWING)), None))
    field.text = path
    window.press('Open')
    wait_for_model(window, 'small')
    assert weights(window) == 'small.onnx'
    window.wait_for('no width', lambda: not window.find(Role.SPIN_BUTTON, 'Model width', states=THERE).sensitive())
    window.ready()
    window.press('Start')
    window.finished()
    window.ready()  # the log is complete
    window.text_with('small on Shapes')
    window.page('Runs')
    window.wait_for('the run by its title', lambda: any(n.name == 'small' for n in window.nodes(Role.TABLE_CELL)))
    assert not any('small@' in n.name for n in window.nodes())
    with open(os.path.join(home.newest_run(), 'settings.ini')) as file:
        assert 'model=small@' in file.read()
    with open(os.path.join(home.newest_run(), 'log')) as file:
        log = file.read()
    assert 'small.onnx' in log, log


def test_what_cannot_be_trained_is_refused(home):
    """Each reason has a row of its own, and the model stays selected."""
    window = home.window()
    open_small(window)
    window.open(onnxwriter.write_gaps(home.file('odd.onnx'), 3))
    dialog = window.find(Role.DIALOG, '“odd.onnx” cannot be trained as it is')
    rows = window.wait_for('all reasons', lambda: len(rows := [n.name for n in dialog.inside(Role.LIST_ITEM, states=SHOWING)]) == 3 and rows)
    assert [row.split(':')[0] for row in rows] == ['MaxPool “pool0”', 'MaxPool “pool1”', 'MaxPool “pool2”'], rows
    assert not window.nameless(), window.nameless()
    text = next(n for n in dialog.inside(Role.LABEL, states=SHOWING) if n.name == rows[0])
    window.focus_on(text)  # the focus allows selecting and copying the text
    window.key('Escape')
    window.wait_for('the dialog to go', lambda: not window.has(dialog.name, Role.DIALOG))
    assert chosen(window) == 'small' and weights(window) == 'small.onnx'
    assert 'odd' not in models(window)
    window.open(home.write('torn.onnx', 'no network'))
    torn = window.find(Role.DIALOG, '“torn.onnx” cannot be trained as it is')
    window.key('Escape')
    window.wait_for('the dialog to go', lambda: not window.has(torn.name, Role.DIALOG))
    window.ready()
    window.press('Show the layers')
    layers = window.find(Role.DIALOG, 'Layers')
    window.text('A batch of 16: 1,538 parameters')
    cells = [n.name for n in layers.inside(Role.TABLE_CELL)]
    assert 'second' in cells and 'global_avg_pool' in cells, cells
    window.text_with('Softmax')  # a note, not an error
    window.key('Escape')


def test_start_weights_are_removed_and_come_back(window):
    """The button removes the start weights and undo restores them; another model has none."""
    open_small(window)
    window.page('Train')
    remove = window.find(Role.PUSH_BUTTON, 'Remove the start weights', states=THERE)
    window.focus_on(remove)
    window.key('space')
    wait_for_weights(window, RANDOM)
    window.wait_for_focus('Choose start weights')  # the button has been removed
    assert chosen(window) == 'small'
    window.key('ctrl+z')
    wait_for_weights(window, 'small.onnx')
    choose(window, 'MLP')
    wait_for_model(window, 'MLP')
    wait_for_weights(window, RANDOM)
    window.key('ctrl+z')
    wait_for_model(window, 'small')
    wait_for_weights(window, 'small.onnx')
    window.ready()


def test_networks_are_offered_again(home):
    """The newest networks come first, also in the next session, which begins with the last one; two
    networks of the same title are distinguished by their digests."""
    window = home.window()
    open_small(window)
    os.makedirs(home.file('other'))
    open_small(window, 'other/small.onnx', activation='Tanh')
    open_small(window, 'third.onnx', activation='Sigmoid')
    window.page('Train')
    window.wait_for('all three', lambda: len(models(window)) > 3 and models(window)[-4] == 'third')
    second, first = models(window)[-3:-1]
    assert first != second and first.startswith('small (') and second.startswith('small ('), models(window)
    window.ready()
    window.press('Start')  # saves the form
    window.finished()
    window.ready()
    window.close()
    window.end()
    again = home.window()
    again.page('Train')
    wait_for_model(again, 'third')
    wait_for_weights(again, 'third.onnx')
    again.wait_for('the list', lambda: models(again)[-4:-1] == ['third', second, first])
    choose(again, first)
    wait_for_model(again, first)
    wait_for_weights(again, RANDOM)  # the weights are not saved with the network
    again.wait_for('it to be the newest', lambda: models(again)[-4:-1] == [first, 'third', second])
    again.ready()


def test_a_file_of_the_model_is_its_weights(home):
    """A file that was exported from the selected model gives its weights when it is dropped on the
    window; with another model selected, the file is a network."""
    window = home.window()
    window.small_shapes(epochs=1)
    window.press('Start')
    window.finished()
    window.ready()
    path = home.file('exported.onnx')
    home.run(os.environ['DYNO_UI_DYNOCTL'], 'save', '--run', home.newest_run(), '--to', 'onnx', '--out', path)
    window.open(path)
    wait_for_weights(window, 'exported.onnx')
    assert chosen(window) == 'MLP'
    choose(window, 'SimpleCNN')
    wait_for_model(window, 'SimpleCNN')
    window.open(path)
    wait_for_model(window, 'exported')
    wait_for_weights(window, 'exported.onnx')
    window.ready()


def test_the_window_goes_on_while_a_file_is_read(home):
    """The file is on a disk that does not answer; choosing another model cancels the reading, and
    its end is not reported."""
    if not os.environ.get('DYNO_UI_HOLD'):
        raise harness.Skip('a sanitizer has to be loaded before everything else')
    gate = home.write('gate', '')
    path = home.write('held/slow.onnx', 'no network')
    window = home.window(LD_PRELOAD=os.environ['DYNO_UI_HOLD'], DYNO_TEST_HOLD=gate)

    def reading():
        return any(n.description == 'Reading “slow.onnx”…' for n in window.nodes(Role.LIST_ITEM, states=THERE))
    window.small_shapes(epochs=1)
    window.open(path)
    window.wait_for('the reading', reading)
    assert not window.find(Role.PUSH_BUTTON, 'Start').sensitive() and chosen(window) == 'MLP'
    choose(window, 'SimpleCNN')
    wait_for_model(window, 'SimpleCNN')
    window.ready()
    assert not reading()
    os.remove(gate)
    open_small(window)  # opened after the held file
    assert not window.has('“slow.onnx” cannot be trained as it is', Role.DIALOG)


def test_keys_do_not_open_a_dialog(window):
    """Arrow keys in the closed list stop before its last entry, which opens a dialog."""
    open_small(window)
    window.page('Train')
    window.focus(Role.PUSH_BUTTON, 'Choose start weights')
    # The row's mnemonic; the widget that then has the focus is invisible to screen readers.
    window.key('alt+e')
    window.wait_for('the focus to move', lambda: not window.focus_is_on('Choose start weights'))
    window.key('End')
    window.key('Up')
    before = models(window)[-3]  # the network itself and the last entry follow
    window.wait_for('the keys to be done', lambda: chosen(window) == before)
    assert not window.has('Open a Network', Role.FILE_CHOOSER)


TESTS = [test_a_network_is_opened_and_trained, test_what_cannot_be_trained_is_refused, test_start_weights_are_removed_and_come_back,
         test_networks_are_offered_again, test_a_file_of_the_model_is_its_weights, test_the_window_goes_on_while_a_file_is_read,
         test_keys_do_not_open_a_dialog]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
