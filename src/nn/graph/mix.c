/* SPDX-License-Identifier: MIT */
/* See mix.h.  The share is drawn in double on the host: every device gets the same share, and no
 * kernel needs rejection sampling. */
#include "mix.h"
#include "random.h"
#include "rng.h"
#include "step.h"
#include <math.h>

gboolean
dyno_mix_is_on (const DynoMix *mix)
{
  return mix->mixup > 0 || mix->cutmix > 0;
}

/* The logarithm of a draw from Gamma (shape, 1): Marsaglia and Tsang (2000) for shape + 1,
 * multiplied by a power of a uniform number; without the logarithm the power would underflow to 0
 * where the shape is small. */
static double
log_gamma_draw (DynoRng *rng, double shape)
{
  double d = shape + 1 - 1.0 / 3, c = 1 / sqrt (9 * d);

  while (TRUE)
    {
      double x = dyno_rng_normal (rng), v = 1 + c * x, u;

      if (v <= 0)
        continue;
      v = v * v * v;
      u = 1 - dyno_rng_uniform (rng);
      if (log (u) < 0.5 * x * x + d - d * v + d * log (v))
        return log (d * v) + log (1 - dyno_rng_uniform (rng)) / shape;
    }
}

/* A draw from Beta (a, a). */
static double
beta_draw (DynoRng *rng, double a)
{
  double first = log_gamma_draw (rng, a), second = log_gamma_draw (rng, a);

  return 1 / (1 + exp (second - first));
}

/* The box of CutMix: its sides are the sides of the image times the square root of the other
 * sample's share, its centre is uniform in the image, and the part outside of the image is cut off;
 * the target's share is the box's share of the pixels. */
static void
draw_box (const DynoMix *mix, DynoRng *rng, double other, struct DynoStepInput *input)
{
  guint32 x = (guint32) dyno_rng_below (rng, mix->width),
          y = (guint32) dyno_rng_below (rng, mix->height);
  double half = 0.5 * sqrt (other);
  guint32 half_width = (guint32) (half * mix->width), half_height = (guint32) (half * mix->height);

  input->mix_left = x - MIN (x, half_width);
  input->mix_top = y - MIN (y, half_height);
  input->mix_right = MIN (x + half_width, mix->width);
  input->mix_bottom = MIN (y + half_height, mix->height);
  input->mix_target =
      (float) ((double) (input->mix_right - input->mix_left) * (input->mix_bottom - input->mix_top)
               / ((double) mix->width * mix->height));
}

void
dyno_mix_draw (const DynoMix *mix, struct DynoStepInput *input)
{
  guint64 seed = (guint64) input->seed_high << 32 | input->seed_low;
  DynoRng rng = dyno_rng_init (
      dyno_rng_at (seed, DYNO_RANDOM_STREAM_MIX, (guint64) input->step << 32 | input->micro_step),
      0);
  gboolean cut = mix->mixup <= 0 || (mix->cutmix > 0 && dyno_rng_uniform (&rng) < 0.5);
  double other = 1 - beta_draw (&rng, cut ? mix->cutmix : mix->mixup);

  input->mix_other = cut ? 0 : (float) other;
  input->mix_target = (float) other;
  input->mix_left = input->mix_top = input->mix_right = input->mix_bottom = 0;
  if (cut)
    draw_box (mix, &rng, other, input);
}
