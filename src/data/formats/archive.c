/* SPDX-License-Identifier: MIT */
/* An image folder within a .zip or .tar archive, read where it lies and never unpacked.  The layout
 * is the folder's: one folder a class, or train/ and val/ with one folder a class each; one folder
 * around all of it is passed over.
 *
 * Invariants: the members are listed once, at open; samples, classes and order are those of the
 * folder that the archive was made of, whatever the order of its members; each sample is read with
 * pread from the archive's one descriptor, and inflated by the worker that wants it. */
#include "imagelist.h"
#include "datafile.h"
#include "intl.h"
#include "members.h"
#include <string.h>
#include <unistd.h>

#define MAX_AROUND 8

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  DynoImageList *list;
  guint32 container;
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

/* Folders' own things, and those of systems, are no samples. */
static gboolean
is_hidden (const char *name)
{
  return name[0] == '.' || strstr (name, "/.") || g_str_has_prefix (name, "__MACOSX/");
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
  if (is_hidden (member->name))
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

/* What of a name comes after the folders around all; NULL: it is not in them. */
static const char *
skip_around (const char *name, gsize around)
{
  return around == 0 || (strlen (name) > around && name[around - 1] == '/') ? name + around : NULL;
}

/* The folders that members lie in, after the first bytes of each name. */
static GHashTable *
list_folders (const DynoImageList *list, gsize around)
{
  GHashTable *folders = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < list->items->len; i++)
    {
      const char *name = skip_around (name_of (list, i), around);
      const char *slash = name ? strchr (name, '/') : NULL;

      if (slash)
        g_hash_table_add (folders, g_strndup (name, (gsize) (slash - name)));
    }
  return folders;
}

static const char *
find_part (GHashTable *folders, const char *const *names)
{
  for (guint i = 0; names[i]; i++)
    if (g_hash_table_contains (folders, names[i]))
      return names[i];
  return NULL;
}

static const char *const train_names[] = { "train", "training", NULL };
static const char *const validation_names[] = { "val", "valid", "validation", "test", NULL };

/* Bytes of the folders around all others: each the only one of its level, to the first level that
 * has several or the parts. */
static gsize
find_around (const DynoImageList *list)
{
  gsize around = 0;

  for (guint level = 0; level < MAX_AROUND; level++)
    {
      g_autoptr (GHashTable) folders = list_folders (list, around);
      GHashTableIter iter;
      gpointer name;

      if (g_hash_table_size (folders) > 1 || find_part (folders, train_names))
        return around;
      g_hash_table_iter_init (&iter, folders);
      if (!g_hash_table_iter_next (&iter, &name, NULL))
        break;
      around += strlen (name) + 1;
    }
  return 0;
}

static void
note_unused (DynoDataset *dataset, GHashTable *folders, const char *train, const char *validation)
{
  const char *const *names[] = { train_names, validation_names };

  for (guint part = 0; part < 2; part++)
    for (guint i = 0; names[part][i]; i++)
      if (g_hash_table_contains (folders, names[part][i]) && names[part][i] != train
          && names[part][i] != validation)
        g_ptr_array_add (dataset->notes,
                         g_strdup_printf (_ ("The folder “%s” is not used: “%s” is taken for its "
                                             "part"),
                                          names[part][i],
                                          part == 0 || !validation ? train : validation));
}

/* Gives the items that lie in a class's folder their class and part; the others go. */
static void
take_layout (Load *load)
{
  DynoImageList *list = load->list;
  gsize around = find_around (list);
  g_autoptr (GHashTable) folders = list_folders (list, around);
  const char *train = find_part (folders, train_names);
  const char *validation = train ? find_part (folders, validation_names) : NULL;
  DynoLabelTable labels;
  guint kept = 0;

  if (train)
    note_unused (load->dataset, folders, train, validation);
  dyno_label_table_init (&labels);
  for (guint i = 0; i < list->items->len; i++)
    {
      DynoListedImage item = g_array_index (list->items, DynoListedImage, i);
      const char *name = skip_around (name_of (list, i), around);
      const char *slash = name ? strchr (name, '/') : NULL;
      g_autofree char *folder = NULL;

      if (train && slash)
        {
          gsize length = (gsize) (slash - name);
          item.validation = validation && strlen (validation) == length
                            && strncmp (name, validation, length) == 0;
          if (!item.validation && (strlen (train) != length || strncmp (name, train, length) != 0))
            continue;
          name = slash + 1;
          slash = strchr (name, '/');
        }
      if (!slash)
        continue;
      folder = g_strndup (name, (gsize) (slash - name));
      item.class_id = (gint32) dyno_label_table_add (&labels, folder);
      g_array_index (list->items, DynoListedImage, kept++) = item;
    }
  g_array_set_size (list->items, kept);
  dyno_label_table_finish (&labels, &load->dataset->info, list->items, FALSE);
  dyno_label_table_clear (&labels);
}

/* As a walk through the folder gives them: a folder's files stand where its name does. */
static int
compare_items (gconstpointer a, gconstpointer b, gpointer data)
{
  const DynoImageList *list = data;
  const DynoListedImage *first = a, *second = b;
  const guint8 *x = (const guint8 *) dyno_image_list_get_name (list, first),
               *y = (const guint8 *) dyno_image_list_get_name (list, second);

  if (first->validation != second->validation)
    return first->validation - second->validation;
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

/* Of members of one name the last one counts, as when the archive is unpacked. */
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

static gboolean
archive_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoImageList *list = dataset->state = dyno_image_list_new ();
  Load load = { .dataset = dataset, .context = context, .list = list };

  if (!list_members (&load, context->location->body, error))
    return FALSE;
  take_layout (&load);
  if (dataset->info.n_classes == 0)
    {
      g_autofree char *shown = g_filename_display_name (context->location->body);
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNKNOWN,
                   _ ("“%s” has no folders; put the images of each class into a folder of its own, "
                      "named after the class"),
                   shown);
      return FALSE;
    }
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
  .is_validation = dyno_image_list_is_validation,
};
