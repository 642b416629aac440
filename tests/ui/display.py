#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The window without its usual environment: no display, no session bus, a home that cannot be
written to, an X server that dies during a run.

Usage: display.py DYNO DYNOCTL [TEST...]    Starts X servers (Xvfb) of its own.  Exit status 77: a
tool that it needs is not installed."""
import glob, os, shutil, signal, subprocess, sys, tempfile, time, unittest

DYNO, DYNOCTL = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


class Display(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dyno-display-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.state = os.path.join(self.folder, 'state')
        # There is no bus, portal, notification service or accessibility, and nothing of the user's
        # session.
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(('XDG_', 'DBUS_', 'AT_SPI')) and key not in ('DISPLAY', 'WAYLAND_DISPLAY')}
        self.environment.update(HOME=self.folder, LC_ALL='C.UTF-8', LANGUAGE='', NO_AT_BRIDGE='1', GTK_USE_PORTAL='0',
                                DBUS_SESSION_BUS_ADDRESS='unix:path=/proc/nowhere', GDK_BACKEND='x11')

    def start_server(self):
        read_end, write_end = os.pipe()
        server = subprocess.Popen(['Xvfb', '-displayfd', str(write_end), '-screen', '0', '1280x900x24', '-nolisten', 'tcp', '-noreset'],
                                  pass_fds=[write_end], stderr=subprocess.DEVNULL)
        os.close(write_end)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        with os.fdopen(read_end) as answer:
            self.environment['DISPLAY'] = ':' + answer.readline().strip()
        return server

    def start(self, *arguments):
        self.errors = open(os.path.join(self.folder, 'errors'), 'w+')
        self.addCleanup(self.errors.close)
        process = subprocess.Popen([DYNO, *arguments], env=self.environment, stderr=self.errors, stdout=self.errors)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def words(self):
        self.errors.seek(0)
        return self.errors.read()

    def wait_for(self, process, what, check, seconds=240):
        deadline = time.monotonic() + seconds
        while not check():
            self.assertIsNone(process.poll(), f'dyno ended before {what}: {self.words()}')
            self.assertLess(time.monotonic(), deadline, f'no {what}: {self.words()}')
            time.sleep(0.05)

    def xdotool(self, *arguments):
        return subprocess.run(['xdotool', *arguments], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def wait_for_window(self, process):
        self.wait_for(process, 'window', lambda: self.xdotool('search', '--onlyvisible', '--name', 'Dyno').stdout)

    def start_bus(self):
        bus = subprocess.Popen(['dbus-daemon', '--session', '--nofork', '--print-address=1'], env=self.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(bus.stdout.close)
        self.addCleanup(bus.wait)
        self.addCleanup(bus.kill)
        self.environment['DBUS_SESSION_BUS_ADDRESS'] = bus.stdout.readline().strip()

    def can_start(self):
        """Whether the action is enabled."""
        described = subprocess.run(['gdbus', 'call', '--session', '--dest', 'io.github.gpudyno.Dyno', '--object-path',
                                    '/io/github/gpudyno/Dyno/window/1', '--method', 'org.gtk.Actions.Describe', 'start'],
                                   env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return described.stdout.startswith(b'((true,')

    def activate(self, action):
        """Activates an action, whichever widget has the keyboard."""
        subprocess.run(['gdbus', 'call', '--session', '--dest', 'io.github.gpudyno.Dyno', '--object-path', '/io/github/gpudyno/Dyno/window/1',
                        '--method', 'org.gtk.Actions.Activate', action, '[]', '{}'], env=self.environment, stdout=subprocess.DEVNULL, check=True)

    def test_no_display_is_one_line(self):
        for display in (None, ':4095'):
            if display:
                self.environment['DISPLAY'] = display
            process = self.start()
            self.assertEqual(process.wait(timeout=600), 1)
            words = self.words()
            self.assertEqual(len(words.strip().splitlines()), 1, words)
            self.assertIn('no display', words)
        help_text = subprocess.run([DYNO, '--help'], env=self.environment, stdout=subprocess.PIPE, check=True).stdout
        self.assertIn(b'--state-dir', help_text)

    def test_settings_that_cannot_be_saved_are_said_once(self):
        self.environment['HOME'] = '/proc/nowhere'
        self.start_server()
        for arguments, times in ((), 1), (('--state-dir', self.state), 0):
            process = self.start(*arguments)
            self.wait_for_window(process)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=600), 0, self.words())
            self.assertEqual(self.words().count('Settings are not saved'), times, self.words())
        self.assertTrue(os.path.exists(os.path.join(self.state, 'window.ini')))

    def test_the_server_dies_in_mid_run(self):
        server = self.start_server()
        self.start_bus()
        if 'XDG_CACHE_HOME' in os.environ:  # reuses kernels that are compiled already
            os.makedirs(os.path.join(os.environ['XDG_CACHE_HOME'], 'dyno'), exist_ok=True)
            os.makedirs(self.state)
            os.symlink(os.path.join(os.environ['XDG_CACHE_HOME'], 'dyno'), os.path.join(self.state, 'cache'))
        process = self.start('--state-dir', self.state, 'builtin:shapes?size=16&samples=64&classes=3')
        self.wait_for_window(process)
        checkpoints = os.path.join(self.state, 'runs', '*', 'checkpoint.safetensors')
        self.wait_for(process, 'action that starts a run', self.can_start)
        self.activate('start')
        self.wait_for(process, 'checkpoint', lambda: glob.glob(checkpoints))
        server.kill()
        # The process was ended by no signal, so no core was dumped.
        self.assertEqual(process.wait(timeout=600), 1, self.words())
        # The lines of the log are left out.
        words = [line for line in self.words().splitlines() if not line.startswith('dyno-')]
        self.assertEqual(len(words), 1, self.words())
        self.assertIn('the X server has closed the connection', words[0])
        folder = os.path.dirname(glob.glob(checkpoints)[0])
        done = subprocess.run([DYNOCTL, 'train', '--resume', folder, '--out', os.path.join(self.folder, 'on'), '--epochs', '1'],
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1200)
        self.assertEqual(done.returncode, 0, done.stdout.decode())


if __name__ == '__main__':
    for tool in ('Xvfb', 'xdotool', 'dbus-daemon', 'gdbus'):
        if not shutil.which(tool):
            print(f'{tool} is not installed')
            sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
