/* SPDX-License-Identifier: MIT */
/* Counter-based random numbers; see rng.h for the invariant they keep. */
#include "rng.h"
#include <math.h>

static guint64
mix (guint64 z)
{
  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

guint64
dyno_rng_at (guint64 seed, guint64 stream, guint64 counter)
{
  const guint64 golden = G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  guint64 key = mix (seed + golden) ^ mix (stream * golden + 1);
  return mix (key + (counter + 1) * golden);
}

DynoRng
dyno_rng_init (guint64 seed, guint64 stream)
{
  return (DynoRng){ .seed = seed, .stream = stream };
}

guint64
dyno_rng_next (DynoRng *rng)
{
  return dyno_rng_at (rng->seed, rng->stream, rng->counter++);
}

double
dyno_rng_uniform (DynoRng *rng)
{
  return (double) (dyno_rng_next (rng) >> 11) * 0x1p-53;
}

double
dyno_rng_normal (DynoRng *rng)
{
  /* Box-Muller; 1 - u keeps the logarithm finite. */
  double radius = sqrt (-2.0 * log (1.0 - dyno_rng_uniform (rng)));
  return radius * cos (2.0 * G_PI * dyno_rng_uniform (rng));
}

guint64
dyno_rng_below (DynoRng *rng, guint64 bound)
{
  guint64 limit = bound * (G_MAXUINT64 / bound);
  guint64 value;

  do
    value = dyno_rng_next (rng);
  while (value >= limit);
  return value % bound;
}

void
dyno_rng_shuffle (DynoRng *rng, guint32 *values, gsize count)
{
  for (gsize i = count; i > 1; i--)
    {
      gsize j = dyno_rng_below (rng, i);
      guint32 value = values[i - 1];
      values[i - 1] = values[j];
      values[j] = value;
    }
}
