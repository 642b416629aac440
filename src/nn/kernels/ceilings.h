/* SPDX-License-Identifier: MIT */
/* Ceilings of a device: the measured rates at which it copies memory and multiplies; the least time
 * of a kernel follows from them.
 *
 * They are valid for one device, driver, shader compiler and build's kernels, and are kept on disk
 * under all four.  Threads: any; the functions keep no state. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

#define DYNO_CEILINGS_LABEL 48

typedef struct {
  double copy_bytes_per_s;   /* read + written by a copy much larger than the caches */
  double fma_flops_per_s;    /* fp32, only in registers; a multiply-add counts two */
  double single_flops_per_s; /* fp32, the best large product of Dyno's kernels */
  /* fp16, the best large product on matrix units; 0: the device's matrix units are not used */
  double matrix_flops_per_s;
  /* the tile that reached single_flops_per_s: "f32 128x128x16" */
  char single_kernel[DYNO_CEILINGS_LABEL];
  char matrix_kernel[DYNO_CEILINGS_LABEL]; /* likewise for fp16; empty: none */
} DynoCeilings;

/* Measures for some seconds: medians of several runs on a warm device, with the amount of work
 * found by a first run.  Takes device memory for two buffers, together a quarter of the free memory
 * and at most 2 GiB, freed at the end.  Errors: OUT_OF_DEVICE_MEMORY, OVER_BUDGET, SHADER,
 * DEVICE_LOST, those of dyno_lowering_new. */
gboolean dyno_ceilings_measure (DynoDevice *device, DynoCeilings *ceilings, GError **error);

/* Loads the ceilings kept on disk for a device; needs no open device.  FALSE: there is no file, or
 * it is damaged or from another driver or build. */
gboolean dyno_ceilings_load (const DynoDeviceInfo *info, DynoCeilings *ceilings);
/* Replaces the ceilings on disk; a failure is harmless and only logged. */
void dyno_ceilings_keep (const DynoDeviceInfo *info, const DynoCeilings *ceilings);

/* TRUE: the kernel multiplies on matrix units. */
gboolean dyno_ceilings_on_matrix (const DynoKernelSpec *spec);

/* The least time of a dispatch in microseconds: the time of its bytes or of its useful FLOPs,
 * whichever is longer; FLOPs count at the rate of matrix units where the kernel runs on them, else
 * at the rate of fp32 multiply-adds.  0: the ceilings are all 0, or the dispatch has neither bytes
 * nor FLOPs. */
double dyno_ceilings_floor_us (const DynoCeilings *ceilings, const DynoDispatch *dispatch);

G_END_DECLS
