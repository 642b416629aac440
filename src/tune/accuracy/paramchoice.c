/* SPDX-License-Identifier: MIT */
/* Parameters as text: those that a user chooses, and those of a space. */
#include "params-private.h"
#include "intl.h"
#include <math.h>
#include <string.h>

static gboolean
is_key (const DynoParam *param, const char *key)
{
  return strcmp (param->key, key) == 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static gboolean G_GNUC_PRINTF (2, 3) refuse (GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (error)
    *error = g_error_new_valist (DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING, format, arguments);
  va_end (arguments);
  return FALSE;
}

/* FALSE: values of the metric could not be compared, or the setting changes nothing that is
 * learned. */
static gboolean
may_be_searched (const DynoSettingInfo *info)
{
  static const char *const others[] = { "epochs",          "seed",
                                        "best_metric",     "data.val_split",
                                        "data.folds",      "data.fold",
                                        "data.test_split", "data.max_bad",
                                        "data.normalise",  NULL };

  return !info->same_weights && !info->opens_data && !g_strv_contains (others, info->key);
}

/* Reads "LOW..HIGH". */
static gboolean
read_range (const char *text, const char *range, const DynoSettingInfo *info, DynoParam *param,
            GError **error)
{
  g_auto (GStrv) ends = g_strsplit (range, "..", 2);
  char *low_end = NULL, *high_end = NULL;

  if (g_strv_length (ends) != 2)
    return refuse (error, _ ("“%s” has no range: write %s=LOW..HIGH"), text, info->key);
  param->low = g_ascii_strtod (ends[0], &low_end);
  param->high = g_ascii_strtod (ends[1], &high_end);
  if (low_end == ends[0] || high_end == ends[1] || *low_end || *high_end
      || !(param->low < param->high))
    return refuse (error, _ ("“%s” is no range: write %s=LOW..HIGH, LOW below HIGH"), text,
                   info->key);
  if (param->low < info->minimum || param->high > info->maximum)
    return refuse (error, _ ("“%s”: %s is from %g to %g"), text, info->key, info->minimum,
                   info->maximum);
  return TRUE;
}

/* The scale of a chosen range: the usual one of the parameter where the range allows it. */
static DynoParamKind
choose_kind (const DynoParamRow *row, const DynoParam *param)
{
  gboolean wide = param->low > 0 && param->high >= 10 * param->low;

  if (row && row->kind == DYNO_PARAM_FROM_ONE && param->low >= 0 && param->high < 1)
    return DYNO_PARAM_FROM_ONE;
  if (row && row->kind == DYNO_PARAM_LOG && param->low > 0)
    return DYNO_PARAM_LOG;
  return !row && wide ? DYNO_PARAM_LOG : DYNO_PARAM_LINEAR;
}

/* Reads "VALUE|VALUE" into names in the form in which settings are written. */
static gboolean
read_choices (const char *text, const char *choices, const DynoSettings *own, DynoParam *param,
              GError **error)
{
  static const char *const mixes[] = { "none", "mixup", "cutmix", NULL };
  g_auto (GStrv) values = g_strsplit (choices, "|", -1);

  for (guint i = 0; is_key (param, "augment.mix") && values[i]; i++)
    if (!g_strv_contains (mixes, values[i]))
      return refuse (error, _ ("“%s”: augment.mix is none, mixup or cutmix"), text);
  if (g_strv_length (values) < 2 || g_strv_length (values) >= DYNO_PARAM_MOST_CHOICES)
    return refuse (error, _ ("“%s”: write %s=VALUE|VALUE, with two values at least and %d at most"),
                   text, param->key, DYNO_PARAM_MOST_CHOICES - 1);
  for (guint i = 0; values[i] && dyno_setting_find (param->key); i++)
    {
      DynoSettings settings = *own;

      if (!dyno_settings_set (&settings, param->key, values[i], error))
        return FALSE;
      g_free (values[i]);
      values[i] = dyno_settings_get (&settings, param->key);
    }
  for (guint i = 0; values[i]; i++)
    for (guint k = 0; k < i; k++)
      if (strcmp (values[i], values[k]) == 0)
        return refuse (error, _ ("“%s” has the value %s twice"), text, values[i]);
  dyno_param_fill_choices (param, (const char *const *) values, own);
  return TRUE;
}

/* Reads a setting's range or choices; values: the text after "=", or NULL. */
static gboolean
read_values (const char *text, const char *values, const DynoParamRow *row, const DynoSettings *own,
             DynoParam *param, GError **error)
{
  const DynoSettingInfo *info = dyno_setting_find (param->key);
  gboolean number = info && (info->type == DYNO_SETTING_INT || info->type == DYNO_SETTING_DOUBLE);

  if (!values && row)
    {
      *param = dyno_param_make (row, own);
      return TRUE;
    }
  if (!values && info->values)
    {
      dyno_param_fill_choices (param, info->values, own);
      return TRUE;
    }
  if (!values && info->type == DYNO_SETTING_BOOL)
    return read_choices (text, "false|true", own, param, error);
  if (!values)
    return refuse (error, _ ("“%s” has no usual range: write %s=LOW..HIGH, or %s=VALUE|VALUE"),
                   text, param->key, param->key);
  if (!number || strchr (values, '|'))
    return read_choices (text, values, own, param, error);
  if (!read_range (text, values, info, param, error))
    return FALSE;
  param->kind = choose_kind (row, param);
  return TRUE;
}

/* Reads one text; range: it states values of its own. */
static gboolean
read_param (const char *text, const DynoParamSpace *space, const DynoJob *job,
            const DynoDatasetInfo *info, DynoParam *param, GError **error)
{
  const DynoSettings *own = &job->settings;
  g_auto (GStrv) parts = g_strsplit (text, "=", 2);
  const char *key = parts[0] ? g_strstrip (parts[0]) : "", *values = parts[0] ? parts[1] : NULL;
  const DynoSettingInfo *setting = dyno_setting_find (key);
  const DynoParamRow *row = dyno_param_find_row (key);

  if (!row && !setting)
    return refuse (error, _ ("There is no setting “%s” to search; dynoctl help lists them"), key);
  if ((setting && !may_be_searched (setting))
      || (!setting && values && strcmp (key, "augment") == 0))
    return refuse (error,
                   setting ? _ ("“%s” cannot be searched: trials could not be compared, or would "
                                "learn the same")
                           : _ ("“%s” has no values of its own: it scales all random changes"),
                   key);
  if ((row && !dyno_param_is_searched (space, row, job, info))
      || (setting && !dyno_job_meets (setting, job->model, info)))
    return refuse (error, _ ("“%s” has no effect with this model and data set"), key);
  *param = (DynoParam){ row ? row->key : setting->key, DYNO_PARAM_CHOICE };
  return read_values (text, values, row, own, param, error);
}

/* The value of 1 of the parameter in the setting's own unit. */
static double
get_unit (const DynoParamSpace *space, const DynoParam *param)
{
  if (is_key (param, "lr"))
    return dyno_param_base_rate (space, space->own.optimizer);
  return is_key (param, "warmup_epochs") ? (double) MAX (space->own.epochs, 1) : 1;
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const DynoParam *x = a, *y = b;
  const DynoParamRow *one = dyno_param_find_row (x->key), *other = dyno_param_find_row (y->key);

  /* Those of the table keep its order, since some depend on others before them. */
  if (one && other)
    return (one > other) - (one < other);
  return (other != NULL) - (one != NULL);
}

gboolean
dyno_param_space_choose (DynoParamSpace *space, const DynoJob *job, const DynoDatasetInfo *info,
                         const char *const *texts, GError **error)
{
  g_autoptr (GArray) params = g_array_new (FALSE, FALSE, sizeof (DynoParam));

  for (guint i = 0; texts[i]; i++)
    {
      DynoParam param;

      if (!read_param (texts[i], space, job, info, &param, error))
        return FALSE;
      for (guint k = 0; k < params->len; k++)
        if (is_key (&g_array_index (params, DynoParam, k), param.key))
          return refuse (error, _ ("“%s” is searched twice"), param.key);
      if (param.kind != DYNO_PARAM_CHOICE && strchr (texts[i], '='))
        {
          param.low /= get_unit (space, &param);
          param.high /= get_unit (space, &param);
        }
      g_array_append_val (params, param);
    }
  if (params->len == 0 || params->len > DYNO_PARAMS_MOST)
    return refuse (error, _ ("A search is over one setting at least, and %d at most"),
                   DYNO_PARAMS_MOST);
  g_array_sort (params, compare_places);
  space->n = 0;
  for (guint i = 0; i < params->len; i++)
    dyno_param_add (space, &g_array_index (params, DynoParam, i));
  return TRUE;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Whether the value is the job's own, which is a choice of each space. */
static gboolean
is_own (const DynoParamSpace *space, const DynoParam *param, const char *value)
{
  g_autofree char *own =
      dyno_setting_find (param->key) ? dyno_settings_get (&space->own, param->key) : NULL;

  return strcmp (value, own ? own : "own") == 0;
}

void
dyno_param_space_get_range (const DynoParamSpace *space, guint index, double *low, double *high)
{
  const DynoParam *param = &space->params[index];
  const DynoSettingInfo *info = dyno_setting_find (param->key);
  double unit = get_unit (space, param);

  *low = param->low * unit;
  *high = param->high * unit;
  if (!info)
    return;
  *low = CLAMP (*low, info->minimum, info->maximum);
  *high = CLAMP (*high, info->minimum, info->maximum);
}

char *
dyno_param_space_write (const DynoParamSpace *space, guint index)
{
  const DynoParam *param = &space->params[index];
  gboolean full = param->n_choices == DYNO_PARAM_MOST_CHOICES;
  GString *text = g_string_new (param->key);
  double ends[2];

  if (is_key (param, "augment"))
    return g_string_free (text, FALSE);
  dyno_param_space_get_range (space, index, &ends[0], &ends[1]);
  for (guint i = 0; i < 2 && param->kind != DYNO_PARAM_CHOICE; i++)
    {
      char number[G_ASCII_DTOSTR_BUF_SIZE];

      g_ascii_formatd (number, sizeof number, "%.3g", ends[i]);
      g_string_append_printf (text, "%s%s", i > 0 ? ".." : "=", number);
    }
  for (guint i = 0, n = 0; i < param->n_choices; i++)
    if (strcmp (param->choices[i], "own") != 0
        && (!full || !is_own (space, param, param->choices[i])))
      g_string_append_printf (text, "%s%s", n++ > 0 ? "|" : "=", param->choices[i]);
  return g_string_free (text, FALSE);
}

/* Ranges that are usual for these settings, which are not searched unless they are chosen. */
static const char *const others[] = {
  "batch_size=16|32|64|128", "model.width=0.5..2",  "model.stochastic_depth=0..0.3",
  "head_lr_factor=1..30",    "layer_decay=0.65..1", "clip_norm=0|0.5|1|5",
  "loss.focal=0|1|2",        "loss.dice=0|0.5|1",   "loss.smooth_l1",
  "loss.class_weights",      "data.balance",        "augment.flip",
  "augment.flip_vertical",   "weight_decay.norms",
};

/* TRUE: the job is valid with each value, or with both ends of the range. */
static gboolean
accepts (const DynoJob *job, const DynoDatasetInfo *info, const DynoParamSpace *space)
{
  const DynoTpeDimension *dimension = &space->dimensions[0];
  guint n = MAX (space->params[0].n_choices, 2);

  for (guint i = 0; i < n; i++)
    {
      double at = dimension->n_choices > 0 ? i : i == 0 ? dimension->low : dimension->high;
      g_autoptr (DynoJob) changed = dyno_job_copy (job);
      DynoNetworkParams params;

      if (!dyno_param_space_get_settings (space, &at, &changed->settings, NULL)
          || !dyno_job_get_network (changed, info, DYNO_MODE_TRAIN, &params, NULL))
        return FALSE;
    }
  return TRUE;
}

char **
dyno_param_space_suggest (const DynoJob *job, const DynoDatasetInfo *info)
{
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  DynoParamSpace usual;

  dyno_param_space_init (&usual, job, info);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      const char *one[] = { others[i], NULL };
      DynoParamSpace space = usual;
      g_autofree char *text = NULL;

      if (!dyno_param_space_choose (&space, job, info, one, NULL) || !accepts (job, info, &space))
        continue;
      text = dyno_param_space_write (&space, 0);
      g_strv_builder_add (list, text);
    }
  return g_strv_builder_end (list);
}
