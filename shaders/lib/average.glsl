/* SPDX-License-Identifier: MIT */
/* The step of an exponential moving average towards the newest value after t updates: 1 - decay, or
 * more while t is small, so that the first values are soon forgotten. */
#ifndef AVERAGE_GLSL
#define AVERAGE_GLSL

float
average_share (float decay, uint t)
{
  return 1.0 - min (decay, (1.0 + float (t)) / (10.0 + float (t)));
}
#endif
