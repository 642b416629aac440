/* SPDX-License-Identifier: MIT */
/* Manifests: a CSV or TSV file or JSON lines that list images with their targets, by paths relative
 * to the file; and folders of the Hugging Face kind, with such a metadata.csv or metadata.jsonl, or
 * with one in each of train, validation and test.
 *
 * Columns (manifestcolumns.c): the path, by its name or the first; a part (split) by its name; and
 * of the other columns: one column of text or whole numbers is the class, columns with one 1 in
 * each row are classes, columns of 0 and 1 or of lists of names are labels (manifestlabels.c), and
 * numbers with a fraction, or several columns of numbers, are values to predict.  A column named
 * label is the only target.  A column named mask has the paths of masks.  The column that
 * data.group_column names has the groups, and is nothing else. Names for which no file
 * exists are looked up (namedfiles.c).
 *
 * Invariants: the samples' order is the rows'; a row that cannot be used is listed with its line
 * and is no error of the data set. */
#include "manifest-private.h"
#include "datafile.h"
#include "foldernames.h"
#include "intl.h"
#include "masklist.h"
#include "targetnames.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define PEEKED  4096
#define SAMPLED 64 /* number of rows that decide whether names are files */

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  DynoImageList *list;
  DynoLabelTable labels;
  GArray *marks;         /* DynoLabelMark, with several labels of a sample */
  gboolean flags, lists; /* the form of several labels, with the separator of lists */
  char separator;
  GArray *spans;      /* Span: of each file of flags */
  GArray *parts;      /* guint8: DynoPart of each item */
  GHashTable *groups; /* text of a group to its id */
  guint32 n_groups;
  DynoNamedFiles *files;
  gboolean resolves; /* some names are not names of files */
  guint64 n_found;   /* number of names that were resolved to another file */
  char *first_name, *first_path;
} Manifest;

/* The samples of a file of flags, and the labels that are its columns. */
typedef struct {
  guint first, end;
  GHashTable *labels; /* indices in the table of labels */
} Span;

static void
span_clear (gpointer span)
{
  g_hash_table_unref (((Span *) span)->labels);
}

static gboolean
is_blank (const char *cell)
{
  return !cell || cell[strspn (cell, " \t")] == '\0';
}

/* For one-hot columns: the index among the targets of the column that is 1, or -1. */
static int
find_one (const DynoManifestRows *rows, guint row)
{
  int place = -1;

  for (guint t = 0; t < rows->targets->len; t++)
    {
      guint column = g_array_index (rows->targets, guint, t);
      double number = 0;

      dyno_manifest_get_number (rows, column, dyno_text_table_get (rows->table, row, column),
                                &number);
      place = number == 1 ? (int) t : place;
    }
  return place;
}

/* NULL: the row can be used. */
static const char *
check_row (const DynoManifestRows *rows, guint row, guint n_columns)
{
  const char *path = dyno_text_table_get (rows->table, row, (guint) rows->path);
  gboolean known = FALSE;
  double number;

  if (rows->table->columns->len == 0
      && g_array_index (rows->table->rows, DynoTextTableRow, row).n != n_columns)
    return _ ("the row has another number of fields than the first");
  if (!path || *path == '\0')
    return _ ("there is no path");
  if (dyno_manifest_get_part (rows, row) == DYNO_PART_NONE)
    return _ ("the part is none of train, val and test");
  if (rows->mask >= 0 && is_blank (dyno_text_table_get (rows->table, row, (guint) rows->mask)))
    return _ ("there is no mask");
  for (guint t = 0; t < rows->targets->len; t++)
    {
      guint column = g_array_index (rows->targets, guint, t);
      const char *cell = dyno_text_table_get (rows->table, row, column);

      if (rows->lists && !cell)
        return _ ("there is no list of the names of its labels");
      if (rows->lists || rows->flags)
        {
          float state = 0;
          known = known || rows->lists
                  || (dyno_manifest_get_flag (rows, column, cell, &state) && !isnan (state));
          continue;
        }
      if (is_blank (cell))
        return _ ("there is no label");
      if (rows->values
          && (!dyno_manifest_get_number (rows, column, cell, &number)
              || !isfinite ((float) number)))
        return _ ("a value is no finite number");
    }
  return rows->flags && !known ? _ ("none of its labels is known") : NULL;
}

/* The path of the file that a row's column names, also with another spelling; NULL: several files
 * match. */
static char *
find_file (Manifest *manifest, const DynoManifestRows *rows, guint row, int column)
{
  const char *cell = dyno_text_table_get (rows->table, row, (guint) column);
  g_autofree char *name = dyno_manifest_build_name (rows, cell), *found = NULL;
  DynoPart part = dyno_manifest_get_part (rows, row);

  if (!manifest->resolves)
    return g_steal_pointer (&name);
  if (rows->part == DYNO_PART_NONE && rows->split < 0)
    {
      const char *dot = strrchr (rows->name, '.');
      g_autofree char *stem =
          g_strndup (rows->name, dot ? (gsize) (dot - rows->name) : strlen (rows->name));
      part = dyno_part_of_name (stem, NULL); /* train.csv beside train_images/ */
    }
  switch (dyno_named_files_find (manifest->files, name, part, &found))
    {
    case DYNO_NAMED_FOUND:
      if (manifest->n_found++ == 0)
        {
          manifest->first_name = g_filename_display_name (cell);
          manifest->first_path = g_filename_display_name (found);
        }
      return g_steal_pointer (&found);
    case DYNO_NAMED_AMBIGUOUS:
      return NULL;
    case DYNO_NAMED_AS_WRITTEN:
    case DYNO_NAMED_MISSING:
    default:
      return g_steal_pointer (&name);
    }
}

/* The text of a class: blanks around it are removed; where classes were requested, "2.0" becomes
 * "2". */
static guint32
add_label (Manifest *manifest, const DynoManifestRows *rows, guint column, const char *cell)
{
  g_autofree char *label = g_strstrip (g_strdup (cell));
  double number;

  if (rows->asked == DYNO_TASK_CLASSES && strpbrk (label, ".,")
      && dyno_manifest_get_number (rows, column, label, &number) && number == floor (number)
      && fabs (number) < 1e15)
    {
      g_free (label);
      label = g_strdup_printf ("%.0f", number);
    }
  return dyno_label_table_add (&manifest->labels, label);
}

static gboolean
add_mask (DynoImageList *list, const char *name, GError **error)
{
  DynoListedMask mask = { .orientation = 1 };

  if (!dyno_image_list_add_name (list, name, strlen (name), &mask.name, error))
    return FALSE;
  g_array_append_val (list->masks->items, mask);
  return TRUE;
}

static void
add_mark (Manifest *manifest, const char *label, float state)
{
  DynoLabelMark mark = { .item = manifest->list->items->len,
                         .label = dyno_label_table_add (&manifest->labels, label),
                         .state = state };

  g_array_append_val (manifest->marks, mark);
}

/* Marks the labels of the next item, with flags also those that are not known. */
static void
take_labels (Manifest *manifest, const DynoManifestRows *rows, guint row)
{
  for (guint t = 0; t < rows->targets->len; t++)
    {
      guint column = g_array_index (rows->targets, guint, t);
      const char *cell = dyno_text_table_get (rows->table, row, column);
      g_auto (GStrv) names = rows->lists ? dyno_manifest_split_labels (rows, cell) : NULL;
      float state = 0;

      for (guint i = 0; names && names[i]; i++)
        add_mark (manifest, names[i], 1);
      if (rows->flags && dyno_manifest_get_flag (rows, column, cell, &state) && state != 0)
        add_mark (manifest, g_ptr_array_index (rows->headers, column), state);
    }
}

/* mask: NULL where there are none. */
static gboolean
take_row (Manifest *manifest, const DynoManifestRows *rows, guint row, const char *name,
          const char *mask, GError **error)
{
  DynoImageList *list = manifest->list;
  DynoListedImage item = { .container = DYNO_IMAGE_LIST_NO_CONTAINER };
  guint8 part = (guint8) dyno_manifest_get_part (rows, row);
  double number = 0;

  if (!dyno_image_list_add_name (list, name, strlen (name), &item.name, error)
      || (mask && !add_mask (list, mask, error)))
    return FALSE;
  item.line = g_array_index (rows->table->rows, DynoTextTableRow, row).line;
  item.group = dyno_manifest_add_group (rows, row, manifest->groups, &manifest->n_groups);
  for (guint t = 0; t < rows->targets->len; t++)
    {
      guint column = g_array_index (rows->targets, guint, t);
      const char *cell = dyno_text_table_get (rows->table, row, column);

      if (rows->one_hot || rows->flags || rows->lists)
        continue;
      if (rows->values && dyno_manifest_get_number (rows, column, cell, &number))
        {
          float value = (float) number;
          g_array_append_val (list->values, value);
        }
      else
        item.class_id = (gint32) add_label (manifest, rows, column, cell);
    }
  take_labels (manifest, rows, row);
  if (rows->one_hot)
    {
      guint column = g_array_index (rows->targets, guint, find_one (rows, row));
      g_autofree char *label = column < rows->headers->len
                                   ? g_strdup (g_ptr_array_index (rows->headers, column))
                                   : g_strdup_printf ("%u", column);
      item.class_id = (gint32) dyno_label_table_add (&manifest->labels, label);
    }
  g_array_append_val (list->items, item);
  g_array_append_val (manifest->parts, part);
  return TRUE;
}

static gboolean
is_missing (const Manifest *manifest, const DynoManifestRows *rows, guint row, int column)
{
  const char *cell = column >= 0 ? dyno_text_table_get (rows->table, row, (guint) column) : NULL;
  g_autofree char *name = cell ? dyno_manifest_build_name (rows, cell) : NULL,
                  *path = name && g_path_is_absolute (name) ? g_strdup (name)
                          : name ? g_build_filename (manifest->list->root, name, NULL)
                                 : NULL;

  return path && !g_file_test (path, G_FILE_TEST_EXISTS);
}

/* TRUE where some names in the first rows are no files: then all names are looked up. */
static gboolean
needs_files (const Manifest *manifest, const DynoManifestRows *rows)
{
  for (guint i = 0; i < SAMPLED && rows->first_row + i < rows->table->rows->len; i++)
    if (is_missing (manifest, rows, rows->first_row + i, rows->path)
        || is_missing (manifest, rows, rows->first_row + i, rows->mask))
      return TRUE;
  return FALSE;
}

/* A column that is 1 in no row is a class or a label, too. */
static void
name_columns (Manifest *manifest, const DynoManifestRows *rows)
{
  Span span = { .first = manifest->list->items->len, .labels = g_hash_table_new (NULL, NULL) };

  for (guint t = 0;
       (rows->one_hot || rows->flags) && rows->headers->len > 0 && t < rows->targets->len; t++)
    {
      guint32 label = dyno_label_table_add (
          &manifest->labels,
          g_ptr_array_index (rows->headers, g_array_index (rows->targets, guint, t)));
      g_hash_table_add (span.labels, GUINT_TO_POINTER (label));
    }
  g_array_append_val (manifest->spans, span);
}

/* A label that is no column of a file is not known of the samples of this file. */
static void
mark_unknown (Manifest *manifest)
{
  for (guint s = 0; manifest->flags && s < manifest->spans->len; s++)
    {
      const Span *span = &g_array_index (manifest->spans, Span, s);

      for (guint label = 0; label < manifest->labels.labels->len; label++)
        for (guint i = span->first;
             !g_hash_table_contains (span->labels, GUINT_TO_POINTER (label)) && i < span->end; i++)
          {
            DynoLabelMark mark = { .item = i, .label = label, .state = NAN };
            g_array_append_val (manifest->marks, mark);
          }
    }
}

/* The kind of the targets, which must be the same in all files. */
static gboolean
take_targets (Manifest *manifest, const DynoManifestRows *rows, GError **error)
{
  DynoDatasetInfo *info = &manifest->dataset->info;
  guint32 n_values = rows->values ? rows->targets->len : 0;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  if (manifest->list->items->len > 0
      && (manifest->list->n_values != n_values || !manifest->list->masks != (rows->mask < 0)
          || manifest->flags != rows->flags || manifest->lists != rows->lists))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   _ ("“%s” has other targets than the file of the other part; set data.task"),
                   rows->name);
      return FALSE;
    }
  manifest->list->n_values = n_values;
  manifest->flags = rows->flags;
  manifest->lists = rows->lists;
  manifest->separator = rows->separator;
  manifest->dataset->has_groups = manifest->dataset->has_groups || rows->group >= 0;
  if (rows->mask >= 0 && !manifest->list->masks)
    manifest->list->masks = dyno_mask_list_new ();
  if (rows->reason && !info->task_reason)
    dyno_dataset_info_guess (info, rows->doubted, g_strdup (rows->reason));
  name_columns (manifest, rows);
  if (!rows->values || rows->headers->len == 0)
    return TRUE;
  for (guint t = 0; t < rows->targets->len; t++)
    g_ptr_array_add (names,
                     g_ptr_array_index (rows->headers, g_array_index (rows->targets, guint, t)));
  dyno_target_names_take (info, (const char *const *) names->pdata, names->len);
  return TRUE;
}

static gboolean
take_rows (Manifest *manifest, DynoManifestRows *rows, GError **error)
{
  guint n_columns, n_rows = rows->table->rows->len;

  if (!dyno_manifest_plan (rows, manifest->files, manifest->dataset->notes, error)
      || !take_targets (manifest, rows, error))
    return FALSE;
  manifest->resolves = needs_files (manifest, rows);
  n_columns = g_array_index (rows->table->rows, DynoTextTableRow, 0).n;
  for (guint row = rows->first_row; row < n_rows; row++)
    {
      const char *reason = check_row (rows, row, n_columns);
      g_autofree char *name = reason ? NULL : find_file (manifest, rows, row, rows->path),
                      *mask = reason || rows->mask < 0
                                  ? NULL
                                  : find_file (manifest, rows, row, rows->mask);

      if (row % 4096 == 0
          && g_cancellable_set_error_if_cancelled (manifest->context->cancellable, error))
        return FALSE;
      if (!reason && (!name || (rows->mask >= 0 && !mask)))
        reason = _ ("several files have this name; write its folder too");
      if (reason)
        dyno_image_list_note (manifest->dataset, manifest->context, rows->name,
                              g_array_index (rows->table->rows, DynoTextTableRow, row).line,
                              reason);
      else if (!take_row (manifest, rows, row, name, mask, error))
        return FALSE;
    }
  g_array_index (manifest->spans, Span, manifest->spans->len - 1).end = manifest->list->items->len;
  return TRUE;
}

static gboolean
load_rows (Manifest *manifest, const char *path, const char *prefix, DynoPart part, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (DynoTextTable) table = NULL;
  g_autofree char *name = g_filename_display_basename (path);
  DynoManifestRows rows = { .name = name,
                            .prefix = prefix,
                            .part = part,
                            .asked = manifest->context->params->task,
                            .group = -1,
                            .group_name = manifest->context->params->group_column,
                            .may_lack_group = manifest->context->params->may_lack_groups
                                              || manifest->context->paths,
                            .separator = manifest->separator };
  gsize size;
  gboolean ok;

  /* By chance all rows of a small second file may have a single label. */
  if (rows.asked == DYNO_TASK_AUTO && (manifest->flags || manifest->lists))
    rows.asked = DYNO_TASK_LABELS;
  if (!dyno_datafile_read (path, DYNO_TEXT_TABLE_MAX_BYTES, bytes, &size, error))
    return FALSE;
  rows.table = table = dyno_text_table_parse (bytes->data, size, name, error);
  if (!table)
    return FALSE;
  rows.headers = g_ptr_array_new_with_free_func (g_free);
  rows.targets = g_array_new (FALSE, FALSE, sizeof (guint));
  ok = take_rows (manifest, &rows, error);
  dyno_manifest_rows_clear (&rows);
  return ok;
}

/* --- finding the files ------------------------------------------------------------------------ */

static char *
find_metadata (const char *root, const char *folder)
{
  static const char *const names[] = { "metadata.csv", "metadata.jsonl", "metadata.tsv",
                                       "_classes.csv" };

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

  while (dir && (name = dyno_folder_next_name (dir)))
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

/* Contests give their test part without labels, which then is no part. */
static gboolean
load_test (Manifest *manifest, const char *path, const char *name, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *shown = g_filename_display_name (name);

  if (load_rows (manifest, path, name, DYNO_PART_TEST, &problem))
    return TRUE;
  if (!g_error_matches (problem, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED))
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  g_ptr_array_add (
      manifest->dataset->notes,
      g_strdup_printf (_ ("The test part “%s” is not used: %s"), shown, problem->message));
  return TRUE;
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
  for (DynoPart part = DYNO_PART_TRAIN; ok && part <= DYNO_PART_TEST; part++)
    {
      const char *name = part == DYNO_PART_TRAIN        ? parts.train
                         : part == DYNO_PART_VALIDATION ? parts.validation
                                                        : parts.test;
      g_autofree char *path = name ? find_metadata (root, name) : NULL;

      ok = !path
           || (part == DYNO_PART_TEST ? load_test (manifest, path, name, error)
                                      : load_rows (manifest, path, name, part, error));
    }
  dyno_part_folders_clear (&parts);
  return ok;
}

gboolean
dyno_manifest_load (DynoImageList *list, DynoDataset *dataset, const DynoOpenContext *context,
                    const char *path, gboolean is_folder, GError **error)
{
  Manifest manifest = {
    .dataset = dataset, .context = context, .list = list, .files = dyno_named_files_new (list->root)
  };
  gboolean ok;

  list->manifest = is_folder ? g_strdup ("metadata") : g_path_get_basename (path);
  dyno_label_table_init (&manifest.labels);
  manifest.parts = g_array_new (FALSE, FALSE, sizeof (guint8));
  manifest.groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  manifest.marks = g_array_new (FALSE, FALSE, sizeof (DynoLabelMark));
  manifest.spans = g_array_new (FALSE, FALSE, sizeof (Span));
  g_array_set_clear_func (manifest.spans, span_clear);
  ok = is_folder ? load_folder (&manifest, path, error)
                 : load_rows (&manifest, path, "", DYNO_PART_NONE, error);
  mark_unknown (&manifest);
  if (ok && (manifest.flags || manifest.lists))
    ok = dyno_label_table_finish_marks (&manifest.labels, &dataset->info, list, manifest.marks,
                                        manifest.lists, error);
  if (ok)
    {
      dyno_image_list_take_parts (list, manifest.parts);
      if (list->n_values == 0 && !list->masks)
        dyno_label_table_finish (&manifest.labels, &dataset->info, list->items, TRUE);
    }
  if (ok && manifest.n_found > 0)
    g_ptr_array_add (
        dataset->notes,
        g_strdup_printf (
            ngettext ("%" PRIu64 " name stands for a file of another path, found by its "
                      "name: “%s” is “%s”",
                      "%" PRIu64 " names stand for files of other paths, found by their "
                      "names: “%s” is “%s”",
                      (gulong) manifest.n_found),
            manifest.n_found, manifest.first_name, manifest.first_path));
  dyno_label_table_clear (&manifest.labels);
  dyno_named_files_free (manifest.files);
  g_free (manifest.first_name);
  g_free (manifest.first_path);
  g_array_unref (manifest.parts);
  g_hash_table_unref (manifest.groups);
  g_array_unref (manifest.marks);
  g_array_unref (manifest.spans);
  return ok;
}

/* Names of the classes lie beside the list. */
static gboolean
finish_masks (DynoImageList *list, DynoDataset *dataset, const DynoOpenContext *context,
              GError **error)
{
  const char *const folders[] = { list->root, NULL };

  return dyno_mask_names_find (&list->masks->names, folders, error)
         && dyno_mask_list_finish (list, dataset, context, error);
}

static gboolean
manifest_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  const DynoLocation *location = context->location;
  DynoImageList *list = dataset->state = dyno_image_list_new ();

  list->root =
      location->is_folder ? g_strdup (location->body) : g_path_get_dirname (location->body);
  list->named = !location->is_folder;
  return dyno_manifest_load (list, dataset, context, location->body, location->is_folder, error)
         && (list->masks ? finish_masks (list, dataset, context, error)
                         : dyno_image_list_finish (list, dataset, context, error));
}

const DynoDatasetClass dyno_dataset_class_manifest = {
  .kind = "manifest",
  .title = "List of images",
  .matches = manifest_matches,
  .open = manifest_open,
  .close = dyno_image_list_close,
  .fetch = dyno_mask_list_fetch,
  .has_files = TRUE,
  .decode = dyno_mask_list_decode,
  .decode_crop = dyno_mask_list_decode_crop,
  .shows = dyno_mask_list_shows,
  .label = dyno_image_list_label,
  .values = dyno_image_list_values,
  .probe = dyno_image_list_probe,
  .describe = dyno_image_list_describe,
  .group = dyno_image_list_group,
  .part = dyno_image_list_part,
};
