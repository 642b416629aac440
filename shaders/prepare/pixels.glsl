/* SPDX-License-Identifier: MIT */
/* Pixels of the input (N, H, W, C): unchanged, flipped, or mapped by the sample's change.  Include
 * after types.glsl and lanes.glsl, with the push constants p and the noise's `key` declared. */
#ifndef DYNO_PREPARE_PIXELS_GLSL
#define DYNO_PREPARE_PIXELS_GLSL

#ifdef RAW_U8
#define MOST_VALUE 255.0
#else
#define MOST_VALUE 1.0
#endif

float
uniform_at (uint key, uint draw)
{
  return float (dyno_random_at (key, draw) >> 8) / 16777216.0;
}

/* Box-Muller transform; the first number is in (0, 1] */
float
normal_at (uint key, uint element)
{
  const float u = (float (dyno_random_at (key, element * 2) >> 8) + 1.0) / 16777216.0;
  const float v = float (dyno_random_at (key, element * 2 + 1) >> 8) / 16777216.0;
  return sqrt (-2.0 * log (u)) * cos (6.283185307179586 * v);
}

float
raw_value (uint element)
{
#if defined (RAW_U8)
  return float (Words (p.raw).v[element / 4] >> (element % 4 * 8) & 0xffu);
#elif defined (RAW_F32)
  return Floats (p.raw).v[element];
#else
  return normal_at (key, element);
#endif
}

/* Loads an access of a pixel, from `channel` on; channels that do not exist are zero. */
Lanes
raw_lanes (uint pixel, uint channel)
{
  Lanes x = lanes_fill (0.0);
#ifdef RAW_U8
  if (C <= 4)
    {
      /* a pixel lies in one word or in two */
      if (channel == 0)
        {
          const uint first = pixel * C, shift = first % 4 * 8;
          uint word = Words (p.raw).v[first / 4] >> shift;
          const uint next = Words (p.raw).v[(first + C - 1) / 4];
          if (shift > 0)
            word |= next << (32 - shift);
          [[unroll]] for (uint c = 0; c < 4; c++)
            if (c < C)
              x.q[0][c] = float (word >> (c * 8) & 0xffu);
        }
      return x;
    }
#endif
  [[unroll]] for (uint j = 0; j < LANES; j++)
    if (channel + j < C)
      x.q[j / 4][j % 4] = raw_value (pixel * C + channel + j);
  return x;
}

/* The change of a sample; unused members are not loaded. */
DynoPrepareChange
change_at (uint n)
{
  const uint i = n * DYNO_PREPARE_CHANGE_QUADS;
  const vec4 a = Changes (p.changes).v[i], b = Changes (p.changes).v[i + 1];
  const vec4 c = Changes (p.changes).v[i + 2], d = Changes (p.changes).v[i + 3];
  const vec4 e = Changes (p.changes).v[i + 4];
  return DynoPrepareChange (a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w, d.x, d.y,
                            d.z, d.w, e.x, e.y, e.z, e.w);
}

#ifdef MAP
/* Maps a position on an axis into the crop's pixels; FALSE: the position is outside, and its pixel
 * is 0. */
bool
bring_inside (inout float at, float first, float last)
{
  if (PAD == DYNO_PREPARE_PAD_ZERO && (at < first - 0.5 || at > last + 0.5))
    return false;
  const float span = last - first;
  if (PAD == DYNO_PREPARE_PAD_WRAP)
    at = first + mod (at - first, span + 1.0);
  else if (PAD == DYNO_PREPARE_PAD_REFLECT && span > 0.0)
    {
      const float folded = mod (at - first, 2.0 * span);
      at = first + min (folded, 2.0 * span - folded);
    }
  at = clamp (at, first, last);
  return true;
}

/* The position in the raw image to which a change maps a pixel; FALSE: it is outside. */
bool
map_pixel (uint x, uint y, DynoPrepareChange change, out float sx, out float sy)
{
  sx = change.xx * float (x) + change.xy * float (y) + change.x0;
  sy = change.yx * float (x) + change.yy * float (y) + change.y0;
  return bring_inside (sx, change.left, change.right)
         && bring_inside (sy, change.top, change.bottom);
}

Lanes
mapped_lanes (uint n, uint x, uint y, uint channel, DynoPrepareChange change)
{
  float sx, sy;
  if (!map_pixel (x, y, change, sx, sy))
    return lanes_fill (0.0);
#ifdef BILINEAR
  const uint left = uint (sx), top = uint (sy);
  const uint right = min (left + 1, uint (change.right));
  const uint bottom = min (top + 1, uint (change.bottom));
  const float fx = sx - float (left), fy = sy - float (top);
  Lanes a = raw_lanes ((n * H + top) * W + left, channel);
  const Lanes b = raw_lanes ((n * H + top) * W + right, channel);
  const Lanes c = raw_lanes ((n * H + bottom) * W + left, channel);
  const Lanes d = raw_lanes ((n * H + bottom) * W + right, channel);
  [[unroll]] for (uint i = 0; i < QUADS; i++)
    a.q[i] = mix (mix (a.q[i], b.q[i], fx), mix (c.q[i], d.q[i], fx), fy);
  return a;
#else
  return raw_lanes ((n * H + uint (sy)) * W + uint (sx), channel);
#endif
}
#endif

/* Applies the brightness, which is the first change of colour. */
vec4
brighten (vec4 value, float factor)
{
  return clamp (value * factor, 0.0, MOST_VALUE);
}

float
grey_of (vec4 value)
{
  return C == 3 ? dot (value.rgb, vec3 (0.2989, 0.587, 0.114)) : value.r;
}
#endif
