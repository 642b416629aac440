/* SPDX-License-Identifier: MIT */
/* The samples of WebDataset shards, by their kind: images (webdataset.c) or arrays
 * (packedarrays.c). */
#pragma once
#include "imagelist.h"
#include "packed.h"

G_BEGIN_DECLS

/* Extensions of the members that are images; NULL at the end. */
extern const char *const dyno_webdataset_images[];

/* TRUE where the first members of the first shard form samples with inputs of these extensions;
 * inputs NULL: images, or any member before its label. */
gboolean dyno_webdataset_has (const DynoLocation *location, const char *const *inputs);

/* Lists the samples with their targets, and names the classes or values; packed, which is empty
 * before, receives the description by convert.c.  No sample is read. */
gboolean dyno_webdataset_load (DynoDataset *dataset, const DynoOpenContext *context,
                               DynoImageList *list, const char *const *inputs, DynoPacked *packed,
                               GError **error);

G_END_DECLS
