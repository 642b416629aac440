/* SPDX-License-Identifier: MIT */
/* Whether this process is one of several, and the module with MPI by which it joins them.
 *
 * The module is searched in $DYNO_MODULE_DIR alone when that is set, else in the build tree beside
 * this program, then where it was installed.  It is kept: MPI does not like to be unloaded.  Its
 * symbols are global, since MPI opens plugins of its own that look for them. */
#include "comm-class.h"
#include <gmodule.h>

#define MODULE_NAME "dyno-mpi.so"

static guint64
read_number (const char *variable)
{
  const char *text = g_getenv (variable);
  guint64 value = 0;

  return text && g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT32, &value, NULL) ? value : 0;
}

/* Open MPI; MPICH, Intel MPI and others of its kind; Slurm, whose batch scripts have SLURM_NTASKS
 * but no step. */
gboolean
dyno_comm_is_launched (void)
{
  static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                       "SLURM_STEP_NUM_TASKS" };
  gboolean told = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      guint64 size = read_number (sizes[i]);
      if (size > 1)
        return TRUE;
      told = told || size == 1;
    }
  return !told && g_getenv ("PMIX_RANK") && g_getenv ("PMIX_NAMESPACE");
}

/* src/comm of the build tree that this program runs in, or NULL. */
static char *
build_folder (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = program ? g_path_get_dirname (program) : NULL;

  if (!folder || !(g_str_has_suffix (folder, "/src/cli") || g_str_has_suffix (folder, "/src/app")))
    return NULL;
  return g_build_filename (folder, "..", "comm", NULL);
}

static char *
find_module (void)
{
  const char *named = g_getenv ("DYNO_MODULE_DIR");
  g_autofree char *built = build_folder ();
  const char *folders[] = { named && *named ? named : built,
                            named && *named ? NULL : DYNO_MODULE_DIR };

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path = folders[i] ? g_build_filename (folders[i], MODULE_NAME, NULL) : NULL;
      if (path && g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
    }
  return NULL;
}

static void
set_missing (GError **error)
{
  g_set_error_literal (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_MODULE,
                       "there is no MPI: the module " MODULE_NAME
                       " is not installed; build Dyno with -Dmpi=enabled, or start one process "
                       "without mpirun");
}

gboolean
dyno_comm_is_installed (GError **error)
{
  g_autofree char *path = find_module ();

  if (!path)
    set_missing (error);
  return path != NULL;
}

DynoComm *
dyno_comm_open (GError **error)
{
  g_autofree char *path = find_module ();
  GModule *module = path ? g_module_open (path, 0) : NULL;
  gpointer join = NULL;

  if (module && g_module_symbol (module, "dyno_mpi_join", &join) && join)
    {
      g_module_make_resident (module);
      return ((DynoCommJoin) join) (error);
    }
  if (path)
    g_set_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_MODULE,
                 "MPI cannot be used: %s; is the MPI that " MODULE_NAME
                 " was built with installed (package openmpi-bin or mpich)?",
                 g_module_error ());
  else
    set_missing (error);
  return NULL;
}
