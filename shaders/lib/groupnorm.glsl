/* SPDX-License-Identifier: MIT */
/* Code shared by the kernels of group norm.  Include after lanes.glsl and groupnorm-push.h. */
#ifndef DYNO_GROUPNORM_GLSL
#define DYNO_GROUPNORM_GLSL
layout (constant_id = DYNO_GROUP_NORM_UNITS) const uint UNITS = 1;
layout (constant_id = DYNO_GROUP_NORM_GROUPS) const uint GROUPS = 1;
layout (constant_id = DYNO_GROUP_NORM_CHANNELS) const uint CHANNELS = 1;
layout (constant_id = DYNO_GROUP_NORM_PIXELS) const uint PIXELS = 1;
layout (constant_id = DYNO_GROUP_NORM_CVECS) const uint CVECS = 1;

DYNO_PUSH (DynoGroupNormPush, p);
DYNO_BUFFER_IN (PairsIn, vec2, 8);

/* The channels of quad j of an access. */
uvec4
quad_channels (uint access, uint j)
{
  return uvec4 (access * LANES + j * 4) + uvec4 (0, 1, 2, 3);
}
#endif
