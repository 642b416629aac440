/* SPDX-License-Identifier: MIT */
/* A file of tensors while it is being read; private to the readers of such files. */
#pragma once
#include "safetensors.h"

G_BEGIN_DECLS

struct _DynoSafetensors {
  guint8 *bytes;     /* the whole file */
  GPtrArray *blocks; /* memory for tensors whose data is not in `bytes`; g_free */
  GArray *tensors;
  GHashTable *by_name; /* char * to index + 1 */
  GHashTable *metadata;
  gboolean is_foreign; /* a .pth, or ONNX */
  char *shown;         /* path for messages; NULL: the file was parsed from memory */
};

/* Makes an empty file, which takes ownership of bytes. */
DynoSafetensors *dyno_safetensors_new (guint8 *bytes);
/* Adds a copy of tensor and of name.  Errors: CORRUPT: the name exists already. */
gboolean dyno_safetensors_add (DynoSafetensors *file, const DynoSafetensor *tensor,
                               const char *name, GError **error);

G_END_DECLS
