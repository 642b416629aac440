/* SPDX-License-Identifier: MIT */
/* Cells of the CSV files that Dyno writes, by RFC 4180.
 *
 * A spreadsheet computes a cell that begins with = + - or @ as a formula, also after a tab or a
 * line break.  Names of files, classes, runs and devices come from outside: a name that begins so
 * and is no number gets an apostrophe before it, by which a spreadsheet takes the cell as text. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Appends a cell to a line: with a comma where another cell is before it, and with quotes and the
 * apostrophe where they are needed.  An empty first cell is written as "". */
void dyno_csv_add_cell (GString *line, const char *text);
/* The same for a number, "%.9g" with '.' in any locale; an empty cell where it is not finite. */
void dyno_csv_add_number (GString *line, double value);

/* The text of a cell (without its quotes) as it was before dyno_csv_add_cell; points into cell. */
const char *dyno_csv_cell_text (const char *cell);

G_END_DECLS
