/* SPDX-License-Identifier: MIT */
/* Code shared by ops over the steps of a sequence. */
#pragma once
#include "ops.h"

G_BEGIN_DECLS

/* FALSE, and the graph fails, when x is not (N, 1, T, C) or the lengths are not N int32. */
gboolean dyno_sequence_check (DynoGraph *graph, const char *name, const DynoTensor *x,
                              const DynoSequence *sequence);

G_END_DECLS
