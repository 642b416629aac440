/* SPDX-License-Identifier: MIT */
/* Matches masks with images by their names.
 *
 * Invariants: a mask of another part is never taken; among several masks that match, a mask in the
 * same sub-folder is preferred, then a mask of the same part, then a mask with exactly the stem of
 * the image; where two match equally well, neither is taken. */
#include "maskpairs.h"
#include "foldernames.h"
#include <string.h>

#define MAX_DEPTH 6

/* Suffixes in which the stem of a mask, or of an image, may differ from the other stem, in lower
 * case; longer ones first. */
static const char *const mask_suffixes[] = { "_gtfine_labeltrainids",
                                             "_gtcoarse_labeltrainids",
                                             "_gtfine_labelids",
                                             "_gtcoarse_labelids",
                                             "_labeltrainids",
                                             "_labelids",
                                             "_segmentation",
                                             "_annotation",
                                             "_labels",
                                             "_label",
                                             "_masks",
                                             "_mask",
                                             "-mask",
                                             "_seg",
                                             "_gt",
                                             "_l",
                                             "_p",
                                             NULL };
static const char *const image_suffixes[] = { "_leftimg8bit", "_image", "_img", "_sat", NULL };

static void
free_file (gpointer data)
{
  DynoMaskFile *file = data;

  g_free (file->path);
  g_free (file->place);
  g_free (file->stem);
  g_free (file);
}

/* --- listing ---------------------------------------------------------------------------------- */

typedef struct {
  const char *root;
  GPtrArray *files;
  guint most; /* 0: all */
  gboolean png_only;
} Walk;

static gboolean
is_image_name (const char *name, gboolean png_only)
{
  static const char *const endings[] = { "png", "jpg", "jpeg", "jpe", "webp",
                                         "bmp", "tif", "tiff", "gif", NULL };
  const char *dot = strrchr (name, '.');

  for (guint i = 0; dot && dot > name && endings[i] && (i == 0 || !png_only); i++)
    if (g_ascii_strcasecmp (dot + 1, endings[i]) == 0)
      return TRUE;
  return FALSE;
}

static void
add_file (Walk *walk, const char *path, const char *place, const char *name, DynoPart part)
{
  DynoMaskFile *file = g_new0 (DynoMaskFile, 1);

  file->path = g_strdup (path);
  file->place = g_strdup (place);
  file->stem = g_strndup (name, (gsize) (strrchr (name, '.') - name));
  file->part = part;
  g_ptr_array_add (walk->files, file);
}

/* path: below the root; place: below the folder of the images or masks.  A link to a folder is not
 * followed, since it may lead back. */
static void
walk_folder (Walk *walk, const char *path, const char *place, DynoPart part, guint depth)
{
  g_autofree char *full = g_build_filename (walk->root, path, NULL);
  DIR *dir = opendir (full);
  const struct dirent *entry;

  while (dir && (walk->most == 0 || walk->files->len < walk->most)
         && (entry = dyno_folder_next_entry (dir)))
    {
      const char *name = entry->d_name;
      g_autofree char *inner = g_build_filename (path, name, NULL), *inner_place = NULL;
      DynoPart inner_part;

      if (name[0] == '.' || dyno_name_is_left_behind (name, NULL))
        continue;
      if (is_image_name (name, walk->png_only))
        {
          add_file (walk, inner, place, name, part);
          continue;
        }
      if (depth == 0 || entry->d_type == DT_LNK || !dyno_folder_entry_is_folder (full, entry))
        continue;
      inner_part = part == DYNO_PART_NONE ? dyno_part_of_name (name, NULL) : DYNO_PART_NONE;
      inner_place =
          inner_part != DYNO_PART_NONE ? g_strdup (place) : g_build_filename (place, name, NULL);
      walk_folder (walk, inner, inner_place, part != DYNO_PART_NONE ? part : inner_part, depth - 1);
    }
  if (dir)
    closedir (dir);
}

static int
compare_files (gconstpointer a, gconstpointer b)
{
  const DynoMaskFile *first = *(const DynoMaskFile *const *) a,
                     *second = *(const DynoMaskFile *const *) b;
  return strcmp (first->path, second->path);
}

/* --- Cityscapes ------------------------------------------------------------------------------- */

static gboolean
ends_with (const char *stem, const char *suffix)
{
  gsize length = strlen (stem), end = strlen (suffix);

  return length > end && g_ascii_strcasecmp (stem + length - end, suffix) == 0;
}

static void
keep_ending (GPtrArray *files, const char *suffix)
{
  for (guint i = files->len; i > 0; i--)
    if (!ends_with (((DynoMaskFile *) files->pdata[i - 1])->stem, suffix))
      g_ptr_array_remove_index (files, i - 1);
}

/* Keeps one kind of Cityscapes' files for an image (ids, training ids, instances, colours). */
static DynoMaskKind
keep_ids (GPtrArray *files)
{
  gboolean ids = FALSE, train_ids = FALSE;

  for (guint i = 0; i < files->len; i++)
    {
      const DynoMaskFile *file = files->pdata[i];

      train_ids = train_ids || ends_with (file->stem, "_labelTrainIds");
      ids = ids || ends_with (file->stem, "_labelIds");
    }
  if (!ids && !train_ids)
    return DYNO_MASKS_PLAIN;
  keep_ending (files, train_ids ? "_labelTrainIds" : "_labelIds");
  return train_ids ? DYNO_MASKS_CITYSCAPES_TRAIN : DYNO_MASKS_CITYSCAPES;
}

/* --- matching --------------------------------------------------------------------------------- */

/* The stem in lower case without one of the suffixes; NULL: it has no such suffix. */
static char *
strip (const char *stem, const char *const *suffixes)
{
  for (guint i = 0; suffixes[i]; i++)
    if (ends_with (stem, suffixes[i]))
      return g_ascii_strdown (stem, (gssize) (strlen (stem) - strlen (suffixes[i])));
  return NULL;
}

static void
add_key (GHashTable *by_stem, char *key, guint index)
{
  GArray *list = key ? g_hash_table_lookup (by_stem, key) : NULL;

  if (!key)
    return;
  if (!list)
    {
      list = g_array_new (FALSE, FALSE, sizeof (guint));
      g_hash_table_insert (by_stem, g_strdup (key), list);
    }
  g_array_append_val (list, index);
  g_free (key);
}

/* A higher score is a better match; -1: the mask cannot belong to the image. */
static int
score (const DynoMaskFile *image, const DynoMaskFile *mask)
{
  if (image->part != mask->part && image->part != DYNO_PART_NONE && mask->part != DYNO_PART_NONE)
    return -1;
  return 4 * (strcmp (image->place, mask->place) == 0) + 2 * (image->part == mask->part)
         + (strcmp (image->stem, mask->stem) == 0);
}

static void
choose (const DynoMaskPairs *pairs, GHashTable *by_stem, const DynoMaskFile *image, char *key,
        int *best, gint *chosen)
{
  const GArray *list = key ? g_hash_table_lookup (by_stem, key) : NULL;

  for (guint i = 0; list && i < list->len; i++)
    {
      guint index = g_array_index (list, guint, i);
      int fit = score (image, pairs->masks->pdata[index]);

      if (fit < 0 || fit < *best || *chosen == (gint) index)
        continue;
      *chosen = fit > *best ? (gint) index : DYNO_MASK_AMBIGUOUS;
      *best = fit;
    }
  g_free (key);
}

static void
match (DynoMaskPairs *pairs)
{
  g_autoptr (GHashTable) by_stem =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);

  for (guint i = 0; i < pairs->masks->len; i++)
    {
      const DynoMaskFile *mask = pairs->masks->pdata[i];

      add_key (by_stem, g_ascii_strdown (mask->stem, -1), i);
      add_key (by_stem, strip (mask->stem, mask_suffixes), i);
    }
  for (guint i = 0; i < pairs->images->len; i++)
    {
      const DynoMaskFile *image = pairs->images->pdata[i];
      gint chosen = DYNO_MASK_NONE;
      int best = -1;

      choose (pairs, by_stem, image, g_ascii_strdown (image->stem, -1), &best, &chosen);
      if (chosen == DYNO_MASK_NONE)
        choose (pairs, by_stem, image, strip (image->stem, image_suffixes), &best, &chosen);
      if (chosen >= 0)
        ((DynoMaskFile *) pairs->masks->pdata[chosen])->used = TRUE;
      g_array_append_val (pairs->mask_of, chosen);
    }
}

DynoMaskPairs *
dyno_mask_pairs_new (const char *root, const GArray *folders, guint most_masks)
{
  DynoMaskPairs *pairs = g_new0 (DynoMaskPairs, 1);
  Walk images = { .root = root }, masks = { .root = root, .most = most_masks, .png_only = TRUE };

  images.files = pairs->images = g_ptr_array_new_with_free_func (free_file);
  masks.files = pairs->masks = g_ptr_array_new_with_free_func (free_file);
  pairs->mask_of = g_array_new (FALSE, FALSE, sizeof (gint));
  for (guint i = 0; i < folders->len; i++)
    {
      const DynoMaskFolders *one = &g_array_index (folders, DynoMaskFolders, i);

      walk_folder (&images, one->images, "", one->part, MAX_DEPTH);
      walk_folder (&masks, one->masks, "", one->part, MAX_DEPTH);
    }
  pairs->kind = keep_ids (pairs->masks);
  g_ptr_array_sort (pairs->images, compare_files);
  g_ptr_array_sort (pairs->masks, compare_files);
  match (pairs);
  return pairs;
}

void
dyno_mask_pairs_free (DynoMaskPairs *pairs)
{
  if (!pairs)
    return;
  g_ptr_array_unref (pairs->images);
  g_ptr_array_unref (pairs->masks);
  g_array_unref (pairs->mask_of);
  g_free (pairs);
}
