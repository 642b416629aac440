/* SPDX-License-Identifier: MIT */
#include "train-json.h"
#include "joinranks.h"
#include "output.h"
#include <string.h>

/* Prints each metric under prefix and name; metrics that only a validation computes are printed
 * only under val_. */
static void
print_metrics (DynoJson *json, const DynoMetricTable *table, const char *prefix,
               const double *values)
{
  for (guint i = 0; i < table->n; i++)
    {
      g_autofree char *key = g_strconcat (prefix, table->infos[i].name, NULL);

      if (!table->infos[i].of_validation || g_str_equal (prefix, "val_"))
        dyno_json_double (json, key, values[i]);
    }
}

void
dyno_train_print_step (const DynoMetricTable *table, const DynoStepMetrics *step)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "step");
  dyno_json_uint (&json, "step", step->step);
  dyno_json_uint (&json, "epoch", step->epoch);
  dyno_json_double (&json, "loss", step->loss);
  dyno_json_double (&json, "samples_per_s", step->samples_per_s);
  dyno_json_uint (&json, "vram_bytes", step->vram_bytes);
  dyno_json_double (&json, "wait_data_ms", step->wait_data_ms);
  dyno_json_double (&json, "step_ms", step->step_ms);
  print_metrics (&json, table, "", step->metrics);
  dyno_json_double (&json, "lr", step->lr);
  dyno_json_double (&json, "grad_norm", step->grad_norm);
  dyno_json_double (&json, "loss_scale", step->loss_scale);
  dyno_json_bool (&json, "skipped", step->skipped);
  dyno_json_double (&json, "upload_ms", step->upload_ms);
  dyno_json_double (&json, "forward_ms", step->forward_ms);
  dyno_json_double (&json, "backward_ms", step->backward_ms);
  dyno_json_double (&json, "optimizer_ms", step->optimizer_ms);
  dyno_json_double (&json, "seconds", step->seconds);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

void
dyno_train_print_epoch (const DynoMetricTable *table, const DynoEpochMetrics *epoch)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "epoch");
  dyno_json_uint (&json, "epoch", epoch->epoch);
  dyno_json_uint (&json, "step", epoch->step);
  dyno_json_double (&json, "train_loss", epoch->train_loss);
  dyno_json_double (&json, "val_loss", epoch->val_loss);
  print_metrics (&json, table, "train_", epoch->train_metrics);
  print_metrics (&json, table, "val_", epoch->val_metrics);
  dyno_json_double (&json, "samples_per_s", epoch->samples_per_s);
  dyno_json_double (&json, "seconds", epoch->seconds);
  dyno_json_double (&json, "validation_seconds", epoch->validation_seconds);
  dyno_json_double (&json, "saving_seconds", epoch->saving_seconds);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

void
dyno_train_print_ranks (const DynoEvent *event)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "ranks");
  dyno_json_uint (&json, "step", event->ranks.step);
  dyno_ranks_add_json (&json, event->ranks.reports, event->ranks.n);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

void
dyno_train_print_text (const char *name, const char *key, const char *text)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", name);
  dyno_json_string (&json, key, text);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

void
dyno_train_print_preparing (const DynoEvent *event)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "progress");
  dyno_json_string (&json, "what", event->progress.what);
  dyno_json_uint (&json, "done", event->progress.done);
  dyno_json_uint (&json, "total", event->progress.total);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static const char *
state_name (DynoSessionState state)
{
  return state == DYNO_SESSION_FINISHED  ? "finished"
         : state == DYNO_SESSION_STOPPED ? "stopped"
                                         : "failed";
}

static void
add_test (DynoJson *json, const DynoMetricTable *table, const DynoTestResult *test)
{
  dyno_json_uint (json, "test_samples", test->n_samples);
  dyno_json_double (json, "test_loss", test->loss);
  for (guint i = 0; i < table->n; i++)
    {
      g_autofree char *key = g_strconcat ("test_", table->infos[i].name, NULL);

      dyno_json_double (json, key, test->metrics[i]);
    }
}

void
dyno_train_print_done (const DynoMetricTable *table, int selecting, double rate,
                       const DynoEvent *event)
{
  g_autofree char *best =
      g_strconcat ("best_val_", selecting >= 0 ? table->infos[selecting].name : "accuracy", NULL);
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "done");
  dyno_json_double (&json, "seconds", event->done.seconds);
  dyno_json_uint (&json, "steps", event->done.steps);
  dyno_json_uint (&json, "steps_before", event->done.begin_steps);
  dyno_json_double (&json, "seconds_before", event->done.begin_seconds);
  if (event->done.whole_steps > 0)
    dyno_json_uint (&json, "steps_of_epochs", event->done.whole_steps);
  else
    dyno_json_null (&json, "steps_of_epochs");
  dyno_json_double (&json, "samples_per_s", rate);
  dyno_json_bool (&json, "nothing_left", event->done.is_idle);
  dyno_json_double (&json, best, event->done.best_val_metric);
  dyno_json_uint (&json, "best_epoch", event->done.best_epoch);
  if (event->done.test.n_samples > 0)
    add_test (&json, table, &event->done.test);
  dyno_json_string (&json, "out", event->done.out_dir);
  dyno_json_string (&json, "state", state_name (event->done.state));
  dyno_json_uint (&json, "micro_batches", event->done.parts);
  dyno_json_uint (&json, "unreadable", event->done.n_unreadable);
  dyno_json_begin_array (&json, "unreadable_samples");
  for (guint i = 0; event->done.unreadable[i]; i++)
    dyno_json_string (&json, NULL, event->done.unreadable[i]);
  dyno_json_end_array (&json);
  if (event->done.n_ranks > 0)
    dyno_ranks_add_json (&json, event->done.ranks, event->done.n_ranks);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}
