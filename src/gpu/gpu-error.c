/* SPDX-License-Identifier: MIT */
/* The error domain of the gpu layer. */
#include "gpu-error.h"

G_DEFINE_QUARK (dyno - gpu - error - quark, dyno_gpu_error)
