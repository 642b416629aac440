/* SPDX-License-Identifier: MIT */
/* Standard output and standard error of dynoctl: JSON lines, tables, amounts in words.
 * A reader that went away is no reason to stop a run: output is then dropped. */
#pragma once
#include "jsontext.h"

G_BEGIN_DECLS

void dyno_out_text (const char *text); /* as it is: text of our own */
/* One line each: control characters are escaped (dyno_text_visible), whatever names it holds. */
void dyno_out_line (const char *format, ...) G_GNUC_PRINTF (1, 2);
void dyno_error_line (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* what follows an error, and is not the error */
void dyno_error_hint (const char *format, ...) G_GNUC_PRINTF (1, 2);
void dyno_out_json (DynoJson *json); /* one line; json is empty again */
void dyno_out_flush (void);
/* First of all: no file that is opened later may become a standard stream that was closed. */
void dyno_out_init (void);
/* errno of the first write to standard output that failed, but not because the reader went away; 0:
 * none. */
int dyno_out_get_problem (void);
/* Nothing is printed from now on, or again: of several ranks one speaks. */
void dyno_out_mute (gboolean mute);
/* The last error line, also one that was muted; NULL: none. */
const char *dyno_out_get_last_error (void);
/* FALSE: the reader of standard output went away; for what is there to be read alone. */
gboolean dyno_out_has_reader (void);
/* The event of a failure, {"event": "error", "text": ..., "code": ...}; and the same with the last
 * line of standard error where no such event was printed. */
void dyno_out_error_event (const char *text, int code);
void dyno_out_missing_error_event (int code);
gboolean dyno_out_is_terminal (void);
gboolean dyno_out_has_colour (void); /* a terminal that is not dumb, and no NO_COLOR */

/* "4.2 s", "12:05", "1:02:03", "-" where it is not known.  g_free, as below. */
char *dyno_text_duration (double seconds);
char *dyno_text_rate (
    double rate); /* three digits, and never an exponent above: "4311", "61.3", "0.0204" */

/* A table: the first row is the heading.  Cells that look like numbers are aligned to the right. */
typedef struct _DynoTable DynoTable;
DynoTable *dyno_table_new (const char *first_heading, ...) G_GNUC_NULL_TERMINATED;
void dyno_table_add (DynoTable *table, char *first_cell,
                     ...) G_GNUC_NULL_TERMINATED; /* takes the cells, which are g_free'd */
void dyno_table_print (DynoTable *table);
void dyno_table_free (DynoTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTable, dyno_table_free)

G_END_DECLS
