/* SPDX-License-Identifier: MIT */
/* Errors, limits, memory and texts of a model, which the parts of its reader share.
 * Invariant: a count is compared with its limit before memory for it is allocated. */
#include "model-private.h"

gboolean
dyno_onnx_fail (GError **error, DynoOnnxError code, const char *format, ...)
{
  va_list arguments;
  g_autofree char *message = NULL;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, DYNO_ONNX_ERROR, (gint) code, message);
  return FALSE;
}

gboolean
dyno_onnx_count (guint64 *count, guint64 n, guint64 most, const char *things, GError **error)
{
  if (n > most - *count)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_LIMIT,
                           "it has more than %" G_GUINT64_FORMAT " %s", most, things);
  *count += n;
  return TRUE;
}

gpointer
dyno_onnx_allocate (DynoOnnxStore *store, gsize n, gsize size, GError **error)
{
  gpointer block = n > 0 ? g_try_malloc0_n (n, size) : NULL;

  if (n > 0 && !block)
    dyno_onnx_fail (error, DYNO_ONNX_ERROR_LIMIT, "memory is short for what it holds");
  if (block)
    g_ptr_array_add (store->blocks, block);
  return block;
}

gboolean
dyno_onnx_count_fields (DynoProtoReader message, guint *counts, guint n_counts, GError **error)
{
  DynoProtoField f;

  while (dyno_proto_has_more (&message))
    {
      if (!dyno_proto_next (&message, &f, error))
        return FALSE;
      if (f.number < n_counts)
        counts[f.number]++;
    }
  return TRUE;
}

gboolean
dyno_onnx_take_text (DynoOnnxStore *store, const DynoProtoReader *reader,
                     const DynoProtoField *field, const char **text, GError **error)
{
  DynoProtoReader inner;

  if (!dyno_proto_enter (reader, field, reader->name, &inner, error))
    return FALSE;
  if (!g_utf8_validate ((const char *) field->data, (gssize) field->size, NULL))
    return dyno_proto_corrupt (&inner, "a name or text is no UTF-8", error);
  *text = field->size == 0 ? ""
                           : g_string_chunk_insert_len (store->texts, (const char *) field->data,
                                                        (gssize) field->size);
  return TRUE;
}

gboolean
dyno_onnx_take_int (const DynoProtoReader *reader, const DynoProtoField *field, gint64 *value,
                    GError **error)
{
  guint64 bits = 0;

  if (!dyno_proto_take_uint (reader, field, &bits, error))
    return FALSE;
  *value = (gint64) bits;
  return TRUE;
}
