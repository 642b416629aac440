/* SPDX-License-Identifier: MIT */
/* The plot theme that suits a widget.  Lines come from the plot layer's light or dark theme,
 * background and text colour from the GTK theme, so that plots suit their card in any theme.  Text
 * is Pango's, which has a font for every script; its layouts are kept, since successive frames show
 * the same few dozen texts.  One thread. */
#include "theme.h"

#define MOST_LAYOUTS 512
/* Threshold for the contrast of borders and background, as a ratio of luminances: Adwaita has 1.3
 * and 1.5 (dark), HighContrast and HighContrastInverse have 2. */
#define CONTRAST 1.7

static double
get_luminance (const GdkRGBA *colour)
{
  return 0.2126 * colour->red + 0.7152 * colour->green + 0.0722 * colour->blue;
}

static DynoColour
mix (const GdkRGBA *ink, const GdkRGBA *paper, double share)
{
  return (DynoColour){ ink->red * share + paper->red * (1 - share),
                       ink->green * share + paper->green * (1 - share),
                       ink->blue * share + paper->blue * (1 - share), 1 };
}

/* Pango's resolution for this screen, which includes text scaling. */
static double
get_dpi (GtkWidget *widget)
{
  double dpi = pango_cairo_context_get_resolution (gtk_widget_get_pango_context (widget));
  return dpi > 0 ? dpi : 96;
}

/* --- text ------------------------------------------------------------------------------------- */

static PangoLayout *
find_layout (const char *family, const char *text, double size, gboolean bold)
{
  static GHashTable *layouts;
  static PangoContext *context;
  g_autofree char *key = g_strdup_printf ("%s\n%.2f\n%d\n%s", family, size, bold, text);
  PangoLayout *layout;
  if (!layouts)
    {
      context = pango_font_map_create_context (pango_cairo_font_map_get_default ());
      pango_cairo_context_set_resolution (context, 72); /* sizes are in units of the drawing */
      layouts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
    }
  if ((layout = g_hash_table_lookup (layouts, key)))
    return layout;
  if (g_hash_table_size (layouts) >= MOST_LAYOUTS)
    g_hash_table_remove_all (layouts);
  g_autoptr (PangoFontDescription) font = pango_font_description_new ();
  pango_font_description_set_family (font, family);
  pango_font_description_set_absolute_size (font, size * PANGO_SCALE);
  pango_font_description_set_weight (font, bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  layout = pango_layout_new (context);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  pango_layout_set_text (layout, text, -1);
  g_hash_table_insert (layouts, g_steal_pointer (&key), layout);
  return layout;
}

static double
draw_text (cairo_t *cr, const DynoPlotTheme *theme, const char *text, double size, gboolean bold,
           gboolean show)
{
  PangoLayout *layout = find_layout (theme->font, text, size, bold);
  int width;
  pango_layout_get_size (layout, &width, NULL);
  if (show)
    pango_cairo_show_layout_line (cr, pango_layout_get_line_readonly (layout, 0));
  return width / (double) PANGO_SCALE;
}

/* --- themes ----------------------------------------------------------------------------------- */

static void
take_font (DynoPlotTheme *theme, GtkWidget *widget)
{
  static char family[64];
  GtkStyleContext *context = gtk_widget_get_style_context (widget);
  PangoFontDescription *font = NULL;
  gtk_style_context_get (context, gtk_widget_get_state_flags (widget), "font", &font, NULL);
  if (font && pango_font_description_get_family (font))
    {
      g_strlcpy (family, pango_font_description_get_family (font), sizeof family);
      theme->font = family;
      double size = pango_font_description_get_size (font) / (double) PANGO_SCALE;
      if (!pango_font_description_get_size_is_absolute (font))
        size *= get_dpi (widget) / 72.0;
      if (size >= 6 && size <= 80)
        theme->font_size = size * 0.85;
    }
  g_clear_pointer (&font, pango_font_description_free);
  theme->text = draw_text;
}

/* Themes such as HighContrast are recognised by their colours, whatever their name. */
static gboolean
is_of_high_contrast (GtkStyleContext *context, const GdkRGBA *paper)
{
  GdkRGBA borders = *paper;
  gtk_style_context_lookup_color (context, "borders", &borders);
  double a = get_luminance (&borders), b = get_luminance (paper);
  return borders.alpha > 0.9 && (MAX (a, b) + 0.05) / (MIN (a, b) + 0.05) > CONTRAST;
}

/* Moves line colours a third of the way to the text colour, and makes lines wide, each with its own
 * dashes. */
static void
raise_contrast (DynoPlotTheme *theme, const GdkRGBA *ink, const GdkRGBA *paper)
{
  for (guint i = 0; i < G_N_ELEMENTS (theme->lines); i++)
    {
      DynoColour *c = &theme->lines[i];
      c->red = c->red * 0.65 + ink->red * 0.35;
      c->green = c->green * 0.65 + ink->green * 0.35;
      c->blue = c->blue * 0.65 + ink->blue * 0.35;
    }
  theme->muted = mix (ink, paper, 1);
  theme->grid = mix (ink, paper, 0.35);
  theme->line_width = 2.5;
  theme->dashed = TRUE;
}

const DynoPlotTheme *
dyno_plot_theme_for_widget (GtkWidget *widget)
{
  static DynoPlotTheme theme;
  GtkStyleContext *context = gtk_widget_get_style_context (widget);
  GdkRGBA paper = { 1, 1, 1, 1 }, ink = { 0, 0, 0, 1 };
  gtk_style_context_lookup_color (context, "theme_base_color", &paper);
  gtk_style_context_lookup_color (context, "theme_text_color", &ink);
  theme = get_luminance (&paper) < 0.5 ? dyno_plot_theme_dark : dyno_plot_theme_light;
  theme.background = (DynoColour){ paper.red, paper.green, paper.blue, paper.alpha };
  theme.foreground = mix (&ink, &paper, 1);
  theme.muted = mix (&ink, &paper, 0.66);
  theme.grid = mix (&ink, &paper, 0.12);
  if (is_of_high_contrast (context, &paper))
    raise_contrast (&theme, &ink, &paper);
  take_font (&theme, widget);
  return &theme;
}

const DynoPlotTheme *
dyno_plot_theme_for_files (GtkWidget *widget)
{
  static DynoPlotTheme theme;
  theme = dyno_plot_theme_light;
  take_font (&theme, widget);
  theme.font_size = dyno_plot_theme_light.font_size;
  return &theme;
}
