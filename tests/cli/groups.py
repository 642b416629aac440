# SPDX-License-Identifier: MIT
"""Groups of samples by a column of a list (data.group_column): the parts of a run, of its resumption
and of its evaluation have whole groups; what cannot be divided is refused before a run begins."""
import csv, os, random, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, SMALL, main
from masks import png

GROUPED = '--set', 'data.group_column=patient'
PARTS = '--set', 'data.test_split=0.2', '--set', 'data.val_split=0.25'


class Groups(Case):
    def setUp(self):
        """Images of 13 patients, 2 to 6 of each, and two images without one."""
        super().setUp()
        chance = random.Random(3)
        os.makedirs(self.path('data/images'))
        self.patients = [f'p{p}' for p in range(13) for i in range(2 + p % 5)] + ['', '']
        chance.shuffle(self.patients)
        for i in range(len(self.patients)):
            with open(self.path(f'data/images/{i:02}.png'), 'wb') as file:
                file.write(png([[chance.randrange(256) for x in range(16) for channel in range(3)] for y in range(16)], 2))
        self.write_list(self.patients)
        self.data = self.path('data/list.csv')

    def write_list(self, patients, *columns):
        with open(self.path('data/list.csv'), 'w') as file:
            file.write('file,patient,label' + ''.join(',' + name for name, cells in columns) + '\n')
            for i, patient in enumerate(patients):
                file.write(f'images/{i:02}.png,{patient},{"ab"[i % 2]}' + ''.join(',' + cells[i] for name, cells in columns) + '\n')

    def find_part(self, run, part):
        """The indices of the samples in a part of a run."""
        self.run_it('evaluate', '--run', run, '--data', self.data, '--part', part, '--table', 'samples.csv')
        with open(self.path('samples.csv'), encoding='utf-8') as file:
            return {int(row['index']) for row in csv.DictReader(file)}

    def groups_of(self, part):
        return {self.patients[i] or f'#{i}' for i in part}

    def assert_apart(self, parts):
        """No group is in two parts, and each sample is in one."""
        groups = [self.groups_of(part) for part in parts]
        self.assertEqual(sum(map(len, groups)), len(set.union(*groups)))
        self.assertEqual(sorted(i for part in parts for i in part), list(range(len(self.patients))))

    def test_parts_of_a_run(self):
        """Training, validation and test part have whole groups, as inspect and plan say before, and the
        same ones when the run is resumed."""
        self.run_it('train', '--data', self.data, *SMALL, *GROUPED, *PARTS, '--set', 'schedule=constant', '--epochs', '1', '--out', 'run')
        parts = {part: self.find_part('run', part) for part in ('training', 'validation', 'test')}
        self.assert_apart(parts.values())
        n, groups = [len(part) for part in parts.values()], [len(self.groups_of(part)) for part in parts.values()]
        self.assertTrue(8 <= n[2] <= 12 and 8 <= n[1] <= 12, n)
        facts, = self.lines('inspect', self.data, *GROUPED, *PARTS, '--json')
        self.assertEqual(facts['groups'], {'column': 'patient', 'groups': 15, 'smallest': 1, 'largest': 6})
        self.assertEqual(list(facts['parts'].values()), n + groups)
        told = self.run_it('inspect', self.data, *GROUPED, *PARTS).stdout.decode()
        self.assertIn('\ngroups      15 by the column “patient”, of 1 to 6 samples\n', told)
        self.assertIn(f'\nparts       {n[0]} samples of {groups[0]} groups to train, {n[1]} samples of {groups[1]} groups to validate, '
                      f'{n[2]} samples of {groups[2]} groups to test\n', told)
        plan, = self.lines('plan', '--data', self.data, *SMALL, *GROUPED, *PARTS, '--json')
        self.assertEqual([plan['n_train'], plan['n_validation'], plan['n_test'], plan['groups_train'], plan['groups_validation'], plan['groups_test']],
                         n + groups)
        self.assertIn(f'\ngroups  {groups[0]} to train, {groups[1]} to validate, {groups[2]} to test, by the column “patient”\n',
                      self.run_it('plan', '--data', self.data, *SMALL, *GROUPED, *PARTS).stdout.decode())

        lines = self.lines('train', '--resume', 'run', '--epochs', '2', '--json')
        self.assertEqual(self.events(lines, 'warning'), [])
        self.assertEqual({part: self.find_part('run', part) for part in parts}, parts)
        with open(self.path('run/settings.ini'), encoding='utf-8') as file:
            self.assertRegex(file.read(), r'(?m)^data\.group_column ?= ?patient$')

        # Another patient of one image is another division.
        self.write_list(self.patients[1:] + self.patients[:1])
        told = self.lines('train', '--resume', 'run', '--epochs', '3', '--json')
        self.assertIn('The data set is not the one', ' '.join(line['text'] for line in self.events(told, 'warning')))

    def test_folds(self):
        """Each group validates in one fold and trains in the others."""
        self.run_it('train', '--data', self.data, *SMALL, *GROUPED, '--folds', '3', '--epochs', '1', '--out', 'whole')
        self.assert_apart([self.find_part(f'whole/fold-{fold}', 'validation') for fold in (1, 2, 3)])

    def test_workers_do_not_matter(self):
        parts = []
        for i, more in enumerate((('workers=0', 'threads=1'), ('workers=4', 'prefetch=5'))):
            self.run_it('train', '--data', self.data, *SMALL, *GROUPED, *PARTS, '--steps', '1', *(word for key in more for word in ('--set', key)),
                        '--out', f'run{i}')
            parts.append(self.find_part(f'run{i}', 'validation'))
        self.assertEqual(*parts)

    def test_other_data_need_no_column(self):
        """A run is evaluated on all of another list, which may lack the column; its parts need it."""
        self.run_it('train', '--data', self.data, *SMALL, *GROUPED, '--steps', '1', '--out', 'run')
        with open(self.path('data/other.csv'), 'w') as file:
            file.write('file,label\n' + ''.join(f'images/{i:02}.png,{"ab"[i % 2]}\n' for i in range(len(self.patients))))
        found, = self.lines('evaluate', '--run', 'run', '--data', self.path('data/other.csv'), '--json')
        self.assertEqual(found['samples'], len(self.patients))
        told = self.run_it('evaluate', '--run', 'run', '--data', self.path('data/other.csv'), '--part', 'validation', expect=3)
        self.assertIn('has no column “patient”, by which the run', told.stderr.decode())

    def refuse(self, words, *more, data=None):
        """Neither a run nor its folder comes into being."""
        told = self.run_it('train', '--data', data or self.data, *SMALL, *more, '--out', 'refused', expect=3).stderr.decode()
        for word in words:
            self.assertIn(word, told)
        self.assertFalse(os.path.exists(self.path('refused')))

    def test_refusals(self):
        self.refuse(('“list.csv” has no column “person”', 'its columns: “file”, “patient”, “label”'), '--set', 'data.group_column=person')
        self.refuse(('has its paths in the column “file”',), '--set', 'data.group_column=file')
        self.refuse(('“shapes” has no columns',), *GROUPED, data='builtin:shapes?size=16&samples=40')
        self.refuse(('has only 15 groups by the column “patient” for 16 folds', 'set data.folds=15'), *GROUPED, '--set', 'data.folds=16')
        self.write_list(['one'] * len(self.patients))
        self.refuse(('has only 1 group by the column “patient”', 'data.val_split=0'), *GROUPED)
        self.write_list(['one', 'two'] * (len(self.patients) // 2) + ['one'] * (len(self.patients) % 2))
        self.refuse(('has only 2 groups by the column “patient”', 'a smaller data.test_split, or data.val_split=0'), *GROUPED, *PARTS)
        facts, = self.lines('inspect', self.data, *GROUPED, *PARTS, '--json')
        self.assertIn('has only 2 groups', facts['parts']['error'])
        self.assertIn('\nparts       none: “list.csv” has only 2 groups', self.run_it('inspect', self.data, *GROUPED, *PARTS).stdout.decode())
        told = self.run_it('convert', self.data, 'packed.tar', *GROUPED, expect=3).stderr.decode()
        self.assertIn('which a packed file does not keep', told)
        self.assertFalse(os.path.exists(self.path('packed.tar')))
        self.run_it('inspect', self.data, '--set', 'lr=1', expect=2)

    def test_own_split_stays(self):
        split = ['val' if i % 4 == 0 else 'train' for i in range(len(self.patients))]
        self.write_list(self.patients, ('split', split))
        notes = self.lines('inspect', self.data, *GROUPED, '--json')[0]['notes']
        both = {p for p, part in zip(self.patients, split) if p and part == 'val'} & {p for p, part in zip(self.patients, split) if part == 'train'}
        self.assertIn(f'leaves as it is: {len(both)} groups have samples in both parts', ' '.join(notes))
        self.run_it('train', '--data', self.data, *SMALL, *GROUPED, '--steps', '1', '--out', 'run')
        self.assertEqual(self.find_part('run', 'validation'), {i for i, part in enumerate(split) if part == 'val'})


main()
