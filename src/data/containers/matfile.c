/* SPDX-License-Identifier: MIT */
/* Reads .mat files by elements: a tag (type and bytes, or both with up to 4 bytes of data in 8),
 * data, and padding to 8 bytes.  Invariants: every size is checked against the rest of its element
 * before it is used; the bytes that are inflated from one file are bounded. */
#include "matfile.h"
#include "checked.h"
#include <string.h>
#include <zlib.h>

#define HEADER_BYTES 128
#define MAX_INFLATED ((gsize) 64 << 20)
#define MAX_ITEMS    (1 << 22)
#define MAX_ELEMENTS 100000

enum {
  MI_INT8 = 1,
  MI_UINT8,
  MI_INT16,
  MI_UINT16,
  MI_INT32,
  MI_UINT32,
  MI_SINGLE,
  MI_DOUBLE = 9,
  MI_INT64 = 12,
  MI_UINT64,
  MI_MATRIX,
  MI_COMPRESSED,
};

#define FIRST_NUMERIC 6 /* classes of arrays: double, single, int8 to uint64 */
#define LAST_NUMERIC  15
#define FLAG_COMPLEX  0x08

typedef struct {
  const guint8 *at, *end;
} Span;

typedef struct {
  gboolean swap;
  const char *const *wanted;
  GPtrArray *arrays;
  gsize room; /* bytes that may still be inflated */
  guint left; /* elements that may still be read */
} Parse;

typedef struct {
  guint32 type;
  Span data;
} Element;

static gboolean
set_corrupt (GError **error, const char *what)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "damaged .mat file: %s", what);
  return FALSE;
}

static void
array_free (gpointer data)
{
  DynoMatArray *array = data;

  g_free (array->name);
  g_free (array->items);
  g_free (array);
}

static guint64
load_bits (const guint8 *bytes, guint size, gboolean swap)
{
  guint64 bits = 0;
  gboolean little = (G_BYTE_ORDER == G_LITTLE_ENDIAN) != swap;

  for (guint i = 0; i < size; i++)
    bits |= (guint64) bytes[i] << 8 * (little ? i : size - 1 - i);
  return bits;
}

static guint32
load32 (const Parse *parse, const guint8 *bytes)
{
  return (guint32) load_bits (bytes, 4, parse->swap);
}

/* Removes the element at the beginning of the span from it. */
static gboolean
take_element (Parse *parse, Span *span, Element *element, GError **error)
{
  gsize left = (gsize) (span->end - span->at);
  guint32 first, size;

  if (left < 8)
    return set_corrupt (error, "an element's tag is cut off");
  if (parse->left-- == 0)
    return set_corrupt (error, "it has too many elements");
  first = load32 (parse, span->at);
  if (first >> 16 != 0)
    {
      size = first >> 16;
      element->type = first & 0xffff;
      if (size > 4)
        return set_corrupt (error, "a small element of more than 4 bytes");
      element->data.at = span->at + 4;
      element->data.end = span->at + 4 + size;
      span->at += 8;
      return TRUE;
    }
  size = load32 (parse, span->at + 4);
  element->type = first;
  if (size > left - 8)
    return set_corrupt (error, "an element goes beyond what holds it");
  element->data.at = span->at + 8;
  element->data.end = span->at + 8 + size;
  /* Compressed elements are not padded; the padding of the last element may be missing. */
  if (element->type != MI_COMPRESSED)
    size = (guint32) MIN (dyno_align_up (size, 8), left - 8);
  span->at += 8 + (gsize) size;
  return TRUE;
}

static guint
item_bytes (guint32 type)
{
  switch (type)
    {
    case MI_INT8:
    case MI_UINT8:
      return 1;
    case MI_INT16:
    case MI_UINT16:
      return 2;
    case MI_INT32:
    case MI_UINT32:
    case MI_SINGLE:
      return 4;
    case MI_DOUBLE:
    case MI_INT64:
    case MI_UINT64:
      return 8;
    default:
      return 0;
    }
}

static double
load_item (const Parse *parse, guint32 type, const guint8 *bytes)
{
  guint64 bits = load_bits (bytes, item_bytes (type), parse->swap);
  guint32 low = (guint32) bits;
  float single;
  double value;

  switch (type)
    {
    case MI_INT8:
      return (gint8) bits;
    case MI_INT16:
      return (gint16) bits;
    case MI_INT32:
      return (gint32) bits;
    case MI_INT64:
      return (double) (gint64) bits;
    case MI_SINGLE:
      memcpy (&single, &low, sizeof single);
      return (double) single;
    case MI_DOUBLE:
      memcpy (&value, &bits, sizeof value);
      return value;
    default:
      return (double) bits;
    }
}

static gboolean
take_shape (const Parse *parse, const Element *element, DynoMatArray *array, GError **error)
{
  gsize n = (gsize) (element->data.end - element->data.at) / 4;

  if (element->type != MI_INT32 || n < 2 || n > DYNO_MAT_MAX_DIMS)
    return set_corrupt (error, "an array has no shape of 2 to 8 dimensions");
  array->n_dims = (guint) n;
  array->n_items = 1;
  for (guint i = 0; i < n; i++)
    {
      array->shape[i] = load32 (parse, element->data.at + 4 * (gsize) i);
      if (array->shape[i] > G_MAXINT32
          || !dyno_size_mul (array->n_items, array->shape[i], &array->n_items)
          || array->n_items > G_MAXINT32)
        return set_corrupt (error, "the shape of an array overflows");
    }
  return TRUE;
}

static gboolean
take_items (const Parse *parse, const Element *element, DynoMatArray *array, GError **error)
{
  guint size = item_bytes (element->type);

  if (size == 0 || (guint64) (element->data.end - element->data.at) / size < array->n_items)
    return set_corrupt (error, "an array has fewer items than its shape");
  if (array->n_items > MAX_ITEMS)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   "the array “%s” has more than %d items", array->name, MAX_ITEMS);
      return FALSE;
    }
  array->items = g_new (double, MAX (array->n_items, 1));
  for (guint64 i = 0; i < array->n_items; i++)
    array->items[i] = load_item (parse, element->type, element->data.at + i * size);
  return TRUE;
}

static gboolean
take_name (const Element *element, DynoMatArray *array, GError **error)
{
  gsize length = (gsize) (element->data.end - element->data.at);

  if (element->type != MI_INT8 || length > 63 * 4)
    return set_corrupt (error, "an array has no name");
  array->name = g_strndup ((const char *) element->data.at, length);
  return TRUE;
}

static gboolean
fill_array (Parse *parse, Span span, DynoMatArray *array, gboolean *keep, GError **error)
{
  Element flags, shape, name, items;
  guint32 word;
  guint kind;

  *keep = FALSE;
  /* An element without content is an empty array in a cell or a field. */
  if (span.at == span.end)
    return TRUE;
  if (!take_element (parse, &span, &flags, error))
    return FALSE;
  if (flags.type != MI_UINT32 || flags.data.end - flags.data.at < 4)
    return set_corrupt (error, "an array has no flags");
  word = load32 (parse, flags.data.at);
  kind = word & 0xff;
  if (!take_element (parse, &span, &shape, error) || !take_element (parse, &span, &name, error)
      || !take_name (&name, array, error))
    return FALSE;
  if (kind < FIRST_NUMERIC || kind > LAST_NUMERIC || (word >> 8 & FLAG_COMPLEX)
      || !g_strv_contains (parse->wanted, array->name))
    return TRUE;
  *keep = TRUE;
  return take_shape (parse, &shape, array, error) && take_element (parse, &span, &items, error)
         && take_items (parse, &items, array, error);
}

static gboolean
take_array (Parse *parse, Span span, GError **error)
{
  DynoMatArray *array = g_new0 (DynoMatArray, 1);
  gboolean keep, ok = fill_array (parse, span, array, &keep, error);

  if (ok && keep)
    g_ptr_array_add (parse->arrays, array);
  else
    array_free (array);
  return ok;
}

/* Inflates the whole of a compressed element, at most to the size in its first 8 bytes: libmatio
 * counts padding that it does not write, so fewer bytes are no error.  NULL: the element is not
 * valid. */
static guint8 *
inflate_element (Parse *parse, Span span, gsize *size, GError **error)
{
  z_stream stream = { .next_in = (Bytef *) span.at, .avail_in = (uInt) (span.end - span.at) };
  guint8 tag[8], *bytes = NULL;
  guint64 whole = 0;
  int code = inflateInit (&stream);
  gboolean ok;

  if (code != Z_OK)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY, "no memory to inflate it");
      return NULL;
    }
  stream.next_out = tag;
  stream.avail_out = sizeof tag;
  code = inflate (&stream, Z_SYNC_FLUSH);
  ok = (code == Z_OK || code == Z_STREAM_END) && stream.avail_out == 0;
  if (ok)
    whole = load32 (parse, tag) >> 16 != 0 ? 8 : (guint64) load32 (parse, tag + 4) + 8;
  ok = ok && whole <= parse->room;
  if (ok)
    {
      parse->room -= (gsize) whole;
      bytes = g_malloc ((gsize) whole);
      memcpy (bytes, tag, sizeof tag);
      stream.next_out = bytes + sizeof tag;
      stream.avail_out = (uInt) (whole - sizeof tag);
      if (code != Z_STREAM_END)
        code = inflate (&stream, Z_FINISH);
      ok = code == Z_STREAM_END;
      whole -= stream.avail_out;
    }
  inflateEnd (&stream);
  *size = (gsize) whole;
  if (!ok)
    {
      set_corrupt (error, "its compressed bytes are damaged, or more than 64 MB");
      g_clear_pointer (&bytes, g_free);
    }
  return bytes;
}

static gboolean
take_compressed (Parse *parse, Span span, GError **error)
{
  gsize size;
  g_autofree guint8 *bytes = inflate_element (parse, span, &size, error);

  if (!bytes)
    return FALSE;
  if (parse->left-- == 0)
    return set_corrupt (error, "it has too many elements");
  return load32 (parse, bytes) != MI_MATRIX
         || take_array (parse, (Span){ bytes + 8, bytes + size }, error);
}

static gboolean
check_header (const guint8 *bytes, gsize size, gboolean *swap, GError **error)
{
  gboolean little;

  if (size >= 4 && memcmp (bytes, "\x89HDF", 4) == 0)
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                           "a .mat file of version 7.3; save it again with -v7");
      return FALSE;
    }
  if (size < HEADER_BYTES
      || (memcmp (bytes + 126, "IM", 2) != 0 && memcmp (bytes + 126, "MI", 2) != 0))
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                           "no .mat file of version 5; save it again with -v7");
      return FALSE;
    }
  little = bytes[126] == 'I';
  *swap = little != (G_BYTE_ORDER == G_LITTLE_ENDIAN);
  if (load_bits (bytes + 124, 2, *swap) >> 8 == 1)
    return TRUE;
  g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                       "a .mat file of another version than 5; save it again with -v7");
  return FALSE;
}

GPtrArray *
dyno_mat_parse (const guint8 *bytes, gsize size, const char *const *wanted, GError **error)
{
  g_autoptr (GPtrArray) arrays = g_ptr_array_new_with_free_func (array_free);
  Parse parse = { .wanted = wanted, .arrays = arrays, .room = MAX_INFLATED, .left = MAX_ELEMENTS };
  Span span;

  if (!check_header (bytes, size, &parse.swap, error))
    return NULL;
  span.at = bytes + HEADER_BYTES;
  span.end = bytes + size;
  while (span.at < span.end)
    {
      Element element;

      if (!take_element (&parse, &span, &element, error)
          || (element.type == MI_MATRIX && !take_array (&parse, element.data, error))
          || (element.type == MI_COMPRESSED && !take_compressed (&parse, element.data, error)))
        return NULL;
    }
  return g_steal_pointer (&arrays);
}

const DynoMatArray *
dyno_mat_find (const GPtrArray *arrays, const char *name)
{
  for (guint i = 0; i < arrays->len; i++)
    {
      const DynoMatArray *array = g_ptr_array_index (arrays, i);
      if (strcmp (array->name, name) == 0)
        return array;
    }
  return NULL;
}
