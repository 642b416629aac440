/* SPDX-License-Identifier: MIT */
/* NumPy data sets: X.npy with y.npy beside it, or the folder that holds them.
 *
 * Invariants:
 * - X is (N, H, W, C), (N, C, H, W), (N, H, W) with one channel, or (N, F) as one pixel of F
 *   channels; y is (N) or (N, 1) whole numbers: classes, or (N) or (N, T) floats: values, which
 *   y.names may name.
 * - X stays in the file and is read sample by sample with pread: a file that shrinks under a run is
 *   an error of the sample, where a mapping would be a signal.  y is read at once and checked.
 * - Unsigned bytes are fed as bytes and scaled to 0..1 as those of images are; everything else is
 *   fed as it is, in float32.  What is not finite there is an error of the sample. */
#include "dataset-class.h"
#include "checked.h"
#include "datafile.h"
#include "hash.h"
#include "intl.h"
#include "npyfile.h"
#include "targetnames.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MAX_CLASSES      100000
#define MAX_SAMPLE_BYTES (G_GUINT64_CONSTANT (1) << 30)
#define MAX_TARGET_BYTES (G_GUINT64_CONSTANT (1) << 34)

typedef struct {
  char *path;
  int fd;
  DynoNpyHeader header;
  guint64 sample_items;
  guint32 channels, n_values; /* of a sample; n_values 0: it has a class */
  gboolean planes;            /* samples are (C, H, W) */
  gboolean reads_at_once;     /* what of the file lies in memory can be told from what does not */
  gint32 *classes;
  float *values;
} Npy;

static void
npy_close (DynoDataset *dataset)
{
  Npy *npy = dataset->state;

  if (!npy)
    return;
  if (npy->fd >= 0)
    close (npy->fd);
  g_free (npy->path);
  g_free (npy->classes);
  g_free (npy->values);
  g_free (npy);
}

/* The array of samples in a folder, or NULL. */
static char *
find_samples (const char *folder)
{
  static const char *const names[] = { "X.npy", "x.npy" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
    }
  return NULL;
}

static gboolean
npy_matches (const DynoLocation *location)
{
  g_autofree char *within = location->is_folder ? find_samples (location->body) : NULL;

  return within
         || (!location->scheme && location->is_regular
             && (g_str_has_suffix (location->body, ".npy")
                 || (location->head_size >= 6 && memcmp (location->head, "\x93NUMPY", 6) == 0)));
}

/* The targets' file: as asked, or one of the usual names beside X. */
static char *
find_targets (const char *path, const char *asked, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *shown = g_filename_display_name (path);
  g_autofree char *stem =
      g_str_has_suffix (base, ".npy") ? g_strndup (base, strlen (base) - 4) : g_strdup (base);
  g_autofree char *with_y = g_strconcat (stem, "_y.npy", NULL);
  g_autofree char *for_x =
      base[0] == 'X' || base[0] == 'x' ? g_strconcat ("y", base + 1, NULL) : g_strdup (with_y);
  const char *names[] = { with_y, for_x, "y.npy", "labels.npy" };

  if (asked)
    return g_strdup (asked);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *candidate = g_build_filename (folder, names[i], NULL);
      if (strcmp (names[i], base) != 0 && g_file_test (candidate, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&candidate);
    }
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NOT_FOUND,
               _ ("The targets of “%s” are missing: put y.npy, labels.npy or %s beside it, or name "
                  "the file"),
               shown, with_y);
  return NULL;
}

static gboolean
take_class (Npy *npy, guint64 i, gint64 value, const char *name, gint64 *largest, GError **error)
{
  if (value < 0 || value >= MAX_CLASSES)
    {
      g_set_error (error, DYNO_DATA_ERROR,
                   value < 0 ? DYNO_DATA_ERROR_CORRUPT : DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s”, record %" PRIu64 ": class %" PRId64
                      " where 0 to %d is expected; whole numbers are classes, save values to "
                      "predict as floats"),
                   name, i, value, MAX_CLASSES - 1);
      return FALSE;
    }
  npy->classes[i] = (gint32) value;
  *largest = MAX (*largest, value);
  return TRUE;
}

static gboolean
take_value (Npy *npy, guint64 i, double value, guint32 n_targets, const char *name, GError **error)
{
  npy->values[i] = (float) value;
  if (isfinite (npy->values[i]))
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("“%s”, record %" PRIu64
                  ": %g where a finite number is expected; remove the record from both files"),
               name, i / n_targets, value);
  return FALSE;
}

static gboolean
take_targets (Npy *npy, DynoDatasetInfo *info, const DynoNpyHeader *header, const guint8 *bytes,
              const char *name, GError **error)
{
  gint64 largest = 0;

  if (header->kind == 'f')
    {
      info->knows_values = TRUE;
      npy->n_values = (guint32) (header->n_items / header->shape[0]);
      npy->values = g_try_new (float, header->n_items);
    }
  else
    npy->classes = g_try_new (gint32, header->n_items);
  if (!npy->values && !npy->classes)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s”: no memory for its targets"), name);
      return FALSE;
    }
  for (guint64 i = 0; i < header->n_items; i++, bytes += header->item_bytes)
    if (npy->values
            ? !take_value (npy, i, dyno_npy_get_double (header, bytes), npy->n_values, name, error)
            : !take_class (npy, i, dyno_npy_get_int (header, bytes), name, &largest, error))
      return FALSE;
  if (npy->classes)
    {
      dyno_dataset_info_set_classes (info, (guint32) largest + 1);
      for (guint64 i = 0; i < header->n_items; i++)
        info->class_counts[npy->classes[i]]++;
    }
  return TRUE;
}

static gboolean
check_targets (const DynoNpyHeader *header, const DynoNpyHeader *x, const char *name,
               const char *x_name, GError **error)
{
  guint64 n_targets = header->n_dims == 2 ? header->shape[1] : 1;

  if (header->n_dims < 1 || header->n_dims > 2 || (header->fortran && header->n_dims > 1)
      || n_targets == 0 || (header->kind != 'f' && n_targets != 1) || n_targets > 65536
      || header->data_bytes > MAX_TARGET_BYTES)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   _ ("“%s” must be (N) whole numbers for classes or (N) or (N, T) floats for "
                      "values, in C order"),
                   name);
      return FALSE;
    }
  if (header->shape[0] != x->shape[0])
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   _ ("“%s” has %" PRIu64 " records, “%s” has %" PRIu64
                      "; the files do not belong together"),
                   name, header->shape[0], x_name, x->shape[0]);
      return FALSE;
    }
  return TRUE;
}

static gboolean
load_targets (Npy *npy, DynoDatasetInfo *info, const char *path, GError **error)
{
  g_autofree char *name = g_filename_display_name (path);
  g_autofree char *x_name = g_filename_display_name (npy->path);
  g_autofree guint8 *bytes = NULL;
  DynoNpyHeader header;
  guint64 file_size;
  gboolean ok = FALSE;
  int fd = dyno_npy_open (path, &header, &file_size, error);

  if (fd < 0)
    return FALSE;
  info->size_bytes += file_size;
  if (check_targets (&header, &npy->header, name, x_name, error))
    {
      bytes = g_try_malloc (MAX (header.data_bytes, 1));
      if (!bytes)
        g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                     _ ("“%s”: no memory for its targets"), name);
      else if (dyno_datafile_pread (fd, bytes, header.data_bytes, header.data_offset)
               != (gssize) header.data_bytes)
        g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ, _ ("“%s” cannot be read whole"),
                     name);
      else
        ok = take_targets (npy, info, &header, bytes, name, error);
    }
  close (fd);
  if (ok)
    info->content_hash = dyno_hash_bytes (info->content_hash, bytes, header.data_bytes);
  return ok;
}

static gboolean
has_planes (const DynoNpyHeader *header, DynoAxes axes)
{
  guint64 second = header->shape[1], last = header->shape[3];

  if (header->n_dims != 4 || axes != DYNO_AXES_AUTO)
    return header->n_dims == 4 && axes == DYNO_AXES_NCHW;
  return (second == 1 || second == 3 || second == 4) && last > 4;
}

/* X's shape into height, width and channels. */
static gboolean
take_shape (Npy *npy, DynoDatasetInfo *info, DynoAxes axes, const char *name, GError **error)
{
  static const char *const names[] = { "NF", "NHW", "NHWC" };
  const DynoNpyHeader *header = &npy->header;
  guint64 shape[3] = { 1, 1, 1 }, bytes = 4;

  if (header->n_dims < 2 || header->n_dims > 4 || header->fortran)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   _ ("“%s” has %u dimensions%s; samples must be (N, H, W, C), (N, C, H, W), (N, "
                      "H, W) or (N, F) in C order "
                      "(numpy.ascontiguousarray)"),
                   name, header->n_dims, header->fortran ? _ (" in Fortran order") : "");
      return FALSE;
    }
  npy->planes = has_planes (header, axes);
  info->axes = npy->planes ? "NCHW" : names[header->n_dims - 2];
  if (header->n_dims == 2)
    shape[2] = header->shape[1];
  else
    for (guint i = 1; i < header->n_dims; i++)
      shape[npy->planes ? (i + 1) % 3 : i - 1] = header->shape[i];
  for (guint i = 0; i < 3; i++)
    if (shape[i] == 0 || shape[i] > G_MAXUINT32 || !dyno_size_mul (bytes, shape[i], &bytes)
        || bytes > MAX_SAMPLE_BYTES)
      {
        g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                     _ ("“%s”: samples of %" PRIu64 " x %" PRIu64 " x %" PRIu64
                        " numbers; from one number to 1 GB is possible"),
                     name, shape[0], shape[1], shape[2]);
        return FALSE;
      }
  npy->sample_items = bytes / 4;
  info->n_samples = header->shape[0];
  info->min_height = info->max_height = (guint32) shape[0];
  info->min_width = info->max_width = (guint32) shape[1];
  npy->channels = (guint32) shape[2];
  return TRUE;
}

static gboolean
is_bytes (const DynoNpyHeader *header)
{
  return header->kind == 'u' && header->item_bytes == 1;
}

static void
set_schema (const Npy *npy, DynoDatasetInfo *info)
{
  info->schema =
      dyno_schema_image (is_bytes (&npy->header) ? DYNO_ELEMENT_U8 : DYNO_ELEMENT_F32,
                         info->max_height, info->max_width, npy->channels, npy->n_values);
  /* Bytes to 0..1 and no further; who made an array of floats chose their scale. */
  if (is_bytes (&npy->header))
    dyno_dataset_info_standardise (info, 0.0f, 1.0f);
}

static gboolean
npy_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoDatasetInfo *info = &dataset->info;
  Npy *npy = dataset->state = g_new0 (Npy, 1);
  g_autofree char *targets = NULL, *name = NULL;
  guint64 file_size;

  npy->fd = -1;
  npy->path = context->location->is_folder ? find_samples (context->location->body)
                                           : g_strdup (context->location->body);
  if (!npy->path)
    {
      dyno_datafile_set_error (error, ENOENT, context->location->body);
      return FALSE;
    }
  npy->fd = dyno_npy_open (npy->path, &npy->header, &file_size, error);
  if (npy->fd < 0)
    return FALSE;
  name = g_filename_display_name (npy->path);
  if (!take_shape (npy, info, context->params->axes, name, error))
    return FALSE;
  info->size_bytes = file_size;
  info->content_hash =
      dyno_hash_bytes (DYNO_HASH_START, npy->header.shape, npy->header.n_dims * sizeof (guint64));
  if (npy->planes)
    info->content_hash = dyno_hash_string (info->content_hash, info->axes);
  if (info->n_samples == 0)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY, _ ("“%s” holds no sample"), name);
      return FALSE;
    }
  targets = find_targets (npy->path, context->params->targets, error);
  if (!targets || !load_targets (npy, info, targets, error)
      || (npy->values && !dyno_target_names_load (info, npy->n_values, targets, error)))
    return FALSE;
  set_schema (npy, info);
  npy->reads_at_once = dyno_datafile_can_read_at_once (npy->fd);
  return TRUE;
}

static gint32
npy_label (DynoDataset *dataset, guint64 index)
{
  return ((const Npy *) dataset->state)->classes[index];
}

static const float *
npy_values (DynoDataset *dataset, guint64 index)
{
  const Npy *npy = dataset->state;

  return npy->values + index * npy->n_values;
}

/* From the file as its path finds it now: a disk that was unplugged and is back never answers
 * through a descriptor of before. */
static gssize
read_anew (const Npy *npy, guint8 *bytes, gsize size, guint64 offset, int *code)
{
  DynoNpyHeader header;
  guint64 file_size;
  gssize n = -1;
  int fd = dyno_npy_open (npy->path, &header, &file_size, NULL);

  if (fd < 0)
    return -1;
  if (header.data_offset == npy->header.data_offset && header.n_dims == npy->header.n_dims
      && memcmp (header.shape, npy->header.shape, header.n_dims * sizeof header.shape[0]) == 0
      && header.kind == npy->header.kind && header.item_bytes == npy->header.item_bytes
      && header.swap == npy->header.swap)
    {
      n = dyno_datafile_pread (fd, bytes, size, offset);
      *code = errno;
    }
  close (fd);
  return n;
}

static gboolean
npy_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched, GError **error)
{
  const Npy *npy = dataset->state;
  gsize size = *fetched = npy->sample_items * npy->header.item_bytes;
  guint64 offset = npy->header.data_offset + index * size;
  gssize n;
  int code;

  if (!dyno_datafile_reserve (scratch, size, error))
    return FALSE;
  n = dyno_datafile_pread (npy->fd, scratch->data, size, offset);
  code = errno;
  if (n < 0 && dyno_datafile_is_unreachable (code))
    n = read_anew (npy, scratch->data, size, offset, &code);
  if (n == (gssize) size)
    return TRUE;
  if (n < 0)
    dyno_datafile_set_error (error, code, npy->path);
  else
    {
      g_autofree char *name = g_filename_display_name (npy->path);
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ,
                   "“%s” became shorter while in use: record %" G_GUINT64_FORMAT
                   " has %" G_GSSIZE_FORMAT " bytes, expected %" G_GSIZE_FORMAT,
                   name, index, n, size);
    }
  return FALSE;
}

/* What is fed is finite: a NaN in the file, or a number that float32 cannot hold. */
static gboolean
check_values (const Npy *npy, guint64 index, const float *values, GError **error)
{
  g_autofree char *name = NULL;
  guint64 i, n = npy->sample_items;
  guint32 bad = 0, bits;

  for (i = 0; i < n; i++)
    {
      memcpy (&bits, values + i, sizeof bits);
      bad |= (bits & 0x7f800000) == 0x7f800000;
    }
  if (!bad)
    return TRUE;
  for (i = 0; isfinite (values[i]); i++)
    ;
  name = g_filename_display_name (npy->path);
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("“%s”, record %" PRIu64
                  ": %g where a finite number is expected; remove the record from both files"),
               name, index, (double) values[i]);
  return FALSE;
}

/* A sample's values as float32 in the file's order, within scratch, which begins with the sample as
 * it is in the file; NULL: they cannot be. */
static const float *
convert_values (const Npy *npy, guint64 index, GByteArray *scratch, gsize fetched, GError **error)
{
  const DynoNpyHeader *header = &npy->header;
  guint64 at = dyno_align_up (fetched, 16);
  const float *values = (const float *) (gconstpointer) scratch->data;

  if (header->kind != 'f' || header->item_bytes != 4 || header->swap)
    {
      /* Bounded by MAX_SAMPLE_BYTES. */
      if (!dyno_datafile_reserve (scratch, at + npy->sample_items * sizeof (float), error))
        return NULL;
      float *out = (float *) (gpointer) (scratch->data + at);
      for (guint64 i = 0; i < npy->sample_items; i++)
        out[i] = (float) dyno_npy_get_double (header, scratch->data + i * header->item_bytes);
      values = out;
    }
  return header->kind != 'f' || check_values (npy, index, values, error) ? values : NULL;
}

/* (C, H, W) to (H, W, C), written in order. */
static void
interleave (const DynoDatasetInfo *info, gconstpointer planes, gpointer pixels)
{
  gsize plane = (gsize) info->max_height * info->max_width, at = 0,
        channels = dyno_schema_count_channels (&info->schema);
  gboolean bytes = info->schema.fields[DYNO_DATASET_INPUT].element == DYNO_ELEMENT_U8;

  for (gsize i = 0; i < plane; i++)
    for (gsize c = 0; c < channels; c++, at++)
      if (bytes)
        ((guint8 *) pixels)[at] = ((const guint8 *) planes)[c * plane + i];
      else
        ((float *) pixels)[at] = ((const float *) planes)[c * plane + i];
}

static void
put_target (DynoDataset *dataset, guint64 index, gpointer target)
{
  const Npy *npy = dataset->state;

  if (npy->classes)
    *(gint32 *) target = npy->classes[index];
  else
    memcpy (target, npy->values + index * npy->n_values, npy->n_values * sizeof (float));
}

static gboolean
npy_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
            gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const Npy *npy = dataset->state;
  gboolean bytes = is_bytes (&npy->header);
  gconstpointer values =
      bytes ? scratch->data : (gconstpointer) convert_values (npy, index, scratch, fetched, error);

  if (!values)
    return FALSE;
  put_target (dataset, index, fields[DYNO_DATASET_TARGET]);
  if (npy->planes)
    interleave (&dataset->info, values, fields[DYNO_DATASET_INPUT]);
  else
    memcpy (fields[DYNO_DATASET_INPUT], values, npy->sample_items * (bytes ? 1 : sizeof (float)));
  return TRUE;
}

/* Bytes that lie in the page cache go from there to their place. */
static gboolean
npy_decode_at_once (DynoDataset *dataset, guint64 index, gpointer const *fields)
{
  const Npy *npy = dataset->state;

  if (!npy->reads_at_once || npy->planes || !is_bytes (&npy->header)
      || !dyno_datafile_read_at_once (npy->fd, fields[DYNO_DATASET_INPUT], npy->sample_items,
                                      npy->header.data_offset + index * npy->sample_items))
    return FALSE;
  put_target (dataset, index, fields[DYNO_DATASET_TARGET]);
  return TRUE;
}

static gboolean
npy_probe (DynoDataset *dataset, guint64 index, GError **error)
{
  const Npy *npy = dataset->state;

  return dyno_datafile_probe (
      npy->path, npy->header.data_offset + index * npy->sample_items * npy->header.item_bytes,
      error);
}

const DynoDatasetClass dyno_dataset_class_npy = {
  .kind = "npy",
  .title = "NumPy arrays",
  .matches = npy_matches,
  .open = npy_open,
  .close = npy_close,
  .fetch = npy_fetch,
  .decode = npy_decode,
  .decode_at_once = npy_decode_at_once,
  .label = npy_label,
  .values = npy_values,
  .probe = npy_probe,
};
