/* SPDX-License-Identifier: MIT */
/* Rows are read from both ends of a table: the rows between two damaged pages are lost. */
#include "salvage.h"
#include "migrations.h"
#include <glib/gstdio.h>
#include <string.h>

/* Copies one table of the old file, from one of its ends up to the first row that cannot be
 * read. */
static guint
copy_table (sqlite3 *from, sqlite3 *to, const char *table, gboolean backwards)
{
  g_autofree char *select = g_strdup_printf ("SELECT * FROM %s ORDER BY %s %s", table,
                                             strcmp (table, "epochs") == 0   ? "run"
                                             : strcmp (table, "trials") == 0 ? "search"
                                                                             : "id",
                                             backwards ? "DESC" : "ASC");
  g_autoptr (GString) insert = g_string_new (NULL);
  g_autoptr (GString) marks = g_string_new (NULL);
  sqlite3_stmt *reading = NULL, *writing = NULL;
  guint n = 0;

  if (sqlite3_prepare_v2 (from, select, -1, &reading, NULL) != SQLITE_OK)
    return 0;
  g_string_printf (insert, "INSERT OR IGNORE INTO %s (", table);
  for (int i = 0; i < sqlite3_column_count (reading); i++)
    {
      g_string_append_printf (insert, "%s%s", i ? ", " : "", sqlite3_column_name (reading, i));
      g_string_append (marks, i ? ", ?" : "?");
    }
  g_string_append_printf (insert, ") VALUES (%s)", marks->str);
  if (sqlite3_prepare_v2 (to, insert->str, -1, &writing, NULL) == SQLITE_OK)
    while (sqlite3_step (reading) == SQLITE_ROW)
      {
        for (int i = 0; i < sqlite3_column_count (reading); i++)
          sqlite3_bind_value (writing, i + 1, sqlite3_column_value (reading, i));
        sqlite3_step (writing);
        n += (guint) sqlite3_changes (to);
        sqlite3_reset (writing);
      }
  sqlite3_finalize (reading);
  sqlite3_finalize (writing);
  return n;
}

guint
dyno_salvage_copy (const char *path, sqlite3 *to)
{
  sqlite3 *from = NULL;
  guint n = 0;

  if (sqlite3_open_v2 (path, &from, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK
      && sqlite3_exec (to, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK)
    {
      for (guint i = 0; dyno_history_tables[i]; i++)
        n += copy_table (from, to, dyno_history_tables[i], FALSE)
             + copy_table (from, to, dyno_history_tables[i], TRUE);
      if (sqlite3_exec (to, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        sqlite3_exec (to, "ROLLBACK", NULL, NULL, NULL);
    }
  sqlite3_close_v2 (from);
  return n;
}

char *
dyno_salvage_move_aside (const char *path)
{
  static const char *const parts[] = { "-wal", "-shm", "-journal", "" };
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *stamp = g_date_time_format (now, "%Y%m%d-%H%M%S");
  char *aside = g_strdup_printf ("%s.corrupt-%s", path, stamp);

  for (guint i = 2; g_file_test (aside, G_FILE_TEST_EXISTS); i++)
    {
      g_free (aside);
      aside = g_strdup_printf ("%s.corrupt-%s-%u", path, stamp, i);
    }
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *from = g_strconcat (path, parts[i], NULL),
                      *to = g_strconcat (aside, parts[i], NULL);

      if (g_rename (from, to) != 0 && parts[i][0] == '\0')
        {
          g_free (aside);
          return NULL;
        }
    }
  return aside;
}
