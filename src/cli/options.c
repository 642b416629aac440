/* SPDX-License-Identifier: MIT */
/* Options of a verb: GOption with Dyno's error texts; --help and errors do not exit the process. */
#include "cli.h"
#include "file.h"
#include "output.h"
#include "text.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
dyno_cli_usage (const char *command, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  dyno_error_line ("%s: %s", command, text);
  dyno_error_hint ("Try '%s --help'.", command);
  return DYNO_EXIT_USAGE;
}

gboolean
dyno_cli_ask (const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;
  char answer[16] = "";

  if (!isatty (STDIN_FILENO) || !isatty (STDERR_FILENO))
    return FALSE;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  dyno_out_flush ();
  (void) fprintf (stderr, "%s [y/N] ", text);
  return fgets (answer, sizeof answer, stdin) && g_ascii_tolower (answer[0]) == 'y';
}

static int
unknown_option (const char *command, const char *message, const GOptionEntry *entries)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *dashes = strstr (message, "--"), *near = NULL;

  for (guint i = 0; entries[i].long_name; i++)
    if (*entries[i].long_name)
      g_ptr_array_add (names, (gpointer) entries[i].long_name);
  g_ptr_array_add (names, (gpointer) "help");
  g_ptr_array_add (names, NULL);
  if (dashes)
    {
      g_autofree char *name = g_strdup (dashes + 2);
      *strchrnul (name, '=') = '\0';
      near = dyno_text_nearest (name, (const char *const *) names->pdata, 2);
    }
  if (near)
    return dyno_cli_usage (command, "%s; did you mean --%s?", message, near);
  return dyno_cli_usage (command, "%s", message);
}

/* --device accepts numbers from 0 on, and not its default value, -1.  To detect this, the variable
 * is NO_DEVICE while options are parsed. */
#define NO_DEVICE G_MININT

static int *
find_device (const GOptionEntry *entries)
{
  for (guint i = 0; entries[i].long_name; i++)
    if (strcmp (entries[i].long_name, "device") == 0 && entries[i].arg == G_OPTION_ARG_INT)
      return entries[i].arg_data;
  return NULL;
}

/* The long name of an option that was given an empty value, or NULL. */
static const char *
find_empty (const GOptionEntry *entries)
{
  for (guint i = 0; entries[i].long_name; i++)
    {
      gboolean is_list = entries[i].arg == G_OPTION_ARG_FILENAME_ARRAY
                         || entries[i].arg == G_OPTION_ARG_STRING_ARRAY;
      char *one[] = { NULL, NULL }, **list = one;

      if (is_list)
        list = *(char ***) entries[i].arg_data;
      else if (entries[i].arg == G_OPTION_ARG_FILENAME || entries[i].arg == G_OPTION_ARG_STRING)
        one[0] = *(char **) entries[i].arg_data;
      for (; list && *list; list++)
        if (**list == '\0')
          return entries[i].long_name;
    }
  return NULL;
}

gboolean
dyno_cli_parse (int argc, char **argv, const char *arguments, const char *summary,
                const GOptionEntry *entries, const char *after, char ***rest, guint max_rest,
                int *code)
{
  g_autoptr (GOptionContext) context = g_option_context_new (arguments);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) left = NULL;
  g_autofree char *state = NULL;
  gboolean help = FALSE;
  int *device = find_device (entries), default_device = device ? *device : 0;
  const char *empty;
  const GOptionEntry own[] = {
    { "state-dir", 0, 0, G_OPTION_ARG_FILENAME, &state,
      "Keep caches, own presets and the history of runs here, not in the home folder", "DIR" },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this help", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &left, NULL, NULL },
    { NULL },
  };

  g_option_context_set_summary (context, summary);
  g_option_context_set_description (context, after);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_main_entries (context, own, NULL);
  g_set_prgname (argv[0]);
  if (device)
    *device = NO_DEVICE;
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      *code = g_error_matches (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION)
                  ? unknown_option (argv[0], error->message, entries)
                  : dyno_cli_usage (argv[0], "%s", error->message);
      return FALSE;
    }
  if (help)
    {
      g_autofree char *text = g_option_context_get_help (context, TRUE, NULL);
      dyno_out_text (text);
      *code = DYNO_EXIT_OK;
      return FALSE;
    }
  if (device && *device != NO_DEVICE && *device < 0)
    {
      *code = dyno_cli_usage (argv[0],
                              "--device %d: it is a number from 'dynoctl devices', from 0; without "
                              "it the best is taken",
                              *device);
      return FALSE;
    }
  if (device && *device == NO_DEVICE)
    *device = default_device;
  empty = state && *state == '\0' ? "state-dir" : find_empty (entries);
  if (empty || (left && **left == '\0'))
    {
      *code = empty ? dyno_cli_usage (argv[0], "--%s: its value is empty", empty)
                    : dyno_cli_usage (argv[0], "an argument is empty");
      return FALSE;
    }
  if (left && g_strv_length (left) > max_rest)
    {
      g_autofree char *shown = g_filename_display_name (left[max_rest]);
      *code = dyno_cli_usage (argv[0], "unexpected argument “%s”", shown);
      return FALSE;
    }
  if (state && !dyno_state_dir_set (state, &error))
    {
      dyno_error_line ("%s: --state-dir: %s; name a folder that can be written to", argv[0],
                       error->message);
      *code = dyno_exit_code (error);
      return FALSE;
    }
  if (rest)
    *rest = g_steal_pointer (&left);
  return TRUE;
}
