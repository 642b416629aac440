/* SPDX-License-Identifier: MIT */
/* Plots several past runs: each has a colour, and its validation curve is dashed. */
#include "runcompare.h"
#include "export-dialog.h"
#include "format.h"
#include "heldtask.h"
#include "range.h"
#include "row.h"
#include "runlist.h"
#include "runspread.h"
#include "runview.h"
#include "settingcontrol.h"
#include "words.h"
#include "plot/plotmenu.h"
#include "plot/theme.h"
#include "plot/view.h"
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define FOLLOW_S    2
#define PLOT_HEIGHT 190

enum { STEPS, EPOCHS, TIME };
enum { LOSS, LOG_LOSS, METRIC, RATE, MEMORY };

struct _DynoRunCompare {
  GtkBox parent_instance;
  GtkWidget *quantity, *axis, *left_out, *spread, *table, *grid;
  DynoPlotView *view;
  DynoRunCurves *curves;
  guint timer; /* while a run in progress is shown */
  guint fit;   /* of the table's height */
  const DynoStoredRun *runs[DYNO_RUN_COMPARE_MOST];
  guint n;
  gint64 shown[DYNO_RUN_COMPARE_MOST]; /* ids of the runs that are drawn */
  guint n_shown;
};

enum { FAILED, EXPORTED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoRunCompare, dyno_run_compare, GTK_TYPE_BOX)

static const char *const quantities[] = { N_ ("Loss"), N_ ("Loss, logarithmic"), N_ ("Metric"),
                                          N_ ("Throughput"), N_ ("Device memory") };

/* --- curves ----------------------------------------------------------------------------------- */

/* Whether the curve was hidden by a click on its name; its series may be another one by now. */
static gboolean
is_hidden (DynoRunCompare *self, guint run, guint part)
{
  const DynoPlot *plot = dyno_plot_view_get_plot (self->view);
  for (guint i = 0; i < plot->n_lines; i++)
    if (plot->lines[i].colour == run && plot->lines[i].dash == part)
      return plot->lines[i].hidden;
  return FALSE;
}

static int
get_quantity (DynoRunCompare *self)
{
  return MAX (gtk_combo_box_get_active (GTK_COMBO_BOX (self->quantity)), 0);
}

/* The series of the training (part 0) or of the validation (part 1); NULL: there is none.  metric:
 * the metric that is shown. */
static DynoSeries *
get_series (const DynoRunCurve *curve, int quantity, guint part, const DynoMetricInfo *metric)
{
  switch (quantity)
    {
    case METRIC:
      if (!metric || g_strcmp0 (curve->info.name, metric->name) != 0)
        return NULL;
      return part == 0 ? curve->metric : curve->val_metric;
    case RATE:
      return part == 0 ? curve->rate : NULL;
    case MEMORY:
      return part == 0 ? curve->memory : NULL;
    default:
      return part == 0 ? curve->loss : curve->val_loss;
    }
}

/* The metric of the first run that has one; other runs are compared with it if it is theirs. */
static const DynoMetricInfo *
find_metric (DynoRunCompare *self)
{
  for (guint i = 0; i < self->n; i++)
    {
      const DynoRunCurve *curve = dyno_run_curves_get (self->curves, self->runs[i], TRUE);
      if (curve && curve->info.name)
        return &curve->info;
    }
  return NULL;
}

static void
name_axis (DynoRunCompare *self, int quantity, const DynoMetricInfo *metric, const char *empty)
{
  const char *unit = quantity == RATE     ? _ ("samples/s")
                     : quantity == MEMORY ? "MiB"
                     : quantity != METRIC || !metric
                         ? ""
                         : (metric->format == DYNO_METRIC_FRACTION ? "%" : metric->unit);
  int named = quantity == LOG_LOSS ? LOSS : quantity;
  g_autofree char *title = quantity == METRIC && metric ? dyno_metric_get_label (metric)
                                                        : g_strdup (_ (quantities[named])),
                  *label = g_strdup (unit);
  if (quantity <= METRIC && self->n > 1)
    {
      g_free (label);
      label = g_strdup_printf ("%s%s%s", unit, *unit ? ", " : "", _ ("with points: validation"));
    }
  dyno_plot_view_set_labels (self->view, title, label, empty);
  dyno_plot_view_set_from_zero (
      self->view, quantity == RATE || quantity == MEMORY
                      || (quantity == METRIC && metric && metric->format == DYNO_METRIC_FRACTION));
}

/* The name of a curve above the plot; NULL: the series' own. */
static const char *
name_line (DynoRunCompare *self, const DynoRunCurve *curve, int quantity, guint part,
           gboolean named)
{
  if (self->n == 1 && quantity <= METRIC)
    return part == 0 ? _ ("Training") : _ ("Validation");
  /* The run's name is enough where only its validation is drawn. */
  return part == 1 && named ? dyno_series_get_name (curve->loss) : NULL;
}

static void
show_curves (DynoRunCompare *self)
{
  int quantity = get_quantity (self);
  const DynoMetricInfo *metric = quantity == METRIC ? find_metric (self) : NULL;
  DynoPlotLine lines[2 * DYNO_RUN_COMPARE_MOST];
  guint n = 0;
  gboolean waits = FALSE;
  int x = gtk_combo_box_get_active (GTK_COMBO_BOX (self->axis));
  /* The training curves of all runs are first, then the validation curves: names are in this
   * order. */
  for (guint part = 0; part < 2; part++)
    for (guint i = 0; i < self->n; i++)
      {
        const DynoRunCurve *curve = dyno_run_curves_get (self->curves, self->runs[i], TRUE);
        DynoSeries *series = curve ? get_series (curve, quantity, part, metric) : NULL,
                   *trained = curve ? get_series (curve, quantity, 0, metric) : NULL;
        /* Only validations measure some metrics. */
        gboolean named =
            part == 0 || self->n == 1 || !trained || dyno_series_get_length (trained) == 0;
        waits |= !curve;
        if (!series || dyno_series_get_length (series) == 0)
          continue;
        lines[n++] = (DynoPlotLine){ .series = series,
                                     .colour = i,
                                     .dash = part,
                                     .points = part == 1,
                                     .unnamed = !named,
                                     .name = name_line (self, curve, quantity, part, named),
                                     .hidden = is_hidden (self, i, named ? part : 0),
                                     .mark_gaps = part == 0 && quantity <= LOG_LOSS,
                                     .x_map = x == EPOCHS ? curve->epochs
                                              : x == TIME ? curve->seconds
                                                          : NULL };
      }
  name_axis (self, quantity, metric,
             waits ? _ ("Reading the curves…") : _ ("No curve was kept of this run"));
  dyno_plot_view_set_lines (self->view, lines, n);
}

static void
quantity_changed (DynoRunCompare *self)
{
  int quantity = get_quantity (self);
  dyno_plot_view_set_log (self->view, quantity == LOG_LOSS);
  dyno_plot_view_set_robust (self->view, quantity <= LOG_LOSS || quantity == RATE);
  dyno_plot_view_set_smoothing (self->view, quantity == MEMORY ? 0 : DYNO_RUN_VIEW_SMOOTHING);
  if (self->n > 0)
    show_curves (self);
}

static void
axis_changed (DynoRunCompare *self)
{
  static const char *const names[] = { N_ ("Step"), N_ ("Epoch"), N_ ("Time") };
  int x = MAX (gtk_combo_box_get_active (GTK_COMBO_BOX (self->axis)), 0);
  dyno_plot_view_set_x (self->view, _ (names[x]), x == STEPS, x == TIME);
  dyno_plot_view_set_span (self->view, (DynoPlotSpan){ 0, 0 });
  dyno_plot_view_set_cursor (self->view, NAN);
  if (self->n > 0)
    show_curves (self);
}

static void
span_asked (DynoPlotView *view, double x0, double x1, gpointer data)
{
  dyno_plot_view_set_span (view, (DynoPlotSpan){ x0, x1 });
}

/* The numbers are written in a thread.  The series are referenced, and do not change: those of a
 * run in progress are replaced by longer ones. */
typedef struct {
  char *path;
  guint n;
  DynoPlotLine lines[2 * DYNO_RUN_COMPARE_MOST];
} Numbers;

static void
numbers_free (gpointer data)
{
  Numbers *numbers = data;
  for (guint i = 0; i < numbers->n; i++)
    dyno_series_free (numbers->lines[i].series);
  g_free (numbers->path);
  g_free (numbers);
}

static void
write_numbers (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Numbers *numbers = data;
  DynoPlot plot = { .lines = numbers->lines, .n_lines = numbers->n };
  GError *error = NULL;
  if (dyno_plot_write_csv (&plot, 1, numbers->path, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
report_written (DynoRunCompare *self, const char *path, const GError *error)
{
  if (error)
    g_signal_emit (self, signals[FAILED], 0, error);
  else
    g_signal_emit (self, signals[EXPORTED], 0, path);
}

static void
numbers_written (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoRunCompare *self = DYNO_RUN_COMPARE (source);
  const Numbers *numbers = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_task_propagate_boolean (G_TASK (result), &error);
  if (self->view) /* the window still exists */
    report_written (self, numbers->path, error);
}

static void
curves_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  DynoRunCompare *self = data;
  DynoPlot plot = *dyno_plot_view_get_plot (self->view);
  g_autofree char *lower = g_ascii_strdown (path, -1);
  g_autoptr (GError) error = NULL;
  if (g_str_has_suffix (lower, ".csv"))
    {
      g_autoptr (GTask) task = g_task_new (self, NULL, numbers_written, NULL);
      Numbers *numbers = g_new0 (Numbers, 1);
      numbers->path = g_strdup (path);
      for (; numbers->n < MIN (plot.n_lines, G_N_ELEMENTS (numbers->lines)); numbers->n++)
        {
          numbers->lines[numbers->n] = plot.lines[numbers->n];
          dyno_series_ref (plot.lines[numbers->n].series);
        }
      g_task_set_task_data (task, numbers, numbers_free);
      dyno_task_run_held (task, write_numbers);
      return;
    }
  plot.cursor_x = NAN;
  plot.title_room = 0;
  dyno_plot_write (&plot, 1, dyno_plot_theme_for_files (GTK_WIDGET (self)), 900, 340, 2, path,
                   &error);
  report_written (self, path, error);
}

static void
export_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (data));
  static const char *const files[] = { "dyno-runs-loss", "dyno-runs-loss", "dyno-runs-metric",
                                       "dyno-runs-throughput", "dyno-runs-memory" };
  dyno_dialog_export_curves (GTK_WINDOW (window), g_variant_get_string (parameter, NULL),
                             files[get_quantity (data)], curves_chosen, data);
}

/* --- settings --------------------------------------------------------------------------------- */

static void
add_text (DynoRunCompare *self, int row, int column, const char *text)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_line_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 24);
  gtk_widget_set_hexpand (label, TRUE);
  if (column == 0)
    dyno_widget_add_class (label, "caption", TRUE);
  if (row == 0)
    dyno_widget_add_class (label, "run-title", TRUE);
  gtk_grid_attach (GTK_GRID (self->grid), label, column, row, 1, 1);
}

/* Adds a row to the table; make returns the text for a run. */
static void
add_row (DynoRunCompare *self, int *row, const char *title, const char *key,
         char *(*make) (const DynoStoredRun *run, const char *key))
{
  add_text (self, *row, 0, title);
  for (guint i = 0; i < self->n; i++)
    {
      g_autofree char *text = make (self->runs[i], key);
      add_text (self, *row, (int) i + 1, text);
    }
  (*row)++;
}

static char *
make_title (const DynoStoredRun *run, const char *key)
{
  return dyno_words_run (run);
}

static char *
make_rate (const DynoStoredRun *run, const char *key)
{
  return dyno_format_rate (run->samples_per_s);
}

static char *
make_best (const DynoStoredRun *run, const char *key)
{
  return dyno_format_best (run);
}

static char *
make_model (const DynoStoredRun *run, const char *key)
{
  return dyno_words_model (run->model);
}

static char *
make_data (const DynoStoredRun *run, const char *key)
{
  const char *location = run->data ? run->data : "", *sizes = strchr (location, '?');
  if (g_path_is_absolute (location))
    return g_filename_display_name (location);
  g_autofree char *name = dyno_words_data (location);
  if (!sizes)
    return g_steal_pointer (&name);
  /* Generated data sets differ by these values. */
  g_auto (GStrv) parts = g_strsplit (sizes + 1, "&", -1);
  for (char **part = parts; *part; part++)
    g_strdelimit (*part, "=", ' ');
  g_autofree char *all = g_strjoinv (", ", parts);
  return g_strdup_printf ("%s (%s)", name, all);
}

static char *
make_setting (const DynoStoredRun *run, const char *key)
{
  return dyno_setting_control_describe (dyno_setting_find (key),
                                        dyno_settings_get_number (&run->settings, key));
}

static gboolean
differ (DynoRunCompare *self, const char *key, char *(*make) (const DynoStoredRun *, const char *) )
{
  g_autofree char *first = make (self->runs[0], key);
  for (guint i = 1; i < self->n; i++)
    {
      g_autofree char *other = make (self->runs[i], key);
      if (g_strcmp0 (first, other) != 0)
        return TRUE;
    }
  return FALSE;
}

static char *
make_time (const DynoStoredRun *run, const char *key)
{
  return dyno_format_span (isfinite (run->seconds) ? run->seconds : -1);
}

static char *
make_epochs (const DynoStoredRun *run, const char *key)
{
  return g_strdup_printf (_ ("%u of %u"), (guint) run->epochs, (guint) run->settings.epochs);
}

static char *
make_device (const DynoStoredRun *run, const char *key)
{
  return g_strdup (run->device);
}

static char *
make_start_weights (const DynoStoredRun *run, const char *key)
{
  return run->weights_in ? dyno_words_weights (run->weights_in) : g_strdup (_ ("Random values"));
}

/* Adds a title and a text of the only run, of which two are beside each other. */
static void
add_pair (DynoRunCompare *self, int *n, const char *title, const char *key,
          char *(*make) (const DynoStoredRun *run, const char *key))
{
  g_autofree char *text = make (self->runs[0], key);
  int row = 1 + *n / 2, column = *n % 2 * 2; /* row 0 has titles of runs */
  add_text (self, row, column, title);
  add_text (self, row, column + 1, text);
  dyno_widget_add_class (gtk_grid_get_child_at (GTK_GRID (self->grid), column, row), "caption",
                         TRUE);
  (*n)++;
}

/* Shows the results of the only run, and the settings that have not their default values. */
static void
show_one (DynoRunCompare *self)
{
  const DynoStoredRun *run = self->runs[0];
  g_autoptr (DynoJob) usual = dyno_job_new ();
  guint n_settings;
  g_autofree const DynoSettingInfo **infos =
      dyno_store_compare_settings (&usual->settings, &run->settings, &n_settings);
  int n = 0;
  add_pair (self, &n, _ ("Best"), NULL, make_best);
  add_pair (self, &n, _ ("Samples/s"), NULL, make_rate);
  add_pair (self, &n, _ ("Epochs"), NULL, make_epochs);
  add_pair (self, &n, _ ("Time"), NULL, make_time);
  add_pair (self, &n, _ ("Model"), NULL, make_model);
  add_pair (self, &n, _ ("Data"), NULL, make_data);
  if (run->device)
    add_pair (self, &n, _ ("Device"), NULL, make_device);
  if (run->weights_in)
    add_pair (self, &n, _ ("Start weights"), NULL, make_start_weights);
  for (guint i = 0; i < n_settings; i++)
    if (!g_str_equal (infos[i]->key, "epochs"))
      add_pair (self, &n, _ (infos[i]->title), infos[i]->key, make_setting);
  gtk_widget_show_all (self->grid);
}

static void
show_settings (DynoRunCompare *self)
{
  guint n_settings;
  const DynoSettingInfo *settings = dyno_setting_list (&n_settings);
  int row = 0, before;
  dyno_widget_clear (self->grid);
  if (self->n == 1)
    {
      show_one (self);
      return;
    }
  add_row (self, &row, "", NULL, make_title);
  add_row (self, &row, _ ("Best"), NULL, make_best);
  add_row (self, &row, _ ("Samples/s"), NULL, make_rate);
  before = row;
  if (differ (self, NULL, make_model))
    add_row (self, &row, _ ("Model"), NULL, make_model);
  if (differ (self, NULL, make_data))
    add_row (self, &row, _ ("Data"), NULL, make_data);
  if (differ (self, NULL, make_start_weights))
    add_row (self, &row, _ ("Start weights"), NULL, make_start_weights);
  for (guint i = 0; i < n_settings; i++)
    if (differ (self, settings[i].key, make_setting))
      add_row (self, &row, _ (settings[i].title), settings[i].key, make_setting);
  if (row == before)
    add_text (self, row, 0, _ ("All settings are equal"));
  gtk_widget_show_all (self->grid);
}

/* The scrolled window asks for the height that the texts have at their least width, with many
 * lines; the table gets the whole height for the width that it has, so that the wheel scrolls the
 * page. */
static gboolean
fit_table (gpointer data)
{
  DynoRunCompare *self = data;
  GtkWidget *content = gtk_bin_get_child (GTK_BIN (self->table));
  int width = gtk_widget_get_allocated_width (content), least, height;
  self->fit = 0;
  gtk_widget_get_preferred_width (self->grid, &least, NULL);
  gtk_widget_get_preferred_height_for_width (content, MAX (width, least), NULL, &height);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (self->table), MAX (height, 1));
  return G_SOURCE_REMOVE;
}

/* No height may be requested during an allocation. */
static void
table_allocated (DynoRunCompare *self)
{
  if (self->fit == 0)
    self->fit = g_idle_add_full (G_PRIORITY_HIGH_IDLE, fit_table, self, NULL);
}

void
dyno_run_compare_follow (DynoRunCompare *self)
{
  for (guint i = 0; i < self->n; i++)
    if (self->runs[i]->state == DYNO_RUN_STATE_RUNNING)
      dyno_run_curves_follow (self->curves, self->runs[i]);
}

static gboolean
follow_mapped (gpointer data)
{
  if (gtk_widget_get_mapped (data))
    dyno_run_compare_follow (data);
  return G_SOURCE_CONTINUE;
}

/* Follows the runs that are shown while one of them is in progress. */
static void
update_timer (DynoRunCompare *self)
{
  gboolean runs = FALSE;
  for (guint i = 0; i < self->n; i++)
    runs |= self->runs[i]->state == DYNO_RUN_STATE_RUNNING;
  if (runs && self->timer == 0)
    self->timer = g_timeout_add_seconds (FOLLOW_S, follow_mapped, self);
  else if (!runs)
    g_clear_handle_id (&self->timer, g_source_remove);
}

void
dyno_run_compare_forget (DynoRunCompare *self)
{
  self->n = 0;
}

/* Whether these runs are drawn already; they are then in the view from now on. */
static gboolean
take_ids (DynoRunCompare *self, const DynoStoredRun *const *runs, guint n)
{
  gboolean same = n == self->n_shown;
  for (guint i = 0; i < n; i++)
    {
      same &= self->shown[i] == runs[i]->id;
      self->shown[i] = runs[i]->id;
    }
  self->n_shown = n;
  return same;
}

/* n: the runs that are selected. */
static void
show_left_out (DynoRunCompare *self, guint n)
{
  g_autofree char *text =
      /* Translators: numbers of runs: "8 of 11 selected runs are shown" */
      g_strdup_printf (
          ngettext ("%u of %u selected run is shown", "%u of %u selected runs are shown", n),
          self->n, n);
  gtk_label_set_text (GTK_LABEL (self->left_out), text);
  gtk_widget_set_visible (self->left_out, n > self->n);
}

static void
show_spread (DynoRunCompare *self, const DynoStoredRun *const *runs, guint n)
{
  g_autofree char *text = dyno_run_spread_describe (runs, n);
  gtk_label_set_text (GTK_LABEL (self->spread), text ? text : "");
  gtk_widget_set_visible (self->spread, text != NULL);
}

void
dyno_run_compare_show (DynoRunCompare *self, DynoRunCurves *curves,
                       const DynoStoredRun *const *runs, guint n)
{
  gboolean same = take_ids (self, runs, MIN (n, DYNO_RUN_COMPARE_MOST));
  if (!same)
    {
      /* The view must release the series before they are freed. */
      dyno_plot_view_set_lines (self->view, NULL, 0);
      dyno_plot_view_set_span (self->view, (DynoPlotSpan){ 0, 0 });
      dyno_run_curves_forget (curves);
    }
  if (!self->curves)
    {
      self->curves = g_object_ref (curves);
      g_signal_connect_object (curves, "read", G_CALLBACK (show_curves), self, G_CONNECT_SWAPPED);
    }
  self->n = MIN (n, DYNO_RUN_COMPARE_MOST);
  for (guint i = 0; i < self->n; i++)
    self->runs[i] = runs[i];
  gtk_widget_set_visible (GTK_WIDGET (self), n > 0);
  show_left_out (self, n);
  show_spread (self, runs, n);
  update_timer (self);
  if (n == 0)
    return;
  for (guint i = 0; same && i < self->n; i++)
    dyno_run_curves_follow (self->curves, self->runs[i]); /* one may have ended */
  show_curves (self);
  show_settings (self);
}

/* --- the widgets ------------------------------------------------------------------------------ */

static GtkWidget *
make_export_button (DynoRunCompare *self)
{
  static const GActionEntry entries[] = { { "export", export_activated, "s", NULL, NULL } };
  const struct {
    const char *title, *extension;
  } formats[] = { { N_ ("_Picture (PNG)…"), "png" },
                  { N_ ("_Drawing (SVG)…"), "svg" },
                  { N_ ("P_rint (PDF)…"), "pdf" },
                  { N_ ("_Numbers (CSV)…"), "csv" } };
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();
  g_autoptr (GMenu) menu = g_menu_new ();
  GtkWidget *button = gtk_menu_button_new ();
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_autofree char *action = g_strdup_printf ("runs.export('%s')", formats[i].extension);
      g_menu_append (menu, _ (formats[i].title), action);
    }
  g_action_map_add_action_entries (G_ACTION_MAP (group), entries, G_N_ELEMENTS (entries), self);
  gtk_widget_insert_action_group (GTK_WIDGET (self), "runs", G_ACTION_GROUP (group));
  gtk_container_add (GTK_CONTAINER (button),
                     gtk_image_new_from_icon_name ("document-save-symbolic", GTK_ICON_SIZE_BUTTON));
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), G_MENU_MODEL (menu));
  gtk_widget_set_tooltip_text (button, _ ("Save the curves of the selected runs"));
  dyno_widget_set_accessible_name (button, _ ("Save the curves of the selected runs"));
  return button;
}

static void
add_bar (DynoRunCompare *self)
{
  GtkWidget *bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->quantity = gtk_combo_box_text_new ();
  for (guint i = 0; i < G_N_ELEMENTS (quantities); i++)
    gtk_combo_box_text_append_text (GTK_COMBO_BOX_TEXT (self->quantity), _ (quantities[i]));
  gtk_combo_box_set_active (GTK_COMBO_BOX (self->quantity), LOSS);
  dyno_widget_set_accessible_name (self->quantity, _ ("Curves that are shown"));
  dyno_widget_limit_combo (self->quantity, 20);
  g_signal_connect_swapped (self->quantity, "changed", G_CALLBACK (quantity_changed), self);
  gtk_box_pack_start (GTK_BOX (bar), self->quantity, FALSE, FALSE, 0);
  self->left_out = gtk_label_new (NULL);
  gtk_widget_set_no_show_all (self->left_out, TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (self->left_out), PANGO_ELLIPSIZE_END);
  dyno_widget_add_class (self->left_out, "dim-label", TRUE);
  gtk_box_pack_start (GTK_BOX (bar), self->left_out, FALSE, FALSE, 6);
  self->axis = gtk_combo_box_text_new ();
  gtk_combo_box_text_append_text (GTK_COMBO_BOX_TEXT (self->axis), _ ("Step"));
  gtk_combo_box_text_append_text (GTK_COMBO_BOX_TEXT (self->axis), _ ("Epoch"));
  gtk_combo_box_text_append_text (GTK_COMBO_BOX_TEXT (self->axis), _ ("Time"));
  gtk_combo_box_set_active (GTK_COMBO_BOX (self->axis), STEPS);
  dyno_widget_set_accessible_name (self->axis, _ ("Horizontal axis of the runs"));
  g_signal_connect_swapped (self->axis, "changed", G_CALLBACK (axis_changed), self);
  gtk_box_pack_end (GTK_BOX (bar), make_export_button (self), FALSE, FALSE, 0);
  gtk_box_pack_end (GTK_BOX (bar), self->axis, FALSE, FALSE, 0);
  gtk_container_add (GTK_CONTAINER (self), bar);
}

static void
dyno_run_compare_dispose (GObject *object)
{
  DynoRunCompare *self = DYNO_RUN_COMPARE (object);
  self->n = 0;
  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_handle_id (&self->fit, g_source_remove);
  if (self->view)
    dyno_plot_view_set_lines (self->view, NULL, 0);
  g_clear_object (&self->view);
  g_clear_object (&self->curves);
  G_OBJECT_CLASS (dyno_run_compare_parent_class)->dispose (object);
}

static void
dyno_run_compare_class_init (DynoRunCompareClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_run_compare_dispose;
  signals[FAILED] = g_signal_new ("failed", DYNO_TYPE_RUN_COMPARE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[EXPORTED] = g_signal_new ("exported", DYNO_TYPE_RUN_COMPARE, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
dyno_run_compare_init (DynoRunCompare *self)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 8);
  self->view = g_object_ref_sink (g_object_new (DYNO_TYPE_PLOT_VIEW, NULL));
  dyno_plot_menu_attach (self->view);
  add_bar (self);
  self->spread = dyno_text_new (NULL, "numeric");
  gtk_widget_set_no_show_all (self->spread, TRUE);
  gtk_container_add (GTK_CONTAINER (self), self->spread);
  g_object_set (self->view, "expand", TRUE, NULL);
  dyno_plot_view_set_least_height (self->view, PLOT_HEIGHT);
  g_signal_connect (self->view, "span", G_CALLBACK (span_asked), NULL);
  g_signal_connect (self->view, "cursor", G_CALLBACK (dyno_plot_view_set_cursor), NULL);
  dyno_widget_add_class (card, "card", TRUE);
  dyno_widget_add_class (card, "plot-card", TRUE);
  gtk_container_add (GTK_CONTAINER (card), GTK_WIDGET (self->view));
  gtk_container_add (GTK_CONTAINER (self), card);
  self->table = gtk_scrolled_window_new (NULL, NULL);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (self->table), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (self->table), 1);
  g_signal_connect_object (self->table, "size-allocate", G_CALLBACK (table_allocated), self,
                           G_CONNECT_SWAPPED);
  dyno_widget_add_class (self->table, "card", TRUE);
  dyno_widget_set_accessible_name (self->table, _ ("Comparison"));
  self->grid = gtk_grid_new ();
  g_object_set (self->grid, "column-spacing", 18, "row-spacing", 6, "margin", 14, NULL);
  gtk_container_add (GTK_CONTAINER (self->table), self->grid);
  gtk_container_add (GTK_CONTAINER (self), self->table);
  axis_changed (self);
  quantity_changed (self);
  gtk_widget_show_all (GTK_WIDGET (self));
}

GtkWidget *
dyno_run_compare_new (void)
{
  return g_object_new (DYNO_TYPE_RUN_COMPARE, NULL);
}
