/* SPDX-License-Identifier: MIT */
/* Reports whether the process can still get memory.  Libraries that Dyno uses (drivers with their
 * compilers, C++ ones) end the process where they get none, so their callers check before. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Whether the process can get so many bytes of writable address space, in one piece, now.  No page
 * is touched: the test costs two system calls.  Safe in a signal handler; errno stays. */
gboolean dyno_room_has (guint64 bytes);

G_END_DECLS
