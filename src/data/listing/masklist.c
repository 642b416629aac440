/* SPDX-License-Identifier: MIT */
/* Reads the masks of listed images: all of them when the data set is opened, since their content
 * decides which classes there are, and the mask of a sample when the sample is decoded.
 *
 * The result does not depend on the order of the threads: each writes the content of its own masks,
 * and all results are computed from the contents in the list's order. */
#include "masklist.h"
#include "cores.h"
#include "datafile.h"
#include "hash.h"
#include "intl.h"
#include "scanthreads.h"
#include "schema.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUN         4
#define MAX_THREADS 16

typedef struct {
  const DynoImageList *list;
  const DynoOpenContext *context;
  char *real_root;
  DynoMaskContent *contents; /* (items) */
} Scan;

static const DynoListedMask *
get_mask (const DynoImageList *list, guint64 index)
{
  return &g_array_index (list->masks->items, DynoListedMask, index);
}

static const char *
get_name (const DynoImageList *list, guint64 index)
{
  return (const char *) list->names->data + get_mask (list, index)->name;
}

static char *
get_path (const DynoImageList *list, guint64 index)
{
  const char *name = get_name (list, index);

  return g_path_is_absolute (name) ? g_strdup (name) : g_build_filename (list->root, name, NULL);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The mask must have the size of the stored image, or of the image as shown. */
static gboolean
check_size (DynoMaskContent *content, const DynoImageFacts *image, GError **error)
{
  const DynoMaskFacts *facts = &content->facts;
  guint32 width, height;

  dyno_image_get_shown (image, &width, &height);
  content->stored = facts->width == image->width && facts->height == image->height;
  content->shown = facts->width == width && facts->height == height;
  if (content->stored || content->shown)
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("it has %u × %u pixels, its image %u × %u"), facts->width, facts->height, width,
               height);
  return FALSE;
}

/* Draws a mask into scratch from `at` on. */
static gboolean
draw_mask (const DynoImageList *list, guint64 index, GByteArray *scratch, gsize at,
           DynoMaskFacts *facts, gsize *pixels_at, GError **error)
{
  const DynoListedMask *mask = get_mask (list, index);
  guint64 place = (at + 63) & ~(guint64) 63;

  *facts = (DynoMaskFacts){ .width = mask->width, .height = mask->height, .bits = 8 };
  if (facts->width == 0 || facts->height == 0)
    dyno_image_get_shown (&mask->image, &facts->width, &facts->height);
  *pixels_at = place;
  return dyno_datafile_reserve (scratch, place + (guint64) facts->width * facts->height, error)
         && list->masks->draw (list->masks->drawing, mask, facts->width, facts->height,
                               scratch->data + place, error);
}

/* The pixels of a mask, from its file or from annotations. */
static gboolean
read_pixels (const Scan *scan, guint64 index, GByteArray *scratch, gsize *at, GError **error)
{
  DynoMaskContent *content = &scan->contents[index];
  const DynoListedMask *mask = get_mask (scan->list, index);
  g_autofree char *path = NULL;
  gsize size;

  if (scan->list->masks->draw)
    {
      /* The size of the drawing is checked against the image before memory is allocated for it. */
      content->facts = (DynoMaskFacts){ .width = mask->width, .height = mask->height, .bits = 8 };
      return (mask->width == 0 || mask->height == 0 || check_size (content, &mask->image, error))
             && draw_mask (scan->list, index, scratch, 0, &content->facts, at, error)
             && check_size (content, &mask->image, error);
    }
  path = get_path (scan->list, index);
  if (!dyno_image_list_check_inside (scan->list, scan->context, scan->real_root, path, error)
      || !dyno_datafile_read (path, DYNO_IMAGE_MAX_FILE_BYTES, scratch, &size, error)
      || !dyno_mask_decode (scratch, 0, size, &content->facts, at, error))
    return FALSE;
  content->size_bytes = size;
  return check_size (content, &mask->image, error);
}

static void
read_content (const Scan *scan, guint64 index, GByteArray *scratch)
{
  DynoMaskContent *content = &scan->contents[index];
  g_autoptr (GError) error = NULL;
  char *reason = NULL;
  gsize at;

  if (!read_pixels (scan, index, scratch, &at, &error))
    {
      dyno_mask_content_refuse (content, g_strdup (error->message));
      return;
    }
  content->counts = dyno_mask_count_values (scratch->data + at, &content->facts, &reason);
  if (!content->counts)
    dyno_mask_content_refuse (content, reason);
}

static void
read_run (guint64 first, guint64 end, gpointer data)
{
  const Scan *scan = data;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  for (guint64 i = first; i < end; i++)
    read_content (scan, i, scratch);
}

static void
note_refused (const Scan *scan, DynoDataset *dataset, guint64 index)
{
  const DynoImageList *list = scan->list;
  const DynoListedImage *item = &g_array_index (list->items, DynoListedImage, index);
  g_autofree char *shown = g_filename_display_name (get_name (list, index)),
                  *reason = g_strdup_printf (_ ("its mask “%s” cannot be used: %s"), shown,
                                             scan->contents[index].reason);

  if (item->line == 0 || !list->manifest)
    dyno_image_list_note (dataset, scan->context, dyno_image_list_get_name (list, item), 0, reason);
  else
    dyno_image_list_note (dataset, scan->context, list->manifest, item->line, reason);
}

/* Masks of images that EXIF turns are drawn on the turned image or on the stored one.  Where the
 * sizes do not decide, a mask is treated like the majority of the others; without a majority, as
 * drawn on the turned image, which people see. */
static void
find_turns (const Scan *scan, DynoDataset *dataset)
{
  const DynoImageList *list = scan->list;
  guint64 n_stored = 0, n_shown = 0, n_both = 0;

  for (guint i = 0; i < list->items->len; i++)
    {
      const DynoMaskContent *content = &scan->contents[i];

      if (!content->counts || get_mask (list, i)->image.orientation == 1)
        continue;
      n_stored += content->stored && !content->shown;
      n_shown += content->shown && !content->stored;
      n_both += content->shown && content->stored;
    }
  for (guint i = 0; i < list->items->len; i++)
    {
      const DynoMaskContent *content = &scan->contents[i];
      DynoListedMask *mask = &g_array_index (list->masks->items, DynoListedMask, i);
      gboolean of_stored = content->stored && (!content->shown || n_stored > n_shown);

      mask->orientation = of_stored ? mask->image.orientation : 1;
    }
  if (n_both > 0)
    g_ptr_array_add (
        dataset->notes,
        g_strdup_printf (
            n_stored > n_shown
                ? ngettext ("%" PRIu64 " image is turned by its EXIF, and its mask with it, as the "
                            "other masks need it",
                            "%" PRIu64 " images are turned by their EXIF, and their masks with "
                            "them, as the other masks need it",
                            (gulong) n_both)
                : ngettext ("%" PRIu64 " image is turned by its EXIF: its mask is taken as drawn "
                            "on the upright image",
                            "%" PRIu64 " images are turned by their EXIF: their masks are taken as "
                            "drawn on the upright images",
                            (gulong) n_both),
            n_both));
}

static guint64
hash_sample (const DynoListedMask *mask, const char *name, const DynoMaskContent *content)
{
  guint64 words[] = { mask->image_hash, content->size_bytes };
  guint64 hash = dyno_hash_bytes (dyno_hash_string (DYNO_HASH_START, name), words, sizeof words);

  return dyno_hash_bytes (hash, content->counts->data,
                          content->counts->len * sizeof (DynoMaskCount));
}

static void
find_shown (const DynoMaskTable *table, const DynoMaskContent *content, DynoListedMask *mask)
{
  for (guint i = 0; i < content->counts->len; i++)
    {
      guint32 value = g_array_index (content->counts, DynoMaskCount, i).value;
      guint8 id =
          content->facts.colours ? dyno_mask_find_colour (table, value) : table->of_number[value];

      mask->shown[id / 32] |= 1u << id % 32;
    }
}

/* Computes the facts anew from the images whose masks can be used. */
static void
fill_info (DynoImageList *list, DynoDataset *dataset, const Scan *scan)
{
  DynoDatasetInfo *info = &dataset->info;
  g_autofree guint8 *keep = g_new0 (guint8, (gsize) list->items->len + 1);

  info->size_bytes = 0;
  info->content_hash = DYNO_HASH_START;
  info->min_width = info->min_height = G_MAXUINT32;
  info->max_width = info->max_height = 0;
  info->has_split = FALSE;
  for (guint i = 0; i < list->items->len; i++)
    {
      DynoListedMask *mask = &g_array_index (list->masks->items, DynoListedMask, i);
      guint32 width, height;

      keep[i] = scan->contents[i].counts != NULL;
      if (!keep[i])
        {
          note_refused (scan, dataset, i);
          continue;
        }
      find_shown (&list->masks->table, &scan->contents[i], mask);
      dyno_image_get_shown (&mask->image, &width, &height);
      info->min_width = MIN (info->min_width, width);
      info->max_width = MAX (info->max_width, width);
      info->min_height = MIN (info->min_height, height);
      info->max_height = MAX (info->max_height, height);
      info->size_bytes += mask->image_bytes + scan->contents[i].size_bytes;
      info->content_hash += hash_sample (mask, get_name (list, i), &scan->contents[i]);
      info->has_split |= g_array_index (list->items, DynoListedImage, i).part > DYNO_PART_TRAIN;
    }
  dyno_image_list_keep (list, keep);
  info->n_samples = list->items->len;
  info->min_width = MIN (info->min_width, info->max_width);
  info->min_height = MIN (info->min_height, info->max_height);
}

gboolean
dyno_mask_list_finish (DynoImageList *list, DynoDataset *dataset, const DynoOpenContext *context,
                       GError **error)
{
  Scan scan = { .list = list, .context = context };
  gboolean ok;

  if (!dyno_image_list_finish (list, dataset, context, error))
    return FALSE;
  scan.real_root = list->root ? realpath (list->root, NULL) : NULL;
  scan.contents = g_new0 (DynoMaskContent, (gsize) list->items->len + 1);
  ok = dyno_scan_threads_run (list->items->len, RUN, MIN (dyno_cores_count (), MAX_THREADS),
                              read_run, &scan, context->progress, context->progress_data,
                              context->cancellable, error)
       && dyno_mask_list_decide (list->masks, scan.contents, list->items->len, &dataset->info,
                                 dataset->notes, error);
  if (ok)
    {
      guint n = list->items->len;

      find_turns (&scan, dataset);
      fill_info (list, dataset, &scan);
      dyno_dataset_info_set_mask_schema (&dataset->info);
      dyno_dataset_info_photographs (&dataset->info);
      for (guint i = 0; i < n; i++)
        dyno_mask_content_clear (&scan.contents[i]);
    }
  else
    for (guint i = 0; i < list->items->len; i++)
      dyno_mask_content_clear (&scan.contents[i]);
  g_free (scan.contents);
  free (scan.real_root);
  return ok;
}

/* --- samples ---------------------------------------------------------------------------------- */

static gboolean
name_error (const DynoImageList *list, guint64 index, GError **error)
{
  g_autofree char *shown = g_filename_display_name (get_name (list, index));

  if (error && *error && !strstr ((*error)->message, shown))
    g_prefix_error (error, "“%s”: ", shown);
  return FALSE;
}

gboolean
dyno_mask_list_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched,
                      GError **error)
{
  const DynoImageList *list = dataset->state;
  g_autoptr (GByteArray) bytes = NULL;
  g_autofree char *path = NULL;
  guint64 image_bytes;
  gsize size;

  if (!dyno_image_list_fetch (dataset, index, scratch, fetched, error))
    return FALSE;
  if (!list->masks || list->masks->draw)
    return TRUE;
  image_bytes = *fetched;
  bytes = g_byte_array_new ();
  path = get_path (list, index);
  if (!dyno_datafile_read (path, DYNO_IMAGE_MAX_FILE_BYTES, bytes, &size, error)
      || !dyno_datafile_reserve (scratch, image_bytes + size + sizeof image_bytes, error))
    return name_error (list, index, error);
  memcpy (scratch->data + image_bytes, bytes->data, size);
  memcpy (scratch->data + image_bytes + size, &image_bytes, sizeof image_bytes);
  *fetched = image_bytes + size + sizeof image_bytes;
  return TRUE;
}

/* The number of fetched bytes that are the image file.  Where the mask is a file too, this number
 * is stored at the end of the fetched bytes. */
static gsize
find_image_bytes (const DynoImageList *list, const GByteArray *scratch, gsize fetched)
{
  guint64 image_bytes;

  if (list->masks->draw)
    return fetched;

  memcpy (&image_bytes, scratch->data + fetched - sizeof image_bytes, sizeof image_bytes);
  return image_bytes;
}

static gboolean
fits_image (const DynoMaskFacts *facts, const DynoImageFacts *image)
{
  guint32 width, height;

  dyno_image_get_shown (image, &width, &height);
  return (facts->width == width && facts->height == height)
         || (facts->width == image->width && facts->height == image->height);
}

/* Writes the mask in the window of the crop, or of the centre crop where crop is NULL.  To be
 * called before the image is decoded, which overwrites the bytes of the mask. */
static gboolean
decode_mask (const DynoImageList *list, guint64 index, const DynoCrop *crop, guint32 seed,
             guint32 width, guint32 height, guint8 *out, GByteArray *scratch, gsize fetched,
             GError **error)
{
  const DynoListedMask *mask = get_mask (list, index);
  gsize at = find_image_bytes (list, scratch, fetched), pixels_at;
  guint32 shown_width, shown_height;
  DynoResizeWindow window;
  DynoMaskFacts facts;

  if (!(list->masks->draw ? draw_mask (list, index, scratch, fetched, &facts, &pixels_at, error)
                          : dyno_mask_decode (scratch, at, fetched - at - sizeof (guint64), &facts,
                                              &pixels_at, error)))
    return name_error (list, index, error);
  if (!fits_image (&facts, &mask->image))
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                           _ ("it no longer has the size of its image"));
      return name_error (list, index, error);
    }
  shown_width = mask->orientation >= 5 ? facts.height : facts.width;
  shown_height = mask->orientation >= 5 ? facts.width : facts.height;
  window = dyno_mask_cover (shown_width, shown_height, width, height);
  if (crop)
    {
      DynoImageBox box = dyno_crop_draw (crop, seed, shown_width, shown_height);
      window = (DynoResizeWindow){ box.x, box.y, box.width, box.height };
    }
  dyno_mask_sample (scratch->data + pixels_at, &facts, mask->orientation, &window,
                    &list->masks->table, width, height, out);
  return TRUE;
}

gboolean
dyno_mask_list_shows (DynoDataset *dataset, guint64 index, guint32 class_id)
{
  return get_mask (dataset->state, index)->shown[class_id / 32] >> class_id % 32 & 1;
}

/* A list without masks is handled as an image list. */
gboolean
dyno_mask_list_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                       gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const DynoImageList *list = dataset->state;

  if (!list->masks)
    return dyno_image_list_decode (dataset, index, width, height, fields, scratch, fetched, error);
  gsize image_bytes = find_image_bytes (list, scratch, fetched);
  return decode_mask (list, index, NULL, 0, width, height, fields[DYNO_DATASET_TARGET], scratch,
                      fetched, error)
         && dyno_image_list_decode_image (dataset, index, width, height, fields[DYNO_DATASET_INPUT],
                                          scratch, image_bytes, error);
}

gboolean
dyno_mask_list_decode_crop (DynoDataset *dataset, guint64 index, const DynoCrop *crop, guint32 seed,
                            guint32 width, guint32 height, gpointer const *fields,
                            GByteArray *scratch, gsize fetched, GError **error)
{
  const DynoImageList *list = dataset->state;

  if (!list->masks)
    return dyno_image_list_decode_crop (dataset, index, crop, seed, width, height, fields, scratch,
                                        fetched, error);
  gsize image_bytes = find_image_bytes (list, scratch, fetched);
  return decode_mask (list, index, crop, seed, width, height, fields[DYNO_DATASET_TARGET], scratch,
                      fetched, error)
         && dyno_image_list_decode_image_crop (dataset, index, crop, seed, width, height,
                                               fields[DYNO_DATASET_INPUT], scratch, image_bytes,
                                               error);
}
