/* SPDX-License-Identifier: MIT */
/* Draws samples as the loader delivers them, before the device normalises them; a mask is drawn
 * over its picture in the colours of the classes. */
#include "inspect-preview.h"
#include "palette.h"
#include "plotmodule.h"
#include <math.h>

#define MOST_SIDE  224 /* side where the sizes differ: the input size of most networks */
#define MOST_DRAWN 8192

typedef struct {
  DynoBatchSchema schema;
  DynoBatchLayout layout;
  const DynoBatchField *input, *mask; /* mask: NULL where there is none */
  guint32 width, height, channels;
} Shape;

static gboolean
find_shape (DynoDataset *dataset, Shape *shape, GError **error)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  gboolean uniform = info->min_width == info->max_width && info->min_height == info->max_height;

  shape->width = info->max_width;
  shape->height = info->max_height;
  if (info->resizable && !uniform)
    shape->width = shape->height = MIN (MAX (info->max_width, info->max_height), MOST_SIDE);
  dyno_dataset_get_schema (info, shape->width, shape->height, &shape->schema);
  shape->input = dyno_schema_find_role (&shape->schema, DYNO_FIELD_INPUT);
  shape->mask = dyno_schema_find_mask (&shape->schema);
  shape->channels = dyno_schema_count_channels (&shape->schema);
  if (info->schema.generated || shape->input->n_axes != 3 || shape->input->variable
      || shape->width > MOST_DRAWN || shape->height > MOST_DRAWN
      || (shape->input->element != DYNO_ELEMENT_U8 && shape->input->element != DYNO_ELEMENT_F32))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   "The samples of “%s” are no images that can be drawn; leave --preview out",
                   info->name);
      return FALSE;
    }
  if (!dyno_batch_layout_init (&shape->layout, &shape->schema, 1, error))
    return FALSE;
  return TRUE;
}

/* Converts to RGB: grey for one or two channels, else the first three channels; floats are scaled
 * from their minimum to their maximum. */
static void
to_rgb (const Shape *shape, gconstpointer values, guint8 *rgb)
{
  const guint8 *bytes = values;
  const float *floats = values;
  gsize n = (gsize) shape->width * shape->height, c = shape->channels;
  float least = INFINITY, most = -INFINITY;

  for (gsize i = 0; i < n * c && shape->input->element == DYNO_ELEMENT_F32; i++)
    if (isfinite (floats[i]))
      {
        least = MIN (least, floats[i]);
        most = MAX (most, floats[i]);
      }
  for (gsize i = 0; i < n; i++)
    for (gsize k = 0; k < 3; k++)
      {
        gsize at = i * c + (c < 3 ? 0 : k);

        if (shape->input->element == DYNO_ELEMENT_U8)
          rgb[i * 3 + k] = bytes[at];
        else
          rgb[i * 3 + k] = isfinite (floats[at]) && most > least
                               ? (guint8) lrintf (255 * ((floats[at] - least) / (most - least)))
                               : 0;
      }
}

gboolean
dyno_inspect_preview (DynoDataset *dataset, const guint64 *indices, guint n, char *const *captions,
                      const char *path, GError **error)
{
  Shape shape;
  DynoSheetWrite write_sheet;
  g_autofree DynoSheetTile *tiles = g_new0 (DynoSheetTile, n + 1);
  g_autofree guint8 *block = NULL, *pixels = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS];
  gsize bytes;

  if (!find_shape (dataset, &shape, error))
    return FALSE;
  write_sheet = (DynoSheetWrite) dyno_plot_module_find (DYNO_SHEET_SYMBOL, error);
  if (!write_sheet)
    return FALSE;
  bytes = (gsize) shape.width * shape.height * 3;
  block = g_try_malloc0 (shape.layout.total_bytes);
  pixels = g_try_malloc_n (n + 1, bytes);
  if (!block || !pixels)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   "No memory for a picture of %u samples of %u x %u", n, shape.width,
                   shape.height);
      return FALSE;
    }
  for (guint i = 0; i < shape.schema.n_fields; i++)
    fields[i] = block + shape.layout.offset[i];
  for (guint i = 0; i < n; i++)
    {
      if (!dyno_dataset_decode (dataset, indices[i], shape.width, shape.height, fields, scratch,
                                error))
        return FALSE;
      to_rgb (&shape, fields[shape.input - shape.schema.fields], pixels + i * bytes);
      if (shape.mask)
        dyno_palette_blend (pixels + i * bytes, fields[shape.mask - shape.schema.fields],
                            bytes / 3);
      tiles[i] = (DynoSheetTile){ pixels + i * bytes, shape.width, shape.height, captions[i] };
    }
  return write_sheet (DYNO_SHEET_VERSION, dyno_dataset_get_info (dataset)->name, tiles, n, path,
                      error);
}
