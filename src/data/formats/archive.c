/* SPDX-License-Identifier: MIT */
/* An image folder within a .zip or .tar archive, read where it lies and never unpacked.  The layout
 * is the folder's: one folder a class, or train/, val/ and test/ (partnames.h) with one folder a
 * class each; a single folder around all of this is skipped.
 *
 * Invariants: the members are listed once, at open; samples, classes and order are those of the
 * folder that the archive was made of, whatever the order of its members; each sample is read with
 * pread from the archive's one descriptor, and inflated by the worker that decodes it. */
#include "imagelist.h"
#include "datafile.h"
#include "intl.h"
#include "maskpairs.h"
#include "members.h"
#include "partnames.h"
#include <string.h>
#include <unistd.h>

#define MAX_AROUND 8

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  DynoImageList *list;
  guint32 container;
  GPtrArray *left; /* names of files that systems leave behind */
} Load;

static gboolean
archive_matches (const DynoLocation *location)
{
  const char *other;
  guint64 size;
  gboolean matches;
  int fd;

  if (location->scheme || !location->is_regular)
    return FALSE;
  fd = dyno_datafile_open (location->body, &size, NULL);
  if (fd < 0)
    return FALSE;
  matches = dyno_archive_guess (fd, size, &other) != DYNO_ARCHIVE_NONE;
  close (fd);
  return matches;
}

/* Files that folders and systems add are no samples. */
static gboolean
is_hidden (const char *name, GPtrArray *left)
{
  g_auto (GStrv) steps = g_strsplit (name, "/", -1);

  for (guint i = 0; steps[i]; i++)
    if ((steps[i][0] == '.' && steps[i][1] != '\0') || dyno_name_is_left_behind (steps[i], left))
      return TRUE;
  return FALSE;
}

static gboolean
leads_out (const char *name)
{
  return name[0] == '/' || g_str_has_prefix (name, "../") || strstr (name, "/../")
         || g_str_has_suffix (name, "/..");
}

static gboolean
take_member (const DynoMember *member, gpointer data, GError **error)
{
  Load *load = data;
  DynoListedImage item = { .container = load->container,
                           .at = member->at,
                           .stored = member->stored,
                           .size = member->size,
                           .deflated = member->deflated };
  const char *refused = member->refused;

  if (!refused && leads_out (member->name))
    refused = _ ("its name leads out of the archive");
  if (refused)
    {
      dyno_image_list_note (load->dataset, load->context, member->name, 0, refused);
      return TRUE;
    }
  if (is_hidden (member->name, load->left))
    return TRUE;
  if (!dyno_image_list_add_name (load->list, member->name, strlen (member->name), &item.name,
                                 error))
    return FALSE;
  g_array_append_val (load->list->items, item);
  if (load->list->items->len % 256 == 0 && load->context->progress)
    load->context->progress (load->list->items->len, load->context->progress_data);
  return TRUE;
}

static const char *
name_of (const DynoImageList *list, guint i)
{
  return dyno_image_list_get_name (list, &g_array_index (list->items, DynoListedImage, i));
}

/* The folders that members lie in, below a prefix that ends with '/' or is empty. */
static GHashTable *
list_folders (const DynoImageList *list, const char *prefix)
{
  GHashTable *folders = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < list->items->len; i++)
    {
      const char *name = name_of (list, i), *slash = NULL;

      if (g_str_has_prefix (name, prefix))
        {
          name += strlen (prefix);
          slash = strchr (name, '/');
        }
      if (slash)
        g_hash_table_add (folders, g_strndup (name, (gsize) (slash - name)));
    }
  return folders;
}

static guint
count_folders (const DynoImageList *list, const char *prefix)
{
  g_autoptr (GHashTable) folders = list_folders (list, prefix);
  return g_hash_table_size (folders);
}

typedef struct {
  const DynoImageList *list;
  const char *around;
} Within;

static gboolean
can_be_part (const char *name, gpointer data)
{
  const Within *within = data;
  g_autofree char *prefix = g_strconcat (within->around, name, "/", NULL);

  return count_folders (within->list, prefix) > 0;
}

static void
choose_parts (const DynoImageList *list, const char *around, GHashTable *folders,
              DynoPartFolders *parts)
{
  g_autofree char **names = (char **) g_hash_table_get_keys_as_array (folders, NULL);
  Within within = { .list = list, .around = around };

  dyno_part_folders_choose (parts, (const char *const *) names, can_be_part, &within);
}

/* The folders around all others: each is the only one of its level, down to the first level that
 * has several folders or the parts. */
static char *
find_around (const DynoImageList *list)
{
  g_autoptr (GString) around = g_string_new (NULL);

  for (guint level = 0; level < MAX_AROUND; level++)
    {
      g_autoptr (GHashTable) folders = list_folders (list, around->str);
      GHashTableIter iter;
      DynoPartFolders parts;
      gpointer name;
      gboolean found;

      choose_parts (list, around->str, folders, &parts);
      found = g_hash_table_size (folders) > 1 || parts.train;
      dyno_part_folders_clear (&parts);
      if (found)
        return g_string_free (g_steal_pointer (&around), FALSE);
      g_hash_table_iter_init (&iter, folders);
      if (!g_hash_table_iter_next (&iter, &name, NULL))
        break;
      g_string_append_printf (around, "%s/", (char *) name);
    }
  return g_strdup ("");
}

/* The prefix of the names of a part's members: where the part holds only a folder of the same name
 * or part, that folder is skipped. */
static char *
enter_part (const DynoImageList *list, const char *around, const char *name)
{
  char *prefix = g_strconcat (around, name, "/", NULL);
  DynoPart part = dyno_part_of_name (name, NULL);

  for (guint i = 0; i < MAX_AROUND; i++)
    {
      g_autoptr (GHashTable) folders = list_folders (list, prefix);
      g_autofree char **names = (char **) g_hash_table_get_keys_as_array (folders, NULL);
      g_autofree char *inner = NULL;

      if (g_hash_table_size (folders) != 1)
        break;
      inner = g_strconcat (prefix, names[0], "/", NULL);
      if ((g_ascii_strcasecmp (names[0], name) != 0
           && (part == DYNO_PART_NONE || dyno_part_of_name (names[0], NULL) != part))
          || count_folders (list, inner) == 0)
        break;
      g_free (prefix);
      prefix = g_steal_pointer (&inner);
    }
  return prefix;
}

static void
note_doubts (DynoDataset *dataset, const DynoImageList *list, char *const *prefixes)
{
  DynoSubfolders subfolders;
  char *doubt;

  dyno_subfolders_init (&subfolders);
  for (guint i = 0; i < list->items->len; i++)
    {
      const DynoListedImage *item = &g_array_index (list->items, DynoListedImage, i);
      const char *name = name_of (list, i) + strlen (prefixes[item->part]),
                 *inner = strchr (name, '/') + 1, *slash = strchr (inner, '/');

      if (slash)
        dyno_subfolders_add (&subfolders, item->class_id, inner, (gsize) (slash - inner));
    }
  doubt = dyno_subfolders_doubt (&subfolders, dataset->info.class_names, dataset->info.n_classes);
  if (doubt)
    g_ptr_array_add (dataset->notes, doubt);
  dyno_subfolders_clear (&subfolders);
}

/* The name of the folder of a class that a member of a part lies in; NULL: it lies in none. */
static char *
find_class (const char *name, const char *prefix)
{
  const char *slash;

  if (!prefix || !g_str_has_prefix (name, prefix))
    return NULL;
  name += strlen (prefix);
  slash = strchr (name, '/');
  return slash ? g_strndup (name, (gsize) (slash - name)) : NULL;
}

/* Appends the items of one part to taken.  A test part adds no class, as in a folder: names of
 * folders that are no class are added to others. */
static void
take_part (const DynoImageList *list, DynoPart part, const char *prefix, DynoLabelTable *labels,
           GArray *taken, GPtrArray *others)
{
  for (guint i = 0; i < list->items->len; i++)
    {
      DynoListedImage item = g_array_index (list->items, DynoListedImage, i);
      g_autofree char *folder = find_class (name_of (list, i), prefix);

      if (!folder)
        continue;
      item.part = (guint8) part;
      if (part == DYNO_PART_TEST && !g_hash_table_contains (labels->ids, folder))
        {
          if (!g_ptr_array_find_with_equal_func (others, folder, g_str_equal, NULL))
            g_ptr_array_add (others, g_steal_pointer (&folder));
          continue;
        }
      item.class_id = (gint32) dyno_label_table_add (labels, folder);
      g_array_append_val (taken, item);
    }
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static void
note_others (DynoDataset *dataset, GPtrArray *others)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_ptr_array_sort (others, compare_names);
  for (guint i = 0; i < others->len; i++)
    {
      g_autofree char *shown = g_filename_display_name (others->pdata[i]);
      g_string_append_printf (text, "%s“%s”", i > 0 ? ", " : "", shown);
    }
  if (others->len > 0)
    g_ptr_array_add (dataset->notes, dyno_part_note_strangers (text->str));
}

/* Sets class and part of items in the folder of a class, and drops other items. */
static void
take_layout (Load *load)
{
  DynoImageList *list = load->list;
  g_autofree char *around = find_around (list);
  g_autoptr (GHashTable) folders = list_folders (list, around);
  g_autoptr (GPtrArray) others = g_ptr_array_new_with_free_func (g_free);
  GArray *taken = g_array_new (FALSE, FALSE, sizeof (DynoListedImage));
  char *prefixes[DYNO_PART_TEST + 1] = { NULL };
  DynoPartFolders parts;
  DynoLabelTable labels;

  choose_parts (list, around, folders, &parts);
  prefixes[DYNO_PART_TRAIN] =
      parts.train ? enter_part (list, around, parts.train) : g_strdup (around);
  prefixes[DYNO_PART_VALIDATION] =
      parts.validation ? enter_part (list, around, parts.validation) : NULL;
  prefixes[DYNO_PART_TEST] = parts.test ? enter_part (list, around, parts.test) : NULL;
  dyno_part_folders_note (&parts, load->dataset->notes);
  dyno_label_table_init (&labels);
  for (DynoPart part = DYNO_PART_TRAIN; part <= DYNO_PART_TEST; part++)
    take_part (list, part, prefixes[part], &labels, taken, others);
  g_array_unref (list->items);
  list->items = taken;
  dyno_label_table_finish (&labels, &load->dataset->info, list->items, FALSE);
  dyno_label_table_clear (&labels);
  dyno_part_folders_clear (&parts);
  note_others (load->dataset, others);
  note_doubts (load->dataset, list, prefixes);
  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    g_free (prefixes[i]);
}

/* The order in which a walk through an unpacked folder finds the files: the files of a sub-folder
 * are sorted by its name. */
static int
compare_items (gconstpointer a, gconstpointer b, gpointer data)
{
  const DynoImageList *list = data;
  const DynoListedImage *first = a, *second = b;
  const guint8 *x = (const guint8 *) dyno_image_list_get_name (list, first),
               *y = (const guint8 *) dyno_image_list_get_name (list, second);

  if (first->part != second->part)
    return first->part - second->part;
  if (first->class_id != second->class_id)
    return first->class_id < second->class_id ? -1 : 1;
  while (*x && *x == *y)
    {
      x++;
      y++;
    }
  if (*x != *y)
    return (*x == '/' ? 1 : *x) - (*y == '/' ? 1 : *y);
  return first->at < second->at ? -1 : first->at > second->at;
}

/* Of several members with one name only the last is kept, as when the archive is unpacked. */
static void
drop_replaced (Load *load)
{
  DynoListedImage *items = (DynoListedImage *) (gpointer) load->list->items->data;
  guint kept = 0, n = load->list->items->len;

  for (guint i = 0; i < n; i++)
    if (i + 1 < n && strcmp (name_of (load->list, i), name_of (load->list, i + 1)) == 0)
      dyno_image_list_note (load->dataset, load->context, name_of (load->list, i), 0,
                            _ ("a later member of the archive has the same name"));
    else
      items[kept++] = items[i];
  g_array_set_size (load->list->items, kept);
}

static gboolean
set_other_error (const char *path, const char *other, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);

  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
               _ ("“%s” is compressed as a whole (%s): no sample can be read without what is "
                  "before it; unpack it, or make a .zip or a plain .tar of it"),
               shown, other);
  return FALSE;
}

static gboolean
list_members (Load *load, const char *path, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  DynoContainer *container;
  const char *other = NULL;

  if (!dyno_image_list_add_container (load->list, path, &load->container, error))
    return FALSE;
  container = &g_array_index (load->list->containers, DynoContainer, load->container);
  switch (dyno_archive_guess (container->fd, container->size, &other))
    {
    case DYNO_ARCHIVE_TAR:
      return dyno_tar_walk (container->fd, container->size, shown, take_member, load,
                            load->context->cancellable, error);
    case DYNO_ARCHIVE_ZIP:
      return dyno_zip_walk (container->fd, container->size, shown, take_member, load,
                            load->context->cancellable, error);
    case DYNO_ARCHIVE_OTHER:
      return set_other_error (path, other, error);
    case DYNO_ARCHIVE_NONE:
    default:
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   _ ("“%s” is no archive any more; open it again"), shown);
      return FALSE;
    }
}

/* The name of a member without folders and extension, in lower case; without_suffix: up to its last
 * “_” or “-”.  g_free. */
static char *
stem_of (const char *name, gboolean without_suffix)
{
  const char *slash = strrchr (name, '/');
  char *stem = g_ascii_strdown (slash ? slash + 1 : name, -1), *end = strrchr (stem, '.');

  if (end)
    *end = '\0';
  end = NULL;
  for (char *at = stem; (at = strpbrk (at, "_-")); at++)
    end = at;
  if (without_suffix && end)
    *end = '\0';
  return stem;
}

/* TRUE where at least half of the members of one folder have the stem of a member of the other
 * folder, with or without a suffix. */
static gboolean
are_pairs (const DynoImageList *list)
{
  g_autoptr (GHashTable) stems = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint n[2] = { 0 }, n_paired = 0, few;

  for (guint i = 0; i < list->items->len; i++)
    n[g_array_index (list->items, DynoListedImage, i).class_id]++;
  few = n[1] < n[0];
  for (guint i = 0; i < list->items->len; i++)
    if ((guint) g_array_index (list->items, DynoListedImage, i).class_id != few)
      {
        g_hash_table_add (stems, stem_of (name_of (list, i), FALSE));
        g_hash_table_add (stems, stem_of (name_of (list, i), TRUE));
      }
  for (guint i = 0; i < list->items->len; i++)
    if ((guint) g_array_index (list->items, DynoListedImage, i).class_id == few)
      {
        g_autofree char *stem = stem_of (name_of (list, i), FALSE),
                        *shorter = stem_of (name_of (list, i), TRUE);

        n_paired += g_hash_table_contains (stems, stem) || g_hash_table_contains (stems, shorter);
      }
  return n_paired > 0 && 2 * n_paired >= n[few];
}

/* Images with masks are read from folders only.  They are refused here, unless classes are
 * requested; where only the names of the two folders suggest masks, they are two classes, with a
 * note. */
static gboolean
check_masks (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  char *const *names = dataset->info.class_names;
  DynoTask task = context->params->task;
  g_autofree char *shown = NULL;

  if (task == DYNO_TASK_CLASSES || dataset->info.n_classes != 2
      || !dyno_mask_folders_are (names[0], names[1]))
    return TRUE;
  if (task != DYNO_TASK_PIXELS && !are_pairs (dataset->state))
    {
      g_ptr_array_add (
          dataset->notes,
          g_strdup_printf (_ ("The folders “%s” and “%s” of the archive are two classes: "
                              "images with masks are read from a folder; if these are "
                              "images and masks, unpack the archive"),
                           names[0], names[1]));
      return TRUE;
    }
  shown = g_filename_display_name (context->location->body);
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
               _ ("“%s” has images and their masks, in the folders “%s” and “%s”: these are read "
                  "from a folder, not from an archive; unpack it, or set data.task to classes if "
                  "they are two classes"),
               shown, names[0], names[1]);
  return FALSE;
}

static gboolean
archive_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoImageList *list = dataset->state = dyno_image_list_new ();
  g_autoptr (GPtrArray) left = g_ptr_array_new_with_free_func (g_free);
  Load load = { .dataset = dataset, .context = context, .list = list, .left = left };
  char *note;

  if (!list_members (&load, context->location->body, error))
    return FALSE;
  take_layout (&load);
  note = dyno_left_behind_note (left);
  if (note)
    g_ptr_array_add (dataset->notes, note);
  if (dataset->info.n_classes == 0)
    {
      g_autofree char *shown = g_filename_display_name (context->location->body);
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNKNOWN,
                   _ ("“%s” has no folders; put the images of each class into a folder of its own, "
                      "named after the class"),
                   shown);
      return FALSE;
    }
  if (!check_masks (dataset, context, error))
    return FALSE;
  g_array_sort_with_data (list->items, compare_items, list);
  drop_replaced (&load);
  return dyno_image_list_finish (list, dataset, context, error);
}

const DynoDatasetClass dyno_dataset_class_archive = {
  .kind = "archive",
  .title = "Image folder in an archive",
  .matches = archive_matches,
  .open = archive_open,
  .close = dyno_image_list_close,
  .fetch = dyno_image_list_fetch,
  .has_files = TRUE,
  .decode = dyno_image_list_decode,
  .decode_crop = dyno_image_list_decode_crop,
  .label = dyno_image_list_label,
  .probe = dyno_image_list_probe,
  .describe = dyno_image_list_describe,
  .part = dyno_image_list_part,
};
