/* SPDX-License-Identifier: MIT */
/* Writes a training script for PyTorch that runs unchanged: a small network on noise of the right
 * shape, with the settings as constants. */
#include "classweights.h"
#include "formats.h"
#include "text.h"
#include <glib/gi18n.h>

/* NULL: there are none, or none is known to suit the classes. */
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
knows_weights (const DynoExportContext *context)
{
  g_autofree float *weights = get_class_weights (context);

  return weights != NULL;
}

static gboolean
may_benchmark (const DynoExportContext *context)
{
  return !context->job->settings.deterministic;
}

#define CONSTANT(key, name)   \
  {                           \
    key, name, .direct = TRUE \
  }

static const DynoExportRow rows[] = {
  CONSTANT ("epochs", "EPOCHS"),
  CONSTANT ("batch_size", "BATCH_SIZE"),
  CONSTANT ("accumulate", "ACCUMULATE"),
  CONSTANT ("amp", "AMP"),
  CONSTANT ("workers", "WORKERS"),
  CONSTANT ("prefetch", "PREFETCH"),
  CONSTANT ("pinned", "PINNED"),
  CONSTANT ("persistent_workers", "PERSISTENT_WORKERS"),
  CONSTANT ("optimizer", "OPTIMIZER"),
  CONSTANT ("lr", "LR"),
  CONSTANT ("momentum", "MOMENTUM"),
  CONSTANT ("weight_decay", "WEIGHT_DECAY"),
  CONSTANT ("weight_decay.norms", "WEIGHT_DECAY_NORMS"),
  CONSTANT ("schedule", "SCHEDULE"),
  CONSTANT ("schedule_epochs", "SCHEDULE_EPOCHS"),
  CONSTANT ("warmup_epochs", "WARMUP_EPOCHS"),
  CONSTANT ("label_smoothing", "LABEL_SMOOTHING"),
  CONSTANT ("loss.focal", "FOCAL"),
  CONSTANT ("loss.dice", "DICE"),
  { "loss.weights", "CLASS_WEIGHTS", "", knows_weights },
  CONSTANT ("clip_norm", "CLIP_NORM"),
  CONSTANT ("clip_value", "CLIP_VALUE"),
  { "image_size", "SAMPLE_SHAPE" },
  CONSTANT ("augment.flip", "AUGMENT_FLIP"),
  CONSTANT ("augment.flip_vertical", "AUGMENT_FLIP_VERTICAL"),
  CONSTANT ("augment.crop", "AUGMENT_CROP"),
  CONSTANT ("augment.crop_ratio", "AUGMENT_CROP_RATIO"),
  CONSTANT ("augment.shift", "AUGMENT_SHIFT"),
  CONSTANT ("augment.rotate", "AUGMENT_ROTATE"),
  CONSTANT ("augment.pad", "AUGMENT_PAD"),
  CONSTANT ("augment.brightness", "AUGMENT_BRIGHTNESS"),
  CONSTANT ("augment.contrast", "AUGMENT_CONTRAST"),
  CONSTANT ("augment.saturation", "AUGMENT_SATURATION"),
  CONSTANT ("augment.hue", "AUGMENT_HUE"),
  CONSTANT ("augment.noise", "AUGMENT_NOISE"),
  CONSTANT ("augment.erase", "AUGMENT_ERASE"),
  CONSTANT ("augment.mixup", "AUGMENT_MIXUP"),
  CONSTANT ("augment.cutmix", "AUGMENT_CUTMIX"),
  CONSTANT ("data.shuffle", "SHUFFLE"),
  CONSTANT ("data.val_split", "VAL_SPLIT"),
  CONSTANT ("data.test_split", "TEST_SPLIT"),
  CONSTANT ("vram_budget", "VRAM_BUDGET"),
  CONSTANT ("checkpointing", "CHECKPOINTING"),
  { "autotune", "CUDNN_BENCHMARK", "false", may_benchmark },
  CONSTANT ("deterministic", "DETERMINISTIC"),
  CONSTANT ("seed", "SEED"),
  { NULL },
};

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

/* Features that Dyno has no setting for: they are off, with the reason that is known for this
 * run. */
static void
append_switches (GString *text, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  guint ranks = MAX (context->job->ranks, 1);
  g_autofree char *rate = dyno_export_rate (context);

  g_string_append_printf (text, "TF32 = False  # %s\n",
                          s->amp ? "with AMP the products are of fp16 numbers, for which it counts "
                                   "nothing"
                                 : "Dyno computes in fp32 throughout; it keeps 10 bits of the "
                                   "factors' fractions");
  if (rate)
    g_string_append_printf (text,
                            "COMPILE = False  # Dyno measured %s samples/s without it: "
                            "torch.compile is worth its start where the rate printed beats that\n",
                            rate);
  else
    g_string_append (text, "COMPILE = False  # no rate was measured to compare torch.compile with: "
                           "try both\n");
  g_string_append_printf (text,
                          "# DistributedDataParallel: where torchrun starts several processes, "
                          "each with batches of this size;\n# Dyno's %s of %u process%s.\n",
                          rate ? "rate is" : "settings are", ranks, ranks == 1 ? "" : "es");
  if (context->reasons && context->reasons[0])
    g_string_append (text, "# How Dyno's search chose:\n");
  for (guint i = 0; context->reasons && context->reasons[i]; i++)
    {
      g_autofree char *shown = dyno_text_visible (context->reasons[i]);

      g_string_append_printf (text, "#   %s\n", shown);
    }
}

static char *
write_pytorch (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  GString *text = g_string_new ("#!/usr/bin/env python3\n");

  dyno_export_append_head (text, context);
  g_string_append (text,
                   "#\n# Trains a small network on noise as it stands, on the CPU where there "
                   "is no GPU: put yours into\n# make_model and make_dataset.\n");
  dyno_export_append_left_out (text, &dyno_exporter_pytorch, context);
  g_string_append (text, "\nimport argparse\nimport math\nimport os\nimport time\n\nimport torch\n"
                         "from torch import nn\n"
                         "from torch.nn.parallel import DistributedDataParallel\n"
                         "from torch.utils.checkpoint import checkpoint_sequential\n"
                         "from torch.utils.data import DataLoader, Dataset, DistributedSampler, "
                         "random_split\n\n");
  dyno_export_append_constants (text, &dyno_exporter_pytorch, context, FALSE);
  g_string_append_printf (text, "CUDNN_BENCHMARK = %s\n",
                          s->autotune && !s->deterministic ? "True" : "False");
  append_class_weights (text, context);
  append_switches (text, context);
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
  .rows = rows,
  .asks_data = TRUE,
};
