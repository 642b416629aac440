/* SPDX-License-Identifier: MIT */
/* A live plot.  It owns no data: it keeps a DynoPlot and repaints on request.  Pointer and keys
 * request another span by a signal, since all plots over one x axis move together. */
#include "view.h"
#include "row.h"
#include "axis.h"
#include "range.h"
#include "theme.h"
#include <glib/gi18n.h>
#include <gtk/gtk-a11y.h>
#include <math.h>

#define ZOOM       0.8 /* factor for each step of the wheel and each key press */
#define PAN        0.1
#define LEAST_DRAG 6 /* pixels; less is a click */

struct _DynoPlotView {
  GtkDrawingArea parent_instance;
  DynoPlot plot;
  DynoPlotLine lines[DYNO_PLOT_VIEW_MAX_LINES];
  char *title, *x_label, *y_label, *empty, *limit_label;
  DynoPlotView *const *row; /* the views aligned with this one, including itself; borrowed */
  guint n_row;
  double own_label_width;
  int least_height;          /* pixels, without the names below the title; 0: by the font */
  gboolean dragging, hand;   /* hand: the cursor is a hand, since it is over the name of a line */
  double drag_from, drag_to; /* pixels */
  DynoPlotSpan drag_span, drag_axis; /* the spans when the drag began; drag_axis: never "all" */
};

enum { CURSOR, SPAN, MAXIMIZE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoPlotView, dyno_plot_view, GTK_TYPE_DRAWING_AREA)

/* The plot's description for screen readers: the values at the read-out, else the latest.  It is
 * made on request, since the values change many times per second. */
typedef struct {
  GtkWidgetAccessible parent_instance;
  char *text;
} PlotAccessible;
typedef GtkWidgetAccessibleClass PlotAccessibleClass;

static GType plot_accessible_get_type (void);
G_DEFINE_TYPE (PlotAccessible, plot_accessible, GTK_TYPE_WIDGET_ACCESSIBLE)

static char *
format_x (const DynoPlot *plot, double x)
{
  if (plot->x_time)
    return dyno_axis_format_time (x, 1);
  return g_strdup_printf (plot->x_whole ? "%.0f" : "%.2f", x);
}

/* The names of the hidden lines; NULL: no line is hidden. */
static char *
list_hidden (const DynoPlot *plot)
{
  GString *names = g_string_new (NULL);
  for (guint i = 0; i < plot->n_lines; i++)
    if (plot->lines[i].hidden && !plot->lines[i].unnamed)
      g_string_append_printf (names, "%s%s", names->len ? ", " : "",
                              dyno_plot_line_name (&plot->lines[i]));
  return g_string_free (names, names->len == 0);
}

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
      if (n == 0 || plot->lines[i].hidden)
        continue;
      const DynoSeries *map = plot->lines[i].x_map;
      double own = dyno_plot_unmap_x (map, plot->cursor_x);
      dyno_series_get (series, isnan (plot->cursor_x) ? n - 1 : dyno_series_nearest (series, own),
                       &x, &y);
      at = isnan (at) ? dyno_plot_map_x (map, x) : at;
      g_autofree char *value = dyno_axis_format_measure (y, dyno_series_get_unit (series));
      double smoothed = dyno_plot_get_smoothed (plot, i, x);
      g_string_append_printf (values, "%s%s %s", values->len ? ", " : "",
                              dyno_plot_line_name (&plot->lines[i]), value);
      if (*dyno_series_get_unit (series))
        g_string_append_printf (values, " %s", dyno_series_get_unit (series));
      if (isfinite (smoothed))
        {
          g_autofree char *calm =
              dyno_axis_format_measure (smoothed, dyno_series_get_unit (series));
          g_string_append_printf (values, ", %s %s", plot->smoothed_word, calm);
        }
    }
  g_autofree char *hidden = list_hidden (plot);
  if (values->len == 0 && !hidden)
    return g_strdup (plot->empty);
  if (hidden)
    {
      /* Translators: names of lines of a plot */
      g_autofree char *words = g_strdup_printf (_ ("hidden: %s"), hidden);
      g_string_append_printf (values, "%s%s", values->len ? "; " : "", words);
    }
  g_autofree char *shown = format_x (plot, at), *from = NULL, *to = NULL;
  if (!(plot->x0 < plot->x1))
    /* Translators: name of the x axis ("Step"), where, values: "Step 120: Training 0.532,
     * Validation 0.61" */
    return g_strdup_printf (_ ("%s %s: %s"), plot->x_label, shown, values->str);
  from = format_x (plot, plot->x0);
  to = format_x (plot, plot->x1);
  /* Translators: as above, and which part of the x axis is shown: "Step 120: Training 0.532; shown
   * from 100 to 200" */
  return g_strdup_printf (_ ("%s %s: %s; shown from %s to %s"), plot->x_label, shown, values->str,
                          from, to);
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
dyno_plot_view_set_labels (DynoPlotView *self, const char *title, const char *y_label,
                           const char *empty)
{
  gboolean renamed = g_strcmp0 (self->title, title) || g_strcmp0 (self->y_label, y_label);
  replace (&self->title, title, &self->plot.title);
  replace (&self->y_label, y_label, &self->plot.y_label);
  replace (&self->empty, empty, &self->plot.empty);
  dyno_widget_set_accessible_name (GTK_WIDGET (self), title);
  if (renamed) /* the names of the lines may need other rows */
    gtk_widget_queue_resize (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
dyno_plot_view_set_x (DynoPlotView *self, const char *label, gboolean whole, gboolean time)
{
  replace (&self->x_label, label, &self->plot.x_label);
  self->plot.x_whole = whole;
  self->plot.x_time = time;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
dyno_plot_view_set_lines (DynoPlotView *self, const DynoPlotLine *lines, guint n)
{
  DynoPlotLine before[DYNO_PLOT_VIEW_MAX_LINES];
  guint n_before = self->plot.n_lines;
  gboolean renamed = n != n_before;
  memcpy (before, self->lines, sizeof before);
  self->plot.n_lines = MIN (n, DYNO_PLOT_VIEW_MAX_LINES);
  for (guint i = 0; i < self->plot.n_lines; i++)
    {
      self->lines[i] = lines[i];
      renamed |= i >= n_before || before[i].series != lines[i].series
                 || before[i].name != lines[i].name || before[i].unnamed != lines[i].unnamed;
      for (guint k = 0; k < n_before; k++)
        if (before[k].series == lines[i].series)
          self->lines[i].hidden = before[k].hidden;
    }
  if (renamed) /* the names may need other rows */
    gtk_widget_queue_resize (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
dyno_plot_view_set_title_room (DynoPlotView *self, double room)
{
  self->plot.title_room = room;
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

/* Gives all views of the row the same label width, and redraws the others if this view's own width
 * has changed. */
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

void
dyno_plot_view_set_span (DynoPlotView *self, DynoPlotSpan span)
{
  self->plot.x0 = span.x0;
  self->plot.x1 = span.x1;
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

const DynoPlot *
dyno_plot_view_get_plot (DynoPlotView *self)
{
  return &self->plot;
}

/* Requests enough height for title, axes and three ticks at any text size. */
static void
dyno_plot_view_preferred_height (GtkWidget *widget, int *least, int *natural)
{
  int enough = (int) (dyno_plot_theme_for_widget (widget)->font_size * 12.5);
  *least = *natural = MAX (enough, DYNO_PLOT_VIEW (widget)->least_height);
}

/* The names below the title need their height in addition. */
static void
dyno_plot_view_preferred_height_for_width (GtkWidget *widget, int width, int *least, int *natural)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (widget);
  dyno_plot_view_preferred_height (widget, least, natural);
  *least = *natural = *least
                      + (int) ceil (dyno_plot_names_height (
                          &self->plot, dyno_plot_theme_for_widget (widget), width));
}

static GtkSizeRequestMode
dyno_plot_view_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

void
dyno_plot_view_set_least_height (DynoPlotView *self, int pixels)
{
  self->least_height = pixels;
  gtk_widget_queue_resize (GTK_WIDGET (self));
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
  if (self->dragging && dyno_plot_span_is_all (self->drag_span)
      && fabs (self->drag_to - self->drag_from) >= LEAST_DRAG)
    {
      const DynoColour *c = &theme->lines[0];
      cairo_set_source_rgba (cr, c->red, c->green, c->blue, 0.16);
      cairo_rectangle (cr, MIN (self->drag_from, self->drag_to), 0,
                       fabs (self->drag_to - self->drag_from), height);
      cairo_fill (cr);
    }
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

/* --- hiding lines ----------------------------------------------------------------------------- */

/* Lines without a name follow the named line of their colour. */
static void
toggle (DynoPlotView *self, guint line)
{
  gboolean hidden = !self->lines[line].hidden;
  self->lines[line].hidden = hidden;
  for (guint i = 0; i < self->plot.n_lines; i++)
    if (self->lines[i].unnamed && self->lines[i].colour == self->lines[line].colour)
      self->lines[i].hidden = hidden;
  g_object_notify (G_OBJECT (gtk_widget_get_accessible (GTK_WIDGET (self))),
                   "accessible-description");
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* place: index of the line's name, from 0; FALSE: there are fewer names. */
static gboolean
toggle_named (DynoPlotView *self, guint place)
{
  for (guint i = 0; i < self->plot.n_lines && self->plot.n_lines > 1; i++)
    if (!self->lines[i].unnamed && place-- == 0)
      {
        toggle (self, i);
        return TRUE;
      }
  return FALSE;
}

static int
name_at (DynoPlotView *self, double x, double y, gboolean *is_cut)
{
  GtkWidget *widget = GTK_WIDGET (self);
  return dyno_plot_name_at (&self->plot, dyno_plot_theme_for_widget (widget),
                            gtk_widget_get_allocated_width (widget), x, y, is_cut);
}

/* A name that is cut is shown whole. */
static gboolean
dyno_plot_view_query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard,
                              GtkTooltip *tooltip)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (widget);
  gboolean is_cut = FALSE;
  int line = keyboard ? -1 : name_at (self, x, y, &is_cut);
  if (line < 0 || !is_cut)
    return FALSE;
  gtk_tooltip_set_text (tooltip, dyno_plot_line_name (&self->lines[line]));
  return TRUE;
}

/* --- zooming and panning ---------------------------------------------------------------------- */

static DynoPlotSpan
get_span (DynoPlotView *self)
{
  return (DynoPlotSpan){ self->plot.x0, self->plot.x1 };
}

static void
ask_for (DynoPlotView *self, DynoPlotSpan span)
{
  g_signal_emit (self, signals[SPAN], 0, span.x0, span.x1);
}

/* The least width of a span: a few units where x counts something, else as small as the numbers
 * allow. */
static double
get_least (DynoPlotView *self, DynoPlotSpan all)
{
  return self->plot.x_whole ? 4 : (all.x1 - all.x0) * 1e-5;
}

static void
zoom (DynoPlotView *self, double at, double factor)
{
  DynoPlotSpan all;
  if (dyno_plot_extent (&self->plot, &all))
    ask_for (self, dyno_plot_span_zoom (get_span (self), all, at, factor, get_least (self, all)));
}

static void
pan (DynoPlotView *self, double share)
{
  DynoPlotSpan all;
  if (dyno_plot_extent (&self->plot, &all))
    ask_for (self, dyno_plot_span_pan (get_span (self), all, share));
}

/* With Control the wheel zooms, with Shift it pans; else the page scrolls. */
static gboolean
dyno_plot_view_scroll (GtkWidget *widget, GdkEventScroll *event)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (widget);
  double dx = 0, dy = 0;
  if (event->direction == GDK_SCROLL_SMOOTH)
    gdk_event_get_scroll_deltas ((GdkEvent *) event, &dx, &dy);
  else if (event->direction == GDK_SCROLL_UP || event->direction == GDK_SCROLL_DOWN)
    dy = event->direction == GDK_SCROLL_UP ? -1 : 1;
  else
    dx = event->direction == GDK_SCROLL_LEFT ? -1 : 1;
  if (event->state & GDK_CONTROL_MASK)
    zoom (self, x_at (self, event->x), pow (ZOOM, -CLAMP (dy, -4, 4)));
  else if ((event->state & GDK_SHIFT_MASK) || (dx != 0 && !dyno_plot_span_is_all (get_span (self))))
    pan (self, PAN * (dx != 0 ? dx : dy));
  else
    return GDK_EVENT_PROPAGATE;
  return GDK_EVENT_STOP;
}

/* A drag moves the span; while all data are shown, it selects a part of them. */
static gboolean
dyno_plot_view_button_press (GtkWidget *widget, GdkEventButton *event)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (widget);
  DynoPlotSpan all;
  if (event->button != GDK_BUTTON_PRIMARY)
    return GDK_EVENT_PROPAGATE;
  gtk_widget_grab_focus (widget);
  self->dragging = FALSE;
  int name = name_at (self, event->x, event->y, NULL);
  if (name >= 0)
    {
      if (event->type == GDK_BUTTON_PRESS)
        toggle (self, (guint) name);
      return GDK_EVENT_STOP;
    }
  if (event->type == GDK_2BUTTON_PRESS)
    ask_for (self, (DynoPlotSpan){ 0, 0 });
  else if (event->type == GDK_BUTTON_PRESS && dyno_plot_extent (&self->plot, &all))
    {
      self->dragging = TRUE;
      self->drag_from = self->drag_to = event->x;
      self->drag_span = get_span (self);
      self->drag_axis = dyno_plot_span_is_all (self->drag_span) ? all : self->drag_span;
    }
  return GDK_EVENT_STOP;
}

/* Units of x per pixel when the drag began; the axis has the width of the widget less the margins
 * beside it. */
static double
get_scale (DynoPlotView *self)
{
  double wide = gtk_widget_get_allocated_width (GTK_WIDGET (self)) - self->plot.label_width - 33;
  return (self->drag_axis.x1 - self->drag_axis.x0) / MAX (wide, 1);
}

static void
drag_to (DynoPlotView *self, double pixel)
{
  DynoPlotSpan all;
  self->drag_to = pixel;
  if (dyno_plot_span_is_all (self->drag_span))
    gtk_widget_queue_draw (GTK_WIDGET (self));
  else if (dyno_plot_extent (&self->plot, &all))
    ask_for (self, dyno_plot_span_pan (self->drag_span, all,
                                       (self->drag_from - pixel) * get_scale (self)
                                           / (self->drag_span.x1 - self->drag_span.x0)));
}

static gboolean
dyno_plot_view_button_release (GtkWidget *widget, GdkEventButton *event)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (widget);
  if (event->button != GDK_BUTTON_PRIMARY || !self->dragging)
    return GDK_EVENT_PROPAGATE;
  self->dragging = FALSE;
  if (dyno_plot_span_is_all (self->drag_span)
      && fabs (self->drag_to - self->drag_from) >= LEAST_DRAG)
    {
      double width = gtk_widget_get_allocated_width (widget), least = self->plot.label_width + 17;
      double a = x_at (self, CLAMP (MIN (self->drag_from, self->drag_to), least, width - 17)),
             b = x_at (self, CLAMP (MAX (self->drag_from, self->drag_to), least, width - 17));
      if (isfinite (a) && isfinite (b) && b - a >= get_least (self, self->drag_axis))
        ask_for (self, (DynoPlotSpan){ a, b });
    }
  gtk_widget_queue_draw (widget);
  return GDK_EVENT_STOP;
}

static void
show_hand (DynoPlotView *self, gboolean hand)
{
  GdkWindow *window = gtk_widget_get_window (GTK_WIDGET (self));
  if (self->hand == hand || !window)
    return;
  self->hand = hand;
  g_autoptr (GdkCursor) cursor =
      hand ? gdk_cursor_new_from_name (gdk_window_get_display (window), "pointer") : NULL;
  gdk_window_set_cursor (window, cursor);
}

static gboolean
dyno_plot_view_motion (GtkWidget *widget, GdkEventMotion *event)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (widget);
  if (self->dragging)
    drag_to (self, event->x);
  gboolean named = !self->dragging && name_at (self, event->x, event->y, NULL) >= 0;
  show_hand (self, named);
  /* Over a name there is no read-out, which the name's tooltip would cover. */
  g_signal_emit (self, signals[CURSOR], 0, named ? (double) NAN : x_at (self, event->x));
  return GDK_EVENT_PROPAGATE;
}

static gboolean
dyno_plot_view_leave (GtkWidget *widget, GdkEventCrossing *event)
{
  if (event->mode == GDK_CROSSING_NORMAL)
    g_signal_emit (widget, signals[CURSOR], 0, (double) NAN);
  return GDK_EVENT_PROPAGATE;
}

/* The read-out with the keyboard: arrows by a hundredth of the view, Home, End, Escape.  The span
 * follows the read-out. */
static gboolean
move_cursor (DynoPlotView *self, guint key)
{
  DynoPlotSpan all, span = get_span (self);
  double x = self->plot.cursor_x;
  if (!dyno_plot_extent (&self->plot, &all))
    return FALSE;
  if (dyno_plot_span_is_all (span))
    span = all;
  double step = (span.x1 - span.x0) / 100;
  if (self->plot.x_whole)
    step = MAX (round (step), 1);
  if (key == GDK_KEY_Left)
    x = isnan (x) ? span.x1 : MAX (x - step, all.x0);
  else if (key == GDK_KEY_Right)
    x = isnan (x) ? span.x0 : MIN (x + step, all.x1);
  else if (key == GDK_KEY_Escape && isnan (x))
    return FALSE;
  else
    x = key == GDK_KEY_Home ? all.x0 : key == GDK_KEY_End ? all.x1 : (double) NAN;
  if (x < span.x0 || x > span.x1)
    ask_for (self, dyno_plot_span_pan (
                       span, all, (x - (x < span.x0 ? span.x0 : span.x1)) / (span.x1 - span.x0)));
  g_signal_emit (self, signals[CURSOR], 0, x);
  return TRUE;
}

static gboolean
dyno_plot_view_key (GtkWidget *widget, GdkEventKey *event)
{
  DynoPlotView *self = DYNO_PLOT_VIEW (widget);
  double middle = self->plot.cursor_x;
  if (event->state & (GDK_CONTROL_MASK | GDK_MOD1_MASK))
    return GDK_EVENT_PROPAGATE;
  switch (event->keyval)
    {
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add:
      zoom (self, middle, ZOOM);
      return GDK_EVENT_STOP;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract:
      zoom (self, middle, 1 / ZOOM);
      return GDK_EVENT_STOP;
    case GDK_KEY_0:
    case GDK_KEY_KP_0:
      ask_for (self, (DynoPlotSpan){ 0, 0 });
      return GDK_EVENT_STOP;
    case GDK_KEY_1:
    case GDK_KEY_2:
    case GDK_KEY_3:
    case GDK_KEY_4:
    case GDK_KEY_5:
    case GDK_KEY_6:
    case GDK_KEY_7:
    case GDK_KEY_8:
    case GDK_KEY_9:
      return toggle_named (self, event->keyval - GDK_KEY_1) ? GDK_EVENT_STOP : GDK_EVENT_PROPAGATE;
    case GDK_KEY_m:
      g_signal_emit (self, signals[MAXIMIZE], 0);
      return GDK_EVENT_STOP;
    case GDK_KEY_Left:
    case GDK_KEY_Right:
      if (event->state & GDK_SHIFT_MASK)
        {
          pan (self, event->keyval == GDK_KEY_Left ? -PAN : PAN);
          return GDK_EVENT_STOP;
        }
      G_GNUC_FALLTHROUGH;
    case GDK_KEY_Home:
    case GDK_KEY_End:
    case GDK_KEY_Escape:
      return move_cursor (self, event->keyval) ? GDK_EVENT_STOP : GDK_EVENT_PROPAGATE;
    default: /* the keys of every widget: Shift+F10 and Menu */
      return GTK_WIDGET_CLASS (dyno_plot_view_parent_class)->key_press_event (widget, event);
    }
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
  widget_class->get_request_mode = dyno_plot_view_request_mode;
  widget_class->get_preferred_height = dyno_plot_view_preferred_height;
  widget_class->get_preferred_height_for_width = dyno_plot_view_preferred_height_for_width;
  widget_class->query_tooltip = dyno_plot_view_query_tooltip;
  widget_class->motion_notify_event = dyno_plot_view_motion;
  widget_class->leave_notify_event = dyno_plot_view_leave;
  widget_class->key_press_event = dyno_plot_view_key;
  widget_class->scroll_event = dyno_plot_view_scroll;
  widget_class->button_press_event = dyno_plot_view_button_press;
  widget_class->button_release_event = dyno_plot_view_button_release;
  gtk_widget_class_set_accessible_type (widget_class, plot_accessible_get_type ());
  gtk_widget_class_set_accessible_role (widget_class, ATK_ROLE_CHART);
  signals[CURSOR] = g_signal_new ("cursor", DYNO_TYPE_PLOT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 1, G_TYPE_DOUBLE);
  signals[SPAN] = g_signal_new ("span", DYNO_TYPE_PLOT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 2, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
  signals[MAXIMIZE] = g_signal_new ("maximize", DYNO_TYPE_PLOT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);
}

static void
dyno_plot_view_init (DynoPlotView *self)
{
  self->plot.lines = self->lines;
  self->plot.y_limit = NAN;
  self->plot.cursor_x = NAN;
  self->plot.x_whole = TRUE; /* steps */
  /* Translators: before a value of a smoothed line: "Training 0.532, smoothed 0.541" */
  self->plot.smoothed_word = _ ("smoothed");
  gtk_widget_set_can_focus (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE); /* of names that are cut */
  gtk_widget_add_events (GTK_WIDGET (self), GDK_POINTER_MOTION_MASK | GDK_LEAVE_NOTIFY_MASK
                                                | GDK_BUTTON_PRESS_MASK | GDK_BUTTON_RELEASE_MASK
                                                | GDK_SCROLL_MASK | GDK_SMOOTH_SCROLL_MASK);
}
