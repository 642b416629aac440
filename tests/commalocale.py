# SPDX-License-Identifier: MIT
"""A locale with a decimal comma, made in a folder of its own, so that it need not be installed."""
import os, subprocess, unittest

NAME = 'de_DE.UTF-8'


def make(folder):
    """Makes the locale; returns the environment variables that put a program in it."""
    os.makedirs(folder, exist_ok=True)
    try:
        done = subprocess.run(['localedef', '--no-archive', '-i', 'de_DE', '-f', 'UTF-8', os.path.join(folder, NAME)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except FileNotFoundError:
        raise unittest.SkipTest('localedef is not installed')
    if not os.path.exists(os.path.join(folder, NAME, 'LC_NUMERIC')):
        raise unittest.SkipTest('localedef makes no de_DE (Debian: package locales): ' + done.stdout.decode())
    return {'LOCPATH': folder, 'LC_ALL': NAME}
