/* SPDX-License-Identifier: MIT */
/* What formats share where samples are opened without labels: the files among the paths, and the
 * arrays of samples in a file. */
#pragma once
#include "array.h"

G_BEGIN_DECLS

/* Paths of the context as files: a file as it is, and of a folder what lies in it at any depth and
 * ends in .npy, or with arrays in .npz too, in the order of the names, without files of targets
 * and names that begin with a dot.  arrays: of a folder with an X.npy that alone.  Counts and lists
 * what is neither.  Errors: G_IO_ERROR_CANCELLED. */
GPtrArray *dyno_unlabelled_list (DynoDataset *dataset, const DynoOpenContext *context,
                                 gboolean arrays, GError **error);

/* Counts a file that is not used, and lists it while there is room: "path: reason". */
void dyno_unlabelled_note (DynoDataset *dataset, const DynoOpenContext *context, const char *path,
                           const char *reason);

/* X.npy in a folder; NULL: it has none; g_free. */
char *dyno_npy_find_samples (const char *folder);
/* A name of arrays of targets. */
gboolean dyno_npy_is_target_name (const char *name);

/* Takes x over, also on error. */
typedef gboolean (*DynoSamplesFunc) (DynoArray *x, gpointer data, GError **error);

/* The arrays of samples of an .npz, by their names, else the only one that there is. */
gboolean dyno_npz_each_samples (const char *path, const DynoOpenContext *context,
                                DynoSamplesFunc func, gpointer data, GError **error);

G_END_DECLS
