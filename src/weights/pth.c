/* SPDX-License-Identifier: MIT */
/* PyTorch's .pth.  Invariants: a tensor lies inside its storage, and its storage is no longer than
 * its entry of the archive; a tensor that is gathered by strides is no larger than its storage;
 * dicts are followed to a limited depth, so that cycles end. */
#include "pth.h"
#include "checked.h"
#include "pickle.h"
#include "safetensors-private.h"
#include "text.h"
#include "zipstore.h"
#include <string.h>

#define MAX_PICKLE  ((gsize) 8 << 20)
#define MAX_DEPTH   6
#define MAX_VISITED 1000000

typedef struct {
  DynoZip *zip;
  char *root; /* "archive/", the prefix of all entries */
  DynoSafetensors *file;
  guint64 n_visited; /* visited entries of dicts, which may repeat the same values */
  guint64 room;      /* bytes that may still be gathered */
} Archive;

gboolean
dyno_pth_matches (const guint8 *bytes, gsize size)
{
  static const guint8 older[] = { 0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46 };

  return dyno_zip_matches (bytes, size)
         || (size >= sizeof older && memcmp (bytes, older, sizeof older) == 0);
}

static gboolean G_GNUC_PRINTF (3, 4)
    refuse (GError **error, DynoDataError code, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL, *valid = NULL; /* a name in the file may be any bytes */

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  valid = g_utf8_make_valid (text, -1);
  g_set_error_literal (error, DYNO_DATA_ERROR, code, valid);
  return FALSE;
}

static const DynoZipEntry *
lookup (const Archive *archive, const char *name, const char *key)
{
  g_autofree char *whole = g_strconcat (archive->root, name, key, NULL);

  return dyno_zip_lookup (archive->zip, whole);
}

/* The entry of the pickle, from whose name the root follows. */
static const DynoZipEntry *
find_pickle (Archive *archive, GError **error)
{
  for (guint i = 0; i < archive->zip->entries->len; i++)
    {
      const DynoZipEntry *entry = &g_array_index (archive->zip->entries, DynoZipEntry, i);
      const char *slash = strrchr (entry->name, '/');

      if (strcmp (slash ? slash + 1 : entry->name, "data.pkl") != 0)
        continue;
      archive->root = g_strndup (entry->name, slash ? (gsize) (slash + 1 - entry->name) : 0);
      if (entry->size <= MAX_PICKLE)
        return entry;
      refuse (error, DYNO_DATA_ERROR_TOO_LARGE, "its pickle has more than %" G_GSIZE_FORMAT " MB",
              MAX_PICKLE >> 20);
      return NULL;
    }
  refuse (error, DYNO_DATA_ERROR_UNSUPPORTED,
          "it is a zip archive, but none of PyTorch: it has no data.pkl");
  return NULL;
}

/* The number of elements of the tensor, and whether they are contiguous in C order; FALSE: they are
 * not within their storage. */
static gboolean
measure (const DynoPickleValue *tensor, guint64 *count, gboolean *dense)
{
  guint64 last = (guint64) tensor->number, n_storage = (guint64) tensor->storage->number, part;

  *count = 1;
  *dense = TRUE;
  for (guint i = tensor->n_dims; i-- > 0;)
    {
      if (tensor->shape[i] == 0)
        {
          *count = 0;
          return TRUE;
        }
      if (tensor->shape[i] > 1 && tensor->stride[i] != *count)
        *dense = FALSE;
      if (!dyno_size_mul (tensor->shape[i] - 1, tensor->stride[i], &part)
          || !dyno_size_add (last, part, &last) || !dyno_size_mul (*count, tensor->shape[i], count))
        return FALSE;
    }
  return last < n_storage && *count <= n_storage;
}

/* Gathers the elements in C order in a new block. */
static gpointer
gather (const DynoPickleValue *tensor, const guint8 *storage, guint64 count, gsize element)
{
  guint8 *block = g_try_malloc (MAX (1, count * element));
  guint64 place[DYNO_SAFETENSORS_MAX_DIMS] = { 0 };

  for (guint64 i = 0; block && i < count; i++)
    {
      guint64 from = (guint64) tensor->number;
      for (guint d = 0; d < tensor->n_dims; d++)
        from += place[d] * tensor->stride[d];
      memcpy (block + i * element, storage + from * element, element);
      for (guint d = tensor->n_dims; d-- > 0 && ++place[d] == tensor->shape[d];)
        place[d] = 0;
    }
  return block;
}

static gboolean
take_tensor (Archive *archive, const DynoPickleValue *value, const char *name, GError **error)
{
  const DynoPickleValue *storage = value->storage;
  const DynoZipEntry *entry = lookup (archive, "data/", storage->text);
  gsize element = dyno_tensor_type_get_bytes (storage->type);
  DynoSafetensor tensor = { .type = storage->type, .n_dims = value->n_dims };
  gpointer block = NULL;
  guint64 count, bytes;
  gboolean dense;

  if (!entry)
    return refuse (error, DYNO_DATA_ERROR_CORRUPT, "the storage “%s” of tensor “%s” is not there",
                   storage->text, name);
  if (!dyno_size_mul ((guint64) storage->number, element, &bytes) || bytes > entry->size)
    return refuse (error, DYNO_DATA_ERROR_CORRUPT,
                   "the storage of tensor “%s” has %" G_GSIZE_FORMAT
                   " %s, too few for its %" G_GINT64_FORMAT " elements of type %s",
                   name, entry->size, dyno_plural (entry->size, "byte", "bytes"), storage->number,
                   dyno_tensor_type_get_name (storage->type));
  if (!measure (value, &count, &dense))
    return refuse (error, DYNO_DATA_ERROR_CORRUPT, "tensor “%s” does not lie in its storage", name);
  memcpy (tensor.shape, value->shape, value->n_dims * sizeof *value->shape);
  tensor.size_bytes = (gsize) (count * element);
  tensor.data = entry->data + (count > 0 ? (guint64) value->number * element : 0);
  if (!dense && count > 0)
    {
      block = count * element <= archive->room ? gather (value, entry->data, count, element) : NULL;
      if (!block)
        return refuse (error, DYNO_DATA_ERROR_NO_MEMORY, "no memory for tensor “%s”", name);
      archive->room -= count * element;
      g_ptr_array_add (archive->file->blocks, block);
      tensor.data = block;
    }
  return dyno_safetensors_add (archive->file, &tensor, name, error);
}

static gboolean
take_dict (Archive *archive, const DynoPickleValue *dict, const char *prefix, guint depth,
           GError **error)
{
  for (guint i = 0; i + 1 < dict->items->len; i += 2)
    {
      const DynoPickleValue *key = g_ptr_array_index (dict->items, i),
                            *value = g_ptr_array_index (dict->items, i + 1);
      g_autofree char *number = NULL, *name = NULL;

      if (++archive->n_visited > MAX_VISITED)
        return refuse (error, DYNO_DATA_ERROR_TOO_LARGE, "its dicts have more than %d entries",
                       MAX_VISITED);
      if (key->kind == DYNO_PICKLE_INT)
        number = g_strdup_printf ("%" G_GINT64_FORMAT, key->number);
      else if (key->kind != DYNO_PICKLE_STRING)
        continue;
      name = g_strconcat (prefix, *prefix ? "." : "", number ? number : key->text, NULL);
      if (!g_utf8_validate (name, -1, NULL))
        return refuse (error, DYNO_DATA_ERROR_CORRUPT, "a tensor's name is no text");
      if (value->kind == DYNO_PICKLE_TENSOR && !take_tensor (archive, value, name, error))
        return FALSE;
      if (value->kind == DYNO_PICKLE_DICT && depth < MAX_DEPTH
          && !take_dict (archive, value, name, depth + 1, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_archive (Archive *archive, const guint8 *bytes, gsize size, GError **error)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (dyno_pickle_value_free);
  const DynoZipEntry *pickle, *order;
  const DynoPickleValue *root;

  if (!dyno_zip_matches (bytes, size))
    return refuse (error, DYNO_DATA_ERROR_UNSUPPORTED,
                   "it was saved by a PyTorch before 1.6; load it and save it again");
  archive->zip = dyno_zip_parse (bytes, size, error);
  pickle = archive->zip ? find_pickle (archive, error) : NULL;
  if (!pickle)
    return FALSE;
  order = lookup (archive, "byteorder", "");
  if (order && !(order->size == 6 && memcmp (order->data, "little", 6) == 0))
    return refuse (error, DYNO_DATA_ERROR_UNSUPPORTED, "its numbers are not little-endian");
  root = dyno_pickle_read (pickle->data, pickle->size, values, error);
  if (!root)
    return FALSE;
  if (root->kind != DYNO_PICKLE_DICT)
    return refuse (error, DYNO_DATA_ERROR_UNSUPPORTED,
                   "it holds no dict of tensors; save the state_dict of the model");
  return take_dict (archive, root, "", 1, error);
}

DynoSafetensors *
dyno_pth_parse (guint8 *bytes, gsize size, GError **error)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_new (bytes);
  Archive archive = { .file = file, .room = 2 * (guint64) size };
  gboolean ok = read_archive (&archive, bytes, size, error);

  dyno_zip_free (archive.zip);
  g_free (archive.root);
  return ok ? g_steal_pointer (&file) : NULL;
}
