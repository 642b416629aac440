/* SPDX-License-Identifier: MIT */
/* Shared helpers of the test program for networks of ONNX files, which consists of import.c with
 * main and import-*.c. */
#pragma once
#include "network.h"

G_BEGIN_DECLS

typedef struct {
  guint32 batch, n_outputs, height, width, channels; /* batch 0: 2 */
  DynoMode mode;
} ImportTestShape;

/* Returns the model of a file's text (onnx-test.h), or NULL with the error. */
const DynoModel *import_test_open (const char *text, GError **error);
/* Returns the graph of the model. */
DynoGraph *import_test_build (const char *text, ImportTestShape shape, GError **error);
/* "conv2d relu linear": the ops of the forward nodes, without the preparation of the input;
 * g_free. */
char *import_test_list_ops (DynoGraph *graph);
/* "conv.weight[8,3,3,3] conv.bias[8]"; g_free. */
char *import_test_list_parameters (DynoGraph *graph);
/* parameters NULL: not compared. */
void import_test_assert_builds (const char *text, ImportTestShape shape, const char *ops,
                                const char *parameters);
/* The message matches the pattern of g_pattern_match_simple. */
void import_test_assert_refused (const char *text, ImportTestShape shape, const char *pattern);

/* A body between an input (N, 4, 8, 8) and a linear layer of 3 outputs; the body ends in h. */
#define IMPORT_TEST_AROUND(body)                                                                \
  "in x N,4,8,8;" body ";GlobalAveragePool gap h pooled;Flatten - pooled flat;w head.weight 3," \
  "4;w head.bias 3;Gemm head flat,head.weight,head.bias y transB=1;out y N,3"
extern const ImportTestShape import_test_around;

/* Add the tests of the other files. */
void import_test_add_tokens (void);
void import_test_add_composed (void);
void import_test_add_gather (void);
void import_test_add_functions (void);
void import_test_add_products (void);
void import_test_add_pixels (void);
void import_test_add_recurrent (void);

G_END_DECLS
