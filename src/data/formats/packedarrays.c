/* SPDX-License-Identifier: MIT */
/* Packed data sets whose samples are arrays, not images: WebDataset shards of key.npy and key.json,
 * as convert.c writes them.  packed.h has the description that the first .json holds.
 *
 * Invariants: a .npy holds the network's input, in the machine's own numbers or swapped ones, C
 * order; with a variable first axis it holds only the steps of the sample, and the rest is padded.
 * Shards of arrays without a description are refused: the longest length and the meaning of the
 * axes are not known. */
#include "webdataset.h"
#include "hash.h"
#include "intl.h"
#include "npyfile.h"
#include <math.h>
#include <string.h>

static const char *const arrays[] = { "npy", NULL };

/* Shards that also have images are shards of images. */
static gboolean
packedarrays_matches (const DynoLocation *location)
{
  return dyno_webdataset_has (location, arrays)
         && !dyno_webdataset_has (location, dyno_webdataset_images);
}

static void
take_facts (DynoDatasetInfo *info, const DynoImageList *list)
{
  info->content_hash = DYNO_HASH_START;
  info->n_samples = list->items->len;
  info->knows_values = list->n_values > 0;
  for (guint i = 0; i < list->items->len; i++)
    {
      const DynoListedImage *item = &g_array_index (list->items, DynoListedImage, i);
      const float *values =
          list->n_values > 0 ? &g_array_index (list->values, float, i * list->n_values) : NULL;
      guint64 words[3] = { item->size,
                           (guint64) item->class_id << 1 | (item->part > DYNO_PART_TRAIN), i };

      info->size_bytes += item->size;
      info->content_hash += dyno_hash_bytes (
          dyno_hash_bytes (
              dyno_hash_string (DYNO_HASH_START, dyno_image_list_get_name (list, item)), words,
              sizeof words),
          values, list->n_values * sizeof (float));
      info->has_split = info->has_split || item->part > DYNO_PART_TRAIN;
      if (list->labels)
        dyno_dataset_info_count_labels (info, values);
      else if (list->n_values == 0)
        info->class_counts[item->class_id]++;
    }
}

/* As in npy.c: a caller that trains or predicts with a model for sequences reads (N, T, F) from
 * three axes, which another caller reads as images of one channel. */
static void
read_as_sequences (DynoBatchField *input, DynoDatasetInfo *info, const DynoDatasetParams *params)
{
  gboolean wanted = params->sequences || (params->wanted && params->wanted->n_axes == 2);

  if (!wanted || input->element != DYNO_ELEMENT_F32 || !info->axes
      || strcmp (info->axes, "NHW") != 0)
    return;
  info->axes = "NTF";
  input->name = "sequence";
  input->n_axes = 2;
  g_strlcpy (input->axes, "TF", sizeof input->axes);
  info->min_width = info->max_width = input->shape[0];
  info->min_height = info->max_height = 1;
}

static void
set_schema (DynoDataset *dataset, const DynoPacked *packed, const DynoOpenContext *context)
{
  const DynoImageList *list = dataset->state;
  DynoDatasetInfo *info = &dataset->info;
  DynoBatchField input = packed->input, length = { .name = "length",
                                                   .role = DYNO_FIELD_LENGTH,
                                                   .element = DYNO_ELEMENT_I32 };

  info->axes = packed->axes;
  info->min_width = packed->min_width;
  info->max_width = packed->max_width;
  info->min_height = packed->min_height;
  info->max_height = packed->max_height;
  read_as_sequences (&input, info, context->params);
  dyno_schema_add (&info->schema, &input);
  if (list->labels)
    dyno_schema_add_labels (&info->schema, list->n_values);
  else
    dyno_schema_add_target (&info->schema, list->n_values);
  if (input.variable)
    dyno_schema_add (&info->schema, &length);
  dyno_schema_add_seed (&info->schema);
}

static gboolean
packedarrays_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoImageList *list = dataset->state = dyno_image_list_new ();
  DynoPacked packed = { 0 };
  gboolean ok = dyno_webdataset_load (dataset, context, list, arrays, &packed, error);

  if (ok && !packed.known)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   _ ("The arrays in “%s” are not described as dynoctl convert describes them; "
                      "unpack them to a folder of .npy files with labels.csv"),
                   dataset->info.name);
      ok = FALSE;
    }
  if (ok)
    {
      take_facts (&dataset->info, list);
      set_schema (dataset, &packed, context);
    }
  dyno_packed_clear (&packed);
  return ok;
}

/* --- samples ---------------------------------------------------------------------------------- */

static gboolean
refuse (DynoDataset *dataset, guint64 index, const char *reason, GError **error)
{
  g_autofree char *name = dyno_image_list_describe (dataset, index);

  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "“%s”: %s", name, reason);
  return FALSE;
}

/* The length of the first axis in the file; 0: the file is no such sample. */
static guint32
count_steps (const DynoBatchField *input, const DynoNpyHeader *header)
{
  guint64 per_step = dyno_field_count (input) / input->shape[0], steps = header->n_items / per_step;
  gboolean type = input->element == DYNO_ELEMENT_U8
                      ? header->kind == 'u' && header->item_bytes == 1
                      : header->kind == 'f' && header->item_bytes == sizeof (float);

  if (!type || header->fortran || header->n_items % per_step != 0 || steps == 0
      || (input->variable ? steps > input->shape[0] : steps != input->shape[0]))
    return 0;
  return (guint32) steps;
}

/* FALSE: a number is not finite. */
static gboolean
put_numbers (const DynoNpyHeader *header, const guint8 *bytes, float *out)
{
  gboolean finite = TRUE;

  if (!header->swap)
    memcpy (out, bytes, header->n_items * sizeof (float));
  for (guint64 i = 0; i < header->n_items; i++)
    {
      if (header->swap)
        out[i] = (float) dyno_npy_get_double (header, bytes + i * sizeof (float));
      finite = finite && isfinite (out[i]);
    }
  return finite;
}

static gboolean
packedarrays_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                     gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const DynoBatchSchema *schema = &dataset->info.schema;
  const DynoBatchField *input = &schema->fields[DYNO_DATASET_INPUT];
  int target = dyno_schema_find_index (schema, DYNO_FIELD_TARGET), /* -1: without labels */
      length = dyno_schema_find_index (schema, DYNO_FIELD_LENGTH);
  const guint8 *bytes;
  DynoNpyHeader header;
  guint32 steps;

  if (!dyno_npy_parse (scratch->data, fetched, fetched, &header, error))
    return FALSE;
  steps = count_steps (input, &header);
  if (steps == 0)
    return refuse (dataset, index, _ ("it has another type or shape than the packed samples"),
                   error);
  bytes = scratch->data + header.data_offset;
  if (input->element == DYNO_ELEMENT_U8)
    memcpy (fields[DYNO_DATASET_INPUT], bytes, header.n_items);
  else if (!put_numbers (&header, bytes, fields[DYNO_DATASET_INPUT]))
    return refuse (dataset, index, _ ("it holds a number that is not finite; remove or mend it"),
                   error);
  if (input->variable)
    dyno_field_pad (input, fields[DYNO_DATASET_INPUT], steps);
  if (target >= 0)
    dyno_image_list_put_target (dataset, index, fields[target]);
  if (length >= 0)
    *(gint32 *) fields[length] = (gint32) steps;
  return TRUE;
}

const DynoDatasetClass dyno_dataset_class_packedarrays = {
  .kind = "packed-arrays",
  .title = "Packed arrays (WebDataset)",
  .matches = packedarrays_matches,
  .open = packedarrays_open,
  .close = dyno_image_list_close,
  .fetch = dyno_image_list_fetch,
  .decode = packedarrays_decode,
  .label = dyno_image_list_label,
  .values = dyno_image_list_values,
  .probe = dyno_image_list_probe,
  .describe = dyno_image_list_describe,
  .part = dyno_image_list_part,
};
