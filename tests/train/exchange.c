/* SPDX-License-Identifier: MIT */
/* The gradient exchange without a session: two ranks, each with a device and a program of its own,
 * in threads. */
#include "exchange.h"
#include "build.h"
#include "comm-test.h"
#include "fake-cuda-test.h"
#include "half.h"
#include "network.h"
#include "pipe.h"
#include "rng.h"
#include "wirehalf.h"
#include "wirepack.h"
#include <math.h>
#include <string.h>

#define BATCH 4
#define RANKS 2

/* The network of a rank, or of a single process. */
typedef struct {
  DynoDevice *device;
  DynoBuild *build;
  DynoProgram *program;
  DynoExchange *exchange; /* NULL: a single process */
} Net;

/* The results of a rank. */
typedef struct {
  guint8 *bytes[DYNO_SPACE_N];
  gsize size[DYNO_SPACE_N];
  struct DynoStepOutput output;
  DynoExchangeTimes times;
} Left;

typedef struct {
  gboolean amp, half;
  guint device_ranks; /* bit mask of the ranks that convert on the device */
  guint refused;      /* bit mask of the ranks whose device has no memory for the conversion */
  gboolean peers;     /* the exchange is between devices */
  gboolean used[RANKS];
  guint steps;
  float divisor[RANKS]; /* divisor of the loss, times the samples of all ranks */
  Left left[RANKS];
} Case;

static const DynoSpace spaces[] = { DYNO_SPACE_MASTER, DYNO_SPACE_MOMENT1, DYNO_SPACE_STATE,
                                    DYNO_SPACE_GRADIENT };

static void
net_init (Net *net, gboolean amp, DynoComm *comm, gboolean half)
{
  DynoNetworkParams params = { .model = "simplecnn",
                               .model_width = 0.125,
                               .batch = BATCH,
                               .schema = dyno_schema_image (DYNO_ELEMENT_U8, 16, 16, 3, 0),
                               .n_outputs = 10,
                               .precision = dyno_precision_of_amp (amp),
                               .mode = DYNO_MODE_TRAIN };
  DynoBuildParams plan = { .n_slots = DYNO_PIPE_SLOTS, .bucket_bytes = 2 << 10 };
  DynoDeviceParams device = { .index = -1 };
  g_autoptr (GError) error = NULL;

  params.schema.generated = TRUE;
  net->device = dyno_device_open (&device, &error);
  g_assert_no_error (error);
  net->build = dyno_build_new (&params, &error);
  g_assert_no_error (error);
  plan.info = dyno_device_get_info (net->device);
  plan.flags = comm ? DYNO_PLAN_SHARED : DYNO_PLAN_DEFAULT;
  dyno_build_plan (net->build, &plan, &error);
  g_assert_no_error (error);
  dyno_build_allocate (net->device, &net->build, 1, &error);
  g_assert_no_error (error);
  dyno_build_record (net->build, net->device, comm ? DYNO_COMMANDS_EXCHANGED : 0, NULL, &error);
  g_assert_no_error (error);
  net->program = dyno_build_get_program (net->build);
  dyno_program_initialise (net->program, 1, &error);
  g_assert_no_error (error);
  net->exchange =
      comm ? dyno_exchange_new (net->program, dyno_build_get_plan (net->build), comm, half, &error)
           : NULL;
  g_assert_no_error (error);
}

static void
net_clear (Net *net)
{
  dyno_exchange_free (net->exchange);
  dyno_build_free (net->build);
  dyno_device_unref (net->device);
}

/* Fills in the samples of the micro-step. */
static void
fill_input (Net *net, guint slot, guint step, guint micro_step, float divisor)
{
  *dyno_program_step_input (net->program, slot) =
      (struct DynoStepInput){ .step = step,
                              .micro_step = micro_step,
                              .seed_low = 7,
                              .n_valid = BATCH,
                              .loss_divisor = BATCH * RANKS * divisor,
                              .lr = 0.05f,
                              .momentum = 0.9f,
                              .first_update = step == 0,
                              .loss_scale_min = 1,
                              .loss_scale_max = 65536,
                              .scale_growth_interval = 100 };
}

static void
wait_for (Net *net, guint64 value)
{
  g_autoptr (GError) error = NULL;

  dyno_queue_wait (net->device, DYNO_QUEUE_COMPUTE, value, 0, &error);
  g_assert_no_error (error);
}

static void
take_left (Net *net, Left *left)
{
  DynoMemory *memory = dyno_program_get_memory (net->program);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (spaces); i++)
    {
      DynoBuffer *buffer = dyno_memory_get_buffer (memory, spaces[i], 0);
      left->size[spaces[i]] = dyno_buffer_get_size (buffer);
      left->bytes[spaces[i]] = g_malloc (left->size[spaces[i]]);
      dyno_buffer_read (buffer, 0, left->bytes[spaces[i]], left->size[spaces[i]], &error);
      g_assert_no_error (error);
    }
  left->output = *dyno_program_step_output (net->program, 0);
}

static void
left_clear (Left *left)
{
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    g_free (left->bytes[space]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Left, left_clear)

static void
run_rank (DynoComm *comm, gpointer data)
{
  Case *c = data;
  guint rank = dyno_comm_get_rank (comm);
  g_autoptr (GError) error = NULL;
  guint64 value;
  Net net;

  net_init (&net, c->amp, comm, c->half);
  if (c->refused >> rank & 1)
    dyno_device_set_budget (net.device, dyno_device_get_allocated_total (net.device), &error);
  g_assert_no_error (error);
  if (c->device_ranks >> rank & 1)
    g_assert_cmpint (dyno_exchange_convert_on_device (net.exchange), ==,
                     c->half && !(c->refused >> rank & 1));
  if (c->peers)
    dyno_exchange_use_peers (net.exchange, dyno_build_get_plan (net.build), NULL, &c->used[rank],
                             &error);
  g_assert_no_error (error);
  for (guint step = 0; step < c->steps; step++)
    {
      fill_input (&net, 0, step, rank, c->divisor[rank]);
      dyno_exchange_begin (net.exchange, 0, &(DynoWait){ DYNO_QUEUE_TRANSFER, 0 }, FALSE, &value,
                           &error);
      g_assert_no_error (error);
      dyno_exchange_finish (net.exchange, NULL, &value, &error);
      g_assert_no_error (error);
      wait_for (&net, value);
    }
  take_left (&net, &c->left[rank]);
  dyno_exchange_get_times (net.exchange, &c->left[rank].times);
  net_clear (&net);
}

/* One process that accumulates the batches of both ranks; states[r]: its running statistics after
 * the batch of rank r only. */
static void
run_alone (Left *left, guint steps, Left *states)
{
  guint64 value = 0;
  g_autoptr (GError) error = NULL;

  for (guint k = 0; k <= RANKS; k++)
    {
      gboolean all = k == RANKS;
      Net net;

      net_init (&net, FALSE, NULL, FALSE);
      for (guint step = 0; step < (all ? steps : 1); step++)
        for (guint rank = all ? 0 : k; rank < (all ? RANKS : k + 1); rank++)
          {
            gboolean last = rank + 1 == RANKS;
            fill_input (&net, 0, step, rank, 1);
            dyno_program_submit (net.program, last ? DYNO_COMMAND_FULL : DYNO_COMMAND_ACCUMULATE, 0,
                                 NULL, 0, &value, &error);
            g_assert_no_error (error);
            wait_for (&net, value);
          }
      take_left (&net, all ? left : &states[k]);
      net_clear (&net);
    }
}

static double
distance (const Left *a, const Left *b, DynoSpace space)
{
  const float *x = (const float *) (const void *) a->bytes[space],
              *y = (const float *) (const void *) b->bytes[space];
  double difference = 0, size = 0;

  for (gsize i = 0; i < a->size[space] / sizeof (float); i++)
    {
      difference += pow ((double) (x[i] - y[i]), 2);
      size += pow ((double) x[i], 2);
    }
  g_assert_cmpfloat (size, >, 0);
  return difference / size;
}

static void
assert_ranks_equal (const Case *c)
{
  for (guint i = 0; i < G_N_ELEMENTS (spaces); i++)
    g_assert_cmpmem (c->left[0].bytes[spaces[i]], c->left[0].size[spaces[i]],
                     c->left[1].bytes[spaces[i]], c->left[1].size[spaces[i]]);
}

static void
clear_case (Case *c)
{
  for (guint rank = 0; rank < RANKS; rank++)
    left_clear (&c->left[rank]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Case, clear_case)

/* Parameters equal those of one accumulating process and are the same on all ranks; running
 * statistics after a step are the mean of those that each rank would have on its own. */
static void
test_sums (void)
{
  g_auto (Case) once = { .steps = 1, .divisor = { 1, 1 } }, c = { .steps = 3, .divisor = { 1, 1 } };
  g_auto (Left) alone = { 0 }, state_0 = { 0 }, state_1 = { 0 };
  Left states[RANKS] = { { { 0 } } };
  const float *mean, *s[RANKS];

  comm_test_run (RANKS, run_rank, &once);
  comm_test_run (RANKS, run_rank, &c);
  run_alone (&alone, 3, states);
  state_0 = states[0];
  state_1 = states[1];
  assert_ranks_equal (&once);
  assert_ranks_equal (&c);
  g_assert_cmpfloat (distance (&alone, &c.left[0], DYNO_SPACE_MASTER), <, 1e-8);
  g_assert_cmpfloat (distance (&alone, &c.left[0], DYNO_SPACE_MOMENT1), <, 1e-8);
  mean = (const float *) (const void *) once.left[0].bytes[DYNO_SPACE_STATE];
  for (guint rank = 0; rank < RANKS; rank++)
    s[rank] = (const float *) (const void *) states[rank].bytes[DYNO_SPACE_STATE];
  g_assert_true (memcmp (s[0], s[1], 64) != 0);
  for (guint i = 0; i < 64; i++)
    g_assert_cmpfloat (mean[i], ==, 0.5f * (s[0][i] + s[1][i]));
}

/* The exchange takes half of the bytes, and gives nearly the same parameters. */
static void
test_half (void)
{
  g_auto (Case) whole = { .amp = TRUE, .steps = 2, .divisor = { 1, 1 } },
                half = { .amp = TRUE, .half = TRUE, .steps = 2, .divisor = { 1, 1 } };
  guint64 states;
  double apart;

  comm_test_run (RANKS, run_rank, &whole);
  comm_test_run (RANKS, run_rank, &half);
  assert_ranks_equal (&whole);
  assert_ranks_equal (&half);
  g_assert_cmpuint (half.left[0].output.overflow, ==, 0);
  apart = distance (&whole.left[0], &half.left[0], DYNO_SPACE_MOMENT1);
  g_assert_cmpfloat (apart, <, 1e-3);
  g_assert_cmpfloat (apart, >, 0);
  g_assert_cmpuint (whole.left[0].times.steps, ==, 2);
  g_assert_cmpuint (whole.left[0].times.buckets, >, 3);
  states = 2 * half.left[0].times.bytes - whole.left[0].times.bytes;
  g_assert_cmpuint (states, >, 0);
  g_assert_cmpuint (states, <, half.left[0].times.bytes / 2);
}

/* Conversion on the host, on the device, and on one rank each where the other has no memory for it
 * gives equal bits. */
static void
test_on_device (void)
{
  static const struct {
    guint device_ranks, refused;
  } ways[] = { { 3, 0 }, { 3, 1 } };
  g_auto (Case) host = { .amp = TRUE, .half = TRUE, .steps = 2, .divisor = { 1, 1 } };

  comm_test_run (RANKS, run_rank, &host);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_auto (Case) device = { .amp = TRUE,
                               .half = TRUE,
                               .device_ranks = ways[i].device_ranks,
                               .refused = ways[i].refused,
                               .steps = 2,
                               .divisor = { 1, 1 } };

      comm_test_run (RANKS, run_rank, &device);
      assert_ranks_equal (&device);
      for (guint k = 0; k < G_N_ELEMENTS (spaces); k++)
        g_assert_cmpmem (host.left[0].bytes[spaces[k]], host.left[0].size[spaces[k]],
                         device.left[0].bytes[spaces[k]], device.left[0].size[spaces[k]]);
      g_assert_cmpfloat (host.left[0].output.loss_sum, ==, device.left[0].output.loss_sum);
      g_assert_cmpuint (host.left[0].times.bytes, ==, device.left[0].times.bytes);
    }
}

/* A step that overflows on one rank is skipped on all, and the loss scale after it is the same on
 * all. */
static void
test_overflow (void)
{
  /* The exchange is fp32, or fp16 that the host converts, or fp16 that the device converts. */
  for (guint way = 0; way < 3; way++)
    {
      g_auto (Case) before = { .amp = TRUE, .steps = 0 }, c = { .amp = TRUE,
                                                                .half = way > 0,
                                                                .device_ranks = way == 1 ? 0 : 3,
                                                                .steps = 1,
                                                                .divisor = { 1, 1e-38f } };

      comm_test_run (RANKS, run_rank, &before);
      comm_test_run (RANKS, run_rank, &c);
      for (guint rank = 0; rank < RANKS; rank++)
        {
          const struct DynoStepOutput *output = &c.left[rank].output;
          g_assert_cmpuint (output->overflow, ==, 1);
          g_assert_cmpuint (output->skipped, ==, 1);
          g_assert_cmpfloat (output->loss_scale, ==, 32768);
          g_assert_cmpmem (
              before.left[rank].bytes[DYNO_SPACE_MASTER], before.left[rank].size[DYNO_SPACE_MASTER],
              c.left[rank].bytes[DYNO_SPACE_MASTER], c.left[rank].size[DYNO_SPACE_MASTER]);
        }
      assert_ranks_equal (&c);
    }
}

static void
assert_same (const Case *a, const Case *b)
{
  for (guint rank = 0; rank < RANKS; rank++)
    for (guint k = 0; k < G_N_ELEMENTS (spaces); k++)
      g_assert_cmpmem (a->left[rank].bytes[spaces[k]], a->left[rank].size[spaces[k]],
                       b->left[rank].bytes[spaces[k]], b->left[rank].size[spaces[k]]);
}

/* The exchange between devices gives the bits of the exchange through the host, with as many bytes,
 * and waits for its copies. */
static void
test_peers (void)
{
  FakeCuda *fake = fake_cuda_find ();

  g_setenv ("DYNO_PEER_COPIES", "1", TRUE);
  for (guint half = 0; half < 2; half++)
    {
      g_auto (Case)
          host = { .amp = half, .half = half, .device_ranks = 3, .steps = 3, .divisor = { 1, 1 } },
          peers = { .amp = half,
                    .half = half,
                    .device_ranks = 3,
                    .steps = 3,
                    .divisor = { 1, 1 },
                    .peers = TRUE };

      comm_test_run (RANKS, run_rank, &host);
      *fake = (FakeCuda){ 0 };
      comm_test_run (RANKS, run_rank, &peers);
      g_assert_true (peers.used[0] && peers.used[1]);
      g_assert_cmpint (fake->copies, ==, (int) (3 * RANKS * peers.left[0].times.buckets));
      g_assert_cmpint (fake->early, >=, 3 * RANKS);
      g_assert_cmpint (fake->open, ==, 0);
      assert_same (&host, &peers);
      g_assert_cmpfloat (host.left[0].output.loss_sum, ==, peers.left[0].output.loss_sum);
      g_assert_cmpuint (host.left[0].times.bytes, ==, peers.left[0].times.bytes);
      g_assert_cmpint (peers.left[0].times.total_us, >=, peers.left[0].times.exposed_us);
      g_assert_cmpint (peers.left[0].times.exposed_us, >, 0);
    }
  g_unsetenv ("DYNO_PEER_COPIES");
}

/* If one rank cannot copy between devices, all ranks exchange through the host. */
static void
test_no_peers (void)
{
  static const struct {
    const char *fail;
    guint device_ranks, refused;
    gboolean half;
  } ways[] = { { "cuMemCreate", 3, 0, FALSE },
               { "cuMemSetAccess", 3, 0, FALSE },
               { "cuImportExternalMemory", 3, 0, TRUE },
               { NULL, 1, 0, TRUE } };
  FakeCuda *fake = fake_cuda_find ();

  g_setenv ("DYNO_PEER_COPIES", "1", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_auto (Case) host = { .amp = TRUE, .half = ways[i].half, .steps = 1, .divisor = { 1, 1 } },
                    c = { .amp = TRUE,
                          .half = ways[i].half,
                          .device_ranks = ways[i].device_ranks,
                          .refused = ways[i].refused,
                          .steps = 1,
                          .divisor = { 1, 1 },
                          .peers = TRUE };

      comm_test_run (RANKS, run_rank, &host);
      *fake = (FakeCuda){ .fail = ways[i].fail, .fail_at = 2 };
      comm_test_run (RANKS, run_rank, &c);
      g_assert_false (c.used[0] || c.used[1]);
      g_assert_cmpint (fake->copies, ==, 0);
      g_assert_cmpint (fake->open, ==, 0);
      assert_same (&host, &c);
    }
  *fake = (FakeCuda){ 0 };
  g_unsetenv ("DYNO_PEER_COPIES");
}

static void
run_failing (DynoComm *comm, gpointer data)
{
  guint rank = dyno_comm_get_rank (comm);
  g_autoptr (GError) error = NULL, again = NULL;
  guint64 value;
  gboolean used;
  Net net;

  net_init (&net, FALSE, comm, FALSE);
  if (data)
    {
      dyno_exchange_use_peers (net.exchange, dyno_build_get_plan (net.build), NULL, &used, &error);
      g_assert_no_error (error);
      g_assert_true (used);
    }
  fill_input (&net, 0, 0, rank, 1);
  dyno_exchange_begin (net.exchange, 0, &(DynoWait){ DYNO_QUEUE_TRANSFER, 0 }, FALSE, &value,
                       &error);
  g_assert_no_error (error);
  if (rank == 1)
    dyno_comm_abort (comm, "its power was cut");
  else
    {
      g_assert_false (dyno_exchange_finish (net.exchange, NULL, &value, &error));
      g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER);
      g_assert_nonnull (strstr (error->message, "rank 1 on host0"));
      g_assert_nonnull (strstr (error->message, "its power was cut"));
      g_assert_false (dyno_exchange_finish (net.exchange, NULL, &value, &again));
      g_assert_nonnull (again);
    }
  wait_for (&net, value);
  net_clear (&net);
}

/* A rank that ends during a step blocks no other rank, and everything can be freed. */
static void
test_failure (void)
{
  comm_test_run (RANKS, run_failing, NULL);
  g_setenv ("DYNO_PEER_COPIES", "1", TRUE);
  comm_test_run (RANKS, run_failing, GINT_TO_POINTER (TRUE));
  g_unsetenv ("DYNO_PEER_COPIES");
}

/* Values at every boundary, the neighbours of every fp16 value and of every midpoint of two, and
 * noise. */
static float *
make_values (guint *n)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (float));
  DynoRng rng = dyno_rng_init (3, 0);
  const guint32 bits[] = { 0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x32ffffff, 0x33000000,
                           0x33000001, 0x337fffff, 0x33800000, 0x33c00000, 0x387fc000, 0x387fe000,
                           0x38800000, 0x477fe000, 0x477fefff, 0x477ff000, 0x477fffff, 0x47800000,
                           0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff };

  for (guint i = 0; i < G_N_ELEMENTS (bits); i++)
    for (guint sign = 0; sign < 2; sign++)
      {
        guint32 word = bits[i] | sign << 31;
        g_array_append_vals (values, &word, 1);
      }
  for (guint half = 0; half < 0x7c00; half++)
    for (int step = -1; step <= 1; step++)
      for (guint middle = 0; middle < 2; middle++)
        {
          float value = dyno_half_to_float ((guint16) half);
          guint32 word;
          if (middle && half < 0x7bff)
            value = 0.5f * (value + dyno_half_to_float ((guint16) (half + 1)));
          if (half > 0 && step != 0)
            value = nextafterf (value, step < 0 ? 0 : INFINITY);
          value = half & 1 ? -value : value;
          memcpy (&word, &value, sizeof word);
          g_array_append_vals (values, &word, 1);
        }
  for (guint i = 0; i < 100000; i++)
    {
      guint32 word = (guint32) (dyno_rng_uniform (&rng) * 4294967296.0);
      g_array_append_vals (values, &word, 1);
    }
  g_array_set_size (values, values->len & ~7u);
  *n = values->len;
  return (float *) (void *) g_array_free (values, FALSE);
}

static void
run_conversion (DynoDevice *device, gboolean pack, DynoBuffer *from, DynoBuffer *to, guint n)
{
  g_autoptr (GError) error = NULL;
  DynoCommand *command;
  DynoWireKernels kernels;
  guint64 value;

  dyno_wire_kernels_get (device, &kernels, &error);
  g_assert_no_error (error);
  command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, &error);
  g_assert_no_error (error);
  if (pack)
    dyno_wire_record_pack (&kernels, command, from, 64, to, 32, n);
  else
    dyno_wire_record_unpack (&kernels, command, from, 32, to, 64, n);
  dyno_command_end (command, &error);
  g_assert_no_error (error);
  dyno_command_submit (command, NULL, 0, &value, &error);
  g_assert_no_error (error);
  dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, value, 0, &error);
  g_assert_no_error (error);
  dyno_command_free (command);
}

/* The conversion is exact to the bit, except for the payload of NaN; nothing is written outside of
 * the range. */
static void
test_conversion (void)
{
  DynoDeviceParams params = { .index = -1 };
  g_autoptr (GError) error = NULL;
  DynoDevice *device = dyno_device_open (&params, &error);
  DynoBuffer *floats, *halves;
  guint n;
  g_autofree float *values = make_values (&n), *host = NULL, *back = NULL;
  g_autofree guint16 *got = NULL;

  g_assert_no_error (error);
  floats = dyno_buffer_new (device, n * 4 + 128, DYNO_MEMORY_OTHER, DYNO_BUFFER_UPLOAD, &error);
  g_assert_no_error (error);
  halves = dyno_buffer_new (device, n * 2 + 64, DYNO_MEMORY_OTHER, DYNO_BUFFER_READBACK, &error);
  g_assert_no_error (error);
  memset (dyno_buffer_get_mapped (halves), 0x5a, n * 2 + 64);
  memcpy ((guint8 *) dyno_buffer_get_mapped (floats) + 64, values, (gsize) n * 4);
  run_conversion (device, TRUE, floats, halves, n);
  got = g_memdup2 (dyno_buffer_get_mapped (halves), (gsize) n * 2 + 64);
  host = g_memdup2 (values, (gsize) n * 4);
  dyno_wire_to_half (host, n);
  for (guint i = 0; i < n; i++)
    {
      guint16 mine = got[16 + i], its = ((const guint16 *) (const void *) host)[i];
      g_assert_cmphex (mine, ==, dyno_half_from_float (values[i]));
      g_assert_true (mine == its || ((mine & its & 0x7e00) == 0x7e00));
    }
  for (guint i = 0; i < 16; i++)
    g_assert_true (got[i] == 0x5a5a && got[16 + n + i] == 0x5a5a);
  for (guint i = 0; i < 0x10000; i++) /* back to fp32: every fp16 value */
    ((guint16 *) dyno_buffer_get_mapped (halves))[16 + i] = (guint16) i;
  g_assert_cmpuint (n, >=, 0x10000);
  run_conversion (device, FALSE, halves, floats, 0x10000);
  back = g_memdup2 ((guint8 *) dyno_buffer_get_mapped (floats) + 64, 0x40000);
  for (guint i = 0; i < 0x10000; i++)
    {
      float expected = dyno_half_to_float ((guint16) i);
      g_assert_cmpmem (&back[i], sizeof (float), &expected, sizeof (float));
    }
  dyno_buffer_free (floats);
  dyno_buffer_free (halves);
  dyno_device_unref (device);
}

/* A GPU that hangs is reported within 10 s; a slow one, judged by its earlier times, is not. */
static void
test_watchdog (void)
{
  g_assert_cmpuint (dyno_exchange_watchdog_ms (0, FALSE), ==, 8000);
  g_assert_cmpuint (dyno_exchange_watchdog_ms (100000, FALSE), ==, 8000);
  g_assert_cmpuint (dyno_exchange_watchdog_ms (3000000, FALSE), ==, 24000);
  g_assert_cmpuint (dyno_exchange_watchdog_ms (9000000, FALSE), ==, 0);
  g_assert_cmpuint (dyno_exchange_watchdog_ms (100000, TRUE), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/exchange/parameters-are-those-of-one-process", test_sums);
  g_test_add_func ("/train/exchange/half-the-bytes-in-fp16", test_half);
  g_test_add_func ("/train/exchange/conversion-on-the-device-has-the-hosts-bits", test_conversion);
  g_test_add_func ("/train/exchange/halves-of-the-device-train-as-the-hosts", test_on_device);
  g_test_add_func ("/train/exchange/from-device-to-device-has-the-hosts-bits", test_peers);
  g_test_add_func ("/train/exchange/all-go-through-the-host-where-one-must", test_no_peers);
  g_test_add_func ("/train/exchange/limit-of-a-hang-follows-the-steps", test_watchdog);
  g_test_add_func ("/train/exchange/overflow-of-one-rank-is-skipped-by-all", test_overflow);
  g_test_add_func ("/train/exchange/a-rank-that-ends-holds-none-up", test_failure);
  return g_test_run ();
}
