/* SPDX-License-Identifier: MIT */
#include "keepfolder.h"
#include "file.h"
#include <errno.h>
#include <glib/gi18n.h>

gboolean
dyno_folder_can_keep (const char *folder, GError **error)
{
  if (dyno_dir_test_writable (folder))
    return TRUE;
  int problem = errno;
  g_autofree char *shown = g_filename_display_name (folder);
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (problem),
               _ ("Cannot write into “%s”: %s"), shown, g_strerror (problem));
  return FALSE;
}
