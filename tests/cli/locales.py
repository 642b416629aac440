# SPDX-License-Identifier: MIT
"""In a locale with a decimal comma the files equal those of the C locale byte for byte.  dynoctl
itself sets no locale, but a library that it loads may, and the window does; DYNO_TEST_LOCALE sets
the locale before the program begins."""
import csv, json, os, re, struct, sys, tempfile, unittest
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import commalocale
from dynoctl import Case, SMALL, TINY, main

PRELOAD = os.environ.get('DYNO_TEST_PRELOAD')
NUMBER = re.compile(r'(-?\d+(\.\d+)?(e[+-]\d+)?|nan|-?inf)?$')
TIMES = ('_ms', '_s', 'seconds')  # suffixes of the columns that differ between two runs


def numbers(of):
    """All numbers of a JSON value; texts are skipped."""
    if isinstance(of, (dict, list)):
        return [number for value in (of.values() if isinstance(of, dict) else of) for number in numbers(value)]
    return [] if isinstance(of, str) and not NUMBER.match(of) else [of]


@unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
class Locales(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.locales = tempfile.TemporaryDirectory(prefix='dynoctl-locales-')
        cls.addClassCleanup(cls.locales.cleanup)
        cls.german = commalocale.make(cls.locales.name)

    def setUp(self):
        super().setUp()
        self.places = {}
        for name, more in (('c', {'LC_ALL': 'C', 'DYNO_TEST_LOCALE': '.'}), ('de', dict(self.german, DYNO_TEST_LOCALE=','))):
            os.mkdir(self.path(name))
            self.places[name] = dict(self.environment, LD_PRELOAD=PRELOAD, XDG_DATA_HOME=self.path(f'home-{name}'), **more)

    def both(self, *arguments, out=None, expect=0):
        """Runs a command in both locales, each in a folder of its own, and returns what it
        prints."""
        printed = []
        top = self.folder
        for name, environment in self.places.items():
            self.folder = os.path.join(top, name)
            printed.append(self.run_it(*arguments, environment=environment, expect=expect).stdout)
            self.folder = top
        return printed

    def assertSame(self, name):
        texts = []
        for place in self.places:
            with open(self.path(f'{place}/{name}'), 'rb') as file:
                texts.append(file.read())
        self.assertEqual(texts[0], texts[1], name)

    def rows(self, place, name):
        with open(self.path(f'{place}/{name}'), newline='') as file:
            return list(csv.DictReader(file))

    def test_a_run_and_its_exports(self):
        job = ['--data', TINY, *SMALL, '--set', 'deterministic=true', '--set', 'lr=0.0125', '--epochs', '2']
        self.both('train', *job, '--out', 'run')
        for name in ('settings.ini', 'weights.safetensors', 'weights-last.safetensors'):
            self.assertSame(f'run/{name}')
        tables = [self.rows(place, 'run/metrics.csv') for place in self.places]
        self.assertEqual(len(tables[0]), 18)
        for one, other in zip(*tables):
            for column, cell in one.items():
                self.assertRegex(other[column], NUMBER, column)
                if not column.endswith(TIMES) and column not in ('decoded', 'workers', 'vram_all_bytes'):
                    self.assertEqual(other[column], cell, column)
        for row in self.rows('de', 'run/sensors.csv'):
            for column, cell in row.items():
                if column not in ('throttle_reasons', 'vram_own_source'):
                    self.assertRegex(cell, NUMBER, column)
        for place in self.places:
            with open(self.path(f'{place}/run/facts.ini')) as file:
                self.assertNotRegex(file.read(), r'=\d+,\d')
            with open(self.path(f'{place}/run/checkpoint.safetensors'), 'rb') as file:
                for key, value in json.loads(file.read(struct.unpack('<Q', file.read(8))[0]))['__metadata__'].items():
                    self.assertNotRegex(value, r'(^|[\n=])-?\d+,\d', key)
            with open(self.path(f'{place}/run/curves.svg')) as file:
                self.assertNotRegex(file.read(), r' (d|x|y|width|height|viewBox)="[^"]*\d,\d')
        # The run with the German locale resumes from the other run's checkpoint and reads its
        # files.
        os.rename(self.path('c/run'), self.path('de/theirs'))
        os.rename(self.path('de/run'), self.path('c/run'))
        self.both('export', '--settings', self.path('c/run/settings.ini'), '--to', 'json', '--out', 'again.json')
        self.assertSame('again.json')
        self.run_it('train', '--resume', self.path('de/theirs'), '--epochs', '3', environment=self.places['de'])
        self.assertEqual(len(self.rows('de', 'theirs/metrics.csv')), 27)

    def test_settings_for_other_programs(self):
        with open(self.path('job.ini'), 'w') as file:
            file.write(f'[run]\nmodel=simplecnn\ndata={TINY}\n\n[settings]\nlr=0.0125\nweight_decay=1e-5\nmodel.width=0.5\nvram_budget=1.5GB\n')
        listed = self.both('export', '--list')
        self.assertEqual(*listed)
        formats = [line.split()[0] for line in listed[0].decode().splitlines()[1:] if ' settings ' in line]
        self.assertGreater(len(formats), 10)
        for to in formats:
            self.both('export', '--settings', self.path('job.ini'), '--to', to, '--out', to)
            self.assertSame(to)

    def test_what_is_read_by_programs(self):
        for arguments in (['plan', '--data', TINY, *SMALL], ['inspect', TINY], ['model', 'resnet18'], ['presets', 'rtx4090']):
            one, other = ([json.loads(line) for line in lines.splitlines()] for lines in self.both(*arguments, '--json'))
            self.assertEqual(numbers(one), numbers(other))
            self.assertTrue(numbers(one))
        self.both('plan', '--data', TINY, *SMALL, '--set', 'lr=0,1', expect=2)

    def test_a_search(self):
        # The search has three seconds, which compiling the first trial's kernels could use up.
        self.both('train', '--data', TINY, '--model', 'mlp', '--set', 'model.width=0.125', '--set', 'batch_size=16', '--set', 'amp=false',
                  '--set', 'workers=0', '--epochs', '1', '--out', 'warm', '-q')
        self.both('tune', '--data', TINY, '--model', 'mlp', '--set', 'model.width=0.125', '--minutes', '0.05', '--out', 'found', '-q')
        for place in self.places:
            rows = self.rows(place, 'found/trials.csv')
            self.assertTrue(rows)
            for row in rows:
                for column in ('number', 'samples_per_s', 'low', 'high', 'step_ms', 'outside_cpu', 'lr', 'model.width'):
                    self.assertRegex(row[column], NUMBER, column)
            with open(self.path(f'{place}/found/report.html')) as file:
                self.assertNotRegex(file.read(), r' (d|x|y|x1|x2|width|points|transform)="[^"]*\d,\d')
            with open(self.path(f'{place}/found/best.ini')) as file:
                self.assertNotRegex(file.read(), r'=\d+,\d')


if __name__ == '__main__':
    main()
