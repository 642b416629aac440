/* SPDX-License-Identifier: MIT */
/* The configuration of a LightningCLI: `fit --config FILE`.  The keys of its Trainer, optimizer and
 * scheduler are written; keys of data and model exist only where the user's own classes declare
 * them, and are written as comments. */
#include "facts.h"
#include "formats.h"
#include "quote.h"
#include "yaml.h"

static gboolean
may_benchmark (const DynoExportContext *context)
{
  return !context->job->settings.deterministic;
}

/* The optimizers are PyTorch's. */
static const DynoExportRow rows[] = {
  { "epochs", "max_epochs", "1000" },
  { "accumulate", "accumulate_grad_batches", "1" },
  { "amp", "precision", "false" },
  { "optimizer", "optimizer" },
  { "lr", "lr" },
  { "momentum", "momentum", "0", dyno_export_has_momentum },
  { "weight_decay", "weight_decay" },
  { "schedule", "lr_scheduler", "constant" },
  { "clip_norm", "gradient_clip_val", "0" },
  { "clip_value", "gradient_clip_val", "0", dyno_export_clips_values },
  { "autotune", "benchmark", "false", may_benchmark },
  { "deterministic", "deterministic", "false" },
  { "seed", "seed_everything" },
  { NULL },
};

static void
append_trainer (GString *text, const DynoSettings *s)
{
  g_string_append (text, "trainer:\n  accelerator: auto\n  devices: 1\n");
  dyno_yaml_string (text, 2, "precision", s->amp ? "16-mixed" : "32-true");
  dyno_yaml_int (text, 2, "max_epochs", s->epochs);
  dyno_yaml_int (text, 2, "accumulate_grad_batches", s->accumulate);
  if (s->clip_norm > 0 || s->clip_value > 0)
    {
      dyno_yaml_double (text, 2, "gradient_clip_val",
                        s->clip_norm > 0 ? s->clip_norm : s->clip_value);
      dyno_yaml_string (text, 2, "gradient_clip_algorithm", s->clip_norm > 0 ? "norm" : "value");
    }
  else
    dyno_yaml_null (text, 2, "gradient_clip_val");
  dyno_yaml_bool (text, 2, "benchmark", s->autotune && !s->deterministic);
  dyno_yaml_bool (text, 2, "deterministic", s->deterministic);
}

static void
append_optimizer (GString *text, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;

  g_string_append_printf (text, "optimizer:\n  class_path: %s\n  init_args:\n",
                          dyno_export_get_optimizer (s)->lightning);
  dyno_yaml_double (text, 4, "lr", s->lr);
  if (dyno_export_has_momentum (context))
    dyno_yaml_double (text, 4, "momentum", s->momentum);
  dyno_yaml_double (text, 4, "weight_decay", s->weight_decay);
}

/* LightningCLI moves a scheduler once per epoch. */
static void
append_scheduler (GString *text, const DynoSettings *s)
{
  gint64 milestones[2];

  switch ((DynoSchedule) s->schedule)
    {
    case DYNO_SCHEDULE_COSINE:
      g_string_append (text, "lr_scheduler:  # once per epoch; Dyno's moves with every step\n"
                             "  class_path: torch.optim.lr_scheduler.CosineAnnealingLR\n"
                             "  init_args:\n");
      dyno_yaml_int (text, 4, "T_max", s->epochs);
      break;
    case DYNO_SCHEDULE_STEP:
      dyno_export_milestones (s, milestones);
      g_string_append_printf (text,
                              "lr_scheduler:\n"
                              "  class_path: torch.optim.lr_scheduler.MultiStepLR\n"
                              "  init_args:\n    milestones: [%" G_GINT64_FORMAT
                              ", %" G_GINT64_FORMAT "]\n    gamma: 0.1\n",
                              milestones[0], milestones[1]);
      break;
    case DYNO_SCHEDULE_CONSTANT:
    default:
      g_string_append (text, "# No lr_scheduler: the learning rate is constant.\n");
    }
}

static void
append_own (GString *text, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  g_autofree char *data = dyno_quote_yaml (context->job->data ? context->job->data : "");

  g_string_append (text, "\n# As far as your LightningDataModule declares them; in subclass mode "
                         "they stand below init_args.\n# data:\n");
  if (context->job->data)
    g_string_append_printf (text, "#   data_dir: %s\n", data);
  g_string_append_printf (text,
                          "#   batch_size: %" G_GINT64_FORMAT "\n#   num_workers: %" G_GINT64_FORMAT
                          "\n#   pin_memory: %s\n",
                          s->batch_size, s->workers, s->pinned ? "true" : "false");
  if (s->workers > 0)
    g_string_append_printf (
        text, "#   prefetch_factor: %" G_GINT64_FORMAT "\n#   persistent_workers: %s\n",
        s->prefetch, s->persistent_workers ? "true" : "false");
}

static char *
write_lightning (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  GString *text = g_string_new (NULL);

  dyno_export_append_head (text, context);
  dyno_export_append_labels (text, context);
  if (s->seed > G_MAXUINT32)
    g_string_append (text, "# The seed is the lower half of Dyno's: Lightning takes 32 bits.\n");
  dyno_yaml_int (text, 0, "seed_everything", dyno_export_seed32 (s));
  append_trainer (text, s);
  append_optimizer (text, context);
  append_scheduler (text, s);
  append_own (text, context);
  dyno_export_append_left_out (text, &dyno_exporter_lightning, context);
  return g_string_free (text, FALSE);
}

const DynoExporter dyno_exporter_lightning = {
  .id = "lightning",
  .title = "Lightning CLI",
  .extension = "yaml",
  .write = write_lightning,
  .file_name = "lightning.yaml",
  .rows = rows,
  .asks_data = TRUE,
};
