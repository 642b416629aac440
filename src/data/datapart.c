/* SPDX-License-Identifier: MIT */
#include "dataset-class.h"

DynoPart
dyno_dataset_get_part (DynoDataset *dataset, guint64 index)
{
  DynoPart part = dataset->info.has_split && dataset->klass->part
                      ? dataset->klass->part (dataset, index)
                      : DYNO_PART_TRAIN;

  return part == DYNO_PART_TEST && dataset->test_validates ? DYNO_PART_VALIDATION : part;
}
