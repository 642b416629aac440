/* SPDX-License-Identifier: MIT */
/* Weights of classes out of a text. */
#include "classweights.h"
#include "text.h"
#include "train-error.h"
#include <math.h>
#include <string.h>

/* Weights are floats, and losses are weighed in fp16 too: what is beyond is a slip. */
#define MOST_WEIGHT 1e6

static gboolean
refuse (const char *what, const char *why, GError **error)
{
  g_autofree char *shown = g_utf8_make_valid (what, (gssize) strnlen (what, 60));

  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
               "loss.weights: “%s” %s; give a number for each class, as 1,2,0.5, or some by name, "
               "as cat=2,dog=0.5",
               shown, why);
  return FALSE;
}

static gboolean
read_weight (const char *text, float *weight, GError **error)
{
  char *end;
  double value = g_ascii_strtod (text, &end);

  if (end == text || *end != '\0')
    return refuse (text, "is no number", error);
  if (!isfinite (value))
    return refuse (text, "is not finite", error);
  if (value > MOST_WEIGHT)
    return refuse (text, "is more than 1000000", error);
  if (value < 0)
    return refuse (text, "is negative", error);
  *weight = value == 0 ? 0 : (float) value; /* no negative zero */
  return TRUE;
}

static gboolean
refuse_name (const char *name, const DynoDatasetInfo *info, GError **error)
{
  const char *near = dyno_text_nearest (name, (const char *const *) info->class_names, 2);

  if (near)
    return dyno_train_refuse_data (
        error, "loss.weights names the class “%s”, which “%s” does not have; did you mean “%s”?",
        name, info->name, near);
  return dyno_train_refuse_data (
      error,
      "loss.weights names the class “%s”, which “%s” does not have; dynoctl inspect lists its "
      "classes",
      name, info->name);
}

/* A name may itself hold an equals sign: the last one counts. */
static gboolean
take_named (char *item, const DynoDatasetInfo *info, float *weights, gboolean *given,
            GError **error)
{
  char *equals = strrchr (item, '=');
  guint32 c = 0;

  if (!equals)
    return refuse (item, "names no class", error);
  *equals = '\0';
  g_strchomp (item);
  while (c < info->n_classes && !g_str_equal (info->class_names[c], item))
    c++;
  if (c == info->n_classes)
    return refuse_name (item, info, error);
  if (given[c])
    return dyno_train_refuse_data (error, "loss.weights names the class “%s” twice", item);
  given[c] = TRUE;
  return read_weight (g_strchug (equals + 1), &weights[c], error);
}

static gboolean
take_list (char **items, const DynoDatasetInfo *info, float *weights, GError **error)
{
  guint n = g_strv_length (items);

  for (guint i = 0; i < n; i++)
    {
      float weight;
      if (!read_weight (items[i], &weight, error))
        return FALSE;
      if (i < info->n_classes)
        weights[i] = weight;
    }
  return n == info->n_classes
         || dyno_train_refuse_data (
             error,
             "loss.weights has %u numbers, and “%s” %u classes; give as many, or some by name", n,
             info->name, info->n_classes);
}

float *
dyno_class_weights_parse (const char *text, const DynoDatasetInfo *info, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ",", -1);
  g_autofree float *weights = g_new (float, (gsize) info->n_classes + 1);
  g_autofree gboolean *given = g_new0 (gboolean, (gsize) info->n_classes + 1);
  gboolean named = strchr (text, '=') != NULL, any = FALSE;

  for (guint32 c = 0; c < info->n_classes; c++)
    weights[c] = 1;
  for (guint i = 0; items[i]; i++)
    {
      g_strstrip (items[i]);
      if (named && !take_named (items[i], info, weights, given, error))
        return NULL;
    }
  if (!named && !take_list (items, info, weights, error))
    return NULL;
  for (guint32 c = 0; c < info->n_classes; c++)
    any = any || weights[c] > 0;
  if (!any)
    {
      refuse (text, "leaves no class with a weight above 0", error);
      return NULL;
    }
  return g_steal_pointer (&weights);
}
