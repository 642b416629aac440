/* SPDX-License-Identifier: MIT */
/* The engine names settings by their keys, which dynoctl takes; the window has their titles. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* "Set workers=8; try a lower lr" becomes "Set “Workers 8”; try a lower “Learning rate”".  A key in
 * quotation marks, as of a file, and a word that is also a key ("workers") stay.  NULL: NULL;
 * g_free. */
char *dyno_setting_titles_put (const char *text);

G_END_DECLS
