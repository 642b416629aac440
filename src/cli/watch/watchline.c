/* SPDX-License-Identifier: MIT */
/* Control characters of each piece are escaped (text.h), and the piece is cut to the remaining
 * columns. */
#include "watchline.h"
#include "text.h"
#include <math.h>

const char *const dyno_watch_levels[DYNO_WATCH_N_LEVELS] = { " ", "▁", "▂", "▃", "▄",
                                                             "▅", "▆", "▇", "█" };

static guint
columns_of (gunichar c)
{
  return g_unichar_iszerowidth (c) ? 0 : g_unichar_iswide (c) ? 2 : 1;
}

void
dyno_watch_line_put (DynoWatchLine *line, const char *colour, const char *text)
{
  g_autofree char *shown = dyno_text_visible (text);
  gboolean coloured = line->colour && *colour;

  if (coloured)
    g_string_append (line->text, colour);
  for (const char *at = shown; *at; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (line->used + columns_of (c) > line->width)
        break;
      line->used += columns_of (c);
      g_string_append_unichar (line->text, c);
    }
  if (coloured)
    g_string_append (line->text, DYNO_TEXT_OFF);
}

void
dyno_watch_line_printf (DynoWatchLine *line, const char *colour, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  dyno_watch_line_put (line, colour, text);
}

void
dyno_watch_line_pad (DynoWatchLine *line, guint column)
{
  for (column = MIN (column, line->width); line->used < column; line->used++)
    g_string_append_c (line->text, ' ');
}

void
dyno_watch_line_init (DynoWatchLine *line, guint width, gboolean colour)
{
  *line = (DynoWatchLine){ g_string_new (NULL), width, 0, colour };
}

void
dyno_watch_line_end (DynoWatchLine *line, GPtrArray *lines)
{
  g_ptr_array_add (lines, g_string_free (line->text, FALSE));
}

void
dyno_watch_line_put_bar (DynoWatchLine *line, const char *colour, double share, guint columns)
{
  static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
  guint eighths;
  g_autoptr (GString) bar = g_string_new (NULL), rest = g_string_new (NULL);

  if (!isfinite (share))
    {
      for (guint i = 0; i < columns; i++)
        g_string_append (rest, "·");
      dyno_watch_line_put (line, DYNO_TEXT_DIM, rest->str);
      return;
    }
  eighths = (guint) lround (CLAMP (share, 0, 1) * columns * 8);
  for (guint i = 0; i < eighths / 8; i++)
    g_string_append (bar, "█");
  g_string_append (bar, parts[eighths % 8]);
  dyno_watch_line_put (line, colour, bar->str);
  for (guint i = (eighths + 7) / 8; i < columns; i++)
    g_string_append (rest, "·");
  dyno_watch_line_put (line, DYNO_TEXT_DIM, rest->str);
}
