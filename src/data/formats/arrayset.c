/* SPDX-License-Identifier: MIT */
/* Data sets of arrays: the shared part of .npy files (npy.c) and .npz archives (npz.c).
 *
 * Invariants:
 * - X is (N, H, W, C), (N, C, H, W), (N, H, W) with one channel, or (N, F) as one pixel of F
 *   channels; three axes may also be (N, T, F) unless they are of unsigned bytes, which the params
 *   decide (is_sequences); y is (N) or (N, 1) whole numbers: classes, (N) or (N, T) floats:
 *   values, or (N, C) of 0 and 1: labels; y.names may name values and labels (arraytargets.h).
 * - X stays where it is (array.h) and is read sample by sample with pread: a file that shrinks
 *   during a run is an error of the sample; a mapping would raise a signal.  y is read at once and
 *   checked.
 * - Unsigned bytes stay bytes and are scaled to 0..1 as in images; other types become float32,
 *   unscaled.  A value that is not finite is an error of its sample.
 * - With two parts the second one validates; their samples have one shape and type. */
#include "arrayset.h"
#include "checked.h"
#include "datafile.h"
#include "hash.h"
#include "intl.h"
#include "targetnames.h"
#include "arraytargets.h"
#include "text.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_SAMPLE_BYTES (G_GUINT64_CONSTANT (1) << 30)

typedef struct {
  DynoArray x, y;         /* y: closed where there are no targets, and after they were read */
  guint64 first;          /* index of its first sample in the data set */
  gboolean reads_at_once; /* the system can distinguish cached bytes of the file from others */
} Part;

typedef struct {
  guint n_parts;
  Part *parts;
  guint64 sample_items;
  guint32 channels;
  gboolean planes;    /* samples are (C, H, W) */
  gboolean sequences; /* samples are (T, F) */
  DynoTargets targets;
} Set;

void
dyno_array_set_close (DynoDataset *dataset)
{
  Set *set = dataset->state;

  if (!set)
    return;
  for (guint i = 0; i < set->n_parts; i++)
    {
      dyno_array_clear (&set->parts[i].x);
      dyno_array_clear (&set->parts[i].y);
    }
  g_free (set->parts);
  dyno_targets_clear (&set->targets);
  g_free (set);
}

/* Finds the part of sample *index; *index becomes the index within the part. */
static const Part *
find_part (const Set *set, guint64 *index)
{
  guint low = 0, high = set->n_parts; /* the part is one of low to high - 1 */

  while (high - low > 1)
    {
      guint middle = low + (high - low) / 2;
      if (*index < set->parts[middle].first)
        high = middle;
      else
        low = middle;
    }
  *index -= set->parts[low].first;
  return &set->parts[low];
}

gboolean
dyno_array_set_learn (DynoDataset *dataset, DynoArray *y, GError **error)
{
  Set *set = dataset->state;
  DynoArray *own = &set->parts[set->n_parts - 1].y;
  const DynoArray *x = &set->parts[set->n_parts - 1].x;

  *own = *y;
  *y = DYNO_ARRAY_NONE;
  dataset->info.size_bytes += own->file_size;
  return dyno_targets_check (own, x->header.shape[0], x->shown, error);
}

static gboolean
has_planes (const DynoNpyHeader *header, DynoAxes axes)
{
  guint64 second = header->shape[1], last = header->shape[3];

  if (header->n_dims != 4 || axes != DYNO_AXES_AUTO)
    return header->n_dims == 4 && axes == DYNO_AXES_NCHW;
  return (second == 1 || second == 3 || second == 4) && last > 4;
}

/* Three axes are sequences if the model is for sequences, or, for prediction, if the input of the
 * weights is one. */
static gboolean
is_sequences (const DynoArray *x, const DynoDatasetParams *params)
{
  const DynoNpyHeader *header = &x->header;

  return header->n_dims == 3 && !(header->kind == 'u' && header->item_bytes == 1)
         && (params->sequences || (params->wanted && params->wanted->n_axes == 2));
}

/* Splits X's shape into height, width and channels; for sequences the width is the number of
 * steps. */
static gboolean
take_shape (Set *set, DynoDatasetInfo *info, const DynoDatasetParams *params, const DynoArray *x,
            GError **error)
{
  static const char *const names[] = { "NF", "NHW", "NHWC" };
  const DynoNpyHeader *header = &x->header;
  DynoAxes axes = params->axes;
  guint64 shape[3] = { 1, 1, 1 }, bytes = 4;

  if (header->n_dims < 2 || header->n_dims > 4)
    {
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
          ngettext ("“%s” has %u dimension; samples must be (N, H, W, C), (N, C, H, W), (N, "
                    "H, W) or (N, F)",
                    "“%s” has %u dimensions; samples must be (N, H, W, C), (N, C, H, W), (N, "
                    "H, W) or (N, F)",
                    (gulong) header->n_dims),
          x->shown, header->n_dims);
      return FALSE;
    }
  set->planes = has_planes (header, axes);
  set->sequences = is_sequences (x, params);
  info->axes = set->planes ? "NCHW" : set->sequences ? "NTF" : names[header->n_dims - 2];
  if (set->sequences)
    {
      shape[1] = header->shape[1];
      shape[2] = header->shape[2];
    }
  else if (header->n_dims == 2)
    shape[2] = header->shape[1];
  else
    for (guint i = 1; i < header->n_dims; i++)
      shape[set->planes ? (i + 1) % 3 : i - 1] = header->shape[i];
  for (guint i = 0; i < 3; i++)
    if (shape[i] == 0 || shape[i] > G_MAXUINT32 || !dyno_size_mul (bytes, shape[i], &bytes)
        || bytes > MAX_SAMPLE_BYTES)
      {
        g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                     _ ("“%s”: samples of %" PRIu64 " × %" PRIu64 " × %" PRIu64
                        " numbers; from one number to 1 GB is possible"),
                     x->shown, shape[0], shape[1], shape[2]);
        return FALSE;
      }
  set->sample_items = bytes / 4;
  info->min_height = info->max_height = (guint32) shape[0];
  info->min_width = info->max_width = (guint32) shape[1];
  set->channels = (guint32) shape[2];
  return TRUE;
}

static gboolean
is_bytes (const Set *set)
{
  return set->parts[0].x.header.kind == 'u' && set->parts[0].x.header.item_bytes == 1;
}

/* The samples of the other parts must be like those of the training part. */
static gboolean
check_alike (const DynoArray *x, const DynoArray *other, GError **error)
{
  const DynoNpyHeader *a = &x->header, *b = &other->header;

  if (a->n_dims == b->n_dims && a->kind == b->kind && a->item_bytes == b->item_bytes
      && (a->n_dims == 0
          || memcmp (a->shape + 1, b->shape + 1, (a->n_dims - 1) * sizeof a->shape[0]) == 0))
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("The samples of “%s” have another shape or type than those of “%s”; save both "
                  "parts alike"),
               other->shown, x->shown);
  return FALSE;
}

static gboolean
take_samples (DynoDataset *dataset, DynoArray *x, gboolean at_once, const DynoOpenContext *context,
              GError **error)
{
  DynoDatasetInfo *info = &dataset->info;
  Set *set = dataset->state = dataset->state ? dataset->state : g_new0 (Set, 1);
  Part *part;

  set->parts = g_renew (Part, set->parts, set->n_parts + 1);
  part = &set->parts[set->n_parts];
  *part = (Part){ .x = *x, .y = DYNO_ARRAY_NONE, .first = info->n_samples };
  *x = DYNO_ARRAY_NONE;
  x = &part->x;
  if (set->n_parts++ > 0 ? !check_alike (&set->parts[0].x, x, error)
                         : !take_shape (set, info, context->params, x, error))
    return FALSE;
  if (x->header.shape[0] == 0)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY, _ ("“%s” holds no sample"),
                   x->shown);
      return FALSE;
    }
  if (at_once && !dyno_array_load (x, context, error))
    return FALSE;
  info->size_bytes += x->file_size;
  info->n_samples += x->header.shape[0];
  return TRUE;
}

gboolean
dyno_array_set_take (DynoDataset *dataset, DynoArray *x, const DynoOpenContext *context,
                     GError **error)
{
  return take_samples (dataset, x, FALSE, context, error);
}

gboolean
dyno_array_set_take_unlabelled (DynoDataset *dataset, DynoArray *x, gboolean rests,
                                const DynoOpenContext *context, GError **error)
{
  gboolean ok = take_samples (dataset, x, TRUE, context, error);
  Set *set = dataset->state;

  if (!ok)
    dyno_array_clear (&set->parts[--set->n_parts].x);
  else if (rests)
    dyno_array_rest (&set->parts[set->n_parts - 1].x);
  return ok;
}

/* All targets are read first: they are few, and errors in them are found before samples are
 * copied. */
static gboolean
load (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoDatasetInfo *info = &dataset->info;
  Set *set = dataset->state;
  guint64 hash = DYNO_HASH_START;
  g_autofree char *shown = NULL;

  for (guint i = 0; i < set->n_parts; i++)
    {
      Part *part = &set->parts[i];

      hash = dyno_hash_bytes (hash, part->x.header.shape, part->x.header.n_dims * sizeof (guint64));
      if (set->planes || set->sequences)
        hash = dyno_hash_string (hash, info->axes);
      if (part->y.fd < 0)
        continue;
      if (!dyno_targets_load (&set->targets, &part->y, context->params->task, &hash, context,
                              error))
        return FALSE;
      if (i == 0)
        shown = g_strdup (part->y.shown);
      dyno_array_clear (&part->y);
    }
  info->content_hash = hash;
  if (shown)
    dyno_targets_finish (&set->targets, shown, context->params->task, info);
  for (guint i = 0; i < set->n_parts; i++)
    {
      Part *part = &set->parts[i];

      if (part->x.fd < 0)
        continue;
      if (!dyno_array_load (&part->x, context, error))
        return FALSE;
      part->reads_at_once = dyno_datafile_can_read_at_once (part->x.fd);
    }
  return TRUE;
}

/* All sequences have one length: nothing is padded, and the schema has no length. */
static void
set_sequence_schema (DynoDataset *dataset, gboolean tells)
{
  DynoDatasetInfo *info = &dataset->info;
  const Set *set = dataset->state;
  const DynoBatchField sequence = { .name = "sequence",
                                    .role = DYNO_FIELD_INPUT,
                                    .element = DYNO_ELEMENT_F32,
                                    .n_axes = 2,
                                    .shape = { info->max_width, set->channels },
                                    .axes = "TF" };

  dyno_schema_add (&info->schema, &sequence);
  if (set->targets.labels)
    dyno_schema_add_labels (&info->schema, set->targets.n_values);
  else
    dyno_schema_add_target (&info->schema, set->targets.n_values);
  dyno_schema_add_seed (&info->schema);
  if (tells)
    g_ptr_array_add (
        dataset->notes,
        g_strdup_printf (ngettext ("The array of (N, %u, %u) is read as sequences of %u steps "
                                   "of %u value, since the model is for sequences; other "
                                   "models read images of one channel",
                                   "The array of (N, %u, %u) is read as sequences of %u steps "
                                   "of %u values, since the model is for sequences; other "
                                   "models read images of one channel",
                                   (gulong) set->channels),
                         info->max_width, set->channels, info->max_width, set->channels));
}

gboolean
dyno_array_set_finish (DynoDataset *dataset, const char *targets, const DynoOpenContext *context,
                       GError **error)
{
  DynoDatasetInfo *info = &dataset->info;
  Set *set = dataset->state;
  const DynoTargets *learned = &set->targets;

  if (!load (dataset, context, error))
    return FALSE;
  if (learned->labels
          ? !dyno_target_names_load_labels (info, targets, error)
          : learned->values && !dyno_target_names_load (info, learned->n_values, targets, error))
    return FALSE;
  info->knows_values = learned->values != NULL;
  info->has_split = targets && set->n_parts > 1;
  for (guint64 i = 0; learned->classes && i < learned->n; i++)
    info->class_counts[learned->classes[i]]++;
  for (guint64 i = 0; learned->labels && i < learned->n; i++)
    dyno_dataset_info_count_labels (info, learned->values + i * learned->n_values);
  if (set->sequences)
    set_sequence_schema (dataset, context->params->sequences);
  else
    info->schema = (learned->labels ? dyno_schema_image_with_labels : dyno_schema_image) (
        is_bytes (set) ? DYNO_ELEMENT_U8 : DYNO_ELEMENT_F32, info->max_height, info->max_width,
        set->channels, learned->n_values);
  /* Bytes are only scaled to 0..1; the author of an array of floats chose its scale. */
  if (is_bytes (set))
    dyno_dataset_info_standardise (info, 0.0f, 1.0f);
  if (!targets)
    dyno_dataset_info_drop_targets (info);
  return TRUE;
}

char *
dyno_array_set_describe (DynoDataset *dataset, guint64 index)
{
  const Set *set = dataset->state;
  const DynoArray *x = &find_part (set, &index)->x;

  if (x->single)
    return g_strdup (x->shown);
  return set->n_parts > 1 ? g_strdup_printf ("%s #%" PRIu64, x->shown, index)
                          : g_strdup_printf ("#%" PRIu64, index);
}

gint32
dyno_array_set_label (DynoDataset *dataset, guint64 index)
{
  return ((const Set *) dataset->state)->targets.classes[index];
}

const float *
dyno_array_set_values (DynoDataset *dataset, guint64 index)
{
  const DynoTargets *targets = &((const Set *) dataset->state)->targets;

  return targets->values + index * targets->n_values;
}

DynoPart
dyno_array_set_part (DynoDataset *dataset, guint64 index)
{
  const Set *set = dataset->state;

  return set->n_parts > 2 && index >= set->parts[2].first   ? DYNO_PART_TEST
         : set->n_parts > 1 && index >= set->parts[1].first ? DYNO_PART_VALIDATION
                                                            : DYNO_PART_TRAIN;
}

gboolean
dyno_array_set_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched,
                      GError **error)
{
  const Set *set = dataset->state;
  const DynoArray *x = &find_part (set, &index)->x;
  gsize size = *fetched = set->sample_items * x->header.item_bytes;
  gssize n;
  int code;

  if (!dyno_datafile_reserve (scratch, size, error))
    return FALSE;
  n = dyno_array_read (x, scratch->data, size, index * size, &code);
  if (n == (gssize) size)
    return TRUE;
  if (n < 0)
    dyno_datafile_set_error (error, code, x->path);
  else
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ,
                 "“%s” became shorter while in use: record %" G_GUINT64_FORMAT
                 " has %" G_GSSIZE_FORMAT " %s, expected %" G_GSIZE_FORMAT,
                 x->shown, index, n, dyno_plural (n, "byte", "bytes"), size);
  return FALSE;
}

/* Values must be finite in float32: the file may hold a NaN, or a number out of its range. */
static gboolean
check_values (const Set *set, const DynoArray *x, guint64 index, const float *values,
              GError **error)
{
  guint64 i, n = set->sample_items;
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
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("“%s”, record %" PRIu64
                  ": %g where a finite number is expected; remove the record from both files"),
               x->shown, index, (double) values[i]);
  return FALSE;
}

/* A sample's values as float32 in the file's order, within scratch, which begins with the sample's
 * bytes from the file; NULL: a value cannot be converted. */
static const float *
convert_values (const Set *set, const DynoArray *x, guint64 index, GByteArray *scratch,
                gsize fetched, GError **error)
{
  const DynoNpyHeader *header = &x->header;
  guint64 at = dyno_align_up (fetched, 16);
  const float *values = (const float *) (gconstpointer) scratch->data;

  if (header->kind != 'f' || header->item_bytes != 4 || header->swap)
    {
      /* Bounded by MAX_SAMPLE_BYTES. */
      if (!dyno_datafile_reserve (scratch, at + set->sample_items * sizeof (float), error))
        return NULL;
      float *out = (float *) (gpointer) (scratch->data + at);
      for (guint64 i = 0; i < set->sample_items; i++)
        out[i] = (float) dyno_npy_get_double (header, scratch->data + i * header->item_bytes);
      values = out;
    }
  return header->kind != 'f' || check_values (set, x, index, values, error) ? values : NULL;
}

/* From (C, H, W) to (H, W, C), written in order. */
static void
interleave (const Set *set, gconstpointer planes, gpointer pixels)
{
  gsize channels = set->channels, plane = set->sample_items / channels, at = 0;
  gboolean bytes = is_bytes (set);

  for (gsize i = 0; i < plane; i++)
    for (gsize c = 0; c < channels; c++, at++)
      if (bytes)
        ((guint8 *) pixels)[at] = ((const guint8 *) planes)[c * plane + i];
      else
        ((float *) pixels)[at] = ((const float *) planes)[c * plane + i];
}

static void
put_target (const Set *set, guint64 index, gpointer const *fields)
{
  const DynoTargets *targets = &set->targets;

  if (targets->classes)
    *(gint32 *) fields[DYNO_DATASET_TARGET] = targets->classes[index];
  else if (targets->values)
    memcpy (fields[DYNO_DATASET_TARGET], targets->values + index * targets->n_values,
            targets->n_values * sizeof (float));
}

gboolean
dyno_array_set_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                       gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const Set *set = dataset->state;
  guint64 record = index;
  const DynoArray *x = &find_part (set, &record)->x;
  gboolean bytes = is_bytes (set);
  gconstpointer values =
      bytes ? scratch->data
            : (gconstpointer) convert_values (set, x, record, scratch, fetched, error);

  if (!values)
    return FALSE;
  put_target (set, index, fields);
  if (set->planes)
    interleave (set, values, fields[DYNO_DATASET_INPUT]);
  else
    memcpy (fields[DYNO_DATASET_INPUT], values, set->sample_items * (bytes ? 1 : sizeof (float)));
  return TRUE;
}

/* Bytes in the page cache are copied directly to their place. */
gboolean
dyno_array_set_decode_at_once (DynoDataset *dataset, guint64 index, gpointer const *fields)
{
  const Set *set = dataset->state;
  guint64 record = index;
  const Part *part = find_part (set, &record);

  if (!part->reads_at_once || set->planes || !is_bytes (set)
      || !dyno_datafile_read_at_once (part->x.fd, fields[DYNO_DATASET_INPUT], set->sample_items,
                                      part->x.header.data_offset + record * set->sample_items))
    return FALSE;
  put_target (set, index, fields);
  return TRUE;
}

gboolean
dyno_array_set_probe (DynoDataset *dataset, guint64 index, GError **error)
{
  const Set *set = dataset->state;
  const DynoArray *x = &find_part (set, &index)->x;

  return x->copied
         || dyno_datafile_probe (
             x->path, x->header.data_offset + index * set->sample_items * x->header.item_bytes,
             error);
}
