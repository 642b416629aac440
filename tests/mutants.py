# SPDX-License-Identifier: MIT
"""Generated errors: places in C code at which an operator makes a mistake that a person makes.
Comments, strings, characters, lines of the preprocessor and assertions are never touched.
tests/mutate applies the errors; tests/dist/mutants tests the operators."""
import os, re


def mask(text):
    """The text with blanks in place of everything that is not code; length and lines are the same."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match.group(0))
    # A comment may stand in a line of the preprocessor, and quotes in a comment: one pass finds all
    # of them, and the one that begins first counts.
    parts = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*'
    text = re.sub(parts, blank, text, flags=re.S | re.M)
    # A leak in a destructor, and an allocation of one element more or less, are seen only by
    # sanitizers; a wrong assertion is no error of the program.
    text = re.sub(r'^\w+_(?:free|clear|unref|finalize|dispose) \(.*?^}', blank, text, flags=re.S | re.M)
    return re.sub(r'^ *(?:g_return_\w+|g_assert\w*|G_STATIC_ASSERT) \([^;]*\);|\bg_(?:new0?|malloc0?|alloca) \([^;]*;', blank, text, flags=re.M)


NAME = r'[A-Za-z_][\w.]*(?:->\w+)*'
CONDITION = r'(?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*'


def negate(match):
    condition = match[0]
    if condition[0] == '!' and not re.search(r'&&|\|\||[=<>?]', condition.replace('->', '')):
        return condition[1:]
    return '!' + condition if re.fullmatch(NAME, condition) else f'!({condition})'


# Each operator has a pattern and the replacement of its match: a template of re, or a function of
# the match.
OPERATORS = {
    # Off by one.
    'bound': (r'(?<= )(<=|>=|<|>)(?= (?!0\.|\d+\.))', lambda m: {'<': '<=', '<=': '<', '>': '>=', '>=': '>'}[m[1]]),
    'one less': (r'(?<=[\w)\]]) [+-] 1\b(?!\.|e|\d)', ''),
    'first left out': (r'(?<=for \()([\w ]*?\w+ = )0;(?![^\n]*\n[^\n]*(?:free|clear|unref) )', r'\g<1>1;'),  # a leak is no failure
    # The wrong sign, the wrong side.
    'sign': (r'(?<=[\w)\]] )([+-])(?==? [\w(])', lambda m: '-' if m[1] == '+' else '+'),
    'swapped operands': (rf'(?<![\w.>*/+-] )(?<![\w.>])({NAME}) ([-/]) ({NAME})(?![\w.(\[>-]| \(| ?\*| /)', r'\3 \2 \1'),
    'other extreme': (r'\b(MIN|MAX)(?= \()', lambda m: 'MAX' if m[1] == 'MIN' else 'MIN'),
    # Logic.
    'junction': (r'(?<= )(&&|\|\|)(?= )', lambda m: '||' if m[1] == '&&' else '&&'),
    'lost flag': (r'(?<=\w) \| [A-Z][A-Z0-9_]+\b(?! \()', ''),
    'wrong guard': (rf'(?<=\bif \(){CONDITION}(?=\)\n *return\b)', negate),
    # Units.
    'unit': (r'(?<![\w.])(1000|1024|1e3|1e6|1e9|G_USEC_PER_SEC)(?![\w.])',
             lambda m: {'1000': '1024', '1024': '1000', '1e3': '1e6', '1e6': '1e3', '1e9': '1e6', 'G_USEC_PER_SEC': '1000'}[m[1]]),
    # A state that is not reset.
    'not reset': (rf'^( *){NAME}(?:->|\.)\w+ = (?:0|NULL|FALSE|-1);|^( *)g_\w+_(?:set_size|remove_all|truncate) \([^;\n]*\);',
                  lambda m: (m[1] or m[2] or '') + ';'),
}


def places(text):
    """Operators by name, each with (start, end, replacement) of every place where it applies."""
    code, found = mask(text), {}
    for name, (pattern, replacement) in OPERATORS.items():
        for match in re.finditer(pattern, code, re.M):
            new = replacement(match) if callable(replacement) else match.expand(replacement)
            # A match around masked text, as in a call with a string, would lose that text.
            if code[match.start():match.end()] == text[match.start():match.end()] and new != match.group(0):
                found.setdefault(name, []).append((match.start(), match.end(), new))
    return found


def draw(text, random):
    """A random error as (operator, line number, changed text), or None.  The operator is drawn first,
    since most places are comparisons."""
    found = places(text)
    if not found:
        return None
    name = random.choice(sorted(found))
    start, end, new = random.choice(found[name])
    return name, text.count('\n', 0, start) + 1, text[:start] + new + text[end:]


# The suites that cover a layer, its own first, where that is not the suite of its name: sessions use
# all that jobs, weights and records are made of.
SUITES = {'app': ['ui'], 'job': ['job', 'train'], 'weights': ['weights', 'train'], 'record': ['record', 'train']}

# Seconds of a test (its priority) up to which it is one of the fast ones of a layer.
FAST_SECONDS = 30


def is_related(stem, test):
    return stem == test or len(min(stem, test, key=len)) >= 3 and (stem.startswith(test) or test.startswith(stem))


def choose_tests(path, tests):
    """Names of the tests that cover a source file: those of its suites that have its stem, then the
    fast ones of the suites, the longest last.  tests: {name: {suite, priority}}."""
    layer, stem = path.split('/')[1], os.path.splitext(os.path.basename(path))[0]
    suites = SUITES.get(layer, [layer])
    own = sorted((name for name in tests if tests[name]['suite'] in suites),
                 key=lambda name: (suites.index(tests[name]['suite']), tests[name]['priority'], name))
    related = [name for name in own if is_related(stem, name.removeprefix(tests[name]['suite'] + '-'))]
    # The suite of a kernel's numbers is no test of a file that happens to begin with its name.
    related.sort(key=lambda name: not name.endswith(stem))
    return related + [name for name in own if name not in related and tests[name]['priority'] <= FAST_SECONDS]
