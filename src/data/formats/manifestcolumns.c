/* SPDX-License-Identifier: MIT */
/* The kinds of a manifest's columns.
 *
 * Invariants: names take precedence over contents; a decision by contents considers all rows, is
 * reported as a guess, and gives way to the requested task (data.task). */
#include "dataset-class.h"
#include "intl.h"
#include "manifest-private.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* with this many classes or more, few samples in each class make the guess doubtful */
#define MANY      10
#define MAX_NAMED 5

/* Separators that show a list of labels by themselves, as far as names do not contain them. */
static const char SURE_SEPARATORS[] = { DYNO_TEXT_TABLE_LIST_SEPARATOR, '|', ';', '\0' };

/* Usual names of columns, compared in lower case and by letters and digits only. */
static const char *const path_words[] = {
  "filename",  "path",       "file",      "image",     "filepath", "imagepath", "img",     "name",
  "imagename", "filenames",  "filepaths", "imagefile", "imgpath",  "imgname",   "imageid", "imgid",
  "images",    "imageindex", "photo",     "idcode",    "fname",    "id",        NULL
};
static const char *const split_words[] = { "split", "set", "subset", "part", "partition", NULL };
/* Names that may also be used for other columns: such a column gives the parts only where its cells
 * name parts. */
static const char *const loose_split_words[] = {
  "usage", "dataset", "phase", "mode", "fold", NULL
};
static const char *const label_words[] = {
  "label", "class", "labels", "category", "classname", NULL
};
static const char *const loose_label_words[] = { "classid",    "labelid",  "categoryid",
                                                 "labelname",  "classes",  "classidx",
                                                 "classindex", "labelidx", "categoryname",
                                                 "target",     "targets",  NULL };
static const char *const mask_words[] = { "mask",     "masks",        "maskpath",     "maskfile",
                                          "maskname", "maskfilename", "segmentation", NULL };
static const char *const index_words[] = { "", "unnamed0", "index", "idx", "rowid", NULL };

static char *
plain (const char *header)
{
  GString *text = g_string_new (NULL);

  for (; *header; header++)
    if (g_ascii_isalnum (*header) || (guchar) *header >= 0x80)
      g_string_append_c (text, g_ascii_tolower (*header));
  return g_string_free (text, FALSE);
}

int
dyno_manifest_find_column (const DynoManifestRows *rows, const char *const *words)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint c = 0; c < rows->headers->len; c++)
    g_ptr_array_add (names, plain (g_ptr_array_index (rows->headers, c)));
  for (guint w = 0; words[w]; w++)
    for (guint c = 0; c < names->len; c++)
      if ((int) c != rows->group && g_str_equal (names->pdata[c], words[w]))
        return (int) c;
  return -1;
}

char *
dyno_manifest_build_name (const DynoManifestRows *rows, const char *cell)
{
  if (*rows->prefix == '\0' || g_path_is_absolute (cell))
    return g_strdup (cell);
  return g_build_filename (rows->prefix, cell, NULL);
}

char *
dyno_manifest_name_column (const DynoManifestRows *rows, guint column)
{
  return column < rows->headers->len
             ? g_strdup_printf ("“%s”", (char *) g_ptr_array_index (rows->headers, column))
             : g_strdup_printf ("%u", column + 1);
}

static DynoNamed
find_first (const DynoManifestRows *rows, DynoNamedFiles *files, guint row)
{
  const char *cell = dyno_text_table_get (rows->table, row, 0);
  g_autofree char *name = cell ? dyno_manifest_build_name (rows, cell) : NULL, *found = NULL;

  return name ? dyno_named_files_find (files, name, DYNO_PART_NONE, &found) : DYNO_NAMED_MISSING;
}

/* Finds the names of the columns: the members of JSON lines, or the first row, if one of its cells
 * is a usual name for paths, or the asked name of the groups, or if it names no file and the second
 * row does. */
static void
find_headers (DynoManifestRows *rows, DynoNamedFiles *files)
{
  const DynoTextTable *table = rows->table;

  for (guint c = 0; c < table->columns->len; c++)
    g_ptr_array_add (rows->headers, g_strdup (g_ptr_array_index (table->columns, c)));
  if (table->columns->len > 0 || table->rows->len == 0)
    return;
  for (guint c = 0; c < g_array_index (table->rows, DynoTextTableRow, 0).n; c++)
    g_ptr_array_add (rows->headers, g_strstrip (g_strdup (dyno_text_table_get (table, 0, c))));
  rows->first_row = 1;
  if (dyno_manifest_find_column (rows, path_words) >= 0 || dyno_manifest_find_group (rows) >= 0
      || (table->rows->len > 1 && find_first (rows, files, 1) != DYNO_NAMED_MISSING
          && find_first (rows, files, 0) == DYNO_NAMED_MISSING))
    return;
  g_ptr_array_set_size (rows->headers, 0);
  rows->first_row = 0;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static gboolean
take_number (const char *cell, double *number)
{
  char *end;

  while (g_ascii_isspace (*cell))
    cell++;
  *number = g_ascii_strtod (cell, &end);
  if (end == cell)
    return FALSE;
  while (g_ascii_isspace (*end))
    end++;
  return *end == '\0';
}

/* "-0,5": digits, a comma and digits. */
static gboolean
take_comma_number (const char *cell, double *number)
{
  g_autofree char *copy = g_strstrip (g_strdup (cell));
  char *comma = strchr (copy, ',');

  if (!comma || comma == copy || !g_ascii_isdigit (comma[-1]) || !g_ascii_isdigit (comma[1])
      || strchr (copy, '.'))
    return FALSE;
  *comma = '.';
  return take_number (copy, number);
}

gboolean
dyno_manifest_get_number (const DynoManifestRows *rows, guint column, const char *cell,
                          double *number)
{
  return take_number (cell, number)
         || (column < rows->n_columns && rows->commas[column] && take_comma_number (cell, number));
}

/* Exactly three digits after the comma: in a file whose fields are separated by commas this may as
 * well be a thousands separator. */
static gboolean
may_be_thousands (const char *cell)
{
  const char *comma = strchr (cell, ',');
  gsize digits = comma ? strspn (comma + 1, "0123456789") : 0;

  return digits == 3;
}

/* The kinds of a column's cells, over all rows. */
typedef struct {
  guint n, n_numbers, n_whole, n_written_whole, n_flags; /* cells, and among these: numbers, whole
                                                          * ones, whole ones without a point, 0 or
                                                          * 1 */
  guint n_different;                                     /* texts, up to MAX_DIFFERENT */
} Content;

#define MAX_DIFFERENT 100000

static Content
look_at (const DynoManifestRows *rows, guint column)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  Content content = { 0 };
  double number;

  for (guint r = rows->first_row; r < rows->table->rows->len; r++)
    {
      const char *cell = dyno_text_table_get (rows->table, r, column);

      if (!cell || cell[strspn (cell, " \t")] == '\0')
        continue;
      content.n++;
      if (g_hash_table_size (seen) < MAX_DIFFERENT)
        g_hash_table_add (seen, (gpointer) cell);
      if (!dyno_manifest_get_number (rows, column, cell, &number))
        continue;
      content.n_numbers++;
      content.n_whole += number == floor (number);
      content.n_written_whole += number == floor (number) && !strpbrk (cell, ".,eEnN");
      content.n_flags += number == 0 || number == 1;
    }
  content.n_different = g_hash_table_size (seen);
  return content;
}

static gboolean
is_of_numbers (const Content *content)
{
  return 2 * content->n_numbers > content->n;
}

static void
find_commas (DynoManifestRows *rows, GPtrArray *notes)
{
  gboolean between = rows->table->delimiter == ',';

  for (guint c = 0; c < rows->n_columns; c++)
    {
      guint n = 0, n_commas = 0, n_thousands = 0, n_plain = 0;
      g_autofree char *name = NULL;
      double number;

      for (guint r = rows->first_row; (int) c != rows->path && r < rows->table->rows->len; r++)
        {
          const char *cell =
              (int) c == rows->group ? NULL : dyno_text_table_get (rows->table, r, c);
          gboolean comma = cell && take_comma_number (cell, &number);

          n += cell && *cell;
          n_commas += comma;
          n_thousands += comma && may_be_thousands (cell);
          n_plain += cell && take_number (cell, &number);
        }
      rows->commas[c] =
          n_commas > 0 && 2 * (n_commas + n_plain) > n && !(between && n_thousands == n_commas);
      if (!rows->commas[c])
        continue;
      name = dyno_manifest_name_column (rows, c);
      g_ptr_array_add (notes, g_strdup_printf (_ ("The numbers of the column %s of “%s” are read "
                                                  "with a decimal comma"),
                                               name, rows->name));
    }
}

/* --- targets ---------------------------------------------------------------------------------- */

gboolean
dyno_manifest_refuse_columns (const DynoManifestRows *rows, GError **error, const char *what)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint c = 0; c < rows->headers->len; c++)
    g_string_append_printf (names, "%s“%s”", c > 0 ? ", " : "",
                            (char *) g_ptr_array_index (rows->headers, c));
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
               rows->headers->len > 0 ? _ ("“%s” %s; its columns: %s") : _ ("“%s” %s%s"),
               rows->name, what, names->str);
  return FALSE;
}

char *
dyno_manifest_name_targets (const DynoManifestRows *rows)
{
  GString *names = g_string_new (NULL);
  guint n = rows->targets->len;

  for (guint t = 0; t < MIN (n, MAX_NAMED); t++)
    {
      g_autofree char *one =
          dyno_manifest_name_column (rows, g_array_index (rows->targets, guint, t));
      g_string_append_printf (names, "%s%s", t > 0 ? ", " : "", one);
    }
  if (n > MAX_NAMED)
    g_string_append_printf (names, _ (" and %u more"), n - MAX_NAMED);
  return g_string_free (names, FALSE);
}

void
dyno_manifest_guess (DynoManifestRows *rows, gboolean doubted, char *reason)
{
  g_free (rows->reason);
  rows->reason = reason;
  rows->doubted = doubted;
}

char *
dyno_manifest_name_unused (const DynoManifestRows *rows, int learned, guint *n)
{
  g_autoptr (GHashTable) targets = g_hash_table_new (NULL, NULL);
  GString *names = g_string_new (NULL);

  for (guint t = 0; t < rows->targets->len; t++)
    g_hash_table_add (targets, GUINT_TO_POINTER (g_array_index (rows->targets, guint, t)));
  *n = 0;
  for (guint c = 0; c < rows->n_columns; c++)
    if ((int) c != learned && (int) c != rows->path && (int) c != rows->split
        && (int) c != rows->group && !g_hash_table_contains (targets, GUINT_TO_POINTER (c)))
      {
        g_autofree char *one = dyno_manifest_name_column (rows, c);
        if ((*n)++ < MAX_NAMED)
          g_string_append_printf (names, "%s%s", *n > 1 ? ", " : "", one);
      }
  if (*n > MAX_NAMED)
    g_string_append_printf (names, _ (" and %u more"), *n - MAX_NAMED);
  return g_string_free (names, FALSE);
}

void
dyno_manifest_note_unused (const DynoManifestRows *rows, guint learned, GPtrArray *notes)
{
  guint n;
  g_autofree char *names = dyno_manifest_name_unused (rows, (int) learned, &n),
                  *label = dyno_manifest_name_column (rows, learned);

  if (n == 1)
    g_ptr_array_add (notes, g_strdup_printf (_ ("The column %s of “%s” is not used: %s is learned"),
                                             names, rows->name, label));
  else if (n > 1)
    g_ptr_array_add (notes,
                     g_strdup_printf (_ ("The columns %s of “%s” are not used: %s is learned"),
                                      names, rows->name, label));
}

/* TRUE where no task was requested and the column lists labels, which is then a guess. */
static gboolean
find_lists (DynoManifestRows *rows, guint column)
{
  g_autofree char *name = dyno_manifest_name_column (rows, column);

  rows->lists = rows->asked == DYNO_TASK_AUTO
                && dyno_manifest_is_list (rows, column, SURE_SEPARATORS, &rows->separator);
  if (rows->lists)
    dyno_manifest_guess (rows, TRUE,
                         g_strdup_printf (_ ("cells of the column %s list several names"), name));
  return rows->lists;
}

/* Decides what a single column of targets is: text and whole numbers are classes, other numbers are
 * values. */
static gboolean
decide_one (DynoManifestRows *rows, gboolean named, GError **error)
{
  guint column = g_array_index (rows->targets, guint, 0);
  Content content = look_at (rows, column);
  g_autofree char *name = dyno_manifest_name_column (rows, column);
  gboolean numbers = content.n > 0 && content.n_numbers == content.n;
  gboolean whole = numbers && content.n_whole == content.n,
           written = numbers && content.n_written_whole == content.n;
  gboolean many = content.n_different >= MANY && content.n < 2 * content.n_different;

  rows->values =
      rows->asked == DYNO_TASK_VALUES || (rows->asked == DYNO_TASK_AUTO && numbers && !written);
  if (rows->asked == DYNO_TASK_CLASSES && numbers && !whole)
    return dyno_manifest_refuse_columns (
        rows, error,
        _ ("has numbers with a fraction, which are no classes; set data.task "
           "to values"));
  if (rows->asked == DYNO_TASK_VALUES && !is_of_numbers (&content))
    return dyno_manifest_refuse_columns (
        rows, error, _ ("has no column of numbers to predict; set data.task to classes"));
  if (!numbers)
    find_lists (rows, column);
  if (rows->asked != DYNO_TASK_AUTO || !numbers)
    return TRUE;
  if (written && many)
    dyno_manifest_guess (
        rows, TRUE,
        g_strdup_printf (_ ("the column %s holds whole numbers, though %u different ones in %u "
                            "samples"),
                         name, content.n_different, content.n));
  else if (written)
    dyno_manifest_guess (rows, !named,
                         g_strdup_printf (_ ("the column %s holds whole numbers"), name));
  else if (whole)
    dyno_manifest_guess (
        rows, TRUE,
        g_strdup_printf (_ ("the column %s holds numbers with a point, though all are whole"),
                         name));
  return TRUE;
}

/* TRUE where all cells of the targets are 0 or 1: *single, with one 1 in each row. */
static gboolean
are_flags (const DynoManifestRows *rows, gboolean *single)
{
  *single = TRUE;
  for (guint r = rows->first_row; r < rows->table->rows->len; r++)
    {
      guint ones = 0, empty = 0;

      for (guint t = 0; t < rows->targets->len; t++)
        {
          guint column = g_array_index (rows->targets, guint, t);
          const char *cell = dyno_text_table_get (rows->table, r, column);
          double number;

          if (!cell || *cell == '\0')
            empty++;
          else if (!dyno_manifest_get_number (rows, column, cell, &number)
                   || (number != 0 && number != 1))
            return *single = FALSE;
          else
            ones += number == 1;
        }
      *single = *single && (ones == 1 || empty > 0);
    }
  return TRUE;
}

/* Decides the task of several columns of numbers: with one 1 in each row they are classes, with
 * other rows of 0 and 1 labels, else values. */
static gboolean
decide_several (DynoManifestRows *rows, GError **error)
{
  g_autofree char *names = dyno_manifest_name_targets (rows);
  gboolean single, flags = are_flags (rows, &single), whole = TRUE;

  rows->one_hot = flags && single && rows->asked != DYNO_TASK_VALUES;
  rows->flags = flags && !single && rows->asked == DYNO_TASK_AUTO;
  rows->values = !rows->one_hot && !rows->flags;
  if (rows->flags && rows->headers->len == 0)
    return dyno_manifest_refuse_nameless (rows, error);
  if (flags && !single && rows->asked == DYNO_TASK_CLASSES)
    return dyno_manifest_refuse_columns (
        rows, error,
        _ ("has rows of several ones or none, which are several labels of one sample; set "
           "data.task to labels, or to values to predict each column as a number"));
  if (rows->values && rows->asked == DYNO_TASK_CLASSES)
    return dyno_manifest_refuse_columns (
        rows, error,
        _ ("has several columns of numbers; name the one of the classes "
           "“label”"));
  if (rows->asked != DYNO_TASK_AUTO)
    return TRUE;
  for (guint t = 0; t < rows->targets->len; t++)
    {
      Content content = look_at (rows, g_array_index (rows->targets, guint, t));
      whole = whole && content.n_whole == content.n;
    }
  if (rows->flags)
    dyno_manifest_guess (
        rows, FALSE,
        g_strdup_printf (_ ("rows have several ones or none among the columns %s"), names));
  else if (rows->one_hot)
    dyno_manifest_guess (rows, TRUE,
                         g_strdup_printf (_ ("each row has one 1 among the columns %s"), names));
  else if (whole)
    dyno_manifest_guess (
        rows, TRUE,
        g_strdup_printf (_ ("the columns %s hold whole numbers, and none is named label or "
                            "class"),
                         names));
  return TRUE;
}

void
dyno_manifest_list_candidates (DynoManifestRows *rows)
{
  guint n = 0;

  for (guint c = 0; c < rows->n_columns; c++)
    n += (int) c != rows->path && (int) c != rows->split && (int) c != rows->group;
  for (guint c = 0; c < rows->n_columns; c++)
    {
      g_autofree char *name =
          c < rows->headers->len ? plain (g_ptr_array_index (rows->headers, c)) : NULL;

      if ((int) c == rows->path || (int) c == rows->split || (int) c == rows->group
          || (n > 1 && name && g_strv_contains (index_words, name)))
        continue;
      g_array_append_val (rows->targets, c);
    }
}

static void
learn_one (DynoManifestRows *rows, guint column, GPtrArray *notes)
{
  g_array_set_size (rows->targets, 0);
  g_array_append_val (rows->targets, column);
  dyno_manifest_note_unused (rows, column, notes);
}

static gboolean
find_targets (DynoManifestRows *rows, GPtrArray *notes, GError **error)
{
  int label = dyno_manifest_find_column (rows, label_words),
      loose = dyno_manifest_find_column (rows, loose_label_words);
  guint n_texts = 0, text = 0, lone = 0;

  if (rows->asked == DYNO_TASK_LABELS)
    return dyno_manifest_find_labels (rows, notes, error);
  if (label >= 0)
    {
      learn_one (rows, (guint) label, notes);
      return decide_one (rows, TRUE, error);
    }
  dyno_manifest_list_candidates (rows);
  if (rows->targets->len == 0)
    return dyno_manifest_refuse_columns (
        rows, error,
        rows->group < 0 ? _ ("has a path and nothing to learn; add a column “label”")
                        : _ ("has a path, the column that data.group_column names, and nothing to "
                             "learn; add a column “label”, or name another column"));
  if (rows->targets->len == 1)
    {
      learn_one (rows, g_array_index (rows->targets, guint, 0), notes);
      return decide_one (rows, FALSE, error);
    }
  if (loose >= 0 && loose != rows->path && loose != rows->split && rows->asked != DYNO_TASK_VALUES)
    {
      g_autofree char *name = dyno_manifest_name_column (rows, (guint) loose);

      learn_one (rows, (guint) loose, notes);
      if (!decide_one (rows, TRUE, error))
        return FALSE;
      if (rows->asked == DYNO_TASK_AUTO)
        dyno_manifest_guess (rows, TRUE,
                             g_strdup_printf (_ ("the column %s is named as targets are"), name));
      return TRUE;
    }
  for (guint t = rows->targets->len; t-- > 0;)
    {
      guint column = g_array_index (rows->targets, guint, t);
      Content content = look_at (rows, column);

      if (content.n == 0 && rows->targets->len > 1)
        g_array_remove_index (rows->targets, t); /* an empty column */
      if (content.n == 0 || is_of_numbers (&content))
        continue;
      n_texts++;
      lone = column;
      text = 2 * content.n_different <= content.n ? column : G_MAXUINT;
    }
  if (n_texts == 1 && find_lists (rows, lone))
    {
      learn_one (rows, lone, notes);
      return TRUE;
    }
  if (n_texts == 1 && text != G_MAXUINT && rows->asked != DYNO_TASK_VALUES)
    {
      g_autofree char *name = dyno_manifest_name_column (rows, text);

      learn_one (rows, text, notes);
      if (rows->asked == DYNO_TASK_AUTO)
        dyno_manifest_guess (
            rows, TRUE,
            g_strdup_printf (_ ("the column %s is the only one that is no number"), name));
      return TRUE;
    }
  if (n_texts > 0)
    return dyno_manifest_refuse_columns (
        rows, error,
        _ ("has several columns that are not numbers; name the one of the "
           "classes “label”"));
  return decide_several (rows, error);
}

/* --- masks ------------------------------------------------------------------------------------ */

/* TRUE where the first cell names a file, and not the pixels themselves. */
static gboolean
has_files (const DynoManifestRows *rows, int column)
{
  const char *cell = column >= 0 && column != rows->path
                         ? dyno_text_table_get (rows->table, rows->first_row, (guint) column)
                         : NULL;

  return cell && dyno_name_is_sample (cell) && !g_str_has_suffix (cell, ".npy");
}

/* Where pixels are requested, a column “label” may hold the masks too. */
static gboolean
find_masks (DynoManifestRows *rows, gboolean *found, GError **error)
{
  int mask = dyno_manifest_find_column (rows, mask_words),
      label = dyno_manifest_find_column (rows, label_words);

  *found = FALSE;
  rows->mask = -1;
  if (rows->asked != DYNO_TASK_AUTO && rows->asked != DYNO_TASK_PIXELS)
    return TRUE;
  if (has_files (rows, mask))
    rows->mask = mask;
  else if (rows->asked == DYNO_TASK_PIXELS && has_files (rows, label))
    rows->mask = label;
  *found = rows->mask >= 0;
  if (*found || rows->asked == DYNO_TASK_AUTO)
    return TRUE;
  return dyno_manifest_refuse_columns (rows, error,
                                       _ ("has no column “mask” with the paths of masks, which "
                                          "data.task=pixels needs"));
}

/* --- parts ------------------------------------------------------------------------------------ */

DynoPart
dyno_manifest_get_part (const DynoManifestRows *rows, guint row)
{
  const char *cell;

  if (rows->part != DYNO_PART_NONE)
    return rows->part;
  if (rows->split < 0)
    return DYNO_PART_TRAIN;
  cell = dyno_text_table_get (rows->table, row, (guint) rows->split);
  return cell ? dyno_part_of_name (cell, NULL) : DYNO_PART_NONE;
}

static int
find_split (const DynoManifestRows *rows)
{
  int split = dyno_manifest_find_column (rows, split_words),
      loose = dyno_manifest_find_column (rows, loose_split_words);
  const char *cell = loose >= 0 && rows->table->rows->len > rows->first_row
                         ? dyno_text_table_get (rows->table, rows->first_row, (guint) loose)
                         : NULL;

  if (split >= 0)
    return split;
  return cell && dyno_part_of_name (cell, NULL) != DYNO_PART_NONE ? loose : -1;
}

gboolean
dyno_manifest_plan (DynoManifestRows *rows, DynoNamedFiles *files, GPtrArray *notes, GError **error)
{
  gboolean masks;

  find_headers (rows, files);
  if (rows->table->rows->len <= rows->first_row)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY, _ ("“%s” lists no sample"),
                   rows->name);
      return FALSE;
    }
  rows->path = dyno_manifest_find_column (rows, path_words);
  rows->group = dyno_manifest_find_group (rows);
  if (rows->path < 0)
    rows->path = rows->group == 0 ? 1 : 0;
  if (!dyno_manifest_check_group (rows, error))
    return FALSE;
  rows->split = find_split (rows);
  rows->n_columns = rows->headers->len > 0
                        ? rows->headers->len
                        : g_array_index (rows->table->rows, DynoTextTableRow, 0).n;
  rows->commas = g_new0 (guint8, MAX (rows->n_columns, 1));
  if (!find_masks (rows, &masks, error))
    return FALSE;
  if (masks)
    {
      dyno_manifest_note_unused (rows, (guint) rows->mask, notes);
      return TRUE;
    }
  find_commas (rows, notes);
  return find_targets (rows, notes, error);
}

void
dyno_manifest_rows_clear (DynoManifestRows *rows)
{
  g_clear_pointer (&rows->targets, g_array_unref);
  g_clear_pointer (&rows->headers, g_ptr_array_unref);
  g_clear_pointer (&rows->commas, g_free);
  g_clear_pointer (&rows->reason, g_free);
}
