#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Closing the window: by request, by a signal, during a run; and what is kept then.  Usage: see
harness.py."""
import contextlib
import os
import sqlite3
import sys

import harness
from harness import Role, assert_whole


def test_what_is_being_written_is_written_before_the_end(home):
    """A write that was begun is completed even after the window has closed: here a job, while the
    history cannot be written to."""
    if not os.environ.get('DYNO_UI_HOLD'):
        raise harness.Skip('a sanitizer wants to be loaded before all else')
    gate = home.file('gate')
    window = home.window(LD_PRELOAD=os.environ['DYNO_UI_HOLD'], DYNO_TEST_HOLD=gate)
    window.open_settings({'Epochs': 9}, epochs=9)
    window.ready()
    window.page('Runs')  # opens the history
    window.find_where('an empty history', lambda n: n.name == 'No Runs Yet')
    with open(gate, 'w'):
        window.press('Add to queue')
    window.close()
    window.wait_until('the window to go', lambda: window.process.poll() is not None or not window.application.children())
    os.remove(gate)
    window.end()
    with contextlib.closing(sqlite3.connect(home.file('data/dyno/history.sqlite'))) as history:
        assert history.execute('SELECT COUNT(*) FROM jobs').fetchone() == (1,), 'the window went with its work'


def test_closes_in_mid_run(home):
    window = home.window()
    window.start_long_run()
    window.close()
    window.text('Stop the run and close?')
    window.press('Cancel')
    window.wait_without_text('Stop the run and close?')
    window.text('Training, step')
    window.close()
    window.press('Stop and Keep')
    window.end()
    assert 'checkpoint' in ' '.join(assert_whole(home.newest_run()))


def test_nobody_asks_about_a_run_that_is_over(home):
    """The run has ended but is not in the history yet, because the history cannot be written to."""
    if not os.environ.get('DYNO_UI_HOLD'):
        raise harness.Skip('a sanitizer wants to be loaded before all else')
    gate = home.file('gate')
    window = home.window(LD_PRELOAD=os.environ['DYNO_UI_HOLD'], DYNO_TEST_HOLD=gate)
    window.start_long_run()
    window.set_number('Batch size', 24)  # applies to the next run
    window.press('Stop')
    with open(gate, 'w'):
        window.press('Save')
    window.text('Stopped after ')
    assert not window.has('Start', Role.PUSH_BUTTON), 'the run has let go already'
    window.close()
    window.wait_for('the form to be kept, as at the end', lambda: 'batch_size=24' in home.kept_settings())
    assert not window.has_text('Stop the run and close?'), 'it asks whether to stop what is over'
    os.remove(gate)
    window.end()
    assert 'checkpoint' in ' '.join(assert_whole(home.newest_run()))


def test_ends_on_sigterm_with_everything_kept(home):
    """A logout, or kill: no question is asked, but the run is saved."""
    window = home.window()
    window.start_long_run()
    window.process.terminate()
    window.end()
    assert 'checkpoint' in ' '.join(assert_whole(home.newest_run()))


def test_an_interrupted_run_is_offered_again(home):
    """After kill -9, as after a power failure, the run is offered with its progress, and goes on in
    its own folder."""
    window = home.window()
    window.start_long_run()
    window.wait_for('a checkpoint', lambda: os.path.exists(os.path.join(home.newest_run(), 'checkpoint.safetensors')))
    window.kill()
    window = home.window()
    window.text('Interrupted: epoch ')
    window.text_with('It continues from its last checkpoint')
    window.press('Resume Run')
    window.text('Training, step')
    window.page('Home')
    window.find_where('the run among the recent ones', lambda n: n.name == 'MLP on Shapes' and n.description.startswith('Running'), Role.LIST_ITEM)
    assert not window.has_text('Interrupted: '), window.shown()
    window.page('Train')
    window.stop()
    assert len(os.listdir(home.runs)) == 1, 'it went on elsewhere'
    assert_whole(home.newest_run())


def test_a_sigterm_keeps_the_form(home):
    """The next window has the settings that were in the form, as after a normal close."""
    window = home.window()
    window.set_number('Epochs', 9)
    window.process.terminate()
    window.end()
    again = home.window()
    again.wait_for_numbers({'Epochs': 9})


def test_quits_in_mid_run(home):
    window = home.window()
    window.start_long_run()
    window.key('ctrl+q')
    window.press('Stop and Keep')
    window.end()
    assert 'checkpoint' in ' '.join(assert_whole(home.newest_run()))


TESTS = [test_what_is_being_written_is_written_before_the_end, test_closes_in_mid_run, test_nobody_asks_about_a_run_that_is_over, test_ends_on_sigterm_with_everything_kept,
         test_an_interrupted_run_is_offered_again, test_a_sigterm_keeps_the_form, test_quits_in_mid_run]

if __name__ == '__main__':
    sys.exit(harness.main(TESTS))
