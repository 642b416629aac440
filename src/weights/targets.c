/* SPDX-License-Identifier: MIT */
/* The map between values in the data's unit and the values that the network learns. */
#include "targets.h"
#include "gpu-error.h"
#include "network.h"
#include <math.h>
#include <string.h>

float *
dyno_targets_measure (DynoDataset *dataset, const GArray *train)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  guint32 n = dyno_schema_count_values (&info->schema);
  g_autofree double *mean = NULL, *square = NULL;
  float *scale;

  if (n == 0 || !train || train->len == 0
      || !dyno_dataset_get_values (dataset, g_array_index (train, guint32, 0)))
    return NULL;
  mean = g_new0 (double, n);
  square = g_new0 (double, n);
  for (guint i = 0; i < train->len; i++)
    for (guint32 t = 0; t < n; t++)
      mean[t] += (double) dyno_dataset_get_values (dataset, g_array_index (train, guint32, i))[t]
                 / train->len;
  for (guint i = 0; i < train->len; i++)
    for (guint32 t = 0; t < n; t++)
      {
        double d = (double) dyno_dataset_get_values (dataset, g_array_index (train, guint32, i))[t]
                   - mean[t];
        square[t] += d * d / train->len;
      }
  scale = g_new (float, 2 * (gsize) n);
  for (guint32 t = 0; t < n; t++)
    {
      float deviation = (float) sqrt (square[t]);
      scale[t] = (float) mean[t];
      scale[n + t] = deviation > 0 && isfinite (1 / deviation) ? deviation : 1.0f;
    }
  return scale;
}

/* Counts the samples with and without each label, where that is known. */
static void
weigh_labels (DynoDataset *dataset, const GArray *train, guint32 n, float *weights)
{
  g_autofree guint64 *with = g_new0 (guint64, (gsize) n + 1),
                     *without = g_new0 (guint64, (gsize) n + 1);

  for (guint i = 0; train && i < train->len; i++)
    for (guint32 c = 0; c < n; c++)
      {
        float state = dyno_dataset_get_values (dataset, g_array_index (train, guint32, i))[c];

        with[c] += state > 0;
        without[c] += state == 0;
      }
  for (guint32 c = 0; c < n; c++)
    weights[c] =
        with[c] > 0 && without[c] > 0 ? (float) ((double) without[c] / (double) with[c]) : 1.0f;
}

float *
dyno_targets_weigh_classes (DynoDataset *dataset, const GArray *train)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  guint32 n = info->n_classes, present = 0;
  g_autofree guint64 *counts = g_new0 (guint64, (gsize) n + 1);
  guint64 all = 0;
  float *weights = g_new (float, (gsize) n + 1);

  if (dyno_schema_count_labels (&info->schema) > 0)
    {
      weigh_labels (dataset, train, n, weights);
      return weights;
    }
  if (train && dyno_schema_find_mask (&info->schema))
    memcpy (counts, info->class_counts, n * sizeof *counts);
  else
    for (guint i = 0; train && i < train->len; i++)
      counts[dyno_dataset_get_label (dataset, g_array_index (train, guint32, i))]++;
  for (guint32 c = 0; c < n; c++)
    {
      present += counts[c] > 0;
      all += counts[c];
    }
  for (guint32 c = 0; c < n; c++)
    weights[c] = counts[c] > 0 ? (float) ((double) all / present / (double) counts[c]) : 1.0f;
  return weights;
}

/* The last layer, whose outputs are mapped to the targets' unit; FALSE: the graph has no map. */
static gboolean
find_head (DynoGraph *graph, DynoHead *head, const float **scale)
{
  *scale = dyno_network_get_target_scale (graph);
  return *scale && dyno_network_get_head (graph, head);
}

/* The output to which element i of the weight belongs. */
static guint64
output_of (const DynoHead *head, guint64 i)
{
  guint64 inner = 1;

  for (guint axis = head->axis + 1; axis < head->weight->n_dims; axis++)
    inner *= head->weight->dims[axis];
  return i / inner % head->weight->dims[head->axis];
}

DynoFoldedWeights *
dyno_targets_fold (const DynoWeights *weights, DynoGraph *graph, GError **error)
{
  g_autoptr (DynoFoldedWeights) folded = g_new0 (DynoFoldedWeights, 1);
  DynoHead head;
  const float *scale;

  folded->weights = *weights;
  if (!find_head (graph, &head, &scale))
    return g_steal_pointer (&folded);
  guint64 n = head.bias->dims[0], count = dyno_parameter_count (head.weight);
  const float *weight = weights->values[head.weight->index],
              *bias = weights->values[head.bias->index];
  folded->values = g_memdup2 (weights->values, weights->n * sizeof (float *));
  folded->weight = g_try_new (float, count);
  folded->bias = g_try_new (float, n);
  if (!folded->weight || !folded->bias)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
                   "No memory for a copy of the last layer; close other programs, or raise the "
                   "memory limit of the process (ulimit -v)");
      return NULL;
    }
  for (guint64 i = 0; i < count; i++)
    folded->weight[i] = weight[i] * scale[n + output_of (&head, i)];
  for (guint64 t = 0; t < n; t++)
    folded->bias[t] = bias[t] * scale[n + t] + scale[t];
  folded->values[head.weight->index] = folded->weight;
  folded->values[head.bias->index] = folded->bias;
  folded->weights.values = folded->values;
  return g_steal_pointer (&folded);
}

void
dyno_folded_weights_free (DynoFoldedWeights *folded)
{
  if (!folded)
    return;
  g_free (folded->values);
  g_free (folded->weight);
  g_free (folded->bias);
  g_free (folded);
}

void
dyno_targets_unfold (DynoWeights *weights, DynoGraph *graph)
{
  DynoHead head;
  const float *scale;

  if (!find_head (graph, &head, &scale))
    return;
  guint64 n = head.bias->dims[0], count = dyno_parameter_count (head.weight);
  float *weight = weights->values[head.weight->index], *bias = weights->values[head.bias->index];
  for (guint64 i = 0; i < count; i++)
    weight[i] /= scale[n + output_of (&head, i)];
  for (guint64 t = 0; t < n; t++)
    bias[t] = (bias[t] - scale[t]) / scale[n + t];
}
