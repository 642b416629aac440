/* SPDX-License-Identifier: MIT */
/* The loader makes one batch of the samples, and only the prepare kernels run: the pictures show
 * what a run's first layer reads. */
#include "samplepreview.h"
#include "augment.h"
#include "build.h"
#include "ops.h"

typedef struct {
  DynoNetworkParams network;
  DynoLoader *loader;
  DynoGraph *graph;
  DynoBuild *build;
  DynoTensor *raw, *seeds, *x;
  DynoTensor *raw_masks, *masks; /* NULL: the samples have none */
} Work;

static void
work_clear (Work *w)
{
  dyno_build_free (w->build);
  dyno_graph_free (w->graph);
  dyno_loader_free (w->loader);
}

static gboolean
make_loader (Work *w, const DynoJob *job, DynoDataset *dataset, const GArray *indices,
             GError **error)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  DynoLoaderParams params;
  const DynoBatchField *input;

  if (!dyno_job_get_network (job, info, DYNO_MODE_TRAIN, &w->network, error)
      || !dyno_job_get_loader_params (job, info, FALSE, &params, error))
    return FALSE;
  input = dyno_schema_find_role (&w->network.schema, DYNO_FIELD_INPUT);
  if (input->n_axes != 3 || w->network.schema.generated)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   "“%s” holds no images; a preview is made of images", info->name);
      return FALSE;
    }
  params.batch = indices->len;
  params.workers = 0;
  params.crop = dyno_augment_get_source_crop (job, info);
  params.cache = FALSE;
  params.drop_last = FALSE;
  w->loader = dyno_loader_new (dataset, indices, &params, error);
  return w->loader != NULL;
}

static DynoTensor *
add_masks (Work *w, guint32 batch)
{
  const DynoBatchField *field = dyno_schema_find_mask (&w->network.schema);

  return field ? dyno_graph_tensor (w->graph, field->name, DYNO_DTYPE_U8, DYNO_SPACE_INPUT, batch,
                                    field->shape[0], field->shape[1], 1, 1)
               : NULL;
}

static DynoTensor *
add_field (Work *w, DynoFieldRole role, DynoDtype dtype, guint32 batch)
{
  const DynoBatchField *field = dyno_schema_find_role (&w->network.schema, role);
  guint32 height, width, channels;

  if (!field)
    return NULL;
  dyno_field_get_image (field, &height, &width, &channels);
  return dyno_graph_tensor (w->graph, field->name, dtype, DYNO_SPACE_INPUT, batch, height, width,
                            channels, channels);
}

static gboolean
make_program (Work *w, DynoDevice *device, guint32 batch, GCancellable *cancellable, GError **error)
{
  const DynoBatchField *input = dyno_schema_find_role (&w->network.schema, DYNO_FIELD_INPUT);
  const DynoGraphParams graph_params = { .batch = batch, .training = TRUE };
  const DynoBuildParams params = { .info = dyno_device_get_info (device) };

  w->graph = dyno_graph_new (&graph_params);
  w->raw = add_field (w, DYNO_FIELD_INPUT,
                      input->element == DYNO_ELEMENT_U8 ? DYNO_DTYPE_U8 : DYNO_DTYPE_F32, batch);
  w->seeds = add_field (w, DYNO_FIELD_SEED, DYNO_DTYPE_I32, batch);
  w->x = dyno_prepare (w->graph, w->raw, w->seeds, input, &w->network.augmentation);
  if (w->x)
    w->x->keep = TRUE;
  w->raw_masks = add_masks (w, batch);
  if (w->raw_masks)
    w->masks = dyno_prepare_mask (w->graph, w->raw_masks, w->seeds, input->shape[2],
                                  &w->network.augmentation);
  if (w->masks)
    w->masks->keep = TRUE;
  if (!dyno_graph_check (w->graph, error))
    return FALSE;
  w->build = dyno_build_new_graph (w->graph);
  return dyno_build_plan (w->build, &params, error)
         && dyno_build_allocate (device, &w->build, 1, error)
         && dyno_build_record (w->build, device, 1u << DYNO_COMMAND_FORWARD, cancellable, error);
}

static gboolean
write_field (Work *w, const DynoBatch *batch, DynoFieldRole role, DynoTensor *tensor,
             GError **error)
{
  int i = dyno_schema_find_index (dyno_loader_get_schema (w->loader), role);

  return !tensor || i < 0
         || dyno_program_write_tensor (dyno_build_get_program (w->build), tensor, 0,
                                       batch->fields[i], tensor->size_bytes, error);
}

/* A batch as prepared by the device. */
typedef struct {
  float *values; /* (N, H, W, C padded) */
  gint32 *ids;   /* (N, H, W): classes of pixels; NULL: the samples have no masks */
} Made;

static void
made_clear (Made *made)
{
  g_free (made->values);
  g_free (made->ids);
}

static gboolean
write_batch (Work *w, const DynoBatch *batch, GError **error)
{
  return write_field (w, batch, DYNO_FIELD_INPUT, w->raw, error)
         && write_field (w, batch, DYNO_FIELD_SEED, w->seeds, error)
         && write_field (w, batch, DYNO_FIELD_TARGET, w->raw_masks, error);
}

static gboolean
run (Work *w, DynoDevice *device, guint64 epoch, Made *made, GCancellable *cancellable,
     GError **error)
{
  DynoProgram *program = dyno_build_get_program (w->build);
  guint64 timeline_value;
  DynoBatch *batch;
  gboolean known, ok;

  dyno_loader_start_epoch (w->loader, epoch, 0);
  batch = dyno_loader_next (w->loader, NULL, cancellable, error);
  if (!batch)
    return FALSE;
  made->values = g_try_malloc (w->x->size_bytes);
  made->ids = w->masks ? g_try_malloc (w->masks->size_bytes) : NULL;
  *dyno_program_step_input (program, 0) = (struct DynoStepInput){ .n_valid = batch->n_valid };
  known = made->values && (made->ids || !w->masks);
  ok = known && write_batch (w, batch, error);
  dyno_loader_release (w->loader, batch);
  if (!known)
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                 "No memory for a preview of %u samples; take fewer", w->x->n);
  return ok
         && dyno_program_submit (program, DYNO_COMMAND_FORWARD, 0, NULL, 0, &timeline_value, error)
         && dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, timeline_value, 0, error)
         && dyno_program_read_tensor (program, w->x, 0, made->values, w->x->size_bytes, error)
         && (!w->masks
             || dyno_program_read_tensor (program, w->masks, 0, made->ids, w->masks->size_bytes,
                                          error));
}

/* Converts one value to a byte, with the normalisation undone. */
static guint8
to_byte (const DynoBatchField *field, float value, guint c)
{
  const DynoNormalisation *n = &field->normalisation;
  double v = (double) value;

  if (n->standardise)
    v = v * (double) n->deviation[MIN (c, 3)] + (double) n->mean[MIN (c, 3)];
  if (n->scale_255 || field->element != DYNO_ELEMENT_U8)
    v *= 255;
  return (guint8) (CLAMP (v, 0, 255) + 0.5);
}

static DynoPreview *
draw (const Work *w, const Made *made)
{
  const DynoBatchField *input = dyno_schema_find_role (&w->network.schema, DYNO_FIELD_INPUT);
  gsize pixels = (gsize) w->x->n * w->x->h * w->x->w;
  DynoPreview *preview = g_new (DynoPreview, 1);

  *preview = (DynoPreview){ .n = w->x->n, .width = w->x->w, .height = w->x->h };
  preview->pixels = g_malloc (pixels * 3);
  for (gsize i = 0; i < pixels; i++)
    for (guint k = 0; k < 3; k++)
      {
        guint c = w->x->c >= 3 ? k : 0;
        preview->pixels[i * 3 + k] = to_byte (input, made->values[i * w->x->cp + c], c);
      }
  preview->masks = made->ids ? g_malloc (pixels) : NULL;
  for (gsize i = 0; made->ids && i < pixels; i++)
    preview->masks[i] = (guint8) made->ids[i];
  return preview;
}

DynoPreview *
dyno_preview_new (DynoDevice *device, const DynoJob *job, DynoDataset *dataset,
                  const GArray *indices, guint64 epoch, GCancellable *cancellable, GError **error)
{
  Work w = { 0 };
  Made made = { 0 };
  DynoPreview *preview = NULL;

  g_return_val_if_fail (indices->len > 0, NULL);
  if (make_loader (&w, job, dataset, indices, error)
      && make_program (&w, device, indices->len, cancellable, error)
      && run (&w, device, epoch, &made, cancellable, error))
    preview = draw (&w, &made);
  made_clear (&made);
  work_clear (&w);
  return preview;
}

void
dyno_preview_free (DynoPreview *preview)
{
  if (!preview)
    return;
  g_free (preview->pixels);
  g_free (preview->masks);
  g_free (preview);
}
