/* SPDX-License-Identifier: MIT */
/* The sources of the names and settings of a run, and their order of precedence: no other place
 * decides it. */
#pragma once
#include "exporter.h"

G_BEGIN_DECLS

/* In their order, the later source wins; NULL: there is no source of the kind. */
typedef struct {
  /* default values for this device: fp32 on a software device, where AMP gains nothing */
  const DynoDeviceInfo *device;
  /* the run that is resumed, its folder or its checkpoint: settings.ini beside the checkpoint holds
   * everything; where there is none, the checkpoint gives model and settings, and a warning reports
   * that */
  const char *resume;
  const DynoPreset *preset; /* its advice for the size that the job trains at */
  DynoLevel level;
  const char *file;       /* settings file */
  const char *const *set; /* "KEY=VALUE" of --set, the last of a key wins; NULL ends them */
  const char *const *own; /* the same, for settings that have an option of their own */
  /* Names.  The model may be the path of an ONNX file, whose weights the run then starts from. */
  const char *data, *targets, *model;
} DynoSettingsSources;

/* The first call takes the job's names (and, of a network of an ONNX file, its start weights) and all settings that are needed to open its data set, which
 * are all but the preset's.  Mistakes in file, set and own are reported now, before a long scan.
 * Errors: READ, SETTING, CHECKPOINT; DYNO_NN_ERROR_MODEL, of an ONNX file. */
gboolean dyno_settings_sources_name (const DynoSettingsSources *sources, DynoJob *job,
                                     GError **error);

/* The second call, with the data set open, makes job->settings from the sources; their values
 * before do not count.  The job's names stay, and its preset becomes the preset of the resumed run
 * or of the file.  data is needed with a preset.  warnings (char*, may be NULL) receives sentences
 * about keys that were left out and about missing facts of a resumed run.  Errors: READ, SETTING,
 * CHECKPOINT. */
gboolean dyno_settings_sources_apply (const DynoSettingsSources *sources,
                                      const DynoDatasetInfo *data, DynoJob *job,
                                      GPtrArray *warnings, GError **error);

G_END_DECLS
