/* SPDX-License-Identifier: MIT */
/* inspect --preview --set: a sheet of the inputs in training, as the network's first layer reads
 * them. */
#pragma once
#include "dataset.h"
#include "job.h"

G_BEGIN_DECLS

/* Writes the n samples (n > 0) as a PNG at path, each with its caption, augmented and normalised on
 * the device as the job's settings say, with the normalisation undone for the picture.  Errors:
 * DATA, those of the device and of writing. */
gboolean dyno_inspect_augmented (DynoDataset *dataset, const guint64 *indices, guint n,
                                 char *const *captions, const char *path, const DynoJob *job,
                                 GError **error);
/* The purpose of settings, each with those before it. */
typedef enum {
  DYNO_INSPECT_OPENS,   /* all concern how a data set is opened */
  DYNO_INSPECT_DIVIDES, /* some concern how it is divided into parts */
  DYNO_INSPECT_OTHERS,
} DynoInspectSet;

/* Sets each KEY=VALUE of set (NULL-terminated, or NULL).  Errors: SETTING. */
gboolean dyno_inspect_apply (DynoSettings *settings, char *const *set, DynoInspectSet *purpose,
                             GError **error);

G_END_DECLS
