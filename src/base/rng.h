/* SPDX-License-Identifier: MIT */
/* Random numbers that depend only on (seed, stream, counter), so that the same seed gives the same
 * values whatever thread asks and in whatever order.  Source: SplitMix64 (Steele, Lea, Flood 2014)
 * used as a keyed hash of the counter. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* A value of 64 random bits at a place; no state. */
guint64 dyno_rng_at (guint64 seed, guint64 stream, guint64 counter);

/* A generator that walks the counter of one stream; copy it freely. */
typedef struct {
  guint64 seed;
  guint64 stream;
  guint64 counter;
} DynoRng;

DynoRng dyno_rng_init (guint64 seed, guint64 stream);
guint64 dyno_rng_next (DynoRng *rng);
double dyno_rng_uniform (DynoRng *rng);               /* in [0, 1) */
double dyno_rng_normal (DynoRng *rng);                /* mean 0, standard deviation 1 */
guint64 dyno_rng_below (DynoRng *rng, guint64 bound); /* in [0, bound), unbiased; bound > 0 */

/* Shuffles count values (Fisher-Yates). */
void dyno_rng_shuffle (DynoRng *rng, guint32 *values, gsize count);

G_END_DECLS
