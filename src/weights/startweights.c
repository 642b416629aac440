/* SPDX-License-Identifier: MIT */
/* Reads weights of any origin, from which training starts or with which prediction runs: names with
 * a prefix or of timm, a last layer with other outputs, and classifiers that are the backbones of
 * models of pixels. */
#include "gpu-error.h"
#include "int8weights.h"
#include "network.h"
#include "text.h"
#include "timmnames.h"
#include "weightsfile-private.h"
#include <string.h>

#define MEAN_SUFFIX    ".running_mean"
#define TRACKED_SUFFIX ".num_batches_tracked"

/* --- names in the file ------------------------------------------------------------------------ */

/* The prefix of the names of a backbone's parameters in a model of pixels (ours), and in a file of
 * the backbone's own network or of the backbone only (theirs), which follows the prefix of all
 * names in the file. */
typedef struct {
  const char *ours, *theirs;
} Backbone;

static const Backbone backbones[] = {
  { "encoder.", "" },
  { "backbone.", "" },
  { "encoder.", "encoder." },
  { "backbone.", "backbone." },
};

typedef struct {
  char *prefix;             /* prefix of all names in the file */
  const Backbone *backbone; /* NULL: the file is of the whole model */
} Names;

static void
names_clear (Names *names)
{
  g_free (names->prefix);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Names, names_clear)

/* The name that a parameter should have in the file, without the prefix; g_free.  NULL: the
 * parameter does not belong to the backbone. */
static char *
name_there (const Names *names, const char *name)
{
  if (!names->backbone)
    return g_strdup (name);
  return g_str_has_prefix (name, names->backbone->ours)
             ? g_strconcat (names->backbone->theirs, name + strlen (names->backbone->ours), NULL)
             : NULL;
}

/* The tensor of a parameter; NULL: the file has none. */
static const DynoSafetensor *
find_tensor (DynoSafetensors *file, const Names *names, const char *name)
{
  g_autofree char *there = name_there (names, name);

  return there ? dyno_weights_lookup (file, names->prefix, there) : NULL;
}

/* The shortest prefix of a file's names that end in this name.  NULL: no name does. */
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

/* The prefix of the file's names, where one of them ends in this name or in timm's name for it;
 * NULL: none does. */
static char *
find_prefix (DynoSafetensors *file, const char *name)
{
  char *prefix = find_before (file, name);
  g_autofree char *timm = prefix ? NULL : dyno_timm_find_tensor (name);

  return timm ? find_before (file, timm) : prefix;
}

/* TRUE: the file has a tensor for a parameter that is not of the backbone. */
static gboolean
has_rest (DynoGraph *graph, DynoSafetensors *file, const Names *names, const Backbone *backbone)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);

  for (guint i = 0; i < parameters->len; i++)
    {
      const char *name = ((const DynoParameter *) g_ptr_array_index (parameters, i))->name;
      if (!g_str_has_prefix (name, backbone->ours) && find_tensor (file, names, name))
        return TRUE;
    }
  return FALSE;
}

/* Finds the prefix and the backbone of the file's names.  The first parameter of a model belongs to
 * its backbone, where it has one. */
static void
find_names (DynoGraph *graph, DynoSafetensors *file, Names *names)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  const DynoParameter *first = parameters->len > 0 ? g_ptr_array_index (parameters, 0) : NULL;
  gboolean whole;

  names->backbone = NULL;
  names->prefix = first ? find_prefix (file, first->name) : NULL;
  whole = names->prefix != NULL;
  if (!whole)
    names->prefix = g_strdup ("");
  for (guint i = 0; first && i < G_N_ELEMENTS (backbones); i++)
    {
      const Backbone *one = &backbones[i];
      const Names only = { .backbone = one };
      g_autofree char *there = name_there (&only, first->name);
      char *prefix = there ? find_prefix (file, there) : NULL;
      gboolean same = strcmp (one->ours, one->theirs) == 0;

      if (!prefix || whole != same || (whole && has_rest (graph, file, names, one)))
        g_free (prefix);
      else
        {
          g_free (names->prefix);
          names->prefix = prefix;
          names->backbone = one;
          return;
        }
    }
}

/* --- weights of any origin -------------------------------------------------------------------- */

#define MAX_NAMED 8

/* Returns "“a”, “b” and 3 more"; names: const char *. */
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

/* TRUE: the tensor is the head's weight, except for the number of outputs. */
static gboolean
is_head_weight (const DynoHead *head, const DynoSafetensor *weight)
{
  gboolean fits = weight && weight->n_dims == head->weight->n_dims;

  for (guint i = 0; fits && i < weight->n_dims; i++)
    fits = i == head->axis || weight->shape[i] == head->weight->dims[i];
  return fits;
}

static gboolean
is_of_head (const DynoHead *head, const DynoParameter *parameter)
{
  return parameter == head->weight || parameter == head->bias || parameter == head->added_weight
         || parameter == head->added_bias;
}

/* The number of outputs of the last layer in a file; 0: it has no last layer like the model's. */
static guint64
count_outputs (const DynoHead *head, DynoSafetensors *file, const Names *names)
{
  const DynoSafetensor *weight = find_tensor (file, names, head->weight->name),
                       *bias = head->bias ? find_tensor (file, names, head->bias->name) : NULL;

  if (!is_head_weight (head, weight)
      || (head->bias
          && (!bias || bias->n_dims != 1 || bias->shape[0] != weight->shape[head->axis])))
    return 0;
  return weight->shape[head->axis];
}

/* TRUE: the file has no last layer, or one with another number of outputs than the model's. */
static gboolean
head_differs (DynoGraph *graph, DynoSafetensors *file, const Names *names, DynoHead *head,
              guint64 *n_there)
{
  *n_there = 0;
  if (!dyno_network_get_head (graph, head))
    return FALSE;
  if (!find_tensor (file, names, head->weight->name)
      && !(head->bias && find_tensor (file, names, head->bias->name)))
    return TRUE;
  *n_there = count_outputs (head, file, names);
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

/* TRUE: the tensor holds the scales of another tensor, which is int8. */
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

/* Adds a note of tensors that the model does not use. */
static void
note_unused (DynoGraph *graph, DynoSafetensors *file, const Names *names, const char *shown,
             GPtrArray *notes)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autoptr (GHashTable) used = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) unused = g_ptr_array_new ();
  g_autofree char *list = NULL;

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      g_hash_table_add (used, (gpointer) find_tensor (file, names, parameter->name));
    }
  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    {
      const DynoSafetensor *tensor = dyno_safetensors_get (file, i);
      gboolean is_beside =
          g_str_has_prefix (tensor->name, names->prefix)
          && (g_str_has_suffix (tensor->name, TRACKED_SUFFIX) || is_scale (file, tensor->name));
      if (!is_beside && !g_hash_table_contains (used, tensor))
        g_ptr_array_add (unused, (gpointer) tensor->name);
    }
  if (unused->len == 0)
    return;
  list = list_in_words (unused);
  g_ptr_array_add (notes, g_strdup_printf ("Not used of “%s”: %s", shown, list));
}

/* Sets the error that names the parameters (DynoParameter *) which the file lacks.  Where only
 * batch norms are missing, they were folded into the convolutions before them, as exports for
 * prediction do. */
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
    return dyno_weights_mismatch (source, error, "it has no tensor %s", list);
  return dyno_weights_mismatch (
      source, error,
      "it has no tensor %s: its batch norms are folded into the convolutions; save the "
      "run as ONNX again with --keep-batchnorm, or take its weights.safetensors",
      list);
}

/* Adds a note that the file fills a part of the model, such as "encoder", with the numbers of
 * tensors. */
static void
note_backbone (DynoGraph *graph, const Names *names, const char *shown, GPtrArray *notes)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  const char *ours = names->backbone->ours;
  guint n = 0;

  for (guint i = 0; i < parameters->len; i++)
    n += g_str_has_prefix (((const DynoParameter *) g_ptr_array_index (parameters, i))->name, ours);
  g_ptr_array_add (notes,
                   g_strdup_printf ("“%s” fills the part “%.*s” of this model, %u of its %u %s; "
                                    "the rest starts anew",
                                    shown, (int) strlen (ours) - 1, ours, n, parameters->len,
                                    dyno_plural (parameters->len, "tensor", "tensors")));
}

/* Reads all parameters but the fresh ones; there: for each parameter the name in the file, NULL for
 * a fresh one. */
static gboolean
read_all (DynoWeights *weights, DynoGraph *graph, DynoSafetensors *file,
          const DynoWeightsSource *source, char *const *there, GError **error)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);

  for (guint i = 0; i < parameters->len; i++)
    {
      DynoParameter named = *(const DynoParameter *) g_ptr_array_index (parameters, i);

      named.name = there[i];
      if (there[i] && !dyno_weights_read_one (&named, file, source, weights->values[i], error))
        return FALSE;
    }
  return TRUE;
}

gboolean
dyno_weights_load (DynoWeights *weights, DynoGraph *graph, DynoSafetensors *file, const char *shown,
                   DynoWeightsHead use, gboolean *head_is_new, GPtrArray *notes, GError **error)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autoptr (GPtrArray) missing = g_ptr_array_new (),
                        there = g_ptr_array_new_with_free_func (g_free);
  g_auto (Names) names = { 0 };
  DynoHead head;
  guint64 n_there;

  find_names (graph, file, &names);
  if (use != DYNO_WEIGHTS_HEAD_MAY_DIFFER)
    names.backbone = NULL;
  DynoWeightsSource source = { .shown = shown, .prefix = names.prefix };
  gboolean differs = head_differs (graph, file, &names, &head, &n_there),
           fresh = use == DYNO_WEIGHTS_HEAD_LEFT_OUT
                   || (differs && use == DYNO_WEIGHTS_HEAD_MAY_DIFFER);
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      char *name =
          fresh && is_of_head (&head, parameter) ? NULL : name_there (&names, parameter->name);
      g_ptr_array_add (there, name);
      if (name && !dyno_weights_lookup (file, names.prefix, name))
        g_ptr_array_add (missing, (gpointer) parameter);
    }
  if (missing->len > 0)
    return refuse_missing (graph, missing, &source, error);
  if (!read_all (weights, graph, file, &source, (char *const *) there->pdata, error))
    return FALSE;
  dyno_weights_find_tracked (weights, file, names.prefix);
  if (names.backbone)
    note_backbone (graph, &names, shown, notes);
  else if (fresh && use != DYNO_WEIGHTS_HEAD_LEFT_OUT)
    note_new_head (&head, n_there, shown, notes);
  note_unused (graph, file, &names, shown, notes);
  if (head_is_new)
    *head_is_new = fresh || names.backbone;
  return TRUE;
}

/* --- rows of the last layer ------------------------------------------------------------------- */

guint64
dyno_weights_count_outputs (DynoGraph *graph, DynoSafetensors *file)
{
  g_auto (Names) names = { 0 };
  DynoHead head;

  if (!dyno_network_get_head (graph, &head))
    return 0;
  find_names (graph, file, &names);
  guint64 n = names.backbone ? 0 : count_outputs (&head, file, &names);
  return n <= G_MAXUINT32 ? n : 0;
}

/* Copies the outputs of a parameter of the head, which has n_there outputs in the file, along an
 * axis. */
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
  g_auto (Names) names = { 0 };
  DynoHead head;

  g_return_val_if_fail (n_there > 0 && dyno_network_get_head (graph, &head), FALSE);
  find_names (graph, file, &names);
  const DynoWeightsSource source = { .shown = shown, .prefix = names.prefix };
  const DynoParameter *const parts[] = { head.weight, head.added_weight, head.bias,
                                         head.added_bias };
  for (guint part = 0; part < G_N_ELEMENTS (parts); part++)
    {
      const DynoParameter *parameter = parts[part];
      guint axis = part < 2 ? head.axis : 0;
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
      if (!dyno_weights_read_one (&there, file, &source, values, error))
        return FALSE;
      take_outputs (parameter, axis, values, n_there, rows, weights->values[parameter->index]);
    }
  return TRUE;
}
