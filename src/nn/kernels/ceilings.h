/* SPDX-License-Identifier: MIT */
/* Ceilings of a device: how fast it copies memory and multiplies, as measured on it; from them the
 * least time of a kernel.
 *
 * They are figures of this device, driver, shader compiler and build's kernels, kept on disk under
 * all four.  Threads: any; the functions keep no state. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

#define DYNO_CEILINGS_LABEL 48

typedef struct {
  double copy_bytes_per_s;   /* read + written by a copy much larger than the caches */
  double fma_flops_per_s;    /* fp32, in registers alone; a multiply-add counts two */
  double single_flops_per_s; /* fp32, the best large product of Dyno's kernels */
  /* fp16 on matrix units, likewise; 0: the device has none that are used */
  double matrix_flops_per_s;
  char single_kernel[DYNO_CEILINGS_LABEL]; /* which tile that was: "f32 128x128x16" */
  char matrix_kernel[DYNO_CEILINGS_LABEL]; /* empty: none */
} DynoCeilings;

/* Measures for some seconds: medians of several runs of a device that is warm, with work sized by a
 * first try.  Takes device memory for two buffers, together a quarter of what is free and at most 2
 * GiB, freed at the end.  Errors: OUT_OF_DEVICE_MEMORY, OVER_BUDGET, SHADER, DEVICE_LOST, those of
 * dyno_lowering_new. */
gboolean dyno_ceilings_measure (DynoDevice *device, DynoCeilings *ceilings, GError **error);

/* What is kept for a device; needs no open device.  FALSE: nothing, or of another driver or build,
 * or damaged. */
gboolean dyno_ceilings_load (const DynoDeviceInfo *info, DynoCeilings *ceilings);
/* Replaces it on disk; failing is no harm and only logged. */
void dyno_ceilings_keep (const DynoDeviceInfo *info, const DynoCeilings *ceilings);

/* Whether a kernel multiplies on matrix units. */
gboolean dyno_ceilings_on_matrix (const DynoKernelSpec *spec);

/* The least time of a dispatch in microseconds: that of its bytes or of its useful FLOPs, whichever
 * is longer; its FLOPs at the rate of matrix units where it runs on them, else of fp32.  0:
 * ceilings are all 0, or there is nothing to count. */
double dyno_ceilings_floor_us (const DynoCeilings *ceilings, const DynoDispatch *dispatch);

G_END_DECLS
