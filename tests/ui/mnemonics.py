#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mnemonics SOURCE: no two controls that can be seen together share a mnemonic, in English and in
each translation.

Reads ui/*.ui and the controls that C code adds.  Templates are expanded in the window; each page of
the window's stack is checked separately, together with the controls beside the stack.  Menus and
popovers are checked separately, since they have the keyboard while they are open."""
import gettext
import glob
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

OF = {'modelrow.c': 'DynoSettingsPanel', 'evaluateview.c': 'DynoRunsPage', 'predictview.c': 'DynoRunsPage'}  # the class that gets the labels of a file without a class
# Classes that C code puts into others.
STANDS_IN = {'DynoPresetPanel': 'DynoSettingsPanel', 'DynoQueueCard': 'DynoRunsPage', 'DynoDiagnosisCard': 'DynoDiagnosePage'}
ADDED = re.compile(r'(?<!gtk_dialog_)(?:with_mnemonic|add_button|dyno_row_new|gtk_button_set_label)\b[^;]*?;', re.S)
APART = {'GtkPopover', 'GtkPopoverMenu', 'GtkMenu', 'GtkShortcutsWindow', 'GtkDialog'}


def mnemonic(label):
    found = re.search(r'_(\w)', label.replace('__', ''))
    return found.group(1).lower() if found else None


def added(text):
    """Labels that C code gives to controls; the labels of one call belong to one control and count
    as equal."""
    labels = set()
    for call in ADDED.findall(text):
        keys = {mnemonic(label): label for label in re.findall(r'_ \("([^"]*)"\)', call) if mnemonic(label)}
        labels.update(keys.values())
    return sorted(labels)


def collect(templates, element, classes=()):
    """Labels with a mnemonic: those of the element and its children, and separately those of each
    page of a stack in it."""
    here, pages = [], []
    kind = element.get('class')
    if kind in APART:
        return here, pages
    properties = {p.get('name'): p.text or '' for p in element.findall('property')}
    underline = properties.get('use-underline') == 'True' or kind in ('DynoRow', 'GtkModelButton')
    for name in ('label', 'title', 'text'):
        if underline and name in properties and mnemonic(properties[name]):
            here.append(properties[name])
    children = [o for c in element.findall('child') for o in c.findall('object')]
    if kind in templates and kind not in classes:
        children += [o for c in templates[kind].findall('child') for o in c.findall('object')]
    for child in children:
        inner, inner_pages = collect(templates, child, (*classes, kind))
        pages += inner_pages
        if kind == 'GtkStack':
            pages.append(inner)
        else:
            here += inner
    return here, pages


def catalogues(source):
    """Yields each language and the function that translates into it; strings without a translation
    stay English."""
    yield 'en', str
    with open(os.path.join(source, 'po', 'LINGUAS')) as file:
        languages = file.read().split()
    for language in languages:
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, 'made.mo')
            subprocess.run(['msgfmt', '-o', made, os.path.join(source, 'po', f'{language}.po')], check=True)
            with open(made, 'rb') as file:
                yield language, gettext.GNUTranslations(file).gettext


def clashes(labels, translate):
    keys = {}
    for label in labels:
        words = translate(label)
        if mnemonic(words):
            keys.setdefault(mnemonic(words), []).append(words)
    return [f'Alt+{key}: {", ".join(all_of)}' for key, all_of in keys.items() if len(all_of) > 1]


def main():
    source = sys.argv[1]
    templates = {}
    for path in sorted(glob.glob(os.path.join(source, 'ui', '*.ui'))):
        for template in ET.parse(path).getroot().findall('template'):
            templates[template.get('class')] = template
    for path in sorted(glob.glob(os.path.join(source, 'src', 'app', '**', '*.c'), recursive=True)):
        with open(path) as file:
            text = file.read()
        defined = re.search(r'G_DEFINE_(?:FINAL_)?TYPE\w* \((\w+)', text)
        name = defined.group(1) if defined else OF.get(os.path.basename(path))
        if not name:
            continue
        template = templates.setdefault(name, ET.Element('template'))
        known = {p.text for p in template.iter('property')}
        for label in added(text):
            if label in known:  # another state of a control of the .ui file
                continue
            template.append(ET.fromstring('<child><object class="DynoRow"><property name="label"/></object></child>'))
            template[-1][0][0].text = label
    for name, outer in STANDS_IN.items():
        templates[outer].append(ET.fromstring(f'<child><object class="{name}"/></child>'))
    here, pages = collect(templates, templates['DynoWindow'], ('DynoWindow',))
    problems, n = [], len(here) + sum(len(page) for page in pages)
    for language, translate in catalogues(source):
        problems += [f'{language}: {problem}' for page in pages or [[]] for problem in clashes(here + page, translate)]
    for problem in sorted(set(problems)):
        print(problem)
    print(f'{n} mnemonics, {len(pages)} pages')
    return 1 if problems or n < 10 else 0


if __name__ == '__main__':
    sys.exit(main())
