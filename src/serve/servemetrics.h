/* SPDX-License-Identifier: MIT */
/* Counters of one model, as text for Prometheus.  Any thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoServeMetrics DynoServeMetrics;

DynoServeMetrics *dyno_serve_metrics_new (guint32 max_batch);
void dyno_serve_metrics_free (DynoServeMetrics *metrics); /* NULL: nothing */

/* An answer with a status of HTTP, after so many microseconds. */
void dyno_serve_metrics_add_request (DynoServeMetrics *metrics, guint status, gint64 took_us);
void dyno_serve_metrics_add_batch (DynoServeMetrics *metrics, guint32 n);

typedef struct {
  const char *model; /* a good name: nothing of it is escaped; "": of no model */
  DynoServeMetrics *metrics;
  guint queue_requests;
  guint64 queue_samples;
} DynoServeMetricsRow;

/* All models in the text format 0.0.4: each metric once, with its help and type, then a line a
 * model.  g_free. */
char *dyno_serve_metrics_to_text (const DynoServeMetricsRow *rows, guint n);

G_END_DECLS
