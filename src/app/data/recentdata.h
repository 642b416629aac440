/* SPDX-License-Identifier: MIT */
/* The data sets that were opened last, kept in the desktop's list of recent files.  A path may lie
 * on a server that does not answer, so paths are checked in a thread. */
#pragma once
#include "dataset.h"
#include <gio/gio.h>

G_BEGIN_DECLS

/* Paths in UTF-8 that exist; the data set that was opened last comes first. */
typedef void (*DynoRecentDataListed) (GObject *owner, const GPtrArray *paths);

/* Adds a data set to the list; built-in ones are left out. */
void dyno_recent_data_add (const DynoDatasetInfo *info);
/* Reads the list in a thread and then calls listed.  The owner is referenced until then, but may
 * have been destroyed.  While a request of the owner is pending, its newest further request waits,
 * and then reads the list again; others between them are dropped. */
void dyno_recent_data_list (guint most, GObject *owner, DynoRecentDataListed listed);

G_END_DECLS
