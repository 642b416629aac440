/* SPDX-License-Identifier: MIT */
#include "tune-json.h"
#include "formats.h"
#include "job-options.h"
#include "jsontext.h"
#include "output.h"
#include <math.h>

/* Adds the facts of a trial, then all of its settings. */
static void
print_trial_members (DynoJson *json, const DynoTrial *trial)
{
  guint n;
  const DynoRecordField *fields = dyno_trial_list_fields (&n);
  DynoTrial shown = *trial;

  if (!(shown.predicted > 0))
    shown.predicted = (double) NAN;
  dyno_json_string (json, "stage", trial->stage);
  dyno_json_string (json, "outcome", dyno_trial_outcome_class (trial->outcome));
  dyno_json_record (json, fields, n, &shown);
  dyno_export_json_settings (json, &trial->settings);
}

static void
print_ceiling_members (DynoJson *json, const DynoCeiling *ceiling)
{
  dyno_json_string (json, "of", dyno_ceiling_name (ceiling->of));
  dyno_export_json_settings (json, &ceiling->settings);
  dyno_json_double (json, "samples_per_s", ceiling->samples_per_s);
  dyno_json_double (json, "low", ceiling->low);
  dyno_json_double (json, "high", ceiling->high);
  dyno_json_string (json, "outcome", dyno_trial_outcome_class (ceiling->outcome));
  dyno_json_double (json, "outside_cpu", ceiling->outside_cpu);
  dyno_json_uint (json, "vram_bytes", ceiling->vram_bytes);
  dyno_json_uint (json, "planned_bytes", ceiling->planned_bytes);
  dyno_json_string (json, "text", ceiling->text);
}

/* The rate; NaN, which is written as null, for a trial that failed. */
static double
known_rate (const DynoTrial *trial)
{
  return trial->samples_per_s > 0 ? trial->samples_per_s : (double) NAN;
}

/* Adds "goal"; null if the search had none. */
static void
print_goal (DynoJson *json, const DynoTuneResult *r)
{
  if (!r->goal)
    {
      dyno_json_null (json, "goal");
      return;
    }
  dyno_json_begin_object (json, "goal");
  dyno_json_string (json, "metric", r->goal->metric);
  dyno_json_double (json, "value", r->goal->value);
  dyno_json_bool (json, "reached", r->winner >= 0);
  dyno_json_begin_array (json, "runs");
  for (guint i = 0; i < r->racers->len; i++)
    {
      const DynoTuneRacer *racer = r->racers->pdata[i];

      if (!racer->ran)
        continue;
      dyno_json_begin_object (json, NULL);
      dyno_export_json_settings (json, &racer->settings);
      dyno_json_bool (json, "reached", racer->learning.reached);
      dyno_json_double (json, "seconds", racer->learning.seconds);
      dyno_json_uint (json, "epochs", racer->learning.epochs);
      dyno_json_double (json, "best", racer->learning.best);
      dyno_json_string (json, "text", racer->text);
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
  dyno_json_end_object (json);
}

/* null: the values were not measured. */
static void
print_equal_epochs (DynoJson *json, const DynoTuneResult *r)
{
  if (r->equal_epochs == 0)
    {
      dyno_json_null (json, "equal_epochs");
      return;
    }
  dyno_json_begin_object (json, "equal_epochs");
  dyno_json_uint (json, "epochs", r->equal_epochs);
  dyno_json_string (json, "metric", r->equal[0].name);
  dyno_json_double (json, "best", r->equal[0].best);
  dyno_json_double (json, "current", r->equal[1].best);
  dyno_json_end_object (json);
}

/* Adds "ranks"; null for a search in one process.  samples_per_s and the other rates are of all
 * ranks together. */
static void
print_ranks (DynoJson *json, const DynoTuneResult *r)
{
  if (r->ranks.ranks <= 1)
    {
      dyno_json_null (json, "ranks");
      return;
    }
  dyno_json_begin_object (json, "ranks");
  dyno_ranks_print_members (json, &r->ranks);
  dyno_json_double (json, "accumulate_gain", r->accumulate_gain);
  dyno_json_double (json, "half_gain", r->half_gain);
  dyno_json_end_object (json);
}

static void
print_best_members (DynoJson *json, const DynoTuneResult *result)
{
  const DynoTrial *best = &result->best;

  dyno_export_json_settings (json, &best->settings);
  dyno_json_double (json, "samples_per_s", best->samples_per_s);
  dyno_json_double (json, "low", best->low);
  dyno_json_double (json, "high", best->high);
  dyno_json_double (json, "baseline_samples_per_s", known_rate (&result->baseline));
  dyno_json_double (json, "current_samples_per_s", known_rate (&result->today));
  dyno_json_uint (json, "vram_bytes", best->vram_bytes);
  dyno_json_bool (json, "proven", result->proven);
  dyno_json_begin_array (json, "reasons");
  for (guint i = 0; result->reasons[i]; i++)
    dyno_json_string (json, NULL, result->reasons[i]);
  dyno_json_end_array (json);
  dyno_json_bool (json, "keep_current", result->keep_today);
  dyno_json_double (json, "train_samples_per_s", best->train_samples_per_s);
  dyno_json_double (json, "validation_s", best->validation_s);
  dyno_json_double (json, "epoch_end_s", best->epoch_end_s);
  dyno_json_double (json, "speedup", result->speedup);
  dyno_json_double (json, "gain", result->gain);
  dyno_json_uint (json, "margin_bytes", result->margin_bytes);
  print_goal (json, result);
  print_equal_epochs (json, result);
  print_ranks (json, result);
}

/* Of progress events only preparations are printed; a measurement is printed when it has ended. */
static void
print_preparing_members (DynoJson *json, const DynoTuneEvent *event)
{
  dyno_json_string (json, "stage", event->trial.stage);
  dyno_export_json_settings (json, &event->trial.settings);
  dyno_json_string (json, "what", event->preparing);
  dyno_json_uint (json, "done", event->n_prepared);
  dyno_json_uint (json, "total", event->n_to_prepare);
}

void
dyno_tune_print_json (const DynoTuneEvent *event)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  switch (event->type)
    {
    case DYNO_TUNE_EVENT_CEILING:
      dyno_json_string (&json, "event", "ceiling");
      print_ceiling_members (&json, &event->ceiling);
      break;
    case DYNO_TUNE_EVENT_TRIAL:
      dyno_json_string (&json, "event", "trial");
      print_trial_members (&json, &event->trial);
      break;
    case DYNO_TUNE_EVENT_BEST:
      dyno_json_string (&json, "event", "best");
      print_best_members (&json, event->result);
      break;
    case DYNO_TUNE_EVENT_PROGRESS:
      if (!event->preparing)
        {
          dyno_json_clear (&json);
          return;
        }
      dyno_json_string (&json, "event", "progress");
      print_preparing_members (&json, event);
      break;
    case DYNO_TUNE_EVENT_NOTE:
      dyno_json_string (&json, "event", "note");
      dyno_json_string (&json, "text", event->text);
      break;
    case DYNO_TUNE_EVENT_WARNING:
    case DYNO_TUNE_EVENT_ERROR:
    case DYNO_TUNE_EVENT_DONE:
    default:
      dyno_json_clear (&json);
      return;
    }
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
  dyno_out_flush ();
}
