/* SPDX-License-Identifier: MIT */
/* The metadata of a weights file.  Invariant: input is not trusted: counts are checked against each
 * other, shapes against the limits of a field, and numbers have to be finite. */
#include "weightsinfo.h"
#include "datafile.h"
#include "embedded.h"
#include "safetensors-private.h"
#include "timmnames.h"
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#define MAX_OUTPUTS (1u << 20)
#define MAX_SIDE    (1u << 24)

#define TEMPERATURE     "output.temperature"
#define THRESHOLDS      "output.thresholds"
#define MAX_TEMPERATURE 1e6

void
dyno_weights_info_free (DynoWeightsInfo *info)
{
  if (!info)
    return;
  g_free (info->model);
  g_strfreev (info->class_names);
  g_strfreev (info->target_names);
  g_strfreev (info->target_units);
  g_free (info->thresholds);
  g_free (info);
}

DynoWeightsInfo *
dyno_weights_info_new (const DynoJob *job, const DynoDatasetInfo *data, GError **error)
{
  g_autoptr (DynoWeightsInfo) info = g_new0 (DynoWeightsInfo, 1);
  DynoNetworkParams network;

  if (!dyno_job_get_network (job, data, DYNO_MODE_PREDICT, &network, error))
    return NULL;
  info->model = g_strdup (job->model);
  info->model_width = job->settings.model_width;
  info->temperature = 1;
  info->n_outputs = network.n_outputs;
  info->is_labels = network.loss == DYNO_LOSS_BCE;
  info->is_values = network.loss != DYNO_LOSS_CROSS_ENTROPY && !info->is_labels;
  info->of_pixels = dyno_schema_find_mask (&network.schema) != NULL;
  if (!info->is_values)
    info->class_names = g_strdupv (data->class_names);
  else if (data->target_names)
    {
      info->target_names = g_strdupv (data->target_names);
      info->target_units = g_strdupv (data->target_units);
    }
  info->input = *dyno_schema_find_role (&network.schema, DYNO_FIELD_INPUT);
  info->has_input = TRUE;
  return g_steal_pointer (&info);
}

/* The number of values of mean and deviation: one for each channel, if there are few channels. */
static guint
count_floats (const DynoBatchField *input)
{
  return CLAMP (dyno_field_axis (input, input->axes[input->n_axes - 1]), 1,
                G_N_ELEMENTS (input->normalisation.mean));
}

static void
describe_floats (GString *text, const char *what, const float *values, guint n)
{
  g_string_append (text, what);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, " %g", (double) values[i]);
}

char *
dyno_normalisation_describe (const DynoBatchField *input)
{
  const DynoNormalisation *normalisation = &input->normalisation;
  const char *elements = input->element == DYNO_ELEMENT_U8 ? "bytes" : "values";
  guint n = count_floats (input);
  GString *text = g_string_new (elements);

  if (!normalisation->scale_255 && !normalisation->standardise)
    g_string_append (text, " as they are");
  if (normalisation->scale_255)
    g_string_append (text, " / 255");
  if (normalisation->standardise)
    {
      describe_floats (text, ", less mean", normalisation->mean, n);
      describe_floats (text, " over deviation", normalisation->deviation, n);
    }
  return g_string_free (text, FALSE);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void
add (GPtrArray *pairs, const char *key, char *value)
{
  g_ptr_array_add (pairs, g_strdup (key));
  g_ptr_array_add (pairs, value);
}

static char *
number (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup (g_ascii_formatd (text, sizeof text, "%.9g", value));
}

static void
add_names (GPtrArray *pairs, const char *key, char *const *names)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_ARRAY);
  JsonArray *array = json_array_new ();

  if (!names)
    {
      json_array_unref (array);
      return;
    }
  for (guint i = 0; names[i]; i++)
    {
      g_autofree char *valid = g_utf8_make_valid (names[i], -1);
      json_array_add_string_element (array, valid);
    }
  json_node_take_array (node, array);
  add (pairs, key, json_to_string (node, FALSE));
}

static void
add_floats (GPtrArray *pairs, const char *key, const float *values, guint n)
{
  g_autoptr (GString) text = g_string_new ("[");

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = number ((double) values[i]);
      g_string_append_printf (text, "%s%s", i ? ", " : "", value);
    }
  g_string_append_c (text, ']');
  add (pairs, key, g_string_free (g_steal_pointer (&text), FALSE));
}

void
dyno_normalisation_append (const DynoNormalisation *normalisation, guint n, GPtrArray *pairs)
{
  add (pairs, "input.scale", g_strdup (normalisation->scale_255 ? "1/255" : "1"));
  if (!normalisation->standardise)
    return;
  add_floats (pairs, "input.mean", normalisation->mean, n);
  add_floats (pairs, "input.deviation", normalisation->deviation, n);
}

static void
add_input (GPtrArray *pairs, const DynoBatchField *input)
{
  g_autoptr (GString) shape = g_string_new ("[");

  for (guint i = 0; i < input->n_axes; i++)
    g_string_append_printf (shape, "%s%u", i ? ", " : "", input->shape[i]);
  g_string_append_c (shape, ']');
  add (pairs, "input.element", g_strdup (dyno_element_name (input->element)));
  add (pairs, "input.axes", g_strdup (input->axes));
  add (pairs, "input.shape", g_string_free (g_steal_pointer (&shape), FALSE));
  if (input->variable)
    {
      add (pairs, "input.variable", g_strdup ("true"));
      add (pairs, "input.pad", number (input->pad));
    }
  dyno_normalisation_append (&input->normalisation, count_floats (input), pairs);
}

static void
add_calibration (GPtrArray *pairs, const DynoWeightsInfo *info)
{
  if (info->temperature != 1)
    add (pairs, TEMPERATURE, number (info->temperature));
  if (info->thresholds)
    add_floats (pairs, THRESHOLDS, info->thresholds, info->n_outputs);
}

void
dyno_weights_info_append (const DynoWeightsInfo *info, GPtrArray *pairs)
{
  add (pairs, "model", g_utf8_make_valid (info->model, -1));
  dyno_embedded_append (info->model, pairs);
  add (pairs, "model.width", number (info->model_width));
  add (pairs, "task",
       g_strdup (info->is_values   ? "values"
                 : info->is_labels ? "labels"
                 : info->of_pixels ? "pixels"
                                   : "classes"));
  add (pairs, "outputs", g_strdup_printf ("%u", info->n_outputs));
  add_names (pairs, "classes", info->class_names);
  add_names (pairs, "targets", info->target_names);
  add_names (pairs, "units", info->target_units);
  add_calibration (pairs, info);
  if (info->has_input)
    add_input (pairs, &info->input);
}

/* --- reading ---------------------------------------------------------------------------------- */

static gboolean
refuse (GError **error, const char *key, const char *text)
{
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT,
               "its metadata states “%s” for %s, which is not valid", text, key);
  return FALSE;
}

/* Limits the nesting of lists and objects: the parser is recursive. */
static gboolean
nests_at_most (const char *text, guint most)
{
  gboolean in_string = FALSE;
  guint depth = 0;

  for (; *text; text++)
    if (in_string)
      {
        if (*text == '\\' && text[1])
          text++;
        else if (*text == '"')
          in_string = FALSE;
      }
    else if (*text == '"')
      in_string = TRUE;
    else if ((*text == '[' || *text == '{') && ++depth > most)
      return FALSE;
    else if (*text == ']' || *text == '}')
      depth -= depth > 0;
  return TRUE;
}

/* *array: the list that a key holds, owned by parser; NULL: there is no such key. */
static gboolean
read_list (DynoSafetensors *file, const char *key, JsonParser *parser, JsonArray **array,
           GError **error)
{
  const char *text = dyno_safetensors_get_metadata (file, key);
  JsonNode *root;

  *array = NULL;
  if (!text)
    return TRUE;
  root = nests_at_most (text, 1) && json_parser_load_from_data (parser, text, -1, NULL)
             ? json_parser_get_root (parser)
             : NULL;
  if (!root || !JSON_NODE_HOLDS_ARRAY (root))
    return refuse (error, key, text);
  *array = json_node_get_array (root);
  return TRUE;
}

static gboolean
read_names (DynoSafetensors *file, const char *key, guint32 wanted, char ***names, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  const char *text = dyno_safetensors_get_metadata (file, key);
  JsonArray *array;

  if (!read_list (file, key, parser, &array, error))
    return FALSE;
  if (!array)
    return TRUE;
  if (json_array_get_length (array) != wanted)
    return refuse (error, key, text);
  *names = g_new0 (char *, (gsize) wanted + 1);
  for (guint i = 0; i < wanted; i++)
    {
      JsonNode *node = json_array_get_element (array, i);
      if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
        return refuse (error, key, text);
      (*names)[i] = json_node_dup_string (node);
    }
  return TRUE;
}

/* Reads 1 to most numbers; *n 0: there is no such key. */
static gboolean
read_numbers (DynoSafetensors *file, const char *key, guint most, double *values, guint *n,
              GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  const char *text = dyno_safetensors_get_metadata (file, key);
  JsonArray *array;

  *n = 0;
  if (!read_list (file, key, parser, &array, error))
    return FALSE;
  if (!array)
    return TRUE;
  *n = json_array_get_length (array);
  if (*n < 1 || *n > most)
    return refuse (error, key, text);
  for (guint i = 0; i < *n; i++)
    {
      JsonNode *node = json_array_get_element (array, i);
      if (!JSON_NODE_HOLDS_VALUE (node)
          || (json_node_get_value_type (node) != G_TYPE_INT64
              && json_node_get_value_type (node) != G_TYPE_DOUBLE)
          || !isfinite (values[i] = json_node_get_double (node)))
        return refuse (error, key, text);
    }
  return TRUE;
}

gboolean
dyno_normalisation_read (DynoSafetensors *file, DynoNormalisation *normalisation, GError **error)
{
  const char *scale = dyno_safetensors_get_metadata (file, "input.scale");
  double mean[4], deviation[4];
  guint n_mean, n_deviation;

  if (scale && strcmp (scale, "1/255") != 0 && strcmp (scale, "1") != 0)
    return refuse (error, "input.scale", scale);
  normalisation->scale_255 = scale && strcmp (scale, "1/255") == 0;
  if (!read_numbers (file, "input.mean", 4, mean, &n_mean, error)
      || !read_numbers (file, "input.deviation", 4, deviation, &n_deviation, error))
    return FALSE;
  normalisation->standardise = n_mean > 0;
  if (n_mean != n_deviation)
    return refuse (error, "input.deviation", "another number of values than input.mean");
  for (guint i = 0; i < 4 && n_mean > 0; i++)
    {
      normalisation->mean[i] = (float) mean[MIN (i, n_mean - 1)];
      normalisation->deviation[i] = (float) deviation[MIN (i, n_mean - 1)];
      if (!(normalisation->deviation[i] > 0.0f) || !isfinite (normalisation->mean[i]))
        return refuse (error, "input.deviation",
                       dyno_safetensors_get_metadata (file, "input.deviation"));
    }
  return TRUE;
}

static gboolean
read_input (DynoSafetensors *file, DynoWeightsInfo *info, GError **error)
{
  static const char *const axes[] = { "HWC", "TF", "TC", "C", "F" };
  const char *element = dyno_safetensors_get_metadata (file, "input.element"),
             *letters = dyno_safetensors_get_metadata (file, "input.axes"),
             *variable = dyno_safetensors_get_metadata (file, "input.variable"),
             *pad = dyno_safetensors_get_metadata (file, "input.pad");
  double shape[DYNO_SCHEMA_MAX_AXES];
  DynoBatchField *input = &info->input;
  gboolean known = FALSE;

  if (!element && !letters)
    return TRUE;
  for (guint i = 0; i <= DYNO_ELEMENT_F32; i++)
    if (g_strcmp0 (element, dyno_element_name ((DynoElement) i)) == 0)
      {
        input->element = (DynoElement) i;
        known = TRUE;
      }
  if (!known)
    return refuse (error, "input.element", element ? element : "nothing");
  known = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (axes); i++)
    known = known || g_strcmp0 (letters, axes[i]) == 0;
  if (!known)
    return refuse (error, "input.axes", letters ? letters : "nothing");
  g_strlcpy (input->axes, letters, sizeof input->axes);
  if (!read_numbers (file, "input.shape", DYNO_SCHEMA_MAX_AXES, shape, &input->n_axes, error))
    return FALSE;
  known = input->n_axes == strlen (letters);
  for (guint i = 0; i < input->n_axes && known; i++)
    {
      known = shape[i] >= 1 && shape[i] <= MAX_SIDE && shape[i] == floor (shape[i]);
      input->shape[i] = known ? (guint32) shape[i] : 0;
    }
  if (!known)
    return refuse (error, "input.shape",
                   input->n_axes ? dyno_safetensors_get_metadata (file, "input.shape") : "nothing");
  input->name = "input";
  input->role = DYNO_FIELD_INPUT;
  input->variable = g_strcmp0 (variable, "true") == 0;
  input->pad = pad ? g_ascii_strtod (pad, NULL) : 0;
  info->has_input = TRUE;
  return dyno_normalisation_read (file, &input->normalisation, error);
}

static gboolean
read_calibration (DynoSafetensors *file, DynoWeightsInfo *info, GError **error)
{
  const char *temperature = dyno_safetensors_get_metadata (file, TEMPERATURE);
  g_autofree double *thresholds = NULL;
  char *end = NULL;
  guint n;

  if (temperature)
    info->temperature = g_ascii_strtod (temperature, &end);
  if (temperature
      && (*end || !(info->temperature >= 1 / MAX_TEMPERATURE)
          || !(info->temperature <= MAX_TEMPERATURE)))
    return refuse (error, TEMPERATURE, temperature);
  if (!info->is_labels || info->n_outputs == 0)
    return TRUE;
  thresholds = g_new (double, info->n_outputs);
  if (!read_numbers (file, THRESHOLDS, info->n_outputs, thresholds, &n, error) || n == 0)
    return n == 0 && !(error && *error);
  info->thresholds = g_new (float, n);
  for (guint i = 0; i < n; i++)
    {
      if (n != info->n_outputs || thresholds[i] < 0 || thresholds[i] > 1)
        return refuse (error, THRESHOLDS, dyno_safetensors_get_metadata (file, THRESHOLDS));
      info->thresholds[i] = (float) thresholds[i];
    }
  return TRUE;
}

static gboolean
read_outputs (DynoSafetensors *file, DynoWeightsInfo *info, GError **error)
{
  const char *width = dyno_safetensors_get_metadata (file, "model.width"),
             *outputs = dyno_safetensors_get_metadata (file, "outputs"),
             *task = dyno_safetensors_get_metadata (file, "task");
  guint64 n = 0;

  if (width)
    info->model_width = g_ascii_strtod (width, NULL);
  if (!(info->model_width >= 0 && info->model_width <= 16))
    return refuse (error, "model.width", width);
  if (task && strcmp (task, "classes") != 0 && strcmp (task, "values") != 0
      && strcmp (task, "labels") != 0 && strcmp (task, "pixels") != 0)
    return refuse (error, "task", task);
  info->is_values = g_strcmp0 (task, "values") == 0;
  info->is_labels = g_strcmp0 (task, "labels") == 0;
  info->of_pixels = g_strcmp0 (task, "pixels") == 0;
  if (!outputs)
    return TRUE;
  if (!g_ascii_string_to_unsigned (outputs, 10, 1, MAX_OUTPUTS, &n, NULL))
    return refuse (error, "outputs", outputs);
  info->n_outputs = (guint32) n;
  if (info->is_values)
    return read_names (file, "targets", info->n_outputs, &info->target_names, error)
           && read_names (file, "units", info->n_outputs, &info->target_units, error);
  return read_names (file, "classes", info->n_outputs, &info->class_names, error);
}

DynoWeightsInfo *
dyno_weights_info_read (DynoSafetensors *file, GError **error)
{
  g_autoptr (DynoWeightsInfo) info = g_new0 (DynoWeightsInfo, 1);

  info->model = g_strdup (dyno_safetensors_get_metadata (file, "model"));
  info->model_width = info->temperature = 1;
  if (!dyno_embedded_adopt (file, error) || !read_outputs (file, info, error)
      || !read_calibration (file, info, error) || !read_input (file, info, error))
    {
      if (file->shown)
        g_prefix_error (error, "“%s”: ", file->shown);
      return NULL;
    }
  return g_steal_pointer (&info);
}

/* --- calibration ------------------------------------------------------------------------------ */

/* The file's metadata with another calibration, "key", "value", ..., NULL. */
static GPtrArray *
replace_calibration (DynoSafetensors *file, const DynoWeightsInfo *info)
{
  GPtrArray *pairs = g_ptr_array_new_with_free_func (g_free);
  GHashTable *table = dyno_safetensors_get_metadata_table (file);
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (table), (GCompareFunc) strcmp);

  for (GList *i = keys; i; i = i->next)
    if (strcmp (i->data, TEMPERATURE) != 0 && strcmp (i->data, THRESHOLDS) != 0)
      add (pairs, i->data, g_strdup (g_hash_table_lookup (table, i->data)));
  add_calibration (pairs, info);
  g_ptr_array_add (pairs, NULL);
  return pairs;
}

gboolean
dyno_weights_info_write_calibration (const DynoWeightsInfo *info, const char *path, GError **error)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, error);
  g_autoptr (GPtrArray) pairs = NULL;
  g_autofree DynoSafetensor *tensors = NULL;
  guint n;

  if (!file)
    return FALSE;
  if (file->is_foreign)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT,
                   "“%s” is no safetensors file, so it has no place for a calibration: calibrate "
                   "the weights that a run has written",
                   file->shown);
      return FALSE;
    }
  n = dyno_safetensors_get_count (file);
  tensors = g_new (DynoSafetensor, n);
  for (guint i = 0; i < n; i++)
    tensors[i] = *dyno_safetensors_get (file, i);
  pairs = replace_calibration (file, info);
  return dyno_safetensors_write (path, tensors, n, (const char *const *) pairs->pdata, error);
}

/* --- timm's config.json ----------------------------------------------------------------------- */

#define CONFIG_NAME       "config.json"
#define MAX_CONFIG        (4u << 20)
#define MAX_CONFIG_LEVELS 16

/* The object of the file, owned by parser; NULL: there is no such file, or *problem. */
static JsonObject *
read_config (const char *path, JsonParser *parser, GError **problem)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree char *text = NULL;
  JsonNode *root;
  gsize size;

  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR)
      || !dyno_datafile_read (path, MAX_CONFIG, bytes, &size, problem))
    return NULL;
  text = g_strndup ((const char *) bytes->data, size);
  if (!nests_at_most (text, MAX_CONFIG_LEVELS))
    {
      g_set_error (problem, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT,
                   "it is nested too deeply");
      return NULL;
    }
  if (!json_parser_load_from_data (parser, text, -1, problem))
    return NULL;
  root = json_parser_get_root (parser);
  return root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
}

/* Reads n finite numbers at a key. */
static gboolean
get_numbers (JsonObject *object, const char *key, guint n, double *values)
{
  JsonNode *node = json_object_get_member (object, key);
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  if (!array || json_array_get_length (array) != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      JsonNode *element = json_array_get_element (array, i);
      if (!JSON_NODE_HOLDS_VALUE (element)
          || (json_node_get_value_type (element) != G_TYPE_INT64
              && json_node_get_value_type (element) != G_TYPE_DOUBLE)
          || !isfinite (values[i] = json_node_get_double (element)))
        return FALSE;
    }
  return TRUE;
}

/* The input's elements are bytes, since timm's networks are trained on photographs. */
static gboolean
take_config_input (DynoWeightsInfo *info, JsonObject *config)
{
  DynoBatchField *input = &info->input;
  double mean[3], deviation[3], size[3];

  if (!get_numbers (config, "mean", 3, mean) || !get_numbers (config, "std", 3, deviation)
      || !get_numbers (config, "input_size", 3, size) || size[0] != 3)
    return FALSE;
  for (guint i = 0; i < 3; i++)
    if (!(deviation[i] > 0) || !(size[i] >= 1 && size[i] <= 65536 && size[i] == floor (size[i])))
      return FALSE;
  *input = (DynoBatchField){ .name = "input",
                             .role = DYNO_FIELD_INPUT,
                             .element = DYNO_ELEMENT_U8,
                             .n_axes = 3,
                             .shape = { (guint32) size[1], (guint32) size[2], 3 },
                             .axes = "HWC" };
  input->normalisation.scale_255 = input->normalisation.standardise = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (input->normalisation.mean); i++)
    {
      input->normalisation.mean[i] = (float) mean[MIN (i, 2)];
      input->normalisation.deviation[i] = (float) deviation[MIN (i, 2)];
    }
  info->has_input = TRUE;
  return TRUE;
}

static void
take_config_labels (DynoWeightsInfo *info, JsonObject *config)
{
  JsonNode *node = json_object_get_member (config, "label_names");
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  guint n = array ? json_array_get_length (array) : 0;

  if (n == 0 || n > MAX_OUTPUTS || info->class_names || info->is_values
      || (info->n_outputs > 0 && info->n_outputs != n))
    return;
  for (guint i = 0; i < n; i++)
    {
      JsonNode *element = json_array_get_element (array, i);
      if (!JSON_NODE_HOLDS_VALUE (element) || json_node_get_value_type (element) != G_TYPE_STRING)
        return;
    }
  info->n_outputs = n;
  info->class_names = g_new0 (char *, (gsize) n + 1);
  for (guint i = 0; i < n; i++)
    info->class_names[i] = g_strdup (json_array_get_string_element (array, i));
}

static void
take_config_model (DynoWeightsInfo *info, JsonObject *config)
{
  JsonNode *node = json_object_get_member (config, "architecture");
  const char *model;
  double width;

  if (info->model || !node || !JSON_NODE_HOLDS_VALUE (node)
      || json_node_get_value_type (node) != G_TYPE_STRING)
    return;
  model = dyno_timm_find_model (json_node_get_string (node), &width);
  if (!model)
    return;
  info->model = g_strdup (model);
  info->model_width = width;
}

void
dyno_weights_info_complete (DynoWeightsInfo *info, const char *path, GPtrArray *notes)
{
  g_autofree char *folder = g_path_get_dirname (path),
                  *config_path = g_build_filename (folder, CONFIG_NAME, NULL),
                  *shown = g_filename_display_name (config_path);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) problem = NULL;
  JsonObject *config, *pretrained = NULL;
  JsonNode *node;

  if (info->has_input)
    return;
  config = read_config (config_path, parser, &problem);
  if (problem)
    g_ptr_array_add (notes, g_strdup_printf ("“%s” is not used: %s", shown, problem->message));
  if (!config)
    return;
  node = json_object_get_member (config, "pretrained_cfg");
  if (node && JSON_NODE_HOLDS_OBJECT (node))
    pretrained = json_node_get_object (node);
  take_config_model (info, config);
  take_config_labels (info, config);
  if (pretrained)
    take_config_labels (info, pretrained);
  if (!take_config_input (info, pretrained ? pretrained : config))
    return;
  g_autofree char *fed = dyno_normalisation_describe (&info->input);
  g_ptr_array_add (
      notes, g_strdup_printf ("According to “%s” the weights were made for images of %u x %u: %s",
                              shown, info->input.shape[1], info->input.shape[0], fed));
}

char *
dyno_weights_info_name_class (const DynoWeightsInfo *info, guint32 class_id)
{
  return info->class_names ? g_strdup (info->class_names[class_id])
                           : g_strdup_printf ("#%u", class_id);
}

char *
dyno_weights_info_name_value (const DynoWeightsInfo *info, guint32 value)
{
  const char *unit = info->target_units ? info->target_units[value] : "";

  if (!info->target_names)
    return g_strdup_printf ("value %u", value);
  return *unit ? g_strdup_printf ("%s (%s)", info->target_names[value], unit)
               : g_strdup (info->target_names[value]);
}
