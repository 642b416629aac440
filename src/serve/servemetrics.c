/* SPDX-License-Identifier: MIT */
#include "servemetrics.h"
#include "jsontext.h"

/* The statuses that the server returns; any other status counts as the last one, 500. */
static const guint statuses[] = { 200, 400, 401, 404, 405, 413, 415, 503, 500 };
static const double latencies_s[] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                      0.25,  0.5,    1,     2.5,  5,     10 };
#define MOST_BATCH_BUCKETS 17 /* 1, 2, 4 ... 65536 */

struct _DynoServeMetrics {
  GMutex mutex;
  guint n_batch_buckets;
  guint64 requests[G_N_ELEMENTS (statuses)];
  guint64 latencies[G_N_ELEMENTS (latencies_s) + 1];
  gint64 took_us;
  guint64 batches[MOST_BATCH_BUCKETS + 1];
  guint64 samples;
};

DynoServeMetrics *
dyno_serve_metrics_new (guint32 max_batch)
{
  DynoServeMetrics *m = g_new0 (DynoServeMetrics, 1);

  g_mutex_init (&m->mutex);
  while (m->n_batch_buckets < MOST_BATCH_BUCKETS && 1u << m->n_batch_buckets < max_batch)
    m->n_batch_buckets++;
  m->n_batch_buckets = MIN (m->n_batch_buckets + 1, MOST_BATCH_BUCKETS);
  return m;
}

void
dyno_serve_metrics_free (DynoServeMetrics *m)
{
  if (!m)
    return;
  g_mutex_clear (&m->mutex);
  g_free (m);
}

void
dyno_serve_metrics_add_request (DynoServeMetrics *m, guint status, gint64 took_us)
{
  guint at = 0, bucket = 0;

  while (at + 1 < G_N_ELEMENTS (statuses) && statuses[at] != status)
    at++;
  while (bucket < G_N_ELEMENTS (latencies_s) && (double) took_us > latencies_s[bucket] * 1e6)
    bucket++;
  g_mutex_lock (&m->mutex);
  m->requests[at]++;
  m->latencies[bucket]++;
  m->took_us += took_us;
  g_mutex_unlock (&m->mutex);
}

void
dyno_serve_metrics_add_batch (DynoServeMetrics *m, guint32 n)
{
  guint bucket = 0;

  while (bucket < m->n_batch_buckets && n > 1u << bucket)
    bucket++;
  g_mutex_lock (&m->mutex);
  m->batches[bucket]++;
  m->samples += n;
  g_mutex_unlock (&m->mutex);
}

static void
put_head (GString *text, const char *name, const char *type, const char *help)
{
  g_string_append_printf (text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Buckets are cumulative; the last one has no bound. */
static void
put_histogram (GString *text, const char *name, const char *model, const guint64 *counts,
               const double *bounds, guint n, double sum)
{
  g_autofree char *whole = dyno_double_to_text (sum);
  guint64 count = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *bound = dyno_double_to_text (bounds[i]);

      count += counts[i];
      g_string_append_printf (text, "%s_bucket{model=\"%s\",le=\"%s\"} %" G_GUINT64_FORMAT "\n",
                              name, model, bound, count);
    }
  count += counts[n];
  g_string_append_printf (text, "%s_bucket{model=\"%s\",le=\"+Inf\"} %" G_GUINT64_FORMAT "\n", name,
                          model, count);
  g_string_append_printf (text, "%s_sum{model=\"%s\"} %s\n", name, model, whole);
  g_string_append_printf (text, "%s_count{model=\"%s\"} %" G_GUINT64_FORMAT "\n", name, model,
                          count);
}

static void
put_requests (GString *text, const DynoServeMetricsRow *row, const DynoServeMetrics *m)
{
  for (guint i = 0; i < G_N_ELEMENTS (statuses); i++)
    if (m->requests[i] > 0 || i == 0)
      g_string_append_printf (
          text, "dyno_requests_total{model=\"%s\",code=\"%u\"} %" G_GUINT64_FORMAT "\n", row->model,
          statuses[i], m->requests[i]);
}

static void
put_latencies (GString *text, const DynoServeMetricsRow *row, const DynoServeMetrics *m)
{
  put_histogram (text, "dyno_request_seconds", row->model, m->latencies, latencies_s,
                 G_N_ELEMENTS (latencies_s), (double) m->took_us / 1e6);
}

static void
put_batches (GString *text, const DynoServeMetricsRow *row, const DynoServeMetrics *m)
{
  double bounds[MOST_BATCH_BUCKETS];

  for (guint i = 0; i < m->n_batch_buckets; i++)
    bounds[i] = (double) (1u << i);
  put_histogram (text, "dyno_batch_samples", row->model, m->batches, bounds, m->n_batch_buckets,
                 (double) m->samples);
}

static void
put_queue_requests (GString *text, const DynoServeMetricsRow *row, const DynoServeMetrics *m)
{
  g_string_append_printf (text, "dyno_queue_requests{model=\"%s\"} %u\n", row->model,
                          row->queue_requests);
}

static void
put_queue_samples (GString *text, const DynoServeMetricsRow *row, const DynoServeMetrics *m)
{
  g_string_append_printf (text, "dyno_queue_samples{model=\"%s\"} %" G_GUINT64_FORMAT "\n",
                          row->model, row->queue_samples);
}

char *
dyno_serve_metrics_to_text (const DynoServeMetricsRow *rows, guint n)
{
  static const struct {
    const char *name, *type, *help;
    gboolean of_models; /* only for models */
    void (*put) (GString *text, const DynoServeMetricsRow *row, const DynoServeMetrics *metrics);
  } metrics[] = {
    { "dyno_requests_total", "counter", "Requests, by the status of their answer.", FALSE,
      put_requests },
    { "dyno_request_seconds", "histogram", "Time from a request to its answer.", FALSE,
      put_latencies },
    { "dyno_batch_samples", "histogram", "Samples of the batches that were predicted.", TRUE,
      put_batches },
    { "dyno_queue_requests", "gauge", "Requests that are prepared, wait or are predicted.", TRUE,
      put_queue_requests },
    { "dyno_queue_samples", "gauge", "Samples that wait for a batch.", TRUE, put_queue_samples },
  };
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (metrics); i++)
    {
      put_head (text, metrics[i].name, metrics[i].type, metrics[i].help);
      for (guint k = 0; k < n; k++)
        {
          if (metrics[i].of_models && !*rows[k].model)
            continue;
          g_mutex_lock (&rows[k].metrics->mutex);
          metrics[i].put (text, &rows[k], rows[k].metrics);
          g_mutex_unlock (&rows[k].metrics->mutex);
        }
    }
  return g_string_free (text, FALSE);
}
