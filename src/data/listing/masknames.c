/* SPDX-License-Identifier: MIT */
/* Reads the names of masks' classes.  All lines of a file have one form: the first form that fits
 * every line, or plain names where no other form does. */
#include "masknames.h"
#include "datafile.h"
#include "intl.h"
#include "schema.h"
#include <string.h>

#define MAX_BYTES (G_GUINT64_CONSTANT (1) << 20)

const char *const dyno_mask_voc_names[21 + 1] = {
  "background", "aeroplane", "bicycle",   "bird",   "boat",        "bottle",
  "bus",        "car",       "cat",       "chair",  "cow",         "diningtable",
  "dog",        "horse",     "motorbike", "person", "pottedplant", "sheep",
  "sofa",       "train",     "tvmonitor", NULL
};

const char *const dyno_mask_cityscapes_names[19 + 1] = {
  "road",         "sidewalk",   "building", "wall",       "fence",   "pole",  "traffic light",
  "traffic sign", "vegetation", "terrain",  "sky",        "person",  "rider", "car",
  "truck",        "bus",        "train",    "motorcycle", "bicycle", NULL
};

/* cityscapesScripts, helpers/labels.py */
guint8
dyno_mask_get_cityscapes_id (guint label_id)
{
  static const guint8 label_ids[19] = { 7,  8,  11, 12, 13, 17, 19, 20, 21, 22,
                                        23, 24, 25, 26, 27, 28, 31, 32, 33 };

  for (guint8 i = 0; i < G_N_ELEMENTS (label_ids); i++)
    if (label_ids[i] == label_id)
      return i;
  return DYNO_MASK_IGNORED;
}

gboolean
dyno_mask_name_is_void (const char *name)
{
  static const char *const words[] = { "void", "ignore", "ignored", "unlabelled", "unlabeled" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_ascii_strcasecmp (name, words[i]) == 0)
      return TRUE;
  return FALSE;
}

void
dyno_mask_names_init (DynoMaskNames *names)
{
  names->file = NULL;
  names->names = g_ptr_array_new_with_free_func (g_free);
  names->colours = g_array_new (FALSE, FALSE, sizeof (guint32));
}

void
dyno_mask_names_clear (DynoMaskNames *names)
{
  g_free (names->file);
  g_ptr_array_unref (names->names);
  g_array_unref (names->colours);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* The class that a line names. */
typedef struct {
  char *name;
  guint id;
  guint32 rgb;
} Row;

static gboolean
is_gap (char c)
{
  return c == ' ' || c == '\t' || c == ',' || c == ';';
}

/* A whole number up to most at *at, which is moved past it. */
static gboolean
take_number (const char **at, guint most, guint *number)
{
  guint64 value;
  char *end;

  if (!g_ascii_isdigit (**at))
    return FALSE;
  value = g_ascii_strtoull (*at, &end, 10);
  if (value > most)
    return FALSE;
  *number = (guint) value;
  *at = end;
  return TRUE;
}

/* Three numbers with gaps between them. */
static gboolean
take_colour (const char **at, guint32 *rgb)
{
  *rgb = 0;
  for (guint c = 0; c < 3; c++)
    {
      guint number;

      if (c > 0 && !is_gap (**at))
        return FALSE;
      while (is_gap (**at))
        (*at)++;
      if (!take_number (at, 255, &number))
        return FALSE;
      *rgb = *rgb << 8 | number;
    }
  return TRUE;
}

static gboolean
set_name (Row *row, const char *start, gsize length)
{
  row->name = g_strstrip (g_strndup (start, length));
  if (*row->name != '\0')
    return TRUE;
  g_clear_pointer (&row->name, g_free);
  return FALSE;
}

static gboolean
take_name_colon_colour (const char *line, Row *row)
{
  for (const char *colon = strchr (line, ':'); colon; colon = strchr (colon + 1, ':'))
    {
      const char *at = colon + 1;

      if (take_colour (&at, &row->rgb) && (*at == '\0' || *at == ':'))
        return set_name (row, line, (gsize) (colon - line));
    }
  return FALSE;
}

static gboolean
take_colour_name (const char *line, Row *row)
{
  const char *at = line;

  return take_colour (&at, &row->rgb) && is_gap (*at) && set_name (row, at + 1, strlen (at + 1));
}

/* The numbers are at the end; the name before them may have digits and gaps too. */
static gboolean
take_name_colour (const char *line, Row *row)
{
  const char *start = line + strlen (line);

  for (guint c = 0; c < 3; c++)
    {
      const char *before = start;

      while (start > line && g_ascii_isdigit (start[-1]))
        start--;
      if (start == before)
        return FALSE;
      before = start;
      while (start > line && is_gap (start[-1]))
        start--;
      if (start == before)
        return FALSE;
    }
  const char *at = start;
  return take_colour (&at, &row->rgb) && set_name (row, line, (gsize) (start - line));
}

static gboolean
take_id_name (const char *line, Row *row)
{
  const char *at = line;

  return take_number (&at, DYNO_MASK_MAX_CLASSES - 1, &row->id) && (is_gap (*at) || *at == ':')
         && set_name (row, at + 1, strlen (at + 1));
}

static gboolean
take_name (const char *line, Row *row)
{
  return set_name (row, line, strlen (line));
}

static const struct {
  gboolean (*take) (const char *line, Row *row);
  gboolean colours, ids;
} forms[] = { { take_name_colon_colour, TRUE, FALSE },
              { take_colour_name, TRUE, FALSE },
              { take_name_colour, TRUE, FALSE },
              { take_id_name, FALSE, TRUE },
              { take_name, FALSE, FALSE } };

/* --- files ------------------------------------------------------------------------------------ */

typedef struct {
  const char *file;
  GPtrArray *lines; /* char * */
  GArray *numbers;  /* guint: line of the file, from 1 */
} Text;

static void
split_lines (Text *text, const char *bytes)
{
  g_auto (GStrv) lines = g_strsplit (bytes, "\n", -1);

  for (guint i = 0; lines[i]; i++)
    {
      const char *from =
          i == 0 && g_str_has_prefix (lines[i], "\xef\xbb\xbf") ? lines[i] + 3 : lines[i];
      char *line = g_strstrip (g_utf8_make_valid (from, -1));
      guint number = i + 1;

      if (*line == '\0' || *line == '#')
        {
          g_free (line);
          continue;
        }
      g_ptr_array_add (text->lines, line);
      g_array_append_val (text->numbers, number);
    }
}

static gboolean
fits (const Text *text, guint form, guint line)
{
  Row row = { 0 };
  gboolean ok = forms[form].take (text->lines->pdata[line], &row);

  g_free (row.name);
  return ok;
}

/* A first line such as "id,name" or "name,r,g,b". */
static gboolean
is_header (const char *line)
{
  static const char *const words[] = { "name", "names", "class", "classes", "label", "r", "id" };
  g_autofree char *lower = g_ascii_strdown (line, -1);
  g_auto (GStrv) cells = g_strsplit_set (lower, ",;\t :", -1);
  gboolean any = FALSE;

  for (guint i = 0; cells[i]; i++)
    for (guint w = 0; w < G_N_ELEMENTS (words); w++)
      any = any || strcmp (g_strstrip (cells[i]), words[w]) == 0;
  return any && g_strv_length (cells) > 1;
}

/* The form of the lines, and the first line after a header. */
static gboolean
find_form (const Text *text, guint *form, guint *first, GError **error)
{
  for (*form = 0; *form < G_N_ELEMENTS (forms); (*form)++)
    {
      guint n = 0, bad = 0;

      *first = text->lines->len > 1 && *form + 1 < G_N_ELEMENTS (forms) && !fits (text, *form, 0)
                       && is_header (text->lines->pdata[0])
                   ? 1
                   : 0;
      for (guint i = *first; i < text->lines->len; i++)
        if (fits (text, *form, i))
          n++;
        else if (bad == 0)
          bad = g_array_index (text->numbers, guint, i);
      if (bad == 0)
        return TRUE;
      if (!forms[*form].colours || n * 2 < text->lines->len)
        continue;
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   _ ("Line %u of “%s” has no class with its colour, as the other lines do: write "
                      "name: r,g,b with numbers from 0 to 255"),
                   bad, text->file);
      return FALSE;
    }
  return FALSE;
}

static gboolean
set_twice (GError **error, const Text *text, guint line)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
               _ ("Line %u of “%s” has the id or the colour of another class; correct it"),
               g_array_index (text->numbers, guint, line), text->file);
  return FALSE;
}

static gboolean
take_row (DynoMaskNames *names, const Text *text, guint form, guint line, Row *row, GError **error)
{
  if (forms[form].colours)
    {
      for (guint i = 0; i < names->colours->len; i++)
        if (g_array_index (names->colours, guint32, i) == row->rgb)
          return set_twice (error, text, line);
      g_array_append_val (names->colours, row->rgb);
    }
  if (!forms[form].ids)
    row->id = names->names->len;
  if (row->id >= DYNO_MASK_MAX_CLASSES)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s” names more than %d classes, which a byte does not hold"), text->file,
                   DYNO_MASK_MAX_CLASSES);
      return FALSE;
    }
  if (names->names->len <= row->id)
    g_ptr_array_set_size (names->names, (int) row->id + 1);
  if (names->names->pdata[row->id])
    return set_twice (error, text, line);
  names->names->pdata[row->id] = g_steal_pointer (&row->name);
  return TRUE;
}

static gboolean
take_lines (DynoMaskNames *names, const Text *text, GError **error)
{
  guint form, first;
  gboolean ok = find_form (text, &form, &first, error);

  for (guint i = first; ok && i < text->lines->len; i++)
    {
      Row row = { 0 };

      ok = forms[form].take (text->lines->pdata[i], &row)
           && take_row (names, text, form, i, &row, error);
      g_free (row.name);
    }
  for (guint id = 0; ok && id < names->names->len; id++)
    if (!names->names->pdata[id])
      names->names->pdata[id] = g_strdup_printf ("%u", id);
  return ok;
}

gboolean
dyno_mask_names_parse (DynoMaskNames *names, const char *file, const char *bytes, GError **error)
{
  Text text = { .file = file };
  gboolean ok = TRUE;

  text.lines = g_ptr_array_new_with_free_func (g_free);
  text.numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  split_lines (&text, bytes);
  if (text.lines->len > 0)
    {
      names->file = g_strdup (file);
      ok = take_lines (names, &text, error);
    }
  g_ptr_array_unref (text.lines);
  g_array_unref (text.numbers);
  return ok;
}

gboolean
dyno_mask_names_find (DynoMaskNames *names, const char *const *folders, GError **error)
{
  static const char *const files[] = { "classes.txt",     "labelmap.txt",    "label_colors.txt",
                                       "class_dict.csv",  "labels.txt",      "names.txt",
                                       "class_names.txt", "label_names.txt", "codes.txt" };

  for (guint f = 0; folders[f]; f++)
    for (guint i = 0; i < G_N_ELEMENTS (files); i++)
      {
        g_autofree char *path = g_build_filename (folders[f], files[i], NULL);
        g_autoptr (GByteArray) bytes = NULL;
        gsize size;

        if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
          continue;
        bytes = g_byte_array_new ();
        if (!dyno_datafile_read (path, MAX_BYTES, bytes, &size, error))
          return FALSE;
        g_byte_array_set_size (bytes, (guint) size);
        g_byte_array_append (bytes, (const guint8 *) "", 1);
        return dyno_mask_names_parse (names, files[i], (const char *) bytes->data, error);
      }
  return TRUE;
}
