#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The steps above a run: their states, the controls they lead to, and their warnings before Start.
Usage: see harness.py."""
import os
import re
import sys
import zlib

import harness
from harness import Role, State, THERE

TITLES = 'Data', 'Model', 'Start weights', 'Device and Preset', 'Output folder'


def step(window, title):
    return window.find_where(f'the step {title}', lambda n: n.name.startswith(title + ': '), Role.PUSH_BUTTON)


def says(window, step, *parts):
    """Waits until the step with this title, or with this whole name ("Output folder: ~"), has these
    words in its state and reasons.  Where the step may have had the state before an action, the
    test waits for the state together with the name that the action gives."""
    return window.wait_for(f'{step}: {parts}', lambda: next((n for n in window.nodes(Role.PUSH_BUTTON) if (
        n.name == step or n.name.startswith(step + ': ')) and all(part in n.description for part in parts)), None))


def found(window, title, *parts):
    """Waits as says() does, until no check is running, so that the step shows all findings."""
    return window.wait_for(f'all findings of {title}: {parts}', lambda: next((n for n in [says(window, title, *parts)] if not any(
        line in n.description for line in ('are being checked', 'is being checked', 'is being opened'))), None))


def empty_page_says(window, part):
    window.find_where(f'"{part}" on the empty page', lambda n: n.name == 'No Run Yet' and part in n.description)


def write_png(path, seed):
    """Writes a picture of 16 by 16 pixels in colour, which depends on the seed."""
    rows = b''.join(b'\0' + bytes((seed * 37 + x * 3 + y * 5 + channel * 11) % 256 for x in range(16) for channel in range(3)) for y in range(16))

    def chunk(kind, data):
        return len(data).to_bytes(4, 'big') + kind + data + zlib.crc32(kind + data).to_bytes(4, 'big')
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', (16).to_bytes(4, 'big') * 2 + bytes([8, 2, 0, 0, 0])) +
                   chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


def write_images(home, name, same=(), **classes):
    """Writes a folder of images that all differ, this many in each class; same: (class, seed) of
    one more image, which equals an existing one."""
    folder, seed = home.file(name), 0
    for label, n in classes.items():
        os.makedirs(os.path.join(folder, label))
        for i in range(n):
            seed += 1
            write_png(os.path.join(folder, label, f'{i:02}.png'), seed)
    for label, other in same:
        write_png(os.path.join(folder, label, f'copy-{other}.png'), other)
    return folder


def test_the_steps_of_a_run_that_is_ready(window):
    """The steps have the order of Tab; each leads to the control where it is chosen, and gives it
    the focus."""
    window.page('Train')
    for title in TITLES:
        assert says(window, title, 'Ready').description == 'Ready', title
    assert step(window, 'Data').name.startswith('Data: Shapes, 2,000 of '), step(window, 'Data').name
    assert step(window, 'Model').name == 'Model: SimpleCNN'
    assert step(window, 'Output folder').name == 'Output folder: ~/data/dyno/runs'
    assert not os.path.exists(window.home.runs), 'the folder was made though nothing is kept in it'
    empty_page_says(window, 'Everything is ready')
    window.focus_on(step(window, 'Data'))
    for title in TITLES[1:]:
        assert window.move_focus('Tab').name.startswith(title + ': '), title
    step(window, 'Data').act()
    window.wait_for('the page Data', lambda: window.find(Role.RADIO_BUTTON, 'Data').has(State.CHECKED))
    window.wait_for_focus('Choose data set')
    window.page('Train')
    step(window, 'Start weights').act()
    window.wait_for_focus('Choose start weights')
    for title, combo in ('Device and Preset', 'Device'), ('Model', 'Model'):
        window.focus_on(step(window, 'Data'))
        window.key('ctrl+f')
        window.type('Prefetch', 'Find a setting')
        window.wait_for('the others to go', lambda: not window.has(combo, Role.COMBO_BOX))
        step(window, title).act()
        window.find(Role.COMBO_BOX, combo, states=THERE)
        # The focus moves to a widget that is invisible to screen readers.
        window.wait_for('the focus to move', lambda: not window.focus_is_on('Find a setting'))
        if combo == 'Device':  # the focus that the step gave may be reported after the key
            window.key('shift+Tab')
            window.wait_for_focus('Device and Preset')
    window.key('Down')
    window.wait_for('another model', lambda: step(window, 'Model').name != 'Model: SimpleCNN')
    step(window, 'Output folder').act()
    window.find_where('the preferences', lambda n: n.name == 'Preferences', Role.FRAME, Role.DIALOG)
    window.wait_for_focus('Choose the folder for runs')
    window.key('Escape')
    window.wait_for('the preferences to go', lambda: not window.has('When a run is stopped', Role.COMBO_BOX))


def test_a_step_unfolds_the_form(window):
    """A step unfolds the form also in a window in which the form lies over the page."""
    window.page('Train')
    window.home.run('xdotool', 'windowsize', window.xid(), '800', '800')
    window.wait_for('the form to go', lambda: not window.has('Find a setting'))
    step(window, 'Start weights').act()
    window.wait_for_focus('Choose start weights')
    assert window.find(None, 'Find a setting').showing()


def test_warnings_are_those_of_the_data(home):
    """The warnings are those of the open data set only: one with a warning, one without, one with
    another; each is found once."""
    double = write_images(home, 'double', same=[('dog', 3)], cat=10, dog=10)
    good = write_images(home, 'good', cat=10, dog=10)
    tiny = write_images(home, 'tiny', cat=10, dog=4)
    window = home.window()
    window.ready()
    window.open_settings(data=double, batch_size=8)
    wrong = '1 sample is the same as one of another class'
    says(window, 'Data', 'Please note', wrong, 'cat/02.png, dog/copy-3.png')
    empty_page_says(window, 'Look at the warnings above')
    window.page('Data')
    window.find(Role.LIST_ITEM, says_of(window, wrong), states=THERE)
    # The findings are cached, so no change of a setting notices that the copy was removed.
    os.remove(os.path.join(double, 'dog', 'copy-3.png'))
    window.open_settings(data=double, batch_size=4, data__val_split=0.4)
    window.page('Data')
    window.text('13 train, 8 validate')
    window.page('Train')
    says(window, 'Data', 'Please note', wrong)
    window.open(good)
    assert says(window, 'Data', 'Ready').description == 'Ready'
    empty_page_says(window, 'Everything is ready')
    window.page('Data')
    assert not window.has_text('Please note') and not window.has('Problems'), window.shown()
    window.page('Train')
    window.open(tiny)
    notes = found(window, 'Data', 'Please note', 'Fewer than 10 samples of class “dog”').description
    assert 'another class' not in notes, notes
    window.open(double)  # again, without the copy
    assert says(window, 'Data', 'Ready').description == 'Ready'
    window.ready()


def says_of(window, part):
    return window.find_where(f'"{part}"', lambda n: part in n.name, Role.LIST_ITEM, states=THERE).name


def test_a_warning_shows_its_reasons_and_leads_on(home):
    """A warning can be opened by the keyboard; remarks are no warnings."""
    folder = write_images(home, 'double', same=[('dog', 3)], cat=10, dog=10)
    window = home.window()
    window.open_settings(data=folder, batch_size=8)
    window.page('Train')
    window.focus_on(says(window, 'Data', 'one of the two labels is wrong'))
    window.key('Return')
    window.text('1 sample is the same as one of another class')
    window.wait_for_focus('Show the Data')
    window.key('Escape')
    window.wait_for('the reasons to go', lambda: not window.has('Show the Data'))
    window.wait_for('the focus to come back', lambda: step(window, 'Data').has(State.FOCUSED))
    window.key('Return')
    window.press('Show the Data')
    window.wait_for('the page Data', lambda: window.find(Role.RADIO_BUTTON, 'Data').has(State.CHECKED))
    window.wait_for_focus('Choose data set')
    window.ready()


def test_large_data_are_compared_on_request(home):
    """The files are sparse: 5,000 images of zeros, 328 MB."""
    n, side, folder = 5000, 256, home.file('zeros')
    os.makedirs(folder)
    for name, shape, kind, size in ('X', (n, side, side, 1), '|u1', n * side * side), ('y', (n,), '|u1', n):
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b'\n'
        with open(os.path.join(folder, name + '.npy'), 'wb') as file:
            file.write(b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little') + header)
            if name == 'y':
                file.write(bytes(i % 2 for i in range(n)))
            else:
                file.truncate(128 + size)
    window = home.window()
    window.open_settings(data=folder, batch_size=8)
    window.page('Train')
    notes = found(window, 'Data', 'Ready', 'more than 256').description
    assert 'same as' not in notes, notes
    window.page('Data')
    window.press('Compare the samples')
    window.find_where('the warning', lambda n: n.name.startswith('4,999 samples') or n.name.startswith('4999 samples'), Role.LIST_ITEM, states=THERE)
    assert not window.has('Compare the samples')
    window.page('Train')
    says(window, 'Data', 'Please note', 'samples are the same as another')
    window.ready()


def test_no_warning_of_earlier_data_while_others_are_opened(home):
    """While a server does not answer, the step waits and the window does not."""
    if not os.environ.get('DYNO_UI_HOLD'):
        raise harness.Skip('a sanitizer wants to be loaded before all else')
    gate, tiny = home.file('gate'), write_images(home, 'tiny', cat=10, dog=4)
    photos = write_images(home, 'photos', bus=10, held=10)
    window = home.window(LD_PRELOAD=os.environ['DYNO_UI_HOLD'], DYNO_TEST_HOLD=gate)
    window.open_settings(data=tiny, batch_size=8)
    window.page('Train')
    says(window, 'Data', 'Fewer than 10 samples')
    with open(gate, 'w'):
        window.open(photos)
    waits = says(window, 'Data', 'Not known yet')
    assert waits.name == 'Data: photos' and waits.description.endswith('\nThe data set is being opened.'), (waits.name, waits.description)
    assert not window.find(Role.PUSH_BUTTON, 'Start').sensitive()
    os.remove(gate)
    assert says(window, 'Data', 'Ready').description == 'Ready'
    window.ready()


def test_amp_that_is_slow_is_switched_off(window):
    """AMP is slow on a software device."""
    window.open_settings({'Size': 16}, data='builtin:shapes?size=16&samples=100', model='mlp', amp='true', batch_size=16)
    window.page('Train')
    window.focus_on(says(window, 'Device and Preset', 'Please note', 'AMP is on, and on this device'))
    window.key('Return')
    window.text('AMP is on')
    window.wait_for_focus('Switch AMP Off')
    window.key('Return')
    assert says(window, 'Device and Preset', 'Ready').description == 'Ready'
    window.wait_for('the reasons to go', lambda: not window.has('Switch AMP Off'))
    window.wait_for('the switch', lambda: not window.find(Role.TOGGLE_BUTTON, 'Mixed precision (AMP)', states=THERE).has(State.CHECKED))
    window.ready()


def test_reasons_stay_while_another_step_changes(home):
    """The other step was ready, and becomes ready again."""
    folder = write_images(home, 'good', cat=10, dog=10)
    window = home.window()
    window.open_settings({'Size': 16}, data='builtin:shapes?size=16&samples=100', model='mlp', amp='true', batch_size=16)
    window.page('Train')
    says(window, 'Device and Preset', 'Please note', 'AMP is on').act()
    window.find(Role.PUSH_BUTTON, 'Switch AMP Off')
    window.open(folder)
    window.wait_for('other data', lambda: step(window, 'Data').name.startswith('Data: good'))
    assert says(window, 'Data', 'Ready').description == 'Ready'
    assert window.has('Switch AMP Off'), 'the reasons have gone with those of another step'
    window.key('Escape')
    window.wait_for('the reasons to go', lambda: not window.has('Switch AMP Off'))


def test_start_weights_that_are_gone(home):
    """Missing start weights are reported before a run fails."""
    weights = home.write('first.safetensors', 'nothing yet')
    home.run('gsettings', 'set', harness.ID, 'settings', f"['weights={weights}', 'batch_size=32']")
    window = home.window()
    window.page('Train')
    says(window, 'Start weights: first.safetensors', 'Ready')
    os.remove(weights)
    window.choose('Model', 'MLP')
    window.wait_for('random values', lambda: step(window, 'Start weights').name == 'Start weights: Random values')
    window.activate('undo')
    says(window, 'Start weights', 'Please note', f'Cannot read “{weights}”')
    step(window, 'Start weights').act()
    window.press('Start from Random Values')
    says(window, 'Start weights: Random values', 'Ready')
    window.ready()


def test_start_weights_are_not_called_ready_unseen(home):
    """The weights are on a server that does not answer."""
    if not os.environ.get('DYNO_UI_HOLD'):
        raise harness.Skip('a sanitizer wants to be loaded before all else')
    gate, weights = home.write('gate', ''), home.write('held/first.safetensors', 'nothing yet')
    home.run('gsettings', 'set', harness.ID, 'settings', f"['weights={weights}', 'batch_size=32']")
    window = home.window(LD_PRELOAD=os.environ['DYNO_UI_HOLD'], DYNO_TEST_HOLD=gate)
    window.page('Train')
    says(window, 'Start weights: first.safetensors', 'Not known yet', 'The file is being checked')
    os.remove(gate)
    assert says(window, 'Start weights: first.safetensors', 'Ready').description == 'Ready'


def test_a_folder_that_cannot_be_written_is_said_before_start(home):
    """The reason has the same words as at Start, which then begins nothing; choosing another folder
    begins nothing either."""
    # Must not be read as markup.
    path = home.write('runs & <b>', 'a file, so that no folder can be made')
    home.run('gsettings', 'set', harness.ID, 'runs-folder', path)
    window = home.window()
    window.small_shapes(epochs=1)
    window.page('Train')
    folder = says(window, 'Output folder', 'No run can begin', f'Cannot write into “{path}”')
    reason = folder.description.split('\n')[1]
    empty_page_says(window, reason)
    window.press('Start')
    window.text('The run was not started')
    assert reason in window.shown(), (reason, window.shown())
    window.press('Close message')
    step(window, 'Output folder').act()
    window.press('Choose Another Folder…')
    window.find(Role.FILE_CHOOSER, 'Choose the folder for runs')
    window.press('Open')  # the dialog begins in the home folder
    says(window, 'Output folder: ~', 'Ready')
    window.ready()
    empty_page_says(window, 'Everything is ready')
    assert not [name for name in os.listdir(home.path) if re.match(r'20\d\d-', name)], 'a run was begun that nobody asked for'
    home.run('gsettings', 'reset', harness.ID, 'runs-folder')
    says(window, 'Output folder: ~/data/dyno/runs', 'Ready')


def test_a_narrow_window_has_all_steps(window):
    """The steps are laid out in several lines."""
    window.page('Train')
    xid = window.xid()

    def lines():
        # A second request, since wide parts fold away after the first.
        window.home.run('xdotool', 'windowsize', xid, '420', '800')
        width = window.frame.extents(screen=False)[2]
        places = [step(window, title).extents(screen=False) for title in TITLES]
        inside = all(0 <= x and x + w <= width for x, y, w, h in places)
        return len({y for x, y, w, h in places}) if width == 420 and inside else 0
    window.wait_for('several lines', lambda: lines() > 1)


TESTS = [test_the_steps_of_a_run_that_is_ready, test_a_step_unfolds_the_form, test_warnings_are_those_of_the_data,
         test_a_warning_shows_its_reasons_and_leads_on, test_large_data_are_compared_on_request,
         test_no_warning_of_earlier_data_while_others_are_opened, test_amp_that_is_slow_is_switched_off,
         test_reasons_stay_while_another_step_changes, test_start_weights_that_are_gone,
         test_start_weights_are_not_called_ready_unseen,
         test_a_folder_that_cannot_be_written_is_said_before_start, test_a_narrow_window_has_all_steps]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
