/* SPDX-License-Identifier: MIT */
/* Constants of both passes of layer norm.  Include after lanes.glsl and layernorm-push.h. */
#ifndef DYNO_LAYERNORM_GLSL
#define DYNO_LAYERNORM_GLSL
layout (constant_id = DYNO_LAYER_NORM_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LAYER_NORM_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_LAYER_NORM_C) const uint C = 1;
#include "rowsum.glsl"
#endif
