/* SPDX-License-Identifier: MIT */
/* The network of a run inside of its files: weights and checkpoints of a network that was read from
 * an ONNX file hold that network (dyno_model_get_file) in their metadata, so that they can be used
 * where the file is not.  Key: network, base64.  Any thread. */
#pragma once
#include "safetensors.h"

G_BEGIN_DECLS

/* Appends key and value (char *) to pairs, where the model of the name is a network. */
void dyno_embedded_append (const char *model, GPtrArray *pairs);
/* Makes the network of a file known under its name, the metadata's "model"; TRUE where the file has
 * none.  Errors: CHECKPOINT. */
gboolean dyno_embedded_adopt (DynoSafetensors *file, GError **error);
/* The same of a weights file or checkpoint at a path; nothing where it cannot be read. */
void dyno_embedded_adopt_path (const char *path);

G_END_DECLS
