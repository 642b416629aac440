/* SPDX-License-Identifier: MIT */
/* Diagnosis of a run: the phases of its time, its limit, the setting to change and the expected
 * gain; and checks that the run learns and that the machine is in order.
 *
 * dyno_diagnose is pure: no clock, no device, no file.  It evaluates an input, which is filled from
 * a run's folder, from the view of a run in progress, or by hand.  The rules are a table
 * (diagnosis-rules.c). */
#pragma once
#include "preset-expected.h"
#include "runview.h"
#include "sensors.h"
#include "session.h"
#include "store.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_FINDING_GOOD,
  DYNO_FINDING_NOTE,
  DYNO_FINDING_WARNING,
  DYNO_FINDING_PROBLEM
} DynoFindingLevel;

/* "good", "note", "warning", "problem": for --json. */
const char *dyno_finding_level_name (DynoFindingLevel level);

/* The list that a check belongs to: checks before, during and after a run. */
typedef enum { DYNO_CHECK_BEFORE, DYNO_CHECK_DURING, DYNO_CHECK_AFTER, DYNO_N_CHECKS } DynoCheck;

typedef struct {
  const char *id; /* "cpu-bound": static, the same in every version */
  DynoFindingLevel level;
  DynoCheck check;
  char *text;      /* the finding, a sentence */
  char *action;    /* advice; or NULL */
  const char *key; /* the setting to change, static; or NULL */
  char *value;     /* its new value; NULL: not known */
} DynoFinding;

/* Parts of the mean wall-clock time of a step; they add up to step_ms, over which the ends of
 * epochs are spread.  The device computes while data is loaded and copied: loading and copying that
 * is hidden in this way counts only as computing.  NaN: the device reports no times, so that only
 * wait_data_ms, which is then the host's wait, the ends of epochs and step_ms are known. */
typedef struct {
  double wait_data_ms, copy_ms, forward_ms, backward_ms, optimizer_ms, validation_ms, saving_ms,
      idle_ms, step_ms;
  double exchange_ms; /* several ranks: waiting for the others and for sums over them; else 0 */
} DynoPhases;

/* Summary of the sensors' readings in a run: means unless noted otherwise; shares 0..1; NaN: not
 * known. */
typedef struct {
  guint n; /* number of readings; 0: none */
  double gpu_busy, gpu_others;
  double gpu_temperature_most, gpu_power, gpu_power_limit;
  /* share of readings in which heat, or power, slowed the device down */
  double heat_share, power_share;
  double vram_all_most, vram_total; /* bytes */
  double cpu_busy, cpu_own;
  /* bytes: used at the beginning, used at the end, of the machine */
  double ram_early, ram_late, ram_total;
  double swap_in_per_s, disk_read_per_s;             /* bytes */
  double pressure_cpu, pressure_io, pressure_memory; /* share of time in which some task waited */
  guint counts[DYNO_N_SENSORS];                      /* number of readings of each sensor */
  gint64 last_us; /* time of the last reading, where the view has one */
} DynoSensorSummary;

typedef struct {
  gboolean has_settings;
  DynoSettings settings;
  DynoRunFacts facts;
  DynoStretches log;
  DynoSensorSummary sensors;
  /* samples/s, where measured separately; NaN: estimated from the run */
  double loader_ceiling, gpu_ceiling;
  /* The same for the device at a larger batch: the smallest batch that is nearly as fast as the
   * fastest one measured.  0 and NaN: none was measured. */
  guint64 larger_batch;
  double larger_ceiling;
} DynoDiagnosisInput;

/* Sets all members to unknown. */
void dyno_diagnosis_input_init (DynoDiagnosisInput *input);

/* Adds a reading of the sensors, with values as in DynoSensorReading. */
void dyno_diagnosis_input_add_sensors (DynoDiagnosisInput *input,
                                       const double values[DYNO_N_SENSORS], guint throttle_reasons);

/* Fills the input from a run's folder: settings.ini, facts.ini, metrics.csv, sensors.csv; each file
 * but metrics.csv may be missing.  Errors: DYNO_BASE_ERROR_CORRUPT where it is not the folder of a
 * run. */
gboolean dyno_diagnosis_input_read_run (DynoDiagnosisInput *input, const char *folder,
                                        GError **error);

/* Fills the input with the data of a session that has ended, without reading its log again: facts
 * are the last that it emitted.  folder: the folder with its sensors.csv, or NULL. */
void dyno_diagnosis_input_take_session (DynoDiagnosisInput *input, DynoSession *session,
                                        const DynoRunFacts *facts, const char *folder);

/* Takes the ceilings that a search measured for the run's settings, data and device, where the
 * history has any.  store NULL: opens the history where the facts suffice to search it. */
void dyno_diagnosis_input_find_ceilings (DynoDiagnosisInput *input, DynoStore *store);

/* Fills the input with the facts that are known before a run, for the checks before a run. */
void dyno_diagnosis_input_take_plan (DynoDiagnosisInput *input, const DynoJob *job,
                                     const DynoDatasetInfo *info, const DynoDeviceInfo *device,
                                     const DynoJobPlan *plan);

/* Fills the input with the present data of a view; it may be called repeatedly with the same input,
 * which accumulates the sensors' readings. */
void dyno_diagnosis_input_take_view (DynoDiagnosisInput *input, DynoRunView *view);

/* The run's values of the quantities for which guides have numbers: rate and memory over all its
 * steps, the time of its last epoch, and the time of the whole run where it has finished.
 * measured: DYNO_PRESET_N_QUANTITIES values, NaN: not known. */
void dyno_diagnosis_input_measure (const DynoDiagnosisInput *input, const DynoRunStatus *status,
                                   double *measured);

typedef struct {
  char *verdict;        /* the limit, a sentence */
  const char *knob;     /* the setting to change, static; or NULL */
  double expected_gain; /* 0.4: 40 % more samples/s; NaN: not known, or no setting to change */
  DynoPhases phases;
  double loader_ceiling, gpu_ceiling, rate; /* samples/s, of the run: runrate.h; NaN: not known */
  guint ranks;                              /* ranks of the run; 1: it is one process */
  double exchange_ceiling; /* rate that sums over the ranks allow; NaN: not known, or one rank */
  gboolean loader_measured, gpu_measured; /* FALSE: estimated from the run itself */
  /* Share of the device's measured rates (ceilings.h) that it reaches while it computes: 0..1; NaN:
   * not known. */
  double bandwidth_share, arithmetic_share;
  GPtrArray *findings; /* DynoFinding*, by list, worst first in each */
} DynoDiagnosis;

/* Never NULL, immutable; any thread may read it. */
DynoDiagnosis *dyno_diagnose (const DynoDiagnosisInput *input);
void dyno_diagnosis_free (DynoDiagnosis *diagnosis); /* NULL: does nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoDiagnosis, dyno_diagnosis_free)

/* NULL: there is none. */
const DynoFinding *dyno_diagnosis_find (const DynoDiagnosis *diagnosis, const char *id);

/* The table of rules, for lists and tests. */
typedef struct {
  const char *id;
  DynoFindingLevel level;
  DynoCheck check;
  double threshold;
  const char *unit;   /* explanation of the threshold */
  const char *source; /* source of the threshold */
} DynoRuleInfo;
const DynoRuleInfo *dyno_diagnosis_get_rule (guint index); /* NULL: past the last rule */

G_END_DECLS
