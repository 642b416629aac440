#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The form of settings: folding, searching, marking, undo, and settings without effect.  Usage: see
harness.py."""
import re
import sys

import harness
from harness import Role, State, THERE


def spin_buttons(window, states=harness.SHOWING):
    return {n.name for n in window.nodes(Role.SPIN_BUTTON, states=states)}


def test_collapsed_settings_are_not_reached(home):
    """Tab skips folded settings until Enter on the title unfolds them, which begins with a frame of
    the animation."""
    home.animate()
    window = home.window()
    window.page('Train')
    hidden = {'Momentum', 'Weight decay', 'Seed', 'Deterministic'}
    assert window.find(Role.LIST_ITEM, 'Advanced', states=THERE).description == 'Folded'
    window.focus(Role.LIST_ITEM, 'Advanced')  # scrolls it into view
    for key in 'Tab', 'shift+Tab':
        reached = window.move_focus(key)
        assert reached.name not in hidden, f'{key} went to "{reached.name}", which nobody sees'
    window.focus(Role.LIST_ITEM, 'Advanced')
    window.key('Return', 'Tab')  # Tab comes before a frame was drawn after Return
    # GTK reports the children of a list in a scrolled panel as showing by their position in the
    # list.
    window.wait_for('the focus on the first of its controls, at once', lambda: window.nodes(Role.SPIN_BUTTON, states=(State.FOCUSED,)))


def test_settings_are_found(window):
    """Settings are found by their effect; Enter goes to the setting, Escape shows all settings
    again and restores the folding."""
    window.key('ctrl+f')
    window.type('Seed of all random', 'Find a setting')
    window.wait_for('only Seed', lambda: 'Seed' in spin_buttons(window) and not {'Momentum', 'Epochs'} & spin_buttons(window))
    window.key('Return')
    window.wait_for_focus('Seed')
    window.key('ctrl+f')
    window.wait_for_focus('Find a setting')
    window.key('Escape')
    window.wait_for('all of them, folded', lambda: 'Seed' not in spin_buttons(window) and 'Epochs' in spin_buttons(window, THERE))


def test_weights_normalisation_is_offered_where_it_is_set(window):
    """Few runs start from weights, so the choice is offered only while the settings have it."""
    def combo():
        return window.find(Role.COMBO_BOX, 'Normalise', states=THERE)

    def offered():
        return {n.name for n in combo().inside()}
    window.page('Train')
    assert 'By the data set' in offered() and 'By the weights' not in offered()
    window.open_settings(data__normalise='weights')
    window.wait_for('the choice that was opened', lambda: 'By the weights' in offered())
    window.choose('Normalise', 'By the data set')
    window.wait_for('the choice without it', lambda: 'By the weights' not in offered() and selected(combo()) == 'By the data set')


def selected(combo):
    return harness.Node(combo.buses, *combo.call('Selection', 'GetSelectedChild', '(i)', 0)[0]).now().name


def test_changed_settings_are_marked_and_taken_back(window):
    def offered(name):
        return [n for n in window.nodes(Role.PUSH_BUTTON, states=THERE) if n.name.startswith(f'{name}: back to')]

    def custom():
        return 'Custom' in [n.name for n in window.find(Role.COMBO_BOX, 'Level', states=THERE).inside()]
    window.ready()
    before, lr = window.number('Batch size'), window.number('Learning rate')
    window.set_number('Batch size', 24)
    button = window.wait_for('a way back', lambda: next(iter(offered('Batch size')), None))
    advised = int(button.name.split()[-1])
    window.wait_for('a level that is custom', custom)
    seed = window.number('Seed')
    window.set_number('Seed', seed + 3)
    assert window.find(Role.LIST_ITEM, 'Level', states=THERE).description == 'Batch size', 'a setting that no preset sets makes it custom'
    window.key('ctrl+z')
    window.wait_for_numbers({'Seed': seed})
    window.set_number('Learning rate', 0.25)
    window.key('ctrl+z')
    window.wait_for_numbers({'Learning rate': lr, 'Batch size': 24})
    window.key('ctrl+z')
    window.wait_for_numbers({'Batch size': before})
    window.key('ctrl+shift+z')
    window.wait_for_numbers({'Batch size': 24})
    offered('Batch size')[0].act()
    window.wait_for_numbers({'Batch size': advised})
    window.wait_for('the mark to go', lambda: not offered('Batch size') and not custom())
    window.key('ctrl+z')
    window.wait_for_numbers({'Batch size': 24})
    window.choose('Model', 'MLP')
    window.wait_for('the other model', lambda: selected(window.find(Role.COMBO_BOX, 'Model', states=THERE)) == 'MLP')
    assert window.number('Batch size') == 24, 'a model follows the preset, though undoing brought back a setting by hand'


def test_a_preset_follows_the_job_and_leaves_off_what_the_device_does_badly(window):
    """The row of the preset is that of data set and model; AMP, which is slow on a CPU, is off with
    a reason, and one press switches it on."""
    def amp():
        return window.find(Role.TOGGLE_BUTTON, 'Mixed precision (AMP)', states=THERE)
    window.open_settings(data='builtin:poses?size=224&samples=100', model='resnet18')
    window.page('Data')
    window.text('90 train, 10 validate')
    window.page('Train')
    presets = [n.name for n in window.find(Role.COMBO_BOX, 'Preset', states=THERE).inside(Role.MENU_ITEM)]
    window.choose('Preset', next(name for name in presets if name.startswith('RTX 3090')))
    window.wait_for_numbers({'Batch size': 28})
    window.choose('Model', 'Head pose, ResNet-18')
    window.wait_for_numbers({'Batch size': 64})
    window.text_with('row for headpose')  # the text about the preset's row
    window.text_with('23.5\u00a0GiB')
    if not any('software' in t for t in window.shown()):
        raise harness.Skip('the device is no CPU')
    window.text_with('AMP is left off')
    assert amp().sensitive() and not amp().has(State.CHECKED)
    amp().act()
    window.wait_for('AMP', lambda: amp().has(State.CHECKED))
    window.wait_without_text('AMP is left off')
    window.choose('Level', 'Recommended')
    window.wait_for('no AMP', lambda: not amp().has(State.CHECKED))


def test_settings_without_effect_cannot_be_changed(window):
    def can_be_changed(name, role=Role.SPIN_BUTTON):
        return window.find(role, name, states=THERE).sensitive()
    window.ready()
    window.page('Train')
    for title in 'Model', 'Device and Preset', 'Training', 'Data Pipeline', 'Augmentation', 'Memory', 'Advanced':
        window.find(Role.LIST_ITEM, title, states=THERE)
    window.open_settings(optimizer='sgd', deterministic='false')
    window.wait_for('Momentum', lambda: can_be_changed('Momentum'))
    assert can_be_changed('Kernel autotuning', Role.TOGGLE_BUTTON)
    window.open_settings(optimizer='adamw', deterministic='true')
    window.wait_for('no Momentum', lambda: not can_be_changed('Momentum'))
    assert not can_be_changed('Kernel autotuning', Role.TOGGLE_BUTTON)
    assert can_be_changed('Learning rate')
    window.open_settings(optimizer='rmsprop', deterministic='true')
    window.wait_for('Momentum of RMSprop', lambda: can_be_changed('Momentum'))
    window.open_settings(model='mobilenetv2', optimizer='sgd', deterministic='false')
    window.wait_for('Dropout', lambda: can_be_changed('Dropout'))
    assert can_be_changed('Label smoothing') and not can_be_changed('Smooth L1 loss', Role.TOGGLE_BUTTON), 'shapes have classes'
    window.open_settings(model='simplecnn', optimizer='sgd', deterministic='false')
    window.wait_for('no Dropout', lambda: not can_be_changed('Dropout'))
    window.wait_for('Momentum', lambda: can_be_changed('Momentum'))
    window.ready()


def test_layers_of_the_model(window):
    """A table of the model that the form would train: its layers, with the size of the samples and
    the width."""
    window.open_settings(data='builtin:shapes?size=40&samples=100', model='simplecnn', model__width=0.25, batch_size=16)
    window.page('Train')
    window.text_with('parameters, 9.98')
    window.press('Show the layers')
    dialog = window.find(Role.DIALOG, 'Layers')
    window.text('A batch of 16: 25,298 parameters')
    cells = [n.name for n in dialog.inside(Role.TABLE_CELL)]
    assert 'global_avg_pool' in cells and '40\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}40\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}8' in cells and '18,432' in cells, cells
    window.key('Escape')
    window.wait_for('the dialog to be gone', lambda: not window.has('Layers', Role.DIALOG))
    window.ready()


def open_learnable(window):
    window.open_settings({'Batch size': 32}, data='builtin:waves?length=16&samples=200&classes=2', model='mlp', model__width=0.25,
                         amp='false', batch_size=32, epochs=1)
    window.page('Train')
    window.ready()


def test_a_learning_rate_is_found(window):
    """A test in a dialog suggests a rate, which can be applied; a dialog that is closed before the
    test ends changes nothing."""
    def begin():  # The position to which the form is scrolled does not matter.
        window.wait_for('a button that can be pressed',
                        lambda: window.look(Role.PUSH_BUTTON, 'Find a learning rate', (*THERE, State.SENSITIVE))).act()
    open_learnable(window)
    # Compiles the kernels beforehand: the learning rate test has a time limit.
    window.press('Start')
    window.finished()
    window.ready()
    before = window.number('Learning rate')
    begin()
    dialog = window.find(Role.DIALOG, 'Find a Learning Rate')
    window.key('Escape')
    window.wait_for('the dialog to be gone', lambda: not window.has('Find a Learning Rate', Role.DIALOG))
    assert window.number('Learning rate') == before
    begin()
    dialog = window.find(Role.DIALOG, 'Find a Learning Rate')
    suggested = float(re.match(r'lr=([0-9.e-]+) is suggested', window.text('lr=')).group(1))
    assert 'Loss over the learning rate' in {n.name for n in dialog.inside()}
    window.press('Use')
    window.wait_for('the dialog to be gone', lambda: not window.has('Find a Learning Rate', Role.DIALOG))
    window.wait_for('the rate in the form', lambda: abs(window.number('Learning rate') / suggested - 1) < 1e-6)
    assert suggested != before
    window.ready()


def test_what_is_unfolded_is_kept(home):
    """The unfolded groups are kept from one session to the next; groups that a search unfolds are
    not."""
    window = home.window()
    window.page('Train')
    window.focus(Role.LIST_ITEM, 'Advanced')
    window.key('Return')
    window.wait_for('it to be kept', lambda: re.search(r"unfolded=.*'advanced'", home.kept_settings()))
    window.key('ctrl+f')
    window.type('Prefetch', 'Find a setting')
    window.find(Role.SPIN_BUTTON, 'Prefetch')
    assert "'pipeline'" not in home.kept_settings()
    window.close()
    window.end()
    again = home.window()
    again.page('Train')
    again.find(Role.SPIN_BUTTON, 'Momentum', states=THERE)
    assert again.find(Role.LIST_ITEM, 'Advanced', states=THERE).description == 'Unfolded'
    assert again.find(Role.LIST_ITEM, 'Data Pipeline', states=THERE).description == 'Folded'
    again.focus(Role.LIST_ITEM, 'Advanced')
    again.key('Return')
    again.wait_for('it to be kept', lambda: "'advanced'" not in home.kept_settings())


TESTS = [test_collapsed_settings_are_not_reached, test_settings_are_found, test_weights_normalisation_is_offered_where_it_is_set,
         test_changed_settings_are_marked_and_taken_back,
         test_a_preset_follows_the_job_and_leaves_off_what_the_device_does_badly, test_settings_without_effect_cannot_be_changed, test_layers_of_the_model,
         test_a_learning_rate_is_found,
         test_what_is_unfolded_is_kept]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
