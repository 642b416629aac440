/* SPDX-License-Identifier: MIT */
/* Curves of past runs. */
#include "runcurves.h"
#include "metrics.h"
#include "runview.h"
#include "words.h"
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define MOST_BYTES   ((goffset) 64 << 20) /* largest log that is read for a row of the list */
#define MOST_PENDING 64
#define CHUNK        256
#define LARGE_BYTES  ((goffset) 1 << 20)

typedef struct {
  gint64 id;
  guint64 steps; /* steps of the run when the curve was read */
  char *title, *folder, *metric;
  double steps_per_epoch;
  gboolean whole;
  goffset size; /* of the log that is known already; -1: none */
} Request;

struct _DynoRunCurves {
  GObject parent_instance;
  GHashTable *curves; /* "id" -> Entry */
  GPtrArray *pending; /* Request; the last request is handled next */
  gboolean reading;
};

typedef struct {
  guint64 steps;
  gboolean whole;
  goffset size; /* of the log */
  DynoRunCurve curve;
} Entry;

enum { READ, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoRunCurves, dyno_run_curves, G_TYPE_OBJECT)

static void
request_free (gpointer data)
{
  Request *self = data;
  g_free (self->title);
  g_free (self->folder);
  g_free (self->metric);
  g_free (self);
}

static void
clear_series (DynoRunCurve *curve)
{
  DynoSeries **const all[] = { &curve->loss, &curve->val_loss, &curve->metric,  &curve->val_metric,
                               &curve->rate, &curve->memory,   &curve->seconds, &curve->epochs };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    g_clear_pointer (all[i], dyno_series_free);
}

static void
entry_free (gpointer data)
{
  Entry *self = data;
  clear_series (&self->curve);
  g_free (self);
}

/* --- in the thread ---------------------------------------------------------------------------- */

/* The index of the run's metric in the log; -1: the log has no metric. */
static int
find_metric (const DynoMetricTable *table, const char *name)
{
  for (guint i = 0; i < table->n; i++)
    if (g_strcmp0 (table->infos[i].name, name) == 0)
      return (int) i;
  int selecting = dyno_metric_table_find_selecting (table);
  return selecting < 0 && table->n > 0 ? 0 : selecting;
}

static void
add (DynoSeries *series, double x, double y)
{
  if (isfinite (y))
    dyno_series_append (series, x, y);
}

static void
take_rows (DynoRunCurve *curve, DynoMetrics *log, const char *metric_name, double steps_per_epoch)
{
  DynoMetricTable table;
  dyno_metrics_get_table (log, &table);
  int metric = find_metric (&table, metric_name);
  if (metric >= 0)
    {
      curve->info = table.infos[metric];
      const char *one = curve->info.format == DYNO_METRIC_FRACTION ? "%" : curve->info.unit;
      dyno_series_set_unit (curve->metric, one);
      dyno_series_set_unit (curve->val_metric, one);
    }
  double unit = metric >= 0 && curve->info.format == DYNO_METRIC_FRACTION ? 100 : 1;
  DynoStepMetrics rows[CHUNK];
  DynoEpochMetrics epoch;
  guint64 n, at = 0;
  while ((n = dyno_metrics_copy_steps (log, at, CHUNK, rows)) > 0)
    {
      for (guint64 i = 0; i < n; i++)
        {
          double x = (double) rows[i].step;
          dyno_series_append (curve->loss, x,
                              isfinite (rows[i].loss) ? rows[i].loss : (double) NAN);
          dyno_series_append (curve->seconds, x, rows[i].seconds);
          if (metric >= 0)
            add (curve->metric, x, unit * rows[i].metrics[metric]);
          if (rows[i].samples_per_s > 0)
            add (curve->rate, x, rows[i].samples_per_s);
          if (rows[i].vram_bytes > 0)
            add (curve->memory, x, (double) rows[i].vram_bytes / (1 << 20));
          if (steps_per_epoch > 0)
            dyno_series_append (curve->epochs, x, x / steps_per_epoch);
        }
      at += n;
    }
  for (at = 0; dyno_metrics_copy_epochs (log, at, 1, &epoch) == 1; at++)
    {
      add (curve->val_loss, (double) epoch.step, epoch.val_loss);
      if (metric >= 0)
        add (curve->val_metric, (double) epoch.step, unit * epoch.val_metrics[metric]);
    }
}

/* A column of pixels without a number repeats the number of its left neighbour. */
static void
make_spark (DynoRunCurve *curve)
{
  DynoColumn columns[DYNO_SPARK_POINTS + 4];
  double x0, x1, y0, y1;
  const DynoSeries *smoothed;
  if (!dyno_series_get_range (curve->loss, -INFINITY, INFINITY, &x0, &x1, &y0, &y1))
    return;
  smoothed = dyno_series_smoothed (curve->loss, DYNO_RUN_VIEW_SMOOTHING);
  guint n =
      MIN (dyno_series_columns (smoothed, x0, x1, DYNO_SPARK_POINTS, columns), DYNO_SPARK_POINTS);
  for (guint i = 0; i < n; i++)
    {
      if (columns[i].count > 0)
        curve->spark[curve->n_spark++] = (float) ((columns[i].y_min + columns[i].y_max) / 2);
      else if (curve->n_spark > 0)
        {
          curve->spark[curve->n_spark] = curve->spark[curve->n_spark - 1];
          curve->n_spark++;
        }
    }
}

/* Reading a log takes several times its size in small allocations, which the C library would keep
 * for this thread after they are freed. */
static void
give_back (goffset bytes)
{
#ifdef __GLIBC__
  if (bytes > LARGE_BYTES)
    malloc_trim (0);
#endif
}

static void
read_curve (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *request = data;
  g_autofree char *path = g_build_filename (request->folder, "metrics.csv", NULL);
  GStatBuf about;
  gboolean there = g_stat (path, &about) == 0;
  if (request->size >= 0 && (!there || about.st_size == request->size))
    {
      g_task_return_pointer (task, NULL, NULL);
      return;
    }
  DynoMetrics *log = there && (request->whole || about.st_size < MOST_BYTES)
                         ? dyno_metrics_read (path, NULL)
                         : NULL;
  if (request->size >= 0 && !log) /* what is shown stays */
    {
      g_task_return_pointer (task, NULL, NULL);
      return;
    }
  Entry *entry = g_new0 (Entry, 1);
  DynoRunCurve *curve = &entry->curve;
  entry->steps = request->steps;
  entry->whole = request->whole;
  entry->size = log ? about.st_size : 0;
  /* Translators: name of a run, whose validation a curve shows: "baseline, validation" */
  g_autofree char *validated = g_strdup_printf (_ ("%s, validation"), request->title);
  curve->loss = dyno_series_new (request->title, "");
  curve->val_loss = dyno_series_new (validated, "");
  curve->metric = dyno_series_new (request->title, "");
  curve->val_metric = dyno_series_new (validated, "");
  curve->rate = dyno_series_new (request->title, _ ("samples/s"));
  curve->memory = dyno_series_new (request->title, "MiB");
  curve->seconds = dyno_series_new ("", "s");
  curve->epochs = dyno_series_new ("", "");
  if (log)
    take_rows (curve, log, request->metric, request->steps_per_epoch);
  dyno_metrics_unref (log);
  make_spark (curve);
  if (!request->whole)
    clear_series (curve);
  give_back (entry->size);
  g_task_return_pointer (task, entry, entry_free);
}

/* --- in the window ---------------------------------------------------------------------------- */

static void read_next (DynoRunCurves *self);

static void
curve_read (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoRunCurves *self = DYNO_RUN_CURVES (source);
  const Request *request = g_task_get_task_data (G_TASK (result));
  Entry *entry = g_task_propagate_pointer (G_TASK (result), NULL);
  Entry *before = g_hash_table_lookup (self->curves, &request->id);
  self->reading = FALSE;
  /* A curve with series stays, since plots draw the series. */
  if (entry && before && before->whole && !entry->whole)
    entry_free (entry);
  else if (entry)
    g_hash_table_replace (self->curves, g_memdup2 (&request->id, sizeof request->id), entry);
  if (entry)
    g_signal_emit (self, signals[READ], 0);
  read_next (self);
}

static void
read_next (DynoRunCurves *self)
{
  if (self->reading || self->pending->len == 0)
    return;
  g_autoptr (GTask) task = g_task_new (self, NULL, curve_read, NULL);
  g_task_set_task_data (task, g_ptr_array_steal_index (self->pending, self->pending->len - 1),
                        request_free);
  self->reading = TRUE;
  g_task_run_in_thread (task, read_curve);
}

/* size: of the log that is known already, which is not read again; -1: none is. */
static void
ask_for (DynoRunCurves *self, const DynoStoredRun *run, gboolean whole, goffset size)
{
  for (guint i = 0; i < self->pending->len; i++)
    {
      const Request *other = self->pending->pdata[i];
      if (other->id != run->id)
        continue;
      whole |= other->whole;
      g_ptr_array_remove_index (self->pending, i);
      break;
    }
  Request *request = g_new0 (Request, 1);
  request->id = run->id;
  request->steps = run->steps;
  request->title = dyno_words_run (run);
  request->folder = g_strdup (run->folder);
  request->metric = g_strdup (run->metric);
  request->whole = whole;
  request->size = size;
  if (run->epochs > 0)
    request->steps_per_epoch = (double) run->steps / (double) run->epochs;
  g_ptr_array_add (self->pending, request);
  if (self->pending->len > MOST_PENDING)
    g_ptr_array_remove_index (self->pending, 0);
  read_next (self);
}

/* The curve of an active run is read again when it has grown by more than one point of its small
 * curve. */
static gboolean
is_old (const Entry *entry, const DynoStoredRun *run)
{
  guint64 apart = run->steps > entry->steps ? run->steps - entry->steps : entry->steps - run->steps;
  return !entry->whole && apart > entry->steps / DYNO_SPARK_POINTS;
}

const DynoRunCurve *
dyno_run_curves_get (DynoRunCurves *self, const DynoStoredRun *run, gboolean whole)
{
  static const DynoRunCurve none;
  if (!run->folder)
    return &none;
  const Entry *entry = g_hash_table_lookup (self->curves, &run->id);
  if (!entry || is_old (entry, run) || (whole && !entry->whole))
    ask_for (self, run, whole, -1);
  return entry && (!whole || entry->whole) ? &entry->curve : NULL;
}

void
dyno_run_curves_follow (DynoRunCurves *self, const DynoStoredRun *run)
{
  const Entry *entry = g_hash_table_lookup (self->curves, &run->id);
  if (run->folder && entry && entry->whole)
    ask_for (self, run, TRUE, entry->size);
}

static gboolean
is_whole (gpointer key, gpointer value, gpointer data)
{
  return ((const Entry *) value)->whole;
}

void
dyno_run_curves_forget (DynoRunCurves *self)
{
  g_hash_table_foreach_remove (self->curves, is_whole, NULL);
}

DynoRunCurves *
dyno_run_curves_new (void)
{
  return g_object_new (DYNO_TYPE_RUN_CURVES, NULL);
}

static void
dyno_run_curves_finalize (GObject *object)
{
  DynoRunCurves *self = DYNO_RUN_CURVES (object);
  g_hash_table_unref (self->curves);
  g_ptr_array_unref (self->pending);
  G_OBJECT_CLASS (dyno_run_curves_parent_class)->finalize (object);
}

static void
dyno_run_curves_class_init (DynoRunCurvesClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_run_curves_finalize;
  signals[READ] = g_signal_new ("read", DYNO_TYPE_RUN_CURVES, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
}

static void
dyno_run_curves_init (DynoRunCurves *self)
{
  self->curves = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, entry_free);
  self->pending = g_ptr_array_new_with_free_func (request_free);
}
