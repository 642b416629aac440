/* SPDX-License-Identifier: MIT */
/* Focal loss of a row with the loss l = -log p: (1 - p)^FOCAL l, and the ratio of its gradient to
 * the gradient of l.  Include after the constant FOCAL. */
#ifndef DYNO_LOSS_FOCAL_GLSL
#define DYNO_LOSS_FOCAL_GLSL

/* (factor of the loss, factor of its gradient); both are 0 where p is 1. */
vec2
focal_factors (float loss)
{
  const float l = max (loss, 0.0), p = exp (-l);
  /* Below 0.1 the series of 1 - exp (-l) is used, since the difference would lose digits. */
  const float miss =
      l < 0.1 ? l * (1.0 - l * (0.5 - l * (1.0 / 6.0 - l * (1.0 / 24.0 - l / 120.0)))) : 1.0 - p;
  if (!(miss > 0.0))
    return vec2 (0.0);
  const float power = pow (miss, FOCAL);
  return vec2 (power, power * (1.0 + FOCAL * p * l / miss));
}
#endif
