/* SPDX-License-Identifier: MIT */
/* GPU presets: what the guides advise for a card, as data.  One key file each
 * (data/presets/<id>.preset), built into the programs; files in $XDG_DATA_DIRS/dyno/presets and
 * $XDG_DATA_HOME/dyno/presets add to them or replace them by id. */
#pragma once
#include "settings.h"
#include "device.h"

G_BEGIN_DECLS

#define DYNO_TUNE_ERROR (dyno_tune_error_quark ())
GQuark dyno_tune_error_quark (void);
typedef enum {
  DYNO_TUNE_ERROR_PRESET,       /* no such preset, or its file is broken: names file and key */
  DYNO_TUNE_ERROR_NOTHING,      /* no trial worked */
  DYNO_TUNE_ERROR_DOES_NOT_FIT, /* nothing fits the memory, whatever the batch */
  DYNO_TUNE_ERROR_TRIALS,       /* no search can go on from this file */
  DYNO_TUNE_ERROR_STOPPED,      /* the search was stopped before a trial had worked */
} DynoTuneError;

typedef enum { DYNO_LEVEL_SAFE, DYNO_LEVEL_RECOMMENDED, DYNO_LEVEL_MAX } DynoLevel;

typedef struct {
  guint32 image_size; /* 512, 224; 0: sequences or other */
  char *workload;     /* "" or "head pose (BIWI)", "tensorflow" ... */
  guint32 batch_safe, batch_recommended, batch_max;
} DynoPresetRow;

typedef struct {
  char *id;           /* "rtx3060" */
  char *name;         /* "RTX 3060" */
  char *architecture; /* "Ampere" */
  guint64 vram_bytes;
  DynoPresetRow *rows;
  guint n_rows;
  /* the last: when the CPU is the bottleneck; 0: none given */
  guint32 workers_min, workers_max, workers_cpu_bound;
  guint32 prefetch;
  gboolean amp;
  gboolean persistent_workers, pinned;
  char **notes;      /* short facts: "memory-limited" */
  char *advice;      /* a paragraph for people */
  char *expected;    /* "300-500 samples/s, 18-22 GB, 350 W", or NULL */
  char **match;      /* device name fragments: "RTX 3060" */
  char *source;      /* file it was read from, or "built in" */
  gboolean this_gpu; /* made from the device, no emulation */
} DynoPreset;

void dyno_preset_free (DynoPreset *preset);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPreset, dyno_preset_free)

/* All presets, "this-gpu" first when device is given, then the built-in order, then users'.  Broken
 * user files are left out with a g_warning.  Elements DynoPreset, freed by the array. */
GPtrArray *dyno_preset_list (const DynoDeviceInfo *device);
/* By id or by path of a file.  device is needed for "this-gpu" only.  Errors: PRESET. */
DynoPreset *dyno_preset_find (const char *name, const DynoDeviceInfo *device, GError **error);
/* The preset whose card this device is, or NULL. */
const DynoPreset *dyno_preset_match (GPtrArray *presets, const DynoDeviceInfo *device);

/* The workers that it advises, whatever machine this is. */
guint32 dyno_preset_get_workers (const DynoPreset *preset, DynoLevel level);

/* Puts the preset's advice for an image size into settings: batch, workers, prefetch, amp, pinned,
 * persistent_workers, vram_budget. Takes the row nearest in image size (scaled by area when none is
 * near); never more workers than host cores. */
void dyno_preset_apply (const DynoPreset *preset, DynoLevel level, guint32 image_size,
                        DynoSettings *settings);

/* What the other card's preset means on this one, in words: "Emulates 12 GB ...".  g_free; NULL for
 * this GPU's own. */
char *dyno_preset_emulation_note (const DynoPreset *preset, const DynoDeviceInfo *device);

G_END_DECLS
