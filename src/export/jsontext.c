/* SPDX-License-Identifier: MIT */
/* The JSON writer of the settings export and of dynoctl --json. */
#include "jsontext.h"
#include "text.h"
#include <math.h>
#include <string.h>

char *
dyno_double_to_text (double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  for (int digits = 6; digits < 17; digits++)
    {
      char format[8];
      g_snprintf (format, sizeof format, "%%.%dg", digits);
      g_ascii_formatd (buffer, sizeof buffer, format, value);
      if (g_ascii_strtod (buffer, NULL) == value)
        return g_strdup (buffer);
    }
  return g_strdup (g_ascii_dtostr (buffer, sizeof buffer, value));
}

void
dyno_json_init (DynoJson *json, guint indent)
{
  *json = (DynoJson){ .text = g_string_new (NULL), .indent = indent };
}

void
dyno_json_clear (DynoJson *json)
{
  if (json->text)
    g_string_free (json->text, TRUE);
  json->text = NULL;
}

char *
dyno_json_steal (DynoJson *json)
{
  GString *text = json->text;
  if (json->indent)
    g_string_append_c (text, '\n');
  json->text = g_string_new (NULL);
  json->depth = 0;
  json->filled = FALSE;
  return g_string_free (text, FALSE);
}

static void
new_line (DynoJson *json)
{
  if (json->indent == 0)
    return;
  g_string_append_c (json->text, '\n');
  for (guint i = 0; i < json->depth * json->indent; i++)
    g_string_append_c (json->text, ' ');
}

static void
append_quoted (GString *text, const char *value)
{
  g_autofree char *valid = g_utf8_make_valid (value, -1);

  g_string_append_c (text, '"');
  for (const char *p = valid; *p; p = g_utf8_next_char (p))
    switch (*p)
      {
      case '"':
        g_string_append (text, "\\\"");
        break;
      case '\\':
        g_string_append (text, "\\\\");
        break;
      case '\n':
        g_string_append (text, "\\n");
        break;
      case '\t':
        g_string_append (text, "\\t");
        break;
      default:
        if (dyno_text_is_control (g_utf8_get_char (p)))
          g_string_append_printf (text, "\\u%04x", g_utf8_get_char (p));
        else
          g_string_append_unichar (text, g_utf8_get_char (p));
      }
  g_string_append_c (text, '"');
}

/* Writes comma, new line and key before a value. */
static void
start_value (DynoJson *json, const char *key)
{
  if (json->filled)
    g_string_append (json->text, json->indent ? "," : ", ");
  if (json->depth)
    new_line (json);
  if (key)
    {
      append_quoted (json->text, key);
      g_string_append (json->text, ": ");
    }
  json->filled = TRUE;
}

static void
begin (DynoJson *json, const char *key, char bracket)
{
  start_value (json, key);
  g_string_append_c (json->text, bracket);
  json->depth++;
  json->filled = FALSE;
}

static void
end (DynoJson *json, char bracket)
{
  g_return_if_fail (json->depth > 0);
  json->depth--;
  if (json->filled)
    new_line (json);
  g_string_append_c (json->text, bracket);
  json->filled = TRUE;
}

void
dyno_json_begin_object (DynoJson *json, const char *key)
{
  begin (json, key, '{');
}

void
dyno_json_end_object (DynoJson *json)
{
  end (json, '}');
}

void
dyno_json_begin_array (DynoJson *json, const char *key)
{
  begin (json, key, '[');
}

void
dyno_json_end_array (DynoJson *json)
{
  end (json, ']');
}

void
dyno_json_string (DynoJson *json, const char *key, const char *value)
{
  start_value (json, key);
  if (value)
    append_quoted (json->text, value);
  else
    g_string_append (json->text, "null");
}

void
dyno_json_double (DynoJson *json, const char *key, double value)
{
  g_autofree char *text = isfinite (value) ? dyno_double_to_text (value) : g_strdup ("null");

  start_value (json, key);
  g_string_append (json->text, text);
}

void
dyno_json_int (DynoJson *json, const char *key, gint64 value)
{
  start_value (json, key);
  g_string_append_printf (json->text, "%" G_GINT64_FORMAT, value);
}

void
dyno_json_uint (DynoJson *json, const char *key, guint64 value)
{
  start_value (json, key);
  g_string_append_printf (json->text, "%" G_GUINT64_FORMAT, value);
}

void
dyno_json_bool (DynoJson *json, const char *key, gboolean value)
{
  start_value (json, key);
  g_string_append (json->text, value ? "true" : "false");
}

void
dyno_json_null (DynoJson *json, const char *key)
{
  start_value (json, key);
  g_string_append (json->text, "null");
}

void
dyno_json_record (DynoJson *json, const DynoRecordField *fields, guint n, gconstpointer record)
{
  for (const DynoRecordField *f = fields; f < fields + n; f++)
    {
      if (!f->json)
        continue;
      switch (f->type)
        {
        case DYNO_RECORD_FLAG:
          dyno_json_bool (json, f->json, *DYNO_RECORD_MEMBER (record, f, const gboolean));
          break;
        case DYNO_RECORD_UINT:
          dyno_json_uint (json, f->json, *DYNO_RECORD_MEMBER (record, f, const guint));
          break;
        case DYNO_RECORD_INT:
        case DYNO_RECORD_TIME:
          dyno_json_int (json, f->json, *DYNO_RECORD_MEMBER (record, f, const gint64));
          break;
        case DYNO_RECORD_COUNT:
          dyno_json_uint (json, f->json, *DYNO_RECORD_MEMBER (record, f, const guint64));
          break;
        case DYNO_RECORD_NUMBER:
        case DYNO_RECORD_RATE:
          dyno_json_double (json, f->json, *DYNO_RECORD_MEMBER (record, f, const double));
          break;
        case DYNO_RECORD_TEXT:
        case DYNO_RECORD_PATH:
          dyno_json_string (json, f->json, *DYNO_RECORD_MEMBER (record, f, char *const));
          break;
        case DYNO_RECORD_OTHER:
        default:
          g_assert_not_reached ();
        }
    }
}
