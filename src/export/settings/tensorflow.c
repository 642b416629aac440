/* SPDX-License-Identifier: MIT */
/* Writes a training script for TensorFlow and Keras that runs unchanged, as pytorch.c does.  Keras
 * decouples weight decay from the gradient for every optimizer, which a comment in the script
 * states. */
#include "facts.h"
#include "formats.h"
#include <glib/gi18n.h>

#define CONSTANT(key, name)   \
  {                           \
    key, name, .direct = TRUE \
  }

/* The threads of tf.data live as long as the data set. */
static const DynoExportRow rows[] = {
  CONSTANT ("epochs", "EPOCHS"),
  CONSTANT ("batch_size", "BATCH_SIZE"),
  CONSTANT ("accumulate", "ACCUMULATE"),
  CONSTANT ("amp", "AMP"),
  CONSTANT ("workers", "WORKERS"),
  CONSTANT ("prefetch", "PREFETCH"),
  CONSTANT ("cache", "CACHE"),
  { "persistent_workers", NULL, "true" },
  CONSTANT ("optimizer", "OPTIMIZER"),
  CONSTANT ("lr", "LR"),
  CONSTANT ("momentum", "MOMENTUM"),
  CONSTANT ("weight_decay", "WEIGHT_DECAY"),
  CONSTANT ("weight_decay.norms", "WEIGHT_DECAY_NORMS"),
  CONSTANT ("schedule", "SCHEDULE"),
  CONSTANT ("schedule_epochs", "SCHEDULE_EPOCHS"),
  CONSTANT ("warmup_epochs", "WARMUP_EPOCHS"),
  CONSTANT ("label_smoothing", "LABEL_SMOOTHING"),
  CONSTANT ("clip_norm", "CLIP_NORM"),
  { "clip_value", "CLIP_VALUE", "0", dyno_export_clips_values, .direct = TRUE },
  { "image_size", "SAMPLE_SHAPE" },
  CONSTANT ("augment.flip", "AUGMENT_FLIP"),
  CONSTANT ("augment.brightness", "AUGMENT_BRIGHTNESS"),
  CONSTANT ("data.shuffle", "SHUFFLE"),
  CONSTANT ("data.val_split", "VAL_SPLIT"),
  CONSTANT ("data.test_split", "TEST_SPLIT"),
  CONSTANT ("vram_budget", "VRAM_BUDGET"),
  CONSTANT ("deterministic", "DETERMINISTIC"),
  { "seed", "SEED" },
  { NULL },
};

static char *
write_tensorflow (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  const DynoOptimizerInfo *optimizer = dyno_optimizer_get_info ((DynoOptimizer) s->optimizer);
  GString *text = g_string_new ("#!/usr/bin/env python3\n");

  dyno_export_append_head (text, context);
  g_string_append (text,
                   "#\n# Trains a small network on noise as it stands, on the CPU where there "
                   "is no GPU: put yours into\n# make_model and make_sample.\n");
  if (!optimizer->decay_apart && s->weight_decay > 0)
    g_string_append_printf (text,
                            "# Keras decays the weights of %s apart from the gradient: that is "
                            "another decay than Dyno's\n# and PyTorch's.\n",
                            optimizer->title);
  dyno_export_append_left_out (text, &dyno_exporter_tensorflow, context);
  g_string_append (text, "\nimport argparse\nimport math\n\nimport tensorflow as tf\n\n");
  dyno_export_append_constants (text, &dyno_exporter_tensorflow, context, TRUE);
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
  .rows = rows,
  .asks_data = TRUE,
};
