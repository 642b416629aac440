/* SPDX-License-Identifier: MIT */
/* Class weights of the training loss, as given by the user (loss.weights). */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* Parses n_classes floats from "1,2,0.5" (a number for each class, in their order) or
 * "cat=2,dog=0.5" (by name; a class that is not named has weight 1).  g_free; NULL with SETTING
 * (not a list of numbers; a number that is negative, not finite or above 1e6; no number above 0) or
 * DATA (the count differs from the number of classes; an unknown class; a class that is named
 * twice). */
float *dyno_class_weights_parse (const char *text, const DynoDatasetInfo *info, GError **error);

G_END_DECLS
