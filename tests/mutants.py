# SPDX-License-Identifier: MIT
"""Generated errors: places in C code at which an operator makes a mistake that a person makes.
Comments, strings, characters, lines of the preprocessor and assertions are never touched.
tests/mutate applies the errors; tests/dist/mutants tests the operators."""
import os, re


def mask(text):
    """Replaces everything that is not code with blanks; length and line breaks are kept."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match.group(0))
    # A preprocessor line may hold a comment, and a comment may hold quotes, so one pass matches all
    # of them, and the construct that begins first wins.
    parts = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*'
    text = re.sub(parts, blank, text, flags=re.S | re.M)
    # Only sanitizers see a leak in a destructor or an allocation of one element more or less, and a
    # wrong assertion is no error of the program.
    text = re.sub(r'^\w+_(?:free|clear|unref|finalize|dispose) \(.*?^}', blank, text, flags=re.S | re.M)
    return re.sub(r'^ *(?:g_return_\w+|g_assert\w*|G_STATIC_ASSERT) \([^;]*\);|\bg_(?:new0?|malloc0?|alloca) \([^;]*;', blank, text, flags=re.M)


NAME = r'[A-Za-z_][\w.]*(?:->\w+)*'
CONDITION = r'(?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*'


def negate(match):
    condition = match[0]
    if condition[0] == '!' and not re.search(r'&&|\|\||[=<>?]', condition.replace('->', '')):
        return condition[1:]
    return '!' + condition if re.fullmatch(NAME, condition) else f'!({condition})'


# Each operator has a pattern and the replacement of its match: a re template or a function of the
# match.
OPERATORS = {
    # Off-by-one errors.
    'bound': (r'(?<= )(<=|>=|<|>)(?= (?!0\.|\d+\.))', lambda m: {'<': '<=', '<=': '<', '>': '>=', '>=': '>'}[m[1]]),
    'one less': (r'(?<=[\w)\]]) [+-] 1\b(?!\.|e|\d)', ''),
    # Excludes leaks, which fail no test.
    'first left out': (r'(?<=for \()([\w ]*?\w+ = )0;(?![^\n]*\n[^\n]*(?:free|clear|unref) )', r'\g<1>1;'),
    # Wrong signs and swapped operands.
    'sign': (r'(?<=[\w)\]] )([+-])(?==? [\w(])', lambda m: '-' if m[1] == '+' else '+'),
    'swapped operands': (rf'(?<![\w.>*/+-] )(?<![\w.>])({NAME}) ([-/]) ({NAME})(?![\w.(\[>-]| \(| ?\*| /)', r'\3 \2 \1'),
    'other extreme': (r'\b(MIN|MAX)(?= \()', lambda m: 'MAX' if m[1] == 'MIN' else 'MIN'),
    # Errors of logic.
    'junction': (r'(?<= )(&&|\|\|)(?= )', lambda m: '||' if m[1] == '&&' else '&&'),
    'lost flag': (r'(?<=\w) \| [A-Z][A-Z0-9_]+\b(?! \()', ''),
    'wrong guard': (rf'(?<=\bif \(){CONDITION}(?=\)\n *return\b)', negate),
    # Wrong units.
    'unit': (r'(?<![\w.])(1000|1024|1e3|1e6|1e9|G_USEC_PER_SEC)(?![\w.])',
             lambda m: {'1000': '1024', '1024': '1000', '1e3': '1e6', '1e6': '1e3', '1e9': '1e6', 'G_USEC_PER_SEC': '1000'}[m[1]]),
    # State that is not reset.
    'not reset': (rf'^( *){NAME}(?:->|\.)\w+ = (?:0|NULL|FALSE|-1);|^( *)g_\w+_(?:set_size|remove_all|truncate) \([^;\n]*\);',
                  lambda m: (m[1] or m[2] or '') + ';'),
}


def places(text):
    """Maps each operator's name to the (start, end, replacement) of every place where it
    applies."""
    code, found = mask(text), {}
    for name, (pattern, replacement) in OPERATORS.items():
        for match in re.finditer(pattern, code, re.M):
            new = replacement(match) if callable(replacement) else match.expand(replacement)
            # A match that spans masked text, such as a call with a string, would lose that text.
            if code[match.start():match.end()] == text[match.start():match.end()] and new != match.group(0):
                found.setdefault(name, []).append((match.start(), match.end(), new))
    return found


def draw(text, random):
    """Draws a random error as (operator, line number, changed text), or None.  The operator is
    drawn first, since most places are comparisons."""
    found = places(text)
    if not found:
        return None
    name = random.choice(sorted(found))
    start, end, new = random.choice(found[name])
    return name, text.count('\n', 0, start) + 1, text[:start] + new + text[end:]


# The suites that cover a layer, its own first; a layer that is not listed has the suite of its
# name.  The tests of train also cover jobs, weights and records, which sessions use.
SUITES = {'app': ['ui'], 'job': ['job', 'train'], 'weights': ['weights', 'train'], 'record': ['record', 'train']}

# A test of at most this many seconds (its priority) is one of the fast ones of its layer.
FAST_SECONDS = 30


def is_related(stem, test):
    return stem == test or len(min(stem, test, key=len)) >= 3 and (stem.startswith(test) or test.startswith(stem))


def choose_tests(path, tests):
    """Names of the tests that cover a source file: those whose names match its stem, then the fast
    ones of its layer's suites, the longest last.  tests: {name: {suite, priority}}."""
    layer, stem = path.split('/')[1], os.path.splitext(os.path.basename(path))[0]
    suites = SUITES.get(layer, [layer])
    own = sorted((name for name in tests if tests[name]['suite'] in suites),
                 key=lambda name: (suites.index(tests[name]['suite']), tests[name]['priority'], name))
    related = [name for name in own if is_related(stem, name.removeprefix(tests[name]['suite'] + '-'))]
    # The suite of a kernel's numbers is no test of a file that happens to begin with its name.
    related.sort(key=lambda name: not name.endswith(stem))
    return related + [name for name in own if name not in related and tests[name]['priority'] <= FAST_SECONDS]
