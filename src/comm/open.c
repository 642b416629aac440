/* SPDX-License-Identifier: MIT */
/* Whether this process is one of several, and the module with MPI by which it joins them.
 *
 * The module is kept: MPI does not like to be unloaded.  Its symbols are global, since MPI opens
 * plugins of its own that look for them. */
#include "comm-class.h"
#include "modulefile.h"
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
  g_autofree char *path = dyno_module_find_file ("comm", MODULE_NAME);

  if (!path)
    set_missing (error);
  return path != NULL;
}

DynoComm *
dyno_comm_open (GError **error)
{
  g_autofree char *path = dyno_module_find_file ("comm", MODULE_NAME);
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
