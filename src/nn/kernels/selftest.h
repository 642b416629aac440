/* SPDX-License-Identifier: MIT */
/* The kernel variants of the matrix ops, as a list and as a test of each on the device at hand. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;           /* "khr 128x128x32": path, tile */
  const DynoVariant *variant; /* whose print that is; NULL: of a kind that has no variants */
  const char *pass;           /* "forward", "dgrad", "wgrad" */
  const DynoPrecision *precision;
  gboolean usable; /* on this device */
  const char *why; /* not usable: why not; else NULL */
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

/* Computes small convolutions with the usable variants, forward and both gradients, and compares
 * them with a plain double one: of the tiles each one_of-th (1: all), of the kinds without tiles
 * all.  func (may be NULL) gets a report for each; n_failed (may be NULL)
 * counts those that did not pass.  FALSE only when the test itself could not be made.  Errors:
 * those of dyno_memory_new and dyno_program_new but SHADER, which is a failed variant. */
gboolean dyno_selftest_variants (DynoDevice *device, guint one_of, DynoVariantFunc func,
                                 gpointer data, guint *n_failed, GError **error);

/* The test of one variant in one pass, at one small shape: what a start has time for. */
typedef struct _DynoVariantTest DynoVariantTest;

/* Of a variant that dyno_lowering_choose gave for a key; needs no device.  NULL without an error:
 * there is no test for it.  Errors: those of dyno_lowering_new. */
DynoVariantTest *dyno_variant_test_new (const DynoDeviceInfo *info, const char *key,
                                        const DynoVariant *variant, GError **error);
void dyno_variant_test_free (DynoVariantTest *test);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoVariantTest, dyno_variant_test_free)

/* Whose kernels it takes, to compile them with others; the test's. */
DynoLowering *dyno_variant_test_get_lowering (DynoVariantTest *test);
const char *dyno_variant_test_get_key (DynoVariantTest *test);
const DynoVariant *dyno_variant_test_get_variant (DynoVariantTest *test); /* without splits */

/* *nmse against a double convolution on the host (NaN: an element was never written); it passed
 * where that is at most *tolerance.  Errors: those of dyno_memory_new and dyno_program_new. */
gboolean dyno_variant_test_run (DynoVariantTest *test, DynoDevice *device, double *nmse,
                                double *tolerance, GError **error);

G_END_DECLS
