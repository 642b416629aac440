/* SPDX-License-Identifier: MIT */
/* dynoctl diagnose: reports what limited a run, from the files of its folder, and prints the check
 * list. */
#include "diagnose.h"
#include "amount.h"
#include "checklist.h"
#include "cli.h"
#include "diagnosistext.h"
#include "file.h"
#include "output.h"
#include <gio/gio.h>
#include <math.h>
#include <string.h>

static const char *const marks[] = { "+", " ", "!", "!!" };

static void
print_finding (const DynoFinding *finding)
{
  dyno_out_line ("%-2s %s", marks[finding->level], finding->text);
  if (finding->action)
    dyno_out_line ("     %s", finding->action);
}

void
dyno_findings_print (const GPtrArray *findings)
{
  for (guint i = 0; i < findings->len; i++)
    print_finding (findings->pdata[i]);
}

static char *
rate (double per_second)
{
  g_autofree char *number = dyno_text_rate (per_second);

  return isnan (per_second) ? g_strdup ("not known") : g_strdup_printf ("%s samples/s", number);
}

static void
print_phases (const DynoPhases *p, guint ranks)
{
  const struct {
    const char *name;
    double ms;
  } phases[] = { { "wait for data", p->wait_data_ms },
                 { "copy", p->copy_ms },
                 { "forward", p->forward_ms },
                 { "backward", p->backward_ms },
                 { "optimizer", p->optimizer_ms },
                 { "exchange", p->exchange_ms },
                 { "validation", p->validation_ms },
                 { "saving", p->saving_ms },
                 { "idle", p->idle_ms } };
  g_autoptr (DynoTable) table = dyno_table_new ("phase", "ms per step", "share", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (phases); i++)
    if (isfinite (phases[i].ms) && (ranks > 1 || strcmp (phases[i].name, "exchange") != 0))
      dyno_table_add (table, g_strdup (phases[i].name), g_strdup_printf ("%.3f", phases[i].ms),
                      g_strdup_printf ("%.1f %%", 100 * phases[i].ms / p->step_ms), NULL);
  dyno_table_add (table, g_strdup ("step"), g_strdup_printf ("%.3f", p->step_ms),
                  g_strdup ("100.0 %"), NULL);
  dyno_out_line ("%s", "");
  dyno_table_print (table);
}

static const char *const titles[DYNO_N_CHECKS] = { "before the run", "in the run",
                                                   "after the run" };

static void
print_checklist (const GPtrArray *list)
{
  static const char *const boxes[] = { "[x]", "[ ]", "[?]" };

  for (guint i = 0; i < list->len; i++)
    {
      const DynoCheckItem *item = list->pdata[i];

      if (i == 0 || item->check != ((const DynoCheckItem *) list->pdata[i - 1])->check)
        {
          if (i > 0)
            dyno_out_line ("%s", "");
          dyno_out_line ("%s", titles[item->check]);
        }
      dyno_out_line ("%s %s", boxes[item->state], item->text);
      if (item->next)
        dyno_out_line ("      %s", item->next);
    }
}

static void
print_checklist_json (const GPtrArray *list)
{
  static const char *const checks[DYNO_N_CHECKS] = { "before", "during", "after" };
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_begin_array (&json, "checklist");
  for (guint i = 0; i < list->len; i++)
    {
      const DynoCheckItem *item = list->pdata[i];

      dyno_json_begin_object (&json, NULL);
      dyno_json_string (&json, "id", item->id);
      dyno_json_string (&json, "list", checks[item->check]);
      dyno_json_string (&json, "state", dyno_item_state_name (item->state));
      dyno_json_string (&json, "text", item->text);
      dyno_json_string (&json, "next", item->next);
      dyno_json_end_object (&json);
    }
  dyno_json_end_array (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static void
print_lists (const DynoDiagnosis *d)
{
  for (guint check = 0; check < DYNO_N_CHECKS; check++)
    {
      gboolean reported = FALSE;

      for (guint i = 0; i < d->findings->len; i++)
        {
          const DynoFinding *finding = d->findings->pdata[i];

          if ((guint) finding->check != check)
            continue;
          if (!reported)
            {
              dyno_out_line ("%s", "");
              dyno_out_line ("%s", titles[check]);
            }
          reported = TRUE;
          print_finding (finding);
        }
    }
}

static const char *
source_of_ceiling (double ceiling, gboolean measured)
{
  return isnan (ceiling) ? ""
         : measured      ? "   (measured by a search)"
                         : "   (estimated from this run)";
}

static void
print_text (const DynoDiagnosis *d)
{
  g_autofree char *real = rate (d->rate), *loader = rate (d->loader_ceiling),
                  *gpu = rate (d->gpu_ceiling), *exchange = rate (d->exchange_ceiling);

  dyno_out_line ("%s", d->verdict);
  dyno_out_line ("%s", "");
  dyno_out_line ("training        %s", real);
  dyno_out_line ("loader ceiling  %s%s", loader,
                 source_of_ceiling (d->loader_ceiling, d->loader_measured));
  dyno_out_line ("device ceiling  %s%s", gpu, source_of_ceiling (d->gpu_ceiling, d->gpu_measured));
  if (d->ranks > 1)
    dyno_out_line ("exchange        %s%s", exchange,
                   source_of_ceiling (d->exchange_ceiling, FALSE));
  if (d->phases.step_ms > 0)
    print_phases (&d->phases, d->ranks);
  print_lists (d);
}

void
dyno_diagnosis_print (const DynoDiagnosis *d)
{
  const DynoFinding *worst = NULL;

  for (guint i = 0; i < d->findings->len; i++)
    {
      const DynoFinding *finding = d->findings->pdata[i];

      if (finding->level >= DYNO_FINDING_WARNING && (!worst || finding->level > worst->level)
          && !g_str_has_prefix (d->verdict, finding->text))
        worst = finding;
    }
  dyno_out_line ("diagnosis: %s", d->verdict);
  if (worst)
    dyno_out_line ("  %s: %s", dyno_finding_level_name (worst->level), worst->text);
}

void
dyno_diagnosis_print_event (const DynoDiagnosis *d)
{
  g_autofree char *json = dyno_diagnosis_to_json (d, 0, "diagnosis");

  dyno_out_text (json);
  dyno_out_text ("\n");
}

void
dyno_diagnosis_print_before (const DynoJob *job, const DynoDatasetInfo *info,
                             const DynoDeviceInfo *device, const DynoJobPlan *plan)
{
  g_autofree DynoDiagnosisInput *input = g_new (DynoDiagnosisInput, 1);
  g_autoptr (DynoDiagnosis) d = NULL;

  dyno_diagnosis_input_init (input);
  dyno_diagnosis_input_take_plan (input, job, info, device, plan);
  d = dyno_diagnose (input);
  for (guint i = 0; i < d->findings->len; i++)
    {
      const DynoFinding *finding = d->findings->pdata[i];

      if (finding->check == DYNO_CHECK_BEFORE && finding->key)
        print_finding (finding);
    }
}

int
dyno_verb_diagnose (int argc, char **argv)
{
  g_autofree char *folder = NULL;
  g_autofree DynoDiagnosisInput *input = g_new (DynoDiagnosisInput, 1);
  g_autoptr (DynoDiagnosis) diagnosis = NULL;
  g_autoptr (GError) error = NULL;
  gboolean as_json = FALSE, as_list = FALSE;
  int code;
  const GOptionEntry entries[] = {
    { "run", 0, 0, G_OPTION_ARG_FILENAME, &folder, "Folder of the run (train --out)", "DIR" },
    { "checklist", 0, 0, G_OPTION_ARG_NONE, &as_list,
      "The check list before, in and after a run: each item done, open or unknown", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "One JSON object", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, "--run DIR",
                       "Shows what limited a run: where its time went, the ceilings beside its "
                       "rate, the settings to change and their gain.",
                       entries,
                       "Reads metrics.csv, facts.ini, sensors.csv and settings.ini of the folder; "
                       "also of a run in progress.\n"
                       "Signs: + good, ! look at it, !! wrong; of the check list [x] done, [ ] "
                       "open, [?] unknown.",
                       NULL, 0, &code))
    return code;
  if (!folder)
    return dyno_cli_usage (argv[0], "which run? Name its folder with --run DIR");
  dyno_diagnosis_input_init (input);
  if (!dyno_diagnosis_input_read_run (input, folder, &error))
    return dyno_cli_fail (g_steal_pointer (&error), as_json);
  dyno_diagnosis_input_find_ceilings (input, NULL);
  diagnosis = dyno_diagnose (input);
  if (as_list)
    {
      g_autoptr (GPtrArray) list = dyno_checklist_new (input, diagnosis);

      (as_json ? print_checklist_json : print_checklist) (list);
    }
  else if (as_json)
    {
      g_autofree char *json = dyno_diagnosis_to_json (diagnosis, 0, NULL);

      dyno_out_text (json);
      dyno_out_text ("\n");
    }
  else
    print_text (diagnosis);
  return DYNO_EXIT_OK;
}
