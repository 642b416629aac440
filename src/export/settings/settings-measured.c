/* SPDX-License-Identifier: MIT */
/* Reads the measurement that a settings file holds.  In a key file it is in the comments before the
 * first group, in Dyno's JSON in members; other files have none. */
#include "formats.h"
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#define MOST_BYTES (1024 * 1024) /* as in settings-file.c */

/* The text after "# NAME: ", or NULL. */
static const char *
value_of (const char *line, const char *name)
{
  if (!g_str_has_prefix (line, "# ") || !g_str_has_prefix (line + 2, name))
    return NULL;
  line += 2 + strlen (name);
  return g_str_has_prefix (line, ": ") ? line + 2 : NULL;
}

static double
number (const char *text)
{
  double value = g_ascii_strtod (text, NULL);

  return isfinite (value) && value > 0 ? value : 0;
}

static void
read_head (const char *text, DynoMeasured *measured)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] && lines[i][0] == '#'; i++)
    {
      const char *value;

      if ((value = value_of (lines[i], DYNO_HEAD_CARD)) && !measured->device)
        measured->device = g_strdup (value);
      else if ((value = value_of (lines[i], DYNO_HEAD_RATE)))
        measured->samples_per_s = number (value);
      else if ((value = value_of (lines[i], DYNO_HEAD_MEMORY)))
        measured->vram_bytes = (guint64) MIN (number (value) * 1048576.0, 0x1p60);
    }
}

static void
read_json (const char *text, DynoMeasured *measured)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *root;
  JsonNode *node;

  if (!json_parser_load_from_data (parser, text, -1, NULL)
      || !JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser)))
    return;
  root = json_node_get_object (json_parser_get_root (parser));
  node = json_object_get_member (root, "card");
  if (node && json_node_get_value_type (node) == G_TYPE_STRING)
    measured->device = g_strdup (json_node_get_string (node));
  node = json_object_get_member (root, "samples_per_s");
  if (node && JSON_NODE_HOLDS_VALUE (node))
    measured->samples_per_s = MAX (json_node_get_double (node), 0);
  node = json_object_get_member (root, "vram_bytes");
  if (node && JSON_NODE_HOLDS_VALUE (node))
    measured->vram_bytes = (guint64) MAX (json_node_get_int (node), 0);
}

void
dyno_settings_file_read_measured (const char *path, DynoMeasured *measured)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autofree char *text = NULL;
  const char *start;
  gsize size = 0;

  *measured = (DynoMeasured){ 0 };
  /* dyno_settings_file_read accepts only small files, with no deeper nesting than the parser
   * allows. */
  if (!dyno_settings_file_read (path, job, NULL, NULL)
      || !g_file_get_contents (path, &text, &size, NULL) || size > MOST_BYTES)
    return;
  for (start = text; g_ascii_isspace (*start);)
    start++;
  if (*start == '{')
    read_json (text, measured);
  else
    read_head (text, measured);
}

void
dyno_measured_clear (DynoMeasured *measured)
{
  g_clear_pointer (&measured->device, g_free);
}
