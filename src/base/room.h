/* SPDX-License-Identifier: MIT */
/* Reports whether the process can still get memory.  Libraries that Dyno uses (drivers with their
 * compilers, C++ ones) end the process where they get none, so that one who calls them looks
 * before. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Whether so many bytes of address space, in one piece and to be written to, can be had now.  Nothing
 * is touched: it costs two system calls.  Safe in a signal handler; errno stays. */
gboolean dyno_room_has (guint64 bytes);

G_END_DECLS
