/* SPDX-License-Identifier: MIT */
/* The kernel variants of the matrix ops, as a list and as a test of each on the device at hand. */
#pragma once
#include "kernel.h"

G_BEGIN_DECLS

typedef struct {
  const char *name; /* "khr 128x128x32": path, tile */
  const char *pass; /* "forward", "dgrad", "wgrad" */
  gboolean half;    /* of AMP; FALSE: fp32 */
  gboolean usable;  /* on this device */
  const char *why;  /* not usable: why not; else NULL */
  /* Of a self-test only. */
  gboolean passed;
  double error;      /* the largest normalised mean squared error of its shapes */
  double tolerance;  /* what it must stay under */
  const char *fault; /* it did not run: why; else NULL */
  /* Of compiling only: the largest of its kernels; not known where the driver tells nothing. */
  DynoKernelStatistics statistics;
} DynoVariantReport;

/* Called on the calling thread; the report and its texts are gone after the call. */
typedef void (*DynoVariantFunc) (const DynoVariantReport *report, gpointer data);

/* Every variant, usable or not.  Needs no device. */
void dyno_selftest_list (const DynoDeviceInfo *info, DynoVariantFunc func, gpointer data);

/* Compiles every usable variant at the shapes of the self-test, whole and split; a report with
 * statistics for each.  n_failed (may be NULL) counts those that do not compile, which is no error.
 * Errors: what the device is in trouble for. */
gboolean dyno_selftest_compile (DynoDevice *device, DynoVariantFunc func, gpointer data,
                                guint *n_failed, GError **error);

/* Computes small convolutions with every usable variant, forward and both gradients, and compares
 * them with a plain double one.  func (may be NULL) gets a report for each; n_failed (may be NULL)
 * counts those that did not pass.  FALSE only when the test itself could not be made.  Errors:
 * those of dyno_memory_new and dyno_program_new but SHADER, which is a failed variant. */
gboolean dyno_selftest_variants (DynoDevice *device, DynoVariantFunc func, gpointer data,
                                 guint *n_failed, GError **error);

G_END_DECLS
