/* SPDX-License-Identifier: MIT */
/* The input tensor.  Invariant: memory is allocated for elements only where the text is long enough
 * to hold so many. */
#include "tensorin.h"
#include "checked.h"
#include <math.h>
#include <string.h>

#define MAX_NAME 256

void
dyno_tensor_in_clear (DynoTensorIn *t)
{
  g_free (t->name);
  g_free (t->datatype);
  *t = (DynoTensorIn){ .binary_bytes = -1 };
}

static gboolean
read_axis (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  DynoTensorIn *t = data;
  gint64 length;

  if (!dyno_json_read_integer (r, &length, error))
    return FALSE;
  if (length < 0 || length > G_MAXINT32)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "%s.shape: %" G_GINT64_FORMAT " is no size", t->what, length);
  if (t->n_axes >= G_N_ELEMENTS (t->shape))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "%s.shape: it has more than %u axes", t->what,
                              (guint) G_N_ELEMENTS (t->shape));
  t->shape[t->n_axes++] = length;
  return TRUE;
}

static gboolean
read_shape (DynoTensorIn *t, DynoJsonReader *r, GError **error)
{
  t->n_axes = 0;
  if (!dyno_json_read_members (r, DYNO_JSON_ARRAY, read_axis, t, error))
    return FALSE;
  return t->n_axes > 0
         || dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST, "%s.shape: it is empty",
                               t->what);
}

static gboolean
read_parameter (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  DynoTensorIn *t = data;

  if (strcmp (key, "binary_data_size") != 0)
    return dyno_json_skip (r, error);
  if (!dyno_json_read_integer (r, &t->binary_bytes, error))
    return FALSE;
  return t->binary_bytes >= 0
         || dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                               "%s.parameters.binary_data_size: it is negative", t->what);
}

static gboolean
read_text (char **text, const char *what, const char *key, DynoJsonReader *r, GError **error)
{
  g_clear_pointer (text, g_free);
  if (!dyno_json_read_string (r, text, error))
    return FALSE;
  return strlen (*text) <= MAX_NAME
         || dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST, "%s.%s: it is too long", what,
                               key);
}

static gboolean
read_member (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  DynoTensorIn *t = data;
  gboolean ok;

  if (strcmp (key, "name") == 0)
    return read_text (&t->name, t->what, key, r, error);
  if (strcmp (key, "datatype") == 0)
    return read_text (&t->datatype, t->what, key, r, error);
  if (strcmp (key, "shape") == 0)
    return read_shape (t, r, error);
  if (strcmp (key, "parameters") == 0)
    return dyno_json_read_members (r, DYNO_JSON_OBJECT, read_parameter, t, error);
  if (strcmp (key, "data") == 0)
    {
      dyno_json_peek (r); /* skips white space */
      t->data = r->at;
      ok = dyno_json_skip (r, error);
      t->data_size = (gsize) (r->at - t->data);
      return ok;
    }
  return dyno_json_skip (r, error);
}

/* Adds the field to errors of the JSON reader, which have only a position. */
static void
name_field (const char *what, const char *member, GError **error)
{
  if (error && *error && !g_str_has_prefix ((*error)->message, what))
    g_prefix_error (error, "%s%s: ", what, member);
}

gboolean
dyno_tensor_in_read (DynoTensorIn *t, const char *what, DynoJsonReader *r, GError **error)
{
  dyno_tensor_in_clear (t);
  t->text = r->begin;
  t->what = what;
  if (dyno_json_read_members (r, DYNO_JSON_OBJECT, read_member, t, error))
    return TRUE;
  name_field (what, "", error);
  return FALSE;
}

/* Initialises a reader of the data, whose reported positions are those in the document. */
static void
read_data (const DynoTensorIn *t, DynoJsonReader *r)
{
  dyno_json_reader_init (r, t->data, t->data_size, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_BAD_REQUEST);
  r->begin = t->text;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Elements that are being parsed. */
typedef struct {
  const DynoTensorIn *tensor;
  const char *what;
  DynoElement element;
  guint64 count, at;
  guint8 *to;
} Numbers;

static gboolean
put_integer (Numbers *n, const char *text, gsize length, gint64 least, gint64 most, GError **error)
{
  DynoJsonReader r;
  gint64 value;

  /* The reader also gets the character after the number, which ends the number. */
  dyno_json_reader_init (&r, text, length + 1, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_BAD_REQUEST);
  if (!dyno_json_read_integer (&r, &value, NULL) || value < least || value > most)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "%s.data: element %" G_GUINT64_FORMAT
                              " is no integer from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                              n->what, n->at, least, most);
  if (n->element == DYNO_ELEMENT_U8)
    n->to[n->at] = (guint8) value;
  else
    ((gint32 *) (gpointer) n->to)[n->at] = (gint32) value;
  return TRUE;
}

static gboolean
put_number (Numbers *n, DynoJsonReader *r, GError **error)
{
  const char *text;
  gsize length;
  float value;

  if (!dyno_json_read_number (r, &text, &length, error))
    return FALSE;
  if (n->at >= n->count)
    return dyno_serve_refuse (
        error, DYNO_SERVE_ERROR_BAD_REQUEST,
        "%s.data: it has more elements than its shape has, %" G_GUINT64_FORMAT, n->what, n->count);
  if (n->element == DYNO_ELEMENT_U8 && !put_integer (n, text, length, 0, 255, error))
    return FALSE;
  if (n->element == DYNO_ELEMENT_I32
      && !put_integer (n, text, length, G_MININT32, G_MAXINT32, error))
    return FALSE;
  if (n->element == DYNO_ELEMENT_F32)
    {
      value = (float) g_ascii_strtod (text, NULL);
      if (!isfinite (value))
        return dyno_serve_refuse (
            error, DYNO_SERVE_ERROR_BAD_REQUEST,
            "%s.data: element %" G_GUINT64_FORMAT " is beyond the range of FP32", n->what, n->at);
      ((float *) (gpointer) n->to)[n->at] = value;
    }
  n->at++;
  return TRUE;
}

/* An array at an axis that is being parsed. */
typedef struct {
  Numbers *numbers;
  guint axis;
  guint64 members;
  gboolean nested; /* its members are arrays */
} Axis;

static gboolean read_array (Numbers *n, guint axis, DynoJsonReader *r, GError **error);

static gboolean
read_element (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  Axis *a = data;

  if (a->members++ == 0)
    a->nested = dyno_json_peek (r) == DYNO_JSON_ARRAY;
  if (!a->nested)
    return put_number (a->numbers, r, error);
  if (a->axis + 1 >= a->numbers->tensor->n_axes)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "%s.data: it is nested deeper than its shape", a->numbers->what);
  return read_array (a->numbers, a->axis + 1, r, error);
}

/* Reads an array at an axis: of arrays, each as long as the next axis; or of numbers, at the last
 * axis and where the data are flat. */
static gboolean
read_array (Numbers *n, guint axis, DynoJsonReader *r, GError **error)
{
  Axis a = { .numbers = n, .axis = axis };

  if (!dyno_json_read_members (r, DYNO_JSON_ARRAY, read_element, &a, error))
    return FALSE;
  if (axis == 0 && !a.nested)
    return TRUE;
  if (a.members == (guint64) n->tensor->shape[axis] && (a.nested || axis + 1 == n->tensor->n_axes))
    return TRUE;
  return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                            "%s.data: an array has %" G_GUINT64_FORMAT
                            " members at axis %u, which is not the size in its shape",
                            n->what, a.members, axis);
}

static gboolean
check_data (const DynoTensorIn *t, const char *what, guint64 count, GError **error)
{
  if (!t->data)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "%s.data: it is missing, and so is parameters.binary_data_size",
                              what);
  /* Each element but the last has at least two characters. */
  return count <= t->data_size / 2
         || dyno_serve_refuse (
             error, DYNO_SERVE_ERROR_BAD_REQUEST,
             "%s.data: it has fewer elements than its shape has, %" G_GUINT64_FORMAT, what, count);
}

guint8 *
dyno_tensor_in_read_numbers (const DynoTensorIn *t, const char *what, DynoElement element,
                             guint64 count, GError **error)
{
  Numbers n = { .tensor = t, .what = what, .element = element, .count = count };
  g_autofree guint8 *to = NULL;
  DynoJsonReader r;

  if (!check_data (t, what, count, error))
    return NULL;
  n.to = to = g_try_malloc_n (count, dyno_element_size (element));
  if (!to)
    {
      dyno_serve_refuse (error, DYNO_SERVE_ERROR_TOO_LARGE, "%s: there is no memory for it", what);
      return NULL;
    }
  read_data (t, &r);
  if (!read_array (&n, 0, &r, error))
    {
      name_field (what, ".data", error);
      return NULL;
    }
  if (n.at == count)
    return g_steal_pointer (&to);
  dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                     "%s.data: it has fewer elements than its shape has: %" G_GUINT64_FORMAT
                     " of %" G_GUINT64_FORMAT,
                     what, n.at, count);
  return NULL;
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* Texts that are being parsed. */
typedef struct {
  GPtrArray *all;
  const char *what;
} Texts;

static gboolean
add_base64 (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  Texts *texts = data;
  g_autofree char *text = NULL;
  gsize length, size = 0;

  if (!dyno_json_read_string (r, &text, error))
    return FALSE;
  length = strlen (text);
  if (length == 0 || length % 4 != 0
      || strspn (text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
             != length)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "%s.data: text %u is not in base64, as BYTES are in JSON",
                              texts->what, texts->all->len);
  g_base64_decode_inplace (text, &size);
  g_ptr_array_add (texts->all, g_bytes_new_take (g_steal_pointer (&text), size));
  return TRUE;
}

GPtrArray *
dyno_tensor_in_read_bytes (const DynoTensorIn *t, const char *what, guint64 n, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  DynoJsonReader r;

  if (!check_data (t, what, n, error))
    return NULL;
  read_data (t, &r);
  if (!dyno_json_read_members (&r, DYNO_JSON_ARRAY, add_base64, &(Texts){ all, what }, error))
    {
      name_field (what, ".data", error);
      return NULL;
    }
  if (all->len == n)
    return g_steal_pointer (&all);
  dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                     "%s.data: it has %u texts, and its shape is of %" G_GUINT64_FORMAT, what,
                     all->len, n);
  return NULL;
}

GPtrArray *
dyno_tensor_in_split_bytes (const char *what, const guint8 *bytes, gsize size, guint64 n,
                            GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  gsize at = 0;

  while (at < size && all->len < n)
    {
      guint32 length;

      if (size - at < sizeof length)
        break;
      memcpy (&length, bytes + at, sizeof length);
      length = GUINT32_FROM_LE (length);
      at += sizeof length;
      if (length > size - at)
        break;
      g_ptr_array_add (all, g_bytes_new_static (bytes + at, length));
      at += length;
    }
  if (all->len == n && at == size)
    return g_steal_pointer (&all);
  dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                     "%s: its binary data do not fit its shape: %" G_GUINT64_FORMAT
                     " times an element after its size in 4 bytes",
                     what, n);
  return NULL;
}
