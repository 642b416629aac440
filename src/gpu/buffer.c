/* SPDX-License-Identifier: MIT */
/* Buffers: one VkBuffer and one VkDeviceMemory each, addressable, mapped for their whole life where
 * the host can access them.  With a transfer family every buffer is shared by both families, so
 * ownership never moves between families. */
#include "device-private.h"
#include "checked.h"
#include "intl.h"
#include <inttypes.h>
#include <string.h>

#define STAGING_BYTES (G_GUINT64_CONSTANT (32) << 20)

struct _DynoBuffer {
  DynoDevice *device;
  guint64 size_bytes;
  guint64 address;
  gpointer mapped;
  DynoBufferUsage usage;
  int import; /* a descriptor of existing memory; -1: none */
  /* its handles and its share of the account; passed to the device when freed */
  DynoDeferredFree resources;
};

/* The flags that a memory type must have, should have and should not have. */
typedef struct {
  VkMemoryPropertyFlags need, want, avoid;
} Taste;

#define HOST (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

static const Taste tastes[] = {
  [DYNO_BUFFER_DEVICE] = { VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0,
                           VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT },
  [DYNO_BUFFER_SHARED] = { VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0,
                           VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT },
  [DYNO_BUFFER_UPLOAD] = { HOST, 0,
                           VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
                               | VK_MEMORY_PROPERTY_HOST_CACHED_BIT },
  [DYNO_BUFFER_READBACK] = { HOST, VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                             VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT },
};

#define STRANGE                                                               \
  (VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT \
   | VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD)

/* TRUE: the memory is device-local and counted. */
static gboolean
is_on_device (DynoBufferUsage usage)
{
  return usage == DYNO_BUFFER_DEVICE || usage == DYNO_BUFFER_SHARED;
}

static int
find_memory_type (DynoDevice *device, uint32_t allowed, DynoBufferUsage usage)
{
  const Taste *taste = &tastes[usage];
  const VkPhysicalDeviceMemoryProperties *memory = &device->memory;
  VkDeviceSize best_heap = 0;
  int best = -1, best_score = -1;

  for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
    {
      VkMemoryPropertyFlags flags = memory->memoryTypes[i].propertyFlags;
      VkDeviceSize heap = memory->memoryHeaps[memory->memoryTypes[i].heapIndex].size;
      int score = 8;

      if (!(allowed & (1u << i)) || (flags & taste->need) != taste->need || (flags & STRANGE))
        continue;
      score +=
          4 * __builtin_popcount (flags & taste->want) - __builtin_popcount (flags & taste->avoid);
      /* Device memory: the large heap first (a small one is the window of a card without resizable
       * BAR). */
      if (is_on_device (usage) ? heap > best_heap || (heap == best_heap && score > best_score)
                               : score > best_score || (score == best_score && heap > best_heap))
        {
          best = (int) i;
          best_score = score;
          best_heap = heap;
        }
    }
  return best;
}

/* TRUE: the buffer's memory has a descriptor, exported or imported. */
static gboolean
is_external (const DynoBuffer *buffer)
{
  return buffer->import >= 0
         || (buffer->usage == DYNO_BUFFER_SHARED && buffer->device->probe->external_memory);
}

static VkResult
create_handle (DynoBuffer *buffer)
{
  const VkExternalMemoryBufferCreateInfo external = {
    .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
    .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
  };
  DynoDevice *device = buffer->device;
  const uint32_t families[] = { device->queues[0].family, device->queues[1].family };
  VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                              .pNext = is_external (buffer) ? &external : NULL,
                              .size = buffer->size_bytes,
                              .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
                                       | VK_BUFFER_USAGE_TRANSFER_SRC_BIT
                                       | VK_BUFFER_USAGE_TRANSFER_DST_BIT
                                       | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
                              .sharingMode = VK_SHARING_MODE_EXCLUSIVE };

  if (device->n_queues == 2)
    {
      info.sharingMode = VK_SHARING_MODE_CONCURRENT;
      info.queueFamilyIndexCount = 2;
      info.pQueueFamilyIndices = families;
    }
  return device->vk.CreateBuffer (device->handle, &info, NULL, &buffer->resources.buffer);
}

static VkResult
allocate (DynoBuffer *buffer, guint64 size_bytes, int type)
{
  DynoDevice *device = buffer->device;
  VkMemoryAllocateFlagsInfo flags = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                      .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT };
  VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                .pNext = &flags,
                                .allocationSize = size_bytes,
                                .memoryTypeIndex = (uint32_t) type };
  VkExportMemoryAllocateInfo exported = { .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                          .pNext = &flags,
                                          .handleTypes =
                                              VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT };
  VkImportMemoryFdInfoKHR imported = { .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                       .pNext = &flags,
                                       .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                                       .fd = buffer->import };

  if (buffer->import >= 0)
    info.pNext = &imported;
  else if (is_external (buffer))
    info.pNext = &exported;
  VkResult result =
      device->vk.AllocateMemory (device->handle, &info, NULL, &buffer->resources.memory);

  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && dyno_device_collect_all (device))
    result = device->vk.AllocateMemory (device->handle, &info, NULL, &buffer->resources.memory);
  if (result == VK_SUCCESS)
    buffer->import = -1; /* the driver owns it now */
  return result;
}

static gboolean
fill_in (DynoBuffer *buffer, GError **error)
{
  DynoDevice *device = buffer->device;
  VkMemoryRequirements needs = { 0 };
  VkBufferDeviceAddressInfo address = { .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO };
  g_autofree char *what = g_strdup_printf ("%" G_GUINT64_FORMAT " bytes for %s", buffer->size_bytes,
                                           dyno_memory_kind_name (buffer->resources.kind));
  guint64 size_bytes;
  VkResult result = create_handle (buffer);
  int type;

  if (result != VK_SUCCESS)
    {
      dyno_device_set_error (device, error, result, "vkCreateBuffer", what);
      return FALSE;
    }
  device->vk.GetBufferMemoryRequirements (device->handle, buffer->resources.buffer, &needs);
  size_bytes = dyno_align_up (needs.size, DYNO_BUFFER_GRANULARITY);
  type = find_memory_type (device, needs.memoryTypeBits, buffer->usage);
  if (type < 0)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_FAILED,
                   _ ("%s has no memory type for a buffer of usage %d"), device->info.name,
                   (int) buffer->usage);
      return FALSE;
    }
  if (is_on_device (buffer->usage))
    {
      if (!dyno_account_reserve (device, buffer->resources.kind, size_bytes, error))
        return FALSE;
      buffer->resources.account_bytes = size_bytes;
    }
  result = allocate (buffer, size_bytes, type);
  if (result != VK_SUCCESS)
    {
      dyno_device_set_error (device, error, result, "vkAllocateMemory", what);
      return FALSE;
    }
  dyno_account_commit (device);
  if (!is_on_device (buffer->usage))
    {
      buffer->resources.host_bytes = buffer->size_bytes;
      dyno_account_add_host (device, (gint64) buffer->size_bytes);
    }
  result = device->vk.BindBufferMemory (device->handle, buffer->resources.buffer,
                                        buffer->resources.memory, 0);
  if (result != VK_SUCCESS)
    {
      dyno_device_set_error (device, error, result, "vkBindBufferMemory", what);
      return FALSE;
    }
  if (!is_on_device (buffer->usage))
    result = device->vk.MapMemory (device->handle, buffer->resources.memory, 0, VK_WHOLE_SIZE, 0,
                                   &buffer->mapped);
  if (result != VK_SUCCESS)
    {
      dyno_device_set_error (device, error, result, "vkMapMemory", what);
      return FALSE;
    }
  address.buffer = buffer->resources.buffer;
  buffer->address = device->vk.GetBufferDeviceAddress (device->handle, &address);
  return TRUE;
}

guint64
dyno_buffer_get_limit (const DynoDeviceInfo *info)
{
  guint64 most = info->max_buffer_bytes > 0 ? MIN (info->max_buffer_bytes, G_MAXINT64) : G_MAXINT64;

  return most & ~(DYNO_BUFFER_GRANULARITY - 1);
}

/* import: owned by the buffer on success; -1: memory is allocated. */
static DynoBuffer *
make (DynoDevice *device, guint64 size_bytes, DynoMemoryKind kind, DynoBufferUsage usage,
      int import, GError **error)
{
  g_autoptr (DynoBuffer) buffer = NULL;
  guint64 limit = dyno_buffer_get_limit (&device->info);

  g_return_val_if_fail (size_bytes > 0 && kind < DYNO_MEMORY_N_KINDS, NULL);
  dyno_device_collect (device);
  if (size_bytes > limit)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY,
                   _ ("%" PRIu64 " bytes for %s: the largest buffer of %s is %" PRIu64
                      " bytes; use a smaller batch"),
                   size_bytes, dyno_memory_kind_name (kind), device->info.name, limit);
      return NULL;
    }
  buffer = g_new0 (DynoBuffer, 1);
  buffer->device = dyno_device_ref (device);
  buffer->size_bytes = dyno_align_up (size_bytes, DYNO_BUFFER_GRANULARITY);
  buffer->usage = usage;
  buffer->import = import;
  buffer->resources.kind = kind;
  if (!fill_in (buffer, error))
    return NULL;
  return g_steal_pointer (&buffer);
}

DynoBuffer *
dyno_buffer_new (DynoDevice *device, guint64 size_bytes, DynoMemoryKind kind, DynoBufferUsage usage,
                 GError **error)
{
  return make (device, size_bytes, kind, usage, -1, error);
}

DynoBuffer *
dyno_buffer_import (DynoDevice *device, guint64 size_bytes, DynoMemoryKind kind, int descriptor,
                    GError **error)
{
  g_return_val_if_fail (descriptor >= 0, NULL);
  if (device->probe->external_memory)
    return make (device, size_bytes, kind, DYNO_BUFFER_DEVICE, descriptor, error);
  g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED,
               "%s takes no memory of other APIs (VK_KHR_external_memory_fd)", device->info.name);
  return NULL;
}

int
dyno_buffer_export (DynoBuffer *buffer, GError **error)
{
  DynoDevice *device = buffer->device;
  VkMemoryGetFdInfoKHR info = { .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                .memory = buffer->resources.memory,
                                .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT };
  int descriptor = -1;

  if (buffer->usage != DYNO_BUFFER_SHARED || !is_external (buffer) || !device->vk.GetMemoryFdKHR)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED,
                   "%s gives no memory to other APIs (VK_KHR_external_memory_fd)",
                   device->info.name);
      return -1;
    }
  VkResult result = device->vk.GetMemoryFdKHR (device->handle, &info, &descriptor);
  if (result == VK_SUCCESS)
    return descriptor;
  dyno_device_set_error (device, error, result, "vkGetMemoryFdKHR", NULL);
  return -1;
}

void
dyno_buffer_free (DynoBuffer *buffer)
{
  DynoDevice *device;

  if (!buffer)
    return;
  device = buffer->device;
  for (guint i = 0; i < device->n_queues; i++)
    buffer->resources.timeline_values[i] = dyno_queue_get_submitted (device, (DynoQueue) i);
  dyno_device_collect (device);
  dyno_device_defer_free (device, &buffer->resources);
  g_free (buffer);
  dyno_device_unref (device);
}

guint64
dyno_buffer_get_size (DynoBuffer *buffer)
{
  return buffer->size_bytes;
}

guint64
dyno_buffer_get_address (DynoBuffer *buffer)
{
  return buffer->address;
}

gpointer
dyno_buffer_get_mapped (DynoBuffer *buffer)
{
  return buffer->mapped;
}

VkBuffer
dyno_buffer_get_handle (DynoBuffer *buffer)
{
  return buffer->resources.buffer;
}

static gboolean
is_inside (DynoBuffer *buffer, guint64 offset, guint64 size_bytes)
{
  return offset <= buffer->size_bytes && size_bytes <= buffer->size_bytes - offset;
}

/* Closes the command, submits it after all earlier submissions to the other queue, and waits. */
static gboolean
run_blocking (DynoDevice *device, DynoCommand *command, GError **error)
{
  DynoWait wait = { DYNO_QUEUE_TRANSFER, 0 };
  guint64 timeline_value;

  if (device->n_queues == 2)
    wait.timeline_value = dyno_queue_get_submitted (device, DYNO_QUEUE_TRANSFER);
  return dyno_command_end (command, error)
         && dyno_command_submit (command, &wait, 1, &timeline_value, error)
         && dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, timeline_value, 0, error);
}

typedef struct {
  DynoBuffer *staging;
  DynoBuffer *buffer;
  gboolean to_device;
} Copy;

static gboolean
copy_chunk (const Copy *copy, guint64 offset, guint64 size_bytes, GError **error)
{
  DynoDevice *device = copy->buffer->device;
  g_autoptr (DynoCommand) command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, error);

  if (!command)
    return FALSE;
  if (copy->to_device)
    dyno_command_copy_bytes (command, copy->staging, 0, copy->buffer, offset, size_bytes);
  else
    dyno_command_copy_bytes (command, copy->buffer, offset, copy->staging, 0, size_bytes);
  return run_blocking (device, command, error);
}

gboolean
dyno_buffer_write (DynoBuffer *buffer, guint64 offset, const void *data, guint64 size_bytes,
                   GError **error)
{
  g_autoptr (DynoBuffer) staging = NULL;
  const guint8 *bytes = data;

  g_return_val_if_fail (is_inside (buffer, offset, size_bytes), FALSE);
  if (size_bytes == 0)
    return TRUE;
  if (buffer->mapped)
    {
      if (!dyno_device_wait_idle (buffer->device, error))
        return FALSE;
      memcpy ((guint8 *) buffer->mapped + offset, data, size_bytes);
      return TRUE;
    }
  staging = dyno_buffer_new (buffer->device, MIN (size_bytes, STAGING_BYTES), DYNO_MEMORY_STAGING,
                             DYNO_BUFFER_UPLOAD, error);
  if (!staging)
    return FALSE;
  for (guint64 done = 0; done < size_bytes;)
    {
      guint64 chunk = MIN (size_bytes - done, STAGING_BYTES);
      memcpy (staging->mapped, bytes + done, chunk);
      if (!copy_chunk (&(Copy){ staging, buffer, TRUE }, offset + done, chunk, error))
        return FALSE;
      done += chunk;
    }
  return TRUE;
}

gboolean
dyno_buffer_read (DynoBuffer *buffer, guint64 offset, void *data, guint64 size_bytes,
                  GError **error)
{
  g_autoptr (DynoBuffer) staging = NULL;
  guint8 *bytes = data;

  g_return_val_if_fail (is_inside (buffer, offset, size_bytes), FALSE);
  if (size_bytes == 0)
    return TRUE;
  if (buffer->mapped)
    {
      if (!dyno_device_wait_idle (buffer->device, error))
        return FALSE;
      memcpy (data, (guint8 *) buffer->mapped + offset, size_bytes);
      return TRUE;
    }
  staging = dyno_buffer_new (buffer->device, MIN (size_bytes, STAGING_BYTES), DYNO_MEMORY_STAGING,
                             DYNO_BUFFER_READBACK, error);
  if (!staging)
    return FALSE;
  for (guint64 done = 0; done < size_bytes;)
    {
      guint64 chunk = MIN (size_bytes - done, STAGING_BYTES);
      if (!copy_chunk (&(Copy){ staging, buffer, FALSE }, offset + done, chunk, error))
        return FALSE;
      memcpy (bytes + done, staging->mapped, chunk);
      done += chunk;
    }
  return TRUE;
}

gboolean
dyno_buffer_fill (DynoBuffer *buffer, guint64 offset, guint64 size_bytes, guint32 word,
                  GError **error)
{
  g_autoptr (DynoCommand) command = NULL;

  g_return_val_if_fail (
      is_inside (buffer, offset, size_bytes) && offset % 4 == 0 && size_bytes % 4 == 0, FALSE);
  if (size_bytes == 0)
    return TRUE;
  command = dyno_command_new (buffer->device, DYNO_QUEUE_COMPUTE, error);
  if (!command)
    return FALSE;
  dyno_command_fill (command, buffer, offset, size_bytes, word);
  return run_blocking (buffer->device, command, error);
}
