/* SPDX-License-Identifier: MIT */
/* The model to take instead of one that does not suit the kind of the data. */
#pragma once
#include "setup.h"

G_BEGIN_DECLS

/* A model with a class for each pixel where the chosen one has one answer for an image and the data
 * have masks, or the reverse; owned by the library.  NULL: the chosen one suits them, as far as that
 * goes, or no other would. */
const DynoModel *dyno_fitting_model_find (DynoSetup *setup);

G_END_DECLS
