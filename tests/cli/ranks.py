#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ranks.py DYNOCTL CUDA: several processes that train together, started by mpirun and by dynoctl
itself: output of one rank only, refusals, stopping, a rank that dies or hangs, and gradients that
are exchanged between devices through the CUDA stub in the folder CUDA."""
import json, os, re, signal, struct, subprocess, threading, time
from severalranks import *


def one_speaks():
    code, out, err = run(ranks(2, *TRAIN, '--set', 'batch_size=8', '--epochs', '2', '--json', '--out', 'two'))
    told = [event['event'] for event in events(out)]
    check('two ranks train', code == 0, out + err)
    check('one rank speaks', told.count('done') == 1 and told.count('plan') == 1 and told.count('epoch') == 2, out + err)
    ranks_told = [rank for event in events(out) if event['event'] == 'done' for rank in event.get('ranks', [])]
    check('each rank has its rate', [rank['rank'] for rank in ranks_told] == [0, 1] and
          all((rank['samples_per_s'] or 0) > 0 and (rank['wait_exchange_ms'] or 0) > 0 and rank['host'] and rank['device'] for rank in ranks_told), out)
    facts = dict(line.rstrip('\n').split('=', 1) for line in open(f'{folder}/two/facts.ini') if '=' in line)
    check('no rank waits less than the one that waits least', float(facts['wait_ranks_ms']) >= 0, facts)
    check('one rank writes', os.path.exists(f'{folder}/two/weights.safetensors') and not os.path.exists(f'{folder}/runs'))
    code, told, err = run([dynoctl, 'runs', '--json', '--limit', '1'])
    check('the history knows two devices, not a fast one', '"2 x ' in told, told + err)
    again = run(ranks(2, *TRAIN, '--set', 'batch_size=8', '--epochs', '2', '--json', '--no-out'))
    check('equal bits from run to run', losses(again[1]) == losses(out) != [], again[1] + again[2])
    code, alone, err = run([dynoctl, *TRAIN, '--set', 'batch_size=8', '--set', 'accumulate=2', '--epochs', '2', '--json', '--no-out'])
    check('one process tells of no ranks', '"ranks"' not in alone, alone)
    pairs = list(zip(losses(alone), losses(out)))
    check('losses of one process that accumulates', len(losses(alone)) == len(losses(out)) == len(pairs) > 0 and
          all(abs(a - b) <= 1e-5 * max(1, abs(a)) for a, b in pairs), f'{pairs} {err}')


def device_to_device():
    """The exchange between devices gives the bits of the exchange through the host, without an
    error of the validation layer."""
    told = []
    for peers in '0', '1':
        more = {'LD_LIBRARY_PATH': sys.argv[2]} if peers == '1' else {}
        code, out, err = run(ranks(2, *TRAIN, '--set', 'batch_size=8', '--epochs', '2', '--json', '--no-out'), DYNO_PEER_COPIES=peers,
                             DYNO_VALIDATION=environment['DYNO_TEST_VALIDATION'], **more)
        planned = [event['components']['gradients'] for event in events(out) if event['event'] == 'plan']
        check('trains with the validation layer', code == 0 and 'alidation' not in err and len(planned) == 1, out + err)
        told.append((losses(out), planned))
    check('from device to device: the bits of the host', told[0][0] == told[1][0] != [], told)
    check('it did go from device to device', told[0][1] < told[1][1], told)


def refuses():
    one = [dynoctl, *TRAIN, '--no-out', '--steps', '2']
    code, out, err = run(two(one, [*one, '--set', 'lr=0.5']))
    check('names the setting that differs', code != 0 and re.search(r'rank 1 on \S+ has lr = 0.5 where rank 0 on \S+ has 0.05', err), err)
    other = [argument.replace('samples=128', 'samples=96') for argument in one]
    code, out, err = run(two(one, [*other]))
    check('names the data that differs', code != 0 and re.search(r'rank 1 on \S+ has samples = 96', err), err)
    other = [argument.replace('builtin:shapes', '/none') for argument in one]
    code, out, err = run(two(one, [*other]))
    check('names the rank without data', code != 0 and re.search(r'rank 1 on \S+: .*/none', err), err)
    code, out, err = run([dynoctl, *TRAIN, '--no-out', '--devices', '0,99'])
    check('a device that is not there', code == 2 and '--devices 0,99' in err, err)
    code, out, err = run([dynoctl, *TRAIN, '--no-out', '--devices', '0,0'], PATH='/nonexistent')
    check('no mpirun', code == 1 and 'install it (package openmpi-bin or mpich)' in err, err)
    code, out, err = run([dynoctl, *TRAIN, '--no-out', '--devices', '0,0'], DYNO_MODULE_DIR='/nonexistent')
    check('no module', code == 1 and 'dyno-mpi.so is not installed' in err, err)
    for verb in 'tune', 'quick', 'queue':
        code, out, err = run([dynoctl, verb], OMPI_COMM_WORLD_SIZE='2')
        check(f'{verb} of several processes', code == 2 and 'it is for one process; start it without mpirun' in err and
              ('--ranks N' in err) == (verb == 'tune'), err)


def starts_itself():
    code, out, err = run([dynoctl, *TRAIN, '--devices', '0,0', '--steps', '3', '--json', '--no-out'])
    check('--devices starts two ranks', code == 0 and len(losses(out)) == 3, out + err)
    # The queue trains a job on its devices, also when it goes on after a stop.
    add = [dynoctl, 'queue', 'add', *TRAIN[1:], '--json', '--out', 'queued']
    code, out, err = run([*add, '--devices', '0,99'])
    check('the queue checks the devices', code == 2 and '--devices 0,99' in err, err)
    code, out, err = run([*add, '--devices', ''])
    check('no device', code == 2 and '--devices: its value is empty' in err, err)
    code, out, err = run([*add, '--devices', '0,0', '--device', '0'])
    check('one device or several', code == 2 and 'exclude' in err, err)
    code, out, err = run([*add, '--devices', '0,0', '--steps', '3'])
    check('a job of two devices waits', code == 0 and json.loads(out)['devices'] == '0,0', out + err)
    code, out, err = run([dynoctl, 'queue', 'start', '--json'])
    told = [event['ceilings']['exchange'] for event in events(out) if event['event'] == 'diagnosis']
    check('the queue starts two ranks', code == 0 and len(losses(out)) == 3 and len(told) == 1 and told[0] is not None, out + err)


def measures():
    code, out, err = run(ranks(2, 'bench', '--workload', 'simplecnn32', '--batch', '2', '--mode', 'fp32', '--steps', '1', '--no-autotune'))
    rows = [json.loads(line) for line in out.splitlines()]
    check('bench of two ranks', code == 0 and len(rows) == 1, out + err)
    for row in rows:
        check('a row of both beside one', row['ranks'] == 2 and row['batch'] == 2 and row['exchange_bytes'] > 0 and
              abs(row['images_per_s'] - 4000 / row['step_ms']) < 0.06 and
              abs(row['one_rank_images_per_s'] - 2000 / row['one_rank_step_ms']) < 0.06 and
              abs(row['scaling'] * row['step_ms'] / row['one_rank_step_ms'] / 2 - 1) < 0.05 and
              abs(row['exchange_hidden_ms'] + row['exchange_exposed_ms'] - row['exchange_ms']) < 0.01, out)
    code, out, err = run(ranks(2, 'bench', '--workload', 'simplecnn32', '--batch', '2', '--mode', 'amp', '--steps', '1', '--no-autotune', '--exchange-half'))
    half = [json.loads(line) for line in out.splitlines()]
    check('bench of two ranks, gradients in fp16', code == 0 and len(half) == 1 and half[0]['exchange_bytes'] < 0.51 * rows[0]['exchange_bytes'], out + err)
    code, out, err = run([dynoctl, 'bench', '--exchange-half'])
    check('--exchange-half is of several processes', code == 2 and 'mpirun -n 2' in err and out == '', out + err)
    code, out, err = run(ranks(2, 'bench', '--workload', 'simplecnn32', '--kernels'))
    check('bench --kernels is of one process', code == 2 and 'measure one process' in err and out == '', out + err)


def array(name, kind, shape, data):
    head = str({'descr': kind, 'fortran_order': False, 'shape': shape})
    head += ' ' * (63 - (10 + len(head)) % 64) + '\n'
    with open(f'{folder}/{name}', 'wb') as file:
        file.write(b'\x93NUMPY\x01\0' + struct.pack('<H', len(head)) + head.encode() + data)


def names_the_slow():
    """Rank 1's disk takes far longer for each sample than the rest of a step does, also on a busy
    machine."""
    preload = os.environ.get('DYNO_TEST_PRELOAD')
    if not preload:  # a sanitizer has to be the first library
        return
    array('X.npy', '<f4', (128, 8, 8, 1), bytes(128 * 64 * 4))
    array('y.npy', '<i8', (128,), struct.pack('<128q', *(i % 2 for i in range(128))))
    one = [dynoctl, *TRAIN, '--data', 'X.npy', '--set', 'batch_size=1', '--set', 'prefetch=1', '--set', 'data.val_split=0', '--epochs', '1', '--no-out', '--json']
    code, out, err = run(two(one, ['env', f'LD_PRELOAD={preload}', 'DYNO_TEST_SLOW=800', *one]))
    warned = [event['text'] for event in events(out) if event['event'] == 'warning' and ' is slow, and the others wait' in event['text']]
    check('ranks train from a slow disk', code == 0, out + err)
    check('the slow rank is named, and its data pipeline', len(warned) == 1 and
          re.search(r'Rank 1 on \S+ .* its data pipeline is the reason', warned[0]), out + err)


def names_who_hangs():
    """The ranks wait for a disk that answers after a while, and name the rank that hangs until
    then."""
    preload = os.environ.get('DYNO_TEST_PRELOAD')
    if not preload:
        return
    one = [dynoctl, *TRAIN, '--data', 'X.npy', '--set', 'batch_size=64', '--set', 'prefetch=1', '--set', 'data.val_split=0', '--epochs', '1', '--no-out', '--json']
    held = f'{folder}/held'
    open(held, 'w').close()
    process = subprocess.Popen(two(one, ['env', f'LD_PRELOAD={preload}', f'DYNO_TEST_HELD={held}', *one]), stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, cwd=folder, env=environment)
    said = ''
    for line in process.stderr:
        said += line
        if 'still waiting for rank 1 on ' in line and os.path.exists(held):
            os.unlink(held)  # the disk answers
    check('a disk that answers at last is waited for', process.wait(timeout=600) == 0, said)
    check('who hangs is named, and again', re.search(r'(?s)waiting for rank 1 on \S+, which is \d+ s behind\b.*still waiting for rank 1 on \S+, which is \d+ s behind', said), said)


def dies(name, number, sentence):
    process = start(name)
    os.kill(children(process.pid)[1], number)
    by_itself, out, err = end(process)
    check(f'{name}: all end', by_itself and process.returncode != 0, err)
    check(f'{name}: it is named', re.search(sentence, err), err)
    code, out, err = run([dynoctl, *TRAIN, '--set', 'batch_size=4', '--resume', name, '--steps', '1', '--json'])
    check(f'{name}: the checkpoint stands', code == 0, out + err)


def stops():
    process = start('stopped')
    process.send_signal(signal.SIGUSR1)  # mpirun passes the signal on and continues
    _, out, err = end(process)
    saved = [event for event in events(out) if event['event'] == 'checkpoint']
    check('a signal stops and saves once', err.count('stopped; saved in') == 1 and process.returncode != 0, f'{saved} {out[-800:]} {err}')
    code, out, err = run(ranks(2, *TRAIN, '--set', 'batch_size=4', '--resume', 'stopped', '--steps', '1', '--json'))
    done = [event for event in events(out) if event['event'] == 'done']
    check('two ranks have nothing left to do', code == 0 and len(done) == 1 and done[0]['nothing_left'] and done[0]['unreadable'] == 0, out + err)
    more = str(done[0]['steps'] + 2)
    code, out, err = run(ranks(2, *TRAIN, '--set', 'batch_size=4', '--resume', 'stopped', '--steps', more, '--json'))
    check('two ranks go on', code == 0 and len(losses(out)) == 2, out + err)


def other_numbers():
    """Two ranks on one device exchange fp16 gradients; then the run is resumed by one process, then
    by three."""
    short = [*TRAIN, '--set', 'batch_size=4', '--set', 'exchange.half=true']
    code, out, err = run([dynoctl, *short, '--devices', '0,0', '--steps', '4', '--out', 'numbers'])
    check('ranks and what a step is of', code == 0 and '2 ranks, each with that: a step is of 8 samples' in out, out + err)
    for n, before, steps, samples in (1, 2, 6, '4 samples in place of 8'), (3, 1, 8, '12 samples in place of 4'):
        command = [*short, '--resume', 'numbers', '--steps', str(steps), '--json']
        code, out, err = run(ranks(n, *command) if n > 1 else [dynoctl, *command])
        check(f'{before} ranks, then {n}', code == 0 and len(losses(out)) == 2 and all(loss == loss for loss in losses(out)), out + err)
        warned = [event['text'] for event in events(out) if event['event'] == 'warning' and event['text'].startswith('Before, this run had')]
        check('the other batch is told', len(warned) == 1 and f'had {before} process{"es" if before > 1 else ""}, now {n}: a step has {samples}' in warned[0], f'{warned}')
    code, out, err = run(ranks(3, *short, '--resume', 'numbers', '--steps', '9', '--json'))
    check('as many ranks need no warning', code == 0 and 'Before, this run had' not in out, out + err)


def ends_by_mpirun():
    """After SIGTERM mpirun forwards no more output.  It kills the ranks after a while, which here
    is after they have saved."""
    preload, held = os.environ.get('DYNO_TEST_PRELOAD'), f'{folder}/kill'
    open(held, 'w').close()
    # The ranks' own end cannot be waited for: mpirun does not read their output any more.
    patient = {'DYNO_TEST_PATIENCE': '0', 'DYNO_TEST_NO_KILL': held} if preload else {'OMPI_MCA_odls_base_sigkill_timeout': '2'}
    process = start('terminated', **patient)
    process.send_signal(signal.SIGTERM)
    timer = threading.Timer(600, os.unlink, [held])
    timer.start()
    while preload and os.path.exists(held) and '\nstate=6\n' not in open(f'{folder}/terminated/facts.ini').read():
        time.sleep(0.01)
    timer.cancel()
    if os.path.exists(held):
        os.unlink(held)
    _, out, err = end(process)
    facts = open(f'{folder}/terminated/facts.ini').read()
    check('SIGTERM of mpirun stops and saves', process.returncode != 0 and '\nstate=6\n' in facts and '\nproblem=\n' in facts, facts + err)


one_speaks()
device_to_device()
refuses()
starts_itself()
measures()
names_the_slow()
names_who_hangs()
stops()
other_numbers()
ends_by_mpirun()
dies('killed', signal.SIGKILL, r'rank 1 on \S+: its process has ended unexpectedly|rank 1 .* exited on signal 9')
dies('hanging', signal.SIGSTOP, r'rank 1 on \S+: it has not answered for 6 s')
finish()
