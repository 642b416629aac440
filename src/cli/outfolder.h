/* SPDX-License-Identifier: MIT */
/* The folder of --out, for verbs that write a few own files. */
#pragma once
#include "cli.h"

G_BEGIN_DECLS

typedef struct {
  const char *const *files; /* NULL-terminated names */
  const char *holds;        /* "an earlier search": the origin of such files in the folder */
  const char *instead;      /* ", go on with it by --resume": an alternative; or "" */
} DynoOutFiles;

/* Creates the folder where it is missing, and tests that every file can be written there.  A folder
 * that holds files of an earlier run is refused (USAGE) unless force is set, so that no run is
 * overwritten unasked.  Other files in it are not touched.  Returns an exit code, after printing
 * the error. */
int dyno_out_folder_prepare (const char *command, const char *folder, const DynoOutFiles *files,
                             gboolean force);

G_END_DECLS
