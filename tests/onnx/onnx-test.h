/* SPDX-License-Identifier: MIT */
/* Small models for tests, made with the Protocol Buffers writer. */
#pragma once
#include "model.h"
#include "wire.h"

G_BEGIN_DECLS

/* Names are separated by commas; NULL: none; "": omitted. */
GByteArray *onnx_test_node (const char *op, const char *name, const char *inputs,
                            const char *outputs);
GByteArray *onnx_test_tensor (const char *name, guint type, const gint64 *dims, guint n_dims);
/* A float value of shape (batch, width). */
GByteArray *onnx_test_value (const char *name, gint64 width);
/* Appends a message as a field, and frees it. */
void onnx_test_add (GByteArray *message, guint field, GByteArray *inner);
void onnx_test_attribute_int (GByteArray *node, const char *name, gint64 value);

/* "x" -> Relu "first" -> "y", with x and y as input and output. */
GByteArray *onnx_test_graph (void);
/* Returns the file with the graph, which is freed; its operators are those of opset 17, or of the
 * version. */
GByteArray *onnx_test_file (GByteArray *graph);
GByteArray *onnx_test_file_of (GByteArray *graph, guint64 version);

/* Makes a file from its lines, which are separated by semicolons: "in x N,3,8,8"; "out y N,2"; "w
 * weight 8,3" (zeros); "i shape 0,-1"; "f six 6"; or a node, "Conv name x,weight y group=2", where
 * - means no name.  Numbers without a comma are scalars; with one they are a list.  An axis that is
 * a word has that name and an unknown size (N: "batch"); "out y ?" has no shape.  A line "opset 10"
 * applies to the whole file. */
GByteArray *onnx_test_text (const char *text);

/* Frees the file.  folder may be NULL. */
DynoOnnxModel *onnx_test_parse (GByteArray *file, const char *folder, GError **error);
/* The same for a file that must fail with this error; the message matches the pattern by
 * g_pattern_match. */
void onnx_test_fails (GByteArray *file, const char *folder, DynoOnnxError code,
                      const char *pattern);

G_END_DECLS
