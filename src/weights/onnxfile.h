/* SPDX-License-Identifier: MIT */
/* The weights of an ONNX file: the initialisers of its graph, and the metadata of files by Dyno. */
#pragma once
#include "safetensors.h"

G_BEGIN_DECLS

/* TRUE: the first bytes of a file, at least 8, are those of an ONNX file. */
gboolean dyno_onnx_file_matches (const guint8 *bytes, gsize size);

/* Reads the initialisers by their names.  Initialisers of types that weights never have are left
 * out.  Where the nodes can be read, each node has weights of its own, named as by
 * DYNO_ONNX_READ_NETWORK; where not, the file has only its initialisers.  Where the producer is
 * Dyno, metadata_props are the metadata of the file.  bytes are taken over and freed with g_free.
 * folder: the folder of the file, for values in other files; NULL: such values are refused.
 * Errors: CORRUPT; UNSUPPORTED: values in another file that cannot be read; TOO_LARGE. */
DynoSafetensors *dyno_onnx_file_parse (guint8 *bytes, gsize size, const char *folder,
                                       GError **error);

G_END_DECLS
