/* SPDX-License-Identifier: MIT */
/* Recognises the folders of images and masks by their names. */
#include "foldernames.h"
#include "maskpairs.h"
#include <string.h>

#define MAX_DEPTH 4
#define MAX_LOOKS 4096 /* names that are checked in search of a PNG */

/* Usual names of the folders of images, and of masks, in lower case; the first word that is the
 * name of a sub-folder decides. */
static const char *const image_words[] = { "leftimg8bit", "jpegimages", "images", "image",
                                           "imgs",        "img",        "photos", "inputs",
                                           "original",    "originals",  NULL };
static const char *const mask_words[] = { "gtfine",
                                          "gtcoarse",
                                          "segmentationclass",
                                          "masks",
                                          "mask",
                                          "labels",
                                          "label",
                                          "annotations",
                                          "annotation",
                                          "trimaps",
                                          "segmentation",
                                          "segmentations",
                                          "annot",
                                          "gt",
                                          "ground_truth",
                                          "groundtruth",
                                          NULL };

static void
clear_folders (gpointer data)
{
  DynoMaskFolders *one = data;

  g_free (one->images);
  g_free (one->masks);
}

GArray *
dyno_mask_folders_new (void)
{
  GArray *folders = g_array_new (FALSE, FALSE, sizeof (DynoMaskFolders));

  g_array_set_clear_func (folders, clear_folders);
  return folders;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* The folders in a folder, in the order of their names. */
static GPtrArray *
list_folders (const char *path)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  DIR *dir = opendir (path);
  const struct dirent *entry;

  while (dir && (entry = dyno_folder_next_entry (dir)))
    if (entry->d_name[0] != '.' && !dyno_name_is_left_behind (entry->d_name, NULL)
        && dyno_folder_entry_is_folder (path, entry))
      g_ptr_array_add (names, g_strdup (entry->d_name));
  if (dir)
    closedir (dir);
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* TRUE where a PNG lies in the folder, or in a folder below it. */
static gboolean
has_png (const char *path, guint depth, guint *looks)
{
  DIR *dir = opendir (path);
  const struct dirent *entry;
  gboolean found = FALSE;

  while (dir && !found && *looks < MAX_LOOKS && (entry = dyno_folder_next_entry (dir)))
    {
      g_autofree char *full = g_build_filename (path, entry->d_name, NULL);
      const char *dot = strrchr (entry->d_name, '.');

      (*looks)++;
      if (entry->d_name[0] == '.')
        continue;
      found = (dot && g_ascii_strcasecmp (dot, ".png") == 0)
              || (depth > 0 && dyno_folder_entry_is_folder (path, entry)
                  && has_png (full, depth - 1, looks));
    }
  if (dir)
    closedir (dir);
  return found;
}

static gboolean
is_word (const char *name, const char *const *words)
{
  g_autofree char *lower = g_ascii_strdown (name, -1);

  return g_strv_contains (words, lower);
}

gboolean
dyno_mask_folders_are (const char *first, const char *second)
{
  return (is_word (first, image_words) && is_word (second, mask_words))
         || (is_word (first, mask_words) && is_word (second, image_words));
}

/* The folder that the first matching word names; with masks, a folder with a PNG in it. */
static const char *
find_word (const char *path, const GPtrArray *names, const char *const *words, gboolean masks)
{
  for (guint w = 0; words[w]; w++)
    for (guint i = 0; i < names->len; i++)
      {
        g_autofree char *full = NULL;
        guint looks = 0;

        if (g_ascii_strcasecmp (names->pdata[i], words[w]) != 0)
          continue;
        full = g_build_filename (path, names->pdata[i], NULL);
        if (!masks || has_png (full, MAX_DEPTH, &looks))
          return names->pdata[i];
      }
  return NULL;
}

/* prefix: the folder below the root, or "". */
static void
add_folders (GArray *folders, const char *prefix, const char *images, const char *masks,
             DynoPart part)
{
  DynoMaskFolders one = { .part = part };

  one.images = *prefix ? g_build_filename (prefix, images, NULL) : g_strdup (images);
  one.masks = *prefix ? g_build_filename (prefix, masks, NULL) : g_strdup (masks);
  g_array_append_val (folders, one);
}

/* images/ and masks/ in a folder. */
static gboolean
find_pair (const char *root, const char *prefix, DynoPart part, GArray *folders)
{
  g_autofree char *path = g_build_filename (root, prefix, NULL);
  g_autoptr (GPtrArray) names = list_folders (path);
  const char *images = find_word (path, names, image_words, FALSE),
             *masks = images ? find_word (path, names, mask_words, TRUE) : NULL;

  if (!masks)
    return FALSE;
  add_folders (folders, prefix, images, masks, part);
  return TRUE;
}

/* The part in the name of a folder of masks, such as train_masks, masks_train or trainannot. */
static DynoPart
part_of_masks (const char *name)
{
  g_autofree char *rest = NULL, *stem = NULL;
  DynoPart part = dyno_part_of_name (name, &rest);

  if (part != DYNO_PART_NONE)
    return g_strv_contains (mask_words, rest) ? part : DYNO_PART_NONE;
  if (!g_str_has_suffix (name, "annot"))
    return DYNO_PART_NONE;
  stem = g_strndup (name, strlen (name) - strlen ("annot"));
  return dyno_part_of_name (stem, NULL);
}

/* train/ or train_images/ beside train_masks/. */
static void
find_siblings (const char *root, const GPtrArray *names, GArray *folders)
{
  for (guint i = 0; i < names->len; i++)
    {
      DynoPart part = dyno_part_of_name (names->pdata[i], NULL);

      for (guint k = 0; part != DYNO_PART_NONE && k < names->len; k++)
        {
          g_autofree char *full = g_build_filename (root, names->pdata[k], NULL);
          guint looks = 0;

          if (part_of_masks (names->pdata[k]) != part || !has_png (full, MAX_DEPTH, &looks))
            continue;
          add_folders (folders, "", names->pdata[i], names->pdata[k], part);
          break;
        }
    }
}

gboolean
dyno_mask_folders_find (const char *root, GArray *folders)
{
  g_autoptr (GPtrArray) names = NULL;

  if (find_pair (root, "", DYNO_PART_NONE, folders))
    return TRUE;
  names = list_folders (root);
  for (guint i = 0; i < names->len; i++)
    {
      DynoPart part = dyno_part_of_name (names->pdata[i], NULL);

      if (part != DYNO_PART_NONE)
        find_pair (root, names->pdata[i], part, folders);
    }
  if (folders->len == 0)
    find_siblings (root, names, folders);
  return folders->len > 0;
}
