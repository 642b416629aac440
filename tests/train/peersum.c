/* SPDX-License-Identifier: MIT */
/* Sums between devices without an exchange, of several ranks in threads: they are bit-identical to
 * those of dyno_comm_add_ranks. */
#include "peersum.h"
#include "command.h"
#include "comm-class.h"
#include "comm-test.h"
#include "fake-cuda-test.h"
#include "half.h"
#include "stepmemory.h"
#include <math.h>
#include <string.h>

#define N_GRADIENTS 70000u
#define N_STATES    4096u
#define BEHIND      64u /* values outside of the summed range */

typedef struct {
  gboolean half, no_states, refused;
  guint steps;
} Case;

/* Values of widely different size, so that another order of summation gives other bits. */
static float
value_of (guint rank, guint step, guint i)
{
  return ldexpf (1.0f + (float) ((i * 7919 + rank * 104729 + step * 31) % 1000) / 999.0f,
                 (int) ((i + 5 * rank) % 10))
         * (rank & 1 ? -1.0f : 1.0f);
}

static float *
make_values (guint rank, guint step, guint n)
{
  float *values = g_new (float, n);

  for (guint i = 0; i < n; i++)
    values[i] = value_of (rank, step, i);
  return values;
}

/* The sum of all ranks' values of a step. */
static float *
expected (const DynoComm *comm, guint step, guint n, gboolean half, float scale)
{
  guint ranks = dyno_comm_get_size (comm);
  float *sum = g_new (float, n);
  g_autofree guint16 *halves = g_new (guint16, n);
  gpointer in[DYNO_INBOX_MOST_RANKS];

  for (guint r = 0; r < ranks; r++)
    {
      float *values = make_values (r, step, n);
      in[r] = values;
      for (guint i = 0; i < n && half; i++)
        ((guint16 *) in[r])[i] = dyno_half_from_float (values[i]);
    }
  dyno_comm_add_ranks (half ? (gpointer) halves : sum, (const void *const *) in, ranks, n,
                       half ? DYNO_COMM_FLOAT16 : DYNO_COMM_FLOAT32);
  for (guint i = 0; i < n; i++)
    sum[i] = half ? dyno_half_to_float (halves[i]) : sum[i] * scale;
  for (guint r = 0; r < ranks; r++)
    g_free (in[r]);
  return sum;
}

static DynoBuffer *
make_buffer (DynoDevice *device, guint64 bytes)
{
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer =
      dyno_buffer_new (device, bytes, DYNO_MEMORY_GRADIENTS, DYNO_BUFFER_SHARED, &error);

  g_assert_no_error (error);
  g_assert_true (dyno_buffer_fill (buffer, 0, dyno_buffer_get_size (buffer), 0x7fc00001, &error));
  return buffer;
}

/* Writes the values of a step into a range and copies it, in two parts. */
static void
begin_range (DynoPeerSum *sum, const DynoComm *comm, const DynoPeerRange *r, guint range,
             guint step)
{
  g_autofree float *values = make_values (dyno_comm_get_rank (comm), step, (guint) r->n);
  guint64 first = r->n / 3;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < r->n && r->half; i++)
    ((guint16 *) (gpointer) values)[i] = dyno_half_from_float (values[i]);
  g_assert_true (
      dyno_buffer_write (r->source, r->source_offset, values, r->n * (r->half ? 2 : 4), &error));
  g_assert_true (dyno_peer_sum_copy (sum, range, first, r->n - first, &error));
  g_assert_true (dyno_peer_sum_copy (sum, range, 0, first, &error));
  g_assert_no_error (error);
}

static void
check_range (const DynoComm *comm, const DynoPeerRange *r, guint step)
{
  g_autofree float *sums = expected (comm, step, (guint) r->n, r->half, r->scale);
  g_autofree guint32 *got = g_new (guint32, r->n + BEHIND);
  g_autoptr (GError) error = NULL;

  g_assert_true (dyno_buffer_read (r->target, r->target_offset, got, (r->n + BEHIND) * 4, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (sums, r->n * 4, got, r->n * 4);
  for (guint i = 0; i < BEHIND; i++)
    g_assert_cmphex (got[r->n + i], ==, 0x7fc00001);
}

static void
run_steps (DynoPeerSum *sum, DynoComm *comm, DynoDevice *device, const DynoPeerRange *ranges,
           guint steps)
{
  g_autoptr (GError) error = NULL;
  guint64 value;
  gboolean done, all;

  for (guint step = 0; step < steps; step++)
    {
      g_assert_true (dyno_comm_all (comm, TRUE, &all, &error));
      for (guint i = 0; i < DYNO_PEER_N_RANGES; i++)
        if (ranges[i].source)
          begin_range (sum, comm, &ranges[i], i, step);
      for (done = FALSE; !done;)
        g_assert_true (dyno_peer_sum_poll (sum, &done, &error));
      g_assert_true (dyno_comm_all (comm, TRUE, &all, &error));
      g_assert_true (dyno_peer_sum_submit (sum, &value, &error));
      g_assert_true (dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, value, 0, &error));
      for (guint i = 0; i < DYNO_PEER_N_RANGES; i++)
        if (ranges[i].source)
          check_range (comm, &ranges[i], step);
    }
  g_assert_no_error (error);
}

static void
run_rank (DynoComm *comm, gpointer data)
{
  const Case *c = data;
  const DynoDeviceParams params = { .index = -1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDevice) device = dyno_device_open (&params, &error);
  DynoPlan plan = { .space_bytes = { [DYNO_SPACE_GRADIENT] = 327680, [DYNO_SPACE_STATE] = 65536 } };
  g_assert_no_error (error);
  g_autoptr (DynoBuffer) gradients = make_buffer (device, 327680);
  g_autoptr (DynoBuffer) halves = make_buffer (device, 163840);
  g_autoptr (DynoBuffer) states = make_buffer (device, 65536);
  DynoPeerRange ranges[DYNO_PEER_N_RANGES] = {
    [DYNO_PEER_GRADIENTS] = { .source = c->half ? halves : gradients,
                              .target = gradients,
                              .n = N_GRADIENTS,
                              .half = c->half,
                              .scale = 1 },
    [DYNO_PEER_STATES] = { .source = c->no_states ? NULL : states,
                           .source_offset = 1024,
                           .target = states,
                           .target_offset = 1024,
                           .n = N_STATES,
                           .scale = 1.0f / (float) dyno_comm_get_size (comm) },
  };
  g_autoptr (DynoPeerSum) sum = dyno_peer_sum_new (device, comm, &plan, ranges, NULL, &error);

  if (c->refused)
    {
      g_assert_null (sum);
      g_assert_nonnull (error);
      return;
    }
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_peer_sum_get_bytes (sum), ==,
                    (dyno_comm_get_size (comm) - 1)
                        * (N_GRADIENTS * (c->half ? 2 : 4) + (c->no_states ? 0 : N_STATES * 4)));
  run_steps (sum, comm, device, ranges, c->steps);
}

static void
test_sums (void)
{
  Case floats = { .steps = 2 }, halves = { .half = TRUE, .steps = 2 },
       alone = { .no_states = TRUE, .steps = 1 };

  for (guint ranks = 2; ranks <= 5; ranks++)
    comm_test_run_local (ranks, run_rank, &floats);
  comm_test_run_local (3, run_rank, &halves);
  comm_test_run_local (2, run_rank, &alone);
  g_assert_cmpint (fake_cuda_find ()->open, ==, 0);
}

/* Refused for ranks on several hosts, and for too many ranks. */
static void
test_refused (void)
{
  Case c = { .refused = TRUE };

  comm_test_run (4, run_rank, &c);
  comm_test_run_local (DYNO_INBOX_MOST_RANKS + 1, run_rank, &c);
  g_assert_cmpint (fake_cuda_find ()->open, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/peersum/in-the-order-of-ranks-with-the-hosts-bits", test_sums);
  g_test_add_func ("/train/peersum/refused-where-ranks-are-far-or-many", test_refused);
  return g_test_run ();
}
