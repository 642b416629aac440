/* SPDX-License-Identifier: MIT */
/* Derives the random changes from settings, and checks what they require of the samples. */
#include "augment.h"

/* The kind of samples that a change requires. */
typedef enum {
  NEEDS_IMAGE = 1,
  NEEDS_SEQUENCE = 2,
  NEEDS_BYTES = 4, /* values of known range */
  NEEDS_GREY = 8,  /* 1 or 3 channels */
  NEEDS_CLASSES = 16,
} Needs;

static gboolean
check (const char *key, guint needs, const DynoBatchSchema *schema, const char *name,
       GError **error)
{
  const DynoBatchField *input = dyno_schema_find_role (schema, DYNO_FIELD_INPUT);
  const DynoSettingInfo *info = dyno_setting_find (key);
  const char *off = info->type == DYNO_SETTING_BOOL ? "false" : "0";
  guint32 channels = dyno_field_axis (input, 'C');

  if (needs & NEEDS_IMAGE && input->n_axes != 3)
    return dyno_train_refuse_data (
        error, "%s changes images, and the samples of “%s” are %s; set it to %s", key, name,
        input->n_axes == 2 ? "sequences" : "rows of values", off);
  if (needs & NEEDS_SEQUENCE && input->n_axes != 2)
    return dyno_train_refuse_data (
        error, "%s changes sequences, and the samples of “%s” are %s; set it to %s", key, name,
        input->n_axes == 3 ? "images" : "rows of values", off);
  if (needs & NEEDS_BYTES && input->element != DYNO_ELEMENT_U8)
    return dyno_train_refuse_data (
        error,
        "%s needs images of bytes; those of “%s” are floats without a known range; save "
        "them as bytes, or set it to 0",
        key, name);
  if (needs & NEEDS_CLASSES && dyno_schema_count_values (schema) > 0)
    return dyno_train_refuse_data (
        error, "%s mixes classes, and “%s” has values to predict; set it to 0", key, name);
  if (needs & NEEDS_CLASSES && dyno_schema_find_mask (schema))
    return dyno_train_refuse_data (
        error, "%s mixes the classes of images, and “%s” has a class for each pixel; set it to 0",
        key, name);
  if (needs & NEEDS_GREY && channels != 1 && channels != 3)
    return dyno_train_refuse_data (
        error, "%s needs images with 1 or 3 channels; those of “%s” have %u; set it to 0", key,
        name, channels);
  return TRUE;
}

/* Returns, as bits, the values of a sample that mirroring negates: the angles named yaw and roll;
 * *n_angles counts these and pitch, which mirroring leaves unchanged. */
static guint32
find_negated (const DynoJob *job, const DynoDatasetInfo *info, const DynoBatchSchema *schema,
              guint *n_angles)
{
  const DynoModel *model = dyno_model_find (job->model, NULL);
  guint32 n = dyno_schema_count_values (schema), negated = 0;
  const char *const *names = (const char *const *) info->target_names;

  *n_angles = 0;
  if (!names && model && model->n_values == n)
    names = model->value_names;
  for (guint32 i = 0; names && i < MIN (n, 32); i++)
    {
      gboolean turned =
          g_ascii_strcasecmp (names[i], "yaw") == 0 || g_ascii_strcasecmp (names[i], "roll") == 0;
      *n_angles += turned || g_ascii_strcasecmp (names[i], "pitch") == 0;
      if (turned)
        negated |= 1u << i;
    }
  return negated;
}

DynoCrop
dyno_augment_get_source_crop (const DynoJob *job, const DynoDatasetInfo *info)
{
  const DynoSettings *s = &job->settings;

  if (s->augment_crop_from != DYNO_CROP_FROM_SOURCE || !info->croppable)
    return (DynoCrop){ 0 };
  return (DynoCrop){ s->augment_crop, s->augment_crop_ratio };
}

gboolean
dyno_augment_get (const DynoJob *job, const DynoDatasetInfo *info, const DynoBatchSchema *schema,
                  DynoAugmentation *augmentation, GError **error)
{
  const DynoSettings *s = &job->settings;
  guint n_angles;
  guint32 negated = find_negated (job, info, schema, &n_angles);
  const struct {
    const char *key;
    gboolean on;
    guint needs;
  } changes[] = {
    { "augment.flip", s->augment_flip, NEEDS_IMAGE },
    { "augment.flip_vertical", s->augment_flip_vertical, NEEDS_IMAGE },
    { "augment.shift", s->augment_shift > 0, NEEDS_IMAGE },
    { "augment.crop", s->augment_crop > 0, NEEDS_IMAGE },
    { "augment.rotate", s->augment_rotate > 0, NEEDS_IMAGE },
    { "augment.brightness", s->augment_brightness > 0, NEEDS_IMAGE | NEEDS_BYTES },
    { "augment.contrast", s->augment_contrast > 0, NEEDS_IMAGE | NEEDS_BYTES | NEEDS_GREY },
    { "augment.saturation", s->augment_saturation > 0, NEEDS_IMAGE | NEEDS_BYTES | NEEDS_GREY },
    { "augment.hue", s->augment_hue > 0, NEEDS_IMAGE | NEEDS_BYTES | NEEDS_GREY },
    { "augment.erase", s->augment_erase > 0, NEEDS_IMAGE },
    { "augment.mixup", s->augment_mixup > 0, NEEDS_IMAGE | NEEDS_CLASSES },
    { "augment.cutmix", s->augment_cutmix > 0, NEEDS_IMAGE | NEEDS_CLASSES },
    { "augment.time_mask", s->augment_time_mask > 0, NEEDS_SEQUENCE },
    { "augment.time_shift", s->augment_time_shift > 0, NEEDS_SEQUENCE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    if (changes[i].on && !check (changes[i].key, changes[i].needs, schema, info->name, error))
      return FALSE;
  if (n_angles > 0 && (s->augment_rotate > 0 || s->augment_flip_vertical))
    return dyno_train_refuse_data (
        error,
        "%s turns the heads of “%s”, and their yaw, pitch and roll would no longer be "
        "right; set it to %s",
        s->augment_rotate > 0 ? "augment.rotate" : "augment.flip_vertical", info->name,
        s->augment_rotate > 0 ? "0" : "false");
  *augmentation = (DynoAugmentation){
    .crop = dyno_augment_get_source_crop (job, info).area > 0 ? 0 : s->augment_crop,
    .crop_ratio = s->augment_crop_ratio,
    .shift = (guint32) s->augment_shift,
    .pad = (DynoPadMode) s->augment_pad,
    .rotate = s->augment_rotate,
    .flip = s->augment_flip ? 0.5 : 0,
    .flip_vertical = s->augment_flip_vertical ? 0.5 : 0,
    .negated = negated,
    .brightness = s->augment_brightness,
    .contrast = s->augment_contrast,
    .saturation = s->augment_saturation,
    .hue = s->augment_hue,
    .noise = s->augment_noise,
    .erase = s->augment_erase,
    .time_mask = s->augment_time_mask,
    .time_shift = s->augment_time_shift,
    .mixup = s->augment_mixup,
    .cutmix = s->augment_cutmix,
  };
  return TRUE;
}
