/* SPDX-License-Identifier: MIT */
/* Copies into the memory of devices that other processes of this host use, over the link between
 * the cards without the host: NVLink, or PCI Express where the driver permits it between cards.
 *
 * Vulkan has no such copies between processes, so they use CUDA's driver API, which is part of
 * NVIDIA's driver and opened at run time; other devices do not support them.  The copies run on the
 * cards' copy engines, in parallel with the queues.
 *
 *   this process                                   another one
 *   dyno_peer_new_inbox -> descriptor   ---->      dyno_peer_add_target
 *   a kernel reads it                   <----      dyno_peer_copy, then dyno_peer_poll until done
 *
 * Nothing here orders a copy against the work of queues.  The source must have been written before
 * the copy begins; the inbox may be read after the other process has reported, by any means between
 * processes, that its copies are done; and it may be written again after this process has reported
 * that it was read.
 * One thread uses a DynoPeer at a time.  Source: CUDA driver API reference, "Virtual Memory
 * Management", "External Resource Interoperability". */
#pragma once
#include "buffer.h"

G_BEGIN_DECLS

/* Sizes of inboxes are multiples of this; a driver may require larger multiples. */
#define DYNO_PEER_GRANULARITY (G_GUINT64_CONSTANT (2) << 20)

typedef struct _DynoPeer DynoPeer;

/* Takes some tenths of a second, and some hundred MB of the device, which the driver keeps.
 * Errors: UNSUPPORTED, whose message has the reason; FAILED. */
DynoPeer *dyno_peer_open (DynoDevice *device, GError **error);
/* To be called after the last copy is done, and before the source buffers are freed. */
void dyno_peer_free (DynoPeer *peer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPeer, dyno_peer_free)

/* A DEVICE buffer, counted as kind, that other processes may write into; it may outlive the peer.
 * size_bytes: a multiple of DYNO_PEER_GRANULARITY.  *descriptor: identifies the buffer to other
 * processes; the caller closes it.  Errors: those of dyno_buffer_new, UNSUPPORTED. */
DynoBuffer *dyno_peer_new_inbox (DynoPeer *peer, guint64 size_bytes, DynoMemoryKind kind,
                                 int *descriptor, GError **error);

/* Adds another process's inbox of size_bytes and stores its number in *target.  The caller keeps
 * the descriptor.  Errors: UNSUPPORTED where no link connects the cards; FAILED. */
gboolean dyno_peer_add_target (DynoPeer *peer, int descriptor, guint64 size_bytes, guint *target,
                               GError **error);

/* Adds a SHARED buffer to copy from and stores its number in *source.  Errors: UNSUPPORTED,
 * FAILED. */
gboolean dyno_peer_add_source (DynoPeer *peer, DynoBuffer *buffer, guint *source, GError **error);

/* Begins a copy; copies are done in the order in which they were begun.  Errors: FAILED,
 * DEVICE_LOST. */
gboolean dyno_peer_copy (DynoPeer *peer, guint source, guint64 source_offset, guint target,
                         guint64 target_offset, guint64 size_bytes, GError **error);

/* Sets *done to TRUE where all copies are done; does not wait.  Errors: FAILED, DEVICE_LOST. */
gboolean dyno_peer_poll (DynoPeer *peer, gboolean *done, GError **error);

G_END_DECLS
