#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rankfaults.py DYNOCTL LAYER: errors of several processes are reported once, by one of them, in
the form and with the exit code of a single process.  LAYER: the folder of the layer that makes
devices fail."""
import json, os, re, shutil, signal
from severalranks import *


def told(what, process, code, sentence, texts=1):
    """The sentence occurs once in the output of process, which is (code, out, err), and no rank is
    blamed for it."""
    said = process[1] + process[2]
    check(f'{what}: exit code', process[0] == code, f'{process[0]}, not {code}\n{said}')
    check(f'{what}: said once', len(re.findall(sentence, process[2])) == texts, said)
    check(f'{what}: in its own form', not re.search(r'^dynoctl: rank \d on', process[2], re.M), said)


def fail_alike():
    small = ['--set', 'batch_size=4', '--set', 'model.width=1', '--set', 'vram_budget=2MB', '--no-out']
    told('no memory on 2 ranks', run(ranks(2, *TRAIN, *small)), 6, r'(?m)^dynoctl: This needs .* more than the budget')
    done = run(ranks(2, *TRAIN, *small, '--json'))
    errors = [event for event in events(done[1]) if event['event'] == 'error']
    check('no memory, as JSON', len(errors) == 1 and errors[0]['code'] == 6, done[1] + done[2])
    few = ['train', '--data', 'builtin:shapes?size=8&samples=3&classes=3', *TRAIN[3:], '--no-out']
    done = run(ranks(4, *few))
    check('too few samples for 4 ranks', done[0] != 0 and done[2].count('fewer samples to train on than there are ranks') == 1, done[1] + done[2])


def told_once():
    os.mkdir(f'{folder}/kept')
    open(f'{folder}/kept/metrics.csv', 'w').close()
    open(f'{folder}/kept/settings.ini', 'w').close()
    told('a folder of an earlier run', run(ranks(2, *TRAIN, '--out', 'kept')), 2, r'(?m)^dynoctl: .*kept')
    one = [dynoctl, *TRAIN, '--no-out', '--steps', '2']
    # Repeated, since any rank may detect the difference first and must report it only once.
    for i in range(3):
        told('ranks that differ', run(two(one, [*one, '--set', 'lr=0.5'])), 2, r'(?m)^dynoctl: the ranks were not started alike: rank 1 on \S+ has lr')


def first_dies(number, sentence):
    name = f'first{int(number)}'
    process = start(name)
    os.kill(children(process.pid)[0], number)
    _, out, err = end(process)
    check(f'{name}: all end', process.returncode != 0, err)
    check(f'{name}: it is named', len(re.findall(r'(?m)^dynoctl: .*rank 0 on \S+: ' + sentence, err)) == 1, err)
    check(f'{name}: so is the last checkpoint', f'its last checkpoint is “{folder}/{name}/checkpoint.safetensors”' in err, err)
    check(f'{name}: as JSON', [event['code'] for event in events(out) if event['event'] == 'error'] == [1], out[-1000:])


def first_hangs():
    """mpirun continues the stopped rank before it ends it."""
    process = start('hangs')
    os.kill(children(process.pid)[0], signal.SIGSTOP)
    _, out, err = end(process)
    errors = [event['text'] for event in events(out) if event['event'] == 'error']
    blamed = [text for text in errors if 'was itself stopped for' not in text]
    check('a rank that hangs is named, and no other', len(blamed) == 1 and 'rank 0 on' in blamed[0] and 'it has not answered for 6 s' in blamed[0], errors)
    check('a rank that hangs: the last checkpoint', f'its last checkpoint is “{folder}/hangs/checkpoint.safetensors”' in err, err)


def loses_its_device():
    """The rank whose device is lost is named, whichever it is, and so is the last checkpoint."""
    layer = f'VK_ADD_LAYER_PATH={sys.argv[2]}', 'VK_INSTANCE_LAYERS=VK_LAYER_DYNO_faults'
    # With a checkpoint from the start, since a fault may come before the first epoch's is written.
    code, out, err = run([dynoctl, *TRAIN, '--set', 'batch_size=8', '--epochs', '1', '--out', 'begun'])
    check('a run to resume', code == 0, out + err)
    for rank, fault, why, code in (0, 'lost=400', 'VK_ERROR_DEVICE_LOST', 5), (1, 'lost=400', 'VK_ERROR_DEVICE_LOST', 1), (0, 'hang=400', 'finished nothing, and its driver ended waits', 5):
        name = f'{fault[:4]}{rank}'
        shutil.copytree(f'{folder}/begun', f'{folder}/{name}')
        command = [dynoctl, 'train', '--resume', name, '--epochs', '100', '--json']
        commands = [command, command]
        commands[rank] = ['env', *layer, f'DYNO_FAULTS={fault}', *command]
        process = run(two(*commands))
        check(f'{name}: exit code', process[0] == code, f'{process[0]}, not {code}\n{process[2]}')
        said = [event['text'] for event in events(process[1]) if event['event'] == 'error']
        check(f'{name}: said once, with its name', len(said) == 1 and len(re.findall(r'rank \d on', said[0])) == 1 and
              re.search(rf'rank {rank} on \S+: .*{why}', said[0]), said)
        check(f'{name}: the last checkpoint', said and f'its last checkpoint is “{name}/checkpoint.safetensors”' in said[0], said)


def different_samples():
    one = [dynoctl, *TRAIN, '--no-out', '--steps', '2']
    other = [argument.replace('size=8', 'size=12') for argument in one]
    told('images of another size', run(two(one, other)), 2, r'rank 1 on \S+ has samples of = image \w+ 12x12x3, .* where rank 0 on \S+ has image \w+ 8x8x3, ')
    other = [argument.replace('classes=3', 'classes=4') for argument in one]
    told('other classes', run(two(one, other)), 2, r'rank 1 on \S+ has classes = 4 where rank 0 on \S+ has 3')


COMPILING = '{"event": "progress", "what": "compile", "done": 1,'
# So many that they are still being compiled when the signal comes.
MANY_KERNELS = '--model', 'resnet18', '--set', 'model.width=0.125'


def dies_at_start():
    """The kernels are not cached, so mpirun's SIGTERM comes while the other rank compiles."""
    process = start('early', *MANY_KERNELS, until=COMPILING, XDG_CACHE_HOME=f'{folder}/cache')
    os.kill(children(process.pid)[1], signal.SIGKILL)
    _, out, err = end(process)
    check('a rank that dies at the start is named', len(re.findall(r'(?m)^dynoctl: .*rank 1 on \S+: its process has ended unexpectedly', err)) == 1, err)
    check('nobody else was stopped', 'stopped; ' not in err and 'finishing the step' not in err, err)


def stops_at_start():
    """The ranks stop as one process does, whichever rank gets the signal."""
    for one in None, 1:
        process = start('started', *MANY_KERNELS, until=COMPILING, XDG_CACHE_HOME=f'{folder}/cache-{one}')
        if one is None:
            process.send_signal(signal.SIGUSR1)
        else:
            os.kill(children(process.pid)[one], signal.SIGINT)
        _, out, err = end(process)
        check('a stop at the start is no failure', process.returncode in (75, 130, 143) and not re.search(r'rank \d on', err), f'{process.returncode} {err}')
        check('a stop at the start is said once', len(re.findall(r'(?m)^dynoctl train: stopped; nothing was saved$', err)) == 1, err)


fail_alike()
told_once()
different_samples()
dies_at_start()
stops_at_start()
loses_its_device()
first_hangs()
first_dies(signal.SIGKILL, 'its process has ended unexpectedly')
finish()
