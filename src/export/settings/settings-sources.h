/* SPDX-License-Identifier: MIT */
/* Where the names and settings of a run come from, and which wins: the one place that says so. */
#pragma once
#include "exporter.h"

G_BEGIN_DECLS

/* In their order, the later wins; NULL: there is none of the kind. */
typedef struct {
  /* defaults, as they are on it: fp32 on a software device, where AMP gains nothing */
  const DynoDeviceInfo *device;
  /* the run that is gone on with, its folder or its checkpoint: settings.ini beside the checkpoint
   * says all; where there is none, the checkpoint says model and settings, and a warning that so
   * it is */
  const char *resume;
  const DynoPreset *preset; /* its advice for the size that the job trains at */
  DynoLevel level;
  const char *file;       /* settings file */
  const char *const *set; /* "KEY=VALUE" of --set, the last of a key wins; NULL ends them */
  const char *const *own; /* the same, of settings that have an option of their own */
  const char *data, *targets, *model; /* names */
} DynoSettingsSources;

/* First: the job's names, and as much of its settings as opening its data set needs, which is all
 * but the preset's.  Mistakes in file, set and own are told now, before a long scan.  Errors: READ,
 * SETTING, CHECKPOINT. */
gboolean dyno_settings_sources_name (const DynoSettingsSources *sources, DynoJob *job,
                                     GError **error);

/* Then, with the data set open: makes job->settings of the sources; what they were before does not
 * count.  The job's names stay, and its preset becomes the resumed run's or the file's.  data is
 * needed with a preset.  Sentences about keys that were left out, and of what is not known of a
 * resumed run, go to warnings (char*, may be NULL).  Errors: READ, SETTING, CHECKPOINT. */
gboolean dyno_settings_sources_apply (const DynoSettingsSources *sources,
                                      const DynoDatasetInfo *data, DynoJob *job,
                                      GPtrArray *warnings, GError **error);

G_END_DECLS
