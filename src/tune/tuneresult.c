/* SPDX-License-Identifier: MIT */
/* Copies and frees results, and has the names for files and the words for people. */
#include "tuneresult.h"
#include "intl.h"
#include <math.h>
#include <string.h>

static const char *const outcome_names[] = { "ok",     "does-not-fit", "out-of-memory",
                                             "failed", "diverged",     "dropped" };
static const char *const outcome_classes[] = { "ok", "oom", "oom", "failed", "failed", "dropped" };

const char *
dyno_trial_outcome_name (DynoTrialOutcome outcome)
{
  g_return_val_if_fail ((guint) outcome < G_N_ELEMENTS (outcome_names), "failed");
  return outcome_names[outcome];
}

const char *
dyno_trial_outcome_class (DynoTrialOutcome outcome)
{
  g_return_val_if_fail ((guint) outcome < G_N_ELEMENTS (outcome_classes), "failed");
  return outcome_classes[outcome];
}

gboolean
dyno_trial_outcome_find (const char *name, DynoTrialOutcome *outcome)
{
  for (guint i = 0; i < G_N_ELEMENTS (outcome_names); i++)
    if (strcmp (outcome_names[i], name) == 0)
      {
        *outcome = (DynoTrialOutcome) i;
        return TRUE;
      }
  return FALSE;
}

char *
dyno_trial_describe (const DynoSettings *s)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_printf (
      text, ngettext ("batch %d, %s, %d worker", "batch %d, %s, %d workers", (gulong) s->workers),
      (int) s->batch_size, s->amp ? "AMP" : "fp32", (int) s->workers);
  if (s->accumulate != 1)
    g_string_append_printf (text, _ (", accumulate %d"), (int) s->accumulate);
  if (s->cache)
    g_string_append (text, _ (", cache"));
  if (s->checkpointing)
    g_string_append (text, _ (", checkpointing"));
  if (s->prefetch != g_ascii_strtoll (dyno_setting_find ("prefetch")->default_value, NULL, 10))
    g_string_append_printf (text, _ (", prefetch %d"), (int) s->prefetch);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

#define MEMBER(name) G_STRUCT_OFFSET (DynoTrial, name)

static const DynoRecordField trial_fields[] = {
  { "number", DYNO_RECORD_UINT, MEMBER (number), "number" },
  { "stage", DYNO_RECORD_OTHER, 0, NULL },
  { "outcome", DYNO_RECORD_OTHER, 0, NULL },
  { "samples_per_s", DYNO_RECORD_RATE, MEMBER (samples_per_s), "samples_per_s" },
  { "low", DYNO_RECORD_RATE, MEMBER (low), "low" },
  { "high", DYNO_RECORD_RATE, MEMBER (high), "high" },
  { "predicted", DYNO_RECORD_RATE, MEMBER (predicted), "predicted" },
  { "train_samples_per_s", DYNO_RECORD_RATE, MEMBER (train_samples_per_s), "train_samples_per_s" },
  { "validation_s", DYNO_RECORD_RATE, MEMBER (validation_s), "validation_s" },
  { "epoch_end_s", DYNO_RECORD_RATE, MEMBER (epoch_end_s), "epoch_end_s" },
  { "step_ms", DYNO_RECORD_RATE, MEMBER (step_ms), "step_ms" },
  { "wait_data_ms", DYNO_RECORD_RATE, MEMBER (wait_data_ms), "wait_data_ms" },
  { "outside_cpu", DYNO_RECORD_NUMBER, MEMBER (outside_cpu), "outside_cpu" },
  { "vram_bytes", DYNO_RECORD_COUNT, MEMBER (vram_bytes), "vram_bytes" },
  { "planned_bytes", DYNO_RECORD_COUNT, MEMBER (planned_bytes), "planned_bytes" },
  { "steps", DYNO_RECORD_COUNT, MEMBER (steps), "steps" },
  { "text", DYNO_RECORD_TEXT, MEMBER (text), "text" },
};

const DynoRecordField *
dyno_trial_list_fields (guint *n)
{
  *n = G_N_ELEMENTS (trial_fields);
  return trial_fields;
}

void
dyno_trial_clear (DynoTrial *trial)
{
  g_clear_pointer (&trial->text, g_free);
}

void
dyno_trial_copy (const DynoTrial *trial, DynoTrial *copy)
{
  *copy = *trial;
  copy->text = g_strdup (trial->text);
}

const char *
dyno_trial_stage_text (const char *stage)
{
  if (g_strcmp0 (stage, "today") == 0)
    return "present";
  return g_strcmp0 (stage, "baseline") == 0 ? "base line" : stage;
}

const char *
dyno_ceiling_name (DynoCeilingOf of)
{
  return of == DYNO_CEILING_LOADER ? "loader" : of == DYNO_CEILING_GPU ? "gpu" : "exchange";
}

void
dyno_ceiling_clear (DynoCeiling *ceiling)
{
  g_clear_pointer (&ceiling->text, g_free);
}

void
dyno_ceiling_copy (const DynoCeiling *ceiling, DynoCeiling *copy)
{
  *copy = *ceiling;
  copy->text = g_strdup (ceiling->text);
}

static void
trial_free (gpointer data)
{
  dyno_trial_clear (data);
  g_free (data);
}

static void
ceiling_free (gpointer data)
{
  dyno_ceiling_clear (data);
  g_free (data);
}

static void
racer_free (gpointer data)
{
  DynoTuneRacer *racer = data;

  g_free (racer->text);
  g_free (racer);
}

DynoTuneResult *
dyno_tune_result_new (const DynoJob *job)
{
  DynoTuneResult *result = g_new0 (DynoTuneResult, 1);

  g_atomic_ref_count_init (&result->references);
  result->job = dyno_job_ref (job);
  result->ceilings = g_ptr_array_new_with_free_func (ceiling_free);
  result->trials = g_ptr_array_new_with_free_func (trial_free);
  result->racers = g_ptr_array_new_with_free_func (racer_free);
  result->winner = -1;
  result->device_change = 1;
  result->speedup = result->gain = result->outside_cpu = (double) NAN;
  result->loader_ceiling = result->gpu_ceiling = result->wait_share = (double) NAN;
  result->accumulate_gain = result->half_gain = (double) NAN;
  result->best.stage = result->baseline.stage = result->today.stage = result->fastest.stage = "";
  return result;
}

DynoTuneResult *
dyno_tune_result_ref (DynoTuneResult *result)
{
  g_atomic_ref_count_inc (&result->references);
  return result;
}

void
dyno_tune_result_unref (DynoTuneResult *result)
{
  if (!result || !g_atomic_ref_count_dec (&result->references))
    return;
  g_ptr_array_unref (result->ceilings);
  g_ptr_array_unref (result->trials);
  g_ptr_array_unref (result->racers);
  g_free (result->goal);
  dyno_trial_clear (&result->best);
  dyno_trial_clear (&result->baseline);
  dyno_trial_clear (&result->today);
  dyno_trial_clear (&result->fastest);
  for (guint i = 0; i < result->n_gains; i++)
    {
      g_free (result->gains[i].from);
      g_free (result->gains[i].to);
    }
  g_free (result->gains);
  g_free (result->curve.points);
  g_free (result->curve.text);
  g_free (result->lr_advice);
  g_free (result->preset_text);
  g_free (result->amp_text);
  if (result->numerics)
    dyno_numerics_clear (result->numerics);
  g_free (result->numerics);
  g_strfreev (result->reasons);
  g_free (result->device);
  dyno_job_unref (result->job);
  g_free (result);
}

gboolean
dyno_tune_result_has_best (const DynoTuneResult *result)
{
  return result->best.samples_per_s > 0;
}

gboolean
dyno_tune_result_claims_gain (const DynoTuneResult *result)
{
  return !result->inside_noise && !(result->missing & DYNO_PROOF_INTERVAL);
}
