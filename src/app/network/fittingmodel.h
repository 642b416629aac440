/* SPDX-License-Identifier: MIT */
/* Finds a model that suits the kind of the data, to replace one that does not. */
#pragma once
#include "setup.h"

G_BEGIN_DECLS

/* A segmentation model where the data have masks and the chosen model has one output for an image,
 * or the reverse; owned by the library.  NULL: the chosen model is of the right kind, or no model
 * suits the data. */
const DynoModel *dyno_fitting_model_find (DynoSetup *setup);

G_END_DECLS
