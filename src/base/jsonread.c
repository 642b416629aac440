/* SPDX-License-Identifier: MIT */
/* The reader of JSON.  Invariant: at never passes end, and no character at or after end is read. */
#include "jsonread.h"
#include <string.h>

static gboolean
fail (DynoJsonReader *r, GError **error, const char *expected)
{
  gsize place = (gsize) (r->at - r->begin);

  if (r->at >= r->end)
    g_set_error (error, r->domain, r->code,
                 "the JSON ends at byte %" G_GSIZE_FORMAT ", where %s is expected", place,
                 expected);
  else
    g_set_error (error, r->domain, r->code,
                 "the JSON is wrong at byte %" G_GSIZE_FORMAT ": %s is expected", place, expected);
  return FALSE;
}

void
dyno_json_reader_init (DynoJsonReader *r, const char *text, gsize size, GQuark domain, int code)
{
  *r = (DynoJsonReader){
    .begin = text, .at = text, .end = text + size, .domain = domain, .code = code
  };
}

static void
skip_space (DynoJsonReader *r)
{
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
    r->at++;
}

/* Takes c, after white space, if it follows. */
static gboolean
take (DynoJsonReader *r, char c)
{
  skip_space (r);
  if (r->at >= r->end || *r->at != c)
    return FALSE;
  r->at++;
  return TRUE;
}

DynoJsonKind
dyno_json_peek (DynoJsonReader *r)
{
  skip_space (r);
  if (r->at >= r->end)
    return DYNO_JSON_NOTHING;
  switch (*r->at)
    {
    case '{':
      return DYNO_JSON_OBJECT;
    case '[':
      return DYNO_JSON_ARRAY;
    case '"':
      return DYNO_JSON_STRING;
    case 't':
      return DYNO_JSON_TRUE;
    case 'f':
      return DYNO_JSON_FALSE;
    case 'n':
      return DYNO_JSON_NULL;
    default:
      return *r->at == '-' || g_ascii_isdigit (*r->at) ? DYNO_JSON_NUMBER : DYNO_JSON_NOTHING;
    }
}

const char *
dyno_json_kind_name (DynoJsonKind kind)
{
  static const char *const names[] = {
    [DYNO_JSON_OBJECT] = "an object", [DYNO_JSON_ARRAY] = "an array",
    [DYNO_JSON_STRING] = "a string",  [DYNO_JSON_NUMBER] = "a number",
    [DYNO_JSON_TRUE] = "true",        [DYNO_JSON_FALSE] = "false",
    [DYNO_JSON_NULL] = "null",        [DYNO_JSON_NOTHING] = "a value",
  };

  return names[kind];
}

static gboolean
enter (DynoJsonReader *r, DynoJsonKind kind, GError **error)
{
  if (!take (r, kind == DYNO_JSON_OBJECT ? '{' : '['))
    return fail (r, error, dyno_json_kind_name (kind));
  if (++r->depth <= DYNO_JSON_MAX_DEPTH)
    return TRUE;
  g_set_error (error, r->domain, r->code, "the JSON is nested more than %d deep",
               DYNO_JSON_MAX_DEPTH);
  return FALSE;
}

/* Reads the key of a member and its colon. */
static gboolean
read_key (DynoJsonReader *r, char **key, GError **error)
{
  return dyno_json_read_string (r, key, error) && (take (r, ':') || fail (r, error, "a colon"));
}

gboolean
dyno_json_read_members (DynoJsonReader *r, DynoJsonKind kind, DynoJsonMember member, gpointer data,
                        GError **error)
{
  gboolean is_object = kind == DYNO_JSON_OBJECT;

  if (!enter (r, kind, error))
    return FALSE;
  for (gboolean first = TRUE; !take (r, is_object ? '}' : ']'); first = FALSE)
    {
      g_autofree char *key = NULL;

      if (!first && !take (r, ','))
        return fail (r, error, is_object ? "a comma or }" : "a comma or ]");
      if (is_object ? !read_key (r, &key, error)
                    : dyno_json_peek (r) == DYNO_JSON_NOTHING && !fail (r, error, "a value"))
        return FALSE;
      if (!member (r, key, data, error))
        return FALSE;
    }
  r->depth--;
  return TRUE;
}

/* The four digits of \uXXXX; FALSE: they are not there. */
static gboolean
take_hex (DynoJsonReader *r, gunichar *value)
{
  *value = 0;
  if (r->end - r->at < 4)
    return FALSE;
  for (guint i = 0; i < 4; i++, r->at++)
    {
      if (!g_ascii_isxdigit (*r->at))
        return FALSE;
      *value = *value << 4 | (gunichar) g_ascii_xdigit_value (*r->at);
    }
  return TRUE;
}

/* Reads the digits after \u; a character past U+FFFF takes two escapes, a surrogate pair. */
static gboolean
take_unicode (DynoJsonReader *r, GString *text)
{
  gunichar c, low;

  if (!take_hex (r, &c))
    return FALSE;
  if (c >= 0xd800 && c < 0xdc00)
    {
      if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u')
        return FALSE;
      r->at += 2;
      if (!take_hex (r, &low) || low < 0xdc00 || low > 0xdfff)
        return FALSE;
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
  if (c == 0 || (c >= 0xdc00 && c <= 0xdfff))
    return FALSE;
  if (text)
    g_string_append_unichar (text, c);
  return TRUE;
}

static gboolean
take_escape (DynoJsonReader *r, GString *text)
{
  static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  const char *found;
  char c;

  if (r->at >= r->end)
    return FALSE;
  c = *r->at++;
  if (c == 'u')
    return take_unicode (r, text);
  found = c ? strchr (letters, c) : NULL;
  if (found && text)
    g_string_append_c (text, values[found - letters]);
  return found != NULL;
}

/* text NULL: the string is only checked. */
static gboolean
read_string (DynoJsonReader *r, GString *text, GError **error)
{
  if (!take (r, '"'))
    return fail (r, error, "a string");
  while (r->at < r->end && *r->at != '"')
    {
      const char *from = r->at;

      while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (guchar) *r->at >= 0x20)
        r->at++;
      if (!g_utf8_validate_len (from, (gsize) (r->at - from), NULL))
        return fail (r, error, "text in UTF-8");
      if (text)
        g_string_append_len (text, from, r->at - from);
      if (r->at >= r->end || *r->at == '"')
        break;
      if (*r->at != '\\')
        return fail (r, error, "an escape instead of a control character");
      r->at++;
      if (!take_escape (r, text))
        return fail (r, error, "an escape sequence of JSON");
    }
  return take (r, '"') || fail (r, error, "the end of a string");
}

gboolean
dyno_json_read_string (DynoJsonReader *r, char **text, GError **error)
{
  GString *string = g_string_new (NULL);
  gboolean ok = read_string (r, string, error);

  *text = g_string_free (string, !ok);
  return ok;
}

static gboolean
take_digits (DynoJsonReader *r)
{
  const char *from = r->at;

  while (r->at < r->end && g_ascii_isdigit (*r->at))
    r->at++;
  return r->at > from;
}

gboolean
dyno_json_read_number (DynoJsonReader *r, const char **text, gsize *length, GError **error)
{
  skip_space (r);
  *text = r->at;
  if (r->at < r->end && *r->at == '-')
    r->at++;
  if (r->at < r->end && *r->at == '0')
    r->at++;
  else if (!take_digits (r))
    return fail (r, error, "a number");
  if (r->at < r->end && *r->at == '.')
    {
      r->at++;
      if (!take_digits (r))
        return fail (r, error, "a digit");
    }
  if (r->at < r->end && (*r->at == 'e' || *r->at == 'E'))
    {
      r->at++;
      if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
        r->at++;
      if (!take_digits (r))
        return fail (r, error, "a digit");
    }
  *length = (gsize) (r->at - *text);
  /* The next byte cannot continue a number for strtod either, so strtod stops within the text. */
  return (r->at < r->end && !g_ascii_isalnum (*r->at) && *r->at != '.')
         || fail (r, error, "the end of a number");
}

gboolean
dyno_json_read_integer (DynoJsonReader *r, gint64 *value, GError **error)
{
  const char *text;
  gsize length;
  gboolean negative;
  gint64 sum = 0;

  if (!dyno_json_read_number (r, &text, &length, error))
    return FALSE;
  negative = *text == '-';
  for (gsize i = negative; i < length; i++)
    if (!g_ascii_isdigit (text[i]) || __builtin_mul_overflow (sum, 10, &sum)
        || __builtin_add_overflow (sum, text[i] - '0', &sum))
      {
        r->at = text;
        return fail (r, error, "an integer");
      }
  *value = negative ? -sum : sum;
  return TRUE;
}

static gboolean
take_word (DynoJsonReader *r, const char *word)
{
  gsize length = strlen (word);

  skip_space (r);
  if ((gsize) (r->end - r->at) < length || memcmp (r->at, word, length) != 0)
    return FALSE;
  r->at += length;
  return TRUE;
}

gboolean
dyno_json_read_boolean (DynoJsonReader *r, gboolean *value, GError **error)
{
  *value = take_word (r, "true");
  return *value || take_word (r, "false") || fail (r, error, "true or false");
}

static gboolean
skip_member (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  return dyno_json_skip (r, error);
}

gboolean
dyno_json_skip (DynoJsonReader *r, GError **error)
{
  DynoJsonKind kind = dyno_json_peek (r);
  const char *text;
  gsize length;

  switch (kind)
    {
    case DYNO_JSON_OBJECT:
    case DYNO_JSON_ARRAY:
      return dyno_json_read_members (r, kind, skip_member, NULL, error);
    case DYNO_JSON_STRING:
      return read_string (r, NULL, error);
    case DYNO_JSON_NUMBER:
      return dyno_json_read_number (r, &text, &length, error);
    case DYNO_JSON_TRUE:
    case DYNO_JSON_FALSE:
    case DYNO_JSON_NULL:
      return take_word (r, dyno_json_kind_name (kind)) || fail (r, error, "a value");
    case DYNO_JSON_NOTHING:
    default:
      return fail (r, error, "a value");
    }
}

gboolean
dyno_json_read_end (DynoJsonReader *r, GError **error)
{
  skip_space (r);
  return r->at == r->end || fail (r, error, "the end");
}
