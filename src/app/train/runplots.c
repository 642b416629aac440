/* SPDX-License-Identifier: MIT */
/* The plots of a run.  A plot exists once the run has values for it, and is shown if it is chosen.
 * All series are over steps; the x axes of epochs and seconds map the steps. */
#include "runplots.h"
#include "format.h"
#include "metrictable.h"
#include "range.h"
#include "row.h"
#include "words.h"
#include "plot/grid.h"
#include "plot/plotmenu.h"
#include "plot/theme.h"
#include <glib/gi18n.h>
#include <math.h>

enum {
  LOSS,
  METRIC,
  THROUGHPUT = METRIC + DYNO_MAX_RUN_METRICS,
  MEMORY,
  LEARNING_RATE,
  LOSS_SCALE,
  GRADIENT_NORM,
  GPU_BUSY,
  GPU_TEMPERATURE,
  GPU_POWER,
  N_PLOTS
};

enum { STEPS, EPOCHS, TIME };

struct _DynoRunPlots {
  GtkBox parent_instance;
  GtkWidget *smoothing, *axis, *menu, *checks;
  DynoPlotGrid *grid;
  DynoPlotView *views[N_PLOTS];
  GtkWidget *check[N_PLOTS];
  gboolean chosen[N_PLOTS];
  DynoRunMonitor *monitor;
  int x; /* STEPS, ... */
  DynoPlotSpan span;
  gboolean held, frozen; /* held: by the user; frozen: while all points were shown */
  guint64 n_steps;
  DynoState *state; /* the window's, or NULL */
};

G_DEFINE_FINAL_TYPE (DynoRunPlots, dyno_run_plots, GTK_TYPE_BOX)

static const DynoSeries *
get_map (DynoRunPlots *self)
{
  const DynoRunSeries *series = dyno_run_monitor_get_series (self->monitor);
  return self->x == EPOCHS ? series->epochs : self->x == TIME ? series->seconds : NULL;
}

/* The metric of a plot: the first plot has the metric that chooses the best epoch, the others
 * follow in their order. */
static guint
get_metric (const DynoRunStatus *s, guint plot)
{
  guint first = dyno_words_find_metric (s), n = plot - METRIC;
  return n == 0 ? first : n <= first ? n - 1 : n;
}

/* Lists the line of a metric that only the validation computes. */
static guint
list_validation (DynoRunPlots *self, DynoSeries *series, gboolean always, DynoPlotLine lines[2])
{
  if (!always && dyno_series_get_length (series) == 0)
    return 0;
  lines[0] = (DynoPlotLine){
    .series = series, .colour = 1, .points = TRUE, .width = 2, .x_map = get_map (self)
  };
  return 1;
}

/* Lists the lines of a plot and returns their number; 0: the run has no values for them. */
static guint
list_lines (DynoRunPlots *self, guint plot, DynoPlotLine lines[2])
{
  const DynoRunSeries *s = dyno_run_monitor_get_series (self->monitor);
  const DynoRunStatus *status = dyno_run_monitor_get_status (self->monitor);
  DynoSeries *first = NULL, *second = NULL;
  gboolean always = FALSE, points = FALSE;
  guint metric;
  switch (plot)
    {
    case LOSS:
      first = s->loss;
      second = s->val_loss;
      always = points = TRUE;
      break;
    case THROUGHPUT:
      first = s->throughput;
      always = TRUE;
      break;
    case MEMORY:
      first = s->vram;
      second = dyno_series_get_length (s->vram_all) > 0 ? s->vram_all : NULL;
      always = TRUE;
      break;
    case LEARNING_RATE:
      first = s->lr;
      break;
    case LOSS_SCALE:
      first = s->loss_scale;
      break;
    case GRADIENT_NORM:
      first = s->grad_norm;
      break;
    case GPU_BUSY:
      first = s->gpu_busy;
      break;
    case GPU_TEMPERATURE:
      first = s->gpu_temperature;
      break;
    case GPU_POWER:
      first = s->gpu_power;
      break;
    default:
      if (plot - METRIC >= status->metrics.n)
        return 0;
      metric = get_metric (status, plot);
      if (status->metrics.infos[metric].of_validation)
        return list_validation (self, s->val[metric], always, lines);
      first = s->step[metric];
      second = s->val[metric];
      points = TRUE;
      break;
    }
  if (!always && dyno_series_get_length (first) == 0)
    return 0;
  lines[0] = (DynoPlotLine){ .series = first, .x_map = get_map (self), .mark_gaps = plot == LOSS };
  lines[1] = (DynoPlotLine){ .series = second,
                             .colour = 1,
                             .points = points,
                             .width = points ? 2 : 0,
                             .x_map = lines[0].x_map };
  return second ? 2 : 1;
}

/* --- which plots there are -------------------------------------------------------------------- */

static const struct {
  guint plot;
  const char *title, *unit, *empty;
} fixed[] = {
  { LOSS, N_ ("Loss"), "", N_ ("The loss appears with the first step") },
  { THROUGHPUT, N_ ("Throughput"), N_ ("samples/s"),
    N_ ("Throughput appears with the first step") },
  { MEMORY, N_ ("Device memory"), "", N_ ("Memory appears with the first step") },
  { LEARNING_RATE, N_ ("Learning rate"), "", "" },
  { LOSS_SCALE, N_ ("Loss scale"), "", "" },
  { GRADIENT_NORM, N_ ("Gradient norm"), "", "" },
  { GPU_BUSY, N_ ("GPU utilization"), "%", "" },
  { GPU_TEMPERATURE, N_ ("GPU temperature"), "°C", "" },
  { GPU_POWER, N_ ("GPU power"), "W", "" },
};

static void
name_plot (DynoRunPlots *self, guint plot, const char *title, const char *unit, const char *empty)
{
  dyno_plot_view_set_labels (self->views[plot], title, unit, empty);
  gtk_button_set_label (GTK_BUTTON (self->check[plot]), title);
}

static void
name_metrics (DynoRunPlots *self, const DynoRunStatus *s)
{
  for (guint i = 0; i < s->metrics.n; i++)
    {
      const DynoMetricInfo *metric = &s->metrics.infos[get_metric (s, METRIC + i)];
      g_autofree char *label = dyno_metric_get_label (metric);
      gboolean fraction = metric->format == DYNO_METRIC_FRACTION;
      const char *unit = fraction ? "%" : metric->unit;
      const DynoPlot *shown = dyno_plot_view_get_plot (self->views[METRIC + i]);
      if (g_strcmp0 (shown->title, label) != 0 || g_strcmp0 (shown->y_label, unit) != 0)
        name_plot (self, METRIC + i, label, unit, "");
      dyno_plot_view_set_from_zero (self->views[METRIC + i], fraction);
    }
}

static void
show_memory_axis (DynoRunPlots *self, const DynoRunStatus *s)
{
  const DynoPlot *plot = dyno_plot_view_get_plot (self->views[MEMORY]);
  gboolean same =
      plot->y_limit == s->memory_limit || (isnan (plot->y_limit) && isnan (s->memory_limit));
  if (same && g_strcmp0 (plot->y_label, s->memory_unit_name) == 0)
    return;
  name_plot (self, MEMORY, _ ("Device memory"), s->memory_unit_name,
             _ ("Memory appears with the first step"));
  dyno_plot_view_set_limit (self->views[MEMORY], s->memory_limit, _ ("Budget"));
}

static void
set_span (DynoRunPlots *self, DynoPlotSpan span)
{
  self->span = span;
  for (guint i = 0; i < N_PLOTS; i++)
    dyno_plot_view_set_span (self->views[i], span);
}

static void
show_run (DynoRunPlots *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  if (s->n_steps < self->n_steps) /* another run has begun */
    set_span (self, (DynoPlotSpan){ 0, 0 });
  self->n_steps = s->n_steps;
  name_metrics (self, s);
  if (s->job)
    show_memory_axis (self, s);
  for (guint i = 0; i < N_PLOTS; i++)
    {
      DynoPlotLine lines[2];
      guint n = list_lines (self, i, lines);
      gtk_widget_set_visible (self->check[i], n > 0);
      dyno_plot_grid_set_shown (self->grid, self->views[i], n > 0 && self->chosen[i]);
      if (n > 0)
        dyno_plot_view_set_lines (self->views[i], lines, n);
    }
}

/* The name of a plot in the saved state.  g_free. */
static char *
get_id (guint plot)
{
  static const char *const ids[N_PLOTS] = {
    [THROUGHPUT] = "throughput",           [MEMORY] = "memory",
    [LEARNING_RATE] = "learning-rate",     [LOSS_SCALE] = "loss-scale",
    [GRADIENT_NORM] = "gradient-norm",     [GPU_BUSY] = "gpu-utilization",
    [GPU_TEMPERATURE] = "gpu-temperature", [GPU_POWER] = "gpu-power"
  };
  if (plot == LOSS)
    return g_strdup ("loss");
  return plot < THROUGHPUT ? g_strdup_printf ("metric-%u", plot - METRIC + 1)
                           : g_strdup (ids[plot]);
}

static void
save_chosen (DynoRunPlots *self)
{
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  for (guint i = 0; i < N_PLOTS; i++)
    if (self->chosen[i])
      {
        g_autofree char *id = get_id (i);
        g_strv_builder_add (list, id);
      }
  g_auto (GStrv) ids = g_strv_builder_end (list);
  if (self->state)
    g_settings_set_strv (self->state, "plots", (const char *const *) ids);
}

static void
check_toggled (GtkToggleButton *check, DynoRunPlots *self)
{
  for (guint i = 0; i < N_PLOTS; i++)
    if (self->check[i] == GTK_WIDGET (check))
      self->chosen[i] = gtk_toggle_button_get_active (check);
  save_chosen (self);
  if (self->monitor)
    show_run (self);
}

/* --- what is looked at ------------------------------------------------------------------------ */

static void
cursor_moved (DynoPlotView *view, double x, DynoRunPlots *self)
{
  for (guint i = 0; i < N_PLOTS; i++)
    dyno_plot_view_set_cursor (self->views[i], x);
}

/* Sets the span to all points, or to the points so far where the plots are held. */
static void
show_all (DynoRunPlots *self)
{
  DynoPlotSpan all = { 0, 0 };
  self->frozen = self->held && dyno_plot_extent (dyno_plot_view_get_plot (self->views[LOSS]), &all)
                 && !dyno_plot_span_is_all (all);
  set_span (self, self->frozen ? all : (DynoPlotSpan){ 0, 0 });
}

static void
span_asked (DynoPlotView *view, double x0, double x1, DynoRunPlots *self)
{
  DynoPlotSpan span = { x0, x1 };
  self->frozen = FALSE;
  if (dyno_plot_span_is_all (span))
    show_all (self);
  else
    set_span (self, span);
}

static void
smoothing_changed (GtkRange *range, DynoRunPlots *self)
{
  static const guint noisy[] = { LOSS, THROUGHPUT };
  double smoothing = gtk_range_get_value (range);
  for (guint i = 0; i < G_N_ELEMENTS (noisy); i++)
    dyno_plot_view_set_smoothing (self->views[noisy[i]], smoothing);
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    dyno_plot_view_set_smoothing (self->views[METRIC + i], smoothing);
}

static char *
format_smoothing (GtkScale *scale, double value, DynoRunPlots *self)
{
  return dyno_format_share (value);
}

/* Keeps the same steps visible after the x axis has changed. */
static void
axis_changed (GtkComboBox *combo, DynoRunPlots *self)
{
  static const char *const names[] = { N_ ("Step"), N_ ("Epoch"), N_ ("Time") };
  const DynoSeries *before = self->monitor ? get_map (self) : NULL, *now;
  DynoPlotSpan span = self->span;
  self->x = MAX (gtk_combo_box_get_active (combo), 0);
  for (guint i = 0; i < N_PLOTS; i++)
    {
      dyno_plot_view_set_x (self->views[i], _ (names[self->x]), self->x == STEPS, self->x == TIME);
      dyno_plot_view_set_cursor (self->views[i], NAN);
    }
  if (!self->monitor)
    return;
  now = get_map (self);
  if (!dyno_plot_span_is_all (span))
    {
      span.x0 = dyno_plot_map_x (now, dyno_plot_unmap_x (before, span.x0));
      span.x1 = dyno_plot_map_x (now, dyno_plot_unmap_x (before, span.x1));
    }
  set_span (self, span);
  show_run (self);
}

void
dyno_run_plots_set_state (DynoRunPlots *self, DynoState *state)
{
  if (!state)
    return;
  g_auto (GStrv) ids = g_settings_get_strv (state, "plots");
  for (guint i = 0; i < N_PLOTS; i++)
    {
      g_autofree char *id = get_id (i);
      gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->check[i]),
                                    g_strv_contains ((const char *const *) ids, id));
    }
  self->state = state;
  g_settings_bind (state, "plot-smoothing", gtk_range_get_adjustment (GTK_RANGE (self->smoothing)),
                   "value", G_SETTINGS_BIND_DEFAULT);
  g_settings_bind (state, "plot-axis", self->axis, "active-id", G_SETTINGS_BIND_DEFAULT);
}

void
dyno_run_plots_set_log (DynoRunPlots *self, gboolean log)
{
  dyno_plot_view_set_log (self->views[LOSS], log);
}

void
dyno_run_plots_set_held (DynoRunPlots *self, gboolean held)
{
  self->held = held;
  if (held ? dyno_plot_span_is_all (self->span) : self->frozen)
    show_all (self);
}

gboolean
dyno_run_plots_write (DynoRunPlots *self, const char *path, GError **error)
{
  DynoPlot plots[N_PLOTS];
  guint n = 0;
  for (guint i = 0; i < N_PLOTS; i++)
    if (gtk_widget_is_visible (GTK_WIDGET (self->views[i])))
      {
        plots[n] = *dyno_plot_view_get_plot (self->views[i]);
        plots[n].title_room = 0;
        plots[n++].cursor_x = NAN;
      }
  return dyno_plot_write (plots, n, dyno_plot_theme_for_files (GTK_WIDGET (self)), 900, 300, 2,
                          path, error);
}

void
dyno_run_plots_set_run (DynoRunPlots *self, DynoRunMonitor *monitor)
{
  self->monitor = monitor;
  g_signal_connect_object (monitor, "changed", G_CALLBACK (show_run), self, G_CONNECT_SWAPPED);
  show_run (self);
}

/* --- the widgets ------------------------------------------------------------------------------ */

static void
dyno_run_plots_class_init (DynoRunPlotsClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/runplots.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoRunPlots, smoothing);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPlots, axis);
  gtk_widget_class_bind_template_child (widget_class, DynoRunPlots, checks);
  gtk_widget_class_bind_template_callback (widget_class, smoothing_changed);
  gtk_widget_class_bind_template_callback (widget_class, format_smoothing);
  gtk_widget_class_bind_template_callback (widget_class, axis_changed);
}

static void
add_plot (DynoRunPlots *self, guint plot)
{
  DynoPlotView *view = self->views[plot] = g_object_new (DYNO_TYPE_PLOT_VIEW, NULL);
  GtkWidget *check = self->check[plot] = gtk_check_button_new_with_label ("");
  self->chosen[plot] = plot <= METRIC || plot == THROUGHPUT || plot == MEMORY;
  dyno_plot_menu_attach (view);
  dyno_plot_grid_add (self->grid, view);
  g_signal_connect_object (view, "cursor", G_CALLBACK (cursor_moved), self, 0);
  g_signal_connect_object (view, "span", G_CALLBACK (span_asked), self, 0);
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (check), self->chosen[plot]);
  g_signal_connect_object (check, "toggled", G_CALLBACK (check_toggled), self, 0);
  gtk_container_add (GTK_CONTAINER (self->checks), check);
}

static void
dyno_run_plots_init (DynoRunPlots *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->grid = DYNO_PLOT_GRID (dyno_plot_grid_new ());
  gtk_widget_set_vexpand (GTK_WIDGET (self->grid), TRUE);
  gtk_container_add (GTK_CONTAINER (self), GTK_WIDGET (self->grid));
  gtk_widget_show (GTK_WIDGET (self->grid));
  for (guint i = 0; i < N_PLOTS; i++)
    add_plot (self, i);
  dyno_plot_view_align (self->views, N_PLOTS);
  for (guint i = 0; i < G_N_ELEMENTS (fixed); i++)
    name_plot (self, fixed[i].plot, _ (fixed[i].title), *fixed[i].unit ? _ (fixed[i].unit) : "",
               *fixed[i].empty ? _ (fixed[i].empty) : "");
  dyno_plot_view_set_robust (self->views[LOSS], TRUE);
  dyno_plot_view_set_robust (self->views[THROUGHPUT], TRUE);
  dyno_plot_view_set_from_zero (self->views[THROUGHPUT], TRUE);
  dyno_plot_view_set_from_zero (self->views[MEMORY], TRUE);
  dyno_plot_view_set_from_zero (self->views[GPU_BUSY], TRUE);
  dyno_plot_view_set_from_zero (self->views[GPU_POWER], TRUE);
  dyno_widget_leave_wheel (self->axis);
  gtk_combo_box_set_active (GTK_COMBO_BOX (self->axis), STEPS);
  gtk_range_set_value (GTK_RANGE (self->smoothing), DYNO_RUN_VIEW_SMOOTHING);
}
