/* SPDX-License-Identifier: MIT */
/* The choice of a search for the best validation, and the sentence about it.  Only this file
 * decides whether a choice is proven.  Private to the tune layer. */
#pragma once
#include "accuracy.h"

G_BEGIN_DECLS

/* Compares the contenders with the job's own settings, and fills gain, best, verdict and text. */
void dyno_accuracy_judge (DynoAccuracyResult *result);

G_END_DECLS
