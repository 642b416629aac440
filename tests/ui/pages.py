#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The window as it starts, its pages, and its width.  Usage: see harness.py."""
import contextlib
import os
import sqlite3
import sys

import data
import harness
from harness import Role, SHOWING, State, THERE


def test_first_start_on_a_software_device_is_small(window):
    """The first run is small enough to show a curve soon."""
    window.wait_for_numbers({'Size': 32})
    assert window.number('Batch size') == 32
    assert window.number('Model width') == 0.25
    assert not window.has_text(' changed'), 'what nobody has changed is called so'


def test_the_page_that_is_shown_stays_marked(window):
    """The page stays marked when its button is clicked once more."""
    for page in 'Data', 'Home':
        window.page(page)
        button = window.find(Role.RADIO_BUTTON, page)
        button.act()
        window.find(Role.RADIO_BUTTON, page)  # the click has been handled
        assert button.has(State.CHECKED), f'{page} is shown and not marked'


def test_every_control_has_a_name(window):
    """The focus reaches no widget without a name for screen readers, on any page, the error bar
    included."""
    window.open('/nowhere')
    window.text_with('/nowhere')
    for page in 'Home', 'Data', 'Tune', 'Diagnose', 'Runs', 'Device', 'Train':
        window.page(page)
        assert not window.nameless(), f'on the page {page}: {window.nameless()}'
    window.press('Export settings')
    window.find(Role.LIST_ITEM, 'Dyno settings')
    assert not window.nameless(), f'in the export dialog: {window.nameless()}'
    window.key('Escape')
    window.wait_for('the dialog to go', lambda: not window.has('Dyno settings', Role.LIST_ITEM))
    assert window.find(Role.FRAME, 'Dyno')
    window.press('Close message')
    window.wait_without_text('/nowhere')


def test_empty_pages_say_what_comes_there(home):
    """An empty page has a title and a sentence for screen readers, and a button that begins a
    run."""
    empty = home.window('--state-dir', home.file('empty'))
    for page, title in ('Train', 'No Run Yet'), ('Tune', 'Nothing Measured Yet'), ('Diagnose', 'Nothing to Diagnose Yet'), ('Runs', 'No Runs Yet'):
        empty.page(page)
        assert empty.find_where(f'"{title}"', lambda n: n.name == title).description, title
        if page in ('Diagnose', 'Runs'):
            assert empty.find(Role.PUSH_BUTTON, 'Start Training').sensitive(), page
    assert not empty.has('Delete'), 'buttons for runs that are not there'
    empty.small_shapes()
    empty.page('Diagnose')
    empty.press('Start Training')
    empty.wait_for('the page Train', lambda: empty.find(Role.RADIO_BUTTON, 'Train').has(State.CHECKED))
    empty.finished()


def test_help_is_of_the_page_that_is_shown(window):
    """The topics can be chosen by keys, and Escape closes the help."""
    def topic():
        return [n.name for top in window.top_levels() if top.name == 'Help' for n in top.inside(Role.SCROLL_PANE, states=SHOWING) if n.name != 'Topics']
    for page, title, after in ('Tune', 'Tuning', 'Diagnosis'), ('Device', 'Device', 'Command Line'), ('Home', 'First Steps', 'Data'):
        window.page(page)
        window.key('F1')
        window.wait_for(f'the topic {title}', lambda: topic() == [title])
        window.wait_for_focus(title)
        assert not window.nameless(), window.nameless()
        window.key('Down')
        window.wait_for(f'the topic {after}', lambda: topic() == [after])
        window.key('Escape')
        window.wait_for('the help to go', lambda: topic() == [])


def test_preferences_are_kept_and_obeyed(home):
    """Each control has a name; the next run uses the chosen folder for runs."""
    home.run('gsettings', 'set', harness.ID, 'stop', 'save')
    window = home.window()
    window.ready()
    window.key('ctrl+comma')
    window.find(Role.COMBO_BOX, 'When a run is stopped')
    dialog = window.find_where('the dialog', lambda n: n.name == 'Preferences', Role.FRAME, Role.DIALOG)
    assert not window.nameless(), window.nameless()
    window.find(Role.COMBO_BOX, 'Device')
    window.choose('When a run is stopped', 'Ask')
    window.wait_for('it to be kept', lambda: "stop='save'" not in home.kept_settings())
    folder = home.file('my runs')
    home.run('gsettings', 'set', harness.ID, 'runs-folder', folder)
    window.wait_for('the folder to be shown', lambda: any(n.description == folder for n in dialog.inside(states=THERE)))
    window.key('Escape')
    window.wait_for('the preferences to go', lambda: not window.has('When a run is stopped', Role.COMBO_BOX))
    window.start_long_run()
    window.press('Stop')
    window.text('Stop the run?')
    window.press('Discard')
    window.text('Stopped after ')
    assert len(os.listdir(folder)) == 1
    window.ready()


def test_the_quick_test_of_the_menu_entry_can_be_stopped(home):
    """The desktop activates the quick test; no run starts while it measures.  It waits until the
    gate file is removed, since the driver creates no kernels before."""
    gate = home.file('gate')
    window = home.window(VK_ADD_LAYER_PATH=os.environ['DYNO_FAULTS_FOLDER'], VK_INSTANCE_LAYERS='VK_LAYER_DYNO_faults', DYNO_FAULTS='gate=' + gate)
    with open(gate, 'w'):
        window.activate_application('quick-test')
    window.find(Role.PROGRESS_BAR, 'Progress of the quick test')
    assert not window.find(Role.PUSH_BUTTON, 'Start').sensitive(), 'a run may start beside the quick test'
    window.press('Stop Test')
    os.remove(gate)
    window.ready()
    assert window.find(Role.PUSH_BUTTON, 'Run Quick Test').sensitive()


def test_recent_data_that_are_gone_take_no_place(home):
    """The page Home lists the newest data sets that still exist, and those that are opened
    later."""
    kept = home.file('photos')
    os.makedirs(kept)
    entries = ''.join(f'<bookmark href="file://{path}" added="{day}" modified="{day}" visited="{day}"><info><metadata owner="http://freedesktop.org">'
                      '<mime:mime-type type="inode/directory"/><bookmark:applications>'
                      f'<bookmark:application name="dyno" exec="&apos;dyno %u&apos;" modified="{day}" count="1"/>'
                      '</bookmark:applications></metadata></info></bookmark>\n'
                      for i, path in enumerate([home.file(f'gone {i}') if i != 9 else kept for i in range(19)]) for day in [f'2001-02-{i + 1:02}T00:00:00Z'])
    home.write('data/recently-used.xbel', '<?xml version="1.0" encoding="UTF-8"?>\n<xbel version="1.0" '
               'xmlns:bookmark="http://www.freedesktop.org/standards/desktop-bookmarks" '
               f'xmlns:mime="http://www.freedesktop.org/standards/shared-mime-info">\n{entries}</xbel>\n')
    window = home.window()
    row = window.find(Role.LIST_ITEM, 'photos', states=THERE)
    assert row.description == home.path, row.description
    assert not any(n.name.startswith('gone') for n in window.nodes(Role.LIST_ITEM, states=THERE)), 'data are offered that are gone'
    for name in 'bus', 'car':
        os.makedirs(home.file('traffic/' + name))
        data.write_png(home.file(f'traffic/{name}/1.png'), 16)
    window.open(home.file('traffic'))
    window.page('Home')
    row = window.find(Role.LIST_ITEM, 'traffic', states=THERE)
    assert row.description == home.path, row.description


def test_home_has_the_newest_five_runs(home):
    """There are six runs."""
    home.run(os.environ['DYNO_UI_DYNOCTL'], 'runs')  # creates the history file
    with contextlib.closing(sqlite3.connect(home.file('data/dyno/history.sqlite'))) as file, file:
        file.executemany('INSERT INTO runs (uid, name, model, settings, begin_us, seen_us, state) '
                         "VALUES (?, ?, 'mlp', '', ?, ?, 'finished')", [(i, f'night {i}', i * 1000000, i * 1000000) for i in range(1, 7)])
    window = home.window()
    window.page('Home')
    window.find(Role.LIST_ITEM, 'night 2', states=THERE)
    assert [n.name for n in window.nodes(Role.LIST_ITEM, states=THERE) if n.name.startswith('night')] == [f'night {i}' for i in range(6, 1, -1)]


def width_of(node):
    return node.extents(screen=False)[2]


def right_of(node):
    x, y, width, height = node.extents(screen=False)
    return x + width


def test_a_narrow_window_clips_nothing(window):
    """The right edge of a run's page, the tiles included, stays inside the window after each change
    of the width."""
    window.start_long_run()
    xid, before = window.xid(), width_of(window.frame)
    for width in 600, before, 600:
        window.home.run('xdotool', 'windowsize', xid, str(width), '880')
        window.wait_for(f'a page inside a window asked to be {width} wide', lambda: (width_of(window.frame) < before) == (width < before) and all(
            0 < right_of(window.find(role, name, states=THERE)) <= width_of(window.frame)
            for role, name in ((Role.CHART, 'Loss'), (Role.LABEL, 'Memory'))))
    # The form is hidden by the action and not by a key, which would show it if it were folded away
    # already.
    window.set_state('show-settings', harness.GLib.Variant('b', False))
    window.wait_for('the form to go', lambda: not window.has('Find a setting'))
    window.key('ctrl+f')  # the form comes over the page, and gets the focus
    window.wait_for_focus('Find a setting')
    assert window.find(None, 'Find a setting').showing()
    window.home.run('xdotool', 'windowsize', xid, str(before), '800')
    window.stop()


def test_a_window_can_be_as_narrow_as_a_phone(window):
    """Each page fits 360 pixels, also during a run; the width is requested twice, since wide parts
    fold away after the first request."""
    xid = window.xid()

    def narrow():
        window.home.run('xdotool', 'windowsize', xid, '360', '700')
        return width_of(window.frame) == 360
    for page in 'home', 'data', 'train', 'tune', 'diagnose', 'runs', 'device':
        window.set_state('page', harness.GLib.Variant('s', page))
        window.wait_for(f'360 pixels on the page {page}', narrow)
    window.start_long_run()
    window.wait_for('360 pixels during a run', narrow)
    window.stop()


def test_a_window_of_large_text_can_be_narrow(home):
    """No page, nor the header of a run, prevents a width of 640 pixels."""
    large = home.window(GDK_DPI_SCALE='1.5')
    xid = large.xid()

    def narrow():
        home.run('xdotool', 'windowsize', xid, '640', '880')
        return width_of(large.frame) == 640
    large.wait_for('640 pixels', narrow)
    large.start_long_run(epochs=5000)  # the numbers in its header are as long as those of real runs
    large.wait_for('640 pixels in a run', narrow)


TESTS = [test_first_start_on_a_software_device_is_small, test_the_page_that_is_shown_stays_marked, test_every_control_has_a_name,
         test_empty_pages_say_what_comes_there, test_help_is_of_the_page_that_is_shown, test_a_window_can_be_as_narrow_as_a_phone, test_preferences_are_kept_and_obeyed,
         test_recent_data_that_are_gone_take_no_place, test_home_has_the_newest_five_runs, test_the_quick_test_of_the_menu_entry_can_be_stopped,
         test_a_narrow_window_clips_nothing,
         test_a_window_of_large_text_can_be_narrow]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
