/* SPDX-License-Identifier: MIT */
/* A training script for PyTorch that runs as it stands: a small network on noise of the right
 * shape, with the settings as constants. */
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
  "warmup_epochs",
  "label_smoothing",
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
  .asks_data = TRUE,
};
