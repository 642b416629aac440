/* SPDX-License-Identifier: MIT */
/* Settings of Ultralytics: `yolo train cfg=FILE model=yolo11n-cls.yaml`.  An unknown key is an
 * error there, and so is a share above 1.  Its default augmentations are switched off where Dyno
 * has none. */
#include "facts.h"
#include "formats.h"
#include "yaml.h"

/* Ultralytics has one share for brightness and contrast. */
static gboolean
has_value_share (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;

  return s->augment_brightness == s->augment_contrast && s->augment_brightness <= 1;
}

static gboolean
has_saturation_share (const DynoExportContext *context)
{
  return context->job->settings.augment_saturation <= 1;
}

static gboolean
has_its_optimizer (const DynoExportContext *context)
{
  return dyno_export_get_optimizer (&context->job->settings)->ultralytics != NULL;
}

/* Where no optimizer is named, Ultralytics chooses one and its rate. */
static gboolean
has_its_rate (const DynoExportContext *context)
{
  return context->job->settings.lr <= 1 && has_its_optimizer (context);
}

static gboolean
has_its_schedule (const DynoExportContext *context)
{
  return context->job->settings.schedule != DYNO_SCHEDULE_STEP;
}

/* Ultralytics always clips gradients and averages weights, with constants in its code. */
static const DynoExportRow rows[] = {
  { "epochs", "epochs", "100", .direct = TRUE },
  { "early_stop.patience", "patience", "100", .direct = TRUE }, /* 0: off in Ultralytics too */
  { "batch_size", "batch", "16", .direct = TRUE },
  { "accumulate", "nbs" },
  { "image_size", "imgsz", NULL, dyno_export_knows_size },
  { "amp", "amp", "true", .direct = TRUE },
  { "workers", "workers", "8", .direct = TRUE },
  { "prefetch" },
  { "pinned", NULL, "true" },
  { "persistent_workers", NULL, "true" },
  { "cache", "cache", "false", .direct = TRUE },
  { "optimizer", "optimizer", NULL, has_its_optimizer },
  { "lr", "lr0", "0.01", has_its_rate, .direct = TRUE },
  { "momentum", "momentum", "0.937", dyno_export_has_momentum },
  { "weight_decay", "weight_decay", "0.0005", .direct = TRUE },
  { "weight_decay.norms", NULL, "false" },
  { "schedule", "cos_lr", NULL, has_its_schedule },
  { "warmup_epochs", "warmup_epochs", "3" },
  { "clip_norm", NULL, "10" },
  { "ema_decay", NULL, "0.9999" },
  { "model.dropout", NULL, "0" },
  { "augment.flip", "fliplr", "true" },
  { "augment.flip_vertical", "flipud", "false" },
  { "augment.crop", "scale", "0.5" },
  { "augment.brightness", "hsv_v", "0", has_value_share },
  { "augment.contrast", "hsv_v", "0", has_value_share },
  { "augment.saturation", "hsv_s", "0", has_saturation_share },
  { "augment.hue", "hsv_h", "0.015", .direct = TRUE },
  { "augment.erase", "erasing", "0.4", .direct = TRUE },
  { "deterministic", "deterministic", "true", .direct = TRUE },
  { "seed", "seed", "0" },
  { NULL },
};

static void
append_schedule (GString *text, const DynoSettings *s)
{
  if (s->schedule != DYNO_SCHEDULE_STEP)
    {
      dyno_yaml_bool (text, 0, "cos_lr", s->schedule == DYNO_SCHEDULE_COSINE);
      dyno_yaml_double (text, 0, "lrf", s->schedule == DYNO_SCHEDULE_COSINE ? 0 : 1);
    }
  g_string_append (text, "# where above 0, at least 100 batches\n");
  dyno_yaml_double (text, 0, "warmup_epochs", s->warmup_epochs);
  dyno_yaml_double (text, 0, "warmup_bias_lr", 0);
}

/* The augmentations for classification; the crop has an area of 1 - scale or more. */
static void
append_augmentation (GString *text, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;

  dyno_yaml_double (text, 0, "fliplr", s->augment_flip ? 0.5 : 0);
  dyno_yaml_double (text, 0, "flipud", s->augment_flip_vertical ? 0.5 : 0);
  dyno_yaml_double (text, 0, "scale", s->augment_crop > 0 ? 1 - s->augment_crop : 0);
  dyno_yaml_double (text, 0, "hsv_s", has_saturation_share (context) ? s->augment_saturation : 0);
  dyno_yaml_double (text, 0, "hsv_v", has_value_share (context) ? s->augment_brightness : 0);
  g_string_append (text, "auto_augment: null\ndropout: 0.0\n");
}

static char *
write_ultralytics (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  const char *path = dyno_export_data_path (context);
  const DynoOptimizerInfo *optimizer = dyno_optimizer_get_info ((DynoOptimizer) s->optimizer);
  double momentum = optimizer->has_momentum ? s->momentum : optimizer->beta1;
  GString *text = g_string_new (NULL);

  dyno_export_append_head (text, context);
  dyno_export_append_labels (text, context);
  if (!dyno_export_has_one_class (context))
    g_string_append (text, "# Ultralytics learns one class of a sample, by its folder: it cannot "
                           "train with these labels.\n");
  g_string_append (text, "task: classify\nmode: train\npretrained: false\n");
  if (path)
    dyno_yaml_string (text, 0, "data", path);
  dyno_export_yaml_rows (text, &dyno_exporter_ultralytics, context);
  g_string_append (text, "# batches are added up until they are as many samples\n");
  dyno_yaml_int (text, 0, "nbs", s->batch_size * s->accumulate);
  if (dyno_export_knows_size (context))
    dyno_yaml_int (text, 0, "imgsz", dyno_export_get_size (context));
  if (s->optimizer == DYNO_OPTIMIZER_SGD)
    g_string_append (text, "# with Nesterov's momentum; Dyno's is plain\n");
  if (has_its_optimizer (context))
    g_string_append_printf (text, "optimizer: %s\n", dyno_export_get_optimizer (s)->ultralytics);
  append_schedule (text, s);
  dyno_yaml_double (text, 0, "momentum", momentum);
  dyno_yaml_double (text, 0, "warmup_momentum", momentum);
  append_augmentation (text, context);
  dyno_yaml_int (text, 0, "seed", dyno_export_seed32 (s));
  dyno_export_append_left_out (text, &dyno_exporter_ultralytics, context);
  return g_string_free (text, FALSE);
}

const DynoExporter dyno_exporter_ultralytics = {
  .id = "ultralytics",
  .title = "Ultralytics",
  .extension = "yaml",
  .write = write_ultralytics,
  .file_name = "ultralytics.yaml",
  .rows = rows,
  .asks_data = TRUE,
};
