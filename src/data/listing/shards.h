/* SPDX-License-Identifier: MIT */
/* Finds the shards of a WebDataset, before anything in the files is read. */
#pragma once
#include "location.h"

G_BEGIN_DECLS

/* Paths (char *) in the order of their names: the file itself, the files of a pattern, or the files
 * of a folder and of the folders for parts in it.  g_ptr_array_unref. */
GPtrArray *dyno_shards_list (const DynoLocation *location);

/* TRUE where a word of the shard's name, or its folder, stands for the training part; with trains
 * FALSE, for another part. */
gboolean dyno_shard_is_of_part (const char *path, gboolean trains);

G_END_DECLS
