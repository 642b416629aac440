#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drives the real window through AT-SPI, as a screen reader would: choose the built-in Shapes,
train, pause, stop, export the settings and read them back, see errors, close in mid-run.

Usage: window.py DYNO [NAME...]    DYNO: the program; NAME: only these tests.
Starts its own X server (Xvfb), session bus and accessibility bus; nothing of the user's session is
touched.  Exit status 77: a tool that it needs is not installed."""
import contextlib
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib

LIMIT_S = 240  # for one step that waits; never reached when things work
FAILURES_AT_MOST = 2


def start_inside():
    """Runs this script again with an X server and buses of its own."""
    for tool in ('Xvfb', 'dbus-run-session', 'openbox', 'xdotool'):
        if not shutil.which(tool):
            print(f'{tool} is not installed')
            sys.exit(77)
    home = tempfile.mkdtemp(prefix='dyno-ui-')
    read_end, write_end = os.pipe()
    server = subprocess.Popen(['Xvfb', '-displayfd', str(write_end), '-screen', '0', '1280x900x24', '-nolisten', 'tcp', '-noreset'],
                              pass_fds=[write_end], stderr=subprocess.DEVNULL)
    os.close(write_end)
    try:
        with os.fdopen(read_end) as answer:
            display = answer.readline().strip()
        if not display:
            print('Xvfb did not start')
            return 1
        environment = dict(os.environ, DYNO_UI_HOME=home, DISPLAY=':' + display, GDK_BACKEND='x11', LC_ALL='C.UTF-8', LANGUAGE='',
                           XDG_DATA_HOME=home + '/data', XDG_CONFIG_HOME=home + '/config', XDG_RUNTIME_DIR=home,
                           GSETTINGS_BACKEND='keyfile', GTK_MODULES='', NO_AT_BRIDGE='0', G_DEBUG='fatal-criticals', GTK_USE_PORTAL='0', GTK_THEME='Adwaita')
        environment.pop('WAYLAND_DISPLAY', None)
        environment.setdefault('XDG_CACHE_HOME', home + '/cache')
        # What the buses and their services print on standard output (the accessibility registry
        # does) is no TAP.
        tap = os.dup(sys.stdout.fileno())
        environment['DYNO_UI_TAP'] = str(tap)
        return subprocess.run(['dbus-run-session', '--', sys.executable, *sys.argv], env=environment, stdout=sys.stderr,
                              pass_fds=[tap]).returncode
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == '__main__' and 'DYNO_UI_HOME' not in os.environ:
    try:
        import gi
        gi.require_version('Atspi', '2.0')
    except (ImportError, ValueError) as problem:
        print(f'AT-SPI for Python is not installed: {problem}')
        sys.exit(77)
    sys.exit(start_inside())

import gi  # noqa: E402
gi.require_version('Atspi', '2.0')
from gi.repository import Atspi, GLib  # noqa: E402

HOME = os.environ['DYNO_UI_HOME']
RUNS = os.path.join(HOME, 'data', 'dyno', 'runs')


def walk(node, depth=0):
    yield node
    if depth > 40:
        return
    for i in range(node.get_child_count()):
        child = node.get_child_at_index(i)
        if child is not None:
            yield from walk(child, depth + 1)


def showing(node):
    states = node.get_state_set()
    return states.contains(Atspi.StateType.SHOWING) and states.contains(Atspi.StateType.VISIBLE)


def there(node):
    """Also where the panel is scrolled away from it."""
    return node.get_state_set().contains(Atspi.StateType.VISIBLE)


def sensitive(node):
    return node.get_state_set().contains(Atspi.StateType.SENSITIVE)


class Window:
    def __init__(self, program, *arguments):
        self.program = program
        handle, path = tempfile.mkstemp(prefix='stderr-', dir=HOME)  # of its own: another window may go on meanwhile
        with open(handle, 'w') as written:
            self.process = subprocess.Popen([program, *arguments], stderr=written, cwd=HOME)
        self.errors = open(path)  # with a position of its own
        self.application = self.wait_for('the application', self.find_application)

    def wait_for(self, what, question, limit_s=LIMIT_S):
        end = time.monotonic() + limit_s
        while True:
            try:
                answer = question()
            except GLib.Error:  # a widget vanished between two questions
                answer = None
            if answer:
                return answer
            if self.process.poll() is not None and what != 'the end':
                raise AssertionError(f'dyno ended with {self.process.returncode} while waiting for {what}')
            if time.monotonic() > end:
                raise AssertionError(f'waited {limit_s} s for {what}; focus: {self.describe_focus()}; shown: {self.shown()}')
            time.sleep(0.1)

    def complaints(self):
        """Warnings and criticals on standard error since the last question."""
        return [line for line in self.errors.read().splitlines() if re.search(r'-(WARNING|CRITICAL|ERROR) \*\*|^[\w-]+: (warning|critical|error): ', line)]

    def find_application(self):
        desktop = Atspi.get_desktop(0)
        desktop.clear_cache()
        for i in range(desktop.get_child_count()):
            child = desktop.get_child_at_index(i)
            if child is not None and child.get_process_id() == self.process.pid:
                return child
        return None

    def nodes(self):
        self.application.clear_cache()
        return walk(self.application)

    def texts(self):
        """What labels and rows say, as far as it is shown."""
        for node in self.nodes():
            if node.get_role() == Atspi.Role.LABEL and showing(node):
                yield node.get_name()
            elif node.get_role() == Atspi.Role.LIST_ITEM and there(node):
                yield node.get_description()

    def shown(self):
        try:
            return [text for text in self.texts() if text]
        except GLib.Error:
            return []

    def find(self, role, name, limit_s=LIMIT_S, state=showing):
        def question():
            for node in self.nodes():
                if node.get_role() == role and node.get_name() == name and state(node):
                    return node
            return None
        return self.wait_for(f'{role.value_nick} "{name}"', question, limit_s)

    def text(self, start, limit_s=LIMIT_S):
        """A label that begins so."""
        return self.wait_for(f'a text "{start}…"', lambda: next((t for t in self.texts() if t.startswith(start)), None), limit_s)

    def finished(self):
        """The run has ended well; of one that has not, the failure is told at once."""
        said = self.wait_for('the end of the run', lambda: next((t for t in self.texts() if t.startswith(('Finished in ', 'Failed after '))), None))
        assert said.startswith('Finished in '), f'the run has failed; shown: {self.shown()}'

    def text_with(self, part, limit_s=LIMIT_S):
        """A label that contains it."""
        return self.wait_for(f'a text with "{part}"', lambda: next((t for t in self.shown() if part in t), None), limit_s)

    def button_name(self, start):
        def question():
            for node in self.nodes():
                if node.get_role() == Atspi.Role.PUSH_BUTTON and node.get_name().startswith(start) and showing(node):
                    return node.get_name()
            return None
        return self.wait_for(f'a button "{start}…"', question)

    def open_settings(self, data='builtin:shapes?size=32&samples=100', model='simplecnn', **settings):
        """A settings file, opened as a file manager would; model__width stands for model.width."""
        path = os.path.join(HOME, 'opened.ini')
        with open(path, 'w') as file:
            file.write(f'[run]\ndata={data}\nmodel={model}\n[settings]\n')
            file.writelines(f'{key.replace("__", ".")}={value}\n' for key, value in settings.items())
        subprocess.run([self.program, path], check=True)

    def has_text(self, part):
        return any(part in text for text in self.shown())

    def press(self, name, role=Atspi.Role.PUSH_BUTTON):
        def question():
            node = self.find(role, name)
            return node if sensitive(node) else None
        node = self.wait_for(f'"{name}" to be sensitive', question)
        Atspi.Action.do_action(node, 0)

    def page(self, name):
        """A page of the rail; only the one that is shown is there for screen readers."""
        button = self.find(Atspi.Role.RADIO_BUTTON, name)
        if not button.get_state_set().contains(Atspi.StateType.CHECKED):
            Atspi.Action.do_action(button, 0)
            self.wait_for(f'the page {name}', lambda: button.get_state_set().contains(Atspi.StateType.CHECKED))

    def focused(self):
        for node in self.nodes():
            if node.get_state_set().contains(Atspi.StateType.FOCUSED) and showing(node) and node.get_role() != Atspi.Role.FRAME:
                return node
        return None

    def describe_focus(self):
        """For a message: each that says it has the focus, the window included."""
        def describe(node):
            states = node.get_state_set()
            return f'{node.get_role().value_nick} "{node.get_name()}"' + ('' if showing(node) else ' not showing') + (
                '' if states.contains(Atspi.StateType.SENSITIVE) else ' insensitive')
        try:
            return ', '.join(describe(n) for n in self.nodes() if any(
                n.get_state_set().contains(s) for s in (Atspi.StateType.FOCUSED, Atspi.StateType.ACTIVE))) or 'nowhere'
        except GLib.Error as problem:
            return str(problem)

    def focus(self, role, name):
        node = self.find(role, name, state=there)
        Atspi.Component.grab_focus(node)
        self.wait_for(f'the focus on "{name}"', lambda: node.get_state_set().contains(Atspi.StateType.FOCUSED))

    def has_keyboard(self):
        """The window manager gives it to a new window, a dialog say, some time after it is shown."""
        kinds = Atspi.Role.FRAME, Atspi.Role.DIALOG, Atspi.Role.FILE_CHOOSER, Atspi.Role.ALERT
        self.application.clear_cache()
        windows = [self.application.get_child_at_index(i) for i in range(self.application.get_child_count())]
        windows = [w for w in windows if w is not None and w.get_role() in kinds and showing(w)]
        dialogs = [w for w in windows if w.get_name() != 'Dyno']
        return any(w.get_state_set().contains(Atspi.StateType.ACTIVE) for w in dialogs or windows)

    def key(self, *names):
        """Keys as from the keyboard, to the window that has it, one right after another."""
        self.wait_for('the keyboard', self.has_keyboard)
        subprocess.run(['xdotool', 'key', '--delay', '0', *names], check=True)

    def go_to(self, name):
        """The page with a control of that name."""
        self.page({'Size': 'Data', 'Samples': 'Data', 'Minutes': 'Tune'}.get(name, 'Train'))

    def set_number(self, name, value):
        self.go_to(name)
        node = self.wait_for(f'"{name}" to be sensitive',
                             lambda: (lambda n: n if sensitive(n) else None)(self.find(Atspi.Role.SPIN_BUTTON, name, state=there)))
        Atspi.Value.set_current_value(node, value)

    def get_number(self, name):
        self.go_to(name)
        return Atspi.Value.get_current_value(self.find(Atspi.Role.SPIN_BUTTON, name, state=there))

    def choose(self, name, item):
        """An item of a combo box."""
        combo = self.find(Atspi.Role.COMBO_BOX, name)
        menu = next(n for n in walk(combo) if n.get_role() == Atspi.Role.MENU)
        items = [menu.get_child_at_index(i) for i in range(menu.get_child_count())]
        Atspi.Selection.select_child(combo, [i.get_name() for i in items].index(item))

    def save_as(self, dialog, path, button):
        """Types a path into the name field of a save dialog."""
        chooser = self.find(Atspi.Role.FILE_CHOOSER, dialog)

        def question():
            for node in walk(chooser):
                if node.get_role() == Atspi.Role.TEXT and showing(node) and '.' in Atspi.Text.get_text(node, 0, -1):
                    return node
            return None
        field = self.wait_for('the name field', question)
        Atspi.EditableText.set_text_contents(field, path)
        self.press(button)
        self.wait_for(f'"{path}"', lambda: os.path.exists(path))

    def export(self, path, title='Dyno settings'):
        """Saves the settings in the format of that title, which is shown first."""
        self.press('Export settings')
        self.press_row(title)
        self.press('Save…')
        self.save_as('Export Settings', path, 'Export')

    def press_row(self, name):
        row = self.find(Atspi.Role.LIST_ITEM, name)
        Atspi.Selection.select_child(row.get_parent(), row.get_index_in_parent())
        self.wait_for(f'"{name}" to be selected', lambda: row.get_state_set().contains(Atspi.StateType.SELECTED))

    def small_shapes(self):
        """The least work that is still training."""
        self.open_settings(batch_size=16, model__width=0.25)
        self.wait_for('the data set of 100 samples', lambda: self.get_number('Samples') == 100 and self.get_number('Size') == 32)

    def ready(self):
        self.wait_for('Start to be sensitive', lambda: sensitive(self.find(Atspi.Role.PUSH_BUTTON, 'Start')))

    def close(self):
        self.press('Close')

    def end(self):
        self.wait_for('the end', lambda: self.process.poll() is not None)
        assert self.process.returncode == 0, f'dyno ended with {self.process.returncode}'

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def assert_whole(folder):
    """A run from the window leaves what one from dynoctl leaves."""
    kept = os.listdir(folder)
    for name in 'settings.ini', 'metrics.csv', 'weights.safetensors', 'curves.svg', 'curves.png', 'log':
        assert name in kept, f'{name} is not in {folder}: {kept}'
    return kept


def newest_run():
    return os.path.join(RUNS, sorted(os.listdir(RUNS))[-1])


def test_first_start_on_a_software_device_is_small(window):
    """Small enough that a curve is there soon."""
    window.ready()
    window.wait_for('small shapes', lambda: window.get_number('Size') == 32)
    assert window.get_number('Batch size') == 32
    assert window.get_number('Model width') == 0.25


def test_preparation_is_one_progress(window):
    """Up to the first step the bar only rises, whatever is prepared, and the time left is told when
    it can be."""
    window.open_settings(data='builtin:shapes?size=40&samples=100', model='mlp', batch_size=20, epochs=1)
    window.wait_for('its settings', lambda: window.get_number('Batch size') == 20 and window.get_number('Size') == 40)
    window.ready()
    window.press('Start')
    bar = window.find(Atspi.Role.PROGRESS_BAR, 'Progress of the run')
    values, said, begin = [], set(), time.monotonic()

    def started():
        said.update(t for t in window.shown() if t.startswith('Preparing: '))
        values.append(Atspi.Value.get_current_value(bar))
        return any(t.startswith(('Training, step', 'Finished in')) for t in window.shown())
    window.wait_for('the first step', started)
    assert not any(t.startswith('Preparing: ') for t in window.shown()), 'the sentence is behind the steps'
    long = time.monotonic() - begin > 3  # else the programs were compiled before, and it may have passed between two questions
    rising = values[:-2]
    assert rising == sorted(rising), values
    assert said or not long, 'nothing was said of the preparation'
    window.finished()
    window.ready()


def nameless(window):
    """The roles of what the focus can reach without a name."""
    return [n.get_role().value_nick for n in window.nodes()
            if n.get_state_set().contains(Atspi.StateType.FOCUSABLE) and showing(n) and not n.get_name()
            and n.get_role() != Atspi.Role.TABLE_CELL]  # an empty one has a column's title


def test_every_control_has_a_name(window):
    """What the focus can reach is named for screen readers, on each page, the error bar included.
    """
    window.ready()
    subprocess.run([window.program, '/nowhere'], check=True)
    window.text_with('/nowhere')
    for page in 'Home', 'Data', 'Tune', 'Diagnose', 'Runs', 'Train':
        window.page(page)
        assert not nameless(window), f'on the page {page}: {nameless(window)}'
    window.press('Export settings')
    window.find(Atspi.Role.LIST_ITEM, 'Dyno settings')
    assert not nameless(window), f'in the export dialog: {nameless(window)}'
    window.key('Escape')
    window.wait_for('the dialog to go', lambda: not any(n.get_name() == 'Dyno settings' and showing(n) for n in window.nodes()))
    assert window.find(Atspi.Role.FRAME, 'Dyno')
    window.press('Close message')
    window.wait_for('the error to go', lambda: not window.has_text('/nowhere'))


def test_empty_pages_say_what_comes_there(window):
    """Title and sentence for screen readers, and the button that begins a run."""
    window.close()
    window.end()
    folder = os.path.join(HOME, 'empty')
    empty = Window(window.program, '--state-dir', folder)
    try:
        empty.ready()
        for page, title in ('Train', 'No Run Yet'), ('Tune', 'Nothing Measured Yet'), ('Diagnose', 'Nothing to Diagnose Yet'), ('Runs', 'No Runs Yet'):
            empty.page(page)
            status = empty.wait_for(f'"{title}"', lambda: next((n for n in empty.nodes() if n.get_name() == title and showing(n)), None))
            assert status.get_description(), title
            if page in ('Diagnose', 'Runs'):
                assert sensitive(empty.find(Atspi.Role.PUSH_BUTTON, 'Start Training')), page
        assert not any(n.get_name() == 'Delete' and showing(n) for n in empty.nodes()), 'buttons for runs that are not there'
        empty.small_shapes()
        empty.ready()
        empty.page('Diagnose')
        empty.press('Start Training')
        empty.find(Atspi.Role.RADIO_BUTTON, 'Train')
        empty.text_with('step')
    finally:
        empty.kill()


def test_collapsed_settings_are_not_reached(window):
    """Neither by Tab, until Enter on the title unfolds them."""
    window.ready()
    window.page('Train')
    hidden = {'Momentum', 'Weight decay', 'Seed', 'Deterministic'}
    window.focus(Atspi.Role.LIST_ITEM, 'Memory')  # scrolls there
    for _ in range(2):
        window.key('Tab')
        time.sleep(0.3)
        reached = window.focused()
        assert reached is None or reached.get_name() not in hidden, f'Tab went to "{reached.get_name()}", which nobody sees'
    window.focus(Atspi.Role.LIST_ITEM, 'Advanced')
    window.key('Return', 'Tab')  # the second before a frame was drawn after the first
    # GTK tells that what stands in a list in a scrolled panel is showing by its place in the list.
    window.wait_for('the focus on the first of its controls, at once', lambda: any(
        n.get_role() == Atspi.Role.SPIN_BUTTON and n.get_state_set().contains(Atspi.StateType.FOCUSED) for n in window.nodes()))
    window.focus(Atspi.Role.LIST_ITEM, 'Advanced')
    window.key('Return')


def test_settings_are_found(window):
    """By what they do; Enter goes there, Escape shows all again, and folds what was folded."""
    def rows():
        return {n.get_name() for n in window.nodes() if n.get_role() == Atspi.Role.SPIN_BUTTON and showing(n)}
    window.ready()
    window.key('ctrl+f')
    window.wait_for('the focus on the search', lambda: (window.focused() or window.application).get_name() == 'Find a setting')
    subprocess.run(['xdotool', 'type', 'Start of all random'], check=True)
    window.wait_for('Seed alone', lambda: 'Seed' in rows() and 'Momentum' not in rows() and 'Epochs' not in rows())
    window.key('Return')
    window.wait_for('the focus on Seed', lambda: (window.focused() or window.application).get_name() == 'Seed')
    window.key('ctrl+f')
    window.key('Escape')
    window.wait_for('all of them, folded', lambda: 'Seed' not in rows() and 'Epochs' in {
        n.get_name() for n in window.nodes() if n.get_role() == Atspi.Role.SPIN_BUTTON and there(n)})


def test_weights_normalisation_is_offered_where_it_is_set(window):
    """The window starts no run from weights, but opens settings that do."""
    def offered():
        return {n.get_name() for n in walk(window.find(Atspi.Role.COMBO_BOX, 'Normalise', state=there))}
    window.ready()
    window.page('Train')
    assert 'By the data set' in offered() and 'By the weights' not in offered()
    window.open_settings(data__normalise='weights')
    window.wait_for('the choice that was opened', lambda: 'By the weights' in offered())
    combo = window.find(Atspi.Role.COMBO_BOX, 'Normalise', state=there)
    entries = [n.get_name() for n in walk(combo) if n.get_role() == Atspi.Role.MENU_ITEM]
    Atspi.Selection.select_child(combo, entries.index('By the data set'))  # what those after it train with
    window.wait_for('the choice without it', lambda: 'By the weights' not in offered() and Atspi.Selection.get_selected_child(combo, 0).get_name() == 'By the data set')


def test_changed_settings_are_marked_and_taken_back(window):
    def offered(name):
        return [n for n in window.nodes() if n.get_role() == Atspi.Role.PUSH_BUTTON and n.get_name().startswith(f'{name}: back to') and there(n)]
    window.ready()
    before, lr = window.get_number('Batch size'), window.get_number('Learning rate')
    window.set_number('Batch size', 24)
    button = window.wait_for('a way back', lambda: next(iter(offered('Batch size')), None))
    advised = int(button.get_name().split()[-1])
    window.wait_for('a level that is custom', lambda: window.find(Atspi.Role.COMBO_BOX, 'Level', state=there).get_child_count() and 'Custom' in [
        n.get_name() for n in walk(window.find(Atspi.Role.COMBO_BOX, 'Level', state=there))])
    window.set_number('Learning rate', 0.25)
    window.key('ctrl+z')
    window.wait_for('the learning rate before', lambda: window.get_number('Learning rate') == lr and window.get_number('Batch size') == 24)
    window.key('ctrl+z')
    window.wait_for('the batch size before', lambda: window.get_number('Batch size') == before)
    window.key('ctrl+shift+z')
    window.wait_for('24 again', lambda: window.get_number('Batch size') == 24)
    Atspi.Action.do_action(offered('Batch size')[0], 0)
    window.wait_for('what the preset says', lambda: window.get_number('Batch size') == advised and not offered('Batch size'))
    assert 'Custom' not in [n.get_name() for n in walk(window.find(Atspi.Role.COMBO_BOX, 'Level', state=there))]
    window.key('ctrl+z')
    window.wait_for('24 once more', lambda: window.get_number('Batch size') == 24)


def test_trains_to_the_end(window):
    window.ready()
    window.small_shapes()
    window.set_number('Epochs', 2)
    window.ready()
    window.press('Start')
    window.find(Atspi.Role.PUSH_BUTTON, 'Stop')
    window.finished()
    text = window.text('Step ')
    assert sum(t.startswith('Finished') for t in window.shown()) == 1, 'the end is said more than once'
    steps = [int(word.replace(',', '')) for word in text.split() if word.replace(',', '').isdigit()]
    assert len(steps) == 2 and steps[0] == steps[1] and steps[0] > 0, text
    window.ready()
    assert any(re.fullmatch(r'[\d.]+\u00a0[KMG]iB', t) for t in window.shown()), 'the memory tile has no number with its unit'
    assert_whole(newest_run())
    path = os.path.join(HOME, 'steps.csv')
    activate('/io/github/gpudyno/Dyno/window/1', 'org.gtk.Actions.Activate', 'export-curves', "[<'csv'>]", '{}')
    window.save_as('Export Curves', path, 'Export')
    window.text('“steps.csv” exported')
    with open(path, newline='') as file:
        assert [int(row['step']) for row in csv.DictReader(file)] == list(range(1, steps[1] + 1))
    told = window.text_with(' steps, about ')  # by the run that has ended
    assert re.match(rf'{steps[1]:,} steps, about \d+:', told) and told.endswith('iB on disk'), told


def test_plots_are_read_zoomed_and_shown_alone(window):
    """With the keyboard, over the run that has just ended; all plots go along."""
    def chart(name):
        return window.find(Atspi.Role.CHART, name)
    window.focus(Atspi.Role.CHART, 'Loss')
    window.key('Home')
    window.wait_for('the first step', lambda: chart('Accuracy').get_description().startswith('Step 1: Training '))
    window.key('plus')
    window.wait_for('a part of the steps', lambda: re.search(r'; shown from 1 to \d+$', chart('Throughput').get_description()))
    window.choose('Horizontal axis', 'Epoch')
    window.wait_for('epochs', lambda: re.match(r'Epoch \d\.\d\d: .*; shown from \d', chart('Loss').get_description()))
    kept = os.path.join(HOME, 'config', 'glib-2.0', 'settings', 'keyfile')
    window.wait_for('it to be kept', lambda: "plot-axis='epoch'" in open(kept).read())
    window.choose('Horizontal axis', 'Time')
    window.wait_for('the clock', lambda: re.match(r'Time \d+:\d\d: ', chart('Loss').get_description()))
    window.choose('Horizontal axis', 'Step')
    window.focus(Atspi.Role.CHART, 'Loss')
    window.key('0')
    window.wait_for('all steps', lambda: 'shown from' not in chart('Loss').get_description())
    window.press('Hold', Atspi.Role.TOGGLE_BUTTON)
    window.wait_for('the plots to be held', lambda: 'shown from' in chart('Loss').get_description())
    window.key('0')  # all there is, and held still
    time.sleep(0.2)
    assert 'shown from' in chart('Loss').get_description()
    window.press('Hold', Atspi.Role.TOGGLE_BUTTON)
    window.wait_for('all that comes', lambda: 'shown from' not in chart('Loss').get_description())
    window.focus(Atspi.Role.CHART, 'Loss')
    window.key('m')
    window.wait_for('one plot', lambda: not any(n.get_role() == Atspi.Role.CHART and n.get_name() == 'Throughput' and showing(n) for n in window.nodes()))
    window.press('Show all plots (M)')
    chart('Throughput')


def stop(window, answer='Save'):
    window.press('Stop')
    window.press(answer)


def start_long_run(window):
    window.ready()
    window.small_shapes()
    window.set_number('Epochs', 5000)
    window.ready()
    window.press('Start')
    window.text('Training, step')


def test_pauses_and_stops(window):
    start_long_run(window)
    for name in 'Throughput', 'Loss', 'GPU memory':
        window.wait_for(f'values of {name}', lambda n=name: re.match(
            r'Step \d+: \w+ [\d.]+', window.find(Atspi.Role.CHART, n, state=there).get_description()))  # the first step has no rate
    window.focus(Atspi.Role.CHART, 'Loss')
    window.key('space')
    window.text('Paused')
    window.key('space')
    window.text('Training, step')
    window.text('Changes are for the next run')
    window.text_with(' left, loss ')
    window.set_number('Batch size', 40)
    window.set_number('Learning rate', 0.03)
    window.press('Pause')
    window.text('Paused, ')
    before = window.text('Step ')
    time.sleep(1)
    assert window.text('Step ') == before, 'steps were taken while paused'
    window.press('Resume')
    window.text('Training, step')
    stop(window)
    window.text('Stopped after ')
    window.ready()
    kept = GLib.KeyFile()
    kept.load_from_file(os.path.join(newest_run(), 'settings.ini'), GLib.KeyFileFlags.NONE)
    assert kept.get_string('settings', 'batch_size') != '40' and kept.get_string('settings', 'lr') == '0.03', 'the batch size is for the next run, the learning rate for this one'
    assert window.get_number('Batch size') == 40


def test_a_pause_frees_the_gpu(window):
    start_long_run(window)
    activate('/io/github/gpudyno/Dyno/window/1', 'org.gtk.Actions.Activate', 'release', '[]', '{}')
    window.text('Paused, GPU memory is free')
    before = window.text('Step ')
    window.text('VRAM')
    assert not window.has_text('in use'), 'memory that was given back is called in use'
    window.press('Resume')
    window.text('Training, step')
    stop(window)
    window.text('Stopped after ')
    text = window.text('Step ')
    steps = [int(re.search(r'Step ([\d,]+)', t)[1].replace(',', '')) for t in (before, text)]
    assert steps[1] > steps[0], f'{before}; {text}'
    assert_whole(newest_run())
    window.ready()


def kept_settings():
    with open(os.path.join(HOME, 'config', 'glib-2.0', 'settings', 'keyfile')) as file:
        return file.read()


def test_stopping_asks_and_holds_nothing_up(window):
    start_long_run(window)
    window.press('Stop')
    window.text('Stop the run?')
    before = window.text('Training, step')
    window.wait_for('the run to go on', lambda: window.text('Training, step') != before)
    window.key('Escape')
    window.wait_for('the question to go', lambda: not window.has_text('Stop the run?'))
    window.text('Training, step')
    window.press('Stop')
    window.press('Do the same from now on', Atspi.Role.CHECK_BOX)
    window.press('Save')
    window.text('Stopped after ')
    window.wait_for('the answer to be kept', lambda: "stop='save'" in kept_settings())
    window.ready()
    window.press('Start')
    window.text('Training, step')
    window.press('Stop')
    window.text('Stopped after ')
    window.ready()


def test_preferences_are_kept_and_obeyed(window):
    """Each control has a name; a folder for runs is used by the next one."""
    window.ready()
    window.key('ctrl+comma')
    combo = window.find(Atspi.Role.COMBO_BOX, 'When a run is stopped')
    dialog = next(n for n in window.nodes() if n.get_name() == 'Preferences' and n.get_role() in (Atspi.Role.FRAME, Atspi.Role.DIALOG))
    assert not nameless(window), nameless(window)
    assert window.find(Atspi.Role.COMBO_BOX, 'Device') and combo
    window.choose('When a run is stopped', 'Ask')
    window.wait_for('it to be kept', lambda: "stop='save'" not in kept_settings())
    folder = os.path.join(HOME, 'my runs')
    subprocess.run(['gsettings', 'set', 'io.github.gpudyno.Dyno', 'runs-folder', folder], check=True)
    window.wait_for('the folder to be shown', lambda: any(n.get_description() == folder for n in walk(dialog)))
    window.key('Escape')
    window.wait_for('the preferences to go', lambda: not any(n.get_name() == 'When a run is stopped' for n in window.nodes()))
    start_long_run(window)
    window.press('Stop')
    window.text('Stop the run?')
    window.press('Discard')
    window.text('Stopped after ')
    assert len(os.listdir(folder)) == 1
    subprocess.run(['gsettings', 'reset', 'io.github.gpudyno.Dyno', 'runs-folder'], check=True)
    window.ready()


def test_exports_settings_that_read_back(window):
    window.set_number('Epochs', 7)
    window.set_number('Batch size', 24)
    first, second = os.path.join(HOME, 'first.ini'), os.path.join(HOME, 'second.ini')
    window.export(first)
    keys = GLib.KeyFile()
    keys.load_from_file(first, GLib.KeyFileFlags.NONE)
    assert keys.get_string('settings', 'batch_size') == '24'
    assert keys.get_string('settings', 'epochs') == '7'
    assert keys.get_string('run', 'model') == 'simplecnn'
    window.set_number('Epochs', 9)
    window.set_number('Batch size', 8)
    subprocess.run([window.program, first], check=True)  # goes to the window that is open
    window.wait_for('the settings of the file', lambda: window.get_number('Epochs') == 7 and window.get_number('Batch size') == 24)
    window.ready()
    window.export(second)
    with open(first, 'rb') as a, open(second, 'rb') as b:
        assert a.read() == b.read(), 'the settings file does not read back exactly'


def test_exports_for_other_programs(window):
    """What is shown is what is written; what the format cannot hold is counted."""
    path = os.path.join(HOME, 'for-lightning.yaml')
    window.ready()
    window.set_number('Batch size', 48)
    window.press('Export settings')
    window.press_row('Lightning CLI')
    preview = window.find(Atspi.Role.TEXT, 'What will be written')
    window.wait_for('the preview', lambda: 'trainer:' in Atspi.Text.get_text(preview, 0, -1))
    shown = Atspi.Text.get_text(preview, 0, -1)
    window.text_with('have no counterpart in this format')
    window.press('Save…')
    window.save_as('Export Settings', path, 'Export')
    with open(path) as file:
        assert file.read() == shown
    assert 'batch_size: 48' in shown, shown
    window.ready()


def test_says_what_is_wrong(window):
    window.ready()
    window.small_shapes()
    missing = os.path.join(HOME, 'no such folder')
    subprocess.run([window.program, missing], check=True)
    window.wait_for('the error', lambda: window.has_text('no such folder'))
    assert window.has_text('The data set cannot be used')
    window.ready()  # the data set before it is still there
    window.set_number('Epochs', 1)
    window.press('Start')
    window.finished()
    window.wait_for('the error to go', lambda: not window.has_text('The data set cannot be used'))
    window.ready()


def test_limit_is_the_smaller_of_budget_and_device(window):
    """A budget above the device's memory, as a larger card's preset has: the bar and the advice
    speak of what there is.  Newer software devices have all of the RAM, so the samples are large."""
    window.open_settings(data='builtin:shapes?size=224&samples=20000', batch_size=64, vram_budget=1 << 40)
    window.text('1.00\u00a0TiB allowed, but this device has')
    own = window.text('1.00\u00a0TiB allowed').split('has ')[1]
    window.wait_for('the memory of the device beside the need', lambda: window.has_text(f' of {own}'))
    window.set_number('Batch size', 16384)
    advice = window.text_with(f'more than the {own} there are')
    assert not advice.startswith('0\u00a0B'), advice
    window.press(window.button_name('Use Batch Size'))
    window.ready()


def write_npy(path, shape, kind, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b' ' * (63 - (10 + len(header)) % 64) + b'\n'
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little') + header + data)


def test_opens_a_folder_of_arrays_and_shows_their_axes(window):
    folder = os.path.join(HOME, 'arrays')
    os.makedirs(folder, exist_ok=True)
    write_npy(os.path.join(folder, 'X.npy'), (40, 3, 16, 20), '|u1', bytes(40 * 3 * 16 * 20))
    write_npy(os.path.join(folder, 'y.npy'), (40,), '<i8', b''.join((i % 4).to_bytes(8, 'little') for i in range(40)))
    window.ready()
    subprocess.run([window.program, folder], check=True)
    window.page('Data')
    window.text('Taken as N, C, H, W')
    window.text('20\u00a0×\u00a016\u00a0×\u00a03')
    window.choose('Axes', 'N, H, W, C')
    window.text('Taken as N, H, W, C')
    window.text('16\u00a0×\u00a03\u00a0×\u00a020')
    window.choose('Axes', 'Recognised')
    window.text('Taken as N, C, H, W')
    window.open_settings(data=folder, data__layout='nhwc')  # the same data, to be read otherwise
    window.text('Taken as N, H, W, C')
    window.open_settings(data=folder, data__layout='auto')
    window.text('Taken as N, C, H, W')
    window.ready()


def write_png(path, side):
    """Black."""
    def chunk(kind, data):
        return len(data).to_bytes(4, 'big') + kind + data + zlib.crc32(kind + data).to_bytes(4, 'big')
    head = side.to_bytes(4, 'big') * 2 + bytes([8, 2, 0, 0, 0])
    rows = zlib.compress(bytes(side * (1 + 3 * side)))
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', rows) + chunk(b'IEND', b''))


def test_data_shows_split_classes_and_pictures(window):
    """Each class with its name, number and samples that were decoded; what is used for training."""
    window.ready()
    window.open_settings(data='builtin:shapes?size=32&samples=60&classes=4', data__val_split=0.2)
    window.page('Data')
    window.text('48 train, 12 validate')
    assert window.get_number('Samples') == 60  # fewer than the window offers by itself
    row = window.find(Atspi.Role.LIST_ITEM, 'square: 15', state=there)
    assert Atspi.Role.LEVEL_BAR in [n.get_role() for n in walk(row)]
    window.wait_for('four pictures of it', lambda: sum(n.get_name() == 'A sample' for n in walk(row)) == 4)
    window.press('Use for Training')
    window.wait_for('the page Train', lambda: window.find(Atspi.Role.RADIO_BUTTON, 'Train').get_state_set().contains(Atspi.StateType.CHECKED))


def pixels(node):
    """What is on the screen where it is, a byte a value."""
    area = Atspi.Component.get_extents(node, Atspi.CoordType.SCREEN)
    return subprocess.run(['import', '-window', 'root', '-crop', f'{area.width}x{area.height}+{area.x}+{area.y}', '+repage', '-depth', '8', 'rgb:-'],
                          capture_output=True, check=True).stdout


def test_data_shows_samples_as_the_network_sees_them(window):
    """The same samples, changed as the settings say now; another draw changes them in another way; a
    reason where they cannot be made."""
    window.ready()
    data = 'builtin:shapes?size=32&samples=100&classes=2'
    window.open_settings(data=data, augment__rotate=90)
    window.page('Data')

    def pictures(name):
        return [n for n in walk(window.find(Atspi.Role.LIST_ITEM, 'square: 50')) if n.get_name() == name and showing(n)]

    def shown(name, question):
        """Four pictures of that name which answer it, once they are painted."""
        def painted():
            now = [pixels(n) for n in pictures(name)]
            if len(now) != 4 or not question(now):
                return None
            time.sleep(0.5)  # a page fades in, and what was there before fades out
            return now if now == [pixels(n) for n in pictures(name)] else None
        return window.wait_for(f'four times "{name}"', painted)

    def drawn(now):
        return all(len(set(picture)) > 3 for picture in now)
    plain = shown('A sample', drawn)
    seen_name = 'A sample as the network sees it'

    def like_plain(now):
        """Each is the same sample, upright: thumbnails are drawn at 40 pixels, not at the network's 32, so that edges and noise differ, by
        3 to 7 of 255 in the mean; another sample, or a rotated one, differs by more than 25."""
        means = [sum(abs(x - y) for x, y in zip(*pair)) / len(pair[0]) for pair in zip(now, plain)]
        return max(means) < 12
    switch = window.find(Atspi.Role.TOGGLE_BUTTON, 'As the Network Sees Them')
    assert window.find(Atspi.Role.LIST_ITEM, 'As the Network Sees Them').get_description() == 'Random rotation 90'
    assert not sensitive(window.find(Atspi.Role.PUSH_BUTTON, 'Another draw'))
    Atspi.Action.do_action(switch, 0)
    seen = shown(seen_name, lambda now: drawn(now) and not like_plain(now))
    window.press('Another draw')
    shown(seen_name, lambda now: drawn(now) and now != seen and not like_plain(now))
    window.open_settings(data=data, augment__rotate=0)
    window.text('No augmentation is switched on')
    shown(seen_name, like_plain)
    window.key('ctrl+z')
    window.text('Random rotation 90')
    shown(seen_name, lambda now: drawn(now) and not like_plain(now))
    window.open_settings(data=data, augment__time_mask=0.5)
    window.text_with('“Random time mask” changes sequences')
    shown('A sample', lambda now: now == plain)
    Atspi.Action.do_action(switch, 0)
    window.open_settings(data=data, augment__time_mask=0)
    window.wait_for('rotation alone', lambda: 'Random rotation 90' in window.texts())
    shown('A sample', lambda now: now == plain)
    window.open_settings(data=data, augment__rotate=0)
    window.text('No augmentation is switched on')
    window.page('Train')


def test_one_class_is_taken_on_request(window):
    folder = os.path.join(HOME, 'one & <class>')  # no markup
    os.makedirs(os.path.join(folder, 'only'), exist_ok=True)
    for i in range(40):
        write_png(os.path.join(folder, 'only', f'{i}.png'), 16)
    window.ready()
    window.page('Data')
    window.open_settings(data=folder, data__one_class='true')
    window.text('Image folder')
    window.ready()
    window.open_settings(data__one_class='false')
    window.text('Built in, drawn shapes')
    window.ready()
    window.page('Train')


def test_settings_without_effect_cannot_be_changed(window):
    def can_be_changed(name, role=Atspi.Role.SPIN_BUTTON):
        return sensitive(window.find(role, name, state=there))
    window.ready()
    window.page('Train')
    for title in 'Model', 'GPU and Preset', 'Training', 'Data Pipeline', 'Augmentation', 'Memory', 'Advanced':
        window.find(Atspi.Role.LIST_ITEM, title, state=there)
    window.open_settings(optimizer='sgd', deterministic='false')
    window.wait_for('Momentum', lambda: can_be_changed('Momentum'))
    assert can_be_changed('Kernel autotuning', Atspi.Role.TOGGLE_BUTTON)
    window.open_settings(optimizer='adamw', deterministic='true')
    window.wait_for('no Momentum', lambda: not can_be_changed('Momentum'))
    assert not can_be_changed('Kernel autotuning', Atspi.Role.TOGGLE_BUTTON)
    assert can_be_changed('Learning rate')
    window.open_settings(model='mobilenetv2', optimizer='sgd', deterministic='false')
    window.wait_for('Dropout', lambda: can_be_changed('Dropout'))
    assert can_be_changed('Label smoothing') and not can_be_changed('Smooth L1 loss', Atspi.Role.TOGGLE_BUTTON), 'shapes have classes'
    window.open_settings(model='simplecnn', optimizer='sgd', deterministic='false')
    window.wait_for('no Dropout', lambda: not can_be_changed('Dropout'))
    window.wait_for('Momentum', lambda: can_be_changed('Momentum'))
    window.ready()


def test_layers_of_the_model(window):
    """A table of what the form would train: its layers, with the samples' size and the width."""
    window.open_settings(data='builtin:shapes?size=40&samples=100', model='simplecnn', model__width=0.25, batch_size=16)
    window.page('Train')
    window.wait_for('the model', lambda: window.has_text('parameters, 9.98'))
    window.press('Show the layers')
    window.find(Atspi.Role.DIALOG, 'Layers')
    cells = [node.get_name() for node in window.nodes() if node.get_role() == Atspi.Role.TABLE_CELL]
    assert 'global_avg_pool' in cells and '40\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}40\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}8' in cells and '18,432' in cells, cells
    window.text('A batch of 16: 25,298 parameters')
    window.key('Escape')
    window.wait_for('the dialog to be gone', lambda: not any(
        node.get_role() == Atspi.Role.DIALOG and showing(node) for node in window.nodes()))
    window.ready()


def test_what_is_unfolded_is_kept(window):
    """From one sitting to the next; what a search unfolds is not."""
    window.ready()
    window.focus(Atspi.Role.LIST_ITEM, 'Advanced')
    window.key('Return')
    window.wait_for('it to be kept', lambda: re.search(r"unfolded=.*'advanced'", kept_settings()))
    window.key('ctrl+f')
    window.wait_for('the focus on the search', lambda: (window.focused() or window.application).get_name() == 'Find a setting')
    subprocess.run(['xdotool', 'type', 'Prefetch'], check=True)
    window.find(Atspi.Role.SPIN_BUTTON, 'Prefetch')
    assert "'pipeline'" not in kept_settings()
    window.close()
    window.end()
    again = Window(window.program)
    again.ready()
    again.page('Train')
    assert showing(again.find(Atspi.Role.SPIN_BUTTON, 'Momentum', state=there))
    assert again.find(Atspi.Role.LIST_ITEM, 'Advanced', state=there).get_description() == 'Unfolded'
    assert again.find(Atspi.Role.LIST_ITEM, 'Data Pipeline', state=there).get_description() == 'Folded'
    again.focus(Atspi.Role.LIST_ITEM, 'Advanced')
    again.key('Return')
    again.wait_for('it to be kept', lambda: "'advanced'" not in kept_settings())
    again.close()
    again.end()


def test_says_that_a_path_was_not_opened_in_mid_run(window):
    start_long_run(window)
    subprocess.run([window.program, os.path.join(HOME, 'elsewhere')], check=True)
    window.text('“elsewhere” was not opened')
    window.press('Close message')
    stop(window)
    window.text('Stopped after ')
    window.ready()


def test_a_json_name_means_json(window):
    path = os.path.join(HOME, 'settings.json')
    window.ready()
    window.set_number('Epochs', 17)
    window.export(path)  # the format that is chosen is INI
    with open(path) as file:
        kept = json.load(file)
    assert kept['settings']['epochs'] == 17, kept
    window.set_number('Epochs', 3)
    subprocess.run([window.program, path], check=True)
    window.wait_for('the settings of the JSON file', lambda: window.get_number('Epochs') == 17)
    window.ready()


def activate(path, interface, *arguments):
    subprocess.run(['gdbus', 'call', '--session', '--dest', 'io.github.gpudyno.Dyno', '--object-path', path, '--method', interface, *arguments],
                   check=True, stdout=subprocess.DEVNULL)


def test_the_quick_test_of_the_menu_entry_can_be_stopped(window):
    """As the desktop activates it; while it measures no run starts."""
    window.ready()
    activate('/io/github/gpudyno/Dyno', 'org.freedesktop.Application.ActivateAction', 'quick-test', '[]', '{}')
    window.find(Atspi.Role.PROGRESS_BAR, 'Progress of the quick test')
    assert not sensitive(window.find(Atspi.Role.PUSH_BUTTON, 'Start')), 'a run may start beside the quick test'
    window.press('Stop Test')
    window.ready()
    assert sensitive(window.find(Atspi.Role.PUSH_BUTTON, 'Run Quick Test'))


def test_a_dyno_file_is_exported_and_opened(window):
    path = os.path.join(HOME, 'my run.dyno')
    window.ready()
    window.set_number('Epochs', 21)
    window.export(path)
    window.text('“my run.dyno” exported')
    window.set_number('Epochs', 4)
    subprocess.run([window.program, path], check=True)
    window.wait_for('the settings of the file', lambda: window.get_number('Epochs') == 21)
    window.ready()


def test_stops_without_saving(window):
    """In the first epoch, so that nothing was saved before."""
    window.open_settings(data='builtin:shapes?size=32&samples=50000', batch_size=16, model__width=0.25, amp='false')
    window.wait_for('its settings', lambda: window.get_number('Samples') == 50000 and window.get_number('Batch size') == 16)
    window.ready()
    window.press('Start')
    window.text('Training, step')
    activate('/io/github/gpudyno/Dyno/window/1', 'org.gtk.Actions.Activate', 'discard', '[]', '{}')
    window.text('Stopped after ')
    window.ready()
    kept = os.listdir(newest_run())
    assert 'metrics.csv' in kept and 'weights.safetensors' not in kept, kept


def test_tuning_calls_proven_what_was_proven(window):
    window.open_settings(data='builtin:shapes?size=16&samples=200', model='mlp', amp='false', batch_size=16, workers=0, prefetch=2)
    window.wait_for('its settings', lambda: window.get_number('Batch size') == 16 and window.get_number('Samples') == 200)
    window.ready()
    window.page('Tune')
    window.press('Start Tuning')
    window.wait_for('a measured trial', lambda: any(n.get_name() == 'Measured' for n in window.nodes()))
    window.page('Train')  # which does not ask for what cannot be pressed
    window.wait_for('why no run can begin', lambda: any('The tuner is at work.' in n.get_description() for n in window.nodes() if showing(n)))
    window.page('Tune')
    window.press('Stop Tuning')
    window.find(Atspi.Role.PUSH_BUTTON, 'Start Tuning')
    window.text('Best so far, not proven')
    shown = window.shown()
    assert 'already as fast' not in shown and not window.has_text('proven by a second run'), 'claimed without a proof'
    best = shown[shown.index('Best so far, not proven') + 2]
    assert '\u2713 Proof' not in shown and not {'\u2013 samples/s', '0\u00a0B'} & set(shown), f'what was not measured is told: {shown}'
    offered = any(n.get_name() == 'Use These Settings' and showing(n) for n in window.nodes())
    assert offered == (best != 'batch 16, fp32, 0 workers'), f'"{best}" is {"" if offered else "not "}offered to one who has batch 16'
    window.page('Train')


def test_a_search_shows_what_it_found(window):
    """Pause and resume on the way; then the curve in words, what each setting brought, the chosen
    trial, and the report in a file."""
    window.open_settings(data='builtin:shapes?size=16&samples=400', model='mlp', amp='false', batch_size=8, workers=1, prefetch=2)
    window.wait_for('its settings', lambda: window.get_number('Batch size') == 8 and window.get_number('Samples') == 400)
    window.ready()
    window.page('Tune')
    kept = os.path.join(HOME, 'data', 'dyno', 'searches')
    for i in range(105):
        old = os.path.join(kept, f'2001-01-01T00-{i // 60:02}-{i % 60:02}')
        os.makedirs(old)
        for name in ('trials.csv', 'mine.txt')[:1 + (i == 0)]:
            open(os.path.join(old, name), 'w').close()

    def button(name):
        return next((n for n in window.nodes() if n.get_role() == Atspi.Role.PUSH_BUTTON and n.get_name() == name and showing(n)), None)

    def over():
        return button('Start Tuning') is not None

    def searched(minutes):
        """FALSE: on a machine that has much else to do it may end before anything was measured."""
        window.set_number('Minutes', minutes)
        window.press('Start Tuning')
        window.wait_for('a stage at work, or the end', lambda: any(t.startswith('\u25cf ') for t in window.shown()) or over())
        for name in 'Pause', 'Resume':
            found = window.wait_for(f'"{name}", or the end', lambda: over() or button(name))
            if found is True:
                return False
            Atspi.Action.do_action(found, 0)
        window.find(Atspi.Role.PUSH_BUTTON, 'Start Tuning', limit_s=60 * minutes + LIMIT_S)
        return any(n.get_name() == 'Save Report…' and there(n) for n in window.nodes())
    assert any(searched(minutes) for minutes in (0.5, 1.5, 3)), 'nothing was measured'
    chart = window.find(Atspi.Role.CHART, 'Throughput and memory by batch size', state=there)
    words = chart.get_description()
    assert re.search(r'^Batch \d+: [\d,.]+ samples/s (measured|expected), ', words, re.M) and 'advised' in words, words
    assert any(n.get_name() == 'Measured, chosen' for n in window.nodes()), 'no trial is marked as chosen'
    path = os.path.join(HOME, 'report.html')
    window.press('Save Report…')
    window.save_as('Save Report', path, 'Save')
    with open(path) as report:
        assert '<svg' in report.read()
    window.page('Runs')  # which has the search, with the report that is kept of each

    def reports():
        return [n for n in window.nodes() if n.get_name().startswith('Open Report: ') and there(n)]

    def all_listed():
        return len(reports()) == sum(os.path.exists(os.path.join(kept, name, 'report.html')) for name in os.listdir(kept))
    assert len(os.listdir(kept)) == 101 and os.listdir(os.path.join(kept, min(os.listdir(kept)))) == ['mine.txt'], 'the oldest are kept'
    folder = os.path.join(kept, max(os.listdir(kept)))
    window.wait_for('its files', lambda: sorted(os.listdir(folder)) == ['report.html', 'trials.csv'])
    window.wait_for('the reports that were kept', all_listed)
    os.remove(os.path.join(folder, 'report.html'))
    Atspi.Action.do_action(reports()[0], 0)  # the newest comes first
    window.text('The report cannot be shown')
    window.press('Close message')
    window.wait_for('a list without it', all_listed)
    window.open_settings(batch_size=24, epochs=7)
    window.wait_for('other settings', lambda: window.get_number('Epochs') == 7 and window.get_number('Batch size') == 24)
    window.page('Runs')
    use = window.wait_for('its settings', lambda: next((n for n in window.nodes() if n.get_name() == 'Use Settings: MLP on Shapes' and sensitive(n)), None))
    Atspi.Action.do_action(use, 0)
    window.wait_for('the settings that were found', lambda: window.get_number('Epochs') != 7 and window.get_number('Samples') == 400)
    window.page('Train')


def test_a_stopped_search_holds_the_device_until_it_has_let_go(window):
    """A measurement in the driver is not waited for by Stop, and no run begins beside it."""
    window.close()
    window.end()
    gate = os.path.join(HOME, 'gate')
    faults = {'VK_ADD_LAYER_PATH': os.environ['DYNO_FAULTS_FOLDER'], 'VK_INSTANCE_LAYERS': 'VK_LAYER_DYNO_faults', 'DYNO_FAULTS': 'gate=' + gate}
    os.environ.update(faults)
    try:
        held = Window(window.program)
    finally:
        for name in faults:
            del os.environ[name]
    try:
        held.small_shapes()
        held.ready()
        with open(gate, 'w'):
            pass  # from now on the driver makes no kernel
        held.page('Tune')
        held.press('Start Tuning')
        held.text_with('Compiling GPU programs')
        held.press('Stop Tuning')
        again = held.find(Atspi.Role.PUSH_BUTTON, 'Start Tuning')
        start = held.find(Atspi.Role.PUSH_BUTTON, 'Start')
        assert not sensitive(start) and not sensitive(again), 'a run would begin on a device that is in use'
        assert 'still holds the device' in start.get_description(), start.get_description()
        os.remove(gate)
        held.ready()
        held.wait_for('the tuner too', lambda: sensitive(held.find(Atspi.Role.PUSH_BUTTON, 'Start Tuning')))
        held.press('Start')
        held.page('Train')
        held.text_with('step')
    finally:
        held.kill()
        if os.path.exists(gate):
            os.remove(gate)


def test_a_run_is_diagnosed(window):
    """The phases of a step while it goes on, the findings of its folder when it has ended, and what
    one advises put into the settings."""
    window.open_settings(data='builtin:shapes?size=32&samples=2000', amp='false', batch_size=16, workers=64, epochs=40, model__width=0.25)
    window.wait_for('its settings', lambda: window.get_number('Workers') == 64 and window.get_number('Epochs') == 40)
    window.ready()
    window.press('Start')
    window.page('Diagnose')
    window.text_with('Forward')
    bar = window.find(Atspi.Role.DRAWING_AREA, 'Time of a step by phase')
    assert re.search(r'Forward .*%.*ms', bar.get_description()), bar.get_description()
    row = window.wait_for('the rate', lambda: next((n for n in window.nodes() if n.get_role() == Atspi.Role.LIST_ITEM and n.get_name().startswith('This run: ')), None))
    Atspi.Component.grab_focus(row)
    window.wait_for('the focus on it', lambda: row.get_state_set().contains(Atspi.StateType.FOCUSED))
    before = row.get_name()

    def changed():
        row.clear_cache()
        return row.get_name() != before
    window.wait_for('another rate', changed)
    assert row.get_state_set().contains(Atspi.StateType.FOCUSED), 'the focus is lost with each judgement'
    stop(window)
    window.ready()
    row = window.wait_for('memory by component', lambda: next((n for n in window.nodes() if n.get_role() == Atspi.Role.LIST_ITEM and n.get_name().startswith('Weights: ')), None))
    assert row.get_parent().get_name() == 'Memory by Component'
    window.wait_for('the finding', lambda: any('64 workers share' in n.get_name() for n in window.nodes() if n.get_role() == Atspi.Role.LIST_ITEM))
    finding = next(n for n in window.nodes() if n.get_role() == Atspi.Role.LIST_ITEM and '64 workers share' in n.get_name())
    assert re.match(r'Set “Workers \d+”', finding.get_description()), f'no title: {finding.get_description()}'
    button = window.button_name('Apply: Workers')
    window.press(button)
    wanted = int(button.split()[-1])
    window.wait_for(f'{wanted} workers', lambda: window.get_number('Workers') == wanted)
    window.page('Train')


def test_past_runs_are_compared_renamed_and_deleted(window):
    for lr, schedule in (0.05, 'cosine'), (0.02, 'constant'):
        window.open_settings(data='builtin:shapes?size=16&samples=100', model='mlp', amp='false', batch_size=16, epochs=1, lr=lr, schedule=schedule)
        window.wait_for('its settings', lambda: abs(window.get_number('Learning rate') - lr) < 1e-9)
        window.ready()
        window.press('Start')
        window.finished()
        window.ready()
    window.page('Runs')
    table = window.wait_for('the list', lambda: next((n for n in window.nodes() if n.get_name() == 'Runs' and n.get_role() in (Atspi.Role.TABLE, Atspi.Role.TREE_TABLE) and showing(n)), None))
    rows = window.wait_for('two runs', lambda: Atspi.Table.get_n_rows(table) if Atspi.Table.get_n_rows(table) >= 2 else 0)

    def select(button, *rows):
        """Again and again: the list may just be read anew."""
        def question():
            for row in rows or (0,):
                Atspi.Table.add_row_selection(table, row)
            return sensitive(window.find(Atspi.Role.PUSH_BUTTON, button))
        window.wait_for(f'"{button}" for {rows or (0,)}', question)
    select('Tags…', 0, 1)
    window.text('Learning rate')
    window.text_with('0.02')
    window.text('Cosine')  # as the settings say it, not as files do
    window.text('Constant')
    assert any(re.fullmatch(r'(Today|Yesterday) \d\d:\d\d', n.get_name()) for n in window.nodes()), 'no cell says when'
    assert any(re.fullmatch(r'MLP on Shapes, (Today|Yesterday) \d\d:\d\d', n.get_name()) for n in window.nodes()), 'a run without a name is called by its folder'
    assert any(n.get_name() == 'MLP on Shapes' and n.get_role() == Atspi.Role.TABLE_CELL for n in window.nodes()), 'the list is wider than it need be'
    chart = next(n for n in window.nodes() if n.get_role() == Atspi.Role.CHART and n.get_name() == 'Loss' and showing(n))
    window.wait_for('the curves of both', lambda: chart.get_description().count(', ') >= 2 and chart.get_description())
    path = os.path.join(HOME, 'both.csv')
    window.press('Export', Atspi.Role.TOGGLE_BUTTON)
    item = window.wait_for('the menu', lambda: next((n for n in window.nodes() if n.get_name() == 'Comparison (CSV)…' and showing(n)), None))
    Atspi.Action.do_action(item, 0)
    window.save_as('Export the Comparison', path, 'Save')
    with open(path, newline='') as file:
        written = list(csv.DictReader(file))
    assert len(written) == 2 and {r['lr'] for r in written} == {'0.05', '0.02'} and all(r['state'] == 'finished' for r in written), written
    assert 'seed' not in written[0], 'settings that are equal have columns'
    window.text('“both.csv” exported')
    path = os.path.join(HOME, 'their curves.csv')
    window.press('Save the curves of the selected runs', Atspi.Role.TOGGLE_BUTTON)
    item = window.wait_for('its menu', lambda: next((n for n in window.nodes() if n.get_name() == 'Numbers (CSV)…' and showing(n)), None))
    Atspi.Action.do_action(item, 0)
    window.save_as('Export Curves', path, 'Export')
    window.text('“their curves.csv” exported')
    with open(path, newline='') as file:
        lines = list(csv.reader(file))
    assert len(lines[0]) >= 3 and len(lines) > 4 and all(len(line) == len(lines[0]) for line in lines), lines[:2]
    Atspi.Table.remove_row_selection(table, 1)
    cell = Atspi.Component.get_extents(Atspi.Table.get_accessible_at(table, 0, 1), Atspi.CoordType.SCREEN)  # a curve with the focus
    subprocess.run(['xdotool', 'mousemove', str(cell.x + cell.width // 2), str(cell.y + cell.height // 2), 'click', '1'], check=True)
    window.key('Down')
    window.key('Up')
    select('Tags…', 0)
    window.press('Tags…')
    entry = window.find(Atspi.Role.TEXT, 'Tags of the runs')
    Atspi.EditableText.set_text_contents(entry, 'night,  good')
    window.press('Tag')
    window.wait_for('its tags', lambda: any(n.get_name() == 'night, good' for n in window.nodes()))
    window.press('Set Up Again')
    assert window.get_number('Learning rate') == 0.02
    window.page('Runs')
    window.wait_for('the list again', lambda: Atspi.Table.get_n_rows(table) == rows)
    select('Rename…')
    window.press('Rename…')
    entry = window.find(Atspi.Role.TEXT, 'Name of the run')
    assert not nameless(window), nameless(window)
    Atspi.EditableText.set_text_contents(entry, 'the slower one')
    window.press('Rename')
    window.wait_for('its name', lambda: any(n.get_name() == 'the slower one' for n in window.nodes()))
    select('Delete')
    window.press('Delete')
    window.wait_for('it to go', lambda: Atspi.Table.get_n_rows(table) == rows - 1)
    window.press('Undo')
    window.wait_for('it to come back', lambda: Atspi.Table.get_n_rows(table) == rows
                    and any(n.get_name() == 'the slower one' for n in window.nodes()))
    window.page('Train')


def test_a_run_predicts_images(window):
    """Each file with its classes, or why it could not be read."""
    folder = os.path.join(HOME, 'pictures')
    os.makedirs(folder, exist_ok=True)
    write_png(os.path.join(folder, 'black.png'), 16)
    with open(os.path.join(folder, 'broken.png'), 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\nno more')
    window.open_settings(data='builtin:shapes?size=16&samples=100&classes=4', model='mlp', amp='false', batch_size=16, epochs=1)
    window.wait_for('its settings', lambda: window.get_number('Epochs') == 1 and window.get_number('Samples') == 100)
    window.ready()
    window.press('Start')
    window.finished()
    window.ready()
    assert sensitive(window.find(Atspi.Role.PUSH_BUTTON, 'Predict…'))
    paths = ', '.join(f"b'{os.path.join(folder, name)}'" for name in ('black.png', 'broken.png'))
    activate('/io/github/gpudyno/Dyno/window/1', 'org.gtk.Actions.Activate', 'predict', f'[<[{paths}]>]', '{}')  # as dropping does
    row = window.wait_for('its classes', lambda: next((n for n in window.nodes() if n.get_role() == Atspi.Role.LIST_ITEM
                          and re.match(r'.*black\.png: \w+ [\d.]+ %, \w+', n.get_name())), None))
    assert sum(n.get_role() == Atspi.Role.LEVEL_BAR for n in walk(row)) == 4
    assert any(n.get_name() == 'Predictions of “MLP on Shapes”' for n in window.nodes()), 'the dialog does not name the run'
    window.wait_for('the broken one with its reason', lambda: any(
        n.get_role() == Atspi.Role.LIST_ITEM and re.match(r'.*broken\.png: .{5}', n.get_name()) for n in window.nodes()))
    window.text_with('1 could not be read')
    window.text_with('images/s on ')
    assert not nameless(window), nameless(window)
    window.key('Escape')
    window.wait_for('the dialog to go', lambda: not window.has_text('images/s on '))
    window.ready()


def test_jobs_are_queued_moved_and_removed(window):
    """Settings as they were when each was added; the order is changed by keys, and is that of
    dynoctl."""
    for epochs in 3, 7:
        window.open_settings(data='builtin:shapes?size=16&samples=100', model='mlp', amp='false', batch_size=16, epochs=epochs)
        window.wait_for('its settings', lambda: window.get_number('Epochs') == epochs)
        window.wait_for('it to be ready', lambda: sensitive(window.find(Atspi.Role.PUSH_BUTTON, 'Add to queue')))
        window.press('Add to queue')
        window.text_with(f'{"1 run" if epochs == 3 else "2 runs"} in the queue')
    window.page('Runs')

    def order():
        return [t for t in window.shown() if re.match(r'(.*, )?Epochs [37]\b', t)]

    def first(what):
        jobs = order()
        return len(jobs) == 2 and what in jobs[0]
    window.wait_for('both in their order', lambda: first('Epochs 3'))
    assert not nameless(window), nameless(window)
    row = next(n for n in window.nodes() if n.get_role() == Atspi.Role.LIST_ITEM and n.get_name() == 'MLP on Shapes, Waiting' and showing(n))
    Atspi.Component.grab_focus(row)
    window.wait_for('the focus', lambda: row.get_state_set().contains(Atspi.StateType.FOCUSED))
    window.key('alt+Down')
    window.wait_for('the other order', lambda: first('Epochs 7'))
    for n in 1, 0:
        button = next(n for n in window.nodes() if n.get_name() == 'Take out of the queue' and showing(n))
        Atspi.Action.do_action(button, 0)
        window.wait_for(f'{n} left', lambda: len(order()) == n)
    window.page('Train')


def test_what_is_being_written_is_written_before_the_end(window):
    """Also when the window has gone: a job that waits for the history, which another program holds."""
    window.open_settings(epochs=9)
    window.wait_for('its settings', lambda: window.get_number('Epochs') == 9)
    window.wait_for('it to be ready', lambda: sensitive(window.find(Atspi.Role.PUSH_BUTTON, 'Add to queue')))
    with contextlib.closing(sqlite3.connect(os.path.join(HOME, 'data', 'dyno', 'history.sqlite'), isolation_level=None)) as history:
        history.execute('BEGIN IMMEDIATE')
        begin = time.monotonic()
        window.press('Add to queue')
        window.close()
        time.sleep(0.7)
        over, waited = window.process.poll() is not None, time.monotonic() - begin
        history.execute('ROLLBACK')
        assert not over or waited > 1.9, 'the window went with its work'  # 2 s are waited for a history
        window.end()
        history.execute('DELETE FROM jobs')
    os.rmdir(newest_run())  # that the job had claimed: later tests look for the newest


def test_closes_in_mid_run(window):
    start_long_run(window)
    window.close()
    window.text('Stop the run and close?')
    window.press('Cancel')
    window.wait_for('the question to go', lambda: not window.has_text('Stop the run and close?'))
    window.text('Training, step')
    window.close()
    window.press('Stop and Keep')
    window.end()
    assert 'checkpoint' in ' '.join(assert_whole(newest_run()))


def test_ends_on_sigterm_with_everything_kept(window):
    """A logout, or kill: no question, but the run is saved."""
    start_long_run(window)
    window.process.terminate()
    window.end()
    assert 'checkpoint' in ' '.join(assert_whole(newest_run()))


def test_a_sigterm_keeps_the_form(window):
    """What was set is there at the next start, as after closing."""
    window.ready()
    window.set_number('Epochs', 9)
    window.process.terminate()
    window.end()
    again = Window(window.program)
    try:
        again.ready()
        again.wait_for('the epochs', lambda: again.get_number('Epochs') == 9)
    finally:
        again.kill()


def test_quits_in_mid_run(window):
    start_long_run(window)
    window.key('ctrl+q')
    window.press('Stop and Keep')
    window.end()
    assert 'checkpoint' in ' '.join(assert_whole(newest_run()))


def test_a_narrow_window_clips_nothing(window):
    """What stands at the right of a run's page stays inside, the tiles included, after each change
    of the width."""
    start_long_run(window)
    frame = window.find(Atspi.Role.FRAME, 'Dyno')
    shown = subprocess.run(['xdotool', 'search', '--onlyvisible', '--pid', str(window.process.pid)], capture_output=True, text=True)
    xid = shown.stdout.split()[-1]

    def right(node):
        area = Atspi.Component.get_extents(node, Atspi.CoordType.WINDOW)
        return area.x + area.width
    before = Atspi.Component.get_extents(frame, Atspi.CoordType.WINDOW).width
    for width in 600, before, 600:
        subprocess.run(['xdotool', 'windowsize', xid, str(width), '880'], check=True)
        window.wait_for(f'a page inside a window asked to be {width} wide', lambda: all(
            0 < right(window.find(role, name, state=there)) <= Atspi.Component.get_extents(frame, Atspi.CoordType.WINDOW).width
            for role, name in ((Atspi.Role.CHART, 'Loss'), (Atspi.Role.LABEL, 'Memory'))))
    def form():
        return any(n.get_name() == 'Find a setting' and showing(n) for n in window.nodes())

    # Not by a key: it may be sliding away already, and would come back.
    activate('/io/github/gpudyno/Dyno/window/1', 'org.gtk.Actions.SetState', 'show-settings', '<false>', '{}')
    window.wait_for('the form to go', lambda: not form())
    window.key('ctrl+f')  # it comes over the page, with the focus
    window.wait_for('the focus on the search', lambda: (window.focused() or window.application).get_name() == 'Find a setting')
    subprocess.run(['xdotool', 'windowsize', xid, str(before), '800'], check=True)
    stop(window)
    window.text('Stopped after ')
    window.ready()


def test_a_window_of_large_text_can_be_narrow(window):
    """No page, nor the header of a run, keeps it from 640 pixels."""
    window.close()
    window.end()
    os.environ['GDK_DPI_SCALE'] = '1.5'
    try:
        large = Window(window.program)
    finally:
        del os.environ['GDK_DPI_SCALE']
    try:
        large.ready()
        shown = subprocess.run(['xdotool', 'search', '--onlyvisible', '--pid', str(large.process.pid)], capture_output=True, text=True)
        xid = shown.stdout.split()[-1]

        def width():
            subprocess.run(['xdotool', 'windowsize', xid, '640', '880'], check=True)
            return Atspi.Component.get_extents(large.find(Atspi.Role.FRAME, 'Dyno'), Atspi.CoordType.WINDOW).width
        large.wait_for('640 pixels', lambda: width() == 640)
        start_long_run(large)
        large.wait_for('640 pixels in a run', lambda: width() == 640)
    finally:
        large.kill()


def test_divergence_is_said(window):
    window.open_settings(data='builtin:shapes?size=16&samples=100', model='mlp', batch_size=16, epochs=40, lr=100, momentum=0.99,
                         warmup_epochs=0, schedule='constant', amp='false')
    window.wait_for('its settings', lambda: window.get_number('Epochs') == 40)
    window.ready()
    window.press('Start')
    window.text('The training diverged')
    window.text_with('Try a lower learning rate')
    window.text('Failed after ')
    window.press('Close message')
    window.ready()
    before = set(os.listdir(RUNS))  # names: folders of earlier tests may go meanwhile
    window.press(window.button_name('Restart with Gradient clipping 1'))
    window.wait_for('another run, with clipping', lambda: window.get_number('Gradient clipping') == 1 and set(os.listdir(RUNS)) - before)
    window.find(Atspi.Role.PUSH_BUTTON, 'Start')
    window.ready()
    if any(n.get_name() == 'Close message' and showing(n) for n in window.nodes()):
        window.press('Close message')


def test_a_run_that_learns_nothing_is_said(window):
    window.open_settings(data='builtin:shapes?size=16&samples=400', model='mlp', batch_size=16, epochs=8, lr=1e-7, warmup_epochs=0,
                         schedule='constant', amp='false', momentum=0)
    window.wait_for('its settings', lambda: window.get_number('Epochs') == 8)
    window.ready()
    window.press('Start')
    window.finished()
    window.text_with('Nothing is learned')
    window.press('Close message')
    window.ready()


TESTS = [test_first_start_on_a_software_device_is_small, test_preparation_is_one_progress, test_every_control_has_a_name, test_empty_pages_say_what_comes_there, test_collapsed_settings_are_not_reached, test_settings_are_found, test_weights_normalisation_is_offered_where_it_is_set, test_changed_settings_are_marked_and_taken_back, test_trains_to_the_end, test_plots_are_read_zoomed_and_shown_alone, test_pauses_and_stops, test_a_pause_frees_the_gpu, test_stopping_asks_and_holds_nothing_up, test_preferences_are_kept_and_obeyed, test_exports_settings_that_read_back, test_exports_for_other_programs, test_says_what_is_wrong,
         test_limit_is_the_smaller_of_budget_and_device,
         test_opens_a_folder_of_arrays_and_shows_their_axes, test_data_shows_split_classes_and_pictures, test_data_shows_samples_as_the_network_sees_them, test_one_class_is_taken_on_request, test_settings_without_effect_cannot_be_changed, test_layers_of_the_model, test_what_is_unfolded_is_kept, test_says_that_a_path_was_not_opened_in_mid_run,
         test_a_json_name_means_json, test_a_dyno_file_is_exported_and_opened, test_the_quick_test_of_the_menu_entry_can_be_stopped, test_stops_without_saving,
         test_tuning_calls_proven_what_was_proven, test_a_search_shows_what_it_found, test_a_stopped_search_holds_the_device_until_it_has_let_go, test_a_run_is_diagnosed, test_past_runs_are_compared_renamed_and_deleted, test_a_run_predicts_images, test_jobs_are_queued_moved_and_removed,
         test_a_narrow_window_clips_nothing, test_a_window_of_large_text_can_be_narrow, test_divergence_is_said,
         test_a_run_that_learns_nothing_is_said, test_what_is_being_written_is_written_before_the_end, test_closes_in_mid_run, test_ends_on_sigterm_with_everything_kept, test_a_sigterm_keeps_the_form,
         test_quits_in_mid_run]


def main():
    program, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    sys.stdout = os.fdopen(int(os.environ['DYNO_UI_TAP']), 'w')
    chosen = [t for t in TESTS if not names or t.__name__.removeprefix('test_') in names]
    print(f'1..{len(chosen)}', flush=True)
    manager = subprocess.Popen(['openbox'], stderr=subprocess.DEVNULL)
    window = Window(program)
    failed = 0
    for number, test in enumerate(chosen, 1):
        name = '/ui/window/' + test.__name__.removeprefix('test_').replace('_', '-')
        start = time.monotonic()
        try:
            if window.process.poll() is not None:  # the test before closed it
                window = Window(program)
            test(window)
            complaints = window.complaints()
            assert not complaints, 'on standard error: ' + '; '.join(complaints)
            print(f'ok {number} {name} # {time.monotonic() - start:.1f} s', flush=True)
        except Exception as problem:  # also one of the test's own: those after it are to run
            failed += 1
            print(f'not ok {number} {name}\n# {type(problem).__name__}: ' + str(problem).replace('\n', '\n# '), flush=True)
            for line in window.errors.read().splitlines():
                print(f'# {line}', flush=True)
            window.kill()
            if failed == FAILURES_AT_MOST and number < len(chosen):  # each may have waited for its limit
                print(f'Bail out! {failed} tests have failed; those after them are not run', flush=True)
                break
            if number < len(chosen):
                window = Window(program)
    window.kill()
    manager.terminate()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
