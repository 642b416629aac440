/* SPDX-License-Identifier: MIT */
#include "fittingmodel.h"

#define MOST_SMALL 96 /* image size, in pixels a side, of the small models */

const DynoModel *
dyno_fitting_model_find (DynoSetup *setup)
{
  const DynoDatasetInfo *info = dyno_setup_get_info (setup);
  const DynoModel *model = dyno_model_find (dyno_setup_get_job (setup)->model, NULL);
  const DynoBatchField *input =
      info ? dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT) : NULL;
  gboolean masks = info && dyno_schema_find_mask (&info->schema);
  if (!input || !model || input->n_axes != 3 || info->schema.generated || masks == model->of_pixels)
    return NULL;
  gboolean small = MAX (info->max_width, info->max_height) <= MOST_SMALL;
  return dyno_model_find (masks   ? small ? "unet_small" : "unet_resnet34"
                          : small ? "simplecnn"
                                  : "resnet18",
                          NULL);
}
