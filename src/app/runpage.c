/* SPDX-License-Identifier: MIT */
/* The page of a run.  The three plots share their x axis (steps), so they share the read-out. */
#include "runpage.h"
#include "diagnosiscard.h"
#include "file.h"
#include "format.h"
#include "row.h"
#include "statsbar.h"
#include "words.h"
#include "plot/theme.h"
#include "plot/view.h"
#include <glib/gi18n.h>
#include <math.h>

enum { THROUGHPUT, LOSS, MEMORY, N_PLOTS };

struct _DynoRunPage {
  GtkBox parent_instance;
  GtkWidget *title, *state, *progress, *folder, *stats, *diagnosis, *smoothing;
  GtkWidget *throughput, *loss, *memory;
  DynoPlotView *plots[N_PLOTS];
  DynoRunMonitor *monitor;
  double limit, unit; /* of the memory plot, as shown */
};

G_DEFINE_FINAL_TYPE (DynoRunPage, dyno_run_page, GTK_TYPE_BOX)

static char *
describe_run (const DynoRunStatus *s)
{
  const DynoModel *model = dyno_model_find (s->job->model, NULL);
  g_autofree char *data = NULL;
  if (g_str_has_prefix (s->job->data, "builtin:shapes"))
    data = g_strdup (_ ("Shapes"));
  else
    data = g_filename_display_basename (s->job->data);
  if (s->device)
    /* Translators: model, data set, device */
    return g_strdup_printf (_ ("%s on %s, %s"), model ? model->title : s->job->model, data,
                            s->device);
  /* Translators: model, data set */
  return g_strdup_printf (_ ("%s on %s"), model ? model->title : s->job->model, data);
}

static char *
describe_state (const DynoRunStatus *s)
{
  const char *state = dyno_words_session_state (s->state);
  gboolean preparing =
      s->progress && (s->state == DYNO_SESSION_PREPARING || s->state == DYNO_SESSION_RUNNING);
  if (preparing)
    {
      state = dyno_words_session_state (DYNO_SESSION_PREPARING);
      if (s->progress_left_s < 0)
        return g_strdup_printf ("%s: %s\342\200\246", state, dyno_words_progress (s->progress));
      /* Translators: "Preparing: Compiling GPU programs…, about 12 s left" */
      return g_strdup_printf (_ ("%s: %s…, about %.0f s left"), state,
                              dyno_words_progress (s->progress), s->progress_left_s);
    }
  if (s->n_steps == 0)
    return g_strdup_printf (s->state < DYNO_SESSION_FINISHED ? "%s\342\200\246" : "%s", state);
  g_autofree char *step = dyno_format_count (s->step.step);
  g_autofree char *total = dyno_format_count (s->total_steps);
  if (s->total_steps > 0)
    /* Translators: state of the run, step, number of steps: "Training, step 12 of 300" */
    return g_strdup_printf (_ ("%s, step %s of %s"), state, step, total);
  return g_strdup_printf (_ ("%s, step %s"), state, step);
}

/* The line of all programs comes with its first value, unit and limit with the plan. */
static void
show_memory_axis (DynoRunPage *self, const DynoRunStatus *s)
{
  const DynoRunSeries *series = dyno_run_monitor_get_series (self->monitor);
  DynoPlotView *view = self->plots[MEMORY];
  gboolean same_limit =
      self->limit == s->memory_limit || (isnan (self->limit) && isnan (s->memory_limit));
  guint n_lines = dyno_series_get_length (series->vram_all) > 0 ? 2 : 1;
  if (dyno_plot_view_get_plot (view)->n_lines != n_lines)
    {
      dyno_plot_view_clear_lines (view);
      dyno_plot_view_add_line (view, series->vram, 3, FALSE);
      if (n_lines > 1)
        dyno_plot_view_add_line (view, series->vram_all, 5, FALSE);
    }
  if (self->unit == s->memory_unit && same_limit)
    return;
  self->unit = s->memory_unit;
  self->limit = s->memory_limit;
  dyno_plot_view_set_labels (view, _ ("GPU memory"), _ ("Step"), s->memory_unit_name,
                             _ ("Memory appears with the first step"));
  dyno_plot_view_set_limit (view, s->memory_limit, _ ("Budget"));
}

static void
show_run (DynoRunPage *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  if (!s->job)
    return;
  g_autofree char *title = describe_run (s), *state = describe_state (s);
  gtk_label_set_text (GTK_LABEL (self->title), title);
  gtk_label_set_text (GTK_LABEL (self->state), state);
  dyno_widget_add_class (self->state, "bad-text", s->state == DYNO_SESSION_FAILED);
  double fraction = s->progress ? s->progress_fraction : s->fraction;
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress), CLAMP (fraction, 0, 1));
  gtk_widget_set_visible (self->folder, s->state >= DYNO_SESSION_FINISHED && s->out_dir
                                            && g_file_test (s->out_dir, G_FILE_TEST_IS_DIR));
  dyno_stats_bar_show (DYNO_STATS_BAR (self->stats), s);
  show_memory_axis (self, s);
  for (guint i = 0; i < N_PLOTS; i++)
    dyno_plot_view_refresh (self->plots[i]);
}

static void
cursor_moved (DynoPlotView *view, double x, DynoRunPage *self)
{
  for (guint i = 0; i < N_PLOTS; i++)
    dyno_plot_view_set_cursor (self->plots[i], x);
}

static void
smoothing_changed (GtkRange *range, DynoRunPage *self)
{
  double smoothing = gtk_range_get_value (range);
  if (self->plots[0])
    {
      dyno_plot_view_set_smoothing (self->plots[THROUGHPUT], smoothing);
      dyno_plot_view_set_smoothing (self->plots[LOSS], smoothing);
    }
}

static char *
format_smoothing (GtkScale *scale, double value, DynoRunPage *self)
{
  return g_strdup_printf (_ ("%.0f %%"), 100 * value);
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
dyno_run_page_set_log (DynoRunPage *self, gboolean log)
{
  dyno_plot_view_set_log (self->plots[LOSS], log);
}

void
dyno_run_page_set_held (DynoRunPage *self, gboolean held)
{
  for (guint i = 0; i < N_PLOTS; i++)
    dyno_plot_view_set_held (self->plots[i], held);
}

gboolean
dyno_run_page_export (DynoRunPage *self, const char *path, GError **error)
{
  DynoPlot plots[N_PLOTS];
  g_autofree char *lower = g_ascii_strdown (path, -1);
  if (g_str_has_suffix (lower, ".csv"))
    {
      g_autofree char *csv = dyno_run_monitor_to_csv (self->monitor);
      return dyno_file_write_atomic (path, csv ? csv : "", csv ? strlen (csv) : 0, error);
    }
  for (guint i = 0; i < N_PLOTS; i++)
    {
      plots[i] = *dyno_plot_view_get_plot (self->plots[i]);
      plots[i].cursor_x = NAN;
    }
  return dyno_plot_write (plots, N_PLOTS, &dyno_plot_theme_light, 900, 300, 2, path, error);
}

void
dyno_run_page_set_run (DynoRunPage *self, DynoRunMonitor *monitor, DynoSetup *setup)
{
  const DynoRunSeries *series = dyno_run_monitor_get_series (monitor);
  self->monitor = monitor;
  dyno_diagnosis_card_set_run (DYNO_DIAGNOSIS_CARD (self->diagnosis), monitor, setup);
  dyno_plot_view_add_line (self->plots[THROUGHPUT], series->throughput, 0, FALSE);
  dyno_plot_view_add_line (self->plots[LOSS], series->loss, 1, FALSE);
  dyno_plot_view_add_line (self->plots[LOSS], series->val_loss, 2, TRUE);
  dyno_plot_view_set_from_zero (self->plots[THROUGHPUT], TRUE);
  dyno_plot_view_set_robust (self->plots[THROUGHPUT], TRUE);
  dyno_plot_view_set_robust (self->plots[LOSS], TRUE);
  dyno_plot_view_set_from_zero (self->plots[MEMORY], TRUE);
  g_signal_connect_object (monitor, "changed", G_CALLBACK (show_run), self, G_CONNECT_SWAPPED);
  gtk_range_set_value (GTK_RANGE (self->smoothing), DYNO_RUN_VIEW_SMOOTHING);
  smoothing_changed (GTK_RANGE (self->smoothing), self);
}

static void
dyno_run_page_class_init (DynoRunPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  g_type_ensure (DYNO_TYPE_DIAGNOSIS_CARD);
  g_type_ensure (DYNO_TYPE_STATS_BAR);
  g_type_ensure (DYNO_TYPE_PLOT_VIEW);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/runpage.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, title);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, state);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, progress);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, folder);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, stats);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, diagnosis);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, smoothing);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, throughput);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, loss);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPage, memory);
  gtk_widget_class_bind_template_callback (widget_class, smoothing_changed);
  gtk_widget_class_bind_template_callback (widget_class, format_smoothing);
  gtk_widget_class_bind_template_callback (widget_class, open_folder);
}

static void
dyno_run_page_init (DynoRunPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->plots[THROUGHPUT] = DYNO_PLOT_VIEW (self->throughput);
  self->plots[LOSS] = DYNO_PLOT_VIEW (self->loss);
  self->plots[MEMORY] = DYNO_PLOT_VIEW (self->memory);
  self->limit = -1;
  dyno_plot_view_align (self->plots, N_PLOTS);
  dyno_plot_view_set_labels (self->plots[THROUGHPUT], _ ("Throughput"), _ ("Step"), _ ("samples/s"),
                             _ ("Throughput appears with the first step"));
  dyno_plot_view_set_labels (self->plots[LOSS], _ ("Loss"), _ ("Step"), "",
                             _ ("The loss appears with the first step"));
  for (guint i = 0; i < N_PLOTS; i++)
    g_signal_connect (self->plots[i], "cursor", G_CALLBACK (cursor_moved), self);
}
