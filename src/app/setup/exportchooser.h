/* SPDX-License-Identifier: MIT */
/* The dialog that exports settings: a list of the formats, the text as it would be written, and the
 * settings that the format cannot hold.  The text can be copied or saved.  Modal to its window;
 * nothing blocks. */
#pragma once
#include "exporter.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Called when a file was written, or could not be written: then with the error. */
typedef void (*DynoExportDone) (const char *path, const GError *error, gpointer data);

/* context, its job and device are copied; its dataset is the information of `dataset`, which is
 * referenced, or NULL.  done may be called as long as the dialog exists, which is destroyed with
 * parent. */
void dyno_export_chooser_show (GtkWindow *parent, const DynoExportContext *context,
                               DynoDataset *dataset, DynoExportDone done, gpointer data);

G_END_DECLS
