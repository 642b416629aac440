/* SPDX-License-Identifier: MIT */
/* Exporters of runs: what lies in a run's folder as a file that other programs read.  They need no
 * device and no data set, and a run that goes on or was killed is exported as far as it came.  To
 * add one: a file with a DynoRunExporter, named in runexporter.c's table. */
#pragma once
#include "exporter.h"

G_BEGIN_DECLS

typedef struct {
  const char *id;        /* "csv" */
  const char *title;     /* N_() "Metrics as CSV" */
  const char *extension; /* "csv" */
  /* the file's name where the rule of dyno_run_exporter_name_file does not suit, or NULL; g_free */
  char *(*name_file) (void);
  /* Writes path atomically.  Errors: base's IO, DISK and CORRUPT (a file of the folder), those of
   * the plot layer. */
  gboolean (*write) (const char *folder, const char *path, GError **error);
  /* In place of write, of a program that keeps many runs: adds this one at place, which find_place
   * names where nobody does (g_free).  force: replaces what is there of the same run.  Errors: EXISTS,
   * READ (it is not that program's), those of write. */
  char *(*find_place) (void);
  gboolean (*add) (const char *folder, const char *place, gboolean force, char **written,
                   GError **error);
} DynoRunExporter;

/* NULL ends it. */
const DynoRunExporter *const *dyno_run_exporter_list (void);
const DynoRunExporter *dyno_run_exporter_find (const char *id);

/* The file's name where none is given: "<run>.csv"; that of TensorBoard holds when and by which
 * process it was written, as its reader wants it; of a program that keeps many runs its own place.
 * g_free. */
char *dyno_run_exporter_name_file (const DynoRunExporter *exporter, const char *folder);

/* path: a file, or a folder, in which it is named as above.  Does not follow a link and does not
 * overwrite unless force.  *written (may be NULL): where it is; g_free.  Errors: EXISTS, and those
 * of write. */
gboolean dyno_run_export (const DynoRunExporter *exporter, const char *folder, const char *path,
                          gboolean force, char **written, GError **error);

G_END_DECLS
