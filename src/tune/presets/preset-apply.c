/* SPDX-License-Identifier: MIT */
/* Puts a preset's advice into settings: the row of the job's workload, its batch at the job's size
 * and the card's usable memory, without the advice that does not suit the device at hand.
 *
 * Advice for an image size that no row names is scaled by area from the nearest row, within limits
 * of what trains well: a batch chosen only to fill memory is not advice.  The length of a sequence
 * is not the side of an image: its memory grows with its length, and a sequence of as many steps as
 * an image of 224x224 has pixels needs about as much memory as the image.  So its batch is the
 * row's up to that length, and falls in proportion beyond it. */
#include "preset-private.h"
#include "cores.h"
#include <math.h>

#define USUAL_SIZE  224  /* side of images where nothing is known */
#define OTHER_INPUT 1000 /* added to the distance of a row for images from a job with sequences */

/* --- the job ---------------------------------------------------------------------------------- */

/* The larger side of an image, or the number of steps of a sequence. */
static guint32
get_size (const DynoPresetUse *use)
{
  guint32 width = 0, height = 0;

  if (!use->data)
    return USUAL_SIZE;
  if (!use->job || !dyno_job_get_size (use->job, use->data, &width, &height, NULL))
    {
      width = use->data->max_width;
      height = use->data->max_height;
    }
  return MAX (MAX (width, height), 1);
}

static gboolean
is_sequence (const DynoPresetUse *use)
{
  const DynoBatchField *input =
      use->data ? dyno_schema_find_role (&use->data->schema, DYNO_FIELD_INPUT) : NULL;

  return input && (input->n_axes == 2 || input->variable);
}

DynoPresetSubject
dyno_preset_use_get_subject (const DynoPresetUse *use)
{
  DynoPresetSubject subject = { .model = use->job ? use->job->model : NULL };

  if (!use->data)
    return subject;
  subject.data = use->data->kind;
  subject.input = is_sequence (use) ? DYNO_PRESET_INPUT_SEQUENCE : DYNO_PRESET_INPUT_IMAGE;
  subject.task = dyno_schema_count_values (&use->data->schema) > 0 ? DYNO_PRESET_TASK_VALUES
                 : use->data->n_classes > 0                        ? DYNO_PRESET_TASK_CLASSES
                                                                   : DYNO_PRESET_TASK_ANY;
  return subject;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The distance of a row's size from the job's, on a scale on which a factor of e is 1. */
static double
get_distance (const DynoPresetRow *row, const DynoPresetUse *use)
{
  double size = is_sequence (use) ? USUAL_SIZE : get_size (use);

  if (is_sequence (use) && row->workload.input == DYNO_PRESET_INPUT_SEQUENCE)
    return 0;
  if (row->image_size == 0)
    return 100;
  return (is_sequence (use) ? OTHER_INPUT : 0) + fabs (log ((double) row->image_size / size));
}

const DynoPresetRow *
dyno_preset_find_row (const DynoPreset *preset, const DynoPresetUse *use)
{
  DynoPresetSubject subject = dyno_preset_use_get_subject (use);
  const DynoPresetRow *best = NULL;
  double best_distance = 0;
  int best_fit = 0;

  for (guint i = 0; i < preset->n_rows; i++)
    {
      const DynoPresetRow *row = &preset->rows[i];
      int fit = dyno_preset_workload_fits (&row->workload, &subject);
      double distance = get_distance (row, use);

      if (fit < 0 || (best && (fit < best_fit || (fit == best_fit && distance >= best_distance))))
        continue;
      best = row;
      best_fit = fit;
      best_distance = distance;
    }
  return best;
}

static guint32
get_batch (const DynoPresetRow *row, DynoLevel level)
{
  return level == DYNO_LEVEL_SAFE  ? row->batch_safe
         : level == DYNO_LEVEL_MAX ? row->batch_max
                                   : row->batch_recommended;
}

static guint32
round_batch (double batch)
{
  return (guint32) MAX (1, batch >= 16 ? floor (batch / 8) * 8 : batch);
}

static guint32
scale_images (guint32 batch, const DynoPresetRow *row, guint32 size, DynoLevel level)
{
  guint32 most = level == DYNO_LEVEL_SAFE ? 128 : level == DYNO_LEVEL_MAX ? 512 : 256;
  double ratio = row->image_size ? (double) row->image_size / (double) size : 1;
  double scaled = batch * ratio * ratio;

  if (ratio > 0.8 && ratio < 1.25)
    return batch;
  return round_batch (ratio > 1 ? MIN (scaled, MAX (most, batch)) : scaled);
}

static guint32
scale_sequences (guint32 batch, const DynoPresetRow *row, guint32 steps)
{
  double side = row->image_size ? row->image_size : USUAL_SIZE;
  double ratio = side * side / steps;

  return ratio < 1 ? round_batch (batch * ratio) : batch;
}

guint32
dyno_preset_scale_batch (const DynoPresetRow *row, const DynoPresetUse *use)
{
  guint32 batch = get_batch (row, use->level), size = get_size (use);

  return is_sequence (use) ? scale_sequences (batch, row, size)
                           : scale_images (batch, row, size, use->level);
}

guint32
dyno_preset_get_workers (const DynoPreset *preset, DynoLevel level)
{
  return level == DYNO_LEVEL_SAFE ? preset->workers_min : preset->workers_max;
}

void
dyno_preset_apply (const DynoPreset *preset, const DynoPresetUse *use, DynoSettings *settings)
{
  const DynoPresetRow *row = dyno_preset_find_row (preset, use);
  gboolean own = preset->this_gpu || (use->device && dyno_preset_is_device (preset, use->device));

  if (row)
    settings->batch_size = dyno_preset_scale_batch (row, use);
  settings->workers = MIN (dyno_preset_get_workers (preset, use->level), dyno_cores_count ());
  settings->prefetch = preset->prefetch;
  settings->amp = preset->amp && !dyno_preset_refuse_amp (use->device);
  settings->pinned = preset->pinned;
  settings->persistent_workers = preset->persistent_workers;
  settings->vram_budget = own ? 0 : (gint64) preset->usable_bytes;
}
