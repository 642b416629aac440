/* SPDX-License-Identifier: MIT */
/* The error domain of the base layer. */
#include "base-error.h"

G_DEFINE_QUARK (dyno - base - error - quark, dyno_base_error)
