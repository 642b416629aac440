/* SPDX-License-Identifier: MIT */
/* What a run leaves in its folder besides the session's own files (weights, checkpoint,
 * metrics.csv, log): settings.ini and the curves.  The same for every program: both give
 * dyno_run_writer to their sessions. */
#pragma once
#include "exporter.h"
#include "session.h"

G_BEGIN_DECLS

extern const DynoRunWriter dyno_run_writer;

/* settings.ini of the run; a data set's path is written absolute, so that the run resumes from
 * anywhere. */
gboolean dyno_run_writer_write_settings (const char *folder, const DynoJob *job, const char *device,
                                         GError **error);

/* curves.svg and curves.png through the module dyno-curves; FALSE: not drawn, and the error says
 * why. */
gboolean dyno_run_writer_write_curves (const char *folder, DynoMetrics *metrics,
                                       guint64 budget_bytes, GError **error);

/* The same plots as one file: .svg, .png or .pdf, by the ending of path. */
gboolean dyno_run_writer_draw_curves (const char *path, DynoMetrics *metrics, guint64 budget_bytes,
                                      GError **error);

/* diagnosis.json, and a few lines of the log.  Errors: base's. */
gboolean dyno_run_writer_write_diagnosis (const char *folder, GError **error);

/* Brings the logs of other programs, which the job's settings name, up to the newest step, at the
 * places where they look by themselves.  first: what is there of the run is replaced.  Errors: those
 * of dyno_trackio_write. */
gboolean dyno_run_writer_follow (const char *folder, const DynoJob *job, DynoMetrics *metrics,
                                 gboolean first, GError **error);

/* A folder of the run's own below parent, <model>-<data>-<n> with the first n that is free: it is
 * made, which no other process can do at the same time.  parent is made where it is missing.
 * Errors: base's IO and DISK.  g_free. */
char *dyno_run_writer_claim_folder (const char *parent, const DynoJob *job, GError **error);

/* Refuses a folder that holds files of a run, but for the one that `resume` (a checkpoint or its
 * folder; may be NULL) names: no run is written over unasked.  A folder that is not there is good.
 * Errors: EXISTS. */
gboolean dyno_run_writer_check_folder (const char *folder, const char *resume, GError **error);

/* Removes what Dyno wrote into a run's folder, and the folder itself where nothing else is in it,
 * which *gone then says.  job: what the run was asked for; a folder whose settings.ini tells of
 * another run is left alone.  Errors: EXISTS; base's IO. */
gboolean dyno_run_writer_remove_files (const char *folder, const DynoJob *job, gboolean *gone,
                                       GError **error);

G_END_DECLS
