/* SPDX-License-Identifier: MIT */
/* safetensors, reading: 8 bytes header length, a JSON header, the data.
 *
 * Invariants: nothing is used before it is checked: the length against file and limit, the JSON's
 * nesting before it is parsed (its parser is recursive), keys for repetition, each shape's product
 * against its span, and the spans together: sorted by offset they must fill the data without gaps
 * or overlaps.
 * The file is read, not mapped: a file that is truncated during a run then causes no signal. */
#include "safetensors.h"
#include "checked.h"
#include "datafile.h"
#include "onnxfile.h"
#include "pth.h"
#include "safetensors-private.h"
#include "text.h"
#include <errno.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <unistd.h>

#define MAX_NESTING 4  /* object of objects of lists */
#define START_BYTES 16 /* number of first bytes that identify a file */

static const struct {
  const char *name;
  gsize bytes;
} types[] = {
  [DYNO_TENSOR_BOOL] = { "BOOL", 1 }, [DYNO_TENSOR_U8] = { "U8", 1 },
  [DYNO_TENSOR_I8] = { "I8", 1 },     [DYNO_TENSOR_U16] = { "U16", 2 },
  [DYNO_TENSOR_I16] = { "I16", 2 },   [DYNO_TENSOR_F16] = { "F16", 2 },
  [DYNO_TENSOR_BF16] = { "BF16", 2 }, [DYNO_TENSOR_U32] = { "U32", 4 },
  [DYNO_TENSOR_I32] = { "I32", 4 },   [DYNO_TENSOR_F32] = { "F32", 4 },
  [DYNO_TENSOR_U64] = { "U64", 8 },   [DYNO_TENSOR_I64] = { "I64", 8 },
  [DYNO_TENSOR_F64] = { "F64", 8 },
};

const char *
dyno_tensor_type_get_name (DynoTensorType type)
{
  return types[type].name;
}

gsize
dyno_tensor_type_get_bytes (DynoTensorType type)
{
  return types[type].bytes;
}

static gboolean G_GNUC_PRINTF (3, 4)
    set_error (GError **error, DynoDataError code, const char *format, ...)
{
  va_list arguments;
  g_autofree char *message = NULL;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, DYNO_DATA_ERROR, code, message);
  return FALSE;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static gboolean
check_nesting (const char *text, gsize length, GError **error)
{
  gboolean in_string = FALSE;
  guint depth = 0;

  for (gsize i = 0; i < length; i++)
    {
      char c = text[i];
      if (in_string)
        {
          if (c == '\\')
            i++;
          else if (c == '"')
            in_string = FALSE;
        }
      else if (c == '"')
        in_string = TRUE;
      else if (c == '{' || c == '[')
        {
          if (++depth > MAX_NESTING)
            return set_error (error, DYNO_DATA_ERROR_CORRUPT, "its header is nested deeper than %d",
                              MAX_NESTING);
        }
      else if (c == '}' || c == ']')
        depth -= depth > 0;
      else if (c == '/' || c == '\'' || c == '#')
        return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                          "its header is not plain JSON (“%c” outside of a string)", c);
    }
  return TRUE;
}

typedef struct {
  GHashTable *seen; /* "object pointer:key" */
  char *repeated;
} Keys;

static void
on_member (JsonParser *parser, JsonObject *object, const char *name, gpointer data)
{
  Keys *keys = data;

  if (!g_hash_table_add (keys->seen, g_strdup_printf ("%p:%s", (void *) object, name))
      && !keys->repeated)
    keys->repeated = g_strdup (name);
}

/* Parses the header.  Returns its object, which the parser owns. */
static JsonObject *
parse_json (JsonParser *parser, const char *text, gsize length, GError **error)
{
  Keys keys = { 0 };
  g_autoptr (GError) reason = NULL;
  JsonNode *root;
  gboolean ok;

  if (!check_nesting (text, length, error))
    return NULL;
  keys.seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_signal_connect (parser, "object-member", G_CALLBACK (on_member), &keys);
  ok = json_parser_load_from_data (parser, text, (gssize) length, &reason);
  g_signal_handlers_disconnect_by_data (parser, &keys);
  g_hash_table_unref (keys.seen);
  if (!ok)
    set_error (error, DYNO_DATA_ERROR_CORRUPT, "its header is not JSON: %s", reason->message);
  else if (keys.repeated)
    ok = set_error (error, DYNO_DATA_ERROR_CORRUPT, "its header has the key “%s” twice",
                    keys.repeated);
  g_free (keys.repeated);
  if (!ok)
    return NULL;
  root = json_parser_get_root (parser);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    {
      set_error (error, DYNO_DATA_ERROR_CORRUPT, "its header is not a JSON object");
      return NULL;
    }
  return json_node_get_object (root);
}

static gboolean
take_size (JsonNode *node, guint64 *value)
{
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_INT64
      || json_node_get_int (node) < 0)
    return FALSE;
  *value = (guint64) json_node_get_int (node);
  return TRUE;
}

/* Reads a list of count_min to count_max sizes at key; returns the count, or -1. */
static int
take_sizes (JsonObject *object, const char *key, guint count_min, guint count_max, guint64 *values)
{
  JsonNode *node = json_object_get_member (object, key);
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  guint count = array ? json_array_get_length (array) : 0;

  if (!array || count < count_min || count > count_max)
    return -1;
  for (guint i = 0; i < count; i++)
    if (!take_size (json_array_get_element (array, i), &values[i]))
      return -1;
  return (int) count;
}

static gboolean
take_metadata (DynoSafetensors *file, JsonNode *node, GError **error)
{
  JsonObjectIter iter;
  const char *key;
  JsonNode *value;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "__metadata__ is not a map of strings");
  json_object_iter_init (&iter, json_node_get_object (node));
  while (json_object_iter_next (&iter, &key, &value))
    {
      if (!JSON_NODE_HOLDS_VALUE (value) || json_node_get_value_type (value) != G_TYPE_STRING)
        return set_error (error, DYNO_DATA_ERROR_CORRUPT, "__metadata__ “%s” is not a string", key);
      g_hash_table_insert (file->metadata, g_strdup (key), json_node_dup_string (value));
    }
  return TRUE;
}

/* --- tensors ---------------------------------------------------------------------------------- */

static gboolean
take_type (JsonObject *object, const char *name, DynoTensorType *type, GError **error)
{
  JsonNode *node = json_object_get_member (object, "dtype");
  const char *text =
      node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
          ? json_node_get_string (node)
          : NULL;

  if (!text)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "tensor “%s” has no dtype", name);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (strcmp (types[i].name, text) == 0)
      {
        *type = (DynoTensorType) i;
        return TRUE;
      }
  return set_error (error, DYNO_DATA_ERROR_UNSUPPORTED,
                    "tensor “%s” has dtype “%s”, which Dyno does not read", name, text);
}

static gboolean
take_tensor (DynoSafetensors *file, const char *name, JsonNode *node, const guint8 *data,
             guint64 data_bytes, GError **error)
{
  DynoSafetensor tensor = { 0 };
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  guint64 offsets[2], size;
  int n_dims;

  if (!object)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "the entry of tensor “%s” is not an object",
                      name);
  if (!take_type (object, name, &tensor.type, error))
    return FALSE;
  n_dims = take_sizes (object, "shape", 0, DYNO_SAFETENSORS_MAX_DIMS, tensor.shape);
  if (n_dims < 0)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                      "tensor “%s” has no shape of at most %d whole numbers", name,
                      DYNO_SAFETENSORS_MAX_DIMS);
  if (take_sizes (object, "data_offsets", 2, 2, offsets) < 0)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                      "tensor “%s” has no data_offsets of two whole numbers", name);
  size = types[tensor.type].bytes;
  for (int i = 0; i < n_dims; i++)
    if (!dyno_size_mul (size, tensor.shape[i], &size))
      return set_error (error, DYNO_DATA_ERROR_TOO_LARGE,
                        "the product of the shape of tensor “%s” overflows", name);
  if (offsets[0] > offsets[1])
    return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                      "the data of tensor “%s” ends before it begins", name);
  if (offsets[1] > data_bytes)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                      "tensor “%s” ends at byte %" G_GUINT64_FORMAT
                      " of the data, beyond the file, which has %" G_GUINT64_FORMAT,
                      name, offsets[1], data_bytes);
  if (offsets[1] - offsets[0] != size)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                      "tensor “%s” needs %" G_GUINT64_FORMAT
                      " %s by its shape, its offsets span %" G_GUINT64_FORMAT,
                      name, size, dyno_plural (size, "byte", "bytes"), offsets[1] - offsets[0]);
  tensor.n_dims = (guint) n_dims;
  tensor.name = g_strdup (name);
  tensor.size_bytes = size;
  tensor.data = data + offsets[0];
  g_array_append_val (file->tensors, tensor);
  return TRUE;
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const DynoSafetensor *first = a, *second = b;

  if (first->data != second->data)
    return first->data < second->data ? -1 : 1;
  return first->size_bytes < second->size_bytes ? -1 : first->size_bytes > second->size_bytes;
}

/* Sorted by offset, each tensor must begin where the previous one ended, and the last must end with
 * the file. */
static gboolean
check_places (DynoSafetensors *file, const guint8 *data, guint64 data_bytes, GError **error)
{
  const guint8 *at = data;

  g_array_sort (file->tensors, compare_places);
  for (guint i = 0; i < file->tensors->len; i++)
    {
      const DynoSafetensor *tensor = &g_array_index (file->tensors, DynoSafetensor, i);
      const guint8 *begin = tensor->data;
      if (begin < at)
        return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                          "the data of tensor “%s” overlaps that of “%s”", tensor->name,
                          g_array_index (file->tensors, DynoSafetensor, i - 1).name);
      if (begin > at)
        return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                          "there is a hole of %" G_GSIZE_FORMAT
                          " %s in the data before tensor “%s”",
                          (gsize) (begin - at), dyno_plural ((gsize) (begin - at), "byte", "bytes"),
                          tensor->name);
      at += tensor->size_bytes;
      g_hash_table_insert (file->by_name, (gpointer) tensor->name, GUINT_TO_POINTER (i + 1));
    }
  if (at != data + data_bytes)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                      "there is a hole: %" G_GUINT64_FORMAT
                      " %s after the last tensor belong to none",
                      (guint64) (data + data_bytes - at),
                      dyno_plural ((guint64) (data + data_bytes - at), "byte", "bytes"));
  return TRUE;
}

/* Checks the length of the header, from a file's first bytes, 8 or more.  Where it is too large and
 * no header follows, the file is of another format. */
static gboolean
check_length (const guint8 *bytes, gsize size, GError **error)
{
  guint64 length;

  memcpy (&length, bytes, 8);
  length = GUINT64_FROM_LE (length);
  if (length <= DYNO_SAFETENSORS_MAX_HEADER)
    return TRUE;
  if (size == 8 || bytes[8] != '{')
    return set_error (error, DYNO_DATA_ERROR_UNSUPPORTED,
                      "it is no weights file: neither safetensors, nor .pth of PyTorch, nor ONNX");
  return set_error (error, DYNO_DATA_ERROR_TOO_LARGE,
                    "its header claims %" G_GUINT64_FORMAT " %s; at most %d are allowed", length,
                    dyno_plural (length, "byte", "bytes"), DYNO_SAFETENSORS_MAX_HEADER);
}

static gboolean
parse_header (DynoSafetensors *file, gsize size, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *header;
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;
  guint64 length;
  const guint8 *data;

  if (size < 8)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                      "it has %" G_GSIZE_FORMAT " %s, too few for a safetensors file", size,
                      dyno_plural (size, "byte", "bytes"));
  memcpy (&length, file->bytes, 8);
  length = GUINT64_FROM_LE (length);
  if (!check_length (file->bytes, size, error))
    return FALSE;
  if (length > size - 8)
    return set_error (error, DYNO_DATA_ERROR_CORRUPT,
                      "its header claims %" G_GUINT64_FORMAT " %s, the file has %" G_GSIZE_FORMAT,
                      length, dyno_plural (length, "byte", "bytes"), size - 8);
  header = parse_json (parser, (const char *) file->bytes + 8, length, error);
  if (!header)
    return FALSE;
  data = file->bytes + 8 + length;
  json_object_iter_init (&iter, header);
  while (json_object_iter_next (&iter, &name, &node))
    if (strcmp (name, "__metadata__") == 0
            ? !take_metadata (file, node, error)
            : !take_tensor (file, name, node, data, size - 8 - length, error))
      return FALSE;
  return check_places (file, data, size - 8 - length, error);
}

DynoSafetensors *
dyno_safetensors_new (guint8 *bytes)
{
  DynoSafetensors *file = g_new0 (DynoSafetensors, 1);

  file->bytes = bytes;
  file->blocks = g_ptr_array_new_with_free_func (g_free);
  file->tensors = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));
  file->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  file->metadata = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return file;
}

gboolean
dyno_safetensors_add (DynoSafetensors *file, const DynoSafetensor *tensor, const char *name,
                      GError **error)
{
  DynoSafetensor own = *tensor;

  if (g_hash_table_contains (file->by_name, name))
    return set_error (error, DYNO_DATA_ERROR_CORRUPT, "it has two tensors “%s”", name);
  own.name = g_strdup (name);
  g_array_append_val (file->tensors, own);
  g_hash_table_insert (file->by_name, (gpointer) own.name, GUINT_TO_POINTER (file->tensors->len));
  return TRUE;
}

DynoSafetensors *
dyno_safetensors_parse (guint8 *bytes, gsize size, GError **error)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_new (bytes);

  return parse_header (file, size, error) ? g_steal_pointer (&file) : NULL;
}

/* Checks the header's length against the limit before the file is read, since a wrong file may be
 * large. */
static gboolean
check_start (int fd, guint64 size, GError **error)
{
  guint8 start[START_BYTES] = { 0 };
  gsize n = (gsize) MIN (size, sizeof start);

  return n < 8 || dyno_datafile_pread (fd, start, n, 0) != (gssize) n || dyno_pth_matches (start, n)
         || dyno_onnx_file_matches (start, n) || check_length (start, n, error);
}

static guint8 *
read_whole (int fd, guint64 size, guint64 max_bytes, GError **error)
{
  g_autofree guint8 *bytes = NULL;

  if (!check_start (fd, size, error))
    return NULL;
  if (max_bytes > 0 && size > max_bytes)
    {
      set_error (error, DYNO_DATA_ERROR_TOO_LARGE,
                 "it has %" G_GUINT64_FORMAT " bytes; at most %" G_GUINT64_FORMAT " are read", size,
                 max_bytes);
      return NULL;
    }
  bytes = g_try_malloc (MAX (size, 1));
  if (!bytes)
    {
      set_error (error, DYNO_DATA_ERROR_NO_MEMORY,
                 "no memory for its %" G_GUINT64_FORMAT
                 " MB; close other programs, or raise the memory limit of the process (ulimit -v)",
                 size >> 20);
      return NULL;
    }
  if (dyno_datafile_pread (fd, bytes, size, 0) != (gssize) size)
    {
      set_error (error, DYNO_DATA_ERROR_READ, "it cannot be read whole");
      return NULL;
    }
  return g_steal_pointer (&bytes);
}

DynoSafetensors *
dyno_safetensors_open (const char *path, guint64 max_bytes, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path), *folder = g_path_get_dirname (path);
  DynoSafetensors *file = NULL;
  gboolean pth, onnx;
  guint64 size;
  guint8 *bytes;
  int fd = dyno_datafile_open (path, &size, error);

  if (fd < 0)
    return NULL;
  bytes = read_whole (fd, size, max_bytes, error);
  close (fd);
  pth = bytes && dyno_pth_matches (bytes, size);
  onnx = bytes && !pth && dyno_onnx_file_matches (bytes, size);
  if (bytes)
    file = pth    ? dyno_pth_parse (bytes, size, error)
           : onnx ? dyno_onnx_file_parse (bytes, size, folder, error)
                  : dyno_safetensors_parse (bytes, size, error);
  if (!file)
    {
      g_prefix_error (error, "“%s”: ", shown);
      return NULL;
    }
  file->is_foreign = pth || onnx;
  file->shown = g_steal_pointer (&shown);
  return file;
}

void
dyno_safetensors_free (DynoSafetensors *file)
{
  if (!file)
    return;
  for (guint i = 0; i < file->tensors->len; i++)
    g_free ((char *) g_array_index (file->tensors, DynoSafetensor, i).name);
  g_array_unref (file->tensors);
  g_hash_table_unref (file->by_name);
  g_hash_table_unref (file->metadata);
  g_ptr_array_unref (file->blocks);
  g_free (file->bytes);
  g_free (file->shown);
  g_free (file);
}

guint
dyno_safetensors_get_count (DynoSafetensors *file)
{
  return file->tensors->len;
}

const DynoSafetensor *
dyno_safetensors_get (DynoSafetensors *file, guint place)
{
  g_return_val_if_fail (place < file->tensors->len, NULL);
  return &g_array_index (file->tensors, DynoSafetensor, place);
}

const DynoSafetensor *
dyno_safetensors_lookup (DynoSafetensors *file, const char *name)
{
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (file->by_name, name));
  return place > 0 ? &g_array_index (file->tensors, DynoSafetensor, place - 1) : NULL;
}

const char *
dyno_safetensors_get_metadata (DynoSafetensors *file, const char *key)
{
  return g_hash_table_lookup (file->metadata, key);
}

GHashTable *
dyno_safetensors_get_metadata_table (DynoSafetensors *file)
{
  return file->metadata;
}
