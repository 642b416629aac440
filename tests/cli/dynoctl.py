# SPDX-License-Identifier: MIT
"""Helpers of the dynoctl tests: they run dynoctl in a folder of its own and parse its JSON
lines."""
import json, os, resource, shutil, subprocess, sys, tempfile, unittest

PROGRAM = os.path.abspath(sys.argv[1])
TINY = 'builtin:shapes?size=16&samples=80&classes=4'
# A job small enough for a CPU: a step takes milliseconds, and its kernels compile in a third of a
# second.  lavapipe compiles kernels anew in each process; those of convolutions take most of
# another second.
SMALL = ['--model', 'mlp', '--set', 'model.width=0.125', '--set', 'batch_size=8', '--set', 'amp=false',
         '--set', 'workers=1', '--set', 'autotune=false']
# A job with convolutions, batch norms and running statistics.
CONVNET = ['--model', 'simplecnn', *SMALL[2:]]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dynoctl-')
        # The home is not the working folder, which therefore holds only files that a command was
        # asked for.
        self.home = tempfile.mkdtemp(prefix='dynoctl-home-')
        self.environment = dict(os.environ, XDG_DATA_HOME=self.home, SOURCE_DATE_EPOCH='1700000000')
        self.environment.pop('DYNO_LOG', None)

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def without_ceilings(self):
        """Returns an environment with a cache of its own that has no measured ceilings, but the
        kernels that are compiled already."""
        shared = self.environment.get('XDG_CACHE_HOME', os.path.expanduser('~/.cache'))
        own = self.path('cache')
        os.makedirs(os.path.join(own, 'dyno'))
        for name in ('dyno/shaders', 'dyno/pipelines', 'mesa_shader_cache'):
            os.makedirs(os.path.join(shared, name), exist_ok=True)
            os.symlink(os.path.join(shared, name), os.path.join(own, name))
        return dict(self.environment, XDG_CACHE_HOME=own)

    def full_disk(self, size):
        """Limits the size of files that a process can write.  A sanitizer must be the first
        library; with one, the limit is RLIMIT_FSIZE of the process."""
        preload = os.environ.get('DYNO_TEST_PRELOAD')
        if preload:
            return {'env': dict(self.environment, LD_PRELOAD=preload, DYNO_TEST_DISK=str(size))}
        return {'env': self.environment,
                'preexec_fn': lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))}

    def run_it(self, *arguments, expect=0, environment=None):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=environment or self.environment, timeout=1200,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, expect,
                         f'{arguments}\n--- stdout\n{done.stdout.decode()}\n--- stderr\n{done.stderr.decode()}')
        return done

    def lines(self, *arguments, expect=0, environment=None):
        """Parses every line of standard output as a JSON object."""
        return [json.loads(line, parse_constant=self.fail)
                for line in self.run_it(*arguments, expect=expect, environment=environment).stdout.decode().splitlines()]

    def events(self, lines, name):
        return [line for line in lines if line.get('event') == name]


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
