/* SPDX-License-Identifier: MIT */
/* Settings of Ultralytics: `yolo train cfg=FILE model=yolo11n-cls.yaml`.  An unknown key is an
 * error there, and so is a share above 1.  Its default augmentation is switched off where Dyno has
 * none. */
#include "facts.h"
#include "formats.h"
#include "yaml.h"
#include <string.h>

static const char *const keys[] = {
  "early_stop.patience",
  "epochs",
  "batch_size",
  "accumulate",
  "amp",
  "workers",
  "cache",
  "optimizer",
  "lr",
  "momentum",
  "weight_decay",
  "schedule",
  "warmup_epochs",
  "image_size",
  "augment.flip",
  "augment.flip_vertical",
  "augment.crop",
  "augment.brightness",
  "augment.contrast",
  "augment.saturation",
  "augment.hue",
  "augment.erase",
  "deterministic",
  "seed",
  NULL,
};

/* It has one share for brightness and contrast. */
static gboolean
has_value_share (const DynoSettings *s)
{
  return s->augment_brightness == s->augment_contrast && s->augment_brightness <= 1;
}

static gboolean
omits (const DynoExportContext *context, const char *key)
{
  const DynoSettings *s = &context->job->settings;

  return (g_str_equal (key, "lr") && s->lr > 1)
         || (g_str_equal (key, "schedule") && s->schedule == DYNO_SCHEDULE_STEP)
         || (g_str_equal (key, "momentum") && s->optimizer != DYNO_OPTIMIZER_NAME_SGD)
         || ((g_str_equal (key, "augment.brightness") || g_str_equal (key, "augment.contrast"))
             && !has_value_share (s))
         || (g_str_equal (key, "augment.saturation") && s->augment_saturation > 1);
}

static void
append_schedule (GString *text, const DynoSettings *s)
{
  if (s->lr <= 1)
    dyno_yaml_double (text, 0, "lr0", s->lr);
  if (s->schedule != DYNO_SCHEDULE_STEP)
    {
      dyno_yaml_bool (text, 0, "cos_lr", s->schedule == DYNO_SCHEDULE_COSINE);
      dyno_yaml_double (text, 0, "lrf", s->schedule == DYNO_SCHEDULE_COSINE ? 0 : 1);
    }
  g_string_append (text, "# where above 0, at least 100 batches\n");
  dyno_yaml_double (text, 0, "warmup_epochs", s->warmup_epochs);
  dyno_yaml_double (text, 0, "warmup_bias_lr", 0);
}

/* Those that its classification has; its crop is of 1 - scale of the area or more. */
static void
append_augmentation (GString *text, const DynoSettings *s)
{
  dyno_yaml_double (text, 0, "fliplr", s->augment_flip ? 0.5 : 0);
  dyno_yaml_double (text, 0, "flipud", s->augment_flip_vertical ? 0.5 : 0);
  dyno_yaml_double (text, 0, "scale", s->augment_crop > 0 ? 1 - s->augment_crop : 0);
  dyno_yaml_double (text, 0, "hsv_h", s->augment_hue);
  dyno_yaml_double (text, 0, "hsv_s", s->augment_saturation <= 1 ? s->augment_saturation : 0);
  dyno_yaml_double (text, 0, "hsv_v", has_value_share (s) ? s->augment_brightness : 0);
  dyno_yaml_double (text, 0, "erasing", s->augment_erase);
  g_string_append (text, "auto_augment: null\ndropout: 0.0\n");
}

static char *
write_ultralytics (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  const char *path = dyno_export_data_path (context);
  gboolean adamw = s->optimizer == DYNO_OPTIMIZER_NAME_ADAMW;
  DynoExportFacts facts;
  GString *text = g_string_new (NULL);

  dyno_export_facts (context, &facts);
  dyno_export_append_head (text, context);
  g_string_append (text, "task: classify\nmode: train\npretrained: false\n");
  if (path)
    dyno_yaml_string (text, 0, "data", path);
  dyno_yaml_int (text, 0, "epochs", s->epochs);
  dyno_yaml_int (text, 0, "patience", s->early_stop_patience); /* 0: off there too */
  dyno_yaml_int (text, 0, "batch", s->batch_size);
  g_string_append (text, "# batches are added up until they are as many samples\n");
  dyno_yaml_int (text, 0, "nbs", s->batch_size * s->accumulate);
  if (s->image_size || (facts.n_axes == 3 && facts.shape[1] == facts.shape[2]))
    dyno_yaml_int (text, 0, "imgsz", s->image_size ? s->image_size : facts.shape[1]);
  dyno_yaml_bool (text, 0, "amp", s->amp);
  dyno_yaml_int (text, 0, "workers", s->workers);
  dyno_yaml_bool (text, 0, "cache", s->cache);
  if (!adamw)
    g_string_append (text, "# with Nesterov's momentum; Dyno's is plain\n");
  g_string_append_printf (text, "optimizer: %s\n", adamw ? "AdamW" : "SGD");
  append_schedule (text, s);
  dyno_yaml_double (text, 0, "momentum", adamw ? 0.9 : s->momentum);
  dyno_yaml_double (text, 0, "warmup_momentum", adamw ? 0.9 : s->momentum);
  dyno_yaml_double (text, 0, "weight_decay", s->weight_decay);
  append_augmentation (text, s);
  dyno_yaml_bool (text, 0, "deterministic", s->deterministic);
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
  .keys = keys,
  .omits = omits,
  .asks_data = TRUE,
};
