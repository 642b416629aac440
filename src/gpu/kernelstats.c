/* SPDX-License-Identifier: MIT */
/* A driver's statistics of a compiled kernel: VK_KHR_pipeline_executable_properties, read by the
 * drivers' names for the numbers.  Unknown names are ignored. */
#include "device-private.h"
#include <string.h>

typedef enum { REGISTERS, SPILLS, SCRATCH, SHARED, SUBGROUPS, N_NUMBERS } Number;

/* The drivers' names for each number, in lower case.  Scalar registers that spill to vector
 * registers (RADV) or to registers of another kind (NVK) cost little and do not count as spills. */
static const struct {
  const char *name;
  Number number;
} known[] = {
  { "vgprs", REGISTERS },
  { "register count", REGISTERS },
  { "number of gprs", REGISTERS },
  { "gprs", REGISTERS },
  { "grf registers", REGISTERS },
  { "spilled vgprs", SPILLS },
  { "spill count", SPILLS },
  { "spills to memory", SPILLS },
  { "spills to mem", SPILLS },
  { "scratch size", SCRATCH },
  { "scratch memory size", SCRATCH },
  { "slm size", SCRATCH },
  { "local memory size", SCRATCH },
  { "lds size", SHARED },
  { "workgroup memory size", SHARED },
  { "shared memory size", SHARED },
  { "subgroups per simd", SUBGROUPS },
  { "max warps/sm", SUBGROUPS },
  { "max waves/core", SUBGROUPS },
};

void
dyno_kernel_statistics_add (DynoKernelStatistics *statistics, const char *name, guint64 value)
{
  g_autofree char *lower = g_ascii_strdown (name, -1);
  guint32 number = (guint32) MIN (value, G_MAXUINT32);

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (known[i].name, lower) == 0)
      {
        guint32 *const fields[N_NUMBERS] = { &statistics->registers, &statistics->spills,
                                             &statistics->scratch_bytes, &statistics->shared_bytes,
                                             &statistics->subgroups };
        *fields[known[i].number] = number;
        statistics->known = TRUE;
      }
}

static guint64
value_of (const VkPipelineExecutableStatisticKHR *statistic)
{
  switch ((int) statistic->format)
    {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
      return statistic->value.u64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
      return (guint64) MAX (statistic->value.i64, 0);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
      return (guint64) MAX (statistic->value.f64, 0.0);
    default:
      return statistic->value.b32;
    }
}

static void
read_executable (DynoDevice *device, VkPipeline pipeline, uint32_t index,
                 DynoKernelStatistics *statistics)
{
  VkPipelineExecutableInfoKHR info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                       .pipeline = pipeline,
                                       .executableIndex = index };
  uint32_t count = 0;
  g_autofree VkPipelineExecutableStatisticKHR *rows = NULL;

  if (device->vk.GetPipelineExecutableStatisticsKHR (device->handle, &info, &count, NULL) < 0)
    return;
  rows = g_new0 (VkPipelineExecutableStatisticKHR, count + 1);
  for (uint32_t i = 0; i < count; i++)
    rows[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
  if (device->vk.GetPipelineExecutableStatisticsKHR (device->handle, &info, &count, rows) < 0)
    return;
  for (uint32_t i = 0; i < count; i++)
    {
      g_debug ("%s: %" G_GUINT64_FORMAT, rows[i].name, value_of (&rows[i]));
      dyno_kernel_statistics_add (statistics, rows[i].name, value_of (&rows[i]));
    }
}

gboolean
dyno_kernel_get_statistics (DynoDevice *device, DynoKernel *kernel,
                            DynoKernelStatistics *statistics)
{
  VkPipelineInfoKHR info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR,
                             .pipeline = dyno_kernel_get_pipeline (kernel) };
  uint32_t count = 0;
  g_autofree VkPipelineExecutablePropertiesKHR *rows = NULL;

  memset (statistics, 0, sizeof *statistics);
  if (!device->statistics
      || device->vk.GetPipelineExecutablePropertiesKHR (device->handle, &info, &count, NULL) < 0)
    return FALSE;
  rows = g_new0 (VkPipelineExecutablePropertiesKHR, count + 1);
  for (uint32_t i = 0; i < count; i++)
    rows[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
  if (device->vk.GetPipelineExecutablePropertiesKHR (device->handle, &info, &count, rows) < 0)
    return FALSE;
  /* Where there are several (an Intel kernel compiled for several widths), the last and widest one
   * counts. */
  for (uint32_t i = 0; i < count; i++)
    {
      read_executable (device, info.pipeline, i, statistics);
      if (statistics->known && rows[i].subgroupSize > 0)
        statistics->subgroup_size = rows[i].subgroupSize;
    }
  return statistics->known;
}
