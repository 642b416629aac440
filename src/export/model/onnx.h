/* SPDX-License-Identifier: MIT */
/* A trained model as an ONNX file: opset 17, IR version 8, any batch (github.com/onnx/onnx,
 * docs/IR.md and docs/Operators.md).
 *
 * Input "input": float32 of (N, C, H, W) for images, (N, T, F) for sequences, (N, C) for vectors,
 * normalised as the metadata state, or, with normalise, the values of the data set (bytes as floats
 * 0 to 255).  A model that was trained on sequences of several lengths has a second input "length",
 * int32 of (N): the number of valid steps of each sample; the steps after them hold the pad value
 * of the metadata.  Output "output", float32 of (N, outputs), or (N, outputs, H, W) for masks:
 * logits, of several labels (task "labels" in the metadata) for a sigmoid each, or values in the
 * data's unit.  The metadata (metadata_props) are those of the weights file (weightsinfo.h). */
#pragma once
#include "savedmodel.h"

G_BEGIN_DECLS

typedef struct {
  gboolean half; /* weights and arithmetic in float16; input and output stay float32 */
  /* batch norms are operators of their own; FALSE: they are merged into convolutions */
  gboolean keep_batch_norm;
  gboolean normalise; /* inside the graph */
} DynoOnnxParams;

/* The whole file; g_byte_array_unref.  Errors: DYNO_EXPORT_ERROR_FORMAT: an op of the model has no
 * counterpart here, and the message names it; or the file would have more than 2 GB. */
GByteArray *dyno_onnx_write (const DynoSavedModel *model, const DynoOnnxParams *params,
                             GError **error);

G_END_DECLS
