#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data sets in the window: opening them, their contents, and their errors.  Usage: see
harness.py."""
import os
import sys
import zlib

import harness
from harness import Role, SHOWING, State, THERE


def test_opening_what_is_not_there_is_an_error(home):
    """The error is shown until a run begins, and the previous data set can still be trained
    with."""
    window = home.window()
    window.small_shapes(epochs=1)
    window.open(home.file('no such folder'))
    window.text_with('no such folder')
    assert window.has_text('The data set cannot be used')
    window.ready()  # the previous data set is still open
    window.press('Start')
    window.finished()
    window.wait_without_text('The data set cannot be used')
    window.ready()


def test_limit_is_the_smaller_of_budget_and_device(window):
    """With a budget above the device's memory, as a preset for a larger card has it, the bar and
    the advice use the memory that the device has.  Newer software devices report all of the RAM, so
    the samples are large."""
    window.open_settings({'Size': 224, 'Samples': 20000}, data='builtin:shapes?size=224&samples=20000', batch_size=64, vram_budget=1 << 40)
    window.ready()  # the memory estimate is that of these data
    window.page('Train')
    window.text('1.00\u00a0TiB allowed, but this device has')
    own = window.text('1.00\u00a0TiB allowed').split('has ')[1]
    window.text_with(f' of {own}')  # the device's memory, beside the memory needed
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


def test_opens_a_folder_of_arrays_and_shows_their_axes(home):
    window = home.window()
    folder = home.file('arrays')
    os.makedirs(folder)
    write_npy(os.path.join(folder, 'X.npy'), (40, 3, 16, 20), '|u1', bytes(40 * 3 * 16 * 20))
    write_npy(os.path.join(folder, 'y.npy'), (40,), '<i8', b''.join((i % 4).to_bytes(8, 'little') for i in range(40)))
    window.ready()
    window.open(folder)
    window.page('Data')
    window.text('Taken as N, C, H, W')
    window.text('20\u00a0×\u00a016\u00a0×\u00a03')
    window.choose('Axes', 'N, H, W, C')
    window.text('Taken as N, H, W, C')
    window.text('16\u00a0×\u00a03\u00a0×\u00a020')
    window.choose('Axes', 'Recognised')
    window.text('Taken as N, C, H, W')
    window.open_settings(data=folder, data__layout='nhwc')  # the same data, with another layout
    window.text('Taken as N, H, W, C')
    window.open_settings(data=folder, data__layout='auto')
    window.text('Taken as N, C, H, W')
    window.ready()


def test_data_shows_split_classes_and_pictures(window):
    """The page shows each class with its name, count and decoded samples, and the samples that are
    used for training."""
    window.open_settings(data='builtin:shapes?size=32&samples=60&classes=4', data__val_split=0.2)
    window.page('Data')
    window.text('48 train, 12 validate')
    assert window.number('Samples') == 60  # fewer than the window's default
    def row():
        """Looks the row up again: the list may be rebuilt when notes on the data arrive."""
        return window.find(Role.LIST_ITEM, 'square: 15', states=THERE)
    window.wait_for('its bar', lambda: row().inside(Role.LEVEL_BAR))
    window.wait_for('four pictures of it', lambda: sum(n.name == 'A sample' for n in row().inside()) == 4)
    window.press('Use for Training')
    window.wait_for('the page Train', lambda: window.find(Role.RADIO_BUTTON, 'Train').has(State.CHECKED))


def test_data_shows_samples_as_the_network_sees_them(window):
    """The same samples are shown, augmented by the current settings; another draw augments them
    differently, and a reason is shown where they cannot be made."""
    screen = harness.Screen()
    window.ready()
    data = 'builtin:shapes?size=32&samples=100&classes=2'
    window.open_settings(data=data, augment__rotate=90)
    window.page('Data')

    def shown(name, question):
        """Waits for four pictures of this name that meet the condition, once they are painted."""
        def painted():
            pictures = [n for n in window.find(Role.LIST_ITEM, 'square: 50').inside(states=SHOWING) if n.name == name]
            now = screen.pixels([n.extents() for n in pictures]) if len(pictures) == 4 else None
            return now if now and question(now) else None
        return window.wait_for(f'four times "{name}"', painted)

    def drawn(now):
        return all(len(set(picture)) > 4 for picture in now)
    plain = shown('A sample', drawn)
    seen_name = 'A sample as the network sees it'

    def like_plain(now):
        """Whether each picture is the same sample, upright.  Thumbnails are drawn at 40 pixels and
        not at the network's 32, so edges and noise differ, by 3 to 7 of 255 in the mean; another or
        a rotated sample differs by more than 25.  The fourth byte is not painted."""
        means = [sum(abs(x - y) for x, y in zip(*pair)) / (len(pair[0]) * 3 / 4) for pair in zip(now, plain)]
        return max(means) < 12
    switch = window.find(Role.TOGGLE_BUTTON, 'As the Network Sees Them')
    window.wait_for('the augmentation', lambda: window.find(Role.LIST_ITEM, 'As the Network Sees Them').description == 'Random rotation 90')
    assert not window.find(Role.PUSH_BUTTON, 'Another draw').sensitive()
    switch.act()
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
    switch.act()
    window.open_settings(data=data, augment__time_mask=0)
    window.wait_for('only rotation', lambda: 'Random rotation 90' in window.shown())
    shown('A sample', lambda now: now == plain)


def write_png(path, side, colour=(0, 0, 0), pixels=None):
    """Writes a picture of one colour, or of the given pixels."""
    def chunk(kind, data):
        return len(data).to_bytes(4, 'big') + kind + data + zlib.crc32(kind + data).to_bytes(4, 'big')
    head = side.to_bytes(4, 'big') * 2 + bytes([8, 2, 0, 0, 0])
    rows = zlib.compress((b'\0' + bytes(colour) * side) * side)
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', pixels or rows) + chunk(b'IEND', b''))


def test_a_picture_that_is_missing_moves_no_other(home):
    """Each network input is shown in the place of its sample, also after a sample that cannot be
    decoded."""
    window = home.window()
    screen = harness.Screen()
    folder = home.file('photos')
    for name, at in ('green', 1), ('red', 0):
        os.makedirs(os.path.join(folder, name))
        for i in range(10):  # fewer would be a problem of their own, and leave no room for the rows
            colour = [0, 0, 0]
            colour[at] = 180 + 5 * i
            write_png(os.path.join(folder, name, f'{i}.png'), 16, colour, b'no pixels' if (name, i) == ('green', 0) else None)
    window.open_settings(data=folder, model='mlp', image_size=16, batch_size=4, amp='false', data__val_split=0)
    window.page('Data')

    def colours(label, name):
        """The index of the largest of red, green and blue in the middle of each picture of this
        name, once they are painted."""
        row = window.find_where(f'the row of {label}', lambda n: n.name.startswith(label + ': '), Role.LIST_ITEM, states=THERE)
        if not row.has(State.FOCUSED):
            row.call('Component', 'GrabFocus')  # scrolls it into view
        places = [n.extents() for n in row.inside(states=SHOWING) if n.name == name]
        now = screen.pixels([(x + width // 2, y + height // 2, 1, 1) for x, y, width, height in places])
        return [2 - pixel.index(max(pixel[:3])) for pixel in now] if now and all(max(pixel[:3]) > 120 > min(pixel[:3]) for pixel in now) else None
    window.wait_for('three green pictures', lambda: colours('green', 'A sample') == [1] * 3)
    window.wait_for('four red pictures', lambda: colours('red', 'A sample') == [0] * 4)
    window.find(Role.TOGGLE_BUTTON, 'As the Network Sees Them', states=THERE).act()
    seen = 'A sample as the network sees it'
    for label, n, place in ('green', 3, 1), ('red', 4, 0):
        shown = window.wait_for(f'{n} pictures of {label}', lambda: (found := colours(label, seen)) and len(found) == n and found)
        assert shown == [place] * n, f'{label} has the colours {shown}'


def test_another_data_set_leaves_nothing_of_the_one_before(home):
    """Unreadable samples, notes and the size of the largest class are those of the new data set
    only."""
    window = home.window()
    screen = harness.Screen()
    folder = home.file('photos')
    for name, n in ('bus', 41), ('car', 1):
        os.makedirs(os.path.join(folder, name))
        for i in range(n):
            write_png(os.path.join(folder, name, f'{i}.png'), 16)
    with open(os.path.join(folder, 'bus', 'broken.png'), 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\nno more')

    def full_bars():
        """Whether both bars of the class balance reach from the bottom to the top."""
        x, y, width, height = window.find(None, 'Balance of classes', states=THERE).extents()

        def colours(row):
            return screen.pixels([(x + width * part // 8, y + height * row // 10, 1, 1) for part in (2, 6)])
        top, bottom = colours(1), colours(9)
        return top and top == bottom and top[0] == top[1] and top[0] != screen.read([(x - 2, y, 1, 1)])[0]

    def open_shapes(samples):
        window.open_settings({'Samples': samples}, data=f'builtin:shapes?size=16&samples={samples}&classes=2')
        window.find(Role.LIST_ITEM, f'square: {samples // 2}', states=THERE)
    window.page('Data')
    open_shapes(100)
    window.wait_for('two full bars', full_bars)
    window.open(folder)
    window.find(Role.LIST_ITEM, 'car: 1', states=THERE)
    window.find_where('the number of unreadable samples', lambda n: n.name == 'Cannot be read', Role.LIST_ITEM, states=THERE)
    window.find_where('a note on its classes', lambda n: '“car”' in n.name, Role.LIST_ITEM, states=THERE)
    # The same data, whose notes are made anew.
    window.open_settings(data=folder, data__val_split=0.5)
    window.text('22 train, 20 validate')
    notes = window.wait_for('its notes', lambda: [n.name for n in window.nodes(Role.LIST_ITEM, states=THERE) if '“car”' in n.name])
    assert len(notes) == len(set(notes)), f'notes from before are still there: {notes}'
    open_shapes(60)
    assert not window.has('Cannot be read', Role.LIST_ITEM, states=THERE), 'samples of other data cannot be read'
    window.wait_for('two full bars again', full_bars)


def test_one_class_is_taken_on_request(home):
    window = home.window()
    folder = home.file('one & <class>')  # must not be read as markup
    os.makedirs(os.path.join(folder, 'only'))
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


def test_groups_stay_together(home):
    """The column of the groups is typed into the form: whole groups of ten then validate.  A column
    that is not there is an error, and no run begins until it is taken back."""
    window = home.window()
    with open(home.file('list.csv'), 'w', encoding='utf-8') as file:
        file.write('file,patient,label\n')
        for i in range(40):
            write_png(home.file(f'{i}.png'), 16, (i, 2 * i, 99))
            file.write(f'{i}.png,p{i // 10},{"ab"[i % 2]}\n')
    window.ready()

    def name_column(name):
        window.page('Train')
        window.key('ctrl+f')
        window.type('Group column', 'Find a setting')
        entry = window.find(Role.TEXT, 'Group column')
        window.focus_on(entry)
        entry.text = name
        window.key('Return')
        window.page('Data')
    window.open_settings(data=home.file('list.csv'), model='mlp', image_size=16, epochs=1, batch_size=8)
    window.ready()
    window.page('Data')
    window.text('36 train, 4 validate')
    name_column('patient')
    window.text('30 train, 10 validate')
    window.ready()
    name_column('person')
    window.text_with('has no column “person”')
    window.page('Train')
    window.text_with('was not opened with the groups that')
    name_column('')
    window.text('36 train, 4 validate')
    window.ready()


def test_the_window_lives_while_a_scan_waits(home):
    """While a folder on a server that does not answer is scanned, pages and settings can be used,
    and the scan can be cancelled."""
    if not os.environ.get('DYNO_UI_HOLD'):
        raise harness.Skip('a sanitizer wants to be loaded before all else')
    gate, folder = home.file('gate'), home.file('photos')
    for name in 'bus', 'held':
        os.makedirs(os.path.join(folder, name))
        for i in range(10):
            write_png(os.path.join(folder, name, f'{i}.png'), 16)
    window = home.window(LD_PRELOAD=os.environ['DYNO_UI_HOLD'], DYNO_TEST_HOLD=gate)
    window.small_shapes(epochs=1)
    with open(gate, 'w'):
        window.open(folder)
    window.page('Data')
    window.find(Role.PUSH_BUTTON, 'Cancel')
    window.set_number('Epochs', 7)
    window.wait_for_numbers({'Epochs': 7})
    assert not window.find(Role.PUSH_BUTTON, 'Start').sensitive(), 'the data are not known'
    window.page('Data')
    window.press('Cancel')
    window.ready()
    window.text('Built in, drawn shapes')  # the previous data set
    os.remove(gate)
    window.open(folder)
    window.text('Image folder')
    window.ready()


def test_names_are_no_markup(home):
    """The names of a data set, of classes and of a run are shown literally and without a GTK
    warning (which would end the test)."""
    window = home.window()
    name = '<script>"><img onerror=x>&amp; %s <b>'
    classes = '<b>bold', 'R&D', '</span>%n', '_Mnemonic'
    for label in classes:
        folder = home.file(name + '/' + label.replace('/', '\u2215'))
        os.makedirs(folder)
        for i in range(10):
            write_png(os.path.join(folder, f'{i}.png'), 16)
    window.open_settings({'Batch size': 8}, data=home.file(name), model='mlp', amp='false', batch_size=8, image_size=16, epochs=1)
    window.ready()
    window.find_where('what the next run trains', lambda n: name in n.name + n.description)
    window.page('Data')
    window.find_where('the data set', lambda n: name in n.name + n.description)
    for label in classes:
        window.find(Role.LIST_ITEM, label.replace('/', '\u2215') + ': 10', states=THERE)
    window.press('Start')
    window.finished()
    window.ready()
    window.page('Home')
    window.find_where('recent data', lambda n: name in n.name + n.description)
    window.page('Runs')
    table = window.find_where('the list', lambda n: n.name == 'Runs', Role.TABLE, Role.TREE_TABLE)
    window.wait_for('the run', lambda: any(name in n.name for n in table.inside()))


TESTS = [test_opening_what_is_not_there_is_an_error, test_limit_is_the_smaller_of_budget_and_device,
         test_opens_a_folder_of_arrays_and_shows_their_axes, test_data_shows_split_classes_and_pictures,
         test_data_shows_samples_as_the_network_sees_them, test_a_picture_that_is_missing_moves_no_other,
         test_another_data_set_leaves_nothing_of_the_one_before, test_one_class_is_taken_on_request,
         test_groups_stay_together, test_the_window_lives_while_a_scan_waits, test_names_are_no_markup]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
