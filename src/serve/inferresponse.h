/* SPDX-License-Identifier: MIT */
/* The answer to a request for inference, by the protocol.  Pure; any thread. */
#pragma once
#include "inferrequest.h"

G_BEGIN_DECLS

/* outputs: (n, n_outputs) of the model: probabilities or values.  The JSON, and after it the binary
 * data of the outputs that are wanted so; *header_length becomes the length of the JSON, -1: there
 * are no binary data. */
GBytes *dyno_infer_response_new (const DynoSignature *signature, const DynoInferRequest *request,
                                 const float *outputs, gint64 *header_length);

/* {"error": text}; g_free. */
char *dyno_serve_error_text (const char *text);

G_END_DECLS
