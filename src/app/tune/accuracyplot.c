/* SPDX-License-Identifier: MIT */
/* Curves are the rows in their order.  Up and Down go through the trials by their values, Home goes
 * to the best, Escape ends the highlight. */
#include "accuracyplot.h"
#include "accuracywords.h"
#include "parallelplot.h"
#include "row.h"
#include "words.h"
#include "plot/theme.h"
#include <glib/gi18n.h>
#include <math.h>

#define MOST_AXES (DYNO_PARAMS_MOST + 1)

typedef struct {
  DynoSettings settings;
  double places[MOST_AXES];
} Curve;

struct _DynoAccuracyPlot {
  GtkDrawingArea parent_instance;
  DynoParamSpace space;
  DynoMetricInfo metric;
  guint n_axes;
  DynoParallelAxis axes[MOST_AXES];
  GArray *ticks;      /* DynoParallelTick: the ticks of all axes */
  GPtrArray *strings; /* titles and labels */
  GArray *curves;     /* Curve */
  GArray *rows;       /* DynoAccuracyRow, with pointers into curves */
  GArray *drawn;      /* DynoParallelCurve, with pointers into curves */
  int best, own, pointed;
  gboolean has_failed;
};

enum { POINTED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoAccuracyPlot, dyno_accuracy_plot, GTK_TYPE_DRAWING_AREA)

static const DynoAccuracyRow *
get_row (DynoAccuracyPlot *self, guint curve)
{
  return &g_array_index (self->rows, DynoAccuracyRow, curve);
}

/* The trial of a curve; -1: no curve. */
static int
get_trial (DynoAccuracyPlot *self, int curve)
{
  return curve >= 0 ? (int) get_row (self, (guint) curve)->trial : -1;
}

/* The trial in words.  g_free. */
static char *
describe_curve (DynoAccuracyPlot *self, guint i)
{
  return dyno_accuracy_words_row (&self->space, &self->metric, get_row (self, i));
}

static int
find_curve (DynoAccuracyPlot *self, int trial)
{
  for (guint i = 0; i < self->rows->len; i++)
    if ((int) get_row (self, i)->trial == trial)
      return (int) i;
  return -1;
}

static DynoParallel
get_plot (DynoAccuracyPlot *self)
{
  return (DynoParallel){
    .axes = self->axes,
    .n_axes = self->n_axes,
    .curves = (const DynoParallelCurve *) self->drawn->data,
    .n_curves = self->drawn->len,
    .best = self->best,
    .own = self->own,
    .pointed = self->pointed,
    /* The accent is from the other end of the colour scale, so that it stands out from the blue of
     * good curves. */
    .accent = dyno_plot_theme_for_widget (GTK_WIDGET (self))->lines[1],
    .best_name = self->best < 0            ? NULL
                 : self->best == self->own ? _ ("Your settings, the best")
                                           : _ ("Best"),
    .own_name = self->own >= 0 && self->own != self->best ? _ ("Your settings") : NULL,
    .failed_name = self->has_failed ? _ ("Failed") : NULL,
    .worse_name = self->drawn->len > 2 ? _ ("worse") : NULL,
    .better_name = self->drawn->len > 2 ? _ ("better") : NULL,
  };
}

/* --- contents --------------------------------------------------------------------------------- */

static const char *
keep (DynoAccuracyPlot *self, char *text)
{
  g_ptr_array_add (self->strings, text);
  return text;
}

static void
take_axes (DynoAccuracyPlot *self, const DynoMetricInfo *metric, const DynoAccuracyAxis *axes,
           guint n)
{
  guint begins[MOST_AXES];
  self->n_axes = n;
  for (guint i = 0; i < n; i++)
    {
      const DynoAccuracyAxis *axis = &axes[i];
      gboolean choice = axis->param && axis->param->kind == DYNO_PARAM_CHOICE;
      begins[i] = self->ticks->len;
      for (guint k = 0; k < axis->n_ticks; k++)
        {
          const char *label = axis->ticks[k].label;
          DynoParallelTick tick = { axis->ticks[k].at,
                                    keep (self, choice ? dyno_accuracy_words_choice (label)
                                                       : g_strdup (label)) };
          g_array_append_val (self->ticks, tick);
        }
      self->axes[i] = (DynoParallelAxis){
        .title = keep (self, axis->param ? g_strdup (dyno_accuracy_get_title (axis->param))
                                         : dyno_accuracy_words_metric (metric)),
        .n_ticks = axis->n_ticks,
        .has_none = axis->has_none,
      };
    }
  for (guint i = 0; i < n; i++)
    self->axes[i].ticks = &g_array_index (self->ticks, DynoParallelTick, begins[i]);
}

static void
take_rows (DynoAccuracyPlot *self, const DynoParamSpace *space, const DynoMetricInfo *metric,
           const DynoAccuracyAxis *axes, const GArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const DynoAccuracyRow *row = &g_array_index (rows, DynoAccuracyRow, i);
      Curve curve = { .settings = *row->settings };
      dyno_accuracy_place_row (axes, space, metric, row, curve.places);
      g_array_append_val (self->curves, curve);
    }
  for (guint i = 0; i < rows->len; i++)
    {
      DynoAccuracyRow row = g_array_index (rows, DynoAccuracyRow, i);
      const Curve *curve = &g_array_index (self->curves, Curve, i);
      gboolean failed =
          row.state == DYNO_ACCURACY_STATE_DIVERGED || row.state == DYNO_ACCURACY_STATE_FAILED;
      DynoParallelCurve drawn = { curve->places, row.goodness, failed };
      row.settings = &curve->settings;
      g_array_append_val (self->rows, row);
      g_array_append_val (self->drawn, drawn);
      self->has_failed = self->has_failed || failed;
    }
}

/* Describes the drawing for screen readers: the highlighted trial, else the best. */
static void
describe (DynoAccuracyPlot *self)
{
  int shown = self->pointed >= 0 ? self->pointed : self->best;
  g_autofree char *text = shown >= 0 ? describe_curve (self, (guint) shown) : g_strdup (""),
                  *all = NULL;
  if (self->rows->len > 0)
    all = g_strdup_printf (ngettext ("%u trial. %s", "%u trials. %s", self->rows->len),
                           self->rows->len, text);
  atk_object_set_description (gtk_widget_get_accessible (GTK_WIDGET (self)), all ? all : "");
}

void
dyno_accuracy_plot_set_rows (DynoAccuracyPlot *self, const DynoParamSpace *space,
                             const DynoMetricInfo *metric, const GArray *rows, int best)
{
  int pointed = get_trial (self, self->pointed);
  guint n_before = self->n_axes;
  g_autofree DynoAccuracyAxis *axes = g_new (DynoAccuracyAxis, MOST_AXES);
  g_array_set_size (self->drawn, 0);
  g_array_set_size (self->rows, 0);
  g_array_set_size (self->curves, 0);
  g_array_set_size (self->ticks, 0);
  g_ptr_array_set_size (self->strings, 0);
  self->n_axes = 0;
  self->has_failed = FALSE;
  if (rows)
    {
      self->space = *space;
      self->metric = *metric;
      dyno_accuracy_fill_axes (axes, space, metric, rows);
      take_axes (self, metric, axes, space->n + 1);
      take_rows (self, space, metric, axes, rows);
    }
  self->best = find_curve (self, best);
  self->own = find_curve (self, 0);
  self->pointed = find_curve (self, pointed);
  describe (self);
  if (n_before != self->n_axes)
    gtk_widget_queue_resize (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- singling out ----------------------------------------------------------------------------- */

static void
set_pointed (DynoAccuracyPlot *self, int curve, gboolean by_user)
{
  if (curve == self->pointed)
    return;
  self->pointed = curve;
  describe (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (by_user)
    g_signal_emit (self, signals[POINTED], 0, get_trial (self, curve));
}

void
dyno_accuracy_plot_point (DynoAccuracyPlot *self, int trial)
{
  set_pointed (self, find_curve (self, trial), FALSE);
}

static void
point_to_rank (DynoAccuracyPlot *self, guint rank)
{
  set_pointed (self, dyno_accuracy_find_rank (self->rows, rank), TRUE);
}

static gboolean
dyno_accuracy_plot_key_press (GtkWidget *widget, GdkEventKey *event)
{
  DynoAccuracyPlot *self = DYNO_ACCURACY_PLOT (widget);
  guint n = self->rows->len,
        rank = self->pointed >= 0 ? dyno_accuracy_get_rank (self->rows, (guint) self->pointed) : 0;
  switch (event->keyval)
    {
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
      if (self->pointed >= 0 && rank == 0)
        return GDK_EVENT_STOP;
      point_to_rank (self, self->pointed < 0 ? 0 : rank - 1);
      return GDK_EVENT_STOP;
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      if (self->pointed >= 0 && rank + 1 >= n)
        return GDK_EVENT_STOP;
      point_to_rank (self, self->pointed < 0 ? 0 : rank + 1);
      return GDK_EVENT_STOP;
    case GDK_KEY_Home:
    case GDK_KEY_KP_Home:
      point_to_rank (self, 0);
      return GDK_EVENT_STOP;
    case GDK_KEY_Escape:
      if (self->pointed < 0)
        break;
      set_pointed (self, -1, TRUE);
      return GDK_EVENT_STOP;
    default:
      break;
    }
  return GTK_WIDGET_CLASS (dyno_accuracy_plot_parent_class)->key_press_event (widget, event);
}

static int
curve_at (DynoAccuracyPlot *self, double x, double y)
{
  GtkWidget *widget = GTK_WIDGET (self);
  DynoParallel plot = get_plot (self);
  return dyno_parallel_curve_at (&plot, dyno_plot_theme_for_widget (widget),
                                 gtk_widget_get_allocated_width (widget),
                                 gtk_widget_get_allocated_height (widget), x, y);
}

static gboolean
dyno_accuracy_plot_motion (GtkWidget *widget, GdkEventMotion *event)
{
  DynoAccuracyPlot *self = DYNO_ACCURACY_PLOT (widget);
  set_pointed (self, curve_at (self, event->x, event->y), TRUE);
  return GDK_EVENT_PROPAGATE;
}

static gboolean
dyno_accuracy_plot_leave (GtkWidget *widget, GdkEventCrossing *event)
{
  if (!gtk_widget_has_focus (widget))
    set_pointed (DYNO_ACCURACY_PLOT (widget), -1, TRUE);
  return GDK_EVENT_PROPAGATE;
}

static gboolean
dyno_accuracy_plot_button_press (GtkWidget *widget, GdkEventButton *event)
{
  gtk_widget_grab_focus (widget);
  return GDK_EVENT_PROPAGATE;
}

static gboolean
query_tooltip (DynoAccuracyPlot *self, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  int curve = keyboard ? self->pointed : curve_at (self, x, y);
  if (curve < 0)
    return FALSE;
  g_autofree char *text = describe_curve (self, (guint) curve);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* --- the widget ------------------------------------------------------------------------------- */

static gboolean
dyno_accuracy_plot_draw (GtkWidget *widget, cairo_t *cr)
{
  DynoAccuracyPlot *self = DYNO_ACCURACY_PLOT (widget);
  int width = gtk_widget_get_allocated_width (widget),
      height = gtk_widget_get_allocated_height (widget);
  DynoParallel plot = get_plot (self);
  dyno_parallel_draw (cr, &plot, dyno_plot_theme_for_widget (widget), width, height,
                      gtk_widget_get_scale_factor (widget));
  if (gtk_widget_has_visible_focus (widget))
    gtk_render_focus (gtk_widget_get_style_context (widget), cr, 2, 2, width - 4, height - 4);
  return GDK_EVENT_PROPAGATE;
}

static GtkSizeRequestMode
dyno_accuracy_plot_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
dyno_accuracy_plot_get_preferred_width (GtkWidget *widget, int *least, int *natural)
{
  *least = 240;
  *natural = 600;
}

static void
dyno_accuracy_plot_get_preferred_height_for_width (GtkWidget *widget, int width, int *least,
                                                   int *natural)
{
  DynoAccuracyPlot *self = DYNO_ACCURACY_PLOT (widget);
  DynoParallel plot = get_plot (self);
  *least = *natural =
      self->n_axes > 0
          ? (int) dyno_parallel_height (&plot, dyno_plot_theme_for_widget (widget), width)
          : 200;
}

static void
dyno_accuracy_plot_get_preferred_height (GtkWidget *widget, int *least, int *natural)
{
  dyno_accuracy_plot_get_preferred_height_for_width (widget, 600, least, natural);
}

static void
dyno_accuracy_plot_finalize (GObject *object)
{
  DynoAccuracyPlot *self = DYNO_ACCURACY_PLOT (object);
  g_array_unref (self->drawn);
  g_array_unref (self->rows);
  g_array_unref (self->curves);
  g_array_unref (self->ticks);
  g_ptr_array_unref (self->strings);
  G_OBJECT_CLASS (dyno_accuracy_plot_parent_class)->finalize (object);
}

static void
dyno_accuracy_plot_class_init (DynoAccuracyPlotClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = dyno_accuracy_plot_finalize;
  widget_class->draw = dyno_accuracy_plot_draw;
  widget_class->get_request_mode = dyno_accuracy_plot_get_request_mode;
  widget_class->get_preferred_width = dyno_accuracy_plot_get_preferred_width;
  widget_class->get_preferred_height = dyno_accuracy_plot_get_preferred_height;
  widget_class->get_preferred_height_for_width = dyno_accuracy_plot_get_preferred_height_for_width;
  widget_class->key_press_event = dyno_accuracy_plot_key_press;
  widget_class->motion_notify_event = dyno_accuracy_plot_motion;
  widget_class->leave_notify_event = dyno_accuracy_plot_leave;
  widget_class->button_press_event = dyno_accuracy_plot_button_press;
  gtk_widget_class_set_accessible_role (widget_class, ATK_ROLE_CHART);
  signals[POINTED] = g_signal_new ("pointed", DYNO_TYPE_ACCURACY_PLOT, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 1, G_TYPE_INT);
}

static void
dyno_accuracy_plot_init (DynoAccuracyPlot *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  self->ticks = g_array_new (FALSE, FALSE, sizeof (DynoParallelTick));
  self->strings = g_ptr_array_new_with_free_func (g_free);
  self->curves = g_array_new (FALSE, FALSE, sizeof (Curve));
  self->drawn = g_array_new (FALSE, FALSE, sizeof (DynoParallelCurve));
  self->rows = g_array_new (FALSE, FALSE, sizeof (DynoAccuracyRow));
  self->best = self->own = self->pointed = -1;
  gtk_widget_set_can_focus (widget, TRUE);
  gtk_widget_set_has_tooltip (widget, TRUE);
  gtk_widget_add_events (widget, GDK_POINTER_MOTION_MASK | GDK_LEAVE_NOTIFY_MASK
                                     | GDK_BUTTON_PRESS_MASK | GDK_KEY_PRESS_MASK);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (query_tooltip), NULL);
  dyno_widget_set_accessible_name (widget, _ ("Settings and values of the trials"));
}
