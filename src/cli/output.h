/* SPDX-License-Identifier: MIT */
/* Standard output and standard error of dynoctl: JSON lines, tables, amounts as text.  When the
 * reader closes the pipe, the run continues and its output is dropped. */
#pragma once
#include "jsontext.h"

G_BEGIN_DECLS

void dyno_out_text (const char *text); /* unescaped: for Dyno's own text */
/* Print one line each, with control characters, as in file names, escaped (dyno_text_visible). */
void dyno_out_line (const char *format, ...) G_GNUC_PRINTF (1, 2);
void dyno_error_line (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* Prints a line that follows an error line and is not itself the error. */
void dyno_error_hint (const char *format, ...) G_GNUC_PRINTF (1, 2);
void dyno_out_json (DynoJson *json); /* prints one line and clears json */
void dyno_out_flush (void);
/* To be called before everything else, so that no file that is opened later gets the descriptor of
 * a closed standard stream. */
void dyno_out_init (void);
/* errno of the first write to standard output that failed, except with EPIPE; 0: none failed. */
int dyno_out_get_problem (void);
/* Suppresses all output (TRUE), or allows it again: only one of several ranks prints. */
void dyno_out_mute (gboolean mute);
/* The last error line, even if it was suppressed; NULL: none. */
const char *dyno_out_get_last_error (void);
/* Returns FALSE once the reader of standard output has closed the pipe; for verbs that only
 * print. */
gboolean dyno_out_has_reader (void);
/* Prints the event of a warning, {"event": "warning", "text": ...}. */
void dyno_out_warning_event (const char *text);
/* Prints the event of a failure, {"event": "error", "text": ..., "code": ...}; and, where no such
 * event was printed, the same with the last line of standard error. */
void dyno_out_error_event (const char *text, int code);
void dyno_out_missing_error_event (int code);
gboolean dyno_out_is_terminal (void);
gboolean dyno_out_has_colour (void); /* TRUE on a terminal that is not dumb, without NO_COLOR */

/* "4.2 s", "12:05", "1:02:03", "-" where it is not known.  g_free, as below. */
char *dyno_text_duration (double seconds);
/* Three digits, without an exponent for large numbers: "4311", "61.3", "0.0204"; "-" for NaN. */
char *dyno_text_rate (double rate);

/* A table: the first row is the heading.  Cells that look like numbers are aligned to the right. */
typedef struct _DynoTable DynoTable;
DynoTable *dyno_table_new (const char *first_heading, ...) G_GNUC_NULL_TERMINATED;
void dyno_table_add (DynoTable *table, char *first_cell,
                     ...) G_GNUC_NULL_TERMINATED; /* takes the cells, which are g_free'd */
void dyno_table_print (DynoTable *table);
void dyno_table_free (DynoTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTable, dyno_table_free)

G_END_DECLS
