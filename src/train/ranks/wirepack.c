/* SPDX-License-Identifier: MIT */
/* See wirepack.h; the kernels are shaders/wire. */
#include "wirepack.h"
#include "lowering.h"
#include "wire-push.h"

#define INVOCATIONS 128u   /* size of a workgroup; every device supports it */
#define MOST_GROUPS 65535u /* workgroups of a dispatch; every device supports them */

static DynoKernel *
get (DynoDevice *device, const char *shader, GError **error)
{
  DynoKernelSpec spec = { .shader = shader,
                          .local_size = { INVOCATIONS },
                          .push_bytes = sizeof (DynoWirePush) };

  return dyno_kernel_get (device, &spec, error);
}

gboolean
dyno_wire_kernels_get (DynoDevice *device, DynoWireKernels *kernels, GError **error)
{
  kernels->pack = get (device, "wire/wire_pack.comp", error);
  kernels->unpack = kernels->pack ? get (device, "wire/wire_unpack.comp", error) : NULL;
  return kernels->unpack != NULL;
}

/* An invocation may not loop often (see types.glsl), and a count has 32 bits: a dispatch converts
 * at most this many groups of four values. */
#define MOST_VALUES ((guint64) INVOCATIONS * MOST_GROUPS * 16)

static guint32
workgroups (guint32 count)
{
  return MIN ((count + INVOCATIONS - 1) / INVOCATIONS, MOST_GROUPS);
}

static void
record (DynoCommand *command, DynoKernel *kernel, guint64 source, guint source_bytes,
        guint64 target, guint target_bytes, guint64 n)
{
  guint64 groups = n / DYNO_WIRE_VALUES;

  g_return_if_fail (n % DYNO_WIRE_VALUES == 0);
  for (guint64 i = 0; i < groups; i += MOST_VALUES)
    {
      guint32 count = (guint32) MIN (MOST_VALUES, groups - i);
      DynoWirePush push = { .source = source + i * DYNO_WIRE_VALUES * source_bytes,
                            .target = target + i * DYNO_WIRE_VALUES * target_bytes,
                            .count = count };

      dyno_command_dispatch (command, kernel, &push, workgroups (count), 1, 1);
    }
}

void
dyno_wire_record_pack (const DynoWireKernels *kernels, DynoCommand *command, DynoBuffer *floats,
                       guint64 floats_offset, DynoBuffer *halves, guint64 halves_offset, guint64 n)
{
  record (command, kernels->pack, dyno_buffer_get_address (floats) + floats_offset, 4,
          dyno_buffer_get_address (halves) + halves_offset, 2, n);
}

void
dyno_wire_record_unpack (const DynoWireKernels *kernels, DynoCommand *command, DynoBuffer *halves,
                         guint64 halves_offset, DynoBuffer *floats, guint64 floats_offset,
                         guint64 n)
{
  record (command, kernels->unpack, dyno_buffer_get_address (halves) + halves_offset, 2,
          dyno_buffer_get_address (floats) + floats_offset, 4, n);
}

gboolean
dyno_wire_record_sum (DynoCommand *command, DynoDevice *device, const DynoWireSum *sum,
                      GError **error)
{
  DynoKernelSpec spec = { .shader = "wire/wire_sum.comp",
                          .local_size = { INVOCATIONS },
                          .push_bytes = sizeof (DynoWireSumPush) };
  guint64 groups = sum->n / DYNO_WIRE_VALUES, bytes = sum->half ? 2 : 4;

  g_return_val_if_fail (sum->n % DYNO_WIRE_VALUES == 0, FALSE);
  dyno_kernel_spec_macro (&spec, "HALF=%d RANKS=%u", sum->half != FALSE, sum->ranks);
  DynoKernel *kernel = dyno_kernel_get (device, &spec, error);
  if (!kernel)
    return FALSE;
  for (guint64 i = 0; i < groups; i += MOST_VALUES)
    {
      guint64 at = i * DYNO_WIRE_VALUES;
      DynoWireSumPush push = {
        .own = dyno_buffer_get_address (sum->own) + sum->own_offset + at * bytes,
        .inbox = dyno_buffer_get_address (sum->inbox) + sum->inbox_offset + at * bytes,
        .target = dyno_buffer_get_address (sum->target) + sum->target_offset + at * sizeof (float),
        .stride = sum->stride,
        .count = (guint32) MIN (MOST_VALUES, groups - i),
        .own_rank = sum->own_rank,
        .scale = sum->scale
      };

      dyno_command_dispatch (command, kernel, &push, workgroups (push.count), 1, 1);
    }
  return TRUE;
}
