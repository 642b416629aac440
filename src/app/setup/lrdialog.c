/* SPDX-License-Identifier: MIT */
/* The thread writes its points to a struct with a lock, from which a timer shows them: the thread
 * never waits for the window.  The dialog outlives the thread, also when it is closed before. */
#include "lrdialog.h"
#include "heldtask.h"
#include "lrlines.h"
#include "lrtest.h"
#include "row.h"
#include "theme.h"
#include "words.h"
#include <glib/gi18n.h>
#include <math.h>

#define WIDTH   720
#define HEIGHT  420
#define SHOW_MS 100
#define SECONDS 120 /* longest duration of the test, which shows its progress and can be ended */

typedef struct {
  DynoJob *job;
  DynoDataset *dataset;
  GMutex lock;
  GArray *points;        /* DynoLrPoint */
  guint steps;           /* steps of the whole test */
  const char *preparing; /* the present preparation, interned; NULL: the test runs */
} Work;

typedef struct {
  GtkWidget *dialog, *plot, *text;
  DynoSetup *setup; /* outlives the window */
  GCancellable *cancellable;
  Work *work; /* owned by the task */
  guint timer;
  gboolean closed;
  DynoLrLines lines;
  char *mark;
  double lr; /* the suggested learning rate; NaN: none yet */
} Dialog;

/* --- measuring -------------------------------------------------------------------------------- */

static void
work_free (gpointer data)
{
  Work *work = data;

  dyno_job_unref (work->job);
  dyno_dataset_unref (work->dataset);
  g_array_unref (work->points);
  g_mutex_clear (&work->lock);
  g_free (work);
}

static void
take_event (const DynoEvent *event, gpointer data)
{
  Work *work = data;

  if (event->type != DYNO_EVENT_PROGRESS && event->type != DYNO_EVENT_STEP)
    return;
  g_mutex_lock (&work->lock);
  work->preparing =
      event->type == DYNO_EVENT_PROGRESS ? g_intern_string (event->progress.what) : NULL;
  g_mutex_unlock (&work->lock);
}

static void
take_point (const DynoLrCurve *curve, const DynoLrPoint *point, gpointer data)
{
  Work *work = data;

  g_mutex_lock (&work->lock);
  work->steps = curve->steps;
  g_array_append_val (work->points, *point);
  g_mutex_unlock (&work->lock);
}

static void
measure (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Work *work = data;
  const DynoLrTestWatch watch = { take_event, take_point, work };
  const DynoLrTestParams params = { .seconds = SECONDS };
  GError *error = NULL;
  DynoLrCurve *curve =
      dyno_lr_test_run (work->job, work->dataset, NULL, &params, &watch, cancellable, &error);

  if (curve)
    g_task_return_pointer (task, curve, (GDestroyNotify) dyno_lr_curve_free);
  else
    g_task_return_error (task, error);
}

/* --- showing ---------------------------------------------------------------------------------- */

static void
dialog_free (gpointer data)
{
  Dialog *self = data;

  dyno_lr_lines_clear (&self->lines);
  g_object_unref (self->cancellable);
  g_free (self->mark);
  g_free (self);
}

static gboolean
draw_curve (GtkWidget *widget, cairo_t *cr, Dialog *self)
{
  DynoPlotLine lines[] = { { .series = self->lines.loss, .colour = 7 },
                           { .series = self->lines.smoothed, .colour = 0 } };
  const DynoPlot plot = { .title = _ ("Loss"),
                          .x_label = _ ("Learning rate"),
                          .y_label = "",
                          .lines = lines,
                          .n_lines = G_N_ELEMENTS (lines),
                          .x_log = TRUE,
                          .y_log = TRUE,
                          .y_limit = (double) NAN,
                          .x_mark = self->lr,
                          .x_mark_label = self->mark,
                          .cursor_x = (double) NAN };

  dyno_plot_draw (cr, &plot, dyno_plot_theme_for_widget (widget),
                  gtk_widget_get_allocated_width (widget), gtk_widget_get_allocated_height (widget),
                  gtk_widget_get_scale_factor (widget));
  return FALSE;
}

static void
show_points (Dialog *self)
{
  Work *work = self->work;
  g_autofree char *text = NULL;

  g_mutex_lock (&work->lock);
  dyno_lr_lines_take (&self->lines, work->points);
  if (work->points->len > 0)
    /* Translators: a number of steps that were made, of so many */
    text = g_strdup_printf (_ ("Step %u of %u"), work->points->len, work->steps);
  else
    text = g_strdup (work->preparing ? dyno_words_progress (work->preparing) : _ ("Preparing"));
  g_mutex_unlock (&work->lock);
  gtk_label_set_text (GTK_LABEL (self->text), text);
  gtk_widget_queue_draw (self->plot);
}

static gboolean
show_progress (gpointer data)
{
  show_points (data);
  return G_SOURCE_CONTINUE;
}

static void
show_result (Dialog *self, const DynoLrCurve *curve)
{
  g_auto (DynoLrSuggestion) s = { 0 };
  g_autofree char *text = NULL;

  dyno_lr_suggest (curve, &s);
  text = g_strconcat (s.text, s.note ? "\n" : NULL, s.note, NULL);
  gtk_label_set_text (GTK_LABEL (self->text), text);
  self->lr = s.lr;
  if (!isfinite (s.lr))
    return;
  self->mark = g_strdup_printf ("%.2g", s.lr);
  gtk_dialog_set_response_sensitive (GTK_DIALOG (self->dialog), GTK_RESPONSE_APPLY, TRUE);
  gtk_dialog_set_default_response (GTK_DIALOG (self->dialog), GTK_RESPONSE_APPLY);
  gtk_widget_grab_focus (
      gtk_dialog_get_widget_for_response (GTK_DIALOG (self->dialog), GTK_RESPONSE_APPLY));
}

void
dyno_lr_dialog_show_result (GtkWidget *dialog, const DynoLrCurve *curve, const GError *error)
{
  Dialog *self = g_object_get_data (G_OBJECT (dialog), "dyno-lr");

  if (curve)
    show_result (self, curve);
  else
    gtk_label_set_text (GTK_LABEL (self->text), error->message);
}

static void
measured (GObject *source, GAsyncResult *result, gpointer data)
{
  Dialog *self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoLrCurve) curve = g_task_propagate_pointer (G_TASK (result), &error);

  if (self->closed)
    return;
  g_clear_handle_id (&self->timer, g_source_remove);
  show_points (self);
  self->work = NULL; /* the task frees it */
  dyno_lr_dialog_show_result (self->dialog, curve, error);
}

/* --- the dialog ------------------------------------------------------------------------------- */

static void
dialog_destroyed (GtkWidget *dialog, Dialog *self)
{
  self->closed = TRUE;
  g_clear_handle_id (&self->timer, g_source_remove);
  g_cancellable_cancel (self->cancellable);
}

static void
dialog_answered (GtkWidget *dialog, int response, Dialog *self)
{
  g_autoptr (GError) error = NULL;

  if (response == GTK_RESPONSE_APPLY && isfinite (self->lr)
      && !dyno_setup_set_number (self->setup, "lr", self->lr, &error))
    g_warning ("%s", error->message);
  gtk_widget_destroy (dialog);
}

static void
begin (Dialog *self)
{
  g_autoptr (GTask) task = g_task_new (self->dialog, self->cancellable, measured, self);
  Work *work = g_new0 (Work, 1);

  g_mutex_init (&work->lock);
  work->job = dyno_job_copy (dyno_setup_get_job (self->setup));
  work->dataset = dyno_dataset_ref (dyno_setup_get_dataset (self->setup));
  work->points = g_array_new (FALSE, FALSE, sizeof (DynoLrPoint));
  self->work = work;
  self->timer = g_timeout_add (SHOW_MS, show_progress, self);
  g_task_set_task_data (task, work, work_free);
  dyno_task_run_held (task, measure);
}

GtkWidget *
dyno_lr_dialog_new (GtkWindow *parent, DynoSetup *setup)
{
  Dialog *self = g_new0 (Dialog, 1);
  GtkWidget *content;

  self->dialog = gtk_dialog_new_with_buttons (_ ("Find a Learning Rate"), parent,
                                              GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT
                                                  | GTK_DIALOG_USE_HEADER_BAR,
                                              _ ("_Use"), GTK_RESPONSE_APPLY, NULL);
  g_object_set_data_full (G_OBJECT (self->dialog), "dyno-lr", self, dialog_free);
  self->setup = setup;
  self->cancellable = g_cancellable_new ();
  self->lr = (double) NAN;
  dyno_lr_lines_init (&self->lines);
  content = gtk_dialog_get_content_area (GTK_DIALOG (self->dialog));
  self->plot = gtk_drawing_area_new ();
  gtk_widget_set_vexpand (self->plot, TRUE);
  dyno_widget_set_accessible_name (self->plot, _ ("Loss over the learning rate"));
  g_signal_connect (self->plot, "draw", G_CALLBACK (draw_curve), self);
  gtk_container_add (GTK_CONTAINER (content), self->plot);
  self->text = gtk_label_new (NULL);
  gtk_label_set_line_wrap (GTK_LABEL (self->text), TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->text), 0);
  g_object_set (self->text, "margin", 12, NULL);
  gtk_container_add (GTK_CONTAINER (content), self->text);
  gtk_dialog_set_response_sensitive (GTK_DIALOG (self->dialog), GTK_RESPONSE_APPLY, FALSE);
  g_signal_connect (self->dialog, "response", G_CALLBACK (dialog_answered), self);
  g_signal_connect (self->dialog, "destroy", G_CALLBACK (dialog_destroyed), self);
  dyno_widget_fit_dialog (self->dialog, parent, WIDTH, HEIGHT);
  return self->dialog;
}

void
dyno_lr_dialog_show (GtkWindow *parent, DynoSetup *setup)
{
  Dialog *self = g_object_get_data (G_OBJECT (dyno_lr_dialog_new (parent, setup)), "dyno-lr");

  begin (self);
  show_points (self);
  gtk_widget_show_all (self->dialog);
}
