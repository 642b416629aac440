/* SPDX-License-Identifier: MIT */
/* From options to a job with its data set open and its device known. */
#include "job-options.h"
#include "cores.h"
#include "output.h"
#include "settings-sources.h"
#include "signals.h"
#include "text.h"
#include <string.h>

void
dyno_job_options_init (DynoJobOptions *options)
{
  *options =
      (DynoJobOptions){ .epochs = DYNO_OPTION_UNSET, .seed = DYNO_OPTION_UNSET, .device = -1 };
}

void
dyno_job_options_clear (DynoJobOptions *options)
{
  g_free (options->data);
  g_free (options->targets);
  g_free (options->model);
  g_free (options->preset);
  g_free (options->level);
  g_free (options->settings_file);
  g_free (options->resume);
  g_free (options->freeze);
  g_strfreev (options->set);
  memset (options, 0, sizeof *options);
}

GOptionEntry *
dyno_job_options_entries (DynoJobOptions *o, const GOptionEntry *own)
{
  const GOptionEntry shared[] = {
    { "data", 'd', 0, G_OPTION_ARG_FILENAME, &o->data,
      "Path, builtin:shapes[?size=64&samples=2000], or synthetic:HxWxC", "DATA" },
    { "targets", 0, 0, G_OPTION_ARG_FILENAME, &o->targets,
      "Targets of an X.npy (default: found beside it)", "FILE" },
    { "model", 'm', 0, G_OPTION_ARG_FILENAME, &o->model,
      "A name that dynoctl model lists (resnet18, mobilenetv2, mlp), or an ONNX file", "MODEL" },
    { "preset", 'p', 0, G_OPTION_ARG_FILENAME, &o->preset,
      "GPU preset by name or file; its memory becomes the budget", "PRESET" },
    { "level", 0, 0, G_OPTION_ARG_FILENAME, &o->level,
      "The preset's level: safe, recommended (default) or max", "LEVEL" },
    { "settings", 0, 0, G_OPTION_ARG_FILENAME, &o->settings_file,
      "Settings file, as an export or a run leaves it", "FILE" },
    { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->set, "One setting; may be given many times",
      "KEY=VALUE" },
    { "epochs", 'e', 0, G_OPTION_ARG_INT64, &o->epochs, "Epochs to train", "N" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &o->seed, "Seed of start values, order and augmentation",
      "N" },
    { "freeze", 0, 0, G_OPTION_ARG_STRING, &o->freeze,
      "Layers whose weights stay as they are, by the beginnings of their names", "NAME[,NAME]" },
    { "device", 0, 0, G_OPTION_ARG_INT, &o->device,
      "Device by its number in 'dynoctl devices' (default: the best)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->json, "One JSON object a line on standard output",
      NULL },
  };
  guint n_own = 0;
  GOptionEntry *entries;

  while (own && own[n_own].long_name)
    n_own++;
  entries = g_new0 (GOptionEntry, G_N_ELEMENTS (shared) + n_own + 1);
  memcpy (entries, shared, sizeof shared);
  if (n_own)
    memcpy (entries + G_N_ELEMENTS (shared), own, n_own * sizeof *own);
  return entries;
}

DynoPresetUse
dyno_cli_job_get_preset_use (const DynoCliJob *cli_job)
{
  return (DynoPresetUse){ .level = cli_job->level,
                          .job = cli_job->job,
                          .data = dyno_dataset_get_info (cli_job->dataset),
                          .device = &cli_job->device };
}

void
dyno_cli_job_print_preset (const char *command, const DynoCliJob *cli_job)
{
  for (guint i = 0; cli_job->preset_notes && cli_job->preset_notes[i]; i++)
    dyno_error_line ("%s: %s", command, cli_job->preset_notes[i]);
}

void
dyno_cli_job_clear (DynoCliJob *cli_job)
{
  g_clear_pointer (&cli_job->job, dyno_job_unref);
  g_clear_pointer (&cli_job->dataset, dyno_dataset_unref);
  g_clear_pointer (&cli_job->preset, dyno_preset_free);
  g_clear_pointer (&cli_job->preset_notes, g_strfreev);
}

static gboolean
parse_level (const char *text, DynoLevel *level, GError **error)
{
  static const char *const names[] = { "safe", "recommended", "max" };

  *level = DYNO_LEVEL_RECOMMENDED;
  for (guint i = 0; text && i < G_N_ELEMENTS (names); i++)
    if (g_ascii_strcasecmp (text, names[i]) == 0)
      {
        *level = (DynoLevel) i;
        return TRUE;
      }
  if (text)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--level %s: it is safe, recommended or max", text);
  return !text;
}

/* --epochs, --seed and --freeze. */
static GStrv
list_own (const DynoJobOptions *o)
{
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  g_autofree char *epochs = g_strdup_printf ("epochs=%" G_GINT64_FORMAT, o->epochs);
  g_autofree char *seed = g_strdup_printf ("seed=%" G_GINT64_FORMAT, o->seed);
  g_autofree char *freeze = g_strconcat ("model.freeze=", o->freeze, NULL);

  if (o->epochs != DYNO_OPTION_UNSET)
    g_strv_builder_add (list, epochs);
  if (o->seed != DYNO_OPTION_UNSET)
    g_strv_builder_add (list, seed);
  if (o->freeze)
    g_strv_builder_add (list, freeze);
  return g_strv_builder_end (list);
}

static gboolean
find_device (int index, DynoDeviceInfo *device, GError **error)
{
  g_autoptr (GPtrArray) devices = dyno_device_list (error);

  if (!devices)
    return FALSE;
  if (index >= (int) devices->len || index < -1)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE,
                   "There is no device %d; 'dynoctl devices' lists %u, from 0", index,
                   devices->len);
      return FALSE;
    }
  *device = *(const DynoDeviceInfo *) devices->pdata[MAX (0, index)];
  return TRUE;
}

static gboolean
find_settings (const DynoJobOptions *o, DynoSettingsSources *sources, DynoCliJob *cli_job,
               GError **error)
{
  g_autoptr (DynoPreset) preset =
      o->preset ? dyno_preset_find (o->preset, &cli_job->device, error) : NULL;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  DynoPresetUse use;

  if (o->preset && !preset)
    return FALSE;
  sources->device = &cli_job->device;
  sources->preset = preset;
  if (!dyno_settings_sources_apply (sources, dyno_dataset_get_info (cli_job->dataset), cli_job->job,
                                    warnings, error))
    return FALSE;
  for (guint i = 0; i < warnings->len; i++)
    dyno_error_line ("dynoctl: warning: %s", (const char *) warnings->pdata[i]);
  if (!preset)
    return TRUE;
  cli_job->level = sources->level;
  use = dyno_cli_job_get_preset_use (cli_job);
  cli_job->preset_notes = dyno_preset_list_notes (preset, &use, &cli_job->job->settings);
  cli_job->preset = g_steal_pointer (&preset);
  g_free (cli_job->job->preset);
  cli_job->job->preset = g_strdup (o->preset);
  return TRUE;
}

static gboolean
find_names (const DynoJobOptions *o, const DynoSettingsSources *sources, DynoJob *job,
            GError **error)
{
  g_autofree char *shown = o->resume ? g_filename_display_name (o->resume) : NULL;

  if (o->resume && !g_file_test (o->resume, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT,
                   "There is no “%s” to resume; name the folder of a run, or a checkpoint", shown);
      return FALSE;
    }
  if (!dyno_settings_sources_name (sources, job, error))
    return FALSE;
  job->device = o->device;
  if (job->data)
    return TRUE;
  if (o->resume)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "--data is missing: no settings.ini states what “%s” was trained on", shown);
  else
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "--data is missing; to try one: --data builtin:shapes");
  return FALSE;
}

static gboolean
check_model (const char *name, GError **error)
{
  g_autoptr (GError) cause = NULL;

  if (dyno_model_find (name, &cause))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--model %s: %s", name,
               cause->message);
  return FALSE;
}

void
dyno_cli_set_weights (DynoJob *job, const char *weights)
{
  if (!weights)
    return;
  g_free (job->weights_in);
  job->weights_in = strcmp (weights, "none") == 0 ? NULL : g_strdup (weights);
}

void
dyno_cli_set_name (DynoJob *job, const char *name)
{
  g_free (job->name);
  job->name = name ? g_strstrip (g_strdup (name)) : NULL;
  if (job->name && !*job->name)
    g_clear_pointer (&job->name, g_free);
}

/* --- opening the data set --------------------------------------------------------------------- */

#define STUCK_US G_USEC_PER_SEC /* time after a signal after which an opening hangs */
/* a long scan is reported after the first second, and then this often */
#define PRINTED_US (5 * G_USEC_PER_SEC)

/* Read and written under the lock.  A caller that gives up leaves the struct to the thread, which
 * may never end. */
typedef struct {
  GMutex lock;
  GCond ended;
  gboolean over;
  guint64 found;
  DynoJob *job;
  GCancellable *cancellable;
  DynoDataset *dataset;
  GError *error;
} Opening;

static void
on_found (guint64 found, gpointer data)
{
  Opening *o = data;

  g_mutex_lock (&o->lock);
  o->found = found;
  g_mutex_unlock (&o->lock);
}

static gpointer
open_main (gpointer data)
{
  Opening *o = data;
  DynoDatasetParams params;
  DynoDataset *dataset;
  GError *error = NULL;

  dyno_job_get_dataset_params (o->job, &params);
  dataset = dyno_dataset_open (o->job->data, &params, on_found, o, o->cancellable, &error);
  g_mutex_lock (&o->lock);
  o->dataset = dataset;
  o->error = error;
  o->over = TRUE;
  g_cond_signal (&o->ended);
  g_mutex_unlock (&o->lock);
  return NULL;
}

/* Waits for the end of the opening.  FALSE: a signal was received, and the opening does not end. */
static gboolean
wait_for_opening (Opening *o, const char *command)
{
  gint64 signalled_us = 0, print_us = g_get_monotonic_time () + STUCK_US;
  gboolean over;

  g_mutex_lock (&o->lock);
  while (!o->over && (signalled_us == 0 || g_get_monotonic_time () - signalled_us < STUCK_US))
    {
      g_cond_wait_until (&o->ended, &o->lock, g_get_monotonic_time () + STUCK_US / 10);
      if (signalled_us == 0 && dyno_signals_get ())
        signalled_us = g_get_monotonic_time ();
      if (command && !o->over && signalled_us == 0 && g_get_monotonic_time () >= print_us)
        {
          dyno_error_line ("%s: reading the data set, %" G_GUINT64_FORMAT " %s found so far",
                           command, o->found, dyno_plural (o->found, "sample", "samples"));
          print_us = g_get_monotonic_time () + PRINTED_US;
        }
    }
  over = o->over;
  g_mutex_unlock (&o->lock);
  return over;
}

/* Opens in a separate thread, if one can be created, so that a disk that does not respond cannot
 * block the reaction to a signal.  If command is not NULL, a long scan is reported. */
DynoDataset *
dyno_cli_open_dataset (const char *command, const DynoJob *job, GError **error)
{
  Opening *o = g_new0 (Opening, 1);
  DynoDataset *dataset;
  GThread *thread;

  g_mutex_init (&o->lock);
  g_cond_init (&o->ended);
  o->job = dyno_job_copy (job);
  o->cancellable = dyno_signals_get_cancellable ();
  thread = g_thread_try_new ("dyno-open", open_main, o, NULL);
  if (!thread)
    open_main (o);
  if (!wait_for_opening (o, command))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "“%s” does not answer", job->data);
      g_thread_unref (thread);
      return NULL;
    }
  if (thread)
    g_thread_join (thread);
  dataset = o->dataset;
  if (o->error)
    g_propagate_error (error, o->error);
  g_mutex_clear (&o->lock);
  g_cond_clear (&o->ended);
  dyno_job_unref (o->job);
  g_free (o);
  return dataset;
}

/* Adds, for a missing file, its option and the next step to the error, which has the file and the
 * cause. */
static void
name_next_step (const DynoJobOptions *o, GError **error)
{
  const struct {
    GQuark domain; /* error domain of the function that reads the file */
    const char *option, *path, *step;
  } files[] = {
    { DYNO_DATA_ERROR, "--data", o->data && !strchr (o->data, ':') ? o->data : NULL,
      "name a file, a folder, or a built-in data set as builtin:shapes" },
    { DYNO_DATA_ERROR, "--targets", o->targets,
      "name the file that holds a target of each sample" },
    { DYNO_EXPORT_ERROR, "--settings", o->settings_file,
      "name a settings.ini of a run, or what an export wrote" },
    { DYNO_TUNE_ERROR, "--preset", o->preset && strchr (o->preset, '.') ? o->preset : NULL,
      "name another file, or a preset that 'dynoctl presets' lists" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    if ((*error)->domain == files[i].domain && files[i].path
        && !g_file_test (files[i].path, G_FILE_TEST_EXISTS))
      {
        GError *whole = g_error_new ((*error)->domain, (*error)->code, "%s: %s; %s",
                                     files[i].option, (*error)->message, files[i].step);

        g_error_free (*error);
        *error = whole;
        return;
      }
}

/* Limits the process to its cores before the first driver is loaded and the data set is opened, so
 * that all threads inherit the limit.  A driver that computes on the CPU may count the machine's
 * cores and not the process's. */
static void
limit_threads (guint threads)
{
  guint kept = dyno_cores_keep (threads);
  g_autofree char *text = g_strdup_printf ("%u", kept);

  if (kept > 0)
    g_setenv ("LP_NUM_THREADS", text, FALSE);
}

static gboolean
resolve (const char *command, const DynoJobOptions *o, DynoCliJob *cli_job, GError **error)
{
  DynoJob *job = cli_job->job = dyno_job_new ();
  g_auto (GStrv) own = list_own (o);
  DynoSettingsSources sources = { .resume = o->resume,
                                  .file = o->settings_file,
                                  .set = (const char *const *) o->set,
                                  .own = (const char *const *) own,
                                  .data = o->data,
                                  .targets = o->targets,
                                  .model = o->model };

  if (o->level && !o->preset)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--level %s: it selects a level of a preset; name one with --preset", o->level);
      return FALSE;
    }
  if (!parse_level (o->level, &sources.level, error) || !find_names (o, &sources, job, error)
      || !check_model (job->model, error))
    return FALSE;
  limit_threads ((guint) job->settings.threads);
  if (!o->no_device && !find_device (o->device, &cli_job->device, error))
    return FALSE;
  cli_job->dataset = dyno_cli_open_dataset (o->json || o->quiet ? NULL : command, job, error);
  return cli_job->dataset && find_settings (o, &sources, cli_job, error);
}

gboolean
dyno_job_options_resolve (const char *command, const DynoJobOptions *options, DynoCliJob *cli_job,
                          int *code)
{
  g_autoptr (GError) error = NULL;

  memset (cli_job, 0, sizeof *cli_job);
  if (resolve (command, options, cli_job, &error))
    return TRUE;
  name_next_step (options, &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) && dyno_signals_get ())
    {
      dyno_error_line ("%s: stopped before the run began; nothing was written", command);
      *code = dyno_signals_exit_code (dyno_signals_get ());
    }
  else if (error->domain == G_OPTION_ERROR && !options->json)
    *code = dyno_cli_usage (command, "%s", error->message);
  else
    *code = dyno_cli_fail (g_steal_pointer (&error), options->json);
  dyno_cli_job_clear (cli_job);
  return FALSE;
}
