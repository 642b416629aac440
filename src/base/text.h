/* SPDX-License-Identifier: MIT */
/* Text of others: names of files made fit to be shown, misspelt words guessed. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* TRUE for what is not a sign but an order to the terminal: control characters, line and paragraph
 * separators, and marks that turn the direction of writing. */
gboolean dyno_text_is_control (gunichar c);

/* The text as valid UTF-8 on one line, such signs as escapes (\n, \t, \x1b, \u202e), so that no
 * name can move the cursor, colour the terminal or begin a line of its own.  g_free. */
char *dyno_text_visible (const char *text);

/* The word that goes with a number in English: "1 step", "2 steps".  Of texts that are translated
 * ngettext decides, in whole sentences. */
const char *dyno_plural (guint64 n, const char *one, const char *many);

/* The first of the words (NULL-terminated) that is the fewest edits (Levenshtein; upper and lower
 * case are equal) from word, and at most that many; NULL: none is. */
const char *dyno_text_nearest (const char *word, const char *const *words, guint most_edits);

G_END_DECLS
