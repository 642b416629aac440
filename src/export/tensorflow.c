/* SPDX-License-Identifier: MIT */
/* A training script for TensorFlow and Keras that runs as it stands, as pytorch.c's does.  Keras
 * decays weights apart from the gradient for SGD too, which its comment says. */
#include "facts.h"
#include "formats.h"
#include <glib/gi18n.h>

static const char *const keys[] = {
  "epochs",
  "batch_size",
  "accumulate",
  "amp",
  "workers",
  "prefetch",
  "cache",
  "optimizer",
  "lr",
  "momentum",
  "weight_decay",
  "schedule",
  "schedule_epochs",
  "warmup_epochs",
  "label_smoothing",
  "clip_norm",
  "image_size",
  "augment.flip",
  "augment.brightness",
  "data.shuffle",
  "data.val_split",
  "vram_budget",
  "deterministic",
  "seed",
  NULL,
};

static char *
write_tensorflow (const DynoExportContext *context)
{
  static const DynoPythonConstant more[] = { { "CACHE", "cache" }, { NULL, NULL } };
  const DynoSettings *s = &context->job->settings;
  GString *text = g_string_new ("#!/usr/bin/env python3\n");

  dyno_export_append_head (text, context);
  g_string_append (text,
                   "#\n# Trains a small network on noise as it stands, on the CPU where there "
                   "is no GPU: put yours into\n# make_model and make_sample.\n");
  if (s->optimizer == DYNO_OPTIMIZER_NAME_SGD && s->weight_decay > 0)
    g_string_append (text, "# Keras decays the weights of SGD apart from the gradient: with "
                           "momentum that is weaker than Dyno's\n# and PyTorch's decay.\n");
  dyno_export_append_left_out (text, &dyno_exporter_tensorflow, context);
  g_string_append (text, "\nimport argparse\nimport math\n\nimport tensorflow as tf\n\n");
  dyno_export_append_constants (text, context, TRUE, more);
  g_string_append_printf (text, "SEED = %u%s\n", dyno_export_seed32 (s),
                          s->seed > G_MAXUINT32 ? "  # the lower half: NumPy takes 32 bits" : "");
  dyno_export_append_template (text, "schedule.py");
  dyno_export_append_template (text, "tensorflow.py");
  return g_string_free (text, FALSE);
}

const DynoExporter dyno_exporter_tensorflow = {
  .id = "tensorflow",
  .title = N_ ("TensorFlow script"),
  .extension = "py",
  .write = write_tensorflow,
  .file_name = "train_tf.py",
  .keys = keys,
  .asks_data = TRUE,
};
