/* SPDX-License-Identifier: MIT */
/* A job of the queue in a list: model, data set, state, progress and settings, and buttons for all
 * that can be done with it.  The row can be dragged to another place of its list. */
#pragma once
#include "joblist.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_JOB_ROW (dyno_job_row_get_type ())
G_DECLARE_FINAL_TYPE (DynoJobRow, dyno_job_row, DYNO, JOB_ROW, GtkListBoxRow)

/* Signals: "edit": the job's settings are to be edited; "drop" (int from): the row at that place of
 * the list was dropped here, "drop-after" (int from): right after this row; "take-out": the job is to
 * be taken out. */
GtkWidget *dyno_job_row_new (DynoJobList *jobs, const DynoListedJob *job, gboolean editable);
gint64 dyno_job_row_get_id (DynoJobRow *self);
/* Whether settings can be edited at present. */
void dyno_job_row_set_editable (DynoJobRow *self, gboolean editable);
/* Shows the job anew; it has the same id. */
void dyno_job_row_show (DynoJobRow *self, const DynoListedJob *job);

G_END_DECLS
