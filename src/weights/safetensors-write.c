/* SPDX-License-Identifier: MIT */
/* safetensors, writing: header, then each tensor straight from the caller's memory, into a
 * temporary file beside the final name; synced, then renamed, then the folder synced.  The header
 * is padded so that data begins at a multiple of 8. */
#include "safetensors.h"
#include "file.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <unistd.h>

static void
add_metadata (JsonBuilder *builder, const char *const *metadata)
{
  json_builder_set_member_name (builder, "__metadata__");
  json_builder_begin_object (builder);
  for (guint i = 0; metadata[i] && metadata[i + 1]; i += 2)
    {
      json_builder_set_member_name (builder, metadata[i]);
      json_builder_add_string_value (builder, metadata[i + 1]);
    }
  json_builder_end_object (builder);
}

static void
add_tensor (JsonBuilder *builder, const DynoSafetensor *tensor, guint64 begin)
{
  json_builder_set_member_name (builder, tensor->name);
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "dtype");
  json_builder_add_string_value (builder, dyno_tensor_type_get_name (tensor->type));
  json_builder_set_member_name (builder, "shape");
  json_builder_begin_array (builder);
  for (guint i = 0; i < tensor->n_dims; i++)
    json_builder_add_int_value (builder, (gint64) tensor->shape[i]);
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "data_offsets");
  json_builder_begin_array (builder);
  json_builder_add_int_value (builder, (gint64) begin);
  json_builder_add_int_value (builder, (gint64) (begin + tensor->size_bytes));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

/* Makes the header: its length, and JSON text padded with spaces. */
static GString *
make_header (const DynoSafetensor *tensors, guint n_tensors, const char *const *metadata)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *text = NULL;
  GString *header = g_string_new (NULL);
  guint64 at = 0, length;

  json_builder_begin_object (builder);
  if (metadata && metadata[0])
    add_metadata (builder, metadata);
  for (guint i = 0; i < n_tensors; at += tensors[i++].size_bytes)
    add_tensor (builder, &tensors[i], at);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, NULL);

  g_string_append_len (header, "\0\0\0\0\0\0\0\0", 8);
  g_string_append (header, text);
  while (header->len % 8 != 0)
    g_string_append_c (header, ' ');
  length = GUINT64_TO_LE ((guint64) header->len - 8);
  memcpy (header->str, &length, 8);
  return header;
}

static gboolean
write_all (int fd, gconstpointer data, gsize size)
{
  const guint8 *at = data;

  while (size > 0)
    {
      gssize n = write (fd, at, MIN (size, (gsize) 1 << 28));
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      at += n;
      size -= (gsize) n;
    }
  return TRUE;
}

static gboolean
write_file (int fd, const GString *header, const DynoSafetensor *tensors, guint n_tensors)
{
  if (!write_all (fd, header->str, header->len))
    return FALSE;
  for (guint i = 0; i < n_tensors; i++)
    if (!write_all (fd, tensors[i].data, tensors[i].size_bytes))
      return FALSE;
  return fsync (fd) == 0;
}

static gboolean
are_valid (const DynoSafetensor *tensors, guint n_tensors)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < n_tensors; i++)
    {
      guint64 size = dyno_tensor_type_get_bytes (tensors[i].type);
      for (guint d = 0; d < tensors[i].n_dims; d++)
        size *= tensors[i].shape[d];
      if (tensors[i].n_dims > DYNO_SAFETENSORS_MAX_DIMS || size != tensors[i].size_bytes
          || strcmp (tensors[i].name, "__metadata__") == 0
          || !g_hash_table_add (names, (gpointer) tensors[i].name))
        return FALSE;
    }
  return TRUE;
}

gboolean
dyno_safetensors_write_temporary (const char *path, const DynoSafetensor *tensors, guint n_tensors,
                                  const char *const *metadata, char **temporary, GError **error)
{
  g_autoptr (GString) header = NULL;
  gboolean ok;
  int fd, code;

  *temporary = NULL;
  g_return_val_if_fail (are_valid (tensors, n_tensors), FALSE);
  header = make_header (tensors, n_tensors, metadata);
  fd = dyno_file_open_temporary (path, temporary);
  if (fd < 0)
    return dyno_file_set_error (error, errno, path);
  ok = write_file (fd, header, tensors, n_tensors);
  code = errno;
  if (close (fd) != 0 && ok)
    {
      code = errno;
      ok = FALSE;
    }
  if (ok)
    return TRUE;
  g_unlink (*temporary);
  return dyno_file_set_error (error, code, path);
}

gboolean
dyno_safetensors_write (const char *path, const DynoSafetensor *tensors, guint n_tensors,
                        const char *const *metadata, GError **error)
{
  g_autofree char *temporary = NULL;

  return dyno_safetensors_write_temporary (path, tensors, n_tensors, metadata, &temporary, error)
         && dyno_file_replace (temporary, path, error);
}
