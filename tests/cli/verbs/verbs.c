/* SPDX-License-Identifier: MIT */
#include "verbs.h"
#include "output.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *verbs_folder;

char *
verbs_run (VerbsVerb verb, const char *line)
{
  g_autofree char *whole = g_strstrip (g_strdup (line));
  g_auto (GStrv) words = g_strsplit (whole, " ", -1);
  guint n = g_strv_length (words);
  g_autofree char **argv = g_new0 (char *, n + 1);
  g_autoptr (GRegex) log = g_regex_new ("^# .*\n", G_REGEX_MULTILINE, 0, NULL);
  g_autofree char *path = g_build_filename (verbs_folder, "output", NULL), *text = NULL,
                  *own = NULL;
  GString *shown;
  int code, out = dup (STDOUT_FILENO), err = dup (STDERR_FILENO),
            file = open (path, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);

  for (guint i = 0; i < n; i++)
    {
      GString *word = g_string_new (words[i]);

      g_string_replace (word, "|", " ", 0);
      g_string_replace (word, "~", "", 0);
      g_string_replace (word, "$", verbs_folder, 0);
      g_free (words[i]);
      argv[i] = words[i] = g_string_free (word, FALSE); /* options are taken out of argv */
    }
  dyno_out_flush ();
  g_assert_true (out >= 0 && err >= 0 && file >= 0);
  g_assert_true (dup2 (file, STDOUT_FILENO) >= 0 && dup2 (file, STDERR_FILENO) >= 0);
  code = verb ((int) n, argv);
  dyno_out_flush ();
  (void) fflush (stderr);
  g_assert_true (dup2 (out, STDOUT_FILENO) >= 0 && dup2 (err, STDERR_FILENO) >= 0);
  close (file);
  close (out);
  close (err);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_unlink (path);
  own = g_regex_replace_literal (log, text, -1, 0, "", 0, NULL); /* without messages of GLib's */
  shown = g_string_new (own);
  g_string_replace (shown, verbs_folder, "$", 0);
  g_string_append_printf (shown, "= %d\n", code);
  return g_string_free (shown, FALSE);
}

void
verbs_check (VerbsVerb verb, const char *line, const char *expected)
{
  g_autofree char *text = verbs_run (verb, line);

  if (strcmp (text, expected) != 0)
    g_test_message ("%s\n%s", line, text);
  g_assert_cmpstr (text, ==, expected);
}

int
main (int argc, char **argv)
{
  g_autofree char *command = NULL;
  int code;

  /* No device: what is printed does not depend on the machine. */
  g_setenv ("VK_DRIVER_FILES", "/nonexistent", TRUE);
  g_setenv ("VK_ICD_FILENAMES", "/nonexistent", TRUE);
  g_setenv ("TZ", "UTC", TRUE);
  g_test_init (&argc, &argv, NULL);
  verbs_folder = g_dir_make_tmp ("dyno-verbs-XXXXXX", NULL);
  verbs_add_runs ();
  verbs_add_machine ();
  verbs_add_diagnose ();
  verbs_add_inspect ();
  verbs_add_options ();
  code = g_test_run ();
  command = g_strdup_printf ("rm -r '%s'", verbs_folder);
  if (code == 0)
    g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL);
  return code;
}
