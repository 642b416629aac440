/* SPDX-License-Identifier: MIT */
#include "signature.h"
#include <string.h>

void
dyno_signature_init (DynoSignature *s, const char *name, const DynoWeightsInfo *info,
                     const DynoBatchField *input)
{
  guint32 channels = dyno_field_axis (input, 'C');

  *s = (DynoSignature){ .name = name, .info = info, .input = *input };
  s->sample_bytes = dyno_field_count (input) * dyno_element_size (input->element);
  s->output_bytes = info->n_outputs * sizeof (float);
  if (info->of_pixels)
    {
      dyno_field_get_image (input, &s->mask_height, &s->mask_width, &channels);
      s->output_bytes = (gsize) s->mask_width * s->mask_height;
    }
  s->is_image = strcmp (input->axes, "HWC") == 0 && input->element == DYNO_ELEMENT_U8
                && (channels == 3 || channels == 1);
}

const char *
dyno_signature_get_datatype (const DynoSignature *s)
{
  static const char *const names[] = {
    [DYNO_ELEMENT_U8] = "UINT8",
    [DYNO_ELEMENT_I32] = "INT32",
    [DYNO_ELEMENT_F32] = "FP32",
  };

  return names[s->input.element];
}

static void
write_tensor (DynoJson *json, const char *name, const char *datatype, const gint64 *shape, guint n)
{
  dyno_json_begin_object (json, NULL);
  dyno_json_string (json, "name", name);
  dyno_json_string (json, "datatype", datatype);
  dyno_json_begin_array (json, "shape");
  for (guint i = 0; i < n; i++)
    dyno_json_int (json, NULL, shape[i]);
  dyno_json_end_array (json);
}

static void
write_input (const DynoSignature *s, DynoJson *json)
{
  gint64 shape[1 + DYNO_SCHEMA_MAX_AXES] = { -1 };
  g_autofree char *fed = dyno_normalisation_describe (&s->input);

  for (guint i = 0; i < s->input.n_axes; i++)
    shape[1 + i] =
        (s->is_image && i < 2) || (s->input.variable && i == 0) ? -1 : (gint64) s->input.shape[i];
  write_tensor (json, DYNO_SERVE_INPUT, dyno_signature_get_datatype (s), shape,
                1 + s->input.n_axes);
  dyno_json_begin_object (json, "parameters");
  dyno_json_string (json, "axes", s->input.axes);
  if (s->is_image)
    {
      dyno_json_string (json, "colour", s->input.shape[2] == 3 ? "RGB" : "grey");
      dyno_json_uint (json, "height", s->input.shape[0]);
      dyno_json_uint (json, "width", s->input.shape[1]);
      dyno_json_string (json, "prepared",
                        "scaled to cover height x width, cut in the middle, then normalised");
      dyno_json_string (json, "also",
                        "BYTES of shape [-1]: the contents of JPEG, PNG, WebP, BMP or TIFF files");
    }
  if (s->input.variable)
    dyno_json_uint (json, "longest", s->input.shape[0]);
  dyno_json_string (json, "normalised_by_the_model", fed);
  dyno_json_end_object (json);
  dyno_json_end_object (json);
}

static void
write_names (DynoJson *json, const char *key, char *const *names)
{
  if (!names)
    return;
  dyno_json_begin_array (json, key);
  for (guint i = 0; names[i]; i++)
    dyno_json_string (json, NULL, names[i]);
  dyno_json_end_array (json);
}

guint
dyno_signature_list_outputs (const DynoSignature *s, DynoOutputKind kinds[2])
{
  kinds[0] = s->info->of_pixels ? DYNO_OUTPUT_MASK : DYNO_OUTPUT_NUMBERS;
  kinds[1] = s->info->of_pixels   ? DYNO_OUTPUT_SHARES
             : s->info->is_labels ? DYNO_OUTPUT_LABELS
                                  : DYNO_OUTPUT_CLASS;
  return s->info->is_values ? 1 : 2;
}

const char *
dyno_signature_name_output (const DynoSignature *s, DynoOutputKind kind)
{
  static const char *const names[] = {
    [DYNO_OUTPUT_NUMBERS] = "probabilities", [DYNO_OUTPUT_CLASS] = "class",
    [DYNO_OUTPUT_RANKED] = "probabilities",  [DYNO_OUTPUT_MASK] = "mask",
    [DYNO_OUTPUT_SHARES] = "shares",         [DYNO_OUTPUT_LABELS] = "labels",
  };

  return s->info->is_values ? "values" : names[kind];
}

void
dyno_signature_write_labels (const DynoSignature *s, DynoJson *json)
{
  write_names (json, "labels", s->info->is_values ? NULL : s->info->class_names);
}

static void
write_mask_outputs (const DynoSignature *s, DynoJson *json)
{
  gint64 mask[3] = { -1, s->mask_height, s->mask_width }, shares[2] = { -1, s->info->n_outputs };

  write_tensor (json, "mask", "UINT8", mask, 3);
  dyno_json_begin_object (json, "parameters");
  dyno_signature_write_labels (s, json);
  dyno_json_string (json, "of", "the class id of each pixel of the prepared picture");
  if (s->is_image)
    dyno_json_string (json, "also", DYNO_SERVE_MASK_WAY);
  dyno_json_end_object (json);
  dyno_json_end_object (json);
  write_tensor (json, "shares", "FP32", shares, 2);
  dyno_json_begin_object (json, "parameters");
  dyno_signature_write_labels (s, json);
  dyno_json_string (json, "of", "each class's share of the pixels of the mask");
  dyno_json_end_object (json);
  dyno_json_end_object (json);
}

static void
write_label_names (const DynoSignature *s, DynoJson *json)
{
  const float *thresholds = s->info->thresholds;

  dyno_json_begin_object (json, "parameters");
  dyno_json_string (json, "of",
                    thresholds
                        ? "the names of the labels with a probability of their threshold or more, "
                          "the most probable first, with " DYNO_SERVE_BETWEEN " between them"
                        : "the names of the labels with a probability of 0.5 or more, the most "
                          "probable first, with " DYNO_SERVE_BETWEEN " between them");
  if (thresholds)
    {
      dyno_json_begin_array (json, "thresholds");
      for (guint32 i = 0; i < s->info->n_outputs; i++)
        dyno_json_double (json, NULL, (double) thresholds[i]);
      dyno_json_end_array (json);
    }
  dyno_json_end_object (json);
}

static void
write_outputs (const DynoSignature *s, DynoJson *json)
{
  gint64 shape[2] = { -1, s->info->n_outputs };

  if (s->info->of_pixels)
    {
      write_mask_outputs (s, json);
      return;
    }
  write_tensor (json, dyno_signature_name_output (s, DYNO_OUTPUT_NUMBERS), "FP32", shape, 2);
  dyno_json_begin_object (json, "parameters");
  dyno_signature_write_labels (s, json);
  write_names (json, "names", s->info->is_values ? s->info->target_names : NULL);
  write_names (json, "units", s->info->is_values ? s->info->target_units : NULL);
  if (s->info->is_labels)
    dyno_json_string (json, "of", "each label by itself: their sum is not 1");
  dyno_json_end_object (json);
  dyno_json_end_object (json);
  if (s->info->is_values)
    return;
  write_tensor (json, s->info->is_labels ? "labels" : "class", "BYTES", shape, 1);
  if (s->info->is_labels)
    write_label_names (s, json);
  dyno_json_end_object (json);
}

void
dyno_signature_write (const DynoSignature *s, DynoJson *json)
{
  dyno_json_begin_object (json, NULL);
  dyno_json_string (json, "name", s->name);
  dyno_json_begin_array (json, "versions");
  dyno_json_string (json, NULL, DYNO_SERVE_VERSION);
  dyno_json_end_array (json);
  dyno_json_string (json, "platform", "dyno");
  dyno_json_begin_array (json, "inputs");
  write_input (s, json);
  dyno_json_end_array (json);
  dyno_json_begin_array (json, "outputs");
  write_outputs (s, json);
  dyno_json_end_array (json);
  dyno_json_end_object (json);
}

gboolean
dyno_serve_name_is_good (const char *name)
{
  gsize length = strlen (name);

  if (length == 0 || length > 128 || strcmp (name, ".") == 0 || strcmp (name, "..") == 0)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isalnum (name[i]) && !strchr ("_-.", name[i]))
      return FALSE;
  return TRUE;
}
