/* SPDX-License-Identifier: MIT */
/* Weights of classes in the loss of training, as a person gives them (loss.weights). */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* n_classes floats out of "1,2,0.5" (a number for each class, in their order) or "cat=2,dog=0.5" (by
 * name; a class that is not named counts 1).  g_free; NULL with SETTING (no list of numbers; one
 * that is negative, not finite or beyond 1e6; none above 0) or DATA (another number than there are
 * classes; a class that is not there; one that is there twice). */
float *dyno_class_weights_parse (const char *text, const DynoDatasetInfo *info, GError **error);

G_END_DECLS
