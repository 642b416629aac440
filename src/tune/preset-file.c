/* SPDX-License-Identifier: MIT */
/* Reading a preset file.  The content is anyone's: sizes are limited before anything is parsed, and
 * every number is checked against its range. */
#include "preset-file.h"
#include <string.h>

G_DEFINE_QUARK (dyno - tune - error - quark, dyno_tune_error)

typedef struct {
  GKeyFile *file;
  const char *source;
  const char *group;
  GPtrArray *warnings;
} Reader;

static void G_GNUC_PRINTF (2, 3) warn (Reader *reader, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  if (!reader->warnings)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_ptr_array_add (reader->warnings,
                   g_strdup_printf ("Preset “%s”, [%s]: %s", reader->source, reader->group, text));
}

/* The value without blanks around it; NULL when the key is absent or not UTF-8. */
static char *
read_text (Reader *reader, const char *key)
{
  g_autoptr (GError) problem = NULL;
  char *text;

  if (!g_key_file_has_key (reader->file, reader->group, key, NULL))
    return NULL;
  text = g_key_file_get_string (reader->file, reader->group, key, &problem);
  if (!text)
    {
      warn (reader, "%s cannot be read: %s", key, problem->message);
      return NULL;
    }
  return g_strstrip (text);
}

static gboolean
parse_number (const char *text, guint64 least, guint64 most, guint32 *value)
{
  guint64 number;
  if (!g_ascii_string_to_unsigned (text, 10, least, most, &number, NULL))
    return FALSE;
  *value = (guint32) number;
  return TRUE;
}

static guint32
read_number (Reader *reader, const char *key, guint32 least, guint32 most, guint32 default_value)
{
  g_autofree char *text = read_text (reader, key);
  guint32 value = default_value;

  if (text && !parse_number (text, least, most, &value))
    warn (reader, "%s=%.40s is no whole number from %u to %u; %u is used", key, text, least, most,
          default_value);
  return value;
}

static gboolean
read_bool (Reader *reader, const char *key, gboolean default_value)
{
  g_autofree char *text = read_text (reader, key);

  if (!text)
    return default_value;
  for (guint i = 0; i < 4; i++)
    {
      static const char *const yes[] = { "true", "yes", "on", "1" }, *const no[] = { "false", "no",
                                                                                     "off", "0" };
      if (g_ascii_strcasecmp (text, yes[i]) == 0)
        return TRUE;
      if (g_ascii_strcasecmp (text, no[i]) == 0)
        return FALSE;
    }
  warn (reader, "%s=%.40s is neither true nor false; %s is used", key, text,
        default_value ? "true" : "false");
  return default_value;
}

static char **
read_list (Reader *reader, const char *key)
{
  char **list = g_key_file_get_string_list (reader->file, reader->group, key, NULL, NULL);

  if (!list)
    return g_new0 (char *, 1);
  for (guint i = 0; list[i]; i++)
    g_strstrip (list[i]);
  return list;
}

/* "4-8" or "8". */
static void
read_workers (Reader *reader, DynoPreset *preset)
{
  g_autofree char *text = read_text (reader, "workers");
  g_auto (GStrv) ends = NULL;

  preset->workers_min = 2;
  preset->workers_max = 4;
  if (text)
    {
      guint32 least, most;

      ends = g_strsplit (text, "-", 3);
      if (ends[0] && parse_number (g_strstrip (ends[0]), 0, 256, &least)
          && (!ends[1] || (!ends[2] && parse_number (g_strstrip (ends[1]), least, 256, &most))))
        {
          preset->workers_min = least;
          preset->workers_max = ends[1] ? most : least;
        }
      else
        warn (reader, "workers=%.40s is no range such as 2-4 within 0 to 256; 2-4 is used", text);
    }
  preset->workers_cpu_bound = read_number (reader, "workers_cpu_bound", 0, 256, 0);
}

/* The table of settings knows how people write bytes; a preset asks it. */
static gboolean
read_vram (Reader *reader, guint64 *bytes, GError **error)
{
  g_autofree char *text = read_text (reader, "vram");
  g_autoptr (GError) problem = NULL;
  DynoSettings settings;

  dyno_settings_init (&settings);
  if (text && dyno_settings_set (&settings, "vram_budget", text, &problem)
      && settings.vram_budget > 0)
    {
      *bytes = (guint64) settings.vram_budget;
      return TRUE;
    }
  g_set_error (
      error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET,
      "Preset “%s”, [preset]: vram=%.40s is no amount of memory; write for example vram=12GB",
      reader->source, text ? text : "");
  return FALSE;
}

/* FALSE: the row says nothing usable and is left out. */
static gboolean
read_row (Reader *reader, DynoPresetRow *row)
{
  guint32 recommended = read_number (reader, "batch_recommended", 1, 65536, 0);

  row->batch_safe = read_number (reader, "batch_safe", 1, 65536, recommended);
  row->batch_max = read_number (reader, "batch_max", 1, 65536, MAX (recommended, row->batch_safe));
  row->batch_recommended = recommended ? recommended : row->batch_safe;
  if (row->batch_recommended == 0 || row->batch_safe > row->batch_recommended
      || row->batch_recommended > row->batch_max)
    {
      warn (reader,
            "batch_safe <= batch_recommended <= batch_max does not hold (%u, %u, %u); the row is "
            "left out",
            row->batch_safe, row->batch_recommended, row->batch_max);
      return FALSE;
    }
  row->image_size = read_number (reader, "image_size", 0, 65536, 0);
  row->workload = read_text (reader, "workload");
  if (!row->workload)
    row->workload = g_strdup ("");
  return TRUE;
}

static void
read_rows (Reader *reader, DynoPreset *preset)
{
  g_auto (GStrv) groups = g_key_file_get_groups (reader->file, NULL);
  g_autoptr (GArray) rows = g_array_new (FALSE, TRUE, sizeof (DynoPresetRow));

  for (guint i = 0; groups[i] && rows->len < DYNO_PRESET_MAX_ROWS; i++)
    {
      DynoPresetRow row;

      reader->group = groups[i];
      if (strcmp (groups[i], "preset") == 0)
        continue;
      if (!g_str_has_prefix (groups[i], "row"))
        warn (reader, "unknown group, left out");
      else if (read_row (reader, &row))
        g_array_append_val (rows, row);
    }
  preset->n_rows = rows->len;
  preset->rows = (DynoPresetRow *) (gpointer) g_array_free (g_steal_pointer (&rows), FALSE);
}

static void
warn_unknown_keys (Reader *reader)
{
  static const char *const known[] = {
    "name",   "architecture",       "vram",  "workers", "workers_cpu_bound", "prefetch", "amp",
    "pinned", "persistent_workers", "match", "notes",   "expected",          "advice",   "comment",
    NULL
  };
  static const char *const known_row[] = { "image_size",        "workload",  "batch_safe",
                                           "batch_recommended", "batch_max", NULL };
  g_auto (GStrv) groups = g_key_file_get_groups (reader->file, NULL);

  for (guint g = 0; groups[g]; g++)
    {
      g_auto (GStrv) keys = g_key_file_get_keys (reader->file, groups[g], NULL, NULL);
      const char *const *table = strcmp (groups[g], "preset") == 0 ? known : known_row;

      reader->group = groups[g];
      for (guint i = 0; keys && keys[i]; i++)
        if (!g_strv_contains (table, keys[i]))
          warn (reader, "unknown key %.60s, left out", keys[i]);
    }
}

DynoPreset *
dyno_preset_parse (const char *id, const char *source, const char *text, gsize size_bytes,
                   GPtrArray *warnings, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (DynoPreset) preset = NULL;
  g_autoptr (GError) problem = NULL;
  Reader reader = { file, source, "preset", warnings };

  if (size_bytes > DYNO_PRESET_FILE_MAX_BYTES || memchr (text, 0, size_bytes)
      || !g_utf8_validate (text, (gssize) size_bytes, NULL)
      || !g_key_file_load_from_data (file, text, size_bytes, G_KEY_FILE_NONE, &problem)
      || !g_key_file_has_group (file, "preset"))
    {
      g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET, "“%s” is no preset: %s", source,
                   problem ? problem->message : "it is not a text file with a group [preset]");
      return NULL;
    }

  preset = g_new0 (DynoPreset, 1);
  preset->id = g_strdup (id);
  preset->source = g_strdup (source);
  preset->name = read_text (&reader, "name");
  if (!preset->name || *preset->name == '\0')
    {
      g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET,
                   "Preset “%s”, [preset]: name is missing", source);
      return NULL;
    }
  if (!read_vram (&reader, &preset->vram_bytes, error))
    return NULL;
  preset->architecture = read_text (&reader, "architecture");
  if (!preset->architecture)
    preset->architecture = g_strdup ("");
  preset->advice = read_text (&reader, "advice");
  if (!preset->advice)
    preset->advice = g_strdup ("");
  preset->expected = read_text (&reader, "expected");
  read_workers (&reader, preset);
  preset->prefetch = read_number (&reader, "prefetch", 1, 64, 2);
  preset->amp = read_bool (&reader, "amp", TRUE);
  preset->pinned = read_bool (&reader, "pinned", TRUE);
  preset->persistent_workers = read_bool (&reader, "persistent_workers", TRUE);
  preset->match = read_list (&reader, "match");
  preset->notes = read_list (&reader, "notes");
  warn_unknown_keys (&reader);
  read_rows (&reader, preset);
  return g_steal_pointer (&preset);
}

void
dyno_preset_free (DynoPreset *preset)
{
  if (!preset)
    return;
  for (guint i = 0; i < preset->n_rows; i++)
    g_free (preset->rows[i].workload);
  g_free (preset->rows);
  g_free (preset->id);
  g_free (preset->name);
  g_free (preset->architecture);
  g_free (preset->advice);
  g_free (preset->expected);
  g_free (preset->source);
  g_strfreev (preset->notes);
  g_strfreev (preset->match);
  g_free (preset);
}
