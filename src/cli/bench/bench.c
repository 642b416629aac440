/* SPDX-License-Identifier: MIT */
/* dynoctl bench: training steps on data in device memory, measured as in
 * bench/pytorch_reference.py: 8 steps to warm up (and as many more as fit into 0.3 s: an idle card
 * needs some 0.1 s to reach its clock), then the median of three runs of N steps, which are
 * submitted back to back with two in flight, with a wait at the end. */
#include "bench.h"
#include "autotune.h"
#include "base-error.h"
#include "joinranks.h"
#include "median.h"
#include "output.h"
#include "parallel.h"
#include "rng.h"
#include "train-error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP_STEPS 8
#define WARM_UP_US    (300 * G_TIME_SPAN_MILLISECOND)
#define RUNS          3

static const DynoBenchWorkload workloads[] = {
  { "simplecnn32", "simplecnn", 32, 10, { 32, 128, 512 } },
  { "simplecnn224", "simplecnn", 224, 10, { 32, 64, 256 } },
  { "resnet18", "resnet18", 224, 1000, { 32, 128, 256 } },
  { "resnet50", "resnet50", 224, 1000, { 32, 128, 0 } },
  { "mobilenetv2", "mobilenetv2", 224, 1000, { 32, 128, 0 } },
  { "efficientnet_b0", "efficientnet_b0", 224, 1000, { 32, 128, 0 } },
  { "densenet121", "densenet121", 224, 1000, { 32, 64, 0 } },
  { "convnext_tiny", "convnext_tiny", 224, 1000, { 32, 64, 0 } },
  { "vit_small", "vit_small_patch16_224", 224, 1000, { 32, 128, 0 } },
  { "vit_b_16", "vit_b_16", 224, 1000, { 16, 64, 0 } },
  { "unet_resnet34", "unet_resnet34", 512, 21, { 4, 16, 0 } },
  { "deeplabv3_resnet50", "deeplabv3_resnet50", 512, 21, { 4, 16, 0 } },
  { "cnnlstm", "cnnlstm", 256, 10, { 64, 256, 0 }, .features = 64 },
};

const DynoBenchWorkload *
dyno_bench_find_workload (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (workloads); i++)
    if (strcmp (workloads[i].name, name) == 0)
      return &workloads[i];
  return NULL;
}

static char *
workload_names (const char *separator)
{
  GString *names = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (workloads); i++)
    g_string_append_printf (names, "%s%s", i ? separator : "", workloads[i].name);
  return g_string_free (names, FALSE);
}

static void
fill_step_input (DynoBench *bench, struct DynoStepInput *input)
{
  guint64 step = bench->steps++;

  *input = (struct DynoStepInput){
    .step = (guint32) step,
    .seed_low = 1,
    .n_valid = bench->batch,
    .loss_divisor = (float) bench->batch,
    .lr = 0.01f,
    .momentum = 0.9f,
    .beta2 = 0.999f,
    .weight_decay = 1e-4f,
    .epsilon = 1e-8f,
    .bias_correction1 = 1,
    .bias_correction2 = 1,
    .first_update = step == 0,
    .loss_scale_min = 1,
    .loss_scale_max = 16777216,
    .scale_growth_interval = 2000,
  };
}

DynoCommandKind
dyno_bench_command (const DynoBench *bench)
{
  return bench->predict ? DYNO_COMMAND_FORWARD : DYNO_COMMAND_FULL;
}

gboolean
dyno_bench_steps (DynoBench *bench, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      guint slot = (guint) (bench->steps % DYNO_BENCH_SLOTS);

      /* The slot's earlier step must be done before its input changes. */
      if (bench->timeline_values[slot]
          && !dyno_queue_wait (bench->device, DYNO_QUEUE_COMPUTE, bench->timeline_values[slot], 0,
                               error))
        return FALSE;
      fill_step_input (bench,
                       dyno_program_step_input (dyno_build_get_program (bench->build), slot));
      if (!dyno_program_submit (dyno_build_get_program (bench->build), dyno_bench_command (bench),
                                slot, NULL, 0, &bench->timeline_values[slot], error))
        return FALSE;
    }
  for (guint slot = 0; slot < DYNO_BENCH_SLOTS; slot++)
    if (bench->timeline_values[slot]
        && !dyno_queue_wait (bench->device, DYNO_QUEUE_COMPUTE, bench->timeline_values[slot], 0,
                             error))
      return FALSE;
  return TRUE;
}

#define NOISE_CHUNK (1u << 16)

static void
fill_noise (guint index, gpointer data)
{
  DynoBenchNoise *noise = data;
  DynoRng rng = dyno_rng_init (1, 1 + index);
  guint64 first = (guint64) index * NOISE_CHUNK, end = MIN (first + NOISE_CHUNK, noise->n);

  for (guint64 i = first; i < end; i++)
    noise->values[i] = (float) dyno_rng_normal (&rng);
}

static gpointer
make_noise (gpointer data)
{
  DynoBenchNoise *noise = data;

  dyno_parallel_for ((guint) ((noise->n + NOISE_CHUNK - 1) / NOISE_CHUNK), fill_noise, noise);
  return NULL;
}

static void
start_noise (DynoBench *bench)
{
  bench->noise.n =
      dyno_network_find_input (dyno_build_get_graph (bench->build), DYNO_FIELD_INPUT)->size_bytes
      / sizeof (float);
  bench->noise.values = g_try_new (float, bench->noise.n);
  if (bench->noise.values)
    bench->noise_thread = g_thread_try_new ("dyno-noise", make_noise, &bench->noise, NULL);
  if (bench->noise.values && !bench->noise_thread)
    make_noise (&bench->noise); /* no thread can be created */
}

static void
finish_noise (DynoBench *bench)
{
  if (bench->noise_thread)
    g_thread_join (g_steal_pointer (&bench->noise_thread));
}

/* A random class for each target, as int32 or, for masks, as bytes; g_free.  NULL: there are no
 * classes. */
static gpointer
make_classes (const DynoBench *bench, const DynoTensor *targets)
{
  DynoRng rng = dyno_rng_init (1, 0);
  gpointer classes = targets ? g_malloc (targets->size_bytes) : NULL;
  guint64 n = targets ? targets->size_bytes / dyno_dtype_size (targets->dtype) : 0;

  for (guint64 i = 0; i < n; i++)
    {
      guint32 one = (guint32) dyno_rng_below (&rng, bench->workload->classes);
      if (targets->dtype == DYNO_DTYPE_U8)
        ((guint8 *) classes)[i] = (guint8) one;
      else
        ((gint32 *) classes)[i] = (gint32) one;
    }
  return classes;
}

/* Uploads normal noise and random classes into every slot, once. */
static gboolean
upload_data (DynoBench *bench, GError **error)
{
  DynoProgram *program = dyno_build_get_program (bench->build);
  DynoGraph *graph = dyno_build_get_graph (bench->build);
  DynoTensor *pixels = dyno_network_find_input (graph, DYNO_FIELD_INPUT),
             *targets = dyno_network_find_input (graph, DYNO_FIELD_TARGET);
  g_autofree gpointer classes = make_classes (bench, targets);

  finish_noise (bench);
  if (!bench->noise.values)
    {
      g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_OVERFLOW,
                   "A batch of %u needs more memory than there is; take a smaller --batch",
                   bench->batch);
      return FALSE;
    }
  for (guint slot = 0; slot < dyno_build_get_plan (bench->build)->n_input_slots; slot++)
    if (!dyno_program_write_tensor (program, pixels, slot, bench->noise.values, pixels->size_bytes,
                                    error)
        || (targets
            && !dyno_program_write_tensor (program, targets, slot, classes, targets->size_bytes,
                                           error)))
      return FALSE;
  g_clear_pointer (&bench->noise.values, g_free);
  return TRUE;
}

static void
on_tuning (guint done, guint count, gpointer data)
{
  gint64 *last_us = data, now = g_get_monotonic_time ();

  if (now - *last_us < 5 * G_USEC_PER_SEC)
    return;
  *last_us = now;
  dyno_error_line ("dynoctl bench: timing kernel variants, %u of %u", done, count);
}

static void
on_refused (const char *variant, const char *why, gpointer data)
{
  dyno_error_line ("dynoctl bench: kernel %s is not used here: %s", variant, why);
}

/* Times the variants that are not in the table of choices yet, and adds their times to it. */
static gboolean
tune_kernels (DynoBench *bench, DynoChoices *choices, GError **error)
{
  gint64 last_us = g_get_monotonic_time ();
  const DynoVetWatch watch = { .refused = on_refused };

  return dyno_build_tune (bench->build, bench->device, choices, &watch, bench->tune_seconds,
                          on_tuning, &last_us, NULL, error);
}

void
dyno_bench_clear (DynoBench *bench)
{
  g_clear_pointer (&bench->start, dyno_start_values_free);
  finish_noise (bench);
  g_clear_pointer (&bench->noise.values, g_free);
  g_clear_pointer (&bench->build, dyno_build_free);
}

/* Logs the time since the process began, for debugging the start. */
static gboolean
reached (const char *what)
{
  g_debug ("%.3f s after the start: %s", dyno_cli_seconds (), what);
  return TRUE;
}

static DynoBatchSchema
make_schema (const DynoBenchWorkload *workload)
{
  const DynoBatchField sequence = { .name = "sequence",
                                    .role = DYNO_FIELD_INPUT,
                                    .element = DYNO_ELEMENT_F32,
                                    .n_axes = 2,
                                    .shape = { workload->size, workload->features },
                                    .axes = "TF" };
  const DynoModel *model = dyno_model_find (workload->model, NULL);
  DynoBatchSchema schema = { 0 };

  if (!workload->features && !model->of_pixels)
    return dyno_schema_image (DYNO_ELEMENT_F32, workload->size, workload->size, 3, 0);
  if (!workload->features)
    {
      schema = dyno_schema_image (DYNO_ELEMENT_F32, workload->size, workload->size, 3, 0);
      schema.n_fields = 1; /* only the image */
      dyno_schema_add_mask (&schema, workload->size, workload->size);
      return schema;
    }
  dyno_schema_add (&schema, &sequence);
  dyno_schema_add_target (&schema, 0);
  return schema;
}

gboolean
dyno_bench_start (DynoBench *bench, const DynoBenchWorkload *workload, guint32 batch, gboolean amp,
                  GError **error)
{
  DynoNetworkParams params = {
    .model = workload->model,
    .batch = batch,
    .n_outputs = workload->classes,
    .schema = make_schema (workload),
    .precision = dyno_precision_of_amp (amp),
    .mode = bench->predict ? DYNO_MODE_PREDICT : DYNO_MODE_TRAIN,
    .optimizer = DYNO_OPTIMIZER_SGD,
  };

  bench->workload = workload;
  bench->batch = batch;
  bench->amp = amp;
  bench->build = dyno_build_new (&params, error);
  if (!bench->build)
    return FALSE;
  bench->start = dyno_start_values_new (dyno_build_get_graph (bench->build), 1);
  start_noise (bench);
  return TRUE;
}

gboolean
dyno_bench_prepare (DynoBench *bench, const DynoBenchWorkload *workload, guint32 batch,
                    gboolean amp, gboolean autotune, GError **error)
{
  const DynoDeviceInfo *info = dyno_device_get_info (bench->device);
  g_autoptr (DynoChoices) choices = dyno_choices_load (dyno_device_get_key (bench->device));
  const DynoVetWatch watch = { .refused = on_refused };
  DynoBuildParams build_params = { .info = info,
                                   .choices = choices,
                                   .n_slots = DYNO_BENCH_SLOTS,
                                   .flags =
                                       DYNO_PLAN_ONE_INPUT | (bench->comm ? DYNO_PLAN_SHARED : 0),
                                   .device = bench->device,
                                   .watch = &watch };

  bench->steps = 0;
  memset (bench->timeline_values, 0, sizeof bench->timeline_values);
  if (amp && !info->fp16)
    {
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_UNSUPPORTED,
                   "%s has no fp16, which AMP needs; use --mode fp32", info->name);
      return FALSE;
    }
  reached ("device and choices");
  if (!bench->build && !dyno_bench_start (bench, workload, batch, amp, error))
    return FALSE;
  if (autotune && !tune_kernels (bench, choices, error))
    return FALSE;
  if (!dyno_build_plan (bench->build, &build_params, error) || !reached ("kernels and plan")
      || !dyno_build_allocate (bench->device, &bench->build, 1, error) || !reached ("memory")
      || !dyno_build_record (bench->build, bench->device,
                             bench->comm      ? DYNO_COMMANDS_EXCHANGED | 1u << DYNO_COMMAND_FULL
                             : bench->predict ? 1u << DYNO_COMMAND_FORWARD
                                              : 0,
                             NULL, error))
    return FALSE;
  return reached ("program")
         && dyno_program_write_start (dyno_build_get_program (bench->build), bench->start, error)
         && reached ("weights") && upload_data (bench, error) && reached ("data");
}

static double
round_to (double value, double unit)
{
  return round (value * unit) / unit;
}

/* Runs as many steps as an idle card needs to reach its clock; they also fill the step input and
 * touch the pages. */
static gboolean
warm_up (DynoBench *bench, GError **error)
{
  gint64 begin = g_get_monotonic_time ();

  do
    if (!dyno_bench_steps (bench, WARM_UP_STEPS, error))
      return FALSE;
  while (g_get_monotonic_time () - begin < WARM_UP_US);
  return TRUE;
}

static gboolean
measure (DynoBench *bench, guint steps, double *step_ms, GError **error)
{
  double times[RUNS];
  const struct DynoStepOutput *output;

  for (guint run = 0; run < RUNS; run++)
    {
      gint64 start = g_get_monotonic_time ();
      if (!dyno_bench_steps (bench, steps, error))
        return FALSE;
      times[run] = (double) (g_get_monotonic_time () - start) / 1e3 / steps;
    }
  *step_ms = dyno_median (times, RUNS);
  if (bench->predict)
    return TRUE; /* no loss is computed */
  output = dyno_program_step_output (dyno_build_get_program (bench->build),
                                     (guint) ((bench->steps - 1) % DYNO_BENCH_SLOTS));
  if (!isfinite (output->loss_sum))
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED,
                   "The loss became %g: the measured steps are not valid",
                   (double) output->loss_sum);
      return FALSE;
    }
  return TRUE;
}

static void
begin_line (DynoJson *json, const DynoBench *bench, const DynoBenchWorkload *workload,
            guint32 batch, gboolean amp)
{
  dyno_json_init (json, 0);
  dyno_json_begin_object (json, NULL);
  dyno_json_string (json, "workload", workload->name);
  dyno_json_uint (json, "batch", batch);
  dyno_json_string (json, "mode", amp ? "amp" : "fp32");
  if (bench->predict)
    dyno_json_bool (json, "predict", TRUE);
}

static void
end_line (DynoJson *json)
{
  dyno_json_end_object (json);
  dyno_out_json (json);
  dyno_json_clear (json);
  dyno_out_flush ();
}

typedef struct {
  char *workloads, *batches, *modes, *trace;
  gint64 steps, rows;
  double tune_seconds;
  int device;
  gboolean kernels, json, no_autotune, first_step, loader, exchange, exchange_half, predict;
  char *data, *workers, **set;
} BenchOptions;

static guint64
count_mib (const DynoBench *bench)
{
  return (guint64) round ((double) dyno_device_get_allocated_total (bench->device) / 1048576.0);
}

/* Measures and prints one row for several ranks. */
static gboolean
bench_together (DynoBench *bench, guint steps, GError **error)
{
  DynoBenchRanks row;
  DynoJson json;

  if (!dyno_bench_ranks (bench, steps, &row, error))
    return FALSE;
  begin_line (&json, bench, bench->workload, bench->batch, bench->amp);
  dyno_json_uint (&json, "ranks", row.ranks);
  dyno_json_uint (&json, "hosts", row.hosts);
  dyno_json_double (&json, "images_per_s", round_to (row.images_per_s, 10));
  dyno_json_double (&json, "step_ms", round_to (row.step_ms, 1000));
  dyno_json_double (&json, "one_rank_images_per_s", round_to (row.alone_images_per_s, 10));
  dyno_json_double (&json, "one_rank_step_ms", round_to (row.alone_ms, 1000));
  dyno_json_double (&json, "scaling", round_to (row.images_per_s / row.alone_images_per_s, 1000));
  dyno_json_string (&json, "exchange_way", row.peers ? "devices" : "host");
  dyno_json_uint (&json, "exchange_bytes", row.exchange_bytes);
  dyno_json_uint (&json, "exchange_buckets", row.exchange_buckets);
  dyno_json_double (&json, "exchange_ms", round_to (row.exchange_ms, 1000));
  dyno_json_double (&json, "exchange_hidden_ms", round_to (row.exchange_ms - row.exposed_ms, 1000));
  dyno_json_double (&json, "exchange_exposed_ms", round_to (row.exposed_ms, 1000));
  dyno_json_uint (&json, "peak_mib", count_mib (bench));
  end_line (&json);
  return TRUE;
}

/* Measures and prints one row of the table. */
static gboolean
bench_one (DynoBench *bench, const DynoBenchWorkload *workload, guint32 batch, gboolean amp,
           const BenchOptions *o, GError **error)
{
  double step_ms = 0, first_step = 0;
  DynoJson json;

  if (!dyno_bench_prepare (bench, workload, batch, amp, !o->no_autotune, error))
    return FALSE;
  if (bench->comm)
    return bench_together (bench, (guint) o->steps, error);
  if (o->first_step)
    {
      if (!dyno_bench_steps (bench, 1, error))
        return FALSE;
      first_step = dyno_cli_seconds ();
    }
  if (!warm_up (bench, error))
    return FALSE;
  if (bench->trace && !dyno_bench_trace (bench, (guint) o->steps, error))
    return FALSE;
  if (o->kernels)
    return dyno_bench_kernels (bench, (guint) o->steps, (guint) o->rows, o->json, error);
  if (!measure (bench, (guint) o->steps, &step_ms, error))
    return FALSE;
  begin_line (&json, bench, workload, batch, amp);
  dyno_json_double (&json, "images_per_s", round_to (batch / step_ms * 1e3, 10));
  dyno_json_double (&json, "step_ms", round_to (step_ms, 1000));
  dyno_json_uint (&json, "peak_mib", count_mib (bench));
  if (o->first_step)
    dyno_json_double (&json, "first_step_s", round_to (first_step, 1000));
  end_line (&json);
  return TRUE;
}

/* A failed row does not end the table, except with several ranks, all of which must take part. */
static DynoExitCode
bench_row (DynoBench *bench, const DynoBenchWorkload *workload, guint32 batch, gboolean amp,
           const BenchOptions *o)
{
  g_autoptr (GError) error = NULL;
  DynoExitCode code = DYNO_EXIT_OK;

  if (!bench_one (bench, workload, batch, amp, o, &error))
    {
      DynoJson json;

      code = dyno_exit_code (error);
      if (bench->comm && error->domain != DYNO_COMM_ERROR)
        dyno_comm_abort (bench->comm, error->message);
      dyno_ranks_choose_speaker (bench->comm);
      begin_line (&json, bench, workload, batch, amp);
      dyno_json_string (&json, "error", error->message);
      end_line (&json);
      dyno_error_line ("dynoctl bench: %s", error->message);
    }
  dyno_bench_clear (bench);
  return code;
}

gboolean
dyno_bench_parse_list (const char *command, const char *option, const char *text, guint32 least,
                       guint32 most, GArray *list)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);

  for (guint i = 0; parts[i]; i++)
    {
      guint64 value;
      guint32 number;

      if (!g_ascii_string_to_unsigned (g_strstrip (parts[i]), 10, least, most, &value, NULL))
        {
          dyno_cli_usage (command, "--%s %s: a whole number from %u to %u", option, parts[i], least,
                          most);
          return FALSE;
        }
      number = (guint32) value;
      g_array_append_val (list, number);
    }
  return TRUE;
}

static gboolean
check_names (const char *command, char **names, char **modes)
{
  for (guint i = 0; names[i]; i++)
    if (!dyno_bench_find_workload (g_strstrip (names[i])))
      {
        g_autofree char *known = workload_names (", ");
        dyno_cli_usage (command, "--workload %s: there is no such workload; there are %s", names[i],
                        known);
        return FALSE;
      }
  for (guint i = 0; modes[i]; i++)
    if (strcmp (g_strstrip (modes[i]), "fp32") != 0 && strcmp (modes[i], "amp") != 0)
      {
        dyno_cli_usage (command, "--mode %s: it is fp32 or amp", modes[i]);
        return FALSE;
      }
  return TRUE;
}

static int
bench_table (const char *command, const BenchOptions *o, DynoComm *comm)
{
  g_autofree char *all = workload_names (",");
  g_auto (GStrv) names = g_strsplit (o->workloads ? o->workloads : all, ",", -1);
  g_auto (GStrv) modes = g_strsplit (o->modes ? o->modes : "fp32,amp", ",", -1);
  g_autoptr (GArray) batches = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (DynoDevice) device = NULL;
  g_autoptr (GError) error = NULL;
  DynoDeviceParams params = { .index = o->device };
  DynoBench bench = {
    .tune_seconds = o->tune_seconds, .comm = comm, .half = o->exchange_half, .predict = o->predict
  };
  DynoExitCode code = DYNO_EXIT_OK;

  if (!check_names (command, names, modes)
      || (o->batches
          && !dyno_bench_parse_list (command, "batch", o->batches, 1, DYNO_BENCH_MOST_BATCH,
                                     batches)))
    return DYNO_EXIT_USAGE;
  /* The first row's weights are generated while the driver starts; an error here occurs again in
   * the row itself. */
  const DynoBenchWorkload *first = dyno_bench_find_workload (names[0]);
  guint32 first_batch = batches->len ? g_array_index (batches, guint32, 0) : first->batches[0];
  if (!dyno_bench_start (&bench, first, first_batch, strcmp (modes[0], "amp") == 0, NULL))
    dyno_bench_clear (&bench);
  if (!comm || params.index >= 0 || dyno_ranks_choose_device (comm, NULL, &params.index, &error))
    bench.device = device = dyno_device_open (&params, &error);
  if (!device)
    {
      dyno_bench_clear (&bench);
      return dyno_cli_fail (g_steal_pointer (&error), TRUE);
    }
  if (((o->kernels || o->trace) && !dyno_bench_ceilings (&bench, &error))
      || (o->trace && !(bench.trace = dyno_trace_new (o->trace, &error))))
    {
      dyno_bench_clear (&bench);
      return dyno_cli_fail (g_steal_pointer (&error), TRUE);
    }
  for (guint m = 0; modes[m]; m++)
    for (guint w = 0; names[w]; w++)
      {
        const DynoBenchWorkload *workload = dyno_bench_find_workload (names[w]);
        guint n = batches->len ? batches->len : G_N_ELEMENTS (workload->batches);

        for (guint b = 0; b < n; b++)
          {
            guint32 batch =
                batches->len ? g_array_index (batches, guint32, b) : workload->batches[b];
            DynoExitCode row =
                batch == 0 || (comm && code != DYNO_EXIT_OK)
                    ? DYNO_EXIT_OK
                    : bench_row (&bench, workload, batch, strcmp (modes[m], "amp") == 0, o);
            code = code == DYNO_EXIT_OK ? row : code;
          }
      }
  if (bench.trace && !dyno_trace_finish (bench.trace, &error))
    return dyno_cli_fail (g_steal_pointer (&error), TRUE);
  return code;
}

static int
bench_ranks (const char *command, const BenchOptions *o)
{
  DynoComm *comm;
  int code;

  if (!dyno_ranks_join (command, TRUE, &comm, &code))
    return code;
  if (!comm && o->exchange_half)
    code = dyno_cli_usage (command, "--exchange-half measures several processes; start them by "
                                    "mpirun: mpirun -n 2 dynoctl bench --exchange-half");
  else if (comm && (o->kernels || o->trace || o->first_step || o->predict))
    code = dyno_cli_usage (command, "--kernels, --trace, --first-step and --predict measure one "
                                    "process; start it without mpirun");
  else
    code = bench_table (command, o, comm);
  return dyno_ranks_leave (comm, code);
}

static int
bench_loader (const char *command, const BenchOptions *o)
{
  g_auto (DynoJobOptions) options = { 0 };

  dyno_job_options_init (&options);
  options.data = g_strdup (o->data);
  options.set = g_strdupv (o->set);
  options.json = o->json;
  options.no_device = TRUE;
  return dyno_bench_loader (command, &options, o->batches, o->workers);
}

/* The error in the combination of options; NULL: they are compatible. */
static const char *
find_misuse (const BenchOptions *o)
{
  if (o->exchange
      && (o->loader || o->workloads || o->batches || o->modes || o->kernels || o->first_step
          || o->no_autotune || o->trace || o->data || o->workers || o->set || o->exchange_half
          || o->predict))
    return "--exchange measures only sums over ranks: it takes no other option";
  if (o->loader
      && (o->workloads || o->modes || o->kernels || o->first_step || o->no_autotune || o->trace
          || o->predict))
    return "--loader measures only the data pipeline: leave out --workload, --mode, --predict, "
           "--kernels, --trace, --first-step and --no-autotune";
  if (o->predict && o->trace)
    return "--trace records training steps: leave --predict out";
  if (!o->loader && (o->data || o->workers || o->set))
    return "--data, --workers and --set need --loader; workloads bring their own data";
  if (o->steps < 1 || o->steps > 1000000 || o->rows < 0 || o->rows > 100000)
    return "--steps is 1 or more, --rows not negative";
  if (!(o->tune_seconds >= 0))
    return "--tune-seconds is not negative";
  return NULL;
}

int
dyno_verb_bench (int argc, char **argv)
{
  BenchOptions o = { .steps = 30, .rows = 0, .device = -1, .tune_seconds = DYNO_AUTOTUNE_SECONDS };
  int code;
  g_autofree char *known = workload_names (", "),
                  *workload_words = g_strdup_printf ("%s; or several, by commas", known);
  const GOptionEntry entries[] = {
    { "workload", 'w', 0, G_OPTION_ARG_STRING, &o.workloads, workload_words, "W" },
    { "workloads", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &o.workloads, "As --workload",
      "W,W" },
    { "batch", 'b', 0, G_OPTION_ARG_STRING, &o.batches,
      "Batch size; or several, by commas (default: each workload's own)", "N" },
    { "batches", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &o.batches, "As --batch", "N,N" },
    { "mode", 0, 0, G_OPTION_ARG_STRING, &o.modes, "fp32 or amp; or both, by a comma (default)",
      "MODE" },
    { "modes", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &o.modes, "As --mode", "MODE,MODE" },
    { "predict", 0, 0, G_OPTION_ARG_NONE, &o.predict,
      "Measure prediction instead of training: the forward pass of batches of N samples", NULL },
    { "steps", 0, 0, G_OPTION_ARG_INT64, &o.steps, "Steps of each of the three runs (default: 30)",
      "N" },
    { "kernels", 0, 0, G_OPTION_ARG_NONE, &o.kernels, "Time every dispatch of a step instead",
      NULL },
    { "rows", 0, 0, G_OPTION_ARG_INT64, &o.rows, "With --kernels: the slowest N dispatches only",
      "N" },
    { "trace", 0, 0, G_OPTION_ARG_FILENAME, &o.trace,
      "Also the dispatches of a step as a trace in FILE, which Perfetto opens", "FILE" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o.json,
      "With --kernels or --loader: one JSON object a line, of a dispatch or sum, or of a row",
      NULL },
    { "first-step", 0, 0, G_OPTION_ARG_NONE, &o.first_step,
      "Also seconds from process start to the first step done", NULL },
    { "no-autotune", 0, 0, G_OPTION_ARG_NONE, &o.no_autotune,
      "Take known or likely kernel variants without timing them", NULL },
    { "tune-seconds", 0, 0, G_OPTION_ARG_DOUBLE, &o.tune_seconds,
      "Time kernel variants for N seconds a row at most (default: 20; 0: no limit)", "N" },
    { "device", 0, 0, G_OPTION_ARG_INT, &o.device,
      "Device by its number in 'dynoctl devices' (default: the best)", "N" },
    { "loader", 0, 0, G_OPTION_ARG_NONE, &o.loader,
      "Measure instead how fast --data is read and decoded, without a device", NULL },
    { "exchange", 0, 0, G_OPTION_ARG_NONE, &o.exchange,
      "Under mpirun: measure instead how long sums over the ranks take, and keep it for plan "
      "--ranks",
      NULL },
    { "exchange-half", 0, 0, G_OPTION_ARG_NONE, &o.exchange_half,
      "Under mpirun, rows with AMP: gradients travel in fp16, as with exchange.half=true", NULL },
    { "data", 'd', 0, G_OPTION_ARG_FILENAME, &o.data, "With --loader: the data set", "DATA" },
    { "workers", 0, 0, G_OPTION_ARG_STRING, &o.workers,
      "With --loader: worker threads, or several numbers by commas (default: 0, 1, 2, 4 ... to the "
      "cores)",
      "N" },
    { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &o.set,
      "With --loader: one setting; may be given many times", "KEY=VALUE" },
    { NULL },
  };

  if (!dyno_cli_parse (
          argc, argv, "--workload W --batch N --mode fp32|amp",
          "Measures full training steps on data that lies on the device; one JSON object a line.",
          entries,
          "Eight steps warm up, then the median of three runs of N steps counts.  Started by "
          "mpirun, "
          "a row is that of all ranks together, beside one of them alone.",
          NULL, 0, &code))
    ; /* the error was printed */
  else if (find_misuse (&o))
    code = dyno_cli_usage (argv[0], "%s", find_misuse (&o));
  else
    code = o.exchange ? dyno_bench_exchange (argv[0])
           : o.loader ? bench_loader (argv[0], &o)
                      : bench_ranks (argv[0], &o);
  g_free (o.workloads);
  g_free (o.batches);
  g_free (o.modes);
  g_free (o.trace);
  g_free (o.data);
  g_free (o.workers);
  g_strfreev (o.set);
  return code;
}
