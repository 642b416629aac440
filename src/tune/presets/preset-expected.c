/* SPDX-License-Identifier: MIT */
/* Decides which jobs a row of a preset is for, and holds its guide's numbers.
 *
 * A row with a condition on a fact that is not known of a job does not match the job: advice for a
 * special workload is never given by guess. */
#include "preset-expected.h"
#include "intl.h"
#include <math.h>
#include <string.h>

/* The parts of a match in rising weight: the highest one decides. */
enum { FITS_TASK = 1, FITS_INPUT = 2, FITS_MODEL = 4, FITS_DATA = 8 };

static const char *const tasks[] = { "", "classes", "values" };
static const char *const inputs[] = { "", "image", "sequence" };

static const struct {
  const char *name;
  double most;
  int faster; /* 1: more is faster, -1: less is, 0: neither */
} quantities[DYNO_PRESET_N_QUANTITIES] = {
  [DYNO_PRESET_SAMPLES_PER_S] = { "samples_per_s", 1e9, 1 },
  [DYNO_PRESET_UTILISATION] = { "utilisation_percent", 100, 0 },
  [DYNO_PRESET_VRAM] = { "vram_gb", 16384, 0 },
  [DYNO_PRESET_POWER] = { "power_w", 1e5, 0 },
  [DYNO_PRESET_EPOCH] = { "epoch_s", 1e9, -1 },
  [DYNO_PRESET_TRAINING] = { "training_min", 1e9, -1 },
  [DYNO_PRESET_TIMES_CPU] = { "times_cpu", 1e9, 0 },
  [DYNO_PRESET_ERROR] = { "error_degrees", 360, 0 },
};

/* --- workloads -------------------------------------------------------------------------------- */

const char *
dyno_preset_task_name (DynoPresetTask task)
{
  return tasks[task];
}

const char *
dyno_preset_input_name (DynoPresetInput input)
{
  return inputs[input];
}

/* Whole words match: "headpose" matches headpose_resnet18, but "resnet1" does not match
 * resnet18. */
static gboolean
names_model (char **models, const char *model)
{
  for (guint i = 0; model && models && models[i]; i++)
    {
      gsize length = strlen (models[i]);
      if (length > 0 && strncmp (model, models[i], length) == 0
          && (model[length] == '\0' || model[length] == '_'))
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_given (char **list)
{
  return list && *list;
}

int
dyno_preset_workload_fits (const DynoPresetWorkload *workload, const DynoPresetSubject *subject)
{
  int score = 0;

  if (workload->framework)
    return -1;
  if (is_given (workload->data))
    {
      if (!subject->data || !g_strv_contains ((const char *const *) workload->data, subject->data))
        return -1;
      score += FITS_DATA;
    }
  if (is_given (workload->models))
    {
      if (!names_model (workload->models, subject->model))
        return -1;
      score += FITS_MODEL;
    }
  if (workload->input != DYNO_PRESET_INPUT_ANY)
    {
      if (subject->input != workload->input)
        return -1;
      score += FITS_INPUT;
    }
  if (workload->task != DYNO_PRESET_TASK_ANY)
    {
      if (subject->task != workload->task)
        return -1;
      score += FITS_TASK;
    }
  return score;
}

static void
add_list (GPtrArray *parts, char **list)
{
  if (is_given (list))
    g_ptr_array_add (parts, g_strjoinv ("/", list));
}

char *
dyno_preset_workload_describe (const DynoPresetWorkload *workload)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);

  add_list (parts, workload->data);
  add_list (parts, workload->models);
  if (workload->input == DYNO_PRESET_INPUT_SEQUENCE)
    g_ptr_array_add (parts, g_strdup (_ ("sequences")));
  if (workload->task == DYNO_PRESET_TASK_VALUES)
    g_ptr_array_add (parts, g_strdup (_ ("values to predict")));
  else if (workload->task == DYNO_PRESET_TASK_CLASSES)
    g_ptr_array_add (parts, g_strdup (_ ("classes")));
  if (workload->framework)
    g_ptr_array_add (parts, g_strdup (workload->framework));
  g_ptr_array_add (parts, NULL);
  return g_strjoinv (", ", (char **) parts->pdata);
}

void
dyno_preset_workload_clear (DynoPresetWorkload *workload)
{
  g_clear_pointer (&workload->data, g_strfreev);
  g_clear_pointer (&workload->models, g_strfreev);
  g_clear_pointer (&workload->framework, g_free);
}

/* --- numbers ---------------------------------------------------------------------------------- */

const char *
dyno_preset_quantity_name (DynoPresetQuantity quantity)
{
  return quantities[quantity].name;
}

double
dyno_preset_quantity_most (DynoPresetQuantity quantity)
{
  return quantities[quantity].most;
}

gboolean
dyno_preset_range_is_given (const DynoPresetRange *range)
{
  return !isnan (range->least);
}

char *
dyno_preset_range_to_text (const DynoPresetRange *range)
{
  return range->least == range->most ? g_strdup_printf ("%.4g", range->least)
                                     : g_strdup_printf ("%.4g-%.4g", range->least, range->most);
}

char *
dyno_preset_quantity_describe (DynoPresetQuantity quantity, const DynoPresetRange *range)
{
  g_autofree char *text = dyno_preset_range_to_text (range);

  switch (quantity)
    {
    case DYNO_PRESET_SAMPLES_PER_S:
      /* Translators: a number, or two as 300-500; so are those below */
      return g_strdup_printf (_ ("%s samples/s"), text);
    case DYNO_PRESET_UTILISATION:
      return g_strdup_printf (_ ("%s %% GPU utilisation"), text);
    case DYNO_PRESET_VRAM:
      return g_strdup_printf (_ ("%s GB"), text);
    case DYNO_PRESET_POWER:
      return g_strdup_printf (_ ("%s W"), text);
    case DYNO_PRESET_EPOCH:
      return g_strdup_printf (_ ("%s s an epoch"), text);
    case DYNO_PRESET_TRAINING:
      return g_strdup_printf (_ ("%s min of training"), text);
    case DYNO_PRESET_TIMES_CPU:
      return g_strdup_printf (_ ("%s times as fast as the CPU"), text);
    case DYNO_PRESET_ERROR:
      return g_strdup_printf (_ ("a mean error of %s degrees"), text);
    case DYNO_PRESET_N_QUANTITIES:
    default:
      return g_strdup (text);
    }
}

/* " (45 before: 2.25 times as fast)"; for ranges there is no factor. */
static char *
describe_before (DynoPresetQuantity quantity, const DynoPresetRange *now,
                 const DynoPresetRange *before)
{
  g_autofree char *text = dyno_preset_range_to_text (before);
  int faster = quantities[quantity].faster;
  gboolean ranges = now->least != now->most || before->least != before->most;

  if (faster == 0 || ranges || !(now->least > 0 && before->least > 0))
    return g_strdup_printf (_ (" (%s before)"), text);
  return g_strdup_printf (_ (" (%s before: %.3g times as fast)"), text,
                          faster > 0 ? now->least / before->least : before->least / now->least);
}

char *
dyno_preset_expectation_describe (const DynoPresetExpectation *expectation)
{
  GString *text = g_string_new (NULL);
  const char *gap = "";

  if (expectation->batch > 0 && expectation->before_batch > 0)
    g_string_append_printf (text, _ ("batch %u (%u before): "), expectation->batch,
                            expectation->before_batch);
  else if (expectation->batch > 0)
    g_string_append_printf (text, _ ("batch %u: "), expectation->batch);
  for (DynoPresetQuantity i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    if (dyno_preset_range_is_given (&expectation->now[i]))
      {
        g_autofree char *now = dyno_preset_quantity_describe (i, &expectation->now[i]),
                        *before =
                            dyno_preset_range_is_given (&expectation->before[i])
                                ? describe_before (i, &expectation->now[i], &expectation->before[i])
                                : NULL;

        g_string_append_printf (text, "%s%s%s", gap, now, before ? before : "");
        gap = ", ";
      }
  return g_string_free (text, FALSE);
}

void
dyno_preset_expectation_clear (DynoPresetExpectation *expectation)
{
  dyno_preset_workload_clear (&expectation->workload);
}
