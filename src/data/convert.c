/* SPDX-License-Identifier: MIT */
/* Packs a data set.  All cores read and encode a chunk of samples, then the calling thread writes
 * the chunk in order. */
#include "convert.h"
#include "checked.h"
#include "datafile.h"
#include "dataset-class.h"
#include "file.h"
#include "hash.h"
#include "image.h"
#include "intl.h"
#include "members.h"
#include "npyfile.h"
#include "packed.h"
#include "parallel.h"
#include "rng.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define CHUNK      32 /* samples in memory */
#define BLOCK      512
#define MAX_LISTED 100
#define MAX_NAMES  16384 /* bytes */

typedef struct {
  guint64 index;
  GByteArray *scratch, *bytes, *pixels;
  const char *extension;
  gboolean copied;
  const DynoImageBox *box; /* the piece of the image that is the sample; NULL: the whole image */
  GError *error;
} Packed;

typedef struct {
  guint32 index;
  guint64 hash;     /* of the bytes of the written image or array */
  DynoImageBox box; /* width 0: there is none */
} Written;

typedef struct {
  DynoDataset *dataset;
  guint32 size;
  const char *path;
  char *temporary;
  int fd;
  GArray *written; /* Written, in the order of the file */
  Packed packed[CHUNK];
  GPtrArray *skipped; /* may be NULL */
  DynoConverted *converted;
} Convert;

/* --- one sample ------------------------------------------------------------------------------- */

static const char *
extension_of (DynoImageType type)
{
  switch (type)
    {
    case DYNO_IMAGE_JPEG:
      return "jpg";
    case DYNO_IMAGE_PNG:
      return "png";
    case DYNO_IMAGE_WEBP:
      return "webp";
    case DYNO_IMAGE_BMP:
      return "bmp";
    case DYNO_IMAGE_TIFF:
      return "tif";
    case DYNO_IMAGE_UNKNOWN:
    default:
      g_return_val_if_reached ("img");
    }
}

/* Scales the image so that the shorter side is `size`; never enlarges it. */
static void
scale (guint32 size, guint32 *width, guint32 *height)
{
  guint32 shorter = MIN (*width, *height);

  if (size == 0 || shorter <= size)
    return;
  *width = MAX ((guint32) (((guint64) *width * size + shorter / 2) / shorter), 1);
  *height = MAX ((guint32) (((guint64) *height * size + shorter / 2) / shorter), 1);
}

static gboolean
encode (const Convert *convert, Packed *one, guint32 width, guint32 height, gboolean lossless,
        GError **error)
{
  const DynoDatasetInfo *info = &convert->dataset->info;
  guint32 channels = dyno_schema_count_channels (&info->schema);
  g_autofree float *target = g_new0 (float, dyno_schema_count_floats (&info->schema) + 1);
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { [DYNO_DATASET_TARGET] = target };

  if (!dyno_datafile_reserve (one->pixels, (guint64) width * height * channels, error))
    return FALSE;
  fields[DYNO_DATASET_INPUT] = one->pixels->data;
  return dyno_dataset_decode (convert->dataset, one->index, width, height, fields, one->scratch,
                              error)
         && (lossless || channels == 1
                 ? dyno_image_encode_png (one->pixels->data, width, height, channels, one->bytes,
                                          error)
                 : dyno_image_encode_jpeg (one->pixels->data, width, height, one->bytes, error));
}

/* TRUE where the piece, stored without loss, gives the same pixels at any size.  FALSE for a JPEG,
 * which the decoder scales by its blocks where a small size is wanted, and for a piece larger than
 * the image: the file is written whole. */
static gboolean
is_cut_exactly (const DynoImageFacts *facts, const DynoImageBox *box)
{
  return facts->type != DYNO_IMAGE_JPEG
         && (guint64) box->width * (guint64) box->height <= (guint64) facts->width * facts->height;
}

static gboolean
pack_file (const Convert *convert, Packed *one, GError **error)
{
  const DynoDatasetClass *klass = convert->dataset->klass;
  const DynoImageBox *box = klass->box ? klass->box (convert->dataset, one->index) : NULL;
  DynoImageFacts facts;
  guint32 width, height, shown_width, shown_height;
  gsize size;

  if (!klass->fetch (convert->dataset, one->index, one->scratch, &size, error)
      || !dyno_image_probe (one->scratch->data, size, &facts, error))
    return FALSE;
  dyno_image_get_shown (&facts, &shown_width, &shown_height);
  if (box)
    {
      shown_width = (guint32) box->width;
      shown_height = (guint32) box->height;
    }
  width = shown_width;
  height = shown_height;
  scale (convert->size, &width, &height);
  if (width != shown_width || height != shown_height)
    {
      one->extension = "jpg";
      return encode (convert, one, width, height, FALSE, error);
    }
  if (box && is_cut_exactly (&facts, box))
    {
      one->extension = "png";
      return encode (convert, one, width, height, TRUE, error);
    }
  one->box = box;
  one->extension = extension_of (facts.type);
  one->copied = TRUE;
  g_byte_array_set_size (one->bytes, 0);
  g_byte_array_append (one->bytes, one->scratch->data, (guint) size);
  return TRUE;
}

/* Samples of bytes in grey or RGB are image files, all other samples arrays. */
static gboolean
are_images (const DynoDatasetInfo *info)
{
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);
  guint32 channels = dyno_schema_count_channels (&info->schema);

  return input->element == DYNO_ELEMENT_U8 && input->n_axes == 3
         && (channels == 1 || channels == 3);
}

/* The sample in the form in which the network reads it, without padded steps. */
static gboolean
pack_array (const Convert *convert, Packed *one, GError **error)
{
  const DynoDatasetInfo *info = &convert->dataset->info;
  const DynoBatchSchema *schema = &info->schema;
  const DynoBatchField *input = dyno_schema_find_role (schema, DYNO_FIELD_INPUT);
  int at_target = dyno_schema_find_index (schema, DYNO_FIELD_TARGET),
      at_length = dyno_schema_find_index (schema, DYNO_FIELD_LENGTH);
  g_autofree float *target = g_new0 (float, dyno_schema_count_floats (schema) + 1);
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { NULL };
  guint64 shape[DYNO_SCHEMA_MAX_AXES];
  gint32 length = (gint32) input->shape[0];

  if (!dyno_datafile_reserve (one->pixels,
                              dyno_field_count (input) * dyno_element_size (input->element), error))
    return FALSE;
  fields[dyno_schema_find_index (schema, DYNO_FIELD_INPUT)] = one->pixels->data;
  fields[at_target] = target;
  if (at_length >= 0)
    fields[at_length] = &length;
  if (!dyno_dataset_decode (convert->dataset, one->index, info->max_width, info->max_height, fields,
                            one->scratch, error))
    return FALSE;
  for (guint i = 0; i < input->n_axes; i++)
    shape[i] = i == 0 && input->variable ? (guint64) length : input->shape[i];
  one->extension = "npy";
  g_byte_array_set_size (one->bytes, 0);
  dyno_npy_append (one->bytes, input->element == DYNO_ELEMENT_U8 ? "u1" : "f4", input->n_axes,
                   shape, one->pixels->data);
  return TRUE;
}

static void
pack_one (guint i, gpointer data)
{
  Convert *convert = data;
  const DynoDatasetInfo *info = &convert->dataset->info;
  Packed *one = &convert->packed[i];
  guint32 width = info->max_width, height = info->max_height;

  one->copied = FALSE;
  one->box = NULL;
  if (!are_images (info))
    {
      pack_array (convert, one, &one->error);
      return;
    }
  if (convert->dataset->klass->has_files)
    {
      pack_file (convert, one, &one->error);
      return;
    }
  scale (convert->size, &width, &height);
  one->extension = "png";
  encode (convert, one, width, height, TRUE, &one->error);
}

/* --- the file --------------------------------------------------------------------------------- */

static gboolean
write_all (Convert *convert, const void *data, gsize size, GError **error)
{
  const guint8 *at = data;

  convert->converted->bytes += size;
  while (size > 0)
    {
      gssize n = write (convert->fd, at, size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return dyno_file_set_error (error, errno, convert->path);
      at += n;
      size -= (gsize) n;
    }
  return TRUE;
}

static gboolean
write_member (Convert *convert, const char *extension, const void *data, gsize size, GError **error)
{
  static const guint8 zeros[BLOCK];
  guint8 header[BLOCK];
  g_autofree char *name =
      g_strdup_printf ("%09" PRIu64 ".%s", convert->converted->n_written, extension);

  dyno_tar_make_header (header, name, size);
  return write_all (convert, header, sizeof header, error) && write_all (convert, data, size, error)
         && write_all (convert, zeros, (gsize) (dyno_align_up (size, BLOCK) - size), error);
}

/* A line for each name, in the format of targetnames.h; "": there are no names, or they are too
 * long for the reader of the file. */
static char *
list_value_names (const DynoDatasetInfo *info)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; info->target_names && info->target_names[i]; i++)
    {
      const char *unit = info->target_units[i];
      g_string_append_printf (names, i > 0 ? "\n%s" : "%s", info->target_names[i]);
      if (*unit)
        g_string_append_printf (names, " (%s)", unit);
    }
  if (names->len > MAX_NAMES)
    g_string_truncate (names, 0);
  return g_string_free (g_steal_pointer (&names), FALSE);
}

/* 1, 0, and -1 for a label that is not known, which JSON has no number for. */
static void
append_labels (GString *json, const float *labels, guint32 n)
{
  g_string_append (json, "\"labels\": [");
  for (guint32 i = 0; i < n; i++)
    g_string_append_printf (json, "%s%d", i > 0 ? ", " : "",
                            isnan (labels[i]) ? -1 : labels[i] > 0);
  g_string_append_c (json, ']');
}

static const char *const names_of_parts[] = {
  [DYNO_PART_TRAIN] = "train", [DYNO_PART_VALIDATION] = "val", [DYNO_PART_TEST] = "test"
};

/* Only the file's first sample has the names of values and the description of the whole data
 * set. */
static char *
describe_target (const Convert *convert, guint64 index, const DynoImageBox *box, gboolean first)
{
  DynoDataset *dataset = convert->dataset;
  guint32 n_values = dyno_schema_count_values (&dataset->info.schema),
          n_labels = dyno_schema_count_labels (&dataset->info.schema);
  g_autoptr (GString) json = g_string_new ("{");
  g_autofree char *name = dyno_dataset_describe_sample (dataset, index),
                  *names = first ? list_value_names (&dataset->info) : g_strdup ("");
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (n_values > 0)
    {
      const float *values = dyno_dataset_get_values (dataset, index);
      g_string_append (json, "\"values\": [");
      for (guint32 i = 0; i < n_values; i++)
        {
          g_ascii_formatd (number, sizeof number, "%.9g", (double) values[i]);
          /* a reader that takes "-0" for a whole number would lose the sign */
          g_string_append_printf (json, "%s%s", i > 0 ? ", " : "",
                                  strcmp (number, "-0") == 0 ? "-0.0" : number);
        }
      g_string_append_c (json, ']');
      if (*names)
        {
          g_string_append (json, ", \"value_names\": ");
          dyno_packed_append_string (json, names);
        }
    }
  else if (n_labels > 0)
    append_labels (json, dyno_dataset_get_values (dataset, index), n_labels);
  else
    {
      g_string_append (json, "\"label\": ");
      dyno_packed_append_string (
          json, dataset->info.class_names[dyno_dataset_get_label (dataset, index)]);
    }
  if (dataset->info.has_split)
    g_string_append_printf (json, ", \"split\": \"%s\"",
                            names_of_parts[dyno_dataset_get_part (dataset, index)]);
  if (box)
    g_string_append_printf (json, ", \"crop_xywh\": [%d, %d, %d, %d]", box->x, box->y, box->width,
                            box->height);
  if (first)
    dyno_packed_describe (&dataset->info, json);
  g_string_append_printf (json, ", \"source_index\": %" PRIu64 ", \"name\": ", index);
  dyno_packed_append_string (json, name);
  g_string_append (json, "}\n");
  return g_string_free (g_steal_pointer (&json), FALSE);
}

static gboolean
write_one (Convert *convert, Packed *one, GError **error)
{
  Written written = { .index = (guint32) one->index,
                      .hash = dyno_hash_bytes (DYNO_HASH_START, one->bytes->data, one->bytes->len),
                      .box = one->box ? *one->box : (DynoImageBox){ 0 } };
  g_autofree char *target =
      describe_target (convert, one->index, one->box, convert->converted->n_written == 0);

  if (!write_member (convert, one->extension, one->bytes->data, one->bytes->len, error)
      || !write_member (convert, "json", target, strlen (target), error))
    return FALSE;
  convert->converted->n_written++;
  convert->converted->n_copied += one->copied;
  g_array_append_val (convert->written, written);
  return TRUE;
}

/* A failing disk or server does not make a sample bad. */
static gboolean
skip_one (Convert *convert, Packed *one, GError **error)
{
  if (g_error_matches (one->error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE))
    {
      g_propagate_error (error, g_steal_pointer (&one->error));
      return FALSE;
    }
  convert->converted->n_skipped++;
  if (convert->skipped && convert->skipped->len < MAX_LISTED)
    {
      g_autofree char *name = dyno_dataset_describe_sample (convert->dataset, one->index);
      g_ptr_array_add (convert->skipped, g_strdup_printf ("%s: %s", name, one->error->message));
    }
  g_clear_error (&one->error);
  return TRUE;
}

static gboolean
write_samples (Convert *convert, const GArray *order, DynoScanProgress progress, gpointer data,
               GCancellable *cancellable, GError **error)
{
  static const guint8 end[2 * BLOCK];
  gboolean ok = TRUE;

  for (guint first = 0; first < order->len && ok; first += CHUNK)
    {
      guint n = MIN (CHUNK, order->len - first);

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      for (guint i = 0; i < n; i++)
        convert->packed[i].index = g_array_index (order, guint32, first + i);
      dyno_parallel_for (n, pack_one, convert);
      for (guint i = 0; i < n; i++)
        {
          Packed *one = &convert->packed[i];
          ok =
              ok && (one->error ? skip_one (convert, one, error) : write_one (convert, one, error));
          g_clear_error (&one->error);
        }
      if (progress)
        progress (first + n, data);
    }
  if (!ok)
    return FALSE;
  if (convert->converted->n_written == 0)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY,
                   _ ("Not one sample of “%s” could be read; nothing was written"),
                   convert->dataset->info.name);
      return FALSE;
    }
  return write_all (convert, end, sizeof end, error)
         && (fsync (convert->fd) == 0 || dyno_file_set_error (error, errno, convert->path));
}

/* --- reading it again ------------------------------------------------------------------------- */

/* Labels that are not known are NaN, of any bits. */
static gboolean
are_same_labels (const float *a, const float *b, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    if (isnan (a[i]) ? !isnan (b[i]) : a[i] != b[i])
      return FALSE;
  return TRUE;
}

static gboolean
is_same_sample (const Convert *convert, DynoDataset *again, guint64 place, GByteArray *scratch,
                GError **error)
{
  const Written *written = &g_array_index (convert->written, Written, place);
  guint32 n_values = dyno_schema_count_values (&convert->dataset->info.schema),
          n_labels = dyno_schema_count_labels (&convert->dataset->info.schema);
  DynoDataset *dataset = convert->dataset;
  const DynoImageBox *box = again->klass->box ? again->klass->box (again, place) : NULL,
                     none = { 0 };
  gsize size;

  if (memcmp (box ? box : &none, &written->box, sizeof none) != 0)
    return FALSE;
  if (!again->klass->fetch (again, place, scratch, &size, error)
      || dyno_hash_bytes (DYNO_HASH_START, scratch->data, size) != written->hash
      || dyno_dataset_get_part (again, place) != dyno_dataset_get_part (dataset, written->index))
    return FALSE;
  if (n_values > 0)
    return dyno_schema_count_values (&again->info.schema) == n_values
           && memcmp (dyno_dataset_get_values (again, place),
                      dyno_dataset_get_values (dataset, written->index), n_values * sizeof (float))
                  == 0;
  if (n_labels > 0)
    return dyno_schema_count_labels (&again->info.schema) == n_labels
           && are_same_labels (dyno_dataset_get_values (again, place),
                               dyno_dataset_get_values (dataset, written->index), n_labels);
  return strcmp (again->info.class_names[dyno_dataset_get_label (again, place)],
                 dataset->info.class_names[dyno_dataset_get_label (dataset, written->index)])
         == 0;
}

static int
compare_indices (gconstpointer a, gconstpointer b)
{
  guint32 x = ((const Written *) a)->index, y = ((const Written *) b)->index;

  return (x > y) - (x < y);
}

/* Compares the fields that the network reads, except the size where images were scaled, and the
 * names of classes in their order. */
static gboolean
is_same_kind (const Convert *convert, DynoDataset *again)
{
  const DynoDatasetInfo *a = &convert->dataset->info, *b = &again->info;
  const DynoBatchField *x = dyno_schema_find_role (&a->schema, DYNO_FIELD_INPUT),
                       *y = dyno_schema_find_role (&b->schema, DYNO_FIELD_INPUT);

  if (x->element != y->element || x->variable != y->variable || strcmp (x->axes, y->axes) != 0
      || memcmp (&x->normalisation, &y->normalisation, sizeof x->normalisation) != 0
      || dyno_schema_count_channels (&a->schema) != dyno_schema_count_channels (&b->schema)
      || a->n_classes != b->n_classes)
    return FALSE;
  for (guint32 i = 0; i < a->n_classes; i++)
    if (strcmp (a->class_names[i], b->class_names[i]) != 0)
      return FALSE;
  return are_images (a) || memcmp (x->shape, y->shape, x->n_axes * sizeof x->shape[0]) == 0;
}

static gboolean
verify (const Convert *convert, GCancellable *cancellable, GError **error)
{
  static const DynoDatasetParams params = { .one_class = TRUE };
  g_autoptr (GError) reason = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (DynoDataset) again =
      dyno_dataset_open (convert->temporary, &params, NULL, NULL, cancellable, &reason);
  gboolean same = again && again->info.n_samples == convert->written->len;

  g_array_sort (convert->written, compare_indices); /* the reader restores the order */
  if (same && !is_same_kind (convert, again))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   _ ("The classes of “%s” cannot be kept in a packed file: their names are too "
                      "long together, or hold line ends; rename them. Nothing was put in place"),
                   convert->dataset->info.name);
      return FALSE;
    }
  for (guint64 i = 0; same && i < convert->written->len; i++)
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      same = is_same_sample (convert, again, i, scratch, &reason);
    }
  if (!same)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                 _ ("The packed file of “%s” differs from its samples when it is read again (%s); "
                    "the disk may be failing; no file was put in place"),
                 convert->path, reason ? reason->message : _ ("its samples differ"));
  return same;
}

/* --- all of it -------------------------------------------------------------------------------- */

static gboolean
check_kind (DynoDataset *dataset, guint32 size, GError **error)
{
  const DynoDatasetInfo *info = &dataset->info;
  guint32 n_values = dyno_schema_count_values (&info->schema),
          n_labels = dyno_schema_count_labels (&info->schema);

  if (info->schema.generated)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("“%s” is noise that the device makes itself: there is nothing to pack"),
                 info->name);
  else if (dyno_schema_find_mask (&info->schema))
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("“%s” has masks, which a packed file does not keep; train with the folder "
                    "itself"),
                 info->name);
  else if (info->groups)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("“%s” has groups of samples by the column “%s”, which a packed file does not "
                    "keep; train with the list itself, or pack it without data.group_column"),
                 info->name, info->group_column);
  else if (n_values > DYNO_PACKED_MAX_VALUES)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("“%s” has %u values to predict of each sample; a packed file keeps up to %u"),
                 info->name, n_values, DYNO_PACKED_MAX_VALUES);
  else if (n_labels > DYNO_PACKED_MAX_LABELS)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("“%s” has %u labels; a packed file keeps up to %u: train with its source"),
                 info->name, n_labels, DYNO_PACKED_MAX_LABELS);
  else if (n_values > 0 && !info->knows_values)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                 _ ("The values to predict of “%s” are not known before its samples are decoded; "
                    "list them in a CSV and pack that"),
                 info->name);
  else if (size > 0 && !info->resizable)
    g_set_error (
        error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
        _ ("The samples of “%s” have a fixed size and cannot be scaled; pack them without --size"),
        info->name);
  else
    return TRUE;
  return FALSE;
}

/* Puts the training samples into a fixed random order, for programs that do not shuffle samples,
 * and those of the other parts after them. */
static GArray *
make_order (DynoDataset *dataset)
{
  const DynoDivision none = { 0 };
  g_auto (DynoDatasetParts) parts = { 0 };
  DynoRng rng = dyno_rng_init (0, 0);

  dyno_dataset_divide (dataset, &none, &parts);
  dyno_rng_shuffle (&rng, (guint32 *) (gpointer) parts.train->data, parts.train->len);
  g_array_append_vals (parts.train, parts.validation->data, parts.validation->len);
  g_array_append_vals (parts.train, parts.test->data, parts.test->len);
  return g_steal_pointer (&parts.train);
}

static gboolean
write_and_verify (Convert *convert, DynoScanProgress progress, gpointer data,
                  GCancellable *cancellable, GError **error)
{
  g_autoptr (GArray) order = make_order (convert->dataset);
  gboolean ok;

  ok = write_samples (convert, order, progress, data, cancellable, error);
  if (close (convert->fd) != 0 && ok)
    ok = dyno_file_set_error (error, errno, convert->path);
  if (ok && verify (convert, cancellable, error))
    return dyno_file_replace (convert->temporary, convert->path, error);
  (void) unlink (convert->temporary);
  return FALSE;
}

gboolean
dyno_dataset_convert (DynoDataset *dataset, const char *path, guint32 size,
                      DynoScanProgress progress, gpointer data, GCancellable *cancellable,
                      GPtrArray *skipped, DynoConverted *converted, GError **error)
{
  Convert convert = {
    .dataset = dataset, .size = size, .path = path, .skipped = skipped, .converted = converted
  };
  gboolean ok;

  memset (converted, 0, sizeof *converted);
  if (!check_kind (dataset, size, error))
    return FALSE;
  convert.fd = dyno_file_open_temporary (path, &convert.temporary);
  if (convert.fd < 0)
    {
      dyno_file_set_error (error, errno, path);
      g_free (convert.temporary);
      return FALSE;
    }
  convert.written = g_array_new (FALSE, FALSE, sizeof (Written));
  for (guint i = 0; i < CHUNK; i++)
    {
      convert.packed[i].scratch = g_byte_array_new ();
      convert.packed[i].bytes = g_byte_array_new ();
      convert.packed[i].pixels = g_byte_array_new ();
    }
  ok = write_and_verify (&convert, progress, data, cancellable, error);
  for (guint i = 0; i < CHUNK; i++)
    {
      g_byte_array_unref (convert.packed[i].scratch);
      g_byte_array_unref (convert.packed[i].bytes);
      g_byte_array_unref (convert.packed[i].pixels);
    }
  g_array_unref (convert.written);
  g_free (convert.temporary);
  return ok;
}
