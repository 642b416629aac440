/* SPDX-License-Identifier: MIT */
/* args.yaml of timm's train.py: `train.py --config FILE`.  timm's default values for augmentation,
 * smoothing and schedule differ from Dyno's, so that all of these settings are written. */
#include "facts.h"
#include "formats.h"
#include "quote.h"
#include "yaml.h"

/* timm's other models have a dropout layer where Dyno's have none. */
static gboolean
drops (const DynoExportContext *context)
{
  const DynoModel *model = dyno_model_find (context->job->model, NULL);

  return model && model->has_dropout;
}

/* With a value timm makes a parameter group for each layer, even with 1. */
static gboolean
decays_by_layer (const DynoExportContext *context)
{
  return context->job->settings.layer_decay < 1;
}

static gboolean
crops (const DynoExportContext *context)
{
  return context->job->settings.augment_crop > 0;
}

static gboolean
averages (const DynoExportContext *context)
{
  return context->job->settings.ema_decay > 0;
}

static gboolean
jitters (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;

  return s->augment_brightness > 0 || s->augment_contrast > 0 || s->augment_saturation > 0
         || s->augment_hue > 0;
}

static const DynoExportRow rows[] = {
  { "batch_size", "batch_size", "128", .direct = TRUE },
  { "accumulate", "grad_accum_steps", "1", .direct = TRUE },
  { "amp", "amp", "false", .direct = TRUE },
  { "workers", "workers", "4", .direct = TRUE },
  { "pinned", "pin_mem", "false", .direct = TRUE },
  { "persistent_workers", NULL, "true" },
  { "optimizer", "opt", "sgd" },
  { "lr", "lr", NULL, .direct = TRUE },
  { "momentum", "momentum", "0.9", .direct = TRUE },
  { "layer_decay", "layer_decay", "1", decays_by_layer, .direct = TRUE },
  { "weight_decay", "weight_decay", "0.00002", .direct = TRUE },
  { "weight_decay.norms", NULL, "false" },
  { "epochs", "epochs", "300", .direct = TRUE },
  { "schedule", "sched", "cosine" },
  { "warmup_epochs", "warmup_epochs", "5", .direct = TRUE },
  { "label_smoothing", "smoothing", "0.1", .direct = TRUE },
  { "clip_norm", "clip_grad", "0" },
  { "clip_value", "clip_grad", "0", dyno_export_clips_values },
  { "ema_decay", "model_ema_decay", "0", averages },
  { "model.dropout", "drop", "0", drops },
  { "image_size", "img_size", NULL, dyno_export_knows_size },
  { "augment.flip", "hflip", "true" },
  { "augment.flip_vertical", "vflip", "false" },
  { "augment.crop", "scale", "0.08" },
  { "augment.crop_ratio", "ratio", "1.3333", crops },
  { "augment.brightness", "color_jitter", "0.4" },
  { "augment.contrast", "color_jitter", "0.4" },
  { "augment.saturation", "color_jitter", "0.4" },
  { "augment.hue", "color_jitter", "0", jitters },
  { "augment.erase", "reprob", "0", .direct = TRUE },
  { "augment.mixup", "mixup", "0", .direct = TRUE },
  { "augment.cutmix", "cutmix", "0", .direct = TRUE },
  { "checkpointing", "grad_checkpointing", "false", .direct = TRUE },
  { "seed", "seed", "42" },
  { NULL },
};

/* The models that both programs have. */
static gboolean
has_model (const char *model)
{
  static const char *const models[] = { "resnet18",
                                        "resnet34",
                                        "resnet50",
                                        "resnet101",
                                        "resnext50_32x4d",
                                        "efficientnet_b0",
                                        "vit_tiny_patch16_224",
                                        "vit_small_patch16_224",
                                        NULL };

  return model && g_strv_contains (models, model);
}

/* timm's RMSprop has alpha 0.9 by default; versions from 1.0.12 on have an argument for it. */
static void
append_optimizer (GString *text, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  const DynoOptimizerInfo *optimizer = dyno_optimizer_get_info ((DynoOptimizer) s->optimizer);

  dyno_yaml_string (text, 0, "opt", dyno_export_get_optimizer (s)->timm);
  if (optimizer->beta2 > 0 && optimizer->beta1 <= 0)
    {
      g_string_append (text, "opt_kwargs:  # timm 1.0.12 or newer\n");
      dyno_yaml_double (text, 2, "alpha", optimizer->beta2);
    }
  if (s->clip_norm > 0 || s->clip_value > 0)
    dyno_yaml_double (text, 0, "clip_grad", s->clip_norm > 0 ? s->clip_norm : s->clip_value);
  else
    dyno_yaml_null (text, 0, "clip_grad");
  dyno_yaml_string (text, 0, "clip_mode", dyno_export_clips_values (context) ? "value" : "norm");
}

static void
append_schedule (GString *text, const DynoSettings *s)
{
  gint64 milestones[2];

  dyno_export_milestones (s, milestones);
  dyno_yaml_bool (text, 0, "sched_on_updates", TRUE);
  if (s->schedule == DYNO_SCHEDULE_COSINE)
    {
      dyno_yaml_string (text, 0, "sched", "cosine");
      dyno_yaml_double (text, 0, "min_lr", 0);
    }
  else if (s->schedule == DYNO_SCHEDULE_STEP)
    g_string_append_printf (text,
                            "sched: \"multistep\"\ndecay_milestones: [%" G_GINT64_FORMAT
                            ", %" G_GINT64_FORMAT "]\ndecay_rate: 0.1\n",
                            milestones[0], milestones[1]);
  else
    {
      g_string_append (text, "# constant, after the warm-up\n");
      dyno_yaml_string (text, 0, "sched", "step");
      dyno_yaml_int (text, 0, "decay_epochs", s->epochs);
      dyno_yaml_double (text, 0, "decay_rate", 1);
    }
  dyno_yaml_double (text, 0, "warmup_lr", 0);
  dyno_yaml_int (text, 0, "cooldown_epochs", 0);
}

/* A list of numbers in brackets. */
static void
append_list (GString *text, const char *key, const double *values, guint n)
{
  g_string_append_printf (text, "%s: [", key);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = dyno_quote_double (values[i]);
      g_string_append_printf (text, "%s%s", i == 0 ? "" : ", ", value);
    }
  g_string_append (text, "]\n");
}

/* timm's ColorJitter applies its changes in a random order; its random erasing fills with 0 in mode
 * "const". */
static void
append_augmentation (GString *text, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  gboolean crop = s->augment_crop > 0;
  const double scale[] = { crop ? s->augment_crop : 1, 1 },
               ratio[] = { crop ? 1 / s->augment_crop_ratio : 1, crop ? s->augment_crop_ratio : 1 },
               colours[] = { s->augment_brightness, s->augment_contrast, s->augment_saturation,
                             s->augment_hue };

  append_list (text, "scale", scale, 2);
  append_list (text, "ratio", ratio, 2);
  dyno_yaml_double (text, 0, "hflip", s->augment_flip ? 0.5 : 0);
  dyno_yaml_double (text, 0, "vflip", s->augment_flip_vertical ? 0.5 : 0);
  if (jitters (context))
    append_list (text, "color_jitter", colours, s->augment_hue > 0 ? 4 : 3);
  else
    dyno_yaml_double (text, 0, "color_jitter", 0);
  dyno_yaml_string (text, 0, "remode", "const");
  g_string_append (text, "mixup_prob: 1.0\nmixup_switch_prob: 0.5\nmixup_mode: \"batch\"\n");
}

static void
append_data (GString *text, const DynoExportContext *context)
{
  const char *path = dyno_export_data_path (context);
  DynoExportFacts facts;

  dyno_export_facts (context, &facts);
  if (path)
    dyno_yaml_string (text, 0, "data_dir", path);
  if (has_model (context->job->model))
    dyno_yaml_string (text, 0, "model", context->job->model);
  else
    g_string_append (text, "# timm has no such model as the one measured: name another here.\n");
  dyno_export_append_labels (text, context);
  if (facts.labels)
    g_string_append (text, "# timm's train.py learns one class of a sample: write the loop for its "
                           "models yourself.\n");
  if (facts.n_outputs && !facts.values && !facts.pixels)
    dyno_yaml_int (text, 0, "num_classes", facts.n_outputs);
  if (dyno_export_knows_size (context))
    dyno_yaml_int (text, 0, "img_size", dyno_export_get_size (context));
}

static char *
write_timm (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  GString *text = g_string_new (NULL);

  dyno_export_append_head (text, context);
  append_data (text, context);
  dyno_export_yaml_rows (text, &dyno_exporter_timm, context);
  dyno_yaml_string (text, 0, "amp_dtype", "float16");
  dyno_yaml_bool (text, 0, "channels_last", TRUE);
  append_optimizer (text, context);
  append_schedule (text, s);
  append_augmentation (text, context);
  dyno_yaml_bool (text, 0, "model_ema", s->ema_decay > 0);
  if (s->ema_decay > 0)
    dyno_yaml_double (text, 0, "model_ema_decay", s->ema_decay);
  dyno_yaml_double (text, 0, "drop", drops (context) ? s->model_dropout : 0);
  dyno_yaml_int (text, 0, "seed", dyno_export_seed32 (s));
  dyno_export_append_left_out (text, &dyno_exporter_timm, context);
  return g_string_free (text, FALSE);
}

const DynoExporter dyno_exporter_timm = {
  .id = "timm",
  .title = "timm",
  .extension = "yaml",
  .write = write_timm,
  .file_name = "args.yaml",
  .rows = rows,
  .asks_data = TRUE,
};
