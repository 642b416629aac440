/* SPDX-License-Identifier: MIT */
/* Reads the headers of listed images, and derives the facts.  The result does not depend on the
 * order of the threads: sums have no order, and the few reasons that are reported are determined
 * once more in the list's order. */
#include "imagelist.h"
#include "cores.h"
#include "datafile.h"
#include "hash.h"
#include "image.h"
#include "intl.h"
#include "masklist.h"
#include "scanthreads.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN           64
#define MAX_THREADS   8
#define DEFLATE_RATIO 1032
#define DEFLATE_SLACK 1024

typedef struct {
  const DynoImageList *list;
  const DynoOpenContext *context;
  char *real_root;  /* root of separate files; NULL: nothing is outside */
  guint8 *readable; /* (items) */
  GMutex mutex;     /* guards what follows */
  guint64 size_bytes, content_hash;
  guint32 min_width, max_width, min_height, max_height;
} Scan;

static gboolean
set_outside (GError **error)
{
  g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                       _ ("it leads out of the folder; data.links follows it"));
  return FALSE;
}

static gboolean
is_within (const char *path, const char *root)
{
  gsize length = strlen (root);

  return strncmp (path, root, length) == 0
         && (length == 1 || path[length] == '/' || path[length] == '\0');
}

gboolean
dyno_image_list_check_inside (const DynoImageList *list, const DynoOpenContext *context,
                              const char *real_root, const char *path, GError **error)
{
  g_autofree char *root = NULL, *lexical = NULL;
  char *real;
  gboolean inside;

  if (!real_root || context->params->links)
    return TRUE;
  root = g_canonicalize_filename (list->root, NULL);
  lexical = g_canonicalize_filename (path, NULL);
  if (!is_within (lexical, root))
    return list->named || set_outside (error);
  real = realpath (path, NULL);
  inside = !real || is_within (real, real_root);
  free (real);
  return inside || set_outside (error);
}

static gboolean
probe_file (const Scan *scan, const DynoListedImage *item, DynoImageFacts *facts, guint64 *size,
            GError **error)
{
  g_autofree char *path = dyno_image_list_get_path (scan->list, item);
  gboolean ok;
  int fd;

  if (!dyno_image_list_check_inside (scan->list, scan->context, scan->real_root, path, error))
    return FALSE;
  fd = dyno_datafile_open (path, size, error);
  if (fd < 0)
    return FALSE;
  ok = dyno_image_probe_file (fd, 0, *size, facts, error);
  close (fd);
  return ok;
}

static gboolean
probe_member (const Scan *scan, guint64 index, const DynoListedImage *item, DynoImageFacts *facts,
              GByteArray *scratch, GError **error)
{
  const DynoContainer *container =
      &g_array_index (scan->list->containers, DynoContainer, item->container);
  guint64 file_size;
  gsize size;
  int fd;
  gboolean ok;

  if (item->deflated)
    return dyno_image_list_read (scan->list, index, scratch, &size, error)
           && dyno_image_probe (scratch->data, size, facts, error);
  fd = container->fd >= 0 ? container->fd : dyno_datafile_open (container->path, &file_size, error);
  if (fd < 0)
    return FALSE;
  ok = dyno_image_probe_file (fd, item->at, item->size, facts, error);
  if (container->fd < 0)
    close (fd);
  return ok;
}

static gboolean
check_size (const DynoListedImage *item, guint64 size, GError **error)
{
  if (size > DYNO_IMAGE_MAX_FILE_BYTES || item->stored > DYNO_IMAGE_MAX_FILE_BYTES)
    g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                         _ ("file of more than 256 MB"));
  else if (item->deflated && item->size > item->stored * DEFLATE_RATIO + DEFLATE_SLACK)
    g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                         _ ("its compressed bytes cannot hold what its header promises"));
  else
    return TRUE;
  return FALSE;
}

static gboolean
probe_item (const Scan *scan, guint64 index, DynoImageFacts *facts, guint64 *size,
            GByteArray *scratch, GError **error)
{
  const DynoListedImage *item = &g_array_index (scan->list->items, DynoListedImage, index);

  *size = item->size;
  if (!check_size (item, *size, error))
    return FALSE;
  if (item->container != DYNO_IMAGE_LIST_NO_CONTAINER)
    return probe_member (scan, index, item, facts, scratch, error);
  return probe_file (scan, item, facts, size, error) && check_size (item, *size, error);
}

static guint64
hash_item (const DynoImageList *list, guint64 index, guint64 size)
{
  const DynoListedImage *item = &g_array_index (list->items, DynoListedImage, index);
  /* Items of a manifest include their index, since it may list a file twice and sets the order of
     the samples. */
  guint64 words[3] = { size, (guint64) item->class_id << 1 | (item->part > DYNO_PART_TRAIN),
                       item->line > 0 ? index : 0 };
  const float *values = list->n_values > 0
                            ? &g_array_index (list->values, float, index * list->n_values)
                            : NULL; /* an empty array may have no memory */

  return dyno_hash_bytes (
      dyno_hash_bytes (dyno_hash_string (DYNO_HASH_START, dyno_image_list_get_name (list, item)),
                       words, sizeof words),
      values, list->n_values * sizeof (float));
}

static void
probe_run (guint64 first, guint64 end, gpointer data)
{
  Scan *scan = data;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  for (guint64 i = first; i < end; i++)
    {
      const DynoImageBox *box;
      DynoImageFacts facts;
      guint32 width, height;
      guint64 size, hash;

      scan->readable[i] = probe_item (scan, i, &facts, &size, scratch, NULL);
      if (!scan->readable[i])
        continue;
      dyno_image_get_shown (&facts, &width, &height);
      hash = hash_item (scan->list, i, size);
      box = dyno_image_list_get_box (scan->list, i);
      if (box)
        {
          width = (guint32) box->width;
          height = (guint32) box->height;
          hash = dyno_hash_bytes (hash, box, sizeof *box);
        }
      if (scan->list->masks)
        {
          DynoListedMask *mask = &g_array_index (scan->list->masks->items, DynoListedMask, i);

          mask->image = facts;
          mask->image_hash = hash;
          mask->image_bytes = size;
        }
      g_mutex_lock (&scan->mutex);
      scan->size_bytes += size;
      scan->content_hash += hash;
      scan->min_width = MIN (scan->min_width, width);
      scan->max_width = MAX (scan->max_width, width);
      scan->min_height = MIN (scan->min_height, height);
      scan->max_height = MAX (scan->max_height, height);
      g_mutex_unlock (&scan->mutex);
    }
}

static void
note_refused (const Scan *scan, DynoDataset *dataset, guint64 index)
{
  const DynoImageList *list = scan->list;
  const DynoListedImage *item = &g_array_index (list->items, DynoListedImage, index);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autofree char *name = NULL, *reason = NULL;
  g_autoptr (GError) error = NULL;
  DynoImageFacts facts;
  guint64 size;

  if (dataset->unreadable->len < scan->context->max_listed
      && probe_item (scan, index, &facts, &size, scratch, &error))
    g_set_error_literal (&error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ,
                         _ ("it changed while it was read"));
  if (item->line == 0 || !list->manifest)
    {
      dyno_image_list_note (dataset, scan->context, dyno_image_list_get_name (list, item), 0,
                            error ? error->message : "");
      return;
    }
  name = g_filename_display_name (dyno_image_list_get_name (list, item));
  reason = g_strdup_printf ("“%s”: %s", name, error ? error->message : "");
  dyno_image_list_note (dataset, scan->context, list->manifest, item->line, reason);
}

/* Keeps the readable items and counts those of each class. */
static void
keep_readable (DynoImageList *list, DynoDataset *dataset, const Scan *scan)
{
  DynoDatasetInfo *info = &dataset->info;

  for (guint i = 0; i < list->items->len; i++)
    {
      const DynoListedImage *item = &g_array_index (list->items, DynoListedImage, i);

      if (!scan->readable[i])
        {
          note_refused (scan, dataset, i);
          continue;
        }
      if (list->labels)
        dyno_dataset_info_count_labels (
            info, &g_array_index (list->values, float, (gsize) i * list->n_values));
      else if (list->n_values == 0 && !list->masks)
        info->class_counts[item->class_id]++;
      info->has_split = info->has_split || item->part > DYNO_PART_TRAIN;
    }
  dyno_image_list_keep (list, scan->readable);
  info->n_samples = list->items->len;
}

static void
fill_info (const DynoImageList *list, DynoDatasetInfo *info, const Scan *scan)
{
  gboolean any = info->n_samples > 0;

  info->size_bytes = scan->size_bytes;
  info->content_hash = scan->content_hash;
  info->min_width = any ? scan->min_width : 0;
  info->min_height = any ? scan->min_height : 0;
  info->max_width = scan->max_width;
  info->max_height = scan->max_height;
  info->resizable = TRUE;
  info->knows_values = list->n_values > 0;
  info->schema = (list->labels ? dyno_schema_image_with_labels : dyno_schema_image) (
      DYNO_ELEMENT_U8, info->max_height, info->max_width, 3, list->n_values);
  dyno_dataset_info_photographs (info);
}

gboolean
dyno_image_list_finish (DynoImageList *list, DynoDataset *dataset, const DynoOpenContext *context,
                        GError **error)
{
  Scan scan = { .list = list,
                .context = context,
                .content_hash = DYNO_HASH_START,
                .min_width = G_MAXUINT32,
                .min_height = G_MAXUINT32 };
  g_autofree guint8 *readable = g_new0 (guint8, MAX (list->items->len, 1));
  gboolean ok;

  scan.readable = readable;
  scan.real_root = list->root ? realpath (list->root, NULL) : NULL;
  g_mutex_init (&scan.mutex);
  ok = dyno_scan_threads_run (list->items->len, RUN, MIN (dyno_cores_count () + 1, MAX_THREADS),
                              probe_run, &scan, context->progress, context->progress_data,
                              context->cancellable, error);
  if (ok)
    {
      keep_readable (list, dataset, &scan);
      fill_info (list, &dataset->info, &scan);
    }
  g_mutex_clear (&scan.mutex);
  free (scan.real_root);
  return ok;
}
