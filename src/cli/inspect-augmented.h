/* SPDX-License-Identifier: MIT */
/* inspect --preview --set: a sheet of what the training network is given, as its first layer reads
 * it. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* The n samples (n > 0) as a PNG at path, each with its caption, changed and normalised on the
 * device as the settings say, the normalisation taken back.  set: KEY=VALUE each, NULL-terminated.
 * Errors: SETTING, DATA, those of the device and of writing. */
gboolean dyno_inspect_augmented (DynoDataset *dataset, const guint64 *indices, guint n,
                                 char *const *captions, const char *path, char **set,
                                 GError **error);

G_END_DECLS
