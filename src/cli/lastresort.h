/* SPDX-License-Identifier: MIT */
/* Ends a process that got no memory where nothing can be done about it: in a driver, in a C++
 * library, in GLib.  The process ends with exit code 6 and a line that says why, instead of by a
 * signal; its files are whole, since they are replaced atomically. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Call once from main, before there are threads.  Signals that are handled already (by a sanitizer)
 * keep their handler. */
void dyno_last_resort_init (void);

G_END_DECLS
