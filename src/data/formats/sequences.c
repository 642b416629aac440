/* SPDX-License-Identifier: MIT */
/* Folders of sequences, a .npy of (T, F) or (T) each, of differing length: one sub-folder per class
 * (also within train and val); or one folder with a list of them and their targets (labels.csv,
 * .tsv, .jsonl, metadata.csv ...), or with y.npy or labels.npy, whose records belong to the files,
 * sorted by name.
 *
 * Invariants: the network reads the values of the file in float32; a sequence has its own length
 * and is padded after it up to the longest one; all have the number of features that most sequences
 * have, and others are listed.  Headers are read at open, items when a sample's turn comes; a file
 * that changed meanwhile is an error of that sample. */
#include "arrayset.h"
#include "checked.h"
#include "cores.h"
#include "datafile.h"
#include "folderscan.h"
#include "hash.h"
#include "imagelist.h"
#include "intl.h"
#include "scanthreads.h"
#include "targetnames.h"
#include "arraytargets.h"
#include "foldernames.h"
#include "unlabelled.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN              64
#define MAX_THREADS      8
#define MAX_SAMPLE_BYTES (G_GUINT64_CONSTANT (1) << 30)
#define MAX_TARGETS      (1u << 27)
#define PEEKED           256 /* number of entries of a folder that decide the kind */
#define PEEKED_DEPTH     3

typedef struct {
  DynoImageList *list; /* files, with their classes or values */
  guint32 longest, features;
} Sequences;

/* --- detection -------------------------------------------------------------------------------- */

static gboolean
is_array (const char *name)
{
  return name[0] != '.' && g_str_has_suffix (name, ".npy") && !dyno_npy_is_target_name (name);
}

static char *find_file (const char *root, const char *const *names);

static const char *const target_files[] = { "labels.csv",   "labels.tsv",     "labels.jsonl",
                                            "metadata.csv", "metadata.jsonl", "y.npy",
                                            "Y.npy",        "labels.npy",     NULL };

/* TRUE where most of the first entries of a folder, or of the first folder in it, are arrays.
 * Arrays beside folders count only with their targets: an array among folders of images is no
 * sequence. */
static gboolean
holds_arrays (const char *path, guint depth)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  g_autofree char *within = NULL, *targets = NULL;
  guint n_arrays = 0, n_others = 0;
  const char *name;

  for (guint i = 0; dir && i < PEEKED && (name = dyno_folder_next_name (dir)); i++)
    {
      g_autofree char *child = NULL;

      if (name[0] == '.' || g_strv_contains (target_files, name))
        continue;
      child = g_build_filename (path, name, NULL);
      if (is_array (name))
        n_arrays++;
      else if (!within && g_file_test (child, G_FILE_TEST_IS_DIR))
        within = g_steal_pointer (&child);
      else if (strchr (name, '.'))
        n_others++;
    }
  targets = within ? find_file (path, target_files) : NULL;
  if (n_arrays > n_others && (!within || targets))
    return TRUE;
  return within && depth + 1 < PEEKED_DEPTH && holds_arrays (within, depth + 1);
}

static gboolean
sequences_matches (const DynoLocation *location)
{
  return !location->scheme && location->is_folder && holds_arrays (location->body, 0);
}

static char *
find_file (const char *root, const char *const *names)
{
  for (guint i = 0; names[i]; i++)
    {
      g_autofree char *path = g_build_filename (root, names[i], NULL);
      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
    }
  return NULL;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Names of the arrays directly in the folder, in their order; empty: there are none. */
static GPtrArray *
list_arrays (const char *root)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (root, 0, NULL);
  const char *name;

  while (dir && (name = dyno_folder_next_name (dir)))
    if (is_array (name))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* --- targets ---------------------------------------------------------------------------------- */

static gboolean
add_item (DynoImageList *list, const char *name, gint32 class_id, DynoPart part, GError **error)
{
  DynoListedImage item = { .container = DYNO_IMAGE_LIST_NO_CONTAINER,
                           .class_id = class_id,
                           .part = (guint8) part };

  if (!dyno_image_list_add_name (list, name, strlen (name), &item.name, error))
    return FALSE;
  g_array_append_val (list->items, item);
  return TRUE;
}

static gboolean
load_class_folders (Sequences *sequences, DynoDataset *dataset, const DynoOpenContext *context,
                    GError **error)
{
  DynoFolderScan scan = { 0 };
  gboolean ok = dyno_folder_scan_run (&scan, dataset, context, error);

  for (guint i = 0; ok && i < scan.files->len; i++)
    {
      const DynoScanFile *file = &g_array_index (scan.files, DynoScanFile, i);
      const DynoScanFolder *folder = &g_array_index (scan.folders, DynoScanFolder, file->folder);
      g_autofree char *path = dyno_folder_scan_get_path (&scan, file);
      const char *within = path + strlen (scan.root);

      while (*within == '/')
        within++;
      ok = add_item (sequences->list, within, folder->class_id, folder->part, error);
    }
  dyno_folder_scan_clear (&scan);
  return ok;
}

/* The targets of an array, whose record i belongs to the i-th name. */
static gboolean
take_records (Sequences *sequences, DynoDataset *dataset, DynoArray *y, const char *folder,
              GPtrArray *names, const DynoOpenContext *context, GError **error)
{
  DynoImageList *list = sequences->list;
  DynoTargets targets = { 0 };
  gboolean ok = dyno_targets_check (y, names->len, folder, error);

  if (ok && y->header.n_items > MAX_TARGETS)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s” has more targets than the limit of %u"), y->shown, MAX_TARGETS);
      return FALSE;
    }
  ok = ok && dyno_targets_load (&targets, y, context->params->task, NULL, context, error);

  for (guint i = 0; ok && i < names->len; i++)
    ok = add_item (list, g_ptr_array_index (names, i), targets.classes ? targets.classes[i] : 0,
                   DYNO_PART_TRAIN, error);
  if (ok)
    {
      list->n_values = targets.n_values;
      list->labels = targets.labels;
      if (targets.values)
        g_array_append_vals (list->values, targets.values, (guint) (targets.n * targets.n_values));
      dyno_targets_finish (&targets, y->shown, context->params->task, &dataset->info);
    }
  dyno_targets_clear (&targets);
  return ok;
}

static gboolean
load_records (Sequences *sequences, DynoDataset *dataset, GPtrArray *names, const char *targets,
              const DynoOpenContext *context, GError **error)
{
  g_autofree char *shown = g_filename_display_basename (context->location->body);
  DynoArray y;
  gboolean ok;

  if (!dyno_array_open (&y, targets, error))
    return FALSE;
  ok = take_records (sequences, dataset, &y, shown, names, context, error);
  dyno_array_clear (&y);
  if (ok && sequences->list->labels)
    return dyno_target_names_load_labels (&dataset->info, targets, error);
  return ok
         && (sequences->list->n_values == 0
             || dyno_target_names_load (&dataset->info, sequences->list->n_values, targets, error));
}

static gboolean
load_table (Sequences *sequences, DynoDataset *dataset, const DynoOpenContext *context,
            const char *path, GError **error)
{
  if (!dyno_manifest_load (sequences->list, dataset, context, path, FALSE, error))
    return FALSE;
  if (!sequences->list->masks)
    return TRUE;
  g_set_error (
      error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
      _ ("The list of the sequences in “%s” has a column of masks, which belong to images; "
         "name the column of the targets “label”"),
      dataset->info.name);
  return FALSE;
}

static gboolean
load_targets (Sequences *sequences, DynoDataset *dataset, const DynoOpenContext *context,
              GError **error)
{
  static const char *const tables[] = { "labels.csv",   "labels.tsv",     "labels.jsonl",
                                        "metadata.csv", "metadata.jsonl", NULL },
                           *const arrays[] = { "y.npy", "Y.npy", "labels.npy", NULL };
  const char *root = context->location->body;
  g_autoptr (GPtrArray) names = list_arrays (root);
  g_autofree char *table = find_file (root, tables), *shown = NULL,
                  *array = context->params->targets ? g_strdup (context->params->targets)
                                                    : find_file (root, arrays);

  if (table)
    return load_table (sequences, dataset, context, table, error);
  if (names->len == 0)
    return load_class_folders (sequences, dataset, context, error);
  if (array)
    return load_records (sequences, dataset, names, array, context, error);
  shown = g_filename_display_name (root);
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NOT_FOUND,
               _ ("The targets of the sequences in “%s” are missing: put the files of each class "
                  "into a folder of its own, or labels.csv (name, target) or y.npy beside them"),
               shown);
  return FALSE;
}

/* --- headers ---------------------------------------------------------------------------------- */

typedef struct {
  const DynoImageList *list;
  const DynoOpenContext *context;
  char *real_root;
  guint32 *steps, *features; /* steps of each file; 0: the file cannot be used */
  guint64 *sizes;
} Scan;

/* Steps and features of a sequence. */
static gboolean
measure (const DynoNpyHeader *header, guint32 *steps, guint32 *features, GError **error)
{
  guint64 n = header->n_dims > 0 ? header->shape[0] : 0, per_step = n > 0 ? header->n_items / n : 0,
          bytes;

  if (header->n_dims < 1 || header->n_dims > 2)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("it has %u dimensions; a sequence is (steps, features) or (steps)"),
                 header->n_dims);
  else if (n == 0 || per_step == 0)
    g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY, _ ("it has no step"));
  else if (!dyno_size_mul (header->n_items, sizeof (float), &bytes) || bytes > MAX_SAMPLE_BYTES)
    g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                         _ ("a sequence of more than 1 GB"));
  else
    {
      *steps = (guint32) n;
      *features = (guint32) per_step;
      return TRUE;
    }
  return FALSE;
}

static gboolean
probe_one (const Scan *scan, guint64 i, GError **error)
{
  const DynoListedImage *item = &g_array_index (scan->list->items, DynoListedImage, i);
  g_autofree char *path = dyno_image_list_get_path (scan->list, item);
  DynoNpyHeader header;
  gboolean ok;
  int fd;

  scan->steps[i] = 0;
  if (!dyno_image_list_check_inside (scan->list, scan->context, scan->real_root, path, error))
    return FALSE;
  fd = dyno_datafile_open (path, &scan->sizes[i], error);
  if (fd < 0)
    return FALSE;
  ok = dyno_npy_read_header (fd, 0, scan->sizes[i], &header, error)
       && measure (&header, &scan->steps[i], &scan->features[i], error);
  close (fd);
  return ok;
}

static void
probe_run (guint64 first, guint64 end, gpointer data)
{
  for (guint64 i = first; i < end; i++)
    probe_one (data, i, NULL);
}

static void
note_refused (const Scan *scan, DynoDataset *dataset, guint64 i, guint32 features)
{
  const DynoListedImage *item = &g_array_index (scan->list->items, DynoListedImage, i);
  g_autofree char *reason = NULL;
  g_autoptr (GError) error = NULL;

  if (scan->steps[i] > 0)
    reason = g_strdup_printf (ngettext ("it has %u feature a step, most sequences have %u",
                                        "it has %u features a step, most sequences have %u",
                                        (gulong) scan->features[i]),
                              scan->features[i], features);
  else if (dataset->unreadable->len < scan->context->max_listed)
    probe_one (scan, i, &error);
  dyno_image_list_note (dataset, scan->context, dyno_image_list_get_name (scan->list, item), 0,
                        reason  ? reason
                        : error ? error->message
                                : _ ("it changed while it was read"));
}

static void
take_facts (DynoDatasetInfo *info, const Scan *scan, guint64 i)
{
  const DynoImageList *list = scan->list;
  const DynoListedImage *item = &g_array_index (list->items, DynoListedImage, i);
  const float *values =
      list->n_values > 0 ? &g_array_index (list->values, float, i * list->n_values) : NULL;
  guint64 words[4] = { scan->sizes[i], scan->steps[i],
                       (guint64) item->class_id << 1 | (item->part > DYNO_PART_TRAIN), i };

  info->size_bytes += scan->sizes[i];
  info->content_hash += dyno_hash_bytes (
      dyno_hash_bytes (dyno_hash_string (DYNO_HASH_START, dyno_image_list_get_name (list, item)),
                       words, sizeof words),
      values, list->n_values * sizeof (float));
  info->min_width = MIN (info->min_width, scan->steps[i]);
  info->max_width = MAX (info->max_width, scan->steps[i]);
  info->has_split = info->has_split || item->part > DYNO_PART_TRAIN;
}

/* The number of features that most sequences have, in a tie the number that was found first; or the
 * number that the weights read, if any sequence has it. */
static guint32
choose_features (const Scan *scan)
{
  const DynoBatchField *wanted = scan->context->wanted;
  g_autoptr (GHashTable) counts = g_hash_table_new (NULL, NULL);
  guint32 chosen = 0, most = 0;

  for (guint i = 0; i < scan->list->items->len; i++)
    if (scan->steps[i] > 0)
      {
        gpointer key = GUINT_TO_POINTER (scan->features[i]);
        guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, key)) + 1;

        g_hash_table_insert (counts, key, GUINT_TO_POINTER (n));
        if (wanted && wanted->n_axes == 2 && scan->features[i] == wanted->shape[1])
          return scan->features[i];
      }
  for (guint i = 0; i < scan->list->items->len; i++)
    {
      guint n = scan->steps[i] == 0 ? 0
                                    : GPOINTER_TO_UINT (g_hash_table_lookup (
                                        counts, GUINT_TO_POINTER (scan->features[i])));
      if (n > most)
        {
          most = n;
          chosen = scan->features[i];
        }
    }
  return chosen;
}

/* Keeps the sequences with this number of features, with their values, in their order. */
static void
keep_readable (Sequences *sequences, DynoDataset *dataset, const Scan *scan)
{
  DynoImageList *list = sequences->list;
  DynoDatasetInfo *info = &dataset->info;
  DynoListedImage *items = (DynoListedImage *) (gpointer) list->items->data;
  float *values = (float *) (gpointer) list->values->data;
  gsize n_values = list->n_values;
  guint kept = 0;

  info->content_hash = DYNO_HASH_START;
  info->min_width = G_MAXUINT32;
  sequences->features = choose_features (scan);
  for (guint i = 0; i < list->items->len; i++)
    {
      if (scan->steps[i] == 0 || scan->features[i] != sequences->features)
        {
          note_refused (scan, dataset, i, sequences->features);
          continue;
        }
      take_facts (info, scan, i);
      if (list->labels)
        dyno_dataset_info_count_labels (info, values + i * n_values);
      else if (n_values == 0 && !scan->context->paths)
        info->class_counts[items[i].class_id]++;
      items[kept] = items[i];
      if (n_values > 0)
        memmove (values + kept * n_values, values + i * n_values, n_values * sizeof (float));
      kept++;
    }
  g_array_set_size (list->items, kept);
  g_array_set_size (list->values, (guint) (kept * n_values));
  info->n_samples = kept;
  info->min_width = kept > 0 ? info->min_width : 0;
  info->min_height = info->max_height = kept > 0;
  sequences->longest = info->max_width;
}

static gboolean
read_headers (Sequences *sequences, DynoDataset *dataset, const DynoOpenContext *context,
              GError **error)
{
  guint n = sequences->list->items->len;
  g_autofree guint32 *steps = g_new0 (guint32, MAX (n, 1)),
                     *features = g_new0 (guint32, MAX (n, 1));
  g_autofree guint64 *sizes = g_new0 (guint64, MAX (n, 1));
  Scan scan = { .list = sequences->list,
                .context = context,
                .real_root = realpath (sequences->list->root, NULL),
                .steps = steps,
                .features = features,
                .sizes = sizes };
  gboolean ok = dyno_scan_threads_run (n, RUN, MIN (dyno_cores_count () + 1, MAX_THREADS),
                                       probe_run, &scan, context->progress, context->progress_data,
                                       context->cancellable, error);

  if (ok)
    keep_readable (sequences, dataset, &scan);
  free (scan.real_root);
  return ok;
}

static gboolean
set_schema (const Sequences *sequences, DynoDatasetInfo *info, gboolean labelled, GError **error)
{
  const DynoBatchField sequence = { .name = "sequence",
                                    .role = DYNO_FIELD_INPUT,
                                    .element = DYNO_ELEMENT_F32,
                                    .n_axes = 2,
                                    .shape = { sequences->longest, sequences->features },
                                    .axes = "TF",
                                    .variable = TRUE },
                       length = { .name = "length",
                                  .role = DYNO_FIELD_LENGTH,
                                  .element = DYNO_ELEMENT_I32 };

  if ((guint64) sequences->longest * sequences->features > MAX_SAMPLE_BYTES / sizeof (float))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("The longest sequence of “%s” has more than 1 GB; cut it"), info->name);
      return FALSE;
    }
  dyno_schema_add (&info->schema, &sequence);
  if (labelled && sequences->list->labels)
    dyno_schema_add_labels (&info->schema, sequences->list->n_values);
  else if (labelled)
    dyno_schema_add_target (&info->schema, sequences->list->n_values);
  dyno_schema_add (&info->schema, &length);
  if (labelled)
    dyno_schema_add_seed (&info->schema);
  return TRUE;
}

static gboolean
sequences_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  Sequences *sequences = dataset->state = g_new0 (Sequences, 1);

  sequences->list = dyno_image_list_new ();
  sequences->list->root = g_strdup (context->location->body);
  if (!load_targets (sequences, dataset, context, error)
      || !read_headers (sequences, dataset, context, error))
    return FALSE;
  dataset->info.knows_values = sequences->list->n_values > 0;
  return set_schema (sequences, &dataset->info, TRUE, error);
}

/* Without targets the length is at least that of the weights' input: training data was padded to
 * that length. */
static gboolean
sequencefiles_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  Sequences *sequences = dataset->state = g_new0 (Sequences, 1);
  DynoDatasetInfo *info = &dataset->info;
  DynoDatasetParams params = *context->params;
  DynoOpenContext own = *context;
  g_autoptr (GPtrArray) files = dyno_unlabelled_list (dataset, context, FALSE, error);

  sequences->list = dyno_image_list_new ();
  sequences->list->root = g_strdup ("");
  for (guint i = 0; files && i < files->len; i++)
    if (!add_item (sequences->list, g_ptr_array_index (files, i), 0, FALSE, error))
      return FALSE;
  params.links = TRUE; /* the listing has already refused links that must not be followed */
  own.params = &params;
  if (!files || !read_headers (sequences, dataset, &own, error))
    return FALSE;
  if (context->wanted && context->wanted->n_axes == 2 && info->n_samples > 0)
    sequences->longest = info->max_width = MAX (sequences->longest, context->wanted->shape[0]);
  return set_schema (sequences, info, FALSE, error);
}

static void
sequences_close (DynoDataset *dataset)
{
  Sequences *sequences = dataset->state;

  if (sequences)
    dyno_image_list_free (sequences->list);
  g_free (sequences);
}

/* --- samples ---------------------------------------------------------------------------------- */

static const DynoListedImage *
get_item (DynoDataset *dataset, guint64 index)
{
  const Sequences *sequences = dataset->state;
  return &g_array_index (sequences->list->items, DynoListedImage, index);
}

static char *
get_path (DynoDataset *dataset, guint64 index)
{
  const Sequences *sequences = dataset->state;
  return dyno_image_list_get_path (sequences->list, get_item (dataset, index));
}

static gint32
sequences_label (DynoDataset *dataset, guint64 index)
{
  return get_item (dataset, index)->class_id;
}

static const float *
sequences_values (DynoDataset *dataset, guint64 index)
{
  const DynoImageList *list = ((const Sequences *) dataset->state)->list;
  return &g_array_index (list->values, float, index * list->n_values);
}

static guint32
sequences_group (DynoDataset *dataset, guint64 index)
{
  return get_item (dataset, index)->group;
}

static DynoPart
sequences_part (DynoDataset *dataset, guint64 index)
{
  return MAX ((DynoPart) get_item (dataset, index)->part, DYNO_PART_TRAIN);
}

static char *
sequences_describe (DynoDataset *dataset, guint64 index)
{
  const Sequences *sequences = dataset->state;
  return g_filename_display_name (
      dyno_image_list_get_name (sequences->list, get_item (dataset, index)));
}

static gboolean
sequences_probe (DynoDataset *dataset, guint64 index, GError **error)
{
  g_autofree char *path = get_path (dataset, index);
  return dyno_datafile_probe (path, 0, error);
}

static gboolean
sequences_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched,
                 GError **error)
{
  g_autofree char *path = get_path (dataset, index);
  return dyno_datafile_read (path, 2 * MAX_SAMPLE_BYTES + DYNO_NPY_MAX_HEADER + 12, scratch,
                             fetched, error);
}

/* Writes the items to out, in C order; FALSE: an item is not finite. */
static gboolean
put_items (const DynoNpyHeader *header, const guint8 *bytes, guint32 steps, guint32 features,
           float *out)
{
  gboolean finite = TRUE;

  for (guint32 t = 0; t < steps; t++)
    for (guint32 f = 0; f < features; f++)
      {
        guint64 place = header->fortran ? (guint64) f * steps + t : (guint64) t * features + f;
        float value = (float) dyno_npy_get_double (header, bytes + place * header->item_bytes);

        finite = finite && isfinite (value);
        *out++ = value;
      }
  return finite;
}

static gboolean
name_error (DynoDataset *dataset, guint64 index, GError **error)
{
  g_autofree char *path = get_path (dataset, index), *shown = g_filename_display_name (path);

  g_prefix_error (error, "“%s”: ", shown);
  return FALSE;
}

static gboolean
sequences_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                  gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const Sequences *sequences = dataset->state;
  const DynoBatchSchema *schema = &dataset->info.schema;
  guint n_values = sequences->list->n_values;
  int place = dyno_schema_find_index (schema, DYNO_FIELD_TARGET); /* -1: without labels */
  gpointer out = fields[dyno_schema_find_index (schema, DYNO_FIELD_INPUT)];
  guint32 steps = 0, features = 0;
  DynoNpyHeader header;

  if (!dyno_npy_parse (scratch->data, fetched, fetched, &header, error)
      || !measure (&header, &steps, &features, error))
    return name_error (dataset, index, error);
  if (steps > sequences->longest || features != sequences->features)
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                           _ ("it changed since the data set was opened"));
      return name_error (dataset, index, error);
    }
  if (!put_items (&header, scratch->data + header.data_offset, steps, features, out))
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                           _ ("it holds a number that is not finite; remove or mend it"));
      return name_error (dataset, index, error);
    }
  dyno_field_pad (dyno_schema_find_role (schema, DYNO_FIELD_INPUT), out, steps);
  if (n_values > 0)
    memcpy (fields[place], sequences_values (dataset, index), n_values * sizeof (float));
  else if (place >= 0)
    *(gint32 *) fields[place] = sequences_label (dataset, index);
  *(gint32 *) fields[dyno_schema_find_index (schema, DYNO_FIELD_LENGTH)] = (gint32) steps;
  return TRUE;
}

const DynoDatasetClass dyno_dataset_class_sequences = {
  .kind = "sequences",
  .title = "Sequences (NumPy)",
  .matches = sequences_matches,
  .open = sequences_open,
  .close = sequences_close,
  .fetch = sequences_fetch,
  .decode = sequences_decode,
  .label = sequences_label,
  .values = sequences_values,
  .probe = sequences_probe,
  .describe = sequences_describe,
  .group = sequences_group,
  .part = sequences_part,
};

const DynoDatasetClass dyno_dataset_class_sequencefiles = {
  .kind = "sequence-files",
  .title = "Sequences (NumPy)",
  .open = sequencefiles_open,
  .close = sequences_close,
  .fetch = sequences_fetch,
  .decode = sequences_decode,
  .probe = sequences_probe,
  .describe = sequences_describe,
};
