/* SPDX-License-Identifier: MIT */
/* The samples of WebDataset shards, by the kind of what they are: images (webdataset.c) or arrays
 * (packedarrays.c). */
#pragma once
#include "imagelist.h"
#include "packed.h"

G_BEGIN_DECLS

/* Endings of what is a sample; NULL at the end. */
extern const char *const dyno_webdataset_images[];

/* Whether the first members of the first shard make such samples; NULL: images, or anything before
 * its label. */
gboolean dyno_webdataset_has (const DynoLocation *location, const char *const *inputs);

/* Lists the samples with what is to be learned of each, and names the classes or values; packed,
 * which is empty before, takes what convert.c wrote about them.  Nothing of a sample is read. */
gboolean dyno_webdataset_load (DynoDataset *dataset, const DynoOpenContext *context,
                               DynoImageList *list, const char *const *inputs, DynoPacked *packed,
                               GError **error);

G_END_DECLS
