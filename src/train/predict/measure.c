/* SPDX-License-Identifier: MIT */
/* Compares predictions with their truth. */
#include "measure.h"
#include "text.h"
#include <math.h>

typedef struct {
  DynoDataset *dataset;
  DynoScores *scores;
  int *n_done; /* atomic; NULL: it is not needed */
  /* the weights' class for each of the data's classes; NULL: values */
  const guint32 *classes;
  float *labels; /* of a sample, in the order of the weights; NULL: the samples have no labels */
} Measuring;

/* A label of the weights that the data do not have is not known. */
static const float *
order_labels (const Measuring *m, guint64 index)
{
  const DynoDatasetInfo *data = dyno_dataset_get_info (m->dataset);
  const float *values = dyno_dataset_get_values (m->dataset, index);

  for (guint32 i = 0; i < m->scores->n_outputs; i++)
    m->labels[i] = NAN;
  for (guint32 i = 0; i < data->n_classes; i++)
    if (m->classes[i] != G_MAXUINT32)
      m->labels[m->classes[i]] = values[i];
  return m->labels;
}

static gboolean
on_prediction (const DynoPrediction *prediction, gpointer data)
{
  Measuring *m = data;

  if (m->labels)
    dyno_scores_add_labels (m->scores, prediction, order_labels (m, prediction->index));
  else if (m->classes)
    dyno_scores_add_class (m->scores, prediction,
                           m->classes[dyno_dataset_get_label (m->dataset, prediction->index)]);
  else
    dyno_scores_add_values (m->scores, prediction,
                            dyno_dataset_get_values (m->dataset, prediction->index));
  if (m->n_done)
    g_atomic_int_inc (m->n_done);
  return TRUE;
}

static gboolean
check_values (const DynoWeightsInfo *info, const DynoDatasetInfo *data, GError **error)
{
  guint32 n = dyno_schema_count_values (&data->schema);

  if (n == info->n_outputs && data->knows_values)
    return TRUE;
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
               "The weights predict %u %s; “%s” has %u", info->n_outputs,
               dyno_plural (info->n_outputs, "value", "values"), data->name, n);
  return FALSE;
}

DynoScores *
dyno_scores_measure (DynoPredictor *predictor, DynoDataset *dataset, const GArray *indices,
                     guint n_worst, int *n_done, GCancellable *cancellable, GError **error)
{
  const DynoWeightsInfo *info = dyno_predictor_get_info (predictor);
  const DynoDatasetInfo *data = dyno_dataset_get_info (dataset);
  g_autofree guint32 *classes = NULL;
  g_autofree float *labels = NULL;
  g_autoptr (DynoScores) scores = NULL;
  Measuring m = { .dataset = dataset, .n_done = n_done };

  if (info->of_pixels)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   "%s predicts a class for each pixel, which can only be measured with masks",
                   info->model);
      return NULL;
    }
  if (info->is_values ? !check_values (info, data, error)
                      : !(classes = dyno_scores_match_classes (info, data, error)))
    return NULL;
  m.classes = classes;
  m.labels = labels = info->is_labels ? g_new (float, info->n_outputs) : NULL;
  m.scores = scores = dyno_scores_new (info, n_worst);
  return dyno_predictor_run (predictor, indices, on_prediction, &m, cancellable, error)
             ? g_steal_pointer (&scores)
             : NULL;
}
