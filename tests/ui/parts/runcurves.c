/* SPDX-License-Identifier: MIT */
/* Past runs and searches as they are read and described: curves, settings, words, the searches'
 * rows, and trained networks as files. */
#include "parts.h"
#include "metrics.h"
#include "networkexport.h"
#include "file.h"
#include "plot/view.h"
#include "runcompare.h"
#include "runcurves.h"
#include "searchfolder.h"
#include "runlist.h"
#include "searchcard.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- curves ----------------------------------------------------------------------------------- */

/* Writes the log of a run: n steps with a falling loss, of which each fifth is not finite, and a
 * validation after each ten. */
static void
write_log (const char *folder, guint n)
{
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL);
  DynoMetrics *log = dyno_metrics_new ();

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  for (guint i = 1; i <= n; i++)
    {
      DynoStepMetrics step = { .step = i,
                               .epoch = (i + 9) / 10,
                               .loss = i % 5 ? 100.0 / i : (double) INFINITY,
                               .seconds = 0.5 * i };
      dyno_metrics_add_step (log, &step);
      if (i % 10 == 0)
        dyno_metrics_add_epoch (
            log, &(DynoEpochMetrics){ .step = i, .epoch = i / 10, .val_loss = 20.0 / i });
    }
  g_assert_true (dyno_metrics_write_csv (log, path, NULL));
  dyno_metrics_unref (log);
}

static DynoStoredRun *
new_run (gint64 id, const char *name, guint64 steps)
{
  DynoStoredRun *run = dyno_stored_run_new ();

  run->id = id;
  run->name = g_strdup (name);
  run->model = g_strdup ("mlp");
  run->data = g_strdup ("builtin:waves");
  run->state = DYNO_RUN_STATE_FINISHED;
  run->folder = g_build_filename (g_get_home_dir (), name, NULL);
  run->steps = steps;
  run->epochs = steps / 10;
  return run;
}

typedef struct {
  DynoRunCurves *curves;
  guint n_read, wanted;
} Reading;

static void
note_read (DynoRunCurves *curves, Reading *reading)
{
  reading->n_read++;
}

static gboolean
has_read (gpointer data)
{
  const Reading *reading = data;

  return reading->n_read >= reading->wanted;
}

static void
wait_for_curves (Reading *reading, guint n)
{
  reading->wanted = n;
  parts_wait (has_read, reading);
  g_assert_cmpuint (reading->n_read, ==, n);
}

/* A small curve that is read after the whole one does not replace it: plots draw its series. */
static void
test_a_whole_curve_stays (void)
{
  Reading reading = { .curves = dyno_run_curves_new () };
  DynoRunCurves *curves = reading.curves;
  DynoStoredRun *run = new_run (1, "curve whole", 40);

  g_signal_connect (curves, "read", G_CALLBACK (note_read), &reading);
  write_log (run->folder, 40);
  g_assert_null (dyno_run_curves_get (curves, run, TRUE));
  g_assert_null (dyno_run_curves_get (curves, run, FALSE)); /* the whole one is under way */
  wait_for_curves (&reading, 1);
  const DynoRunCurve *whole = dyno_run_curves_get (curves, run, TRUE);
  g_assert_nonnull (whole);
  g_assert_cmpuint (dyno_series_get_length (whole->loss), ==, 40);
  wait_for_curves (&reading, 2);
  g_assert_true (dyno_run_curves_get (curves, run, TRUE) == whole);
  g_assert_true (dyno_run_curves_get (curves, run, FALSE) == whole);
  g_assert_cmpuint (reading.n_read, ==, 2);
  /* One that waits becomes whole where that is asked for meanwhile. */
  DynoStoredRun *first = new_run (2, "curve first", 20), *second = new_run (3, "curve then", 30);
  write_log (first->folder, 20);
  write_log (second->folder, 30);
  g_assert_null (dyno_run_curves_get (curves, first, FALSE));
  g_assert_null (dyno_run_curves_get (curves, second, FALSE));
  g_assert_null (dyno_run_curves_get (curves, second, TRUE));
  wait_for_curves (&reading, 3);
  wait_for_curves (&reading, 4);
  g_assert_nonnull (dyno_run_curves_get (curves, second, TRUE));
  g_assert_cmpuint (reading.n_read, ==, 4);
  g_object_unref (curves);
  dyno_stored_run_free (run);
  dyno_stored_run_free (first);
  dyno_stored_run_free (second);
}

/* A small curve is read once, again when the run has grown by one of its points, and whole when
 * that is asked for; series stay until they are forgotten. */
static void
test_curves_are_read_when_they_are_asked_for (void)
{
  Reading reading = { .curves = dyno_run_curves_new () };
  DynoRunCurves *curves = reading.curves;
  DynoStoredRun *run = new_run (1, "curve one", 100), *other = new_run (2, "curve two", 30),
                *lost = new_run (3, "curve lost", 10);
  const DynoRunCurve *curve;

  g_signal_connect (curves, "read", G_CALLBACK (note_read), &reading);
  write_log (run->folder, 100);
  write_log (other->folder, 30);
  for (guint i = 0; i < 3; i++) /* asked for three times, read once */
    g_assert_null (dyno_run_curves_get (curves, run, FALSE));
  g_assert_null (dyno_run_curves_get (curves, lost, FALSE));
  wait_for_curves (&reading, 3); /* the first request was under way when it was repeated */
  curve = dyno_run_curves_get (curves, run, FALSE);
  g_assert_cmpuint (curve->n_spark, ==, DYNO_SPARK_POINTS);
  g_assert_cmpfloat (curve->spark[0], >, curve->spark[DYNO_SPARK_POINTS - 1]);
  g_assert_true (!curve->loss && !curve->val_loss && !curve->seconds && !curve->epochs);
  g_assert_cmpuint (dyno_run_curves_get (curves, lost, FALSE)->n_spark, ==, 0);
  /* By one step of 100 it has not grown enough. */
  run->steps = 101;
  curve = dyno_run_curves_get (curves, run, FALSE);
  g_assert_true (curve && reading.n_read == 3);
  run->steps = 102;
  write_log (run->folder, 102);
  g_assert_nonnull (dyno_run_curves_get (curves, run, FALSE));
  wait_for_curves (&reading, 4);
  /* With its series, after which it is not read again, whatever the run does. */
  run->epochs = 10;
  g_assert_null (dyno_run_curves_get (curves, run, TRUE));
  g_assert_null (dyno_run_curves_get (curves, other, TRUE));
  g_assert_null (dyno_run_curves_get (curves, other, FALSE)); /* as whole as before */
  wait_for_curves (&reading, 6);
  curve = dyno_run_curves_get (curves, run, TRUE);
  g_assert_cmpuint (dyno_series_get_length (curve->loss), ==, 102);
  g_assert_cmpuint (dyno_series_get_length (curve->val_loss), ==, 10);
  g_assert_cmpstr (dyno_series_get_name (curve->loss), ==, "curve one");
  double x, y;
  dyno_series_get (curve->seconds, 20, &x, &y);
  g_assert_true (x == 21 && y == 10.5);
  dyno_series_get (curve->epochs, 101, &x, &y);
  g_assert_true (x == 102);
  g_assert_cmpfloat_with_epsilon (y, 10, 1e-9);
  dyno_series_get (curve->loss, 4, &x, &y);
  g_assert_true (x == 5 && isnan (y));
  dyno_series_get (curve->val_loss, 2, &x, &y);
  g_assert_true (x == 30);
  curve = dyno_run_curves_get (curves, other, TRUE);
  g_assert_cmpuint (dyno_series_get_length (curve->loss), ==, 30);
  g_assert_cmpstr (dyno_series_get_name (curve->loss), ==, "curve two");
  run->steps = 500;
  g_assert_nonnull (dyno_run_curves_get (curves, run, FALSE));
  g_assert_nonnull (dyno_run_curves_get (curves, run, TRUE));
  g_assert_cmpuint (reading.n_read, ==, 6);
  dyno_run_curves_forget (curves);
  g_assert_null (dyno_run_curves_get (curves, other, FALSE));
  wait_for_curves (&reading, 7);
  g_assert_null (dyno_run_curves_get (curves, other, FALSE)->loss);
  /* Nothing was kept of a run without a folder. */
  g_clear_pointer (&lost->folder, g_free);
  curve = dyno_run_curves_get (curves, lost, TRUE);
  g_assert_true (curve && !curve->loss && curve->n_spark == 0);
  g_assert_cmpuint (reading.n_read, ==, 7);
  dyno_stored_run_free (run);
  dyno_stored_run_free (other);
  dyno_stored_run_free (lost);
  g_object_unref (curves);
}

typedef struct {
  const DynoPlot *plot;
  DynoRunCurves *curves;
  const DynoStoredRun *run;
  guint n_steps;
} Followed;

/* Whether the second line has as many steps as are waited for. */
static gboolean
has_steps (gpointer data)
{
  const Followed *f = data;

  return f->plot->n_lines == 4 && dyno_series_get_length (f->plot->lines[1].series) == f->n_steps;
}

static gboolean
has_curve (gpointer data)
{
  const Followed *f = data;

  return dyno_run_curves_get (f->curves, f->run, FALSE) != NULL;
}

typedef struct {
  const DynoPlot *plot;
  guint n;
} Drawn;

static gboolean
is_drawn (gpointer data)
{
  const Drawn *drawn = data;

  return drawn->plot->n_lines == drawn->n;
}

/* The series of a run in progress are replaced when its log has grown, each time; what is shown
 * stays where the log is as it was, or is gone. */
static void
test_curves_of_a_run_in_progress_are_followed (void)
{
  DynoRunCurves *curves = dyno_run_curves_new ();
  DynoStoredRun *run = new_run (1, "followed", 30), *other = new_run (2, "beside", 10);
  GtkWidget *widget = g_object_ref_sink (dyno_run_compare_new ());
  DynoRunCompare *compare = DYNO_RUN_COMPARE (widget);
  const DynoPlot *plot =
      dyno_plot_view_get_plot (DYNO_PLOT_VIEW (parts_find (widget, DYNO_TYPE_PLOT_VIEW)));
  const DynoStoredRun *both[] = { other, run };
  g_autofree char *path = g_build_filename (run->folder, "metrics.csv", NULL);
  Followed followed = { plot, curves, NULL, 30 };

  run->state = DYNO_RUN_STATE_RUNNING;
  write_log (run->folder, 30);
  write_log (other->folder, 10);
  dyno_run_compare_show (compare, curves, both, 2);
  dyno_run_compare_follow (compare); /* the curves are being read */
  parts_wait (has_steps, &followed);
  ((DynoPlotLine *) (gpointer) plot->lines)[1].hidden = TRUE; /* as by a click on its name */
  for (guint i = 0; i < 2; i++)
    {
      /* What was requested before has been answered, since requests are answered one at a time. */
      DynoStoredRun *third = new_run (3 + i, "third", 10);
      followed.run = third;
      parts_wait (has_curve, &followed);
      followed.n_steps = 40 + 10 * i;
      write_log (run->folder, followed.n_steps);
      dyno_run_compare_follow (compare);
      parts_wait (has_steps, &followed);
      g_assert_cmpuint (dyno_series_get_length (plot->lines[0].series), ==, 10);
      g_assert_true (plot->lines[1].hidden && plot->lines[3].hidden);
      g_assert_false (plot->lines[0].hidden || plot->lines[2].hidden);
      dyno_stored_run_free (third);
    }
  /* A run that goes on from an earlier checkpoint drops its later steps. */
  followed.run = new_run (9, "third", 10);
  parts_wait (has_curve, &followed);
  dyno_stored_run_free ((DynoStoredRun *) followed.run);
  followed.n_steps = 20;
  write_log (run->folder, 20);
  dyno_run_compare_follow (compare);
  parts_wait (has_steps, &followed);
  /* The timer goes while one of the runs is in progress, whichever it is. */
  const DynoStoredRun *swapped[] = { run, other }, *ended[] = { other };
  g_assert_nonnull (g_main_context_find_source_by_user_data (NULL, widget));
  dyno_run_compare_show (compare, curves, ended, 1);
  g_assert_null (g_main_context_find_source_by_user_data (NULL, widget));
  dyno_run_compare_show (compare, curves, swapped, 2);
  g_assert_nonnull (g_main_context_find_source_by_user_data (NULL, widget));
  dyno_run_compare_show (compare, curves, both, 2);
  followed.n_steps = 20;
  parts_wait (has_steps, &followed);
  for (guint i = 0; i < 2; i++)
    {
      DynoStoredRun *third = new_run (5 + i, "third", 10);
      followed.run = third;
      dyno_run_compare_follow (compare);
      parts_wait (has_curve, &followed);
      g_assert_true (has_steps (&followed));
      g_unlink (path);
      dyno_stored_run_free (third);
    }
  gtk_widget_destroy (widget);
  g_object_unref (widget);
  dyno_stored_run_free (run);
  dyno_stored_run_free (other);
  g_object_unref (curves);
}

/* Writes the log of a run with a metric: n steps of 10 to an epoch.  The first step has no rate. */
static void
write_metric_log (const char *folder, const DynoMetricInfo *metric, guint n)
{
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL);
  DynoMetrics *log = dyno_metrics_new ();
  DynoMetricTable table = { .n = 2, .infos = { dyno_cross_entropy_metrics[1], *metric } };

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  dyno_metrics_set_table (log, &table);
  for (guint i = 1; i <= n; i++)
    {
      DynoStepMetrics step = { .step = i,
                               .epoch = (i + 9) / 10,
                               .loss = 1.0 / i,
                               .metrics = { 0.125, 0.25 },
                               .samples_per_s = i > 1 ? 200 : 0,
                               .vram_bytes = 48 << 20,
                               .seconds = i };
      DynoEpochMetrics epoch = {
        .step = i, .epoch = i / 10, .val_loss = 2, .val_metrics = { 0.375, 0.5 }
      };
      dyno_metrics_add_step (log, &step);
      if (i % 10 == 0)
        dyno_metrics_add_epoch (log, &epoch);
    }
  g_assert_true (dyno_metrics_write_csv (log, path, NULL));
  dyno_metrics_unref (log);
}

static double
get_last (const DynoPlotLine *line)
{
  double x0, x1, y0, y1;

  g_assert_true (dyno_series_get_range (line->series, -INFINITY, INFINITY, &x0, &x1, &y0, &y1));
  g_assert_true (y0 == y1);
  return y1;
}

static GtkWidget *
find_by_name (GtkWidget *widget, GType type, const char *name)
{
  g_autoptr (GPtrArray) all = parts_find_all (widget, type);

  for (guint i = 0; i < all->len; i++)
    if (g_strcmp0 (atk_object_get_name (gtk_widget_get_accessible (all->pdata[i])), name) == 0)
      return all->pdata[i];
  g_error ("there is no “%s”", name);
}

/* Runs are compared by each quantity; a run with another metric is left out of that of the first. */
static void
test_runs_are_compared_by_each_quantity (void)
{
  DynoRunCurves *curves = dyno_run_curves_new ();
  DynoStoredRun *runs[] = { new_run (1, "by accuracy", 20), new_run (2, "by loss", 10),
                            new_run (3, "by accuracy too", 30) };
  GtkWidget *widget = g_object_ref_sink (dyno_run_compare_new ());
  const DynoPlot *plot =
      dyno_plot_view_get_plot (DYNO_PLOT_VIEW (parts_find (widget, DYNO_TYPE_PLOT_VIEW)));
  GtkComboBox *quantity =
      GTK_COMBO_BOX (find_by_name (widget, GTK_TYPE_COMBO_BOX, "Curves that are shown"));
  const DynoMetricInfo *accuracy = &dyno_cross_entropy_metrics[0];
  DynoMetricInfo error = dyno_mse_metric;

  error.unit = "degrees";
  for (guint i = 0; i < 3; i++)
    runs[i]->metric = g_strdup (i == 1 ? error.name : accuracy->name);
  write_metric_log (runs[0]->folder, accuracy, 20);
  write_metric_log (runs[1]->folder, &error, 10);
  write_metric_log (runs[2]->folder, accuracy, 30);
  dyno_run_compare_show (DYNO_RUN_COMPARE (widget), curves, (const DynoStoredRun *const *) runs, 3);
  Drawn drawn = { plot, 6 };
  parts_wait (is_drawn, &drawn);
  const struct {
    const char *title, *label;
    guint n, n_steps;   /* lines, points of the first */
    double first, last; /* values of the first line, and of the last */
    gboolean from_zero, smoothed, robust, logs;
  } rows[] = {
    { "Loss", "with points: validation", 6, 20, 0, 2, FALSE, TRUE, TRUE, FALSE },
    { "Loss", "with points: validation", 6, 20, 0, 2, FALSE, TRUE, TRUE, TRUE },
    { "Accuracy", "%, with points: validation", 4, 20, 25, 50, TRUE, TRUE, FALSE, FALSE },
    { "Throughput", "samples/s", 3, 19, 200, 200, TRUE, TRUE, TRUE, FALSE },
    { "Device memory", "MiB", 3, 20, 48, 48, TRUE, FALSE, FALSE, FALSE },
  };
  for (guint round = 0; round < 2; round++)
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
      {
        gtk_combo_box_set_active (quantity, (int) i);
        g_assert_cmpstr (plot->title, ==, rows[i].title);
        g_assert_cmpstr (plot->y_label, ==, rows[i].label);
        g_assert_cmpuint (plot->n_lines, ==, rows[i].n);
        g_assert_cmpuint (dyno_series_get_length (plot->lines[0].series), ==, rows[i].n_steps);
        if (i > 1) /* the loss falls */
          g_assert_cmpfloat_with_epsilon (get_last (&plot->lines[0]), rows[i].first, 1e-9);
        g_assert_cmpfloat_with_epsilon (get_last (&plot->lines[plot->n_lines - 1]), rows[i].last,
                                        1e-9);
        g_assert_cmpuint (plot->lines[plot->n_lines - 1].colour, ==, 2);
        g_assert_true (plot->y_from_zero == rows[i].from_zero && plot->robust == rows[i].robust);
        g_assert_true ((plot->smoothing > 0) == rows[i].smoothed && plot->y_log == rows[i].logs);
      }
  /* The same runs, read again, keep the span and the curves; other ones do not. */
  GtkWidget *view = parts_find (widget, DYNO_TYPE_PLOT_VIEW);
  for (guint i = 0; i < 2; i++)
    {
      drawn.n = 3;
      parts_wait (is_drawn, &drawn);
      g_signal_emit_by_name (view, "span", 3.0, 5.0);
      dyno_run_compare_forget (DYNO_RUN_COMPARE (widget));
      dyno_run_compare_show (DYNO_RUN_COMPARE (widget), curves, (const DynoStoredRun *const *) runs,
                             3);
      g_assert_true (plot->n_lines > 0 && plot->x0 == 3 && plot->x1 == 5);
      const DynoStoredRun *reordered[] = { runs[0], runs[2], runs[1] };
      dyno_run_compare_show (DYNO_RUN_COMPARE (widget), curves, reordered, 3);
      g_assert_true (plot->x0 == 0 && plot->x1 == 0);
      dyno_run_compare_show (DYNO_RUN_COMPARE (widget), curves, (const DynoStoredRun *const *) runs,
                             3);
    }
  parts_wait (is_drawn, &drawn);
  /* The metric of a run without a metric of its own name is the first one of its log. */
  gtk_combo_box_set_active (quantity, 2);
  const DynoStoredRun *other[] = { runs[1] };
  g_free (runs[1]->metric);
  runs[1]->metric = NULL;
  dyno_run_compare_show (DYNO_RUN_COMPARE (widget), curves, other, 1);
  drawn.n = 2;
  parts_wait (is_drawn, &drawn);
  g_assert_cmpstr (plot->title, ==, dyno_cross_entropy_metrics[1].title);
  g_assert_cmpstr (plot->y_label, ==, "bits");
  g_assert_cmpfloat_with_epsilon (get_last (&plot->lines[1]), 0.375, 1e-9);
  /* The run knows its metric, though another one of its log selects by default. */
  g_free (runs[0]->metric);
  runs[0]->metric = g_strdup (dyno_cross_entropy_metrics[1].name);
  dyno_run_compare_show (DYNO_RUN_COMPARE (widget), curves, (const DynoStoredRun *const *) runs, 1);
  drawn.n = 2;
  parts_wait (is_drawn, &drawn);
  g_assert_cmpstr (plot->title, ==, dyno_cross_entropy_metrics[1].title);
  /* It is said where some of the selected runs are left out. */
  const DynoStoredRun *many[DYNO_RUN_COMPARE_MOST + 2];
  for (guint i = 0; i < G_N_ELEMENTS (many); i++)
    many[i] = runs[i % 3];
  for (guint more = 1; more <= 2; more++)
    {
      const char *text =
          more == 1 ? "8 of 9 selected runs are shown" : "8 of 10 selected runs are shown";
      dyno_run_compare_show (DYNO_RUN_COMPARE (widget), curves, many, DYNO_RUN_COMPARE_MOST + more);
      parts_assert_says (widget, text);
      dyno_run_compare_show (DYNO_RUN_COMPARE (widget), curves, many, DYNO_RUN_COMPARE_MOST);
      parts_assert_says_not (widget, text);
      parts_assert_says_not (widget, "8 of 8 selected runs are shown");
    }
  gtk_widget_destroy (widget);
  g_object_unref (widget);
  for (guint i = 0; i < 3; i++)
    dyno_stored_run_free (runs[i]);
  g_object_unref (curves);
}

/* --- texts of runs ---------------------------------------------------------------------------- */

/* Six settings are named, and of more the first six, with a sign that there are others. */
static void
test_a_run_names_six_settings (void)
{
  static const char *const keys[] = { "lr",      "batch_size", "epochs", "momentum",
                                      "workers", "prefetch",   "seed" };
  DynoSettings settings;

  dyno_settings_init (&settings);
  g_autofree char *none = dyno_run_list_describe_settings (&settings);
  g_assert_cmpstr (none, ==, "");
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autofree char *before = dyno_settings_get (&settings, keys[i]);
      const char *value = g_str_equal (before, "3") ? "4" : "3";
      g_assert_true (dyno_settings_set (&settings, keys[i],
                                        g_str_equal (keys[i], "momentum") ? "0.5" : value, NULL));
      g_autofree char *text = dyno_run_list_describe_settings (&settings);
      g_auto (GStrv) parts = g_strsplit (text, ", ", -1);
      g_assert_cmpuint (g_strv_length (parts), ==, i + 1);
      g_assert_true (g_str_has_suffix (text, ", …") == (i == 6));
    }
}

/* Each of the words is somewhere in the run, whatever its case, and in any order. */
static void
test_words_find_runs (void)
{
  DynoStoredRun *run = new_run (1, "Night Übung Straße", 10);
  const struct {
    const char *words;
    gboolean matches;
  } rows[] = {
    { "", TRUE },           { "night", TRUE },   { "NIGHT mlp", TRUE }, { "waves night", TRUE },
    { "übung", TRUE },      { "ÜBUNG", TRUE },   { "Straße", TRUE },    { "strasse", TRUE },
    { "night day", FALSE }, { "day", FALSE },    { "finished", TRUE },  { "failed", FALSE },
    { "base", FALSE },      { " night ", TRUE }, { "nightmlp", FALSE }, { "builtin:", FALSE }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (dyno_run_list_matches (run, rows[i].words) != rows[i].matches)
      g_error ("“%s”", rows[i].words);
  run->tags = g_strdup ("base, good");
  g_assert_true (dyno_run_list_matches (run, "good base"));
  run->state = DYNO_RUN_STATE_FAILED;
  g_assert_true (dyno_run_list_matches (run, "failed"));
  g_assert_false (dyno_run_list_matches (run, "finished"));
  dyno_stored_run_free (run);
}

/* --- compared runs ---------------------------------------------------------------------------- */

static int
count_columns (GtkWidget *grid)
{
  g_autoptr (GPtrArray) labels = parts_find_all (grid, GTK_TYPE_LABEL);
  int most = -1;

  for (guint i = 0; i < labels->len; i++)
    {
      int column;
      gtk_container_child_get (GTK_CONTAINER (grid), labels->pdata[i], "left-attach", &column,
                               NULL);
      most = MAX (most, column);
    }
  return most; /* without that of the titles */
}

/* Exactly as many runs as can be told apart have a column, others are left out. */
static void
test_eight_runs_are_compared (void)
{
  GtkWidget *compare = g_object_ref_sink (dyno_run_compare_new ());
  GtkWidget *grid = parts_find (compare, GTK_TYPE_GRID);
  DynoRunCurves *curves = dyno_run_curves_new ();
  DynoStoredRun *runs[DYNO_RUN_COMPARE_MOST + 2];
  const guint numbers[] = { DYNO_RUN_COMPARE_MOST - 1, DYNO_RUN_COMPARE_MOST,
                            DYNO_RUN_COMPARE_MOST + 1, DYNO_RUN_COMPARE_MOST + 2, 2 };

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      g_autofree char *name = g_strdup_printf ("run %u", i);
      runs[i] = new_run (i + 1, name, 10);
      g_clear_pointer (&runs[i]->folder, g_free);
      runs[i]->settings.batch_size = i < DYNO_RUN_COMPARE_MOST ? 16 : 32;
    }
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      guint shown = MIN (numbers[i], DYNO_RUN_COMPARE_MOST);
      dyno_run_compare_show (DYNO_RUN_COMPARE (compare), curves,
                             (const DynoStoredRun *const *) runs, numbers[i]);
      g_assert_cmpint (count_columns (grid), ==, (int) shown);
      g_autofree char *last = g_strdup_printf ("run %u", shown - 1),
                      *next = g_strdup_printf ("run %u", shown);
      parts_assert_says (grid, last);
      parts_assert_says_not (grid, next);
      parts_assert_says (grid, "All settings are equal");
    }
  gtk_widget_destroy (compare);
  g_object_unref (compare);
  g_object_unref (curves);
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    dyno_stored_run_free (runs[i]);
}

/* One run is shown with its results and the settings that it changed, each run with its own. */
static void
test_one_run_is_shown_with_its_settings (void)
{
  GtkWidget *compare = g_object_ref_sink (dyno_run_compare_new ());
  GtkWidget *grid = parts_find (compare, GTK_TYPE_GRID);
  DynoRunCurves *curves = dyno_run_curves_new ();
  DynoStoredRun *runs[] = { new_run (1, "one", 30), new_run (2, "two", 50) };
  const DynoStoredRun *second[] = { runs[1] };

  runs[0]->settings.batch_size = 48;
  runs[0]->settings.epochs = 7;
  runs[0]->device = g_strdup ("A card");
  runs[0]->seconds = 75;
  runs[0]->samples_per_s = 1234;
  runs[1]->weights_in = g_strdup ("/runs/mlp-3/weights.safetensors");
  dyno_run_compare_show (DYNO_RUN_COMPARE (compare), curves, (const DynoStoredRun *const *) runs,
                         2);
  parts_assert_says (grid, "Start weights");
  parts_assert_says (grid, "Random values");
  parts_assert_says (grid, "mlp-3/weights.safetensors");
  for (guint i = 0; i < 2; i++)
    {
      dyno_run_compare_show (DYNO_RUN_COMPARE (compare), curves,
                             (const DynoStoredRun *const *) runs, 1);
      parts_assert_says (grid, "Batch size");
      parts_assert_says (grid, "48");
      parts_assert_says (grid, "3 of 7");
      parts_assert_says (grid, "A card");
      parts_assert_says (grid, "1:15");
      parts_assert_says_not (grid, "Start weights");
      dyno_run_compare_show (DYNO_RUN_COMPARE (compare), curves, second, 1);
      parts_assert_says (grid, "mlp-3/weights.safetensors");
      parts_assert_says (grid, "5 of 10");
      parts_assert_says_not (grid, "Batch size");
      parts_assert_says_not (grid, "A card");
    }
  gtk_widget_destroy (compare);
  g_object_unref (compare);
  g_object_unref (curves);
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    dyno_stored_run_free (runs[i]);
}

/* --- searches --------------------------------------------------------------------------------- */

typedef struct {
  GtkWidget *card, *window;
  DynoStore *store;
  guint n_rows, n_failed;
  const char *text; /* that is waited for */
} Searches;

static gint64
put_search (Searches *s, const char *state, double rate, const char *folder)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoDeviceInfo device = { .name = "A card" };
  DynoSettings best = job->settings;
  DynoStoreSearchEnd end = { .best = rate > 0 ? &best : NULL,
                             .best_samples_per_s = rate,
                             .baseline_samples_per_s = 1,
                             .state = state };

  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->data = g_strdup ("builtin:waves");
  gint64 id = dyno_store_begin_search (s->store, job, &device, 1, folder, NULL);
  g_assert_cmpint (id, >, 0);
  g_assert_true (!state || dyno_store_end_search (s->store, id, &end, NULL));
  return id;
}

static gboolean
has_rows (gpointer data)
{
  Searches *s = data;
  g_autoptr (GPtrArray) rows = parts_find_all (s->card, GTK_TYPE_LIST_BOX_ROW);

  return rows->len == s->n_rows;
}

static gboolean
has_text (gpointer data)
{
  Searches *s = data;
  g_autofree char *texts = parts_get_texts (s->card);

  return (strstr (texts, s->text) != NULL) == (s->n_rows > 0);
}

static void
note_failed (GtkWidget *card, const GError *error, Searches *s)
{
  s->n_failed++;
}

static guint
count_buttons (GtkWidget *row)
{
  g_autoptr (GPtrArray) buttons = parts_find_all (row, GTK_TYPE_BUTTON);

  return buttons->len;
}

/* Newest first: each says how it ended, and offers what it has; what is gone is not offered any
 * longer. */
static void
test_searches_say_how_they_ended (void)
{
  Searches s = { .card = g_object_ref_sink (dyno_search_card_new ()) };
  DynoSearchCard *card = DYNO_SEARCH_CARD (s.card);
  g_autofree char *folder = g_build_filename (g_get_home_dir (), "a search", NULL),
                  *report = g_build_filename (folder, "report.html", NULL);

  s.store = dyno_store_open (NULL, NULL);
  g_autoptr (GPtrArray) others = dyno_store_list_searches (s.store, 0, NULL);
  for (guint i = 0; i < others->len; i++)
    g_assert_true (dyno_store_delete_search (
        s.store, ((const DynoStoredSearch *) others->pdata[i])->id, NULL));
  g_signal_connect (card, "report-failed", G_CALLBACK (note_failed), &s);
  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (report, "x", 1, NULL));
  put_search (&s, "finished", 0, NULL);
  put_search (&s, "finished", 500, folder);
  gint64 stopped = put_search (&s, "stopped", 0, NULL);
  put_search (&s, "stopped", 700, NULL);
  gint64 running = put_search (&s, NULL, 0, NULL);
  s.n_rows = 5;
  dyno_search_card_set_ready (card, TRUE);
  dyno_search_card_refresh (card);
  parts_wait (has_rows, &s);
  g_assert_true (gtk_widget_get_visible (s.card));
  g_autoptr (GPtrArray) rows = parts_find_all (s.card, GTK_TYPE_LIST_BOX_ROW);
  static const char *const ends[] = { "\nRunning", ": 700 samples/s, not proven", "\nStopped",
                                      ": 500 samples/s, not proven",
                                      "\nNothing was found: no settings ran to the end" };
  static const guint n_buttons[] = { 0, 1, 0, 2, 0 };
  for (guint i = 0; i < rows->len; i++)
    {
      g_autofree char *texts = parts_get_texts (rows->pdata[i]);
      if (!strstr (texts, ends[i]))
        g_error ("row %u is “%s”", i, texts);
      g_assert_cmpuint (count_buttons (rows->pdata[i]), ==, n_buttons[i]);
    }
  GtkWidget *open = parts_find_button (rows->pdata[3], "Open Report");
  g_assert_cmpstr (atk_object_get_name (gtk_widget_get_accessible (open)), ==,
                   "Open Report: MLP on Waves");
  /* The report is gone: that is said, and it is not offered again. */
  g_unlink (report);
  gtk_button_clicked (GTK_BUTTON (open));
  g_assert_cmpuint (s.n_failed, ==, 1);
  s.text = "Open Report";
  s.n_rows = 0;
  parts_wait (has_text, &s);
  /* A name, an end and a deletion are shown, too. */
  s.n_rows = 5;
  s.text = "\nquick one\n";
  g_assert_true (dyno_store_rename_search (s.store, stopped, "quick one", NULL));
  dyno_search_card_refresh (card);
  parts_wait (has_text, &s);
  DynoStoreSearchEnd end = { .state = "stopped" };
  g_assert_true (dyno_store_end_search (s.store, running, &end, NULL));
  dyno_search_card_refresh (card);
  s.text = "Running";
  s.n_rows = 0;
  parts_wait (has_text, &s);
  g_autoptr (GPtrArray) all = dyno_store_list_searches (s.store, 0, NULL);
  for (guint i = 0; i < all->len; i++)
    g_assert_true (
        dyno_store_delete_search (s.store, ((const DynoStoredSearch *) all->pdata[i])->id, NULL));
  dyno_search_card_refresh (card);
  parts_wait (has_rows, &s);
  g_assert_false (gtk_widget_get_visible (s.card));
  gtk_widget_destroy (s.card);
  g_object_unref (s.card);
  dyno_store_free (s.store);
}

static gboolean
has_searches (const char *place, guint i, const char *file)
{
  g_autofree char *name = g_strdup_printf ("2001-01-01T00-00-%02u", i),
                  *path = g_build_filename (place, name, file, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* Of the folders of searches the newest are kept, the one that is made included; of older ones only
 * what searches have written is deleted. */
static void
test_the_newest_folders_of_searches_are_kept (void)
{
  g_autofree char *place = dyno_data_dir ("searches");

  g_assert_cmpint (g_mkdir_with_parents (place, 0700), ==, 0);
  for (guint i = 0; i < DYNO_SEARCH_FOLDERS; i++)
    {
      g_autofree char *name = g_strdup_printf ("2001-01-01T00-00-%02u", i),
                      *folder = g_build_filename (place, name, NULL),
                      *report = g_build_filename (folder, "report.html", NULL),
                      *own = g_build_filename (folder, "mine.txt", NULL);
      g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
      g_assert_true (g_file_set_contents (report, "x", 1, NULL));
      g_assert_true (i != 1 || g_file_set_contents (own, "x", 1, NULL));
    }
  for (guint n = 1; n <= 3; n++)
    {
      g_autofree char *made = dyno_search_folder_make (NULL, NULL);
      g_assert_true (g_file_test (made, G_FILE_TEST_IS_DIR));
      g_assert_true (has_searches (place, n, "report.html"));
      g_assert_false (has_searches (place, n - 1, "report.html"));
      g_assert_false (has_searches (place, 0, NULL));
    }
  g_assert_true (has_searches (place, 1, "mine.txt"));
  g_assert_false (has_searches (place, 2, NULL));
}

/* --- trained networks ------------------------------------------------------------------------- */

/* Each kind has a name of its own; where the weights cannot be read, the error is told, and no file
 * is begun. */
static void
test_networks_are_exported_by_their_kind (void)
{
  g_autofree char *weights = g_build_filename (g_get_home_dir (), "some.safetensors", NULL),
                  *nowhere = g_build_filename (g_get_home_dir (), "none.safetensors", NULL),
                  *path = g_build_filename (g_get_home_dir (), "exported.bin", NULL), *data = NULL;
  guint n;
  const DynoNetworkExport *kinds = dyno_network_export_list (&n);

  g_assert_true (g_file_set_contents (weights, "a\0b", 3, NULL));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GError) error = NULL, other = NULL;
      g_assert_true (dyno_network_export_find (kinds[i].id) == &kinds[i]);
      for (guint k = 0; k < i; k++)
        g_assert_cmpstr (kinds[i].file_name, !=, kinds[k].file_name);
      g_assert_false (kinds[i].write (nowhere, path, &error));
      g_assert_nonnull (error);
      g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
      if (g_str_equal (kinds[i].id, "weights"))
        continue;
      g_assert_false (kinds[i].write (weights, path, &other)); /* these are no weights */
      g_assert_nonnull (other);
      g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
    }
  g_assert_null (dyno_network_export_find ("nothing"));
  gsize size;
  g_assert_true (dyno_network_export_find ("weights")->write (weights, path, NULL));
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  g_assert_cmpmem (data, size, "a\0b", 3);
  g_unlink (path);
  g_unlink (weights);
}

void
parts_add_run_curves (void)
{
  g_test_add_func ("/ui/parts/a-whole-curve-stays", test_a_whole_curve_stays);
  g_test_add_func ("/ui/parts/curves-are-read-when-they-are-asked-for",
                   test_curves_are_read_when_they_are_asked_for);
  g_test_add_func ("/ui/parts/one-run-is-shown-with-its-settings",
                   test_one_run_is_shown_with_its_settings);
  g_test_add_func ("/ui/parts/runs-are-compared-by-each-quantity",
                   test_runs_are_compared_by_each_quantity);
  g_test_add_func ("/ui/parts/curves-of-a-run-in-progress-are-followed",
                   test_curves_of_a_run_in_progress_are_followed);
  g_test_add_func ("/ui/parts/a-run-names-six-settings", test_a_run_names_six_settings);
  g_test_add_func ("/ui/parts/words-find-runs", test_words_find_runs);
  g_test_add_func ("/ui/parts/searches-say-how-they-ended", test_searches_say_how_they_ended);
  g_test_add_func ("/ui/parts/eight-runs-are-compared", test_eight_runs_are_compared);
  g_test_add_func ("/ui/parts/the-newest-folders-of-searches-are-kept",
                   test_the_newest_folders_of_searches_are_kept);
  g_test_add_func ("/ui/parts/networks-are-exported-by-their-kind",
                   test_networks_are_exported_by_their_kind);
}
