/* SPDX-License-Identifier: MIT */
/* Sizes and places follow from a schema, by checked arithmetic only. */
#include "schema.h"
#include "base-error.h"
#include "checked.h"
#include <string.h>

#define MAX_BATCH_BYTES (G_GUINT64_CONSTANT (1) << 40)
#define LABELS          "labels" /* name of the field of labels */

guint32
dyno_element_size (DynoElement element)
{
  return element == DYNO_ELEMENT_U8 ? 1 : 4;
}

const char *
dyno_element_name (DynoElement element)
{
  static const char *const names[] = { "uint8", "int32", "float32" };
  return names[element];
}

guint64
dyno_field_count (const DynoBatchField *field)
{
  guint64 count = 1;

  for (guint i = 0; i < field->n_axes; i++)
    if (!dyno_size_mul (count, field->shape[i], &count))
      return G_MAXUINT64;
  return count;
}

guint32
dyno_field_axis (const DynoBatchField *field, char axis)
{
  for (guint i = 0; i < field->n_axes; i++)
    if (field->axes[i] == axis)
      return field->shape[i];
  return 1;
}

static gboolean
place_field (DynoBatchLayout *layout, guint i, const DynoBatchField *field)
{
  guint64 end;

  layout->offset[i] = layout->total_bytes;
  if (!dyno_size_mul (dyno_field_count (field), dyno_element_size (field->element),
                      &layout->sample_bytes[i])
      || !dyno_size_mul (layout->sample_bytes[i], layout->batch, &layout->field_bytes[i])
      || !dyno_size_add (layout->total_bytes, layout->field_bytes[i], &end)
      || end > MAX_BATCH_BYTES)
    return FALSE;
  layout->total_bytes = dyno_align_up (end, DYNO_FIELD_ALIGNMENT);
  return TRUE;
}

gboolean
dyno_batch_layout_init (DynoBatchLayout *layout, const DynoBatchSchema *schema, guint32 batch,
                        GError **error)
{
  g_return_val_if_fail (batch > 0 && schema->n_fields <= DYNO_SCHEMA_MAX_FIELDS, FALSE);
  *layout = (DynoBatchLayout){ .batch = batch, .n_fields = schema->n_fields };
  for (guint i = 0; i < schema->n_fields; i++)
    if (!place_field (layout, i, &schema->fields[i]))
      {
        g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_OVERFLOW,
                     "A batch of %u samples is too large: field “%s” passes %u GiB; take a smaller "
                     "batch or smaller samples",
                     batch, schema->fields[i].name, (guint) (MAX_BATCH_BYTES >> 30));
        return FALSE;
      }
  return TRUE;
}

int
dyno_schema_find_index (const DynoBatchSchema *schema, DynoFieldRole role)
{
  for (guint i = 0; i < schema->n_fields; i++)
    if (schema->fields[i].role == role)
      return (int) i;
  return -1;
}

const DynoBatchField *
dyno_schema_find_role (const DynoBatchSchema *schema, DynoFieldRole role)
{
  int i = dyno_schema_find_index (schema, role);
  return i < 0 ? NULL : &schema->fields[i];
}

guint32
dyno_schema_count_channels (const DynoBatchSchema *schema)
{
  const DynoBatchField *input = dyno_schema_find_role (schema, DYNO_FIELD_INPUT);
  return input ? dyno_field_axis (input, 'C') * dyno_field_axis (input, 'F') : 0;
}

guint32
dyno_schema_count_floats (const DynoBatchSchema *schema)
{
  const DynoBatchField *target = dyno_schema_find_role (schema, DYNO_FIELD_TARGET);
  return target && target->element == DYNO_ELEMENT_F32 ? (guint32) dyno_field_count (target) : 0;
}

static gboolean
has_labels (const DynoBatchSchema *schema)
{
  const DynoBatchField *target = dyno_schema_find_role (schema, DYNO_FIELD_TARGET);
  return target && g_str_equal (target->name, LABELS);
}

guint32
dyno_schema_count_values (const DynoBatchSchema *schema)
{
  return has_labels (schema) ? 0 : dyno_schema_count_floats (schema);
}

guint32
dyno_schema_count_labels (const DynoBatchSchema *schema)
{
  return has_labels (schema) ? dyno_schema_count_floats (schema) : 0;
}

DynoBatchField *
dyno_schema_add (DynoBatchSchema *schema, const DynoBatchField *field)
{
  g_return_val_if_fail (schema->n_fields < DYNO_SCHEMA_MAX_FIELDS, NULL);
  schema->fields[schema->n_fields] = *field;
  return &schema->fields[schema->n_fields++];
}

void
dyno_schema_add_target (DynoBatchSchema *schema, guint32 n_values)
{
  const DynoBatchField class_id = { .name = "class",
                                    .role = DYNO_FIELD_TARGET,
                                    .element = DYNO_ELEMENT_I32 },
                       values = { .name = "values",
                                  .role = DYNO_FIELD_TARGET,
                                  .element = DYNO_ELEMENT_F32,
                                  .n_axes = 1,
                                  .shape = { n_values },
                                  .axes = "C" };

  dyno_schema_add (schema, n_values > 0 ? &values : &class_id);
}

void
dyno_schema_add_labels (DynoBatchSchema *schema, guint32 n_labels)
{
  const DynoBatchField labels = { .name = LABELS,
                                  .role = DYNO_FIELD_TARGET,
                                  .element = DYNO_ELEMENT_F32,
                                  .n_axes = 1,
                                  .shape = { n_labels },
                                  .axes = "C" };

  dyno_schema_add (schema, &labels);
}

void
dyno_schema_add_mask (DynoBatchSchema *schema, guint32 height, guint32 width)
{
  const DynoBatchField mask = { .name = "mask",
                                .role = DYNO_FIELD_TARGET,
                                .element = DYNO_ELEMENT_U8,
                                .n_axes = 2,
                                .shape = { height, width },
                                .axes = "HW" };

  dyno_schema_add (schema, &mask);
}

const DynoBatchField *
dyno_schema_find_mask (const DynoBatchSchema *schema)
{
  const DynoBatchField *target = dyno_schema_find_role (schema, DYNO_FIELD_TARGET);

  return target && target->element == DYNO_ELEMENT_U8 ? target : NULL;
}

void
dyno_schema_add_seed (DynoBatchSchema *schema)
{
  const DynoBatchField seed = { .name = "seed",
                                .role = DYNO_FIELD_SEED,
                                .element = DYNO_ELEMENT_I32 };

  dyno_schema_add (schema, &seed);
}

static DynoBatchSchema
image_only (DynoElement element, guint32 height, guint32 width, guint32 channels)
{
  const DynoBatchField image = { .name = "image",
                                 .role = DYNO_FIELD_INPUT,
                                 .element = element,
                                 .n_axes = 3,
                                 .shape = { height, width, channels },
                                 .axes = "HWC" };
  DynoBatchSchema schema = { 0 };

  dyno_schema_add (&schema, &image);
  return schema;
}

DynoBatchSchema
dyno_schema_image (DynoElement element, guint32 height, guint32 width, guint32 channels,
                   guint32 n_values)
{
  DynoBatchSchema schema = image_only (element, height, width, channels);

  dyno_schema_add_target (&schema, n_values);
  dyno_schema_add_seed (&schema);
  return schema;
}

DynoBatchSchema
dyno_schema_image_with_labels (DynoElement element, guint32 height, guint32 width, guint32 channels,
                               guint32 n_labels)
{
  DynoBatchSchema schema = image_only (element, height, width, channels);

  dyno_schema_add_labels (&schema, n_labels);
  dyno_schema_add_seed (&schema);
  return schema;
}

DynoBatchSchema
dyno_schema_image_with_mask (DynoElement element, guint32 height, guint32 width, guint32 channels)
{
  DynoBatchSchema schema = image_only (element, height, width, channels);

  dyno_schema_add_mask (&schema, height, width);
  dyno_schema_add_seed (&schema);
  return schema;
}

void
dyno_field_get_image (const DynoBatchField *field, guint32 *height, guint32 *width,
                      guint32 *channels)
{
  const guint32 *shape = field->shape;
  guint n = field->n_axes;

  *height = n == 3 ? shape[0] : 1;
  *width = n == 3 ? shape[1] : n == 2 ? shape[0] : 1;
  *channels = n > 3 ? 0 : n > 0 ? shape[n - 1] : 1;
}

gboolean
dyno_augmentation_is_on (const DynoAugmentation *augmentation)
{
  const DynoAugmentation *a = augmentation;

  return a->crop > 0 || a->shift > 0 || a->rotate > 0 || a->flip > 0 || a->flip_vertical > 0
         || a->brightness > 0 || a->contrast > 0 || a->saturation > 0 || a->hue > 0 || a->noise > 0
         || a->erase > 0 || a->time_mask > 0 || a->time_shift > 0 || a->mixup > 0 || a->cutmix > 0;
}

void
dyno_field_pad (const DynoBatchField *field, gpointer sample, guint32 length)
{
  guint64 count = dyno_field_count (field), step = count / MAX (field->shape[0], 1);

  g_return_if_fail (field->variable && length <= field->shape[0]);
  for (guint64 i = length * step; i < count; i++)
    if (field->element == DYNO_ELEMENT_U8)
      ((guint8 *) sample)[i] = (guint8) field->pad;
    else if (field->element == DYNO_ELEMENT_I32)
      ((gint32 *) sample)[i] = (gint32) field->pad;
    else
      ((float *) sample)[i] = (float) field->pad;
}
