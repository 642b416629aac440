/* SPDX-License-Identifier: MIT */
/* The line that trains with torchrun, for its script and for Slurm's.  torchrun has no settings of
 * training: where the user names no script, torchvision's reference (references/classification) is
 * run with its flags. */
#include "formats.h"
#include "facts.h"
#include "quote.h"
#include <math.h>

const char *const dyno_export_launch_keys[] = {
  "epochs",     "batch_size",    "amp",      "workers",       "optimizer",       "lr",
  "momentum",   "weight_decay",  "schedule", "warmup_epochs", "label_smoothing", "clip_norm",
  "image_size", "deterministic", NULL,
};

gboolean
dyno_export_launch_omits (const DynoExportContext *context, const char *key)
{
  const DynoSettings *s = &context->job->settings;

  return g_str_equal (key, "warmup_epochs")
         && s->warmup_epochs != floor (s->warmup_epochs); /* the flag takes whole ones */
}

static void
append_double (GString *text, const char *flag, double value)
{
  g_autofree char *number = dyno_double_to_text (value);

  g_string_append_printf (text, " %s %s", flag, number);
}

static void
append_schedule (GString *text, const DynoSettings *s)
{
  if (s->schedule == DYNO_SCHEDULE_COSINE)
    g_string_append (text, " --lr-scheduler cosineannealinglr");
  else
    g_string_append_printf (
        text, " --lr-scheduler steplr --lr-step-size %" G_GINT64_FORMAT " --lr-gamma %s",
        s->schedule == DYNO_SCHEDULE_STEP ? (s->epochs + 2) / 3 : s->epochs,
        s->schedule == DYNO_SCHEDULE_STEP ? "0.1" : "1");
  if (s->warmup_epochs == floor (s->warmup_epochs))
    g_string_append_printf (text, " --lr-warmup-epochs %.0f --lr-warmup-method linear",
                            s->warmup_epochs);
}

static void
append_flags (GString *text, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  const char *path = dyno_export_data_path (context);
  g_autofree char *data = dyno_quote_shell (path ? path : "data"),
                  *model = dyno_quote_shell (context->job->model ? context->job->model : "");

  g_string_append_printf (text, "  set -- train.py --data-path=%s --model=%s \\\n   ", data, model);
  g_string_append_printf (text,
                          " --epochs %" G_GINT64_FORMAT " --batch-size %" G_GINT64_FORMAT
                          " --workers %" G_GINT64_FORMAT,
                          s->epochs, s->batch_size, s->workers);
  if (s->amp)
    g_string_append (text, " --amp");
  if (s->deterministic)
    g_string_append (text, " --use-deterministic-algorithms");
  if (s->image_size)
    g_string_append_printf (text,
                            " --train-crop-size %" G_GINT64_FORMAT
                            " --val-crop-size %" G_GINT64_FORMAT
                            " --val-resize-size %" G_GINT64_FORMAT,
                            s->image_size, s->image_size, s->image_size);
  g_string_append_printf (text, " \\\n    --opt %s",
                          s->optimizer == DYNO_OPTIMIZER_NAME_ADAMW ? "adamw" : "sgd");
  append_double (text, "--lr", s->lr);
  append_double (text, "--momentum", s->momentum);
  append_double (text, "--weight-decay", s->weight_decay);
  append_double (text, "--label-smoothing", s->label_smoothing);
  if (s->clip_norm > 0)
    append_double (text, "--clip-grad-norm", s->clip_norm);
  g_string_append (text, " \\\n   ");
  append_schedule (text, s);
  g_string_append_c (text, '\n');
}

void
dyno_export_append_launch (GString *text, const DynoExportContext *context, const char *gpus)
{
  g_string_append (text, "\nset -eu\nexport OMP_NUM_THREADS=\"${OMP_NUM_THREADS:-1}\"\n"
                         "if [ $# -eq 0 ]; then\n");
  append_flags (text, context);
  g_string_append_printf (
      text, "fi\nexec torchrun --standalone --nnodes=1 --nproc-per-node=%s \"$@\"\n", gpus);
}
