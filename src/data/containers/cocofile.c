/* SPDX-License-Identifier: MIT */
/* Reads COCO files member by member, without a tree: a file of hundreds of megabytes is mostly
 * corners of polygons, of which only the positions are stored. */
#include "cocofile.h"
#include "datafile.h"
#include "jsonread.h"
#include "maskdraw.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES (G_GUINT64_CONSTANT (2) << 30) /* LVIS and Objects365 have less */

static void
clear_image (gpointer data)
{
  g_free (((DynoCocoImage *) data)->name);
}

static void
clear_category (gpointer data)
{
  g_free (((DynoCocoCategory *) data)->name);
}

static gboolean
set_corrupt (GError **error, const char *what)
{
  g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, what);
  return FALSE;
}

static gboolean
read_double (DynoJsonReader *r, double *value, GError **error)
{
  const char *text;
  gsize length;

  if (!dyno_json_read_number (r, &text, &length, error))
    return FALSE;
  *value = g_ascii_strtod (text, NULL);
  return TRUE;
}

/* Reads a flag, which may be a number, true or false. */
static gboolean
read_flag (DynoJsonReader *r, gboolean *value, GError **error)
{
  double number;

  if (dyno_json_peek (r) != DYNO_JSON_NUMBER)
    return dyno_json_read_boolean (r, value, error);
  if (!read_double (r, &number, error))
    return FALSE;
  *value = number != 0;
  return TRUE;
}

/* --- the file's members ----------------------------------------------------------------------- */

static gboolean
read_side (DynoJsonReader *r, guint32 *side, GError **error)
{
  double value;

  if (dyno_json_peek (r) != DYNO_JSON_NUMBER)
    return dyno_json_skip (r, error);
  if (!read_double (r, &value, error))
    return FALSE;
  *side = value > 0 && value < G_MAXINT32 ? (guint32) value : 0;
  return TRUE;
}

static gboolean
image_member (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  DynoCocoImage *image = data;

  if (strcmp (key, "id") == 0)
    return dyno_json_read_integer (r, &image->id, error);
  if (strcmp (key, "file_name") == 0)
    {
      g_clear_pointer (&image->name, g_free);
      return dyno_json_read_string (r, &image->name, error);
    }
  if (strcmp (key, "width") == 0)
    return read_side (r, &image->width, error);
  if (strcmp (key, "height") == 0)
    return read_side (r, &image->height, error);
  return dyno_json_skip (r, error);
}

static gboolean
read_image (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  DynoCocoFile *file = data;
  DynoCocoImage image = { .id = G_MININT64 };
  gboolean ok = dyno_json_read_members (r, DYNO_JSON_OBJECT, image_member, &image, error);

  if (ok && (image.id == G_MININT64 || !image.name))
    ok = set_corrupt (error, "an image has no id or no file_name");
  if (ok)
    g_array_append_val (file->images, image);
  else
    g_free (image.name);
  return ok;
}

static gboolean
category_member (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  DynoCocoCategory *category = data;

  if (strcmp (key, "id") == 0)
    return dyno_json_read_integer (r, &category->id, error);
  if (strcmp (key, "name") != 0)
    return dyno_json_skip (r, error);
  g_clear_pointer (&category->name, g_free);
  return dyno_json_read_string (r, &category->name, error);
}

static gboolean
read_category (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  DynoCocoFile *file = data;
  DynoCocoCategory category = { .id = G_MININT64 };
  gboolean ok = dyno_json_read_members (r, DYNO_JSON_OBJECT, category_member, &category, error);

  if (ok && (category.id == G_MININT64 || !category.name))
    ok = set_corrupt (error, "a category has no id or no name");
  if (ok)
    g_array_append_val (file->categories, category);
  else
    g_free (category.name);
  return ok;
}

static gboolean
annotation_member (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  DynoCocoAnnotation *annotation = data;

  if (strcmp (key, "image_id") == 0)
    return dyno_json_read_integer (r, &annotation->image_id, error);
  if (strcmp (key, "category_id") == 0)
    return dyno_json_read_integer (r, &annotation->category_id, error);
  if (strcmp (key, "iscrowd") == 0)
    return read_flag (r, &annotation->crowd, error);
  if (strcmp (key, "segmentation") != 0)
    return dyno_json_skip (r, error);
  if (dyno_json_peek (r) != DYNO_JSON_ARRAY && dyno_json_peek (r) != DYNO_JSON_OBJECT)
    return dyno_json_skip (r, error); /* null */
  annotation->at = (guint64) (r->at - r->begin);
  if (!dyno_json_skip (r, error))
    return FALSE;
  annotation->length = (guint64) (r->at - r->begin) - annotation->at;
  return TRUE;
}

static gboolean
read_annotation (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  DynoCocoFile *file = data;
  DynoCocoAnnotation one = { .image_id = G_MININT64, .category_id = G_MININT64 };

  if (!dyno_json_read_members (r, DYNO_JSON_OBJECT, annotation_member, &one, error))
    return FALSE;
  if (one.image_id == G_MININT64 || one.category_id == G_MININT64)
    return set_corrupt (error, "an annotation has no image_id or no category_id");
  g_array_append_val (one.length > strlen ("[]") ? file->annotations : file->boxes, one);
  return TRUE;
}

static gboolean
file_member (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  static const struct {
    const char *key;
    DynoJsonMember read;
  } lists[] = { { "images", read_image },
                { "categories", read_category },
                { "annotations", read_annotation } };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (strcmp (key, lists[i].key) == 0)
      return dyno_json_read_members (r, DYNO_JSON_ARRAY, lists[i].read, data, error);
  return dyno_json_skip (r, error);
}

DynoCocoFile *
dyno_coco_file_open (const char *path, GError **error)
{
  g_autoptr (DynoCocoFile) file = g_new0 (DynoCocoFile, 1);
  g_autofree char *shown = g_filename_display_basename (path);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint64 file_size;
  DynoJsonReader r;
  gsize size;

  file->fd = -1;
  file->images = g_array_new (FALSE, FALSE, sizeof (DynoCocoImage));
  file->categories = g_array_new (FALSE, FALSE, sizeof (DynoCocoCategory));
  file->annotations = g_array_new (FALSE, FALSE, sizeof (DynoCocoAnnotation));
  file->boxes = g_array_new (FALSE, FALSE, sizeof (DynoCocoAnnotation));
  g_array_set_clear_func (file->images, clear_image);
  g_array_set_clear_func (file->categories, clear_category);
  file->path = g_strdup (path);
  file->fd = dyno_datafile_open (path, &file_size, error);
  if (file->fd < 0 || !dyno_datafile_read (path, MAX_BYTES, bytes, &size, error))
    return NULL;
  dyno_json_reader_init (&r, (const char *) bytes->data, size, DYNO_DATA_ERROR,
                         DYNO_DATA_ERROR_CORRUPT);
  if (!dyno_json_read_members (&r, DYNO_JSON_OBJECT, file_member, file, error)
      || !dyno_json_read_end (&r, error))
    {
      g_prefix_error (error, "“%s”: ", shown);
      return NULL;
    }
  return g_steal_pointer (&file);
}

void
dyno_coco_file_free (DynoCocoFile *file)
{
  if (!file)
    return;
  g_array_unref (file->images);
  g_array_unref (file->categories);
  g_array_unref (file->annotations);
  g_array_unref (file->boxes);
  if (file->fd >= 0)
    close (file->fd);
  g_free (file->path);
  g_free (file);
}

/* --- areas ------------------------------------------------------------------------------------ */

typedef struct {
  guint32 width, height;
  guint8 id;
  guint8 *ids;
  GArray *corners; /* double */
  GArray *runs;    /* guint32 */
  GArray *size;    /* double: height and width of the image for which the runs were made */
} Drawing;

static gboolean
append_double (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  double value;

  if (!read_double (r, &value, error))
    return FALSE;
  g_array_append_val ((GArray *) data, value);
  return TRUE;
}

static gboolean
append_run (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  gint64 value;
  guint32 run;

  if (!dyno_json_read_integer (r, &value, error))
    return FALSE;
  if (value < 0 || value > G_MAXUINT32)
    return set_corrupt (error, "a run of an area is no number of pixels");
  run = (guint32) value;
  g_array_append_val ((GArray *) data, run);
  return TRUE;
}

static gboolean
draw_corners (const Drawing *d, GError **error)
{
  /* A list of fewer than three corners is no polygon: pycocotools reads four numbers as a box. */
  return d->corners->len < 6
         || dyno_mask_draw_polygon ((const double *) (gpointer) d->corners->data,
                                    d->corners->len / 2, d->width, d->height, d->id, d->ids, error);
}

static gboolean
draw_polygon (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  Drawing *d = data;

  g_array_set_size (d->corners, 0);
  return dyno_json_read_members (r, DYNO_JSON_ARRAY, append_double, d->corners, error)
         && draw_corners (d, error);
}

static gboolean
runs_member (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  Drawing *d = data;
  g_autofree char *text = NULL;

  if (strcmp (key, "size") == 0)
    return dyno_json_read_members (r, DYNO_JSON_ARRAY, append_double, d->size, error);
  if (strcmp (key, "counts") != 0)
    return dyno_json_skip (r, error);
  if (dyno_json_peek (r) == DYNO_JSON_ARRAY)
    return dyno_json_read_members (r, DYNO_JSON_ARRAY, append_run, d->runs, error);
  return dyno_json_read_string (r, &text, error) && dyno_mask_read_runs (text, d->runs, error);
}

static gboolean
draw_runs (DynoJsonReader *r, Drawing *d, GError **error)
{
  if (!dyno_json_read_members (r, DYNO_JSON_OBJECT, runs_member, d, error))
    return FALSE;
  if (d->size->len == 2
      && (g_array_index (d->size, double, 0) != d->height
          || g_array_index (d->size, double, 1) != d->width))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   "the runs of an area have the size %.0f × %.0f, and its image %u × %u",
                   g_array_index (d->size, double, 1), g_array_index (d->size, double, 0), d->width,
                   d->height);
      return FALSE;
    }
  return dyno_mask_draw_runs ((const guint32 *) (gpointer) d->runs->data, d->runs->len, d->width,
                              d->height, d->id, d->ids, error);
}

/* Draws a list of polygons; some programs write a single polygon without the list around it. */
static gboolean
draw_polygons (DynoJsonReader *r, Drawing *d, GError **error)
{
  DynoJsonReader first = *r;

  first.at++; /* the bracket */
  if (dyno_json_peek (&first) == DYNO_JSON_NUMBER)
    return draw_polygon (r, NULL, d, error);
  return dyno_json_read_members (r, DYNO_JSON_ARRAY, draw_polygon, d, error);
}

gboolean
dyno_coco_file_draw (const DynoCocoFile *file, const DynoCocoAnnotation *annotation, guint32 width,
                     guint32 height, guint8 id, guint8 *ids, GError **error)
{
  Drawing d = { .width = width, .height = height, .id = id, .ids = ids };
  g_autofree char *text = g_try_malloc (annotation->length);
  DynoJsonReader r;
  gssize got;
  gboolean ok;

  got = text ? dyno_datafile_pread (file->fd, text, annotation->length, annotation->at) : -1;
  if (got < 0)
    {
      dyno_datafile_set_error (error, text ? errno : ENOMEM, file->path);
      return FALSE;
    }
  dyno_json_reader_init (&r, text, (gsize) got, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
  d.corners = g_array_new (FALSE, FALSE, sizeof (double));
  d.runs = g_array_new (FALSE, FALSE, sizeof (guint32));
  d.size = g_array_new (FALSE, FALSE, sizeof (double));
  ok = dyno_json_peek (&r) == DYNO_JSON_OBJECT ? draw_runs (&r, &d, error)
                                               : draw_polygons (&r, &d, error);
  g_array_unref (d.corners);
  g_array_unref (d.runs);
  g_array_unref (d.size);
  return ok;
}
