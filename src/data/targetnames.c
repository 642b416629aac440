/* SPDX-License-Identifier: MIT */
/* Reads names and units of the values to predict, and names of labels. */
#include "targetnames.h"
#include "intl.h"
#include "text.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define MAX_BYTES (1 << 20)
#define MAX_NAME  64 /* characters */

static char *
find_file (const char *targets)
{
  g_autofree char *stem = g_str_has_suffix (targets, ".npy")
                              ? g_strndup (targets, strlen (targets) - 4)
                              : g_strdup (targets);

  return g_strconcat (stem, ".names", NULL);
}

/* FALSE: the text is empty, too long, or has control characters. */
static gboolean
is_good (const char *name)
{
  if (*name == '\0' || g_utf8_strlen (name, -1) > MAX_NAME)
    return FALSE;
  for (const char *c = name; *c; c = g_utf8_next_char (c))
    if (dyno_text_is_control (g_utf8_get_char (c)))
      return FALSE;
  return TRUE;
}

/* Splits "yaw (degrees)" into name and unit; units NULL: the line is a name as a whole. */
static gboolean
take_line (char *line, GPtrArray *names, GPtrArray *units)
{
  char *unit = units && g_str_has_suffix (line, ")") ? strrchr (line, '(') : NULL;

  if (unit)
    {
      line[strlen (line) - 1] = '\0';
      *unit++ = '\0';
      g_strstrip (unit);
    }
  g_strstrip (line);
  if (!is_good (line) || (unit && !is_good (unit)))
    return FALSE;
  for (guint i = 0; i < names->len; i++)
    if (g_str_equal (names->pdata[i], line))
      return FALSE;
  g_ptr_array_add (names, g_strdup (line));
  if (units)
    g_ptr_array_add (units, g_strdup (unit ? unit : ""));
  return TRUE;
}

static gboolean
read_file (const char *path, const char *shown, char **text, GError **error)
{
  GStatBuf status;
  g_autoptr (GError) problem = NULL;

  if (g_stat (path, &status) == 0 && status.st_size > MAX_BYTES)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s” is no list of names: it is larger than 1 MiB; remove or replace it"),
                   shown);
      return FALSE;
    }
  if (g_file_get_contents (path, text, NULL, &problem))
    return TRUE;
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ, "%s", problem->message);
  return FALSE;
}

static void
keep (DynoDatasetInfo *info, GPtrArray *names, GPtrArray *units)
{
  g_ptr_array_add (names, NULL);
  g_ptr_array_add (units, NULL);
  g_strfreev (info->target_names);
  g_strfreev (info->target_units);
  info->target_names = (char **) g_ptr_array_free (names, FALSE);
  info->target_units = (char **) g_ptr_array_free (units, FALSE);
}

void
dyno_target_names_take (DynoDatasetInfo *info, const char *const *given, guint32 n)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free),
                        units = g_ptr_array_new_with_free_func (g_free);

  for (guint32 i = 0; i < n; i++)
    {
      g_autofree char *line = g_strdup (given[i]);
      if (!g_utf8_validate (line, -1, NULL) || !take_line (line, names, units))
        return;
    }
  keep (info, g_steal_pointer (&names), g_steal_pointer (&units));
}

/* Reads the names of n values or labels, see take_line; names stays empty where there is no file.
 * */
static gboolean
load (const char *targets, guint32 n, GPtrArray *names, GPtrArray *units, GError **error)
{
  g_autofree char *path = find_file (targets), *shown = g_filename_display_name (path),
                  *text = NULL;
  g_auto (GStrv) lines = NULL;
  gboolean is_text;
  guint i = 0;

  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  if (!read_file (path, shown, &text, error))
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  is_text = g_utf8_validate (text, -1, NULL);
  for (; is_text && lines[i]; i++)
    {
      g_strstrip (lines[i]);
      if (lines[i][0] == '\0' || lines[i][0] == '#')
        continue;
      if (!take_line (lines[i], names, units))
        break;
    }
  if (!lines[i] && names->len == n)
    return TRUE;
  g_set_error (
      error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
      units ? ngettext ("“%s”, line %u: %u value needs one name, on one line, with the unit "
                        "in parentheses: yaw (degrees); mend or remove the file",
                        "“%s”, line %u: %u values need as many different names, a line each, "
                        "with the unit in parentheses: yaw (degrees); mend or remove the file",
                        (gulong) n)
            : ngettext ("“%s”, line %u: %u label needs one name, on one line; mend or "
                        "remove the file",
                        "“%s”, line %u: %u labels need as many different names, a line "
                        "each; mend or remove the file",
                        (gulong) n),
      shown, lines[i] ? i + 1 : i, n);
  return FALSE;
}

gboolean
dyno_target_names_load (DynoDatasetInfo *info, guint32 n_values, const char *targets,
                        GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free),
                        units = g_ptr_array_new_with_free_func (g_free);

  if (!load (targets, n_values, names, units, error))
    return FALSE;
  if (names->len > 0)
    keep (info, g_steal_pointer (&names), g_steal_pointer (&units));
  return TRUE;
}

gboolean
dyno_target_names_load_labels (DynoDatasetInfo *info, const char *targets, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  if (!load (targets, info->n_classes, names, NULL, error))
    return FALSE;
  for (guint i = 0; i < names->len; i++)
    {
      g_free (info->class_names[i]);
      info->class_names[i] = g_strdup (names->pdata[i]);
    }
  return TRUE;
}
