/* SPDX-License-Identifier: MIT */
#include "text.h"
#include <string.h>

#define LONGEST_WORD 64 /* a longer text is no misspelt word */

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

static guint
edit_distance (const char *a, const char *b)
{
  guint row[LONGEST_WORD + 1];
  gsize n = strlen (b);

  for (gsize j = 0; j <= n; j++)
    row[j] = (guint) j;
  for (gsize i = 1; a[i - 1]; i++)
    {
      guint diagonal = row[0];

      row[0] = (guint) i;
      for (gsize j = 1; j <= n; j++)
        {
          guint changed = diagonal + (g_ascii_tolower (a[i - 1]) != g_ascii_tolower (b[j - 1]));

          diagonal = row[j];
          row[j] = MIN (changed, 1 + MIN (row[j], row[j - 1]));
        }
    }
  return row[n];
}

char *
dyno_text_title (const char *title)
{
  g_auto (GStrv) words = g_strsplit (title, " ", -1);

  for (guint i = 0; words[i]; i++)
    {
      gboolean abbreviated = FALSE;

      for (const char *c = words[i]; *c; c++)
        abbreviated |= c > words[i] && (g_ascii_isupper (*c) || g_ascii_isdigit (*c));
      if (!abbreviated && *words[i])
        words[i][0] = g_ascii_tolower (words[i][0]);
    }
  return g_strjoinv (" ", words);
}

const char *
dyno_plural (guint64 n, const char *one, const char *many)
{
  return n == 1 ? one : many;
}

const char *
dyno_text_nearest (const char *word, const char *const *words, guint most_edits)
{
  const char *best = NULL;

  if (strlen (word) > LONGEST_WORD)
    return NULL;
  for (; *words; words++)
    {
      guint edits = strlen (*words) <= LONGEST_WORD ? edit_distance (word, *words) : G_MAXUINT;

      if (best ? edits < most_edits : edits <= most_edits)
        {
          best = *words;
          most_edits = edits;
        }
    }
  return best;
}
