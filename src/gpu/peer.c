/* SPDX-License-Identifier: MIT */
/* See peer.h.  Inboxes are allocated by CUDA, since only CUDA has memory that other processes can
 * map, and imported into Vulkan; sources are allocated by Vulkan and imported into CUDA.  All are
 * mapped into the address space of this process's card, so that a copy goes from one address to
 * another.
 *
 * Invariant: the card's primary context is current only inside calls of this file. */
#include "peer.h"
#include "device-private.h"
#include "peercuda.h"
#include <string.h>
#include <unistd.h>

/* CUDA memory mapped at an address of this card. */
typedef struct {
  DynoCudaMemory memory;   /* 0: none */
  DynoCudaAddress address; /* 0: none */
  gsize size_bytes;
  gboolean mapped;
} Mapping;

typedef struct {
  DynoCudaExternal external;
  DynoCudaAddress address;
  guint64 size_bytes;
} Source;

struct _DynoPeer {
  const DynoCuda *cuda;
  DynoDevice *device;
  DynoCudaDevice card;
  DynoCudaContext context; /* NULL: not yet */
  DynoCudaStream stream;
  GArray *targets; /* Mapping */
  GArray *sources; /* Source */
};

#define CHECK(peer, call, name, error) (dyno_cuda_check ((peer)->cuda, (call), (name), (error)))

static void
enter (DynoPeer *peer)
{
  peer->cuda->context_push (peer->context);
}

static void
leave (DynoPeer *peer)
{
  DynoCudaContext context;

  peer->cuda->context_pop (&context);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Finds the card by UUID, since CUDA and Vulkan number cards differently. */
static gboolean
find_card (DynoPeer *peer, GError **error)
{
  const DynoDeviceInfo *info = dyno_device_get_info (peer->device);
  int count = 0;

  if (!CHECK (peer, peer->cuda->device_count (&count), "cuDeviceGetCount", error))
    return FALSE;
  for (int i = 0; i < count; i++)
    {
      DynoCudaUuid uuid;
      if (!CHECK (peer, peer->cuda->device_get (&peer->card, i), "cuDeviceGet", error)
          || !CHECK (peer, peer->cuda->device_uuid (&uuid, peer->card), "cuDeviceGetUuid", error))
        return FALSE;
      if (memcmp (uuid.bytes, info->uuid, sizeof info->uuid) == 0)
        return TRUE;
    }
  g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED, "%s is not a CUDA device",
               info->name);
  return FALSE;
}

static gboolean
open_context (DynoPeer *peer, GError **error)
{
  gboolean fine;

  if (!CHECK (peer, peer->cuda->context_retain (&peer->context, peer->card),
              "cuDevicePrimaryCtxRetain", error))
    return FALSE;
  enter (peer);
  fine = CHECK (peer, peer->cuda->stream_new (&peer->stream, DYNO_CUDA_APART), "cuStreamCreate",
                error);
  leave (peer);
  return fine;
}

static void
source_clear (DynoPeer *peer, const Source *source)
{
  if (source->address)
    peer->cuda->memory_free (source->address);
  if (source->external)
    peer->cuda->external_destroy (source->external);
}

static void
mapping_clear (DynoPeer *peer, const Mapping *mapping)
{
  if (mapping->mapped)
    peer->cuda->unmap (mapping->address, mapping->size_bytes);
  if (mapping->address)
    peer->cuda->address_free (mapping->address, mapping->size_bytes);
  if (mapping->memory)
    peer->cuda->memory_release (mapping->memory);
}

static void
clear_context (DynoPeer *peer)
{
  enter (peer);
  if (peer->stream)
    {
      peer->cuda->stream_wait (peer->stream);
      peer->cuda->stream_free (peer->stream);
    }
  for (guint i = 0; i < peer->sources->len; i++)
    source_clear (peer, &g_array_index (peer->sources, Source, i));
  for (guint i = 0; i < peer->targets->len; i++)
    mapping_clear (peer, &g_array_index (peer->targets, Mapping, i));
  leave (peer);
  peer->cuda->context_release (peer->card);
}

void
dyno_peer_free (DynoPeer *peer)
{
  if (!peer)
    return;
  if (peer->context)
    clear_context (peer);
  g_array_unref (peer->sources);
  g_array_unref (peer->targets);
  dyno_device_unref (peer->device);
  g_free (peer);
}

DynoPeer *
dyno_peer_open (DynoDevice *device, GError **error)
{
  const DynoCuda *cuda;
  g_autoptr (DynoPeer) peer = NULL;

  if (!device->probe->external_memory)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED,
                   "%s shares no memory with other APIs (VK_KHR_external_memory_fd)",
                   device->info.name);
      return NULL;
    }
  cuda = dyno_cuda_open (error);
  if (!cuda)
    return NULL;
  peer = g_new0 (DynoPeer, 1);
  peer->cuda = cuda;
  peer->device = dyno_device_ref (device);
  peer->targets = g_array_new (FALSE, FALSE, sizeof (Mapping));
  peer->sources = g_array_new (FALSE, FALSE, sizeof (Source));
  return find_card (peer, error) && open_context (peer, error) ? g_steal_pointer (&peer) : NULL;
}

/* --- inboxes ---------------------------------------------------------------------------------- */

static DynoCudaProperties
properties_of (const DynoPeer *peer)
{
  return (DynoCudaProperties){ .type = DYNO_CUDA_PINNED,
                               .handle_types = DYNO_CUDA_DESCRIPTOR,
                               .location = { DYNO_CUDA_ON_DEVICE, peer->card } };
}

/* Makes a descriptor of the memory; the memory is freed when its last descriptor and its last
 * mapping are gone. */
static gboolean
export_memory (DynoPeer *peer, guint64 size_bytes, int *descriptor, GError **error)
{
  const DynoCudaProperties properties = properties_of (peer);
  DynoCudaMemory memory;
  gboolean fine;

  if (!CHECK (peer, peer->cuda->memory_create (&memory, size_bytes, &properties, 0), "cuMemCreate",
              error))
    return FALSE;
  fine = CHECK (peer, peer->cuda->memory_export (descriptor, memory, DYNO_CUDA_DESCRIPTOR, 0),
                "cuMemExportToShareableHandle", error);
  peer->cuda->memory_release (memory);
  return fine;
}

DynoBuffer *
dyno_peer_new_inbox (DynoPeer *peer, guint64 size_bytes, DynoMemoryKind kind, int *descriptor,
                     GError **error)
{
  const DynoCudaProperties properties = properties_of (peer);
  DynoBuffer *buffer;
  gsize granularity = 0;
  int own, given = -1;

  g_return_val_if_fail (size_bytes > 0 && size_bytes % DYNO_PEER_GRANULARITY == 0, NULL);
  enter (peer);
  gboolean fine = CHECK (peer, peer->cuda->granularity (&granularity, &properties, 0),
                         "cuMemGetAllocationGranularity", error);
  if (fine && (granularity == 0 || size_bytes % granularity != 0))
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED,
                   "%s shares memory in pieces of %" G_GSIZE_FORMAT " bytes only",
                   peer->device->info.name, granularity);
      fine = FALSE;
    }
  fine = fine && export_memory (peer, size_bytes, &given, error);
  leave (peer);
  if (!fine)
    return NULL;
  own = dup (given);
  buffer = own < 0 ? NULL : dyno_buffer_import (peer->device, size_bytes, kind, own, error);
  if (own < 0)
    g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_FAILED, "dup: %s", g_strerror (errno));
  if (!buffer)
    {
      if (own >= 0)
        close (own);
      close (given);
      return NULL;
    }
  *descriptor = given;
  return buffer;
}

/* --- targets and sources ---------------------------------------------------------------------- */

static gboolean
map_target (DynoPeer *peer, Mapping *m, int descriptor, GError **error)
{
  const DynoCuda *cuda = peer->cuda;
  const DynoCudaAccess access = { { DYNO_CUDA_ON_DEVICE, peer->card }, DYNO_CUDA_READ_WRITE };

  if (!CHECK (peer,
              cuda->memory_import (&m->memory, GINT_TO_POINTER (descriptor), DYNO_CUDA_DESCRIPTOR),
              "cuMemImportFromShareableHandle", error)
      || !CHECK (peer, cuda->address_reserve (&m->address, m->size_bytes, 0, 0, 0),
                 "cuMemAddressReserve", error)
      || !CHECK (peer, cuda->map (m->address, m->size_bytes, 0, m->memory, 0), "cuMemMap", error))
    return FALSE;
  m->mapped = TRUE;
  return CHECK (peer, cuda->set_access (m->address, m->size_bytes, &access, 1), "cuMemSetAccess",
                error);
}

gboolean
dyno_peer_add_target (DynoPeer *peer, int descriptor, guint64 size_bytes, guint *target,
                      GError **error)
{
  Mapping mapping = { .size_bytes = size_bytes };
  gboolean fine;

  enter (peer);
  fine = map_target (peer, &mapping, descriptor, error);
  if (!fine)
    mapping_clear (peer, &mapping);
  leave (peer);
  if (!fine)
    return FALSE;
  *target = peer->targets->len;
  g_array_append_val (peer->targets, mapping);
  return TRUE;
}

gboolean
dyno_peer_add_source (DynoPeer *peer, DynoBuffer *buffer, guint *source, GError **error)
{
  Source s = { .size_bytes = dyno_buffer_get_size (buffer) };
  DynoCudaExternalParams params = { .type = DYNO_CUDA_DESCRIPTOR, .size = s.size_bytes };
  DynoCudaExternalRange range = { .size = s.size_bytes };
  int descriptor = dyno_buffer_export (buffer, error);
  gboolean fine;

  if (descriptor < 0)
    return FALSE;
  params.handle.descriptor = descriptor;
  enter (peer);
  fine = CHECK (peer, peer->cuda->external_import (&s.external, &params), "cuImportExternalMemory",
                error);
  if (!fine)
    close (descriptor); /* else CUDA owns it */
  fine = fine
         && CHECK (peer, peer->cuda->external_map (&s.address, s.external, &range),
                   "cuExternalMemoryGetMappedBuffer", error);
  if (!fine)
    source_clear (peer, &s);
  leave (peer);
  if (!fine)
    return FALSE;
  *source = peer->sources->len;
  g_array_append_val (peer->sources, s);
  return TRUE;
}

/* --- copies ----------------------------------------------------------------------------------- */

static gboolean
is_inside (guint64 offset, guint64 size_bytes, guint64 whole_bytes)
{
  return offset <= whole_bytes && size_bytes <= whole_bytes - offset;
}

gboolean
dyno_peer_copy (DynoPeer *peer, guint source, guint64 source_offset, guint target,
                guint64 target_offset, guint64 size_bytes, GError **error)
{
  gboolean fine;

  g_return_val_if_fail (source < peer->sources->len && target < peer->targets->len, FALSE);
  const Source *from = &g_array_index (peer->sources, Source, source);
  const Mapping *to = &g_array_index (peer->targets, Mapping, target);
  g_return_val_if_fail (is_inside (source_offset, size_bytes, from->size_bytes)
                            && is_inside (target_offset, size_bytes, to->size_bytes),
                        FALSE);
  enter (peer);
  fine = CHECK (peer,
                peer->cuda->copy (to->address + target_offset, from->address + source_offset,
                                  size_bytes, peer->stream),
                "cuMemcpyDtoDAsync", error);
  leave (peer);
  return fine;
}

gboolean
dyno_peer_poll (DynoPeer *peer, gboolean *done, GError **error)
{
  int result;

  enter (peer);
  result = peer->cuda->stream_query (peer->stream);
  leave (peer);
  *done = result == DYNO_CUDA_SUCCESS;
  return result == DYNO_CUDA_NOT_READY || CHECK (peer, result, "cuStreamQuery", error);
}
