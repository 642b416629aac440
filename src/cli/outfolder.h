/* SPDX-License-Identifier: MIT */
/* The folder of --out of a verb that writes a few files of its own. */
#pragma once
#include "cli.h"

G_BEGIN_DECLS

typedef struct {
  const char *const *files; /* NULL-terminated names */
  const char *holds;        /* "an earlier search": what these files are, found there */
  const char *instead;      /* ", go on with it by --resume": another way than a folder; or "" */
} DynoOutFiles;

/* Creates the folder where it is missing, and tests that every file can be written there.  A folder
 * that holds files of an earlier run is refused (USAGE) unless force is set: no run is ever
 * overwritten without being asked to.  Other files in it are not touched.  Returns an exit code,
 * and has printed the error. */
int dyno_out_folder_prepare (const char *command, const char *folder, const DynoOutFiles *files,
                             gboolean force);

G_END_DECLS
