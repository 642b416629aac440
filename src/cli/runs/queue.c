/* SPDX-License-Identifier: MIT */
/* dynoctl queue: jobs with frozen settings, run one after another, each by a dynoctl train in a
 * child process.
 *
 * A child has its own process group, so that signals of the terminal reach only the queue, which
 * forwards them once.  When the queue dies, the kernel signals the child to stop and save. */
#include "checkpoint.h"
#include "file.h"
#include "formats.h"
#include "job-options.h"
#include "joinranks.h"
#include "jobqueue.h"
#include "output.h"
#include "process.h"
#include "run-words.h"
#include "runwriter.h"
#include "safetensors.h"
#include "signals.h"
#include "weightsinfo.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS_FOLDER "runs"
#define POLL_US     50000
#define TOUCH_US    (60 * G_USEC_PER_SEC)
#define LINGER_US   (30 * G_USEC_PER_SEC) /* wait for a run that saves after its queue died */
#define MOST_SHOWN  80                    /* most characters of an unknown setting in a message */

typedef struct {
  DynoJobOptions options;
  gint64 steps;
  char *out, *weights, *name, *devices;
  gboolean stop_on_failure, quiet;
  const char *command;
  const char *word; /* argument after the action, or NULL */
  DynoStore *store;
} QueueOptions;

static void
queue_options_clear (QueueOptions *o)
{
  dyno_job_options_clear (&o->options);
  g_free (o->out);
  g_free (o->weights);
  g_free (o->name);
  g_free (o->devices);
  dyno_store_free (o->store);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QueueOptions, queue_options_clear)

static int
fail (const QueueOptions *o, GError *error)
{
  return dyno_cli_fail (error, o->options.json);
}

static void
print_json (const DynoQueuedJob *queued)
{
  g_autofree char *error = dyno_queued_job_read_error (queued);
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "job");
  dyno_json_int (&json, "id", queued->id);
  dyno_json_string (&json, "name", queued->job->name);
  dyno_json_string (&json, "state", dyno_queued_state_name (queued->state));
  dyno_json_string (&json, "model", queued->job->model);
  dyno_json_string (&json, "data", queued->job->data);
  dyno_json_string (&json, "preset", queued->job->preset);
  dyno_json_string (&json, "devices", queued->job->devices);
  dyno_json_string (&json, "folder", queued->job->out_dir);
  if (queued->exit_code >= 0)
    dyno_json_int (&json, "exit_code", queued->exit_code);
  else
    dyno_json_null (&json, "exit_code");
  dyno_json_string (&json, "error", error);
  dyno_json_uint (&json, "attempts", queued->attempts);
  dyno_json_add_time (&json, "added", queued->add_us);
  dyno_json_add_time (&json, "begin", queued->begin_us);
  dyno_json_add_time (&json, "end", queued->end_us);
  dyno_export_json_settings (&json, &queued->job->settings);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

/* --- add -------------------------------------------------------------------------------------- */

/* Finds a folder that no other run and no other job has. */
static gboolean
find_folder (const QueueOptions *o, DynoJob *job, GError **error)
{
  if (!o->out)
    job->out_dir = dyno_run_writer_claim_folder (RUNS_FOLDER, job, error);
  else if (dyno_run_writer_check_folder (o->out, NULL, error))
    job->out_dir = g_strdup (o->out);
  return job->out_dir != NULL;
}

/* Checks the weights file now, since otherwise the job would fail later, unattended. */
static gboolean
check_weights (const char *path, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, &cause);
  g_autoptr (DynoWeightsInfo) info = file ? dyno_weights_info_read (file, &cause) : NULL;

  if (info)
    return TRUE;
  g_set_error (error, cause->domain, cause->code,
               "--weights: %s; name another file, or leave --weights out", cause->message);
  return FALSE;
}

/* Checks the devices now, since otherwise the job would fail later, unattended.  FALSE: the error
 * was printed. */
static gboolean
check_devices (const QueueOptions *o, int *code)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) devices = o->devices ? dyno_ranks_parse_devices (o->devices, &error) : NULL;

  if (o->devices && o->options.device >= 0)
    *code = dyno_cli_usage (o->command, "--device and --devices exclude each other");
  else if (!o->devices || devices)
    return TRUE;
  else if (error->domain == G_OPTION_ERROR)
    *code = dyno_cli_usage (o->command, "%s", error->message);
  else
    *code = fail (o, g_steal_pointer (&error));
  return FALSE;
}

static int
add (QueueOptions *o)
{
  g_auto (DynoCliJob) cli_job = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *shown = NULL;
  gint64 id = 0;
  int code;

  if (!check_devices (o, &code))
    return code;
  dyno_signals_get_cancellable ();
  dyno_signals_catch ();
  o->options.quiet = o->quiet;
  if (!dyno_job_options_resolve (o->command, &o->options, &cli_job, &code))
    return code;
  dyno_cli_set_weights (cli_job.job, o->weights);
  cli_job.job->max_steps = o->steps == DYNO_OPTION_UNSET ? 0 : o->steps;
  dyno_cli_set_name (cli_job.job, o->name);
  cli_job.job->devices = g_strdup (o->devices);
  if ((!cli_job.job->weights_in || check_weights (cli_job.job->weights_in, &error))
      && find_folder (o, cli_job.job, &error))
    id = dyno_store_add_job (o->store, cli_job.job, &error);
  if (id == 0 && !o->out && cli_job.job->out_dir && g_rmdir (cli_job.job->out_dir) == 0)
    g_rmdir (RUNS_FOLDER);
  if (id == 0)
    return fail (o, g_steal_pointer (&error));
  shown = g_filename_display_name (cli_job.job->out_dir);
  if (o->options.json)
    print_json (&(DynoQueuedJob){
        .id = id, .job = cli_job.job, .exit_code = -1, .add_us = g_get_real_time () });
  else if (!o->quiet)
    dyno_out_line ("job %" G_GINT64_FORMAT " waits; it will be kept in %s", id, shown);
  return DYNO_EXIT_OK;
}

/* --- list, retry, remove, clear --------------------------------------------------------------- */

static int
list (QueueOptions *o)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (o->store, &error);
  g_autoptr (DynoTable) table = NULL;

  if (!jobs)
    return fail (o, g_steal_pointer (&error));
  if (jobs->len == 0 && !o->options.json)
    dyno_error_line ("%s: no job is in the queue", o->command);
  table = dyno_table_new ("job", "name", "state", "model", "data", "epochs", "begun", "exit",
                          "folder", NULL);
  for (guint i = 0; i < jobs->len; i++)
    {
      const DynoQueuedJob *job = g_ptr_array_index (jobs, i);

      if (o->options.json)
        print_json (job);
      else
        dyno_table_add (table, g_strdup_printf ("%" G_GINT64_FORMAT, job->id),
                        g_strdup (job->job->name ? job->job->name : "-"),
                        g_strdup (dyno_queued_state_name (job->state)), g_strdup (job->job->model),
                        dyno_text_data (job->job->data),
                        g_strdup_printf ("%" G_GINT64_FORMAT, job->job->settings.epochs),
                        dyno_text_when (job->begin_us),
                        job->exit_code < 0 ? g_strdup ("-")
                                           : g_strdup_printf ("%d", job->exit_code),
                        g_filename_display_name (job->job->out_dir), NULL);
    }
  if (jobs->len > 0 && !o->options.json)
    dyno_table_print (table);
  return DYNO_EXIT_OK;
}

/* FALSE: the word is not the number of a job, which was reported. */
static gboolean
read_id (const QueueOptions *o, guint64 *id)
{
  if (g_ascii_string_to_unsigned (o->word, 10, 1, G_MAXINT64, id, NULL))
    return TRUE;
  dyno_cli_usage (o->command, "“%s” is not the number of a job", o->word);
  return FALSE;
}

static int
retry (QueueOptions *o)
{
  g_autoptr (GError) error = NULL;
  guint64 id;

  if (!read_id (o, &id))
    return DYNO_EXIT_USAGE;
  if (!dyno_store_retry_job (o->store, (gint64) id, &error))
    return fail (o, g_steal_pointer (&error));
  return DYNO_EXIT_OK;
}

/* Has the process that runs the queue, wherever it was started, save its job and end. */
static int
stop (QueueOptions *o)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (o->store, &error);

  for (guint i = 0; jobs && i < jobs->len; i++)
    {
      const DynoQueuedJob *job = jobs->pdata[i];

      if (job->state != DYNO_QUEUED_RUNNING)
        continue;
      if (dyno_process_signal (job->process, SIGTERM))
        return DYNO_EXIT_OK;
      g_set_error (&error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE,
                   "job %" G_GINT64_FORMAT " is run by a process of another machine, container or "
                   "user, which has to be stopped there",
                   job->id);
      return fail (o, g_steal_pointer (&error));
    }
  if (!error)
    g_set_error (&error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND, "no job is running");
  return fail (o, g_steal_pointer (&error));
}

/* The path of the settings of a job for its child.  g_free. */
static char *
settings_path (const DynoQueuedJob *job)
{
  g_autofree char *folder = dyno_data_dir ("queue"),
                  *name = g_strdup_printf ("job-%" G_GINT64_FORMAT ".ini", job->id);

  return g_build_filename (folder, name, NULL);
}

static gboolean
remove_job (QueueOptions *o, const DynoQueuedJob *job, GError **error)
{
  g_autofree char *settings = settings_path (job);

  g_autofree char *left = dyno_queued_job_get_error_path (job->id);

  if (!dyno_store_remove_job (o->store, job->id, error))
    return FALSE;
  g_unlink (settings);
  g_unlink (left);
  g_rmdir (job->job->out_dir); /* a claimed folder that was never used */
  return TRUE;
}

/* Removes one job or, with all, every job that is not running. */
static int
remove_jobs (QueueOptions *o, gboolean all)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) jobs = NULL;
  guint64 id = 0;
  gboolean found = all;

  if (!all && !read_id (o, &id))
    return DYNO_EXIT_USAGE;
  jobs = dyno_store_list_jobs (o->store, &error);
  for (guint i = 0; jobs && !error && i < jobs->len; i++)
    {
      const DynoQueuedJob *job = g_ptr_array_index (jobs, i);

      if (!all && job->id != (gint64) id)
        continue;
      found = TRUE;
      if (!remove_job (o, job, &error) && all
          && g_error_matches (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE))
        g_clear_error (&error);
    }
  if (!error && !found)
    return dyno_cli_usage (o->command, "there is no job %s in the queue", o->word);
  return error ? fail (o, g_steal_pointer (&error)) : DYNO_EXIT_OK;
}

/* --- start ------------------------------------------------------------------------------------ */

/* Sets up the child; called between fork and exec. */
static void
set_up_child (gpointer data)
{
  struct sigaction action = { .sa_handler = SIG_DFL };

  sigaction (SIGPIPE, &action, NULL);
  setpgid (0, 0);
  prctl (PR_SET_PDEATHSIG, SIGTERM);
  if (getppid () != *(const pid_t *) data) /* the queue died before prctl */
    _exit (DYNO_EXIT_TERMINATED);
}

static GStrv
make_arguments (const QueueOptions *o, const DynoQueuedJob *queued, const char *settings)
{
  const DynoJob *job = queued->job;
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  g_autofree char *checkpoint = g_build_filename (job->out_dir, DYNO_CHECKPOINT_NAME, NULL),
                  *device = g_strdup_printf ("--device=%d", job->device),
                  *steps = g_strdup_printf ("--steps=%" G_GINT64_FORMAT, job->max_steps);
  gboolean resumes = queued->attempts > 0 && g_file_test (checkpoint, G_FILE_TEST_EXISTS);

  g_strv_builder_add_many (list, "/proc/self/exe", "train", "--settings", settings, NULL);
  g_strv_builder_add_many (list, resumes ? "--resume" : "--out", job->out_dir, NULL);
  if (queued->attempts > 0 && !resumes)
    g_strv_builder_add (list, "--force"); /* an earlier attempt left files but no checkpoint */
  if (job->devices)
    g_strv_builder_add_many (list, "--devices", job->devices, NULL);
  else if (job->device >= 0)
    g_strv_builder_add (list, device);
  if (job->max_steps > 0)
    g_strv_builder_add (list, steps);
  if (job->name && !resumes)
    g_strv_builder_add_many (list, "--name", job->name, NULL);
  if (job->weights_in && !resumes)
    g_strv_builder_add_many (list, "--weights", job->weights_in, NULL);
  if (dyno_state_dir_get ())
    g_strv_builder_add_many (list, "--state-dir", dyno_state_dir_get (), NULL);
  if (o->options.json)
    g_strv_builder_add (list, "--json");
  if (o->quiet)
    g_strv_builder_add (list, "--quiet");
  return g_strv_builder_end (list);
}

/* Waits until the child has ended, and returns its exit code; a signal is forwarded, and stored in
 * *asked. */
static int
wait_for (QueueOptions *o, GPid child, gboolean *asked)
{
  gint64 touched_us = g_get_monotonic_time ();
  int status = 0;

  *asked = FALSE;
  while (waitpid (child, &status, WNOHANG) == 0)
    {
      if (dyno_signals_get () && !*asked)
        {
          *asked = TRUE;
          kill (child, dyno_signals_get () == SIGINT ? SIGINT : SIGTERM);
        }
      if (dyno_signals_take_hangup ())
        kill (child, SIGHUP);
      if (g_get_monotonic_time () - touched_us >= TOUCH_US)
        {
          dyno_store_touch_queue (o->store, NULL);
          touched_us = g_get_monotonic_time ();
        }
      g_usleep (POLL_US);
    }
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

static DynoQueuedState
find_outcome (int code)
{
  return code == DYNO_EXIT_OK ? DYNO_QUEUED_FINISHED
         : code == DYNO_EXIT_RESUMABLE || code == DYNO_EXIT_INTERRUPTED
                 || code == DYNO_EXIT_TERMINATED
             ? DYNO_QUEUED_STOPPED
             : DYNO_QUEUED_FAILED;
}

static void
print_end (const QueueOptions *o, DynoQueuedJob *queued)
{
  if (o->options.json)
    print_json (queued);
  else if (queued->state == DYNO_QUEUED_FAILED)
    dyno_error_line ("%s: job %" G_GINT64_FORMAT " failed, exit code %d", o->command, queued->id,
                     queued->exit_code);
  else if (!o->quiet)
    dyno_out_line ("job %" G_GINT64_FORMAT " %s", queued->id,
                   dyno_queued_state_name (queued->state));
  dyno_out_flush ();
}

/* Refuses a job whose settings were changed by another program, or by a version of Dyno with other
 * settings: it would not train what was requested. */
static gboolean
check_settings (const DynoQueuedJob *queued, GError **error)
{
  g_autofree char *shown = g_strndup (queued->bad_setting ? queued->bad_setting : "", MOST_SHOWN);

  if (queued->bad_setting)
    g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                 "The settings of job %" G_GINT64_FORMAT
                 " cannot be read (“%s” is not a setting); remove it and add it again",
                 queued->id, shown);
  return !queued->bad_setting;
}

/* Starts the child after rewriting its settings file: the frozen settings are those in the
 * history. */
static gboolean
spawn (QueueOptions *o, DynoQueuedJob *queued, GPid *child, GError **error)
{
  g_autofree char *settings = settings_path (queued), *folder = g_path_get_dirname (settings),
                  *own = dyno_process_describe (), *shown = NULL;
  DynoExportContext context = { .job = queued->job };
  g_auto (GStrv) arguments = make_arguments (o, queued, settings);
  g_autofree char *left = dyno_queued_job_get_error_path (queued->id);
  pid_t parent = getpid ();

  dyno_dir_make (folder);
  g_unlink (left); /* of an earlier attempt */
  if (!check_settings (queued, error)
      || !dyno_export_file (dyno_exporter_find ("keyfile"), &context, settings, TRUE, error)
      || !dyno_store_begin_job (o->store, queued->id, own, error))
    return FALSE;
  shown = g_filename_display_name (queued->job->out_dir);
  queued->state = DYNO_QUEUED_RUNNING;
  queued->attempts++;
  queued->begin_us = g_get_real_time ();
  if (o->options.json)
    print_json (queued);
  else if (!o->quiet)
    dyno_out_line ("job %" G_GINT64_FORMAT ": %s on %s, in %s", queued->id, queued->job->model,
                   queued->job->data, shown);
  dyno_out_flush ();
  g_setenv (DYNO_CLI_ERROR_FILE, left, TRUE);
  gboolean spawned = g_spawn_async (NULL, arguments, NULL, G_SPAWN_DO_NOT_REAP_CHILD, set_up_child,
                                    &parent, child, error);
  g_unsetenv (DYNO_CLI_ERROR_FILE); /* this process leaves no error of its own there */
  return spawned;
}

/* Waits until the folder is not in use.  FALSE: a run that an earlier queue left is still
 * active. */
static gboolean
wait_for_folder (const DynoQueuedJob *queued)
{
  gint64 until = g_get_monotonic_time () + LINGER_US;

  while (dyno_process_locks_folder (queued->job->out_dir))
    {
      if (g_get_monotonic_time () >= until || dyno_signals_get ())
        return FALSE;
      g_usleep (POLL_US);
    }
  return TRUE;
}

/* Runs the job, and returns its state afterwards. */
static DynoQueuedState
run_job (QueueOptions *o, DynoQueuedJob *queued)
{
  g_autofree char *settings = settings_path (queued);
  g_autoptr (GError) error = NULL;
  gboolean asked;
  GPid child;

  if (!wait_for_folder (queued))
    {
      dyno_error_line ("%s: job %" G_GINT64_FORMAT " is skipped: another process writes into its "
                       "folder",
                       o->command, queued->id);
      return queued->state;
    }
  queued->exit_code = -1; /* this attempt has no exit code and no end yet */
  queued->end_us = 0;
  if (spawn (o, queued, &child, &error))
    queued->exit_code = wait_for (o, child, &asked);
  else if (g_error_matches (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND))
    {
      dyno_error_line ("%s: job %" G_GINT64_FORMAT " was removed before it began", o->command,
                       queued->id);
      g_unlink (settings);
      return queued->state;
    }
  else
    {
      g_autofree char *left = dyno_queued_job_get_error_path (queued->id);

      g_file_set_contents (left, error->message, -1, NULL);
      queued->exit_code = fail (o, g_steal_pointer (&error));
    }
  queued->state = find_outcome (queued->exit_code);
  queued->end_us = g_get_real_time ();
  g_unlink (settings);
  if (!dyno_store_end_job (o->store, queued->id, queued->state, queued->exit_code, &error))
    dyno_error_line ("%s: %s", o->command, error->message);
  print_end (o, queued);
  return queued->state;
}

static int
start (QueueOptions *o)
{
  g_autoptr (GError) error = NULL;
  DynoQueuedJob *job = NULL;
  g_autoptr (GArray) tried = g_array_new (FALSE, FALSE, sizeof (gint64));
  guint n = 0, n_failed = 0;

  if (!dyno_store_claim_queue (o->store, &error))
    return fail (o, g_steal_pointer (&error));
  dyno_signals_catch ();
  dyno_signals_survive_hangup ();
  while (!dyno_signals_get () && (n_failed == 0 || !o->stop_on_failure)
         && (job = dyno_store_next_job (o->store, tried, &error)))
    {
      gboolean failed = run_job (o, job) == DYNO_QUEUED_FAILED;
      /* A job that failed is run again only when a user has it tried again. */
      if (!failed)
        g_array_append_val (tried, job->id);
      n++;
      n_failed += failed;
      dyno_queued_job_free (job);
    }
  dyno_store_release_queue (o->store);
  if (error)
    return fail (o, g_steal_pointer (&error));
  if (n == 0 && !o->quiet)
    dyno_error_line ("%s: no job waits", o->command);
  if (dyno_signals_get ())
    return (int) dyno_signals_exit_code (dyno_signals_get ());
  return n_failed ? DYNO_EXIT_FAILURE : DYNO_EXIT_OK;
}

/* --- the verb --------------------------------------------------------------------------------- */

static int
act (QueueOptions *o, const char *action)
{
  static const char *const actions[] = { "add",   "list",   "start", "stop",
                                         "retry", "remove", "clear", NULL };
  g_autoptr (GError) error = NULL;
  gboolean takes_id = strcmp (action, "remove") == 0 || strcmp (action, "retry") == 0;

  if (!g_strv_contains (actions, action))
    return dyno_cli_usage (o->command,
                           "there is no “%s”; it is add, list, start, stop, retry, remove or clear",
                           action);
  if (takes_id != (o->word != NULL))
    return dyno_cli_usage (o->command, "write it as: %s %s%s", o->command, action,
                           o->word ? "" : " ID");
  o->store = dyno_store_open (NULL, &error);
  if (!o->store)
    return fail (o, g_steal_pointer (&error));
  if (strcmp (action, "add") == 0)
    return add (o);
  if (strcmp (action, "list") == 0)
    return list (o);
  if (strcmp (action, "start") == 0)
    return start (o);
  if (strcmp (action, "stop") == 0)
    return stop (o);
  if (strcmp (action, "retry") == 0)
    return retry (o);
  return remove_jobs (o, strcmp (action, "clear") == 0);
}

int
dyno_verb_queue (int argc, char **argv)
{
  g_auto (QueueOptions) o = { .command = argv[0] };
  g_auto (GStrv) rest = NULL;
  g_autofree GOptionEntry *entries = NULL;
  int code;
  const GOptionEntry own[] = {
    { "steps", 0, 0, G_OPTION_ARG_INT64, &o.steps,
      "Stop once the run has N steps, whatever the epochs", "N" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out,
      "Folder of the job's run (default: a new one, runs/MODEL-DATA-N)", "DIR" },
    { "weights", 0, 0, G_OPTION_ARG_FILENAME, &o.weights,
      "Start from these weights (safetensors, .pth or .onnx, torchvision's names), or from none",
      "FILE" },
    { "devices", 0, 0, G_OPTION_ARG_STRING, &o.devices,
      "add: train on several devices, a process each: all, or their numbers in 'dynoctl devices'",
      "N,N" },
    { "name", 0, 0, G_OPTION_ARG_STRING, &o.name,
      "add: name of the job and of its run in the history", "TEXT" },
    { "stop-on-failure", 0, 0, G_OPTION_ARG_NONE, &o.stop_on_failure,
      "start: stop after the first job that fails", NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &o.quiet, "Only errors and warnings", NULL },
    { NULL },
  };

  dyno_job_options_init (&o.options);
  o.steps = DYNO_OPTION_UNSET;
  entries = dyno_job_options_entries (&o.options, own);
  if (!dyno_cli_parse (argc, argv, "[list | add OPTION... | start | retry ID | remove ID | clear]",
                       "Jobs with frozen settings, run one after another by start.", entries,
                       "add takes the options of train that say what to train.  Ctrl-C in start "
                       "saves and ends the run and the queue; the next start resumes it.",
                       &rest, 2, &code))
    return code;
  if (o.steps != DYNO_OPTION_UNSET && o.steps < 1)
    return dyno_cli_usage (argv[0], "--steps %" G_GINT64_FORMAT ": it is 1 or more", o.steps);
  o.word = rest && rest[0] ? rest[1] : NULL;
  return act (&o, rest && rest[0] ? rest[0] : "list");
}
