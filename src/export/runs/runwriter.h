/* SPDX-License-Identifier: MIT */
/* Writes the files of a run's folder that the session itself does not write (it writes weights,
 * checkpoint, metrics.csv, log): settings.ini, the curves and diagnosis.json.  They are the same
 * for every program: window and dynoctl give dyno_run_writer to their sessions. */
#pragma once
#include "exporter.h"
#include "session.h"

G_BEGIN_DECLS

extern const DynoRunWriter dyno_run_writer;

/* Writes the run's settings.ini; a data set's path is written as an absolute one, so that the run
 * resumes from anywhere. */
gboolean dyno_run_writer_write_settings (const char *folder, const DynoJob *job, const char *device,
                                         GError **error);

/* Writes curves.svg and curves.png through the module dyno-curves; FALSE: they are not drawn, and
 * the error has the reason. */
gboolean dyno_run_writer_write_curves (const char *folder, DynoMetrics *metrics,
                                       guint64 budget_bytes, GError **error);

/* Writes the same plots as one file: .svg, .png or .pdf, by the ending of path. */
gboolean dyno_run_writer_draw_curves (const char *path, DynoMetrics *metrics, guint64 budget_bytes,
                                      GError **error);

/* Writes diagnosis.json, and a few lines of the log.  Errors: base's. */
gboolean dyno_run_writer_write_diagnosis (const char *folder, GError **error);

/* Brings the logs of other programs, which the job's settings name, up to the newest step, at the
 * default places of these programs.  first: existing rows of the run are replaced.  Errors: those
 * of dyno_trackio_write. */
gboolean dyno_run_writer_follow (const char *folder, const DynoJob *job, DynoMetrics *metrics,
                                 gboolean first, GError **error);

/* Makes a folder of the run's own below parent, <model>-<data>-<n> with the first n that is free;
 * no other process can create the same folder.  <model> of a network is its title.  parent is made
 * where it is missing.  Errors: base's IO and DISK.  g_free. */
char *dyno_run_writer_claim_folder (const char *parent, const DynoJob *job, GError **error);
/* Whether a folder has a name that _claim_folder gives to runs of this model and data (both may be
 * NULL), so that the name is none of the user's. */
gboolean dyno_run_writer_has_claimed (const char *folder, const char *model, const char *data);

/* Refuses a folder that holds files of a run, except the folder that `resume` (a checkpoint or its
 * folder; may be NULL) names: no run is overwritten without being asked for.  A folder that does
 * not exist is accepted.  Errors: EXISTS. */
gboolean dyno_run_writer_check_folder (const char *folder, const char *resume, GError **error);

/* Removes Dyno's files from a run's folder, and the folder itself where nothing else is in it;
 * *gone is TRUE then.  job: the run's job; a folder whose settings.ini belongs to another run is
 * not touched.  Errors: EXISTS; base's IO. */
gboolean dyno_run_writer_remove_files (const char *folder, const DynoJob *job, gboolean *gone,
                                       GError **error);

G_END_DECLS
