/* SPDX-License-Identifier: MIT */
/* Finds the shards of a WebDataset, before anything in the files is read. */
#pragma once
#include "datapart.h"
#include "location.h"

G_BEGIN_DECLS

/* Paths (char *) in the order of their names: the file itself, the files of a pattern, or the files
 * of a folder and of the folders for parts in it.  g_ptr_array_unref. */
GPtrArray *dyno_shards_list (const DynoLocation *location);

/* The part that a word of the shard's name or its folder stands for: TRAIN where any of these does,
 * else the part of the first word. */
DynoPart dyno_shard_get_part (const char *path);

G_END_DECLS
