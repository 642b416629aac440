/* SPDX-License-Identifier: MIT */
/* Exporters of runs: each writes the content of a run's folder as a file that other programs read.
 * They need no device and no data set, and a run that still trains or was killed is exported up to
 * its last row.  To add an exporter, write a file with a DynoRunExporter and name it in
 * runexporter.c's table. */
#pragma once
#include "exporter.h"

G_BEGIN_DECLS

typedef struct {
  const char *id;        /* "csv" */
  const char *title;     /* N_() "Metrics as CSV" */
  const char *extension; /* "csv" */
  /* the file's name where the rule of dyno_run_exporter_name_file does not suit, or NULL; g_free */
  char *(*name_file) (void);
  /* Writes path atomically.  Errors: FORMAT (path lacks the extension of the picture), base's IO,
   * DISK and CORRUPT (a file of the folder), those of dyno_plot_module_find and of the plot
   * layer. */
  gboolean (*write) (const char *folder, const char *path, GError **error);
  /* Replaces write for a program that keeps many runs in one place: adds this run at place;
   * find_place gives the place where the caller names none (g_free).  force: replaces the entry of
   * the same run.  Errors: EXISTS, READ (the place is not that program's), those of write. */
  char *(*find_place) (void);
  gboolean (*add) (const char *folder, const char *place, gboolean force, char **written,
                   GError **error);
} DynoRunExporter;

/* NULL ends the list. */
const DynoRunExporter *const *dyno_run_exporter_list (void);
const DynoRunExporter *dyno_run_exporter_find (const char *id);

/* The file's name where the caller gives none: "<run>.csv".  The name of a TensorBoard file holds
 * the time and the process that wrote it, as its reader expects; a program that keeps many runs has
 * its own place.  g_free. */
char *dyno_run_exporter_name_file (const DynoRunExporter *exporter, const char *folder);

/* path: a file, or a folder, in which the file is named as above.  Does not follow a link and does
 * not overwrite unless force.  *written (may be NULL): its path; g_free.  Errors: EXISTS, and those
 * of write. */
gboolean dyno_run_export (const DynoRunExporter *exporter, const char *folder, const char *path,
                          gboolean force, char **written, GError **error);

G_END_DECLS
