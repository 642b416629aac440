/* SPDX-License-Identifier: MIT */
/* Opens data sets in a thread, one at a time: a new opening cancels the one under way, whose result
 * is dropped.  Main thread only; the functions of the watch are called on it, and never after
 * _free. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

typedef struct _DynoDataOpener DynoDataOpener;

typedef struct {
  /* Called a few times per second while a large data set is scanned. */
  void (*scanned) (gpointer data);
  /* dataset is borrowed; NULL: error says why. */
  void (*opened) (const char *location, DynoDataset *dataset, const GError *error, gpointer data);
} DynoDataOpenerWatch;

DynoDataOpener *dyno_data_opener_new (const DynoDataOpenerWatch *watch, gpointer data);
void dyno_data_opener_free (DynoDataOpener *opener);

/* A path, a file: URI or a built-in's name; params own no memory. */
void dyno_data_opener_open (DynoDataOpener *opener, const char *location,
                            const DynoDatasetParams *params);
/* Returns FALSE if no opening was under way. */
gboolean dyno_data_opener_cancel (DynoDataOpener *opener);

/* The location that is being opened, or NULL; *found (may be NULL): samples so far. */
const char *dyno_data_opener_get_location (DynoDataOpener *opener, guint64 *found);

G_END_DECLS
