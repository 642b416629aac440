/* SPDX-License-Identifier: MIT */
/* Weights files: what torchvision's state_dict holds under the same names, so that weights go both
 * ways; timm's names are found as well (timmnames.h).
 *
 * A batch norm's num_batches_tracked is no parameter here: it is one number for all of them,
 * written with each and read from the first. */
#include "weightsfile.h"
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

static gboolean G_GNUC_PRINTF (3, 4)
    mismatch (const DynoWeightsSource *source, GError **error, const char *format, ...)
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

/* A parameter's tensor, by its own name or by timm's. */
static const DynoSafetensor *
lookup (DynoSafetensors *file, const char *prefix, const char *name)
{
  g_autofree char *whole = g_strconcat (prefix, name, NULL), *other = NULL, *timm = NULL;
  const DynoSafetensor *tensor = dyno_safetensors_lookup (file, whole);

  if (tensor || !(timm = dyno_timm_find_tensor (name)))
    return tensor;
  other = g_strconcat (prefix, timm, NULL);
  return dyno_safetensors_lookup (file, other);
}

/* int8 with its scales (int8weights.h). */
static gboolean
read_int8 (const DynoParameter *parameter, DynoSafetensors *file, const DynoSafetensor *tensor,
           const DynoWeightsSource *source, float *out, GError **error)
{
  guint64 n_rows = parameter->dims[0], count = dyno_parameter_count (parameter);
  const DynoSafetensor *scale = lookup (file, tensor->name, DYNO_INT8_SCALE);
  g_autofree float *scales = NULL;

  if (!scale || scale->type != DYNO_TENSOR_F32 || scale->size_bytes != n_rows * sizeof (float))
    return mismatch (source, error,
                     "tensor “%s” is int8, and “%s%s”, float32 of its %" G_GUINT64_FORMAT
                     " %s, is not there",
                     tensor->name, tensor->name, DYNO_INT8_SCALE, n_rows,
                     dyno_plural (n_rows, "channel", "channels"));
  scales = g_memdup2 (scale->data, scale->size_bytes);
  return dyno_int8_restore (tensor->data, scales, n_rows, count / n_rows, out)
         || mismatch (source, error, "“%s” holds a scale that is negative or not finite",
                      scale->name);
}

/* Weights of which one is no number make every output none: no rate of learning mends that.  Training
 * does not read running statistics; a run that has begun with such ones does not save them. */
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

static gboolean
read_one (const DynoParameter *parameter, DynoSafetensors *file, const DynoWeightsSource *source,
          float *out, GError **error)
{
  const DynoSafetensor *tensor = lookup (file, source->prefix, parameter->name);
  g_autofree char *wanted = NULL, *got = NULL;
  guint64 dims[4];
  gboolean same;

  if (!tensor)
    return mismatch (source, error, "it has no tensor “%s%s”", source->prefix, parameter->name);
  same = tensor->n_dims == parameter->n_dims;
  for (guint i = 0; i < parameter->n_dims; i++)
    {
      dims[i] = parameter->dims[i];
      same = same && tensor->shape[i] == dims[i];
    }
  wanted = shape_in_words (parameter->n_dims, dims);
  got = shape_in_words (tensor->n_dims, tensor->shape);
  if (!same)
    return mismatch (source, error, "tensor “%s” is %s there and %s in the model", tensor->name,
                     got, wanted);
  if (tensor->type == DYNO_TENSOR_I8 && dyno_int8_applies (parameter))
    return read_int8 (parameter, file, tensor, source, out, error);
  if (!convert (tensor, dyno_parameter_count (parameter), out))
    return mismatch (source, error, "tensor “%s” is of type %s, not a floating point one",
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

/* num_batches_tracked, of the first batch norm that has it. */
static void
find_tracked (DynoWeights *weights, DynoSafetensors *file, const char *prefix)
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

/* Everything in the file that has the prefix must be known. */
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
        return mismatch (source, error, "the model has no “%s”", name);
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
      if (source->may_lack && !lookup (file, source->prefix, parameter->name))
        memset (weights->values[i], 0, dyno_parameter_count (parameter) * sizeof (float));
      else if (!read_one (parameter, file, source, weights->values[i], error))
        return FALSE;
    }
  find_tracked (weights, file, source->prefix);
  return !source->strict || check_rest (graph, file, source, error);
}

/* --- somebody's weights ------------------------------------------------------------------------ */

#define MAX_NAMED 8

/* "“a”, “b” and 3 more"; names: const char *. */
static char *
list_in_words (const GPtrArray *names)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < MIN (names->len, MAX_NAMED); i++)
    g_string_append_printf (text, "%s“%s”", i ? ", " : "",
                            (const char *) g_ptr_array_index (names, i));
  if (names->len > MAX_NAMED)
    g_string_append_printf (text, " and %u more", names->len - MAX_NAMED);
  return g_string_free (text, FALSE);
}

/* The shortest prefix of a file's names that end so.  NULL: none does. */
static char *
find_before (DynoSafetensors *file, const char *name)
{
  g_autofree char *ending = g_strconcat (".", name, NULL);
  const char *found = NULL;

  if (dyno_safetensors_lookup (file, name))
    return g_strdup ("");
  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    {
      const char *whole = dyno_safetensors_get (file, i)->name;
      if (g_str_has_suffix (whole, ending) && (!found || strlen (whole) < strlen (found)))
        found = whole;
    }
  return found ? g_strndup (found, strlen (found) - strlen (name)) : NULL;
}

/* The prefix of the names of the model's parameters, which is that of the first of them.  g_free. */
static char *
find_prefix (DynoGraph *graph, DynoSafetensors *file)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  const DynoParameter *first = parameters->len > 0 ? g_ptr_array_index (parameters, 0) : NULL;
  char *prefix = first ? find_before (file, first->name) : NULL;
  g_autofree char *timm = first && !prefix ? dyno_timm_find_tensor (first->name) : NULL;

  if (timm)
    prefix = find_before (file, timm);
  return prefix ? prefix : g_strdup ("");
}

/* A tensor that is the head's weight, but for the number of outputs. */
static gboolean
is_head_weight (const DynoHead *head, const DynoSafetensor *weight)
{
  gboolean fits = weight && weight->n_dims == head->weight->n_dims;

  for (guint i = 0; fits && i < weight->n_dims; i++)
    fits = i == head->axis || weight->shape[i] == head->weight->dims[i];
  return fits;
}

/* Outputs of the last layer in a file; 0: it has no such layer as the model. */
static guint64
count_outputs (const DynoHead *head, DynoSafetensors *file, const char *prefix)
{
  const DynoSafetensor *weight = lookup (file, prefix, head->weight->name),
                       *bias = head->bias ? lookup (file, prefix, head->bias->name) : NULL;

  if (!is_head_weight (head, weight)
      || (head->bias
          && (!bias || bias->n_dims != 1 || bias->shape[0] != weight->shape[head->axis])))
    return 0;
  return weight->shape[head->axis];
}

/* Whether the file has no such last layer as the model: none, or one of other outputs. */
static gboolean
head_differs (DynoGraph *graph, DynoSafetensors *file, const char *prefix, DynoHead *head,
              guint64 *n_there)
{
  *n_there = 0;
  if (!dyno_network_get_head (graph, head))
    return FALSE;
  if (!lookup (file, prefix, head->weight->name)
      && !(head->bias && lookup (file, prefix, head->bias->name)))
    return TRUE;
  *n_there = count_outputs (head, file, prefix);
  return *n_there > 0 && *n_there != head->weight->dims[head->axis];
}

static void
note_new_head (const DynoHead *head, guint64 n_there, const char *shown, GPtrArray *notes)
{
  const char *end = strrchr (head->weight->name, '.');
  g_autofree char *name = end ? g_strndup (head->weight->name, (gsize) (end - head->weight->name))
                              : g_strdup (head->weight->name);

  g_ptr_array_add (
      notes,
      n_there > 0
          ? g_strdup_printf ("The last layer “%s” starts anew: “%s” has %" G_GUINT64_FORMAT
                             " %s, this model %u",
                             name, shown, n_there, dyno_plural (n_there, "output", "outputs"),
                             head->weight->dims[head->axis])
          : g_strdup_printf ("The last layer “%s” starts anew: “%s” has none", name, shown));
}

/* Whether a tensor holds the scales of another one, which is int8. */
static gboolean
is_scale (DynoSafetensors *file, const char *name)
{
  gsize length = strlen (name), ending = strlen (DYNO_INT8_SCALE);
  g_autofree char *stem = length > ending ? g_strndup (name, length - ending) : NULL;
  const DynoSafetensor *tensor = stem && g_str_has_suffix (name, DYNO_INT8_SCALE)
                                     ? dyno_safetensors_lookup (file, stem)
                                     : NULL;

  return tensor && tensor->type == DYNO_TENSOR_I8;
}

/* Tensors that the model has no place for. */
static void
note_unused (DynoGraph *graph, DynoSafetensors *file, const char *prefix, const char *shown,
             GPtrArray *notes)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autoptr (GHashTable) used = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) unused = g_ptr_array_new ();
  g_autofree char *list = NULL;

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      g_hash_table_add (used, (gpointer) lookup (file, prefix, parameter->name));
    }
  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    {
      const DynoSafetensor *tensor = dyno_safetensors_get (file, i);
      gboolean is_beside =
          g_str_has_prefix (tensor->name, prefix)
          && (g_str_has_suffix (tensor->name, TRACKED_SUFFIX) || is_scale (file, tensor->name));
      if (!is_beside && !g_hash_table_contains (used, tensor))
        g_ptr_array_add (unused, (gpointer) tensor->name);
    }
  if (unused->len == 0)
    return;
  list = list_in_words (unused);
  g_ptr_array_add (notes, g_strdup_printf ("Not used of “%s”: %s", shown, list));
}

/* The parameters (DynoParameter *) that the file has not, in words.  Where they are batch norms
 * alone, they were folded into the convolutions before them, as exports for prediction do. */
static gboolean
refuse_missing (DynoGraph *graph, const GPtrArray *missing, const DynoWeightsSource *source,
                GError **error)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autoptr (GHashTable) norms = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  gboolean folded = TRUE;

  for (guint i = 0; i < parameters->len; i++)
    {
      const char *name = ((const DynoParameter *) g_ptr_array_index (parameters, i))->name;
      if (g_str_has_suffix (name, MEAN_SUFFIX))
        g_hash_table_add (norms, g_strndup (name, strlen (name) - strlen (MEAN_SUFFIX)));
    }
  for (guint i = 0; i < missing->len; i++)
    {
      char *name = ((DynoParameter *) g_ptr_array_index (missing, i))->name;
      g_autofree char *stem = g_strdup (name);
      char *dot = strrchr (stem, '.');

      if (dot)
        *dot = '\0';
      folded = folded && g_hash_table_contains (norms, stem);
      g_ptr_array_add (names, name);
    }
  g_autofree char *list = list_in_words (names);
  if (!folded)
    return mismatch (source, error, "it has no tensor %s", list);
  return mismatch (
      source, error,
      "it has no tensor %s: its batch norms are folded into the convolutions; save the "
      "run as ONNX again with --keep-batchnorm, or take its weights.safetensors",
      list);
}

gboolean
dyno_weights_load (DynoWeights *weights, DynoGraph *graph, DynoSafetensors *file, const char *shown,
                   DynoWeightsHead use, gboolean *head_is_new, GPtrArray *notes, GError **error)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autofree char *prefix = find_prefix (graph, file);
  g_autoptr (GPtrArray) missing = g_ptr_array_new ();
  DynoWeightsSource source = { .shown = shown, .prefix = prefix };
  DynoHead head;
  guint64 n_there;
  gboolean differs = head_differs (graph, file, prefix, &head, &n_there),
           fresh = use == DYNO_WEIGHTS_HEAD_LEFT_OUT
                   || (differs && use == DYNO_WEIGHTS_HEAD_MAY_DIFFER);

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      if (!lookup (file, prefix, parameter->name)
          && !(fresh && (parameter == head.weight || parameter == head.bias)))
        g_ptr_array_add (missing, (gpointer) parameter);
    }
  if (missing->len > 0)
    return refuse_missing (graph, missing, &source, error);
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);

      if (fresh && (parameter == head.weight || parameter == head.bias))
        continue;
      if (!read_one (parameter, file, &source, weights->values[i], error))
        return FALSE;
    }
  find_tracked (weights, file, prefix);
  if (fresh && use != DYNO_WEIGHTS_HEAD_LEFT_OUT)
    note_new_head (&head, n_there, shown, notes);
  note_unused (graph, file, prefix, shown, notes);
  if (head_is_new)
    *head_is_new = fresh;
  return TRUE;
}

/* --- rows of the last layer --------------------------------------------------------------------- */

guint64
dyno_weights_count_outputs (DynoGraph *graph, DynoSafetensors *file)
{
  g_autofree char *prefix = find_prefix (graph, file);
  DynoHead head;

  if (!dyno_network_get_head (graph, &head))
    return 0;
  guint64 n = count_outputs (&head, file, prefix);
  return n <= G_MAXUINT32 ? n : 0;
}

/* Copies the outputs of a head's parameter of n_there outputs, at an axis. */
static void
take_outputs (const DynoParameter *parameter, guint axis, const float *from, guint64 n_there,
              const guint32 *rows, float *to)
{
  guint64 inner = 1, n = parameter->dims[axis];

  for (guint i = axis + 1; i < parameter->n_dims; i++)
    inner *= parameter->dims[i];
  guint64 outer = dyno_parameter_count (parameter) / (n * inner);
  for (guint64 o = 0; o < outer; o++)
    for (guint64 i = 0; i < n; i++)
      if (rows[i] < n_there)
        memcpy (to + (o * n + i) * inner, from + (o * n_there + rows[i]) * inner,
                inner * sizeof (float));
}

gboolean
dyno_weights_load_rows (DynoWeights *weights, DynoGraph *graph, DynoSafetensors *file,
                        const char *shown, const guint32 *rows, GError **error)
{
  guint64 n_there = dyno_weights_count_outputs (graph, file);
  g_autofree char *prefix = find_prefix (graph, file);
  DynoWeightsSource source = { .shown = shown, .prefix = prefix };
  DynoHead head;

  g_return_val_if_fail (n_there > 0 && dyno_network_get_head (graph, &head), FALSE);
  for (guint part = 0; part < 2; part++)
    {
      const DynoParameter *parameter = part == 0 ? head.weight : head.bias;
      guint axis = part == 0 ? head.axis : 0;
      if (!parameter)
        continue;
      gsize count = (gsize) (dyno_parameter_count (parameter) / parameter->dims[axis] * n_there);
      g_autofree float *values = g_try_new (float, count);
      DynoParameter there = *parameter;

      there.dims[axis] = (guint32) n_there;
      if (!values)
        {
          g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
                       "No memory for the last layer of “%s”", shown);
          return FALSE;
        }
      if (!read_one (&there, file, &source, values, error))
        return FALSE;
      take_outputs (parameter, axis, values, n_there, rows, weights->values[parameter->index]);
    }
  return TRUE;
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

/* Without a branch in the loop, so that compilers make vectors of it: a gigabyte of state takes
 * some tenths of a second. */
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
                   "tensor “%s” holds values that are not finite; go on from an earlier state with "
                   "a lower lr or clip_norm",
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
