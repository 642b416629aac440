#version 460
/* SPDX-License-Identifier: MIT */
/* partial[group][ky][kx][c] = sum over the pixels (n, oy, ox) of the group of
 *   dy[n][oy][ox][c] * x[n][oy * STEP_H + ky - PAD_H][ox * STEP_W + kx - PAD_W][c]
 * (DILATION_H: ky and kx in the index of x are multiplied by the dilation, depthwise.glsl)
 * conv2d/reduce.comp adds the groups to the gradient.  A piece of work is four channels of BAND
 * rows and STRIP columns of dy; the grid's x counts groups of pieces, y blocks of LOCAL_X times
 * four channels, z groups of TAP_ROWS rows of taps, whose sums are in registers: with all rows of
 * taps in one z both tensors are read once.  LOCAL_Y invocations share four channels, and their
 * sums are added up in a fixed order: equal inputs give equal bits. */
#include "types.glsl"
#include "depthwise.glsl"

#define ROWS_IN    ((BAND - 1) * STEP_H + TAP_ROWS)
#define COLUMNS_IN ((STRIP - 1) * STEP_W + TAPS_W)

/* A row of x, with the first row of dy that it is multiplied by. */
struct Row {
  Words x[COLUMNS_IN];
  Words dy[STRIP];
};

shared vec4 parts[TAPS_W][LOCAL_X * LOCAL_Y];
vec4 sums[TAP_ROWS][TAPS_W];

void
row_load (inout Row row, uint r, uint n, uint top, uint left, uint first_ky, uint column)
{
  const uint y = top * STEP_H + first_ky - PAD_H + r; /* a negative value wraps */
  [[unroll]] for (uint j = 0; j < COLUMNS_IN; j++)
    row.x[j] = pixel_words_or (p.a, n, y, left * STEP_W + j - PAD_W, H, W, column, x_pad);
  if (r % STEP_H == 0 && r / STEP_H < BAND)
    [[unroll]] for (uint k = 0; k < STRIP; k++)
      row.dy[k] = pixel_words (p.b, n, top + r / STEP_H, left + k, OH, OW, column);
}

/* Goes down the rows of x, with the loads of AHEAD rows pending; a row of dy stays in registers as
 * long as rows of x are multiplied by it. */
void
piece_take (uint n, uint top, uint left, uint first_ky, uint column)
{
  vec4 dy[BAND][STRIP];
  Row rows[AHEAD];
  [[unroll]] for (uint r = 0; r < AHEAD && r < ROWS_IN; r++)
    row_load (rows[r], r, n, top, left, first_ky, column);
  [[unroll]] for (uint r = 0; r < ROWS_IN; r++)
    {
      const Row row = rows[r % AHEAD];
      if (r + AHEAD < ROWS_IN)
        row_load (rows[r % AHEAD], r + AHEAD, n, top, left, first_ky, column);
      if (r % STEP_H == 0 && r / STEP_H < BAND)
        [[unroll]] for (uint k = 0; k < STRIP; k++)
          dy[r / STEP_H][k] = quad_unpack (row.dy[k]);
      [[unroll]] for (uint j = 0; j < COLUMNS_IN; j++)
        {
          const vec4 value = x_unpack (row.x[j]);
          [[unroll]] for (uint b = 0; b < BAND; b++)
            [[unroll]] for (uint k = 0; k < STRIP; k++)
              {
                const uint t = r - b * STEP_H, kx = j - k * STEP_W; /* negative values wrap */
                if (t < TAP_ROWS && kx < TAPS_W)
                  sums[t][kx] += value * dy[b][k];
              }
        }
    }
}

void
main ()
{
  const uint column = gl_WorkGroupID.y * LOCAL_X + gl_LocalInvocationID.x;
  const uint first = gl_WorkGroupID.x * PER_GROUP, end = min (first + PER_GROUP, PIECES);
  const uint strips = (PHASE_W + STRIP - 1) / STRIP, bands = (PHASE_H + BAND - 1) / BAND;
  const uint first_ky = gl_WorkGroupID.z * TAP_ROWS;
  load_begin (column);
  [[unroll]] for (uint t = 0; t < TAP_ROWS; t++)
    [[unroll]] for (uint kx = 0; kx < TAPS_W; kx++)
      sums[t][kx] = vec4 (0.0);
  for (uint i = first + gl_LocalInvocationID.y; i < end && column < CVECS; i += LOCAL_Y)
    piece_take (i / (strips * bands), i / strips % bands * BAND, i % strips * STRIP, first_ky,
                column);
  [[unroll]] for (uint t = 0; t < TAP_ROWS; t++)
    {
      [[unroll]] for (uint kx = 0; kx < TAPS_W; kx++)
#if LOAD_SIXTHS
        parts[kx][gl_LocalInvocationIndex] = sums[t][kx] * x_unit;
#else
        parts[kx][gl_LocalInvocationIndex] = sums[t][kx];
#endif
      QUADS_ADD_UP (parts, TAPS_W);
      if (gl_LocalInvocationID.y == 0 && column < CVECS && first_ky + t < TAPS_H)
        [[unroll]] for (uint kx = 0; kx < TAPS_W; kx++)
          {
            const uint tap = (gl_WorkGroupID.x * TAPS_H + first_ky + t) * TAPS_W + kx;
            FloatLanesOut (p.target).v[tap * CVECS + column] = parts[kx][gl_LocalInvocationIndex];
          }
      barrier (); /* the parts have been read */
    }
}
