/* SPDX-License-Identifier: MIT */
/* Several labels of a sample in a manifest, in one of two forms: a column for each label, with a 1
 * where the sample has it (Roboflow's _classes.csv, CheXpert), or one column that lists the names
 * of the sample's labels ("cat|dog", JSON lines with a list of strings). */
#include "intl.h"
#include "manifest-private.h"
#include <math.h>
#include <string.h>

/* Usual names of columns of lists, compared as in manifestcolumns.c. */
static const char *const list_words[] = {
  "labels",        "tags",      "label",      "classes",      "categories",
  "findinglabels", "tag",       "labelnames", "attributes",   "keywords",
  "class",         "category",  "targets",    "target",       "genre",
  "genres",        "labellist", "concepts",   "attributeids", NULL
};
/* The first of these that occurs separates the names, which may contain those after it. */
static const char ALL_SEPARATORS[] = { DYNO_TEXT_TABLE_LIST_SEPARATOR, '|', ';', ',', ' ', '\0' };

/* --- columns of flags ------------------------------------------------------------------------- */

gboolean
dyno_manifest_get_flag (const DynoManifestRows *rows, guint column, const char *cell, float *state)
{
  g_autofree char *text = g_strstrip (g_ascii_strdown (cell ? cell : "", -1));
  gboolean yes = g_str_equal (text, "true"), no = g_str_equal (text, "false");
  double number;

  *state = yes ? 1 : no ? 0 : NAN;
  if (yes || no || *text == '\0')
    return TRUE;
  if (!dyno_manifest_get_number (rows, column, text, &number)
      || (number != 0 && number != 1 && number != -1))
    return FALSE;
  *state = number < 0 ? NAN : (float) number;
  return TRUE;
}

gboolean
dyno_manifest_is_flag (const DynoManifestRows *rows, guint column)
{
  gboolean known = FALSE;
  float state;

  for (guint r = rows->first_row; r < rows->table->rows->len; r++)
    {
      if (!dyno_manifest_get_flag (rows, column, dyno_text_table_get (rows->table, r, column),
                                   &state))
        return FALSE;
      known = known || !isnan (state);
    }
  return known;
}

/* --- columns of lists ------------------------------------------------------------------------- */

static char **
split (const char *cell, char separator)
{
  const char delimiter[] = { separator, '\0' };
  g_autofree char *text = g_strstrip (g_strdup (cell ? cell : ""));
  gsize length = strlen (text);
  GPtrArray *names = g_ptr_array_new ();
  g_auto (GStrv) pieces = NULL;

  /* Python writes a list as ['cat', 'dog'], a set as {'cat', 'dog'}. */
  if (length > 1
      && ((text[0] == '[' && text[length - 1] == ']')
          || (text[0] == '{' && text[length - 1] == '}')))
    text[0] = text[length - 1] = ' ';
  pieces = g_strsplit (text, delimiter, -1);
  for (guint i = 0; pieces[i]; i++)
    {
      g_autofree char *name = g_strstrip (g_strdup (pieces[i]));

      length = strlen (name);
      if (length > 1 && (name[0] == '\'' || name[0] == '"') && name[length - 1] == name[0])
        {
          name[length - 1] = '\0';
          memmove (name, name + 1, length - 1);
        }
      if (*name)
        g_ptr_array_add (names, g_steal_pointer (&name));
    }
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

char **
dyno_manifest_split_labels (const DynoManifestRows *rows, const char *cell)
{
  return split (cell, rows->separator);
}

/* TRUE where cells have the separator, and have fewer different names than different texts. */
static gboolean
separates (const DynoManifestRows *rows, guint column, char separator)
{
  g_autoptr (GHashTable) cells = g_hash_table_new (g_str_hash, g_str_equal),
                         names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gboolean found = FALSE;

  for (guint r = rows->first_row; r < rows->table->rows->len; r++)
    {
      const char *cell = dyno_text_table_get (rows->table, r, column);

      if (!cell || !g_hash_table_add (cells, (gpointer) cell))
        continue;
      found = found || strchr (cell, separator);
      g_auto (GStrv) pieces = split (cell, separator);
      for (guint i = 0; pieces[i]; i++)
        g_hash_table_add (names, g_strdup (pieces[i]));
    }
  return found && g_hash_table_size (names) < g_hash_table_size (cells);
}

static gboolean
has_separator (const DynoManifestRows *rows, guint column, char separator)
{
  for (guint r = rows->first_row; r < rows->table->rows->len; r++)
    {
      const char *cell = dyno_text_table_get (rows->table, r, column);

      if (cell && strchr (cell, separator))
        return TRUE;
    }
  return FALSE;
}

gboolean
dyno_manifest_is_list (const DynoManifestRows *rows, guint column, const char *separators,
                       char *separator)
{
  for (; *separators; separators++)
    if (has_separator (rows, column, *separators))
      {
        *separator = *separators;
        return *separators == DYNO_TEXT_TABLE_LIST_SEPARATOR
               || separates (rows, column, *separators);
      }
  return FALSE;
}

/* Where labels were requested, the first separator that occurs is the one, but a blank may be a
 * part of the names; without a separator each sample has one label at most. */
static void
find_separator (DynoManifestRows *rows, guint column)
{
  if (rows->separator) /* of an earlier file */
    return;
  for (const char *at = ALL_SEPARATORS; *at; at++)
    if (*at == ' ' ? separates (rows, column, *at) : has_separator (rows, column, *at))
      {
        rows->separator = *at;
        return;
      }
  rows->separator = DYNO_TEXT_TABLE_LIST_SEPARATOR;
}

/* --- both ------------------------------------------------------------------------------------- */

static void
note_unused (const DynoManifestRows *rows, GPtrArray *notes)
{
  guint n;
  g_autofree char *names = dyno_manifest_name_unused (rows, -1, &n);

  if (n > 0)
    g_ptr_array_add (notes, g_strdup_printf (ngettext ("The column %s of “%s” is not used: not "
                                                       "all of its cells are 1, 0, -1 or empty",
                                                       "The columns %s of “%s” are not used: not "
                                                       "all of their cells are 1, 0, -1 or empty",
                                                       n),
                                             names, rows->name));
}

gboolean
dyno_manifest_refuse_nameless (const DynoManifestRows *rows, GError **error)
{
  return dyno_manifest_refuse_columns (rows, error,
                                       _ ("has columns of labels without their names; add a "
                                          "first line that names the columns"));
}

static gboolean
learn_list (DynoManifestRows *rows, guint column, GPtrArray *notes)
{
  g_array_set_size (rows->targets, 0);
  g_array_append_val (rows->targets, column);
  rows->lists = TRUE;
  find_separator (rows, column);
  dyno_manifest_note_unused (rows, column, notes);
  return TRUE;
}

gboolean
dyno_manifest_find_labels (DynoManifestRows *rows, GPtrArray *notes, GError **error)
{
  int list = dyno_manifest_find_column (rows, list_words);
  guint other = 0;

  if (list >= 0 && list != rows->path && list != rows->split
      && !dyno_manifest_is_flag (rows, (guint) list))
    return learn_list (rows, (guint) list, notes);
  dyno_manifest_list_candidates (rows);
  if (rows->targets->len > 0)
    other = g_array_index (rows->targets, guint, 0);
  if (rows->targets->len == 1 && !dyno_manifest_is_flag (rows, other))
    return learn_list (rows, other, notes);
  for (guint t = rows->targets->len; t-- > 0;)
    if (!dyno_manifest_is_flag (rows, g_array_index (rows->targets, guint, t)))
      g_array_remove_index (rows->targets, t);
  rows->flags = rows->targets->len > 0;
  if (!rows->flags)
    return dyno_manifest_refuse_columns (
        rows, error,
        _ ("has no labels, which data.task=labels needs: a column of 0 and 1 for each label, or a "
           "column “labels” with names between “|”"));
  if (rows->headers->len == 0)
    return dyno_manifest_refuse_nameless (rows, error);
  note_unused (rows, notes);
  return TRUE;
}
