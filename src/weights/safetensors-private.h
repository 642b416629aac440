/* SPDX-License-Identifier: MIT */
/* A file of tensors while it is read; private to the readers of such files. */
#pragma once
#include "safetensors.h"

G_BEGIN_DECLS

struct _DynoSafetensors {
  guint8 *bytes;     /* the whole file */
  GPtrArray *blocks; /* tensors that do not lie in it as they are; g_free */
  GArray *tensors;
  GHashTable *by_name; /* char * to place + 1 */
  GHashTable *metadata;
  char *shown; /* the path, as messages show it; NULL: the file was parsed from memory */
};

/* An empty one, which takes bytes over. */
DynoSafetensors *dyno_safetensors_new (guint8 *bytes);
/* Takes a copy of tensor and of name.  Errors: CORRUPT: there is one of the name. */
gboolean dyno_safetensors_add (DynoSafetensors *file, const DynoSafetensor *tensor,
                               const char *name, GError **error);

G_END_DECLS
