/* SPDX-License-Identifier: MIT */
/* Hugging Face's TrainingArguments, as HfArgumentParser.parse_json_file reads them.  An unknown key
 * is an error there, so that the file holds no key of Dyno's own.  Keys whose default value differs
 * from Dyno's are always written. */
#include "facts.h"
#include "formats.h"

static gboolean
has_its_schedule (const DynoExportContext *context)
{
  return context->job->settings.schedule != DYNO_SCHEDULE_STEP;
}

static gboolean
has_its_optimizer (const DynoExportContext *context)
{
  return dyno_export_get_optimizer (&context->job->settings)->transformers != NULL;
}

/* The Trainer smooths the targets of a cross entropy, whatever the loss of the model is: several
 * labels must not get its smoothing, and need a model with problem_type
 * "multi_label_classification".
 *
 * The SGD and the RMSprop of TrainingArguments are PyTorch's without momentum, and no key changes
 * that.  Its weight decay leaves out biases and layer norms, but not batch norms. */
static const DynoExportRow rows[] = {
  { "epochs", "num_train_epochs", "3", .direct = TRUE },
  { "batch_size", "per_device_train_batch_size", "8", .direct = TRUE },
  { "accumulate", "gradient_accumulation_steps", "1", .direct = TRUE },
  { "amp", "fp16", "false", .direct = TRUE },
  { "workers", "dataloader_num_workers", "0", .direct = TRUE },
  { "prefetch", "dataloader_prefetch_factor", "2", dyno_export_has_workers, .direct = TRUE },
  { "persistent_workers", "dataloader_persistent_workers", "false", dyno_export_has_workers,
    .direct = TRUE },
  { "pinned", "dataloader_pin_memory", "true", .direct = TRUE },
  { "optimizer", "optim", "adamw", has_its_optimizer },
  { "lr", "learning_rate", "0.00005", .direct = TRUE },
  { "momentum", NULL, "0" },
  { "weight_decay", "weight_decay", "0", .direct = TRUE },
  { "weight_decay.norms" },
  { "schedule", "lr_scheduler_type", NULL, has_its_schedule },
  { "warmup_epochs", "warmup_steps", "0", dyno_export_knows_steps },
  { "label_smoothing", "label_smoothing_factor", "0", dyno_export_has_one_class, .direct = TRUE },
  { "clip_norm", "max_grad_norm", "1", .direct = TRUE }, /* 0: no clipping */
  { "checkpointing", "gradient_checkpointing", "false", .direct = TRUE },
  { "deterministic", "full_determinism", "false", .direct = TRUE },
  { "seed", "seed", "42" },
  { NULL },
};

static void
append_schedule (DynoJson *json, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  DynoExportFacts facts;

  dyno_export_facts (context, &facts);
  if (s->schedule == DYNO_SCHEDULE_COSINE)
    dyno_json_string (json, "lr_scheduler_type", "cosine");
  else if (s->schedule == DYNO_SCHEDULE_CONSTANT)
    dyno_json_string (json, "lr_scheduler_type",
                      facts.warmup_steps ? "constant_with_warmup" : "constant");
  if (facts.steps_per_epoch)
    dyno_json_uint (json, "warmup_steps", facts.warmup_steps);
}

static char *
write_trainingarguments (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  DynoJson json;
  char *text;

  dyno_json_init (&json, 2);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "output_dir", "output"); /* older versions require the key */
  dyno_export_json_rows (&json, &dyno_exporter_trainingarguments, context);
  dyno_json_int (&json, "per_device_eval_batch_size", s->batch_size);
  if (!s->amp)
    dyno_json_bool (&json, "tf32", FALSE);
  dyno_json_bool (&json, "dataloader_drop_last", TRUE);
  if (has_its_optimizer (context))
    dyno_json_string (&json, "optim", dyno_export_get_optimizer (s)->transformers);
  if (dyno_export_has_other_betas (context))
    dyno_json_double (&json, "adam_beta2",
                      dyno_optimizer_get_info ((DynoOptimizer) s->optimizer)->beta2);
  append_schedule (&json, context);
  dyno_json_uint (&json, "seed", dyno_export_seed32 (s));
  dyno_json_end_object (&json);
  text = dyno_json_steal (&json);
  dyno_json_clear (&json);
  return text;
}

const DynoExporter dyno_exporter_trainingarguments = {
  .id = "trainingarguments",
  .title = "Hugging Face TrainingArguments",
  .extension = "json",
  .write = write_trainingarguments,
  .file_name = "training_args.json",
  .rows = rows,
  .asks_data = TRUE,
};
