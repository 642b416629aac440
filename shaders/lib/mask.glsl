/* SPDX-License-Identifier: MIT */
/* A mask has a bit for each element of y (rows, accesses of 16 bytes), set where the element is
 * above zero.  The slope of a relu after a sum is computed from the mask, which has a sixteenth of
 * the bytes of y, and y need not be in memory.  Word (row / 4) * accesses + access covers four
 * rows, a byte each; bit i of a byte is element i of the access: of 8 halves, or of 4 floats. */
#ifndef DYNO_MASK_GLSL
#define DYNO_MASK_GLSL

DYNO_BUFFER_IN (MaskIn, uint, 4);
DYNO_BUFFER_OUT (MaskOut, uint, 4);

/* The bits of an access, in the lowest byte; the higher bytes belong to other rows. */
uint
mask_load (uint64_t address, uint row, uint access, uint accesses)
{
  return MaskIn (address).v[row / 4 * accesses + access] >> (row % 4 * 8);
}

/* dy where its bit is set, else zero. */
vec4
mask_slope (uint bits, vec4 dy)
{
  return mix (vec4 (0.0), dy, notEqual (uvec4 (bits) & uvec4 (1, 2, 4, 8), uvec4 (0)));
}

/* The bits of four elements. */
uint
mask_of (vec4 y)
{
  const uvec4 bits = mix (uvec4 (0), uvec4 (1, 2, 4, 8), greaterThan (y, vec4 (0.0)));
  return bits.x | bits.y | bits.z | bits.w;
}

#endif
