/* SPDX-License-Identifier: MIT */
/* Saves the report of a search: asks for a file name, and writes the report in a thread. */
#pragma once
#include "device.h"
#include "tuneresult.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* error NULL: the report was written. */
typedef void (*DynoReportWritten) (const GError *error, gpointer data);

/* The arguments are referenced or copied; device and dataset may be NULL.  data is kept alive until
 * done was called. */
void dyno_tune_report_save (GtkWindow *parent, DynoTuneResult *result, const DynoDeviceInfo *device,
                            DynoDataset *dataset, guint64 limit_bytes, DynoReportWritten done,
                            GObject *data);
/* The same into the file at path, without a dialog. */
void dyno_tune_report_write (const char *path, DynoTuneResult *result, const DynoDeviceInfo *device,
                             DynoDataset *dataset, guint64 limit_bytes, DynoReportWritten done,
                             GObject *data);

G_END_DECLS
