/* SPDX-License-Identifier: MIT */
/* The one way from parameters to commands: network -> graph -> lowering -> plan -> memory ->
 * program.
 *
 *   dyno_build_new        the graph, from the parameters of a network (or an existing graph)
 *   dyno_build_tune       optional: measures the kernels that are not known yet
 *   dyno_build_plan       kernels and an offset for every tensor; again where choices have changed
 *   dyno_build_allocate   device memory, shared by builds of one network
 *   dyno_build_record     compiled kernels and recorded commands, ready to be submitted
 *
 * The first and the third step need no device: code that only estimates memory stops after the
 * third.  Training, validation, prediction, measurements and tests of kernels all use the same
 * steps.  Builds of one model share parameters: they lie at the same places whatever the mode.
 * A build belongs to one thread, except that dyno_start_values_new reads its graph in another
 * thread. */
#pragma once
#include "network.h"
#include "program.h"
#include "vet.h"

G_BEGIN_DECLS

typedef struct _DynoBuild DynoBuild;

/* Errors: those of dyno_network_build. */
DynoBuild *dyno_build_new (const DynoNetworkParams *params, GError **error);
/* A build of an existing graph, which must be complete and outlive the build; for single ops. */
DynoBuild *dyno_build_new_graph (DynoGraph *graph);
/* Waits for nothing: all submitted commands must have finished.  The memory is freed with the last
 * build that shares it. */
void dyno_build_free (DynoBuild *build);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoBuild, dyno_build_free)

/* Measures the kernels that choices does not know yet, within `seconds` (0: no limit; see
 * autotune.h), into choices; the reference variants, with which others are compared, are vetted
 * first (vet.h), and watch gets the reports.  The build must not have memory of its own yet.  The
 * build must be planned afterwards, even if it was planned before. */
gboolean dyno_build_tune (DynoBuild *build, DynoDevice *device, DynoChoices *choices,
                          const DynoVetWatch *watch, double seconds, DynoKernelProgress progress,
                          gpointer data, GCancellable *cancellable, GError **error);

typedef struct {
  const DynoDeviceInfo *info; /* copied */
  DynoChoices *choices;       /* NULL: kernels by rule; must outlive dyno_build_plan */
  DynoNode *node;             /* only this node's dispatches; NULL: all */
  guint n_slots;              /* steps in flight; 0: 1 */
  DynoPlanFlags flags;
  /* With a device every kernel is compiled here, and a variant that the device cannot run is
   * refused (see vet.h); choices must be given then.  Ignored where node is set. */
  DynoDevice *device;
  const DynoVetWatch *watch;
  GCancellable *cancellable; /* may be NULL */
  /* approximate bytes of gradients per bucket (buckets.h); 0: derived from the net's size */
  guint64 bucket_bytes;
} DynoBuildParams;

/* Lowers and plans.  Not to be called after dyno_build_allocate.  Errors: those of
 * dyno_lowering_new or dyno_vet_lower, and dyno_plan_compute. */
gboolean dyno_build_plan (DynoBuild *build, const DynoBuildParams *params, GError **error);

/* Allocates memory that these planned builds share; they run one after the other, never at once.
 * Errors: those of dyno_memory_new. */
gboolean dyno_build_allocate (DynoDevice *device, DynoBuild *const *builds, guint n,
                              GError **error);
/* Uses existing memory, whose plan includes this build's plan. */
void dyno_build_set_memory (DynoBuild *build, DynoMemory *memory);

/* Compiles missing kernels and records the command kinds in the mask `kinds` (1 << DynoCommandKind;
 * 0: DYNO_COMMANDS_STEP).  cancellable may be NULL.  Errors: those of dyno_program_new. */
gboolean dyno_build_record (DynoBuild *build, DynoDevice *device, guint kinds,
                            GCancellable *cancellable, GError **error);

/* Owned by the build, except for the graph of dyno_build_new_graph; NULL before the step that makes
 * it. */
DynoGraph *dyno_build_get_graph (DynoBuild *build);
DynoLowering *dyno_build_get_lowering (DynoBuild *build);
const DynoPlan *dyno_build_get_plan (DynoBuild *build);
DynoMemory *dyno_build_get_memory (DynoBuild *build);
DynoProgram *dyno_build_get_program (DynoBuild *build);

/* The number of parameters (trained: without the frozen ones), and the FLOP per sample of forward
 * and backward pass without rematerialisation; for a planned build. */
guint64 dyno_build_count_parameters (DynoBuild *build, gboolean trained);
double dyno_build_count_flops (DynoBuild *build);

G_END_DECLS
