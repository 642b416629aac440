/* SPDX-License-Identifier: MIT */
/* Converts images in colour for weights that read one channel: the decoded pixels of any format
 * become luma on the way to the sample's field. */
#include "dataset-class.h"
#include "image.h"
#include <string.h>

void
dyno_dataset_read_luma (DynoDataset *dataset, const DynoBatchField *wanted)
{
  DynoBatchSchema *schema = &dataset->info.schema;
  int at = dyno_schema_find_index (schema, DYNO_FIELD_INPUT);
  DynoBatchField *input = at >= 0 ? &schema->fields[at] : NULL;

  if (!wanted || wanted->n_axes != 3 || dyno_field_axis (wanted, 'C') != 1 || !input
      || schema->generated || input->element != DYNO_ELEMENT_U8 || input->n_axes != 3
      || strcmp (input->axes, "HWC") != 0 || input->shape[2] != 3)
    return;
  input->shape[2] = 1;
  input->normalisation = (DynoNormalisation){ .scale_255 = TRUE };
  dataset->info.luma = TRUE;
}

gboolean
dyno_dataset_decode_fetched (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                             gpointer const *fields, GByteArray *scratch, gsize fetched,
                             GError **error)
{
  const DynoBatchSchema *schema = &dataset->info.schema;
  gsize n = (gsize) width * height;
  g_autofree guint8 *colours = NULL;
  gpointer coloured[DYNO_SCHEMA_MAX_FIELDS];
  int at;

  if (!dataset->info.luma && !dataset->info.grey)
    return dataset->klass->decode (dataset, index, width, height, fields, scratch, fetched, error);
  colours = g_try_malloc_n (n, 3);
  if (!colours)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   "there is no memory for %u × %u pixels", width, height);
      return FALSE;
    }
  at = dyno_schema_find_index (schema, DYNO_FIELD_INPUT);
  memcpy (coloured, fields, schema->n_fields * sizeof *fields);
  coloured[at] = colours;
  if (!dataset->klass->decode (dataset, index, width, height, coloured, scratch, fetched, error))
    return FALSE;
  dyno_image_take_luma (colours, n, fields[at]);
  return TRUE;
}
