/* SPDX-License-Identifier: MIT */
/* The classes in the mask of a sample, for people. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* "sky 61 %, sea 39 %": the classes of most pixels in the middle of the sample, most first, four at
 * most, in shares of all pixels.  NULL: it cannot be decoded, or all pixels are ignored.  g_free. */
char *dyno_inspect_describe_mask (DynoDataset *dataset, guint64 index);

G_END_DECLS
