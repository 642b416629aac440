# SPDX-License-Identifier: MIT
"""The harness of the window's tests: it drives the real window through AT-SPI, as a screen reader
does.

A file of tests ends with `harness.main(TESTS)` and is called as FILE.py DYNO [NAME...]    DYNO: the
program; NAME: only these tests.  It starts an X server (Xvfb), a session bus and an accessibility
bus of its own; nothing of the user's session is touched.  Exit status 77: a tool that it needs is
not installed.

Each test has a new home directory of its own: it takes either a new `window`, or the `home` to
start windows in it.  Windows that a test leaves open are ended.  Nothing here depends on the clock:
time limits end only tests that hang.

The harness calls AT-SPI over D-Bus directly: Collection.GetMatches searches the tree inside the
window's process, where libatspi's objects need several calls for each widget.  On the bus the
signals of a window come before the replies to later requests."""
import contextlib
import inspect
import mmap
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import commalocale

# Seconds for one wait, on a busy machine with no kernels cached; never reached when the code works.
LIMIT_S = 600
LIMITS_AT_MOST = 3  # number of expired waits after which the rest of a file is skipped


def start_inside():
    """Runs the file again with an X server and buses of its own."""
    for tool in ('Xvfb', 'dbus-run-session', 'openbox', 'xdotool'):
        if not shutil.which(tool):
            print(f'{tool} is not installed')
            sys.exit(77)
    place = tempfile.mkdtemp(prefix='dyno-ui-')
    read_end, write_end = os.pipe()
    server = subprocess.Popen(['Xvfb', '-displayfd', str(write_end), '-screen', '0', '1280x900x24', '-nolisten', 'tcp', '-noreset',
                               '-fbdir', place], pass_fds=[write_end], stderr=subprocess.DEVNULL)
    os.close(write_end)
    try:
        with os.fdopen(read_end) as answer:
            display = answer.readline().strip()
        if not display:
            print('Xvfb did not start')
            return 1
        environment = dict(os.environ, DYNO_UI_PLACE=place, DISPLAY=':' + display, GDK_BACKEND='x11', LC_ALL='C.UTF-8', LANGUAGE='',
                           XDG_RUNTIME_DIR=place, GSETTINGS_BACKEND='keyfile', GTK_MODULES='', NO_AT_BRIDGE='0',
                           G_DEBUG='fatal-criticals', GTK_USE_PORTAL='0', GTK_THEME='Adwaita')
        environment.pop('WAYLAND_DISPLAY', None)
        environment.setdefault('XDG_CACHE_HOME', place + '/cache')
        # The buses and their services (such as the accessibility registry) write to standard
        # output, which would corrupt the TAP output.
        tap = os.dup(sys.stdout.fileno())
        environment['DYNO_UI_TAP'] = str(tap)
        return subprocess.run(['dbus-run-session', '--', sys.executable, *sys.argv], env=environment, stdout=sys.stderr,
                              pass_fds=[tap]).returncode
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(place, ignore_errors=True)


try:
    import gi
    gi.require_version('Atspi', '2.0')
    from gi.repository import Atspi, Gio, GLib
except (ImportError, ValueError) as problem:
    print(f'AT-SPI for Python is not installed: {problem}')
    sys.exit(77)
if 'DYNO_UI_PLACE' not in os.environ:
    sys.exit(start_inside())

Role, State = Atspi.Role, Atspi.StateType  # their numeric values
PLACE = os.environ['DYNO_UI_PLACE']
A11Y = 'org.a11y.atspi.'
ROOT = '/org/a11y/atspi/accessible/root'
ID = 'io.github.gpudyno.Dyno'
SHOWING = State.SHOWING, State.VISIBLE
THERE = State.VISIBLE,  # true also of a widget that is scrolled out of its panel's view
WINDOWS = Role.FRAME, Role.DIALOG, Role.FILE_CHOOSER, Role.ALERT


class LimitReached(AssertionError):
    """A wait ended at its time limit."""


class Skip(Exception):
    """A test cannot be run here; the message is the reason."""


class Buses:
    """The session bus and the accessibility bus."""

    def __init__(self):
        self.session = Gio.bus_get_sync(Gio.BusType.SESSION)
        address = self.call_on(self.session, 'org.a11y.Bus', '/org/a11y/bus', 'org.a11y.Bus', 'GetAddress')[0]
        self.bus = Gio.DBusConnection.new_for_address_sync(
            address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        self.focused = []  # (bus name, path) of each widget that got the focus, in order
        self.seen = set()  # (bus name, path) of each widget that was shown, if only for a moment
        for state, happened in ('focused', self.focus_moved), ('showing', self.was_shown):
            self.bus.signal_subscribe(None, A11Y + 'Event.Object', 'StateChanged', None, state, Gio.DBusSignalFlags.NONE, happened)
            self.call(A11Y + 'Registry', '/org/a11y/atspi/registry', A11Y + 'Registry', 'RegisterEvent',
                      GLib.Variant('(sass)', ('object:state-changed:' + state, [], '')))

    def focus_moved(self, bus, sender, path, interface, signal, arguments):
        if arguments.get_child_value(1).get_int32():
            self.focused.append((sender, path))

    def was_shown(self, bus, sender, path, interface, signal, arguments):
        if arguments.get_child_value(1).get_int32():
            self.seen.add((sender, path))

    @staticmethod
    def call_on(bus, name, path, interface, method, arguments=None):
        return bus.call_sync(name, path, interface, method, arguments, None, Gio.DBusCallFlags.NONE, LIMIT_S * 1000, None).unpack()

    def call(self, *arguments):
        return self.call_on(self.bus, *arguments)

    def calls(self, calls):
        """Sends many calls (name, path, interface, method, arguments) without waiting in between,
        and returns their replies; None for an object that no longer exists."""
        answers = [None] * len(calls)
        left = [len(calls)]

        def answered(bus, result, i):
            left[0] -= 1
            with contextlib.suppress(GLib.Error):
                answers[i] = bus.call_finish(result).unpack()
        for i, call in enumerate(calls):
            self.bus.call(*call, None, Gio.DBusCallFlags.NONE, LIMIT_S * 1000, None, answered, i)
        while left[0] > 0:
            GLib.MainContext.default().iteration(True)
        return answers

    def dispatch(self):
        """Handles the signals that have arrived so far."""
        while GLib.MainContext.default().iteration(False):
            pass

    def has_owner(self, name):
        return self.call_on(self.session, 'org.freedesktop.DBus', '/', 'org.freedesktop.DBus', 'NameHasOwner', GLib.Variant('(s)', (name,)))[0]


def bits(values, words):
    """Packs roles or states into the bit set that AT-SPI uses."""
    sums = [0] * words
    for value in map(int, values):
        sums[value // 32] |= 1 << value % 32
    return [n - (1 << 32) if n >> 31 else n for n in sums]


class Node:
    """A widget, with its role, name and description as they were when it was looked up."""

    def __init__(self, buses, owner, path):
        self.buses, self.owner, self.path = buses, owner, path
        self.name = self.description = ''
        self.parent = None

    def __eq__(self, other):
        return isinstance(other, Node) and (self.owner, self.path) == (other.owner, other.path)

    def __hash__(self):
        return hash((self.owner, self.path))

    def question(self, interface, method, arguments=None):
        return self.owner, self.path, interface, method, arguments

    def call(self, interface, method, signature='()', *arguments):
        return self.buses.call(*self.question(A11Y + interface, method, GLib.Variant(signature, arguments)))

    def get(self, interface, name):
        return self.buses.call(*self.question('org.freedesktop.DBus.Properties', 'Get', GLib.Variant('(ss)', (A11Y + interface, name))))[0]

    def set(self, interface, name, value):
        self.buses.call(*self.question('org.freedesktop.DBus.Properties', 'Set', GLib.Variant('(ssv)', (A11Y + interface, name, value))))

    @property
    def role(self):
        return self.call('Accessible', 'GetRole')[0]

    def now(self):
        """Looks the same widget up again."""
        self.take(self.buses.call(*self.question_of_all())[0])
        return self

    def question_of_all(self):
        return self.question('org.freedesktop.DBus.Properties', 'GetAll', GLib.Variant('(s)', (A11Y + 'Accessible',)))

    def take(self, properties):
        self.name, self.description = properties['Name'], properties['Description']
        self.parent = Node(self.buses, *properties['Parent'])

    def has(self, *states):
        low, high = self.call('Accessible', 'GetState')[0]
        return all((high << 32 | low) >> int(state) & 1 for state in states)

    def sensitive(self):
        return self.has(State.SENSITIVE)

    def showing(self):
        return self.has(*SHOWING)

    def index(self):
        return self.call('Accessible', 'GetIndexInParent')[0]

    def children(self):
        return self.known(self.call('Accessible', 'GetChildren')[0])

    def known(self, references):
        """Makes nodes of the references, without those that have vanished meanwhile."""
        nodes = [Node(self.buses, *reference) for reference in references]
        answers = self.buses.calls([node.question_of_all() for node in nodes])
        for node, answer in zip(nodes, answers):
            if answer:
                node.take(answer[0])
        return [node for node, answer in zip(nodes, answers) if answer]

    def inside(self, *roles, states=()):
        """All descendants that have one of the roles and all of the states."""
        # Match type 1: all, 2: any.
        rule = bits(states, 2), 1, {}, 1, bits(roles, 5), 2 if roles else 1, [], 1, False
        return self.known(self.call('Collection', 'GetMatches', '((aiia{ss}iaiiasib)uib)', rule, 1, 0, True)[0])

    def act(self):
        """Returns whether the action was done: an insensitive or hidden widget does nothing."""
        return self.call('Action', 'DoAction', '(i)', 0)[0]

    def select_child(self, i):
        self.call('Selection', 'SelectChild', '(i)', i)

    @property
    def value(self):
        return self.get('Value', 'CurrentValue')

    @value.setter
    def value(self, value):
        self.set('Value', 'CurrentValue', GLib.Variant('d', value))

    @property
    def text(self):
        return self.call('Text', 'GetText', '(ii)', 0, -1)[0]

    @text.setter
    def text(self, text):
        self.call('EditableText', 'SetTextContents', '(s)', text)

    def extents(self, screen=True):
        """x, y, width and height, relative to the screen or to the window."""
        return self.call('Component', 'GetExtents', '(u)', 0 if screen else 1)[0]

    @property
    def n_rows(self):
        return self.get('Table', 'NRows')


class Home:
    """Settings, data and runs of the windows of one test."""

    def __init__(self, program, buses, place):
        self.program, self.buses, self.path = program, buses, place
        self.windows = []
        self.runs = os.path.join(place, 'data', 'dyno', 'runs')
        self.environment = dict(os.environ, HOME=place, XDG_DATA_HOME=place + '/data', XDG_CONFIG_HOME=place + '/config')
        # Animations are the most expensive part of drawing in software.
        self.write('config/gtk-3.0/settings.ini', '[Settings]\ngtk-enable-animations=0\n')

    def animate(self):
        """Enables animations in the windows that start after this."""
        os.remove(self.file('config/gtk-3.0/settings.ini'))

    def file(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.file(name)), exist_ok=True)
        with open(self.file(name), 'w') as file:
            file.write(text)
        return self.file(name)

    def window(self, *arguments, **environment):
        window = Window(self, arguments, environment)
        self.windows.append(window)
        window.begin()
        return window

    def run(self, *command):
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    def newest_run(self):
        return os.path.join(self.runs, sorted(os.listdir(self.runs))[-1])

    def kept_settings(self):
        with contextlib.suppress(FileNotFoundError), open(self.file('config/glib-2.0/settings/keyfile')) as file:
            return file.read()
        return ''

    def leave(self):
        """Closes all windows as a logout does, and checks that they report no warnings."""
        for window in self.windows:
            if window.process.poll() is None:
                window.process.terminate()
                window.end()
        complaints = [line for window in self.windows for line in window.complaints()]
        assert not complaints, 'on standard error: ' + '; '.join(complaints)

    def end(self):
        for window in self.windows:
            window.kill()


class Window:
    def __init__(self, home, arguments, environment):
        self.home, self.buses = home, home.buses
        self.wait_until('the name of the window before to be free', lambda: not self.buses.has_owner(ID))
        handle, path = tempfile.mkstemp(prefix='stderr-', dir=home.path)
        with open(handle, 'w') as written:
            self.process = subprocess.Popen([home.program, *arguments], stderr=written, cwd=home.path, env=dict(home.environment, **environment))
        self.errors = open(path)  # a second open file, with its own position

    def begin(self):
        self.application = self.wait_for('the application', self.find_application)
        self.frame = self.find(Role.FRAME, 'Dyno')
        self.wait_for('the keyboard', lambda: self.frame.has(State.ACTIVE))
        # Waits until the device is known, so that settings derived from it do not overwrite later
        # ones.
        self.ready()

    def find_application(self):
        root = Node(self.buses, A11Y + 'Registry', ROOT)
        for owner, path in root.call('Accessible', 'GetChildren')[0]:
            with contextlib.suppress(GLib.Error):  # the process may have exited
                if self.buses.call('org.freedesktop.DBus', '/', 'org.freedesktop.DBus', 'GetConnectionUnixProcessID',
                                   GLib.Variant('(s)', (owner,)))[0] == self.process.pid:
                    return Node(self.buses, owner, path)
        return None

    def wait_until(self, what, question, limit_s=LIMIT_S):
        """Returns the first true answer."""
        end, pause_s = time.monotonic() + limit_s, 0.01
        while True:
            self.buses.dispatch()
            try:
                answer = question()
            except GLib.Error:  # a widget vanished between two calls
                answer = None
            if answer:
                return answer
            if time.monotonic() > end:
                raise LimitReached(f'waited {limit_s} s for {what}')
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 0.1)

    def wait_for(self, what, question, limit_s=LIMIT_S):
        def asked():
            try:
                answer = question()
            except GLib.Error:
                answer = None
            if not answer and self.process.poll() is not None:
                raise AssertionError(f'dyno ended with {self.process.returncode} while waiting for {what}')
            return answer
        try:
            return self.wait_until(what, asked, limit_s)
        except LimitReached as reached:
            raise LimitReached(f'{reached}; focus: {self.describe_focus()}; shown: {self.shown()}') from None

    def complaints(self):
        """Warnings and criticals on standard error since the last call."""
        return [line for line in self.errors.read().splitlines() if re.search(r'-(WARNING|CRITICAL|ERROR) \*\*|^[\w-]+: (warning|critical|error): ', line)]

    # Looking up

    def nodes(self, *roles, states=SHOWING):
        return self.application.inside(*roles, states=states)

    def look(self, role, name, states=SHOWING):
        """Returns the widget, or None."""
        return next((n for n in self.nodes(*[role] if role is not None else [], states=states) if n.name == name), None)

    def find(self, role, name, limit_s=LIMIT_S, states=SHOWING):
        return self.wait_for(f'{role.value_nick if role is not None else "widget"} "{name}"', lambda: self.look(role, name, states), limit_s)

    def has(self, name, role=None, states=SHOWING):
        return self.look(role, name, states) is not None

    def find_where(self, what, condition, *roles, states=SHOWING):
        """Returns the first node that meets the condition."""
        return self.wait_for(what, lambda: next((n for n in self.nodes(*roles, states=states) if condition(n)), None))

    def shown(self):
        """The visible text of labels and rows; works in failure reports too, when the window no
        longer answers."""
        with contextlib.suppress(GLib.Error, AttributeError):
            return [n.name for n in self.nodes(Role.LABEL) if n.name] + [
                n.description for n in self.nodes(Role.LIST_ITEM, states=THERE) if n.description]
        return []

    def text(self, start):
        """Finds a label that begins with this text."""
        return self.wait_for(f'a text "{start}…"', lambda: next((t for t in self.shown() if t.startswith(start)), None))

    def text_with(self, part):
        """Finds a label that contains this text."""
        return self.wait_for(f'a text with "{part}"', lambda: next((t for t in self.shown() if part in t), None))

    def has_text(self, part):
        return any(part in text for text in self.shown())

    def wait_without_text(self, part):
        self.wait_for(f'"{part}" to go', lambda: not self.has_text(part))

    def exported(self, name):
        """Waits until the message about the export was shown: it is hidden after some seconds, but
        keeps its text."""
        self.wait_for(f'“{name}” to be exported', lambda: any(
            n.name == f'“{name}” exported' and (n.owner, n.path) in self.buses.seen for n in self.nodes(Role.LABEL, states=())))

    def button_name(self, start):
        return self.find_where(f'a button "{start}…"', lambda n: n.name.startswith(start), Role.PUSH_BUTTON).name

    def nameless(self):
        """The roles of focusable widgets that have no name."""
        return [role for role in (n.role for n in self.nodes(states=(*SHOWING, State.FOCUSABLE)) if not n.name)
                if role != int(Role.TABLE_CELL)]  # an empty cell has its column's title

    # The keyboard

    def focus_is_on(self, name):
        return any(n.name == name for n in self.nodes(states=(State.FOCUSED,)))

    def wait_for_focus(self, name):
        self.wait_for(f'the focus on "{name}"', lambda: self.focus_is_on(name))

    def describe_focus(self):
        """For a failure message: all widgets that report having the focus, the window included."""
        with contextlib.suppress(GLib.Error, AttributeError):
            return ', '.join(f'{Role(n.role).value_nick} "{n.name}"' + ('' if n.showing() else ' not showing')
                             for state in (State.FOCUSED, State.ACTIVE) for n in self.nodes(states=(state,))) or 'nowhere'
        return 'unknown'

    def focus_on(self, node):
        node.call('Component', 'GrabFocus')
        self.wait_for(f'the focus on "{node.name}"', lambda: node.has(State.FOCUSED))

    def focus(self, role, name):
        self.focus_on(self.find(role, name, states=THERE))

    def top_levels(self):
        roles = set(map(int, WINDOWS))
        return [n for n in self.application.children() if n.has(*SHOWING) and n.role in roles]

    def has_keyboard(self):
        """The window manager gives the keyboard to a dialog some time after it is shown, and back
        some time after it has closed."""
        windows = self.top_levels()
        dialogs = [w for w in windows if w != self.frame]
        return any(w.has(State.ACTIVE) for w in dialogs or windows)

    def key(self, *names):
        """Presses keys, one right after another, once the topmost window has the keyboard."""
        self.wait_for('the keyboard', self.has_keyboard)
        subprocess.run(['xdotool', 'key', '--delay', '0', *names], check=True)

    def move_focus(self, key):
        """Presses the key and returns the widget that has the focus after it, visible or not."""
        self.buses.dispatch()
        moves = self.buses.focused
        first, before = len(moves), moves[-1] if moves else None  # a move may be reported twice
        self.key(key)
        return self.wait_for(f'the focus to move by {key}', lambda: next(
            (Node(self.buses, *move).now() for move in reversed(moves[first:]) if move != before and move[0] == self.application.owner), None))

    def type(self, text, name):
        """Types into the field of this name, which has the focus."""
        field = self.wait_for(f'the focus on "{name}"', lambda: next((n for n in self.nodes(states=(State.FOCUSED,)) if n.name == name), None))
        self.wait_for('the keyboard', self.has_keyboard)
        subprocess.run(['xdotool', 'type', '--delay', '0', text], check=True)
        self.wait_for(f'"{text}" in it', lambda: field.text == text)

    # Acting

    def open(self, *paths):
        """Opens paths in the application, as a file manager does."""
        uris = [GLib.filename_to_uri(path) for path in paths]
        self.buses.call_on(self.buses.session, ID, '/io/github/gpudyno/Dyno', 'org.freedesktop.Application', 'Open',
                           GLib.Variant('(asa{sv})', (uris, {})))

    def activate(self, action, *parameters):
        """Activates an action of the window, as the menu does."""
        self.buses.call_on(self.buses.session, ID, '/io/github/gpudyno/Dyno/window/1', 'org.gtk.Actions', 'Activate',
                           GLib.Variant('(sava{sv})', (action, parameters, {})))

    def activate_application(self, action):
        """Activates an action of the application, as the desktop does from the menu entry."""
        self.buses.call_on(self.buses.session, ID, '/io/github/gpudyno/Dyno', 'org.freedesktop.Application', 'ActivateAction',
                           GLib.Variant('(sava{sv})', (action, [], {})))

    def set_state(self, action, value):
        self.buses.call_on(self.buses.session, ID, '/io/github/gpudyno/Dyno/window/1', 'org.gtk.Actions', 'SetState',
                           GLib.Variant('(sva{sv})', (action, value, {})))

    def press(self, name, role=Role.PUSH_BUTTON):
        """Presses the button once it is sensitive.  A button that was recreated or became
        insensitive between two calls is looked up again."""
        def pressed():
            node = self.look(role, name, (*SHOWING, State.SENSITIVE))
            return node and node.act()
        self.wait_for(f'"{name}" to be sensitive', pressed)

    def page(self, name):
        """Shows a page of the rail; screen readers see only the page that is shown."""
        button = self.find(Role.RADIO_BUTTON, name)
        if not button.has(State.CHECKED):
            button.act()
            self.wait_for(f'the page {name}', lambda: button.has(State.CHECKED))

    def go_to(self, name):
        """Shows the page that has a control of this name."""
        self.page({'Size': 'Data', 'Samples': 'Data', 'Minutes': 'Tune'}.get(name, 'Train'))

    def number(self, name):
        self.go_to(name)
        return self.find(Role.SPIN_BUTTON, name, states=THERE).value

    def set_number(self, name, value):
        self.go_to(name)
        self.wait_for(f'"{name}" to be sensitive', lambda: self.look(Role.SPIN_BUTTON, name, (*THERE, State.SENSITIVE))).value = value

    def wait_for_numbers(self, numbers):
        for name, value in numbers.items():
            self.go_to(name)
            self.wait_for(f'{name} {value}', lambda: abs(self.find(Role.SPIN_BUTTON, name, states=THERE).value - value) < 1e-9)

    def choose(self, name, item):
        """Chooses an item of a combo box; some boxes are filled by the result of a thread."""
        combo = self.find(Role.COMBO_BOX, name, states=THERE)

        def items():
            return [n.name for n in combo.inside(Role.MENU_ITEM)]
        self.wait_for(f'"{item}" in "{name}"', lambda: item in items())
        combo.select_child(items().index(item))

    def press_row(self, name):
        row = self.find(Role.LIST_ITEM, name)
        row.parent.select_child(row.index())
        self.wait_for(f'"{name}" to be selected', lambda: row.has(State.SELECTED))

    def save_as(self, dialog, path, button):
        """Types a path into the name field of a save dialog."""
        chooser = self.find(Role.FILE_CHOOSER, dialog)
        field = self.wait_for('the name field', lambda: next((n for n in chooser.inside(Role.TEXT, states=SHOWING) if '.' in n.text), None))
        field.text = path
        self.press(button)
        self.wait_for(f'"{path}"', lambda: os.path.exists(path))
        self.wait_for('the dialog to go', lambda: not self.has(dialog, Role.FILE_CHOOSER))

    # The beginnings of many tests

    def ready(self):
        self.wait_for('Start to be sensitive', lambda: self.look(Role.PUSH_BUTTON, 'Start', (*SHOWING, State.SENSITIVE)))

    def is_enabled(self, action):
        return self.buses.call_on(self.buses.session, ID, '/io/github/gpudyno/Dyno/window/1', 'org.gtk.Actions', 'Describe',
                                  GLib.Variant('(s)', (action,)))[0][0]

    def open_settings(self, numbers=None, data='builtin:shapes?size=32&samples=100', model='simplecnn', **settings):
        """Opens a settings file and waits for the numbers that the form then shows; model__width
        stands for model.width.  After a run has reported its end, the form stays locked until the
        run has released the device."""
        self.wait_for('the form to be free', lambda: self.is_enabled('open-settings'))
        lines = ''.join(f'{key.replace("__", ".")}={value}\n' for key, value in settings.items())
        self.open(self.home.write('opened.ini', f'[run]\ndata={data}\nmodel={model}\n[settings]\n{lines}'))
        self.wait_for_numbers(numbers or {})

    def small_shapes(self, **settings):
        """Opens the settings of a very short training run."""
        self.open_settings({'Samples': 100, 'Size': 16, 'Batch size': 16}, data='builtin:shapes?size=16&samples=100', model='mlp',
                           amp='false', batch_size=16, **settings)
        self.ready()

    def start_long_run(self, epochs=1000000, data__val_split=0, **settings):
        """Starts a run that goes on until it is stopped.  It has no validation, which would at some
        epoch warn of overfitting."""
        self.small_shapes(epochs=epochs, data__val_split=data__val_split, **settings)
        self.press('Start')
        self.page('Train')
        self.text('Training, step')

    def stop(self, answer='Save'):
        self.press('Stop')
        self.press(answer)
        self.text('Stopped after ')
        self.ready()

    def finished(self):
        """Waits for a run to end well; a run that fails is reported at once."""
        said = self.wait_for('the end of the run', lambda: next((t for t in self.shown() if t.startswith(('Finished in ', 'Failed after '))), None))
        assert said.startswith('Finished in '), f'the run has failed; shown: {self.shown()}'

    def xid(self):
        return self.home.run('xdotool', 'search', '--onlyvisible', '--pid', str(self.process.pid)).split()[-1]

    def close(self):
        self.press('Close')

    def end(self):
        self.wait_until('the end', lambda: self.process.poll() is not None)
        assert self.process.returncode == 0, f'dyno ended with {self.process.returncode}'

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Screen:
    """The pixels of the screen, mapped from the X server's memory."""

    def __init__(self):
        with open(os.path.join(PLACE, 'Xvfb_screen0'), 'rb') as file:
            self.memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        head = struct.unpack('>25I', self.memory[:100])  # header of an XWD file
        self.line, self.start = head[12], head[0] + 12 * head[19]
        assert head[11] == 32, 'a pixel is not four bytes'

    def read(self, areas):
        return [b''.join(self.memory[self.start + row * self.line + 4 * x:self.start + row * self.line + 4 * (x + width)]
                         for row in range(y, y + height)) for x, y, width, height in areas]

    def pixels(self, areas):
        """Four bytes for each pixel of each area; None while they are being painted.  The server
        has finished a request that was partly read when it has answered another one, so pixels that
        are equal after that are complete."""
        before = self.read(areas)
        subprocess.run(['xdotool', 'getmouselocation'], check=True, stdout=subprocess.DEVNULL)
        return before if before == self.read(areas) else None


def assert_whole(folder):
    """A run of the window leaves the same files as one of dynoctl."""
    kept = os.listdir(folder)
    for name in 'settings.ini', 'metrics.csv', 'weights.safetensors', 'curves.svg', 'curves.png', 'log':
        assert name in kept, f'{name} is not in {folder}: {kept}'
    return kept


def make_locale(home):
    """The environment variables of a window whose decimals have a comma."""
    try:
        return commalocale.make(home.file('locales'))
    except unittest.SkipTest as reason:
        raise Skip(str(reason))


def start_manager():
    """Starts a window manager and waits until it manages windows: a window that is shown earlier
    would not get the keyboard."""
    path = os.path.join(PLACE, 'manages')
    manager = subprocess.Popen(['openbox', '--startup', f'touch {path}'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + LIMIT_S
    while not os.path.exists(path):
        assert manager.poll() is None and time.monotonic() < end, 'openbox did not start'
        time.sleep(0.01)
    return manager


def run_test(test, home):
    """Returns None, or the failure."""
    try:
        if 'window' in inspect.signature(test).parameters:
            test(home.window())
        else:
            test(home)
        home.leave()
    except Exception as problem:  # an error of the test itself too: the tests after it are to run
        return problem
    finally:
        home.end()
    return None


def main(tests):
    program, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    tap = os.fdopen(int(os.environ['DYNO_UI_TAP']), 'w')
    chosen = [t for t in tests if not names or t.__name__.removeprefix('test_') in names]
    subject = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    print(f'1..{len(chosen)}', file=tap, flush=True)
    manager = start_manager()
    buses = Buses()
    failed = reached = 0
    for number, test in enumerate(chosen, 1):
        name = f'/ui/{subject}/' + test.__name__.removeprefix('test_').replace('_', '-')
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix='home-', dir=PLACE, ignore_cleanup_errors=True) as place:
            home = Home(program, buses, place)
            problem = run_test(test, home)
            if not problem or isinstance(problem, Skip):
                note = f'SKIP {problem}' if problem else f'{time.monotonic() - start:.1f} s'
                print(f'ok {number} {name} # {note}', file=tap, flush=True)
                continue
            where = ''.join(traceback.format_exception(problem)).splitlines()
            lines = [line for window in home.windows for line in window.errors.read().splitlines()]
            print(f'not ok {number} {name}', *(f'# {line}' for line in (*where, *lines)), sep='\n', file=tap, flush=True)
        failed += 1
        reached += isinstance(problem, LimitReached)
        if reached == LIMITS_AT_MOST and number < len(chosen):
            print(f'Bail out! {reached} tests have waited in vain; those after them are not run', file=tap, flush=True)
            break
    manager.terminate()
    manager.wait()
    return 1 if failed else 0
