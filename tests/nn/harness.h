/* SPDX-License-Identifier: MIT */
/* Runs one op, or a few, on the device and returns the results as plain arrays of double, for
 * comparison with the reference.
 *
 *   Harness *h = harness_new (&(HarnessParams){ .amp = TRUE, .training = TRUE });
 *   DynoTensor *x = harness_input (h, "x", 2, 7, 7, 5, x_values);   dense NHWC
 *   DynoTensor *y = dyno_relu (harness_graph (h), x, "relu");
 *   harness_set_gradient (h, y, dy_values);                         the start of the backward pass
 *   harness_run (h);
 *   g_autofree double *got = harness_read (h, y);
 *   g_autofree double *dx = harness_read_gradient (h, x);
 *   harness_assert_close (got, expected, n, harness_tolerance (h), "y");
 *
 * Invariants: every tensor has memory of its own between guard bytes.  After a run the harness
 * checks that no guard was touched, that pad lanes of activations and gradients are zero,
 * that the hazard check passes and that the validation layer is silent; a failure ends the test.
 * Values are passed as dense arrays of double; values for an F16 tensor should be exact in F16, as
 * those of harness_random are. */
#pragma once
#include "ops.h"
#include "program.h"

G_BEGIN_DECLS

typedef struct _Harness Harness;

typedef struct {
  gboolean amp;          /* F16 compute */
  gboolean training;     /* with backward pass, when a gradient was set or the graph has a loss */
  guint32 batch;         /* of the graph's params; 0: 1 */
  gboolean optimizer_on; /* TRUE: dyno_optimizer_update is appended */
  DynoOptimizer optimizer;
  gboolean checkpointing;
  const char *freeze; /* as in DynoGraphParams */
  /* as if memory were short: weight gradients are delayed, and everything that the backward pass
   * can rematerialise is rematerialised */
  gboolean restoring;
  /* Fusions of the backward stage: each one that is not NULL is applied, in the order of the table,
   * and set to the number of its applications. */
  guint *sparse, *gradient_sums, *norm_loads, *pairs;
  /* To simulate a weaker device; NULL: the best device, unchanged. */
  const DynoDeviceParams *device;
  DynoCommandKind kind; /* what harness_run submits; FULL by default */
  gboolean as_card;     /* lower for a GPU of two processors, also on a CPU */
} HarnessParams;

Harness *harness_new (const HarnessParams *params);
void harness_free (Harness *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Harness, harness_free)

DynoGraph *harness_graph (Harness *h);
const DynoDeviceInfo *harness_info (Harness *h);

/* Whether to run the turn-th of many variants: all on a GPU and where DYNO_TEST_WHOLE is set (as in
 * .ci/run --long), one of `of` on a software device, which compiles a kernel for up to a second.
 * Cases that begin with other turns reach other variants. */
gboolean harness_takes (guint turn, guint of);

/* An activation (n, h, w, c) of the compute type, which is filled before the run from values in
 * dense NHWC.  needs_gradient is TRUE in training. */
DynoTensor *harness_input (Harness *h, const char *name, guint32 n, guint32 height, guint32 w,
                           guint32 c, const double *values);
/* A dense tensor in space INPUT (cp = c), filled with values converted to dtype. */
DynoTensor *harness_raw (Harness *h, const char *name, DynoDtype dtype, guint32 n, guint32 height,
                         guint32 w, guint32 c, const double *values);
/* Sets a parameter or state from values in torchvision's order; default: dyno_parameter_initialise
 * with seed 1 (states too).  The fp16 copy is written as well. */
void harness_set_parameter (Harness *h, const char *name, const double *torch);
/* The initial gradient of the backward pass, in dense NHWC.  Several tensors may have one. */
void harness_set_gradient (Harness *h, DynoTensor *tensor, const double *values);
/* Starts the parameter's gradient from these values instead of zero, to test accumulation. */
void harness_set_parameter_gradient (Harness *h, const char *name, const double *torch);

/* The step input that shaders read; to be changed before the run.  It is zero but for n_valid =
 * batch, loss_divisor = batch, step = 1. */
struct DynoStepInput *harness_step (Harness *h);
struct DynoScalerState *harness_scaler (Harness *h); /* before the run; scale is 1 by default */

/* The variants (DynoVariant) of the first choice point whose key starts with the prefix, backward
 * nodes included.  Closes the graph: to be called when all ops are in and gradients are set. */
GArray *harness_variants (Harness *h, const char *key_prefix);
/* Forces this variant at every choice point whose key starts with the prefix. */
void harness_force (Harness *h, const char *key_prefix, const DynoVariant *variant);

/* Backward (in training, if there is a gradient), lowering, plan, upload, one submission,
 * checks. */
void harness_run (Harness *h);
/* Runs the same program again, without uploads, for state that is carried over. */
void harness_run_again (Harness *h);

/* After a run; dense, g_free. */
double *harness_read (Harness *h, DynoTensor *tensor); /* any space; compute or F32, I32, U8 */
double *harness_read_gradient (Harness *h, DynoTensor *tensor);
/* the rematerialised or recomputed values */
double *harness_read_again (Harness *h, DynoTensor *tensor);
/* Whether the tensor was rematerialised or recomputed. */
gboolean harness_has_again (Harness *h, DynoTensor *tensor);
/* master value or state, in torchvision's order */
double *harness_read_parameter (Harness *h, const char *name);
double *harness_read_parameter_half (Harness *h, const char *name);
double *harness_read_parameter_gradient (Harness *h, const char *name);
double *harness_read_moment (Harness *h, const char *name, DynoSpace space); /* MOMENT1, MOMENT2 */
const struct DynoStepOutput *harness_output (Harness *h);
struct DynoScalerState harness_read_scaler (Harness *h);

/* Values exact in F16, uniform in (-scale, scale); g_free. */
double *harness_random (guint64 seed, gsize n, double scale);
double harness_round_f16 (double value);
guint16 harness_to_f16 (double value);
double harness_from_f16 (guint16 bits);

/* Sum of squared differences divided by the sum of squares of the expected values; 0/0 is 0. */
double harness_nmse (const double *got, const double *expected, gsize n);
double harness_tolerance (Harness *h); /* 5e-6 with amp, else 1e-7 */
void harness_assert_close (const double *got, const double *expected, gsize n, double tolerance,
                           const char *what);
/* Runs spirv-val on a module, where it is installed; a fault ends the test. */
void harness_validate_spirv (GBytes *spirv, const char *what);

G_END_DECLS
