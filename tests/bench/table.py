# SPDX-License-Identifier: MIT
"""The table of ./dev bench from fixture lines: the rows that are compared, and their ratios."""
import json, os, shutil, subprocess, sys, tempfile, unittest

BENCH = os.path.abspath(sys.argv[1])


def line(workload, batch, mode, rate, mib, **more):
    return dict(workload=workload, batch=batch, mode=mode, images_per_s=rate, step_ms=batch / rate * 1e3, peak_mib=mib, **more)


HERE = [line('resnet18', 128, 'fp32', 900.0, 3000), line('resnet18', 128, 'amp', 2000.0, 1400),
        line('simplecnn32', 32, 'amp', 500.0, 100), line('resnet50', 32, 'amp', 100.0, 4000)]
REFERENCE = [line('resnet18', 128, 'fp32', 1000.0, 4000), line('resnet18', 128, 'tf32', 4000.0, 4000),
             line('resnet18', 128, 'amp', 2000.0, 2800), line('resnet18', 128, 'compile', 2500.0, 2000),
             line('resnet18', 128, 'graphs', 2200.0, 9000), line('resnet18', 128, 'amp', 1000.0, 1),
             line('simplecnn32', 32, 'graphs', 250.0, 50), line('simplecnn32', 32, 'fp32', 9999.0, 50)]


class Table(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dyno-bench-')

    def tearDown(self):
        shutil.rmtree(self.folder)

    def file(self, name, lines):
        path = os.path.join(self.folder, name)
        with open(path, 'w') as file:
            file.writelines((text if isinstance(text, str) else json.dumps(text)) + '\n' for text in lines)
        return path

    def bench(self, *arguments, expect=0):
        done = subprocess.run([sys.executable, '-B', BENCH, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def rows(self, *arguments):
        """Returns (workload, mode) -> the other cells, and the last lines."""
        here, there = self.file('here', HERE), self.file('there', ['a log line', '', *REFERENCE])
        lines = self.bench('--measured', here, '--reference', there, *arguments).stdout.splitlines()
        self.assertEqual(lines[1].split(), 'workload batch mode images/s step ms MiB reference images/s ratio MiB memory'.split())
        cells = [text.split() for text in lines[2:2 + len(HERE)]]
        return {(c[0], c[2]): [c[1], *c[3:]] for c in cells}, lines[2 + len(HERE):]

    def test_fp32_beside_fp32_and_amp_beside_the_fastest(self):
        rows, _ = self.rows()
        self.assertEqual(rows['resnet18', 'fp32'], ['128', '900.0', '142.222', '3000', 'fp32', '1000.0', '0.900', '4000', '0.750'])
        # The rate is that of compile, which is the fastest, but the peak is that of the faster amp
        # line.
        self.assertEqual(rows['resnet18', 'amp'], ['128', '2000.0', '64.000', '1400', 'compile', '2500.0', '0.800', '2800', '0.500'])
        self.assertEqual(rows['simplecnn32', 'amp'], ['32', '500.0', '64.000', '100', 'graphs', '250.0', '2.000', '-', '-'])
        self.assertEqual(rows['resnet50', 'amp'][4:], ['-', '-', '-', '-', '-'])

    def test_means_leave_out_what_has_no_reference(self):
        _, means = self.rows()
        self.assertEqual(means, ['fp32: geometric mean ratio of 1: 0.900', 'fp32: geometric mean memory of 1: 0.750',
                                 'amp: geometric mean ratio of 2: 1.265', 'amp: geometric mean memory of 1: 0.500'])

    def test_match_names_other_modes(self):
        rows, _ = self.rows('--match', 'fp32=tf32', '--match', 'amp=amp+graphs')
        self.assertEqual(rows['resnet18', 'fp32'][4:7], ['tf32', '4000.0', '0.225'])
        self.assertEqual(rows['resnet18', 'amp'][4:7], ['graphs', '2200.0', '0.909'])
        here = self.file('here', HERE)
        self.assertIn('--match amp', self.bench('--measured', here, '--match', 'amp', expect=1).stderr)

    def test_without_a_reference(self):
        lines = self.bench('--measured', self.file('here', HERE)).stdout.splitlines()
        self.assertEqual(lines[1].split(), 'workload batch mode images/s step ms MiB'.split())
        self.assertEqual(len(lines), 2 + len(HERE))

    def test_files_that_are_no_reference(self):
        here = self.file('here', HERE)
        for content, word in (([], 'no line'), (['{"images_per_s": 3}'], 'line 1'), (['{"images_per_s"'], 'line 1'),
                              ([line('resnet18', 128, 'amp', 1.0, 1) | {'images_per_s': None}], 'line 1')):
            done = self.bench('--measured', here, '--reference', self.file('bad', content), expect=1)
            self.assertIn(word, done.stderr)
            self.assertNotIn('Traceback', done.stderr)
        self.assertIn('No such file', self.bench('--measured', here, '--reference', '/nonexistent', expect=1).stderr)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
