/* SPDX-License-Identifier: MIT */
/* Parts of a preset: the condition for the jobs of a row, and the numbers that a guide measured or
 * expects. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_PRESET_TASK_ANY,
  DYNO_PRESET_TASK_CLASSES,
  DYNO_PRESET_TASK_VALUES,
} DynoPresetTask;

typedef enum {
  DYNO_PRESET_INPUT_ANY,
  DYNO_PRESET_INPUT_IMAGE,
  DYNO_PRESET_INPUT_SEQUENCE,
} DynoPresetInput;

/* The condition of a row: a job must meet all parts of it that are given. */
typedef struct {
  DynoPresetTask task;
  DynoPresetInput input;
  char **data;     /* DynoDatasetInfo.kind is one of them; empty: any */
  char **models;   /* names, or their beginnings up to "_"; empty: any */
  char *framework; /* NULL: Dyno itself; a row of another program matches no job of Dyno */
} DynoPresetWorkload;

/* The workload of a job; members that are ANY or NULL are not known, and do not meet a condition
 * about them. */
typedef struct {
  DynoPresetTask task;
  DynoPresetInput input;
  const char *data, *model;
} DynoPresetSubject;

/* How closely the row matches the job: 0 where it has no condition, negative where it does not
 * match. */
int dyno_preset_workload_fits (const DynoPresetWorkload *workload,
                               const DynoPresetSubject *subject);
/* The condition in words: "biwi, headpose"; "" for any job.  g_free. */
char *dyno_preset_workload_describe (const DynoPresetWorkload *workload);
void dyno_preset_workload_clear (DynoPresetWorkload *workload);

/* The words for enum values in files; "" for ANY. */
const char *dyno_preset_task_name (DynoPresetTask task);
const char *dyno_preset_input_name (DynoPresetInput input);

typedef enum {
  DYNO_PRESET_SAMPLES_PER_S,
  DYNO_PRESET_UTILISATION, /* of the GPU, in percent */
  DYNO_PRESET_VRAM,        /* in units of 2^30 bytes */
  DYNO_PRESET_POWER,       /* in W */
  DYNO_PRESET_EPOCH,       /* seconds */
  DYNO_PRESET_TRAINING,    /* minutes, of a whole run */
  DYNO_PRESET_TIMES_CPU,   /* factor of the device's rate over the CPU's */
  DYNO_PRESET_ERROR,       /* mean absolute, in degrees */
  DYNO_PRESET_N_QUANTITIES
} DynoPresetQuantity;

typedef struct {
  double least, most; /* NaN: not given */
} DynoPresetRange;

/* The numbers of a guide. */
typedef struct {
  DynoPresetWorkload workload;
  guint32 batch, before_batch; /* batch of the numbers; 0: not given */
  DynoPresetRange now[DYNO_PRESET_N_QUANTITIES];
  /* values before the advice of the guide was followed */
  DynoPresetRange before[DYNO_PRESET_N_QUANTITIES];
} DynoPresetExpectation;

/* "samples_per_s": the key in files and --json. */
const char *dyno_preset_quantity_name (DynoPresetQuantity quantity);
/* The largest value that the quantity can have. */
double dyno_preset_quantity_most (DynoPresetQuantity quantity);
gboolean dyno_preset_range_is_given (const DynoPresetRange *range);
/* "300-500", "2.07".  g_free. */
char *dyno_preset_range_to_text (const DynoPresetRange *range);
/* "300-500 samples/s".  g_free. */
char *dyno_preset_quantity_describe (DynoPresetQuantity quantity, const DynoPresetRange *range);
/* "batch 64: 20 min of training (45 before: 2.25 times as fast)", without its workload.  g_free. */
char *dyno_preset_expectation_describe (const DynoPresetExpectation *expectation);
void dyno_preset_expectation_clear (DynoPresetExpectation *expectation);

G_END_DECLS
