#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""onscreen.py PROGRAM [ARGUMENT...]: runs a test program on an X server (Xvfb) of its own, with a
home of its own and no session bus.  Exit status 77: Xvfb is not installed."""
import os
import shutil
import subprocess
import sys
import tempfile

if not shutil.which('Xvfb'):
    print('Xvfb is not installed')
    sys.exit(77)
place = tempfile.mkdtemp(prefix='dyno-parts-')
read_end, write_end = os.pipe()
server = subprocess.Popen(['Xvfb', '-displayfd', str(write_end), '-screen', '0', '1280x900x24', '-nolisten', 'tcp', '-noreset'],
                          pass_fds=[write_end], stderr=subprocess.DEVNULL)
os.close(write_end)
try:
    with os.fdopen(read_end) as answer:
        display = answer.readline().strip()
    if not display:
        print('Xvfb did not start')
        sys.exit(1)
    environment = dict(os.environ, DISPLAY=':' + display, GDK_BACKEND='x11', HOME=place, XDG_DATA_HOME=place, XDG_CONFIG_HOME=place,
                       LC_ALL='C.UTF-8', LANGUAGE='', NO_AT_BRIDGE='1', GTK_MODULES='', GTK_THEME='Adwaita', GTK_USE_PORTAL='0',
                       GSETTINGS_BACKEND='memory', DBUS_SESSION_BUS_ADDRESS='unix:path=/proc/nowhere')
    environment.pop('WAYLAND_DISPLAY', None)
    code = subprocess.run(sys.argv[1:], env=environment).returncode
finally:
    server.terminate()
    server.wait()
    shutil.rmtree(place, ignore_errors=True)
sys.exit(code)
