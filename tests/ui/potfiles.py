#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every file with translatable strings is in po/POTFILES.in, every file there exists, po/presets.h
has the texts of the presets, po/dyno.pot those of the program, and no translation is missing or
broken.

Usage: potfiles.py SOURCE_ROOT"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(sys.argv[1])
listed = {line.strip() for line in (root / 'po/POTFILES.in').read_text().splitlines() if line.strip() and line[0] != '#'}
marked = re.compile(r'\b(?:N?_|N?C_|ngettext) ?\(\s*"')
wrong = []
for path in sorted([*root.glob('src/**/*.c'), *root.glob('ui/*.ui')]):
    name = str(path.relative_to(root))
    text = path.read_text()
    strings = 'translatable="yes"' in text if path.suffix == '.ui' else marked.search(text)
    if strings and name not in listed:
        wrong.append(f'{name} has strings for people and is not in po/POTFILES.in')
wrong += [f'{name} is in po/POTFILES.in and does not exist' for name in sorted(listed) if not (root / name).exists()]

# The names that the help quotes are those of the window.
quoted = set(re.findall('“([^”]+)”', (root / 'src/app/help.c').read_text().replace('"\n          "', '')))
strings = {text.replace('_', '') for path in [*root.glob('src/**/*.c'), *root.glob('ui/*.ui')] if path.name != 'help.c'
           for text in re.findall(r'(?:\("|translatable="yes"[^>]*>)([^"<]+)', path.read_text())}
wrong += [f'src/app/help.c names “{name}”, which no part of the window is called' for name in sorted(quoted - strings)
          if not re.match(r'(dynoctl|man) ', name)]

made = subprocess.run([sys.executable, root / 'po/presets.py', root], capture_output=True, encoding='utf-8', check=True).stdout
if made != (root / 'po/presets.h').read_text(encoding='utf-8'):
    wrong.append('po/presets.h is not what the presets say: run po/presets.py . >po/presets.h')

with tempfile.TemporaryDirectory() as folder:
    template = Path(folder) / 'dyno.pot'
    subprocess.run(['xgettext', '--from-code=UTF-8', '-k_', '-kN_', '-kC_:1c,2', '-f', 'po/POTFILES.in', '-o', template], cwd=root,
                   check=True, stderr=subprocess.DEVNULL)
    texts = []
    for file in (template, root / 'po/dyno.pot'):
        # Versions of gettext read different strings from the menu entry and the metadata, so only
        # the strings of src and ui are compared.
        plain = subprocess.run(['msgcat', '--no-wrap', file], capture_output=True, text=True, check=True).stdout
        ours = [entry for entry in plain.split('\n\n') if re.search(r'^#: .*\b(src|ui)/', entry, re.M)]
        texts.append(set(re.findall(r'^msgid(?:_plural)? "(.+)"$', '\n'.join(ours), re.M)))
    wrong += [f'po/dyno.pot {"lacks" if text in texts[0] else "still has"} “{text}”: run ninja -C build dyno-pot'
              for text in sorted(texts[0] ^ texts[1])]
    for language in (root / 'po/LINGUAS').read_text().split():
        merged = Path(folder) / f'{language}.po'
        subprocess.run(['msgmerge', '-q', '-N', '-o', merged, root / f'po/{language}.po', template], check=True)
        subprocess.run(['msgfmt', '-c', '-o', '/dev/null', merged], check=True)
        for flag in ('--untranslated', '--only-fuzzy'):
            left = subprocess.run(['msgattrib', flag, '--no-obsolete', '--no-wrap', merged], capture_output=True, text=True, check=True).stdout
            wrong += [f'po/{language}.po: {line}' for line in left.splitlines()[1:] if line.startswith('msgid "') and line != 'msgid ""']

print('\n'.join(wrong))
sys.exit(1 if wrong else 0)
