/* SPDX-License-Identifier: MIT */
/* Lowering: every node becomes dispatches, as plain data, without a device.
 *
 * An op's `lower` picks a kernel variant that the device can run, asks for workspace, and
 * declares for each dispatch which tensors it reads and writes; the memory plan and the barriers
 * follow from these declarations.  A dispatch names its kernel by a DynoKernelSpec; shapes go into
 * specialisation constants (they are known), addresses into push constants.
 *
 * Choice points: where an op has several variants it lists them, best guess first, under a key that
 * holds everything that the time depends on ("conv2d.forward f16 n128 h56 w56 c64 k64 r3 s1 p1
 * ...").  The table of choices (filled by the autotuner, kept on disk) selects one; without an
 * entry, the first variant that the device can run is taken. */
#pragma once
#include "kernel.h"
#include "op.h"
#include "variant.h"
#include <stddef.h>

G_BEGIN_DECLS

typedef struct _DynoChoices DynoChoices;

typedef enum {
  DYNO_ACCESS_READ = 1,
  DYNO_ACCESS_WRITE = 2,
  DYNO_ACCESS_READ_WRITE = 3,
} DynoAccess;

#define DYNO_DISPATCH_MAX_BINDINGS 16

typedef struct {
  DynoTensor *tensor;
  DynoAccess access;
  /* offset of the 64-bit address in the push constants; G_MAXUINT16: the access is only declared */
  guint16 push_offset;
  guint64 byte_offset; /* added to the address */
} DynoBinding;

typedef struct {
  const DynoNode *node;
  const char *pass; /* static: "forward", "dgrad", "reduce" */
  /* stage in which it runs: the node's stage, but BACKWARD for a rematerialised forward node */
  DynoStage stage;
  DynoKernelSpec spec;
  guint32 groups[3];
  guint8 push[DYNO_PUSH_MAX_BYTES];
  DynoBinding bindings[DYNO_DISPATCH_MAX_BINDINGS];
  guint n_bindings;
  /* The choice point that it belongs to: 1 + index; 0: this kernel has no variants. */
  guint choice;
  /* runs the variant's main kernel; FALSE: an additional kernel, such as the sum of its splits */
  gboolean is_variant;
  guint64 flops; /* useful operations */
  guint64 bytes; /* least possible bytes: each input read once, each output written once */
} DynoDispatch;

/* Lowers all nodes (checkpointing's rematerialisation included).  info is copied; choices may be
 * NULL.  The graph outlives the lowering.  Errors: SHAPE, TOO_LARGE, UNSUPPORTED, KERNEL. */
DynoLowering *dyno_lowering_new (DynoGraph *graph, const DynoDeviceInfo *info, DynoChoices *choices,
                                 GError **error);
/* Only this node's dispatches: for the autotuner and for tests of one op. */
DynoLowering *dyno_lowering_new_node (DynoGraph *graph, DynoNode *node, const DynoDeviceInfo *info,
                                      DynoChoices *choices, GError **error);
void dyno_lowering_free (DynoLowering *lowering);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoLowering, dyno_lowering_free)

DynoGraph *dyno_lowering_get_graph (DynoLowering *lowering);
GPtrArray *dyno_lowering_get_dispatches (DynoLowering *lowering); /* DynoDispatch*, in order */

/* The feature that a device lacks to compute in a type ("the device has no fp16"); NULL: none. */
const char *dyno_dtype_unusable (DynoDtype dtype, const DynoDeviceInfo *info);

/* Every precision that has kernels; fp32 comes first. */
const DynoPrecision *dyno_precision_list (guint *n);

/* The feature that a device lacks for a precision ("no fp16; train without AMP"); NULL: none. */
const char *dyno_precision_unusable (const DynoPrecision *precision, const DynoDeviceInfo *info);

/* For ops. ------------------------------------------------------------------------------------- */

const DynoDeviceInfo *dyno_lowering_get_info (DynoLowering *lowering);

/* A new dispatch; spec is copied.  groups are checked against the device's limits (the op folds an
 * x that is too large). */
DynoDispatch *dyno_lowering_dispatch (DynoLowering *lowering, DynoNode *node, const char *pass,
                                      const DynoKernelSpec *spec, guint32 groups_x,
                                      guint32 groups_y, guint32 groups_z);
void dyno_dispatch_bind (DynoDispatch *dispatch, guint16 push_offset, DynoTensor *tensor,
                         DynoAccess access);
void dyno_dispatch_bind_at (DynoDispatch *dispatch, guint16 push_offset, DynoTensor *tensor,
                            guint64 byte_offset, DynoAccess access);
void dyno_dispatch_push (DynoDispatch *dispatch, guint16 push_offset, gconstpointer value,
                         gsize size_bytes);

/* The same by the name of the member in the struct of the push constants.  The member's size is
 * checked at compile time: an address for a tensor, the variable's type for another value. */
/* clang-format off */
#define DYNO_BIND(dispatch, Push, member, tensor, access) \
  dyno_dispatch_bind ((dispatch), DYNO_PUSH_OFFSET (Push, member, 8), (tensor), (access))
#define DYNO_BIND_AT(dispatch, Push, member, tensor, byte_offset, access) \
  dyno_dispatch_bind_at ((dispatch), DYNO_PUSH_OFFSET (Push, member, 8), (tensor), (byte_offset), \
                         (access))
#define DYNO_PUSH(dispatch, Push, member, variable) \
  dyno_dispatch_push ((dispatch), DYNO_PUSH_OFFSET (Push, member, sizeof (variable)), &(variable), \
                      sizeof (variable))
#define DYNO_PUSH_OFFSET(Push, member, size_bytes) \
  (G_STATIC_ASSERT_EXPR (sizeof (((Push *) NULL)->member) == (size_bytes)), \
   (guint16) offsetof (Push, member))
/* clang-format on */

/* The access to a gradient: READ_WRITE where the node adds to the values of other nodes, else
 * WRITE. */
static inline DynoAccess
dyno_access_sum (gboolean accumulate)
{
  return accumulate ? DYNO_ACCESS_READ_WRITE : DYNO_ACCESS_WRITE;
}

/* TRUE while a forward node is lowered for rematerialisation in the backward stage. */
gboolean dyno_lowering_is_rematerialising (DynoLowering *lowering);

/* The tensor into which this node shall rematerialise its activation; NULL: none. */
DynoTensor *dyno_lowering_get_rematerialised (DynoLowering *lowering);

/* Scratch that lives from the first to the last dispatch that binds it. */
DynoTensor *dyno_lowering_workspace (DynoLowering *lowering, const char *name, guint64 size_bytes);

/* Sums over the columns of a kernel's output, made by that kernel for a later node of the same
 * lowering: groups of (sum of y - pivot, sum of its square), F32 [groups][2][cp]; FALSE: the node
 * that wrote y made no sums. */
typedef struct {
  DynoTensor *partials; /* a workspace */
  guint32 groups;
} DynoColumnSums;

void dyno_lowering_set_column_sums (DynoLowering *lowering, const DynoTensor *y,
                                    const DynoColumnSums *sums);
gboolean dyno_lowering_get_column_sums (DynoLowering *lowering, const DynoTensor *y,
                                        DynoColumnSums *sums);

/* The index of the variant to use; the device can run all of them.  Fails the graph and returns 0
 * when no variant is left. */
guint dyno_lowering_choose (DynoLowering *lowering, DynoNode *node, const char *key,
                            const DynoVariant *variants, guint n_variants);

/* Spec building. */
void dyno_kernel_spec_macro (DynoKernelSpec *spec, const char *format, ...)
    G_GNUC_PRINTF (2, 3); /* appends "NAME=VALUE", or several with spaces between */
/* Specialisation constants by the names that shaders/shared gives their ids. */
void dyno_kernel_spec_set (DynoKernelSpec *spec, guint constant_id, guint32 value);
void dyno_kernel_spec_set_float (DynoKernelSpec *spec, guint constant_id, float value);

/* Choices map a key to a variant.  Thread-safe, except dyno_choices_go_by_rule. */
DynoChoices *dyno_choices_new (void);
DynoChoices *dyno_choices_load (
    const char *device_key); /* from the cache folder; empty when the file is missing or corrupt */
gboolean dyno_choices_save (DynoChoices *choices, const char *device_key, GError **error);
/* Saves choices for the device that they were loaded for; does nothing for choices that were not
 * loaded.  A failure is harmless and only logged. */
void dyno_choices_keep (DynoChoices *choices);
void dyno_choices_free (DynoChoices *choices);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoChoices, dyno_choices_free)
void dyno_choices_set (DynoChoices *choices, const char *key, const DynoVariant *variant,
                       double time_us);
gboolean dyno_choices_get (DynoChoices *choices, const char *key,
                           DynoVariant *variant); /* FALSE: not known */
/* From now on lowerings ignore the known choices; the choices are kept, and refused variants stay
 * refused. */
void dyno_choices_go_by_rule (DynoChoices *choices);
/* FALSE: a lowering with these choices equals one without choices. */
gboolean dyno_choices_decide (DynoChoices *choices);

/* Refusals: variants that this device may not run, whatever the shape.  A refusal applies to a
 * family, which is the first two words of a key ("conv2d.forward f16"), and names a tile ("khr
 * 128x128x32/64x64") with all its splits, or with one of them.  Lowerings do not see refused
 * variants.  Refusals are kept on disk like choices, until the driver or the kernels change. */
gsize dyno_choice_family_length (const char *key);
/* A variant without splits stands for the tile with all its splits; returns TRUE if it was not
 * refused before. */
gboolean dyno_choices_refuse (DynoChoices *choices, const char *key, const DynoVariant *variant,
                              const char *why);
/* The reason why a variant, or its tile, is refused; g_free.  NULL: it is not refused. */
char *dyno_choices_get_refusal (DynoChoices *choices, const char *key, const DynoVariant *variant);
guint dyno_choices_count_refusals (DynoChoices *choices);
void dyno_choices_forget_refusals (DynoChoices *choices);
/* Tiles that passed the self-test on this device; kept like refusals. */
void dyno_choices_pass (DynoChoices *choices, const char *key, const DynoVariant *variant);
gboolean dyno_choices_has_passed (DynoChoices *choices, const char *key,
                                  const DynoVariant *variant);

/* Every (node, key, variants) that a lowering met, for the autotuner. */
typedef struct {
  DynoNode *node;
  char *key;
  DynoVariant *variants; /* best guess first, without refused variants */
  guint n_variants, chosen;
} DynoChoicePoint;
GPtrArray *dyno_lowering_get_choice_points (DynoLowering *lowering);

G_END_DECLS
