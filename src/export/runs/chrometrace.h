/* SPDX-License-Identifier: MIT */
/* Traces in the Trace Event Format of Chrome's about:tracing, which Perfetto (ui.perfetto.dev)
 * opens: a JSON object with traceEvents.  Times are microseconds from a beginning that the caller
 * chooses.
 *
 * Events of one thread do not overlap unless one lies within the other; the caller guarantees that.
 * Source: "Trace Event Format", the Chromium project. */
#pragma once
#include "jsontext.h"

G_BEGIN_DECLS

typedef struct _DynoTrace DynoTrace;

/* Errors: DYNO_BASE_ERROR_IO, _DISK.  _finish reports later errors. */
DynoTrace *dyno_trace_new (const char *path, GError **error);
/* Writes the rest and frees the trace in any case; the file is then complete, or on failure
 * unchanged. */
gboolean dyno_trace_finish (DynoTrace *trace, GError **error);
/* Frees the trace and leaves the file at its path as it was; NULL: does nothing. */
void dyno_trace_abandon (DynoTrace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTrace, dyno_trace_abandon)

/* Rows are shown in the order of process, then of thread. */
void dyno_trace_name_process (DynoTrace *trace, guint process, const char *name);
void dyno_trace_name_thread (DynoTrace *trace, guint process, guint thread, const char *name);

/* A span of time.  Its arguments are added as members to the object that _begin returns; _end ends
 * it. */
DynoJson *dyno_trace_begin (DynoTrace *trace, guint process, guint thread, const char *name,
                            const char *category, double begin_us, double duration_us);
void dyno_trace_end (DynoTrace *trace);

/* Sets a value from this time on, drawn as a curve of this name; a value that is not finite is left
 * out. */
void dyno_trace_count (DynoTrace *trace, guint process, const char *name, const char *unit,
                       double time_us, double value);

G_END_DECLS
