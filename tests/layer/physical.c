/* SPDX-License-Identifier: MIT */
/* The words of the layer (see the head of faults.c), its instances, and the reported properties of
 * physical devices. */
#include "layer.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_INSTANCES 64

pthread_mutex_t layer_lock = PTHREAD_MUTEX_INITIALIZER;
LayerFaults layer_faults;
LayerCounts layer_counts;
static bool told;
static LayerInstance instances[MOST_INSTANCES];

/* Words ---------------------------------------------------------------------------------------- */

void
layer_give_up (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  fprintf (stderr, "VK_LAYER_DYNO_faults: ");
  vfprintf (stderr, format, arguments);
  fprintf (stderr, "\n");
  va_end (arguments);
  abort ();
}

static void
take_word (LayerFaults *f, const char *word)
{
  const struct {
    const char *name;
    uint64_t *number;
    bool *flag;
  } known[] = {
    { "lost", &f->lost, NULL },
    { "hang", &f->hang, NULL },
    { "memory", &f->memory, NULL },
    { "memory-limit", &f->memory_limit, NULL },
    { "limit-from", &f->limit_from, NULL },
    { "submit-memory", &f->submit_memory, NULL },
    { "host", &f->host, NULL },
    { "pipeline", &f->pipeline, NULL },
    { "pipelines", &f->pipelines, NULL },
    { "idle-size", &f->idle_size, NULL },
    { "idle-constant", &f->idle_constant, NULL },
    { "devices", &f->devices, NULL },
    { "buffer", &f->buffer, NULL },
    { "shared", &f->shared, NULL },
    { "invocations", &f->invocations, NULL },
    { "budget", NULL, &f->budget },
    { "card", NULL, &f->card },
    { "budget-bytes", &f->budget_bytes, NULL },
    { "usage-bytes", &f->usage_bytes, NULL },
    { "no-fp16", NULL, &f->no_fp16 },
    { "no-16bit", NULL, &f->no_16bit },
    { "no-matrix", NULL, &f->no_matrix },
    { "no-address", NULL, &f->no_address },
    { "late-upload", NULL, &f->late_upload },
    { "late-compute", NULL, &f->late_compute },
  };
  const char *value = strchr (word, '=');
  size_t length = value ? (size_t) (value - word) : strlen (word);

  if (!strncmp (word, "fail=", 5) && strlen (value + 1) < sizeof f->fail)
    {
      strcpy (f->fail, value + 1);
      return;
    }
  if (!strncmp (word, "thread=", 7) && strlen (value + 1) < sizeof f->thread)
    {
      strcpy (f->thread, value + 1);
      return;
    }
  if (!strncmp (word, "gate=", 5) && strlen (value + 1) < sizeof f->gate)
    {
      strcpy (f->gate, value + 1);
      return;
    }
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strlen (known[i].name) == length && memcmp (known[i].name, word, length) == 0
        && !value == !known[i].number)
      {
        if (value)
          *known[i].number = strtoull (value + 1, NULL, 10);
        else
          *known[i].flag = true;
        return;
      }
  layer_give_up ("no fault “%s”", word);
}

/* The lock must be held. */
static void
set_faults (const char *words)
{
  char *copy = strdup (words ? words : ""), *rest = copy, *word;

  layer_faults = (LayerFaults){ .devices = 1 };
  layer_counts.devices = 0;
  told = true;
  while ((word = strsep (&rest, ",")))
    if (*word)
      take_word (&layer_faults, word);
  free (copy);
}

EXPORT void
dyno_faults_set (const char *words)
{
  pthread_mutex_lock (&layer_lock);
  set_faults (words);
  pthread_mutex_unlock (&layer_lock);
}

/* "submits", "allocations", "pipelines" or "allocated" (most bytes at once) of the last device so
 * far; "devices" since faults were set. */
EXPORT uint64_t
dyno_faults_count (const char *what)
{
  uint64_t count;

  pthread_mutex_lock (&layer_lock);
  count = !strcmp (what, "submits")       ? layer_counts.submits
          : !strcmp (what, "allocations") ? layer_counts.allocations
          : !strcmp (what, "pipelines")   ? layer_counts.pipelines
          : !strcmp (what, "allocated")   ? layer_counts.allocated
                                          : layer_counts.devices;
  pthread_mutex_unlock (&layer_lock);
  return count;
}

/* Instances ------------------------------------------------------------------------------------ */

void *
layer_key (const void *handle)
{
  return *(void *const *) handle;
}

/* The lock must be held. */
static LayerInstance *
find_instance (const void *handle)
{
  for (unsigned i = 0; i < MOST_INSTANCES; i++)
    if (instances[i].key == layer_key (handle))
      return &instances[i];
  layer_give_up ("an instance that is not known");
}

LayerInstance
layer_instance (const void *handle)
{
  LayerInstance instance;

  pthread_mutex_lock (&layer_lock);
  if (!told)
    set_faults (getenv ("DYNO_FAULTS"));
  instance = *find_instance (handle);
  pthread_mutex_unlock (&layer_lock);
  return instance;
}

bool
layer_has_second_family (void)
{
  return layer_faults.late_upload || layer_faults.late_compute;
}

bool
layer_has_budget (void)
{
  return layer_faults.budget;
}

bool
layer_fails (const char *call)
{
  bool fails;

  pthread_mutex_lock (&layer_lock);
  fails = !strcmp (layer_faults.fail, call);
  pthread_mutex_unlock (&layer_lock);
  return fails;
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_instance (const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
                 VkInstance *handle)
{
  VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *) info->pNext;
  PFN_vkGetInstanceProcAddr next;
  VkResult result;

  while (link
         && (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO
             || link->function != VK_LAYER_LINK_INFO))
    link = (VkLayerInstanceCreateInfo *) link->pNext;
  if (!link)
    return VK_ERROR_INITIALIZATION_FAILED;
  next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  result =
      ((PFN_vkCreateInstance) next (VK_NULL_HANDLE, "vkCreateInstance")) (info, allocator, handle);
  if (result != VK_SUCCESS)
    return result;
  pthread_mutex_lock (&layer_lock);
  for (unsigned i = 0; i < MOST_INSTANCES; i++)
    if (!instances[i].key)
      {
#define FOR(name) (PFN_##name) next (*handle, #name)
        instances[i] = (LayerInstance){ layer_key (*handle),
                                        *handle,
                                        next,
                                        FOR (vkDestroyInstance),
                                        FOR (vkGetPhysicalDeviceProperties2),
                                        FOR (vkGetPhysicalDeviceFeatures2),
                                        FOR (vkGetPhysicalDeviceMemoryProperties2),
                                        FOR (vkGetPhysicalDeviceQueueFamilyProperties),
                                        FOR (vkEnumerateDeviceExtensionProperties) };
#undef FOR
        pthread_mutex_unlock (&layer_lock);
        return VK_SUCCESS;
      }
  layer_give_up ("too many instances");
}

static VKAPI_ATTR void VKAPI_CALL
destroy_instance (VkInstance handle, const VkAllocationCallbacks *allocator)
{
  PFN_vkDestroyInstance next;

  if (!handle)
    return;
  next = layer_instance (handle).DestroyInstance;
  pthread_mutex_lock (&layer_lock);
  find_instance (handle)->key = NULL;
  pthread_mutex_unlock (&layer_lock);
  next (handle, allocator);
}

/* Physical devices ----------------------------------------------------------------------------- */

#define LOWER(field, most)            \
  if ((most) > 0 && (field) > (most)) \
  (field) = (most)

static VKAPI_ATTR void VKAPI_CALL
get_properties2 (VkPhysicalDevice handle, VkPhysicalDeviceProperties2 *properties)
{
  layer_instance (handle).GetPhysicalDeviceProperties2 (handle, properties);
  LOWER (properties->properties.limits.maxComputeSharedMemorySize, (uint32_t) layer_faults.shared);
  LOWER (properties->properties.limits.maxComputeWorkGroupInvocations,
         (uint32_t) layer_faults.invocations);
  if (layer_faults.card)
    {
      properties->properties.vendorID = 0x10de;
      properties->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    }
  for (VkBaseOutStructure *s = properties->pNext; s; s = s->pNext)
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES)
      {
        LOWER (((VkPhysicalDeviceMaintenance3Properties *) (void *) s)->maxMemoryAllocationSize,
               layer_faults.buffer);
      }
    else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES)
      {
        LOWER (((VkPhysicalDeviceMaintenance4Properties *) (void *) s)->maxBufferSize,
               layer_faults.buffer);
      }
    else if (layer_faults.card
             && s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT)
      {
        VkPhysicalDevicePCIBusInfoPropertiesEXT *pci = (void *) s;

        pci->pciDomain = pci->pciDevice = pci->pciFunction = 0;
        pci->pciBus = 0x65;
      }
}

static void
mask_features (VkBaseOutStructure *s)
{
  VkPhysicalDeviceVulkan11Features *v11 = (void *) s;
  VkPhysicalDeviceVulkan12Features *v12 = (void *) s;

  if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES && layer_faults.no_16bit)
    v11->storageBuffer16BitAccess = v11->uniformAndStorageBuffer16BitAccess =
        v11->storagePushConstant16 = VK_FALSE;
  if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES && layer_faults.no_fp16)
    v12->shaderFloat16 = VK_FALSE;
  if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES && layer_faults.no_address)
    v12->bufferDeviceAddress = VK_FALSE;
  /* The KHR struct has the same beginning as NV's. */
  if (layer_faults.no_matrix
      && (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV
          || (int) s->sType
                 == 1000506000 /* ..._COOPERATIVE_MATRIX_FEATURES_KHR, which older headers lack */))
    ((VkPhysicalDeviceCooperativeMatrixFeaturesNV *) (void *) s)->cooperativeMatrix = VK_FALSE;
}

static VKAPI_ATTR void VKAPI_CALL
get_features2 (VkPhysicalDevice handle, VkPhysicalDeviceFeatures2 *features)
{
  layer_instance (handle).GetPhysicalDeviceFeatures2 (handle, features);
  for (VkBaseOutStructure *s = features->pNext; s; s = s->pNext)
    mask_features (s);
}

static VKAPI_ATTR void VKAPI_CALL
get_memory_properties2 (VkPhysicalDevice handle, VkPhysicalDeviceMemoryProperties2 *properties)
{
  layer_instance (handle).GetPhysicalDeviceMemoryProperties2 (handle, properties);
  for (VkBaseOutStructure *s = properties->pNext; s; s = s->pNext)
    if (layer_has_budget ()
        && s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT)
      for (uint32_t i = 0; i < properties->memoryProperties.memoryHeapCount; i++)
        {
          VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = (void *) s;

          budget->heapBudget[i] = layer_faults.budget_bytes;
          budget->heapUsage[i] = layer_faults.usage_bytes;
        }
}

uint32_t
layer_count_families (VkPhysicalDevice handle)
{
  uint32_t count = 0;

  layer_instance (handle).GetPhysicalDeviceQueueFamilyProperties (handle, &count, NULL);
  return count;
}

static VKAPI_ATTR void VKAPI_CALL
get_queue_families (VkPhysicalDevice handle, uint32_t *count, VkQueueFamilyProperties *families)
{
  LayerInstance instance = layer_instance (handle);
  uint32_t real = layer_count_families (handle), room = *count;

  if (!layer_has_second_family ())
    instance.GetPhysicalDeviceQueueFamilyProperties (handle, count, families);
  else if (!families)
    *count = real + 1;
  else
    {
      instance.GetPhysicalDeviceQueueFamilyProperties (handle, count, families);
      if (room > real)
        {
          families[real] =
              (VkQueueFamilyProperties){ .queueFlags = VK_QUEUE_TRANSFER_BIT, .queueCount = 1 };
          *count = real + 1;
        }
    }
}

/* The extension that a word adds; NULL: none. */
static const char *
own_extension (void)
{
  return layer_has_budget () ? VK_EXT_MEMORY_BUDGET_EXTENSION_NAME
         : layer_faults.card ? VK_EXT_PCI_BUS_INFO_EXTENSION_NAME
                             : NULL;
}

/* The driver's extensions, followed by the layer's. */
static VkResult
add_extension (VkPhysicalDevice handle, uint32_t *count, VkExtensionProperties *extensions)
{
  LayerInstance instance = layer_instance (handle);
  uint32_t room = *count;
  VkResult result = instance.EnumerateDeviceExtensionProperties (handle, NULL, count, extensions);

  if (result != VK_SUCCESS)
    return result;
  if (extensions && *count >= room)
    return VK_INCOMPLETE;
  if (extensions)
    {
      extensions[*count] = (VkExtensionProperties){ .specVersion = 1 };
      strcpy (extensions[*count].extensionName, own_extension ());
    }
  ++*count;
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
get_extensions (VkPhysicalDevice handle, const char *layer, uint32_t *count,
                VkExtensionProperties *extensions)
{
  if (layer_fails ("vkEnumerateDeviceExtensionProperties"))
    {
      *count = 0; /* Mesa's own layer uses the count whatever the result is */
      return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
  return own_extension () && !layer ? add_extension (handle, count, extensions)
                                    : layer_instance (handle).EnumerateDeviceExtensionProperties (
                                        handle, layer, count, extensions);
}

/* ---------------------------------------------------------------------------------------------- */

PFN_vkVoidFunction
layer_instance_call (const char *name)
{
  static const struct {
    const char *name;
    PFN_vkVoidFunction function;
  } calls[] = {
    { "vkCreateInstance", (PFN_vkVoidFunction) create_instance },
    { "vkDestroyInstance", (PFN_vkVoidFunction) destroy_instance },
    { "vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction) get_properties2 },
    { "vkGetPhysicalDeviceFeatures2", (PFN_vkVoidFunction) get_features2 },
    { "vkGetPhysicalDeviceMemoryProperties2", (PFN_vkVoidFunction) get_memory_properties2 },
    { "vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction) get_queue_families },
    { "vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction) get_extensions },
  };

  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
    if (!strcmp (calls[i].name, name))
      return calls[i].function;
  return NULL;
}
