/* SPDX-License-Identifier: MIT */
/* Writes trace events as JSON; the text is flushed to the file in blocks of FLUSH_BYTES. */
#include "chrometrace.h"
#include "outfile.h"
#include <math.h>
#include <string.h>

#define FLUSH_BYTES 65536

struct _DynoTrace {
  DynoOutFile *file;
  DynoJson json;
};

DynoTrace *
dyno_trace_new (const char *path, GError **error)
{
  DynoOutFile *file = dyno_out_file_new (path, error);
  DynoTrace *trace;

  if (!file)
    return NULL;
  trace = g_new0 (DynoTrace, 1);
  trace->file = file;
  dyno_json_init (&trace->json, 0);
  dyno_json_begin_object (&trace->json, NULL);
  dyno_json_string (&trace->json, "displayTimeUnit", "ms");
  dyno_json_begin_array (&trace->json, "traceEvents");
  return trace;
}

static void
flush (DynoTrace *trace)
{
  dyno_out_file_append (trace->file, trace->json.text->str, trace->json.text->len);
  g_string_truncate (trace->json.text, 0);
}

gboolean
dyno_trace_finish (DynoTrace *trace, GError **error)
{
  gboolean written;

  dyno_json_end_array (&trace->json);
  dyno_json_end_object (&trace->json);
  flush (trace);
  written = dyno_out_file_finish (g_steal_pointer (&trace->file), error);
  dyno_trace_abandon (trace);
  return written;
}

void
dyno_trace_abandon (DynoTrace *trace)
{
  if (!trace)
    return;
  dyno_out_file_abandon (trace->file);
  dyno_json_clear (&trace->json);
  g_free (trace);
}

static void
begin_event (DynoTrace *trace, const char *phase, const char *name, guint process, guint thread)
{
  if (trace->json.text->len >= FLUSH_BYTES)
    flush (trace);
  dyno_json_begin_object (&trace->json, NULL);
  dyno_json_string (&trace->json, "ph", phase);
  dyno_json_string (&trace->json, "name", name);
  dyno_json_uint (&trace->json, "pid", process);
  dyno_json_uint (&trace->json, "tid", thread);
}

/* Rounds microseconds to whole nanoseconds, the resolution that readers keep.  Beginnings and ends
 * are rounded and lengths follow from them, so that nested spans stay nested. */
static double
round_time (double us)
{
  return round (MAX (us, 0) * 1000) / 1000;
}

static void
put_name (DynoTrace *trace, const char *event, guint process, guint thread, const char *name)
{
  begin_event (trace, "M", event, process, thread);
  dyno_json_begin_object (&trace->json, "args");
  dyno_json_string (&trace->json, "name", name);
  dyno_trace_end (trace);
}

static void
put_order (DynoTrace *trace, const char *event, guint process, guint thread, guint order)
{
  begin_event (trace, "M", event, process, thread);
  dyno_json_begin_object (&trace->json, "args");
  dyno_json_uint (&trace->json, "sort_index", order);
  dyno_trace_end (trace);
}

void
dyno_trace_name_process (DynoTrace *trace, guint process, const char *name)
{
  put_name (trace, "process_name", process, 0, name);
  put_order (trace, "process_sort_index", process, 0, process);
}

void
dyno_trace_name_thread (DynoTrace *trace, guint process, guint thread, const char *name)
{
  put_name (trace, "thread_name", process, thread, name);
  put_order (trace, "thread_sort_index", process, thread, thread);
}

DynoJson *
dyno_trace_begin (DynoTrace *trace, guint process, guint thread, const char *name,
                  const char *category, double begin_us, double duration_us)
{
  begin_event (trace, "X", name, process, thread);
  dyno_json_string (&trace->json, "cat", category);
  dyno_json_double (&trace->json, "ts", round_time (begin_us));
  dyno_json_double (
      &trace->json, "dur",
      round_time (round_time (begin_us + MAX (duration_us, 0)) - round_time (begin_us)));
  dyno_json_begin_object (&trace->json, "args");
  return &trace->json;
}

void
dyno_trace_end (DynoTrace *trace)
{
  dyno_json_end_object (&trace->json);
  dyno_json_end_object (&trace->json);
}

void
dyno_trace_count (DynoTrace *trace, guint process, const char *name, const char *unit,
                  double time_us, double value)
{
  if (!isfinite (value))
    return;
  begin_event (trace, "C", name, process, 0);
  dyno_json_double (&trace->json, "ts", round_time (time_us));
  dyno_json_begin_object (&trace->json, "args");
  dyno_json_double (&trace->json, unit && *unit ? unit : "value", value);
  dyno_trace_end (trace);
}
