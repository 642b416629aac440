/* SPDX-License-Identifier: MIT */
/* The table of formats.  Order matters only where a location could match two: the more special one
 * comes first. */
#include "dataset-class.h"

const DynoDatasetClass *const dyno_dataset_classes[] = {
  &dyno_dataset_class_shapes,
  &dyno_dataset_class_drawnmasks,
  &dyno_dataset_class_waves,
  &dyno_dataset_class_poses,
  &dyno_dataset_class_synthetic,
  &dyno_dataset_class_npy,
  &dyno_dataset_class_npz,       /* also a .zip */
  &dyno_dataset_class_sequences, /* a folder of arrays, with or without a list of them */
  &dyno_dataset_class_idx,
  &dyno_dataset_class_cifar,
  &dyno_dataset_class_packedarrays, /* also a pattern of shards */
  &dyno_dataset_class_webdataset,   /* archives whose members form samples */
  &dyno_dataset_class_archive,
  &dyno_dataset_class_w300lp,
  &dyno_dataset_class_biwi, /* folders of images, each with a pose beside it */
  &dyno_dataset_class_coco,
  &dyno_dataset_class_pixelrows, /* a list that has its images in it */
  &dyno_dataset_class_manifest,
  &dyno_dataset_class_masks,       /* folders whose files have the same names */
  &dyno_dataset_class_imagefolder, /* any folder */
  NULL,
};

const DynoDatasetClass *
dyno_dataset_find_class_for (const DynoLocation *location, DynoTask task)
{
  const DynoDatasetClass *klass = NULL;

  for (guint i = 0; dyno_dataset_classes[i] && !klass; i++)
    if ((!dyno_dataset_classes[i]->can_be || !location->is_folder || task == DYNO_TASK_AUTO
         || task == DYNO_TASK_PIXELS
         || (task == DYNO_TASK_LABELS && dyno_dataset_classes[i] == &dyno_dataset_class_coco))
        && dyno_dataset_classes[i]->matches (location))
      klass = dyno_dataset_classes[i];
  if (task == DYNO_TASK_PIXELS && klass == &dyno_dataset_class_imagefolder
      && dyno_dataset_class_masks.can_be (location))
    return &dyno_dataset_class_masks;
  return klass;
}

const DynoDatasetClass *
dyno_dataset_find_class (const DynoLocation *location)
{
  return dyno_dataset_find_class_for (location, DYNO_TASK_AUTO);
}
