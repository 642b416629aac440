/* SPDX-License-Identifier: MIT */
/* Constants of both passes of softmax.  Include after lanes.glsl and softmax-push.h. */
#ifndef DYNO_SOFTMAX_ROWS_GLSL
#define DYNO_SOFTMAX_ROWS_GLSL
layout (constant_id = DYNO_SOFTMAX_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_SOFTMAX_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_SOFTMAX_C) const uint C = 1;
#include "rowsum.glsl"
#endif
