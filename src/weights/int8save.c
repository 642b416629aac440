/* SPDX-License-Identifier: MIT */
/* Weights files with int8. */
#include "int8save.h"
#include "int8weights.h"
#include "weightsfile.h"
#include <math.h>
#include <sys/stat.h>

void
dyno_int8_report_clear (DynoInt8Report *report)
{
  g_clear_pointer (&report->worst_tensor, g_free);
}

static void
take_error (DynoInt8Report *report, const char *name, const float *values, const gint8 *q,
            const float *scales, guint64 n_rows, guint64 n_columns)
{
  double off = 0, whole = 0;

  for (guint64 i = 0; i < n_rows * n_columns; i++)
    {
      double w = (double) values[i], d = w - (double) q[i] * (double) scales[i / n_columns];
      off += d * d;
      whole += w * w;
    }
  off = whole > 0 ? sqrt (off / whole) : 0;
  if (report->worst_tensor && off <= report->worst)
    return;
  report->worst = off;
  g_free (report->worst_tensor);
  report->worst_tensor = g_strdup (name);
}

/* Replaces the tensor by an int8 tensor, followed by its scales; memory is added to owned. */
static void
quantise_tensor (DynoSafetensor *tensor, GArray *tensors, GPtrArray *owned, DynoInt8Report *report)
{
  guint64 n_rows = tensor->shape[0], n_columns = tensor->size_bytes / sizeof (float) / n_rows;
  gint8 *q = g_malloc (n_rows * n_columns);
  float *scales = g_new (float, n_rows);
  DynoSafetensor scale = { .name = g_strconcat (tensor->name, DYNO_INT8_SCALE, NULL),
                           .type = DYNO_TENSOR_F32,
                           .n_dims = 1,
                           .shape = { n_rows },
                           .size_bytes = n_rows * sizeof (float),
                           .data = scales };

  dyno_int8_quantise (tensor->data, n_rows, n_columns, q, scales);
  take_error (report, tensor->name, tensor->data, q, scales, n_rows, n_columns);
  g_ptr_array_add (owned, (gpointer) scale.name);
  g_ptr_array_add (owned, scales);
  g_ptr_array_add (owned, q);
  tensor->type = DYNO_TENSOR_I8;
  tensor->size_bytes = n_rows * n_columns;
  tensor->data = q;
  g_array_append_val (tensors, *tensor);
  g_array_append_val (tensors, scale);
}

gboolean
dyno_int8_save (const DynoSavedModel *model, const char *path, DynoInt8Report *report,
                GError **error)
{
  GPtrArray *parameters = dyno_graph_get_parameters (model->graph);
  g_autoptr (GArray) whole = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor)),
                     tensors = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free),
                        owned = g_ptr_array_new_with_free_func (g_free),
                        metadata = g_ptr_array_new_with_free_func (g_free);
  struct stat status;

  *report = (DynoInt8Report){ 0 };
  dyno_weights_list (model->weights, model->graph, "", FALSE, FALSE, whole, names);
  if (!dyno_tensors_check_finite (whole, error))
    return FALSE;
  for (guint i = 0; i < whole->len; i++)
    if (dyno_int8_applies (g_ptr_array_index (parameters, i)))
      quantise_tensor (&g_array_index (whole, DynoSafetensor, i), tensors, owned, report);
    else
      g_array_append_val (tensors, g_array_index (whole, DynoSafetensor, i));
  dyno_weights_info_append (model->info, metadata);
  g_ptr_array_add (metadata, g_strdup ("quantisation"));
  g_ptr_array_add (metadata, g_strdup ("int8, symmetric, a scale for each output channel"));
  g_ptr_array_add (metadata, NULL);
  if (!dyno_safetensors_write (path, (const DynoSafetensor *) (gpointer) tensors->data,
                               tensors->len, (const char *const *) metadata->pdata, error))
    return FALSE;
  report->bytes = stat (path, &status) == 0 ? (guint64) status.st_size : 0;
  return TRUE;
}
