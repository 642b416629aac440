/* SPDX-License-Identifier: MIT */
/* See outfolder.h. */
#include "outfolder.h"
#include "file.h"
#include "output.h"
#include "runwriter.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

int
dyno_out_folder_prepare (const char *command, const char *folder, const DynoOutFiles *files,
                         gboolean force)
{
  g_autofree char *shown = g_filename_display_name (folder);
  g_autoptr (GError) error = NULL;
  int problem;

  if (!dyno_dir_make (folder) || !g_file_test (folder, G_FILE_TEST_IS_DIR))
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
  if (!force && !dyno_run_writer_check_folder (folder, NULL, &error))
    {
      dyno_error_line ("%s: %s", command, error->message);
      return DYNO_EXIT_USAGE;
    }
  for (guint i = 0; !force && files->files[i]; i++)
    {
      g_autofree char *path = g_build_filename (folder, files->files[i], NULL);

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        continue;
      dyno_error_line (
          "%s: “%s” holds %s (%s); choose another folder%s, or write over it by --force", command,
          shown, files->holds, files->files[i], files->instead);
      return DYNO_EXIT_USAGE;
    }
  for (guint i = 0; files->files[i]; i++)
    {
      g_autofree char *path = g_build_filename (folder, files->files[i], NULL);

      if (dyno_file_test_writable (path, &error))
        continue;
      dyno_error_line ("%s: %s; make room, or choose another folder with --out", command,
                       error->message);
      return dyno_exit_code (error);
    }
  return DYNO_EXIT_OK;
}
