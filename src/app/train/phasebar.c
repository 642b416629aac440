/* SPDX-License-Identifier: MIT */
/* Phases that take no time, or were not measured, are left out of bar and legend.  The legend's
 * labels are kept, so that nothing moves while numbers change.  Each phase looks different: idling
 * is hatched in every theme, and in high-contrast themes each phase has its own hatch besides its
 * colour. */
#include "phasebar.h"
#include "format.h"
#include "row.h"
#include "plot/theme.h"
#include <glib/gi18n.h>
#include <math.h>

#define N_PHASES 9
#define IDLE     (N_PHASES - 1)
#define LEAST    0.0005 /* share of a step from which on a phase is shown */
#define HATCH    5      /* pixels from line to line */
#define SWATCH   12

struct _DynoPhaseBar {
  GtkBox parent_instance;
  GtkWidget *bar, *legend, *labels[N_PHASES];
  double ms[N_PHASES], sum;
};

G_DEFINE_FINAL_TYPE (DynoPhaseBar, dyno_phase_bar, GTK_TYPE_BOX)

static const char *
name_phase (guint phase)
{
  static const char *const names[N_PHASES] = {
    N_ ("Wait for data"), N_ ("Copy"),       N_ ("Forward"), N_ ("Backward"), N_ ("Optimizer"),
    N_ ("Exchange"),      N_ ("Validation"), N_ ("Saving"),  N_ ("Idle"),
  };
  return _ (names[phase]);
}

/* Waiting is orange, computing is blue and violet, and idling has the colour of faint text. */
static DynoColour
colour_phase (const DynoPlotTheme *theme, guint phase)
{
  static const guint lines[N_PHASES] = { 1, 5, 0, 3, 4, 7, 2, 6, 7 };
  return phase == IDLE ? theme->muted : theme->lines[lines[phase]];
}

/* The lines of a hatch, HATCH pixels apart. */
enum { SOLID = 0, RISING = 1, FALLING = 2, UPRIGHT = 4, LEVEL = 8 };

static guint
hatch_phase (const DynoPlotTheme *theme, guint phase)
{
  static const guint hatches[N_PHASES] = {
    RISING,           LEVEL,  SOLID, FALLING, UPRIGHT, RISING | FALLING, UPRIGHT | LEVEL,
    UPRIGHT | RISING, RISING,
  };
  return phase == IDLE || theme->dashed ? hatches[phase] : SOLID;
}

static void
draw_hatch (cairo_t *cr, guint hatch, double x, double width, double height)
{
  for (double at = x - fmod (x, HATCH) - height; at < x + width + height; at += HATCH)
    {
      if (hatch & RISING)
        cairo_move_to (cr, at, height), cairo_line_to (cr, at + height, 0);
      if (hatch & FALLING)
        cairo_move_to (cr, at, 0), cairo_line_to (cr, at + height, height);
      if (hatch & UPRIGHT)
        cairo_move_to (cr, at, 0), cairo_line_to (cr, at, height);
    }
  for (double at = HATCH / 2; hatch & LEVEL && at < height; at += HATCH)
    cairo_move_to (cr, x, at), cairo_line_to (cr, x + width, at);
}

/* Draws a part of the bar, or a swatch of the legend.  Idling is a hatch over a faint fill. */
static void
draw_phase (cairo_t *cr, const DynoPlotTheme *theme, guint phase, double x, double width,
            double height)
{
  DynoColour colour = colour_phase (theme, phase);
  const DynoColour *line = phase == IDLE ? &colour : &theme->background;
  guint hatch = hatch_phase (theme, phase);
  cairo_save (cr);
  cairo_rectangle (cr, x, 0, width, height);
  cairo_clip (cr);
  cairo_set_source_rgba (cr, colour.red, colour.green, colour.blue, phase == IDLE ? 0.2 : 1);
  cairo_paint (cr);
  cairo_set_source_rgba (cr, line->red, line->green, line->blue, 1);
  cairo_set_line_width (cr, 1.25);
  if (hatch)
    draw_hatch (cr, hatch, x, width, height);
  cairo_stroke (cr);
  cairo_restore (cr);
}

static gboolean
is_shown (DynoPhaseBar *self, guint phase)
{
  return self->sum > 0 && self->ms[phase] >= LEAST * self->sum;
}

static gboolean
draw_bar (GtkWidget *bar, cairo_t *cr, DynoPhaseBar *self)
{
  const DynoPlotTheme *theme = dyno_plot_theme_for_widget (bar);
  double width = gtk_widget_get_allocated_width (bar),
         height = gtk_widget_get_allocated_height (bar), radius = height / 2, x = 0;
  cairo_arc (cr, width - radius, radius, radius, -G_PI_2, G_PI_2);
  cairo_arc (cr, radius, radius, radius, G_PI_2, 3 * G_PI_2);
  cairo_close_path (cr);
  cairo_clip (cr);
  cairo_set_source_rgba (cr, theme->muted.red, theme->muted.green, theme->muted.blue, 0.15);
  cairo_paint (cr);
  if (gtk_widget_get_direction (bar) == GTK_TEXT_DIR_RTL)
    {
      cairo_translate (cr, width, 0);
      cairo_scale (cr, -1, 1);
    }
  for (guint i = 0; i < N_PHASES; i++)
    {
      double part = is_shown (self, i) ? width * self->ms[i] / self->sum : 0;
      if (part <= 0)
        continue;
      draw_phase (cr, theme, i, x, MAX (part - (part > 3 ? 1 : 0), 1), height);
      x += part;
    }
  return GDK_EVENT_STOP;
}

static gboolean
draw_swatch (GtkWidget *swatch, cairo_t *cr, gpointer phase)
{
  draw_phase (cr, dyno_plot_theme_for_widget (swatch), GPOINTER_TO_UINT (phase), 0,
              gtk_widget_get_allocated_width (swatch), gtk_widget_get_allocated_height (swatch));
  return GDK_EVENT_STOP;
}

static void
show_label (DynoPhaseBar *self, guint phase)
{
  g_autofree char *time = dyno_format_ms (self->ms[phase]),
                  *share = dyno_format_percent (self->ms[phase] / self->sum);
  g_autofree char *markup =
      g_markup_printf_escaped ("%s  <b>%s</b>  %s", name_phase (phase), share, time);
  gtk_label_set_markup (GTK_LABEL (self->labels[phase]), markup);
}

void
dyno_phase_bar_show (DynoPhaseBar *self, const DynoPhases *p)
{
  const double ms[N_PHASES] = { p->wait_data_ms,  p->copy_ms,      p->forward_ms,
                                p->backward_ms,   p->optimizer_ms, p->exchange_ms,
                                p->validation_ms, p->saving_ms,    p->idle_ms };
  g_autoptr (GString) words = g_string_new (NULL);
  self->sum = 0;
  for (guint i = 0; i < N_PHASES; i++)
    {
      self->ms[i] = isfinite (ms[i]) && ms[i] > 0 ? ms[i] : 0;
      self->sum += self->ms[i];
    }
  for (guint i = 0; i < N_PHASES; i++)
    {
      gboolean shown = is_shown (self, i);
      if (shown)
        {
          show_label (self, i);
          g_string_append_printf (words, "%s%s", words->len > 0 ? "\n" : "",
                                  gtk_label_get_text (GTK_LABEL (self->labels[i])));
        }
      gtk_widget_set_visible (gtk_widget_get_ancestor (self->labels[i], GTK_TYPE_FLOW_BOX_CHILD),
                              shown);
    }
  atk_object_set_description (gtk_widget_get_accessible (self->bar), words->str);
  gtk_widget_queue_draw (self->bar);
}

GtkWidget *
dyno_phase_bar_new (void)
{
  return g_object_new (DYNO_TYPE_PHASE_BAR, "orientation", GTK_ORIENTATION_VERTICAL, "spacing", 8,
                       "visible", TRUE, NULL);
}

static void
dyno_phase_bar_class_init (DynoPhaseBarClass *class)
{
}

static void
dyno_phase_bar_init (DynoPhaseBar *self)
{
  self->bar = gtk_drawing_area_new ();
  gtk_widget_set_size_request (self->bar, 120, 14);
  dyno_widget_set_accessible_name (self->bar, _ ("Time of a step by phase"));
  g_signal_connect (self->bar, "draw", G_CALLBACK (draw_bar), self);
  self->legend = gtk_flow_box_new ();
  gtk_flow_box_set_selection_mode (GTK_FLOW_BOX (self->legend), GTK_SELECTION_NONE);
  gtk_flow_box_set_max_children_per_line (GTK_FLOW_BOX (self->legend), N_PHASES);
  gtk_flow_box_set_column_spacing (GTK_FLOW_BOX (self->legend), 14);
  dyno_widget_set_accessible_name (self->legend, _ ("Phases of a step"));
  for (guint i = 0; i < N_PHASES; i++)
    {
      GtkWidget *child = gtk_flow_box_child_new (),
                *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
      GtkWidget *swatch = gtk_drawing_area_new ();
      gtk_widget_set_size_request (swatch, SWATCH, SWATCH);
      gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
      g_signal_connect (swatch, "draw", G_CALLBACK (draw_swatch), GUINT_TO_POINTER (i));
      self->labels[i] = gtk_label_new (NULL);
      gtk_label_set_xalign (GTK_LABEL (self->labels[i]), 0);
      dyno_widget_add_class (self->labels[i], "numeric", TRUE);
      dyno_widget_add_class (self->labels[i], "phase", TRUE);
      gtk_widget_set_can_focus (child, FALSE);
      gtk_container_add (GTK_CONTAINER (box), swatch);
      gtk_container_add (GTK_CONTAINER (box), self->labels[i]);
      gtk_widget_show_all (box);
      gtk_container_add (GTK_CONTAINER (child), box);
      gtk_container_add (GTK_CONTAINER (self->legend), child);
    }
  gtk_widget_show (self->bar);
  gtk_widget_show (self->legend);
  gtk_container_add (GTK_CONTAINER (self), self->bar);
  gtk_container_add (GTK_CONTAINER (self), self->legend);
}
