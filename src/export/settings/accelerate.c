/* SPDX-License-Identifier: MIT */
/* The configuration of `accelerate launch --config_file FILE`: how training is started, and in
 * which precision.  An unknown key is an error in accelerate, so that accumulation is written as a
 * comment: it is an argument of the script's Accelerator, and no key of the file. */
#include "facts.h"
#include "formats.h"
#include "yaml.h"

static const DynoExportRow rows[] = { { "amp", "mixed_precision", "false" }, { NULL } };

static char *
write_accelerate (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  GString *text = g_string_new (NULL);

  dyno_export_append_head (text, context);
  dyno_export_append_labels (text, context);
  g_string_append (text, "compute_environment: LOCAL_MACHINE\n"
                         "debug: false\n"
                         "distributed_type: 'NO'\n"
                         "downcast_bf16: 'no'\n"
                         "gpu_ids: all\n"
                         "machine_rank: 0\n"
                         "main_training_function: main\n");
  g_string_append_printf (text, "mixed_precision: '%s'\n", s->amp ? "fp16" : "no");
  g_string_append (text, "num_machines: 1\n"
                         "num_processes: 1\n"
                         "rdzv_backend: static\n"
                         "same_network: true\n"
                         "use_cpu: false\n");
  g_string_append_printf (
      text, "\n# In the script: Accelerator(gradient_accumulation_steps=%" G_GINT64_FORMAT ")%s",
      s->accumulate, s->clip_norm > 0 || s->clip_value > 0 ? ",\n" : "\n");
  if (s->clip_norm > 0)
    {
      g_autofree char *norm = dyno_settings_get (s, "clip_norm");
      g_string_append_printf (text, "# accelerator.clip_grad_norm_(model.parameters(), %s)\n",
                              norm);
    }
  if (s->clip_value > 0)
    {
      g_autofree char *value = dyno_settings_get (s, "clip_value");
      /* Accelerate scales the gradients back at each of its calls, and may do so once a step. */
      g_string_append_printf (text, "# %s.clip_grad_value_(model.parameters(), %s)\n",
                              s->clip_norm > 0 ? "torch.nn.utils" : "accelerator", value);
    }
  dyno_export_append_left_out (text, &dyno_exporter_accelerate, context);
  return g_string_free (text, FALSE);
}

const DynoExporter dyno_exporter_accelerate = {
  .id = "accelerate",
  .title = "Accelerate",
  .extension = "yaml",
  .write = write_accelerate,
  .file_name = "accelerate.yaml",
  .rows = rows,
  .asks_data = TRUE,
};
