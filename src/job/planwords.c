/* SPDX-License-Identifier: MIT */
/* A plan in words: why it does not fit, and which changes make it fit. */
#include "amount.h"
#include "intl.h"
#include "microbatch.h"
#include "planjob.h"
#include <inttypes.h>

char *
dyno_job_plan_excess (const DynoJobPlan *plan)
{
  g_autofree char *total = NULL, *over = NULL, *budget = NULL, *own = NULL;

  total = dyno_amount_bytes (plan->plan.total_bytes, " ");
  budget = dyno_amount_bytes (plan->budget_bytes, " ");
  own = dyno_amount_bytes (plan->device_bytes, " ");
  over = dyno_amount_bytes (
      plan->plan.total_bytes - MIN (plan->limit_bytes, plan->plan.total_bytes), " ");
  if (plan->plan.total_bytes <= plan->limit_bytes)
    {
      g_autofree char *largest = dyno_amount_bytes (plan->plan.largest_bytes, " "),
                      *most = dyno_amount_bytes (plan->plan.buffer_bytes, " ");
      return g_strdup_printf (
          _ ("This needs a single buffer of %s; the largest that the device can have is %s"),
          largest, most);
    }
  if (plan->limit_bytes == plan->budget_bytes)
    return g_strdup_printf (_ ("This needs %s of device memory, %s more than the budget of %s"),
                            total, over, budget);
  return g_strdup_printf (_ ("This needs %s of device memory, %s more than the device's %s (the "
                             "budget of %s is larger)"),
                          total, over, own, budget);
}

/* Suggests a smaller batch with more accumulation. */
static void
append_batch (GString *text, const DynoSettings *s, const DynoJobPlan *plan)
{
  gint64 effective = plan->batch_size * s->accumulate;
  DynoMicroBatch micro = dyno_micro_batch_of (effective, plan->fitting_batch);

  if (micro.size * micro.count == effective)
    g_string_append_printf (text,
                            _ (" A batch of %" PRId64 " fits; batch_size %" PRId64
                               " with accumulate %" PRId64 " keeps the effective batch."),
                            plan->fitting_batch, micro.size, micro.count);
  else
    g_string_append_printf (
        text,
        _ (" A batch of %" PRId64 " fits; batch_size %" PRId64 " with accumulate %" PRId64
           " gives an effective batch of %" PRId64 " in place of %" PRId64 "."),
        plan->fitting_batch, micro.size, micro.count, micro.size * micro.count, effective);
}

/* Lists the possible changes with which less memory is needed. */
static void
append_changes (GString *text, const DynoJobPlan *plan)
{
  g_autoptr (GPtrArray) changes = g_ptr_array_new ();
  g_autofree char *all = NULL;

  if (plan->can_use_amp)
    g_ptr_array_add (changes, (gpointer) _ ("AMP (amp=true)"));
  if (plan->least_size > 0)
    g_ptr_array_add (changes, (gpointer) _ ("smaller images (image_size)"));
  g_ptr_array_add (changes, (gpointer) _ ("a smaller model (model.width)"));
  g_ptr_array_add (changes, NULL);
  all = g_strjoinv (_ (", "), (char **) changes->pdata);
  g_string_append_printf (text, _ (" Less memory is needed with: %s."), all);
}

char *
dyno_job_plan_advice (const DynoJob *job, const DynoJobPlan *plan)
{
  const DynoSettings *s = &job->settings;
  g_autofree char *excess = NULL;
  GString *text;

  if (plan->fits)
    return NULL;
  excess = dyno_job_plan_excess (plan);
  text = g_string_new (excess);
  g_string_append_c (text, '.');
  if (plan->fits_checkpointed && !s->checkpointing)
    g_string_append_printf (
        text, _ (" With activation checkpointing it fits, for about %.0f %% more time a step."),
        100 * plan->checkpointed_share);
  if (plan->fitting_batch > 0)
    append_batch (text, s, plan);
  else
    g_string_append (text, _ (" Not even a batch of 1 fits."));
  append_changes (text, plan);
  return g_string_free (text, FALSE);
}

char *
dyno_job_plan_describe_checkpointing (const DynoJobPlan *plan)
{
  g_autofree char *kept = dyno_amount_bytes (plan->kept_bytes, " "), *saved = NULL;

  if (plan->kept_bytes == 0)
    return NULL;
  if (plan->kept_bytes <= plan->plan.total_bytes)
    return g_strdup (_ ("activation checkpointing saves nothing with this model"));
  saved = dyno_amount_bytes (plan->kept_bytes - plan->plan.total_bytes, " ");
  return g_strdup_printf (
      _ ("activation checkpointing saves %s of %s, for about %.0f %% more time a step"), saved,
      kept, 100 * plan->checkpointed_share);
}

char *
dyno_job_plan_describe_parts (const DynoJobPlan *plan)
{
  if (plan->fits || plan->parts < 2)
    return NULL;
  return g_strdup_printf (_ ("each batch of %" PRId64
                             " goes through the device in %u micro-batches "
                             "of %" PRId64 ", which fit (memory.shrink)"),
                          plan->batch_size, plan->parts, plan->batch_size / plan->parts);
}
