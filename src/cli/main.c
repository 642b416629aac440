/* SPDX-License-Identifier: MIT */
/* dynoctl: the engine on the command line.  Runs the verb and exits with its exit code. */
#include "asyncmeter.h"
#include "cli.h"
#include "comm.h"
#include "file.h"
#include "lastresort.h"
#include "log.h"
#include "output.h"
#include "text.h"
#include "signals.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const DynoVerb verbs[] = {
  { "devices", "", "list the Vulkan devices", dyno_verb_devices },
  { "sensors", "", "show the present load of a GPU and the machine", dyno_verb_sensors },
  { "watch", "[RUN]", "watch a run and the machine, live in the terminal", dyno_verb_watch },
  { "presets", "[NAME]", "list the GPU presets, or show one", dyno_verb_presets },
  { "inspect", "DATA", "show the contents of a data set", dyno_verb_inspect },
  { "convert", "DATA OUT", "pack a data set into one file", dyno_verb_convert },
  { "model", "[MODEL]", "list the models, or the layers of one", dyno_verb_model },
  { "plan", "--data DATA --model M", "plan device memory by component, before any run",
    dyno_verb_plan },
  { "profile", "--data DATA --model M", "show the time of a step, layer by layer",
    dyno_verb_profile },
  { "train", "--data DATA --model M", "train", dyno_verb_train },
  { "tune", "--data DATA --model M", "find the settings that train fastest within the memory",
    dyno_verb_tune, TRUE },
  { "lr", "--data DATA --model M", "suggest a learning rate, in under a minute", dyno_verb_lr,
    TRUE },
  { "quick", "", "measure this machine, in under a minute", dyno_verb_quick, TRUE },
  { "predict", "--run DIR --data DATA", "predict samples with trained weights", dyno_verb_predict },
  { "evaluate", "--run DIR --data DATA", "measure trained weights on labelled samples",
    dyno_verb_evaluate },
  { "save", "--run DIR --to onnx", "save a trained model for other programs", dyno_verb_save },
  { "serve", "--run DIR", "serve trained weights over HTTP", dyno_verb_serve, TRUE },
  { "diagnose", "--run DIR", "show what limited a run, and what to change", dyno_verb_diagnose },
  { "runs", "[WORD...]", "list, show, compare, rename or delete the runs in the history",
    dyno_verb_runs },
  { "queue", "[WORD...]", "run jobs with frozen settings, one after another", dyno_verb_queue,
    TRUE },
  { "export", "--settings FILE --to FORMAT",
    "export settings to other programs, or curves of a run", dyno_verb_export },
  { "bench", "--workload W --batch N", "measure training steps on data on the device",
    dyno_verb_bench },
  { "kernels", "", "list kernel variants, and test them", dyno_verb_kernels },
};

static gint64 start_us;

double
dyno_cli_seconds (void)
{
  return (double) (g_get_monotonic_time () - start_us) / 1e6;
}

static void
print_help (void)
{
  dyno_out_text ("Usage: dynoctl VERB [OPTION...]\n\nTrains neural networks with Vulkan and finds "
                 "the settings for a GPU.\n\n");
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    dyno_out_line ("  %-8s  %s", verbs[i].name, verbs[i].summary);
  dyno_out_text ("\n  --help     show this help; dynoctl VERB --help or dynoctl help VERB shows a "
                 "verb's options\n"
                 "  --version  show the version (-V)\n\n"
                 "DATA is a path (folder of images, IDX files, X.npy, .npz), "
                 "builtin:shapes[?size=64&samples=2000&classes=10&seed=1],\n"
                 "builtin:masks[?size=64&samples=2000&classes=4&seed=1],\n"
                 "builtin:waves[?length=64&channels=3&samples=2000&classes=10&seed=1],\n"
                 "builtin:poses[?size=64&samples=2000&seed=1]\n"
                 "or synthetic:HxWxC[?classes=1000&samples=N].  To try it: dynoctl train --data "
                 "builtin:shapes --model simplecnn\n\n"
                 "Exit codes: 0 ok, 1 failure, 2 usage, 3 bad data, 4 no device, 5 device lost, 6 "
                 "out of memory or VRAM,\n"
                 "7 disk, 8 diverged, 75 stopped and resumable, 130 or 143 after a signal\n"
                 "DYNO_LOG=info shows more of what happens.\n");
}

static int
unknown_verb (const char *name)
{
  const char *names[G_N_ELEMENTS (verbs) + 1] = { NULL };
  g_autofree char *shown = g_filename_display_name (name);
  const char *near;

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    names[i] = verbs[i].name;
  near = dyno_text_nearest (name, names, 2);
  if (near)
    return dyno_cli_usage ("dynoctl", "there is no verb “%s”; did you mean %s?", shown, near);
  return dyno_cli_usage ("dynoctl", "there is no verb “%s”", shown);
}

/* Leaves the error to the queue that started this process. */
static void
keep_error (void)
{
  const char *path = g_getenv (DYNO_CLI_ERROR_FILE), *text = dyno_out_get_last_error ();

  if (path && text)
    g_file_set_contents (path, g_str_has_prefix (text, "dynoctl: ") ? text + 9 : text, -1, NULL);
}

/* With --json every failure is an event, whichever code reported it.  If the output itself was
 * lost, by a full disk or a closed stream, standard error and the exit code report this. */
static int
leave (int code, gboolean as_json)
{
  int problem;

  if (as_json && code != DYNO_EXIT_OK && code < DYNO_EXIT_RESUMABLE)
    dyno_out_missing_error_event (code);
  problem = dyno_out_get_problem ();
  if (problem)
    dyno_error_line ("dynoctl: standard output cannot be written: %s; what went there is lost",
                     g_strerror (problem));
  code = problem && code == DYNO_EXIT_OK ? DYNO_EXIT_DISK : code;
  if (code != DYNO_EXIT_OK && code < DYNO_EXIT_RESUMABLE)
    keep_error ();
  if (dyno_async_meter_count_left () == 0)
    return code;
  fflush (NULL);
  _exit (code); /* an abandoned measurement is still in the driver */
}

static gboolean
asks_for_json (char **argv)
{
  for (; *argv && strcmp (*argv, "--") != 0; argv++)
    if (strcmp (*argv, "--json") == 0)
      return TRUE;
  return FALSE;
}

static const DynoVerb *
find_verb (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (strcmp (name, verbs[i].name) == 0)
      return &verbs[i];
  return NULL;
}

static int
run_verb (const DynoVerb *verb, int argc, char **argv)
{
  g_autofree char *command = g_strconcat ("dynoctl ", verb->name, NULL);

  argv[0] = command;
  if (verb->alone && dyno_comm_is_launched ())
    return dyno_cli_usage (command, "it is for one process; start it without mpirun or srun%s",
                           strcmp (verb->name, "tune") == 0 ? " (--ranks N: for so many)" : "");
  return verb->run (argc, argv);
}

/* dynoctl help [VERB] is dynoctl [VERB] --help. */
static int
help (const char *name)
{
  char option[] = "--help", *arguments[] = { NULL, option, NULL };
  const DynoVerb *verb = name ? find_verb (name) : NULL;

  if (name && !verb)
    return unknown_verb (name);
  if (verb)
    return run_verb (verb, 2, arguments);
  print_help ();
  return DYNO_EXIT_OK;
}

int
main (int argc, char **argv)
{
  const char *first = argc > 1 ? argv[1] : NULL;
  gboolean as_json = asks_for_json (argv);
  const DynoVerb *verb;

  start_us = g_get_monotonic_time ();
  dyno_out_init ();
  dyno_signals_ignore_pipe ();
  dyno_file_ignore_size_signal ();
  dyno_log_init ();
  dyno_last_resort_init ();
  if (!first)
    {
      print_help ();
      return leave (DYNO_EXIT_USAGE, FALSE);
    }
  if (strcmp (first, "--help") == 0 || strcmp (first, "-h") == 0 || strcmp (first, "help") == 0)
    return leave (help (argc > 2 && strcmp (first, "help") == 0 ? argv[2] : NULL), as_json);
  if (strcmp (first, "--version") == 0 || strcmp (first, "-V") == 0)
    {
      dyno_out_line ("dynoctl %s", DYNO_VERSION);
      return leave (DYNO_EXIT_OK, FALSE);
    }
  verb = find_verb (first);
  return leave (verb ? run_verb (verb, argc - 1, argv + 1) : unknown_verb (first), as_json);
}
