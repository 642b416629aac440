/* SPDX-License-Identifier: MIT */
/* The memory of a device that is not open: a physical device of a separate instance is queried. */
#include "memoryprobe.h"
#include "device-private.h"
#include <string.h>

struct _DynoMemoryProbe {
  DynoInstance *instance;
  VkPhysicalDevice handle;
};

DynoMemoryProbe *
dyno_memory_probe_new (const DynoDeviceInfo *info)
{
  g_autoptr (DynoInstance) instance = NULL;
  g_autoptr (GPtrArray) probes = NULL;

  if (!info->memory_budget || !(instance = dyno_instance_new (FALSE, NULL)))
    return NULL;
  probes = dyno_probe_all (instance, NULL);
  for (guint i = 0; probes && i < probes->len; i++)
    {
      const DynoProbe *found = probes->pdata[i];

      if (found->info.memory_budget
          && memcmp (found->info.uuid, info->uuid, sizeof info->uuid) == 0)
        {
          DynoMemoryProbe *probe = g_new0 (DynoMemoryProbe, 1);

          probe->handle = found->handle;
          probe->instance = g_steal_pointer (&instance);
          return probe;
        }
    }
  return NULL;
}

void
dyno_memory_probe_free (DynoMemoryProbe *probe)
{
  if (!probe)
    return;
  dyno_instance_free (probe->instance);
  g_free (probe);
}

gboolean
dyno_memory_probe_query (DynoMemoryProbe *probe, DynoMemoryUsage *usage)
{
  return dyno_physical_device_query_usage (probe->instance, probe->handle, usage);
}
