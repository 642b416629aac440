/* SPDX-License-Identifier: MIT */
/* Programs: command lists recorded into commands, once per kind and slot.
 *
 * Invariants:
 * - Kinds that have the same stages on this graph share one recording (an evaluation graph has only
 *   one).
 * - The host writes a slot's step input and reads its output only while that slot is not in flight;
 *   no submit waits.
 * - Nothing is allocated, compiled or recorded after dyno_program_new, except for a slot's first
 *   profile. */
#include "memory-private.h"
#include "checked.h"
#include "command-list.h"
#include "graph-private.h"
#include "lowering-private.h"
#include <string.h>

/* Slots of mapped memory lie this far apart, so that they never share a cache line of host or
 * device. */
#define HOST_STRIDE 256
G_STATIC_ASSERT (sizeof (struct DynoStepInput) <= HOST_STRIDE
                 && sizeof (struct DynoStepOutput) <= HOST_STRIDE);

typedef struct {
  GArray *list;                               /* DynoCommandListItem */
  GPtrArray *commands[DYNO_MEMORY_MAX_SLOTS]; /* DynoCommand*, submitted in order */
  DynoTimer *timers[DYNO_MEMORY_MAX_SLOTS];
  GArray *pieces; /* guint: for each piece, the command after its last one */
} Recording;

struct _DynoProgram {
  DynoDevice *device;
  DynoLowering *lowering;
  DynoMemory *memory;
  DynoKernel **kernels; /* of each dispatch */
  DynoBuffer *step_in, *step_out;
  Recording recordings[DYNO_COMMAND_N]; /* a shared recording is at the index of its first kind */
  int kinds[DYNO_COMMAND_N]; /* kind -> index in recordings; -1: the graph lacks its stages */
  /* index of the recording with a stage of the slot's last step; -1: the stage was not submitted */
  int last_kinds[DYNO_MEMORY_MAX_SLOTS][DYNO_N_STAGES];
  GArray *buckets; /* of PIECES; NULL: not recorded */
  DynoCommand *profile[DYNO_MEMORY_MAX_SLOTS];
  DynoTimer *profile_timer;
};

static const guint stage_masks[DYNO_COMMAND_N] = {
  [DYNO_COMMAND_FULL] =
      1u << DYNO_STAGE_FORWARD | 1u << DYNO_STAGE_BACKWARD | 1u << DYNO_STAGE_OPTIMIZER,
  [DYNO_COMMAND_ACCUMULATE] = 1u << DYNO_STAGE_FORWARD | 1u << DYNO_STAGE_BACKWARD,
  [DYNO_COMMAND_FORWARD] = 1u << DYNO_STAGE_FORWARD,
  [DYNO_COMMAND_BACKWARD] = 1u << DYNO_STAGE_BACKWARD,
  [DYNO_COMMAND_OPTIMIZER] = 1u << DYNO_STAGE_OPTIMIZER,
  [DYNO_COMMAND_PIECES] = 1u << DYNO_STAGE_FORWARD | 1u << DYNO_STAGE_BACKWARD,
};

static GPtrArray *
get_dispatches (DynoProgram *program)
{
  return program->lowering->dispatches;
}

static gboolean
fetch_kernels (DynoProgram *program, DynoKernelProgress progress, gpointer data,
               GCancellable *cancellable, GError **error)
{
  GPtrArray *dispatches = get_dispatches (program);
  program->kernels = g_new0 (DynoKernel *, dispatches->len + 1);
  g_autofree guint *places = g_new (guint, dispatches->len + 1);
  g_autoptr (GPtrArray) specs = g_ptr_array_new ();
  g_autoptr (GHashTable) known = g_hash_table_new (dyno_kernel_spec_hash, dyno_kernel_spec_equal);
  for (guint i = 0; i < dispatches->len; i++)
    {
      DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      gpointer place;
      if (!g_hash_table_lookup_extended (known, &dispatch->spec, NULL, &place))
        {
          place = GUINT_TO_POINTER (specs->len);
          g_hash_table_insert (known, &dispatch->spec, place);
          g_ptr_array_add (specs, &dispatch->spec);
        }
      places[i] = GPOINTER_TO_UINT (place);
    }
  if (specs->len == 0)
    return TRUE;
  g_autofree DynoKernel **kernels = g_new0 (DynoKernel *, specs->len);
  if (!dyno_kernel_get_many (program->device, (const DynoKernelSpec *const *) specs->pdata,
                             specs->len, kernels, progress, data, cancellable, error))
    return FALSE;
  for (guint i = 0; i < dispatches->len; i++)
    program->kernels[i] = kernels[places[i]];
  return TRUE;
}

static void
record_dispatch (DynoProgram *program, DynoCommand *command, guint index, guint slot)
{
  const DynoDispatch *dispatch = g_ptr_array_index (get_dispatches (program), index);
  guint8 push[DYNO_PUSH_MAX_BYTES];
  memcpy (push, dispatch->push, sizeof push);
  for (guint b = 0; b < dispatch->n_bindings; b++)
    {
      const DynoBinding *binding = &dispatch->bindings[b];
      if (binding->push_offset == G_MAXUINT16)
        continue;
      guint64 offset;
      DynoBuffer *buffer = dyno_memory_locate (program->memory, binding->tensor, slot, &offset);
      guint64 address = dyno_buffer_get_address (buffer) + offset + binding->byte_offset;
      memcpy (push + binding->push_offset, &address, sizeof address);
    }
  dyno_command_dispatch (command, program->kernels[index], push, dispatch->groups[0],
                         dispatch->groups[1], dispatch->groups[2]);
}

/* begins: TRUE for the first command of a step. */
static void
record_head (DynoProgram *program, DynoCommand *command, guint slot, gboolean begins)
{
  DynoBuffer *input = dyno_memory_get_buffer (program->memory, DYNO_SPACE_STEP_IN, slot);
  DynoBuffer *output = dyno_memory_get_buffer (program->memory, DYNO_SPACE_STEP_OUT, slot);
  if (input)
    dyno_command_copy (command, program->step_in, slot * HOST_STRIDE, input, 0,
                       sizeof (struct DynoStepInput));
  if (output && begins)
    dyno_command_fill (command, output, 0, sizeof (struct DynoStepOutput), 0);
  dyno_command_barrier (command);
}

static gboolean
begins_step (int kind)
{
  return (stage_masks[kind] & (1u << DYNO_STAGE_FORWARD)) != 0;
}

static void
record_tail (DynoProgram *program, DynoCommand *command, guint slot)
{
  DynoBuffer *output = dyno_memory_get_buffer (program->memory, DYNO_SPACE_STEP_OUT, slot);
  dyno_command_barrier (command);
  if (output)
    dyno_command_copy (command, output, 0, program->step_out, slot * HOST_STRIDE,
                       sizeof (struct DynoStepOutput));
}

static gboolean
record_list (DynoProgram *program, Recording *recording, gboolean begins, guint slot,
             GError **error)
{
  GPtrArray *commands = recording->commands[slot] =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_command_free);
  recording->timers[slot] = dyno_timer_new (program->device, DYNO_COMMAND_LIST_TIMESTAMPS, error);
  DynoCommand *command = dyno_command_new (program->device, DYNO_QUEUE_COMPUTE, error);
  if (!recording->timers[slot] || !command)
    {
      dyno_command_free (command);
      return FALSE;
    }
  g_ptr_array_add (commands, command);
  record_head (program, command, slot, begins);
  for (guint i = 0; i < recording->list->len; i++)
    {
      DynoCommandListItem item = g_array_index (recording->list, DynoCommandListItem, i);
      switch (item.kind)
        {
        case DYNO_COMMAND_LIST_DISPATCH:
          record_dispatch (program, command, item.index, slot);
          break;
        case DYNO_COMMAND_LIST_BARRIER:
          dyno_command_barrier (command);
          break;
        case DYNO_COMMAND_LIST_TIMESTAMP:
          dyno_command_timestamp (command, recording->timers[slot], item.index);
          break;
        case DYNO_COMMAND_LIST_SUBMIT_SPLIT:
          if (!dyno_command_end (command, error))
            return FALSE;
          command = dyno_command_new (program->device, DYNO_QUEUE_COMPUTE, error);
          if (!command)
            return FALSE;
          g_ptr_array_add (commands, command);
          break;
        }
    }
  record_tail (program, command, slot);
  return dyno_command_end (command, error);
}

static gboolean
hazards_wanted (void)
{
#ifndef NDEBUG
  return TRUE;
#else
  return g_strcmp0 (g_getenv ("DYNO_HAZARDS"), "1") == 0;
#endif
}

static guint
present_stages (GPtrArray *dispatches)
{
  guint mask = 0;
  for (guint i = 0; i < dispatches->len; i++)
    mask |= 1u << ((const DynoDispatch *) g_ptr_array_index (dispatches, i))->stage;
  return mask;
}

/* For each piece, the index of the command after its last one. */
static GArray *
count_pieces (GArray *list)
{
  GArray *pieces = g_array_new (FALSE, FALSE, sizeof (guint));
  guint commands = 1;
  for (guint i = 0; i < list->len; i++)
    {
      DynoCommandListItem item = g_array_index (list, DynoCommandListItem, i);
      if (item.kind != DYNO_COMMAND_LIST_SUBMIT_SPLIT)
        continue;
      if (item.index == 1)
        g_array_append_val (pieces, commands);
      commands++;
    }
  g_array_append_val (pieces, commands);
  return pieces;
}

/* Records a kind that does not share the commands of another kind. */
static gboolean
record_kind (DynoProgram *program, int kind, const GArray *ends, GError **error)
{
  GPtrArray *dispatches = get_dispatches (program);
  Recording *recording = &program->recordings[kind];
  g_autofree char *conflict = NULL;
  recording->list =
      dyno_command_list_new (dispatches, stage_masks[kind], ends, &program->lowering->info);
  recording->pieces = count_pieces (recording->list);
  if (hazards_wanted () && !dyno_command_list_check (recording->list, dispatches, &conflict))
    {
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_UNSUPPORTED,
                   "A barrier is missing in the command list: %s; report this", conflict);
      return FALSE;
    }
  for (guint slot = 0; slot < program->memory->n_slots; slot++)
    if (!record_list (program, recording, begins_step (kind), slot, error))
      return FALSE;
  return TRUE;
}

static gboolean
record_kinds (DynoProgram *program, guint kinds, GError **error)
{
  guint present = present_stages (get_dispatches (program));
  g_autoptr (GArray) ends = NULL;
  if (kinds & (1u << DYNO_COMMAND_PIECES))
    program->buckets =
        dyno_buckets_find (program->lowering, program->lowering->bucket_bytes, &ends);
  for (int kind = 0; kind < DYNO_COMMAND_N; kind++)
    {
      program->kinds[kind] = -1;
      if (!(kinds & (1u << kind)) || !(stage_masks[kind] & present))
        continue;
      gboolean cut = kind == DYNO_COMMAND_PIECES && ends->len > 1;
      for (int other = 0; other < kind && !cut; other++)
        if ((stage_masks[other] & present) == (stage_masks[kind] & present))
          program->kinds[kind] = program->kinds[other];
      if (program->kinds[kind] >= 0)
        continue;
      program->kinds[kind] = kind;
      if (!record_kind (program, kind, cut ? ends : NULL, error))
        return FALSE;
    }
  return TRUE;
}

/* Checks that every space that a dispatch touches has enough memory: the memory's plan may belong
 * to another graph. */
static gboolean
check_memory (DynoProgram *program, GError **error)
{
  GPtrArray *dispatches = get_dispatches (program);
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        {
          const DynoTensor *tensor = dispatch->bindings[b].tensor;
          guint64 offset;
          if (dyno_memory_locate (program->memory, tensor, 0, &offset))
            continue;
          g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                       "%s does not fit the memory that it was given; plan the graph, merge the "
                       "plans, then allocate",
                       tensor->name);
          return FALSE;
        }
    }
  return TRUE;
}

/* Writes the factors on the learning rate, which stay the same for the life of the graph.  A
 * program whose memory was planned without the optimizer has no place for them, and does not read
 * them. */
static gboolean
write_rates (DynoProgram *program, GError **error)
{
  const DynoGraph *graph = dyno_lowering_get_graph (program->lowering);
  guint64 offset;

  return !graph->rates || !dyno_memory_locate (program->memory, graph->rates, 0, &offset)
         || dyno_program_write_tensor (program, graph->rates, 0, graph->rate_ranges->data,
                                       graph->rates->size_bytes, error);
}

static gboolean
write_constants (DynoProgram *program, GError **error)
{
  const GByteArray *constants = dyno_lowering_get_graph (program->lowering)->constants;
  DynoBuffer *buffer = dyno_memory_get_buffer (program->memory, DYNO_SPACE_CONSTANT, 0);

  return constants->len == 0
         || dyno_buffer_write (buffer, 0, constants->data, constants->len, error);
}

static DynoHostBuffer
host_buffer (DynoHostKind kind, guint n_slots)
{
  return dyno_host_buffer (kind == DYNO_HOST_UPLOAD ? "step input" : "step output", kind, 1,
                           (guint64) n_slots * HOST_STRIDE);
}

void
dyno_program_plan_host (guint n_slots, DynoHostPlan *plan)
{
  DynoHostBuffer input = host_buffer (DYNO_HOST_UPLOAD, n_slots),
                 output = host_buffer (DYNO_HOST_READBACK, n_slots);

  dyno_host_plan_add (plan, &input);
  dyno_host_plan_add (plan, &output);
}

/* A zeroed buffer; NULL with an error. */
static DynoBuffer *
make_host_buffer (DynoProgram *program, DynoHostKind kind, GError **error)
{
  DynoHostBuffer planned = host_buffer (kind, program->memory->n_slots);
  DynoBuffer *buffer = dyno_host_buffer_allocate (&planned, program->device, error);

  if (buffer)
    memset (dyno_buffer_get_mapped (buffer), 0, planned.size_bytes);
  return buffer;
}

DynoProgram *
dyno_program_new (DynoDevice *device, DynoLowering *lowering, DynoMemory *memory, guint kinds,
                  DynoKernelProgress progress, gpointer data, GCancellable *cancellable,
                  GError **error)
{
  g_autoptr (DynoProgram) program = g_new0 (DynoProgram, 1);
  program->device = dyno_device_ref (device);
  program->lowering = lowering;
  program->memory = memory;
  for (guint slot = 0; slot < DYNO_MEMORY_MAX_SLOTS; slot++)
    for (guint stage = 0; stage < DYNO_N_STAGES; stage++)
      program->last_kinds[slot][stage] = -1;
  program->step_in = make_host_buffer (program, DYNO_HOST_UPLOAD, error);
  if (!program->step_in)
    return NULL;
  program->step_out = make_host_buffer (program, DYNO_HOST_READBACK, error);
  if (!program->step_out)
    return NULL;
  if (!check_memory (program, error) || !write_rates (program, error)
      || !write_constants (program, error)
      || !fetch_kernels (program, progress, data, cancellable, error)
      || !record_kinds (program, kinds ? kinds : DYNO_COMMANDS_STEP, error))
    return NULL;
  return g_steal_pointer (&program);
}

void
dyno_program_free (DynoProgram *program)
{
  if (!program)
    return;
  for (guint kind = 0; kind < DYNO_COMMAND_N; kind++)
    {
      Recording *recording = &program->recordings[kind];
      g_clear_pointer (&recording->list, g_array_unref);
      g_clear_pointer (&recording->pieces, g_array_unref);
      for (guint slot = 0; slot < DYNO_MEMORY_MAX_SLOTS; slot++)
        {
          g_clear_pointer (&recording->commands[slot], g_ptr_array_unref);
          dyno_timer_free (recording->timers[slot]);
        }
    }
  for (guint slot = 0; slot < DYNO_MEMORY_MAX_SLOTS; slot++)
    dyno_command_free (program->profile[slot]);
  dyno_timer_free (program->profile_timer);
  g_clear_pointer (&program->buckets, g_array_unref);
  dyno_buffer_free (program->step_in);
  dyno_buffer_free (program->step_out);
  g_free (program->kernels);
  dyno_device_unref (program->device);
  g_free (program);
}

DynoLowering *
dyno_program_get_lowering (DynoProgram *program)
{
  return program->lowering;
}

DynoMemory *
dyno_program_get_memory (DynoProgram *program)
{
  return program->memory;
}

DynoDevice *
dyno_program_get_device (DynoProgram *program)
{
  return program->device;
}

struct DynoStepInput *
dyno_program_step_input (DynoProgram *program, guint slot)
{
  g_return_val_if_fail (slot < program->memory->n_slots, NULL);
  return (struct DynoStepInput *) (void *) ((guint8 *) dyno_buffer_get_mapped (program->step_in)
                                            + slot * HOST_STRIDE);
}

const struct DynoStepOutput *
dyno_program_step_output (DynoProgram *program, guint slot)
{
  g_return_val_if_fail (slot < program->memory->n_slots, NULL);
  return (struct DynoStepOutput *) (void *) ((guint8 *) dyno_buffer_get_mapped (program->step_out)
                                             + slot * HOST_STRIDE);
}

static const Recording *
get_recording (DynoProgram *program, DynoCommandKind kind)
{
  g_return_val_if_fail (kind < DYNO_COMMAND_N && program->kinds[kind] >= 0, NULL);
  return &program->recordings[program->kinds[kind]];
}

/* Records that the slot's step now has the stages of this kind. */
static void
note_submit (DynoProgram *program, DynoCommandKind kind, guint slot)
{
  for (int stage = 0; stage < DYNO_N_STAGES; stage++)
    if (stage_masks[kind] & (1u << stage))
      program->last_kinds[slot][stage] = program->kinds[kind];
    else if (begins_step ((int) kind))
      program->last_kinds[slot][stage] = -1;
}

/* Submits the commands [first, end) of a recording. */
static gboolean
submit_commands (const Recording *recording, guint slot, guint first, guint end,
                 const DynoWait *waits, guint n_waits, guint64 *timeline_value, GError **error)
{
  GPtrArray *commands = recording->commands[slot];
  for (guint i = first; i < end; i++)
    if (!dyno_command_submit (g_ptr_array_index (commands, i), i == first ? waits : NULL,
                              i == first ? n_waits : 0, timeline_value, error))
      return FALSE;
  return TRUE;
}

/* Completes the step's input with a draw of the graph's mix. */
static void
draw_mix (DynoProgram *program, guint slot)
{
  const DynoMix *mix = dyno_graph_get_mix (dyno_lowering_get_graph (program->lowering));

  if (dyno_mix_is_on (mix))
    dyno_mix_draw (mix, dyno_program_step_input (program, slot));
}

gboolean
dyno_program_submit (DynoProgram *program, DynoCommandKind kind, guint slot, const DynoWait *waits,
                     guint n_waits, guint64 *timeline_value, GError **error)
{
  const Recording *recording = get_recording (program, kind);
  g_return_val_if_fail (recording && slot < program->memory->n_slots, FALSE);
  draw_mix (program, slot);
  if (!submit_commands (recording, slot, 0, recording->commands[slot]->len, waits, n_waits,
                        timeline_value, error))
    return FALSE;
  note_submit (program, kind, slot);
  return TRUE;
}

const GArray *
dyno_program_get_buckets (DynoProgram *program)
{
  return program->buckets;
}

guint
dyno_program_get_pieces (DynoProgram *program)
{
  const Recording *recording = get_recording (program, DYNO_COMMAND_PIECES);
  return recording ? recording->pieces->len : 0;
}

gboolean
dyno_program_submit_piece (DynoProgram *program, guint piece, guint slot, const DynoWait *waits,
                           guint n_waits, guint64 *timeline_value, GError **error)
{
  const Recording *recording = get_recording (program, DYNO_COMMAND_PIECES);
  g_return_val_if_fail (
      recording && slot < program->memory->n_slots && piece < recording->pieces->len, FALSE);
  const guint *ends = &g_array_index (recording->pieces, guint, 0);
  if (piece == 0)
    draw_mix (program, slot);
  if (!submit_commands (recording, slot, piece > 0 ? ends[piece - 1] : 0, ends[piece], waits,
                        n_waits, timeline_value, error))
    return FALSE;
  note_submit (program, DYNO_COMMAND_PIECES, slot);
  return TRUE;
}

void
dyno_program_read_stages (DynoProgram *program, guint slot, double stage_us[3])
{
  double timestamps[DYNO_COMMAND_LIST_TIMESTAMPS];
  int known = -1; /* the recording whose timestamps were read last */
  memset (stage_us, 0, DYNO_N_STAGES * sizeof (double));
  g_return_if_fail (slot < program->memory->n_slots);
  for (guint i = 0; i < DYNO_N_STAGES; i++)
    {
      int kind = program->last_kinds[slot][i];
      if (kind >= 0 && kind != known
          && dyno_timer_read (program->recordings[kind].timers[slot], timestamps,
                              DYNO_COMMAND_LIST_TIMESTAMPS, NULL))
        known = kind;
      if (kind >= 0 && kind == known)
        stage_us[i] = timestamps[i + 1] - timestamps[i];
    }
}

static guint
count_items (DynoProgram *program, DynoCommandKind kind, DynoCommandListKind item_kind)
{
  const Recording *recording = get_recording (program, kind);
  guint count = 0;
  for (guint i = 0; recording && i < recording->list->len; i++)
    count += g_array_index (recording->list, DynoCommandListItem, i).kind == item_kind;
  return count;
}

guint
dyno_program_get_barriers (DynoProgram *program, DynoCommandKind kind)
{
  return count_items (program, kind, DYNO_COMMAND_LIST_BARRIER);
}

guint
dyno_program_get_recorded_barriers (DynoProgram *program, DynoCommandKind kind, guint slot)
{
  const Recording *recording = get_recording (program, kind);
  guint count = 0;
  g_return_val_if_fail (slot < program->memory->n_slots, 0);
  for (guint i = 0; recording && i < recording->commands[slot]->len; i++)
    count += dyno_command_get_barriers (g_ptr_array_index (recording->commands[slot], i));
  return count;
}

guint
dyno_program_get_submits (DynoProgram *program, DynoCommandKind kind)
{
  return count_items (program, kind, DYNO_COMMAND_LIST_SUBMIT_SPLIT) + 1;
}

/* Profile -------------------------------------------------------------------------------------- */

static gboolean
record_profile (DynoProgram *program, guint slot, GError **error)
{
  guint n = get_dispatches (program)->len;
  if (!program->profile_timer)
    program->profile_timer = dyno_timer_new (program->device, n + 1, error);
  if (!program->profile_timer)
    return FALSE;
  g_autoptr (DynoCommand) command = dyno_command_new (program->device, DYNO_QUEUE_COMPUTE, error);
  if (!command)
    return FALSE;
  record_head (program, command, slot, TRUE);
  dyno_command_timestamp (command, program->profile_timer, 0);
  for (guint i = 0; i < n; i++)
    {
      record_dispatch (program, command, i, slot);
      dyno_command_barrier (command);
      dyno_command_timestamp (command, program->profile_timer, i + 1);
    }
  record_tail (program, command, slot);
  if (!dyno_command_end (command, error))
    return FALSE;
  program->profile[slot] = g_steal_pointer (&command);
  return TRUE;
}

gboolean
dyno_program_profile (DynoProgram *program, guint slot, GArray *times_us, GError **error)
{
  g_return_val_if_fail (slot < program->memory->n_slots
                            && g_array_get_element_size (times_us) == sizeof (double),
                        FALSE);
  guint n = get_dispatches (program)->len;
  g_array_set_size (times_us, n);
  guint64 timeline_value;
  if ((!program->profile[slot] && !record_profile (program, slot, error))
      || !dyno_command_submit (program->profile[slot], NULL, 0, &timeline_value, error)
      || !dyno_queue_wait (program->device, DYNO_QUEUE_COMPUTE, timeline_value, 0, error))
    return FALSE;
  g_autofree double *timestamps = g_new (double, n + 1);
  if (!dyno_timer_read (program->profile_timer, timestamps, n + 1, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    g_array_index (times_us, double, i) = timestamps[i + 1] - timestamps[i];
  return TRUE;
}

/* Tensors -------------------------------------------------------------------------------------- */

static DynoBuffer *
tensor_buffer (DynoProgram *program, const DynoTensor *tensor, guint slot, gsize size_bytes,
               guint64 *offset, GError **error)
{
  DynoBuffer *buffer = dyno_memory_locate (program->memory, tensor, slot, offset);
  if (buffer && size_bytes <= tensor->size_bytes)
    return buffer;
  g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
               "%s has no %" G_GSIZE_FORMAT " bytes in this program", tensor->name, size_bytes);
  return NULL;
}

gboolean
dyno_program_write_tensor (DynoProgram *program, const DynoTensor *tensor, guint slot,
                           const void *data, gsize size_bytes, GError **error)
{
  guint64 offset;
  DynoBuffer *buffer = tensor_buffer (program, tensor, slot, size_bytes, &offset, error);
  return buffer && dyno_buffer_write (buffer, offset, data, size_bytes, error);
}

gboolean
dyno_program_read_tensor (DynoProgram *program, const DynoTensor *tensor, guint slot, void *data,
                          gsize size_bytes, GError **error)
{
  guint64 offset;
  DynoBuffer *buffer = tensor_buffer (program, tensor, slot, size_bytes, &offset, error);
  return buffer && dyno_buffer_read (buffer, offset, data, size_bytes, error);
}
