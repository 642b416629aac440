/* SPDX-License-Identifier: MIT */
/* The error domain of the nn layer. */
#include "nn-error.h"

G_DEFINE_QUARK (dyno - nn - error - quark, dyno_nn_error)
