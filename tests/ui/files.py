#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Settings in files: exported, previewed, and read back.  Usage: see harness.py."""
import json
import os
import re
import sys

import harness
from harness import GLib, Role, make_locale


def export(window, path, title='Dyno settings'):
    """Exports the settings in the format of that title, which is the one shown first."""
    window.press('Export settings')
    window.press_row(title)
    window.press('Save…')
    window.save_as('Export Settings', path, 'Export')


def test_exports_settings_that_read_back(home):
    window = home.window()
    window.set_number('Epochs', 7)
    window.set_number('Batch size', 24)
    first, second = home.file('first.ini'), home.file('second.ini')
    export(window, first)
    keys = GLib.KeyFile()
    keys.load_from_file(first, GLib.KeyFileFlags.NONE)
    assert keys.get_string('settings', 'batch_size') == '24'
    assert keys.get_string('settings', 'epochs') == '7'
    assert keys.get_string('run', 'model') == 'simplecnn'
    window.set_number('Epochs', 9)
    window.set_number('Batch size', 8)
    home.run(home.program, first)  # opens the file in the running window
    window.wait_for_numbers({'Epochs': 7, 'Batch size': 24})
    window.ready()
    export(window, second)
    with open(first, 'rb') as a, open(second, 'rb') as b:
        assert a.read() == b.read(), 'the settings file does not read back exactly'


def test_exports_for_other_programs(home):
    """The preview equals the exported file, and settings that the format cannot hold are
    counted."""
    window = home.window()
    path = home.file('for-lightning.yaml')
    window.set_number('Batch size', 48)
    window.press('Export settings')
    window.press_row('Lightning CLI')
    preview = window.find(Role.TEXT, 'What will be written')
    window.wait_for('the preview', lambda: 'trainer:' in preview.text)
    shown = preview.text
    window.text_with('have no counterpart in this format')
    window.press('Save…')
    window.save_as('Export Settings', path, 'Export')
    window.exported('for-lightning.yaml')
    with open(path) as file:
        assert file.read() == shown
    assert 'batch_size: 48' in shown, shown
    window.ready()


def test_a_json_name_means_json(home):
    window = home.window()
    path = home.file('settings.json')
    window.set_number('Epochs', 17)
    export(window, path)  # the chosen format is INI
    with open(path) as file:
        kept = json.load(file)
    assert kept['settings']['epochs'] == 17, kept
    window.set_number('Epochs', 3)
    window.open(path)
    window.wait_for_numbers({'Epochs': 17})
    window.ready()


def test_a_rate_is_exported_with_the_settings_that_it_was_measured_with(home):
    window = home.window()

    def exported(name):
        export(window, home.file(name))
        with open(home.file(name)) as file:
            return json.load(file)
    window.small_shapes(epochs=8)
    window.wait_for_numbers({'Epochs': 8})
    window.press('Start')
    window.finished()
    window.ready()
    assert exported('measured.json')['samples_per_s'] > 0
    window.set_number('Epochs', 9)
    kept = exported('changed.json')
    assert kept['settings']['epochs'] == 9 and kept['samples_per_s'] is None and kept['vram_bytes'] is None, kept


def test_a_dyno_file_is_exported_and_opened(home):
    window = home.window()
    path = home.file('my run.dyno')
    window.set_number('Epochs', 21)
    export(window, path)
    window.exported('my run.dyno')
    window.set_number('Epochs', 4)
    window.open(path)
    window.wait_for_numbers({'Epochs': 21})
    window.ready()


def test_a_comma_locale_changes_no_file(home):
    """The window gives the same run, settings and weights in a locale with a decimal comma."""
    runs = []
    for environment in {}, dict(make_locale(home), LANGUAGE='en'):
        window = home.window(**environment)
        window.small_shapes(epochs=1, lr=0.0125, deterministic='true')
        window.set_number('Learning rate', 0.0375)
        window.ready()
        window.press('Start')
        window.finished()
        window.ready()
        runs.append(home.newest_run())
        comma = any(re.search(r'\d,\d+\u00a0[KMGT]iB', text) for text in window.shown())
        assert comma == bool(environment), 'the locale is not that of the window'
        window.process.terminate()
        window.end()
    for name in 'settings.ini', 'weights.safetensors', 'weights-last.safetensors':
        texts = []
        for run in runs:
            with open(os.path.join(run, name), 'rb') as file:
                texts.append(file.read())
        assert texts[0] == texts[1], name
    with open(os.path.join(runs[1], 'metrics.csv')) as file:
        assert len({line.count(',') for line in file}) == 1


TESTS = [test_exports_settings_that_read_back, test_exports_for_other_programs, test_a_json_name_means_json,
         test_a_rate_is_exported_with_the_settings_that_it_was_measured_with,
         test_a_dyno_file_is_exported_and_opened, test_a_comma_locale_changes_no_file]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
