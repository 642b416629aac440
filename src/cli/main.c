/* SPDX-License-Identifier: MIT */
/* dynoctl: the engine from the command line.  Finds the verb and leaves with its exit code. */
#include "cli.h"
#include "file.h"
#include "log.h"
#include "output.h"
#include "signals.h"
#include <string.h>

static const DynoVerb verbs[] = {
  { "devices", "", "list the Vulkan devices", dyno_verb_devices },
  { "presets", "[NAME]", "list the GPU presets, or show one", dyno_verb_presets },
  { "inspect", "DATA", "what a data set holds", dyno_verb_inspect },
  { "plan", "--data DATA --model M", "device memory by component, before any run", dyno_verb_plan },
  { "train", "--data DATA --model M", "train", dyno_verb_train },
  { "tune", "--data DATA --model M", "find the settings that train fastest within the memory", dyno_verb_tune },
  { "bench", "--workload W --batch N", "measure training steps on data on the device", dyno_verb_bench },
  { "kernels", "", "kernel variants, and their self-test", dyno_verb_kernels },
};

static gint64 start_us;

double
dyno_cli_seconds (void)
{
  return (double) (g_get_monotonic_time () - start_us) / 1e6;
}

int
dyno_cli_fail (GError *error, gboolean json)
{
  DynoExitCode code = dyno_exit_code (error);

  if (json)
    {
      DynoJson line;

      dyno_json_init (&line, 0);
      dyno_json_begin_object (&line, NULL);
      dyno_json_string (&line, "event", "error");
      dyno_json_string (&line, "message", error->message);
      dyno_json_int (&line, "code", code);
      dyno_json_end_object (&line);
      dyno_out_json (&line);
      dyno_json_clear (&line);
    }
  dyno_error_line ("dynoctl: %s", error->message);
  g_error_free (error);
  return code;
}

static void
print_help (void)
{
  dyno_out_line (
      "Usage: dynoctl VERB [OPTION...]\n\nTrains neural networks with Vulkan and finds the settings for a GPU.\n");
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    dyno_out_line ("  %-8s  %s", verbs[i].name, verbs[i].summary);
  dyno_out_line (
      "\n  --help     show this help; dynoctl VERB --help shows a verb's options\n"
      "  --version  show the version\n\n"
      "DATA is a path (folder of images, IDX files, X.npy), builtin:shapes[?size=64&samples=2000&classes=10&seed=1]\n"
      "or synthetic:HxWxC[?classes=1000&samples=N].  To try it: dynoctl train --data builtin:shapes --model simplecnn\n\n"
      "Exit codes: 0 ok, 1 failure, 2 usage, 3 bad data, 4 no device, 5 device lost, 6 out of memory or VRAM,\n"
      "7 disk, 8 diverged, 75 stopped and resumable, 130 or 143 after a signal\n"
      "DYNO_LOG=info shows more of what happens.");
}

static int
unknown_verb (const char *name)
{
  const char *names[G_N_ELEMENTS (verbs) + 1] = { NULL };
  g_autofree char *shown = g_filename_display_name (name);
  const char *near;

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    names[i] = verbs[i].name;
  near = dyno_cli_nearest (name, names);
  if (near)
    return dyno_cli_usage ("dynoctl", "there is no verb “%s”; did you mean %s?", shown, near);
  return dyno_cli_usage ("dynoctl", "there is no verb “%s”", shown);
}

/* Where the output itself was lost, on a full disk for example, the exit code says so. */
static int
leave (int code)
{
  return dyno_out_is_lost () && code == DYNO_EXIT_OK ? DYNO_EXIT_DISK : code;
}

int
main (int argc, char **argv)
{
  start_us = g_get_monotonic_time ();
  dyno_signals_ignore_pipe ();
  dyno_file_ignore_size_signal ();
  dyno_log_init ();
  if (argc < 2)
    {
      print_help ();
      return leave (DYNO_EXIT_USAGE);
    }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0 || strcmp (argv[1], "help") == 0)
    {
      print_help ();
      return leave (DYNO_EXIT_OK);
    }
  if (strcmp (argv[1], "--version") == 0)
    {
      dyno_out_line ("dynoctl %s", DYNO_VERSION);
      return leave (DYNO_EXIT_OK);
    }
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (strcmp (argv[1], verbs[i].name) == 0)
      {
        g_autofree char *command = g_strconcat ("dynoctl ", verbs[i].name, NULL);

        argv[1] = command;
        return leave (verbs[i].run (argc - 1, argv + 1));
      }
  return leave (unknown_verb (argv[1]));
}
