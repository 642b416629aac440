#version 460
/* SPDX-License-Identifier: MIT */
/* Copies runs of channels: target[pixel][c] = source_r[pixel][c - start_r + offset_r] for c from
 * start_r to end_r, for each of RUNS runs r; the other channels of the range are set to zero.
 * The range is given by FIRST and RANGE, in accesses of a pixel.  Run 0 is given by START, OFFSET
 * and PITCH; every other run is a whole source and starts where the previous run ends.  ALIGNED=1:
 * runs start, and all but the last one end, at boundaries of accesses of the target and of their
 * source.  ACCUMULATE=1 adds to the target. */
#include "types.glsl"
#include "lanes.glsl"
#include "channels-push.h"

layout (constant_id = DYNO_CHANNELS_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_CHANNELS_FIRST) const uint FIRST = 0;
layout (constant_id = DYNO_CHANNELS_RANGE) const uint RANGE = 1;
layout (constant_id = DYNO_CHANNELS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_CHANNELS_START) const uint START = 0;
layout (constant_id = DYNO_CHANNELS_OFFSET) const uint OFFSET = 0;
layout (constant_id = DYNO_CHANNELS_PITCH) const uint PITCH = 8;
layout (constant_id = DYNO_CHANNELS_END_0) const uint END_0 = 8;
layout (constant_id = DYNO_CHANNELS_END_1) const uint END_1 = 8;
layout (constant_id = DYNO_CHANNELS_END_2) const uint END_2 = 8;
layout (constant_id = DYNO_CHANNELS_END_3) const uint END_3 = 8;
layout (constant_id = DYNO_CHANNELS_END_4) const uint END_4 = 8;
layout (constant_id = DYNO_CHANNELS_END_5) const uint END_5 = 8;
layout (constant_id = DYNO_CHANNELS_END_6) const uint END_6 = 8;
layout (constant_id = DYNO_CHANNELS_END_7) const uint END_7 = 8;
DYNO_PUSH (DynoChannelsPush, p);
#ifdef HALF
#define BYTES 2
DYNO_BUFFER_IN (Values, float16_t, 2);
#else
#define BYTES 4
DYNO_BUFFER_IN (Values, float, 4);
#endif

struct Run {
  uint64_t source;
  uint start, end, offset, pitch;
};

/* The run that holds channel c of the target; if none does, a run that ends before c or starts
 * after it. */
Run
find_run (uint c)
{
  const uint ends[DYNO_CHANNELS_MOST_RUNS] =
      uint[] (END_0, END_1, END_2, END_3, END_4, END_5, END_6, END_7);
  Run run = Run (p.sources[0], START, END_0, OFFSET, PITCH);
  [[unroll]] for (uint i = 1; i < RUNS; i++)
    if (c >= ends[i - 1])
      run = Run (p.sources[i], ends[i - 1], ends[i], 0, (ends[i] - ends[i - 1] + 7) & ~7u);
  return run;
}

#ifdef ALIGNED
Lanes
load (uint pixel, uint c)
{
  const Run run = find_run (c);
  Lanes x = lanes_fill (0.0);
  if (c >= run.start && c < run.end)
    {
      x = lanes_load (run.source,
                      pixel * (run.pitch / LANES) + (run.offset + c - run.start) / LANES);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        x.q[j] = mix (vec4 (0.0), x.q[j],
                      lessThan (c + j * 4 + uvec4 (0, 1, 2, 3), uvec4 (run.end)));
    }
  return x;
}
#else
float
value_at (uint pixel, uint c)
{
  const Run run = find_run (c);
  if (c < run.start || c >= run.end)
    return 0.0;
  return float (Values (run.source + uint64_t (pixel) * (run.pitch * BYTES))
                    .v[run.offset + c - run.start]);
}

Lanes
load (uint pixel, uint c)
{
  Lanes x;
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    [[unroll]] for (uint k = 0; k < 4; k++)
      x.q[j][k] = value_at (pixel, c + 4 * j + k);
  return x;
}
#endif

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint pixel = i / RANGE, access = FIRST + i % RANGE;
      const Lanes x = load (pixel, access * LANES);
#ifdef ACCUMULATE
      lanes_store_sum (p.target, pixel * CVECS + access, x);
#else
      lanes_store (p.target, pixel * CVECS + access, x);
#endif
    }
}
