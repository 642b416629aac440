/* SPDX-License-Identifier: MIT */
/* The inner loops of the resampler.  All kernels compute in the same integers, so that they agree to
 * the bit and pixels do not depend on the machine. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_RESIZE_WEIGHT_BITS 14

typedef struct {
  guint32 first; /* source place of the first tap */
  guint32 count;
} DynoResizeSpan;

/* The taps of each output along an axis.  Those of one sum to 2^14; zeros follow up to used_taps, so
 * that a loop may run to the same number each time, which is foreseen better than a shorter one that
 * changes. */
typedef struct {
  DynoResizeSpan *spans; /* one an output */
  gint16 *weights;       /* max_taps an output */
  guint32 max_taps;      /* a multiple of 4: stride of weights */
  guint32 used_taps;     /* a multiple of 4, not less than any span's count */
} DynoResizeAxis;

typedef struct {
  const char *name;
  /* count >= 2 rows, stride bytes apart, into one of size bytes; weights as in an axis. */
  void (*rows) (const guint8 *rows, gsize stride, const gint16 *weights, guint32 count, guint8 *out,
                gsize size);
  /* A row into width pixels of 1 to 4 channels; row may be read past its end, by max_taps pixels and
   * DYNO_RESIZE_SLACK bytes. */
  void (*columns) (const guint8 *row, const DynoResizeAxis *axis, guint32 channels, guint32 width,
                   guint8 *out);
} DynoResizeKernel;

#define DYNO_RESIZE_SLACK 32

/* Those that this machine can run, the fastest first, then NULL; the last is plain C. */
const DynoResizeKernel *const *dyno_resize_list_kernels (void);

G_END_DECLS
