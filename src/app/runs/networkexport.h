/* SPDX-License-Identifier: MIT */
/* The forms in which the trained network of a run is exported. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const char *id, *title, *file_name; /* title: to be translated; file_name: to be offered */
  /* weights: a weights file; the file at path is replaced.  Blocking, any thread.  Errors: those of
   * dyno_saved_model_open, dyno_onnx_write, dyno_int8_save and dyno_file_write_atomic;
   * G_FILE_ERROR. */
  gboolean (*write) (const char *weights, const char *path, GError **error);
} DynoNetworkExport;

const DynoNetworkExport *dyno_network_export_list (guint *n);
const DynoNetworkExport *dyno_network_export_find (const char *id); /* NULL: there is none */

G_END_DECLS
