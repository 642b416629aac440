/* SPDX-License-Identifier: MIT */
/* The JSON reader: reading values by their type and skipping them have the same outcome; no byte
 * past the text is read, and strings are UTF-8 without zeros. */
#include "jsonread.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

static gboolean read_value (DynoJsonReader *reader, const char *key, gpointer data, GError **error);

static gboolean
read_string (DynoJsonReader *reader, GError **error)
{
  g_autofree char *text = NULL;

  if (!dyno_json_read_string (reader, &text, error))
    return FALSE;
  g_assert_true (g_utf8_validate (text, -1, NULL));
  return TRUE;
}

/* An integer is also read by the integer function, which may refuse a number. */
static gboolean
read_number (DynoJsonReader *reader, GError **error)
{
  DynoJsonReader other = *reader;
  g_autoptr (GError) refused = NULL;
  const char *text;
  gsize length;
  gint64 value;

  if (dyno_json_read_integer (&other, &value, &refused))
    g_assert_true (other.at > reader->at && other.at <= reader->end);
  else
    g_assert_nonnull (refused);
  if (!dyno_json_read_number (reader, &text, &length, error))
    return FALSE;
  g_assert_true (length > 0 && text >= reader->begin && text + length < reader->end);
  return TRUE;
}

static gboolean
read_value (DynoJsonReader *reader, const char *key, gpointer data, GError **error)
{
  DynoJsonKind kind = dyno_json_peek (reader);
  gboolean value;

  g_assert_true (!key || g_utf8_validate (key, -1, NULL));
  g_assert_nonnull (dyno_json_kind_name (kind));
  switch (kind)
    {
    case DYNO_JSON_OBJECT:
    case DYNO_JSON_ARRAY:
      return dyno_json_read_members (reader, kind, read_value, data, error);
    case DYNO_JSON_STRING:
      return read_string (reader, error);
    case DYNO_JSON_NUMBER:
      return read_number (reader, error);
    case DYNO_JSON_TRUE:
    case DYNO_JSON_FALSE:
      return dyno_json_read_boolean (reader, &value, error);
    case DYNO_JSON_NULL:
    case DYNO_JSON_NOTHING:
    default:
      return dyno_json_skip (reader, error);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  /* The buffer has exactly the length of the text, since the text need not end with a zero. */
  g_autofree char *text = g_memdup2 (data, size);
  g_autoptr (GError) read_error = NULL, skip_error = NULL;
  DynoJsonReader reader, skipper;
  gboolean was_read, was_skipped;

  if (size == 0)
    return 0;
  dyno_json_reader_init (&reader, text, size, G_FILE_ERROR, G_FILE_ERROR_INVAL);
  dyno_json_reader_init (&skipper, text, size, G_FILE_ERROR, G_FILE_ERROR_INVAL);
  was_read =
      read_value (&reader, NULL, NULL, &read_error) && dyno_json_read_end (&reader, &read_error);
  was_skipped =
      dyno_json_skip (&skipper, &skip_error) && dyno_json_read_end (&skipper, &skip_error);
  g_assert_true (was_read == (read_error == NULL) && was_skipped == (skip_error == NULL));
  g_assert_cmpint (was_read, ==, was_skipped);
  g_assert_true (reader.at <= reader.end && skipper.at <= skipper.end);
  if (was_read)
    g_assert_true (reader.at == reader.end && skipper.at == skipper.end);
  else
    g_assert_error (read_error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
  return 0;
}
