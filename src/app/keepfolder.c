/* SPDX-License-Identifier: MIT */
#include "keepfolder.h"
#include "file.h"
#include <errno.h>
#include <glib/gi18n.h>

static gboolean
set_error (const char *folder, GError **error)
{
  int problem = errno;
  g_autofree char *shown = g_filename_display_name (folder);
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (problem),
               _ ("Cannot write into “%s”: %s"), shown, g_strerror (problem));
  return FALSE;
}

gboolean
dyno_folder_can_keep (const char *folder, GError **error)
{
  return dyno_dir_test_writable (folder) || set_error (folder, error);
}

gboolean
dyno_folder_may_keep (const char *folder, GError **error)
{
  return dyno_dir_may_be_writable (folder) || set_error (folder, error);
}
