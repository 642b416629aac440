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

static void
write_outputs (const DynoSignature *s, DynoJson *json)
{
  gint64 shape[2] = { -1, s->info->n_outputs };

  write_tensor (json, s->info->is_values ? "values" : "probabilities", "FP32", shape, 2);
  dyno_json_begin_object (json, "parameters");
  write_names (json, "labels", s->info->is_values ? NULL : s->info->class_names);
  write_names (json, "names", s->info->is_values ? s->info->target_names : NULL);
  write_names (json, "units", s->info->is_values ? s->info->target_units : NULL);
  dyno_json_end_object (json);
  dyno_json_end_object (json);
  if (s->info->is_values)
    return;
  write_tensor (json, "class", "BYTES", shape, 1);
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
