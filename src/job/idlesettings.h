/* SPDX-License-Identifier: MIT */
/* Settings that were given and change nothing: they are named before the first step.  Private to
 * the layers up to train. */
#pragma once
#include "job.h"

G_BEGIN_DECLS

/* Sentences (char *) about a job as it runs here, on n_train samples, n_validation kept out.
 * Neither device nor data set is touched.  g_ptr_array_unref. */
GPtrArray *dyno_settings_list_idle (const DynoJob *job, const DynoDatasetInfo *info,
                                    guint64 n_train, guint64 n_validation);

G_END_DECLS
