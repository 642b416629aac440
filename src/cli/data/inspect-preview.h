/* SPDX-License-Identifier: MIT */
/* inspect --preview: a sheet of the inputs of the network. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* Writes the n samples as a PNG at path, each with its caption.  Errors: of decoding, of writing;
 * UNSUPPORTED where samples are no images. */
gboolean dyno_inspect_preview (DynoDataset *dataset, const guint64 *indices, guint n,
                               char *const *captions, const char *path, GError **error);

G_END_DECLS
