/* SPDX-License-Identifier: MIT */
/* A number's coordinate in the search is its logarithm, the logarithm of its distance from 1, or
 * itself; a choice's is its index.  The optimizer comes before the settings that depend on it. */
#include "params-private.h"
#include "intl.h"
#include <math.h>
#include <string.h>

#define OFF_STRENGTH 0.05 /* a smaller strength has no visible effect and counts as 0 */
#define LEAST_CROP   0.08 /* least share of the area, as in torchvision's RandomResizedCrop */
#define MIXUP        0.2  /* the usual parameters (Zhang et al. 2018, Yun et al. 2019) */
#define CUTMIX       1.0

static const DynoParamRow table[] = {
  { "optimizer", DYNO_PARAM_CHOICE, .choices = "sgd,adamw,lion" },
  { "lr", DYNO_PARAM_LOG, 1.0 / 30, 30 },
  { "weight_decay", DYNO_PARAM_LOG, 1e-6, 0.3 },
  { "momentum", DYNO_PARAM_FROM_ONE, 0.5, 0.99 },
  { "schedule", DYNO_PARAM_CHOICE, .choices = "constant,cosine,step" },
  { "warmup_epochs", DYNO_PARAM_LINEAR, 0, 0.2 },
  { "label_smoothing", DYNO_PARAM_LINEAR, 0, 0.2 },
  { "model.dropout", DYNO_PARAM_LINEAR, 0, 0.6 },
  { "ema_decay", DYNO_PARAM_CHOICE, .choices = "0,0.99,0.999" },
  { "augment", DYNO_PARAM_LINEAR, 0, 1 },
  { "augment.mix", DYNO_PARAM_CHOICE, .choices = "none,mixup,cutmix" },
};

/* The random changes that one parameter, the strength, scales.  The settings of mirroring stay the
 * job's: whether a mirrored sample is valid depends on the data. */
static const struct {
  const char *key;
  /* value where the job has no random changes; 0: not used then.  For shifts: share of the smaller
   * side */
  double usual;
} changes[] = {
  { "augment.crop", 0 },         { "augment.shift", 0.125 },     { "augment.rotate", 10 },
  { "augment.brightness", 0.2 }, { "augment.contrast", 0.2 },    { "augment.saturation", 0 },
  { "augment.hue", 0 },          { "augment.erase", 0.1 },       { "augment.noise", 0 },
  { "augment.time_mask", 0.1 },  { "augment.time_shift", 0.05 },
};
G_STATIC_ASSERT (G_N_ELEMENTS (changes) <= DYNO_PARAM_MOST_CHANGES);
G_STATIC_ASSERT (G_N_ELEMENTS (table) <= DYNO_PARAMS_MOST);

static gboolean
is_key (const DynoParam *param, const char *key)
{
  return strcmp (param->key, key) == 0;
}

const DynoParamRow *
dyno_param_find_row (const char *key)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (strcmp (table[i].key, key) == 0)
      return &table[i];
  return NULL;
}

/* --- the space -------------------------------------------------------------------------------- */

/* TRUE: the job is valid with this value. */
static gboolean
is_accepted (const DynoJob *job, const DynoDatasetInfo *info, const char *key, double value)
{
  g_autoptr (DynoJob) changed = dyno_job_copy (job);
  DynoNetworkParams params;

  return dyno_settings_set_number (&changed->settings, key, value, NULL)
         && dyno_job_get_network (changed, info, DYNO_MODE_TRAIN, &params, NULL);
}

static void
find_changes (DynoParamSpace *space, const DynoJob *job, const DynoDatasetInfo *info)
{
  guint32 width = 0, height = 0;
  gboolean sized = dyno_job_get_size (job, info, &width, &height, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      double own = dyno_settings_get_number (&job->settings, changes[i].key);

      if (strcmp (changes[i].key, "augment.crop") == 0 && own >= 1)
        own = 0; /* the crop is the whole image */
      if (own > 0)
        space->changes[space->n_changes++] = (DynoParamChange){ changes[i].key, own };
    }
  space->own_strength = space->n_changes > 0 ? 0.5 : 0;
  for (guint i = 0; space->own_strength == 0 && i < G_N_ELEMENTS (changes); i++)
    {
      double usual = changes[i].usual;

      if (strcmp (changes[i].key, "augment.shift") == 0)
        usual = sized ? floor (usual * MIN (width, height)) : 0;
      if (usual > 0 && is_accepted (job, info, changes[i].key, usual))
        space->changes[space->n_changes++] = (DynoParamChange){ changes[i].key, usual };
    }
}

gboolean
dyno_param_is_searched (const DynoParamSpace *space, const DynoParamRow *row, const DynoJob *job,
                        const DynoDatasetInfo *info)
{
  const DynoSettingInfo *setting = dyno_setting_find (row->key);

  if (strcmp (row->key, "augment") == 0)
    return space->n_changes > 0;
  if (strcmp (row->key, "augment.mix") == 0)
    return dyno_job_meets (dyno_setting_find ("augment.mixup"), job->model, info)
           && is_accepted (job, info, "augment.mixup", MIXUP)
           && is_accepted (job, info, "augment.cutmix", CUTMIX);
  return dyno_job_meets (setting, job->model, info);
}

/* The choice of mixup and cutmix that matches the settings; NULL: none of them does. */
static const char *
name_mix (const DynoSettings *s)
{
  double mixup = s->augment_mixup, cutmix = s->augment_cutmix;

  return mixup == 0 && cutmix == 0        ? "none"
         : mixup == MIXUP && cutmix == 0  ? "mixup"
         : mixup == 0 && cutmix == CUTMIX ? "cutmix"
                                          : NULL;
}

void
dyno_param_fill_choices (DynoParam *param, const char *const *names, const DynoSettings *own)
{
  g_autofree char *value = NULL;
  gboolean found = FALSE;

  if (is_key (param, "augment.mix"))
    value = g_strdup (name_mix (own) ? name_mix (own) : "own");
  else
    value = dyno_settings_get (own, param->key);
  for (guint i = 0; names[i]; i++)
    {
      found = found || strcmp (names[i], value) == 0;
      param->choices[param->n_choices++] = g_intern_string (names[i]);
    }
  if (!found)
    param->choices[param->n_choices++] = g_intern_string (value);
}

static double
to_coordinate (const DynoParam *param, double value)
{
  switch (param->kind)
    {
    case DYNO_PARAM_LOG:
      return log (MAX (value, 1e-300));
    case DYNO_PARAM_FROM_ONE:
      return -log (MAX (1 - value, 1e-300));
    case DYNO_PARAM_LINEAR:
    case DYNO_PARAM_CHOICE:
    default:
      return value;
    }
}

static double
from_coordinate (const DynoParam *param, double at)
{
  switch (param->kind)
    {
    case DYNO_PARAM_LOG:
      return exp (at);
    case DYNO_PARAM_FROM_ONE:
      return 1 - exp (-at);
    case DYNO_PARAM_LINEAR:
    case DYNO_PARAM_CHOICE:
    default:
      return at;
    }
}

void
dyno_param_add (DynoParamSpace *space, const DynoParam *param)
{
  space->params[space->n] = *param;
  space->dimensions[space->n++] = (DynoTpeDimension){ .low = to_coordinate (param, param->low),
                                                      .high = to_coordinate (param, param->high),
                                                      .n_choices = param->n_choices };
}

DynoParam
dyno_param_make (const DynoParamRow *row, const DynoSettings *own)
{
  DynoParam param = { row->key, row->kind, row->low, row->high };

  if (row->choices)
    {
      g_auto (GStrv) names = g_strsplit (row->choices, ",", -1);

      dyno_param_fill_choices (&param, (const char *const *) names, own);
    }
  return param;
}

void
dyno_param_space_init (DynoParamSpace *space, const DynoJob *job, const DynoDatasetInfo *info)
{
  *space = (DynoParamSpace){ .own = job->settings };
  find_changes (space, job, info);
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (dyno_param_is_searched (space, &table[i], job, info))
      {
        DynoParam param = dyno_param_make (&table[i], &job->settings);

        dyno_param_add (space, &param);
      }
}

double
dyno_param_base_rate (const DynoParamSpace *space, gint optimizer)
{
  const DynoSettings *own = &space->own;
  double usual = dyno_optimizer_get_info ((DynoOptimizer) own->optimizer)->usual_lr,
         rate = own->lr > 0 ? own->lr : usual;

  return rate * dyno_optimizer_get_info ((DynoOptimizer) optimizer)->usual_lr / usual;
}

static gboolean
counts_in_tpe (const double *point, guint dimension, gpointer data)
{
  return dyno_param_space_counts (data, point, dimension);
}

DynoTpe
dyno_param_space_get_tpe (const DynoParamSpace *space)
{
  return (DynoTpe){ .n = space->n,
                    .dimensions = space->dimensions,
                    .counts = counts_in_tpe,
                    .data = (gpointer) space,
                    .seed = (guint64) space->own.seed };
}

/* --- points ----------------------------------------------------------------------------------- */

static gboolean
set_rounded (DynoSettings *settings, const char *key, double value, GError **error)
{
  const DynoSettingInfo *info = dyno_setting_find (key);
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  value = CLAMP (value, info->minimum, info->maximum);
  if (info->type == DYNO_SETTING_INT)
    value = round (value);
  g_ascii_formatd (text, sizeof text, "%.3g", value);
  return dyno_settings_set (settings, key, text, error);
}

static gboolean
set_strength (const DynoParamSpace *space, double strength, DynoSettings *settings, GError **error)
{
  if (strength < OFF_STRENGTH)
    strength = 0;
  for (guint i = 0; i < space->n_changes; i++)
    {
      const DynoParamChange *change = &space->changes[i];
      double value = change->usual * 2 * strength;

      /* The value is the least share of the area that a crop keeps: both 1 and 0 mean the whole
       * image. */
      if (strcmp (change->key, "augment.crop") == 0)
        value = strength > 0 ? MAX (1 - (1 - change->usual) * 2 * strength, LEAST_CROP) : 0;
      if (!set_rounded (settings, change->key, value, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
set_mix (const char *name, DynoSettings *settings, GError **error)
{
  double mixup = strcmp (name, "mixup") == 0 ? MIXUP : 0,
         cutmix = strcmp (name, "cutmix") == 0 ? CUTMIX : 0;

  if (strcmp (name, "own") == 0)
    return TRUE;
  return dyno_settings_set_number (settings, "augment.mixup", mixup, error)
         && dyno_settings_set_number (settings, "augment.cutmix", cutmix, error);
}

static gboolean
set_param (const DynoParamSpace *space, guint i, double at, DynoSettings *settings, GError **error)
{
  const DynoParam *param = &space->params[i];
  const DynoTpeDimension *dimension = &space->dimensions[i];
  double value = from_coordinate (param, CLAMP (at, dimension->low, dimension->high));

  if (param->kind == DYNO_PARAM_CHOICE && !(at >= 0 && at < param->n_choices))
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING, "%s has no choice %g",
                   param->key, at);
      return FALSE;
    }
  if (is_key (param, "augment.mix"))
    return set_mix (param->choices[(guint) at], settings, error);
  if (param->kind == DYNO_PARAM_CHOICE)
    return dyno_settings_set (settings, param->key, param->choices[(guint) at], error);
  if (is_key (param, "augment"))
    return set_strength (space, value, settings, error);
  if (is_key (param, "lr"))
    value *= dyno_param_base_rate (space, settings->optimizer);
  else if (is_key (param, "warmup_epochs"))
    value *= (double) settings->epochs;
  return set_rounded (settings, param->key, value, error);
}

gboolean
dyno_param_space_get_settings (const DynoParamSpace *space, const double *point,
                               DynoSettings *settings, GError **error)
{
  DynoSettings own = space->own;

  for (guint i = 0; i < space->n; i++)
    if (!isnan (point[i]) && !set_param (space, i, point[i], &own, error))
      return FALSE;
  *settings = own;
  return TRUE;
}

/* Checks the parameter's dependencies with the settings of the parameters before it at the
 * point. */
gboolean
dyno_param_space_counts (const DynoParamSpace *space, const double *point, guint param)
{
  const DynoSettingInfo *info = dyno_setting_find (space->params[param].key);
  DynoSettings settings = space->own;

  if (!info || !info->depends_on)
    return TRUE;
  for (guint i = 0; i < param; i++)
    if (!isnan (point[i]))
      set_param (space, i, point[i], &settings, NULL);
  return dyno_setting_counts (info, &settings);
}

static double
find_choice (const DynoParam *param, const char *name)
{
  for (guint c = 0; name && c < param->n_choices; c++)
    if (strcmp (param->choices[c], name) == 0)
      return c;
  return param->n_choices - 1; /* the job's own values, which match no named choice */
}

/* The strength that the settings imply: the largest over all changes, since others are clipped at
 * the ends of their ranges.  Integer settings, which are rounded, are used only where there are no
 * others. */
static double
find_strength (const DynoParamSpace *space, const DynoSettings *settings)
{
  double most = 0;

  for (guint i = 0; i < space->n_changes; i++)
    {
      const DynoParamChange *change = &space->changes[i];
      double value = dyno_settings_get_number (settings, change->key), strength;

      if (space->n_changes > 1 && dyno_setting_find (change->key)->type == DYNO_SETTING_INT)
        continue;
      if (strcmp (change->key, "augment.crop") == 0)
        strength = value > 0 && change->usual < 1 ? (1 - value) / (1 - change->usual) / 2 : 0;
      else
        strength = value / change->usual / 2;
      most = MAX (most, strength);
    }
  return MIN (most, 1);
}

static double
get_coordinate (const DynoParamSpace *space, guint i, const DynoSettings *settings)
{
  const DynoParam *param = &space->params[i];
  const DynoTpeDimension *dimension = &space->dimensions[i];
  double value;

  if (param->kind == DYNO_PARAM_CHOICE)
    {
      g_autofree char *own = is_key (param, "augment.mix")
                                 ? g_strdup (name_mix (settings))
                                 : dyno_settings_get (settings, param->key);

      return find_choice (param, own);
    }
  if (is_key (param, "augment"))
    value = find_strength (space, settings);
  else
    value = dyno_settings_get_number (settings, param->key);
  if (is_key (param, "lr"))
    value /= dyno_param_base_rate (space, settings->optimizer);
  else if (is_key (param, "warmup_epochs"))
    value /= (double) MAX (settings->epochs, 1);
  return CLAMP (to_coordinate (param, value), dimension->low, dimension->high);
}

void
dyno_param_space_get_point (const DynoParamSpace *space, const DynoSettings *settings,
                            double *point)
{
  for (guint i = 0; i < space->n; i++)
    {
      const DynoSettingInfo *info = dyno_setting_find (space->params[i].key);
      gboolean counts = !info || dyno_setting_counts (info, settings);

      point[i] = counts ? get_coordinate (space, i, settings) : (double) NAN;
    }
}

char *
dyno_param_space_describe (const DynoParamSpace *space, const DynoSettings *settings)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint n;
  const DynoSettingInfo *list = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *own = dyno_settings_get (&space->own, list[i].key),
                      *value = dyno_settings_get (settings, list[i].key);

      if (strcmp (own, value) == 0)
        continue;
      if (!dyno_setting_counts (&list[i], settings))
        continue;
      g_string_append_printf (text, "%s%s=%s", text->len > 0 ? " " : "", list[i].key, value);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}
