/* SPDX-License-Identifier: MIT */
/* Where the settings of a run come from, and which wins: the one place that says so. */
#pragma once
#include "exporter.h"

G_BEGIN_DECLS

/* In their order, the later wins; NULL: there is none of the kind. */
typedef struct {
  /* defaults, as they are on it: fp32 on a software device, where AMP gains nothing */
  const DynoDeviceInfo *device;
  const char *run;          /* settings.ini of the run that is resumed */
  const DynoPreset *preset; /* its advice for the size that the job trains at */
  DynoLevel level;
  const char *file;       /* settings file */
  const char *const *set; /* "KEY=VALUE", the last of a key wins; NULL ends them */
} DynoSettingsSources;

/* Makes job->settings of the sources; what they were before does not count.  The job's names (data,
 * targets, model) stay as they are, and its preset becomes the resumed run's or the file's.  data
 * is needed with a preset.  Sentences about keys that were left out go to warnings (char*, may be
 * NULL).  Errors: READ, SETTING. */
gboolean dyno_settings_sources_apply (const DynoSettingsSources *sources,
                                      const DynoDatasetInfo *data, DynoJob *job,
                                      GPtrArray *warnings, GError **error);

G_END_DECLS
