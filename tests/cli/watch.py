# SPDX-License-Identifier: MIT
"""dynoctl watch and dynoctl sensors: as plain text, as JSON, and in terminals of several sizes."""
import fcntl, os, pty, re, select, signal, struct, subprocess, termios, unittest
from dynoctl import Case, PROGRAM, main

HEAD = 'step,epoch,loss,accuracy,lr,samples_per_s,step_ms,wait_data_ms,vram_bytes,seconds,train_loss,train_accuracy,val_loss,val_accuracy\n'
ROW = '{0},1,{1},0.5,0.1,{2},10,4,1000000,{3},,,,\n'
EPOCH = '{0},1,{1},0.5,0.1,{2},10,4,1000000,{3},1.5,0.4,1.25,0.625\n'
SETTINGS = '[run]\nmodel=resnet18\ndata={0}\n\n[settings]\nepochs=4\nbatch_size=32\namp=false\nworkers=2\n'
NOW = 2000000000  # the time of day of dynoctl in some tests
PRELOAD = os.environ.get('DYNO_TEST_PRELOAD')
WITH_PRELOAD = unittest.skipUnless(PRELOAD, 'a sanitizer must be the first library')
ANSI = re.compile('\033\\[([?0-9;]*)([A-Za-z])')


class Screen:
    """Interprets the control sequences that a frame may use, and keeps the lines of the terminal;
    any other sequence is a failure."""
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.lines = [''] * height
        self.row, self.alternate, self.most = 0, False, 0

    def feed(self, text):
        at = 0
        while at < len(text):
            found = ANSI.match(text, at)
            if found:
                self.order(found.group(1), found.group(2))
                at = found.end()
                continue
            assert text[at].isprintable(), f'{text[at]!r} in {text[max(at - 40, 0):at + 40]!r}'
            self.lines[self.row] += text[at]
            self.most = max(self.most, len(self.lines[self.row]))
            at += 1

    def order(self, arguments, name):
        if name == 'H':
            row, column = arguments.split(';')
            assert column == '1' and 1 <= int(row) <= self.height, arguments
            self.row = int(row) - 1
            self.lines[self.row] = ''
        elif name in 'hl' and arguments == '?1049':
            self.alternate = name == 'h'
        else:
            assert (name in 'hl' and arguments == '?25') or name in 'mK' or (name, arguments) == ('J', '2'), arguments + name


class Watch(Case):
    def write(self, path, text, mode='w'):
        path = self.path(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, mode) as file:
            file.write(text)

    def sensors_row(self, step, **values):
        names = self.names()
        row = {name: 'nan' for name in names}
        row.update(step=str(step), throttle_reasons='power', vram_own_source='account', **values)
        return ','.join(names) + '\n', ','.join(row[name] for name in names) + '\n'

    def names(self):
        line = self.lines('sensors', '--json')[0]
        return ['unix_time', 'step'] + [name for name in line if name.endswith(('_percent', '_c', '_w', '_mhz', '_bytes', '_s'))
                and name != 'core_busy_percent'] + ['gpu_throttle', 'gpu_other_processes', 'throttle_reasons', 'vram_own_source']

    def freeze(self, name):
        """Sets the run's last write to NOW and stops the time of day of dynoctl there."""
        os.utime(self.path(f'{name}/metrics.csv'), (NOW, NOW))
        self.environment.update(LD_PRELOAD=PRELOAD, DYNO_TEST_NOW=str(NOW))

    def sample(self, name, head, row):
        """Writes a row of sensors for the run and stops the time of day."""
        self.write(f'{name}/sensors.csv', f'{head}{NOW}{row[row.index(","):]}')
        self.freeze(name)

    def make_run(self, name='runs/one', data='shapes', steps=30):
        self.write(f'{name}/settings.ini', SETTINGS.format(data))
        text = ''.join(ROW.format(i, 3.0 / i, 100 + i, i * 0.5) for i in range(1, steps))
        self.write(f'{name}/metrics.csv', HEAD + text + EPOCH.format(steps, 0.1, 150, steps * 0.5))
        return name

    def in_terminal(self, width, height, *arguments, keys=b'q', until='q: quit', act=None, later=None, term='xterm'):
        """Runs dynoctl until its output has the text `until`; act, if given, is called then, and
        the output continues to the text `later`, or to the end that the function `later` finds in
        the newer output.  Then sends the keys.  Returns the output up to there, the output after
        that, and how the program ended."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', height, width, 0, 0))
        before = termios.tcgetattr(slave)
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=dict(self.environment, TERM=term),
                                   stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        ended = os.pidfd_open(process.pid)
        text = b''

        def find(wanted, begin):
            new = text.decode(errors='replace')[begin:]
            end = wanted(new) if callable(wanted) else new.find(wanted) + len(wanted) if wanted in new else None
            return None if end is None else begin + end

        def wait_for(wanted, begin=0):
            nonlocal text
            while (end := find(wanted, begin)) is None:
                ready = select.select([master, ended], [], [], 600)[0]
                self.assertTrue(master in ready, f'{wanted} did not come: {text}')
                text += os.read(master, 65536)
            return end

        end = wait_for(until)
        if act:
            act(process, master, slave)
            end = wait_for(later, end)
        live = text.decode(errors='replace')[:end]
        if keys:
            os.write(master, keys)
        while ended not in select.select([master, ended], [], [], 600)[0]:
            if select.select([master], [], [], 0)[0]:
                text += os.read(master, 65536)
        process.wait(60)
        after = termios.tcgetattr(slave)
        os.close(slave)
        try:
            while more := os.read(master, 65536):
                text += more
        except OSError:  # the other end is closed, and all output was read
            pass
        os.close(master)
        os.close(ended)
        self.assertEqual(before, after, 'the terminal is not as it was')
        return live, text.decode(), process.returncode

    # --- sensors

    def test_sensors_table_says_what_is_not_available(self):
        text = self.run_it('sensors').stdout.decode()
        self.assertRegex(text, r'CPU busy +[0-9.]+ % +host')
        self.assertRegex(text, r'RAM of the machine +[0-9.]+ .iB +host')
        self.assertRegex(text, r'GPU busy +(not available|[0-9]+ %)')

    def test_sensors_json_has_every_sensor(self):
        line = self.lines('sensors', '--json')[0]
        self.assertGreater(line['ram_total_bytes'], line['ram_used_bytes'])
        self.assertEqual(line['sources']['cpu_busy_percent'], 'host')
        self.assertTrue(0 <= line['cpu_busy_percent'] <= 100)
        self.assertGreaterEqual(len(line['core_busy_percent']), 1)
        self.assertIn('gpu_power_w', line)
        self.assertEqual(set(line['sources']) | {name for name in line if line[name] is None} | {'throttle_reasons', 'sources',
                         'core_busy_percent', 'programs', 'device', 'pci'}, set(line) | set(line['sources']))

    @unittest.skipUnless(os.environ.get('DYNO_FAULTS_FOLDER') and os.environ.get('DYNO_TEST_NVML'), 'no card')
    def test_sensors_list_the_programs_of_a_card(self):
        os.symlink(os.environ['DYNO_TEST_NVML'], self.path('libnvidia-ml.so.1'))
        card = dict(self.environment, VK_ADD_LAYER_PATH=os.environ['DYNO_FAULTS_FOLDER'], VK_INSTANCE_LAYERS='VK_LAYER_DYNO_faults',
                    DYNO_FAULTS='card', LD_LIBRARY_PATH=self.folder)
        line = self.lines('sensors', '--json', environment=card)[0]
        self.assertEqual([(p['pid'], p['bytes']) for p in line['programs']], [(4000000001, 5000000000), (1, 2000), (4000000002, None)])
        self.assertEqual((line['gpu_power_w'], line['sources']['gpu_power_w']), (349.5, 'nvml'))
        text = self.run_it('sensors', environment=card).stdout.decode()
        self.assertRegex(text, r'\n[?] +4000000001 +4.66 GiB\n')

    def test_sensors_of_a_device_that_is_not_there(self):
        self.assertIn('no device 77', self.run_it('sensors', '--device', '77', expect=4).stderr.decode())

    # --- plain

    @WITH_PRELOAD
    def test_once_tells_of_the_newest_run(self):
        self.make_run('runs/one')
        self.make_run('runs/two', steps=7)
        self.freeze('runs/two')
        os.utime(self.path('runs/one/metrics.csv'), (1, 1))
        text = self.run_it('watch', '--once').stdout.decode()
        self.assertIn('runs/two: running, epoch 1 of 4, step 7', text)
        self.assertIn('150 samples/s  loss 0.1000  validation 1.2500  accuracy 0.625  waits for data 40 %', text)
        self.assertRegex(text, r'\nGPU (not available|[0-9])')
        self.assertIn('no news for', self.run_it('watch', '--once', 'one').stdout.decode())
        self.assertIn('runs/one: no news for', self.run_it('watch', '--once', 'runs/one').stdout.decode())

    def test_steps_that_were_asked_for_end_it(self):
        """The limit may be past the epochs of the settings: 270 steps at 7 steps an epoch are 39
        epochs, and not 4."""
        name = self.make_run(steps=30)
        self.write(f'{name}/facts.ini', '[run]\nsteps_per_epoch=7\nmax_steps=270\n')
        self.assertIn('epoch 1 of 39, step 30 of 270', self.run_it('watch', '--once').stdout.decode())
        self.write(f'{name}/facts.ini', '[run]\nsteps_per_epoch=7\nmax_steps=0\n')
        self.assertIn('epoch 1 of 4, step 30 of 28', self.run_it('watch', '--once').stdout.decode())

    def test_remaining_time_is_of_the_steps_in_the_log(self):
        """A resumed run's log may begin late: neither its first step nor the time up to it counts."""
        name = self.make_run()
        self.write(f'{name}/facts.ini', '[run]\nsteps_per_epoch=100\nmax_steps=0\n')
        for rows, eta in (((101, 5000), (111, 5020)), 578), (((101, 5000),), None), (((390, 5000), (401, 5022)), None), (((390, 5000), (400, 5020)), 0):
            self.write(f'{name}/metrics.csv', HEAD + ''.join(ROW.format(step, 1, 100, seconds) for step, seconds in rows))
            self.assertEqual(self.lines('watch', '--json', '--once')[0]['run']['eta_s'], eta)

    def test_steps_after_an_epoch_keep_its_validation(self):
        name = self.make_run()
        self.write(f'{name}/metrics.csv', ROW.format(31, 0.05, 160, 16), 'a')
        run = self.lines('watch', '--json', '--once')[0]['run']
        self.assertEqual((run['step'], run['loss'], run['val_loss']), (31, 0.05, 1.25))
        self.assertIn('loss 0.0500  validation 1.2500  accuracy 0.625', self.run_it('watch', '--once').stdout.decode())

    @WITH_PRELOAD
    def test_json_of_a_run_and_its_sensors(self):
        name = self.make_run()
        head, row = self.sensors_row(30, gpu_busy_percent='91.5', vram_own_bytes='5000')
        self.sample(name, head, row)
        line = self.lines('watch', '--json', '--once')[0]
        self.assertEqual(line['event'], 'watch')
        self.assertEqual(line['run']['folder'], 'runs/one')
        self.assertEqual(line['run']['state'], 'running')
        self.assertEqual((line['run']['epoch'], line['run']['epochs'], line['run']['step']), (1, 4, 30))
        self.assertEqual((line['run']['loss'], line['run']['val_loss'], line['run']['steps']), (0.1, 1.25, None))
        self.assertEqual(line['sensors_of'], 'run')
        self.assertEqual(line['sensors']['gpu_busy_percent'], 91.5)
        self.assertEqual(line['sensors']['gpu_power_w'], None)
        self.assertEqual(line['sensors']['throttle_reasons'], ['power'])

    def test_old_sensors_of_a_run_are_not_those_of_now(self):
        name = self.make_run()
        head, row = self.sensors_row(30, ram_total_bytes='7')
        self.write(f'{name}/sensors.csv', head + '1000000.5' + row[row.index(','):])
        line = self.lines('watch', '--json', '--once')[0]
        self.assertEqual(line['sensors_of'], 'machine')
        self.assertGreater(line['sensors']['ram_total_bytes'], 7)

    def test_without_a_run_the_machine_alone(self):
        line = self.lines('watch', '--json', '--once')[0]
        self.assertIsNone(line['run'])
        self.assertGreater(line['sensors']['ram_total_bytes'], 0)
        self.assertEqual(len(self.run_it('watch', '--once').stdout.decode().splitlines()), 1)

    def test_ends_when_nobody_reads(self):
        process = subprocess.Popen([PROGRAM, 'watch', '--json'], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE)
        self.assertIn(b'"event"', process.stdout.readline())
        process.stdout.close()
        self.assertEqual(process.wait(60), 0)

    def test_what_is_no_run_is_said(self):
        self.assertIn('no folder of a run', self.run_it('watch', 'nothing', expect=3).stderr.decode())
        os.mkdir(self.path('empty'))
        line = self.lines('watch', '--json', 'empty', expect=3)[0]
        self.assertEqual((line['event'], line['code']), ('error', 3))

    def test_plain_lines_end_with_the_run(self):
        name = self.make_run()
        for file in ('metrics.csv',):
            os.utime(self.path(f'{name}/{file}'), (1000, 1000))
        self.assertEqual(len(self.run_it('watch').stdout.decode().splitlines()), 2)
        self.write(f'{name}/facts.ini', '')
        self.assertEqual(len(self.lines('watch', '--json')), 1)

    @WITH_PRELOAD
    def test_the_end_of_a_run_is_printed_at_once(self):
        """Without a terminal, lines come every five seconds, but the last ones when the run ends."""
        name = self.make_run()
        self.freeze(name)
        with subprocess.Popen([PROGRAM, 'watch'], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              text=True) as process:
            first = [process.stdout.readline() for _ in range(2)]
            self.assertIn('running, epoch 1 of 4, step 30', first[0])
            self.write(f'{name}/facts.ini', '[run]\nstate=5\n')
            last = process.stdout.read().splitlines()
            self.assertEqual(process.wait(), 0)
        self.assertEqual(len(last), 2, last)
        self.assertIn('finished, epoch 1 of 4, step 30', last[0])

    def test_broken_files_are_not_known(self):
        for text in ('', 'step', HEAD[:-1], HEAD + '1,2', HEAD + 'x,y,z\n' + ',,,,\n' * 9, '\0' * 5000 + '\n', HEAD + ROW.format(1e30, 1, 2, 3)):
            self.write('runs/one/metrics.csv', text)
            self.write('runs/one/sensors.csv', text)
            self.write('runs/one/settings.ini', text)
            line = self.lines('watch', '--json', '--once')[0]
            self.assertEqual((line['run']['step'], line['run']['loss']), (0, None))

    # --- in a terminal

    def screen_of(self, text, width, height):
        screen = Screen(width, height)
        screen.feed(text)
        return screen

    @WITH_PRELOAD
    def test_frames_fit_terminals_of_any_size(self):
        name = self.make_run()
        head, row = self.sensors_row(30, gpu_busy_percent='91.5', gpu_power_w='350', gpu_power_limit_w='700', vram_all_bytes='5e9',
                                     vram_total_bytes='8e9')
        for width, height in ((80, 24), (80, 11), (80, 10), (120, 40), (40, 10), (20, 4), (200, 60), (5, 2), (1, 1)):
            self.sample(name, head, row)
            live, text, code = self.in_terminal(width, height, 'watch', until='q: quit' if height > 3 and width > 8 else '\033[1;1H')
            self.assertEqual(code, 0)
            screen = self.screen_of(live, width, height)
            self.assertLessEqual(screen.most, width)
            self.assertTrue(screen.alternate)
            whole = '\n'.join(screen.lines)
            if width >= 40:
                self.assertIn('runs/one', screen.lines[0])
                self.assertIn('running', screen.lines[0])
                bar, = re.findall(r'GPU +([█▏▎▍▌▋▊▉·]+)  92 %', whole)
                self.assertEqual(len(bar), width // (4 if width >= 60 else 5), 'a part of a column takes one')
                self.assertRegex(whole, r'epoch.*1 of 4  step 30')
                self.assertIn('q: quit', screen.lines[-1])
            if width >= 80:
                self.assertIn('350 of 700 W', whole)
                self.assertIn('held back: power', whole)
                self.assertRegex(whole, '150 samples/s')
                self.assertEqual(height >= 24, bool(re.search('samples/s  150', whole)), 'plots take the rows that are left')
            # Ten rows fit exactly; one row less leaves out the last but the keys' that matters least.
            if (width, height) in ((80, 24), (80, 11), (80, 10)):
                titles = [line[:6].rstrip() for line in screen.lines if line[:6] in ('GPU   ', 'VRAM  ', 'CPU   ', 'Cores ', 'RAM   ', 'Disk  ')]
                self.assertEqual(titles, ['GPU', 'VRAM', 'CPU', *['Cores'] * (height > 10), 'RAM', 'Disk'], whole)
            if os.environ.get('DYNO_TEST_SHOW'):
                print(f'--- {width}x{height}\n' + whole)
            done = self.screen_of(text, width, height)
            self.assertLessEqual(done.most, width)
            self.assertFalse(done.alternate)

    def test_no_name_orders_the_terminal_about(self):
        self.make_run('runs/a\033[31mb\033]0;title\007', data='x\033[2J\u202ey\u0085')
        live, text, code = self.in_terminal(80, 24, 'watch')
        whole = '\n'.join(self.screen_of(live, 80, 24).lines)
        self.assertIn('\\x1b[31mb', whole)
        self.assertNotIn('\u202e', text)
        self.assertNotIn('\007', text)

    def test_rows_are_followed_and_the_size_too(self):
        name = self.make_run()

        def grow(process, master, slave):
            self.write(f'{name}/metrics.csv', ROW.format(31, 0.05, 160, 16), 'a')
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 12, 60, 0, 0))
            os.kill(process.pid, signal.SIGWINCH)

        def find_small(text):
            """The end of a frame that has the new size and the new row; a frame in between may have
            only one of them."""
            for frame in re.finditer('\033\\[1;1H((?!\033\\[1;1H).)*q: quit', text, re.S):
                if 'step 31' in frame.group() and '\033[13;1H' not in frame.group():
                    return frame.end()

        live, text, code = self.in_terminal(100, 30, 'watch', act=grow, later=find_small)
        self.assertIn('step 30', live)
        last = live[live.rindex('\033[1;1H'):]
        self.assertLessEqual(self.screen_of(last, 60, 12).most, 60)

    def test_a_run_that_is_resumed_has_its_new_settings(self):
        """The run is resumed twice, each time on another device: with fewer epochs and a limit of
        steps, then with more epochs and no limit."""
        name = self.make_run()
        resumes = (3, 25, 31), (9, 0, 32)
        shown = []

        def resume(*_):
            epochs, max_steps, step = resumes[len(shown)]
            self.write(f'{name}/facts.ini', f'[run]\ndevice=Card {epochs}\nsteps_per_epoch=10\nmax_steps={max_steps}\n')
            self.write(f'{name}/settings.new', SETTINGS.format('shapes').replace('epochs=4', f'epochs={epochs}').replace('=32', f'={epochs}'))
            os.replace(self.path(f'{name}/settings.new'), self.path(f'{name}/settings.ini'))
            self.write(f'{name}/metrics.csv', ROW.format(step, 0.05, 160, step / 2), 'a')

        def find_all(text):
            """The second frame with the last row: it was read after the whole row was written."""
            frames = [found for found in re.finditer('\033\\[1;1H.*?(?=\033\\[1;1H)', text, re.S) if f'step {resumes[len(shown)][2]}' in found.group()]
            if len(frames) < 2:
                return None
            shown.append(frames[1].group())
            if len(shown) == len(resumes):
                return frames[1].end()
            resume()
            return None

        self.in_terminal(100, 30, 'watch', act=resume, later=find_all)
        for (epochs, _, step), frame in zip(resumes, shown):
            self.assertIn(f'batch {epochs},', frame)
            self.assertIn(f'Card {epochs}', frame)
            self.assertIn(f'1 of {epochs}  step {step}', frame)

    def test_signals_give_the_terminal_back(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            live, text, ended = self.in_terminal(80, 24, 'watch', keys=None, act=lambda process, *_: process.send_signal(number), later='\033[?1049l')
            self.assertEqual(ended, code)
            self.assertFalse(self.screen_of(text, 80, 24).alternate)

    def test_a_terminal_that_can_do_nothing_has_plain_lines(self):
        self.make_run()
        os.utime(self.path('runs/one/metrics.csv'), (1000, 1000))
        live, text, code = self.in_terminal(80, 24, 'watch', keys=None, until='GPU', term='dumb')
        self.assertEqual(code, 0)
        self.assertNotIn('\033', text)
        self.assertIn('runs/one', text)


if __name__ == '__main__':
    main()
