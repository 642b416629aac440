/* SPDX-License-Identifier: MIT */
/* The one way from parameters to commands: network -> graph -> lowering -> plan -> memory ->
 * program.
 *
 *   dyno_build_new        the graph, from the parameters of a network (or one that is there)
 *   dyno_build_tune       optional: measures the kernels that are not known yet
 *   dyno_build_plan       kernels and an offset for every tensor; again where choices have changed
 *   dyno_build_allocate   device memory, shared by builds of one network
 *   dyno_build_record     compiled kernels and recorded commands: what can be submitted
 *
 * The first and the third need no device: a planner stops there.  Who trains, validates, predicts,
 * measures or tests kernels goes on, all by the same steps.  Builds of one model share parameters:
 * they lie at the same places whatever the mode.
 * A build belongs to one thread, but for what dyno_start_values_new reads of its graph. */
#pragma once
#include "network.h"
#include "program.h"
#include "vet.h"

G_BEGIN_DECLS

typedef struct _DynoBuild DynoBuild;

/* Errors: those of dyno_network_build. */
DynoBuild *dyno_build_new (const DynoNetworkParams *params, GError **error);
/* Of a graph that is finished and outlives the build; for single ops. */
DynoBuild *dyno_build_new_graph (DynoGraph *graph);
/* Waits for nothing: what was submitted must have finished.  The memory goes with the last build
 * that shares it. */
void dyno_build_free (DynoBuild *build);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoBuild, dyno_build_free)

/* Measures the kernels that choices does not know yet, within `seconds` (0: no limit; see
 * autotune.h), into choices; what others are compared with is vetted first (vet.h), which watch is
 * told.  Wants no memory of the build's own to be there yet.  The build is to be planned afterwards,
 * again if it was. */
gboolean dyno_build_tune (DynoBuild *build, DynoDevice *device, DynoChoices *choices,
                          const DynoVetWatch *watch, double seconds, DynoKernelProgress progress,
                          gpointer data, GCancellable *cancellable, GError **error);

typedef struct {
  const DynoDeviceInfo *info; /* copied */
  DynoChoices *choices;       /* NULL: kernels by rule; outlives the plan's making only */
  DynoNode *node;             /* this node's dispatches alone; NULL: all */
  guint n_slots;              /* steps in flight; 0: 1 */
  DynoPlanFlags flags;
  /* With a device every kernel is compiled here, and a variant that it cannot run is refused (see
   * vet.h): choices are wanted then. */
  DynoDevice *device;
  const DynoVetWatch *watch;
  GCancellable *cancellable; /* may be NULL */
  guint64
      bucket_bytes; /* about so many of gradients a piece (buckets.h); 0: by the size of the net */
} DynoBuildParams;

/* Lowers and plans.  Not after dyno_build_allocate.  Errors: those of dyno_lowering_new or
 * dyno_vet_lower, and dyno_plan_compute. */
gboolean dyno_build_plan (DynoBuild *build, const DynoBuildParams *params, GError **error);

/* Memory for all of these planned builds, which run one after the other, never at once.  Errors:
 * those of dyno_memory_new. */
gboolean dyno_build_allocate (DynoDevice *device, DynoBuild *const *builds, guint n,
                              GError **error);
/* Memory that is there already, for a plan that was merged into its own. */
void dyno_build_set_memory (DynoBuild *build, DynoMemory *memory);

/* Compiles what is missing and records the kinds of kinds (1 << DynoCommandKind; 0:
 * DYNO_COMMANDS_STEP).  cancellable may be NULL.  Errors: those of dyno_program_new. */
gboolean dyno_build_record (DynoBuild *build, DynoDevice *device, guint kinds,
                            GCancellable *cancellable, GError **error);

/* Owned by the build; NULL before the step that makes it. */
DynoGraph *dyno_build_get_graph (DynoBuild *build);
DynoLowering *dyno_build_get_lowering (DynoBuild *build);
const DynoPlan *dyno_build_get_plan (DynoBuild *build);
DynoMemory *dyno_build_get_memory (DynoBuild *build);
DynoProgram *dyno_build_get_program (DynoBuild *build);

/* Parameters (trained: but for the frozen ones), and FLOP per sample of forward and backward pass without what is
 * rematerialised; of a planned build. */
guint64 dyno_build_count_parameters (DynoBuild *build, gboolean trained);
double dyno_build_count_flops (DynoBuild *build);

G_END_DECLS
