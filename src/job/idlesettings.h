/* SPDX-License-Identifier: MIT */
/* Finds settings that were given but have no effect, to report them before the first step.  Private
 * to the layers up to train. */
#pragma once
#include "job.h"

G_BEGIN_DECLS

/* Sentences (char *) about a job as it runs here, on n_train samples, with n_validation for
 * validation.  Uses neither device nor data set.  g_ptr_array_unref. */
GPtrArray *dyno_settings_list_idle (const DynoJob *job, const DynoDatasetInfo *info,
                                    guint64 n_train, guint64 n_validation);

G_END_DECLS
