#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes po/presets.h: what the presets that come with Dyno say to people, for xgettext, which
cannot read preset files.

Usage: presets.py SOURCE_ROOT >po/presets.h; the test `potfiles` compares."""
import json
import re
import sys
from pathlib import Path

print('/* SPDX-License-Identifier: MIT */\n/* From data/presets by po/presets.py, for xgettext alone: nothing compiles this. */')
for path in sorted(Path(sys.argv[1], 'data/presets').glob('*.preset')):
    for text in re.findall(r'^advice=(.*)$', path.read_text(encoding='utf-8'), re.M):
        print(f'/* xgettext:no-c-format */\nN_ ({json.dumps(text, ensure_ascii=False)})')
