/* SPDX-License-Identifier: MIT */
/* The description in a weights file: an object is timm's config.json, any other input is lines of
 * metadata, with a key and a tab before each value.  Accepted metadata are described, and written
 * back. */
#include "safetensors-private.h"
#include "timmnames.h"
#include "weightsinfo.h"
#include <glib/gstdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

static void
check_info (const DynoWeightsInfo *info)
{
  g_autoptr (GPtrArray) pairs = g_ptr_array_new_with_free_func (g_free);

  g_assert_true (!info->class_names || g_strv_length (info->class_names) == info->n_outputs);
  g_assert_true (!info->target_names || g_strv_length (info->target_names) == info->n_outputs);
  g_assert_true (!info->target_units || g_strv_length (info->target_units) == info->n_outputs);
  if (info->has_input)
    {
      g_autofree char *words = dyno_normalisation_describe (&info->input);
      g_assert_true (g_utf8_validate (words, -1, NULL));
    }
  if (info->model)
    dyno_weights_info_append (info, pairs);
}

static void
read_config (const char *text, gssize size)
{
  static char *folder, *config, *path;
  g_autoptr (DynoWeightsInfo) info = g_new0 (DynoWeightsInfo, 1);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);

  if (!folder)
    {
      folder = g_dir_make_tmp ("dyno-fuzz-XXXXXX", NULL);
      config = g_build_filename (folder, "config.json", NULL);
      path = g_build_filename (folder, "model.safetensors", NULL);
    }
  info->model_width = 1;
  g_assert_true (
      g_file_set_contents_full (config, text, size, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  dyno_weights_info_complete (info, path, notes);
  check_info (info);
  g_unlink (config);
}

static void
read_metadata (const char *text)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_new (NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (DynoWeightsInfo) info = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; lines[i]; i++)
    {
      char *tab = strchr (lines[i], '\t');
      if (tab && g_utf8_validate (lines[i], -1, NULL))
        g_hash_table_insert (file->metadata, g_strndup (lines[i], (gsize) (tab - lines[i])),
                             g_strdup (tab + 1));
    }
  info = dyno_weights_info_read (file, &error);
  g_assert_true ((info != NULL) != (error != NULL));
  if (info)
    check_info (info);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autofree char *name = dyno_timm_find_tensor (text);

  if (size > 0 && data[0] == '{')
    read_config ((const char *) data, (gssize) size);
  else
    read_metadata (text);
  return 0;
}
