#version 460
/* SPDX-License-Identifier: MIT */
/* The same as permute_copy, for the case that the fastest part of the target, the last one, differs
 * from the fastest part of the source, FAST, whose stride is 1: for all digits of the other parts,
 * the matrix of these two parts is transposed.  A workgroup takes a tile of SIDE x SIDE elements
 * through shared memory, so that neighbouring invocations read and write neighbouring elements.
 * ACCUMULATE=1 adds to the target. */
#include "types.glsl"
#include "permute-parts.glsl"

#ifdef HALF
#define VALUE float16_t
#else
#define VALUE float
#endif
DYNO_BUFFER_IN (Source, VALUE, BYTES);
#ifdef ACCUMULATE
DYNO_BUFFER_INOUT (Target, VALUE, BYTES);
#else
DYNO_BUFFER_OUT (Target, VALUE, BYTES);
#endif

#define ROWS (LOCAL_X / DYNO_PERMUTE_SIDE) /* rows of a tile that are copied at a time */
shared float tile[DYNO_PERMUTE_SIDE][DYNO_PERMUTE_SIDE + 1];

/* The last channel of a pixel also writes the pads. */
void
store (Target target, uint place, float value)
{
  const uint c = place % C, at = place / C * (CVECS * (16 / BYTES)) + c;
#ifdef ACCUMULATE
  target.v[at] = VALUE (float (target.v[at]) + value);
#else
  target.v[at] = VALUE (value);
  if (c == C - 1)
    for (uint i = 1; C - 1 + i < CVECS * (16 / BYTES); i++)
      target.v[at + i] = VALUE (0.0);
#endif
}

void
main ()
{
  const uint extents[] = PERMUTE_EXTENTS, strides[] = PERMUTE_STRIDES;
  const uint wide = extents[FAST], high = extents[PARTS - 1];
  const uint across = (wide + DYNO_PERMUTE_SIDE - 1) / DYNO_PERMUTE_SIDE,
             down = (high + DYNO_PERMUTE_SIDE - 1) / DYNO_PERMUTE_SIDE;
  const uint x = gl_LocalInvocationID.x % DYNO_PERMUTE_SIDE,
             first = gl_LocalInvocationID.x / DYNO_PERMUTE_SIDE;

  for (uint i = gl_WorkGroupID.x; i < COUNT; i += gl_NumWorkGroups.x)
    {
      const uint s = i % across * DYNO_PERMUTE_SIDE, t = i / across % down * DYNO_PERMUTE_SIDE;
      uint rest = i / across / down, from = 0, to = 0, width = high, fast_width = 0;
      [[unroll]] for (int k = PARTS - 2; k >= 0; k--)
        {
          if (k == FAST)
            fast_width = width;
          else
            {
              from += rest % extents[k] * strides[k];
              to += rest % extents[k] * width;
              rest /= extents[k];
            }
          width *= extents[k];
        }
      Source source = Source (p.source + uint64_t (rest) * FROM * BYTES);
      Target target = Target (p.target + uint64_t (rest) * PIXELS * CVECS * 16);
      for (uint row = first; row < DYNO_PERMUTE_SIDE; row += ROWS)
        if (s + x < wide && t + row < high)
          tile[row][x] =
              float (source.v[in_memory (from + s + x + (t + row) * strides[PARTS - 1])]);
      barrier ();
      for (uint row = first; row < DYNO_PERMUTE_SIDE; row += ROWS)
        if (s + row < wide && t + x < high)
          store (target, to + t + x + (s + row) * fast_width, tile[x][row]);
      barrier ();
    }
}
