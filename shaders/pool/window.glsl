/* SPDX-License-Identifier: MIT */
/* Windows of average pooling, along one side at a time.
 *
 * Without ADAPTIVE window o begins at o * step - pad and has `kernel` places; the last one may
 * reach past the pad at the end.  ADAPTIVE=1 cuts a side of `size` into `count` windows, as in
 * PyTorch: from floor (o * size / count) to ceil ((o + 1) * size / count), which overlap where
 * count does not divide size. */
#ifndef WINDOW_GLSL
#define WINDOW_GLSL
#include "pool-push.h"

layout (constant_id = DYNO_AVG_WINDOW_COUNT) const uint COUNT = 1; /* accesses in the target */
layout (constant_id = DYNO_AVG_WINDOW_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_AVG_WINDOW_H) const uint H = 1;
layout (constant_id = DYNO_AVG_WINDOW_W) const uint W = 1;
layout (constant_id = DYNO_AVG_WINDOW_OH) const uint OH = 1;
layout (constant_id = DYNO_AVG_WINDOW_OW) const uint OW = 1;
layout (constant_id = DYNO_AVG_WINDOW_KERNEL_H) const uint KERNEL_H = 1;
layout (constant_id = DYNO_AVG_WINDOW_KERNEL_W) const uint KERNEL_W = 1;
layout (constant_id = DYNO_AVG_WINDOW_STEP_H) const uint STEP_H = 1;
layout (constant_id = DYNO_AVG_WINDOW_STEP_W) const uint STEP_W = 1;
layout (constant_id = DYNO_AVG_WINDOW_PAD_H) const uint PAD_H = 0;
layout (constant_id = DYNO_AVG_WINDOW_PAD_W) const uint PAD_W = 0;
layout (constant_id = DYNO_AVG_WINDOW_END_H) const uint END_H = 0;
layout (constant_id = DYNO_AVG_WINDOW_END_W) const uint END_W = 0;
layout (constant_id = DYNO_AVG_WINDOW_EXCLUDE_PAD) const uint EXCLUDE_PAD = 0;

/* For window o: its first position inside the image, the end of its positions inside, and the
 * number of positions that the sum is divided by. */
uvec3
window_find (uint o, uint size, uint count, uint kernel, uint step, uint pad,
             uint at_end)
{
#ifdef ADAPTIVE
  const uint begin = o * size / count, end = ((o + 1) * size + count - 1) / count;
  return uvec3 (begin, end, end - begin);
#else
  /* first and last count from the start of the pad */
  const uint first = o * step, last = min (first + kernel, size + pad + at_end);
  const uint begin = max (first, pad) - pad, end = min (last - pad, size);
  return uvec3 (begin, end, EXCLUDE_PAD != 0 ? end - begin : last - first);
#endif
}

/* The range of windows, [result.x, result.y), that contain position i. */
uvec2
windows_with (uint i, uint size, uint count, uint kernel, uint step, uint pad)
{
#ifdef ADAPTIVE
  return uvec2 (i * count / size, ((i + 1) * count + size - 1) / size);
#else
  i += pad;
  return uvec2 (i >= kernel ? (i - kernel) / step + 1 : 0, min (i / step + 1, count));
#endif
}

uvec3
window_rows (uint oh)
{
  return window_find (oh, H, OH, KERNEL_H, STEP_H, PAD_H, END_H);
}

uvec3
window_columns (uint ow)
{
  return window_find (ow, W, OW, KERNEL_W, STEP_W, PAD_W, END_W);
}

#endif
