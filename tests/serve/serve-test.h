/* SPDX-License-Identifier: MIT */
/* Signatures of made-up models, and requests for them. */
#pragma once
#include "inferresponse.h"

G_BEGIN_DECLS

/* Images of (2, 2, channels) bytes, three classes; samples (2) of FP32, two values; sequences of up
 * to 3 steps of 2 FP32, padded with 9, three classes; INT32 tokens (4). */
void test_signature_image (DynoSignature *signature, guint32 channels);
void test_signature_values (DynoSignature *signature);
void test_signature_sequence (DynoSignature *signature);
void test_signature_tokens (DynoSignature *signature);

/* A request of JSON, or of JSON with binary data (binary NULL: none); limited to 4096 bytes. */
DynoInferRequest *test_request (const DynoSignature *signature, const char *json,
                                const void *binary, gsize binary_size, GError **error);

G_END_DECLS
