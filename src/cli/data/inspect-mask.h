/* SPDX-License-Identifier: MIT */
/* Describes the classes in the mask of a sample. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* "sky 61 %, sea 39 %": the classes with the most pixels in the middle of the sample, largest
 * first, four at most, with their shares of all pixels.  NULL: the sample cannot be decoded, or all
 * pixels are ignored.  g_free. */
char *dyno_inspect_describe_mask (DynoDataset *dataset, guint64 index);

G_END_DECLS
