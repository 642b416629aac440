/* SPDX-License-Identifier: MIT */
/* Signatures of made-up models, and requests for them. */
#pragma once
#include "inferresponse.h"

G_BEGIN_DECLS

/* Images of (2, 2, channels) bytes, three classes; samples (2) of FP32, two values; sequences of up
 * to 3 steps of 2 FP32, padded with 9, three classes; INT32 tokens (4). */
void test_signature_image (DynoSignature *signature, guint32 channels);
/* Images that have any of three labels. */
void test_signature_labels (DynoSignature *signature);
/* Pictures of 3 x 2 pixels, each pixel with one of 3 classes. */
void test_signature_masks (DynoSignature *signature);
void test_signature_values (DynoSignature *signature);
void test_signature_sequence (DynoSignature *signature);
void test_signature_tokens (DynoSignature *signature);

/* A PNG file of pixels (height, width, channels), 1 or 3 channels. */
GByteArray *test_png (const guint8 *pixels, guint32 width, guint32 height, guint32 channels);

/* A request of JSON, or of JSON with binary data (binary NULL: none); limited to 4096 bytes. */
DynoInferRequest *test_request (const DynoSignature *signature, const char *json,
                                const void *binary, gsize binary_size, GError **error);

G_END_DECLS
