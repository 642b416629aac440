/* SPDX-License-Identifier: MIT */
/* The kernels that measure ceilings do exactly the work that is counted. */
#include "gpu-test.h"
#include <math.h>

#define LOCAL      128
#define EACH       8
#define GROUPS     5
#define CHUNKS     (LOCAL * EACH * GROUPS)
#define FMA_LOOPS  512
#define FMA_UNROLL 16
#define FMA_CHAINS 8

static void
run_probe (DynoDevice *device, const DynoKernelSpec *spec, const DynoProbePush *push,
           guint32 groups)
{
  g_autoptr (GError) error = NULL;
  DynoCommand *command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
  guint64 timeline_value;

  dyno_command_dispatch (command, test_kernel (device, spec), push, groups, 1, 1);
  g_assert_true (dyno_command_end (command, &error));
  g_assert_true (dyno_command_submit (command, NULL, 0, &timeline_value, &error));
  g_assert_true (dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, timeline_value, 0, &error));
  g_assert_no_error (error);
  dyno_command_free (command);
}

/* The kernel copies every chunk of its workgroups, and none after them. */
static void
test_copy (void)
{
  DynoDevice *device = test_device (0);
  DynoKernelSpec spec = { .shader = "probe/copy.comp",
                          .macros = "EACH=8",
                          .local_size = { LOCAL },
                          .push_bytes = sizeof (DynoProbePush) };
  guint64 size = (CHUNKS + LOCAL) * 16;
  DynoBuffer *source = test_buffer (device, size, DYNO_BUFFER_UPLOAD),
             *target = test_buffer (device, size, DYNO_BUFFER_READBACK);
  guint32 *from = dyno_buffer_get_mapped (source), *to = dyno_buffer_get_mapped (target);
  DynoProbePush push = { .a = dyno_buffer_get_address (source),
                         .c = dyno_buffer_get_address (target),
                         .count = CHUNKS };

  for (guint64 i = 0; i < size / 4; i++)
    {
      from[i] = (guint32) i * 2654435761u;
      to[i] = 0;
    }
  run_probe (device, &spec, &push, GROUPS + 1);
  g_assert_cmpmem (from, CHUNKS * 16, to, CHUNKS * 16);
  for (guint64 i = CHUNKS * 4; i < size / 4; i++)
    g_assert_cmpuint (to[i], ==, 0);
  dyno_buffer_free (source);
  dyno_buffer_free (target);
  test_device_done (device);
}

/* Fewer rounds than counted would give other sums, since each round moves the chains closer to
 * 1. */
static void
test_fma (void)
{
  DynoDevice *device = test_device (0);
  DynoKernelSpec spec = { .shader = "probe/fma.comp",
                          .macros = "CHAINS=8 UNROLL=16",
                          .local_size = { LOCAL },
                          .push_bytes = sizeof (DynoProbePush) };
  DynoBuffer *target = test_buffer (device, LOCAL * 2 * sizeof (float), DYNO_BUFFER_READBACK);
  const float *sums = dyno_buffer_get_mapped (target);
  DynoProbePush push = { .c = dyno_buffer_get_address (target),
                         .count = FMA_LOOPS,
                         .scale = 0.9999f };
  double left = pow ((double) push.scale, FMA_LOOPS * FMA_UNROLL);

  run_probe (device, &spec, &push, 2);
  for (guint i = 0; i < LOCAL * 2; i++)
    {
      double want = 0;
      for (guint j = 0; j < FMA_CHAINS; j++)
        want += 1 + left * ((i % LOCAL) + j - 1.0);
      g_assert_cmpfloat_with_epsilon (sums[i], want, 0.01 * want);
    }
  dyno_buffer_free (target);
  test_device_done (device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gpu/probe/copy-copies-all-chunks", test_copy);
  g_test_add_func ("/gpu/probe/fma-does-all-rounds", test_fma);
  return g_test_run ();
}
