/* SPDX-License-Identifier: MIT */
/* The answer to a request for inference, by the protocol.  Pure; any thread. */
#pragma once
#include "inferrequest.h"

G_BEGIN_DECLS

/* outputs: n x signature->output_bytes: floats, which are probabilities or values, or masks.  The JSON, and after it the binary
 * data of the outputs that are wanted so; *header_length becomes the length of the JSON, -1: there
 * are no binary data. */
GBytes *dyno_infer_response_new (const DynoSignature *signature, const DynoInferRequest *request,
                                 gconstpointer outputs, gint64 *header_length);

/* The answer to an image file as an image: the mask of its picture as a PNG with a palette, of the
 * picture's size; pixels that the preparation cut off are 255.  mask: the model's output.  Errors:
 * TOO_LARGE (no memory). */
GBytes *dyno_infer_response_new_png (const DynoSignature *signature,
                                     const DynoInferRequest *request, gconstpointer mask,
                                     GError **error);
/* The bytes that it works with, of the picture of a request. */
guint64 dyno_infer_response_png_bytes (const DynoInferRequest *request);

/* {"error": text}; g_free. */
char *dyno_serve_error_text (const char *text);

G_END_DECLS
