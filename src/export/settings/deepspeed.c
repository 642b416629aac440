/* SPDX-License-Identifier: MIT */
/* DeepSpeed's configuration.  train_batch_size is left to DeepSpeed, which knows the number of
 * processes.  Its schedules count steps: they are written where the data set is known. */
#include "facts.h"
#include "formats.h"

static gboolean
has_schedule (const DynoExportContext *context)
{
  return dyno_export_knows_steps (context) && context->job->settings.schedule != DYNO_SCHEDULE_STEP;
}

static gboolean
counts_steps (const DynoExportContext *context)
{
  return has_schedule (context) && context->job->settings.schedule == DYNO_SCHEDULE_COSINE;
}

static const DynoExportRow rows[] = {
  { "batch_size", "train_micro_batch_size_per_gpu" },
  { "accumulate", "gradient_accumulation_steps", "1" },
  { "clip_norm", "gradient_clipping", "0" },
  { "amp", "enabled", "false" },
  { "optimizer", "optimizer" },
  { "lr", "lr" },
  { "momentum", "momentum", "0", dyno_export_has_momentum },
  { "weight_decay", "weight_decay" },
  { "epochs", "total_num_steps", NULL, counts_steps },
  { "schedule", "scheduler", "constant", has_schedule },
  { "warmup_epochs", "warmup_num_steps", "0", has_schedule },
  { NULL },
};

/* By default DeepSpeed's Adam decays weights as AdamW does, and every optimizer with betas has
 * those of Adam. */
static void
append_optimizer (DynoJson *json, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  const DynoOptimizerInfo *optimizer = dyno_optimizer_get_info ((DynoOptimizer) s->optimizer);

  dyno_json_begin_object (json, "optimizer");
  dyno_json_string (json, "type", dyno_export_get_optimizer (s)->deepspeed);
  dyno_json_begin_object (json, "params");
  dyno_json_double (json, "lr", s->lr);
  if (dyno_export_has_momentum (context))
    dyno_json_double (json, "momentum", s->momentum);
  dyno_json_double (json, "weight_decay", s->weight_decay);
  if (optimizer->has_corrections && !optimizer->decay_apart)
    dyno_json_bool (json, "adam_w_mode", FALSE);
  if (dyno_export_has_other_betas (context))
    {
      dyno_json_begin_array (json, "betas");
      dyno_json_double (json, NULL, optimizer->beta1);
      dyno_json_double (json, NULL, optimizer->beta2);
      dyno_json_end_array (json);
    }
  dyno_json_end_object (json);
  dyno_json_end_object (json);
}

/* DeepSpeed's warm-up is logarithmic by default. */
static void
append_schedule (DynoJson *json, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  gboolean cosine = s->schedule == DYNO_SCHEDULE_COSINE;
  DynoExportFacts facts;

  if (!has_schedule (context))
    return;
  dyno_export_facts (context, &facts);
  dyno_json_begin_object (json, "scheduler");
  dyno_json_string (json, "type", cosine ? "WarmupCosineLR" : "WarmupLR");
  dyno_json_begin_object (json, "params");
  if (cosine)
    {
      dyno_json_uint (json, "total_num_steps", facts.total_steps);
      dyno_json_double (json, "warmup_min_ratio", 0);
      dyno_json_double (json, "cos_min_ratio", 0);
    }
  else
    {
      dyno_json_double (json, "warmup_min_lr", 0);
      dyno_json_double (json, "warmup_max_lr", s->lr);
    }
  dyno_json_uint (json, "warmup_num_steps", facts.warmup_steps);
  dyno_json_string (json, "warmup_type", "linear");
  dyno_json_end_object (json);
  dyno_json_end_object (json);
}

static char *
write_deepspeed (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  DynoJson json;
  char *text;

  dyno_json_init (&json, 2);
  dyno_json_begin_object (&json, NULL);
  dyno_json_int (&json, "train_micro_batch_size_per_gpu", s->batch_size);
  dyno_json_int (&json, "gradient_accumulation_steps", s->accumulate);
  dyno_json_double (&json, "gradient_clipping", s->clip_norm); /* 0: none */
  dyno_json_begin_object (&json, "fp16");
  dyno_json_bool (&json, "enabled", s->amp);
  dyno_json_end_object (&json);
  append_optimizer (&json, context);
  append_schedule (&json, context);
  dyno_json_end_object (&json);
  text = dyno_json_steal (&json);
  dyno_json_clear (&json);
  return text;
}

const DynoExporter dyno_exporter_deepspeed = {
  .id = "deepspeed",
  .title = "DeepSpeed",
  .extension = "json",
  .write = write_deepspeed,
  .file_name = "ds_config.json",
  .rows = rows,
  .asks_data = TRUE,
};
