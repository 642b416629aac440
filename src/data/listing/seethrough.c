/* SPDX-License-Identifier: MIT */
/* Looks through folders around a data set: users often choose the folder into which an archive was
 * unpacked, or the root in which another program keeps its data sets.
 *
 * Invariants: the folder itself takes precedence; a folder that holds several folders is searched
 * only for MNIST and CIFAR, whose files are known by their names, and without a result where two
 * folders have them; the steps are bounded. */
#include "dataset-class.h"
#include "foldernames.h"
#include "partnames.h"
#include <string.h>

#define MAX_STEPS   4
#define MAX_FOLDERS 64 /* number of folders that are searched */

/* The folders in path, at most MAX_FOLDERS + 1. */
static GPtrArray *
list_folders (const char *path)
{
  GPtrArray *folders = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir && folders->len <= MAX_FOLDERS && (name = dyno_folder_next_name (dir)))
    {
      g_autofree char *full = g_build_filename (path, name, NULL);

      if (name[0] != '.' && !dyno_name_is_left_behind (name, NULL)
          && g_file_test (full, G_FILE_TEST_IS_DIR) && !g_file_test (full, G_FILE_TEST_IS_SYMLINK))
        g_ptr_array_add (folders, g_steal_pointer (&full));
    }
  return folders;
}

/* The only folder with files of MNIST or CIFAR, which are known by their names; NULL: no folder or
 * several folders have them. */
static const char *
find_named (const GPtrArray *folders)
{
  static const DynoDatasetClass *const named[] = { &dyno_dataset_class_idx,
                                                   &dyno_dataset_class_cifar };
  const char *found = NULL;

  for (guint i = 0; i < MIN (folders->len, MAX_FOLDERS); i++)
    {
      g_autoptr (DynoLocation) location = dyno_location_new (folders->pdata[i], NULL);

      for (guint k = 0; location && k < G_N_ELEMENTS (named); k++)
        if (named[k]->matches (location))
          {
            if (found)
              return NULL;
            found = folders->pdata[i];
            break;
          }
    }
  return found;
}

static gboolean
is_special (const char *path)
{
  g_autoptr (DynoLocation) location = dyno_location_new (path, NULL);
  const DynoDatasetClass *klass = location ? dyno_dataset_find_class (location) : NULL;

  return klass && klass != &dyno_dataset_class_imagefolder;
}

char *
dyno_dataset_see_through (const DynoLocation *root, gboolean one_class)
{
  g_autofree char *path = g_strdup (root->body);

  for (guint step = 0; step < MAX_STEPS; step++)
    {
      g_autoptr (GPtrArray) folders = list_folders (path);
      const char *named = find_named (folders);
      g_autofree char *only = NULL, *base = NULL;

      if (named)
        return g_strdup (named);
      if (folders->len > 1 && step > 0 && !one_class)
        return g_steal_pointer (&path); /* the folders are its classes or its parts */
      if (folders->len != 1)
        return NULL;
      only = g_strdup (g_ptr_array_index (folders, 0));
      base = g_path_get_basename (only);
      if (is_special (only))
        return g_steal_pointer (&only);
      if (dyno_part_of_name (base, NULL) != DYNO_PART_NONE)
        return NULL;
      g_free (path);
      path = g_steal_pointer (&only);
    }
  return NULL;
}
