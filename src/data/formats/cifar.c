/* SPDX-License-Identifier: MIT */
/* CIFAR-10 and CIFAR-100 in their binary form: a folder with data_batch_*.bin and test_batch.bin,
 * or with train.bin and test.bin, or one such file, whatever its name.  A folder with a test file
 * brings its own split.
 *
 * A record is a label (of CIFAR-100: a coarse one, then the fine one, which is the class) and three
 * planes of 32 x 32 bytes.  There is no header: the size, a multiple of the record, and labels in
 * range decide which of the two sets it is.
 *
 * Invariants: everything lies in memory after open, training part first; pixels are (32, 32, 3)
 * bytes; the memory follows from the sizes of the files. */
#include "dataset-class.h"
#include "checked.h"
#include "datafile.h"
#include "foldernames.h"
#include "hash.h"
#include "intl.h"
#include "resize.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define SIDE       32
#define PLANE      (SIDE * SIDE)
#define PIXELS     (3 * PLANE)
#define RUN        256 /* records that are read at a time */
#define PEEKED     64  /* records whose labels decide the kind */
#define MAX_BYTES  (G_GUINT64_CONSTANT (1) << 36)
#define MAX_NAMES  (64 * 1024)
#define MAX_LABELS 2

typedef struct {
  guint n_labels; /* bytes before the pixels; the last one is the class */
  guint32 limits[MAX_LABELS];
  const char *names_file;
} Kind;

static const Kind kinds[] = {
  { 1, { 10 }, "batches.meta.txt" },
  { 2, { 20, 100 }, "fine_label_names.txt" },
};

typedef struct {
  const Kind *kind;
  guint8 *images, *labels;
  guint64 n_samples, n_train;
} Cifar;

static guint64
record_bytes (const Kind *kind)
{
  return kind->n_labels + PIXELS;
}

/* The index of the first label of a record that is out of range, or -1. */
static int
find_bad_label (const Kind *kind, const guint8 *record)
{
  for (guint i = 0; i < kind->n_labels; i++)
    if (record[i] >= kind->limits[i])
      return (int) i;
  return -1;
}

/* The kind whose records the file may have, or NULL. */
static const Kind *
peek_kind (int fd, guint64 size)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      guint64 record = record_bytes (&kinds[k]), n = MIN (size / record, PEEKED);
      guint8 labels[MAX_LABELS];
      gboolean fits = size > 0 && size % record == 0;

      for (guint64 i = 0; i < n && fits; i++)
        fits = dyno_datafile_pread (fd, labels, kinds[k].n_labels, i * record)
                   == (gssize) kinds[k].n_labels
               && find_bad_label (&kinds[k], labels) < 0;
      if (fits)
        return &kinds[k];
    }
  return NULL;
}

static const Kind *
peek_file (const char *path)
{
  guint64 size;
  int fd = dyno_datafile_open (path, &size, NULL);
  const Kind *kind = fd >= 0 ? peek_kind (fd, size) : NULL;

  if (fd >= 0)
    close (fd);
  return kind;
}

/* The kind that a file has by its name; the content of a damaged file does not show it. */
static const Kind *
kind_of_name (const char *name)
{
  if (g_str_equal (name, "train.bin") || g_str_equal (name, "test.bin"))
    return &kinds[1];
  if (g_str_has_suffix (name, ".bin")
      && (g_str_has_prefix (name, "data_batch_") || g_str_equal (name, "test_batch.bin")))
    return &kinds[0];
  return NULL;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Names of a folder's files of one kind, the test part last; NULL: there are none. */
static GPtrArray *
find_files (const char *folder, guint *n_train)
{
  g_autoptr (GPtrArray) train = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autofree char *whole = g_build_filename (folder, "train.bin", NULL),
                  *names = g_build_filename (folder, kinds[1].names_file, NULL), *last = NULL;
  const char *name, *test = "test_batch.bin";

  while (dir && (name = dyno_folder_next_name (dir)))
    if (kind_of_name (name) == &kinds[0] && !g_str_equal (name, "test_batch.bin"))
      g_ptr_array_add (train, g_strdup (name));
  g_ptr_array_sort (train, compare_names);
  /* Other programs write a train.bin, too: its content, or the file of names, must be
   * CIFAR-100's. */
  if (train->len == 0
      && (peek_file (whole) == &kinds[1]
          || (g_file_test (names, G_FILE_TEST_EXISTS) && g_file_test (whole, G_FILE_TEST_EXISTS))))
    {
      g_ptr_array_add (train, g_strdup ("train.bin"));
      test = "test.bin";
    }
  *n_train = train->len;
  last = g_build_filename (folder, test, NULL);
  if (train->len > 0 && g_file_test (last, G_FILE_TEST_EXISTS))
    g_ptr_array_add (train, g_strdup (test));
  return train->len > 0 ? g_steal_pointer (&train) : NULL;
}

/* TRUE for the version for Python: a folder of pickles, or one such file.  It is recognised only so
 * that the error can name the next step. */
static gboolean
is_of_python (const DynoLocation *location)
{
  static const char *const pairs[][2] = { { "data_batch_1", "batches.meta" }, { "train", "meta" } };
  g_autofree char *base = g_path_get_basename (location->body);

  for (guint i = 0; location->is_folder && i < G_N_ELEMENTS (pairs); i++)
    {
      g_autofree char *data = g_build_filename (location->body, pairs[i][0], NULL),
                      *names = g_build_filename (location->body, pairs[i][1], NULL);
      if (g_file_test (data, G_FILE_TEST_IS_REGULAR) && g_file_test (names, G_FILE_TEST_IS_REGULAR))
        return TRUE;
    }
  return !location->is_folder && !strchr (base, '.')
         && (g_str_has_prefix (base, "data_batch_") || g_str_equal (base, "test_batch"));
}

static gboolean
cifar_matches (const DynoLocation *location)
{
  g_autoptr (GPtrArray) files = NULL;
  g_autofree char *base = NULL;
  guint n_train;

  if (location->scheme)
    return FALSE;
  if (location->is_folder)
    {
      files = find_files (location->body, &n_train);
      return files || is_of_python (location);
    }
  base = g_path_get_basename (location->body);
  return kind_of_name (base) || peek_file (location->body) || is_of_python (location);
}

/* Turns planes into pixels, and separates the labels. */
static gboolean
take_records (Cifar *cifar, const guint8 *bytes, guint64 n, guint64 first, const char *shown,
              GError **error)
{
  const Kind *kind = cifar->kind;

  for (guint64 i = 0; i < n; i++, bytes += record_bytes (kind))
    {
      const guint8 *planes = bytes + kind->n_labels;
      guint8 *out = cifar->images + cifar->n_samples * PIXELS;
      int bad = find_bad_label (kind, bytes);

      if (bad >= 0)
        {
          g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                       _ ("“%s”: record %" PRIu64 " has the label %u where CIFAR-%u has 0 to %u; "
                          "get the file again"),
                       shown, first + i, bytes[bad], kind->limits[kind->n_labels - 1],
                       kind->limits[bad] - 1);
          return FALSE;
        }
      for (guint p = 0; p < PLANE; p++)
        for (guint c = 0; c < 3; c++)
          out[p * 3 + c] = planes[c * PLANE + p];
      cifar->labels[cifar->n_samples++] = bytes[kind->n_labels - 1];
    }
  return TRUE;
}

static gboolean
read_records (Cifar *cifar, int fd, const char *path, guint64 n, GError **error)
{
  guint64 record = record_bytes (cifar->kind);
  g_autofree guint8 *bytes = g_malloc (RUN * record);
  g_autofree char *shown = g_filename_display_name (path);

  for (guint64 first = 0; first < n; first += RUN)
    {
      guint64 count = MIN (n - first, RUN);
      gssize got = dyno_datafile_pread (fd, bytes, count * record, first * record);

      if (got < 0)
        {
          dyno_datafile_set_error (error, errno, path);
          return FALSE;
        }
      if ((guint64) got < count * record)
        {
          g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                       _ ("“%s” became shorter while it was read; open it again"), shown);
          return FALSE;
        }
      if (!take_records (cifar, bytes, count, first, shown, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
grow (Cifar *cifar, guint64 n, const char *path, GError **error)
{
  guint64 images, labels;
  gpointer grown;

  if (dyno_size_add (cifar->n_samples, n, &labels) && dyno_size_mul (labels, PIXELS, &images)
      && images <= MAX_BYTES)
    {
      grown = g_try_realloc (cifar->images, MAX (images, 1));
      cifar->images = grown ? grown : cifar->images;
      if (grown)
        grown = g_try_realloc (cifar->labels, MAX (labels, 1));
      cifar->labels = grown ? grown : cifar->labels;
      if (grown)
        return TRUE;
    }
  g_autofree char *shown = g_filename_display_name (path);
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY,
               _ ("“%s”: no memory for its %" PRIu64 " images of 3 KB"), shown, n);
  return FALSE;
}

static gboolean
load_file (Cifar *cifar, const char *path, guint64 *size_bytes, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path), *base = g_path_get_basename (path);
  guint64 size, n;
  int fd = dyno_datafile_open (path, &size, error);
  gboolean ok;

  if (fd < 0)
    return FALSE;
  if (!cifar->kind)
    cifar->kind = peek_kind (fd, size);
  if (!cifar->kind)
    cifar->kind = kind_of_name (base);
  if (!cifar->kind || size == 0 || size % record_bytes (cifar->kind) != 0)
    {
      guint64 record = record_bytes (cifar->kind ? cifar->kind : &kinds[0]);

      close (fd);
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
          ngettext ("“%s” has %" PRIu64 " byte, which is no multiple of a record's %" PRIu64
                    ": record %" PRIu64 " has %" PRIu64 " of them; get the file again",
                    "“%s” has %" PRIu64 " bytes, which is no multiple of a record's %" PRIu64
                    ": record %" PRIu64 " has %" PRIu64 " of them; get the file again",
                    (gulong) size),
          shown, size, record, size / record, size % record);
      return FALSE;
    }
  n = size / record_bytes (cifar->kind);
  ok = grow (cifar, n, path, error) && read_records (cifar, fd, path, n, error);
  close (fd);
  *size_bytes += size;
  return ok;
}

/* A line for each class; a list of another length is not used, with a note. */
static void
load_names (DynoDataset *dataset, const char *folder, const Kind *kind)
{
  DynoDatasetInfo *info = &dataset->info;
  g_autofree char *path = g_build_filename (folder, kind->names_file, NULL);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree char *text = NULL, *valid = NULL;
  g_auto (GStrv) lines = NULL;
  guint32 n = 0;
  gsize size;

  if (!dyno_datafile_read (path, MAX_NAMES, bytes, &size, NULL))
    return;
  text = g_strndup ((const char *) bytes->data, size);
  valid = g_utf8_make_valid (text, -1);
  lines = g_strsplit (valid, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (*g_strstrip (lines[i]))
      {
        char *line = lines[i];
        lines[i] = lines[n];
        lines[n++] = line;
      }
  if (n == info->n_classes)
    for (guint32 i = 0; i < n; i++)
      {
        g_free (info->class_names[i]);
        info->class_names[i] = g_strdup (lines[i]);
      }
  else
    g_ptr_array_add (dataset->notes,
                     g_strdup_printf (_ ("“%s” is not used: it has %u names for %u classes"),
                                      kind->names_file, n, info->n_classes));
}

static void
fill_info (DynoDataset *dataset, const Cifar *cifar, const char *folder)
{
  DynoDatasetInfo *info = &dataset->info;

  info->n_samples = cifar->n_samples;
  info->min_width = info->max_width = info->min_height = info->max_height = SIDE;
  info->resizable = TRUE;
  info->has_split = cifar->n_train < cifar->n_samples;
  dyno_dataset_info_set_classes (info, cifar->kind->limits[cifar->kind->n_labels - 1]);
  for (guint64 i = 0; i < cifar->n_samples; i++)
    info->class_counts[cifar->labels[i]]++;
  load_names (dataset, folder, cifar->kind);
  info->schema = dyno_schema_image (DYNO_ELEMENT_U8, SIDE, SIDE, 3, 0);
  dyno_dataset_info_standardise (info, 0.5f, 0.25f);
  info->content_hash = dyno_hash_bytes (DYNO_HASH_START, cifar->images, cifar->n_samples * PIXELS);
  info->content_hash = dyno_hash_bytes (info->content_hash, cifar->labels, cifar->n_samples);
  info->content_hash = dyno_hash_bytes (info->content_hash, &cifar->n_train, sizeof cifar->n_train);
}

static gboolean
cifar_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  const char *body = context->location->body;
  Cifar *cifar = dataset->state = g_new0 (Cifar, 1);
  g_autoptr (GPtrArray) files = NULL;
  g_autofree char *folder =
      context->location->is_folder ? g_strdup (body) : g_path_get_dirname (body);
  guint n_train = 1;

  if (context->location->is_folder)
    files = find_files (folder, &n_train);
  if (!files && is_of_python (context->location))
    {
      g_autofree char *shown = g_filename_display_name (body);

      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   _ ("“%s” is CIFAR's version for Python (pickles), which is not read: take the "
                      "binary version from the same page, or save its data, (N, 3, 32, 32) bytes, "
                      "as X.npy and its labels as y.npy"),
                   shown);
      return FALSE;
    }
  if (!context->location->is_folder)
    {
      files = g_ptr_array_new_with_free_func (g_free);
      g_ptr_array_add (files, g_path_get_basename (body));
    }
  for (guint i = 0; files && i < files->len; i++)
    {
      g_autofree char *path = g_build_filename (folder, g_ptr_array_index (files, i), NULL);

      if (g_cancellable_set_error_if_cancelled (context->cancellable, error)
          || !load_file (cifar, path, &dataset->info.size_bytes, error))
        return FALSE;
      if (i < n_train)
        cifar->n_train = cifar->n_samples;
    }
  if (cifar->n_samples > 0)
    fill_info (dataset, cifar, folder);
  return TRUE;
}

static void
cifar_close (DynoDataset *dataset)
{
  Cifar *cifar = dataset->state;

  if (!cifar)
    return;
  g_free (cifar->images);
  g_free (cifar->labels);
  g_free (cifar);
}

static gint32
cifar_label (DynoDataset *dataset, guint64 index)
{
  const Cifar *cifar = dataset->state;
  return cifar->labels[index];
}

static DynoPart
cifar_part (DynoDataset *dataset, guint64 index)
{
  const Cifar *cifar = dataset->state;
  return index >= cifar->n_train ? DYNO_PART_VALIDATION : DYNO_PART_TRAIN;
}

static gboolean
cifar_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
              gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const Cifar *cifar = dataset->state;
  const guint8 *image = cifar->images + index * PIXELS;

  *(gint32 *) fields[DYNO_DATASET_TARGET] = cifar->labels[index];
  if (width == SIDE && height == SIDE)
    {
      memcpy (fields[DYNO_DATASET_INPUT], image, PIXELS);
      return TRUE;
    }
  if (!dyno_datafile_reserve (scratch, dyno_resize_scratch_bytes (SIDE, SIDE, 3, width, height),
                              error))
    return FALSE;
  dyno_resize_cover (image, SIDE, SIDE, 3, width, height, fields[DYNO_DATASET_INPUT],
                     scratch->data);
  return TRUE;
}

const DynoDatasetClass dyno_dataset_class_cifar = {
  .kind = "cifar",
  .title = "CIFAR",
  .matches = cifar_matches,
  .open = cifar_open,
  .close = cifar_close,
  .decode = cifar_decode,
  .label = cifar_label,
  .part = cifar_part,
};
