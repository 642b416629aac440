/* SPDX-License-Identifier: MIT */
/* inspect --preview --set: a sheet of what the training network is given, as its first layer reads
 * it. */
#pragma once
#include "dataset.h"
#include "job.h"

G_BEGIN_DECLS

/* The n samples (n > 0) as a PNG at path, each with its caption, changed and normalised on the
 * device as the job's settings say, the normalisation taken back.  Errors: DATA, those of the device
 * and of writing. */
gboolean dyno_inspect_augmented (DynoDataset *dataset, const guint64 *indices, guint n,
                                 char *const *captions, const char *path, const DynoJob *job,
                                 GError **error);
/* Sets what KEY=VALUE says, each, NULL-terminated or NULL; *opening: all are of how a data set is
 * opened.  Errors: SETTING. */
gboolean dyno_inspect_apply (DynoSettings *settings, char *const *set, gboolean *opening,
                             GError **error);

G_END_DECLS
