/* SPDX-License-Identifier: MIT */
/* A program: a planned graph recorded into commands, ready to be submitted step after step.
 *
 * DynoMemory holds the buffers of all spaces and may serve several programs (training and
 * evaluation of one net); programs that share memory run one after the other, never at once, which
 * holds if one thread submits them in order.  Recording happens once; a submit then costs one
 * vkQueueSubmit, or a few (dyno_program_get_submits).  Barriers follow from the dispatches'
 * declared accesses, by byte range, one per dependency level.  In debug builds and with
 * DYNO_HAZARDS=1 a second, independent pass checks the recorded list; dyno_program_new fails where
 * a conflicting pair has no barrier between.
 * Each kind of command begins by copying the slot's DynoStepInput from host memory, and ends by
 * copying DynoStepOutput back, where the memory has them; a kind that begins a step clears the
 * output. */
#pragma once
#include "buckets.h"
#include "command.h"
#include "hostplan.h"
#include "plan.h"
#include "step.h"

G_BEGIN_DECLS

typedef struct _DynoMemory DynoMemory;
typedef struct _DynoProgram DynoProgram;

/* Errors: those of dyno_buffer_new; OUT_OF_DEVICE_MEMORY where the plan needs larger buffers than
 * the device has.  All spaces but ARENA start as zero, except for the loss scale. */
DynoMemory *dyno_memory_new (DynoDevice *device, const DynoPlan *plan, GError **error);
DynoMemory *dyno_memory_ref (DynoMemory *memory); /* not thread-safe */
void dyno_memory_unref (DynoMemory *memory);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoMemory, dyno_memory_unref)
/* NULL where the plan has no bytes; for ARENA the first buffer. */
DynoBuffer *dyno_memory_get_buffer (DynoMemory *memory, DynoSpace space, guint slot);
/* The buffer that holds a planned tensor, and the tensor's offset in it; NULL: there is no buffer,
 * or the tensor does not lie inside of it. */
DynoBuffer *dyno_memory_locate (DynoMemory *memory, const DynoTensor *tensor, guint slot,
                                guint64 *offset);
/* The buffers that steps change and that outlive the steps, with the buffers that are computed only
 * from these (the fp16 copies); all memories of a network list the same buffers in the same
 * order. */
GPtrArray *dyno_memory_list_state (DynoMemory *memory);
/* All buffers of ARENA; element type DynoBuffer, owned by memory. */
GPtrArray *dyno_memory_list_arena (DynoMemory *memory);

typedef enum {
  DYNO_COMMAND_FULL,       /* forward, backward, optimizer */
  DYNO_COMMAND_ACCUMULATE, /* forward and backward: gradients are added up */
  DYNO_COMMAND_FORWARD,    /* only forward */
  /* BACKWARD and OPTIMIZER continue a step that began with FORWARD, on the same slot, with nothing
   * else submitted between: gradients may be read and changed before OPTIMIZER. */
  DYNO_COMMAND_BACKWARD,
  DYNO_COMMAND_OPTIMIZER,
  /* ACCUMULATE, split where buckets of gradients become final (buckets.h): submitted one after the
   * other by dyno_program_submit_piece, on one slot, or as a whole.  Gradients may be changed
   * before OPTIMIZER, which ends the step. */
  DYNO_COMMAND_PIECES,
  DYNO_COMMAND_N
} DynoCommandKind;

/* The kinds of a step that is submitted as a whole. */
#define DYNO_COMMANDS_STEP \
  (1u << DYNO_COMMAND_FULL | 1u << DYNO_COMMAND_ACCUMULATE | 1u << DYNO_COMMAND_FORWARD)
/* The kinds of a step whose stages are submitted separately. */
#define DYNO_COMMANDS_STAGES \
  (1u << DYNO_COMMAND_FORWARD | 1u << DYNO_COMMAND_BACKWARD | 1u << DYNO_COMMAND_OPTIMIZER)

/* The kinds of a step whose gradients are exchanged with other ranks while it runs. */
#define DYNO_COMMANDS_EXCHANGED \
  (1u << DYNO_COMMAND_ACCUMULATE | 1u << DYNO_COMMAND_PIECES | 1u << DYNO_COMMAND_OPTIMIZER)

/* Adds the host memory of a program of n_slots slots: the input and the output of its steps. */
void dyno_program_plan_host (guint n_slots, DynoHostPlan *plan);

/* Compiles missing kernels (progress and cancellable as in dyno_kernel_get_many, may be NULL) and
 * records the kinds of `kinds` (1 << DynoCommandKind; 0: DYNO_COMMANDS_STEP) that the graph has
 * stages for, once per slot.  Lowering and memory outlive the program.  Errors: SHADER, those of
 * dyno_host_buffer_allocate and of recording, SHAPE where a tensor does not fit the memory,
 * G_IO_ERROR_CANCELLED. */
DynoProgram *dyno_program_new (DynoDevice *device, DynoLowering *lowering, DynoMemory *memory,
                               guint kinds, DynoKernelProgress progress, gpointer data,
                               GCancellable *cancellable, GError **error);
void dyno_program_free (DynoProgram *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoProgram, dyno_program_free)

/* The input that the next submit of a slot reads; mapped memory, written by the caller while the
 * slot is not in flight. */
struct DynoStepInput *dyno_program_step_input (DynoProgram *program, guint slot);
/* The output that the last completed submit of a slot wrote. */
const struct DynoStepOutput *dyno_program_step_output (DynoProgram *program, guint slot);

gboolean dyno_program_submit (DynoProgram *program, DynoCommandKind kind, guint slot,
                              const DynoWait *waits, guint n_waits, guint64 *timeline_value,
                              GError **error);

/* The buckets of PIECES (DynoBucket, in the order in which they become final; NULL: PIECES was not
 * recorded), the number of pieces, and the submit of the next piece: 0 begins the step. */
const GArray *dyno_program_get_buckets (DynoProgram *program);
guint dyno_program_get_pieces (DynoProgram *program);
gboolean dyno_program_submit_piece (DynoProgram *program, guint piece, guint slot,
                                    const DynoWait *waits, guint n_waits, guint64 *timeline_value,
                                    GError **error);

/* Device time of forward, backward and optimizer of a slot's last completed step, in microseconds;
 * zeros without timestamps and for stages that were not submitted. */
void dyno_program_read_stages (DynoProgram *program, guint slot, double stage_us[3]);

/* Runs the full command once with a timestamp after every dispatch, serialised, and stores the time
 * of each dispatch in times_us (double, as many as dispatches).  For `bench --kernels` and the
 * autotuner, which repeat it and take medians. */
gboolean dyno_program_profile (DynoProgram *program, guint slot, GArray *times_us, GError **error);

DynoLowering *dyno_program_get_lowering (DynoProgram *program);
DynoMemory *dyno_program_get_memory (DynoProgram *program);
DynoDevice *dyno_program_get_device (DynoProgram *program);

/* The number of barriers in the command list of a kind; and the number in a slot's commands, which
 * is larger by two for each submit and by two for the copies of the step's input and output. */
guint dyno_program_get_barriers (DynoProgram *program, DynoCommandKind kind);
guint dyno_program_get_recorded_barriers (DynoProgram *program, DynoCommandKind kind, guint slot);
/* The number of submits of one step: 1, or more where the driver of a slow card would reset a
 * longer submit, and for PIECES at least one per piece. */
guint dyno_program_get_submits (DynoProgram *program, DynoCommandKind kind);

/* Blocking access to a tensor's bytes (parameters, state, inputs; intermediate values with
 * NO_ALIAS). */
gboolean dyno_program_write_tensor (DynoProgram *program, const DynoTensor *tensor, guint slot,
                                    const void *data, gsize size_bytes, GError **error);
gboolean dyno_program_read_tensor (DynoProgram *program, const DynoTensor *tensor, guint slot,
                                   void *data, gsize size_bytes, GError **error);

/* All parameters at once, in the graph's order and torchvision's layout: values[i] has
 * dyno_parameter_count floats.  space is MASTER (running statistics included; a write fills the
 * fp16 copy too, and the averages), GRADIENT, MOMENT1 or MOMENT2 (states and frozen parameters are
 * left out: their values[i] may be NULL), or AVERAGE (frozen parameters are left out; with its fp16
 * copy).  Blocking; one copy per space. */
gboolean dyno_program_write_parameters (DynoProgram *program, DynoSpace space,
                                        const float *const *values, GError **error);
gboolean dyno_program_read_parameters (DynoProgram *program, DynoSpace space, float *const *values,
                                       GError **error);
/* Undoes the first batches of a step that will not be finished: gradients become zero, and the
 * running statistics return to their values after the last step.  Blocking. */
gboolean dyno_program_abandon_step (DynoProgram *program, GError **error);
/* Mean and deviation of the targets (2 x dyno_network_get_n_scaled floats; deviations > 0) of a
 * network with standard_targets; for all programs on this memory. */
gboolean dyno_program_write_target_scale (DynoProgram *program, const float *scale, GError **error);
/* Weights of the classes in the loss (dyno_network_get_n_weighted floats, finite and >= 0) of a
 * network with class_weights; for all programs on this memory. */
gboolean dyno_program_write_class_weights (DynoProgram *program, const float *weights,
                                           GError **error);
/* Writes the initial values of all parameters, which depend only on (seed, parameter name). */
gboolean dyno_program_initialise (DynoProgram *program, guint64 seed, GError **error);

/* The same in two parts: dyno_start_values_new starts a thread that computes the values from a
 * complete graph, which must outlive them, while the program is built; write_start waits for the
 * thread.  free waits too; for NULL it does nothing. */
typedef struct _DynoStartValues DynoStartValues;
DynoStartValues *dyno_start_values_new (const DynoGraph *graph, guint64 seed);
void dyno_start_values_free (DynoStartValues *start);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoStartValues, dyno_start_values_free)
gboolean dyno_program_write_start (DynoProgram *program, DynoStartValues *start, GError **error);

G_END_DECLS
