/* SPDX-License-Identifier: MIT */
/* The bar is redrawn at most ten times per second, and is never wider than the terminal.  Without a
 * terminal a line is printed after the first second, and then every few seconds, also while a step
 * or the compilation of a kernel takes longer. */
#include "progress.h"
#include "amount.h"
#include "output.h"
#include "text.h"
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_INTERVAL_US  100000
#define LINE_INTERVAL_US 5000000
#define FIRST_LINE_US    1000000

void
dyno_progress_init (DynoProgress *progress, DynoRunView *view, gboolean quiet)
{
  const char *term = g_getenv ("TERM");

  memset (progress, 0, sizeof *progress);
  progress->view = view;
  progress->quiet = quiet;
  progress->terminal = dyno_out_is_terminal () && g_strcmp0 (term, "dumb") != 0;
  progress->colour = dyno_out_has_colour ();
  progress->news_us = g_get_monotonic_time ();
  if (!progress->terminal)
    progress->last_us = progress->news_us - LINE_INTERVAL_US + FIRST_LINE_US;
  g_strlcpy (progress->latest, "preparing", sizeof progress->latest);
}

static guint
terminal_width (void)
{
  struct winsize size;
  const char *columns = g_getenv ("COLUMNS");
  guint64 width;

  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  if (columns && g_ascii_string_to_unsigned (columns, 10, 20, 1000, &width, NULL))
    return (guint) width;
  return 80;
}

void
dyno_progress_clear (DynoProgress *progress)
{
  if (progress->shown)
    dyno_out_text ("\r\033[K");
  progress->shown = FALSE;
}

void
dyno_progress_print (DynoProgress *progress, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  if (progress->quiet)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  dyno_progress_clear (progress);
  dyno_out_line ("%s", text);
  dyno_out_flush ();
  if (!progress->terminal)
    progress->last_us = g_get_monotonic_time ();
}

/* head [#####.....] tail, cut to the terminal's width. */
static void
show_bar (DynoProgress *progress, const char *head, double fraction, const char *tail)
{
  guint width = terminal_width (),
        used = (guint) (g_utf8_strlen (head, -1) + g_utf8_strlen (tail, -1)) + 4;
  guint room = width > used + 1 ? MIN (width - used - 1, 40) : 0;
  g_autoptr (GString) line = g_string_new (head);
  g_autofree char *cut = NULL, *whole = NULL;

  if (room >= 8)
    {
      guint full = (guint) (CLAMP (fraction, 0, 1) * room);

      g_string_append (line, progress->colour ? " [\033[32m" : " [");
      for (guint i = 0; i < room; i++)
        {
          if (i == full && progress->colour)
            g_string_append (line, "\033[0m");
          g_string_append_c (line, i < full ? '#' : '.');
        }
      g_string_append (line, progress->colour && full == room ? "\033[0m] " : "] ");
      g_string_append (line, tail);
      cut = g_strdup (line->str);
    }
  else
    {
      g_string_append_printf (line, " %s", tail);
      cut = g_utf8_substring (line->str, 0,
                              MIN (g_utf8_strlen (line->str, -1), (glong) MAX (width, 2) - 1));
    }
  whole = g_strconcat ("\r", cut, "\033[K", NULL);
  dyno_out_text (whole);
  progress->shown = TRUE;
}

/* TRUE when it is time for another bar or plain line. */
static gboolean
is_due (DynoProgress *progress)
{
  gint64 now = g_get_monotonic_time ();

  if (progress->quiet
      || now - progress->last_us < (progress->terminal ? BAR_INTERVAL_US : LINE_INTERVAL_US))
    return FALSE;
  progress->last_us = now;
  return TRUE;
}

/* Sets the text of the next plain line, which may be printed later. */
static void
set_latest (DynoProgress *progress, const char *text)
{
  if (strncmp (progress->latest, text, sizeof progress->latest - 1) == 0)
    return;
  g_strlcpy (progress->latest, text, sizeof progress->latest);
  progress->news_us = g_get_monotonic_time ();
  progress->reported = FALSE;
}

void
dyno_progress_tick (DynoProgress *progress)
{
  g_autofree char *since = NULL;

  if (progress->terminal || !is_due (progress))
    return;
  since = dyno_text_duration ((double) (g_get_monotonic_time () - progress->news_us) / 1e6);
  if (progress->reported)
    dyno_progress_print (progress, "%s  (for %s)", progress->latest, since);
  else
    dyno_progress_print (progress, "%s", progress->latest);
  progress->reported = TRUE;
}

void
dyno_progress_show (DynoProgress *progress, const char *head, double fraction, const char *tail)
{
  g_autofree char *text = NULL;

  if (!progress->terminal)
    {
      text = g_strdup_printf ("%s%s%s", head, *tail ? " " : "", tail);
      set_latest (progress, text);
      dyno_progress_tick (progress);
    }
  else if (is_due (progress))
    show_bar (progress, head, fraction, tail);
}

void
dyno_progress_plan (DynoProgress *progress, const DynoJob *job, guint ranks, const DynoEvent *event)
{
  const DynoJobPlan *plan = &event->plan.plan;
  g_autofree char *total = dyno_amount_bytes (plan->plan.total_bytes, " "),
                  *budget = dyno_amount_bytes (plan->budget_bytes, " "), *tested = NULL;
  g_autofree char *parameters = dyno_amount_count ((double) plan->n_parameters, " ");

  dyno_progress_print (progress, "%s (%s parameters) on %s%s", job->model, parameters,
                       event->plan.device, event->plan.software_device ? " (software, slow)" : "");
  if (event->plan.n_test > 0)
    tested = g_strdup_printf (", %" G_GUINT64_FORMAT " to test", event->plan.n_test);
  dyno_progress_print (
      progress, "%s: %" G_GUINT64_FORMAT " %s to train, %" G_GUINT64_FORMAT " to validate%s",
      job->data, event->plan.n_train, dyno_plural (event->plan.n_train, "sample", "samples"),
      event->plan.n_validation, tested ? tested : "");
  dyno_progress_print (progress,
                       "batch %" G_GINT64_FORMAT ", %s, %" G_GINT64_FORMAT
                       " worker%s; device memory %s of %s",
                       job->settings.batch_size, job->settings.amp ? "AMP" : "fp32",
                       job->settings.workers, job->settings.workers == 1 ? "" : "s", total, budget);
  if (ranks > 1)
    dyno_progress_print (progress, "%u ranks, each with that: a step is of %" G_GINT64_FORMAT " %s",
                         ranks, job->settings.batch_size * job->settings.accumulate * ranks,
                         dyno_plural (job->settings.batch_size * job->settings.accumulate * ranks,
                                      "sample", "samples"));
}

void
dyno_progress_preparing (DynoProgress *progress, const DynoEvent *event)
{
  static const char *const words[][2] = { { "scan", "scanning" },
                                          { "compile", "compiling" },
                                          { "autotune", "timing kernels" },
                                          { "weights", "preparing weights" } };
  const char *what = event->progress.what;
  g_autofree char *tail = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_strcmp0 (what, words[i][0]) == 0)
      what = words[i][1];
  if (event->progress.total)
    tail = g_strdup_printf ("%u of %u", event->progress.done, event->progress.total);
  else
    tail = event->progress.done ? g_strdup_printf ("%u", event->progress.done) : g_strdup ("");
  dyno_progress_show (
      progress, what,
      event->progress.total ? (double) event->progress.done / event->progress.total : 0, tail);
}

/* "epoch 3/10"; "epoch 3" for a run whose end is not known.  g_free. */
static char *
text_epoch (const DynoRunStatus *s, guint64 epoch)
{
  if (s->total_epochs == 0)
    return g_strdup_printf ("epoch %" G_GUINT64_FORMAT, epoch);
  return g_strdup_printf ("epoch %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT, epoch, s->total_epochs);
}

void
dyno_progress_step (DynoProgress *progress)
{
  const DynoRunStatus *s = dyno_run_view_get_status (progress->view);
  const DynoStepMetrics *step = &s->step;
  g_autofree char *vram = NULL, *budget = NULL, *eta = NULL, *head = NULL, *tail = NULL;

  if (s->n_steps == 1 && !progress->terminal) /* the first step is reported at once */
    progress->last_us = 0;
  if (progress->terminal && !is_due (progress))
    return;
  vram = dyno_amount_bytes (step->vram_bytes, " ");
  budget = dyno_amount_bytes (s->plan.budget_bytes, " ");
  eta = dyno_text_duration (s->eta_s);
  if (progress->terminal)
    {
      head = text_epoch (s, step->epoch);
      tail = g_strdup_printf (
          "%3.0f %%  %.*f samples/s  loss %.4f  VRAM %s%s%s  ETA %s", s->fraction * 100,
          step->samples_per_s < 100 ? 1 : 0, step->samples_per_s, step->loss, vram,
          terminal_width () < 110 ? "" : " of ", terminal_width () < 110 ? "" : budget, eta);
      show_bar (progress, head, s->fraction, tail);
    }
  else
    {
      head = g_strdup_printf ("step %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT
                              "  epoch %" G_GUINT64_FORMAT
                              "  loss %.4f  %.*f samples/s  VRAM %s  ETA %s",
                              step->step, s->total_steps, step->epoch, step->loss,
                              step->samples_per_s < 100 ? 1 : 0, step->samples_per_s, vram, eta);
      set_latest (progress, head);
      dyno_progress_tick (progress);
    }
}

char *
dyno_text_metric_number (const DynoMetricInfo *metric, double value)
{
  if (metric->format == DYNO_METRIC_FRACTION)
    return g_strdup_printf ("%.2f %%", value * 100);
  return g_strdup_printf ("%.4f%s%s", value, *metric->unit ? " " : "", metric->unit);
}

char *
dyno_text_metric (const DynoMetricInfo *metric, double value)
{
  g_autofree char *title = dyno_text_title (metric->title),
                  *number = dyno_text_metric_number (metric, value);

  return g_strconcat (title, " ", number, NULL);
}

/* Appends the first metric, followed by its parts: "  mean error 2.1000 degrees (yaw 1.5000
 * degrees, pitch 2.7000 degrees)"; then the metric that chooses the best epoch, by best_metric (may
 * be NULL), if it is another one. */
static void
append_metrics (GString *line, const DynoMetricTable *table, const char *best_metric,
                gboolean validated, const double *values)
{
  int chosen = dyno_metric_table_find_best (table, best_metric);
  const char *before = " (";

  for (guint i = 0; i < table->n; i++)
    if (i == 0)
      {
        g_autofree char *text = dyno_text_metric (&table->infos[i], values[i]);
        g_string_append_printf (line, "  %s", text);
      }
    else if (table->infos[i].part)
      {
        g_autofree char *number = dyno_text_metric_number (&table->infos[i], values[i]);
        g_string_append_printf (line, "%s%s %s", before, table->infos[i].part, number);
        before = ", ";
      }
  if (*before == ',')
    g_string_append_c (line, ')');
  if (chosen > 0 && !table->infos[chosen].part
      && (validated || !table->infos[chosen].of_validation))
    {
      g_autofree char *text = dyno_text_metric (&table->infos[chosen], values[chosen]);
      g_string_append_printf (line, "  %s", text);
    }
}

void
dyno_progress_epoch (DynoProgress *progress)
{
  const DynoRunStatus *s = dyno_run_view_get_status (progress->view);
  const DynoEpochMetrics *epoch = &s->epoch;
  g_autoptr (GString) line = g_string_new (NULL);
  g_autofree char *seconds = dyno_text_duration (epoch->seconds),
                  *head = text_epoch (s, epoch->epoch);
  const char *best_metric = s->job ? g_quark_to_string (s->job->settings.best_metric) : NULL;

  g_string_append_printf (line, "%s  loss %.4f", head, epoch->train_loss);
  append_metrics (line, &s->metrics, best_metric, FALSE, epoch->train_metrics);
  if (!isnan (epoch->val_loss))
    {
      g_string_append_printf (line, "  validation loss %.4f", epoch->val_loss);
      append_metrics (line, &s->metrics, best_metric, TRUE, epoch->val_metrics);
    }
  g_string_append_printf (line, "  %.*f samples/s  %s", epoch->samples_per_s < 100 ? 1 : 0,
                          epoch->samples_per_s, seconds);
  dyno_progress_print (progress, "%s", line->str);
}

char *
dyno_progress_describe_end (const DynoEvent *event, const char *best, double rate,
                            const char *folder)
{
  GString *text = g_string_new (NULL);
  g_autofree char *seconds = dyno_text_duration (event->done.seconds), *shown = NULL;
  guint64 steps = event->done.steps, now = steps - MIN (steps, event->done.begin_steps);

  if (event->done.whole_steps > 0)
    g_string_append_printf (
        text, "stopped after %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " steps as asked, in %s",
        steps, event->done.whole_steps, seconds);
  else
    g_string_append_printf (text, "done: %" G_GUINT64_FORMAT " %s in %s", steps,
                            steps == 1 ? "step" : "steps", seconds);
  if (event->done.begin_steps > 0)
    {
      g_autofree char *part =
          dyno_text_duration (MAX (event->done.seconds - event->done.begin_seconds, 0));

      g_string_append_printf (text, ", %" G_GUINT64_FORMAT " of them now in %s", now, part);
    }
  if (rate > 0)
    {
      g_autofree char *of_samples = dyno_text_rate (rate);

      g_string_append_printf (text, ", %s samples/s", of_samples);
    }
  if (best)
    g_string_append_printf (text, ", best validation %s (epoch %" G_GUINT64_FORMAT ")", best,
                            event->done.best_epoch);
  if (event->done.whole_steps > 0 && folder)
    {
      shown = g_filename_display_name (folder);
      g_string_append_printf (text, "; resume with: dynoctl train --resume %s", shown);
    }
  return g_string_free (text, FALSE);
}
