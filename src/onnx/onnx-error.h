/* SPDX-License-Identifier: MIT */
/* Errors of the ONNX layer.  Each message names the place: the node, the tensor or the value, or
 * the message of the file and the byte in it. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_ONNX_ERROR (dyno_onnx_error_quark ())
GQuark dyno_onnx_error_quark (void);

typedef enum {
  DYNO_ONNX_ERROR_CORRUPT,     /* the content contradicts its format */
  DYNO_ONNX_ERROR_UNSUPPORTED, /* a valid file, with parts that Dyno does not read */
  DYNO_ONNX_ERROR_LIMIT,       /* past a limit that guards memory */
  DYNO_ONNX_ERROR_IO,          /* the system failed to read a file */
} DynoOnnxError;

G_END_DECLS
