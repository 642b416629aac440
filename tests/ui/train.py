#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs in the window: preparation, plots, pausing, stopping, and the messages about failures.
Usage: see harness.py."""
import csv
import os
import re
import sys
import threading

import harness
from harness import Gio, GLib, Role, SHOWING, State, THERE, assert_whole


def read_metrics(folder):
    with open(os.path.join(folder, 'metrics.csv'), newline='') as file:
        return list(csv.DictReader(file))


def tile(window, title):
    """The number under a title of the page Train."""
    def look():
        shown = window.shown()
        return shown[shown.index(title) + 1] if title in shown else None
    return window.wait_for(f'the number of {title}', look)


def seconds(span):
    """The seconds of "0:07" or "1:02:03"."""
    assert re.fullmatch(r'(\d+:)+\d\d', span), span
    return sum(int(part) * 60 ** i for i, part in enumerate(reversed(span.split(':'))))


def step(window):
    """The step of the run, also while it goes on."""
    text = window.wait_for('its step', lambda: next((t for t in window.shown() if re.search(r'[Ss]tep [\d,]+ of ', t)), None))
    return int(re.search(r'[Ss]tep ([\d,]+)', text)[1].replace(',', ''))


def test_preparation_is_one_progress(window):
    """Up to the first step the bar only rises, whatever is prepared, and the sentence above it
    disappears with the first step."""
    window.open_settings({'Batch size': 20, 'Size': 40}, data='builtin:shapes?size=40&samples=100', model='mlp', batch_size=20, epochs=100000)
    window.ready()
    window.press('Start')
    bar = window.find(Role.PROGRESS_BAR, 'Progress of the run')
    values = []

    def started():
        value = bar.value
        if any(t.startswith('Training, step') for t in window.shown()):
            return True  # the value may be that of the run already
        values.append(value)
        return False
    window.wait_for('the first step', started)
    assert not window.has_text('Preparing: '), 'the sentence is behind the steps'
    assert values == sorted(values), values
    window.stop()


def test_preparation_says_what_it_does(home):
    """The sentence is shown as long as the driver compiles no kernel."""
    gate = home.file('gate')
    window = home.window(VK_ADD_LAYER_PATH=os.environ['DYNO_FAULTS_FOLDER'], VK_INSTANCE_LAYERS='VK_LAYER_DYNO_faults',
                         DYNO_FAULTS='gate=' + gate)
    window.small_shapes(epochs=1)
    with open(gate, 'w'):
        window.press('Start')
    window.text('Preparing: ')
    window.wait_for('the elapsed time', lambda: any(re.fullmatch(r'\d:\d\d so far', t) for t in window.shown()))
    os.remove(gate)
    window.finished()


def test_the_test_part_is_reported_at_the_end(home):
    """The result is shown when the run has ended, and goes when another run begins."""
    window = home.window()
    window.small_shapes(epochs=1, data__test_split=0.2)
    window.page('Data')
    window.text('70 train, 10 validate, 20 test')
    window.press('Start')
    window.page('Train')
    window.finished()
    said = window.text('Test: ')
    assert re.fullmatch(r'Test: Accuracy [\d.]+ % on 20 samples that the training has not seen', said), said
    window.ready()
    window.small_shapes(epochs=1, data__test_split=0)
    window.press('Start')
    window.page('Train')
    window.finished()
    assert not window.has_text('Test: '), 'the result of the run before is still there'


def test_trains_to_the_end(home):
    window = home.window()
    # SimpleCNN, which is the window's first model.
    window.open_settings({'Batch size': 16, 'Samples': 100}, batch_size=16, model__width=0.25)
    window.set_number('Epochs', 2)
    window.ready()
    window.key('F5')
    window.finished()
    text = window.text('Step ')
    assert sum(t.startswith('Finished') for t in window.shown()) == 1, 'the end is said more than once'
    steps = [int(word.replace(',', '')) for word in text.split() if word.replace(',', '').isdigit()]
    assert len(steps) == 2 and steps[0] == steps[1] and steps[0] > 0, text
    window.ready()
    assert any(re.fullmatch(r'[\d.]+\u00a0[KMG]iB', t) for t in window.shown()), 'the memory tile has no number with its unit'
    assert_whole(home.newest_run())
    path = home.file('steps.csv')
    window.activate('export-curves', GLib.Variant('s', 'csv'))
    window.save_as('Export Curves', path, 'Export')
    window.exported('steps.csv')
    with open(path, newline='') as file:
        assert [int(row['step']) for row in csv.DictReader(file)] == list(range(1, steps[1] + 1))
    expected = window.text_with(' steps, about ')  # estimated from the run that has ended
    assert re.match(rf'{steps[1]:,} steps, about \d+:', expected) and expected.endswith('iB on disk'), expected


def test_plots_are_read_zoomed_and_shown_alone(home):
    """Plots are used by the keyboard, after the run has ended; all plots zoom together."""
    window = home.window()

    def said(name):
        return window.find(Role.CHART, name).description
    window.small_shapes(epochs=2)
    window.press('Start')
    window.finished()
    window.ready()
    window.focus(Role.CHART, 'Loss')
    window.key('Home')
    window.wait_for('the first step', lambda: said('Accuracy').startswith('Step 1: Training '))
    window.key('plus')
    window.wait_for('a part of the steps', lambda: re.search(r'; shown from 1 to \d+$', said('Throughput')))
    window.choose('Horizontal axis', 'Epoch')
    window.wait_for('epochs', lambda: re.match(r'Epoch \d\.\d\d: .*; shown from \d', said('Loss')))
    window.wait_for('it to be kept', lambda: "plot-axis='epoch'" in home.kept_settings())
    window.choose('Horizontal axis', 'Time')
    window.wait_for('the clock', lambda: re.match(r'Time \d+:\d\d: ', said('Loss')))
    window.choose('Horizontal axis', 'Step')
    window.focus(Role.CHART, 'Loss')
    window.key('0')
    window.wait_for('all steps', lambda: 'shown from' not in said('Loss'))
    window.press('Hold', Role.TOGGLE_BUTTON)
    window.wait_for('the plots to be held', lambda: 'shown from' in said('Loss'))
    window.focus(Role.CHART, 'Loss')
    window.key('End')
    window.wait_for('another step than the first', lambda: not said('Loss').startswith('Step 1: '))
    window.key('0', 'Home')  # 0 shows all steps and keeps them held; only Home has a visible effect
    window.wait_for('the first step', lambda: said('Loss').startswith('Step 1: '))
    assert 'shown from' in said('Loss')
    window.press('Hold', Role.TOGGLE_BUTTON)
    window.wait_for('all that comes', lambda: 'shown from' not in said('Loss'))
    window.focus(Role.CHART, 'Loss')
    window.key('plus')
    window.wait_for('a part of the steps', lambda: 'shown from' in said('Throughput'))
    assert ', smoothed ' in said('Loss'), said('Loss')

    def span():
        return re.search(r'shown from .*', said('Loss'))[0]
    # A part of the steps is dragged with the mouse: away, and to the place where it was.
    before = span()
    x, y, width, height = window.find(Role.CHART, 'Loss').extents()
    place = str(x + width // 2), str(y + height // 2)
    home.run('xdotool', 'mousemove', *place, 'mousedown', '1', 'mousemove', str(x + width // 4), place[1])
    window.wait_for('later steps', lambda: span() != before)
    home.run('xdotool', 'mousemove', *place)
    window.wait_for('the steps before', lambda: span() == before)
    home.run('xdotool', 'mouseup', '1')
    window.key('shift+F10')
    window.press('Reset Zoom', Role.MENU_ITEM)
    window.wait_for('all steps', lambda: 'shown from' not in said('Throughput'))
    window.focus(Role.CHART, 'Loss')
    window.key('shift+F10')
    window.press('Save as Picture…', Role.MENU_ITEM)
    path = home.file('loss.svg')
    window.save_as('Save the Plot as PNG, SVG or PDF', path, 'Save')
    with open(path) as file:
        assert '<svg' in file.read()
    window.focus(Role.CHART, 'Loss')
    window.key('1')
    window.wait_for('the validation only', lambda: said('Loss').endswith('; hidden: Training') and 'Training ' not in said('Loss'))
    window.press('Start')  # a hidden line stays hidden in a new run
    window.finished()
    assert said('Loss').endswith('; hidden: Training'), said('Loss')
    window.focus(Role.CHART, 'Loss')
    window.key('1')
    window.wait_for('both', lambda: 'hidden' not in said('Loss') and 'Training ' in said('Loss'))
    window.key('m')
    window.wait_for('one plot', lambda: not window.has('Throughput', Role.CHART))
    window.press('Show all plots (M)')
    window.find(Role.CHART, 'Throughput')


def test_pauses_and_stops(home):
    """A pause takes no step, and a setting that is changed in the pause applies from the step after
    the last one."""
    window = home.window()
    window.start_long_run(lr=0.01, schedule='constant', warmup_epochs=0)
    for name in 'Throughput', 'Loss', 'Device memory':
        window.wait_for(f'values of {name}', lambda n=name: re.match(
            # The first step has no rate.
            r'Step \d+: \w+ [\d.]+', window.find(Role.CHART, n, states=THERE).description))
    window.focus(Role.CHART, 'Loss')
    window.key('space')
    window.text('Paused')
    window.key('space')
    window.text('Training, step')
    window.text('These are the settings of the next run')
    window.press('Change the run in progress, too', Role.CHECK_BOX)
    window.text_with(' left, loss ')
    assert seconds(tile(window, 'Time left')) > 3600, 'a million epochs are left'
    window.set_number('Batch size', 40)
    window.press('Pause')
    window.text('Paused, ')
    before = step(window)
    window.set_number('Learning rate', 0.03)
    window.press('Resume')
    window.text('Training, step')
    window.wait_for('more steps', lambda: step(window) > before)
    window.stop()
    rows = read_metrics(home.newest_run())
    assert [int(row['step']) for row in rows] == list(range(1, len(rows) + 1)), 'steps are missing'
    rates = [float(row['lr']) for row in rows]
    after = rates.index(0.03)
    assert after == before and set(rates[:after]) == {0.01} and set(rates[after:]) == {0.03}, f'paused after {before} steps; 0.03 since {after} steps'
    kept = GLib.KeyFile()
    kept.load_from_file(os.path.join(home.newest_run(), 'settings.ini'), GLib.KeyFileFlags.NONE)
    assert kept.get_string('settings', 'batch_size') == '16', 'the batch size is for the next run'
    assert kept.get_string('settings', 'lr') == '0.03', 'the learning rate is for this run'
    assert window.number('Batch size') == 40
    assert seconds(tile(window, 'Time')) < 3600, 'the time that the run took is that which was left'


def test_a_pause_frees_the_gpu(home):
    window = home.window()
    window.start_long_run()
    held = tile(window, 'Memory')
    window.activate('release')
    window.text('Paused, device memory is free')
    assert held != '0\u00a0B' and tile(window, 'Memory') == '0\u00a0B', f"{held}, then {tile(window, 'Memory')}"
    before = step(window)
    window.text('Device memory ')
    assert not window.has_text('in use'), 'memory that was given back is called in use'
    window.press('Resume')
    window.text('Training, step')
    window.wait_for('more steps', lambda: step(window) > before)
    window.stop()
    assert_whole(home.newest_run())


def test_stopping_asks_and_holds_nothing_up(home):
    window = home.window()
    window.start_long_run()
    window.press('Stop')
    window.text('Stop the run?')
    before = window.text('Training, step')
    window.wait_for('the run to go on', lambda: window.text('Training, step') != before)
    window.press('Do the same from now on', Role.CHECK_BOX)
    window.key('Escape')
    window.wait_without_text('Stop the run?')
    window.text('Training, step')
    window.press('Stop')
    assert not window.find(Role.CHECK_BOX, 'Do the same from now on').has(State.CHECKED), 'an answer that was not given is to be kept'
    window.press('Do the same from now on', Role.CHECK_BOX)
    window.press('Save')
    window.text('Stopped after ')
    window.wait_for('the answer to be kept', lambda: "stop='save'" in home.kept_settings())
    window.ready()
    window.press('Start')
    window.text('Training, step')
    window.press('Stop')
    window.text('Stopped after ')
    window.ready()


def test_stops_with_and_without_saving(home):
    """The run stops in the first epoch, so that nothing was saved before: the epoch has more steps
    than any machine makes meanwhile.  A run that was saved goes on in its own folder, twice."""
    window = home.window()
    window.open_settings({'Samples': 1000000, 'Batch size': 16}, data='builtin:shapes?size=32&samples=1000000', model__width=0.25, batch_size=16,
                         amp='false')
    window.ready()
    window.press('Start')
    window.page('Train')
    window.text('Training, step')
    window.activate('discard')
    window.text('Stopped after ')
    window.ready()
    kept = os.listdir(home.newest_run())
    assert 'metrics.csv' in kept and 'weights.safetensors' not in kept, kept
    assert not window.look(Role.PUSH_BUTTON, 'Resume', THERE), 'nothing was saved to resume from'
    before = set(os.listdir(home.runs))
    window.press('Start')
    window.text('Training, step')
    window.stop('Save')
    run, = set(os.listdir(home.runs)) - before
    kept = os.listdir(os.path.join(home.runs, run))
    assert 'checkpoint.safetensors' in kept, kept
    for _ in range(2):
        stopped = read_metrics(os.path.join(home.runs, run))[-1]['step']
        window.press('Resume')
        window.text('Training, step')
        window.stop('Save')
        steps = [int(row['step']) for row in read_metrics(os.path.join(home.runs, run))]
        assert steps == list(range(1, len(steps) + 1)) and steps[-1] > int(stopped), (stopped, steps[-1])
    assert set(os.listdir(home.runs)) - before == {run}


def test_prepares_the_next_run_in_mid_run(home):
    """Another data set and other settings are for the next run, from the queue; the run that goes
    on keeps its own, also those that could be changed in it."""
    window = home.window()
    window.start_long_run(lr=0.01, schedule='constant', warmup_epochs=0)
    window.press('Change the run in progress, too', Role.CHECK_BOX)
    window.text('Changes the run at once')
    # The message does not replace an error, but is shown once the error was closed.
    window.activate('export-curves', GLib.Variant('s', 'csv'))
    chooser = window.find(Role.FILE_CHOOSER, 'Export Curves')
    window.wait_for('the name field', lambda: next((n for n in chooser.inside(Role.TEXT, states=SHOWING) if '.' in n.text), None)).text = '/proc/x.csv'
    window.press('Export')
    window.text('The curves were not exported')
    window.press('Close message')
    window.open_settings({'Epochs': 3, 'Batch size': 8}, data='builtin:shapes?size=16&samples=64', model='mlp', amp='false', epochs=3, batch_size=8,
                         lr=0.5, data__val_split=0)
    window.wait_without_text('Changes the run at once')
    run = home.newest_run()
    window.wait_for('the data', lambda: window.is_enabled('add-to-queue'))
    window.activate('add-to-queue')
    window.text('MLP on Shapes was added to the queue, which starts when this run has ended')
    window.set_number('Learning rate', 0.25)
    before = step(window)
    window.wait_for('more steps', lambda: step(window) > before)
    window.stop()
    rows = read_metrics(run)
    assert {float(row['lr']) for row in rows} == {0.01}, 'the next run has changed this one'


class SessionManager:
    """The session manager of a desktop, which programs ask not to suspend the machine.  It answers
    from a thread of its own, since the window waits for its answers."""
    NAME = 'org.gnome.SessionManager'
    INTERFACE = Gio.DBusNodeInfo.new_for_xml(f"""<node><interface name="{NAME}">
        <method name="Inhibit"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
            <arg type="u" direction="in"/><arg type="u" direction="out"/></method>
        <method name="Uninhibit"><arg type="u" direction="in"/></method></interface></node>""").interfaces[0]
    SUSPEND = 4

    def __init__(self):
        self.asked, self.let_go = [], []  # flags of each request; numbers of the requests that have ended
        self.loop, ready = None, threading.Event()
        self.thread = threading.Thread(target=self.serve, args=(ready,))
        self.thread.start()
        ready.wait()

    def serve(self, ready):
        context = GLib.MainContext.new()
        context.push_thread_default()
        self.loop = GLib.MainLoop.new(context, False)
        bus = Gio.DBusConnection.new_for_address_sync(
            os.environ['DBUS_SESSION_BUS_ADDRESS'],
            Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        bus.register_object('/org/gnome/SessionManager', self.INTERFACE, self.called, None, None)
        bus.call_sync('org.freedesktop.DBus', '/', 'org.freedesktop.DBus', 'RequestName', GLib.Variant('(su)', (self.NAME, 0)), None,
                      Gio.DBusCallFlags.NONE, -1, None)
        ready.set()
        self.loop.run()
        bus.close_sync(None)
        context.pop_thread_default()

    def called(self, bus, sender, path, interface, method, arguments, invocation):
        arguments = arguments.unpack()
        if method == 'Inhibit':
            self.asked.append(arguments[3])
            invocation.return_value(GLib.Variant('(u)', (len(self.asked),)))
        else:
            self.let_go.append(arguments[0])
            invocation.return_value(None)

    def end(self):
        self.loop.quit()
        self.thread.join()


def test_the_machine_is_not_suspended_during_each_run(home):
    manager = SessionManager()
    try:
        window = home.window()
        window.small_shapes(epochs=1)
        for n in 1, 2:
            window.press('Start')
            window.wait_for('the request not to suspend', lambda n=n: manager.asked == n * [SessionManager.SUSPEND])
            window.page('Train')
            window.finished()
            window.wait_for('its end', lambda n=n: manager.let_go == list(range(1, n + 1)))
            window.ready()
    finally:
        manager.end()


def test_divergence_is_said(home):
    window = home.window()
    window.small_shapes(epochs=40, lr=100, momentum=0.99, warmup_epochs=0, schedule='constant')
    window.press('Start')
    window.page('Train')
    window.text('The training diverged')
    window.text_with('Try a lower learning rate')
    window.text('Failed after ')
    window.press('Close message')
    window.ready()
    before = set(os.listdir(home.runs))
    window.press(window.button_name('Restart with Gradient clipping 1'))
    window.wait_for_numbers({'Gradient clipping': 1})
    window.wait_for('another run', lambda: set(os.listdir(home.runs)) - before)


def test_a_run_begins_without_the_advice_of_the_one_before(home):
    """The new run has no advice before it has a step that could be judged."""
    gate = home.file('gate')
    window = home.window(VK_ADD_LAYER_PATH=os.environ['DYNO_FAULTS_FOLDER'], VK_INSTANCE_LAYERS='VK_LAYER_DYNO_faults',
                         DYNO_FAULTS='gate=' + gate)
    window.small_shapes(epochs=40, lr=100, momentum=0.99, warmup_epochs=0, schedule='constant')
    window.press('Start')
    window.page('Train')
    window.text('Failed after ')
    window.button_name('Restart with ')
    window.press('Close message')
    window.ready()
    window.small_shapes(epochs=1, lr=0.001)
    with open(gate, 'w'):
        window.press('Start')
    window.text('Preparing: ')
    assert not any(n.name.startswith('Restart with ') for n in window.nodes(Role.PUSH_BUTTON)), 'it has the advice of the run before'
    os.remove(gate)
    window.finished()


def test_a_run_that_learns_nothing_is_said(window):
    window.open_settings({'Samples': 400}, data='builtin:shapes?size=16&samples=400', model='mlp', batch_size=16, epochs=8, lr=1e-7, warmup_epochs=0,
                         schedule='constant', amp='false', momentum=0)
    window.ready()
    window.press('Start')
    window.page('Train')
    window.finished()
    window.text_with('Nothing is learned')
    window.press('Close message')
    window.ready()


def test_what_cannot_be_kept_does_not_begin(home):
    """Neither a run nor a job nor a search begins; another folder is offered, and the run begins
    there."""
    for folder in 'runs', 'searches':
        home.write('data/dyno/' + folder, 'a file, so that no folder can be made')
    window = home.window()
    window.small_shapes(epochs=1)
    window.activate('tune')
    window.text('The search was not started')
    window.ready()
    window.activate('add-to-queue')
    window.text('The job was not queued')
    window.press('Start')
    window.text('The run was not started')
    assert window.has_text(home.runs) and not window.has_text('--'), window.shown()
    assert not window.has_text('Everything is ready'), window.shown()
    window.ready()

    def offered(title):
        """The buttons of the bar with this message."""
        bar = window.find_where(title, lambda n: any(label.name.startswith(title) for label in n.inside(Role.LABEL, states=SHOWING)), Role.INFO_BAR)
        return {n.name for n in bar.inside(Role.PUSH_BUTTON, states=SHOWING)}
    assert 'Choose Another Folder…' in offered('The run was not started')
    window.open(home.file('no such folder'))
    assert offered('The data set cannot be used') == {'Close message'}, 'another folder for runs is offered for data that are not there'
    window.ready()
    window.press('Start')
    window.text('The run was not started')
    window.press('Choose Another Folder…')
    window.find(Role.FILE_CHOOSER, 'Choose the folder for runs')
    before = set(os.listdir(home.path))
    window.press('Open')  # the dialog begins in the home folder
    window.finished()
    assert not window.has_text('The run was not started'), window.shown()
    run, = (name for name in set(os.listdir(home.path)) - before if re.match(r'20\d\d-', name))
    assert_whole(home.file(run))
    assert f"runs-folder='{home.path}'" in home.kept_settings(), home.kept_settings()


TESTS = [test_preparation_is_one_progress, test_preparation_says_what_it_does, test_the_test_part_is_reported_at_the_end, test_trains_to_the_end,
         test_plots_are_read_zoomed_and_shown_alone, test_pauses_and_stops, test_a_pause_frees_the_gpu, test_stopping_asks_and_holds_nothing_up,
         test_stops_with_and_without_saving, test_prepares_the_next_run_in_mid_run,
         test_the_machine_is_not_suspended_during_each_run, test_divergence_is_said,
         test_a_run_begins_without_the_advice_of_the_one_before,
         test_a_run_that_learns_nothing_is_said, test_what_cannot_be_kept_does_not_begin]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
