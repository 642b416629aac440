/* SPDX-License-Identifier: MIT */
/* The network of a run within its files: weights and checkpoints of a network that was read from an
 * ONNX file hold that network (dyno_model_get_file) in their metadata, so that they can be used
 * without the ONNX file.  Key: network, base64.  Any thread. */
#pragma once
#include "safetensors.h"

G_BEGIN_DECLS

/* Appends key and value (char *) to pairs, where the model of this name is a network. */
void dyno_embedded_append (const char *model, GPtrArray *pairs);
/* Registers the network of a file under the metadata's "model"; TRUE also where the file has
 * none. */
gboolean dyno_embedded_adopt (DynoSafetensors *file, GError **error);
/* The same for a weights file or checkpoint at a path; does nothing where it cannot be read. */
void dyno_embedded_adopt_path (const char *path);

G_END_DECLS
