/* SPDX-License-Identifier: MIT */
/* Greyscale images as rows of text: a CSV with a column pixels, which holds all pixels separated by
 * blanks (FER2013), or with a column for each pixel (pixel0 ..., 1x1 ..., or without names, the
 * class first), as digits are often distributed.  Images are square.  A column Usage, or split,
 * names the part.
 *
 * Invariants: everything lies in memory after open, (N, side, side) bytes; a row with another
 * number of pixels than the first row, or with a pixel that is not from 0 to 255, is listed with
 * its line number. */
#include "datafile.h"
#include "hash.h"
#include "imagelist.h"
#include "intl.h"
#include "partnames.h"
#include "resize.h"
#include "texttable.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define PEEKED       4096
#define LEAST_PIXELS 16
#define LEAST_PLAIN  64 /* numbers in a first row that has no names */

typedef struct {
  guint8 *images;
  GArray *items; /* DynoListedImage: class, part and group */
  guint32 side;
} PixelRows;

/* Columns of a table; -1: there is none. */
typedef struct {
  const DynoTextTable *table;
  const char *name; /* of the file */
  guint first_row;
  int label, part;
  int group;  /* of the groups, which is nothing else */
  int pixels; /* the column with all pixels */
  /* where there is no such column, the columns of single pixels: [first, last) */
  guint first, last;
} Columns;

/* --- detection -------------------------------------------------------------------------------- */

/* "pixel0", "pixel_12", "px3", "1x1". */
static gboolean
is_pixel_name (const char *name)
{
  const char *digits = name;

  if (g_ascii_isdigit (*name))
    {
      digits = name + strspn (name, "0123456789");
      return *digits == 'x' && digits[1]
             && strspn (digits + 1, "0123456789") == strlen (digits + 1);
    }
  if (g_ascii_strncasecmp (name, "pixel", 5) == 0)
    digits = name + 5;
  else if (g_ascii_strncasecmp (name, "px", 2) == 0)
    digits = name + 2;
  else
    return FALSE;
  digits += strspn (digits, "_.- ");
  return *digits && strspn (digits, "0123456789") == strlen (digits);
}

static gboolean
is_byte (const char *cell, guint8 *value)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (cell, 10, 0, 255, &number, NULL))
    return FALSE;
  *value = (guint8) number;
  return TRUE;
}

/* Decides by the first row, as far as it is in the text. */
static gboolean
is_of_pixels (const char *text)
{
  g_autofree char *line = g_strndup (text, strcspn (text, "\r\n"));
  gboolean whole = text[strlen (line)] != '\0';
  g_auto (GStrv) cells = g_strsplit_set (line, ",;\t", -1);
  guint n = g_strv_length (cells), n_named = 0, n_bytes = 0;
  guint8 value;

  /* the last cell may be cut off */
  for (guint i = 0; i + !whole < n; i++)
    {
      const char *cell = g_strstrip (cells[i]);

      if (g_ascii_strcasecmp (cell, "pixels") == 0)
        return TRUE;
      n_named += is_pixel_name (cell);
      n_bytes += is_byte (cell, &value);
    }
  return n_named >= LEAST_PIXELS || (n_bytes >= LEAST_PLAIN && n_bytes + !whole == n);
}

static gboolean
pixelrows_matches (const DynoLocation *location)
{
  char head[PEEKED + 1];
  guint64 size;
  gssize n;
  int fd;

  if (location->scheme || !location->is_regular)
    return FALSE;
  fd = dyno_datafile_open (location->body, &size, NULL);
  if (fd < 0)
    return FALSE;
  n = dyno_datafile_pread (fd, head, PEEKED, 0);
  close (fd);
  if (n <= 0 || dyno_text_table_guess ((guint8 *) head, (gsize) n) != DYNO_TEXT_TABLE_DELIMITED)
    return FALSE;
  head[n] = '\0';
  return is_of_pixels (g_str_has_prefix (head, "\xef\xbb\xbf") ? head + 3 : head);
}

/* --- columns ---------------------------------------------------------------------------------- */

static gboolean
set_unsupported (const Columns *columns, const char *what, GError **error)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED, "“%s” %s", columns->name, what);
  return FALSE;
}

/* group: the asked name of the column of the groups, or NULL. */
static void
name_columns (Columns *columns, guint n, const char *group)
{
  static const char *const parts[] = { "usage", "split", "set", "part", NULL };

  columns->first_row = 1;
  for (guint c = 0; c < n; c++)
    {
      g_autofree char *raw = g_strstrip (g_strdup (dyno_text_table_get (columns->table, 0, c)));
      g_autofree char *name = g_ascii_strdown (raw, -1);

      if (group && g_str_equal (raw, group))
        columns->group = (int) c;
      else if (g_str_equal (name, "pixels"))
        columns->pixels = (int) c;
      else if (is_pixel_name (name))
        {
          columns->first = columns->last == 0 ? c : columns->first;
          columns->last = c + 1;
        }
      else if (g_strv_contains (parts, name))
        columns->part = (int) c;
      else if (columns->label < 0 || g_str_equal (name, "label") || g_str_equal (name, "class"))
        columns->label = (int) c;
    }
}

static gboolean
refuse_group (const Columns *columns, const char *group, guint n, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint c = 0; columns->first_row > 0 && c < n; c++)
    {
      g_autofree char *name = g_strstrip (g_strdup (dyno_text_table_get (columns->table, 0, c)));

      if (!is_pixel_name (name))
        g_string_append_printf (names, "%s“%s”", names->len > 0 ? ", " : "", name);
    }
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
               columns->first_row > 0
                   ? _ ("“%s” has no column “%s”, which data.group_column names; name another "
                        "one, or set it to nothing; its columns: %s")
                   : _ ("“%s” has columns without names, and data.group_column asks for “%s”; "
                        "add a first line that names the columns%s"),
               columns->name, group, names->str);
  return FALSE;
}

static gboolean
find_columns (Columns *columns, const DynoOpenContext *context, GError **error)
{
  const char *group = context->params->group_column;
  const DynoTextTable *table = columns->table;
  guint n = table->rows->len > 0 ? g_array_index (table->rows, DynoTextTableRow, 0).n : 0;
  guint8 value;

  group = group && *group ? group : NULL;
  columns->label = columns->part = columns->pixels = columns->group = -1;
  if (n > 1 && is_byte (dyno_text_table_get (table, 0, 0), &value)
      && is_byte (dyno_text_table_get (table, 0, n - 1), &value))
    {
      columns->label = 0;
      columns->first = 1;
      columns->last = n;
    }
  else
    name_columns (columns, n, group);
  if (columns->first_row >= table->rows->len)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY, _ ("“%s” lists no sample"),
                   columns->name);
      return FALSE;
    }
  if (group && columns->group < 0 && !context->params->may_lack_groups && !context->paths)
    return refuse_group (columns, group, n, error);
  if (columns->label < 0)
    return set_unsupported (columns, _ ("has pixels and no class; add a column “label”"), error);
  return TRUE;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Writes the pixels of a row to out, which has room for most; returns their number; -1: a pixel is
 * no byte. */
static gint64
read_pixels (const Columns *columns, guint row, guint8 *out, guint64 most)
{
  guint64 n = 0;

  if (columns->pixels >= 0)
    {
      const char *at = dyno_text_table_get (columns->table, row, (guint) columns->pixels);

      while (at && *(at += strspn (at, " \t\r\n,")))
        {
          char *end;
          guint64 number = g_ascii_isdigit (*at) ? g_ascii_strtoull (at, &end, 10) : 256;

          if (number > 255)
            return -1;
          if (n < most)
            out[n] = (guint8) number;
          n++;
          at = end;
        }
      return (gint64) n;
    }
  for (guint c = columns->first; c < columns->last; c++, n++)
    {
      const char *cell = dyno_text_table_get (columns->table, row, c);
      guint8 value;

      if (!cell || !is_byte (cell, &value))
        return -1;
      if (n < most)
        out[n] = value;
    }
  return (gint64) n;
}

static gboolean
find_side (PixelRows *rows, const Columns *columns, GError **error)
{
  gint64 n = read_pixels (columns, columns->first_row, NULL, 0);
  guint32 side = n > 0 ? (guint32) lround (sqrt ((double) n)) : 0;
  guint64 bytes;

  if (n < LEAST_PIXELS || (gint64) side * side != n)
    {
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
          ngettext ("“%s” has %" PRId64 " pixel from 0 to 255 in its first row; square images "
                    "of one channel are read: save others as X.npy with y.npy",
                    "“%s” has %" PRId64 " pixels from 0 to 255 in its first row; square images "
                    "of one channel are read: save others as X.npy with y.npy",
                    (gulong) MAX (n, 0)),
          columns->name, MAX (n, 0));
      return FALSE;
    }
  bytes = (guint64) n * columns->table->rows->len; /* bounded by the text's size */
  rows->side = side;
  rows->images = g_try_malloc (bytes);
  if (!rows->images)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY,
                 _ ("“%s”: no memory for its images"), columns->name);
  return rows->images != NULL;
}

static DynoPart
part_of (const Columns *columns, guint row)
{
  const char *cell =
      columns->part < 0 ? NULL : dyno_text_table_get (columns->table, row, (guint) columns->part);

  return columns->part < 0 ? DYNO_PART_TRAIN
         : cell            ? dyno_part_of_name (cell, NULL)
                           : DYNO_PART_NONE;
}

/* The id of a row's group: an empty cell is a group of its own. */
static guint32
find_group (const Columns *columns, guint row, DynoLabelTable *groups)
{
  const char *cell =
      columns->group < 0 ? NULL : dyno_text_table_get (columns->table, row, (guint) columns->group);
  g_autofree char *text = g_strstrip (g_strdup (cell ? cell : "")),
                  *own = g_strdup_printf ("\n%u", row); /* no stripped text begins so */

  return dyno_label_table_add (groups, *text ? text : own);
}

/* NULL: the row was taken.  n_listed: rows that are listed for each part. */
static const char *
take_row (PixelRows *rows, const Columns *columns, guint row, const guint64 *n_listed,
          DynoLabelTable *labels, DynoLabelTable *groups)
{
  guint64 size = (guint64) rows->side * rows->side;
  guint8 *out = rows->images + rows->items->len * size;
  const char *cell = dyno_text_table_get (columns->table, row, (guint) columns->label);
  g_autofree char *label = cell ? g_strstrip (g_strdup (cell)) : NULL;
  DynoListedImage item = { 0 };
  DynoPart part = part_of (columns, row);
  gint64 n;

  if (!label || *label == '\0')
    return _ ("there is no label");
  if (part == DYNO_PART_NONE)
    return _ ("the part is none of train, val and test");
  n = read_pixels (columns, row, out, size);
  if (n != (gint64) size)
    return n < 0 ? _ ("a pixel is no whole number from 0 to 255")
                 : _ ("it has another number of pixels than the first row");
  item.class_id = (gint32) dyno_label_table_add (labels, label);
  item.group = find_group (columns, row, groups);
  item.part = (guint8) dyno_part_of_listed (n_listed, part);
  g_array_append_val (rows->items, item);
  return NULL;
}

static gboolean
take_rows (PixelRows *rows, const Columns *columns, DynoDataset *dataset,
           const DynoOpenContext *context, GError **error)
{
  guint64 n[DYNO_PART_TEST + 1] = { 0 };
  DynoLabelTable labels, groups;
  gboolean ok = TRUE;

  for (guint row = columns->first_row; row < columns->table->rows->len; row++)
    n[part_of (columns, row)]++;
  dyno_label_table_init (&labels);
  dyno_label_table_init (&groups);
  for (guint row = columns->first_row; ok && row < columns->table->rows->len; row++)
    {
      const char *reason = take_row (rows, columns, row, n, &labels, &groups);

      if (reason)
        dyno_image_list_note (dataset, context, columns->name,
                              g_array_index (columns->table->rows, DynoTextTableRow, row).line,
                              reason);
      ok = row % 1024 != 0 || !g_cancellable_set_error_if_cancelled (context->cancellable, error);
    }
  dyno_label_table_finish (&labels, &dataset->info, rows->items, TRUE);
  dyno_label_table_clear (&labels);
  dyno_label_table_clear (&groups);
  dataset->has_groups = columns->group >= 0;
  return ok;
}

static void
fill_info (DynoDataset *dataset, const PixelRows *rows)
{
  DynoDatasetInfo *info = &dataset->info;

  info->n_samples = rows->items->len;
  info->min_width = info->max_width = info->min_height = info->max_height = rows->side;
  info->resizable = TRUE;
  info->schema = dyno_schema_image (DYNO_ELEMENT_U8, rows->side, rows->side, 1, 0);
  dyno_dataset_info_standardise (info, 0.5f, 0.25f);
  info->content_hash = dyno_hash_bytes (DYNO_HASH_START, rows->images,
                                        (gsize) rows->items->len * rows->side * rows->side);
  for (guint i = 0; i < rows->items->len; i++)
    {
      const DynoListedImage *item = &g_array_index (rows->items, DynoListedImage, i);
      guint64 word = (guint64) item->class_id << 1 | (item->part > DYNO_PART_TRAIN);

      info->class_counts[item->class_id]++;
      info->has_split = info->has_split || item->part > DYNO_PART_TRAIN;
      info->content_hash = dyno_hash_bytes (info->content_hash, &word, sizeof word);
    }
}

static gboolean
pixelrows_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  PixelRows *rows = dataset->state = g_new0 (PixelRows, 1);
  const char *path = context->location->body;
  g_autofree char *name = g_filename_display_basename (path);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (DynoTextTable) table = NULL;
  Columns columns = { .name = name };
  gsize size;

  rows->items = g_array_new (FALSE, FALSE, sizeof (DynoListedImage));
  if (!dyno_datafile_read (path, DYNO_TEXT_TABLE_MAX_BYTES, bytes, &size, error))
    return FALSE;
  dataset->info.size_bytes = size;
  columns.table = table = dyno_text_table_parse (bytes->data, size, name, error);
  if (!table || !find_columns (&columns, context, error) || !find_side (rows, &columns, error)
      || !take_rows (rows, &columns, dataset, context, error))
    return FALSE;
  fill_info (dataset, rows);
  return TRUE;
}

static void
pixelrows_close (DynoDataset *dataset)
{
  PixelRows *rows = dataset->state;

  if (!rows)
    return;
  g_free (rows->images);
  g_array_unref (rows->items);
  g_free (rows);
}

/* --- samples ---------------------------------------------------------------------------------- */

static const DynoListedImage *
get_item (DynoDataset *dataset, guint64 index)
{
  return &g_array_index (((const PixelRows *) dataset->state)->items, DynoListedImage, index);
}

static gint32
pixelrows_label (DynoDataset *dataset, guint64 index)
{
  return get_item (dataset, index)->class_id;
}

static guint32
pixelrows_group (DynoDataset *dataset, guint64 index)
{
  return get_item (dataset, index)->group;
}

static DynoPart
pixelrows_part (DynoDataset *dataset, guint64 index)
{
  return (DynoPart) get_item (dataset, index)->part;
}

static gboolean
pixelrows_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                  gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const PixelRows *rows = dataset->state;
  gsize size = (gsize) rows->side * rows->side;
  const guint8 *image = rows->images + index * size;

  *(gint32 *) fields[DYNO_DATASET_TARGET] = pixelrows_label (dataset, index);
  if (width == rows->side && height == rows->side)
    {
      memcpy (fields[DYNO_DATASET_INPUT], image, size);
      return TRUE;
    }
  if (!dyno_datafile_reserve (
          scratch, dyno_resize_scratch_bytes (rows->side, rows->side, 1, width, height), error))
    return FALSE;
  dyno_resize_cover (image, rows->side, rows->side, 1, width, height, fields[DYNO_DATASET_INPUT],
                     scratch->data);
  return TRUE;
}

const DynoDatasetClass dyno_dataset_class_pixelrows = {
  .kind = "pixel-rows",
  .title = "Pixels in rows of text",
  .matches = pixelrows_matches,
  .open = pixelrows_open,
  .close = pixelrows_close,
  .decode = pixelrows_decode,
  .label = pixelrows_label,
  .group = pixelrows_group,
  .part = pixelrows_part,
};
