/* SPDX-License-Identifier: MIT */
/* The thread of a search for the best validation, with simulated trials. */
#include "accuracytune.h"
#include "file.h"
#include "preset.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <utime.h>

#define LIMIT_US (60 * G_USEC_PER_SEC)

typedef struct {
  DynoDataset *dataset;
  DynoJob *job;
  char *folder;
  double clock;
  guint n_runs, stops_at; /* stops_at: stops in this run, counted from 1; 0: never */
  DynoAccuracyTune *tune;
  GPtrArray *events;
  const char *const *over; /* chosen parameters, or NULL */
  char *searched;          /* the keys of the last search's space */
} World;

/* The result is better the nearer the rate is to 0.2. */
static gboolean
train (DynoAccuracyRun *const *runs, guint n, gpointer data, GCancellable *cancellable,
       GError **error)
{
  World *w = data;
  DynoAccuracyRun *run = runs[0];
  double away = log (run->settings.lr / 0.2);

  g_assert_cmpuint (n, ==, 1);
  if (++w->n_runs == w->stops_at)
    dyno_accuracy_tune_stop (w->tune);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  w->clock += 10 * (double) (run->epochs - run->from_epochs);
  run->train_seconds = 10 * (double) (run->epochs - run->from_epochs);
  run->outcome = DYNO_TRIAL_OK;
  run->value = 0.9 - 0.02 * away * away + 0.0001 * (double) run->seed;
  run->has_ended = TRUE;
  return TRUE;
}

static double
get_time (gpointer data)
{
  return ((World *) data)->clock;
}

static void
world_init (World *w, const char *data)
{
  g_autoptr (GError) error = NULL;

  *w = (World){ .events =
                    g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_event_free) };
  w->dataset = dyno_dataset_open (data, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  w->job = dyno_job_new ();
  g_free (w->job->data);
  w->job->data = g_strdup (data);
  g_free (w->job->model);
  w->job->model = g_strdup ("mlp");
  w->job->settings.epochs = 9;
  w->folder = g_dir_make_tmp ("dyno-XXXXXX", &error);
  g_assert_no_error (error);
}

static void
world_clear (World *w)
{
  g_autofree char *path = g_build_filename (w->folder, DYNO_ACCURACY_FILE, NULL);

  g_unlink (path);
  g_rmdir (w->folder);
  g_free (w->folder);
  dyno_job_unref (w->job);
  dyno_dataset_unref (w->dataset);
  g_ptr_array_unref (w->events);
  g_free (w->searched);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (World, world_clear)

/* "lr optimizer": the keys of a space's parameters. */
static char *
list_keys (const DynoParamSpace *space)
{
  GString *keys = g_string_new (NULL);

  for (guint i = 0; i < space->n; i++)
    g_string_append_printf (keys, "%s%s", i > 0 ? " " : "", space->params[i].key);
  return g_string_free (keys, FALSE);
}

/* Runs a search until its last event. */
static void
search (World *w, const char *metric, double minutes, gboolean resume)
{
  const DynoAccuracyRunner runner = { train, get_time, w };
  const DynoAccuracyTuneParams params = { .job = w->job,
                                          .dataset = w->dataset,
                                          .metric = metric,
                                          .device = "card",
                                          .folder = w->folder,
                                          .minutes = minutes,
                                          .resume = resume,
                                          .over = w->over,
                                          .runner = &runner };
  gboolean done = FALSE;

  g_ptr_array_set_size (w->events, 0);
  w->tune = dyno_accuracy_tune_new (&params);
  dyno_accuracy_tune_start (w->tune);
  while (!done)
    {
      DynoAccuracyEvent *event = dyno_accuracy_tune_pop (w->tune, LIMIT_US);

      g_assert_nonnull (event);
      done = event->type == DYNO_ACCURACY_EVENT_DONE;
      g_ptr_array_add (w->events, event);
    }
  g_assert_null (dyno_accuracy_tune_try_pop (w->tune));
  g_free (w->searched);
  w->searched = list_keys (dyno_accuracy_tune_get_space (w->tune));
  g_clear_pointer (&w->tune, dyno_accuracy_tune_free);
}

static guint
count (const World *w, DynoAccuracyEventType type)
{
  guint n = 0;

  for (guint i = 0; i < w->events->len; i++)
    n += ((const DynoAccuracyEvent *) w->events->pdata[i])->type == type;
  return n;
}

/* The last event of a type. */
static const DynoAccuracyEvent *
find (const World *w, DynoAccuracyEventType type)
{
  for (guint i = w->events->len; i-- > 0;)
    if (((const DynoAccuracyEvent *) w->events->pdata[i])->type == type)
      return w->events->pdata[i];
  return NULL;
}

static GPtrArray *
read_runs (const World *w)
{
  g_autofree char *path = g_build_filename (w->folder, DYNO_ACCURACY_FILE, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoAccuracyRecord) record = dyno_accuracy_file_read (path, &error);

  g_assert_no_error (error);
  return g_ptr_array_ref (record->runs);
}

static void
test_events_are_snapshots (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (GPtrArray) runs = NULL;
  const DynoAccuracyEvent *result;
  guint n_ended = 0;

  world_init (&w, "builtin:waves?length=16&samples=60&classes=3");
  search (&w, "accuracy", 60, FALSE);
  result = find (&w, DYNO_ACCURACY_EVENT_RESULT);
  g_assert_nonnull (result);
  g_assert_nonnull (result->result->text);
  g_assert_cmpuint (count (&w, DYNO_ACCURACY_EVENT_BEGIN), ==, result->result->runs->len);
  g_assert_cmpuint (count (&w, DYNO_ACCURACY_EVENT_END), ==, result->result->runs->len);
  g_assert_cmpuint (count (&w, DYNO_ACCURACY_EVENT_ERROR), ==, 0);
  /* Each event has the state at its own time. */
  for (guint i = 0; i < w.events->len; i++)
    {
      const DynoAccuracyEvent *event = w.events->pdata[i];

      if (event->type == DYNO_ACCURACY_EVENT_BEGIN)
        {
          g_assert_cmpuint (event->result->runs->len, ==, n_ended);
          g_assert_true (isnan (event->run->value));
        }
      if (event->type == DYNO_ACCURACY_EVENT_END)
        {
          g_assert_cmpuint (event->result->runs->len, ==, ++n_ended);
          g_assert_cmpfloat (
              event->run->value, ==,
              ((const DynoAccuracyRun *) event->result->runs->pdata[n_ended - 1])->value);
        }
    }
  runs = read_runs (&w);
  g_assert_cmpuint (runs->len, ==, n_ended);
}

/* A stopped search returns its results so far, and the next one continues its runs. */
static void
test_goes_on (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (GPtrArray) before = NULL, after = NULL;
  const DynoAccuracyEvent *result;

  world_init (&w, "builtin:waves?length=16&samples=60&classes=3");
  w.stops_at = 7;
  search (&w, "accuracy", 60, FALSE);
  result = find (&w, DYNO_ACCURACY_EVENT_RESULT);
  g_assert_true (result->result->stopped);
  g_assert_cmpuint (count (&w, DYNO_ACCURACY_EVENT_END), ==, 6);
  before = read_runs (&w);
  g_assert_cmpuint (before->len, ==, 6);
  w.stops_at = 0;
  search (&w, "accuracy", 60, TRUE);
  result = find (&w, DYNO_ACCURACY_EVENT_RESULT);
  g_assert_cmpuint (result->result->n_known, ==, 6);
  g_assert_cmpuint (count (&w, DYNO_ACCURACY_EVENT_END) + 6, ==, result->result->runs->len);
  after = read_runs (&w);
  g_assert_cmpuint (after->len, ==, result->result->runs->len);
}

/* A search over chosen parameters keeps them when it is resumed, whatever is chosen then. */
static void
test_chosen_parameters (void)
{
  static const char *const chosen[] = { "lr=0.01..1", "batch_size=16|32", NULL },
                           *const others[] = { "momentum", NULL },
                           *const wrong[] = { "speed", NULL };
  g_auto (World) w = { .over = NULL };

  world_init (&w, "builtin:waves?length=16&samples=60&classes=3");
  w.over = chosen;
  w.stops_at = 5;
  search (&w, "accuracy", 60, FALSE);
  g_assert_cmpstr (w.searched, ==, "lr batch_size");
  w.stops_at = 8;
  for (w.over = others; w.over; w.over = w.over == others ? wrong : NULL, w.stops_at += 3)
    {
      search (&w, "accuracy", 60, TRUE);
      g_assert_cmpstr (w.searched, ==, "lr batch_size");
    }
  w.over = NULL;
  search (&w, "accuracy", 60, FALSE);
  g_assert_cmpstr (w.searched, !=, "lr batch_size");
}

static void
assert_refused (World *w, const char *metric, gboolean resume, const char *part)
{
  const DynoAccuracyEvent *event;

  search (w, metric, 60, resume);
  event = find (w, DYNO_ACCURACY_EVENT_ERROR);
  g_assert_nonnull (event);
  if (!strstr (event->error->message, part))
    g_error ("“%s” lacks “%s”", event->error->message, part);
  g_assert_cmpuint (count (w, DYNO_ACCURACY_EVENT_BEGIN), ==, 0);
  g_assert_null (find (w, DYNO_ACCURACY_EVENT_RESULT));
}

static void
test_refuses_before_a_run (void)
{
  g_auto (World) w = { 0 };

  world_init (&w, "builtin:waves?length=16&samples=60&classes=3");
  assert_refused (&w, "r2", FALSE, "does not measure");
  w.job->settings.data_val_split = 0;
  assert_refused (&w, "accuracy", FALSE, "nothing to validate on");
  w.job->settings.data_val_split = 0.2;
  assert_refused (&w, "accuracy", TRUE, "No search can be resumed");
  w.stops_at = 5;
  search (&w, "accuracy", 60, FALSE);
  w.stops_at = 0;
  w.job->settings.lr = 0.3;
  assert_refused (&w, "accuracy", TRUE, "another search");
  w.over = (const char *const[]){ "speed", NULL };
  assert_refused (&w, "accuracy", FALSE, "There is no setting “speed”");
}

/* Writes a file with these lines and this modification time. */
static void
put_file (const char *place, const char *name, const char *text, gint64 time)
{
  g_autofree char *folder = g_build_filename (place, name, NULL),
                  *path = g_build_filename (folder, DYNO_ACCURACY_FILE, NULL);
  struct utimbuf times = { time, time };

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (g_utime (path, &times), ==, 0);
}

static void
remove_file (const char *place, const char *name)
{
  g_autofree char *folder = g_build_filename (place, name, NULL),
                  *path = g_build_filename (folder, DYNO_ACCURACY_FILE, NULL);

  g_unlink (path);
  g_rmdir (folder);
}

static char *
find_folder (const World *w, const char *place, guint n_runs)
{
  g_autoptr (DynoAccuracyRecord) record = NULL;
  g_autofree char *folder = dyno_accuracy_find_folder (place, w->job, &record);

  g_assert_cmpint (folder != NULL, ==, record != NULL);
  if (record)
    g_assert_cmpuint (record->runs->len, ==, n_runs);
  return folder ? g_path_get_basename (folder) : NULL;
}

static void
test_finds_the_newest_of_the_job (void)
{
  g_auto (World) w = { 0 };
  g_autofree char *text = NULL, *newest = NULL, *other = NULL, *none = NULL, *missing = NULL,
                  *path = NULL, *place = g_dir_make_tmp ("dyno-XXXXXX", NULL);

  world_init (&w, "builtin:waves?length=16&samples=60&classes=3");
  w.stops_at = 4;
  search (&w, "accuracy", 60, FALSE);
  path = g_build_filename (w.folder, DYNO_ACCURACY_FILE, NULL);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  put_file (place, "old", text, 1000000);
  put_file (place, "new", text, 2000000);
  put_file (place, "broken", "trial\n", 3000000);
  newest = find_folder (&w, place, 3);
  g_assert_cmpstr (newest, ==, "new");
  remove_file (place, "new");
  other = find_folder (&w, place, 3);
  g_assert_cmpstr (other, ==, "old");
  w.job->settings.batch_size = 7;
  none = find_folder (&w, place, 0);
  g_assert_null (none);
  remove_file (place, "old");
  remove_file (place, "broken");
  g_rmdir (place);
  missing = find_folder (&w, place, 0);
  g_assert_null (missing);
}

static void
test_lists_metrics (void)
{
  static const char *const names[] = { "accuracy", "loss" };
  g_auto (World) w = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) metrics = NULL;

  world_init (&w, "builtin:waves?length=16&samples=60&classes=3");
  metrics = dyno_accuracy_list_metrics (w.job, dyno_dataset_get_info (w.dataset), &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpstr (g_array_index (metrics, DynoMetricInfo, i).name, ==, names[i]);
  /* Each listed metric is one that a search accepts, and is listed once. */
  for (guint i = 0; i < metrics->len; i++)
    {
      const char *name = g_array_index (metrics, DynoMetricInfo, i).name;
      DynoMetricInfo metric;

      g_assert_true (
          dyno_accuracy_check (w.job, dyno_dataset_get_info (w.dataset), name, &metric, &error));
      g_assert_no_error (error);
      g_assert_cmpstr (metric.name, ==, name);
      for (guint k = 0; k < i; k++)
        g_assert_cmpstr (g_array_index (metrics, DynoMetricInfo, k).name, !=, name);
    }
  /* also those of the validation, with the costly ones */
  g_assert_cmpuint (metrics->len, ==, 8);
  g_assert_cmpstr (g_array_index (metrics, DynoMetricInfo, 6).name, ==, "roc_auc");
  g_assert_true (g_array_index (metrics, DynoMetricInfo, 6).costly);
}

/* A metric that keeps all probabilities is refused where there are too many of them. */
static void
test_refuses_too_many_samples (void)
{
  static const char *const names[] = { "roc_auc", "calibration_error" };
  g_auto (World) w = { 0 };

  world_init (&w, "builtin:shapes?size=16&samples=24000000");
  w.job->settings.data_val_split = 0.9;
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      DynoMetricInfo metric;

      g_assert_true (
          dyno_accuracy_check (w.job, dyno_dataset_get_info (w.dataset), names[i], &metric, &error)
          == (i > 0));
      g_assert_true ((i == 0)
                     == g_error_matches (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/accuracytune/events-are-snapshots", test_events_are_snapshots);
  g_test_add_func ("/tune/accuracytune/goes-on", test_goes_on);
  g_test_add_func ("/tune/accuracytune/chosen-parameters", test_chosen_parameters);
  g_test_add_func ("/tune/accuracytune/refuses-before-a-run", test_refuses_before_a_run);
  g_test_add_func ("/tune/accuracytune/finds-the-newest-of-the-job",
                   test_finds_the_newest_of_the_job);
  g_test_add_func ("/tune/accuracytune/lists-metrics", test_lists_metrics);
  g_test_add_func ("/tune/accuracytune/refuses-too-many-samples", test_refuses_too_many_samples);
  return g_test_run ();
}
