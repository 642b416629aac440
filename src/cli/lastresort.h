/* SPDX-License-Identifier: MIT */
/* Ends the process when an allocation fails in code that cannot handle this: in a driver, a C++
 * library, or GLib.  The process ends with exit code 6 and a line with the cause, instead of by a
 * signal; its files are intact, since they are replaced atomically. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* To be called once from main, before there are threads.  Signals that are handled already (by a
 * sanitizer) keep their handlers. */
void dyno_last_resort_init (void);

G_END_DECLS
