/* SPDX-License-Identifier: MIT */
/* The kernel variants of the matrix ops, as a list and as a test of each on the device at hand. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;           /* "khr 128x128x32": path, tile */
  const DynoVariant *variant; /* the variant with that name; NULL: the kind has no variants */
  const char *pass;           /* "forward", "dgrad", "wgrad" */
  const DynoPrecision *precision;
  gboolean usable; /* on this device */
  const char *why; /* why it is not usable; else NULL */
  /* Set by a self-test; compiling sets only passed and fault. */
  gboolean passed;
  double error;      /* the largest normalised mean squared error of its shapes */
  double tolerance;  /* upper limit of error */
  const char *fault; /* why a kernel did not compile; else NULL */
  /* Only set by compiling: the statistics of its largest kernel; unknown where the driver does not
   * report them. */
  DynoKernelStatistics statistics;
} DynoVariantReport;

/* Called on the calling thread; the report and its strings are valid only during the call. */
typedef void (*DynoVariantFunc) (const DynoVariantReport *report, gpointer data);

/* Every variant, usable or not.  Needs no device. */
void dyno_selftest_list (const DynoDeviceInfo *info, DynoVariantFunc func, gpointer data);

/* Compiles the usable variants at the shapes of the self-test, whole and split: those of every
 * one_of-th tile (1: all), and all kinds without tiles.  func gets a report with statistics for
 * each.  n_failed (may be NULL) counts the variants that do not compile, which is no error.
 * Errors: failures of the device. */
gboolean dyno_selftest_compile (DynoDevice *device, guint one_of, DynoVariantFunc func,
                                gpointer data, guint *n_failed, GError **error);

/* Computes small convolutions with the usable variants, forward and both gradients, and compares
 * them with plain convolutions in double: every one_of-th tile (1: all), and all kinds without
 * tiles.  func (may be NULL) gets a report for each; n_failed (may be NULL) counts the variants
 * that did not pass.  FALSE only when the test itself could not run.  Errors: those of
 * dyno_memory_new and dyno_program_new except SHADER, which is a failed variant. */
gboolean dyno_selftest_variants (DynoDevice *device, guint one_of, DynoVariantFunc func,
                                 gpointer data, guint *n_failed, GError **error);

/* The test of one variant in one pass, at one small shape, which is short enough to run at every
 * start. */
typedef struct _DynoVariantTest DynoVariantTest;

/* Makes the test of a variant that dyno_lowering_choose returned for a key; needs no device.  NULL
 * without an error: there is no test for it.  Errors: those of dyno_lowering_new. */
DynoVariantTest *dyno_variant_test_new (const DynoDeviceInfo *info, const char *key,
                                        const DynoVariant *variant, GError **error);
void dyno_variant_test_free (DynoVariantTest *test);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoVariantTest, dyno_variant_test_free)

/* The lowering whose kernels the test runs, so that they can be compiled together with other
 * kernels; owned by the test. */
DynoLowering *dyno_variant_test_get_lowering (DynoVariantTest *test);
const char *dyno_variant_test_get_key (DynoVariantTest *test);
const DynoVariant *dyno_variant_test_get_variant (DynoVariantTest *test); /* without splits */

/* Sets *nmse, the error against a double convolution on the host (NaN: an element was never
 * written); the variant has passed if *nmse is at most *tolerance.  Errors: those of
 * dyno_memory_new and dyno_program_new. */
gboolean dyno_variant_test_run (DynoVariantTest *test, DynoDevice *device, double *nmse,
                                double *tolerance, GError **error);

G_END_DECLS
