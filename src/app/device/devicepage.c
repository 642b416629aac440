/* SPDX-License-Identifier: MIT */
/* A device is watched from the first time that it is shown until the window is closed, so that
 * showing another page leaves no gap.  Nothing is drawn while the page is hidden. */
#include "devicepage.h"
#include "barlist.h"
#include "corebars.h"
#include "devicefigures.h"
#include "format.h"
#include "row.h"
#include "plot/grid.h"
#include "plot/plotmenu.h"
#include <glib/gi18n.h>
#include <handy.h>
#include <math.h>

#define MOST_WIDTH   1240
#define SHOWN_S      300.0 /* span of the plots until the user chooses another one */
#define PLOT_HEIGHT  190
#define MOST_DEVICES 64

typedef struct {
  const char *title, *unit;
  DynoSensor lines[2]; /* DYNO_N_SENSORS: none */
  DynoSensor limit;    /* DYNO_N_SENSORS: none */
} Plot;

static const Plot plots[] = {
  { N_ ("Load"), "%", { DYNO_SENSOR_GPU_BUSY, DYNO_SENSOR_CPU_BUSY }, DYNO_N_SENSORS },
  { N_ ("Device memory"),
    "GiB",
    { DYNO_SENSOR_VRAM_ALL, DYNO_SENSOR_VRAM_OWN },
    DYNO_SENSOR_VRAM_TOTAL },
  { N_ ("Power"), "W", { DYNO_SENSOR_GPU_POWER, DYNO_N_SENSORS }, DYNO_SENSOR_GPU_POWER_LIMIT },
  { N_ ("Temperature"), "°C", { DYNO_SENSOR_GPU_TEMPERATURE, DYNO_N_SENSORS }, DYNO_N_SENSORS },
  { N_ ("Clock"), "MHz", { DYNO_SENSOR_GPU_CLOCK, DYNO_SENSOR_GPU_MEMORY_CLOCK }, DYNO_N_SENSORS },
  { N_ ("Machine memory"), "GiB", { DYNO_SENSOR_RAM_USED, DYNO_N_SENSORS }, DYNO_SENSOR_RAM_TOTAL },
  { N_ ("Reading"), "MiB/s", { DYNO_SENSOR_DISK_READ_PER_S, DYNO_N_SENSORS }, DYNO_N_SENSORS },
};

struct _DynoDevicePage {
  GtkBox parent_instance;
  GtkWidget *title, *subtitle, *choice, *figures, *cards, *cores, *programs, *programs_card;
  DynoPlotGrid *grid;
  DynoPlotView *views[G_N_ELEMENTS (plots)];
  DynoSetup *setup;
  DynoDeviceWatch *watches[MOST_DEVICES]; /* in the order of the devices; NULL: not shown yet */
  guint shown;
  DynoPlotSpan span; /* span that the user chose; “all” shows the last SHOWN_S */
  gboolean chosen;   /* the user has chosen the device */
};

G_DEFINE_FINAL_TYPE (DynoDevicePage, dyno_device_page, GTK_TYPE_BOX)

/* --- the device that is shown ----------------------------------------------------------------- */

static const DynoDeviceInfo *
get_device (DynoDevicePage *self)
{
  GPtrArray *devices = self->setup ? dyno_setup_get_devices (self->setup) : NULL;
  return devices && self->shown < devices->len ? devices->pdata[self->shown] : NULL;
}

static gboolean
is_gpu (const DynoDeviceInfo *device)
{
  return device && device->type != DYNO_DEVICE_TYPE_SOFTWARE;
}

static void
show_programs (DynoDevicePage *self, const DynoSensorReading *reading)
{
  const DynoSensorPrograms *programs = reading ? &reading->programs : NULL;
  double total = reading ? reading->values[DYNO_SENSOR_VRAM_TOTAL] : (double) NAN;
  dyno_widget_clear (self->programs);
  gtk_widget_set_visible (self->programs_card, programs && programs->n > 0);
  for (guint i = 0; programs && i < programs->n; i++)
    {
      const DynoSensorProgram *program = &programs->list[i];
      gboolean known = !isnan (program->bytes);
      g_autofree char *process = g_strdup_printf (_ ("Process %u"), program->pid),
                      *name = program->own ? g_strdup (_ ("Dyno"))
                              : *program->name
                                  ? g_strdup_printf ("%s (%u)", program->name, program->pid)
                                  : g_strdup (process),
                      *bytes = known ? dyno_format_bytes ((guint64) CLAMP (program->bytes, 0, 1e18))
                                     : g_strdup ("\342\200\223");
      GtkWidget *row =
          dyno_bar_row_new (name, bytes, known && total > 0 ? program->bytes / total : 0);
      gtk_container_add (GTK_CONTAINER (self->programs), row);
      gtk_widget_show_all (row);
    }
}

static guint
list_lines (DynoDeviceWatch *watch, const Plot *plot, DynoPlotLine lines[2])
{
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (plot->lines); i++)
    if (plot->lines[i] != DYNO_N_SENSORS && dyno_device_watch_has (watch, plot->lines[i]))
      lines[n++] = (DynoPlotLine){ .series = dyno_device_watch_get_series (watch, plot->lines[i]),
                                   .colour = i };
  return n;
}

/* The newest value of the sensor that is a plot's limit, in the plot's unit. */
static double
find_limit (DynoDeviceWatch *watch, const Plot *plot)
{
  if (plot->limit == DYNO_N_SENSORS || !dyno_device_watch_has (watch, plot->limit))
    return (double) NAN;
  DynoSeries *series = dyno_device_watch_get_series (watch, plot->limit);
  guint64 n = dyno_series_get_length (series);
  double x, y = (double) NAN;
  if (n > 0)
    dyno_series_get (series, n - 1, &x, &y);
  return y;
}

static void
show_plots (DynoDevicePage *self, DynoDeviceWatch *watch)
{
  double now = dyno_device_watch_get_seconds (watch);
  DynoPlotSpan span = self->span;
  if (dyno_plot_span_is_all (span) && now > SHOWN_S)
    span = (DynoPlotSpan){ now - SHOWN_S, now };
  for (guint i = 0; i < G_N_ELEMENTS (plots); i++)
    {
      DynoPlotLine lines[2];
      guint n = list_lines (watch, &plots[i], lines);
      dyno_plot_grid_set_shown (self->grid, self->views[i], n > 0);
      if (n == 0)
        continue;
      dyno_plot_view_set_limit (self->views[i], find_limit (watch, &plots[i]), _ ("Limit"));
      dyno_plot_view_set_lines (self->views[i], lines, n);
      dyno_plot_view_set_span (self->views[i], span);
    }
}

DynoDeviceWatch *
dyno_device_page_get_watch (DynoDevicePage *self)
{
  return self->watches[self->shown];
}

static void
show_reading (DynoDevicePage *self)
{
  DynoDeviceWatch *watch = dyno_device_page_get_watch (self);
  if (!watch || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  const DynoSensorReading *reading = dyno_device_watch_get_reading (watch);
  dyno_device_figures_show (DYNO_DEVICE_FIGURES (self->figures), reading);
  dyno_core_bars_set (DYNO_CORE_BARS (self->cores), reading ? reading->core_busy : NULL,
                      reading ? reading->n_cores : 0);
  show_programs (self, reading);
  show_plots (self, watch);
}

static void
show_device (DynoDevicePage *self)
{
  const DynoDeviceInfo *device = get_device (self);
  g_autofree char *memory = device ? dyno_format_bytes (device->vram_bytes) : NULL, *words = NULL;
  if (is_gpu (device))
    words = g_strdup_printf ("%s  \302\267  %s", device->driver, memory);
  else if (device)
    words = g_strdup (_ ("It computes on the processor, whose load is shown here"));
  gtk_label_set_text (GTK_LABEL (self->title), device ? device->name : _ ("This Machine"));
  gtk_label_set_text (GTK_LABEL (self->subtitle), words ? words : "");
  gtk_widget_set_visible (self->subtitle, words != NULL);
}

static void
watch_shown (DynoDevicePage *self)
{
  if (!self->watches[self->shown])
    {
      const DynoDeviceInfo *device = get_device (self);
      DynoDeviceWatch *watch = dyno_device_watch_new (is_gpu (device) ? device : NULL);
      g_signal_connect_object (watch, "changed", G_CALLBACK (show_reading), self,
                               G_CONNECT_SWAPPED);
      self->watches[self->shown] = watch;
    }
  show_device (self);
  show_reading (self);
}

static void
choice_changed (GtkComboBox *combo, DynoDevicePage *self)
{
  int active = gtk_combo_box_get_active (combo);
  if (active < 0 || active >= MOST_DEVICES || self->shown == (guint) active)
    return;
  self->chosen = TRUE;
  self->shown = (guint) active;
  self->span = (DynoPlotSpan){ 0, 0 };
  watch_shown (self);
}

/* Lists the devices; until the user chooses one, the setup's device is shown. */
static void
list_devices (DynoDevicePage *self)
{
  GPtrArray *devices = dyno_setup_get_devices (self->setup);
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  g_signal_handlers_block_by_func (self->choice, choice_changed, self);
  gtk_combo_box_text_remove_all (GTK_COMBO_BOX_TEXT (self->choice));
  for (guint i = 0; devices && i < MIN (devices->len, MOST_DEVICES); i++)
    {
      const DynoDeviceInfo *one = devices->pdata[i];
      gtk_combo_box_text_append_text (GTK_COMBO_BOX_TEXT (self->choice), one->name);
      if (one == device && !self->chosen)
        self->shown = i;
    }
  gtk_combo_box_set_active (GTK_COMBO_BOX (self->choice), (int) self->shown);
  gtk_widget_set_visible (self->choice, devices && devices->len > 1);
  g_signal_handlers_unblock_by_func (self->choice, choice_changed, self);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoDevicePage *self)
{
  if (!(flags & DYNO_SETUP_DEVICES))
    return;
  list_devices (self);
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    watch_shown (self);
}

static void
mapped (DynoDevicePage *self)
{
  if (self->setup
      && (dyno_setup_get_devices (self->setup) || dyno_setup_get_device_error (self->setup)))
    watch_shown (self);
}

void
dyno_device_page_set_setup (DynoDevicePage *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  list_devices (self);
}

void
dyno_device_page_set_narrow (DynoDevicePage *self, gboolean narrow)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->cards),
                                  narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  gtk_box_set_homogeneous (GTK_BOX (self->cards), !narrow);
}

/* --- the plots -------------------------------------------------------------------------------- */

static void
cursor_moved (DynoPlotView *view, double x, DynoDevicePage *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (plots); i++)
    dyno_plot_view_set_cursor (self->views[i], x);
}

static void
span_asked (DynoPlotView *view, double x0, double x1, DynoDevicePage *self)
{
  self->span = (DynoPlotSpan){ x0, x1 };
  show_reading (self);
}

static void
add_plot (DynoDevicePage *self, guint plot)
{
  DynoPlotView *view = self->views[plot] = g_object_new (DYNO_TYPE_PLOT_VIEW, NULL);
  dyno_plot_view_set_labels (view, _ (plots[plot].title), plots[plot].unit, "");
  dyno_plot_view_set_x (view, _ ("Time"), FALSE, TRUE);
  dyno_plot_view_set_from_zero (view, plots[plot].lines[0] != DYNO_SENSOR_GPU_TEMPERATURE);
  dyno_plot_view_set_least_height (view, PLOT_HEIGHT);
  dyno_plot_menu_attach (view);
  dyno_plot_grid_add (self->grid, view);
  g_signal_connect_object (view, "cursor", G_CALLBACK (cursor_moved), self, 0);
  g_signal_connect_object (view, "span", G_CALLBACK (span_asked), self, 0);
}

/* --- the widgets ------------------------------------------------------------------------------ */

/* The views, which borrow the series of the watches, are destroyed before. */
static void
dyno_device_page_finalize (GObject *object)
{
  DynoDevicePage *self = DYNO_DEVICE_PAGE (object);
  for (guint i = 0; i < MOST_DEVICES; i++)
    g_clear_object (&self->watches[i]);
  G_OBJECT_CLASS (dyno_device_page_parent_class)->finalize (object);
}

static void
dyno_device_page_class_init (DynoDevicePageClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_device_page_finalize;
}

static GtkWidget *
new_head (DynoDevicePage *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12),
            *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  self->title = dyno_text_new ("", "run-title");
  self->subtitle = dyno_text_new ("", "dim-label");
  self->choice = gtk_combo_box_text_new ();
  dyno_widget_set_accessible_name (self->choice, _ ("Device that is shown"));
  dyno_widget_limit_combo (self->choice, 20);
  gtk_widget_set_valign (self->choice, GTK_ALIGN_CENTER);
  g_signal_connect (self->choice, "changed", G_CALLBACK (choice_changed), self);
  gtk_container_add (GTK_CONTAINER (texts), self->title);
  gtk_container_add (GTK_CONTAINER (texts), self->subtitle);
  gtk_box_pack_start (GTK_BOX (head), texts, TRUE, TRUE, 0);
  gtk_container_add (GTK_CONTAINER (head), self->choice);
  gtk_widget_show (self->title);
  gtk_widget_show (texts);
  gtk_widget_show (head);
  return head;
}

/* A card with a heading above its content. */
static GtkWidget *
new_card (const char *heading, GtkWidget *content)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 9),
            *title = dyno_text_new (heading, "bar-title");
  dyno_widget_add_class (card, "card", TRUE);
  dyno_widget_add_class (card, "step-card", TRUE);
  gtk_container_add (GTK_CONTAINER (card), title);
  gtk_container_add (GTK_CONTAINER (card), content);
  gtk_widget_show (title);
  gtk_widget_show (content);
  return card;
}

static void
dyno_device_page_init (DynoDevicePage *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new (NULL, NULL), *clamp = hdy_clamp_new (),
            *column = gtk_box_new (GTK_ORIENTATION_VERTICAL, 18), *cores_card;
  self->figures = g_object_new (DYNO_TYPE_DEVICE_FIGURES, NULL);
  self->cores = g_object_new (DYNO_TYPE_CORE_BARS, NULL);
  self->grid = DYNO_PLOT_GRID (dyno_plot_grid_new ());
  self->programs = gtk_box_new (GTK_ORIENTATION_VERTICAL, 9);
  for (guint i = 0; i < G_N_ELEMENTS (plots); i++)
    add_plot (self, i);
  self->cards = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  cores_card = new_card (_ ("Cores of the Processor"), self->cores);
  self->programs_card = new_card (_ ("Memory by Program"), self->programs);
  gtk_container_add (GTK_CONTAINER (column), new_head (self));
  gtk_container_add (GTK_CONTAINER (column), self->figures);
  gtk_box_pack_start (GTK_BOX (self->cards), self->programs_card, TRUE, TRUE, 0);
  gtk_box_pack_start (GTK_BOX (self->cards), cores_card, TRUE, TRUE, 0);
  gtk_box_set_homogeneous (GTK_BOX (self->cards), TRUE);
  gtk_container_add (GTK_CONTAINER (column), self->cards);
  gtk_container_add (GTK_CONTAINER (column), GTK_WIDGET (self->grid));
  gtk_widget_show (self->cards);
  gtk_widget_show (self->figures);
  gtk_widget_show (GTK_WIDGET (self->grid));
  gtk_widget_show (cores_card);
  hdy_clamp_set_maximum_size (HDY_CLAMP (clamp), MOST_WIDTH);
  hdy_clamp_set_tightening_threshold (HDY_CLAMP (clamp), MOST_WIDTH);
  g_object_set (column, "margin", 18, "visible", TRUE, NULL);
  gtk_container_add (GTK_CONTAINER (clamp), column);
  gtk_widget_show (clamp);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  dyno_widget_set_accessible_name (scrolled, _ ("Device"));
  gtk_container_add (GTK_CONTAINER (scrolled), clamp);
  gtk_box_pack_start (GTK_BOX (self), scrolled, TRUE, TRUE, 0);
  gtk_widget_show (scrolled);
  g_signal_connect (self, "map", G_CALLBACK (mapped), NULL);
}
