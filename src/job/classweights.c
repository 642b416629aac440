/* SPDX-License-Identifier: MIT */
/* Parses class weights. */
#include "classweights.h"
#include "text.h"
#include "train-error.h"
#include <math.h>
#include <string.h>

/* Weights are floats, and losses are weighted in fp16 too: a larger number is a mistake. */
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
    return refuse (text, "is not a number", error);
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

static gboolean
find_class (const DynoDatasetInfo *info, const char *name, guint32 *c)
{
  for (*c = 0; *c < info->n_classes; ++*c)
    if (g_str_equal (info->class_names[*c], name))
      return TRUE;
  return FALSE;
}

/* A name may contain an equals sign: the last one separates name and number. */
static gboolean
take_named (char *item, const DynoDatasetInfo *info, float *weights, gboolean *given,
            GError **error)
{
  char *equals = strrchr (item, '=');
  guint32 c;

  if (!equals)
    return refuse (item, "names no class", error);
  *equals = '\0';
  g_strchomp (item);
  if (!find_class (info, item, &c))
    return refuse_name (item, info, error);
  if (given[c])
    return dyno_train_refuse_data (error, "loss.weights names the class “%s” twice", item);
  given[c] = TRUE;
  return read_weight (g_strchug (equals + 1), &weights[c], error);
}

/* The first n parts joined to one item. */
static char *
join_parts (char **parts, guint n)
{
  g_autoptr (GString) item = g_string_new (parts[0]);

  for (guint i = 1; i < n; i++)
    g_string_append_printf (item, ",%s", parts[i]);
  return g_strstrip (g_string_free (g_steal_pointer (&item), FALSE));
}

/* The number of parts between commas that form the first item.  A name may contain up to `most`
 * commas: the longest item whose name is a class is taken. */
static guint
count_parts (char **parts, const DynoDatasetInfo *info, guint most)
{
  guint n = g_strv_length (parts);

  for (n = MIN (n, most + 1); n > 1; n--)
    {
      g_autofree char *item = join_parts (parts, n);
      char *equals = strrchr (item, '=');
      guint32 c;

      if (!equals || strchr (equals, ','))
        continue;
      *equals = '\0';
      if (find_class (info, g_strchomp (item), &c))
        break;
    }
  return n;
}

static gboolean
take_all_named (char **parts, const DynoDatasetInfo *info, float *weights, GError **error)
{
  g_autofree gboolean *given = g_new0 (gboolean, (gsize) info->n_classes + 1);
  guint most = 0;

  for (guint32 c = 0; c < info->n_classes; c++)
    {
      guint n = 0;
      for (const char *at = info->class_names[c]; (at = strchr (at, ',')); at++)
        n++;
      most = MAX (most, n);
    }
  while (*parts)
    {
      guint n = count_parts (parts, info, most);
      g_autofree char *item = join_parts (parts, n);

      if (!take_named (item, info, weights, given, error))
        return FALSE;
      parts += n;
    }
  return TRUE;
}

static gboolean
take_list (char **items, const DynoDatasetInfo *info, float *weights, GError **error)
{
  guint n = g_strv_length (items);

  for (guint i = 0; i < n; i++)
    {
      float weight;
      if (!read_weight (g_strstrip (items[i]), &weight, error))
        return FALSE;
      if (i < info->n_classes)
        weights[i] = weight;
    }
  return n == info->n_classes
         || dyno_train_refuse_data (
             error, "loss.weights has %u %s, and “%s” %u classes; give as many, or some by name", n,
             dyno_plural (n, "number", "numbers"), info->name, info->n_classes);
}

float *
dyno_class_weights_parse (const char *text, const DynoDatasetInfo *info, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ",", -1);
  g_autofree float *weights = g_new (float, (gsize) info->n_classes + 1);
  gboolean any = FALSE;

  for (guint32 c = 0; c < info->n_classes; c++)
    weights[c] = 1;
  if (!(strchr (text, '=') ? take_all_named (items, info, weights, error)
                           : take_list (items, info, weights, error)))
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
