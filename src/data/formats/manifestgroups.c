/* SPDX-License-Identifier: MIT */
/* The column of a manifest that names the group of each sample (data.group_column). */
#include "intl.h"
#include "manifest-private.h"

int
dyno_manifest_find_group (const DynoManifestRows *rows)
{
  for (guint c = 0; rows->group_name && *rows->group_name && c < rows->headers->len; c++)
    if (g_str_equal (g_ptr_array_index (rows->headers, c), rows->group_name))
      return (int) c;
  return -1;
}

gboolean
dyno_manifest_check_group (const DynoManifestRows *rows, GError **error)
{
  g_autofree char *what = NULL;

  if (rows->group < 0 && rows->group_name && *rows->group_name && !rows->may_lack_group)
    what = rows->headers->len > 0
               ? g_strdup_printf (_ ("has no column “%s”, which data.group_column names; name "
                                     "another one, or set it to nothing"),
                                  rows->group_name)
               : g_strdup_printf (_ ("has columns without names, and data.group_column asks for "
                                     "“%s”; add a first line that names the columns"),
                                  rows->group_name);
  else if (rows->group >= 0 && (rows->group == rows->path || rows->headers->len < 2))
    what = g_strdup_printf (_ ("has its paths in the column “%s”, which data.group_column names; "
                               "name the column of the groups"),
                            rows->group_name);
  return !what || dyno_manifest_refuse_columns (rows, error, what);
}

guint32
dyno_manifest_add_group (const DynoManifestRows *rows, guint row, GHashTable *groups, guint32 *n)
{
  const char *cell =
      rows->group >= 0 ? dyno_text_table_get (rows->table, row, (guint) rows->group) : NULL;
  g_autofree char *text = g_strstrip (g_strdup (cell ? cell : ""));
  gpointer id;

  if (*text && g_hash_table_lookup_extended (groups, text, NULL, &id))
    return GPOINTER_TO_UINT (id);
  if (*text)
    g_hash_table_insert (groups, g_steal_pointer (&text), GUINT_TO_POINTER (*n));
  return (*n)++;
}
