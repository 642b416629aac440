/* SPDX-License-Identifier: MIT */
/* Lowering only with kernels that compile and compute correctly on the device: a variant that fails
 * is refused, and the next variant is taken. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

/* Callbacks, made on the calling thread while a graph is lowered. */
typedef struct {
  /* Reports that a variant ("conv2d.forward f16 khr 128x128x32/64x64") is not used on this device
   * from now on; may be NULL. */
  void (*refused) (const char *variant, const char *why, gpointer data);
  DynoKernelProgress progress; /* of compiling; may be NULL */
  gpointer data;
} DynoVetWatch;

/* Compiles every kernel of a lowering.  *again: a variant in the lowering was refused, and the
 * nodes have to be lowered again.
 * Errors: those of dyno_kernel_get_many, SHADER for a kernel without variants. */
gboolean dyno_vet_compile (DynoDevice *device, DynoLowering *lowering, DynoChoices *choices,
                           const DynoVetWatch *watch, GCancellable *cancellable, gboolean *again,
                           GError **error);

/* As dyno_lowering_new, but every kernel is compiled, and each variant that is chosen for the first
 * time on this device is tested (on a CPU only with DYNO_SELF_TEST=1).  Refusals go into choices,
 * and from there to the disk where choices were loaded from disk.  Where no variant of a choice is
 * left, all refusals are forgotten, so that a later start tries again.
 * Errors: those of dyno_lowering_new, dyno_kernel_get_many and of submitting; KERNEL: no variant is
 * left. */
DynoLowering *dyno_vet_lower (DynoDevice *device, DynoGraph *graph, DynoChoices *choices,
                              const DynoVetWatch *watch, GCancellable *cancellable, GError **error);

G_END_DECLS
