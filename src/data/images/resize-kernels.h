/* SPDX-License-Identifier: MIT */
/* The inner loops of the resampler.  All kernels do the same integer arithmetic, so that they agree
 * to the bit and pixels do not depend on the machine. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_RESIZE_WEIGHT_BITS 14

typedef struct {
  guint32 first; /* position of the first tap in the source */
  guint32 count;
} DynoResizeSpan;

/* The taps of each output along an axis.  The taps of one output sum to 2^14; zeros follow up to
 * used_taps, so that each loop has the same number of iterations, which branch prediction handles
 * better than a smaller but varying number. */
typedef struct {
  DynoResizeSpan *spans; /* one per output */
  gint16 *weights;       /* max_taps per output */
  guint32 max_taps;      /* a multiple of 4: stride of weights */
  guint32 used_taps;     /* a multiple of 4, at least any span's count */
} DynoResizeAxis;

typedef struct {
  const char *name;
  /* Sums count >= 2 rows, stride bytes apart, into one row of size bytes; weights as in an axis. */
  void (*rows) (const guint8 *rows, gsize stride, const gint16 *weights, guint32 count, guint8 *out,
                gsize size);
  /* Makes width pixels of 1 to 4 channels from a row; row may be read past its end, by max_taps
   * pixels and DYNO_RESIZE_SLACK bytes. */
  void (*columns) (const guint8 *row, const DynoResizeAxis *axis, guint32 channels, guint32 width,
                   guint8 *out);
} DynoResizeKernel;

#define DYNO_RESIZE_SLACK 32

/* The kernels that this machine can run, the fastest first, then NULL; the last is plain C. */
const DynoResizeKernel *const *dyno_resize_list_kernels (void);

G_END_DECLS
