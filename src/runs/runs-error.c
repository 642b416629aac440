/* SPDX-License-Identifier: MIT */
/* The error domain of the runs layer. */
#include "runs-error.h"

G_DEFINE_QUARK (dyno - runs - error - quark, dyno_runs_error)
