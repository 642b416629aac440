/* SPDX-License-Identifier: MIT */
#include "accuracyprobe.h"

typedef struct {
  const DynoJob *job;
  DynoDataset *dataset;
  char *metric, *runs, **over;
} Question;

static void
question_free (gpointer data)
{
  Question *q = data;
  dyno_job_unref (q->job);
  dyno_dataset_unref (q->dataset);
  g_free (q->metric);
  g_free (q->runs);
  g_strfreev (q->over);
  g_free (q);
}

void
dyno_accuracy_prospect_free (DynoAccuracyProspect *prospect)
{
  if (!prospect)
    return;
  g_clear_pointer (&prospect->metrics, g_array_unref);
  g_clear_error (&prospect->error);
  g_free (prospect->folder);
  g_free (prospect->metric);
  g_free (prospect);
}

/* Returns name if it is among the metrics, else the first metric's name. */
static const char *
find_metric (const GArray *metrics, const char *name)
{
  for (guint i = 0; name && i < metrics->len; i++)
    if (g_str_equal (g_array_index (metrics, DynoMetricInfo, i).name, name))
      return name;
  return g_array_index (metrics, DynoMetricInfo, 0).name;
}

/* Finds the parameters, and why the chosen ones cannot be searched. */
static void
find_params (const Question *q, const DynoDatasetInfo *info, DynoAccuracyProspect *prospect)
{
  g_auto (GStrv) texts = dyno_param_space_suggest (q->job, info);
  dyno_param_space_init (&prospect->usual, q->job, info);
  prospect->others = prospect->usual;
  if (!dyno_param_space_choose (&prospect->others, q->job, info, (const char *const *) texts, NULL))
    prospect->others.n = 0; /* there are none */
  DynoParamSpace chosen = prospect->usual;
  if (q->over && !prospect->error)
    dyno_param_space_choose (&chosen, q->job, info, (const char *const *) q->over,
                             &prospect->error);
}

static void
probe (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Question *q = data;
  DynoAccuracyProspect *prospect = g_new0 (DynoAccuracyProspect, 1);
  const DynoDatasetInfo *info = dyno_dataset_get_info (q->dataset);
  g_autoptr (DynoAccuracyRecord) record = NULL;
  DynoMetricInfo metric;
  prospect->metrics = dyno_accuracy_list_metrics (q->job, info, &prospect->error);
  if (prospect->metrics)
    dyno_accuracy_check (q->job, info, find_metric (prospect->metrics, q->metric), &metric,
                         &prospect->error);
  if (prospect->metrics)
    find_params (q, info, prospect);
  if (q->runs)
    prospect->folder = dyno_accuracy_find_folder (q->runs, q->job, &record);
  if (record)
    prospect->metric = g_strdup (record->metric);
  for (guint i = 0; record && i < record->runs->len; i++)
    prospect->n_trials =
        MAX (prospect->n_trials, ((const DynoAccuracyRun *) record->runs->pdata[i])->trial + 1);
  g_task_return_pointer (task, prospect, (GDestroyNotify) dyno_accuracy_prospect_free);
}

void
dyno_accuracy_probe (const DynoJob *job, DynoDataset *dataset, const char *metric,
                     const char *const *over, const char *runs, GObject *source,
                     GAsyncReadyCallback done, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (source, NULL, done, data);
  Question *q = g_new0 (Question, 1);
  q->job = dyno_job_copy (job);
  q->dataset = dyno_dataset_ref (dataset);
  q->metric = g_strdup (metric);
  q->over = g_strdupv ((char **) over);
  q->runs = g_strdup (runs);
  g_task_set_task_data (task, q, question_free);
  g_task_run_in_thread (task, probe);
}

DynoAccuracyProspect *
dyno_accuracy_probe_finish (GAsyncResult *result)
{
  return g_task_propagate_pointer (G_TASK (result), NULL);
}
