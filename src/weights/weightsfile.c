/* SPDX-License-Identifier: MIT */
/* Weights files: the tensors of torchvision's state_dict under the same names, so that weights can
 * be exchanged in both directions; timm's names are found as well (timmnames.h).
 *
 * A batch norm's num_batches_tracked is no parameter here: it is one number for all of them,
 * written with each and read from the first.  Files of any origin are read by startweights.c. */
#include "weightsfile-private.h"
#include "gpu-error.h"
#include "half.h"
#include "int8weights.h"
#include "network.h"
#include "targets.h"
#include "text.h"
#include "timmnames.h"
#include "train-error.h"
#include <math.h>
#include <string.h>

#define MEAN_SUFFIX    ".running_mean"
#define TRACKED_SUFFIX ".num_batches_tracked"

/* --- reading ---------------------------------------------------------------------------------- */

static char *
shape_in_words (guint n, const guint64 *shape)
{
  GString *text = g_string_new ("(");

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i ? ", " : "", shape[i]);
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}

gboolean
dyno_weights_mismatch (const DynoWeightsSource *source, GError **error, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT,
               "“%s” does not fit the model: %s", source->shown, text);
  return FALSE;
}

static gboolean
convert (const DynoSafetensor *tensor, guint64 count, float *out)
{
  const guint8 *data = tensor->data;

  switch (tensor->type)
    {
    case DYNO_TENSOR_F32:
      memcpy (out, data, count * sizeof (float));
      return TRUE;
    case DYNO_TENSOR_F16:
    case DYNO_TENSOR_BF16:
      for (guint64 i = 0; i < count; i++)
        {
          guint16 half;
          memcpy (&half, data + 2 * i, 2);
          guint32 bits = (guint32) half << 16;
          if (tensor->type == DYNO_TENSOR_F16)
            out[i] = dyno_half_to_float (half);
          else
            memcpy (&out[i], &bits, 4);
        }
      return TRUE;
    case DYNO_TENSOR_F64:
      for (guint64 i = 0; i < count; i++)
        {
          double value;
          memcpy (&value, data + 8 * i, 8);
          out[i] = (float) value;
        }
      return TRUE;
    default:
      return FALSE;
    }
}

const DynoSafetensor *
dyno_weights_lookup (DynoSafetensors *file, const char *prefix, const char *name)
{
  g_autofree char *whole = g_strconcat (prefix, name, NULL), *other = NULL, *timm = NULL;
  const DynoSafetensor *tensor = dyno_safetensors_lookup (file, whole);

  if (tensor || !(timm = dyno_timm_find_tensor (name)))
    return tensor;
  other = g_strconcat (prefix, timm, NULL);
  return dyno_safetensors_lookup (file, other);
}

/* Reads int8 with its scales (int8weights.h). */
static gboolean
read_int8 (const DynoParameter *parameter, DynoSafetensors *file, const DynoSafetensor *tensor,
           const DynoWeightsSource *source, float *out, GError **error)
{
  guint64 n_rows = parameter->dims[0], count = dyno_parameter_count (parameter);
  const DynoSafetensor *scale = dyno_weights_lookup (file, tensor->name, DYNO_INT8_SCALE);
  g_autofree float *scales = NULL;

  if (!scale || scale->type != DYNO_TENSOR_F32 || scale->size_bytes != n_rows * sizeof (float))
    return dyno_weights_mismatch (
        source, error,
        "tensor “%s” is int8, and “%s%s”, float32 of its %" G_GUINT64_FORMAT " %s, is not there",
        tensor->name, tensor->name, DYNO_INT8_SCALE, n_rows,
        dyno_plural (n_rows, "channel", "channels"));
  scales = g_memdup2 (scale->data, scale->size_bytes);
  return dyno_int8_restore (tensor->data, scales, n_rows, count / n_rows, out)
         || dyno_weights_mismatch (
             source, error, "“%s” holds a scale that is negative or not finite", scale->name);
}

/* A weight that is not finite makes every output not finite, which no learning rate corrects.
 * Training does not read running statistics; a run that began with such statistics does not save
 * them. */
static gboolean
check_finite (const DynoWeightsSource *source, const DynoSafetensor *tensor, const float *values,
              guint64 count, GError **error)
{
  guint64 bad = 0, first = 0;

  for (guint64 i = 0; i < count; i++)
    if (!isfinite (values[i]) && bad++ == 0)
      first = i;
  if (bad == 0)
    return TRUE;
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT,
               "“%s”: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " %s of tensor “%s” are "
               "not finite, the first, at %" G_GUINT64_FORMAT ", is %g; take other weights",
               source->shown, bad, count, dyno_plural (count, "number", "numbers"), tensor->name,
               first, (double) values[first]);
  return FALSE;
}

gboolean
dyno_weights_read_one (const DynoParameter *parameter, DynoSafetensors *file,
                       const DynoWeightsSource *source, float *out, GError **error)
{
  const DynoSafetensor *tensor = dyno_weights_lookup (file, source->prefix, parameter->name);
  g_autofree char *wanted = NULL, *got = NULL;
  guint64 dims[4];
  gboolean same;

  if (!tensor)
    return dyno_weights_mismatch (source, error, "it has no tensor “%s%s”", source->prefix,
                                  parameter->name);
  same = tensor->n_dims == parameter->n_dims;
  for (guint i = 0; i < parameter->n_dims; i++)
    {
      dims[i] = parameter->dims[i];
      same = same && tensor->shape[i] == dims[i];
    }
  wanted = shape_in_words (parameter->n_dims, dims);
  got = shape_in_words (tensor->n_dims, tensor->shape);
  if (!same)
    return dyno_weights_mismatch (source, error, "tensor “%s” is %s there and %s in the model",
                                  tensor->name, got, wanted);
  if (tensor->type == DYNO_TENSOR_I8 && dyno_int8_applies (parameter))
    return read_int8 (parameter, file, tensor, source, out, error);
  if (!convert (tensor, dyno_parameter_count (parameter), out))
    return dyno_weights_mismatch (source, error,
                                  "tensor “%s” is of type %s, not a floating point one",
                                  tensor->name, dyno_tensor_type_get_name (tensor->type));
  return parameter->is_state
         || check_finite (source, tensor, out, dyno_parameter_count (parameter), error);
}

static void
read_tracked (const DynoSafetensor *tensor, guint64 *tracked)
{
  gint64 value;

  if (tensor->type != DYNO_TENSOR_I64 || tensor->size_bytes != sizeof value)
    return;
  memcpy (&value, tensor->data, sizeof value);
  *tracked = value > 0 ? (guint64) value : 0;
}

void
dyno_weights_find_tracked (DynoWeights *weights, DynoSafetensors *file, const char *prefix)
{
  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    {
      const DynoSafetensor *tensor = dyno_safetensors_get (file, i);
      if (g_str_has_prefix (tensor->name, prefix)
          && g_str_has_suffix (tensor->name, TRACKED_SUFFIX))
        {
          read_tracked (tensor, &weights->batches_tracked);
          return;
        }
    }
}

/* Every tensor in the file whose name has the prefix must be known. */
static gboolean
check_rest (DynoGraph *graph, DynoSafetensors *file, const DynoWeightsSource *source,
            GError **error)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < parameters->len; i++)
    g_hash_table_add (known, ((DynoParameter *) g_ptr_array_index (parameters, i))->name);
  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    {
      const char *name = dyno_safetensors_get (file, i)->name;
      if (!g_str_has_suffix (name, TRACKED_SUFFIX) && g_str_has_prefix (name, source->prefix)
          && !g_hash_table_contains (known, name + strlen (source->prefix)))
        return dyno_weights_mismatch (source, error, "the model has no “%s”", name);
    }
  return TRUE;
}

gboolean
dyno_weights_read (DynoWeights *weights, DynoGraph *graph, DynoSafetensors *file,
                   const DynoWeightsSource *source, GError **error)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      if (source->without_states && (parameter->is_state || parameter->is_frozen))
        continue;
      if (source->may_lack && !dyno_weights_lookup (file, source->prefix, parameter->name))
        memset (weights->values[i], 0, dyno_parameter_count (parameter) * sizeof (float));
      else if (!dyno_weights_read_one (parameter, file, source, weights->values[i], error))
        return FALSE;
    }
  dyno_weights_find_tracked (weights, file, source->prefix);
  return !source->strict || check_rest (graph, file, source, error);
}

/* --- writing ---------------------------------------------------------------------------------- */

void
dyno_weights_list (const DynoWeights *weights, DynoGraph *graph, const char *prefix,
                   gboolean without_states, gboolean tracked, GArray *tensors, GPtrArray *names)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  const char *tracked_norm = NULL; /* the batch norm whose states are being listed */

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      DynoSafetensor tensor = { .type = DYNO_TENSOR_F32,
                                .n_dims = parameter->n_dims,
                                .data = weights->values[i] };
      if (without_states && (parameter->is_state || parameter->is_frozen))
        continue;
      tensor.name = g_strconcat (prefix, parameter->name, NULL);
      g_ptr_array_add (names, (gpointer) tensor.name);
      tensor.size_bytes = dyno_parameter_count (parameter) * sizeof (float);
      for (guint d = 0; d < parameter->n_dims; d++)
        tensor.shape[d] = parameter->dims[d];
      g_array_append_val (tensors, tensor);
      if (parameter->is_state && g_str_has_suffix (parameter->name, MEAN_SUFFIX))
        tracked_norm = parameter->name;
      else if (parameter->is_state && tracked_norm && tracked)
        {
          gssize stem = (gssize) (strlen (tracked_norm) - strlen (MEAN_SUFFIX));
          DynoSafetensor count = { .type = DYNO_TENSOR_I64,
                                   .size_bytes = 8,
                                   .data = &weights->batches_tracked };
          count.name =
              g_strdup_printf ("%s%.*s%s", prefix, (int) stem, tracked_norm, TRACKED_SUFFIX);
          g_ptr_array_add (names, (gpointer) count.name);
          g_array_append_val (tensors, count);
          tracked_norm = NULL;
        }
    }
}

/* The loop has no branch, so that compilers vectorise it: a gigabyte of state takes some tenths of
 * a second. */
static gboolean
floats_are_finite (gconstpointer data, gsize count)
{
  const guint32 *bits = data;
  guint32 bad = 0;

  for (gsize i = 0; i < count; i++)
    bad |= (bits[i] & 0x7f800000) == 0x7f800000;
  return !bad;
}

gboolean
dyno_tensors_check_finite (const GArray *tensors, GError **error)
{
  for (guint i = 0; i < tensors->len; i++)
    {
      const DynoSafetensor *tensor = &g_array_index (tensors, DynoSafetensor, i);
      if (tensor->type != DYNO_TENSOR_F32
          || floats_are_finite (tensor->data, tensor->size_bytes / sizeof (float)))
        continue;
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED,
                   "tensor “%s” holds values that are not finite; resume from an earlier state "
                   "with a lower lr or clip_norm",
                   tensor->name);
      return FALSE;
    }
  return TRUE;
}

gboolean
dyno_weights_save (const DynoWeights *weights, DynoGraph *graph, const char *path,
                   const char *const *metadata, GError **error)
{
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoFoldedWeights) folded = dyno_targets_fold (weights, graph, error);

  if (!folded)
    return FALSE;
  dyno_weights_list (&folded->weights, graph, "", FALSE, TRUE, tensors, names);
  if (!dyno_tensors_check_finite (tensors, error))
    return FALSE;
  return dyno_safetensors_write (path, (const DynoSafetensor *) (gpointer) tensors->data,
                                 tensors->len, metadata, error);
}
