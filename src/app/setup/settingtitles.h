/* SPDX-License-Identifier: MIT */
/* Replaces the keys of settings, by which the engine and dynoctl name them, by the window's
 * titles. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* "Set workers=8; try a lower lr" becomes "Set “Workers 8”; try a lower “Learning rate”".  A key in
 * quotation marks, such as a file's name, and a word that is also a key ("workers") are kept.
 * NULL: NULL; g_free. */
char *dyno_setting_titles_put (const char *text);

G_END_DECLS
