/* SPDX-License-Identifier: MIT */
/* The VRAM bar.  Its full width is the larger of the budget and the device's memory, or the need
 * when that is larger still.  The smaller of budget and device memory is the limit, which a line
 * marks; the range up to the larger one is hatched in grey, and a need beyond the limit is hatched
 * in the theme's error colour.  The old plan stays until the new one is ready, so that the bar
 * never flickers while the user types. */
#include "vrambar.h"
#include "format.h"
#include "row.h"
#include "words.h"
#include "plot/theme.h"
#include <glib/gi18n.h>
#include <math.h>

struct _DynoVramBar {
  GtkBox parent_instance;
  GtkWidget *value, *bar, *limits, *estimate, *legend, *advice_box, *advice, *fix;
  DynoSetup *setup;
};

G_DEFINE_FINAL_TYPE (DynoVramBar, dyno_vram_bar, GTK_TYPE_BOX)

static void
round_rectangle (cairo_t *cr, double x, double y, double width, double height, double radius)
{
  cairo_new_sub_path (cr);
  cairo_arc (cr, x + width - radius, y + radius, radius, -G_PI_2, 0);
  cairo_arc (cr, x + width - radius, y + height - radius, radius, 0, G_PI_2);
  cairo_arc (cr, x + radius, y + height - radius, radius, G_PI_2, G_PI);
  cairo_arc (cr, x + radius, y + radius, radius, G_PI, 3 * G_PI_2);
  cairo_close_path (cr);
}

/* Draws a line at `from`, and stripes to the right of it. */
static void
draw_hatched (cairo_t *cr, const GdkRGBA *colour, double alpha, double from, double width,
              double height)
{
  cairo_save (cr);
  cairo_rectangle (cr, from, 0, width - from, height);
  cairo_clip (cr);
  cairo_set_source_rgba (cr, colour->red, colour->green, colour->blue, 0.55 * alpha);
  cairo_paint (cr);
  cairo_set_source_rgba (cr, colour->red, colour->green, colour->blue, alpha);
  cairo_set_line_width (cr, 2);
  for (double x = from - height; x < width; x += 6)
    {
      cairo_move_to (cr, x, height);
      cairo_line_to (cr, x + height, 0);
    }
  cairo_stroke (cr);
  cairo_set_source_rgb (cr, colour->red, colour->green, colour->blue);
  cairo_rectangle (cr, from, 0, 2, height);
  cairo_fill (cr);
  cairo_restore (cr);
}

/* Whether the budget differs from the device's memory, so that both get a mark. */
static gboolean
has_two_limits (const DynoJobPlan *plan)
{
  return plan->budget_bytes > 0 && plan->device_bytes > 0
         && plan->budget_bytes != plan->device_bytes;
}

static gboolean
draw_bar (GtkWidget *bar, cairo_t *cr, DynoVramBar *self)
{
  const DynoJobPlan *plan = dyno_setup_get_plan (self->setup);
  const DynoPlotTheme *theme = dyno_plot_theme_for_widget (bar);
  double width = gtk_widget_get_allocated_width (bar),
         height = gtk_widget_get_allocated_height (bar);
  GdkRGBA text, red;
  gtk_style_context_get_color (gtk_widget_get_style_context (bar), gtk_widget_get_state_flags (bar),
                               &text);
  round_rectangle (cr, 0, 0, width, height, height / 2);
  cairo_clip (cr);
  text.alpha = 0.13;
  gdk_cairo_set_source_rgba (cr, &text);
  cairo_paint (cr);
  if (!plan)
    return GDK_EVENT_STOP;
  double full = (double) MAX (MAX (plan->budget_bytes, plan->device_bytes), plan->plan.total_bytes),
         x = 0, larger = width * (double) MAX (plan->budget_bytes, plan->device_bytes) / full;
  double limit = width * (double) plan->limit_bytes / full;
  gboolean rtl = gtk_widget_get_direction (bar) == GTK_TEXT_DIR_RTL;
  if (rtl)
    {
      cairo_translate (cr, width, 0);
      cairo_scale (cr, -1, 1);
    }
  for (guint i = 0; full > 0 && i < DYNO_MEMORY_N_KINDS; i++)
    {
      double part = width * (double) plan->plan.kind_bytes[i] / full;
      const DynoColour *colour = &theme->lines[i];
      if (part <= 0)
        continue;
      cairo_set_source_rgb (cr, colour->red, colour->green, colour->blue);
      cairo_rectangle (cr, x, 0, MAX (part - (part > 3 ? 1 : 0), 1), height);
      cairo_fill (cr);
      x += part;
    }
  if (!gtk_style_context_lookup_color (gtk_widget_get_style_context (bar), "error_color", &red))
    red = (GdkRGBA){ 0.8, 0, 0, 1 };
  if (has_two_limits (plan))
    {
      draw_hatched (cr, &text, 0.3, MAX (limit, x), larger, height);
      cairo_set_source_rgb (cr, text.red, text.green, text.blue);
      cairo_rectangle (cr, MIN (larger, width - height / 2) - 2, 0, 2, height);
      cairo_fill (cr);
    }
  if (plan->limit_bytes > 0 && plan->plan.total_bytes > plan->limit_bytes)
    draw_hatched (cr, &red, 1, limit, x, height);
  return GDK_EVENT_STOP;
}

static GtkWidget *
new_legend_entry (DynoVramBar *self, DynoMemoryKind kind, guint64 bytes)
{
  const DynoColour *colour = &dyno_plot_theme_for_widget (GTK_WIDGET (self))->lines[kind];
  g_autofree char *size = dyno_format_bytes (bytes);
  g_autofree char *markup = g_markup_printf_escaped (
      "<span foreground=\"#%02x%02x%02x\">\342\227\217</span> %s  <b>%s</b>",
      (guint) (colour->red * 255), (guint) (colour->green * 255), (guint) (colour->blue * 255),
      dyno_words_memory_kind (kind), size);
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_markup (GTK_LABEL (label), markup);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  dyno_widget_add_class (label, "caption", TRUE);
  dyno_widget_add_class (label, "numeric", TRUE);
  gtk_widget_show (label);
  return label;
}

static void
fill_legend (DynoVramBar *self, const DynoJobPlan *plan)
{
  int n = 0;
  dyno_widget_clear (self->legend);
  for (guint i = 0; plan && i < DYNO_MEMORY_N_KINDS; i++)
    {
      if (plan->plan.kind_bytes[i] == 0)
        continue;
      gtk_grid_attach (GTK_GRID (self->legend),
                       new_legend_entry (self, i, plan->plan.kind_bytes[i]), n % 2, n / 2, 1, 1);
      n++;
    }
}

/* "560 steps, about 2:10, 1.2 MiB on disk"; without the time where no similar run was measured. */
static void
show_estimate (DynoVramBar *self)
{
  const DynoRunEstimate *e = dyno_setup_get_estimate (self->setup);
  g_autofree char *text = NULL;
  if (e && e->steps > 0)
    {
      g_autofree char *count = dyno_format_count (e->steps);
      g_autofree char *steps =
          g_strdup_printf (ngettext ("%s step", "%s steps", (gulong) e->steps), count);
      g_autofree char *disk = dyno_format_bytes (e->disk_bytes);
      g_autofree char *span = dyno_format_span (e->total_seconds);
      /* Translators: steps ("560 steps"), a time, a size */
      text = isfinite (e->total_seconds)
                 ? g_strdup_printf (_ ("%s, about %s, %s on disk"), steps, span, disk)
                 : g_strdup_printf (_ ("%s, %s on disk"), steps, disk);
    }
  gtk_label_set_text (GTK_LABEL (self->estimate), text ? text : "");
  gtk_widget_set_visible (self->estimate, text != NULL);
}

/* The batch size to offer; 0: none. */
static gint64
get_better_batch (DynoVramBar *self)
{
  const DynoJobPlan *plan = dyno_setup_get_plan (self->setup);
  return plan ? dyno_words_better_batch (&dyno_setup_get_job (self->setup)->settings, plan) : 0;
}

static void
show_plan (DynoVramBar *self)
{
  const DynoJobPlan *plan = dyno_setup_get_plan (self->setup);
  const char *advice = dyno_setup_get_advice (self->setup);
  DynoUsedDevices used = dyno_setup_get_used_devices (self->setup);
  gboolean over = plan && !plan->fits;
  g_autofree char *text = NULL;
  if (plan)
    {
      g_autofree char *need = dyno_format_bytes (plan->plan.total_bytes),
                      *budget = dyno_format_bytes (plan->limit_bytes);
      text = dyno_used_devices_count (&used) > 1
                 /* Translators: memory needed on each device, memory there is */
                 ? g_strdup_printf (_ ("%s of %s each"), need, budget)
                 /* Translators: memory needed, memory there is: "1.9 GiB of 12 GiB" */
                 : g_strdup_printf (_ ("%s of %s"), need, budget);
    }
  gtk_label_set_text (GTK_LABEL (self->value), text ? text : "\342\200\223");
  dyno_widget_add_class (self->value, "bad", over);
  g_autofree char *limits = NULL;
  if (plan && has_two_limits (plan))
    {
      g_autofree char *asked = dyno_format_bytes (plan->budget_bytes),
                      *own = dyno_format_bytes (plan->device_bytes);
      /* Translators: memory that the preset or the setting allows, memory of the device; the
       * smaller one counts */
      limits = g_strdup_printf (plan->limit_bytes < plan->budget_bytes
                                    ? _ ("%s allowed, but this device has %s")
                                    : _ ("%s allowed, of the %s that this device has"),
                                asked, own);
    }
  gtk_label_set_text (GTK_LABEL (self->limits), limits ? limits : "");
  gtk_widget_set_visible (self->limits, limits != NULL);
  fill_legend (self, plan);
  show_estimate (self);
  gtk_label_set_text (GTK_LABEL (self->advice), advice ? advice : "");
  gtk_widget_set_visible (self->advice_box, advice != NULL);
  dyno_widget_add_class (self->advice, "bad-text", over);
  gint64 better = get_better_batch (self);
  gtk_widget_set_visible (self->fix, better > 0);
  if (better > 0)
    {
      g_autofree char *batch = dyno_format_count ((guint64) better);
      g_autofree char *label = g_strdup_printf (_ ("_Use Batch Size %s"), batch);
      gtk_button_set_label (GTK_BUTTON (self->fix), label);
    }
  g_autofree char *spoken =
      g_strdup_printf (_ ("Device memory needed: %s"), text ? text : _ ("not known yet"));
  dyno_widget_set_accessible_name (self->bar, spoken);
  gtk_widget_queue_draw (self->bar);
}

static void
use_fitting_batch (GtkButton *button, DynoVramBar *self)
{
  gint64 better = get_better_batch (self);
  if (better > 0)
    dyno_setup_set_number (self->setup, "batch_size", (double) better, NULL);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoVramBar *self)
{
  if (flags & (DYNO_SETUP_PLAN | DYNO_SETUP_WORK))
    show_plan (self);
}

static void
style_changed (GtkWidget *widget)
{
  DynoVramBar *self = DYNO_VRAM_BAR (widget);
  GTK_WIDGET_CLASS (dyno_vram_bar_parent_class)->style_updated (widget);
  if (self->setup)
    fill_legend (self, dyno_setup_get_plan (self->setup));
}

void
dyno_vram_bar_set_setup (DynoVramBar *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  g_signal_connect (self->bar, "draw", G_CALLBACK (draw_bar), self);
  show_plan (self);
}

static void
dyno_vram_bar_class_init (DynoVramBarClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  widget_class->style_updated = style_changed;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/vrambar.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoVramBar, value);
  gtk_widget_class_bind_template_child (widget_class, DynoVramBar, bar);
  gtk_widget_class_bind_template_child (widget_class, DynoVramBar, limits);
  gtk_widget_class_bind_template_child (widget_class, DynoVramBar, estimate);
  gtk_widget_class_bind_template_child (widget_class, DynoVramBar, legend);
  gtk_widget_class_bind_template_child (widget_class, DynoVramBar, advice_box);
  gtk_widget_class_bind_template_child (widget_class, DynoVramBar, advice);
  gtk_widget_class_bind_template_child (widget_class, DynoVramBar, fix);
  gtk_widget_class_bind_template_callback (widget_class, use_fitting_batch);
}

static void
dyno_vram_bar_init (DynoVramBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
