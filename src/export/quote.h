/* SPDX-License-Identifier: MIT */
/* Writes names and numbers in the syntax of the export languages.  A name comes from a user or a
 * disk and may hold any byte but 0: the written text stands on one line, is one value for the
 * language's parser, and is read back as the name itself. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* A string of Python, in single quotes.  A byte that is not UTF-8 is a surrogate, as in Python's
 * own file functions.  All functions here: g_free. */
char *dyno_quote_python (const char *text);
/* A double-quoted scalar of YAML, which has no bytes: text that is not UTF-8 is replaced. */
char *dyno_quote_yaml (const char *text);
/* A word of bash. */
char *dyno_quote_shell (const char *text);

/* A floating-point number for Python and for YAML 1.1, which reads 1e-05 as a word: it has a '.'
 * and the fewest digits that read back exactly. */
char *dyno_quote_double (double value);

G_END_DECLS
