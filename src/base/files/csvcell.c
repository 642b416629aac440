/* SPDX-License-Identifier: MIT */
/* Apostrophes before a formula's first sign are counted as part of it, so that a text which has one
 * already gets another, and every text is read back as it was. */
#include "csvcell.h"
#include <math.h>
#include <string.h>

static gboolean
is_number (const char *text)
{
  char *end;

  g_ascii_strtod (text, &end);
  return end > text && *end == '\0' && !g_ascii_isspace (*text);
}

/* Whether a spreadsheet would compute the text without its apostrophes. */
static gboolean
is_formula (const char *text)
{
  const char *first = text + strspn (text, "'");

  return *first && strchr ("=+-@\t\r\n", *first) && !is_number (text);
}

void
dyno_csv_add_cell (GString *line, const char *text)
{
  gboolean first = line->len == 0 || line->str[line->len - 1] == '\n';
  gboolean quoted = strpbrk (text, ",\"\r\n") || (first && *text == '\0');

  if (!first)
    g_string_append_c (line, ',');
  if (quoted)
    g_string_append_c (line, '"');
  if (is_formula (text))
    g_string_append_c (line, '\'');
  for (; *text; text++)
    {
      if (*text == '"')
        g_string_append_c (line, '"');
      g_string_append_c (line, *text);
    }
  if (quoted)
    g_string_append_c (line, '"');
}

void
dyno_csv_add_number (GString *line, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE] = "";

  if (isfinite (value))
    g_ascii_formatd (text, sizeof text, "%.9g", value);
  dyno_csv_add_cell (line, text);
}

const char *
dyno_csv_cell_text (const char *cell)
{
  return *cell == '\'' && is_formula (cell + 1) ? cell + 1 : cell;
}
