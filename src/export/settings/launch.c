/* SPDX-License-Identifier: MIT */
/* The line that trains with torchrun, for its script and for Slurm's.  torchrun has no settings of
 * training: where the user names no script, torchvision's reference (references/classification) is
 * run with its flags; for a model or an optimizer that torchvision does not have, or for data other
 * than images with one class each, the file contains the script of the PyTorch exporter and runs
 * it. */
#include "formats.h"
#include "facts.h"
#include "quote.h"
#include "text.h"
#include <math.h>

static gboolean
warms_up_whole_epochs (const DynoExportContext *context)
{
  double epochs = context->job->settings.warmup_epochs;

  return epochs == floor (epochs);
}

/* torchvision's reference always crops and mirrors training images, and its loader pins memory. */
static const DynoExportRow reference_rows[] = {
  { "epochs", "--epochs", "90" },
  { "batch_size", "--batch-size", "32" },
  { "amp", "--amp", "false" },
  { "workers", "--workers", "16" },
  { "pinned", NULL, "true" },
  { "optimizer", "--opt", "sgd" },
  { "lr", "--lr", "0.1" },
  { "momentum", "--momentum", "0.9" },
  { "weight_decay", "--weight-decay", "0.0001" },
  { "weight_decay.norms", "--norm-weight-decay", "true" },
  { "schedule", "--lr-scheduler", "step" },
  { "warmup_epochs", "--lr-warmup-epochs", "0", warms_up_whole_epochs },
  { "label_smoothing", "--label-smoothing", "0" },
  { "clip_norm", "--clip-grad-norm", "0" },
  { "image_size", "--train-crop-size", "224", dyno_export_knows_size },
  { "augment.flip", NULL, "true" },
  { "augment.crop", NULL, "0.08" },
  { "augment.mixup", "--mixup-alpha", "0" },
  { "augment.cutmix", "--cutmix-alpha", "0" },
  { "augment.erase", "--random-erase", "0" },
  { "deterministic", "--use-deterministic-algorithms", "false" },
  { NULL },
};

/* The name that torchvision has for the model; NULL: its reference cannot train this job. */
static const char *
find_reference_model (const DynoExportContext *context)
{
  static const char *const models[][2] = {
    { "resnet18", "resnet18" },
    { "resnet34", "resnet34" },
    { "resnet50", "resnet50" },
    { "resnet101", "resnet101" },
    { "mobilenetv2", "mobilenet_v2" },
    { "mobilenet_v3_small", "mobilenet_v3_small" },
    { "mobilenet_v3_large", "mobilenet_v3_large" },
    { "convnext_tiny", "convnext_tiny" },
    { "regnet_y_400mf", "regnet_y_400mf" },
    { "regnet_x_400mf", "regnet_x_400mf" },
    { "densenet121", "densenet121" },
    { "efficientnet_v2_s", "efficientnet_v2_s" },
    { "resnext50_32x4d", "resnext50_32x4d" },
    { "efficientnet_b0", "efficientnet_b0" },
    { "vit_b_16", "vit_b_16" },
  };
  DynoExportFacts facts;

  dyno_export_facts (context, &facts);
  if (!dyno_export_get_optimizer (&context->job->settings)->torchvision)
    return NULL;
  if (facts.n_axes > 0 && (facts.n_axes != 3 || facts.values || facts.labels || facts.pixels))
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    if (g_strcmp0 (models[i][0], context->job->model) == 0)
      return models[i][1];
  return NULL;
}

const DynoExportRow *
dyno_export_choose_launch_rows (const DynoExportContext *context)
{
  return find_reference_model (context) ? reference_rows : dyno_exporter_pytorch.rows;
}

char *
dyno_export_describe_launch (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  const DynoOptimizerInfo *optimizer = dyno_optimizer_get_info ((DynoOptimizer) s->optimizer);
  gboolean by_its_optimizer = dyno_export_get_optimizer (s)->torchvision != NULL;
  g_autofree char *model = NULL;

  if (find_reference_model (context))
    return g_strdup ("torchvision's references/classification/train.py with these settings");
  model = dyno_text_visible (context->job->model ? context->job->model : "");
  return g_strdup_printf ("the script below with these settings, since torchvision's reference "
                          "does not train %s%s%s%s",
                          model, by_its_optimizer ? "" : " by ",
                          by_its_optimizer ? "" : optimizer->title,
                          dyno_export_has_one_class (context) ? "" : " with several labels");
}

static void
append_double (GString *text, const char *flag, double value)
{
  g_autofree char *number = dyno_double_to_text (value);

  g_string_append_printf (text, " %s %s", flag, number);
}

static void
append_schedule (GString *text, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;

  if (s->schedule == DYNO_SCHEDULE_COSINE)
    g_string_append (text, " --lr-scheduler cosineannealinglr");
  else
    g_string_append_printf (
        text, " --lr-scheduler steplr --lr-step-size %" G_GINT64_FORMAT " --lr-gamma %s",
        s->schedule == DYNO_SCHEDULE_STEP ? (s->epochs + 2) / 3 : s->epochs,
        s->schedule == DYNO_SCHEDULE_STEP ? "0.1" : "1");
  if (warms_up_whole_epochs (context))
    g_string_append_printf (text, " --lr-warmup-epochs %.0f --lr-warmup-method linear",
                            s->warmup_epochs);
}

static void
append_flags (GString *text, const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;
  const char *path = dyno_export_data_path (context);
  guint32 size = dyno_export_get_size (context);
  g_autofree char *data = dyno_quote_shell (path ? path : "data"),
                  *model = dyno_quote_shell (find_reference_model (context));

  g_string_append_printf (text, "  set -- train.py --data-path=%s --model=%s \\\n   ", data, model);
  g_string_append_printf (text,
                          " --epochs %" G_GINT64_FORMAT " --batch-size %" G_GINT64_FORMAT
                          " --workers %" G_GINT64_FORMAT,
                          s->epochs, s->batch_size, s->workers);
  if (s->amp)
    g_string_append (text, " --amp");
  if (s->deterministic)
    g_string_append (text, " --use-deterministic-algorithms");
  if (size)
    g_string_append_printf (text, " --train-crop-size %u --val-crop-size %u --val-resize-size %u",
                            size, size, size);
  g_string_append_printf (text, " \\\n    --opt %s", dyno_export_get_optimizer (s)->torchvision);
  append_double (text, "--lr", s->lr);
  append_double (text, "--momentum", s->momentum);
  append_double (text, "--weight-decay", s->weight_decay);
  if (!s->weight_decay_norms)
    g_string_append (text, " --norm-weight-decay 0 --bias-weight-decay 0"
                           " --transformer-embedding-decay 0");
  append_double (text, "--label-smoothing", s->label_smoothing);
  if (s->clip_norm > 0)
    append_double (text, "--clip-grad-norm", s->clip_norm);
  if (s->augment_mixup > 0)
    append_double (text, "--mixup-alpha", s->augment_mixup);
  if (s->augment_cutmix > 0)
    append_double (text, "--cutmix-alpha", s->augment_cutmix);
  if (s->augment_erase > 0)
    append_double (text, "--random-erase", s->augment_erase);
  g_string_append (text, " \\\n   ");
  append_schedule (text, context);
  g_string_append_c (text, '\n');
}

/* The file of the script is removed when torchrun has ended.  No line of the script can equal the
 * word that ends the here-document, since names are quoted. */
static void
append_script (GString *text, const DynoExportContext *context)
{
  g_autofree char *script = dyno_exporter_pytorch.write (context);

  g_string_append_printf (text,
                          "  script=$(mktemp --suffix=.py)\n"
                          "  trap 'rm -f \"$script\"' EXIT\n"
                          "  cat >\"$script\" <<'END_OF_SCRIPT'\n%sEND_OF_SCRIPT\n"
                          "  set -- \"$script\"\n",
                          script);
}

void
dyno_export_append_launch (GString *text, const DynoExporter *exporter,
                           const DynoExportContext *context, const char *gpus)
{
  gboolean by_reference = find_reference_model (context) != NULL;

  if (by_reference) /* else the script contains the settings */
    dyno_export_append_left_out (text, exporter, context);
  g_string_append (text, "\nset -eu\nexport OMP_NUM_THREADS=\"${OMP_NUM_THREADS:-1}\"\n"
                         "if [ $# -eq 0 ]; then\n");
  if (by_reference)
    append_flags (text, context);
  else
    append_script (text, context);
  g_string_append_printf (text,
                          "fi\n%storchrun --standalone --nnodes=1 --nproc-per-node=%s \"$@\"\n",
                          by_reference ? "exec " : "", gpus);
}
