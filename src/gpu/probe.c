/* SPDX-License-Identifier: MIT */
/* The devices and their capabilities.  Probing creates no device.
 * A device that lacks a required feature is listed nevertheless; opening it reports the missing
 * feature. */
#include "device-private.h"
#include "intl.h"
#include <string.h>

#define VENDOR_NVIDIA 0x10de

static DynoDeviceType
type_of (VkPhysicalDeviceType type)
{
  switch ((int) type)
    {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return DYNO_DEVICE_TYPE_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return DYNO_DEVICE_TYPE_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return DYNO_DEVICE_TYPE_VIRTUAL;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return DYNO_DEVICE_TYPE_SOFTWARE;
    default:
      return DYNO_DEVICE_TYPE_OTHER;
    }
}

static gboolean
find_queues (DynoInstance *instance, DynoProbe *probe)
{
  uint32_t count = 0;
  g_autofree VkQueueFamilyProperties *families = NULL;
  gboolean found = FALSE;

  instance->vk.GetPhysicalDeviceQueueFamilyProperties (probe->handle, &count, NULL);
  families = g_new0 (VkQueueFamilyProperties, count + 1);
  instance->vk.GetPhysicalDeviceQueueFamilyProperties (probe->handle, &count, families);

  /* On every known driver the first family with compute is the general one; compute-only families
   * come later. */
  for (uint32_t i = 0; i < count && !found; i++)
    if (families[i].queueCount > 0 && (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
      {
        probe->compute_family = i;
        probe->timestamp_bits = families[i].timestampValidBits;
        found = TRUE;
      }
  probe->transfer_family = probe->compute_family;
  for (uint32_t i = 0; i < count && found; i++)
    if (families[i].queueCount > 0 && (families[i].queueFlags & VK_QUEUE_TRANSFER_BIT)
        && !(families[i].queueFlags & (VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT))
        && !(families[i].queueFlags & 0x60 /* video decode and encode */))
      {
        probe->transfer_family = i;
        break;
      }
  probe->info.transfer_queue = probe->transfer_family != probe->compute_family;
  return found;
}

static void
find_memory (DynoInstance *instance, DynoProbe *probe)
{
  VkPhysicalDeviceMemoryProperties2 memory = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2
  };

  instance->vk.GetPhysicalDeviceMemoryProperties2 (probe->handle, &memory);
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; i++)
    if (memory.memoryProperties.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      probe->info.vram_bytes =
          MAX (probe->info.vram_bytes, memory.memoryProperties.memoryHeaps[i].size);
}

/* NULL: the driver does not list its extensions, which is recorded in the probe. */
static GHashTable *
list_extensions (DynoInstance *instance, DynoProbe *probe)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  uint32_t count = 0;
  g_autofree VkExtensionProperties *extensions = NULL;
  VkResult result =
      instance->vk.EnumerateDeviceExtensionProperties (probe->handle, NULL, &count, NULL);

  extensions = g_new0 (VkExtensionProperties, count + 1);
  if (result >= 0)
    result =
        instance->vk.EnumerateDeviceExtensionProperties (probe->handle, NULL, &count, extensions);
  if (result < 0)
    {
      probe->lacks = g_strdup_printf ("an answer of vkEnumerateDeviceExtensionProperties (%s)",
                                      dyno_vk_result_name (result));
      return NULL;
    }
  for (uint32_t i = 0; i < count; i++)
    g_hash_table_add (names, g_strdup (extensions[i].extensionName));
  return g_steal_pointer (&names);
}

/* Appends a shape, "8x16x16", unless the text has it already. */
static void
add_shape (DynoDeviceInfo *info, guint32 m, guint32 n, guint32 k)
{
  g_autofree char *shape = g_strdup_printf ("%ux%ux%u", m, n, k);
  g_auto (GStrv) had = g_strsplit (info->matrix_shapes, ", ", -1);

  if (g_strv_contains ((const char *const *) had, shape)
      || strlen (info->matrix_shapes) + strlen (shape) + 3 > sizeof info->matrix_shapes)
    return;
  if (*info->matrix_shapes)
    g_strlcat (info->matrix_shapes, ", ", sizeof info->matrix_shapes);
  g_strlcat (info->matrix_shapes, shape, sizeof info->matrix_shapes);
}

char *
dyno_device_info_matrix_words (const DynoDeviceInfo *info)
{
  if (info->matrix != DYNO_MATRIX_NONE)
    return g_strdup (info->matrix == DYNO_MATRIX_KHR ? "VK_KHR_cooperative_matrix"
                                                     : "VK_NV_cooperative_matrix");
  if (info->matrix_khr_device || info->matrix_nv_device)
    return g_strdup ("the device has units, but this build's shader compiler does not know them");
  if (*info->matrix_shapes)
    return g_strdup_printf ("the device has units of %s, the kernels are made for 16x16x16: FMA",
                            info->matrix_shapes);
  return g_strdup ("no units: FMA");
}

static gboolean
has_matrix_khr (DynoInstance *instance, VkPhysicalDevice device, DynoDeviceInfo *info)
{
  gboolean found = FALSE;
  uint32_t count = 0;
  g_autofree VkCooperativeMatrixPropertiesKHR *rows = NULL;

  if (!instance->vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR)
    return FALSE;
  instance->vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR (device, &count, NULL);
  rows = g_new0 (VkCooperativeMatrixPropertiesKHR, count + 1);
  for (uint32_t i = 0; i < count; i++)
    rows[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  if (instance->vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR (device, &count, rows) < 0)
    return FALSE;
  for (uint32_t i = 0; i < count; i++)
    if (rows[i].AType == VK_COMPONENT_TYPE_FLOAT16_KHR
        && rows[i].BType == VK_COMPONENT_TYPE_FLOAT16_KHR
        && rows[i].CType == VK_COMPONENT_TYPE_FLOAT32_KHR
        && rows[i].ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR
        && rows[i].scope == VK_SCOPE_SUBGROUP_KHR)
      {
        add_shape (info, rows[i].MSize, rows[i].NSize, rows[i].KSize);
        found |= rows[i].MSize == 16 && rows[i].NSize == 16 && rows[i].KSize == 16;
      }
  return found;
}

static gboolean
has_matrix_nv (DynoInstance *instance, VkPhysicalDevice device)
{
  uint32_t count = 0;
  g_autofree VkCooperativeMatrixPropertiesNV *rows = NULL;

  if (!instance->vk.GetPhysicalDeviceCooperativeMatrixPropertiesNV)
    return FALSE;
  instance->vk.GetPhysicalDeviceCooperativeMatrixPropertiesNV (device, &count, NULL);
  rows = g_new0 (VkCooperativeMatrixPropertiesNV, count + 1);
  for (uint32_t i = 0; i < count; i++)
    rows[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV;
  if (instance->vk.GetPhysicalDeviceCooperativeMatrixPropertiesNV (device, &count, rows) < 0)
    return FALSE;
  for (uint32_t i = 0; i < count; i++)
    if (rows[i].MSize == 16 && rows[i].NSize == 16 && rows[i].KSize == 16
        && rows[i].AType == VK_COMPONENT_TYPE_FLOAT16_NV
        && rows[i].BType == VK_COMPONENT_TYPE_FLOAT16_NV
        && rows[i].CType == VK_COMPONENT_TYPE_FLOAT32_NV
        && rows[i].DType == VK_COMPONENT_TYPE_FLOAT32_NV && rows[i].scope == VK_SCOPE_SUBGROUP_NV)
      return TRUE;
  return FALSE;
}

/* The number of processors, from an extension of the driver for that; 0: the driver has none.
 * AMD's count of active compute units is of the card, the product from the older extension is of
 * the chip. */
static guint32
count_processors (DynoInstance *instance, VkPhysicalDevice device, GHashTable *extensions)
{
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV
  };
  VkPhysicalDeviceShaderCorePropertiesAMD amd = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD
  };
  VkPhysicalDeviceShaderCoreProperties2AMD amd2 = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD
  };
  VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM
  };
  VkPhysicalDeviceProperties2 properties = { .sType =
                                                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2 };
  const struct {
    const char *name;
    void *answer;
  } known[] = { { VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, &nv },
                { VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME, &amd },
                { VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME, &amd2 },
                { VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME, &arm } };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_hash_table_contains (extensions, known[i].name))
      {
        VkBaseOutStructure *head = known[i].answer;
        head->pNext = properties.pNext;
        properties.pNext = head;
      }
  if (!properties.pNext)
    return 0;
  instance->vk.GetPhysicalDeviceProperties2 (device, &properties);
  if (nv.shaderSMCount > 0)
    return nv.shaderSMCount;
  if (amd2.activeComputeUnitCount > 0)
    return amd2.activeComputeUnitCount;
  if (amd.computeUnitsPerShaderArray > 0)
    return amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray;
  return arm.shaderCoreCount;
}

/* Few makers' drivers do not report processors: their discrete cards have about 32 of them, and
 * devices on a chip with the CPU about 8. */
#define PROCESSORS_UNKNOWN    32
#define PROCESSORS_INTEGRATED 8
#define PROCESSORS_MEASURED   132

guint32
dyno_device_info_processors (const DynoDeviceInfo *info)
{
  if (info->processors > 0)
    return info->processors;
  return info->type == DYNO_DEVICE_TYPE_INTEGRATED ? PROCESSORS_INTEGRATED : PROCESSORS_UNKNOWN;
}

guint32
dyno_device_info_scale (const DynoDeviceInfo *info, guint32 count)
{
  guint64 scaled = (guint64) count * dyno_device_info_processors (info) + PROCESSORS_MEASURED / 2;

  return (guint32) CLAMP (scaled / PROCESSORS_MEASURED, 1, G_MAXUINT32);
}

static void
find_properties (DynoInstance *instance, DynoProbe *probe, GHashTable *extensions)
{
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT
  };
  VkPhysicalDeviceMaintenance4Properties maintenance4 = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES
  };
  VkPhysicalDeviceSubgroupSizeControlProperties control = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES
  };
  VkPhysicalDeviceDriverProperties driver = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES
  };
  VkPhysicalDeviceIDProperties id = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                      .pNext = &driver };
  VkPhysicalDeviceSubgroupProperties subgroup = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &id
  };
  VkPhysicalDeviceMaintenance3Properties maintenance3 = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, .pNext = &subgroup
  };
  VkPhysicalDeviceProperties2 properties = { .sType =
                                                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                             .pNext = &maintenance3 };
  const VkPhysicalDeviceLimits *limits = &properties.properties.limits;
  DynoDeviceInfo *info = &probe->info;
  gboolean v13 = info->api_version >= VK_API_VERSION_1_3;

  if (probe->maintenance4)
    {
      maintenance4.pNext = properties.pNext;
      properties.pNext = &maintenance4;
    }
  if (g_hash_table_contains (extensions, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME))
    {
      pci.pNext = properties.pNext;
      properties.pNext = &pci;
    }
  if (v13 || g_hash_table_contains (extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME))
    {
      control.pNext = properties.pNext;
      properties.pNext = &control;
    }
  instance->vk.GetPhysicalDeviceProperties2 (probe->handle, &properties);

  g_strlcpy (info->name, properties.properties.deviceName, sizeof info->name);
  g_snprintf (info->driver, sizeof info->driver, "%.120s %.120s", driver.driverName,
              driver.driverInfo);
  memcpy (info->uuid, id.deviceUUID, sizeof info->uuid);
  if (g_hash_table_contains (extensions, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME))
    g_snprintf (info->pci, sizeof info->pci, "%04x:%02x:%02x.%x", pci.pciDomain, pci.pciBus,
                pci.pciDevice, pci.pciFunction);
  memcpy (probe->cache_uuid, properties.properties.pipelineCacheUUID, sizeof probe->cache_uuid);
  info->shared_bytes = limits->maxComputeSharedMemorySize;
  info->max_invocations = limits->maxComputeWorkGroupInvocations;
  info->max_groups_x = limits->maxComputeWorkGroupCount[0];
  info->timestamp_ns = probe->timestamp_bits > 0 ? (double) limits->timestampPeriod : 0.0;
  info->subgroup_size = subgroup.subgroupSize;
  info->processors = count_processors (instance, probe->handle, extensions);
  /* A buffer has memory of its own, so both limits apply to it. */
  info->max_buffer_bytes = MIN (maintenance3.maxMemoryAllocationSize, G_MAXINT64);
  if (probe->maintenance4)
    info->max_buffer_bytes = MIN (info->max_buffer_bytes, maintenance4.maxBufferSize);
  probe->subgroup_control =
      probe->subgroup_control && (control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT);
  info->subgroup_min = probe->subgroup_control ? control.minSubgroupSize : subgroup.subgroupSize;
  info->subgroup_max = probe->subgroup_control ? control.maxSubgroupSize : subgroup.subgroupSize;
}

static void
chain (void *next, VkPhysicalDeviceFeatures2 *features)
{
  VkBaseOutStructure *head = next;

  head->pNext = features->pNext;
  features->pNext = next;
}

static gboolean
wants_peers (const DynoDeviceInfo *info)
{
  const char *asked = g_getenv ("DYNO_PEER_COPIES");

  return asked && *asked ? !g_str_equal (asked, "0") : info->vendor_id == VENDOR_NVIDIA;
}

/* TRUE: descriptors of a buffer's memory can be exported and imported. */
static gboolean
shares_buffers (DynoInstance *instance, VkPhysicalDevice handle)
{
  const VkExternalMemoryFeatureFlags both =
      VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  VkPhysicalDeviceExternalBufferInfo info = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
    .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT
             | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
    .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
  };
  VkExternalBufferProperties answer = { .sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES };

  instance->vk.GetPhysicalDeviceExternalBufferProperties (handle, &info, &answer);
  return (answer.externalMemoryProperties.externalMemoryFeatures & both) == both;
}

static void
find_features (DynoInstance *instance, DynoProbe *probe, GHashTable *extensions)
{
  VkPhysicalDeviceFeatures2 features = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 };
  VkPhysicalDeviceSubgroupSizeControlFeatures control = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES
  };
  VkPhysicalDeviceMaintenance4Features maintenance4 = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES
  };
  VkPhysicalDeviceSynchronization2Features sync2 = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES
  };
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR khr = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR
  };
  VkPhysicalDeviceCooperativeMatrixFeaturesNV nv = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV
  };
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR
  };
  gboolean v13 = probe->info.api_version >= VK_API_VERSION_1_3;

  probe->features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  probe->features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  chain (&probe->features11, &features);
  chain (&probe->features12, &features);
  if (v13 || g_hash_table_contains (extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME))
    chain (&control, &features);
  if (v13 || g_hash_table_contains (extensions, VK_KHR_MAINTENANCE_4_EXTENSION_NAME))
    chain (&maintenance4, &features);
  if (v13 || g_hash_table_contains (extensions, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME))
    chain (&sync2, &features);
  if (g_hash_table_contains (extensions, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME))
    chain (&khr, &features);
  if (g_hash_table_contains (extensions, VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME))
    chain (&nv, &features);
  if (g_hash_table_contains (extensions, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME))
    chain (&executables, &features);
  instance->vk.GetPhysicalDeviceFeatures2 (probe->handle, &features);

  probe->features = features.features;
  probe->features11.pNext = NULL;
  probe->features12.pNext = NULL;
  probe->subgroup_control = control.subgroupSizeControl;
  probe->full_subgroups = control.computeFullSubgroups;
  probe->maintenance4 = maintenance4.maintenance4;
  probe->synchronization2 = sync2.synchronization2;
  probe->statistics = executables.pipelineExecutableInfo;
  probe->external_memory =
      g_hash_table_contains (extensions, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME)
      && shares_buffers (instance, probe->handle);
  probe->info.peer_memory = probe->external_memory && wants_peers (&probe->info);
  probe->info.memory_budget =
      g_hash_table_contains (extensions, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  probe->info.fp16 = probe->features12.shaderFloat16 && probe->features11.storageBuffer16BitAccess
                     && probe->features11.uniformAndStorageBuffer16BitAccess
                     && probe->features.shaderInt16;
  probe->info.matrix_khr_device = khr.cooperativeMatrix && probe->features12.vulkanMemoryModel
                                  && has_matrix_khr (instance, probe->handle, &probe->info);
  probe->info.matrix_nv_device = nv.cooperativeMatrix && has_matrix_nv (instance, probe->handle);
}

static void
find_lacks (DynoProbe *probe)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  if (!probe->features.shaderInt64)
    g_ptr_array_add (names, (gpointer) "shaderInt64");
  if (!probe->features12.bufferDeviceAddress)
    g_ptr_array_add (names, (gpointer) "bufferDeviceAddress");
  if (!probe->features12.timelineSemaphore)
    g_ptr_array_add (names, (gpointer) "timelineSemaphore");
  if (!probe->features12.hostQueryReset)
    g_ptr_array_add (names, (gpointer) "hostQueryReset");
  if (!probe->features12.scalarBlockLayout)
    g_ptr_array_add (names, (gpointer) "scalarBlockLayout");
  if (names->len > 0)
    {
      g_ptr_array_add (names, NULL);
      probe->lacks = g_strjoinv (", ", (char **) names->pdata);
    }
}

static DynoMatrix
best_matrix (const DynoDeviceInfo *info)
{
  DynoMatrix known;

  if (!info->fp16 || (!info->matrix_khr_device && !info->matrix_nv_device))
    return DYNO_MATRIX_NONE;
  known = dyno_shader_compiler_matrix ();
  if (info->matrix_khr_device && known == DYNO_MATRIX_KHR)
    return DYNO_MATRIX_KHR;
  /* A compiler that supports KHR is newer, and supports NV too. */
  return info->matrix_nv_device && known != DYNO_MATRIX_NONE ? DYNO_MATRIX_NV : DYNO_MATRIX_NONE;
}

static void
probe_free (gpointer data)
{
  DynoProbe *probe = data;

  g_free (probe->lacks);
  g_free (probe);
}

static DynoProbe *
probe_one (DynoInstance *instance, VkPhysicalDevice device)
{
  VkPhysicalDeviceProperties2 properties = { .sType =
                                                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2 };
  DynoProbe *probe = g_new0 (DynoProbe, 1);
  g_autoptr (GHashTable) extensions = NULL;

  probe->handle = device;
  instance->vk.GetPhysicalDeviceProperties2 (device, &properties);
  probe->info.api_version = properties.properties.apiVersion;
  probe->info.driver_version = properties.properties.driverVersion;
  probe->info.vendor_id = properties.properties.vendorID;
  probe->info.device_id = properties.properties.deviceID;
  probe->info.type = type_of (properties.properties.deviceType);
  g_strlcpy (probe->info.name, properties.properties.deviceName, sizeof probe->info.name);
  if (!find_queues (instance, probe))
    {
      probe_free (probe);
      return NULL;
    }
  find_memory (instance, probe);
  if (probe->info.api_version < VK_API_VERSION_1_2)
    {
      probe->lacks = g_strdup ("Vulkan 1.2");
      return probe;
    }
  extensions = list_extensions (instance, probe);
  if (!extensions)
    return probe;
  find_features (instance, probe, extensions);
  find_properties (instance, probe, extensions);
  find_lacks (probe);
  probe->info.matrix = best_matrix (&probe->info);
  return probe;
}

/* g_ptr_array_sort is stable: equal devices stay in the driver's order. */
int
dyno_probe_compare (gconstpointer a, gconstpointer b)
{
  const DynoProbe *x = *(DynoProbe *const *) a, *y = *(DynoProbe *const *) b;

  if ((!x->lacks) != (!y->lacks))
    return !x->lacks ? -1 : 1;
  if (x->info.type != y->info.type)
    return x->info.type < y->info.type ? -1 : 1;
  if (x->info.vram_bytes != y->info.vram_bytes)
    return x->info.vram_bytes > y->info.vram_bytes ? -1 : 1;
  return 0;
}

GPtrArray *
dyno_probe_all (DynoInstance *instance, GError **error)
{
  g_autoptr (GPtrArray) probes = g_ptr_array_new_with_free_func (probe_free);
  g_autofree VkPhysicalDevice *handles = NULL;
  uint32_t count = 0;
  VkResult result = instance->vk.EnumeratePhysicalDevices (instance->handle, &count, NULL);

  handles = g_new0 (VkPhysicalDevice, count + 1);
  if (result == VK_SUCCESS)
    result = instance->vk.EnumeratePhysicalDevices (instance->handle, &count, handles);
  /* A driver that cannot start returns this: there is no device then. */
  if (result == VK_ERROR_INITIALIZATION_FAILED)
    count = 0;
  else if (result < 0)
    {
      dyno_vk_set_error (error, result, "vkEnumeratePhysicalDevices", NULL);
      return NULL;
    }
  for (uint32_t i = 0; i < count; i++)
    {
      DynoProbe *probe = probe_one (instance, handles[i]);
      if (probe)
        g_ptr_array_add (probes, probe);
    }
  if (probes->len == 0)
    {
      g_set_error_literal (
          error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE,
          _ ("No Vulkan device with a compute queue; install the driver of your GPU, or "
             "mesa-vulkan-drivers to train on the processor"));
      return NULL;
    }
  g_ptr_array_sort (probes, dyno_probe_compare);
  for (guint i = 0; i < probes->len; i++)
    ((DynoProbe *) probes->pdata[i])->info.index = i;
  return g_steal_pointer (&probes);
}

GPtrArray *
dyno_device_list (GError **error)
{
  g_autoptr (DynoInstance) instance = dyno_instance_new (FALSE, error);
  g_autoptr (GPtrArray) probes = NULL;
  GPtrArray *infos;

  if (!instance)
    return NULL;
  probes = dyno_probe_all (instance, error);
  if (!probes)
    return NULL;
  infos = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < probes->len; i++)
    g_ptr_array_add (infos,
                     g_memdup2 (&((DynoProbe *) probes->pdata[i])->info, sizeof (DynoDeviceInfo)));
  return infos;
}
