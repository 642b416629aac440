/* SPDX-License-Identifier: MIT */
/* Images that are listed one by one; imagelist.h has the invariants. */
#include "imagelist.h"
#include "checked.h"
#include "datafile.h"
#include "image.h"
#include "intl.h"
#include "masklist.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_OPEN 256 /* number of containers that keep an open descriptor */

DynoImageList *
dyno_image_list_new (void)
{
  DynoImageList *list = g_new0 (DynoImageList, 1);

  list->items = g_array_new (FALSE, FALSE, sizeof (DynoListedImage));
  list->names = g_byte_array_new ();
  list->containers = g_array_new (FALSE, FALSE, sizeof (DynoContainer));
  list->values = g_array_new (FALSE, FALSE, sizeof (float));
  list->boxes = g_array_new (FALSE, TRUE, sizeof (DynoImageBox));
  return list;
}

void
dyno_image_list_free (DynoImageList *list)
{
  if (!list)
    return;
  for (guint i = 0; i < list->containers->len; i++)
    {
      DynoContainer *container = &g_array_index (list->containers, DynoContainer, i);
      if (container->fd >= 0)
        close (container->fd);
      g_free (container->path);
    }
  g_free (list->root);
  g_free (list->manifest);
  g_array_unref (list->items);
  g_array_unref (list->containers);
  g_array_unref (list->values);
  g_array_unref (list->boxes);
  dyno_mask_list_free (list->masks);
  g_byte_array_unref (list->names);
  g_free (list);
}

gboolean
dyno_image_list_add_name (DynoImageList *list, const char *name, gsize length, guint32 *offset,
                          GError **error)
{
  if (length >= G_MAXUINT32 / 2 || list->names->len > G_MAXUINT32 / 2 - length - 1
      || list->items->len >= G_MAXINT32)
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                           _ ("It has more files than Dyno can hold (2 GB of names); divide it"));
      return FALSE;
    }
  *offset = list->names->len;
  g_byte_array_append (list->names, (const guint8 *) name, (guint) length);
  g_byte_array_append (list->names, (const guint8 *) "", 1);
  return TRUE;
}

const char *
dyno_image_list_get_name (const DynoImageList *list, const DynoListedImage *item)
{
  return (const char *) list->names->data + item->name;
}

gboolean
dyno_image_list_add_container (DynoImageList *list, const char *path, guint32 *place,
                               GError **error)
{
  DynoContainer container = { .fd = -1 };

  container.fd = dyno_datafile_open (path, &container.size, error);
  if (container.fd < 0)
    return FALSE;
  container.path = g_strdup (path);
  *place = list->containers->len;
  g_array_append_val (list->containers, container);
  return TRUE;
}

void
dyno_image_list_rest_container (DynoImageList *list, guint32 place)
{
  DynoContainer *container = &g_array_index (list->containers, DynoContainer, place);

  if (place < MAX_OPEN || container->fd < 0)
    return;
  close (container->fd);
  container->fd = -1;
}

void
dyno_image_list_keep (DynoImageList *list, const guint8 *keep)
{
  DynoListedImage *items = (DynoListedImage *) (gpointer) list->items->data;
  DynoListedMask *masks =
      list->masks ? (DynoListedMask *) (gpointer) list->masks->items->data : NULL;
  float *values = (float *) (gpointer) list->values->data;
  DynoImageBox *boxes = (DynoImageBox *) (gpointer) list->boxes->data;
  guint kept = 0;

  for (guint i = 0; i < list->items->len; i++)
    {
      if (!keep[i])
        continue;
      items[kept] = items[i];
      if (masks)
        masks[kept] = masks[i];
      if (list->boxes->len > 0)
        boxes[kept] = boxes[i];
      if (list->n_values > 0)
        memmove (values + (gsize) kept * list->n_values, values + (gsize) i * list->n_values,
                 list->n_values * sizeof (float));
      kept++;
    }
  g_array_set_size (list->items, kept);
  g_array_set_size (list->values, kept * list->n_values);
  g_array_set_size (list->boxes, list->boxes->len > 0 ? kept : 0);
  if (masks)
    g_array_set_size (list->masks->items, kept);
}

void
dyno_image_list_take_parts (DynoImageList *list, const GArray *parts)
{
  guint64 n[DYNO_PART_TEST + 1] = { 0 };

  for (guint i = 0; i < parts->len; i++)
    n[g_array_index (parts, guint8, i)]++;
  for (guint i = 0; i < parts->len; i++)
    g_array_index (list->items, DynoListedImage, i).part =
        (guint8) dyno_part_of_listed (n, (DynoPart) g_array_index (parts, guint8, i));
}

void
dyno_image_list_note (DynoDataset *dataset, const DynoOpenContext *context, const char *where,
                      guint64 line, const char *reason)
{
  g_autofree char *shown = g_filename_display_name (where),
                  *place = line > 0 ? g_strdup_printf ("%s, line %" PRIu64, shown, line)
                                    : g_strdup (shown);

  dyno_dataset_info_refuse (&dataset->info, place, line > 0, reason);
  if (dataset->unreadable->len < context->max_listed)
    g_ptr_array_add (dataset->unreadable, g_strdup_printf ("%s: %s", place, reason));
}

static const DynoListedImage *
get_item (DynoDataset *dataset, guint64 index)
{
  const DynoImageList *list = dataset->state;
  return &g_array_index (list->items, DynoListedImage, index);
}

char *
dyno_image_list_get_path (const DynoImageList *list, const DynoListedImage *item)
{
  const char *name = dyno_image_list_get_name (list, item);
  return g_path_is_absolute (name) ? g_strdup (name) : g_build_filename (list->root, name, NULL);
}

/* Inflates a whole member; its size is known, and no byte more is written. */
static gboolean
inflate_member (const guint8 *from, gsize from_size, guint8 *to, gsize size, GError **error)
{
  z_stream stream = { .next_in = (Bytef *) from,
                      .avail_in = (uInt) from_size,
                      .next_out = to,
                      .avail_out = (uInt) size };
  int code = inflateInit2 (&stream, -MAX_WBITS);

  if (code == Z_OK)
    {
      code = inflate (&stream, Z_FINISH);
      inflateEnd (&stream);
    }
  if (code == Z_STREAM_END && stream.avail_out == 0)
    return TRUE;
  g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                       _ ("its compressed bytes are damaged"));
  return FALSE;
}

static gboolean
read_container (int fd, const char *path, const DynoListedImage *item, GByteArray *scratch,
                GError **error)
{
  guint64 place = item->deflated ? item->size : 0, end;
  gssize got;

  if (!dyno_size_add (place, item->stored, &end) || !dyno_datafile_reserve (scratch, end, error))
    return FALSE;
  got = dyno_datafile_pread (fd, scratch->data + place, item->stored, item->at);
  if (got < 0)
    {
      dyno_datafile_set_error (error, errno, path);
      return FALSE;
    }
  if ((guint64) got < item->stored)
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                           _ ("its container ends before it"));
      return FALSE;
    }
  return !item->deflated
         || inflate_member (scratch->data + place, item->stored, scratch->data, item->size, error);
}

/* Reads the bytes of the image file into scratch. */
static gboolean
read_item (const DynoImageList *list, const DynoListedImage *item, GByteArray *scratch,
           gsize *fetched, GError **error)
{
  const DynoContainer *container;
  guint64 size;
  gboolean ok;
  int fd;

  if (item->container == DYNO_IMAGE_LIST_NO_CONTAINER)
    {
      g_autofree char *path = dyno_image_list_get_path (list, item);
      return dyno_datafile_read (path, DYNO_IMAGE_MAX_FILE_BYTES, scratch, fetched, error);
    }
  container = &g_array_index (list->containers, DynoContainer, item->container);
  fd = container->fd >= 0 ? container->fd : dyno_datafile_open (container->path, &size, error);
  if (fd < 0)
    return FALSE;
  ok = read_container (fd, container->path, item, scratch, error);
  if (container->fd < 0)
    close (fd);
  *fetched = item->size;
  return ok;
}

gboolean
dyno_image_list_read (const DynoImageList *list, guint64 index, GByteArray *scratch, gsize *size,
                      GError **error)
{
  return read_item (list, &g_array_index (list->items, DynoListedImage, index), scratch, size,
                    error);
}

/* --- members of a class ----------------------------------------------------------------------- */

void
dyno_image_list_close (DynoDataset *dataset)
{
  dyno_image_list_free (dataset->state);
}

gint32
dyno_image_list_label (DynoDataset *dataset, guint64 index)
{
  return get_item (dataset, index)->class_id;
}

const float *
dyno_image_list_values (DynoDataset *dataset, guint64 index)
{
  const DynoImageList *list = dataset->state;
  return &g_array_index (list->values, float, index * list->n_values);
}

guint32
dyno_image_list_group (DynoDataset *dataset, guint64 index)
{
  return get_item (dataset, index)->group;
}

DynoPart
dyno_image_list_part (DynoDataset *dataset, guint64 index)
{
  return MAX ((DynoPart) get_item (dataset, index)->part, DYNO_PART_TRAIN);
}

char *
dyno_image_list_describe (DynoDataset *dataset, guint64 index)
{
  const DynoImageList *list = dataset->state;
  const DynoListedImage *item = get_item (dataset, index);
  g_autofree char *name = g_filename_display_name (dyno_image_list_get_name (list, item));

  if (item->container == DYNO_IMAGE_LIST_NO_CONTAINER || list->containers->len < 2)
    return g_steal_pointer (&name);
  g_autofree char *base = g_filename_display_basename (
      g_array_index (list->containers, DynoContainer, item->container).path);
  return g_strdup_printf ("%s: %s", base, name);
}

/* The messages about a separate file have its path already; messages about a member get its
 * name. */
static gboolean
name_error (DynoDataset *dataset, guint64 index, GError **error)
{
  g_autofree char *name = dyno_image_list_describe (dataset, index);

  if (error && *error && !strstr ((*error)->message, name))
    g_prefix_error (error, "“%s”: ", name);
  return FALSE;
}

gboolean
dyno_image_list_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched,
                       GError **error)
{
  return read_item (dataset->state, get_item (dataset, index), scratch, fetched, error)
         || name_error (dataset, index, error);
}

const DynoImageBox *
dyno_image_list_box (DynoDataset *dataset, guint64 index)
{
  return dyno_image_list_get_box (dataset->state, index);
}

const DynoImageBox *
dyno_image_list_get_box (const DynoImageList *list, guint64 index)
{
  const DynoImageBox *box =
      list->boxes->len > 0 ? &g_array_index (list->boxes, DynoImageBox, index) : NULL;

  return box && box->width > 0 ? box : NULL;
}

void
dyno_image_list_put_target (DynoDataset *dataset, guint64 index, gpointer target)
{
  const DynoImageList *list = dataset->state;

  if (list->n_values > 0)
    memcpy (target, dyno_image_list_values (dataset, index), list->n_values * sizeof (float));
  else
    *(gint32 *) target = get_item (dataset, index)->class_id;
}

gboolean
dyno_image_list_decode_image (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                              guint8 *out, GByteArray *scratch, gsize fetched, GError **error)
{
  const DynoImageBox *box = dyno_image_list_box (dataset, index);

  return (box ? dyno_image_decode_box (scratch, fetched, box, width, height, out, error)
              : dyno_image_decode (scratch, fetched, width, height, out, error))
         || name_error (dataset, index, error);
}

gboolean
dyno_image_list_decode_image_crop (DynoDataset *dataset, guint64 index, const DynoCrop *crop,
                                   guint32 seed, guint32 width, guint32 height, guint8 *out,
                                   GByteArray *scratch, gsize fetched, GError **error)
{
  return dyno_image_decode_crop (scratch, fetched, dyno_image_list_box (dataset, index), crop, seed,
                                 width, height, out, error)
         || name_error (dataset, index, error);
}

gboolean
dyno_image_list_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                        gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  dyno_image_list_put_target (dataset, index, fields[DYNO_DATASET_TARGET]);
  return dyno_image_list_decode_image (dataset, index, width, height, fields[DYNO_DATASET_INPUT],
                                       scratch, fetched, error);
}

gboolean
dyno_image_list_decode_crop (DynoDataset *dataset, guint64 index, const DynoCrop *crop,
                             guint32 seed, guint32 width, guint32 height, gpointer const *fields,
                             GByteArray *scratch, gsize fetched, GError **error)
{
  dyno_image_list_put_target (dataset, index, fields[DYNO_DATASET_TARGET]);
  return dyno_image_list_decode_image_crop (dataset, index, crop, seed, width, height,
                                            fields[DYNO_DATASET_INPUT], scratch, fetched, error);
}

gboolean
dyno_image_list_probe (DynoDataset *dataset, guint64 index, GError **error)
{
  const DynoImageList *list = dataset->state;
  const DynoListedImage *item = get_item (dataset, index);
  g_autofree char *path = NULL;

  if (item->container != DYNO_IMAGE_LIST_NO_CONTAINER)
    return dyno_datafile_probe (
        g_array_index (list->containers, DynoContainer, item->container).path, item->at, error);
  path = dyno_image_list_get_path (list, item);
  return dyno_datafile_probe (path, 0, error);
}
