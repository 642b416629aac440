# SPDX-License-Identifier: MIT
"""Helpers of the tests of several processes: they start them by mpirun in a folder of their own,
find them, and read their output.  Exits with 77 where Open MPI's mpirun is not installed."""
import json, os, shlex, shutil, subprocess, sys, tempfile, threading

dynoctl = os.path.abspath(sys.argv[1])
problems = []
folder = tempfile.mkdtemp(prefix='dynoctl-ranks-')
environment = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_plm='isolated', OMPI_MCA_btl='self,vader',
                   OMPI_MCA_btl_vader_single_copy_mechanism='none', OMPI_MCA_hwloc_base_binding_policy='none',
                   OMPI_MCA_odls_base_sigkill_timeout='1', OMPI_MCA_orte_execute_quiet='1',
                   OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                   PRTE_MCA_rmaps_default_mapping_policy=':oversubscribe', PRTE_MCA_hwloc_default_binding_policy='none',
                   PRTE_MCA_odls_base_sigkill_timeout='1', PRTE_ALLOW_RUN_AS_ROOT='1', PRTE_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                   HWLOC_COMPONENTS='-gl',  # see tests/comm/mpi-env
                   DYNO_VALIDATION='0', XDG_DATA_HOME=os.path.join(folder, 'data'))  # a history of its own
# mpirun kills ranks a second after SIGTERM, which on a busy machine is too soon for saving and
# reporting the reason.
PRELOAD = os.environ.get('DYNO_TEST_PRELOAD')
if PRELOAD:
    environment.update(LD_PRELOAD=PRELOAD, DYNO_TEST_PATIENCE='200')
environment.pop('DYNO_MODULE_DIR', None)
# Open MPI and its libraries leak memory, in libraries that are unloaded before the report.
environment['ASAN_OPTIONS'] = environment.get('ASAN_OPTIONS', '') + ':detect_leaks=0'
DATA = ['--data', 'builtin:shapes?size=8&samples=128&classes=3']
TRAIN = ['train', *DATA, '--model', 'mlp', '--seed', '1', '--set', 'amp=false', '--set', 'workers=1', '--set', 'model.width=0.1',
         '--set', 'autotune=false']


def check(what, fine, said=''):
    if not fine:
        problems.append(what)
        print(f'FAILED: {what}\n{str(said)[-3000:]}', file=sys.stderr)


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, cwd=folder, env={**environment, **more})
    return done.returncode, done.stdout, done.stderr


def ranks(n, *arguments):
    return ['mpirun', '-n', str(n), dynoctl, *arguments]


def two(first, second):
    """Returns a command that runs the first command as rank 0 and the second as rank 1."""
    with open(f'{folder}/two.sh', 'w') as script:
        script.write(f'[ "$OMPI_COMM_WORLD_RANK" = 0 ] && exec {shlex.join(first)}\nexec {shlex.join(second)}\n')
    return ['mpirun', '-n', '2', 'sh', f'{folder}/two.sh']


def events(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith('{')]


def losses(text):
    return [event['loss'] for event in events(text) if event['event'] == 'step']


def children(pid):
    """The processes of the ranks below mpirun, by rank."""
    found = {}
    for name in os.listdir('/proc'):
        try:
            if not name.isdigit() or int(open(f'/proc/{name}/stat').read().rsplit(')', 1)[1].split()[1]) != pid:
                continue
            for part in open(f'/proc/{name}/environ').read().split('\0'):
                if part.startswith('OMPI_COMM_WORLD_RANK='):
                    found[int(part.split('=')[1])] = int(name)
        except OSError:
            pass
    return found


def start(out, *more, until='{"event": "checkpoint"', n=2, **variables):
    """Starts a long run, and returns once a line of its output begins with `until`: by default in
    its second epoch."""
    process = subprocess.Popen(ranks(n, *TRAIN, '--set', 'batch_size=4', '--epochs', '100000', '--json', '--out', out, *more),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env={**environment, **variables})
    timer = threading.Timer(1200, process.kill)  # killing mpirun also ends its output
    timer.start()
    came = any(line.startswith(until) for line in process.stdout)
    timer.cancel()
    if not came:
        sys.exit(f'FAILED: {out}: {until} did not come\n{end(process)[2]}')
    return process


def end(process):
    """Returns whether the process ends on its own, and its output."""
    try:
        return True, *process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        process.kill()
        return False, *process.communicate()


def finish():
    """Exits with a failure if any check has failed."""
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if problems else 0)


if not shutil.which('mpirun') or 'Open MPI' not in subprocess.run(['mpirun', '--version'], capture_output=True, text=True).stdout:
    print('no mpirun of Open MPI here', file=sys.stderr)
    sys.exit(77)
