/* SPDX-License-Identifier: MIT */
/* The sources of the names and settings of a run, and their order of precedence, which only
 * settings-sources.c decides. */
#pragma once
#include "exporter.h"

G_BEGIN_DECLS

/* A later member takes precedence over an earlier one; NULL: there is no such source. */
typedef struct {
  /* default values for this device: fp32 on a software device, where AMP gains nothing */
  const DynoDeviceInfo *device;
  /* the run that is resumed, its folder or its checkpoint: settings.ini beside the checkpoint holds
   * everything; where there is none, the checkpoint gives model and settings, and a warning reports
   * that */
  const char *resume;
  const DynoPreset *preset; /* gives its advice for the image size of the job */
  DynoLevel level;
  const char *file; /* settings file */
  /* "KEY=VALUE" of --set, of which the last one of a key applies; NULL ends them */
  const char *const *set;
  const char *const *own; /* the same, for settings that have an option of their own */
  /* Names.  The model may be the path of an ONNX file, whose weights the run then starts from. */
  const char *data, *targets, *model;
} DynoSettingsSources;

/* The first call sets the job's names (and, for the network of an ONNX file, the start weights) and
 * all settings that are needed to open its data set: those of all sources but the preset.  Mistakes
 * in file, set and own are reported now, before a long scan.
 * Errors: READ, SETTING, CHECKPOINT; DYNO_NN_ERROR_MODEL, of an ONNX file. */
gboolean dyno_settings_sources_name (const DynoSettingsSources *sources, DynoJob *job,
                                     GError **error);

/* The second call, with the data set open, makes job->settings from the sources; earlier values are
 * discarded.  The job's names stay, and its preset becomes the preset of the resumed run or of the
 * file.  data is needed with a preset.  warnings (char*, may be NULL) receives sentences about keys
 * that were left out and about missing facts of a resumed run.  Errors: READ, SETTING,
 * CHECKPOINT. */
gboolean dyno_settings_sources_apply (const DynoSettingsSources *sources,
                                      const DynoDatasetInfo *data, DynoJob *job,
                                      GPtrArray *warnings, GError **error);

G_END_DECLS
