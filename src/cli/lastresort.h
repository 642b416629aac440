/* SPDX-License-Identifier: MIT */
/* The end of a process that got no memory where nothing can be done about it: in a driver, in a C++
 * library, in GLib.  Instead of a signal it is exit code 6 with a line that says why; files are whole
 * after it, for they are replaced atomically. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Once from main, before there are threads.  Signals that somebody handles already (a sanitizer)
 * stay his. */
void dyno_last_resort_init (void);

G_END_DECLS
