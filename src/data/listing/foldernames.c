/* SPDX-License-Identifier: MIT */
#include "foldernames.h"

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
