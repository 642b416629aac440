/* SPDX-License-Identifier: MIT */
/* Writes a diagnosis as JSON, and diagnosis.json, which each run leaves together with a few lines
 * of its log. */
#include "diagnosistext.h"
#include "file.h"
#include "runwriter.h"
#include <math.h>
#include <string.h>

void
dyno_findings_add_json (DynoJson *json, const char *key, const GPtrArray *findings)
{
  dyno_json_begin_array (json, key);
  for (guint i = 0; i < findings->len; i++)
    {
      const DynoFinding *finding = findings->pdata[i];

      dyno_json_begin_object (json, NULL);
      dyno_json_string (json, "id", finding->id);
      dyno_json_string (json, "level", dyno_finding_level_name (finding->level));
      dyno_json_string (json, "text", finding->text);
      dyno_json_string (json, "action", finding->action);
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
}

static void
add_phases (DynoJson *json, const DynoPhases *p, guint ranks)
{
  const struct {
    const char *key;
    double ms;
  } phases[] = {
    { "wait_data", p->wait_data_ms }, { "copy", p->copy_ms },
    { "forward", p->forward_ms },     { "backward", p->backward_ms },
    { "optimizer", p->optimizer_ms }, { "validation", p->validation_ms },
    { "saving", p->saving_ms },       { "idle", p->idle_ms },
    { "step", p->step_ms },
  };

  dyno_json_begin_object (json, "phases_ms");
  for (guint i = 0; i < G_N_ELEMENTS (phases); i++)
    dyno_json_double (json, phases[i].key, phases[i].ms);
  if (ranks > 1)
    dyno_json_double (json, "exchange", p->exchange_ms);
  dyno_json_end_object (json);
}

char *
dyno_diagnosis_to_json (const DynoDiagnosis *d, guint indent, const char *event)
{
  DynoJson json;
  char *text;

  dyno_json_init (&json, indent);
  dyno_json_begin_object (&json, NULL);
  if (event)
    dyno_json_string (&json, "event", event);
  dyno_json_string (&json, "verdict", d->verdict);
  dyno_json_string (&json, "knob", d->knob);
  dyno_json_double (&json, "expected_gain", d->expected_gain);
  dyno_json_double (&json, "samples_per_s", d->rate);
  dyno_json_begin_object (&json, "ceilings");
  dyno_json_double (&json, "loader", d->loader_ceiling);
  dyno_json_double (&json, "gpu", d->gpu_ceiling);
  if (d->ranks > 1)
    dyno_json_double (&json, "exchange", d->exchange_ceiling);
  dyno_json_end_object (&json);
  add_phases (&json, &d->phases, d->ranks);
  dyno_findings_add_json (&json, "findings", d->findings);
  dyno_json_end_object (&json);
  text = dyno_json_steal (&json);
  dyno_json_clear (&json);
  return text;
}

gboolean
dyno_run_writer_write_diagnosis (const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, DYNO_DIAGNOSIS_NAME, NULL), *json = NULL;
  g_autofree DynoDiagnosisInput *input = g_new (DynoDiagnosisInput, 1);
  g_autoptr (DynoDiagnosis) diagnosis = NULL;

  dyno_diagnosis_input_init (input);
  if (!dyno_diagnosis_input_read_run (input, folder, error))
    return FALSE;
  dyno_diagnosis_input_find_ceilings (input, NULL);
  diagnosis = dyno_diagnose (input);
  g_info ("Diagnosis: %s", diagnosis->verdict);
  for (guint i = 0; i < diagnosis->findings->len; i++)
    {
      const DynoFinding *finding = diagnosis->findings->pdata[i];

      if (finding->level >= DYNO_FINDING_WARNING)
        g_info ("Diagnosis, %s: %s%s%s", finding->id, finding->text, finding->action ? ". " : "",
                finding->action ? finding->action : "");
    }
  json = dyno_diagnosis_to_json (diagnosis, 2, NULL);
  return dyno_file_write_atomic (path, json, strlen (json), error);
}
