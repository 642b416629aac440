/* SPDX-License-Identifier: MIT */
/* A cancellable that is cancelled by another one or by the clock, whichever comes first; so that
 * waiting, compiling and decoding end at a measurement's deadline. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _DynoDeadline DynoDeadline;

/* time_us: monotonic.  cancellable: NULL, or the one that ends it earlier.  A time that is over
 * cancels at once.  Errors: NOMEM-like ones of starting a thread. */
DynoDeadline *dyno_deadline_new (gint64 time_us, GCancellable *cancellable, GError **error);
void dyno_deadline_free (DynoDeadline *deadline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoDeadline, dyno_deadline_free)

GCancellable *dyno_deadline_get_cancellable (DynoDeadline *deadline); /* owned by it */

/* FALSE: over, error is set: G_IO_ERROR_CANCELLED by the other cancellable, _TIMED_OUT by the
 * clock. */
gboolean dyno_deadline_check (DynoDeadline *deadline, GError **error);

/* An error of what was cancelled by the clock becomes TIMED_OUT; any other stays.  *error may be
 * NULL. */
void dyno_deadline_explain (DynoDeadline *deadline, GError **error);

G_END_DECLS
