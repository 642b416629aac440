/* SPDX-License-Identifier: MIT */
/* The .npy header: magic, version, length, and a Python dictionary literal with exactly the keys
 * descr, fortran_order and shape.  Only that literal is parsed, by hand; none of it is evaluated.
 * Source: numpy.lib.format, "Format Version 1.0" to "3.0". */
#include "npyfile.h"
#include "checked.h"
#include "datafile.h"
#include "file.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

#define MAGIC      "\x93NUMPY"
#define MAGIC_SIZE 6

typedef struct {
  const char *at, *end;
} Cursor;

static gboolean
set_corrupt (GError **error, const char *what)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "damaged .npy header: %s", what);
  return FALSE;
}

static void
skip_space (Cursor *cursor)
{
  while (cursor->at < cursor->end && g_ascii_isspace (*cursor->at))
    cursor->at++;
}

static gboolean
take (Cursor *cursor, char c)
{
  skip_space (cursor);
  if (cursor->at >= cursor->end || *cursor->at != c)
    return FALSE;
  cursor->at++;
  return TRUE;
}

static gboolean
take_word (Cursor *cursor, const char *word)
{
  gsize length = strlen (word);

  skip_space (cursor);
  if ((gsize) (cursor->end - cursor->at) < length || strncmp (cursor->at, word, length) != 0)
    return FALSE;
  cursor->at += length;
  return TRUE;
}

/* A quoted string without escapes. */
static gboolean
take_string (Cursor *cursor, char *out, gsize size)
{
  const char *stop;
  char quote;
  gsize length;

  skip_space (cursor);
  if (cursor->at >= cursor->end || (*cursor->at != '\'' && *cursor->at != '"'))
    return FALSE;
  quote = *cursor->at++;
  stop = memchr (cursor->at, quote, (gsize) (cursor->end - cursor->at));
  length = stop ? (gsize) (stop - cursor->at) : size;
  if (length >= size)
    return FALSE;
  memcpy (out, cursor->at, length);
  out[length] = '\0';
  cursor->at = stop + 1;
  return TRUE;
}

static gboolean
take_number (Cursor *cursor, guint64 *value)
{
  const char *start;

  skip_space (cursor);
  start = cursor->at;
  *value = 0;
  for (; cursor->at < cursor->end && g_ascii_isdigit (*cursor->at); cursor->at++)
    if (!dyno_size_mul (*value, 10, value)
        || !dyno_size_add (*value, (guint64) (*cursor->at - '0'), value))
      return FALSE;
  if (cursor->at == start)
    return FALSE;
  take (cursor, 'L'); /* Python 2 wrote long numbers like this */
  return TRUE;
}

/* "<f4", "|u1", ">i8": byte order, kind, bytes. */
static gboolean
parse_type (Cursor *cursor, DynoNpyHeader *header, GError **error)
{
  char type[32];
  char order;

  skip_space (cursor);
  if (cursor->at < cursor->end && *cursor->at == '[')
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                           "an array of structures; save one plain numeric array for each field");
      return FALSE;
    }
  if (!take_string (cursor, type, sizeof type) || strlen (type) < 2)
    return set_corrupt (error, "no type");
  if (strchr (type, 'O'))
    {
      g_set_error_literal (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
          "an array of Python objects, which would have to be executed; save a numeric array "
          "(astype (float32))");
      return FALSE;
    }
  order = '=';
  if (strchr ("<>|=", type[0]))
    {
      order = type[0];
      memmove (type, type + 1, strlen (type));
    }
  if (strcmp (type, "f2") != 0 && strcmp (type, "f4") != 0 && strcmp (type, "f8") != 0
      && strcmp (type, "b1") != 0
      && !(strlen (type) == 2 && strchr ("iu", type[0]) && strchr ("1248", type[1])))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   "items of type “%s”; float16, 32, 64, integers and booleans are read", type);
      return FALSE;
    }
  header->kind = type[0];
  header->item_bytes = (guint) (type[1] - '0');
  header->swap = header->item_bytes > 1 && order == (G_BYTE_ORDER == G_LITTLE_ENDIAN ? '>' : '<');
  return TRUE;
}

static gboolean
parse_shape (Cursor *cursor, DynoNpyHeader *header, GError **error)
{
  if (!take (cursor, '('))
    return set_corrupt (error, "no shape");
  header->n_dims = 0;
  while (!take (cursor, ')'))
    {
      guint64 value;
      if (header->n_dims == DYNO_NPY_MAX_DIMS)
        {
          g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                       "an array of more than %d dimensions", DYNO_NPY_MAX_DIMS);
          return FALSE;
        }
      if (!take_number (cursor, &value))
        return set_corrupt (error, "a shape that is not a list of sizes");
      header->shape[header->n_dims++] = value;
      if (!take (cursor, ','))
        {
          if (!take (cursor, ')'))
            return set_corrupt (error, "a shape without its end");
          break;
        }
    }
  return TRUE;
}

static gboolean
parse_dictionary (Cursor *cursor, DynoNpyHeader *header, GError **error)
{
  gboolean has_type = FALSE, has_order = FALSE, has_shape = FALSE;
  char key[32];

  if (!take (cursor, '{'))
    return set_corrupt (error, "no dictionary");
  while (!take (cursor, '}'))
    {
      gboolean *has;
      if (!take_string (cursor, key, sizeof key) || !take (cursor, ':'))
        return set_corrupt (error, "a key is missing");
      has = strcmp (key, "descr") == 0           ? &has_type
            : strcmp (key, "fortran_order") == 0 ? &has_order
            : strcmp (key, "shape") == 0         ? &has_shape
                                                 : NULL;
      if (!has || *has)
        return set_corrupt (error, "an unknown or repeated key");
      *has = TRUE;
      if (has == &has_type && !parse_type (cursor, header, error))
        return FALSE;
      if (has == &has_shape && !parse_shape (cursor, header, error))
        return FALSE;
      if (has == &has_order)
        {
          header->fortran = take_word (cursor, "True");
          if (!header->fortran && !take_word (cursor, "False"))
            return set_corrupt (error, "fortran_order is neither True nor False");
        }
      if (!take (cursor, ',') && (cursor->at >= cursor->end || *cursor->at != '}'))
        return set_corrupt (error, "the dictionary does not end");
    }
  return has_type && has_order && has_shape
             ? TRUE
             : set_corrupt (error, "descr, fortran_order or shape is missing");
}

gboolean
dyno_npy_header_size (const guint8 *bytes, gsize size, guint64 *header_size, GError **error)
{
  guint64 length;

  if (size < 10 || memcmp (bytes, MAGIC, MAGIC_SIZE) != 0 || (bytes[6] > 1 && size < 12))
    return set_corrupt (error, "it does not begin as a .npy file");
  if (bytes[6] < 1 || bytes[6] > 3)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   ".npy of format version %u; 1 to 3 are read", bytes[6]);
      return FALSE;
    }
  length = bytes[8] | (guint32) bytes[9] << 8;
  if (bytes[6] > 1)
    length |= (guint32) bytes[10] << 16 | (guint32) bytes[11] << 24;
  if (length > DYNO_NPY_MAX_HEADER)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   "a .npy header of %" G_GUINT64_FORMAT " bytes; at most %d are read", length,
                   DYNO_NPY_MAX_HEADER);
      return FALSE;
    }
  *header_size = length + (bytes[6] > 1 ? 12 : 10);
  return TRUE;
}

gboolean
dyno_npy_parse (const guint8 *bytes, gsize size, guint64 file_size, DynoNpyHeader *header,
                GError **error)
{
  guint64 header_size;
  Cursor cursor;

  memset (header, 0, sizeof *header);
  if (!dyno_npy_header_size (bytes, size, &header_size, error))
    return FALSE;
  if (header_size > size)
    return set_corrupt (error, "the file ends inside it");
  cursor.at = (const char *) bytes + (bytes[6] > 1 ? 12 : 10);
  cursor.end = (const char *) bytes + header_size;
  if (!parse_dictionary (&cursor, header, error))
    return FALSE;

  header->data_offset = header_size;
  header->n_items = 1;
  for (guint i = 0; i < header->n_dims; i++)
    if (!dyno_size_mul (header->n_items, header->shape[i], &header->n_items))
      {
        g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                             "the product of the .npy shape overflows");
        return FALSE;
      }
  if (!dyno_size_mul (header->n_items, header->item_bytes, &header->data_bytes)
      || header->data_bytes > G_MAXINT64)
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                           "the size of the .npy array overflows");
      return FALSE;
    }
  if (file_size < header_size || header->data_bytes > file_size - header_size)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   "its shape needs %" G_GUINT64_FORMAT
                   " %s of data, the file has %" G_GUINT64_FORMAT,
                   header->data_bytes, dyno_plural (header->data_bytes, "byte", "bytes"),
                   file_size - MIN (header_size, file_size));
      return FALSE;
    }
  return TRUE;
}

gboolean
dyno_npy_read_header (int fd, guint64 at, guint64 size, DynoNpyHeader *header, GError **error)
{
  guint8 start[12];
  g_autofree guint8 *bytes = NULL;
  guint64 header_size;
  gssize n = dyno_datafile_pread (fd, start, (gsize) MIN (sizeof start, size), at);

  if (!dyno_npy_header_size (start, n > 0 ? (gsize) n : 0, &header_size, error))
    return FALSE;
  header_size = MIN (header_size, size);
  bytes = g_malloc (header_size);
  n = dyno_datafile_pread (fd, bytes, header_size, at);
  if (!dyno_npy_parse (bytes, n > 0 ? (gsize) n : 0, size, header, error))
    return FALSE;
  header->data_offset += at; /* no overflow: both offsets lie within the file */
  return TRUE;
}

static double
half_to_double (guint16 half)
{
  guint32 exponent = half >> 10 & 31, fraction = half & 1023;
  union {
    guint32 bits;
    float value;
  } single;

  if (exponent == 0)
    single.value = (float) fraction * 0x1p-24f;
  else
    single.bits = (exponent == 31 ? 255u << 23 : (exponent + 112) << 23) | fraction << 13;
  return half & 0x8000 ? -(double) single.value : (double) single.value;
}

static guint64
load_bits (const DynoNpyHeader *header, const guint8 *bytes)
{
  guint8 ordered[8];
  guint16 two;
  guint32 four;
  guint64 eight;

  for (guint i = 0; i < header->item_bytes; i++)
    ordered[i] = bytes[header->swap ? header->item_bytes - 1 - i : i];
  switch (header->item_bytes)
    {
    case 1:
      return ordered[0];
    case 2:
      memcpy (&two, ordered, 2);
      return two;
    case 4:
      memcpy (&four, ordered, 4);
      return four;
    default:
      memcpy (&eight, ordered, 8);
      return eight;
    }
}

gint64
dyno_npy_get_int (const DynoNpyHeader *header, const guint8 *bytes)
{
  guint shift = 64 - 8 * header->item_bytes;
  double value;

  if (header->kind == 'f')
    {
      value = dyno_npy_get_double (header, bytes);
      return value > -0x1p63 && value < 0x1p63 ? (gint64) value : 0;
    }
  if (header->kind == 'i')
    return (gint64) (load_bits (header, bytes) << shift) >> shift;
  return (gint64) MIN (load_bits (header, bytes), (guint64) G_MAXINT64);
}

double
dyno_npy_get_double (const DynoNpyHeader *header, const guint8 *bytes)
{
  guint64 bits = load_bits (header, bytes);
  guint32 low = (guint32) bits;
  float single;
  double value;

  if (header->kind == 'u' || header->kind == 'b')
    return (double) bits;
  if (header->kind == 'i')
    return (double) dyno_npy_get_int (header, bytes);
  if (header->item_bytes == 2)
    return half_to_double ((guint16) bits);
  if (header->item_bytes == 4)
    {
      memcpy (&single, &low, sizeof single);
      return single;
    }
  memcpy (&value, &bits, sizeof value);
  return value;
}

void
dyno_npy_append (GByteArray *file, const char *type, guint n_dims, const guint64 *shape,
                 gconstpointer data)
{
  g_autoptr (GString) literal = g_string_new (NULL);
  gsize size = (gsize) (type[1] - '0');
  const char *order = type[1] == '1' ? "|" : G_BYTE_ORDER == G_LITTLE_ENDIAN ? "<" : ">";
  guint8 start[10] = MAGIC "\x01";

  g_string_append_printf (literal, "{'descr': '%s%s', 'fortran_order': False, 'shape': (", order,
                          type);
  for (guint i = 0; i < n_dims; i++)
    {
      g_string_append_printf (
          literal, i == 0 ? "%" G_GUINT64_FORMAT "," : " %" G_GUINT64_FORMAT ",", shape[i]);
      size *= shape[i];
    }
  g_string_append (literal, "), }");
  while ((sizeof start + literal->len + 1) % 64 != 0)
    g_string_append_c (literal, ' ');
  g_string_append_c (literal, '\n');
  start[8] = (guint8) (literal->len & 0xff);
  start[9] = (guint8) (literal->len >> 8);
  g_byte_array_append (file, start, sizeof start);
  g_byte_array_append (file, (const guint8 *) literal->str, (guint) literal->len);
  g_byte_array_append (file, data, (guint) size);
}

gboolean
dyno_npy_write (const char *path, const char *type, guint n_dims, const guint64 *shape,
                gconstpointer data, GError **error)
{
  g_autoptr (GByteArray) file = g_byte_array_new ();

  dyno_npy_append (file, type, n_dims, shape, data);
  return dyno_file_write_atomic (path, file->data, file->len, error);
}
