/* SPDX-License-Identifier: MIT */
/* Manifests: a CSV or TSV file or JSON lines that list images with what is to be learned of each,
 * by paths relative to the file; and folders of the Hugging Face kind, with such a metadata.csv or
 * metadata.jsonl, or with one in each of train and validation.
 *
 * Columns: the path, by its name or the first; a part (split) by its name; and what is left: one of
 * text or whole numbers is the class, numbers with a fraction, or several columns of numbers, are
 * values to predict.  A column named label is the only one that counts.
 *
 * Invariants: the samples' order is the rows'; a row that cannot be used is listed with its line
 * and is no error of the data set. */
#include "imagelist.h"
#include "datafile.h"
#include "intl.h"
#include "partnames.h"
#include "targetnames.h"
#include "texttable.h"
#include <math.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PEEKED 4096

/* One file of rows. */
typedef struct {
  DynoTextTable *table;
  const char *name;   /* of the file, as shown */
  const char *prefix; /* of its paths, below the root; "" */
  DynoPart part;      /* of all rows; NONE: as their column says */
  guint first_row;    /* after a header */
  GPtrArray *headers; /* of the columns; empty: there are none */
  int path, split;    /* columns, or -1 */
  GArray *targets;    /* guint: columns */
  gboolean values;    /* they are values */
} Rows;

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  DynoImageList *list;
  DynoLabelTable labels;
  GArray *parts; /* guint8: DynoPart of each item */
} Manifest;

static const char *const path_words[] = { "file_name", "filename", "path",       "file",
                                          "image",     "filepath", "image_path", "file_path",
                                          "img",       "name",     "image_name", NULL };
static const char *const split_words[] = { "split", "set", "subset", "part", "partition", NULL };
static const char *const label_words[] = { "label",    "class",      "labels",
                                           "category", "class_name", NULL };

static int
find_column (const Rows *rows, const char *const *words)
{
  for (guint w = 0; words[w]; w++)
    for (guint c = 0; c < rows->headers->len; c++)
      if (g_ascii_strcasecmp (g_ptr_array_index (rows->headers, c), words[w]) == 0)
        return (int) c;
  return -1;
}

static char *
build_name (const Rows *rows, const char *cell)
{
  if (*rows->prefix == '\0' || g_path_is_absolute (cell))
    return g_strdup (cell);
  return g_build_filename (rows->prefix, cell, NULL);
}

static gboolean
has_file (const Manifest *manifest, const Rows *rows, guint row)
{
  const char *cell = dyno_text_table_get (rows->table, row, 0);
  g_autofree char *name = cell ? build_name (rows, cell) : NULL,
                  *path = name ? g_build_filename (manifest->list->root, name, NULL) : NULL;

  return path && g_file_test (path, G_FILE_TEST_EXISTS);
}

/* Names of the columns: members of JSON lines, or a first row that names a path, or that names no
 * file where the second does. */
static void
find_headers (const Manifest *manifest, Rows *rows)
{
  const DynoTextTable *table = rows->table;

  rows->headers = g_ptr_array_new_with_free_func (g_free);
  for (guint c = 0; c < table->columns->len; c++)
    g_ptr_array_add (rows->headers, g_strdup (g_ptr_array_index (table->columns, c)));
  if (table->columns->len > 0 || table->rows->len == 0)
    return;
  for (guint c = 0; c < g_array_index (table->rows, DynoTextTableRow, 0).n; c++)
    g_ptr_array_add (rows->headers, g_strstrip (g_strdup (dyno_text_table_get (table, 0, c))));
  rows->first_row = 1;
  if (find_column (rows, path_words) >= 0
      || (table->rows->len > 1 && !has_file (manifest, rows, 0) && has_file (manifest, rows, 1)))
    return;
  g_ptr_array_set_size (rows->headers, 0);
  rows->first_row = 0;
}

/* A number, be it one that is none (nan). */
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

static gboolean
is_whole (const char *cell)
{
  return g_ascii_string_to_signed (cell, 10, G_MININT64, G_MAXINT64, NULL, NULL);
}

/* A column of numbers of which one at least is not whole is values. */
static gboolean
column_is_values (const Rows *rows, guint column)
{
  gboolean fractions = FALSE;
  double number;

  for (guint r = rows->first_row; r < rows->table->rows->len; r++)
    {
      const char *cell = dyno_text_table_get (rows->table, r, column);

      if (!cell || *cell == '\0')
        continue;
      if (!take_number (cell, &number))
        return FALSE;
      fractions = fractions || !is_whole (cell);
    }
  return fractions;
}

static gboolean
set_columns_error (const Rows *rows, GError **error, const char *what)
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

static gboolean
find_targets (const Manifest *manifest, Rows *rows, guint n_columns, GError **error)
{
  int label = find_column (rows, label_words);
  gboolean numbers = TRUE;
  double number;

  for (guint c = 0; c < n_columns; c++)
    if ((int) c != rows->path && (int) c != rows->split && (label < 0 || label == (int) c))
      {
        const char *cell = dyno_text_table_get (rows->table, rows->first_row, c);
        numbers = numbers && cell && take_number (cell, &number);
        g_array_append_val (rows->targets, c);
      }
  if (rows->targets->len == 0)
    return set_columns_error (rows, error,
                              _ ("has a path and nothing to learn; add a column “label”"));
  if (rows->targets->len > 1 && !numbers)
    return set_columns_error (rows, error,
                              _ ("has several columns that are not numbers; name the one of the "
                                 "classes “label”"));
  rows->values =
      rows->targets->len > 1 || column_is_values (rows, g_array_index (rows->targets, guint, 0));
  for (guint c = 0; label >= 0 && c < n_columns; c++)
    if ((int) c != label && (int) c != rows->path && (int) c != rows->split)
      g_ptr_array_add (manifest->dataset->notes,
                       g_strdup_printf (_ ("The column “%s” of “%s” is not used: “%s” is learned"),
                                        (char *) g_ptr_array_index (rows->headers, c), rows->name,
                                        (char *) g_ptr_array_index (rows->headers, label)));
  return TRUE;
}

static gboolean
plan_columns (const Manifest *manifest, Rows *rows, GError **error)
{
  guint n_columns;

  find_headers (manifest, rows);
  rows->path = find_column (rows, path_words);
  rows->split = find_column (rows, split_words);
  rows->path = MAX (rows->path, 0);
  if (rows->table->rows->len <= rows->first_row)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY, _ ("“%s” lists no sample"),
                   rows->name);
      return FALSE;
    }
  n_columns = rows->headers->len > 0 ? rows->headers->len
                                     : g_array_index (rows->table->rows, DynoTextTableRow, 0).n;
  return find_targets (manifest, rows, n_columns, error);
}

/* NONE: the cell names no part. */
static DynoPart
part_of (const Rows *rows, guint row)
{
  const char *cell;

  if (rows->part != DYNO_PART_NONE)
    return rows->part;
  if (rows->split < 0)
    return DYNO_PART_TRAIN;
  cell = dyno_text_table_get (rows->table, row, (guint) rows->split);
  return cell ? dyno_part_of_name (cell, NULL) : DYNO_PART_NONE;
}

/* NULL: the row can be used. */
static const char *
check_row (const Rows *rows, guint row, guint n_columns)
{
  const char *path = dyno_text_table_get (rows->table, row, (guint) rows->path);
  double number;

  if (rows->table->columns->len == 0
      && g_array_index (rows->table->rows, DynoTextTableRow, row).n != n_columns)
    return _ ("the row has another number of fields than the first");
  if (!path || *path == '\0')
    return _ ("there is no path");
  if (part_of (rows, row) == DYNO_PART_NONE)
    return _ ("the part is none of train, val and test");
  for (guint t = 0; t < rows->targets->len; t++)
    {
      const char *cell =
          dyno_text_table_get (rows->table, row, g_array_index (rows->targets, guint, t));

      if (!cell || *cell == '\0')
        return _ ("there is no label");
      if (rows->values && (!take_number (cell, &number) || !isfinite ((float) number)))
        return _ ("a value is no finite number");
    }
  return NULL;
}

static gboolean
take_row (Manifest *manifest, const Rows *rows, guint row, GError **error)
{
  DynoImageList *list = manifest->list;
  DynoListedImage item = { .container = DYNO_IMAGE_LIST_NO_CONTAINER };
  guint8 part = (guint8) part_of (rows, row);
  g_autofree char *name =
      build_name (rows, dyno_text_table_get (rows->table, row, (guint) rows->path));
  double number;

  if (!dyno_image_list_add_name (list, name, strlen (name), &item.name, error))
    return FALSE;
  item.line = g_array_index (rows->table->rows, DynoTextTableRow, row).line;
  for (guint t = 0; t < rows->targets->len; t++)
    {
      const char *cell =
          dyno_text_table_get (rows->table, row, g_array_index (rows->targets, guint, t));

      if (rows->values && take_number (cell, &number))
        {
          float value = (float) number;
          g_array_append_val (list->values, value);
        }
      else
        item.class_id = (gint32) dyno_label_table_add (&manifest->labels, cell);
    }
  g_array_append_val (list->items, item);
  g_array_append_val (manifest->parts, part);
  return TRUE;
}

static gboolean
take_rows (Manifest *manifest, Rows *rows, GError **error)
{
  guint n_columns, n_rows = rows->table->rows->len;
  guint32 n_values;

  if (!plan_columns (manifest, rows, error))
    return FALSE;
  n_values = rows->values ? rows->targets->len : 0;
  if (manifest->list->items->len > 0 && manifest->list->n_values != n_values)
    return set_columns_error (rows, error, _ ("has other targets than the file of the other part"));
  manifest->list->n_values = n_values;
  if (rows->values && rows->headers->len > 0)
    {
      g_autoptr (GPtrArray) names = g_ptr_array_new ();
      for (guint t = 0; t < rows->targets->len; t++)
        g_ptr_array_add (
            names, g_ptr_array_index (rows->headers, g_array_index (rows->targets, guint, t)));
      dyno_target_names_take (&manifest->dataset->info, (const char *const *) names->pdata,
                              names->len);
    }
  n_columns = g_array_index (rows->table->rows, DynoTextTableRow, 0).n;
  for (guint row = rows->first_row; row < n_rows; row++)
    {
      const char *reason = check_row (rows, row, n_columns);

      if (row % 4096 == 0
          && g_cancellable_set_error_if_cancelled (manifest->context->cancellable, error))
        return FALSE;
      if (reason)
        dyno_image_list_note (manifest->dataset, manifest->context, rows->name,
                              g_array_index (rows->table->rows, DynoTextTableRow, row).line,
                              reason);
      else if (!take_row (manifest, rows, row, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
load_rows (Manifest *manifest, const char *path, const char *prefix, DynoPart part, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (DynoTextTable) table = NULL;
  g_autofree char *name = g_filename_display_basename (path);
  Rows rows = { .name = name, .prefix = prefix, .part = part };
  gsize size;
  gboolean ok;

  if (!dyno_datafile_read (path, DYNO_TEXT_TABLE_MAX_BYTES, bytes, &size, error))
    return FALSE;
  rows.table = table = dyno_text_table_parse (bytes->data, size, name, error);
  if (!table)
    return FALSE;
  rows.targets = g_array_new (FALSE, FALSE, sizeof (guint));
  ok = take_rows (manifest, &rows, error);
  g_array_unref (rows.targets);
  g_clear_pointer (&rows.headers, g_ptr_array_unref);
  return ok;
}

/* What is there beside train validates; of a validation and a test part the first. */
static void
take_parts (Manifest *manifest)
{
  DynoImageList *list = manifest->list;
  gsize n[DYNO_PART_TEST + 1] = { 0 };
  guint kept = 0;
  gboolean drop;

  for (guint i = 0; i < manifest->parts->len; i++)
    n[g_array_index (manifest->parts, guint8, i)]++;
  drop = n[DYNO_PART_VALIDATION] > 0 && n[DYNO_PART_TEST] > 0;
  for (guint i = 0; i < manifest->parts->len; i++)
    {
      DynoPart part = (DynoPart) g_array_index (manifest->parts, guint8, i);
      DynoListedImage item = g_array_index (list->items, DynoListedImage, i);
      float *values = (float *) (gpointer) list->values->data;

      if (part == DYNO_PART_TEST && drop)
        continue;
      item.validation = part != DYNO_PART_TRAIN && n[DYNO_PART_TRAIN] > 0;
      if (list->n_values > 0)
        memmove (values + (gsize) kept * list->n_values, values + (gsize) i * list->n_values,
                 list->n_values * sizeof (float));
      g_array_index (list->items, DynoListedImage, kept++) = item;
    }
  g_array_set_size (list->items, kept);
  g_array_set_size (list->values, kept * list->n_values);
  if (drop)
    g_ptr_array_add (manifest->dataset->notes,
                     g_strdup_printf (_ ("The %" PRIu64 " samples of the part “test” are not used: "
                                         "“val” is taken for validation"),
                                      (guint64) n[DYNO_PART_TEST]));
}

/* --- finding the files ------------------------------------------------------------------------ */

static char *
find_metadata (const char *root, const char *folder)
{
  static const char *const names[] = { "metadata.csv", "metadata.jsonl", "metadata.tsv" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (root, folder, names[i], NULL);
      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
    }
  return NULL;
}

static gboolean
has_metadata (const char *name, gpointer root)
{
  g_autofree char *path = find_metadata (root, name);
  return path != NULL;
}

/* The folders of parts that have lists of their own. */
static void
find_parts (const char *root, DynoPartFolders *parts)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (root, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    if (name[0] != '.')
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_add (names, NULL);
  dyno_part_folders_choose (parts, (const char *const *) names->pdata, has_metadata,
                            (gpointer) root);
}

static gboolean
manifest_matches (const DynoLocation *location)
{
  guint8 head[PEEKED];
  guint64 size;
  gssize n;
  int fd;

  if (location->scheme)
    return FALSE;
  if (location->is_folder)
    {
      g_autofree char *own = find_metadata (location->body, "");
      DynoPartFolders parts;
      gboolean found;

      if (own)
        return TRUE;
      find_parts (location->body, &parts);
      found = parts.train != NULL;
      dyno_part_folders_clear (&parts);
      return found;
    }
  if (!location->is_regular)
    return FALSE;
  fd = dyno_datafile_open (location->body, &size, NULL);
  if (fd < 0)
    return FALSE;
  n = dyno_datafile_pread (fd, head, sizeof head, 0);
  close (fd);
  return (n > 0 && dyno_text_table_guess (head, (gsize) n) != DYNO_TEXT_TABLE_NONE)
         || g_str_has_suffix (location->body, ".csv") || g_str_has_suffix (location->body, ".tsv")
         || g_str_has_suffix (location->body, ".jsonl");
}

static gboolean
load_folder (Manifest *manifest, const char *root, GError **error)
{
  g_autofree char *own = find_metadata (root, "");
  DynoPartFolders parts;
  gboolean ok = TRUE;

  if (own)
    return load_rows (manifest, own, "", DYNO_PART_NONE, error);
  find_parts (root, &parts);
  dyno_part_folders_note (&parts, manifest->dataset->notes);
  for (guint i = 0; ok && i < 2; i++)
    {
      const char *name = i == 0 ? parts.train : parts.validation;
      g_autofree char *path = name ? find_metadata (root, name) : NULL;

      ok = !path
           || load_rows (manifest, path, name, i == 0 ? DYNO_PART_TRAIN : DYNO_PART_VALIDATION,
                         error);
    }
  dyno_part_folders_clear (&parts);
  return ok;
}

gboolean
dyno_manifest_load (DynoImageList *list, DynoDataset *dataset, const DynoOpenContext *context,
                    const char *path, gboolean is_folder, GError **error)
{
  Manifest manifest = { .dataset = dataset, .context = context, .list = list };
  gboolean ok;

  list->manifest = is_folder ? g_strdup ("metadata") : g_path_get_basename (path);
  dyno_label_table_init (&manifest.labels);
  manifest.parts = g_array_new (FALSE, FALSE, sizeof (guint8));
  ok = is_folder ? load_folder (&manifest, path, error)
                 : load_rows (&manifest, path, "", DYNO_PART_NONE, error);
  if (ok)
    {
      take_parts (&manifest);
      if (list->n_values == 0)
        dyno_label_table_finish (&manifest.labels, &dataset->info, list->items, TRUE);
    }
  dyno_label_table_clear (&manifest.labels);
  g_array_unref (manifest.parts);
  return ok;
}

static gboolean
manifest_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  const DynoLocation *location = context->location;
  DynoImageList *list = dataset->state = dyno_image_list_new ();

  list->root =
      location->is_folder ? g_strdup (location->body) : g_path_get_dirname (location->body);
  return dyno_manifest_load (list, dataset, context, location->body, location->is_folder, error)
         && dyno_image_list_finish (list, dataset, context, error);
}

const DynoDatasetClass dyno_dataset_class_manifest = {
  .kind = "manifest",
  .title = "List of images",
  .matches = manifest_matches,
  .open = manifest_open,
  .close = dyno_image_list_close,
  .fetch = dyno_image_list_fetch,
  .has_files = TRUE,
  .decode = dyno_image_list_decode,
  .decode_crop = dyno_image_list_decode_crop,
  .label = dyno_image_list_label,
  .values = dyno_image_list_values,
  .probe = dyno_image_list_probe,
  .describe = dyno_image_list_describe,
  .is_validation = dyno_image_list_is_validation,
};
