/* SPDX-License-Identifier: MIT */
/* Converts gradients to fp16 and back, and sums them, on the device instead of the host: half the
 * bytes are copied, and the processor has nothing to convert.  The values equal those of
 * wirehalf.h, except for the bits of a NaN.  Private to the train layer. */
#pragma once
#include "command.h"

G_BEGIN_DECLS

/* Number of values in a group; addresses are multiples of 16. */
#define DYNO_WIRE_VALUES 4

typedef struct {
  DynoKernel *pack, *unpack; /* owned by the device */
} DynoWireKernels;

/* Errors: SHADER. */
gboolean dyno_wire_kernels_get (DynoDevice *device, DynoWireKernels *kernels, GError **error);

/* Records the conversion of n values, from and to buffers at byte offsets. */
void dyno_wire_record_pack (const DynoWireKernels *kernels, DynoCommand *command,
                            DynoBuffer *floats, guint64 floats_offset, DynoBuffer *halves,
                            guint64 halves_offset, guint64 n);
void dyno_wire_record_unpack (const DynoWireKernels *kernels, DynoCommand *command,
                              DynoBuffer *halves, guint64 halves_offset, DynoBuffer *floats,
                              guint64 floats_offset, guint64 n);

/* A sum over ranks of n values: this rank's own, and the others' in an inbox, at intervals of
 * stride bytes in the order of the ranks; see shaders/wire/wire_sum.comp. */
typedef struct {
  gboolean half;
  guint ranks, own_rank;
  DynoBuffer *own, *inbox, *target;
  guint64 own_offset, inbox_offset, target_offset, stride;
  guint64 n;
  float scale;
} DynoWireSum;

/* Errors: SHADER. */
gboolean dyno_wire_record_sum (DynoCommand *command, DynoDevice *device, const DynoWireSum *sum,
                               GError **error);

G_END_DECLS
