/* SPDX-License-Identifier: MIT */
/* Arrays without labels, for prediction: .npy and .npz files by name, and folders with them.
 *
 * Invariants: the order is that of the arguments; the first array that can be read decides the
 * shape of a sample, and arrays of other shapes are listed; an array is one sample where it has the
 * shape of a sample of the weights, else its first axis counts the samples. */
#include "arrayset.h"
#include "unlabelled.h"
#include <string.h>

#define MOST_OPEN 64 /* number of files whose descriptors are kept */

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  gboolean rests;
  guint n_taken;
} Taking;

/* TRUE where an array has the shape of one sample: (T, F); (H, W, C), (C, H, W), or (H, W) for one
 * channel; or (F).  With one channel, (H, W, 3) of bytes is a sample too, which becomes luma, and
 * (3, H, W) is three samples. */
static gboolean
is_one_sample (const DynoNpyHeader *header, const DynoBatchField *wanted)
{
  guint64 h, w, c;
  guint32 shape[3];

  if (wanted && wanted->n_axes == 2)
    return header->n_dims == 2 && header->shape[0] == wanted->shape[0]
           && header->shape[1] == wanted->shape[1];
  if (!wanted || wanted->n_axes != 3)
    return FALSE;
  dyno_field_get_image (wanted, &shape[0], &shape[1], &shape[2]);
  h = shape[0];
  w = shape[1];
  c = shape[2];
  if (c == 1 && header->n_dims == 3 && header->kind == 'u' && header->item_bytes == 1
      && header->shape[2] == 3)
    return header->shape[0] == h && header->shape[1] == w;
  if (header->n_dims == 3)
    return (header->shape[0] == h && header->shape[1] == w && header->shape[2] == c)
           || (header->shape[0] == c && header->shape[1] == h && header->shape[2] == w);
  if (header->n_dims == 2)
    return c == 1 && header->shape[0] == h && header->shape[1] == w;
  return header->n_dims == 1 && h == 1 && w == 1 && header->shape[0] == c;
}

static gboolean
take (DynoArray *x, gpointer data, GError **error)
{
  Taking *taking = data;

  if (is_one_sample (&x->header, taking->context->wanted))
    dyno_array_make_single (x);
  if (!dyno_array_set_take_unlabelled (taking->dataset, x, taking->rests, taking->context, error))
    return FALSE;
  taking->n_taken++;
  return TRUE;
}

static gboolean
is_archive (const char *path)
{
  g_autoptr (DynoLocation) location = dyno_location_new (path, NULL);

  return location && location->head_size >= 4 && memcmp (location->head, "PK\3\4", 4) == 0;
}

static gboolean
take_file (Taking *taking, const char *path, GError **error)
{
  DynoArray x;

  if (is_archive (path))
    return dyno_npz_each_samples (path, taking->context, take, taking, error);
  return dyno_array_open (&x, path, error) && take (&x, taking, error);
}

static gboolean
arrayfiles_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  g_autoptr (GPtrArray) files = dyno_unlabelled_list (dataset, context, TRUE, error);
  g_autoptr (GError) first = NULL;
  Taking taking = { .dataset = dataset, .context = context };

  if (!files)
    return FALSE;
  taking.rests = files->len > MOST_OPEN;
  for (guint i = 0; i < files->len; i++)
    {
      const char *path = g_ptr_array_index (files, i);
      g_autoptr (GError) problem = NULL;

      if (take_file (&taking, path, &problem))
        continue;
      if (g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        {
          g_propagate_error (error, g_steal_pointer (&problem));
          return FALSE;
        }
      dyno_unlabelled_note (dataset, context, path, problem->message);
      if (!first)
        first = g_steal_pointer (&problem);
    }
  if (taking.n_taken > 0)
    return dyno_array_set_finish (dataset, NULL, context, error);
  /* The error of a single file is clearer than that of the data set's check, which reports that
   * there is no sample. */
  if (first && files->len == 1)
    {
      g_propagate_error (error, g_steal_pointer (&first));
      return FALSE;
    }
  return TRUE;
}

const DynoDatasetClass dyno_dataset_class_arrayfiles = {
  .kind = "array-files",
  .title = "NumPy arrays",
  .open = arrayfiles_open,
  .close = dyno_array_set_close,
  .fetch = dyno_array_set_fetch,
  .decode = dyno_array_set_decode,
  .decode_at_once = dyno_array_set_decode_at_once,
  .probe = dyno_array_set_probe,
  .describe = dyno_array_set_describe,
};
