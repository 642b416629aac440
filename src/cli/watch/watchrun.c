/* SPDX-License-Identifier: MIT */
/* Follows a run's folder.  Its files may be damaged, or from another version or program: a value
 * that cannot be read counts as unknown. */
#include "watchrun.h"
#include "exporter.h"
#include "follower.h"
#include "runrate.h"
#include "text.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define SILENT_S  10.0   /* a run writes a row of sensors each second */
#define FRESH_S   5.0    /* greatest age of a current row */
#define MOST_ROWS 100000 /* most rows per update, so that a long log delays nothing */

typedef struct {
  const char *name;
  gsize offset; /* of the double in Row */
} Column;

typedef struct {
  double step, epoch, loss, samples_per_s, step_ms, wait_data_ms, vram_bytes, seconds, val_loss,
      metric;
} Row;

static const Column columns[] = {
  { "step", G_STRUCT_OFFSET (Row, step) },
  { "epoch", G_STRUCT_OFFSET (Row, epoch) },
  { "loss", G_STRUCT_OFFSET (Row, loss) },
  { "samples_per_s", G_STRUCT_OFFSET (Row, samples_per_s) },
  { "step_ms", G_STRUCT_OFFSET (Row, step_ms) },
  { "wait_data_ms", G_STRUCT_OFFSET (Row, wait_data_ms) },
  { "vram_bytes", G_STRUCT_OFFSET (Row, vram_bytes) },
  { "seconds", G_STRUCT_OFFSET (Row, seconds) },
  { "val_loss", G_STRUCT_OFFSET (Row, val_loss) },
};

#define N_REQUIRED 3
#define NO_COLUMN  (-1)

struct _DynoWatchRun {
  DynoWatchStatus status;
  char *folder;
  DynoFollower *metrics, *sensors;
  GArray *places; /* int, offset in Row of each column of metrics.csv, or NO_COLUMN */
  DynoSensorsCsv *csv;
  GStatBuf settings; /* of settings.ini when it was read; a resumed run rewrites the file */
  gboolean has_facts;
  guint64 epochs; /* of the settings; status.epochs: needed for the requested steps */
  DynoRunFacts facts;
  double first_step, first_seconds;
};

static char *
file_in (const DynoWatchRun *run, const char *name)
{
  return g_build_filename (run->folder, name, NULL);
}

static void
forget_metrics (DynoWatchRun *run)
{
  DynoWatchStatus *s = &run->status;

  s->epoch = s->step = 0;
  s->loss = s->val_loss = s->samples_per_s = s->step_ms = s->wait_data_ms = (double) NAN;
  s->vram_bytes = s->seconds = s->val_metric = s->eta_s = (double) NAN;
  g_clear_pointer (&s->metric, g_free);
  dyno_series_clear (s->rate);
  dyno_series_clear (s->loss_series);
  g_array_set_size (run->places, 0);
}

DynoWatchRun *
dyno_watch_run_new (const char *folder)
{
  DynoWatchRun *run = g_new0 (DynoWatchRun, 1);
  DynoWatchStatus *s = &run->status;
  g_autofree char *metrics = NULL, *sensors = NULL;

  run->folder = g_strdup (folder);
  s->folder = run->folder;
  s->rate = dyno_series_new ("samples/s", "");
  s->loss_series = dyno_series_new ("loss", "");
  s->gpu = dyno_series_new ("GPU", "%");
  s->cpu = dyno_series_new ("CPU", "%");
  run->places = g_array_new (FALSE, FALSE, sizeof (int));
  metrics = file_in (run, "metrics.csv");
  sensors = file_in (run, DYNO_SENSORS_CSV_NAME);
  run->metrics = dyno_follower_new (metrics);
  run->sensors = dyno_follower_new (sensors);
  forget_metrics (run);
  return run;
}

void
dyno_watch_run_free (DynoWatchRun *run)
{
  DynoWatchStatus *s;

  if (!run)
    return;
  s = &run->status;
  dyno_series_free (s->rate);
  dyno_series_free (s->loss_series);
  dyno_series_free (s->gpu);
  dyno_series_free (s->cpu);
  g_free (s->what);
  g_free (s->device);
  g_free (s->metric);
  dyno_follower_free (run->metrics);
  dyno_follower_free (run->sensors);
  dyno_sensors_csv_free (run->csv);
  g_array_unref (run->places);
  g_free (run->folder);
  g_free (run);
}

/* --- what it is ------------------------------------------------------------------------------- */

static gboolean
is_same (const GStatBuf *a, const GStatBuf *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size
         && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void
read_settings (DynoWatchRun *run)
{
  g_autofree char *path = file_in (run, "settings.ini");
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoWatchStatus *s = &run->status;
  GStatBuf now;

  if (g_stat (path, &now) != 0 || !S_ISREG (now.st_mode) || is_same (&now, &run->settings)
      || !dyno_settings_file_read (path, job, warnings, NULL))
    return;
  run->settings = now;
  run->epochs = (guint64) MAX (job->settings.epochs, 0);
  g_free (s->what);
  s->what = g_strdup_printf ("%s on %s, batch %" G_GINT64_FORMAT ", %s, %" G_GINT64_FORMAT " %s",
                             job->model ? job->model : "a model", job->data ? job->data : "data",
                             job->settings.batch_size, job->settings.amp ? "AMP" : "fp32",
                             job->settings.workers,
                             dyno_plural (job->settings.workers, "worker", "workers"));
}

static void
read_facts (DynoWatchRun *run)
{
  DynoWatchStatus *s = &run->status;

  s->epochs = run->epochs;
  run->has_facts = dyno_run_facts_read (run->folder, &run->facts);
  if (!run->has_facts)
    return;
  if (run->facts.device[0])
    {
      g_free (s->device); /* a run may be resumed on another one */
      s->device = g_strdup (run->facts.device);
    }
  if (run->facts.max_steps > 0 && run->facts.steps_per_epoch > 0)
    {
      s->steps = run->facts.max_steps;
      s->epochs = dyno_run_facts_count_epochs (&run->facts, s->steps);
    }
  else
    s->steps = dyno_run_facts_count_steps (&run->facts, s->epochs);
}

/* --- metrics.csv ------------------------------------------------------------------------------ */

static gboolean
read_head (DynoWatchRun *run, const char *line)
{
  g_auto (GStrv) names = g_strsplit (line, ",", -1);
  guint found = 0;

  forget_metrics (run);
  for (guint i = 0; names[i]; i++)
    {
      int place = NO_COLUMN;

      for (guint k = 0; k < G_N_ELEMENTS (columns); k++)
        if (g_str_equal (names[i], columns[k].name))
          {
            place = (int) columns[k].offset;
            found += k < N_REQUIRED;
          }
      /* the first metric after the validation loss */
      if (place == NO_COLUMN && !run->status.metric && g_str_has_prefix (names[i], "val_"))
        {
          run->status.metric = g_strdup (names[i] + strlen ("val_"));
          place = (int) G_STRUCT_OFFSET (Row, metric);
        }
      g_array_append_val (run->places, place);
    }
  if (found == N_REQUIRED)
    return TRUE;
  g_array_set_size (run->places, 0);
  return FALSE;
}

static gboolean
parse_row (const DynoWatchRun *run, const char *line, Row *row)
{
  *row = (Row){ .loss = (double) NAN };
  row->step = row->epoch = row->samples_per_s = row->step_ms = row->wait_data_ms = row->vram_bytes =
      row->seconds = row->val_loss = row->metric = row->loss;
  for (guint i = 0; i < run->places->len; i++)
    {
      int place = g_array_index (run->places, int, i);
      char *end;
      double value = g_ascii_strtod (line, &end);

      if (place != NO_COLUMN && end != line)
        G_STRUCT_MEMBER (double, row, place) = value;
      line = strchr (line, ',');
      if (!line && i + 1 < run->places->len)
        return FALSE;
      line = line ? line + 1 : "";
    }
  return row->step >= 1 && row->step < 1e18;
}

static void
estimate (DynoWatchRun *run)
{
  DynoWatchStatus *s = &run->status;
  double done = (double) s->step - run->first_step;

  s->eta_s = s->steps >= s->step && done > 0
                 ? (double) (s->steps - s->step) * (s->seconds - run->first_seconds) / done
                 : (double) NAN;
}

static void
take_row (DynoWatchRun *run, const Row *row)
{
  DynoWatchStatus *s = &run->status;

  if (dyno_series_get_length (s->rate) == 0)
    {
      run->first_step = row->step;
      run->first_seconds = row->seconds;
    }
  else if (row->step < (double) s->step)
    return;
  s->step = (guint64) row->step;
  s->epoch = row->epoch >= 0 && row->epoch < 1e18 ? (guint64) row->epoch : 0;
  s->loss = row->loss;
  s->samples_per_s = row->samples_per_s > 0 ? row->samples_per_s : (double) NAN;
  s->step_ms = row->step_ms;
  s->wait_data_ms = row->wait_data_ms;
  s->vram_bytes = row->vram_bytes;
  s->seconds = row->seconds;
  if (!isnan (row->val_loss))
    s->val_loss = row->val_loss;
  if (!isnan (row->metric))
    s->val_metric = row->metric;
  dyno_series_append (s->rate, row->step, s->samples_per_s);
  dyno_series_append (s->loss_series, row->step, s->loss);
}

static void
read_metrics (DynoWatchRun *run)
{
  const char *line;
  gboolean anew;
  Row row;

  for (guint n = 0; n < MOST_ROWS && (line = dyno_follower_next (run->metrics, &anew)); n++)
    if (anew)
      read_head (run, line);
    else if (run->places->len > 0 && parse_row (run, line, &row))
      take_row (run, &row);
  estimate (run);
}

/* --- sensors.csv ------------------------------------------------------------------------------ */

static void
read_sensors (DynoWatchRun *run)
{
  DynoWatchStatus *s = &run->status;
  const char *line;
  gboolean anew;
  DynoSensorRow row;

  for (guint n = 0; n < MOST_ROWS && (line = dyno_follower_next (run->sensors, &anew)); n++)
    if (anew)
      {
        g_clear_pointer (&run->csv, dyno_sensors_csv_free);
        run->csv = dyno_sensors_csv_new (line);
        dyno_series_clear (s->gpu);
        dyno_series_clear (s->cpu);
        s->sensors = (DynoSensorRow){ 0 };
      }
    else if (run->csv && dyno_sensors_csv_parse (run->csv, line, &row)
             && row.unix_time >= s->sensors.unix_time)
      {
        s->sensors = row;
        dyno_series_append (s->gpu, row.unix_time, row.values[DYNO_SENSOR_GPU_BUSY]);
        dyno_series_append (s->cpu, row.unix_time, row.values[DYNO_SENSOR_CPU_BUSY]);
      }
}

/* --- how it is -------------------------------------------------------------------------------- */

/* The time at which the run last wrote something; negative: never. */
static double
written (const char *folder)
{
  static const char *const names[] = { "metrics.csv", DYNO_SENSORS_CSV_NAME };
  double last = -1;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      GStatBuf status;

      if (g_stat (path, &status) == 0)
        last = MAX (last, (double) status.st_mtim.tv_sec + (double) status.st_mtim.tv_nsec / 1e9);
    }
  return last;
}

static void
judge (DynoWatchRun *run)
{
  DynoWatchStatus *s = &run->status;
  double now = (double) g_get_real_time () / 1e6, last = written (run->folder);

  s->silent_s = last < 0 ? (double) NAN : MAX (now - last, 0);
  s->ended = NULL;
  if (run->has_facts)
    s->ended = run->facts.state == DYNO_SESSION_FINISHED
                   ? dyno_run_facts_find_whole (&run->facts, run->epochs, s->step) > 0
                         ? "stopped as asked"
                         : "finished"
               : run->facts.state == DYNO_SESSION_STOPPED ? "stopped"
               : run->facts.state == DYNO_SESSION_FAILED  ? "failed"
                                                          : NULL;
  s->state = s->ended                 ? DYNO_WATCH_ENDED
             : s->silent_s < SILENT_S ? DYNO_WATCH_RUNNING
                                      : DYNO_WATCH_SILENT;
  if (s->ended && dyno_run_rate_get (&run->facts.rate) > 0) /* the rate of the whole run */
    s->samples_per_s = dyno_run_rate_get (&run->facts.rate);
  s->has_sensors = s->state == DYNO_WATCH_RUNNING && fabs (now - s->sensors.unix_time) < FRESH_S;
}

const DynoWatchStatus *
dyno_watch_run_update (DynoWatchRun *run)
{
  read_settings (run);
  read_facts (run);
  read_metrics (run);
  read_sensors (run);
  judge (run);
  return &run->status;
}

/* --- which run -------------------------------------------------------------------------------- */

static gboolean
is_run (const char *folder)
{
  g_autofree char *settings = g_build_filename (folder, "settings.ini", NULL);

  return written (folder) >= 0 || g_file_test (settings, G_FILE_TEST_IS_REGULAR);
}

static char *
find_newest (const char *parent)
{
  g_autoptr (GDir) names = g_dir_open (parent, 0, NULL);
  g_autofree char *found = NULL;
  double newest = -1;
  const char *name;

  while (names && (name = g_dir_read_name (names)))
    {
      g_autofree char *folder = g_build_filename (parent, name, NULL);
      double time = written (folder);

      if (time < 0 || time < newest)
        continue;
      newest = time;
      g_free (found);
      found = g_steal_pointer (&folder);
    }
  return g_steal_pointer (&found);
}

char *
dyno_watch_find_run (const char *parent, const char *name)
{
  g_autofree char *below = NULL;

  if (!name)
    return find_newest (parent);
  if (is_run (name))
    return g_strdup (name);
  below = g_build_filename (parent, name, NULL);
  return is_run (below) ? g_steal_pointer (&below) : NULL;
}
