/* SPDX-License-Identifier: MIT */
/* Whether the paths of the next run can be used: the folder that it is to be kept in, and the file
 * of its start weights.  They may be on a server that does not respond, so they are checked in a
 * thread.  A result is for the paths of the last request; it is only a forecast, and a run that
 * begins tests its folder once more.  Signal: "changed".  Main thread only. */
#pragma once
#include <glib-object.h>

G_BEGIN_DECLS

#define DYNO_TYPE_PATH_CHECK (dyno_path_check_get_type ())
G_DECLARE_FINAL_TYPE (DynoPathCheck, dyno_path_check, DYNO, PATH_CHECK, GObject)

DynoPathCheck *dyno_path_check_new (void);
/* Requests a new check.  folder: where runs are kept; weights: a file, or NULL.  The earlier result
 * for unchanged paths stays valid until the new one arrives. */
void dyno_path_check_ask (DynoPathCheck *self, const char *folder, const char *weights);
const char *dyno_path_check_get_folder (DynoPathCheck *self); /* NULL: none was given */
gboolean dyno_path_check_is_known (DynoPathCheck *self);
/* A sentence that states why the path cannot be used; NULL: it can be used, or this is not known
 * yet. */
const char *dyno_path_check_get_folder_problem (DynoPathCheck *self);
const char *dyno_path_check_get_weights_problem (DynoPathCheck *self);

G_END_DECLS
