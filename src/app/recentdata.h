/* SPDX-License-Identifier: MIT */
/* The data sets that were opened last, as the desktop's list of recent files keeps them. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* Built-in ones are left out. */
void dyno_recent_data_add (const DynoDatasetInfo *info);
/* Paths in UTF-8 that exist, newest first; g_ptr_array_unref. */
GPtrArray *dyno_recent_data_list (guint most);

G_END_DECLS
