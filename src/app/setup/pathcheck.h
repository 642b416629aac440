/* SPDX-License-Identifier: MIT */
/* Whether the paths of the next run can be used: the folder that it is to be kept in, and the file
 * of its start weights.  They may lie on a server that does not answer, so a thread looks at them.
 * An answer holds for the paths that were asked about, until it is asked again; it is a forecast,
 * and a run that begins tests its folder once more.  Signal: "changed".  Main thread only. */
#pragma once
#include <glib-object.h>

G_BEGIN_DECLS

#define DYNO_TYPE_PATH_CHECK (dyno_path_check_get_type ())
G_DECLARE_FINAL_TYPE (DynoPathCheck, dyno_path_check, DYNO, PATH_CHECK, GObject)

DynoPathCheck *dyno_path_check_new (void);
/* Asks anew.  folder: where runs are kept; weights: a file, or NULL.  What is known of the same
 * paths stays until the answer is there. */
void dyno_path_check_ask (DynoPathCheck *self, const char *folder, const char *weights);
const char *dyno_path_check_get_folder (DynoPathCheck *self); /* NULL: none was asked about */
gboolean dyno_path_check_is_known (DynoPathCheck *self);
/* Sentences that say why a path cannot be used; NULL: it can, or that is not known. */
const char *dyno_path_check_get_folder_problem (DynoPathCheck *self);
const char *dyno_path_check_get_weights_problem (DynoPathCheck *self);

G_END_DECLS
