/* SPDX-License-Identifier: MIT */
/* A cancellable that is cancelled by another cancellable or by the clock, whichever comes first, so
 * that waiting, compiling and decoding end at a measurement's deadline. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _DynoDeadline DynoDeadline;

/* time_us: monotonic.  cancellable: NULL, or the cancellable that ends it earlier.  A time in the
 * past cancels at once.  Errors: those of starting a thread, such as lack of memory. */
DynoDeadline *dyno_deadline_new (gint64 time_us, GCancellable *cancellable, GError **error);
void dyno_deadline_free (DynoDeadline *deadline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoDeadline, dyno_deadline_free)

GCancellable *dyno_deadline_get_cancellable (DynoDeadline *deadline); /* owned by the deadline */

/* FALSE: the deadline is over and error is set: G_IO_ERROR_CANCELLED by the other cancellable,
 * _TIMED_OUT by the clock. */
gboolean dyno_deadline_check (DynoDeadline *deadline, GError **error);

/* Turns the error of an operation that the clock cancelled into TIMED_OUT; any other error stays.
 * *error may be NULL. */
void dyno_deadline_explain (DynoDeadline *deadline, GError **error);

G_END_DECLS
