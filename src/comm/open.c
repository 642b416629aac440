/* SPDX-License-Identifier: MIT */
/* Opens the module with MPI through which this process joins the other ranks.
 *
 * The module stays loaded: MPI does not support unloading.  Its symbols are global, since MPI opens
 * plugins of its own that look for them. */
#include "comm-class.h"
#include "modulefile.h"
#include <gmodule.h>

#define MODULE_NAME "dyno-mpi.so"

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
