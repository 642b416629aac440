/* SPDX-License-Identifier: MIT */
/* The error domain of the ONNX layer. */
#include "onnx-error.h"

G_DEFINE_QUARK (dyno - onnx - error - quark, dyno_onnx_error)
