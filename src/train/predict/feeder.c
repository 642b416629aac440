/* SPDX-License-Identifier: MIT */
/* The feeder: each slot has page-locked staging and recorded copies from it into the programs'
 * INPUT slots; a batch is copied to, and computed by, the program of the smallest size that holds
 * its samples.
 *
 * Invariants:
 * - Batch n uses slot n modulo DYNO_FEEDER_SLOTS, and is collected before that slot is used again:
 *   so no submission reads the staging of a free slot.
 * - Rows after the samples of a batch hold older samples; the program's n_valid excludes them. */
#include "feeder.h"
#include "checked.h"
#include "predictor-private.h"
#include "stepmemory.h"
#include <string.h>

G_STATIC_ASSERT (DYNO_FEEDER_SLOTS == DYNO_PIPE_SLOTS);

struct _DynoFeeder {
  DynoPredictor *predictor;
  DynoUploadPlan plans[DYNO_PREDICTOR_MOST_BUILDS]; /* the first plan's staging is the largest */
  int input, length; /* indices of the fields; length -1: there is none */
  DynoBuffer *staging[DYNO_FEEDER_SLOTS];
  DynoCommand *copies[DYNO_PREDICTOR_MOST_BUILDS][DYNO_FEEDER_SLOTS];
  guint64 ends[DYNO_FEEDER_SLOTS]; /* timeline values of the batches in flight */
  guint32 n[DYNO_FEEDER_SLOTS];
  guint build[DYNO_FEEDER_SLOTS];
  guint64 submitted, collected;
};

static gboolean
record_copy (DynoFeeder *f, guint build, guint slot, GError **error)
{
  DynoPredictor *p = f->predictor;
  const DynoBatchLayout *layout = &f->plans[build].layout;
  DynoBuffer *input =
      dyno_memory_get_buffer (dyno_build_get_memory (p->builds[build]), DYNO_SPACE_INPUT, slot);
  DynoCommand *copy = dyno_command_new (p->device, DYNO_QUEUE_TRANSFER, error);

  f->copies[build][slot] = copy;
  if (!copy)
    return FALSE;
  for (guint i = 0; i < layout->n_fields; i++)
    {
      const DynoTensor *tensor =
          dyno_network_get_input (dyno_build_get_graph (p->builds[build]), i);
      if (tensor)
        dyno_command_copy (copy, f->staging[slot], layout->offset[i], input, tensor->offset,
                           dyno_align_up (layout->field_bytes[i], 4));
    }
  return dyno_command_end (copy, error);
}

static gboolean
make_slot (DynoFeeder *f, guint slot, GError **error)
{
  f->staging[slot] = dyno_host_buffer_allocate (&f->plans[0].staging, f->predictor->device, error);
  if (!f->staging[slot])
    return FALSE;
  memset (dyno_buffer_get_mapped (f->staging[slot]), 0, f->plans[0].layout.total_bytes);
  for (guint i = 0; i < f->predictor->n_builds; i++)
    if (!record_copy (f, i, slot, error))
      return FALSE;
  return TRUE;
}

void
dyno_feeder_free (DynoFeeder *f)
{
  if (!f)
    return;
  for (; f->collected < f->submitted; f->collected++)
    dyno_queue_wait (f->predictor->device, DYNO_QUEUE_COMPUTE,
                     f->ends[f->collected % DYNO_FEEDER_SLOTS], 0, NULL);
  for (guint slot = 0; slot < DYNO_FEEDER_SLOTS; slot++)
    {
      for (guint i = 0; i < DYNO_PREDICTOR_MOST_BUILDS; i++)
        dyno_command_free (f->copies[i][slot]);
      dyno_buffer_free (f->staging[slot]);
    }
  dyno_predictor_free (f->predictor);
  g_free (f);
}

const DynoWeightsInfo *
dyno_feeder_get_info (DynoFeeder *f)
{
  return f->predictor->info;
}

const char *
dyno_feeder_get_device (DynoFeeder *f)
{
  return dyno_predictor_get_device (f->predictor);
}

const DynoBatchField *
dyno_feeder_get_input (DynoFeeder *f)
{
  return &f->predictor->schema.fields[f->input];
}

guint
dyno_feeder_get_pending (DynoFeeder *f)
{
  return (guint) (f->submitted - f->collected);
}

static void
stage (DynoFeeder *f, guint build, guint slot, gconstpointer const *samples, const gint32 *lengths,
       guint32 n)
{
  const DynoBatchLayout *layout = &f->plans[build].layout;
  guint8 *staging = dyno_buffer_get_mapped (f->staging[slot]);
  gsize size = layout->sample_bytes[f->input];

  for (guint32 i = 0; i < n; i++)
    memcpy (staging + layout->offset[f->input] + i * size, samples[i], size);
  if (f->length >= 0)
    memcpy (staging + layout->offset[f->length], lengths, n * sizeof *lengths);
}

/* After a failure: waits until no submission reads the slot any more. */
static void
settle (DynoFeeder *f, guint slot, guint64 upload)
{
  if (upload)
    dyno_queue_wait (f->predictor->device, DYNO_QUEUE_TRANSFER, upload, 0, NULL);
  if (f->ends[slot])
    dyno_queue_wait (f->predictor->device, DYNO_QUEUE_COMPUTE, f->ends[slot], 0, NULL);
}

gboolean
dyno_feeder_submit (DynoFeeder *f, gconstpointer const *samples, const gint32 *lengths, guint32 n,
                    GError **error)
{
  DynoPredictor *p = f->predictor;
  guint slot = (guint) (f->submitted % DYNO_FEEDER_SLOTS), build = p->n_builds - 1;
  DynoWait upload = { DYNO_QUEUE_TRANSFER, 0 };
  DynoProgram *program;

  g_return_val_if_fail (n > 0 && n <= p->batches[0], FALSE);
  g_return_val_if_fail (dyno_feeder_get_pending (f) < DYNO_FEEDER_SLOTS, FALSE);
  g_return_val_if_fail (f->length < 0 || lengths, FALSE);
  while (p->batches[build] < n)
    build--;
  program = dyno_build_get_program (p->builds[build]);
  stage (f, build, slot, samples, lengths, n);
  *dyno_program_step_input (program, slot) =
      (struct DynoStepInput){ .n_valid = n, .loss_divisor = (float) n };
  if (!dyno_command_submit (f->copies[build][slot], NULL, 0, &upload.timeline_value, error)
      || !dyno_program_submit (program, DYNO_COMMAND_FORWARD, slot, &upload, 1, &f->ends[slot],
                               error)
      || !dyno_readback_submit (p->readbacks[build], slot, &f->ends[slot], error))
    {
      settle (f, slot, upload.timeline_value);
      return FALSE;
    }
  f->n[slot] = n;
  f->build[slot] = build;
  f->submitted++;
  return TRUE;
}

gsize
dyno_feeder_get_output_bytes (DynoFeeder *f)
{
  DynoPredictor *p = f->predictor;

  return p->info->of_pixels ? (gsize) p->width * p->height : p->info->n_outputs * sizeof (float);
}

static void
take_output (DynoFeeder *f, guint slot, guint32 row, guint8 *output)
{
  DynoPredictor *p = f->predictor;
  guint build = f->build[slot];
  gconstpointer from;

  if (p->info->of_pixels)
    from = dyno_readback_get_mask (p->readbacks[build], slot, row);
  else
    {
      dyno_predictor_take_row (p, build, slot, row);
      from = p->info->is_values ? p->logits : p->shares;
    }
  memcpy (output, from, dyno_feeder_get_output_bytes (f));
}

gboolean
dyno_feeder_collect (DynoFeeder *f, gpointer outputs, GError **error)
{
  DynoPredictor *p = f->predictor;
  guint slot = (guint) (f->collected % DYNO_FEEDER_SLOTS);

  g_return_val_if_fail (dyno_feeder_get_pending (f) > 0, FALSE);
  f->collected++;
  if (!dyno_queue_wait (p->device, DYNO_QUEUE_COMPUTE, f->ends[slot], 0, error))
    return FALSE;
  for (guint32 row = 0; row < f->n[slot]; row++)
    take_output (f, slot, row, (guint8 *) outputs + row * dyno_feeder_get_output_bytes (f));
  return TRUE;
}

/* Computes one batch of each build: drivers compile a kernel at its first use, which may take
 * seconds. */
static gboolean
warm (DynoFeeder *f, GError **error)
{
  DynoPredictor *p = f->predictor;
  guint32 batch = p->batches[0];
  g_autofree guint8 *blank = g_malloc0 (f->plans[0].layout.sample_bytes[f->input]);
  g_autofree gconstpointer *samples = g_new (gconstpointer, batch);
  g_autofree gint32 *lengths = g_new (gint32, batch);
  g_autofree guint8 *outputs = g_malloc_n (batch, dyno_feeder_get_output_bytes (f));

  for (guint32 i = 0; i < batch; i++)
    {
      samples[i] = blank;
      lengths[i] = 1;
    }
  for (guint i = 0; i < p->n_builds; i++)
    if (!dyno_feeder_submit (f, samples, f->length >= 0 ? lengths : NULL, p->batches[i], error)
        || !dyno_feeder_collect (f, outputs, error))
      return FALSE;
  return TRUE;
}

DynoFeeder *
dyno_feeder_new (const DynoPredictorParams *params, GPtrArray *notes, GCancellable *cancellable,
                 GError **error)
{
  g_autoptr (DynoFeeder) f = g_new0 (DynoFeeder, 1);
  const DynoBatchSchema *schema;

  f->predictor = dyno_predictor_new (params, NULL, notes, cancellable, error);
  if (!f->predictor)
    return NULL;
  schema = &f->predictor->schema;
  f->input = dyno_schema_find_index (schema, DYNO_FIELD_INPUT);
  f->length = dyno_schema_find_index (schema, DYNO_FIELD_LENGTH);
  for (guint i = 0; i < f->predictor->n_builds; i++)
    if (!dyno_upload_plan_init (&f->plans[i], schema, f->predictor->batches[i], 1,
                                DYNO_FEEDER_SLOTS, FALSE, error))
      return NULL;
  for (guint slot = 0; slot < DYNO_FEEDER_SLOTS; slot++)
    if (!make_slot (f, slot, error))
      return NULL;
  return warm (f, error) ? g_steal_pointer (&f) : NULL;
}
