# SPDX-License-Identifier: MIT
"""When a device fails, dynoctl prints one line with the reason, and exits with the code of the
failure.

usage: exit_codes.py DYNOCTL, under the layer of tests/layer."""
import os
import subprocess
import sys
import tempfile

TRAIN = ['train', '--data', 'builtin:shapes?size=16&samples=100&classes=3', '--model', 'mlp', '--set', 'model.width=0.0625',
         '--set', 'batch_size=16', '--set', 'amp=false', '--epochs', '6', '--seed', '1']
PLAN = ['plan'] + TRAIN[1:-4]
CASES = [
    ('', TRAIN, 0, 'done'),
    ('lost=30', TRAIN, 0, 'set up anew'),
    ('hang=30', TRAIN, 0, 'set up anew'),
    ('lost=30,devices=2', TRAIN, 5, 'VK_ERROR_DEVICE_LOST'),
    ('hang=30,devices=2', TRAIN, 5, 'finished nothing, and its driver ended waits'),
    ('memory=3', TRAIN, 0, 'each batch of 16 went through in 2 micro-batches'),
    ('memory=3', TRAIN + ['--set', 'memory.shrink=false'], 6, 'VK_ERROR_OUT_OF_DEVICE_MEMORY'),
    ('host=3', TRAIN, 6, 'VK_ERROR_OUT_OF_HOST_MEMORY'),
    ('buffer=65536', TRAIN, 6, 'a single buffer of'),
    ('buffer=65536', PLAN, 6, 'a single buffer of'),
    ('pipelines=1', TRAIN, 1, 'update the driver'),
    ('no-address', TRAIN, 4, 'bufferDeviceAddress'),
]


def main():
    dynoctl = os.path.abspath(sys.argv[1])
    failed = 0
    print(f'1..{len(CASES)}')
    with tempfile.TemporaryDirectory(prefix='dyno-faults-') as folder:
        for number, (faults, arguments, code, words) in enumerate(CASES, 1):
            run = subprocess.run([dynoctl] + arguments, cwd=folder, env=dict(os.environ, DYNO_FAULTS=faults),
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
            good = run.returncode == code and words in run.stdout
            failed += not good
            print(f'{"ok" if good else "not ok"} {number} {arguments[0]} {faults or "unharmed"}')
            if not good:
                print(f'# exit code {run.returncode}, wanted {code} and “{words}”')
                for line in run.stdout.splitlines():
                    print('#', line)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
