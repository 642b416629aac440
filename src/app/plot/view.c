/* SPDX-License-Identifier: MIT */
/* A live plot.  It owns no data: it keeps a DynoPlot and repaints when told.  A held view pins x0
 * and x1 to what was seen at that moment; the series go on growing beside it. */
#include "view.h"
#include "row.h"
#include "axis.h"
#include "theme.h"
#include <glib/gi18n.h>
#include <gtk/gtk-a11y.h>
#include <math.h>

#define MAX_LINES 4

struct _DynoPlotView {
  GtkDrawingArea parent_instance;
  DynoPlot plot;
  DynoPlotLine lines[MAX_LINES];
  char *title, *x_label, *y_label, *empty, *limit_label;
  gboolean held;
  DynoPlotView *const *row; /* the views in line with this one, itself among them; the caller's */
  guint n_row;
  double own_label_width;
};

enum { CURSOR, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoPlotView, dyno_plot_view, GTK_TYPE_DRAWING_AREA)

/* What a screen reader hears as the plot's description: the values at the read-out, else the
 * latest.  Made when asked for, since they change many times per second. */
typedef struct {
  GtkWidgetAccessible parent_instance;
  char *text;
} PlotAccessible;
typedef GtkWidgetAccessibleClass PlotAccessibleClass;

static GType plot_accessible_get_type (void);
G_DEFINE_TYPE (PlotAccessible, plot_accessible, GTK_TYPE_WIDGET_ACCESSIBLE)

static char *
describe (const DynoPlot *plot)
{
  g_autoptr (GString) values = g_string_new (NULL);
  double at = NAN;
  for (guint i = 0; i < plot->n_lines; i++)
    {
      DynoSeries *series = plot->lines[i].series;
      guint64 n = dyno_series_get_length (series);
      double x, y;
      if (n == 0)
        continue;
      dyno_series_get (
          series, isnan (plot->cursor_x) ? n - 1 : dyno_series_nearest (series, plot->cursor_x), &x,
          &y);
      at = isnan (at) ? x : at;
      g_autofree char *value = dyno_axis_format_value (y);
      g_string_append_printf (values, "%s%s %s", values->len ? ", " : "",
                              dyno_series_get_name (series), value);
      if (*dyno_series_get_unit (series))
        g_string_append_printf (values, " %s", dyno_series_get_unit (series));
    }
  if (values->len == 0)
    return g_strdup (plot->empty);
  /* Translators: name of the x axis ("Step"), a number, values: "Step 120: Training 0.532,
   * Validation 0.61" */
  return g_strdup_printf (_ ("%s %.0f: %s"), plot->x_label, at, values->str);
}

static const char *
plot_accessible_get_description (AtkObject *object)
{
  PlotAccessible *self = (PlotAccessible *) object;
  GtkWidget *widget = gtk_accessible_get_widget (GTK_ACCESSIBLE (object));
  if (!widget)
    return NULL;
  g_free (self->text);
  self->text = describe (&DYNO_PLOT_VIEW (widget)->plot);
  return self->text;
}

static void
plot_accessible_finalize (GObject *object)
{
  g_free (((PlotAccessible *) object)->text);
  G_OBJECT_CLASS (plot_accessible_parent_class)->finalize (object);
}

static void
plot_accessible_class_init (PlotAccessibleClass *class)
{
  G_OBJECT_CLASS (class)->finalize = plot_accessible_finalize;
  ATK_OBJECT_CLASS (class)->get_description = plot_accessible_get_description;
}

static void
plot_accessible_init (PlotAccessible *self)
{
}

static void
replace (char **place, const char *text, const char **shown)
{
  g_free (*place);
  *place = g_strdup (text);
  *shown = *place;
}

void
dyno_plot_view_set_labels (DynoPlotView *self, const char *title, const char *x_label,
                           const char *y_label, const char *empty)
{
  replace (&self->title, title, &self->plot.title);
  replace (&self->x_label, x_label, &self->plot.x_label);
  replace (&self->y_label, y_label, &self->plot.y_label);
  replace (&self->empty, empty, &self->plot.empty);
  dyno_widget_set_accessible_name (GTK_WIDGET (self), title);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
dyno_plot_view_add_line (DynoPlotView *self, DynoSeries *series, guint colour, gboolean points)
{
  g_return_if_fail (self->plot.n_lines < MAX_LINES);
  self->lines[self->plot.n_lines++] =
      (DynoPlotLine){ .series = series, .colour = colour, .points = points };
}

void
dyno_plot_view_clear_lines (DynoPlotView *self)
{
  self->plot.n_lines = 0;
}

void
dyno_plot_view_set_limit (DynoPlotView *self, double y, const char *label)
{
  self->plot.y_limit = y;
  replace (&self->limit_label, label, &self->plot.y_limit_label);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
dyno_plot_view_set_from_zero (DynoPlotView *self, gboolean from_zero)
{
  self->plot.y_from_zero = from_zero;
}

void
dyno_plot_view_set_robust (DynoPlotView *self, gboolean robust)
{
  self->plot.robust = robust;
}

void
dyno_plot_view_align (DynoPlotView *const *views, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      views[i]->row = views;
      views[i]->n_row = n;
    }
}

/* The others are drawn once more when this one needs more or less room than before. */
static void
share_label_width (DynoPlotView *self, double width)
{
  double most = 0;
  self->own_label_width = width;
  for (guint i = 0; i < self->n_row; i++)
    most = MAX (most, self->row[i]->own_label_width);
  for (guint i = 0; i < self->n_row; i++)
    {
      if (self->row[i]->plot.label_width != most && self->row[i] != self)
        gtk_widget_queue_draw (GTK_WIDGET (self->row[i]));
      self->row[i]->plot.label_width = most;
    }
}

void
dyno_plot_view_set_log (DynoPlotView *self, gboolean log)
{
  self->plot.y_log = log;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
dyno_plot_view_set_smoothing (DynoPlotView *self, double smoothing)
{
  self->plot.smoothing = CLAMP (smoothing, 0, 0.99);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* All of what is there now; FALSE: nothing, and *x0 and *x1 are 0. */
static gboolean
get_extent (DynoPlotView *self, double *x0, double *x1)
{
  gboolean any = FALSE;

  *x0 = *x1 = 0;
  for (guint i = 0; i < self->plot.n_lines; i++)
    {
      double low, high, y_low, y_high;
      if (!dyno_series_get_range (self->lines[i].series, -INFINITY, INFINITY, &low, &high, &y_low,
                                  &y_high))
        continue;
      *x0 = any ? MIN (*x0, low) : low;
      *x1 = any ? MAX (*x1, high) : high;
      any = TRUE;
    }
  return any;
}

void
dyno_plot_view_set_held (DynoPlotView *self, gboolean held)
{
  double x0, x1;
  self->held = held;
  self->plot.x0 = self->plot.x1 = 0;
  if (held && get_extent (self, &x0, &x1) && x1 > x0)
    {
      self->plot.x0 = x0;
      self->plot.x1 = x1;
    }
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
dyno_plot_view_set_cursor (DynoPlotView *self, double x)
{
  if (self->plot.cursor_x == x || (isnan (x) && isnan (self->plot.cursor_x)))
    return;
  self->plot.cursor_x = x;
  if (gtk_widget_has_focus (GTK_WIDGET (self)))
    g_object_notify (G_OBJECT (gtk_widget_get_accessible (GTK_WIDGET (self))),
                     "accessible-description");
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
dyno_plot_view_refresh (DynoPlotView *self)
{
  if (!self->held || self->plot.x1 <= self->plot.x0)
    gtk_widget_queue_draw (GTK_WIDGET (self));
}

const DynoPlot *
dyno_plot_view_get_plot (DynoPlotView *self)
{
  return &self->plot;
}

/* Room for title, axes and three ticks in any text size. */
static void
dyno_plot_view_preferred_height (GtkWidget *widget, int *least, int *natural)
{
  *least = *natural = (int) (dyno_plot_theme_for_widget (widget)->font_size * 12.5);
}

static gboolean
dyno_plot_view_draw (GtkWidget *widget, cairo_t *cr)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (widget);
  int width = gtk_widget_get_allocated_width (widget),
      height = gtk_widget_get_allocated_height (widget);
  const DynoPlotTheme *theme = dyno_plot_theme_for_widget (widget);
  share_label_width (self, dyno_plot_label_width (&self->plot, theme, width, height));
  dyno_plot_draw (cr, &self->plot, theme, width, height, gtk_widget_get_scale_factor (widget));
  if (gtk_widget_has_visible_focus (widget))
    gtk_render_focus (gtk_widget_get_style_context (widget), cr, 0, 0, width, height);
  return GDK_EVENT_STOP;
}

static double
x_at (DynoPlotView *self, double pixel)
{
  GtkWidget *widget = GTK_WIDGET (self);
  return dyno_plot_x_at (&self->plot, dyno_plot_theme_for_widget (widget),
                         gtk_widget_get_allocated_width (widget),
                         gtk_widget_get_allocated_height (widget), pixel);
}

static gboolean
dyno_plot_view_motion (GtkWidget *widget, GdkEventMotion *event)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (widget);
  g_signal_emit (self, signals[CURSOR], 0, x_at (self, event->x));
  return GDK_EVENT_PROPAGATE;
}

static gboolean
dyno_plot_view_leave (GtkWidget *widget, GdkEventCrossing *event)
{
  g_signal_emit (widget, signals[CURSOR], 0, (double) NAN);
  return GDK_EVENT_PROPAGATE;
}

/* The read-out with the keyboard: arrows by a hundredth of the view, Home, End, Escape. */
static gboolean
dyno_plot_view_key (GtkWidget *widget, GdkEventKey *event)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (widget);
  double x0 = self->plot.x0, x1 = self->plot.x1, x = self->plot.cursor_x;
  if (x1 <= x0 && !get_extent (self, &x0, &x1))
    return GDK_EVENT_PROPAGATE;
  double step = MAX ((x1 - x0) / 100, 1);
  switch (event->keyval)
    {
    case GDK_KEY_Left:
      x = isnan (x) ? x1 : MAX (x - step, x0);
      break;
    case GDK_KEY_Right:
      x = isnan (x) ? x0 : MIN (x + step, x1);
      break;
    case GDK_KEY_Home:
      x = x0;
      break;
    case GDK_KEY_End:
      x = x1;
      break;
    case GDK_KEY_Escape:
      if (isnan (x))
        return GDK_EVENT_PROPAGATE;
      x = NAN;
      break;
    default:
      return GDK_EVENT_PROPAGATE;
    }
  g_signal_emit (self, signals[CURSOR], 0, x);
  return GDK_EVENT_STOP;
}

static void
dyno_plot_view_finalize (GObject *object)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (object);
  g_free (self->title);
  g_free (self->x_label);
  g_free (self->y_label);
  g_free (self->empty);
  g_free (self->limit_label);
  G_OBJECT_CLASS (dyno_plot_view_parent_class)->finalize (object);
}

static void
dyno_plot_view_class_init (DynoPlotViewClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = dyno_plot_view_finalize;
  widget_class->draw = dyno_plot_view_draw;
  widget_class->get_preferred_height = dyno_plot_view_preferred_height;
  widget_class->motion_notify_event = dyno_plot_view_motion;
  widget_class->leave_notify_event = dyno_plot_view_leave;
  widget_class->key_press_event = dyno_plot_view_key;
  gtk_widget_class_set_accessible_type (widget_class, plot_accessible_get_type ());
  gtk_widget_class_set_accessible_role (widget_class, ATK_ROLE_CHART);
  signals[CURSOR] = g_signal_new ("cursor", DYNO_TYPE_PLOT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 1, G_TYPE_DOUBLE);
}

static void
dyno_plot_view_init (DynoPlotView *self)
{
  self->plot.lines = self->lines;
  self->plot.y_limit = NAN;
  self->plot.cursor_x = NAN;
  self->plot.x_whole = TRUE; /* steps */
  gtk_widget_set_can_focus (GTK_WIDGET (self), TRUE);
  gtk_widget_add_events (GTK_WIDGET (self), GDK_POINTER_MOTION_MASK | GDK_LEAVE_NOTIFY_MASK);
}
