/* SPDX-License-Identifier: MIT */
/* Opens libvulkan.so.1 at run time and fills the function tables.
 * The library stays loaded until the process ends, and so do the drivers, since one instance is
 * never destroyed: threads and exit handlers of drivers remain after an unload, and each new load
 * takes time and leaks a little memory. */
#include "intl.h"
#include "vk.h"
#include <gmodule.h>

#define LIBRARY_NAME "libvulkan.so.1"

typedef struct {
  gboolean loaded;
  char *cause;
  DynoVkGlobal table;
  VkInstance anchor; /* keeps the drivers loaded; null where there are none */
} Library;

static void
hold_drivers (Library *library)
{
  VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                    .apiVersion = VK_API_VERSION_1_2 };
  VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                .pApplicationInfo = &application };

  if (library->table.CreateInstance (&info, NULL, &library->anchor) != VK_SUCCESS)
    library->anchor = VK_NULL_HANDLE;
}

static gpointer
open_library (gpointer data)
{
  Library *library = data;
  GModule *module = g_module_open (LIBRARY_NAME, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  gpointer symbol = NULL;

  if (!module)
    {
      library->cause = g_strdup (g_module_error ());
      return library;
    }
  g_module_make_resident (module);
  if (!g_module_symbol (module, "vkGetInstanceProcAddr", &symbol) || !symbol)
    {
      library->cause = g_strdup ("it has no vkGetInstanceProcAddr");
      return library;
    }
  library->table.GetInstanceProcAddr = (PFN_vkGetInstanceProcAddr) symbol;
#define LOAD(name)                                                                         \
  library->table.name =                                                                    \
      (PFN_vk##name) library->table.GetInstanceProcAddr (VK_NULL_HANDLE, "vk" #name);      \
  if (!library->table.name)                                                                \
    {                                                                                      \
      library->cause = g_strdup ("it has no vk" #name " (Vulkan 1.1 or later is needed)"); \
      return library;                                                                      \
    }
  DYNO_VK_GLOBAL (LOAD)
#undef LOAD
  library->loaded = TRUE;
  hold_drivers (library);
  return library;
}

const DynoVkGlobal *
dyno_vk_load (GError **error)
{
  static GOnce once = G_ONCE_INIT;
  static Library library;

  g_once (&once, open_library, &library);
  if (!library.loaded)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_LOADER,
                   _ ("Cannot use %s: %s; install the Vulkan loader (package libvulkan1)"),
                   LIBRARY_NAME, library.cause);
      return NULL;
    }
  return &library.table;
}

static gboolean
missing (GError **error, const char *name)
{
  g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED,
               _ ("The Vulkan driver has no function %s; Vulkan 1.2 is needed: update the driver"),
               name);
  return FALSE;
}

gboolean
dyno_vk_load_instance (DynoVkInstance *table, const DynoVkGlobal *global, VkInstance instance,
                       GError **error)
{
#define LOAD(name) table->name = (PFN_vk##name) global->GetInstanceProcAddr (instance, "vk" #name);
#define LOAD_REQUIRED(name) \
  LOAD (name)               \
  if (!table->name)         \
    return missing (error, "vk" #name);
  DYNO_VK_INSTANCE (LOAD_REQUIRED)
  DYNO_VK_INSTANCE_OPTIONAL (LOAD)
#undef LOAD
#undef LOAD_REQUIRED
  return TRUE;
}

gboolean
dyno_vk_load_device (DynoVkDevice *table, const DynoVkInstance *instance, VkDevice device,
                     GError **error)
{
#define LOAD_REQUIRED(name)                                                      \
  table->name = (PFN_vk##name) instance->GetDeviceProcAddr (device, "vk" #name); \
  if (!table->name)                                                              \
    return missing (error, "vk" #name);
#define LOAD(name) table->name = (PFN_vk##name) instance->GetDeviceProcAddr (device, "vk" #name);
  DYNO_VK_DEVICE (LOAD_REQUIRED)
  DYNO_VK_DEVICE_OPTIONAL (LOAD)
#undef LOAD
#undef LOAD_REQUIRED
  return TRUE;
}
