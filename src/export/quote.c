/* SPDX-License-Identifier: MIT */
#include "quote.h"
#include "jsontext.h"
#include "text.h"
#include <string.h>

/* The escapes that Python and YAML have in common. */
static void
append_escape (GString *out, gunichar c)
{
  if (c == '\n')
    g_string_append (out, "\\n");
  else if (c == '\r')
    g_string_append (out, "\\r");
  else if (c == '\t')
    g_string_append (out, "\\t");
  else if (c < 0x100)
    g_string_append_printf (out, "\\x%02x", c);
  else
    g_string_append_printf (out, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

/* Appends text, with escapes, up to its first byte that is not UTF-8, and returns the rest. */
static const char *
append_signs (GString *out, const char *text, char quote)
{
  while (*text)
    {
      gunichar c = g_utf8_get_char_validated (text, -1);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        return text;
      if (c == (guchar) quote || c == '\\')
        g_string_append_printf (out, "\\%c", (char) c);
      else if (dyno_text_is_control (c) || !g_unichar_isprint (c))
        append_escape (out, c);
      else
        g_string_append_unichar (out, c);
      text = g_utf8_next_char (text);
    }
  return text;
}

char *
dyno_quote_python (const char *text)
{
  GString *out = g_string_new ("'");

  for (text = append_signs (out, text, '\''); *text; text = append_signs (out, text + 1, '\''))
    g_string_append_printf (out, "\\udc%02x", (guchar) *text);
  return g_string_free (g_string_append_c (out, '\''), FALSE);
}

char *
dyno_quote_yaml (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_new ("\"");

  append_signs (out, valid, '"');
  return g_string_free (g_string_append_c (out, '"'), FALSE);
}

/* TRUE: the text may stand between single quotes as it is; else it is written as bytes. */
static gboolean
can_be_shown (const char *text)
{
  if (!g_utf8_validate (text, -1, NULL))
    return FALSE;
  for (; *text; text = g_utf8_next_char (text))
    if (dyno_text_is_control (g_utf8_get_char (text)))
      return FALSE;
  return TRUE;
}

char *
dyno_quote_shell (const char *text)
{
  static const char safe[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_./:@%+,-";
  GString *out;

  if (*text && text[strspn (text, safe)] == '\0')
    return g_strdup (text);
  if (can_be_shown (text))
    return g_shell_quote (text);
  out = g_string_new ("$'");
  for (const guchar *c = (const guchar *) text; *c; c++)
    if (g_ascii_isgraph (*c) && *c != '\'' && *c != '\\')
      g_string_append_c (out, (char) *c);
    else
      g_string_append_printf (out, "\\%03o", *c);
  return g_string_free (g_string_append_c (out, '\''), FALSE);
}

char *
dyno_quote_double (double value)
{
  g_autofree char *text = dyno_double_to_text (value);
  char *exponent = strchr (text, 'e');

  if (strchr (text, '.'))
    return g_steal_pointer (&text);
  if (!exponent)
    return g_strconcat (text, ".0", NULL);
  return g_strdup_printf ("%.*s.0%s", (int) (exponent - text), text, exponent);
}
