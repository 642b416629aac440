/* SPDX-License-Identifier: MIT */
/* Rows of the history's tables as structs. */
#include "rows.h"
#include <string.h>

static void
append_fields (GString *text, const DynoRecordField *fields, guint n, guint first, gboolean names,
               gboolean marks)
{
  for (guint i = 0; i < n; i++)
    {
      g_string_append (text, i > 0 ? ", " : "");
      if (names)
        g_string_append (text, fields[i].name);
      g_string_append (text, names && marks ? " = " : "");
      if (marks)
        g_string_append_printf (text, "?%u", first + i);
    }
}

const char *
dyno_row_sql (const char *pattern, const DynoRecordField *fields, guint n, guint first)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (const char *at = pattern; *at;)
    {
      gboolean names = g_str_has_prefix (at, "{names}"), marks = g_str_has_prefix (at, "{marks}"),
               sets = g_str_has_prefix (at, "{sets}");

      if (names || marks || sets)
        {
          append_fields (text, fields, n, first, !marks, !names);
          at = strchr (at, '}') + 1;
        }
      else
        g_string_append_c (text, *at++);
    }
  return g_intern_string (text->str);
}

static int
bind_field (sqlite3_stmt *s, int mark, const DynoRecordField *f, gconstpointer record,
            const char *other)
{
  const char *text;

  switch (f->type)
    {
    case DYNO_RECORD_FLAG:
      return sqlite3_bind_int64 (s, mark, *DYNO_RECORD_MEMBER (record, f, const gboolean));
    case DYNO_RECORD_UINT:
      return sqlite3_bind_int64 (s, mark, *DYNO_RECORD_MEMBER (record, f, const guint));
    case DYNO_RECORD_TIME:
      if (*DYNO_RECORD_MEMBER (record, f, const gint64) == 0)
        return sqlite3_bind_null (s, mark);
      return sqlite3_bind_int64 (s, mark, *DYNO_RECORD_MEMBER (record, f, const gint64));
    case DYNO_RECORD_INT:
      return sqlite3_bind_int64 (s, mark, *DYNO_RECORD_MEMBER (record, f, const gint64));
    case DYNO_RECORD_COUNT:
      return sqlite3_bind_int64 (s, mark, (gint64) *DYNO_RECORD_MEMBER (record, f, const guint64));
    case DYNO_RECORD_NUMBER: /* NaN becomes NULL */
    case DYNO_RECORD_RATE:
      return sqlite3_bind_double (s, mark, *DYNO_RECORD_MEMBER (record, f, const double));
    case DYNO_RECORD_PATH:
      text = *DYNO_RECORD_MEMBER (record, f, char *const);
      return text ? sqlite3_bind_blob64 (s, mark, text, strlen (text), SQLITE_TRANSIENT)
                  : sqlite3_bind_null (s, mark);
    case DYNO_RECORD_TEXT:
      other = *DYNO_RECORD_MEMBER (record, f, char *const);
      break;
    case DYNO_RECORD_OTHER:
    default:
      break;
    }
  return sqlite3_bind_text (s, mark, other, -1, SQLITE_TRANSIENT);
}

gboolean
dyno_row_bind (DynoDatabase *db, sqlite3_stmt *statement, const DynoRecordField *fields, guint n,
               guint first, gconstpointer record, const char *const *others, GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      const char *other = fields[i].type == DYNO_RECORD_OTHER ? *others++ : NULL;
      int code = bind_field (statement, (int) (first + i), &fields[i], record, other);

      if (code != SQLITE_OK)
        return dyno_database_fail (db, code, error);
    }
  return TRUE;
}

void
dyno_row_read (sqlite3_stmt *s, const DynoRecordField *fields, guint n, gpointer record)
{
  for (int i = 0; i < (int) n; i++)
    {
      const DynoRecordField *f = &fields[i];

      switch (f->type)
        {
        case DYNO_RECORD_FLAG:
          *DYNO_RECORD_MEMBER (record, f, gboolean) = sqlite3_column_int (s, i) != 0;
          break;
        case DYNO_RECORD_UINT:
          *DYNO_RECORD_MEMBER (record, f, guint) = (guint) sqlite3_column_int64 (s, i);
          break;
        case DYNO_RECORD_INT:
        case DYNO_RECORD_TIME:
        case DYNO_RECORD_COUNT: /* all three have 64 bits */
          *DYNO_RECORD_MEMBER (record, f, gint64) = sqlite3_column_int64 (s, i);
          break;
        case DYNO_RECORD_NUMBER:
          *DYNO_RECORD_MEMBER (record, f, double) = dyno_column_double (s, i);
          break;
        case DYNO_RECORD_RATE:
          *DYNO_RECORD_MEMBER (record, f, double) = sqlite3_column_double (s, i);
          break;
        case DYNO_RECORD_TEXT:
        case DYNO_RECORD_PATH:
          *DYNO_RECORD_MEMBER (record, f, char *) = dyno_column_text (s, i);
          break;
        case DYNO_RECORD_OTHER:
        default:
          break;
        }
    }
}

char *
dyno_row_read_other (sqlite3_stmt *statement, const DynoRecordField *fields, guint n,
                     const char *name)
{
  for (guint i = 0; i < n; i++)
    if (strcmp (fields[i].name, name) == 0)
      return dyno_column_text (statement, (int) i);
  g_return_val_if_reached (NULL);
}

void
dyno_row_clear (const DynoRecordField *fields, guint n, gpointer record)
{
  for (guint i = 0; i < n; i++)
    if (fields[i].type == DYNO_RECORD_TEXT || fields[i].type == DYNO_RECORD_PATH)
      g_clear_pointer (DYNO_RECORD_MEMBER (record, &fields[i], char *), g_free);
}
