/* SPDX-License-Identifier: MIT */
/* Where a verb writes. */
#include "run-folder.h"
#include "output.h"
#include <errno.h>
#include <glib/gstdio.h>

int
dyno_run_folder_prepare (const char *command, const char *folder, const char *resume,
                         gboolean force)
{
  g_autofree char *shown = g_filename_display_name (folder);
  g_autoptr (GError) error = NULL;
  int problem;

  if (g_mkdir_with_parents (folder, 0755) != 0 || !g_file_test (folder, G_FILE_TEST_IS_DIR))
    {
      problem = errno;
      dyno_error_line ("%s: cannot make the folder “%s”: %s; choose another with --out", command,
                       shown, g_strerror (problem));
      return DYNO_EXIT_DISK;
    }
  if (g_access (folder, W_OK | X_OK) != 0)
    {
      problem = errno;
      dyno_error_line ("%s: cannot write into “%s”: %s; choose another folder with --out", command,
                       shown, g_strerror (problem));
      return DYNO_EXIT_DISK;
    }
  if (!force && !dyno_run_folder_check (folder, resume, &error))
    {
      dyno_error_line ("%s: %s", command, error->message);
      return DYNO_EXIT_USAGE;
    }
  return DYNO_EXIT_OK;
}
