/* SPDX-License-Identifier: MIT */
/* See classrows.h.  Of equal names in the file the first is used. */
#include "classrows.h"
#include "intl.h"
#include <string.h>

#define MAX_NAMED 20

static guint32
find (const char *const *names, const char *name)
{
  for (guint32 i = 0; names[i]; i++)
    if (strcmp (names[i], name) == 0)
      return i;
  return DYNO_CLASS_ROW_NONE;
}

guint32 *
dyno_class_rows_match (const char *const *there, const char *const *here)
{
  guint n = g_strv_length ((char **) here), n_found = 0;
  g_autofree guint32 *rows = g_new (guint32, MAX (n, 1));
  gboolean same = n == g_strv_length ((char **) there);

  for (guint i = 0; i < n; i++)
    {
      /* names are mostly at the same index: then no search is needed */
      rows[i] = same && strcmp (there[i], here[i]) == 0 ? i : find (there, here[i]);
      n_found += rows[i] != DYNO_CLASS_ROW_NONE;
      same = same && rows[i] == i;
    }
  return n_found > 0 && !same ? g_steal_pointer (&rows) : NULL;
}

/* "; start anew: “a”, “b” and 3 more" */
static void
append_names (GString *text, const char *head, const GPtrArray *names)
{
  if (names->len == 0)
    return;
  g_string_append_printf (text, "; %s: ", head);
  for (guint i = 0; i < MIN (names->len, MAX_NAMED); i++)
    g_string_append_printf (text, "%s“%s”", i ? ", " : "", (const char *) names->pdata[i]);
  if (names->len > MAX_NAMED)
    g_string_append_printf (text, _ (" and %u more"), names->len - MAX_NAMED);
}

char *
dyno_class_rows_describe (const char *shown, const char *const *there, const char *const *here,
                          const guint32 *rows)
{
  g_autoptr (GPtrArray) kept = g_ptr_array_new (), new = g_ptr_array_new (),
                        unused = g_ptr_array_new ();
  guint n_there = g_strv_length ((char **) there);
  g_autofree gboolean *used = g_new0 (gboolean, MAX (n_there, 1));
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; here[i]; i++)
    {
      g_ptr_array_add (rows[i] == DYNO_CLASS_ROW_NONE ? new : kept, (gpointer) here[i]);
      if (rows[i] != DYNO_CLASS_ROW_NONE)
        used[rows[i]] = TRUE;
    }
  for (guint i = 0; i < n_there; i++)
    if (!used[i])
      g_ptr_array_add (unused, (gpointer) there[i]);
  g_string_printf (
      text,
      _ ("The classes of “%s” are not those of this data set, or in another order: the "
         "last layer is matched by their names"),
      shown);
  append_names (text, _ ("kept"), kept);
  append_names (text, _ ("start anew"), new);
  append_names (text, _ ("not used"), unused);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
