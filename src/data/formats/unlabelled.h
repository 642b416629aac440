/* SPDX-License-Identifier: MIT */
/* Shared by formats whose samples can be opened without labels: the files among the paths, and the
 * arrays of samples in a file. */
#pragma once
#include "array.h"

G_BEGIN_DECLS

/* The paths of the context as files: a file is taken as it is, and from a folder all files at any
 * depth whose names end in .npy, with arrays also .npz, in the order of the names, except files of
 * targets and names that begin with a dot.  With arrays, a folder that has an X.npy gives only this
 * file.  Other paths are counted and listed.  Errors: G_IO_ERROR_CANCELLED. */
GPtrArray *dyno_unlabelled_list (DynoDataset *dataset, const DynoOpenContext *context,
                                 gboolean arrays, GError **error);

/* Counts a file that is not used, and lists it while there is room: "path: reason". */
void dyno_unlabelled_note (DynoDataset *dataset, const DynoOpenContext *context, const char *path,
                           const char *reason);

/* The X.npy in a folder; NULL: there is none; g_free. */
char *dyno_npy_find_samples (const char *folder);
/* TRUE for a usual name of arrays of targets. */
gboolean dyno_npy_is_target_name (const char *name);

/* Takes ownership of x, also on error. */
typedef gboolean (*DynoSamplesFunc) (DynoArray *x, gpointer data, GError **error);

/* Calls func for the arrays of samples in an .npz: arrays with their usual names, else the only
 * array. */
gboolean dyno_npz_each_samples (const char *path, const DynoOpenContext *context,
                                DynoSamplesFunc func, gpointer data, GError **error);

G_END_DECLS
