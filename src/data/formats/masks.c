/* SPDX-License-Identifier: MIT */
/* Folders of images and masks: images/ and masks/, PASCAL VOC's, Cityscapes', with parts at either
 * level (train/images, or images/train).
 *
 * Invariants: samples are in the order of their images' paths; an image without a mask is left out
 * with a note, any other unusable file is listed. */
#include "datafile.h"
#include "intl.h"
#include "maskpairs.h"
#include <inttypes.h>
#include <string.h>

#define SAMPLED    64 /* masks that decide whether a folder is of images and masks */
#define LIST_BYTES (G_GUINT64_CONSTANT (64) << 20)

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  DynoImageList *list;
  GArray *folders;
  DynoMaskPairs *pairs;
  GHashTable *listed; /* for VOC: from a stem to its DynoPart; NULL: there are no lists */
  GArray *parts;      /* guint8: DynoPart of each item */
  guint64 n_without, n_both;
  const char *first_without;
  char *first_both; /* the first image that is listed for both parts */
} Masks;

/* TRUE for a folder with a folder of images and a folder of masks, whatever the names of their
 * files. */
static gboolean
masks_can_be (const DynoLocation *location)
{
  g_autoptr (GArray) folders = dyno_mask_folders_new ();

  return !location->scheme && location->is_folder
         && dyno_mask_folders_find (location->body, folders);
}

/* Two folders of these names could also be two classes: they are images and masks where the files
 * of both have the same names. */
static gboolean
masks_matches (const DynoLocation *location)
{
  g_autoptr (GArray) folders = dyno_mask_folders_new ();
  g_autoptr (DynoMaskPairs) pairs = NULL;
  guint used = 0;

  if (location->scheme || !location->is_folder || !dyno_mask_folders_find (location->body, folders))
    return FALSE;
  pairs = dyno_mask_pairs_new (location->body, folders, SAMPLED);
  for (guint i = 0; i < pairs->masks->len; i++)
    used += ((DynoMaskFile *) pairs->masks->pdata[i])->used;
  return used > 0 && 2 * used >= pairs->masks->len;
}

/* --- PASCAL VOC ------------------------------------------------------------------------------- */

static gboolean
is_voc (const Masks *m)
{
  const DynoMaskFolders *first = &g_array_index (m->folders, DynoMaskFolders, 0);

  return m->folders->len == 1 && strcmp (first->images, "JPEGImages") == 0
         && strcmp (first->masks, "SegmentationClass") == 0;
}

/* Each line of a file such as ImageSets/Segmentation/train.txt is the stem of an image. */
static gboolean
read_list (Masks *m, const char *name, DynoPart part, GError **error)
{
  g_autofree char *path = g_build_filename (m->list->root, "ImageSets", "Segmentation", name, NULL);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_auto (GStrv) lines = NULL;
  gsize size;

  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  if (!dyno_datafile_read (path, LIST_BYTES, bytes, &size, error))
    return FALSE;
  g_byte_array_set_size (bytes, (guint) size);
  g_byte_array_append (bytes, (const guint8 *) "", 1);
  lines = g_strsplit ((const char *) bytes->data, "\n", -1);
  if (!m->listed)
    m->listed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; lines[i]; i++)
    if (*g_strstrip (lines[i]) != '\0')
      {
        gpointer before;

        if (g_hash_table_lookup_extended (m->listed, lines[i], NULL, &before)
            && GPOINTER_TO_INT (before) != (int) part && m->n_both++ == 0)
          m->first_both = g_strdup (lines[i]);
        g_hash_table_insert (m->listed, g_strdup (lines[i]), GINT_TO_POINTER (part));
      }
  return TRUE;
}

/* --- samples ---------------------------------------------------------------------------------- */

static gboolean
add_sample (Masks *m, const DynoMaskFile *image, const DynoMaskFile *mask, DynoPart part,
            GError **error)
{
  DynoListedImage item = { .container = DYNO_IMAGE_LIST_NO_CONTAINER };
  DynoListedMask listed = { .orientation = 1 };
  guint8 byte = (guint8) part;

  if (!dyno_image_list_add_name (m->list, image->path, strlen (image->path), &item.name, error)
      || !dyno_image_list_add_name (m->list, mask->path, strlen (mask->path), &listed.name, error))
    return FALSE;
  g_array_append_val (m->list->items, item);
  g_array_append_val (m->list->masks->items, listed);
  g_array_append_val (m->parts, byte);
  return TRUE;
}

static gboolean
take_image (Masks *m, guint index, GError **error)
{
  const DynoMaskFile *image = m->pairs->images->pdata[index], *mask;
  gint place = g_array_index (m->pairs->mask_of, gint, index);
  DynoPart part = image->part;

  if (place == DYNO_MASK_AMBIGUOUS)
    dyno_image_list_note (m->dataset, m->context, image->path, 0,
                          _ ("several masks have its name; give each image one mask"));
  if (place == DYNO_MASK_NONE && !m->listed && m->n_without++ == 0)
    m->first_without = image->path;
  if (place < 0)
    return TRUE;
  mask = m->pairs->masks->pdata[place];
  if (part == DYNO_PART_NONE)
    part = mask->part;
  if (m->listed)
    {
      part = (DynoPart) GPOINTER_TO_INT (g_hash_table_lookup (m->listed, image->stem));
      g_hash_table_remove (m->listed, image->stem);
      if (part == DYNO_PART_NONE)
        return TRUE; /* the image is in no list */
    }
  return add_sample (m, image, mask, part, error);
}

static int
compare_stems (gconstpointer a, gconstpointer b)
{
  return strcmp (a, b);
}

static void
note_left (Masks *m)
{
  for (guint i = 0; i < m->pairs->masks->len; i++)
    {
      const DynoMaskFile *mask = m->pairs->masks->pdata[i];

      if (!mask->used)
        dyno_image_list_note (m->dataset, m->context, mask->path, 0,
                              _ ("a mask of which there is no image"));
    }
  if (m->n_without > 0)
    {
      g_autofree char *shown = g_filename_display_name (m->first_without);
      g_ptr_array_add (
          m->dataset->notes,
          g_strdup_printf (ngettext ("%" PRIu64 " image has no mask and is left out: %s",
                                     "%" PRIu64 " images have no mask and are left out, the first: "
                                     "%s",
                                     (gulong) m->n_without),
                           m->n_without, shown));
    }
  if (m->n_both > 0)
    g_ptr_array_add (
        m->dataset->notes,
        g_strdup_printf (ngettext ("%" PRIu64 " image is in train.txt and in val.txt, and is not "
                                   "trained on: %s",
                                   "%" PRIu64 " images are in train.txt and in val.txt, and are "
                                   "not trained on, the first: %s",
                                   (gulong) m->n_both),
                         m->n_both, m->first_both));
  if (m->listed)
    {
      g_autoptr (GList) stems = g_list_sort (g_hash_table_get_keys (m->listed), compare_stems);

      for (GList *l = stems; l; l = l->next)
        dyno_image_list_note (m->dataset, m->context, l->data, 0,
                              _ ("ImageSets/Segmentation lists it, and it has no image with a "
                                 "mask"));
    }
}

static gboolean
take_pairs (Masks *m, GError **error)
{
  m->list->masks->kind = is_voc (m) ? DYNO_MASKS_VOC : m->pairs->kind;
  if (is_voc (m)
      && (!read_list (m, "train.txt", DYNO_PART_TRAIN, error)
          || !read_list (m, "val.txt", DYNO_PART_VALIDATION, error)))
    return FALSE;
  for (guint i = 0; i < m->pairs->images->len; i++)
    if (!take_image (m, i, error))
      return FALSE;
  note_left (m);
  dyno_image_list_take_parts (m->list, m->parts);
  return TRUE;
}

static gboolean
find_names (Masks *m, GError **error)
{
  const char *root = m->list->root;
  const DynoMaskFolders *first = &g_array_index (m->folders, DynoMaskFolders, 0);
  g_autofree char *masks = g_build_filename (root, first->masks, NULL);
  const char *const folders[] = { root, masks, NULL };

  return dyno_mask_names_find (&m->list->masks->names, folders, error);
}

/* Records a guess where folders that could also be classes are read as masks without a request. */
static void
note_guess (Masks *m)
{
  const DynoMaskFolders *first = &g_array_index (m->folders, DynoMaskFolders, 0);
  g_autofree char *images = g_filename_display_name (first->images),
                  *masks = g_filename_display_name (first->masks);

  if (m->context->params->task == DYNO_TASK_PIXELS || m->list->masks->kind != DYNO_MASKS_PLAIN)
    return;
  dyno_dataset_info_guess (
      &m->dataset->info, TRUE,
      g_strdup_printf (_ ("“%s” and “%s” have files of the same names"), images, masks));
}

static gboolean
masks_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoImageList *list = dataset->state = dyno_image_list_new ();
  Masks m = { .dataset = dataset, .context = context, .list = list };
  gboolean ok;

  list->root = g_strdup (context->location->body);
  list->masks = dyno_mask_list_new ();
  m.folders = dyno_mask_folders_new ();
  m.parts = g_array_new (FALSE, FALSE, sizeof (guint8));
  ok = dyno_mask_folders_find (list->root, m.folders);
  if (!ok)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY,
                 _ ("“%s” has no folder of images beside one of masks any more"),
                 dataset->info.name);
  if (ok)
    {
      m.pairs = dyno_mask_pairs_new (list->root, m.folders, 0);
      ok = find_names (&m, error) && take_pairs (&m, error);
      note_guess (&m);
    }
  dyno_mask_pairs_free (m.pairs);
  g_clear_pointer (&m.listed, g_hash_table_unref);
  g_free (m.first_both);
  g_array_unref (m.folders);
  g_array_unref (m.parts);
  return ok && dyno_mask_list_finish (list, dataset, context, error);
}

const DynoDatasetClass dyno_dataset_class_masks = {
  .kind = "masks",
  .title = "Images with masks",
  .matches = masks_matches,
  .can_be = masks_can_be,
  .open = masks_open,
  DYNO_MASK_LIST_METHODS,
};
