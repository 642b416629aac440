/* SPDX-License-Identifier: MIT */
/* Finds the .tar files that are the shards of one data set, and their parts. */
#include "shards.h"
#include "foldernames.h"
#include "partnames.h"
#include <string.h>

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static void
add_shards (const char *folder, GPtrArray *paths)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir && (name = dyno_folder_next_name (dir)))
    if (g_str_has_suffix (name, ".tar") && name[0] != '.')
      g_ptr_array_add (found, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (found, compare_names);
  for (guint i = 0; i < found->len; i++)
    g_ptr_array_add (paths, g_ptr_array_index (found, i));
}

/* The shards in the folders train, val and test, or in folders with other names of parts. */
static void
add_parts (const char *root, GPtrArray *paths)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (root, 0, NULL);
  DynoPartFolders parts;
  const char *name;

  while (dir && (name = dyno_folder_next_name (dir)))
    {
      g_autofree char *folder = g_build_filename (root, name, NULL);
      if (name[0] != '.' && g_file_test (folder, G_FILE_TEST_IS_DIR))
        g_ptr_array_add (names, g_strdup (name));
    }
  g_ptr_array_add (names, NULL);
  dyno_part_folders_choose (&parts, (const char *const *) names->pdata, NULL, NULL);
  for (guint i = 0; i < 3; i++)
    {
      const char *part = i == 0 ? parts.train : i == 1 ? parts.validation : parts.test;
      g_autofree char *folder = part ? g_build_filename (root, part, NULL) : NULL;
      if (folder)
        add_shards (folder, paths);
    }
  dyno_part_folders_clear (&parts);
}

GPtrArray *
dyno_shards_list (const DynoLocation *location)
{
  g_autoptr (GPtrArray) paths = NULL;

  if (location->is_pattern)
    return dyno_location_expand (location->body);
  paths = g_ptr_array_new_with_free_func (g_free);
  if (!location->is_folder)
    g_ptr_array_add (paths, g_strdup (location->body));
  else
    add_shards (location->body, paths);
  if (paths->len == 0)
    add_parts (location->body, paths);
  return g_steal_pointer (&paths);
}

DynoPart
dyno_shard_get_part (const char *path)
{
  g_autofree char *base = g_path_get_basename (path), *folder = g_path_get_dirname (path),
                  *last = g_path_get_basename (folder);
  g_auto (GStrv) tokens = g_strsplit_set (base, "-_.", -1);
  DynoPart of_folder = dyno_part_of_name (last, NULL), part = DYNO_PART_NONE;

  for (guint i = 0; tokens[i] && part != DYNO_PART_TRAIN; i++)
    {
      DynoPart one = dyno_part_of_name (tokens[i], NULL);
      part = part == DYNO_PART_NONE || one == DYNO_PART_TRAIN ? one : part;
    }
  return part == DYNO_PART_NONE || of_folder == DYNO_PART_TRAIN ? of_folder : part;
}
