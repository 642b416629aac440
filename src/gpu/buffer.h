/* SPDX-License-Identifier: MIT */
/* Buffers: memory that kernels read and write by its address (VK_KHR_buffer_device_address).
 *
 * Dyno plans its memory, so there are few buffers and each is one allocation of its own: the driver
 * allocates exactly the bytes of the plan.  Sizes are rounded up to DYNO_BUFFER_GRANULARITY by the
 * caller's plan or here.  A buffer may be freed while a submission uses it: the free is deferred to
 * the submission's end. */
#pragma once
#include "device.h"

G_BEGIN_DECLS

#define DYNO_BUFFER_GRANULARITY G_GUINT64_CONSTANT (65536)

typedef enum {
  DYNO_BUFFER_DEVICE, /* device-local; counted against the VRAM budget */
  DYNO_BUFFER_SHARED, /* likewise counted; another API of this process may use it (peer.h) */
  /* page-locked host memory, mapped, coherent; host writes, device reads; not counted */
  DYNO_BUFFER_UPLOAD,
  /* page-locked host memory, mapped, coherent, cached; device writes, host reads; not counted */
  DYNO_BUFFER_READBACK,
} DynoBufferUsage;

typedef struct _DynoBuffer DynoBuffer;

/* The most bytes of one buffer on such a device, a multiple of DYNO_BUFFER_GRANULARITY. */
guint64 dyno_buffer_get_limit (const DynoDeviceInfo *info);

/* size_bytes > 0.  Content is undefined.  kind is used only for DEVICE and SHARED buffers.  Errors:
 * OVER_BUDGET, OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY, FAILED. */
DynoBuffer *dyno_buffer_new (DynoDevice *device, guint64 size_bytes, DynoMemoryKind kind,
                             DynoBufferUsage usage, GError **error);
void dyno_buffer_free (DynoBuffer *buffer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoBuffer, dyno_buffer_free)

guint64 dyno_buffer_get_size (DynoBuffer *buffer);    /* bytes, rounded up */
guint64 dyno_buffer_get_address (DynoBuffer *buffer); /* for kernels */
gpointer dyno_buffer_get_mapped (DynoBuffer *buffer); /* NULL for DEVICE and SHARED buffers */

/* Blocking copies between host and a buffer of any usage, through a staging buffer where needed.
 * For set-up, tests and checkpoints; never inside a step.  offset + size_bytes must lie inside the
 * buffer.  fill repeats a word; its offset and size_bytes are multiples of 4. */
gboolean dyno_buffer_write (DynoBuffer *buffer, guint64 offset, const void *data,
                            guint64 size_bytes, GError **error);
gboolean dyno_buffer_read (DynoBuffer *buffer, guint64 offset, void *data, guint64 size_bytes,
                           GError **error);
gboolean dyno_buffer_fill (DynoBuffer *buffer, guint64 offset, guint64 size_bytes, guint32 word,
                           GError **error);

G_END_DECLS
