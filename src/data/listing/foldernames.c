/* SPDX-License-Identifier: MIT */
#include "foldernames.h"
#include <sys/stat.h>

gboolean
dyno_folder_is_cancelled (void)
{
  return g_cancellable_is_cancelled (g_cancellable_get_current ());
}

const char *
dyno_folder_next_name (GDir *folder)
{
  return dyno_folder_is_cancelled () ? NULL : g_dir_read_name (folder);
}

struct dirent *
dyno_folder_next_entry (DIR *folder)
{
  return dyno_folder_is_cancelled () ? NULL : readdir (folder);
}

gboolean
dyno_folder_entry_is_folder (const char *path, const struct dirent *entry)
{
  g_autofree char *full = NULL;
  struct stat status;

  if (entry->d_type == DT_DIR || entry->d_type == DT_REG)
    return entry->d_type == DT_DIR;
  full = g_build_filename (path, entry->d_name, NULL);
  return stat (full, &status) == 0 && S_ISDIR (status.st_mode);
}
