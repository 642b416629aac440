/* SPDX-License-Identifier: MIT */
/* What dynoctl itself puts into the folder of a run; weights, checkpoint and metrics.csv are the session's. */
#include "run-folder.h"
#include "output.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

static const char *const run_files[] = { "settings.ini",
                                         "metrics.csv",
                                         "weights.safetensors",
                                         "weights-last.safetensors",
                                         "curves.svg",
                                         "curves.png",
                                         "checkpoint.safetensors",
                                         "log",
                                         NULL };

static gboolean
same_folder (const char *a, const char *b)
{
  GStatBuf status_a, status_b;

  return g_stat (a, &status_a) == 0 && g_stat (b, &status_b) == 0 && status_a.st_dev == status_b.st_dev
         && status_a.st_ino == status_b.st_ino;
}

static gboolean
is_resumed (const char *folder, const char *resume)
{
  g_autofree char *parent = NULL;

  if (resume == NULL)
    return FALSE;
  parent = g_path_get_dirname (resume);
  return same_folder (folder, resume) || same_folder (folder, parent);
}

int
dyno_run_folder_prepare (const char *command, const char *folder, const char *resume, gboolean force)
{
  g_autofree char *shown = g_filename_display_name (folder);
  int problem;

  if (g_mkdir_with_parents (folder, 0755) != 0 || !g_file_test (folder, G_FILE_TEST_IS_DIR))
    {
      problem = errno;
      dyno_error_line ("%s: cannot make the folder “%s”: %s; choose another with --out", command, shown,
                       g_strerror (problem));
      return DYNO_EXIT_DISK;
    }
  if (g_access (folder, W_OK | X_OK) != 0)
    {
      problem = errno;
      dyno_error_line ("%s: cannot write into “%s”: %s; choose another folder with --out", command, shown,
                       g_strerror (problem));
      return DYNO_EXIT_DISK;
    }
  for (guint i = 0; !force && !is_resumed (folder, resume) && run_files[i]; i++)
    {
      g_autofree char *path = g_build_filename (folder, run_files[i], NULL);
      GStatBuf status;

      if (g_lstat (path, &status) == 0)
        {
          dyno_error_line (
              "%s: “%s” holds an earlier run (%s); choose another folder, go on with it by --resume, or write over it "
              "by --force",
              command, shown, run_files[i]);
          return DYNO_EXIT_USAGE;
        }
    }
  return DYNO_EXIT_OK;
}

/* A path as it is from anywhere; built-in data sets stay. */
static void
make_absolute (char **name)
{
  char *path;

  if (*name == NULL || !g_file_test (*name, G_FILE_TEST_EXISTS))
    return;
  path = g_canonicalize_filename (*name, NULL);
  g_free (*name);
  *name = path;
}

gboolean
dyno_run_folder_write_settings (const char *folder, const DynoJob *job, const char *device, GError **error)
{
  g_autoptr (DynoJob) copy = dyno_job_copy (job);
  g_autofree char *path = g_build_filename (folder, "settings.ini", NULL);
  DynoExportContext context = { .job = copy, .device = device };

  make_absolute (&copy->data);
  make_absolute (&copy->targets);
  return dyno_export_file (dyno_exporter_find ("keyfile"), &context, path, TRUE, error);
}
