/* SPDX-License-Identifier: MIT */
/* Parses DATA strings: "path", "scheme:body?key=value&key=value".  Only known schemes are schemes:
 * "C:x" and "a:b" are paths. */
#include "location.h"
#include "datafile.h"
#include "intl.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SHARDS 100000

static const char *const schemes[] = { "builtin", "synthetic" };

static gboolean
split_options (DynoLocation *location, GError **error)
{
  char *question = strchr (location->body, '?');

  if (!question)
    return TRUE;
  *question = '\0';
  g_strfreev (location->options);
  location->options = g_strsplit (question + 1, "&", -1);
  for (guint i = 0; location->options[i]; i++)
    if (!strchr (location->options[i], '='))
      {
        g_set_error (
            error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_OPTION,
            _ ("“%s”: option “%s” has no value; write it as key=value, several joined by &"),
            location->text, location->options[i]);
        return FALSE;
      }
  return TRUE;
}

GPtrArray *
dyno_location_expand (const char *pattern)
{
  const char *open = strchr (pattern, '{'), *dots = open ? strstr (open, "..") : NULL,
             *shut = dots ? strchr (dots, '}') : NULL;
  g_autofree char *first_text = NULL, *last_text = NULL;
  guint64 first, last;
  GPtrArray *paths;

  if (!shut)
    return NULL;
  first_text = g_strndup (open + 1, (gsize) (dots - open - 1));
  last_text = g_strndup (dots + 2, (gsize) (shut - dots - 2));
  if (!g_ascii_string_to_unsigned (first_text, 10, 0, G_MAXINT32, &first, NULL)
      || !g_ascii_string_to_unsigned (last_text, 10, first, first + MAX_SHARDS, &last, NULL))
    return NULL;
  paths = g_ptr_array_new_with_free_func (g_free);
  for (guint64 i = first; i <= last; i++)
    g_ptr_array_add (paths, g_strdup_printf ("%.*s%0*u%s", (int) (open - pattern), pattern,
                                             (int) strlen (first_text), (guint) i, shut + 1));
  return paths;
}

/* TRUE where text is a pattern of shards whose first file exists. */
static gboolean
is_shards (const char *text)
{
  g_autoptr (GPtrArray) paths = dyno_location_expand (text);
  return paths && g_file_test (g_ptr_array_index (paths, 0), G_FILE_TEST_IS_REGULAR);
}

static gboolean
look_at_path (DynoLocation *location, GError **error)
{
  struct stat status;
  int fd;
  gssize n;

  location->is_pattern = is_shards (location->body);
  if (location->is_pattern)
    return TRUE;
  fd = dyno_datafile_open_any (location->body, &status, error);
  if (fd < 0)
    return FALSE;
  location->is_folder = S_ISDIR (status.st_mode);
  location->is_regular = S_ISREG (status.st_mode);
  if (location->is_regular)
    {
      n = dyno_datafile_pread (fd, location->head, sizeof location->head, 0);
      location->head_size = n > 0 ? (gsize) n : 0;
    }
  close (fd);
  if (!location->is_folder && !location->is_regular)
    {
      g_autofree char *shown = g_filename_display_name (location->body);
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNKNOWN,
          _ ("“%s” is neither a file nor a folder; choose a folder of images or a data file"),
          shown);
      return FALSE;
    }
  return TRUE;
}

DynoLocation *
dyno_location_new (const char *text, GError **error)
{
  g_autoptr (DynoLocation) location = g_new0 (DynoLocation, 1);

  g_return_val_if_fail (text, NULL);
  location->text = g_strdup (text);
  location->options = g_new0 (char *, 1);
  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++)
    {
      gsize length = strlen (schemes[i]);
      if (strncmp (text, schemes[i], length) == 0 && text[length] == ':')
        {
          location->scheme = g_strdup (schemes[i]);
          location->body = g_strdup (text + length + 1);
          return split_options (location, error) ? g_steal_pointer (&location) : NULL;
        }
    }
  location->body = g_strdup (text);
  return look_at_path (location, error) ? g_steal_pointer (&location) : NULL;
}

void
dyno_location_free (DynoLocation *location)
{
  if (!location)
    return;
  g_free (location->text);
  g_free (location->scheme);
  g_free (location->body);
  g_strfreev (location->options);
  g_free (location);
}

gboolean
dyno_location_get_number (const DynoLocation *location, const char *key, guint64 least,
                          guint64 most, guint64 default_value, guint64 *value, GError **error)
{
  gsize length = strlen (key);

  *value = default_value;
  for (guint i = 0; location->options[i]; i++)
    {
      const char *option = location->options[i];
      if (strncmp (option, key, length) != 0 || option[length] != '=')
        continue;
      if (!g_ascii_string_to_unsigned (option + length + 1, 10, least, most, value, NULL))
        {
          g_set_error (
              error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_OPTION,
              _ ("“%s”: %s must be a whole number from %" PRIu64 " to %" PRIu64 ", not “%s”"),
              location->text, key, least, most, option + length + 1);
          return FALSE;
        }
    }
  return TRUE;
}

gboolean
dyno_location_check_options (const DynoLocation *location, const char *const *known, GError **error)
{
  for (guint i = 0; location->options[i]; i++)
    {
      g_autofree char *key = g_strndup (location->options[i], strcspn (location->options[i], "="));
      if (!g_strv_contains (known, key))
        {
          g_autofree char *names = g_strjoinv (", ", (char **) known);
          g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_OPTION,
                       _ ("“%s”: there is no option “%s”; known: %s"), location->text, key, names);
          return FALSE;
        }
    }
  return TRUE;
}
