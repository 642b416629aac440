/* SPDX-License-Identifier: MIT */
/* The data sets that were opened last, as the desktop's list of recent files keeps them.  A path may
 * lie on a server that does not answer: paths are looked at in a thread. */
#pragma once
#include "dataset.h"
#include <gio/gio.h>

G_BEGIN_DECLS

/* Paths in UTF-8 that exist, newest first. */
typedef void (*DynoRecentDataListed) (GObject *owner, const GPtrArray *paths);

/* Built-in ones are left out. */
void dyno_recent_data_add (const DynoDatasetInfo *info);
/* listed is called later; the owner is kept until then, and may be without its widgets.  Nothing is
 * done while an earlier question of this owner waits for its answer. */
void dyno_recent_data_list (guint most, GObject *owner, DynoRecentDataListed listed);

G_END_DECLS
