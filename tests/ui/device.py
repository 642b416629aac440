#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of the devices.  Usage: see harness.py."""
import glob
import os
import re
import shutil
import sys

import harness
from harness import Role, THERE


def plain(text):
    """Replaces the characters that keep a number and its unit together."""
    return re.sub('[\u2068\u2069]', '', text.replace('\xa0', ' '))


def figures(window):
    """The text of each tile, by its title."""
    found = {}
    for child in window.nodes(Role.LIST_ITEM):
        labels = [plain(n.name) for n in child.inside(Role.LABEL)]
        if len(labels) == 3:
            found[labels[0]] = labels[1:]
    return found


def wait_for_figure(window, title, pattern):
    return window.wait_for(f'{title} as {pattern}', lambda: title in figures(window) and re.fullmatch(pattern, figures(window)[title][0])
                           and figures(window))


def plots(window, **states):
    return {n.name for n in window.nodes(Role.CHART, **states)}


def test_without_a_gpu_the_machine_is_watched(home):
    """The values of the computer are shown; the software device that computes has none of its
    own."""
    window = home.window()
    window.ready()
    window.page('Device')
    found = wait_for_figure(window, 'Processor', r'\d+ %')
    assert set(found) <= {'Processor', 'Machine memory', 'Reading'}, found
    assert re.fullmatch(r'of [\d.,]+ .iB', found['Machine memory'][1]), found
    window.text('It computes on the processor')
    window.wait_for('plots', lambda: {'Load', 'Machine memory', 'Load of each core'} <= plots(window))
    assert not {'Power', 'Temperature', 'Device memory', 'Clock'} & plots(window), plots(window)
    assert not window.has_text('Memory by Program')
    core = window.find(Role.CHART, 'Load of each core')
    window.wait_for('the busiest core', lambda: re.match(r'The busiest is core \d+, \d+ %', core.description))
    assert not window.nameless(), window.nameless()


def test_a_card_shows_what_its_driver_says(home):
    """The page shows load, memory of each program, power, temperature and clocks, also after a
    change of pages and during a run."""
    os.makedirs(home.file('lib'))
    os.symlink(os.environ['DYNO_UI_NVML'], home.file('lib/libnvidia-ml.so.1'))
    window = home.window(VK_ADD_LAYER_PATH=os.environ['DYNO_FAULTS_FOLDER'], VK_INSTANCE_LAYERS='VK_LAYER_DYNO_faults', DYNO_FAULTS='card',
                         LD_LIBRARY_PATH=home.file('lib') + ':' + os.environ.get('LD_LIBRARY_PATH', ''))
    window.ready()
    window.page('Device')
    expected = {'Load': ['87 %', ''], 'Device memory': ['17.7 GiB', 'of 73.6 GiB'], 'Power': ['350 W', 'of 700 W'],
                'Temperature': ['71 °C', ''], 'Clock': ['1,980 MHz', 'memory 2,619 MHz']}

    def are_shown():
        found = figures(window)
        return all(found.get(name) == words for name, words in expected.items())
    window.wait_for('what the driver says', are_shown)
    window.text('Memory by Program')
    # The process that both draws and computes counts once, and the process with the most memory
    # comes first.

    def programs():
        shown = [plain(t) for t in window.shown()]
        return shown[shown.index('Memory by Program') + 1:][:6]
    window.wait_for('programs', lambda: re.fullmatch(r'Process 4000000001\|4.66 GiB\|[^|]*1\)?\|1.95 KiB\|Process 4000000002\|–', '|'.join(programs())))
    window.wait_for('its plots', lambda: {'Load', 'Device memory', 'Power', 'Temperature', 'Clock'} <= plots(window, states=THERE))
    for name, value in ('Device memory', '17.7'), ('Power', '349'), ('Temperature', '71'):
        chart = window.find(Role.CHART, name, states=THERE)
        window.wait_for(f'{value} in the plot {name}', lambda: value in chart.description)
    window.page('Home')
    window.page('Device')
    window.wait_for('the same', are_shown)


def test_the_device_that_was_chosen_stays(home):
    """The chosen device stays, whichever device computes next.  There are two devices, since the
    driver has two manifests."""
    named = os.environ.get('VK_DRIVER_FILES') or os.environ.get('VK_ICD_FILENAMES')
    drivers = named.split(':') if named else glob.glob('/usr/share/vulkan/icd.d/lvp_icd*.json')
    if not drivers:
        raise harness.Skip('it is not known where the manifest of the software driver is')
    twice = ':'.join(shutil.copy(drivers[0], home.file(f'{i}.json')) for i in range(2))
    window = home.window(VK_DRIVER_FILES=twice, VK_ICD_FILENAMES=twice)

    def chosen(name):
        combo = window.find(Role.COMBO_BOX, name, states=THERE)
        return combo, harness.Node(combo.buses, *combo.call('Selection', 'GetSelectedChild', '(i)', 0)[0]).index()
    window.ready()
    window.page('Device')
    combo, first = chosen('Device that is shown')
    combo.select_child(1 - first)
    window.page('Train')
    for i in 1 - first, first:
        chosen('Device')[0].select_child(i)
        window.wait_for('the device to compute on', lambda i=i: chosen('Device')[1] == i)
    window.page('Device')
    assert chosen('Device that is shown')[1] == 1 - first, 'the page shows a device that nobody chose there'


TESTS = [test_without_a_gpu_the_machine_is_watched, test_a_card_shows_what_its_driver_says, test_the_device_that_was_chosen_stays]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
