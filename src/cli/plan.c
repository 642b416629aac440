/* SPDX-License-Identifier: MIT */
/* dynoctl plan: estimates the memory, time and disk space of a run before it begins. */
#include "job-options.h"
#include "amount.h"
#include "diagnose.h"
#include "output.h"
#include "parts.h"
#include "text.h"
#include <math.h>

static void
add_estimate (DynoJson *json, const DynoRunEstimate *e)
{
  gboolean known = e->rate.samples_per_s > 0;

  dyno_json_uint (json, "total_steps", e->steps);
  dyno_json_double (json, "samples_per_s", e->rate.samples_per_s);
  dyno_json_double (json, "step_ms", 1e3 * e->step_seconds);
  dyno_json_double (json, "epoch_seconds", e->epoch_seconds);
  dyno_json_double (json, "total_seconds", e->total_seconds);
  if (known && e->rate.run)
    dyno_json_int (json, "rate_of_run", e->rate.run);
  else
    dyno_json_null (json, "rate_of_run");
  dyno_json_double (json, "most_samples_per_s", e->most_samples_per_s);
  dyno_json_double (json, "least_seconds", e->least_seconds);
  dyno_json_bool (json, "validation_is_guessed", e->validation_is_guessed);
  dyno_json_uint (json, "checkpoint_bytes", e->checkpoint_bytes);
  dyno_json_uint (json, "weights_bytes", e->weights_bytes);
  dyno_json_uint (json, "disk_bytes", e->disk_bytes);
}

static void
print_estimate (const DynoJob *job, const DynoRunEstimate *e)
{
  g_autofree char *disk = dyno_amount_bytes (e->disk_bytes, " "),
                  *checkpoint = dyno_amount_bytes (e->checkpoint_bytes, " "),
                  *weights = dyno_amount_bytes (e->weights_bytes, " "),
                  *total = dyno_text_duration (e->total_seconds),
                  *epoch = dyno_text_duration (e->epoch_seconds),
                  *rate = dyno_text_rate (e->rate.samples_per_s),
                  *source = e->rate.run ? g_strdup_printf ("run %" G_GINT64_FORMAT, e->rate.run)
                                        : g_strdup ("a search");

  if (e->least_seconds > 0)
    {
      g_autofree char *least = dyno_text_duration (e->least_seconds),
                      *most = dyno_text_rate (e->most_samples_per_s);

      dyno_out_line (
          "time    at least %s, without validation: no run with these settings is known, "
          "and a search measured at most %s samples/s of a part alone",
          least, most);
    }
  else if (isnan (e->total_seconds))
    dyno_out_line ("time    not known yet: a run or a search with these settings measures it");
  else
    dyno_out_line ("time    %s in all: %" G_GUINT64_FORMAT " %s of %.3g ms, %s per epoch "
                   "with validation%s; %s samples/s in %s",
                   total, e->steps, dyno_plural (e->steps, "step", "steps"), 1e3 * e->step_seconds,
                   epoch, e->validation_is_guessed ? " (guessed)" : "", rate, source);
  dyno_out_line ("disk    %s at most: checkpoints of %s, weights of %s", disk, checkpoint, weights);
}

static const char *
name_source (DynoExchangeSource source)
{
  return source == DYNO_EXCHANGE_MEASURED       ? "measured"
         : source == DYNO_EXCHANGE_EXTRAPOLATED ? "extrapolated"
                                                : "assumed";
}

void
dyno_ranks_print_members (DynoJson *json, const DynoRanksEstimate *e)
{
  dyno_json_uint (json, "ranks", e->ranks);
  dyno_json_uint (json, "hosts", e->hosts);
  dyno_json_uint (json, "global_batch", e->global_batch);
  dyno_json_uint (json, "exchange_bytes", e->exchange_bytes);
  dyno_json_uint (json, "inbox_bytes", e->inbox_bytes);
  dyno_json_string (json, "rate", name_source (e->source));
  dyno_json_double (json, "latency_us", 1e6 * e->rate.latency_s);
  dyno_json_double (json, "link_bytes_per_s", e->rate.bytes_per_s);
  dyno_json_double (json, "exchange_ms", 1e3 * e->exchange_seconds);
  dyno_json_double (json, "exposed_ms", 1e3 * e->exposed_seconds);
  dyno_json_double (json, "step_ms", 1e3 * e->step_seconds);
  dyno_json_double (json, "samples_per_s", e->samples_per_s);
  dyno_json_double (json, "speedup", e->speedup);
  dyno_json_double (json, "device_step_ms", 1e3 * e->device_step_seconds);
  dyno_json_double (json, "device_speedup", e->device_speedup);
}

static void
print_ranks (const DynoRanksEstimate *e)
{
  g_autofree char *bytes = dyno_amount_bytes (e->exchange_bytes, " "),
                  *staging = dyno_amount_bytes (e->staging_bytes, " "),
                  *inbox = dyno_amount_bytes (e->inbox_bytes, " "),
                  *link = dyno_amount_bytes ((guint64) e->rate.bytes_per_s, " ");

  dyno_out_line ("ranks   %u on %u %s: %" G_GUINT64_FORMAT
                 " %s per step; each exchanges %s per step and stages %s in page-locked memory",
                 e->ranks, e->hosts, e->hosts == 1 ? "host" : "hosts", e->global_batch,
                 dyno_plural (e->global_batch, "sample", "samples"), bytes, staging);
  if (e->inbox_bytes > 0)
    dyno_out_line ("        from device to device where the cards have a link: then %s of each "
                   "device's memory instead, and little of the exchange is left",
                   inbox);
  if (e->source == DYNO_EXCHANGE_ASSUMED)
    dyno_out_line (
        "        exchange %.3g ms if a link carries %s/s with %.3g us a message, which is "
        "assumed: mpirun -n %u dynoctl bench --exchange measures it",
        1e3 * e->exchange_seconds, link, 1e6 * e->rate.latency_s, e->ranks);
  else
    dyno_out_line ("        exchange %.3g ms: %s/s and %.3g us a message, as measured with %u %s",
                   1e3 * e->exchange_seconds, link, 1e6 * e->rate.latency_s, e->rate.ranks,
                   dyno_plural (e->rate.ranks, "rank", "ranks"));
  if (isnan (e->step_seconds))
    dyno_out_line ("        the step's time is not known yet: a run of one rank measures its part");
  else if (e->one_bucket)
    dyno_out_line ("        step %.3g ms, of which the exchange takes %.3g ms: so few gradients go "
                   "all at once, after the backward pass: %.3g samples/s, %.2f times one rank",
                   1e3 * e->step_seconds, 1e3 * e->exposed_seconds, e->samples_per_s, e->speedup);
  else
    dyno_out_line ("        step %.3g ms, of which the backward pass does not hide %.3g ms of the "
                   "exchange: %.3g samples/s, %.2f times one rank",
                   1e3 * e->step_seconds, 1e3 * e->exposed_seconds, e->samples_per_s, e->speedup);
  if (e->inbox_bytes > 0 && isfinite (e->device_step_seconds))
    dyno_out_line ("        from device to device: step %.3g ms, %.2f times one rank",
                   1e3 * e->device_step_seconds, e->device_speedup);
}

/* Whether random crops are made by the loader and not by the device. */
static gboolean
crops_source (const DynoJob *job, const DynoDatasetInfo *info)
{
  DynoLoaderParams params;

  return dyno_job_get_loader_params (job, info, TRUE, &params, NULL) && params.crop.area > 0;
}

void
dyno_plan_print_json (const DynoCliJob *cli_job, const DynoJobPlan *plan, gboolean software,
                      const DynoRunEstimate *estimate, const DynoRanksEstimate *ranks)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (cli_job->dataset);
  const DynoJob *job = cli_job->job;
  g_autofree char *advice = dyno_job_plan_advice (job, plan);
  guint32 width = 0, height = 0;
  DynoPartCounts counts;
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "plan");
  dyno_json_string (&json, "model", job->model);
  dyno_json_string (&json, "data", job->data);
  dyno_json_string (&json, "preset", job->preset);
  dyno_json_begin_array (&json, "preset_notes");
  for (guint i = 0; cli_job->preset_notes && cli_job->preset_notes[i]; i++)
    dyno_json_string (&json, NULL, cli_job->preset_notes[i]);
  dyno_json_end_array (&json);
  dyno_json_string (&json, "device", cli_job->device.name);
  dyno_json_bool (&json, "software", software);
  dyno_json_int (&json, "batch_size", plan->batch_size);
  dyno_json_int (&json, "asked_batch_size", job->settings.batch_size);
  dyno_json_uint (&json, "micro_batches", plan->parts);
  if (plan->kept_bytes > 0)
    {
      dyno_json_uint (&json, "bytes_without_checkpointing", plan->kept_bytes);
      dyno_json_double (&json, "checkpointing_time_share", plan->checkpointed_share);
    }
  dyno_json_bool (&json, "amp", job->settings.amp);
  if (dyno_job_get_size (job, info, &width, &height, NULL))
    {
      dyno_json_uint (&json, "width", width);
      dyno_json_uint (&json, "height", height);
    }
  dyno_json_bool (&json, "crops_source", crops_source (job, info));
  dyno_json_begin_object (&json, "components");
  for (guint i = 0; i < DYNO_MEMORY_N_KINDS; i++)
    dyno_json_uint (&json, dyno_memory_kind_name ((DynoMemoryKind) i), plan->plan.kind_bytes[i]);
  dyno_json_end_object (&json);
  dyno_json_uint (&json, "total_bytes", plan->plan.total_bytes);
  dyno_json_uint (&json, "budget_bytes", plan->budget_bytes);
  dyno_json_uint (&json, "limit_bytes", plan->limit_bytes);
  dyno_json_bool (&json, "fits", plan->fits);
  dyno_json_uint (&json, "host_bytes", plan->host.total_bytes);
  dyno_json_uint (&json, "unaliased_bytes", plan->plan.naive_arena_bytes);
  dyno_json_uint (&json, "parameters", plan->n_parameters);
  dyno_json_uint (&json, "trained_parameters", plan->n_trained);
  dyno_json_double (&json, "flops_per_sample", plan->flops_per_sample);
  dyno_job_count_parts (job, info, &counts);
  dyno_json_uint (&json, "n_train", counts.n_train);
  dyno_json_uint (&json, "n_validation", counts.n_validation);
  dyno_json_uint (&json, "n_test", counts.n_test);
  if (info->groups)
    {
      dyno_json_uint (&json, "groups_train", counts.groups_train);
      dyno_json_uint (&json, "groups_validation", counts.groups_validation);
      dyno_json_uint (&json, "groups_test", counts.groups_test);
    }
  dyno_json_uint (&json, "steps_per_epoch", plan->steps_per_epoch);
  dyno_json_int (&json, "fitting_batch", plan->fitting_batch);
  dyno_json_bool (&json, "fits_checkpointed", plan->fits_checkpointed);
  dyno_json_string (&json, "text", advice);
  if (estimate)
    add_estimate (&json, estimate);
  if (ranks)
    {
      dyno_json_begin_object (&json, "ranks");
      dyno_ranks_print_members (&json, ranks);
      dyno_json_uint (&json, "steps_per_epoch", ranks->steps_per_epoch);
      dyno_json_uint (&json, "staging_bytes", ranks->staging_bytes);
      dyno_json_end_object (&json);
    }
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

/* "parts   700 samples to train, 150 to validate, 150 to test" */
static void
print_parts (const DynoJob *job, const DynoDatasetInfo *info)
{
  g_autofree char *tested = NULL;
  DynoPartCounts counts;

  if (info->schema.generated)
    return;
  dyno_job_count_parts (job, info, &counts);
  if (counts.n_test > 0)
    tested = g_strdup_printf (", %" G_GUINT64_FORMAT " to test", counts.n_test);
  dyno_out_line ("parts   %" G_GUINT64_FORMAT " %s to train, %" G_GUINT64_FORMAT " to validate%s",
                 counts.n_train, dyno_plural (counts.n_train, "sample", "samples"),
                 counts.n_validation, tested ? tested : "");
  if (counts.groups_train > 0)
    dyno_out_line ("groups  %u to train, %u to validate, %u to test, by the column “%s”",
                   counts.groups_train, counts.groups_validation, counts.groups_test,
                   info->group_column);
}

void
dyno_plan_print_text (const DynoCliJob *cli_job, const DynoJobPlan *plan,
                      const DynoRunEstimate *estimate, const DynoRanksEstimate *ranks)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (cli_job->dataset);
  const DynoJob *job = cli_job->job;
  g_autoptr (DynoTable) table = dyno_table_new ("memory", "size", "share", NULL);
  g_autofree char *total = dyno_amount_bytes (plan->plan.total_bytes, " "),
                  *budget = dyno_amount_bytes (plan->budget_bytes, " ");
  g_autofree char *host = dyno_amount_bytes (plan->host.total_bytes, " "),
                  *parameters = dyno_amount_count ((double) plan->n_parameters, " ");
  g_autofree char *limit = dyno_amount_bytes (plan->limit_bytes, " ");
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);
  g_autofree char *size = NULL, *smaller = dyno_job_describe_batch (job, plan->n_train),
                  *parts = dyno_job_plan_describe_parts (plan),
                  *checkpointing = dyno_job_plan_describe_checkpointing (plan);
  guint32 width = 0, height = 0;
  gboolean small;

  dyno_job_get_size (job, info, &width, &height, NULL);
  size =
      input->variable ? g_strdup_printf (
          "up to %u %s of %u %s", input->shape[0], dyno_plural (input->shape[0], "step", "steps"),
          dyno_schema_count_channels (&info->schema),
          dyno_plural (dyno_schema_count_channels (&info->schema), "value", "values"))
      : input->n_axes == 2
          ? g_strdup_printf ("%u %s of %u %s", input->shape[0],
                             dyno_plural (input->shape[0], "step", "steps"), input->shape[1],
                             dyno_plural (input->shape[1], "value", "values"))
          : g_strdup_printf ("%ux%u (width x height)", width, height);
  dyno_out_line ("%s on %s: batch %" G_GINT64_FORMAT ", %s, %s", job->model, info->name,
                 plan->batch_size, size, job->settings.amp ? "AMP" : "fp32");
  if (smaller)
    dyno_out_line ("batch   %s", smaller);
  dyno_out_line ("device  %s%s", cli_job->device.name,
                 cli_job->device.type == DYNO_DEVICE_TYPE_SOFTWARE ? " (software, slow)" : "");
  small = plan->flops_per_sample < 1e8;
  dyno_out_line (
      "weights %s parameters, %.3g %s per sample and step, %" G_GUINT64_FORMAT " %s per epoch",
      parameters, plan->flops_per_sample / (small ? 1e6 : 1e9), small ? "MFLOP" : "GFLOP",
      plan->steps_per_epoch, dyno_plural (plan->steps_per_epoch, "step", "steps"));
  print_parts (job, info);
  if (plan->n_trained < plan->n_parameters)
    {
      g_autofree char *trained = dyno_amount_count ((double) plan->n_trained, " ");
      dyno_out_line ("frozen  %s: %s parameters are trained",
                     g_quark_to_string (job->settings.model_freeze), trained);
    }
  if (crops_source (job, info))
    dyno_out_line ("crop    of at least %g of the area, decoded from the files%s",
                   job->settings.augment_crop,
                   job->settings.cache ? "; cache=true is without effect" : "");
  for (guint i = 0; cli_job->preset_notes && cli_job->preset_notes[i]; i++)
    dyno_out_line ("%s%s", i == 0 ? "preset  " : "        ", cli_job->preset_notes[i]);
  dyno_out_line ("%s", "");
  for (guint i = 0; i < DYNO_MEMORY_N_KINDS; i++)
    if (plan->plan.kind_bytes[i])
      dyno_table_add (table, g_strdup (dyno_memory_kind_name ((DynoMemoryKind) i)),
                      dyno_amount_bytes (plan->plan.kind_bytes[i], " "),
                      g_strdup_printf ("%.1f %%", 100.0 * (double) plan->plan.kind_bytes[i]
                                                      / (double) MAX (1, plan->plan.total_bytes)),
                      NULL);
  dyno_table_add (table, g_strdup ("total"), g_strdup (total),
                  g_strdup_printf ("%.1f %% of %s",
                                   100.0 * (double) plan->plan.total_bytes
                                       / (double) MAX (1, plan->limit_bytes),
                                   plan->limit_bytes < plan->budget_bytes ? "the device's memory"
                                                                          : "the budget"),
                  NULL);
  dyno_table_print (table);
  dyno_out_line ("%s", "");
  if (plan->limit_bytes < plan->budget_bytes)
    dyno_out_line ("budget  %s, but the device has %s: it %s; %s in host memory", budget, limit,
                   plan->fits ? "fits" : "does not fit", host);
  else
    dyno_out_line ("budget  %s: it %s; %s in host memory", budget,
                   plan->fits ? "fits" : "does not fit", host);
  if (checkpointing)
    dyno_out_line ("memory  %s", checkpointing);
  if (parts)
    dyno_out_line ("shrink  %s", parts);
  if (plan->fits && plan->fitting_batch > plan->batch_size)
    dyno_out_line ("largest batch that fits: %" G_GINT64_FORMAT, plan->fitting_batch);
  if (estimate)
    print_estimate (job, estimate);
  if (ranks)
    print_ranks (ranks);
  dyno_diagnosis_print_before (job, info, &cli_job->device, plan);
}

/* Estimates from the history of runs; without a history no time is given. */
static void
estimate_run (const DynoCliJob *cli_job, const DynoJobPlan *plan, DynoRunEstimate *estimate)
{
  const DynoSettings *s = &cli_job->job->settings;
  g_auto (DynoDatasetParts) parts = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoStore) store = dyno_store_open (NULL, &error);
  guint64 fingerprint = dyno_dataset_get_info (cli_job->dataset)->content_hash;
  DynoStoredRate rate = { .samples_per_s = (double) NAN };
  double loader = (double) NAN, gpu = (double) NAN;

  if (!store)
    g_info ("%s", error->message);
  else if (!dyno_store_find_rates (store, cli_job->job, &cli_job->device, fingerprint, &rate))
    dyno_store_find_ceilings (store, cli_job->job->model, fingerprint, cli_job->device.name, s,
                              &loader, &gpu);
  dyno_settings_divide (s, cli_job->dataset, &parts);
  dyno_run_estimate (estimate, cli_job->job, plan, parts.train->len, parts.validation->len, &rate);
  dyno_run_estimate_bound (estimate, cli_job->job, parts.train->len, loader, gpu);
}

/* Estimates the same job on several ranks, which need more page-locked memory than one. */
static gboolean
estimate_ranks (const DynoCliJob *cli_job, const DynoJobPlan *plan, guint ranks, guint hosts,
                double step_seconds, DynoRanksEstimate *estimate, GError **error)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (cli_job->dataset);
  g_autoptr (DynoJob) job = dyno_job_copy (cli_job->job);
  DynoJobPlan several;

  job->ranks = ranks;
  if (!dyno_job_plan (job, info, &cli_job->device, &several, error))
    return FALSE;
  dyno_ranks_estimate (estimate, job, plan, cli_job->device.type == DYNO_DEVICE_TYPE_SOFTWARE,
                       ranks, hosts, step_seconds);
  estimate->steps_per_epoch = several.steps_per_epoch;
  if (several.host.total_bytes > plan->host.total_bytes)
    estimate->staging_bytes = several.host.total_bytes - plan->host.total_bytes;
  estimate->inbox_bytes = hosts == 1 ? several.plan.inbox_bytes : 0;
  return TRUE;
}

int
dyno_verb_plan (int argc, char **argv)
{
  g_auto (DynoJobOptions) options = { 0 };
  g_auto (DynoCliJob) cli_job = { 0 };
  g_autofree GOptionEntry *entries = NULL;
  g_autoptr (GError) error = NULL;
  DynoJobPlan plan = { 0 };
  DynoRunEstimate estimate;
  DynoRanksEstimate ranks_estimate;
  gint64 steps = 0, ranks = 1, hosts = 1;
  int code;
  const GOptionEntry own[] = {
    { "steps", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_INT64, &steps, "Accepted as train does", "N" },
    { "ranks", 0, 0, G_OPTION_ARG_INT64, &ranks,
      "Also for N processes, a device each: exchange, staging, time of a step", "N" },
    { "hosts", 0, 0, G_OPTION_ARG_INT64, &hosts, "With --ranks: the machines that they are on",
      "N" },
    { NULL },
  };

  dyno_job_options_init (&options);
  entries = dyno_job_options_entries (&options, own);
  if (!dyno_cli_parse (argc, argv, "--data DATA --model MODEL",
                       "Device memory by component, exactly, before any run.", entries, NULL, NULL,
                       0, &code))
    return code;
  if (ranks < 1 || ranks > DYNO_CLI_MOST_RANKS || hosts < 1 || hosts > ranks)
    return dyno_cli_usage (argv[0], "--ranks is 1 to %d, and --hosts 1 to as many as --ranks",
                           DYNO_CLI_MOST_RANKS);
  if (!dyno_job_options_resolve (argv[0], &options, &cli_job, &code))
    return code;
  if (!dyno_job_plan (cli_job.job, dyno_dataset_get_info (cli_job.dataset), &cli_job.device, &plan,
                      &error))
    return dyno_cli_fail (g_steal_pointer (&error), options.json);
  cli_job.job->max_steps = MAX (0, steps);
  estimate_run (&cli_job, &plan, &estimate);
  if (ranks > 1
      && !estimate_ranks (&cli_job, &plan, (guint) ranks, (guint) hosts, estimate.step_seconds,
                          &ranks_estimate, &error))
    return dyno_cli_fail (g_steal_pointer (&error), options.json);
  if (options.json)
    dyno_plan_print_json (&cli_job, &plan, cli_job.device.type == DYNO_DEVICE_TYPE_SOFTWARE,
                          &estimate, ranks > 1 ? &ranks_estimate : NULL);
  else
    dyno_plan_print_text (&cli_job, &plan, &estimate, ranks > 1 ? &ranks_estimate : NULL);
  if (plan.parts == 0)
    {
      g_autofree char *advice = dyno_job_plan_advice (cli_job.job, &plan);
      return dyno_cli_fail (g_error_new (DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT, "%s",
                                         advice ? advice : "it does not fit the device memory"),
                            options.json);
    }
  return DYNO_EXIT_OK;
}
