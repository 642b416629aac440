/* SPDX-License-Identifier: MIT */
/* Code shared by both passes of the recurrence of an LSTM and of a GRU.  Include after types.glsl
 * and recurrent-push.h, and after the definition of GATES, 4 or 3.
 *
 * A workgroup takes SAMPLES sequences through all steps of a dispatch; their state is in shared
 * memory and in registers.  Invocation (x, part) has the UNITS hidden units x, x + LOCAL_X, ... and
 * adds up one of LOCAL_Y equal parts of their products; part 0 joins the parts in a fixed order
 * and computes the rest of the step.  More than one part requires UNITS=1.  The weights of the
 * first KEEP rows of a part stay in registers over all steps (which requires UNITS=1 and parts that
 * divide the rows), the others are read at each step.
 *
 * A step is a place in the order of the recurrence; t is its place in the sequence, from the end
 * with REVERSE=1.  For steps that do not count, y, kept gates, cell and gradients are zero, so that
 * the state before the first step that counts is zero in either direction, and no gradient comes
 * from steps after the last one.
 * State and gates' gradients are rounded to storage before they are multiplied, as the product for
 * the weight's gradient reads them; one dispatch or several then give the same bits. */
#ifndef DYNO_RECURRENT_GLSL
#define DYNO_RECURRENT_GLSL
#include "steps.glsl"

/* COMPACT=1: for a device on a CPU, whose compiler takes long for long code. */
#ifdef COMPACT
#define UNROLL [[dont_unroll]]
#else
#define UNROLL [[unroll]]
#endif

layout (constant_id = DYNO_RECURRENT_N) const uint N = 1;
layout (constant_id = DYNO_RECURRENT_T) const uint T = 1;
layout (constant_id = DYNO_RECURRENT_H) const uint H = 1;
layout (constant_id = DYNO_RECURRENT_GP) const uint GP = 8;
layout (constant_id = DYNO_RECURRENT_YP) const uint YP = 8;
layout (constant_id = DYNO_RECURRENT_COLUMN) const uint COLUMN = 0;
layout (constant_id = DYNO_RECURRENT_STRIDE) const uint STRIDE = 1;
layout (constant_id = DYNO_RECURRENT_KP) const uint KP = 8;

/* a value for each gate of a unit */
#if GATES == 4
#define Gates vec4
#else
#define Gates vec3
#endif

/* The values that a step reads from global memory do not depend on the step before: with AHEAD they
 * are loaded before the product, which hides latency that would otherwise add up over all steps.
 * AHEAD is off where the registers would not suffice. */
#if UNITS * SAMPLES <= 2
#define AHEAD 1
#endif

#ifdef HALF
#define STORED float16_t
DYNO_BUFFER_IN (StoredIn, float16_t, 2);
DYNO_BUFFER_OUT (StoredOut, float16_t, 2);
/* by bits, since compilers leave out a conversion to half and back */
#define ROUND(value) (unpackHalf2x16 (packHalf2x16 (vec2 (value, 0.0)))[0])
#else
#define STORED float
DYNO_BUFFER_IN (StoredIn, float, 4);
DYNO_BUFFER_OUT (StoredOut, float, 4);
#define ROUND(value) (value)
#endif
DYNO_BUFFER_IN (FloatsIn, float, 4);
DYNO_BUFFER_OUT (FloatsOut, float, 4);

float
load (uint64_t address, uint i)
{
  return float (StoredIn (address).v[i]);
}

void
store (uint64_t address, uint i, float x)
{
  StoredOut (address).v[i] = STORED (x);
}

/* The place of a step in the sequence; for the step before the first one it is no place of the
 * sequence. */
uint
place_of (uint step)
{
#ifdef REVERSE
  return T - 1 - step;
#else
  return step;
#endif
}

float
sigmoid (float x)
{
  return 1.0 / (1.0 + exp (-x));
}

/* Tanh, exact to the last bits also near 0, where 1 - exp (-2 x) has few digits. */
float
tanh_of (float x)
{
  const float a = abs (x), e = exp (-2.0 * a), s = x * x;
  const float near =
      x + x * s * (-1.0 / 3.0 + s * (2.0 / 15.0 + s * (-17.0 / 315.0 + s * (62.0 / 2835.0))));
  const float far = (1.0 - e) / (1.0 + e);
  return a < 0.25 ? near : x < 0.0 ? -far : far;
}
#endif
