/* SPDX-License-Identifier: MIT */
/* Helpers of the gpu layer's tests: a device (a missing one is a failure), and small kernels of
 * shaders/test. */
#pragma once
#include "command.h"
#include "probe.h"

static inline DynoDevice *
test_device (guint64 budget_bytes)
{
  DynoDeviceParams params = { .index = -1, .budget_bytes = budget_bytes };
  g_autoptr (GError) error = NULL;
  DynoDevice *device = dyno_device_open (&params, &error);

  g_assert_no_error (error);
  g_assert_nonnull (device);
  return device;
}

/* Ends every test: the validation layer has reported nothing, and nothing is allocated. */
static inline void
test_device_done (DynoDevice *device)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (dyno_device_wait_idle (device, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_device_get_allocated_total (device), ==, 0);
  g_assert_cmpuint (dyno_device_get_validation_messages (device), ==, 0);
  dyno_device_unref (device);
}

static inline DynoBuffer *
test_buffer (DynoDevice *device, guint64 size_bytes, DynoBufferUsage usage)
{
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer = dyno_buffer_new (device, size_bytes, DYNO_MEMORY_OTHER, usage, &error);

  g_assert_no_error (error);
  return buffer;
}

static inline DynoKernelSpec
test_scale_spec (const char *macros, gint32 k0, float k1)
{
  DynoKernelSpec spec = { .shader = "test/scale.comp",
                          .n_constants = 2,
                          .local_size = { 32 },
                          .push_bytes = sizeof (DynoProbePush) };

  g_strlcpy (spec.macros, macros, sizeof spec.macros);
  spec.constants[0] = (guint32) k0;
  memcpy (&spec.constants[1], &k1, sizeof k1);
  return spec;
}

static inline DynoKernel *
test_kernel (DynoDevice *device, const DynoKernelSpec *spec)
{
  g_autoptr (GError) error = NULL;
  DynoKernel *kernel = dyno_kernel_get (device, spec, &error);

  g_assert_no_error (error);
  g_assert_nonnull (kernel);
  return kernel;
}

static inline guint64
test_submit (DynoCommand *command, const DynoWait *waits, guint n_waits)
{
  g_autoptr (GError) error = NULL;
  guint64 timeline_value = 0;

  g_assert_true (dyno_command_submit (command, waits, n_waits, &timeline_value, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (timeline_value, >, 0);
  return timeline_value;
}

static inline void
test_wait (DynoDevice *device, DynoQueue queue, guint64 timeline_value)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (dyno_queue_wait (device, queue, timeline_value, 0, &error));
  g_assert_no_error (error);
}
