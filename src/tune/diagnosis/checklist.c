/* SPDX-License-Identifier: MIT */
/* The items, a row each with its judge and the text for each state.  {a} stands for the finding.
 *
 * Invariant: an item whose facts are missing is unknown, never done; an item that the diagnosis
 * judges by a threshold of its own is taken from its findings, so that the two never disagree. */
#include "checklist.h"
#include "diagnosis-private.h"
#include "intl.h"
#include <math.h>
#include <string.h>

#define NVIDIA 0x10de
#define MOSTLY 0.85 /* share of the time: the threshold of gpu-bound */
/* share of the readings: the threshold of throttled-temperature and -power */
#define SOMETIMES 0.10
#define MEMORY    0.95 /* share of usable memory: the threshold of memory-tight */

typedef struct {
  const DynoDiagnosisInput *input;
  const DynoDiagnosis *diagnosis;
  char *word; /* word for {a}; NULL: there is none */
} Asked;

typedef DynoItemState (*Judge) (Asked *a);

typedef struct {
  const char *id;
  DynoCheck check;
  Judge judge;
  const char *done, *open, *unknown, *next;
} Row;

static gboolean
has_found (const Asked *a, const char *id)
{
  return dyno_diagnosis_find (a->diagnosis, id) != NULL;
}

/* The state of an item about which one finding reports that it is well and another that it is
 * not. */
static DynoItemState
by_findings (const Asked *a, const char *good, const char *bad)
{
  return has_found (a, bad)    ? DYNO_ITEM_OPEN
         : has_found (a, good) ? DYNO_ITEM_DONE
                               : DYNO_ITEM_UNKNOWN;
}

/* --- before ----------------------------------------------------------------------------------- */

static DynoItemState
judge_settings (Asked *a)
{
  return a->input->has_settings ? DYNO_ITEM_DONE : DYNO_ITEM_OPEN;
}

static DynoItemState
judge_batch (Asked *a)
{
  if (a->input->facts.batch_size > 0)
    a->word = dyno_word_whole ((double) a->input->facts.batch_size);
  return a->diagnosis->gpu_measured ? DYNO_ITEM_DONE : DYNO_ITEM_OPEN;
}

/* Where the device makes its own samples there is nothing to measure. */
static DynoItemState
judge_workers (Asked *a)
{
  return a->diagnosis->loader_measured || a->input->facts.generated ? DYNO_ITEM_DONE
                                                                    : DYNO_ITEM_OPEN;
}

static DynoItemState
judge_precision (Asked *a)
{
  const DynoRunFacts *facts = &a->input->facts;

  if (!*facts->device)
    return DYNO_ITEM_UNKNOWN;
  a->word = g_strdup (facts->amp ? "AMP" : "fp32");
  return facts->amp || !facts->matrix ? DYNO_ITEM_DONE : DYNO_ITEM_OPEN;
}

static DynoItemState
judge_memory (Asked *a)
{
  const DynoRunFacts *facts = &a->input->facts;

  if (facts->planned_bytes == 0 || facts->limit_bytes == 0)
    return DYNO_ITEM_UNKNOWN;
  a->word = dyno_word_percent ((double) facts->planned_bytes / (double) facts->limit_bytes);
  return (double) facts->planned_bytes <= MEMORY * (double) facts->limit_bytes ? DYNO_ITEM_DONE
                                                                               : DYNO_ITEM_OPEN;
}

static DynoItemState
judge_validation (Asked *a)
{
  if (a->input->facts.n_train == 0)
    return DYNO_ITEM_UNKNOWN;
  a->word = dyno_word_whole ((double) a->input->facts.n_validation);
  return a->input->facts.n_validation > 0 ? DYNO_ITEM_DONE : DYNO_ITEM_OPEN;
}

static DynoItemState
judge_governor (Asked *a)
{
  const char *governor = a->input->facts.governor;

  if (!*governor)
    return DYNO_ITEM_UNKNOWN;
  a->word = g_strdup (governor);
  return strcmp (governor, "performance") == 0 ? DYNO_ITEM_DONE : DYNO_ITEM_OPEN;
}

/* For cards of other vendors the driver is part of the kernel. */
static DynoItemState
judge_persistence (Asked *a)
{
  const DynoRunFacts *facts = &a->input->facts;

  if (facts->no_persistence)
    return DYNO_ITEM_OPEN;
  return *facts->device && facts->vendor_id != NVIDIA ? DYNO_ITEM_DONE : DYNO_ITEM_UNKNOWN;
}

static DynoItemState
judge_desktop (Asked *a)
{
  double others = a->input->sensors.gpu_others;

  if (isnan (others))
    return DYNO_ITEM_UNKNOWN;
  a->word = dyno_word_whole (ceil (others));
  return others < 0.5 ? DYNO_ITEM_DONE : DYNO_ITEM_OPEN;
}

/* --- during ----------------------------------------------------------------------------------- */

static DynoItemState
judge_busy (Asked *a)
{
  double busy = a->input->sensors.gpu_busy;

  if (isnan (busy))
    return DYNO_ITEM_UNKNOWN;
  a->word = dyno_word_percent (busy);
  return busy >= MOSTLY ? DYNO_ITEM_DONE : DYNO_ITEM_OPEN;
}

static DynoItemState
judge_power (Asked *a)
{
  const DynoSensorSummary *s = &a->input->sensors;

  if (isnan (s->gpu_power_limit) || isnan (s->power_share))
    return DYNO_ITEM_UNKNOWN;
  a->word = g_strdup_printf ("%.0f W", s->gpu_power_limit);
  return s->power_share < SOMETIMES ? DYNO_ITEM_DONE : DYNO_ITEM_OPEN;
}

static DynoItemState
judge_temperature (Asked *a)
{
  const DynoSensorSummary *s = &a->input->sensors;

  if (isnan (s->gpu_temperature_most) || isnan (s->heat_share))
    return DYNO_ITEM_UNKNOWN;
  a->word = g_strdup_printf ("%.0f °C", s->gpu_temperature_most);
  return s->heat_share < SOMETIMES ? DYNO_ITEM_DONE : DYNO_ITEM_OPEN;
}

static DynoItemState
judge_speed (Asked *a)
{
  return by_findings (a, "steady", "slowing-down");
}

static DynoItemState
judge_growth (Asked *a)
{
  return by_findings (a, "steady", "memory-growing");
}

static DynoItemState
judge_data (Asked *a)
{
  if (a->input->facts.generated)
    return DYNO_ITEM_DONE;
  return has_found (a, "disk-bound") ? DYNO_ITEM_OPEN : by_findings (a, "data-ahead", "cpu-bound");
}

/* --- after ------------------------------------------------------------------------------------ */

static DynoItemState
judge_end (Asked *a)
{
  switch ((DynoSessionState) a->input->facts.state)
    {
    case DYNO_SESSION_FINISHED:
      return DYNO_ITEM_DONE;
    case DYNO_SESSION_FAILED:
    case DYNO_SESSION_STOPPED:
      return DYNO_ITEM_OPEN;
    default:
      return DYNO_ITEM_UNKNOWN;
    }
}

static DynoItemState
judge_learning (Asked *a)
{
  if (has_found (a, "diverged") || has_found (a, "not-a-number"))
    return DYNO_ITEM_OPEN;
  return by_findings (a, "learns", "stuck-at-chance");
}

/* Without validation the state is unknown. */
static DynoItemState
judge_overfitting (Asked *a)
{
  return has_found (a, "overfitting")        ? DYNO_ITEM_OPEN
         : a->input->facts.n_validation == 0 ? DYNO_ITEM_UNKNOWN
                                             : by_findings (a, "learns", "overfitting");
}

/* --- the table -------------------------------------------------------------------------------- */

static const Row rows[] = {
  { "settings-recorded", DYNO_CHECK_BEFORE, judge_settings,
    N_ ("The settings are recorded in settings.ini"), N_ ("The settings were not recorded"), "",
    N_ ("Keep the folder of a run (train --out), in which settings.ini is the first file") },
  { "batch-measured", DYNO_CHECK_BEFORE, judge_batch,
    N_ ("The device was measured at several batch sizes; the run takes {a}"),
    N_ ("No search has measured which batch size is the fastest here"), "",
    N_ ("dynoctl tune measures rate and memory of each") },
  { "workers-measured", DYNO_CHECK_BEFORE, judge_workers,
    N_ ("The rate of the data pipeline was measured without the device"),
    N_ ("The rate of the data pipeline was not measured without the device"), "",
    N_ ("dynoctl bench --loader measures it for each number of workers, dynoctl tune as well") },
  { "precision-chosen", DYNO_CHECK_BEFORE, judge_precision,
    N_ ("The precision suits the device: {a}"),
    N_ ("The device has matrix units for fp16, and the run computes in {a}"),
    N_ ("The fastest precision of the device is unknown"),
    N_ ("Try amp=true; dynoctl tune compares speed and numbers") },
  { "memory-planned", DYNO_CHECK_BEFORE, judge_memory,
    N_ ("The plan takes {a} of the memory that may be used"),
    N_ ("The plan takes {a} of the memory that may be used: little is left for other programs"),
    N_ ("The memory of the run was not planned"),
    N_ ("dynoctl plan shows it by component; a smaller batch_size or checkpointing=true takes "
        "less") },
  { "validation-kept", DYNO_CHECK_BEFORE, judge_validation, N_ ("Samples kept for validation: {a}"),
    N_ ("No sample is kept for validation"),
    N_ ("It is unknown whether samples are kept for validation"), N_ ("Set data.val_split=0.1") },
  { "cpu-clocks", DYNO_CHECK_BEFORE, judge_governor,
    N_ ("The CPU's clocks are at their height (governor {a})"),
    N_ ("The CPU's clocks rise only under load (governor {a})"),
    N_ ("The governor of the CPU's clocks is unknown"),
    N_ ("For the length of a run, as root: cpupower frequency-set -g performance") },
  { "driver-loaded", DYNO_CHECK_BEFORE, judge_persistence, N_ ("The driver stays loaded"),
    N_ ("The driver may be loaded anew for each program"),
    N_ ("It is unknown whether the driver stays loaded"),
    N_ ("See nvidia-smi -q | grep Persistence; as root: nvidia-smi -pm 1") },
  { "gpu-to-itself", DYNO_CHECK_BEFORE, judge_desktop,
    N_ ("No other program used the device, not even a desktop"),
    N_ ("Other programs on the device: {a}; a desktop with effects is one"),
    N_ ("It is unknown whether other programs use the device: the driver does not report it"),
    N_ ("Switch desktop effects off or close the session, end other programs, or put the screen on "
        "another device") },
  { "gpu-busy", DYNO_CHECK_DURING, judge_busy, N_ ("The device was busy for {a} of the time"),
    N_ ("The device was busy for {a} of the time only"),
    N_ ("The utilisation of the device is unknown"),
    N_ ("The verdict of dynoctl diagnose names the cause") },
  { "data-ahead", DYNO_CHECK_DURING, judge_data, N_ ("Data is ready before the device needs it"),
    N_ ("The device waits for data"), N_ ("It is unknown whether the device waits for data"),
    N_ ("More workers, cache=true, or dynoctl convert, which packs the data into one file") },
  { "power-limit", DYNO_CHECK_DURING, judge_power,
    N_ ("The card stays below its power limit of {a}"),
    N_ ("The card runs at its power limit of {a}"), N_ ("The power limit is unknown"),
    N_ ("nvidia-smi -q -d POWER reports whether it may be raised (nvidia-smi -pl, as root)") },
  { "temperature", DYNO_CHECK_DURING, judge_temperature,
    N_ ("The temperature stayed within limits, up to {a}"),
    N_ ("The card slowed down for its temperature of up to {a}"), N_ ("The temperature is unknown"),
    N_ ("Check fans, dust and the airflow of the case; dynoctl sensors shows it") },
  { "speed-steady", DYNO_CHECK_DURING, judge_speed, N_ ("Steps stayed as fast as they were"),
    N_ ("Steps became slower"), N_ ("The run is too short to tell whether steps slow down"),
    N_ ("Compare clocks and temperature early and late in sensors.csv") },
  { "memory-steady", DYNO_CHECK_DURING, judge_growth, N_ ("Device memory stayed as it was"),
    N_ ("Device memory grew"), N_ ("The run is too short to tell whether memory grows"),
    N_ ("Stop and resume, and please report this fault") },
  { "run-ended", DYNO_CHECK_AFTER, judge_end, N_ ("The run has come to its end"),
    N_ ("The run was stopped or failed before its end"),
    N_ ("The run is in progress, or was killed"),
    N_ ("dynoctl train --resume continues from its last checkpoint") },
  { "learns", DYNO_CHECK_AFTER, judge_learning, N_ ("The training loss fell: it learns"),
    N_ ("The loss did not fall as it should"),
    N_ ("The run is too short to tell whether it learns"),
    N_ ("Try another lr (a tenth, ten times as much), and look at samples by dynoctl inspect "
        "--preview") },
  { "not-by-heart", DYNO_CHECK_AFTER, judge_overfitting,
    N_ ("The validation loss follows the training loss"),
    N_ ("The validation loss rises while the training loss falls"),
    N_ ("It is unknown whether the model overfits"),
    N_ ("Take augmentation, more data, or early_stop.patience; without a validation, "
        "data.val_split") },
};

static void
item_free (gpointer data)
{
  DynoCheckItem *item = data;

  g_free (item->text);
  g_free (item->next);
  g_free (item);
}

/* Replaces {a} by the word. */
static char *
fill (const char *text, const char *word)
{
  g_auto (GStrv) parts = g_strsplit (text, "{a}", -1);

  return g_strjoinv (word ? word : "?", parts);
}

GPtrArray *
dyno_checklist_new (const DynoDiagnosisInput *input, const DynoDiagnosis *diagnosis)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (item_free);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const Row *row = &rows[i];
      Asked asked = { .input = input, .diagnosis = diagnosis };
      DynoCheckItem *item = g_new0 (DynoCheckItem, 1);

      item->id = row->id;
      item->check = row->check;
      item->state = row->judge (&asked);
      item->text = fill (_ (item->state == DYNO_ITEM_DONE   ? row->done
                            : item->state == DYNO_ITEM_OPEN ? row->open
                                                            : row->unknown),
                         asked.word);
      item->next = item->state == DYNO_ITEM_DONE ? NULL : g_strdup (_ (row->next));
      g_free (asked.word);
      g_ptr_array_add (list, item);
    }
  return list;
}

const char *
dyno_item_state_name (DynoItemState state)
{
  static const char *const names[] = { "done", "open", "unknown" };

  return names[state];
}
