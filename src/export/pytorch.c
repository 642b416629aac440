/* SPDX-License-Identifier: MIT */
/* A training script for PyTorch that runs as it stands: a small network on noise of the right
 * shape, with the settings as constants. */
#include "classweights.h"
#include "formats.h"
#include <glib/gi18n.h>

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
  "momentum",
  "weight_decay",
  "schedule",
  "schedule_epochs",
  "warmup_epochs",
  "label_smoothing",
  "loss.weights",
  "clip_norm",
  "image_size",
  "augment.flip",
  "augment.flip_vertical",
  "augment.crop",
  "augment.crop_ratio",
  "augment.shift",
  "augment.rotate",
  "augment.pad",
  "augment.brightness",
  "augment.contrast",
  "augment.saturation",
  "augment.hue",
  "augment.noise",
  "augment.erase",
  "augment.mixup",
  "augment.cutmix",
  "data.shuffle",
  "data.val_split",
  "vram_budget",
  "checkpointing",
  "autotune",
  "deterministic",
  "seed",
  NULL,
};

/* NULL: there are none, or none that are known to suit the classes. */
static float *
get_class_weights (const DynoExportContext *context)
{
  const DynoDatasetInfo *info = context->dataset;
  GQuark given = context->job->settings.loss_weights;

  if (!given || !info || dyno_schema_count_values (&info->schema) > 0)
    return NULL;
  return dyno_class_weights_parse (g_quark_to_string (given), info, NULL);
}

static gboolean
omits (const DynoExportContext *context, const char *key)
{
  g_autofree float *weights = NULL;

  if (!g_str_equal (key, "loss.weights"))
    return FALSE;
  weights = get_class_weights (context);
  return !weights;
}

static void
append_class_weights (GString *text, const DynoExportContext *context)
{
  g_autofree float *weights = get_class_weights (context);
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text, "CLASS_WEIGHTS = ");
  for (guint32 c = 0; weights && c < context->dataset->n_classes; c++)
    g_string_append_printf (text, "%s%s", c > 0 ? ", " : "[",
                            g_ascii_formatd (number, sizeof number, "%.9g", (double) weights[c]));
  g_string_append (text, weights ? "]\n" : "None\n");
}

static char *
write_pytorch (const DynoExportContext *context)
{
  static const DynoPythonConstant more[] = {
    { "PINNED", "pinned" },
    { "PERSISTENT_WORKERS", "persistent_workers" },
    { "CHECKPOINTING", "checkpointing" },
    { "SEED", "seed" },
    { "AUGMENT_FLIP_VERTICAL", "augment.flip_vertical" },
    { "AUGMENT_CROP", "augment.crop" },
    { "AUGMENT_CROP_RATIO", "augment.crop_ratio" },
    { "AUGMENT_SHIFT", "augment.shift" },
    { "AUGMENT_ROTATE", "augment.rotate" },
    { "AUGMENT_PAD", "augment.pad" },
    { "AUGMENT_CONTRAST", "augment.contrast" },
    { "AUGMENT_SATURATION", "augment.saturation" },
    { "AUGMENT_HUE", "augment.hue" },
    { "AUGMENT_NOISE", "augment.noise" },
    { "AUGMENT_ERASE", "augment.erase" },
    { "AUGMENT_MIXUP", "augment.mixup" },
    { "AUGMENT_CUTMIX", "augment.cutmix" },
    { NULL, NULL },
  };
  const DynoSettings *s = &context->job->settings;
  GString *text = g_string_new ("#!/usr/bin/env python3\n");

  dyno_export_append_head (text, context);
  g_string_append (text,
                   "#\n# Trains a small network on noise as it stands, on the CPU where there "
                   "is no GPU: put yours into\n# make_model and make_dataset.\n");
  dyno_export_append_left_out (text, &dyno_exporter_pytorch, context);
  g_string_append (text, "\nimport argparse\nimport math\nimport os\nimport time\n\nimport torch\n"
                         "from torch import nn\n"
                         "from torch.utils.checkpoint import checkpoint_sequential\n"
                         "from torch.utils.data import DataLoader, Dataset, random_split\n\n");
  dyno_export_append_constants (text, context, FALSE, more);
  g_string_append_printf (text, "CUDNN_BENCHMARK = %s\n",
                          s->autotune && !s->deterministic ? "True" : "False");
  append_class_weights (text, context);
  dyno_export_append_template (text, "schedule.py");
  dyno_export_append_template (text, "pytorch.py");
  return g_string_free (text, FALSE);
}

const DynoExporter dyno_exporter_pytorch = {
  .id = "pytorch",
  .title = N_ ("PyTorch script"),
  .extension = "py",
  .write = write_pytorch,
  .file_name = "train.py",
  .keys = keys,
  .omits = omits,
  .asks_data = TRUE,
};
