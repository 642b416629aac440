/* SPDX-License-Identifier: MIT */
/* The random changes of training samples that a job's settings ask for.  Private to the layers
 * up to train. */
#pragma once
#include "job.h"

G_BEGIN_DECLS

/* Fills augmentation with the changes that the settings ask for; FALSE with DATA: samples of the
 * schema cannot be changed so.  Values to predict that are named yaw or roll, by the data set or
 * else by the model, change their sign with augment.flip; with such angles rotation and vertical
 * flip are refused, since they would change the angles of a head. */
gboolean dyno_augment_get (const DynoJob *job, const DynoDatasetInfo *info,
                           const DynoBatchSchema *schema, DynoAugmentation *augmentation,
                           GError **error);

/* The crops that the loader takes of training samples instead of the device: where
 * augment.crop_from is source and the kind of the data set supports it.  They depend only on the
 * settings and the kind, so that a run is well defined. */
DynoCrop dyno_augment_get_source_crop (const DynoJob *job, const DynoDatasetInfo *info);

G_END_DECLS
