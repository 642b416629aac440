/* SPDX-License-Identifier: MIT */
/* The error domain of the data layer. */
#include "data-error.h"

G_DEFINE_QUARK (dyno - data - error - quark, dyno_data_error)
