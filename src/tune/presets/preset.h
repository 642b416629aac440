/* SPDX-License-Identifier: MIT */
/* GPU presets: advice for a card, as data.  One key file each (data/presets/<id>.preset), built
 * into the programs; files in $XDG_DATA_DIRS/dyno/presets and $XDG_DATA_HOME/dyno/presets add to
 * them or replace them by id.
 *
 * A value is from a guide, or it is Dyno's own and named in `derived`; in a user's file it is the
 * user's.  Functions may be called from any thread; a preset is immutable after it was read. */
#pragma once
#include "job.h"
#include "device.h"
#include "preset-expected.h"

G_BEGIN_DECLS

#define DYNO_TUNE_ERROR (dyno_tune_error_quark ())
GQuark dyno_tune_error_quark (void);
typedef enum {
  /* there is no such preset, or its file is broken: the message names file and key */
  DYNO_TUNE_ERROR_PRESET,
  DYNO_TUNE_ERROR_NOTHING,      /* no trial worked */
  DYNO_TUNE_ERROR_DOES_NOT_FIT, /* nothing fits the memory, whatever the batch */
  DYNO_TUNE_ERROR_TRIALS,       /* the file is not one that a search can resume from */
  DYNO_TUNE_ERROR_STOPPED,      /* the search was stopped before a trial had worked */
} DynoTuneError;

typedef enum { DYNO_LEVEL_SAFE, DYNO_LEVEL_RECOMMENDED, DYNO_LEVEL_MAX } DynoLevel;

typedef struct {
  guint32 image_size; /* 512, 224; 0: sequences or other */
  DynoPresetWorkload workload;
  guint32 batch_safe, batch_recommended, batch_max;
  char **derived; /* names of the three batches that are Dyno's own: "batch_recommended" */
} DynoPresetRow;

typedef struct {
  char *id;           /* "rtx3060" */
  char *name;         /* "RTX 3060" */
  char *architecture; /* "Ampere" */
  /* The memory as the card is sold; the total, as its driver reports it; and the part that a
   * program can use (dyno_preset_estimate_usable), which is the budget of an emulation.  usable <=
   * total. */
  guint64 vram_bytes, total_bytes, usable_bytes;
  char *vram_source; /* sources of total and usable, for people; or NULL */
  DynoPresetRow *rows;
  guint n_rows;
  /* workers_cpu_bound: when the CPU is the bottleneck; 0: not given */
  guint32 workers_min, workers_max, workers_cpu_bound;
  guint32 prefetch;
  gboolean amp;
  gboolean persistent_workers, pinned;
  char **derived; /* keys of the file's [preset] that are Dyno's own: "prefetch" */
  char **notes;   /* short facts: "memory-limited" */
  char *advice;   /* a paragraph for people */
  DynoPresetExpectation *expectations;
  guint n_expectations;
  char **match;      /* device name fragments: "RTX 3060" */
  char *source;      /* the file that it was read from, "built in", or "device" (this GPU) */
  gboolean this_gpu; /* made from the device; no emulation */
} DynoPreset;

/* The job for which a preset is asked; a member that is NULL is not known. */
typedef struct {
  DynoLevel level;
  const DynoJob *job;           /* its model and image_size */
  const DynoDatasetInfo *data;  /* NULL: images of 224x224 */
  const DynoDeviceInfo *device; /* the device of the job */
} DynoPresetUse;

void dyno_preset_free (DynoPreset *preset);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPreset, dyno_preset_free)

/* All presets: "this-gpu" first when device is given, then the built-in ones in their order, those
 * of the system's folders, and the user's own.  Broken files are left out with a g_warning.  The
 * elements are DynoPreset and are freed by the array. */
GPtrArray *dyno_preset_list (const DynoDeviceInfo *device);
/* Finds a preset by id or reads it from the path of a file.  device is only needed for "this-gpu".
 * Errors: PRESET. */
DynoPreset *dyno_preset_find (const char *name, const DynoDeviceInfo *device, GError **error);
/* The preset whose card this device is, or NULL. */
const DynoPreset *dyno_preset_match (GPtrArray *presets, const DynoDeviceInfo *device);

/* The workers that the preset advises, on any machine. */
guint32 dyno_preset_get_workers (const DynoPreset *preset, DynoLevel level);

/* TRUE where the device is the preset's card, by its name and approximate memory; TRUE for
 * "this-gpu". */
gboolean dyno_preset_is_device (const DynoPreset *preset, const DynoDeviceInfo *device);

/* The memory that a program can use on a card whose driver reports this total. */
guint64 dyno_preset_estimate_usable (guint64 total_bytes);

/* The row that matches the job best, in this order: data set, model, input, task, then image size;
 * NULL: the preset has no row for the job. */
const DynoPresetRow *dyno_preset_find_row (const DynoPreset *preset, const DynoPresetUse *use);

/* The reason why AMP stays off on the device though a preset advises it, a sentence without its
 * end; NULL: AMP is fast on the device, or the device is not known. */
const char *dyno_preset_refuse_amp (const DynoDeviceInfo *device);
/* The reason against AMP where it is on nevertheless, for the same devices. */
const char *dyno_preset_warn_of_amp (const DynoDeviceInfo *device);

/* Writes the preset's advice for the job into settings, which may be the job's own: batch, workers,
 * prefetch, amp, pinned, persistent_workers, vram_budget.  The batch is the row's, scaled by area
 * for images of another size; there are never more workers than host cores, and no AMP where the
 * device refuses it.  The budget is the card's usable memory, and 0 (all that the device has) on
 * the card itself. */
void dyno_preset_apply (const DynoPreset *preset, const DynoPresetUse *use, DynoSettings *settings);

/* The source of the batch of dyno_preset_apply, for people: "Batch 64 comes from ...'s row for biwi
 * ...".  g_free; NULL: the preset has no row for the job. */
char *dyno_preset_describe_batch (const DynoPreset *preset, const DynoPresetUse *use);
/* "biwi, 224x224".  g_free. */
char *dyno_preset_describe_row (const DynoPresetRow *row);
/* The values of the [preset] that are Dyno's own, by their settings' titles, or by their keys where
 * they are no settings: "Prefetch, vram"; NULL: there are none.  g_free. */
char *dyno_preset_describe_derived (const DynoPreset *preset);

/* The effect of a preset of another card on this device, in words: "Emulates the 11.2 GB ...", or
 * that this device has less memory.  g_free; NULL: the device is the preset's card. */
char *dyno_preset_emulation_note (const DynoPreset *preset, const DynoDeviceInfo *device);

/* Notes on a job with these settings, made with the preset, a sentence each: the source of its
 * batch, the emulation, and the advice that this machine does not follow.  There is no note on
 * settings that differ from the advice.  Free with g_strfreev. */
char **dyno_preset_list_notes (const DynoPreset *preset, const DynoPresetUse *use,
                               const DynoSettings *settings);

/* All expectations that fit the job, in words, one per line; NULL: there are none.  g_free. */
char *dyno_preset_describe_expected (const DynoPreset *preset, const DynoPresetUse *use);
/* Fills DYNO_PRESET_N_QUANTITIES ranges: for each quantity the range of dyno_preset_find_expected;
 * quantities without one are not given. */
void dyno_preset_list_expected (const DynoPreset *preset, const DynoPresetUse *use,
                                DynoPresetRange *expected);
/* The expected ranges next to the measured values, where both are known, on one line.  measured:
 * DYNO_PRESET_N_QUANTITIES values, NaN: not known.  g_free; NULL: there is nothing to compare. */
char *dyno_preset_compare (const DynoPresetRange *expected, const double *measured);
/* The range of a quantity from the expectation whose workload matches the job best, the first of
 * equal ones; NULL: there is none. */
const DynoPresetRange *dyno_preset_find_expected (const DynoPreset *preset,
                                                  const DynoPresetUse *use,
                                                  DynoPresetQuantity quantity);

G_END_DECLS
