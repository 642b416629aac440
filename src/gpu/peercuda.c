/* SPDX-License-Identifier: MIT */
/* See peercuda.h. */
#include "peercuda.h"
#include "gpu-error.h"
#include "intl.h"
#include <gmodule.h>

#define LIBRARY "libcuda.so.1"

enum {
  INVALID_DEVICE = 101,
  PEER_ACCESS_UNSUPPORTED = 217,
  NOT_PERMITTED = 800,
  NOT_SUPPORTED = 801,
  /* after these errors nothing works any more */
  ILLEGAL_ADDRESS = 700,
  LAUNCH_FAILED = 719,
};

typedef struct {
  DynoCuda table;
  char *cause; /* why it is unusable; NULL: it is usable */
} Library;

static gpointer
open_library (gpointer data)
{
  Library *library = data;
  GModule *module = g_module_open (LIBRARY, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  gpointer symbol;

  if (!module)
    {
      library->cause = g_strdup (g_module_error ());
      return library;
    }
  g_module_make_resident (module);
#define LOAD(member, name, arguments)                      \
  symbol = NULL;                                           \
  if (!g_module_symbol (module, name, &symbol) || !symbol) \
    {                                                      \
      library->cause = g_strdup (LIBRARY " has no " name); \
      return library;                                      \
    }                                                      \
  library->table.member = (int (*) arguments) symbol;
  DYNO_CUDA_FUNCTIONS (LOAD)
#undef LOAD
  int result = library->table.init (0);
  if (result != DYNO_CUDA_SUCCESS)
    library->cause = g_strdup_printf ("cuInit: CUDA error %d", result);
  return library;
}

const DynoCuda *
dyno_cuda_open (GError **error)
{
  static GOnce once = G_ONCE_INIT;
  static Library library;

  g_once (&once, open_library, &library);
  if (!library.cause)
    return &library.table;
  g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED, "CUDA's driver API: %s",
               library.cause);
  return NULL;
}

static DynoGpuError
code_of (int result)
{
  switch (result)
    {
    case DYNO_CUDA_OUT_OF_MEMORY:
      return DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY;
    case INVALID_DEVICE:
    case PEER_ACCESS_UNSUPPORTED:
    case NOT_PERMITTED:
    case NOT_SUPPORTED:
      return DYNO_GPU_ERROR_UNSUPPORTED;
    case ILLEGAL_ADDRESS:
    case LAUNCH_FAILED:
      return DYNO_GPU_ERROR_DEVICE_LOST;
    default:
      return DYNO_GPU_ERROR_FAILED;
    }
}

gboolean
dyno_cuda_check (const DynoCuda *cuda, int result, const char *call, GError **error)
{
  const char *name = NULL;

  if (result == DYNO_CUDA_SUCCESS)
    return TRUE;
  cuda->error_name (result, &name);
  g_set_error (error, DYNO_GPU_ERROR, (int) code_of (result), "%s: %s (%d)", call,
               name ? name : "CUDA error", result);
  return FALSE;
}
