/* SPDX-License-Identifier: MIT */
/* Reads a settings file: a key file, or Dyno's JSON, which is turned into a key file.  A bad value
 * is no error: the key keeps its value, with a warning.  The file itself is never changed. */
#include "formats.h"
#include "intl.h"
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

#define MAX_BYTES   (1024 * 1024)
#define MAX_NESTING 8 /* the parser is recursive */

static void G_GNUC_PRINTF (3, 4)
    warn (GPtrArray *warnings, const char *shown, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  if (!warnings)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_ptr_array_add (warnings, g_strdup_printf ("Settings file “%s”, %s", shown, text));
}

static void
read_run (GKeyFile *file, const char *shown, DynoJob *job, GPtrArray *warnings)
{
  struct {
    const char *key;
    char **field;
  } names[] = { { "data", &job->data },
                { "targets", &job->targets },
                { "model", &job->model },
                { "preset", &job->preset } };
  g_auto (GStrv) keys = g_key_file_get_keys (file, DYNO_SETTINGS_GROUP_RUN, NULL, NULL);

  for (guint i = 0; keys && keys[i]; i++)
    {
      g_autofree char *value = g_key_file_get_string (file, DYNO_SETTINGS_GROUP_RUN, keys[i], NULL);
      gboolean known = FALSE;

      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        {
          g_autofree char *escaped_key = g_strconcat (names[k].key, "_escaped", NULL);
          gboolean plain = strcmp (keys[i], names[k].key) == 0,
                   escaped = strcmp (keys[i], escaped_key) == 0;

          known |= plain || escaped;
          if (!value || *value == '\0' || (!plain && !escaped))
            continue;
          g_free (*names[k].field);
          *names[k].field = plain ? g_strdup (value) : g_strcompress (value);
        }
      if (!known)
        warn (warnings, shown, "[%s]: unknown key %.60s, left out", DYNO_SETTINGS_GROUP_RUN,
              keys[i]);
      else if (!value)
        warn (warnings, shown, "[%s]: %s cannot be read, left out", DYNO_SETTINGS_GROUP_RUN,
              keys[i]);
    }
}

static void
read_settings (GKeyFile *file, const char *shown, DynoJob *job, GPtrArray *warnings)
{
  g_auto (GStrv) keys = g_key_file_get_keys (file, DYNO_SETTINGS_GROUP_SETTINGS, NULL, NULL);

  for (guint i = 0; keys && keys[i]; i++)
    {
      g_autoptr (GError) problem = NULL;
      g_autofree char *value =
          g_key_file_get_string (file, DYNO_SETTINGS_GROUP_SETTINGS, keys[i], &problem);

      if (value && !problem
          && dyno_settings_set (&job->settings, keys[i], g_strstrip (value), &problem))
        continue;
      warn (warnings, shown, "[%s]: %s; it is left as it was", DYNO_SETTINGS_GROUP_SETTINGS,
            problem->message);
    }
}

static gboolean
nests_too_deep (const char *text)
{
  guint depth = 0;
  gboolean quoted = FALSE;

  for (const char *c = text; *c; c++)
    {
      if (quoted && *c == '\\' && c[1])
        c++;
      else if (*c == '"')
        quoted = !quoted;
      else if (!quoted && (*c == '{' || *c == '['))
        depth++;
      else if (!quoted && (*c == '}' || *c == ']') && depth > 0)
        depth--;
      if (depth > MAX_NESTING)
        return TRUE;
    }
  return FALSE;
}

/* Takes the members of an object as keys of a group; a null member is left out. */
static void
take_members (GKeyFile *file, const char *group, JsonObject *object)
{
  g_autoptr (GList) members = json_object_get_members (object);

  for (GList *l = members; l; l = l->next)
    {
      JsonNode *node = json_object_get_member (object, l->data);
      GType type = json_node_get_value_type (node);
      char number[G_ASCII_DTOSTR_BUF_SIZE];

      if (!JSON_NODE_HOLDS_VALUE (node))
        continue;
      if (type == G_TYPE_STRING)
        g_key_file_set_string (file, group, l->data, json_node_get_string (node));
      else if (type == G_TYPE_BOOLEAN)
        g_key_file_set_boolean (file, group, l->data, json_node_get_boolean (node));
      else if (type == G_TYPE_INT64)
        g_key_file_set_int64 (file, group, l->data, json_node_get_int (node));
      else if (type == G_TYPE_DOUBLE)
        g_key_file_set_value (file, group, l->data,
                              g_ascii_dtostr (number, sizeof number, json_node_get_double (node)));
    }
}

/* {"run": {...}, "settings": {...}} as the exporter writes it.  FALSE: the file is no such object;
 * error is set unless it is JSON of another kind or nests too deep. */
static gboolean
load_json (GKeyFile *file, const char *text, gsize size, GError **error)
{
  static const char *const groups[] = { DYNO_SETTINGS_GROUP_RUN, DYNO_SETTINGS_GROUP_SETTINGS };
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonNode *root;

  if (nests_too_deep (text) || !json_parser_load_from_data (parser, text, (gssize) size, error))
    return FALSE;
  root = json_parser_get_root (parser);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      JsonNode *group = json_object_get_member (json_node_get_object (root), groups[i]);
      if (group && JSON_NODE_HOLDS_OBJECT (group))
        take_members (file, groups[i], json_node_get_object (group));
    }
  return TRUE;
}

static gboolean
load (GKeyFile *file, const char *text, gsize size, GError **error)
{
  const char *start = text;

  if (memchr (text, 0, size) || !g_utf8_validate (text, (gssize) size, NULL))
    return FALSE;
  while (g_ascii_isspace (*start))
    start++;
  return *start == '{' ? load_json (file, text, size, error)
                       : g_key_file_load_from_data (file, text, size, G_KEY_FILE_NONE, error);
}

gboolean
dyno_settings_file_read (const char *path, DynoJob *job, GPtrArray *warnings, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) problem = NULL;
  g_autofree char *shown = g_filename_display_name (path), *text = NULL;
  g_auto (GStrv) groups = NULL;
  GStatBuf status;
  gsize size = 0;

  if (g_stat (path, &status) == 0 && (!S_ISREG (status.st_mode) || status.st_size > MAX_BYTES))
    {
      g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_READ,
                   _ ("“%s” is no settings file: it is not a small regular file"), shown);
      return FALSE;
    }
  if (!g_file_get_contents (path, &text, &size, &problem))
    {
      g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_READ,
                   _ ("Cannot read the settings file: %s"), problem->message);
      return FALSE;
    }
  if (!load (file, text, size, &problem)
      || !(g_key_file_has_group (file, DYNO_SETTINGS_GROUP_RUN)
           || g_key_file_has_group (file, DYNO_SETTINGS_GROUP_SETTINGS)))
    {
      g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_READ,
                   _ ("“%s” is no settings file: %s"), shown,
                   problem ? problem->message
                           : _ ("it is not a text file, or JSON, with a group “settings”"));
      return FALSE;
    }

  groups = g_key_file_get_groups (file, NULL);
  for (guint i = 0; groups[i]; i++)
    if (strcmp (groups[i], DYNO_SETTINGS_GROUP_RUN) != 0
        && strcmp (groups[i], DYNO_SETTINGS_GROUP_SETTINGS) != 0)
      warn (warnings, shown, "[%.60s]: unknown group, left out", groups[i]);
  read_run (file, shown, job, warnings);
  read_settings (file, shown, job, warnings);
  return TRUE;
}
