/* SPDX-License-Identifier: MIT */
/* Names and numbers as the languages of the exports write them.  A name comes from a user or a disk
 * and may hold any byte but 0: what is written stands on one line, is one value for the language's
 * parser, and is read back as the name itself. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* A string of Python, in single quotes.  A byte that is no UTF-8 is a surrogate, as Python's own
 * file functions give and take it.  g_free, as all of these. */
char *dyno_quote_python (const char *text);
/* A double-quoted scalar of YAML, which has no bytes: what is no UTF-8 is replaced. */
char *dyno_quote_yaml (const char *text);
/* A word of bash. */
char *dyno_quote_shell (const char *text);

/* A floating-point number for Python and for YAML 1.1, which takes 1e-05 for a word: with a '.',
 * in the fewest digits that read back exactly. */
char *dyno_quote_double (double value);

G_END_DECLS
