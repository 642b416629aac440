/* SPDX-License-Identifier: MIT */
#include "facts.h"
#include "planjob.h"
#include "text.h"
#include <math.h>

static void
find_shape (const DynoJob *job, const DynoDatasetInfo *info, DynoExportFacts *facts)
{
  guint32 width = info->max_width, height = info->max_height;
  const DynoBatchField *input;
  DynoBatchSchema schema;

  dyno_job_get_size (job, info, &width, &height, NULL);
  dyno_dataset_get_schema (info, width, height, &schema);
  input = dyno_schema_find_role (&schema, DYNO_FIELD_INPUT);
  if (!input || input->n_axes < 1 || input->n_axes > 3)
    return;
  facts->n_axes = input->n_axes;
  facts->shape[0] = input->shape[input->n_axes - 1];
  for (guint i = 1; i < input->n_axes; i++)
    facts->shape[i] = input->shape[i - 1];
  /* Dyno treats rows of numbers as images of one pixel; other programs do not. */
  if (facts->n_axes == 3 && facts->shape[1] == 1 && facts->shape[2] == 1)
    facts->n_axes = 1;
}

void
dyno_export_facts (const DynoExportContext *context, DynoExportFacts *facts)
{
  const DynoJob *job = context->job;
  const DynoDatasetInfo *info = context->dataset;
  DynoSettings settings;
  DynoPartCounts counts;

  *facts = (DynoExportFacts){ 0 };
  if (!job || !info)
    return;
  settings = job->settings;
  dyno_job_count_parts (job, info, &counts);
  facts->n_train = counts.n_train;
  settings.batch_size = dyno_job_get_batch (job, facts->n_train);
  facts->steps_per_epoch = MAX (dyno_job_count_steps (&settings, facts->n_train, job->ranks), 1);
  facts->total_steps = facts->steps_per_epoch * (guint64) settings.epochs;
  facts->warmup_steps = (guint64) floor (settings.warmup_epochs * (double) facts->steps_per_epoch);
  facts->n_outputs = dyno_schema_count_values (&info->schema);
  facts->values = facts->n_outputs > 0;
  facts->labels = dyno_schema_count_labels (&info->schema) > 0;
  facts->pixels = dyno_schema_find_mask (&info->schema) != NULL;
  if (!facts->values)
    facts->n_outputs = info->n_classes;
  find_shape (job, info, facts);
}

gboolean
dyno_export_has_one_class (const DynoExportContext *context)
{
  DynoExportFacts facts;

  dyno_export_facts (context, &facts);
  return !facts.labels;
}

void
dyno_export_append_labels (GString *text, const DynoExportContext *context)
{
  DynoExportFacts facts;

  dyno_export_facts (context, &facts);
  if (facts.labels)
    g_string_append_printf (text,
                            "# A sample has any number of %u %s: the loss is "
                            "BCEWithLogitsLoss, the targets are floats, and a\n# sample has the "
                            "labels whose sigmoid is 0.5 or more.\n",
                            facts.n_outputs, dyno_plural (facts.n_outputs, "label", "labels"));
}

guint32
dyno_export_get_size (const DynoExportContext *context)
{
  DynoExportFacts facts;

  dyno_export_facts (context, &facts);
  if (context->job->settings.image_size > 0)
    return (guint32) context->job->settings.image_size;
  return facts.n_axes == 3 && facts.shape[1] == facts.shape[2] ? facts.shape[1] : 0;
}

void
dyno_export_milestones (const DynoSettings *settings, gint64 milestones[2])
{
  milestones[0] = (settings->epochs + 2) / 3;
  milestones[1] = (2 * settings->epochs + 2) / 3;
}

guint32
dyno_export_seed32 (const DynoSettings *settings)
{
  return (guint32) settings->seed;
}

const char *
dyno_export_data_path (const DynoExportContext *context)
{
  const char *data = context->job ? context->job->data : NULL;

  if (!data || g_str_has_prefix (data, "builtin:") || g_str_has_prefix (data, "synthetic:"))
    return NULL;
  return data;
}
