/* SPDX-License-Identifier: MIT */
/* Copies into the memory of devices that other processes of this host use, over the link between
 * the cards and past the host: NVLink, or PCI Express where the driver lets cards talk by it.
 *
 * Vulkan has no word for it between processes, so the copies go by CUDA's driver API, which is part
 * of NVIDIA's driver and opened at run time; other devices have none.  They use the cards' copy
 * engines, beside what the queues compute.
 *
 *   this process                                   another one
 *   dyno_peer_new_inbox -> descriptor   ---->      dyno_peer_add_target
 *   a kernel reads it                   <----      dyno_peer_copy, then dyno_peer_poll until done
 *
 * Nothing here orders a copy with what queues do: its source must have been written when it begins,
 * the inbox is read when the other process has said that its copies are done, by any means between
 * processes, and is written again when this process has said that it was read.
 * One thread uses a DynoPeer at a time.  Source: CUDA driver API reference, "Virtual Memory
 * Management", "External Resource Interoperability". */
#pragma once
#include "buffer.h"

G_BEGIN_DECLS

/* Sizes of inboxes are multiples of it, at least. */
#define DYNO_PEER_GRANULARITY (G_GUINT64_CONSTANT (2) << 20)

typedef struct _DynoPeer DynoPeer;

/* Takes some tenths of a second, and of the device some hundred MB that the driver keeps for it.
 * Errors: UNSUPPORTED, which says why; FAILED. */
DynoPeer *dyno_peer_open (DynoDevice *device, GError **error);
/* After its last copy is done, and before the buffers that are its sources are freed. */
void dyno_peer_free (DynoPeer *peer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPeer, dyno_peer_free)

/* A DEVICE buffer, counted as kind, that other processes may write into; it may outlive the peer.
 * size_bytes: a multiple of DYNO_PEER_GRANULARITY.  descriptor: by which they know it, to be closed.
 * Errors: those of dyno_buffer_new, FAILED. */
DynoBuffer *dyno_peer_new_inbox (DynoPeer *peer, guint64 size_bytes, DynoMemoryKind kind,
                                 int *descriptor, GError **error);

/* Another process's inbox, of size_bytes there: its number in *target.  The descriptor stays the
 * caller's.  Errors: UNSUPPORTED where no link leads there. */
gboolean dyno_peer_add_target (DynoPeer *peer, int descriptor, guint64 size_bytes, guint *target,
                               GError **error);

/* A SHARED buffer to copy from: its number in *source.  Errors: UNSUPPORTED, FAILED. */
gboolean dyno_peer_add_source (DynoPeer *peer, DynoBuffer *buffer, guint *source, GError **error);

/* Begins a copy; copies are done in the order in which they were begun.  Errors: FAILED,
 * DEVICE_LOST. */
gboolean dyno_peer_copy (DynoPeer *peer, guint source, guint64 source_offset, guint target,
                         guint64 target_offset, guint64 size_bytes, GError **error);

/* Whether all copies are done; does not wait.  Errors: FAILED, DEVICE_LOST. */
gboolean dyno_peer_poll (DynoPeer *peer, gboolean *done, GError **error);

G_END_DECLS
