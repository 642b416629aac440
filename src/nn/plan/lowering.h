/* SPDX-License-Identifier: MIT */
/* Lowering: every node becomes dispatches, as plain data, without a device.
 *
 * An op's `lower` picks a kernel variant for what the device can do, asks for workspace, and states
 * for each dispatch what it reads and writes; from that follow the liveness plan and the barriers.
 * A dispatch names its kernel by a DynoKernelSpec; shapes go into specialisation constants (they
 * are known), addresses into push constants.
 *
 * Choice points: where an op has several variants it lists them, best guess first, under a key that
 * holds everything the time depends on ("conv2d.forward f16 n128 h56 w56 c64 k64 r3 s1 p1 ...").
 * The table of choices (filled by the autotuner, kept on disk) answers with one, else the first
 * that the device can run is taken. */
#pragma once
#include "kernel.h"
#include "op.h"
#include "variant.h"

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
  guint16 push_offset; /* where its 64-bit address goes; G_MAXUINT16: declared only */
  guint64 byte_offset; /* added to the address */
} DynoBinding;

typedef struct {
  const DynoNode *node;
  const char *pass; /* static: "forward", "dgrad", "reduce" */
  DynoStage stage;  /* it runs in: the node's, but BACKWARD for a rematerialised forward node */
  DynoKernelSpec spec;
  guint32 groups[3];
  guint8 push[DYNO_PUSH_MAX_BYTES];
  DynoBinding bindings[DYNO_DISPATCH_MAX_BINDINGS];
  guint n_bindings;
  /* The choice point that it came of: 1 + index; 0: none, this kernel has no variants. */
  guint choice;
  gboolean is_variant; /* the variant itself; FALSE: what comes with it (sums of its parts) */
  guint64 flops;       /* useful ones */
  guint64 bytes;       /* fewest: each input read once, each output written once */
} DynoDispatch;

/* Lowers all nodes (checkpointing's rematerialisation included).  info is copied; choices may be
 * NULL.
 * The graph outlives the lowering.  Errors: SHAPE, UNSUPPORTED. */
DynoLowering *dyno_lowering_new (DynoGraph *graph, const DynoDeviceInfo *info, DynoChoices *choices,
                                 GError **error);
/* Only this node's dispatches: for the autotuner and for tests of one op. */
DynoLowering *dyno_lowering_new_node (DynoGraph *graph, DynoNode *node, const DynoDeviceInfo *info,
                                      DynoChoices *choices, GError **error);
void dyno_lowering_free (DynoLowering *lowering);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoLowering, dyno_lowering_free)

DynoGraph *dyno_lowering_get_graph (DynoLowering *lowering);
GPtrArray *dyno_lowering_get_dispatches (DynoLowering *lowering); /* DynoDispatch*, in order */

/* What a device lacks to compute in a type ("the device has no fp16"); NULL: nothing. */
const char *dyno_dtype_unusable (DynoDtype dtype, const DynoDeviceInfo *info);

/* Every precision that there are kernels for: fp32 first. */
const DynoPrecision *dyno_precision_list (guint *n);

/* What a device lacks for a precision ("no fp16; train without AMP"); NULL: nothing. */
const char *dyno_precision_unusable (const DynoPrecision *precision, const DynoDeviceInfo *info);

/* For ops. ------------------------------------------------------------------------------------- */

const DynoDeviceInfo *dyno_lowering_get_info (DynoLowering *lowering);

/* A new dispatch; spec is copied.  groups are checked against the device's limits (a too large x is
 * the op's to fold). */
DynoDispatch *dyno_lowering_dispatch (DynoLowering *lowering, DynoNode *node, const char *pass,
                                      const DynoKernelSpec *spec, guint32 groups_x,
                                      guint32 groups_y, guint32 groups_z);
void dyno_dispatch_bind (DynoDispatch *dispatch, guint16 push_offset, DynoTensor *tensor,
                         DynoAccess access);
void dyno_dispatch_bind_at (DynoDispatch *dispatch, guint16 push_offset, DynoTensor *tensor,
                            guint64 byte_offset, DynoAccess access);
void dyno_dispatch_push (DynoDispatch *dispatch, guint16 push_offset, gconstpointer value,
                         gsize size_bytes);

/* TRUE while a forward node is lowered for rematerialisation in the backward stage. */
gboolean dyno_lowering_is_rematerialising (DynoLowering *lowering);

/* The tensor into which this node shall rematerialise its activation; NULL: it shall not. */
DynoTensor *dyno_lowering_get_rematerialised (DynoLowering *lowering);

/* Scratch that lives from the first to the last dispatch that binds it. */
DynoTensor *dyno_lowering_workspace (DynoLowering *lowering, const char *name, guint64 size_bytes);

/* Sums that a kernel has made of the columns of what it wrote, for a later node of the same
 * lowering: groups of (sum of y - pivot, sum of its square), F32 [groups][2][cp]; FALSE: the node
 * that wrote y made none. */
typedef struct {
  DynoTensor *partials; /* a workspace */
  guint32 groups;
} DynoColumnSums;

void dyno_lowering_set_column_sums (DynoLowering *lowering, const DynoTensor *y,
                                    const DynoColumnSums *sums);
gboolean dyno_lowering_get_column_sums (DynoLowering *lowering, const DynoTensor *y,
                                        DynoColumnSums *sums);

/* Which of the variants, all of which the device can run, to use.  Fails the graph and returns 0
 * when none is left. */
guint dyno_lowering_choose (DynoLowering *lowering, DynoNode *node, const char *key,
                            const DynoVariant *variants, guint n_variants);

/* Spec building. */
void dyno_kernel_spec_macro (DynoKernelSpec *spec, const char *format, ...)
    G_GNUC_PRINTF (2, 3); /* appends one "NAME=VALUE" */
/* Specialisation constants by the names that shaders/shared gives their ids. */
void dyno_kernel_spec_set (DynoKernelSpec *spec, guint constant_id, guint32 value);
void dyno_kernel_spec_set_float (DynoKernelSpec *spec, guint constant_id, float value);

/* Choices: key -> variant.  Thread-safe. */
DynoChoices *dyno_choices_new (void);
DynoChoices *dyno_choices_load (
    const char *device_key); /* from the cache folder; empty when there is none or it is corrupt */
gboolean dyno_choices_save (DynoChoices *choices, const char *device_key, GError **error);
/* Saves choices that were loaded, for the same device; others it leaves alone.  Failing is no harm
 * and only logged. */
void dyno_choices_keep (DynoChoices *choices);
void dyno_choices_free (DynoChoices *choices);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoChoices, dyno_choices_free)
void dyno_choices_set (DynoChoices *choices, const char *key, const DynoVariant *variant,
                       double time_us);
gboolean dyno_choices_get (DynoChoices *choices, const char *key,
                           DynoVariant *variant); /* FALSE: not known */
/* From now on no choice is known; what is known is kept, refused variants are still refused. */
void dyno_choices_go_by_rule (DynoChoices *choices);
/* FALSE: a lowering with these choices is as one without. */
gboolean dyno_choices_decide (DynoChoices *choices);

/* Variants that this device may not run, whatever the shape: of a family, which is the first two
 * words of a key ("conv2d.forward f16"), a tile ("khr 128x128x32/64x64") with all its splits, or
 * one of them.  Lowerings do not see them.  They are kept on disk as choices are, until the driver
 * or the kernels change. */
gsize dyno_choice_family_length (const char *key);
/* A variant without splits is a tile, with all of them; TRUE: it was not refused before. */
gboolean dyno_choices_refuse (DynoChoices *choices, const char *key, const DynoVariant *variant,
                              const char *why);
/* Why a variant is refused, its tile's reason included; g_free.  NULL: it is not. */
char *dyno_choices_get_refusal (DynoChoices *choices, const char *key, const DynoVariant *variant);
guint dyno_choices_count_refusals (DynoChoices *choices);
void dyno_choices_forget_refusals (DynoChoices *choices);
/* Tiles that computed rightly on this device, as its self-test saw; kept as refusals are. */
void dyno_choices_pass (DynoChoices *choices, const char *key, const DynoVariant *variant);
gboolean dyno_choices_has_passed (DynoChoices *choices, const char *key,
                                  const DynoVariant *variant);

/* Every (node, key, variants) that a lowering came across, for the autotuner. */
typedef struct {
  DynoNode *node;
  char *key;
  DynoVariant *variants; /* best guess first; refused ones left out */
  guint n_variants, chosen;
} DynoChoicePoint;
GPtrArray *dyno_lowering_get_choice_points (DynoLowering *lowering);

G_END_DECLS
