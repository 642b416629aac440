/* SPDX-License-Identifier: MIT */
/* The thread writes its progress to a struct with a lock, from which a timer shows it: the thread
 * never waits for the window. */
#include "quickcard.h"
#include "findingrow.h"
#include "format.h"
#include "row.h"
#include <glib/gi18n.h>
#include <handy.h>
#include <math.h>
#include <string.h>

#define SHOW_MS 100

typedef struct {
  DynoQuickParams params;
  GMutex lock;
  const char *what; /* static */
  double fraction;
} Work;

struct _DynoQuickCard {
  GtkBox parent_instance;
  GtkWidget *head, *title, *stop, *what, *progress, *facts, *signs;
  GCancellable *cancellable; /* of the task; NULL while nothing is measured */
  Work *work;                /* owned by the task */
  guint timer;
};

enum { ACTIVE_CHANGED, FAILED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoQuickCard, dyno_quick_card, GTK_TYPE_BOX)

/* --- measuring -------------------------------------------------------------------------------- */

static void
work_free (gpointer data)
{
  Work *work = data;
  g_mutex_clear (&work->lock);
  g_free (work);
}

static void
take_progress (const char *what, double fraction, gpointer data)
{
  Work *work = data;
  g_mutex_lock (&work->lock);
  work->what = what;
  work->fraction = fraction;
  g_mutex_unlock (&work->lock);
}

static void
measure (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Work *work = data;
  GError *error = NULL;
  DynoQuick *quick = dyno_quick_run (&work->params, take_progress, work, cancellable, &error);
  if (quick)
    g_task_return_pointer (task, quick, (GDestroyNotify) dyno_quick_free);
  else
    g_task_return_error (task, error);
}

/* --- the result ------------------------------------------------------------------------------- */

static void
add_fact (DynoQuickCard *self, const char *title, const char *detail, char *value)
{
  GtkWidget *row = hdy_action_row_new (), *label = gtk_label_new (value);
  hdy_preferences_row_set_title (HDY_PREFERENCES_ROW (row), title);
  hdy_action_row_set_subtitle (HDY_ACTION_ROW (row), detail);
  hdy_action_row_set_subtitle_lines (HDY_ACTION_ROW (row), 0);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  dyno_widget_add_class (label, "numeric", TRUE);
  gtk_container_add (GTK_CONTAINER (row), label);
  g_autofree char *spoken = g_strdup_printf ("%s: %s", title, value);
  dyno_widget_set_accessible_name (row, spoken);
  if (detail)
    atk_object_set_description (gtk_widget_get_accessible (row), detail);
  gtk_container_add (GTK_CONTAINER (self->facts), row);
  g_free (value);
}

static char *
format_amount (double value, const char *unit)
{
  g_autofree char *number = dyno_format_rate (value);
  return value > 0 ? dyno_format_isolate (g_strdup_printf ("%s\302\240%s", number, unit))
                   : g_strdup (_ ("not measured"));
}

static char *
format_flops (double flops)
{
  return flops >= 1e11 ? format_amount (flops / 1e12, _ ("TFLOP/s"))
                       : format_amount (flops / 1e9, _ ("GFLOP/s"));
}

static char *
format_seconds (double seconds)
{
  return seconds > 0 ? g_strdup_printf (_ ("%.3g s"), seconds) : g_strdup (_ ("not measured"));
}

static void
show_facts (DynoQuickCard *self, const DynoQuick *q)
{
  const DynoCeilings *c = &q->ceilings;
  dyno_widget_clear (self->facts);
  if (q->has_ceilings)
    {
      add_fact (self, _ ("Memory bandwidth"), _ ("Copying within the device's memory"),
                format_amount (c->copy_bytes_per_s / 1e9, _ ("GB/s")));
      add_fact (self, _ ("Arithmetic, 32 bit"), NULL, format_flops (c->single_flops_per_s));
      if (c->matrix_flops_per_s > 0)
        add_fact (self, _ ("Arithmetic, 16 bit with matrix units"), NULL,
                  format_flops (c->matrix_flops_per_s));
    }
  g_autofree char *cores = g_strdup_printf (
      ngettext ("224 × 224, by %u core", "224 × 224, by %u cores", q->cores), q->cores);
  add_fact (self, _ ("Making samples"), cores,
            format_amount (q->loader_samples_per_s, _ ("samples/s")));
  g_autofree char *workload =
      g_strdup_printf ("%s, %s", q->workload ? _ (q->workload) : "", q->amp ? "AMP" : "fp32");
  add_fact (self, _ ("Training"), workload, format_amount (q->samples_per_s, _ ("samples/s")));
  add_fact (self, _ ("Predicting"), _ ("Forward passes of the validation, data included"),
            format_amount (q->epoch.predict_samples_per_s, _ ("samples/s")));
  add_fact (self, _ ("An epoch"), NULL, format_seconds (q->epoch.epoch_s));
  if (q->cpu_name && q->cpu_samples_per_s > 0 && q->beside_samples_per_s > 0)
    {
      /* Translators: how many times as fast a GPU is */
      char *times =
          g_strdup_printf (_ ("%.1f times"), q->beside_samples_per_s / q->cpu_samples_per_s);
      add_fact (self, _ ("Beside the CPU"), q->cpu_name, times);
      add_fact (self, _ ("An epoch on the CPU"), NULL, format_seconds (q->cpu_epoch.epoch_s));
      add_fact (self, _ ("The same on the device"), NULL, format_seconds (q->beside_epoch.epoch_s));
    }
  gtk_widget_show_all (self->facts);
}

void
dyno_quick_card_show (DynoQuickCard *self, const DynoQuick *q)
{
  g_autofree char *title = g_strdup_printf (_ ("Quick Test of %s"), q->device.name);
  gtk_label_set_text (GTK_LABEL (self->title), title);
  g_autofree char *text = g_strdup_printf (
      _ ("It took %.0f s. Tuning finds the fastest settings for your own data."), q->seconds);
  gtk_label_set_text (GTK_LABEL (self->what), text);
  show_facts (self, q);
  dyno_widget_clear (self->signs);
  for (guint i = 0; i < q->findings->len; i++)
    gtk_container_add (GTK_CONTAINER (self->signs), dyno_finding_row_new (q->findings->pdata[i]));
  gtk_widget_set_visible (self->signs, q->findings->len > 0);
  gtk_widget_show (gtk_widget_get_parent (self->facts));
}

/* --- progress --------------------------------------------------------------------------------- */

static const char *
describe (const char *what)
{
  if (!what || g_str_equal (what, "copy"))
    return _ ("Measuring memory and arithmetic…");
  if (g_str_equal (what, "loader"))
    return _ ("Measuring how fast samples are made…");
  if (g_str_equal (what, "training"))
    return _ ("Training on the device…");
  return _ ("Training on the CPU, to compare…");
}

static gboolean
show_progress (gpointer data)
{
  DynoQuickCard *self = data;
  g_mutex_lock (&self->work->lock);
  const char *what = self->work->what;
  double fraction = self->work->fraction;
  g_mutex_unlock (&self->work->lock);
  gtk_label_set_text (GTK_LABEL (self->what), g_cancellable_is_cancelled (self->cancellable)
                                                  ? _ ("Stopping…")
                                                  : describe (what));
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress), CLAMP (fraction, 0, 1));
  return G_SOURCE_CONTINUE;
}

static void
set_active (DynoQuickCard *self, gboolean active)
{
  gtk_widget_set_visible (self->stop, active);
  gtk_widget_set_visible (self->progress, active);
  if (!active)
    {
      self->work = NULL;
      g_clear_object (&self->cancellable);
      g_clear_handle_id (&self->timer, g_source_remove);
    }
  g_signal_emit (self, signals[ACTIVE_CHANGED], 0);
}

static void
measured (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoQuickCard *self = DYNO_QUICK_CARD (source);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoQuick) quick = g_task_propagate_pointer (G_TASK (result), &error);
  if (!self->title) /* the card was disposed of */
    return;
  if (quick)
    dyno_quick_card_show (self, quick);
  else
    gtk_widget_hide (GTK_WIDGET (self));
  if (error && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_signal_emit (self, signals[FAILED], 0, error);
  set_active (self, FALSE);
}

void
dyno_quick_card_start (DynoQuickCard *self, int device)
{
  if (self->cancellable)
    return;
  self->work = g_new0 (Work, 1);
  self->work->params.device = device;
  g_mutex_init (&self->work->lock);
  self->cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, self->cancellable, measured, NULL);
  g_task_set_task_data (task, self->work, work_free);
  gtk_label_set_text (GTK_LABEL (self->title), _ ("Quick Test"));
  gtk_widget_hide (gtk_widget_get_parent (self->facts));
  gtk_widget_hide (self->signs);
  gtk_widget_show (GTK_WIDGET (self));
  self->timer = g_timeout_add (SHOW_MS, show_progress, self);
  show_progress (self);
  g_task_run_in_thread (task, measure);
  set_active (self, TRUE);
}

void
dyno_quick_card_stop (DynoQuickCard *self)
{
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
}

gboolean
dyno_quick_card_is_active (DynoQuickCard *self)
{
  return self->cancellable != NULL;
}

static void
dyno_quick_card_dispose (GObject *object)
{
  DynoQuickCard *self = DYNO_QUICK_CARD (object);
  self->title = NULL;
  g_clear_handle_id (&self->timer, g_source_remove);
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  G_OBJECT_CLASS (dyno_quick_card_parent_class)->dispose (object);
}

static void
dyno_quick_card_class_init (DynoQuickCardClass *class)
{
  GType type = DYNO_TYPE_QUICK_CARD;
  G_OBJECT_CLASS (class)->dispose = dyno_quick_card_dispose;
  signals[ACTIVE_CHANGED] =
      g_signal_new ("active-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FAILED] = g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
}

static GtkWidget *
new_head (DynoQuickCard *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12),
            *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  self->title = gtk_label_new ("");
  self->what = gtk_label_new ("");
  gtk_label_set_xalign (GTK_LABEL (self->title), 0);
  gtk_label_set_xalign (GTK_LABEL (self->what), 0);
  gtk_label_set_line_wrap (GTK_LABEL (self->title), TRUE);
  gtk_label_set_line_wrap (GTK_LABEL (self->what), TRUE);
  dyno_widget_add_class (self->title, "run-title", TRUE);
  dyno_widget_add_class (self->what, "note", TRUE);
  self->stop = gtk_button_new_with_mnemonic (_ ("Stop _Test"));
  gtk_widget_set_valign (self->stop, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (self->stop, "clicked", G_CALLBACK (dyno_quick_card_stop), self);
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_container_add (GTK_CONTAINER (texts), self->title);
  gtk_container_add (GTK_CONTAINER (texts), self->what);
  gtk_container_add (GTK_CONTAINER (head), texts);
  gtk_container_add (GTK_CONTAINER (head), self->stop);
  gtk_widget_show_all (head);
  return head;
}

static void
dyno_quick_card_init (DynoQuickCard *self)
{
  GtkWidget *frame = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 12);
  self->progress = gtk_progress_bar_new ();
  dyno_widget_add_class (self->progress, "thin", TRUE);
  dyno_widget_set_accessible_name (self->progress, _ ("Progress of the quick test"));
  self->facts = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->facts), GTK_SELECTION_NONE);
  dyno_widget_add_class (self->facts, "content", TRUE);
  dyno_widget_set_accessible_name (self->facts, _ ("What was measured"));
  self->signs = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->signs), GTK_SELECTION_NONE);
  dyno_widget_add_class (self->signs, "content", TRUE);
  dyno_widget_set_accessible_name (self->signs, _ ("Good and bad signs"));
  gtk_container_add (GTK_CONTAINER (frame), self->facts);
  gtk_container_add (GTK_CONTAINER (self), new_head (self));
  gtk_container_add (GTK_CONTAINER (self), self->progress);
  gtk_container_add (GTK_CONTAINER (self), self->signs);
  gtk_container_add (GTK_CONTAINER (self), frame);
}
