/* SPDX-License-Identifier: MIT */
/* The page of a run. */
#include "runpage.h"
#include "format.h"
#include "maskcard.h"
#include "predictdialog.h"
#include "row.h"
#include "runplots.h"
#include "runresume.h"
#include "sentence.h"
#include "statsbar.h"
#include "watchdog.h"
#include "words.h"
#include <glib/gi18n.h>
#include <math.h>

#define SENTENCE_US (2 * G_USEC_PER_SEC)

struct _DynoRunPage {
  GtkBox parent_instance;
  GtkWidget *sentence, *title, *step, *test, *progress, *folder, *predict, *resume, *watchdog,
      *stats, *masks, *plots;
  DynoRunMonitor *monitor;
  DynoSessionState announced; /* what the sentence shows, and when it was set */
  gboolean announced_released;
  guint announced_known;
  gint64 announced_us;
  double gpu_busy; /* percent, mean over some readings; NaN: not known */
};

G_DEFINE_FINAL_TYPE (DynoRunPage, dyno_run_page, GTK_TYPE_BOX)

static char *
describe_run (const DynoRunStatus *s)
{
  g_autofree char *model = dyno_words_model (s->job->model), *data = dyno_words_data (s->job->data);
  if (s->device)
    /* Translators: model, data set, device */
    return g_strdup_printf (_ ("%s on %s, %s"), model, data, s->device);
  /* Translators: model, data set */
  return g_strdup_printf (_ ("%s on %s"), model, data);
}

/* The text of the step.  The sentence above names the state except in training, where it shows the
 * time left: then this text names the state.  Before the first step this text is the duration of
 * the preparation so far. */
static char *
describe_step (const DynoRunStatus *s, double elapsed_s)
{
  if (s->n_steps == 0 && s->state < DYNO_SESSION_FINISHED)
    {
      g_autofree char *span = dyno_format_span (elapsed_s);
      /* Translators: a time: "0:12 so far" */
      return g_strdup_printf (_ ("%s so far"), span);
    }
  if (s->n_steps == 0)
    return g_strdup ("");
  gboolean training = s->state == DYNO_SESSION_RUNNING;
  g_autofree char *step = dyno_format_count (s->step.step);
  g_autofree char *total = dyno_format_count (s->total_steps);
  if (s->total_steps > 0)
    /* Translators: step, number of steps */
    return g_strdup_printf (training ? _ ("Training, step %s of %s") : _ ("Step %s of %s"), step,
                            total);
  return g_strdup_printf (training ? _ ("Training, step %s") : _ ("Step %s"), step);
}

/* Updates the sentence when the state changes, when a preparation ends and when the time left
 * becomes known, else only at long intervals, so that it can be read.  After the end of a run it is
 * always updated, since the duration may become known last. */
static void
show_sentence (DynoRunPage *self, const DynoRunStatus *s)
{
  gint64 now = g_get_monotonic_time ();
  guint known = s->progress ? 0 : s->eta_s < 0 ? 1 : 2;
  double busy = s->has_sensors ? s->sensors.values[DYNO_SENSOR_GPU_BUSY] : (double) NAN;
  if (s->state == self->announced && s->released == self->announced_released
      && known == self->announced_known && s->n_steps > 0 && s->state < DYNO_SESSION_FINISHED
      && now - self->announced_us < SENTENCE_US)
    return;
  self->announced = s->state;
  self->announced_released = s->released;
  self->announced_known = known;
  self->announced_us = now;
  self->gpu_busy = isnan (self->gpu_busy) || isnan (busy) || s->n_steps == 0
                       ? busy
                       : 0.7 * self->gpu_busy + 0.3 * busy;
  DynoLossTrend trend = dyno_stretches_judge_loss (
      dyno_run_view_get_stretches (dyno_run_monitor_get_view (self->monitor)));
  g_autofree char *text = dyno_sentence_describe (s, trend, self->gpu_busy);
  gtk_label_set_text (GTK_LABEL (self->sentence), text);
  dyno_widget_add_class (self->sentence, "bad-text", s->state == DYNO_SESSION_FAILED);
}

static gboolean
can_predict (const DynoRunStatus *s)
{
  return s->job && s->state >= DYNO_SESSION_FINISHED && dyno_predict_can_use (s->out_dir);
}

gboolean
dyno_run_page_predict (DynoRunPage *self, const char *const *paths)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  if (!can_predict (s))
    return FALSE;
  const DynoStoredRun run = { .model = s->job->model, .data = s->job->data, .folder = s->out_dir };
  g_autofree char *title = dyno_words_run_short (&run);
  dyno_predict_dialog_show (GTK_WINDOW (window), s->out_dir, title, s->job->device, paths);
  return TRUE;
}

DynoJob *
dyno_run_page_get_resuming_job (DynoRunPage *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  if (!s->job || (s->state != DYNO_SESSION_STOPPED && s->state != DYNO_SESSION_FAILED))
    return NULL;
  return dyno_run_resume_folder (s->job, s->out_dir);
}

static void
predict_clicked (GtkButton *button, DynoRunPage *self)
{
  dyno_run_page_predict (self, NULL);
}

static void
show_run (DynoRunPage *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  if (!s->job)
    return;
  g_autofree char *title = describe_run (s),
                  *step = describe_step (s, dyno_run_monitor_get_elapsed (self->monitor)),
                  *test = dyno_words_run_test (s);
  gtk_label_set_text (GTK_LABEL (self->title), title);
  gtk_label_set_text (GTK_LABEL (self->step), step);
  gtk_label_set_text (GTK_LABEL (self->test), test ? test : "");
  gtk_widget_set_visible (self->test, test != NULL);
  /* The bar of a preparation has another colour, since it is no progress of the run. */
  gboolean preparing = s->progress && s->state < DYNO_SESSION_STOPPING;
  double fraction = preparing ? s->progress_fraction : s->fraction;
  dyno_widget_add_class (self->progress, "preparation", preparing);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress), CLAMP (fraction, 0, 1));
  gtk_widget_set_visible (self->folder, s->state >= DYNO_SESSION_FINISHED && s->out_dir
                                            && g_file_test (s->out_dir, G_FILE_TEST_IS_DIR));
  gtk_widget_set_visible (self->predict, can_predict (s));
  g_autoptr (DynoJob) resuming = dyno_run_page_get_resuming_job (self);
  gtk_widget_set_visible (self->resume, resuming != NULL);
  show_sentence (self, s);
  dyno_stats_bar_show (DYNO_STATS_BAR (self->stats), s);
}

static void
open_folder (GtkButton *button, DynoRunPage *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  g_autofree char *uri = s->out_dir ? g_filename_to_uri (s->out_dir, NULL, NULL) : NULL;
  g_autoptr (GError) error = NULL;
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  if (uri && !gtk_show_uri_on_window (GTK_WINDOW (window), uri, GDK_CURRENT_TIME, &error))
    g_warning ("Cannot show %s: %s", uri, error->message);
}

void
dyno_run_page_set_state (DynoRunPage *self, DynoState *state)
{
  dyno_mask_card_set_state (DYNO_MASK_CARD (self->masks), state);
  dyno_run_plots_set_state (DYNO_RUN_PLOTS (self->plots), state);
}

void
dyno_run_page_set_log (DynoRunPage *self, gboolean log)
{
  dyno_run_plots_set_log (DYNO_RUN_PLOTS (self->plots), log);
}

void
dyno_run_page_set_tight (DynoRunPage *self, gboolean tight)
{
  dyno_stats_bar_set_tight (DYNO_STATS_BAR (self->stats), tight);
}

void
dyno_run_page_set_held (DynoRunPage *self, gboolean held)
{
  dyno_run_plots_set_held (DYNO_RUN_PLOTS (self->plots), held);
}

gboolean
dyno_run_page_export (DynoRunPage *self, const char *path, GError **error)
{
  return dyno_run_plots_write (DYNO_RUN_PLOTS (self->plots), path, error);
}

void
dyno_run_page_set_run (DynoRunPage *self, DynoRunMonitor *monitor, DynoSetup *setup)
{
  self->monitor = monitor;
  dyno_watchdog_set_run (DYNO_WATCHDOG (self->watchdog), monitor, setup);
  dyno_mask_card_set_run (DYNO_MASK_CARD (self->masks), monitor);
  dyno_run_plots_set_run (DYNO_RUN_PLOTS (self->plots), monitor);
  g_signal_connect_object (monitor, "changed", G_CALLBACK (show_run), self, G_CONNECT_SWAPPED);
}

static void
dyno_run_page_class_init (DynoRunPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  g_type_ensure (DYNO_TYPE_STATS_BAR);
  g_type_ensure (DYNO_TYPE_WATCHDOG);
  g_type_ensure (DYNO_TYPE_MASK_CARD);
  g_type_ensure (DYNO_TYPE_RUN_PLOTS);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/runpage.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, sentence);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, watchdog);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, title);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, step);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, test);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, progress);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, folder);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, predict);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, resume);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, stats);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, masks);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, plots);
  gtk_widget_class_bind_template_callback (widget_class, open_folder);
  gtk_widget_class_bind_template_callback (widget_class, predict_clicked);
}

static void
dyno_run_page_init (DynoRunPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->gpu_busy = (double) NAN;
}
