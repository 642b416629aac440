/* SPDX-License-Identifier: MIT */
/* The weights of an ONNX file: the initialisers of its graph, and what a file of Dyno's says of
 * them. */
#pragma once
#include "safetensors.h"

G_BEGIN_DECLS

/* Of a file's first bytes, of which 8 are enough. */
gboolean dyno_onnx_file_matches (const guint8 *bytes, gsize size);

/* The initialisers by their names.  Those of types that no weights have are left out.  Where the
 * nodes can be read, each has weights of its own, by the names of DYNO_ONNX_READ_NETWORK; a file
 * with nodes that are not read has its initialisers only.  Where the producer is Dyno,
 * metadata_props are the metadata of the file.  bytes are taken over and freed with g_free.
 * folder: that of the file, where values may lie in other files; NULL: such values are refused.
 * Errors: CORRUPT; UNSUPPORTED: values in another file that cannot be read; TOO_LARGE. */
DynoSafetensors *dyno_onnx_file_parse (guint8 *bytes, gsize size, const char *folder,
                                       GError **error);

G_END_DECLS
