/* SPDX-License-Identifier: MIT */
/* COCO annotations as masks: the category of each pixel, from polygons and runs; or, where labels
 * are requested, as labels: the categories of an image's annotations, of boxes and crowds too.
 *
 * Classes are "background" and the categories in the order of their ids.  Areas of crowds are drawn
 * first, and a later annotation covers earlier ones.  Labels have no background.  DATA is a file of
 * annotations, or a folder with one for each part: annotations/instances_train*.json (COCO), or
 * train/_annotations.coco.json (Roboflow).
 *
 * Invariants: samples are in the order of the files' images; an image without an annotation is left
 * out with a note, or has none of the labels; a mask is drawn when it is decoded, and nothing is
 * kept but the places of the areas in their files. */
#include "cocofile.h"
#include "datafile.h"
#include "foldernames.h"
#include "intl.h"
#include "masklist.h"
#include "namedfiles.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PEEKED 4096

/* An area of a sample's mask. */
typedef struct {
  DynoCocoAnnotation annotation;
  guint32 file; /* index in files */
  guint32 item; /* the sample; only used while the list is made */
  guint8 id;
} Area;

typedef struct {
  GPtrArray *files; /* DynoCocoFile * */
  GArray *areas;    /* Area, those of a sample one after another */
} Areas;

/* A file of annotations and the part of its images. */
typedef struct {
  char *path;
  DynoPart part;
} Source;

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  DynoImageList *list;
  Areas *areas;
  DynoNamedFiles *named;
  GTree *categories; /* id (gint64 *) to its name */
  GArray *parts;     /* guint8: DynoPart of each item */
  gboolean labels;   /* the list has no masks */
  guint64 n_without, n_boxes, n_lost;
} Coco;

/* --- which files ------------------------------------------------------------------------------ */

static gboolean
has_key (const char *head)
{
  static const char *const keys[] = { "\"images\"", "\"annotations\"", "\"categories\"",
                                      "\"licenses\"" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (strstr (head, keys[i]))
      return TRUE;
  return FALSE;
}

/* A file .json with a member of COCO near its beginning. */
static gboolean
is_coco_file (const char *path)
{
  g_autofree char *head = NULL;
  guint64 size;
  gssize n;
  int fd;

  if (!g_str_has_suffix (path, ".json"))
    return FALSE;
  fd = dyno_datafile_open (path, &size, NULL);
  if (fd < 0)
    return FALSE;
  head = g_malloc0 (PEEKED + 1);
  n = dyno_datafile_pread (fd, head, PEEKED, 0);
  close (fd);
  return n > 0 && head[strspn (head, " \t\r\n\xef\xbb\xbf")] == '{' && has_key (head);
}

static gboolean
is_coco_name (const char *name)
{
  return (g_str_has_prefix (name, "instances") && g_str_has_suffix (name, ".json"))
         || g_str_has_suffix (name, "coco.json") || strcmp (name, "annotations.json") == 0
         || strcmp (name, "_annotations.json") == 0;
}

static void
clear_source (gpointer data)
{
  g_free (((Source *) data)->path);
}

static int
compare_sources (gconstpointer a, gconstpointer b)
{
  return strcmp (((const Source *) a)->path, ((const Source *) b)->path);
}

/* The part by the file's name, else by that of its folder. */
static DynoPart
part_of (const char *folder, const char *name)
{
  g_autofree char *rest = NULL, *base = g_path_get_basename (folder),
                  *stem = g_strndup (name, strlen (name) - strlen (".json"));
  DynoPart part = dyno_part_of_name (stem, &rest);

  return part != DYNO_PART_NONE ? part : dyno_part_of_name (base, NULL);
}

static void
add_sources (GArray *sources, const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir && (name = dyno_folder_next_name (dir)))
    {
      Source one = { 0 };

      if (!is_coco_name (name))
        continue;
      one.path = g_build_filename (folder, name, NULL);
      one.part = part_of (folder, name);
      if (is_coco_file (one.path))
        g_array_append_val (sources, one);
      else
        g_free (one.path);
    }
}

/* The files in a folder, its annotations/ and its folders of parts. */
static GArray *
find_sources (const char *root)
{
  GArray *sources = g_array_new (FALSE, FALSE, sizeof (Source));
  g_autoptr (GDir) dir = g_dir_open (root, 0, NULL);
  const char *name;

  g_array_set_clear_func (sources, clear_source);
  add_sources (sources, root);
  while (dir && (name = dyno_folder_next_name (dir)))
    if (strcmp (name, "annotations") == 0
        || (!strchr (name, '.') && dyno_part_of_name (name, NULL) != DYNO_PART_NONE))
      {
        g_autofree char *folder = g_build_filename (root, name, NULL);
        add_sources (sources, folder);
      }
  g_array_sort (sources, compare_sources);
  return sources;
}

static gboolean
coco_matches (const DynoLocation *location)
{
  g_autoptr (GArray) sources = NULL;

  if (location->scheme)
    return FALSE;
  if (!location->is_folder)
    return location->is_regular && is_coco_file (location->body);
  sources = find_sources (location->body);
  return sources->len > 0;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static void
areas_free (gpointer data)
{
  Areas *areas = data;

  g_ptr_array_unref (areas->files);
  g_array_unref (areas->areas);
  g_free (areas);
}

static gboolean
draw (gconstpointer drawing, const DynoListedMask *mask, guint32 width, guint32 height, guint8 *ids,
      GError **error)
{
  const Areas *areas = drawing;

  memset (ids, 0, (gsize) width * height);
  for (guint32 i = 0; i < mask->n; i++)
    {
      const Area *area = &g_array_index (areas->areas, Area, mask->first + i);

      if (!dyno_coco_file_draw (areas->files->pdata[area->file], &area->annotation, width, height,
                                area->id, ids, error))
        return FALSE;
    }
  return TRUE;
}

/* --- samples ---------------------------------------------------------------------------------- */

static int
compare_ids (gconstpointer a, gconstpointer b, gpointer data)
{
  gint64 first = *(const gint64 *) a, second = *(const gint64 *) b;

  return first < second ? -1 : first > second;
}

static gboolean
take_categories (Coco *coco, const DynoCocoFile *file, const char *shown, GError **error)
{
  for (guint i = 0; i < file->categories->len; i++)
    {
      const DynoCocoCategory *one = &g_array_index (file->categories, DynoCocoCategory, i);
      const char *known = g_tree_lookup (coco->categories, &one->id);

      if (known && strcmp (known, one->name) != 0)
        {
          g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                       _ ("“%s” names the category %" PRIi64 " “%s”, which is “%s” elsewhere"),
                       shown, one->id, one->name, known);
          return FALSE;
        }
      if (!known)
        g_tree_insert (coco->categories, g_memdup2 (&one->id, sizeof one->id),
                       g_strdup (one->name));
    }
  return TRUE;
}

/* Finds the path of an image below the root, also where the file names it without its folder. */
static char *
find_image (Coco *coco, const char *folder, const char *name, DynoPart part)
{
  g_autofree char *beside = *folder ? g_build_filename (folder, name, NULL) : g_strdup (name),
                  *full = g_build_filename (coco->list->root, beside, NULL);
  char *found = NULL;

  if (g_file_test (full, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&beside);
  switch (dyno_named_files_find (coco->named, name, part, &found))
    {
    case DYNO_NAMED_FOUND:
      return found;
    case DYNO_NAMED_AMBIGUOUS:
      return NULL;
    case DYNO_NAMED_AS_WRITTEN:
    case DYNO_NAMED_MISSING:
    default:
      return g_strdup (name);
    }
}

static gboolean
add_image (Coco *coco, const DynoCocoImage *image, const char *folder, guint32 json,
           const Source *source, GError **error)
{
  DynoListedImage item = { .container = DYNO_IMAGE_LIST_NO_CONTAINER };
  DynoListedMask mask = {
    .name = json, .orientation = 1, .width = image->width, .height = image->height
  };
  g_autofree char *name = find_image (coco, folder, image->name, source->part);
  guint8 part = (guint8) source->part;

  if (!name)
    {
      dyno_image_list_note (coco->dataset, coco->context, image->name, 0,
                            _ ("several files have this name; write its folder too"));
      return TRUE;
    }
  if (!dyno_image_list_add_name (coco->list, name, strlen (name), &item.name, error))
    return FALSE;
  g_array_append_val (coco->list->items, item);
  if (!coco->labels)
    g_array_append_val (coco->list->masks->items, mask);
  g_array_append_val (coco->parts, part);
  return TRUE;
}

/* Adds the annotations of the images in items, which maps the id of each image to its place in the
 * list, plus 1. */
static void
take_annotations (Coco *coco, const GArray *annotations, GHashTable *items)
{
  for (guint i = 0; i < annotations->len; i++)
    {
      Area area = { .annotation = g_array_index (annotations, DynoCocoAnnotation, i),
                    .file = coco->areas->files->len };
      guint item = GPOINTER_TO_UINT (g_hash_table_lookup (items, &area.annotation.image_id));

      coco->n_lost += item == 0 || !g_tree_lookup (coco->categories, &area.annotation.category_id);
      if (item == 0 || !g_tree_lookup (coco->categories, &area.annotation.category_id))
        continue;
      area.item = item - 1;
      g_array_append_val (coco->areas->areas, area);
    }
}

/* Adds the images that have an annotation, for labels all images, and their annotations. */
static gboolean
take_file (Coco *coco, const DynoCocoFile *file, const char *folder, guint32 json,
           const Source *source, GError **error)
{
  g_autoptr (GHashTable) annotated = g_hash_table_new (g_int64_hash, g_int64_equal),
                         items = g_hash_table_new (g_int64_hash, g_int64_equal);

  for (guint i = 0; i < file->annotations->len; i++)
    g_hash_table_add (annotated,
                      &g_array_index (file->annotations, DynoCocoAnnotation, i).image_id);
  for (guint i = 0; i < file->images->len; i++)
    {
      DynoCocoImage *image = &g_array_index (file->images, DynoCocoImage, i);
      guint before = coco->list->items->len;

      if (!coco->labels && !g_hash_table_contains (annotated, &image->id))
        coco->n_without++;
      else if (!add_image (coco, image, folder, json, source, error))
        return FALSE;
      else if (coco->list->items->len > before)
        g_hash_table_insert (items, &image->id, GUINT_TO_POINTER (before + 1));
    }
  take_annotations (coco, file->annotations, items);
  if (coco->labels)
    take_annotations (coco, file->boxes, items);
  else
    coco->n_boxes += file->boxes->len;
  return TRUE;
}

static gboolean
load_source (Coco *coco, const Source *source, GError **error)
{
  g_autoptr (DynoCocoFile) file = dyno_coco_file_open (source->path, error);
  const char *within = source->path + strlen (coco->list->root);
  g_autofree char *folder = NULL, *shown = g_filename_display_basename (source->path);
  guint32 json;

  if (!file || !take_categories (coco, file, shown, error))
    return FALSE;
  within += strspn (within, "/");
  folder = g_path_get_dirname (within);
  if (strcmp (folder, ".") == 0 || strcmp (folder, "annotations") == 0)
    *folder = '\0';
  if (!dyno_image_list_add_name (coco->list, within, strlen (within), &json, error)
      || !take_file (coco, file, folder, json, source, error))
    return FALSE;
  g_ptr_array_add (coco->areas->files, g_steal_pointer (&file));
  return TRUE;
}

/* --- classes ---------------------------------------------------------------------------------- */

static gboolean
add_class (gpointer key, gpointer value, gpointer data)
{
  g_ptr_array_add (data, g_strdup (value));
  return FALSE;
}

typedef struct {
  GHashTable *ids; /* category (gint64 *) to its class */
  guint next;
} Numbering;

static gboolean
number_class (gpointer key, gpointer value, gpointer data)
{
  Numbering *numbering = data;

  g_hash_table_insert (numbering->ids, key, GUINT_TO_POINTER (numbering->next++));
  return FALSE;
}

static gboolean
take_classes (Coco *coco, GError **error)
{
  DynoMaskNames *names = &coco->list->masks->names;
  g_autoptr (GHashTable) ids = g_hash_table_new (g_int64_hash, g_int64_equal);
  Numbering numbering = { ids, 1 };

  if (g_tree_nnodes (coco->categories) >= DYNO_MASK_MAX_CLASSES)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s” has %d categories; a mask has at most %d and the background"),
                   coco->dataset->info.name, g_tree_nnodes (coco->categories),
                   DYNO_MASK_MAX_CLASSES - 1);
      return FALSE;
    }
  names->file = g_strdup (_ ("the list of categories"));
  g_ptr_array_add (names->names, g_strdup ("background"));
  g_tree_foreach (coco->categories, add_class, names->names);
  g_tree_foreach (coco->categories, number_class, &numbering);
  for (guint i = 0; i < coco->areas->areas->len; i++)
    {
      Area *area = &g_array_index (coco->areas->areas, Area, i);
      area->id =
          (guint8) GPOINTER_TO_UINT (g_hash_table_lookup (ids, &area->annotation.category_id));
    }
  return TRUE;
}

typedef struct {
  GHashTable *ids; /* category (gint64 *) to its label */
  DynoLabelTable table;
} Labels;

static gboolean
add_label (gpointer key, gpointer value, gpointer data)
{
  Labels *labels = data;

  g_hash_table_insert (labels->ids, key,
                       GUINT_TO_POINTER (dyno_label_table_add (&labels->table, value)));
  return FALSE;
}

/* The labels of all images; categories of one name are one label. */
static gboolean
take_labels (Coco *coco, GError **error)
{
  const GArray *areas = coco->areas->areas;
  g_autoptr (GHashTable) ids = g_hash_table_new (g_int64_hash, g_int64_equal);
  g_autoptr (GArray) marks = g_array_new (FALSE, FALSE, sizeof (DynoLabelMark));
  Labels labels = { .ids = ids };
  gboolean ok;

  dyno_label_table_init (&labels.table);
  g_tree_foreach (coco->categories, add_label, &labels);
  for (guint i = 0; i < areas->len; i++)
    {
      const Area *area = &g_array_index (areas, Area, i);
      const DynoLabelMark mark = {
        .item = area->item,
        .label = GPOINTER_TO_UINT (g_hash_table_lookup (ids, &area->annotation.category_id)),
        .state = 1,
      };
      g_array_append_val (marks, mark);
    }
  ok = dyno_label_table_finish_marks (&labels.table, &coco->dataset->info, coco->list, marks, FALSE,
                                      error);
  dyno_label_table_clear (&labels.table);
  return ok;
}

/* Crowds first; otherwise the order of the file stays, since the sort is stable. */
static int
compare_areas (gconstpointer a, gconstpointer b)
{
  const Area *first = a, *second = b;

  if (first->item != second->item)
    return first->item < second->item ? -1 : 1;
  return (int) second->annotation.crowd - (int) first->annotation.crowd;
}

static void
assign_areas (Coco *coco)
{
  GArray *areas = coco->areas->areas;

  g_array_sort (areas, compare_areas);
  for (guint i = 0; i < areas->len; i++)
    {
      DynoListedMask *mask = &g_array_index (coco->list->masks->items, DynoListedMask,
                                             g_array_index (areas, Area, i).item);

      if (mask->n++ == 0)
        mask->first = i;
    }
}

static void
note_left (Coco *coco)
{
  GPtrArray *notes = coco->dataset->notes;

  if (coco->n_without > 0)
    g_ptr_array_add (
        notes, g_strdup_printf (
                   ngettext ("%" PRIu64 " image has no annotation with an area and is left out",
                             "%" PRIu64 " images have no annotation with an area and are left out",
                             (gulong) coco->n_without),
                   coco->n_without));
  if (coco->n_boxes > 0)
    g_ptr_array_add (
        notes,
        g_strdup_printf (ngettext ("%" PRIu64 " annotation has only a box and is not used",
                                   "%" PRIu64 " annotations have only a box and are not used",
                                   (gulong) coco->n_boxes),
                         coco->n_boxes));
  if (coco->n_lost > 0)
    g_ptr_array_add (
        notes, g_strdup_printf (
                   ngettext ("%" PRIu64 " annotation is of an image or a category that is not "
                             "listed, and is not used",
                             "%" PRIu64 " annotations are of images or categories that are not "
                             "listed, and are not used",
                             (gulong) coco->n_lost),
                   coco->n_lost));
}

/* --- the class -------------------------------------------------------------------------------- */

/* Images lie below the folder of the file; if that is annotations/, below its parent. */
static char *
find_root (const DynoLocation *location)
{
  g_autofree char *folder = NULL, *base = NULL;

  if (location->is_folder)
    return g_strdup (location->body);
  folder = g_path_get_dirname (location->body);
  base = g_path_get_basename (folder);
  return strcmp (base, "annotations") == 0 ? g_path_get_dirname (folder)
                                           : g_steal_pointer (&folder);
}

static GArray *
list_sources (const DynoLocation *location)
{
  GArray *sources;
  Source one = { 0 };
  g_autofree char *folder = NULL, *name = NULL;

  if (location->is_folder)
    return find_sources (location->body);
  sources = g_array_new (FALSE, FALSE, sizeof (Source));
  g_array_set_clear_func (sources, clear_source);
  folder = g_path_get_dirname (location->body);
  name = g_path_get_basename (location->body);
  one.path = g_build_filename (folder, name, NULL);
  one.part = part_of (folder, name);
  g_array_append_val (sources, one);
  return sources;
}

static gboolean
load (Coco *coco, const GArray *sources, GError **error)
{
  for (guint i = 0; i < sources->len; i++)
    if (!load_source (coco, &g_array_index (sources, Source, i), error)
        || g_cancellable_set_error_if_cancelled (coco->context->cancellable, error))
      return FALSE;
  if (coco->labels ? !take_labels (coco, error) : !take_classes (coco, error))
    return FALSE;
  if (!coco->labels)
    assign_areas (coco);
  note_left (coco);
  dyno_image_list_take_parts (coco->list, coco->parts);
  return TRUE;
}

static gboolean
coco_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoImageList *list = dataset->state = dyno_image_list_new ();
  Coco coco = { .dataset = dataset,
                .context = context,
                .list = list,
                .labels = context->params->task == DYNO_TASK_LABELS };
  g_autoptr (GArray) sources = list_sources (context->location);
  gboolean ok;

  list->root = find_root (context->location);
  coco.areas = g_new0 (Areas, 1);
  if (!coco.labels)
    {
      list->masks = dyno_mask_list_new ();
      list->masks->draw = draw;
      list->masks->drawing = coco.areas;
      list->masks->free_drawing = areas_free;
    }
  coco.areas->files = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_coco_file_free);
  coco.areas->areas = g_array_new (FALSE, FALSE, sizeof (Area));
  coco.named = dyno_named_files_new (list->root);
  coco.categories = g_tree_new_full (compare_ids, NULL, g_free, g_free);
  coco.parts = g_array_new (FALSE, FALSE, sizeof (guint8));
  ok = load (&coco, sources, error);
  dyno_named_files_free (coco.named);
  g_tree_unref (coco.categories);
  g_array_unref (coco.parts);
  if (!coco.labels)
    return ok && dyno_mask_list_finish (list, dataset, context, error);
  areas_free (coco.areas);
  return ok && dyno_image_list_finish (list, dataset, context, error);
}

const DynoDatasetClass dyno_dataset_class_coco = {
  .kind = "coco",
  .title = "COCO annotations",
  .matches = coco_matches,
  .can_be = coco_matches,
  .open = coco_open,
  .values = dyno_image_list_values,
  DYNO_MASK_LIST_METHODS,
};
