/* SPDX-License-Identifier: MIT */
/* The weights of an ONNX file: the initialisers of its graph, and what a file of Dyno's says of
 * them.  Nothing else of it is read. */
#pragma once
#include "safetensors.h"

G_BEGIN_DECLS

/* Of a file's first bytes, of which 8 are enough. */
gboolean dyno_onnx_file_matches (const guint8 *bytes, gsize size);

/* The initialisers by their names.  Those of types that no weights have are left out.  Where the
 * producer is Dyno, metadata_props are the metadata of the file.  bytes are taken over and freed
 * with g_free.  Errors: CORRUPT; UNSUPPORTED: values that lie in another file; TOO_LARGE. */
DynoSafetensors *dyno_onnx_file_parse (guint8 *bytes, gsize size, GError **error);

G_END_DECLS
