/* SPDX-License-Identifier: MIT */
/* Reads a preset file.  The content is not trusted: sizes are limited before anything is parsed,
 * and every number is checked against its range. */
#include "preset-file.h"
#include "dataset-class.h"
#include <math.h>
#include <string.h>

G_DEFINE_QUARK (dyno - tune - error - quark, dyno_tune_error)

/* Keys whose values may be Dyno's own. */
static const char *const derivable[] = { "vram", "workers", "workers_cpu_bound",  "prefetch",
                                         "amp",  "pinned",  "persistent_workers", NULL },
                         *const derivable_row[] = { "batch_safe", "batch_recommended", "batch_max",
                                                    NULL };

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

static gboolean
parse_decimal (const char *text, double most, double *value)
{
  char *rest;

  /* Signs, exponents, nan and inf are not allowed. */
  if (!*text || strspn (text, "0123456789.") != strlen (text))
    return FALSE;
  *value = g_ascii_strtod (text, &rest);
  return rest != text && *rest == '\0' && *value <= most;
}

/* "300-500" or "2.07"; not given where the key is missing or bad. */
static DynoPresetRange
read_range (Reader *reader, const char *key, double most)
{
  g_autofree char *text = read_text (reader, key);
  g_auto (GStrv) ends = text ? g_strsplit (text, "-", 3) : NULL;
  DynoPresetRange range = { 0, 0 };

  if (text && ends[0] && parse_decimal (g_strstrip (ends[0]), most, &range.least))
    {
      range.most = range.least;
      if (!ends[1]
          || (!ends[2] && parse_decimal (g_strstrip (ends[1]), most, &range.most)
              && range.most >= range.least))
        return range;
    }
  if (text)
    warn (reader, "%s=%.40s is no number or range such as 300-500 from 0 to %.0f; it is left out",
          key, text, most);
  return (DynoPresetRange){ (double) NAN, (double) NAN };
}

/* Parses one of the names, of which the first is "" for the value 0; FALSE: it is none of these. */
static gboolean
read_name (Reader *reader, const char *key, const char *(*name) (guint), guint n, guint *value)
{
  g_autofree char *text = read_text (reader, key);

  *value = 0;
  if (!text)
    return TRUE;
  for (guint i = 1; i < n; i++)
    if (strcmp (text, name (i)) == 0)
      {
        *value = i;
        return TRUE;
      }
  warn (reader, "%s=%.40s is not known; the group is left out", key, text);
  return FALSE;
}

static const char *
task_name (guint i)
{
  return dyno_preset_task_name ((DynoPresetTask) i);
}

static const char *
input_name (guint i)
{
  return dyno_preset_input_name ((DynoPresetInput) i);
}

static gboolean
is_kind (const char *kind)
{
  for (guint i = 0; dyno_dataset_classes[i]; i++)
    if (strcmp (dyno_dataset_classes[i]->kind, kind) == 0)
      return TRUE;
  return FALSE;
}

/* FALSE: the group has a condition that no job meets, and is left out; its readable parts are read
 * all the same. */
static gboolean
read_workload (Reader *reader, DynoPresetWorkload *workload)
{
  guint task = 0, input = 0;
  gboolean known = read_name (reader, "task", task_name, 3, &task)
                   && read_name (reader, "input", input_name, 3, &input);

  workload->data = read_list (reader, "data");
  workload->models = read_list (reader, "model");
  workload->framework = read_text (reader, "framework");
  for (guint i = 0; workload->data[i]; i++)
    if (!is_kind (workload->data[i]))
      {
        warn (reader,
              "data=%.40s is no kind of data set, as dynoctl inspect --json gives it; the "
              "group is left out",
              workload->data[i]);
        known = FALSE;
      }
  if (!known)
    return FALSE;
  workload->task = (DynoPresetTask) task;
  workload->input = (DynoPresetInput) input;
  return TRUE;
}

/* The group's keys whose values are Dyno's own; names that are not keys of the group are left
 * out. */
static char **
read_derived (Reader *reader, const char *const *known)
{
  g_auto (GStrv) list = read_list (reader, "derived");
  g_autoptr (GStrvBuilder) good = g_strv_builder_new ();

  for (guint i = 0; list[i]; i++)
    if (g_strv_contains (known, list[i]))
      g_strv_builder_add (good, list[i]);
    else
      warn (reader, "derived=%.40s is no value of this group, left out", list[i]);
  return g_strv_builder_end (good);
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

/* Parses an amount of bytes with the table of settings.  FALSE: it is not an amount. */
static gboolean
read_bytes (Reader *reader, const char *key, char **text, guint64 *bytes)
{
  DynoSettings settings;

  dyno_settings_init (&settings);
  *text = read_text (reader, key);
  if (!*text || !dyno_settings_set (&settings, "vram_budget", *text, NULL)
      || settings.vram_budget <= 0)
    return FALSE;
  *bytes = (guint64) settings.vram_budget;
  return TRUE;
}

/* An amount of `most` bytes at most; the default where the key is missing or its value is not
 * valid. */
static guint64
read_part (Reader *reader, const char *key, guint64 most, guint64 default_value)
{
  g_autofree char *text = NULL;
  guint64 bytes = default_value;

  if (read_bytes (reader, key, &text, &bytes) && bytes <= most)
    return bytes;
  if (text)
    warn (reader,
          "%s=%.40s is no amount of memory up to %" G_GUINT64_FORMAT " MB; %" G_GUINT64_FORMAT
          " MB is used",
          key, text, most >> 20, default_value >> 20);
  return default_value;
}

static gboolean
read_vram (Reader *reader, DynoPreset *preset, GError **error)
{
  g_autofree char *text = NULL;

  if (!read_bytes (reader, "vram", &text, &preset->vram_bytes))
    {
      g_set_error (
          error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET,
          "Preset “%s”, [preset]: vram=%.40s is no amount of memory; write for example vram=12GB",
          reader->source, text ? text : "");
      return FALSE;
    }
  preset->total_bytes = read_part (reader, "vram_total", preset->vram_bytes, preset->vram_bytes);
  preset->usable_bytes = read_part (reader, "vram_usable", preset->total_bytes,
                                    dyno_preset_estimate_usable (preset->total_bytes));
  preset->vram_source = read_text (reader, "vram_source");
  return TRUE;
}

/* FALSE: the row has no usable content and is left out. */
static gboolean
read_row (Reader *reader, DynoPresetRow *row)
{
  guint32 recommended = read_number (reader, "batch_recommended", 1, 65536, 0);

  if (g_key_file_has_key (reader->file, reader->group, "workload", NULL))
    {
      warn (reader, "workload is written as task=, input=, data=, model= or framework=, which are "
                    "matched with the job; the row is left out");
      return FALSE;
    }

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
  if (!read_workload (reader, &row->workload))
    {
      dyno_preset_workload_clear (&row->workload);
      return FALSE;
    }
  row->image_size = read_number (reader, "image_size", 0, 65536, 0);
  row->derived = read_derived (reader, derivable_row);
  return TRUE;
}

/* FALSE: the group has an unknown condition or no valid number, and is left out. */
static gboolean
read_expectation (Reader *reader, DynoPresetExpectation *expectation)
{
  gboolean any = FALSE;

  if (!read_workload (reader, &expectation->workload))
    {
      dyno_preset_workload_clear (&expectation->workload);
      return FALSE;
    }
  expectation->batch = read_number (reader, "batch", 1, 65536, 0);
  expectation->before_batch = read_number (reader, "before_batch", 1, 65536, 0);
  for (DynoPresetQuantity i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    {
      const char *name = dyno_preset_quantity_name (i);
      g_autofree char *before = g_strconcat ("before_", name, NULL);
      double most = dyno_preset_quantity_most (i);

      expectation->now[i] = read_range (reader, name, most);
      expectation->before[i] = read_range (reader, before, most);
      any = any || dyno_preset_range_is_given (&expectation->now[i]);
    }
  if (any)
    return TRUE;
  warn (reader, "no number is given; the group is left out");
  dyno_preset_expectation_clear (expectation);
  return FALSE;
}

static gboolean
is_expectation (const char *group)
{
  return g_str_has_prefix (group, "expected");
}

static void
read_groups (Reader *reader, DynoPreset *preset)
{
  g_auto (GStrv) groups = g_key_file_get_groups (reader->file, NULL);
  g_autoptr (GArray) rows = g_array_new (FALSE, TRUE, sizeof (DynoPresetRow)),
                     expectations = g_array_new (FALSE, TRUE, sizeof (DynoPresetExpectation));

  for (guint i = 0; groups[i] && rows->len + expectations->len < DYNO_PRESET_MAX_ROWS; i++)
    {
      DynoPresetRow row = { 0 };
      DynoPresetExpectation expectation = { 0 };

      reader->group = groups[i];
      if (strcmp (groups[i], "preset") == 0)
        continue;
      if (is_expectation (groups[i]))
        {
          if (read_expectation (reader, &expectation))
            g_array_append_val (expectations, expectation);
        }
      else if (!g_str_has_prefix (groups[i], "row"))
        warn (reader, "unknown group, left out");
      else if (read_row (reader, &row))
        g_array_append_val (rows, row);
    }
  preset->n_rows = rows->len;
  preset->rows = (DynoPresetRow *) (gpointer) g_array_free (g_steal_pointer (&rows), FALSE);
  preset->n_expectations = expectations->len;
  preset->expectations =
      (DynoPresetExpectation *) (gpointer) g_array_free (g_steal_pointer (&expectations), FALSE);
}

static gboolean
is_quantity (const char *key)
{
  const char *name = g_str_has_prefix (key, "before_") ? key + strlen ("before_") : key;

  for (DynoPresetQuantity i = 0; i < DYNO_PRESET_N_QUANTITIES; i++)
    if (strcmp (name, dyno_preset_quantity_name (i)) == 0)
      return TRUE;
  return strcmp (name, "batch") == 0;
}

static void
warn_unknown_keys (Reader *reader)
{
  static const char *const known[] = { "name",        "architecture", "match",   "notes",
                                       "advice",      "comment",      "derived", "vram_total",
                                       "vram_usable", "vram_source",  NULL },
                           *const of_workload[] = { "task", "input", "data", "model", NULL },
                           *const known_row[] = { "image_size", "framework", "derived", "workload",
                                                  NULL };
  g_auto (GStrv) groups = g_key_file_get_groups (reader->file, NULL);

  for (guint g = 0; groups[g]; g++)
    {
      g_auto (GStrv) keys = g_key_file_get_keys (reader->file, groups[g], NULL, NULL);
      gboolean head = strcmp (groups[g], "preset") == 0, expected = is_expectation (groups[g]);

      reader->group = groups[g];
      for (guint i = 0; keys && keys[i]; i++)
        if (head && strcmp (keys[i], "expected") == 0)
          warn (reader, "expected is a group of its own now: [expected] with samples_per_s=300-500 "
                        "and the like; the key is left out");
        else if (head ? !g_strv_contains (known, keys[i]) && !g_strv_contains (derivable, keys[i])
                 : expected ? !g_strv_contains (of_workload, keys[i]) && !is_quantity (keys[i])
                            : !g_strv_contains (of_workload, keys[i])
                                  && !g_strv_contains (known_row, keys[i])
                                  && !g_strv_contains (derivable_row, keys[i]))
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
  if (!read_vram (&reader, preset, error))
    return NULL;
  preset->architecture = read_text (&reader, "architecture");
  if (!preset->architecture)
    preset->architecture = g_strdup ("");
  preset->advice = read_text (&reader, "advice");
  if (!preset->advice)
    preset->advice = g_strdup ("");
  read_workers (&reader, preset);
  preset->prefetch = read_number (&reader, "prefetch", 1, 64, 2);
  preset->amp = read_bool (&reader, "amp", TRUE);
  preset->pinned = read_bool (&reader, "pinned", TRUE);
  preset->persistent_workers = read_bool (&reader, "persistent_workers", TRUE);
  preset->match = read_list (&reader, "match");
  preset->notes = read_list (&reader, "notes");
  preset->derived = read_derived (&reader, derivable);
  warn_unknown_keys (&reader);
  read_groups (&reader, preset);
  return g_steal_pointer (&preset);
}

void
dyno_preset_free (DynoPreset *preset)
{
  if (!preset)
    return;
  for (guint i = 0; i < preset->n_rows; i++)
    {
      dyno_preset_workload_clear (&preset->rows[i].workload);
      g_strfreev (preset->rows[i].derived);
    }
  for (guint i = 0; i < preset->n_expectations; i++)
    dyno_preset_expectation_clear (&preset->expectations[i]);
  g_free (preset->rows);
  g_free (preset->expectations);
  g_free (preset->id);
  g_free (preset->name);
  g_free (preset->architecture);
  g_free (preset->advice);
  g_free (preset->vram_source);
  g_strfreev (preset->derived);
  g_free (preset->source);
  g_strfreev (preset->notes);
  g_strfreev (preset->match);
  g_free (preset);
}
