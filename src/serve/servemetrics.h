/* SPDX-License-Identifier: MIT */
/* Counters of one model, as text for Prometheus.  Any thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoServeMetrics DynoServeMetrics;

DynoServeMetrics *dyno_serve_metrics_new (guint32 max_batch);
void dyno_serve_metrics_free (DynoServeMetrics *metrics); /* NULL: nothing */

/* Counts a response with its HTTP status and its duration in microseconds. */
void dyno_serve_metrics_add_request (DynoServeMetrics *metrics, guint status, gint64 took_us);
void dyno_serve_metrics_add_batch (DynoServeMetrics *metrics, guint32 n);

typedef struct {
  const char *model; /* a valid name, which needs no escaping; "": requests for no model */
  DynoServeMetrics *metrics;
  guint queue_requests;
  guint64 queue_samples;
} DynoServeMetricsRow;

/* The metrics of all models in the text format 0.0.4: each metric once, with its help and type,
 * then one line for each model.  g_free. */
char *dyno_serve_metrics_to_text (const DynoServeMetricsRow *rows, guint n);

G_END_DECLS
