/* SPDX-License-Identifier: MIT */
/* Makes the response to an inference request, as the protocol defines it.  Pure; any thread. */
#pragma once
#include "inferrequest.h"

G_BEGIN_DECLS

/* outputs: n x signature->output_bytes: floats (probabilities or values), or masks.  Returns the
 * JSON, followed by the binary data of the outputs for which these were requested; *header_length
 * is set to the length of the JSON, or to -1 where there are no binary data. */
GBytes *dyno_infer_response_new (const DynoSignature *signature, const DynoInferRequest *request,
                                 gconstpointer outputs, gint64 *header_length);

/* The response to an image file as an image: the mask as a PNG with a palette, of the picture's
 * size, in which pixels that the preparation cut off are 255.  mask: the model's output.  Errors:
 * TOO_LARGE (no memory). */
GBytes *dyno_infer_response_new_png (const DynoSignature *signature,
                                     const DynoInferRequest *request, gconstpointer mask,
                                     GError **error);
/* The bytes of working memory for this, for the picture of a request. */
guint64 dyno_infer_response_png_bytes (const DynoInferRequest *request);

/* {"error": text}; g_free. */
char *dyno_serve_error_text (const char *text);

G_END_DECLS
