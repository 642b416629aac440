/* SPDX-License-Identifier: MIT */
/* Hugging Face's TrainingArguments, as HfArgumentParser.parse_json_file reads them.  An unknown key
 * is an error there: nothing of Dyno's own is in the file.  Keys whose default value is another
 * than Dyno's are always written. */
#include "facts.h"
#include "formats.h"
#include <string.h>

static const char *const keys[] = {
  "epochs",
  "batch_size",
  "accumulate",
  "amp",
  "workers",
  "prefetch",
  "pinned",
  "persistent_workers",
  "optimizer",
  "lr",
  "weight_decay",
  "schedule",
  "warmup_epochs",
  "label_smoothing",
  "clip_norm",
  "checkpointing",
  "deterministic",
  "seed",
  NULL,
};

static gboolean
omits (const DynoExportContext *context, const char *key)
{
  const DynoSettings *s = &context->job->settings;
  DynoExportFacts facts;

  if (g_str_equal (key, "schedule"))
    return s->schedule == DYNO_SCHEDULE_STEP;
  if (g_str_equal (key, "prefetch") || g_str_equal (key, "persistent_workers"))
    return s->workers == 0;
  if (!g_str_equal (key, "warmup_epochs"))
    return FALSE;
  dyno_export_facts (context, &facts);
  return facts.steps_per_epoch == 0; /* it is counted in steps */
}

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
  dyno_json_string (&json, "output_dir", "output"); /* older versions ask for it */
  dyno_json_int (&json, "num_train_epochs", s->epochs);
  dyno_json_int (&json, "per_device_train_batch_size", s->batch_size);
  dyno_json_int (&json, "per_device_eval_batch_size", s->batch_size);
  dyno_json_int (&json, "gradient_accumulation_steps", s->accumulate);
  dyno_json_bool (&json, "fp16", s->amp);
  if (!s->amp)
    dyno_json_bool (&json, "tf32", FALSE);
  dyno_json_int (&json, "dataloader_num_workers", s->workers);
  if (s->workers > 0)
    {
      dyno_json_int (&json, "dataloader_prefetch_factor", s->prefetch);
      dyno_json_bool (&json, "dataloader_persistent_workers", s->persistent_workers);
    }
  dyno_json_bool (&json, "dataloader_pin_memory", s->pinned);
  dyno_json_bool (&json, "dataloader_drop_last", TRUE);
  dyno_json_string (&json, "optim",
                    s->optimizer == DYNO_OPTIMIZER_NAME_ADAMW ? "adamw_torch" : "sgd");
  dyno_json_double (&json, "learning_rate", s->lr);
  dyno_json_double (&json, "weight_decay", s->weight_decay);
  append_schedule (&json, context);
  dyno_json_double (&json, "label_smoothing_factor", s->label_smoothing);
  dyno_json_double (&json, "max_grad_norm", s->clip_norm); /* 0: no clipping */
  dyno_json_bool (&json, "gradient_checkpointing", s->checkpointing);
  dyno_json_bool (&json, "full_determinism", s->deterministic);
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
  .keys = keys,
  .omits = omits,
  .asks_data = TRUE,
};
