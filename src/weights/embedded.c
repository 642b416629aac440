/* SPDX-License-Identifier: MIT */
#include "embedded.h"
#include "network.h"
#include "train-error.h"
#include <string.h>

#define KEY        "network"
#define MOST_CHARS (90u << 20) /* of base64: the limit for a network */

void
dyno_embedded_append (const char *model, GPtrArray *pairs)
{
  const DynoModel *found = model ? dyno_model_find (model, NULL) : NULL;
  GBytes *file = found ? dyno_model_get_file (found) : NULL;
  gsize size;

  if (!file)
    return;
  const void *data = g_bytes_get_data (file, &size);
  g_ptr_array_add (pairs, g_strdup (KEY));
  g_ptr_array_add (pairs, g_base64_encode (data, size));
}

gboolean
dyno_embedded_adopt (DynoSafetensors *file, GError **error)
{
  const char *text = dyno_safetensors_get_metadata (file, KEY),
             *model = dyno_safetensors_get_metadata (file, "model");
  g_autoptr (GError) problem = NULL;
  gsize size = 0;
  guchar *data;

  if (!text || !model)
    return TRUE;
  data = strlen (text) <= MOST_CHARS ? g_base64_decode (text, &size) : NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, size);
  const DynoModel *adopted = dyno_model_adopt (model, bytes, &problem);
  if (adopted && strcmp (adopted->name, model) == 0)
    return TRUE;
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT,
               "the network in its metadata is damaged: %s",
               problem ? problem->message : "its name and its content differ");
  return FALSE;
}

void
dyno_embedded_adopt_path (const char *path)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, NULL);

  if (file)
    dyno_embedded_adopt (file, NULL);
}
