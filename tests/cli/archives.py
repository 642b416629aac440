# SPDX-License-Identifier: MIT
"""Archives written by Python's own modules are read, and archives of `dynoctl convert` are read by
these modules."""
import hashlib, io, json, os, subprocess, sys, tarfile, zipfile
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, main
from usage import PNG

LONG = 'very-long-' * 12
NAMES = [f'photos/{part}/{kind}/{name}.png'
         for part in ('train', 'val') for kind in ('a', 'größe', LONG) for name in ('1', '2', LONG, 'ß')]


def digest(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).digest()


class Archives(Case):
    def check(self, path):
        facts, = self.lines('inspect', path, '--deep', '--json')
        self.assertEqual((facts['kind'], facts['samples'], facts['unreadable'], facts['undecodable']), ('archive', len(NAMES), 0, 0))
        self.assertEqual(facts['class_names'], sorted(('a', 'größe', LONG)))
        self.assertEqual(facts['class_counts'], [8, 8, 8])
        self.assertTrue(facts['has_split'])

    def test_zip(self):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            for large in (False, True):
                path = self.path(f'{method}-{large}.zip')
                with self.subTest(path=path), zipfile.ZipFile(path, 'w', method) as out:
                    for name in NAMES:
                        with out.open(name, 'w', force_zip64=large) as member:
                            member.write(PNG)
                self.check(path)

    def test_tar(self):
        for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            path = self.path(f'{form}.tar')
            with self.subTest(path=path), tarfile.open(path, 'w', format=form) as out:
                for name in NAMES:
                    entry = tarfile.TarInfo(name)
                    entry.size, entry.mtime = len(PNG), 1700000000.5 if form == tarfile.PAX_FORMAT else 0
                    try:
                        out.addfile(entry, io.BytesIO(PNG))
                    except ValueError:  # ustar cannot store a name of 100 bytes
                        entry.name = name.replace(LONG, LONG[:60])
                        out.addfile(entry, io.BytesIO(PNG))
            if form != tarfile.USTAR_FORMAT:
                self.check(path)
            else:
                facts, = self.lines('inspect', path, '--deep', '--json')
                self.assertEqual((facts['samples'], facts['undecodable']), (len(NAMES), 0))

    def test_only_the_sparse_file_is_refused(self):
        """The files after a sparse one in the archive are read."""
        path = self.path('sparse.tar')
        with tarfile.open(path, 'w', format=tarfile.PAX_FORMAT) as out:
            for i in range(12):
                entry = tarfile.TarInfo(f'{"ab"[i % 2]}/{i}.png')
                entry.size = len(PNG)
                if i in (2, 7):
                    entry.pax_headers = {'GNU.sparse.major': '1', 'GNU.sparse.minor': '0'}
                out.addfile(entry, io.BytesIO(PNG))
        facts, = self.lines('inspect', path, '--deep', '--json')
        self.assertEqual((facts['samples'], facts['class_counts'], facts['unreadable']), (10, [5, 5], 2))

    def test_hard_links_have_no_content(self):
        """Some programs write the size of the file that a hard link names; no content comes after it."""
        path = self.path('links.tar')
        with tarfile.open(path, 'w') as out:
            for i in range(8):
                name = f'{"ab"[i % 2]}/{i}.png'
                entry = tarfile.TarInfo(name)
                entry.size = len(PNG)
                out.addfile(entry, io.BytesIO(PNG))
                link = tarfile.TarInfo(f'more/{i}')
                link.type, link.linkname, link.size = tarfile.LNKTYPE, name, 5 * tarfile.BLOCKSIZE
                out.addfile(link)
        facts, = self.lines('inspect', path, '--deep', '--json')
        self.assertEqual((facts['samples'], facts['class_counts'], facts['undecodable']), (8, [4, 4], 0))

    def test_the_last_of_several_members_of_a_name_counts(self):
        """As where the archive is unpacked; the earlier one of each name is no picture."""
        with tarfile.open(self.path('twice.tar'), 'w') as out:
            for data in (b'no picture', PNG):
                for i in range(8):
                    entry = tarfile.TarInfo(f'{"ab"[i % 2]}/{i}.png')
                    entry.size = len(data)
                    out.addfile(entry, io.BytesIO(data))
        facts, = self.lines('inspect', self.path('twice.tar'), '--deep', '--json')
        self.assertEqual((facts['samples'], facts['class_counts'], facts['undecodable']), (8, [4, 4], 0))

    def test_plan_says_what_crops_are_cut_from(self):
        path = self.path('crops.zip')
        with zipfile.ZipFile(path, 'w') as out:
            for name in NAMES:
                out.writestr(name, PNG)
        for data, value, expected in ((path, 'source', True), (path, 'sample', False), ('builtin:shapes?size=32', 'source', False)):
            options = ['plan', '--data', data, '--model', 'mlp', '--set', 'image_size=32', '--set', 'augment.crop=0.5',
                       '--set', f'augment.crop_from={value}']
            with self.subTest(data=data, value=value):
                plan, = self.lines(*options, '--json')
                self.assertIs(plan['crops_source'], expected)
                text = self.run_it(*options, '--set', 'cache=true').stdout.decode()
                self.assertEqual('decoded from the files; cache=true is without effect' in text, expected)

    def test_packed_sequences_train_the_same(self):
        """Packed sequences of differing lengths give bit-identical losses and the same classes."""
        data = 'builtin:waves?samples=40&length=16&channels=2&classes=4'
        self.run_it('convert', data, self.path('waves.tar'), '--no-measure')
        losses = []
        for source in (data, self.path('waves.tar')):
            lines = self.lines('train', '--data', source, '--model', 'cnn1d', '--set', 'model.width=0.125', '--set', 'batch_size=8',
                               '--set', 'amp=false', '--set', 'workers=1', '--set', 'deterministic=true', '--steps', '3', '--json')
            losses.append([line['loss'] for line in lines if line.get('event') == 'step'])
        self.assertEqual(len(losses[0]), 3)
        self.assertEqual(*losses)
        names = [self.lines('inspect', source, '--json')[0]['class_names'] for source in (data, self.path('waves.tar'))]
        self.assertEqual(*names)

    def test_convert(self):
        for name in NAMES:
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            with open(self.path(name), 'wb') as out:
                out.write(PNG)
        told, = self.lines('convert', self.path('photos'), self.path('packed.tar'), '--json')
        self.assertEqual((told['samples'], told['copied'], told['skipped']), (24, 24, 0))
        self.assertEqual(told['bytes'], os.path.getsize(self.path('packed.tar')))
        self.assertGreater(told['samples_per_s'], 0)
        self.assertGreater(told['samples_per_s_before'], 0)
        labels, images = [], 0
        with tarfile.open(self.path('packed.tar')) as packed:
            for member in packed:
                content = packed.extractfile(member).read()
                if member.name.endswith('.json'):
                    labels.append(json.loads(content))
                else:
                    images += content == PNG
        self.assertEqual((len(labels), images), (24, 24))
        self.assertEqual(sorted((x['split'], x['label'], x['name']) for x in labels),
                         sorted(tuple(name.split('/')[1:3]) + (name.split('/', 1)[1],) for name in NAMES))
        facts, = self.lines('inspect', self.path('packed.tar'), '--json')
        self.assertEqual((facts['kind'], facts['samples'], facts['class_counts']), ('webdataset', 24, [8, 8, 8]))
        before = digest(self.path('packed.tar'))
        again = self.run_it('convert', self.path('photos'), self.path('packed.tar'), '--no-measure', expect=2)
        self.assertIn(b'--force', again.stderr)
        self.run_it('convert', self.path('photos'), self.path('packed.tar'), '--no-measure', '--force')
        self.assertEqual(before, digest(self.path('packed.tar')))
        self.run_it('convert', 'synthetic:8x8x3', self.path('noise.tar'), expect=3)
        self.run_it('convert', 'builtin:waves', self.path('waves.tar'), '--no-measure', '--set', 'lr=1', expect=2)
        self.run_it('convert', self.path('photos'), self.path('none/packed.tar'), expect=7)
        self.run_it('convert', self.path('photos'), expect=2)
        self.assertEqual(sorted(os.listdir(self.folder)), ['packed.tar', 'photos'])

    def test_one_class_is_packed(self):
        """One class cannot be trained with, but packing a folder that still lacks its other classes
        loses nothing."""
        os.makedirs(self.path('photos/only'))
        for i in range(5):
            with open(self.path(f'photos/only/{i}.png'), 'wb') as out:
                out.write(PNG)
        told, = self.lines('convert', self.path('photos'), self.path('packed.tar'), '--no-measure', '--json')
        self.assertEqual((told['samples'], told['copied']), (5, 5))

    def test_seeds_of_the_fuzz_targets_open(self):
        """The seeds of the fuzz targets are valid, and cover every kind of archive and text."""
        seeds = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'data', 'fuzz', 'seeds')
        subprocess.run([sys.executable, seeds, self.path('seeds')], check=True)
        kinds = set()
        for name in sorted(os.listdir(self.path('seeds/file'))):
            facts, = self.lines('inspect', self.path('seeds/file/' + name), '--json')
            self.assertEqual(facts['unreadable'], 0, name)
            self.assertGreaterEqual(facts['samples'], 4, name)
            kinds.add(facts['kind'])
        self.assertEqual(kinds, {'archive', 'webdataset', 'npz', 'pixel-rows'})


if __name__ == '__main__':
    main()
