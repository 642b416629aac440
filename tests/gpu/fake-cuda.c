/* SPDX-License-Identifier: MIT */
/* A stub of CUDA's driver API over the memory of the first Vulkan device, which is a CPU with
 * host-visible memory.  As in CUDA, memory that other processes map has a descriptor.  Copies are
 * done at the second query, so that a program that does not wait has no data. */
#include "fake-cuda.h"
#include "peercuda.h"
#define VK_NO_PROTOTYPES
#include <gmodule.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vulkan_core.h>

#define EXPORT        __attribute__ ((visibility ("default")))
#define NOT_SUPPORTED 801
#define TYPE          VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

EXPORT FakeCuda fake_cuda;

static struct {
  GMutex lock;
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  PFN_vkGetPhysicalDeviceProperties2 properties;
  PFN_vkAllocateMemory allocate;
  PFN_vkFreeMemory free;
  PFN_vkMapMemory map;
  PFN_vkGetMemoryFdKHR descriptor_of;
} vk;

/* The memory of a descriptor, mapped once its size is known. */
typedef struct {
  int descriptor;
  gsize size;
  VkDeviceMemory memory;
  void *mapped;
} Memory;

typedef struct {
  char *target, *source;
  gsize size;
} Copy;

struct _DynoCudaStream {
  GArray *copies; /* Copy */
  int asked;
};

static int
answer (const char *symbol)
{
  int result = DYNO_CUDA_SUCCESS;

  g_mutex_lock (&vk.lock);
  if (fake_cuda.fail && strcmp (fake_cuda.fail, symbol) == 0
      && ++fake_cuda.calls == fake_cuda.fail_at)
    result = NOT_SUPPORTED;
  g_mutex_unlock (&vk.lock);
  return result;
}

#define ANSWER(symbol)               \
  do                                 \
    {                                \
      int result_ = answer (symbol); \
      if (result_)                   \
        return result_;              \
    }                                \
  while (0)

static void
count_open (int change)
{
  __atomic_add_fetch (&fake_cuda.open, change, __ATOMIC_SEQ_CST);
}

static VkDevice
make_device (PFN_vkGetInstanceProcAddr find)
{
  static const char *const extensions[] = { VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME };
  static const float priority = 1;
  const VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority };
  const VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .queueCreateInfoCount = 1,
                                    .pQueueCreateInfos = &queue,
                                    .enabledExtensionCount = 1,
                                    .ppEnabledExtensionNames = extensions };
  VkDevice device = VK_NULL_HANDLE;
  PFN_vkCreateDevice create = (PFN_vkCreateDevice) find (vk.instance, "vkCreateDevice");

  return create (vk.physical, &info, NULL, &device) == VK_SUCCESS ? device : VK_NULL_HANDLE;
}

static gboolean
open_vulkan (void)
{
  GModule *module = g_module_open ("libvulkan.so.1", G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  const VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                          .apiVersion = VK_API_VERSION_1_2 };
  const VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                      .pApplicationInfo = &application };
  uint32_t n = 1;
  gpointer symbol = NULL;

  if (!module || !g_module_symbol (module, "vkGetInstanceProcAddr", &symbol))
    return FALSE;
  g_module_make_resident (module);
  PFN_vkGetInstanceProcAddr find = (PFN_vkGetInstanceProcAddr) symbol;
  PFN_vkCreateInstance create = (PFN_vkCreateInstance) find (NULL, "vkCreateInstance");
  if (create (&info, NULL, &vk.instance) != VK_SUCCESS)
    return FALSE;
#define FIND(name) ((PFN_vk##name) find (vk.instance, "vk" #name))
  if (FIND (EnumeratePhysicalDevices) (vk.instance, &n, &vk.physical) < 0 || n == 0)
    return FALSE;
  vk.device = make_device (find);
  vk.properties = FIND (GetPhysicalDeviceProperties2);
  vk.allocate = FIND (AllocateMemory);
  vk.free = FIND (FreeMemory);
  vk.map = FIND (MapMemory);
  PFN_vkGetDeviceProcAddr of_device = FIND (GetDeviceProcAddr);
  vk.descriptor_of =
      vk.device ? (PFN_vkGetMemoryFdKHR) of_device (vk.device, "vkGetMemoryFdKHR") : NULL;
#undef FIND
  return vk.descriptor_of != NULL;
}

/* --- functions -------------------------------------------------------------------------------- */

EXPORT int cuInit (unsigned int flags);
EXPORT int cuGetErrorName (int result, const char **name);
EXPORT int cuDeviceGetCount (int *count);
EXPORT int cuDeviceGet (DynoCudaDevice *device, int index);
EXPORT int cuDeviceGetUuid (DynoCudaUuid *uuid, DynoCudaDevice device);
EXPORT int cuDevicePrimaryCtxRetain (DynoCudaContext *context, DynoCudaDevice device);
EXPORT int cuDevicePrimaryCtxRelease_v2 (DynoCudaDevice device);
EXPORT int cuCtxPushCurrent_v2 (DynoCudaContext context);
EXPORT int cuCtxPopCurrent_v2 (DynoCudaContext *context);
EXPORT int cuMemGetAllocationGranularity (gsize *bytes, const DynoCudaProperties *properties,
                                          int option);
EXPORT int cuMemCreate (DynoCudaMemory *memory, gsize size, const DynoCudaProperties *properties,
                        guint64 flags);
EXPORT int cuMemRelease (DynoCudaMemory memory);
EXPORT int cuMemExportToShareableHandle (void *descriptor, DynoCudaMemory memory, int type,
                                         guint64 flags);
EXPORT int cuMemImportFromShareableHandle (DynoCudaMemory *memory, void *descriptor, int type);
EXPORT int cuMemAddressReserve (DynoCudaAddress *address, gsize size, gsize alignment,
                                DynoCudaAddress hint, guint64 flags);
EXPORT int cuMemAddressFree (DynoCudaAddress address, gsize size);
EXPORT int cuMemMap (DynoCudaAddress address, gsize size, gsize offset, DynoCudaMemory memory,
                     guint64 flags);
EXPORT int cuMemUnmap (DynoCudaAddress address, gsize size);
EXPORT int cuMemSetAccess (DynoCudaAddress address, gsize size, const DynoCudaAccess *access,
                           gsize count);
EXPORT int cuImportExternalMemory (DynoCudaExternal *external,
                                   const DynoCudaExternalParams *params);
EXPORT int cuExternalMemoryGetMappedBuffer (DynoCudaAddress *address, DynoCudaExternal external,
                                            const DynoCudaExternalRange *range);
EXPORT int cuDestroyExternalMemory (DynoCudaExternal external);
EXPORT int cuMemFree_v2 (DynoCudaAddress address);
EXPORT int cuStreamCreate (DynoCudaStream *stream, unsigned int flags);
EXPORT int cuStreamDestroy_v2 (DynoCudaStream stream);
EXPORT int cuStreamQuery (DynoCudaStream stream);
EXPORT int cuStreamSynchronize (DynoCudaStream stream);
EXPORT int cuMemcpyDtoDAsync_v2 (DynoCudaAddress target, DynoCudaAddress source, gsize size,
                                 DynoCudaStream stream);

int
cuInit (unsigned int flags)
{
  return open_vulkan () ? answer ("cuInit") : 100;
}

int
cuGetErrorName (int result, const char **name)
{
  *name = result == NOT_SUPPORTED ? "CUDA_ERROR_NOT_SUPPORTED" : NULL;
  return *name ? 0 : 1;
}

int
cuDeviceGetCount (int *count)
{
  *count = 2;
  return DYNO_CUDA_SUCCESS;
}

int
cuDeviceGet (DynoCudaDevice *device, int index)
{
  *device = 10 + index;
  return DYNO_CUDA_SUCCESS;
}

/* The first card is not the Vulkan device. */
int
cuDeviceGetUuid (DynoCudaUuid *uuid, DynoCudaDevice device)
{
  VkPhysicalDeviceIDProperties id = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES };
  VkPhysicalDeviceProperties2 all = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id, { 0 } };

  vk.properties (vk.physical, &all);
  memcpy (uuid->bytes, id.deviceUUID, sizeof uuid->bytes);
  if (device == 10)
    uuid->bytes[3] ^= 1;
  return answer ("cuDeviceGetUuid");
}

int
cuDevicePrimaryCtxRetain (DynoCudaContext *context, DynoCudaDevice device)
{
  ANSWER ("cuDevicePrimaryCtxRetain");
  *context = GINT_TO_POINTER (device);
  count_open (1);
  return device == 11 ? DYNO_CUDA_SUCCESS : 101;
}

int
cuDevicePrimaryCtxRelease_v2 (DynoCudaDevice device)
{
  count_open (-1);
  return DYNO_CUDA_SUCCESS;
}

int
cuCtxPushCurrent_v2 (DynoCudaContext context)
{
  return DYNO_CUDA_SUCCESS;
}

int
cuCtxPopCurrent_v2 (DynoCudaContext *context)
{
  return DYNO_CUDA_SUCCESS;
}

int
cuMemGetAllocationGranularity (gsize *bytes, const DynoCudaProperties *properties, int option)
{
  *bytes = 2 << 20;
  return properties->location.id == 11 && properties->handle_types == DYNO_CUDA_DESCRIPTOR
             ? DYNO_CUDA_SUCCESS
             : 1;
}

static int
allocate (const void *next, gsize size, VkDeviceMemory *memory)
{
  const VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                      .pNext = next,
                                      .allocationSize = size };

  return vk.allocate (vk.device, &info, NULL, memory) == VK_SUCCESS ? DYNO_CUDA_SUCCESS
                                                                    : DYNO_CUDA_OUT_OF_MEMORY;
}

int
cuMemCreate (DynoCudaMemory *memory, gsize size, const DynoCudaProperties *properties,
             guint64 flags)
{
  const VkExportMemoryAllocateInfo exported = { .sType =
                                                    VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                                .handleTypes = TYPE };
  VkMemoryGetFdInfoKHR info = { .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                .handleType = TYPE };
  Memory *m;

  ANSWER ("cuMemCreate");
  m = g_new0 (Memory, 1);
  m->size = size;
  g_assert_cmpint (allocate (&exported, size, &m->memory), ==, DYNO_CUDA_SUCCESS);
  info.memory = m->memory;
  g_assert_cmpint (vk.descriptor_of (vk.device, &info, &m->descriptor), ==, VK_SUCCESS);
  *memory = (DynoCudaMemory) (gsize) m;
  count_open (1);
  return DYNO_CUDA_SUCCESS;
}

int
cuMemRelease (DynoCudaMemory memory)
{
  Memory *m = (Memory *) (gsize) memory;

  if (m->memory)
    vk.free (vk.device, m->memory, NULL);
  if (m->descriptor >= 0)
    close (m->descriptor);
  g_free (m);
  count_open (-1);
  return DYNO_CUDA_SUCCESS;
}

int
cuMemExportToShareableHandle (void *descriptor, DynoCudaMemory memory, int type, guint64 flags)
{
  ANSWER ("cuMemExportToShareableHandle");
  *(int *) descriptor = dup (((Memory *) (gsize) memory)->descriptor);
  return type == DYNO_CUDA_DESCRIPTOR ? DYNO_CUDA_SUCCESS : 1;
}

int
cuMemImportFromShareableHandle (DynoCudaMemory *memory, void *descriptor, int type)
{
  Memory *m;

  ANSWER ("cuMemImportFromShareableHandle");
  m = g_new0 (Memory, 1);
  m->descriptor = dup (GPOINTER_TO_INT (descriptor));
  *memory = (DynoCudaMemory) (gsize) m;
  count_open (1);
  return m->descriptor >= 0 ? DYNO_CUDA_SUCCESS : 1;
}

/* A reserved address is that of an allocation of this size; place_of finds the mapping by it. */
int
cuMemAddressReserve (DynoCudaAddress *address, gsize size, gsize alignment, DynoCudaAddress hint,
                     guint64 flags)
{
  ANSWER ("cuMemAddressReserve");
  *address = (DynoCudaAddress) (gsize) g_aligned_alloc0 (1, size, 1 << 16);
  count_open (1);
  return DYNO_CUDA_SUCCESS;
}

int
cuMemAddressFree (DynoCudaAddress address, gsize size)
{
  g_aligned_free ((void *) (gsize) address);
  count_open (-1);
  return DYNO_CUDA_SUCCESS;
}

static GHashTable *mappings; /* address -> Memory, protected by the lock */

/* Only one thread at a time may map: the driver reads the head of a file at its position, which all
 * descriptors of the file share. */
static int
map_memory (Memory *m, gsize size)
{
  VkImportMemoryFdInfoKHR imported = { .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                       .handleType = TYPE,
                                       .fd = m->descriptor };
  gboolean fine;

  g_mutex_lock (&vk.lock);
  fine = allocate (&imported, size, &m->memory) == DYNO_CUDA_SUCCESS;
  if (fine)
    m->descriptor = -1;
  m->size = size;
  fine = fine && vk.map (vk.device, m->memory, 0, VK_WHOLE_SIZE, 0, &m->mapped) == VK_SUCCESS;
  g_mutex_unlock (&vk.lock);
  return fine ? DYNO_CUDA_SUCCESS : 1;
}

int
cuMemMap (DynoCudaAddress address, gsize size, gsize offset, DynoCudaMemory memory, guint64 flags)
{
  Memory *m = (Memory *) (gsize) memory;
  int result;

  ANSWER ("cuMemMap");
  result = map_memory (m, size);
  g_mutex_lock (&vk.lock);
  if (!mappings)
    mappings = g_hash_table_new (NULL, NULL);
  g_hash_table_insert (mappings, (gpointer) (gsize) address, m);
  g_mutex_unlock (&vk.lock);
  count_open (1);
  return result;
}

int
cuMemUnmap (DynoCudaAddress address, gsize size)
{
  g_mutex_lock (&vk.lock);
  g_assert_true (g_hash_table_remove (mappings, (gpointer) (gsize) address));
  g_mutex_unlock (&vk.lock);
  count_open (-1);
  return DYNO_CUDA_SUCCESS;
}

int
cuMemSetAccess (DynoCudaAddress address, gsize size, const DynoCudaAccess *access, gsize count)
{
  ANSWER ("cuMemSetAccess");
  return access->location.id == 11 && access->flags == DYNO_CUDA_READ_WRITE ? DYNO_CUDA_SUCCESS : 1;
}

int
cuImportExternalMemory (DynoCudaExternal *external, const DynoCudaExternalParams *params)
{
  Memory *m;

  ANSWER ("cuImportExternalMemory");
  m = g_new0 (Memory, 1);
  m->descriptor = params->handle.descriptor;
  g_assert_cmpint (map_memory (m, params->size), ==, DYNO_CUDA_SUCCESS);
  *external = (DynoCudaExternal) m;
  count_open (1);
  return DYNO_CUDA_SUCCESS;
}

int
cuExternalMemoryGetMappedBuffer (DynoCudaAddress *address, DynoCudaExternal external,
                                 const DynoCudaExternalRange *range)
{
  const Memory *m = (const Memory *) external;

  ANSWER ("cuExternalMemoryGetMappedBuffer");
  *address = (DynoCudaAddress) (gsize) m->mapped + range->offset;
  count_open (1);
  return range->offset + range->size <= m->size ? DYNO_CUDA_SUCCESS : 1;
}

int
cuDestroyExternalMemory (DynoCudaExternal external)
{
  return cuMemRelease ((DynoCudaMemory) (gsize) external);
}

int
cuMemFree_v2 (DynoCudaAddress address)
{
  count_open (-1);
  return DYNO_CUDA_SUCCESS;
}

int
cuStreamCreate (DynoCudaStream *stream, unsigned int flags)
{
  ANSWER ("cuStreamCreate");
  *stream = g_new0 (struct _DynoCudaStream, 1);
  (*stream)->copies = g_array_new (FALSE, FALSE, sizeof (Copy));
  count_open (1);
  return DYNO_CUDA_SUCCESS;
}

int
cuStreamSynchronize (DynoCudaStream stream)
{
  for (guint i = 0; i < stream->copies->len; i++)
    {
      const Copy *copy = &g_array_index (stream->copies, Copy, i);
      memcpy (copy->target, copy->source, copy->size);
    }
  g_array_set_size (stream->copies, 0);
  return DYNO_CUDA_SUCCESS;
}

int
cuStreamDestroy_v2 (DynoCudaStream stream)
{
  g_array_unref (stream->copies);
  g_free (stream);
  count_open (-1);
  return DYNO_CUDA_SUCCESS;
}

int
cuStreamQuery (DynoCudaStream stream)
{
  ANSWER ("cuStreamQuery");
  if (stream->copies->len > 0 && stream->asked++ % 2 == 0)
    {
      __atomic_add_fetch (&fake_cuda.early, 1, __ATOMIC_SEQ_CST);
      return DYNO_CUDA_NOT_READY;
    }
  return cuStreamSynchronize (stream);
}

/* The pointer for an address, by its offset in the mapping. */
static char *
place_of (DynoCudaAddress address, gsize size)
{
  char *place = NULL;
  GHashTableIter i;
  gpointer key, value;

  g_mutex_lock (&vk.lock);
  g_hash_table_iter_init (&i, mappings);
  while (g_hash_table_iter_next (&i, &key, &value))
    {
      const Memory *m = value;
      gsize begin = (gsize) key;
      if (address >= begin && address + size <= begin + m->size)
        place = (char *) m->mapped + (address - begin);
    }
  g_mutex_unlock (&vk.lock);
  return place;
}

int
cuMemcpyDtoDAsync_v2 (DynoCudaAddress target, DynoCudaAddress source, gsize size,
                      DynoCudaStream stream)
{
  Copy copy = { .source = (char *) (gsize) source, .size = size };

  ANSWER ("cuMemcpyDtoDAsync_v2");
  copy.target = place_of (target, size);
  if (!copy.target)
    return 700;
  g_array_append_val (stream->copies, copy);
  __atomic_add_fetch (&fake_cuda.copies, 1, __ATOMIC_SEQ_CST);
  return DYNO_CUDA_SUCCESS;
}
