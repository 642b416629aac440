/* SPDX-License-Identifier: MIT */
/* The shards of a WebDataset: files, before anything in them is read. */
#pragma once
#include "location.h"

G_BEGIN_DECLS

/* Paths (char *) in the order of their names: the file itself, those of a pattern, or of a folder and
 * of the folders for parts in it.  g_ptr_array_unref. */
GPtrArray *dyno_shards_list (const DynoLocation *location);

/* Whether a word of the shard's name, or its folder, is of the training part, or of another. */
gboolean dyno_shard_is_of_part (const char *path, gboolean trains);

G_END_DECLS
