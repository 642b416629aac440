/* SPDX-License-Identifier: MIT */
/* Parses tables of text.  Cells go one after another into one block, so that a million rows take
 * little more than their text; the parsed text is bounded by the file's size, which is bounded. */
#include "texttable.h"
#include "intl.h"
#include <json-glib/json-glib.h>
#include <inttypes.h>
#include <string.h>

#define MAX_CELL    (64 * 1024)
#define MAX_COLUMNS 1024
#define MAX_NESTING 32

typedef struct {
  DynoTextTable *table;
  const guint8 *at, *end;
  const char *name;
  guint32 line;
  guint8 delimiter;
} Parser;

void
dyno_text_table_free (DynoTextTable *table)
{
  if (!table)
    return;
  g_byte_array_unref (table->text);
  g_ptr_array_unref (table->columns);
  g_array_unref (table->rows);
  g_array_unref (table->cells);
  g_free (table);
}

const char *
dyno_text_table_get (const DynoTextTable *table, guint row, guint column)
{
  const DynoTextTableRow *of = &g_array_index (table->rows, DynoTextTableRow, row);
  guint32 cell = column < of->n ? g_array_index (table->cells, guint32, of->first + column)
                                : DYNO_TEXT_TABLE_NO_CELL;

  return cell == DYNO_TEXT_TABLE_NO_CELL ? NULL : (const char *) table->text->data + cell;
}

static gboolean
set_corrupt (const Parser *parser, guint32 line, GError **error, const char *what)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, _ ("“%s”, line %u: %s"),
               parser->name, line, what);
  return FALSE;
}

static void
skip_mark (const guint8 **at, const guint8 *end)
{
  if (end - *at >= 3 && memcmp (*at, "\xef\xbb\xbf", 3) == 0)
    *at += 3;
}

/* The delimiter of the first record: a tab, comma or semicolon outside quotes, the first of these
 * that occurs at all; 0: none. */
static guint8
find_delimiter (const guint8 *at, const guint8 *end)
{
  gboolean quoted = FALSE, found[3] = { FALSE, FALSE, FALSE };
  static const char delimiters[] = "\t,;";

  for (; at < end && (quoted || (*at != '\n' && *at != '\r')); at++)
    if (*at == '"')
      quoted = !quoted;
    else if (!quoted)
      for (guint i = 0; i < 3; i++)
        found[i] = found[i] || *at == (guint8) delimiters[i];
  for (guint i = 0; i < 3; i++)
    if (found[i])
      return (guint8) delimiters[i];
  return 0;
}

DynoTextKind
dyno_text_table_guess (const guint8 *bytes, gsize size)
{
  const guint8 *at = bytes, *end = bytes + size;

  if (size == 0 || memchr (bytes, 0, size))
    return DYNO_TEXT_TABLE_NONE;
  skip_mark (&at, end);
  for (const guint8 *p = at; p < end; p++)
    if (*p < 0x20 && !strchr ("\t\r\n\f", *p))
      return DYNO_TEXT_TABLE_NONE;
  while (at < end && strchr (" \r\n", *at))
    at++;
  if (at < end && *at == '{')
    return DYNO_TEXT_TABLE_JSON;
  return find_delimiter (at, end) ? DYNO_TEXT_TABLE_DELIMITED : DYNO_TEXT_TABLE_NONE;
}

/* --- CSV -------------------------------------------------------------------------------------- */

/* Reads one field to the end of the text; FALSE: its quotes never close. */
static gboolean
take_field (Parser *p, GError **error)
{
  GByteArray *text = p->table->text;
  guint32 from = text->len, line = p->line;
  const guint8 *start = p->at;
  gboolean quoted = p->at < p->end && *p->at == '"';

  if (quoted)
    for (p->at++;; p->at++)
      {
        if (p->at == p->end)
          return set_corrupt (p, line, error,
                              _ ("a quoted field never ends; close its quotation mark"));
        p->line += *p->at == '\n';
        if (*p->at == '"' && (++p->at == p->end || *p->at != '"'))
          break;
        g_byte_array_append (text, p->at, 1);
      }
  start = p->at;
  while (p->at < p->end && *p->at != p->delimiter && *p->at != '\n'
         && !(*p->at == '\r' && (p->at + 1 == p->end || p->at[1] == '\n')))
    p->at++;
  if (quoted && p->at > start)
    return set_corrupt (p, line, error, _ ("text follows a closing quotation mark"));
  g_byte_array_append (text, start, (guint) (p->at - start));
  if (text->len - from > MAX_CELL)
    return set_corrupt (p, line, error, _ ("a field has more than 64 KB"));
  g_byte_array_append (text, (const guint8 *) "", 1);
  g_array_append_val (p->table->cells, from);
  return TRUE;
}

static gboolean
take_record (Parser *p, GError **error)
{
  DynoTextTableRow row = { .first = p->table->cells->len, .line = p->line };
  gboolean more = TRUE;
  guint32 first;

  while (more)
    {
      if (row.n == MAX_COLUMNS)
        return set_corrupt (p, row.line, error, _ ("a row has more than 1024 fields"));
      if (!take_field (p, error))
        return FALSE;
      row.n++;
      more = p->at < p->end && *p->at == p->delimiter;
      p->at += more;
    }
  p->at += p->at < p->end && *p->at == '\r';
  if (p->at < p->end)
    {
      p->at++;
      p->line++;
    }
  /* An empty line is no row. */
  first = g_array_index (p->table->cells, guint32, row.first);
  if (row.n > 1 || p->table->text->data[first] != 0)
    g_array_append_val (p->table->rows, row);
  return TRUE;
}

static gboolean
parse_delimited (Parser *p, GError **error)
{
  p->delimiter = p->table->delimiter = find_delimiter (p->at, p->end);
  while (p->at < p->end)
    {
      if (*p->at == '\n' || (*p->at == '\r' && p->at + 1 < p->end && p->at[1] == '\n'))
        {
          p->at += *p->at == '\r' ? 2 : 1;
          p->line++;
          continue;
        }
      if (!take_record (p, error))
        return FALSE;
    }
  return TRUE;
}

/* --- JSON lines ------------------------------------------------------------------------------- */

/* The parser recurses, and accepts quotation marks and comments that are not JSON: text with deeper
 * nesting, or with such marks, is not passed to it. */
static gboolean
is_flat (const char *text, gsize size)
{
  guint depth = 0;
  gboolean quoted = FALSE;

  for (gsize i = 0; i < size; i++)
    if (quoted && text[i] == '\\')
      i++;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (quoted)
      continue;
    else if (text[i] == '/' || text[i] == '\'' || text[i] == '#')
      return FALSE;
    else if ((text[i] == '{' || text[i] == '[') && ++depth > MAX_NESTING)
      return FALSE;
    else if (text[i] == '}' || text[i] == ']')
      depth -= depth > 0;
  return TRUE;
}

static char *
scalar_text (JsonNode *node)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (!JSON_NODE_HOLDS_VALUE (node))
    return NULL;
  switch (json_node_get_value_type (node))
    {
    case G_TYPE_STRING:
      return json_node_dup_string (node);
    case G_TYPE_INT64:
      return g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
    case G_TYPE_DOUBLE:
      return g_strdup (
          g_ascii_formatd (number, sizeof number, "%.9g", json_node_get_double (node)));
    case G_TYPE_BOOLEAN:
      return g_strdup (json_node_get_boolean (node) ? "true" : "false");
    default:
      return NULL;
    }
}

static char *
list_text (JsonNode *node, DynoJsonLists lists)
{
  const char numbers[] = " ", texts[] = { DYNO_TEXT_TABLE_LIST_SEPARATOR, '\0' };
  gboolean of_texts = lists == DYNO_JSON_LISTS_OF_TEXTS;
  JsonArray *array = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  guint n = array ? json_array_get_length (array) : 0;
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      JsonNode *element = json_array_get_element (array, i);
      g_autofree char *one = scalar_text (element);

      if (!one || (json_node_get_value_type (element) == G_TYPE_STRING) != of_texts
          || (of_texts && strchr (one, DYNO_TEXT_TABLE_LIST_SEPARATOR)))
        return NULL;
      g_string_append_printf (text, "%s%s", i == 0 ? "" : of_texts ? texts : numbers, one);
    }
  return n > 0 || (array && of_texts) ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

GHashTable *
dyno_json_members (const char *text, gsize size, DynoJsonLists lists, GPtrArray *order,
                   char **reason)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autoptr (GError) error = NULL;
  GHashTable *members;
  JsonNode *root, *node;
  JsonObjectIter iter;
  const char *name;

  if (!is_flat (text, size))
    {
      *reason = g_strdup (_ ("it is no plain JSON, or nested too deeply"));
      return NULL;
    }
  if (!json_parser_load_from_data (parser, text, (gssize) size, &error))
    {
      *reason = g_strdup (error->message);
      return NULL;
    }
  root = json_parser_get_root (parser);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    {
      *reason = g_strdup (_ ("it is not a JSON object"));
      return NULL;
    }
  members = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  json_object_iter_init_ordered (&iter, json_node_get_object (root));
  while (json_object_iter_next_ordered (&iter, &name, &node))
    {
      char *value = scalar_text (node);

      if (!value)
        value = list_text (node, lists);
      if (order)
        g_ptr_array_add (order, g_strdup (name));
      if (value)
        g_hash_table_insert (members, g_strdup (name), value);
    }
  return members;
}

static void
take_object (Parser *p, GHashTable *members, guint32 line)
{
  DynoTextTable *table = p->table;
  DynoTextTableRow row = { .first = table->cells->len, .n = table->columns->len, .line = line };

  for (guint i = 0; i < table->columns->len; i++)
    {
      const char *value = g_hash_table_lookup (members, g_ptr_array_index (table->columns, i));
      guint32 cell = value ? table->text->len : DYNO_TEXT_TABLE_NO_CELL;

      if (value)
        g_byte_array_append (table->text, (const guint8 *) value, (guint) strlen (value) + 1);
      g_array_append_val (table->cells, cell);
    }
  g_array_append_val (table->rows, row);
}

/* The first line's members are the columns. */
static gboolean
parse_json_lines (Parser *p, GError **error)
{
  for (; p->at < p->end; p->line++)
    {
      const guint8 *newline = memchr (p->at, '\n', (gsize) (p->end - p->at));
      const guint8 *stop = newline ? newline : p->end;
      const guint8 *start = p->at;
      g_autoptr (GHashTable) members = NULL;
      g_autofree char *reason = NULL;

      p->at = newline ? newline + 1 : p->end;
      while (start < stop && g_ascii_isspace (*start))
        start++;
      while (start < stop && g_ascii_isspace (stop[-1]))
        stop--;
      if (start == stop)
        continue;
      if (stop - start > MAX_CELL)
        return set_corrupt (p, p->line, error, _ ("a line has more than 64 KB"));
      members =
          dyno_json_members ((const char *) start, (gsize) (stop - start), DYNO_JSON_LISTS_OF_TEXTS,
                             p->table->rows->len == 0 ? p->table->columns : NULL, &reason);
      if (!members)
        return set_corrupt (p, p->line, error, reason);
      if (p->table->columns->len > MAX_COLUMNS)
        return set_corrupt (p, p->line, error, _ ("a line has more than 1024 members"));
      take_object (p, members, p->line);
    }
  return TRUE;
}

DynoTextTable *
dyno_text_table_parse (const guint8 *bytes, gsize size, const char *name, GError **error)
{
  g_autoptr (DynoTextTable) table = g_new0 (DynoTextTable, 1);
  Parser p = { .table = table, .at = bytes, .end = bytes + size, .name = name, .line = 1 };
  const guint8 *zero = size > 0 ? memchr (bytes, 0, size) : NULL;
  gboolean ok;

  table->text = g_byte_array_new ();
  table->columns = g_ptr_array_new_with_free_func (g_free);
  table->rows = g_array_new (FALSE, FALSE, sizeof (DynoTextTableRow));
  table->cells = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (size >= DYNO_TEXT_TABLE_MAX_BYTES)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s” has more than 1 GB of text; divide it"), name);
      return NULL;
    }
  if (zero)
    {
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
          _ ("“%s” is no text in UTF-8 or ASCII (a zero byte at %" PRIu64 "); save it as UTF-8"),
          name, (guint64) (zero - bytes));
      return NULL;
    }
  skip_mark (&p.at, p.end);
  ok = dyno_text_table_guess (p.at, MIN ((gsize) (p.end - p.at), 4096)) == DYNO_TEXT_TABLE_JSON
           ? parse_json_lines (&p, error)
           : parse_delimited (&p, error);
  return ok ? g_steal_pointer (&table) : NULL;
}
