/* SPDX-License-Identifier: MIT */
/* The random changes of training samples that a job's settings ask for.  Private to the layers
 * up to train. */
#pragma once
#include "job.h"

G_BEGIN_DECLS

/* Of values to predict, those named yaw and roll, by the data set or else by the model, change their
 * sign with augment.flip; rotation and vertical flip turn a head so that its angles are others, and
 * are refused.
 * FALSE with DATA: samples of the schema cannot be changed so. */
gboolean dyno_augment_get (const DynoJob *job, const DynoDatasetInfo *info,
                           const DynoBatchSchema *schema, DynoAugmentation *augmentation,
                           GError **error);

/* The crops that the loader of training samples takes, and none that the device then would:
 * where augment.crop_from is source and the data set's kind can.  They follow from the settings
 * and the kind only, so that a run has one meaning. */
DynoCrop dyno_augment_get_source_crop (const DynoJob *job, const DynoDatasetInfo *info);

G_END_DECLS
