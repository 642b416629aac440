/* SPDX-License-Identifier: MIT */
/* The history numbers ceilings and trials together, in the order in which they come. */
#include "searchrecords.h"
#include <math.h>

struct _DynoSearchRecords {
  DynoTrialsFile *file;
  DynoStore *store;
  gint64 search;
  guint n;
};

static void
lose_history (DynoSearchRecords *r, GError *problem)
{
  g_warning ("The search is not kept in the history from here on: %s", problem->message);
  g_error_free (problem);
  g_clear_pointer (&r->store, dyno_store_free);
}

static double
known (double value)
{
  return value > 0 ? value : (double) NAN;
}

static void
store_trial (DynoSearchRecords *r, const DynoTrial *t)
{
  DynoStoreTrial row = { .number = ++r->n,
                         .stage = t->stage,
                         .settings = t->settings,
                         .outcome = dyno_trial_outcome_class (t->outcome),
                         .samples_per_s = known (t->samples_per_s),
                         .low = known (t->low),
                         .high = known (t->high),
                         .predicted = known (t->predicted),
                         .vram_bytes = t->vram_bytes,
                         .planned_bytes = t->planned_bytes,
                         .text = t->text };
  GError *problem = NULL;

  if (r->store && !dyno_store_add_trial (r->store, r->search, &row, &problem))
    lose_history (r, problem);
}

gboolean
dyno_search_records_add_ceiling (DynoSearchRecords *r, const DynoCeiling *c, GError **error)
{
  DynoTrial trial = { .stage = dyno_ceiling_name (c->of),
                      .settings = c->settings,
                      .outcome = c->outcome,
                      .samples_per_s = c->samples_per_s,
                      .low = c->low,
                      .high = c->high,
                      .vram_bytes = c->vram_bytes,
                      .planned_bytes = c->planned_bytes,
                      .text = c->text };

  store_trial (r, &trial);
  if (!r->file || dyno_trials_file_add_ceiling (r->file, c, error))
    return TRUE;
  g_clear_pointer (&r->file, dyno_trials_file_free);
  return FALSE;
}

gboolean
dyno_search_records_add_trial (DynoSearchRecords *r, const DynoTrial *trial, GError **error)
{
  store_trial (r, trial);
  if (!r->file || dyno_trials_file_add_trial (r->file, trial, error))
    return TRUE;
  g_clear_pointer (&r->file, dyno_trials_file_free);
  return FALSE;
}

static gboolean
copy_known (DynoSearchRecords *r, const DynoTuneResult *from, GError **error)
{
  for (guint i = 0; i < from->ceilings->len; i++)
    if (!dyno_trials_file_add_ceiling (r->file, from->ceilings->pdata[i], error))
      return FALSE;
  for (guint i = 0; i < from->trials->len; i++)
    if (!dyno_trials_file_add_trial (r->file, from->trials->pdata[i], error))
      return FALSE;
  return TRUE;
}

DynoSearchRecords *
dyno_search_records_new (const DynoSearchRecordsParams *params, GError **error)
{
  DynoSearchRecords *r = g_new0 (DynoSearchRecords, 1);
  GError *problem = NULL;

  if (params->folder)
    {
      g_autofree char *path = g_build_filename (params->folder, DYNO_TRIALS_FILE, NULL);

      r->file =
          dyno_trials_file_new (path, params->job, params->device->name, params->append, error);
      if (!r->file || (params->known && !params->append && !copy_known (r, params->known, error)))
        {
          dyno_search_records_free (r);
          return NULL;
        }
    }
  if (!params->store)
    return r;
  r->store = dyno_store_ref (params->store);
  r->search = dyno_store_begin_search (r->store, params->job, params->device, params->fingerprint,
                                       params->folder, &problem);
  if (r->search == 0)
    lose_history (r, problem);
  return r;
}

void
dyno_search_records_end (DynoSearchRecords *r, const DynoTuneResult *result, const GError *error)
{
  gboolean has_best = dyno_tune_result_has_best (result);
  g_autofree char *text = result->reasons ? g_strjoinv (" ", result->reasons) : NULL;
  DynoStoreSearchEnd end = { .best = has_best ? &result->best.settings : NULL,
                             .best_samples_per_s = known (result->best.samples_per_s),
                             .baseline_samples_per_s = known (result->baseline.samples_per_s),
                             .proven = result->proven,
                             .state = result->stopped ? "stopped"
                                      : has_best      ? "finished"
                                                      : "failed",
                             .text = error ? error->message : text };
  GError *problem = NULL;

  if (r->store && !dyno_store_end_search (r->store, r->search, &end, &problem))
    lose_history (r, problem);
}

void
dyno_search_records_free (DynoSearchRecords *r)
{
  if (!r)
    return;
  dyno_trials_file_free (r->file);
  dyno_store_free (r->store);
  g_free (r);
}
