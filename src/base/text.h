/* SPDX-License-Identifier: MIT */
/* Text from outside: makes names of files safe to show, and guesses misspelt words. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* TRUE for characters that a terminal interprets instead of showing them: control characters, line
 * and paragraph separators, and marks that turn the direction of writing. */
gboolean dyno_text_is_control (gunichar c);

/* The text as valid UTF-8 on one line, with control characters as escapes (\n, \t, \x1b, \u202e),
 * so that no name can move the cursor, colour the terminal or begin a line of its own.  g_free. */
char *dyno_text_visible (const char *text);

/* A title for the middle of a sentence: words with a capital at their beginning only are in lower
 * case, abbreviations stay: "macro F1", "ROC AUC", "mean IoU".  g_free. */
char *dyno_text_title (const char *title);

/* The word that goes with a number in English: "1 step", "2 steps".  For texts that are translated,
 * ngettext chooses between whole sentences. */
const char *dyno_plural (guint64 n, const char *one, const char *many);

/* The entry of words (NULL-terminated) that is the fewest edits from word (Levenshtein; upper and
 * lower case are equal), the first of several; NULL: none is within most_edits. */
const char *dyno_text_nearest (const char *word, const char *const *words, guint most_edits);

G_END_DECLS
