/* SPDX-License-Identifier: MIT */
/* Translation of the libraries' messages.  They are translated where the program has set a locale
 * and bound the domain, as the window does; dynoctl sets none and writes English.  Only .c files
 * include this; GTK's side has <glib/gi18n.h>. */
#pragma once
#include <glib.h>

#define _(text)                     g_dgettext ("dyno", text)
#define N_(text)                    (text)
#define C_(context, text)           g_dpgettext2 ("dyno", context, text)
#define ngettext(one, many, number) g_dngettext ("dyno", one, many, number)
