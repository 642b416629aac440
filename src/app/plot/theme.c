/* SPDX-License-Identifier: MIT */
/* The plot theme that suits a widget.  Lines come from the plot layer's light or dark theme, paper
 * and ink from the GTK theme, so that plots sit in their card in any theme, high contrast
 * included. */
#include "theme.h"

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

/* As Pango has it for this screen: text scaling is in it. */
static double
get_dpi (GtkWidget *widget)
{
  double dpi = pango_cairo_context_get_resolution (gtk_widget_get_pango_context (widget));
  return dpi > 0 ? dpi : 96;
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

  static char family[64];
  PangoFontDescription *font = NULL;
  gtk_style_context_get (context, gtk_widget_get_state_flags (widget), "font", &font, NULL);
  if (font && pango_font_description_get_family (font))
    {
      g_strlcpy (family, pango_font_description_get_family (font), sizeof family);
      char *comma = strchr (family, ',');
      if (comma)
        *comma = 0;
      theme.font = family;
      double size = pango_font_description_get_size (font) / (double) PANGO_SCALE;
      if (!pango_font_description_get_size_is_absolute (font))
        size *= get_dpi (widget) / 72.0;
      if (size >= 6 && size <= 80)
        theme.font_size = size * 0.85;
    }
  g_clear_pointer (&font, pango_font_description_free);
  return &theme;
}
