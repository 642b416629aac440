#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report of a search, read by strict parsers: it is well-formed, complete and self-contained,
and no text becomes markup.  report.py REPORT_SAMPLE"""
import os
import re
import subprocess
import sys
import unittest
from html.parser import HTMLParser
from xml.etree import ElementTree

SAMPLE = sys.argv.pop(1)
NS = '{http://www.w3.org/1999/xhtml}'
VOID = {'meta', 'br'}


def make(kind, **environment):
    return subprocess.run([SAMPLE, kind], capture_output=True, check=True, env=os.environ | environment).stdout.decode()


class Balanced(HTMLParser):
    """Parses as a browser's tokenizer does, and checks that every opened tag is closed, in
    order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f'an attribute of {tag} twice'
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f'</{tag}>'


def page(kind, **environment):
    return ElementTree.fromstring(make(kind, **environment))


def words(element):
    return ' '.join(''.join(element.itertext()).split())


def sections(root):
    return {words(s.find(NS + 'h2')): s for s in root.iter(NS + 'section') if s.find(NS + 'h2') is not None}


def figures(root):
    return {words(f.find(f'{NS}figcaption/{NS}b')): f for f in root.iter(NS + 'figure')}


class Report(unittest.TestCase):
    def test_is_well_formed_as_xml_and_as_html(self):
        for kind in 'whole', 'hostile', 'empty', 'early', 'kept':
            text = make(kind)
            self.assertTrue(text.startswith('<!DOCTYPE html>\n'))
            ElementTree.fromstring(text)
            Balanced(text)

    def test_needs_nothing_but_itself(self):
        for kind in 'whole', 'hostile':
            text = make(kind)
            for tag, attributes in Balanced(text).seen:
                self.assertNotIn(tag, ('script', 'link', 'img', 'iframe', 'object', 'embed', 'a', 'base', 'use', 'image'))
                for name, value in attributes.items():
                    self.assertNotIn(name, ('src', 'href', 'srcset', 'xlink:href', 'data', 'action'))
                    self.assertFalse(name.startswith('on'), name)
                    self.assertTrue('http' not in (value or '') or name in ('xmlns', 'http-equiv'), value)
            self.assertNotRegex(text, r'url\s*\(|@import|javascript:')
            self.assertIn("default-src 'none'", text)

    def test_text_never_becomes_markup(self):
        whole, hostile = Balanced(make('whole')).seen, Balanced(make('hostile')).seen
        self.assertEqual([tag for tag, _ in whole], [tag for tag, _ in hostile])
        root = page('hostile')
        self.assertIn('resnet18<script>"&\'</b>]]>\\x01�&amp;\\n-->', words(root.find(f'{NS}body/{NS}main/{NS}header')))
        self.assertIn('&amp;', root.find(f'{NS}head/{NS}title').text)

    def test_tells_before_after_and_what_each_setting_brought(self):
        root = page('whole')
        parts = sections(root)
        self.assertEqual(words(next(root.iter(NS + 'h1'))), '3.42× the speed of your settings')
        bars = [words(e) for e in parts['Before and after'].iter(NS + 'div') if e.get('class', '').startswith('bar ')]
        self.assertEqual(len(bars), 4)
        self.assertIn('batch 128, AMP, 16 workers', bars[2])
        self.assertIn('8\u202f399', ''.join(parts['Before and after'].itertext()))
        effort = [[words(cell) for cell in row] for row in parts['Before and after'].iter(NS + 'tr')]
        self.assertEqual(effort[0], ['', 'samples/s', 'device at work', 'memory', '10 epochs take'])
        # 0.9 of 400,000 samples, ten times; waiting is 4.2 ms of a step of 26.0 ms without workers,
        # and 0.1 of 15.2 with 16
        self.assertEqual([row[0] for row in effort[1:]], ['Base line', 'Your settings', 'Best', 'Fastest of all'])
        self.assertEqual([row[2] for row in effort[1:]], ['84 %', '68 %', '99 %', '100 %'])
        self.assertEqual([row[4] for row in effort[1:]], ['1:37:39', '24:25', '7:09', '6:31'])
        factors = [e.text for e in parts['Before and after'].iter(NS + 'em')]
        self.assertEqual(factors, ['4.00×', '13.7×', '15.0×'])
        self.assertIn('runs at 8 903 samples/s; validation takes 0.80 s of each epoch, saving and the rest of its end 0.05 s',
                      words(parts['Before and after']))
        gains = [[words(cell) for cell in row] for row in parts['What each setting brought'].iter(NS + 'tr')]
        self.assertEqual([(g[0], g[1], g[3]) for g in gains],
                         [('Workers', '0 → 16', '4.10×'), ('Mixed precision (AMP)', 'off → on', '2.05×'),
                          ('Batch size', '16 → 128', '–'), ('Prefetch', '2 → 4', '1.41×')])
        self.assertEqual(len(list(parts['Why'].iter(NS + 'li'))), 4)

    def test_claims_no_more_than_was_proven(self):
        for kind, head, badge in (('whole', '3.42× the speed of your settings', 'proven'),
                                  ('early', 'At a first look 3.42× the speed of your settings', 'not proven'),
                                  ('noise', 'What was found may be no faster', 'not proven'),
                                  ('kept', 'Your settings are already as fast', 'proven')):
            root = page(kind)
            self.assertEqual(words(next(root.iter(NS + 'h1'))), head)
            self.assertEqual([words(e) for e in root.iter(NS + 'span') if e.get('class') == 'badge'], [badge])
            self.assertEqual(next(sections(root)['Before and after'].iter(NS + 'em'), None) is None, kind == 'noise')

    def test_the_best_that_is_the_fastest_is_told_once(self):
        """Settings that differ only in the learning rate, which follows the batch, count as the
        same."""
        for kind, bars in (('whole', 4), ('kept', 3)):
            classes = [e.get('class') for e in page(kind).iter(NS + 'div')]
            self.assertEqual(len([c for c in classes if c and c.startswith('bar ')]), bars)

    def test_memory_has_a_unit_of_its_size(self):
        for kind, unit in (('whole', 'GiB'), ('early', 'MiB')):
            figure = figures(page(kind))['Device memory by batch size']
            self.assertEqual(words(figure.find(f'{NS}figcaption/{NS}span')), unit)

    def test_plans_are_compared_with_trials_that_ran(self):
        """A trial that failed has a plan, but no memory."""
        self.assertRegex(make('whole'), r'Planned and measured memory are equal in all \d+ trials that have both')

    def test_the_largest_batch_is_one_that_ran(self):
        figure = figures(page('whole'))['Device memory by batch size']
        self.assertIn('The largest batch that ran is 256; by the plan 544 would fit.', words(figure))

    def test_every_trial_is_a_row(self):
        rows = list(sections(page('whole'))['Every trial'].find(f'.//{NS}tbody'))
        self.assertEqual([words(row[0]) for row in rows], [str(n) for n in range(1, 13)])
        self.assertEqual([row.get('class') for row in rows if 'best' in row.get('class')], ['ok best', 'ok best'])
        self.assertEqual(len(rows), 12)
        failed = {words(row[10]): words(row[2]) for row in rows if words(row[3]) == ''}
        self.assertEqual(set(failed), {'does not fit', 'out of memory', 'dropped'})
        self.assertIn('the driver refused 1.1 GiB', failed['out of memory'])

    def test_every_point_is_drawn_inside_its_plot(self):
        drawn = figures(page('whole'))
        dots = {title: len(list(figure.iter(NS + 'circle'))) for title, figure in drawn.items()}
        for title, points, keys in (('Throughput by batch size', 7, 2), ('Device memory by batch size', 7, 0),
                                    ('Rate of the data pipeline by itself', 12, 2), ('Rate of the device by itself', 14, 2),
                                    ('Predicted and measured', 8, 0)):
            self.assertEqual(dots[title], points + keys, title)
        for title, figure in drawn.items():
            svg = next(s for s in figure.iter(NS + 'svg') if s.get('class') == 'plot')
            width, height = map(float, svg.get('viewBox').split()[2:])
            for e in svg.iter():
                for name, most in (('x', width), ('cx', width), ('x1', width), ('x2', width),
                                   ('y', height), ('cy', height), ('y1', height), ('y2', height)):
                    if e.get(name) is not None:
                        self.assertTrue(-1 <= float(e.get(name)) <= most + 1, (title, e.tag, name, e.get(name)))
                for x, y in re.findall(r'[ML](\S+) ([^ML]+)', e.get('d', '')):
                    self.assertTrue(0 <= float(x) <= width and 0 <= float(y) <= height, title)

    def test_a_point_lies_where_its_value_is(self):
        """Each doubling of the batch is the same distance in x; y is proportional to the memory."""
        svg = figures(page('whole'))['Device memory by batch size']
        dots = list(svg.iter(NS + 'circle'))
        x = [float(d.get('cx')) for d in dots]
        steps = [b - a for a, b in zip(x, x[1:])]
        self.assertLess(max(steps) - min(steps), 0.1)
        values = [float(words(d).split('GiB: ')[1]) for d in dots]
        y = [float(d.get('cy')) for d in dots]
        slopes = [(y[i + 1] - y[0]) / (values[i + 1] - values[0]) for i in range(2, len(y) - 1)]
        self.assertLess(max(slopes) - min(slopes), 0.2)
        self.assertLess(max(slopes), 0)

    def test_each_ceiling_is_of_its_own_knob(self):
        drawn = figures(page('whole'))
        for title, knob, values in (('Rate of the data pipeline by itself', 'workers', ['0', '1', '2', '4', '8', '16']),
                                    ('Rate of the device by itself', 'batch size', ['8', '16', '32', '64', '128', '256', '512'])):
            dots = [words(t) for t in drawn[title].iter(NS + 'title')]
            self.assertEqual([d.split(';')[0] for d in dots], [f'{knob}: {value}' for value in values] * 2)
        self.assertEqual(words(next(drawn['Rate of the data pipeline by itself'].iter(NS + 'title'))),
                         'workers: 0; samples/s: 576.0 (558.7 – 599.0)')

    def test_knee_advice_limit_and_best_are_marked(self):
        drawn = figures(page('whole'))
        marks = [words(t) for t in drawn['Throughput by batch size'].iter(NS + 'text') if 'mark' in t.get('class')]
        self.assertEqual(marks, ['advised: within 3 %', 'fastest', 'knee'])
        for title, label in (('Device memory by batch size', 'limit 16.0\u00a0GiB'),
                             ('Rate of the device by itself', 'the best, both together')):
            self.assertEqual([t.text for t in drawn[title].iter(NS + 'text') if 'limit' in t.get('class')], [label])

    def test_losses_of_both_precisions_and_skipped_steps(self):
        drawn = figures(page('whole'))
        lines = {p.get('class'): p.get('d') for p in next(s for s in drawn['Loss in both precisions'].iter(NS + 'svg')
                                                          if s.get('class') == 'plot').iter(NS + 'path')}
        self.assertEqual((lines['line c0'].count('M'), lines['line c0'].count('L')), (1, 47))
        # a NaN loss is a gap
        self.assertEqual((lines['line c1'].count('M'), lines['line c1'].count('L')), (2, 45))
        skipped = [words(t) for t in drawn['Loss scale of AMP'].iter(NS + 'title')]
        self.assertEqual([t.split(';')[0] for t in skipped], ['step: 2', 'step: 3'])

    def test_settings_are_a_file_that_can_be_copied(self):
        text = ''.join(next(page('whole').iter(NS + 'pre')).itertext())
        lines = text.splitlines()
        self.assertIn('[settings]', lines)
        for line in 'batch_size=128', 'workers=16', 'amp=true', 'lr=0.028', 'model=resnet18':
            self.assertIn(line, lines)

    def test_colours_follow_the_reader_and_every_class_has_a_rule(self):
        root = page('whole')
        style = next(root.iter(NS + 'style')).text
        self.assertIn('prefers-color-scheme: dark', style)
        self.assertIn('@media print', style)
        used = {name for e in root.iter(NS + 'svg') for child in e.iter() for name in (child.get('class') or '').split()}
        self.assertFalse({name for name in used if '.' + name not in style})
        colours = [set(re.findall(r'--(\w+):', block)) for block in re.findall(r':root \{(.*?)\}', style, re.S)]
        self.assertEqual(len(colours), 3)
        self.assertTrue(colours[0] == colours[1] == colours[2])

    def test_numbers_of_the_drawing_follow_no_locale(self):
        german = [e.get('d') for e in page('whole', LC_ALL='de_DE.UTF-8').iter(NS + 'path')]
        self.assertEqual(german, [e.get('d') for e in page('whole', LC_ALL='C').iter(NS + 'path')])

    def test_nothing_is_told_twice(self):
        """Reasons with a card or a figure of their own are stated only there."""
        said = words(page('whole'))
        for told in ('the square root of the batch', 'after 48 steps the losses differ', 'a quarter of what this machine',
                     'Other programs took up to 12 %'):
            self.assertEqual(said.count(told), 1, told)

    def test_a_search_that_found_nothing_says_so(self):
        root = page('empty')
        self.assertIn('Nothing was found', words(next(root.iter(NS + 'h1'))))
        self.assertEqual(figures(root), {})
        self.assertNotIn('Settings', sections(root))


if __name__ == '__main__':
    unittest.main()
