/* SPDX-License-Identifier: MIT */
#include "text.h"

gboolean
dyno_text_is_control (gunichar c)
{
  return g_unichar_iscntrl (c) || c == 0x2028 || c == 0x2029 || c == 0x200e || c == 0x200f
         || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

char *
dyno_text_visible (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *shown = g_string_new (NULL);

  for (const char *p = valid; *p; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (!dyno_text_is_control (c))
        g_string_append_unichar (shown, c);
      else if (c == '\n')
        g_string_append (shown, "\\n");
      else if (c == '\r')
        g_string_append (shown, "\\r");
      else if (c == '\t')
        g_string_append (shown, "\\t");
      else
        g_string_append_printf (shown, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
    }
  return g_string_free (shown, FALSE);
}
