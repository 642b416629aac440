/* SPDX-License-Identifier: MIT */
/* NumPy data sets: X.npy with y.npy beside it, or the folder that holds them; arrayset.c documents
 * which arrays are accepted. */
#include "arrayset.h"
#include "datafile.h"
#include "intl.h"
#include "unlabelled.h"
#include <errno.h>
#include <string.h>

char *
dyno_npy_find_samples (const char *folder)
{
  static const char *const names[] = { "X.npy", "x.npy" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
    }
  return NULL;
}

gboolean
dyno_npy_is_target_name (const char *name)
{
  static const char *const names[] = { "y.npy", "Y.npy", "labels.npy", NULL };

  return g_strv_contains (names, name) || g_str_has_suffix (name, "_y.npy");
}

static gboolean
npy_matches (const DynoLocation *location)
{
  g_autofree char *within = location->is_folder ? dyno_npy_find_samples (location->body) : NULL;

  return within
         || (!location->scheme && location->is_regular
             && (g_str_has_suffix (location->body, ".npy")
                 || (location->head_size >= 6 && memcmp (location->head, "\x93NUMPY", 6) == 0)));
}

/* The targets' file: the requested one, or one of the usual names beside X. */
static char *
find_targets (const char *path, const char *asked, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *shown = g_filename_display_name (path);
  g_autofree char *stem =
      g_str_has_suffix (base, ".npy") ? g_strndup (base, strlen (base) - 4) : g_strdup (base);
  g_autofree char *with_y = g_strconcat (stem, "_y.npy", NULL);
  g_autofree char *for_x =
      base[0] == 'X' || base[0] == 'x' ? g_strconcat ("y", base + 1, NULL) : g_strdup (with_y);
  const char *names[] = { with_y, for_x, "y.npy", "labels.npy" };

  if (asked)
    return g_strdup (asked);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *candidate = g_build_filename (folder, names[i], NULL);
      if (strcmp (names[i], base) != 0 && g_file_test (candidate, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&candidate);
    }
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NOT_FOUND,
               _ ("The targets of “%s” are missing: put y.npy, labels.npy or %s beside it, or name "
                  "the file"),
               shown, with_y);
  return NULL;
}

static gboolean
npy_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  const DynoLocation *location = context->location;
  g_autofree char *path =
      location->is_folder ? dyno_npy_find_samples (location->body) : g_strdup (location->body);
  g_autofree char *targets = NULL;
  DynoArray x, y;

  if (!path)
    {
      dyno_datafile_set_error (error, ENOENT, location->body);
      return FALSE;
    }
  if (!dyno_array_open (&x, path, error) || !dyno_array_set_take (dataset, &x, context, error))
    return FALSE;
  targets = find_targets (path, context->params->targets, error);
  return targets && dyno_array_open (&y, targets, error)
         && dyno_array_set_learn (dataset, &y, error)
         && dyno_array_set_finish (dataset, targets, context, error);
}

const DynoDatasetClass dyno_dataset_class_npy = {
  .kind = "npy",
  .title = "NumPy arrays",
  .matches = npy_matches,
  .open = npy_open,
  .close = dyno_array_set_close,
  .fetch = dyno_array_set_fetch,
  .decode = dyno_array_set_decode,
  .decode_at_once = dyno_array_set_decode_at_once,
  .label = dyno_array_set_label,
  .values = dyno_array_set_values,
  .probe = dyno_array_set_probe,
};
