/* SPDX-License-Identifier: MIT */
/* See joinranks.h. */
#include "joinranks.h"
#include "checkpoint.h"
#include "cores.h"
#include "devicenumbers.h"
#include "log.h"
#include "output.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAX_PATH_BYTES (64 * 1024)

/* By default mpirun binds each of two ranks to one core, which leaves no core for the threads that
 * decode. */
static void
look_at_cores (const char *command)
{
  if (dyno_cores_count () == 1 && sysconf (_SC_NPROCESSORS_ONLN) > 2)
    dyno_error_line (
        "%s: warning: each rank is bound to one core of %ld, with all its threads; start "
        "them by mpirun --bind-to none, or srun with --cpus-per-task",
        command, sysconf (_SC_NPROCESSORS_ONLN));
}

gboolean
dyno_ranks_join (const char *command, gboolean json, DynoComm **comm, int *code)
{
  g_autoptr (GError) error = NULL;

  *comm = NULL;
  if (!dyno_comm_is_launched ())
    return TRUE;
  *comm = dyno_comm_open (&error);
  if (!*comm)
    {
      *code = dyno_cli_fail (g_steal_pointer (&error), json);
      return FALSE;
    }
  if (dyno_comm_get_rank (*comm) > 0)
    dyno_log_leave_notes_out ();
  dyno_ranks_choose_speaker (*comm);
  look_at_cores (command);
  return TRUE;
}

void
dyno_ranks_choose_speaker (const DynoComm *comm)
{
  if (comm)
    dyno_out_mute (!dyno_comm_is_speaker (comm));
}

/* This rank's last error, without the program's name as prefix. */
static const char *
last_reason (void)
{
  const char *text = dyno_out_get_last_error (), *prefix = "dynoctl: ";

  if (!text)
    return "it failed without a message";
  return g_str_has_prefix (text, prefix) ? text + strlen (prefix) : text;
}

int
dyno_ranks_leave (DynoComm *comm, int code)
{
  if (!comm)
    return code;
  if (code != DYNO_EXIT_OK && code < DYNO_EXIT_RESUMABLE)
    dyno_comm_abort (comm, last_reason ());
  dyno_out_flush ();
  dyno_comm_unref (comm);
  return code;
}

GArray *
dyno_ranks_parse_devices (const char *list, GError **error)
{
  g_autoptr (GPtrArray) devices = dyno_device_list (error);
  GArray *numbers = devices ? dyno_device_numbers_parse (list, devices) : NULL;

  if (devices && !numbers)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--devices %s: it is all, or numbers by commas from 0 to %u, as 'dynoctl "
                 "devices' lists them",
                 list, devices->len - 1);
  return numbers;
}

gboolean
dyno_ranks_choose_device (const DynoComm *comm, const GArray *devices, int *device, GError **error)
{
  g_autoptr (GPtrArray) all = dyno_device_list (error);
  g_autoptr (GArray) own = NULL;
  guint local = dyno_comm_get_local_rank (comm);

  if (!all)
    return FALSE;
  if (!devices)
    devices = own = dyno_device_numbers_parse ("all", all);
  *device = (int) g_array_index (devices, guint, local % devices->len);
  if (dyno_comm_get_local_size (comm) > devices->len)
    dyno_error_line (
        "dynoctl: note: %u ranks on %s share %u %s, which is slower than as many ranks as "
        "devices",
        dyno_comm_get_local_size (comm), dyno_comm_get_host (comm, dyno_comm_get_rank (comm)),
        devices->len, devices->len == 1 ? "device" : "devices");
  return TRUE;
}

static void
set_unless_set (const char *name, const char *value)
{
  g_setenv (name, value, FALSE);
}

/* The arguments of this process, without the program's name. */
static GPtrArray *
read_arguments (void)
{
  g_autofree char *text = NULL;
  GPtrArray *arguments = g_ptr_array_new_with_free_func (g_free);
  gsize length = 0;

  if (!g_file_get_contents ("/proc/self/cmdline", &text, &length, NULL))
    return arguments;
  for (gsize at = strlen (text) + 1; at < length; at += strlen (text + at) + 1)
    g_ptr_array_add (arguments, g_strdup (text + at));
  return arguments;
}

/* Sets variables of Open MPI 4 and 5: the ranks are on this machine and may outnumber its cores,
 * their threads are not bound to cores, and a rank that is to end gets some time to save; mpirun
 * waits for its end in any case.  A user who runs dynoctl as root may also run several ranks as
 * root. */
static void
set_environment (void)
{
  set_unless_set ("OMPI_MCA_rmaps_base_oversubscribe", "1");
  set_unless_set ("OMPI_MCA_hwloc_base_binding_policy", "none");
  set_unless_set ("OMPI_MCA_odls_base_sigkill_timeout", "3");
  set_unless_set ("OMPI_MCA_plm", "isolated");
  set_unless_set ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
  set_unless_set ("PRTE_MCA_hwloc_default_binding_policy", "none");
  set_unless_set ("PRTE_MCA_odls_base_sigkill_timeout", "3");
  if (geteuid () == 0)
    {
      set_unless_set ("OMPI_ALLOW_RUN_AS_ROOT", "1");
      set_unless_set ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
      set_unless_set ("PRTE_ALLOW_RUN_AS_ROOT", "1");
      set_unless_set ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
}

void
dyno_ranks_start (guint n, GError **error)
{
  g_autofree char *mpirun = g_find_program_in_path ("mpirun"),
                  *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autoptr (GPtrArray) arguments = read_arguments (), command = g_ptr_array_new ();
  char number[16];

  if (!dyno_comm_is_installed (error))
    return;
  if (!mpirun || !program)
    {
      g_set_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_MODULE,
                   "%u devices are trained on by %u processes, which mpirun starts, and there is "
                   "none in PATH; install it (package openmpi-bin or mpich), or name one device",
                   n, n);
      return;
    }
  g_snprintf (number, sizeof number, "%u", n);
  g_ptr_array_add (command, mpirun);
  g_ptr_array_add (command, (gpointer) "-n");
  g_ptr_array_add (command, number);
  g_ptr_array_add (command, program);
  for (guint i = 0; i < arguments->len; i++)
    g_ptr_array_add (command, arguments->pdata[i]);
  g_ptr_array_add (command, NULL);
  set_environment ();
  dyno_out_flush ();
  execv (mpirun, (char **) command->pdata);
  g_set_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_MODULE, "“%s” cannot be started: %s", mpirun,
               g_strerror (errno));
}

/* The fields of a sample: "image float32 16x16x3, class int32". */
static char *
describe_samples (const DynoBatchSchema *schema)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < schema->n_fields; i++)
    {
      const DynoBatchField *field = &schema->fields[i];
      g_string_append_printf (text, "%s%s %s", i ? ", " : "", field->name,
                              dyno_element_name (field->element));
      for (guint k = 0; k < field->n_axes; k++)
        g_string_append_printf (text, "%s%u", k ? "x" : " ", field->shape[k]);
    }
  return g_string_free (text, FALSE);
}

/* Settings that do not affect the weights, such as workers and memory, may differ, except for the
 * settings of the exchange. */
gboolean
dyno_ranks_compare (DynoComm *comm, const DynoCliJob *cli_job, GError **error)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (cli_job->dataset);
  const DynoJob *job = cli_job->job;
  g_autofree char *samples = describe_samples (&info->schema);
  g_autoptr (GString) lines = g_string_new ("Dyno's version\t" DYNO_VERSION "\n");
  guint n;
  const DynoSettingInfo *settings = dyno_setting_list (&n);

  g_string_append_printf (lines, "--model\t%s\n", job->model);
  g_string_append_printf (lines, "samples\t%" G_GUINT64_FORMAT "\n", info->n_samples);
  g_string_append_printf (lines, "classes\t%u\n", info->n_classes);
  g_string_append_printf (lines, "samples of\t%s\n", samples);
  g_string_append_printf (lines, "the data's fingerprint\t%016" G_GINT64_MODIFIER "x\n",
                          info->content_hash);
  g_string_append_printf (lines, "--weights\t%s\n", job->weights_in ? job->weights_in : "none");
  g_string_append_printf (lines, "--resume\t%s\n", job->resume ? job->resume : "none");
  g_string_append_printf (lines, "--steps\t%" G_GINT64_FORMAT "\n", job->max_steps);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = dyno_settings_get (&job->settings, settings[i].key);
      if (!settings[i].same_weights || g_str_has_prefix (settings[i].key, "exchange."))
        g_string_append_printf (lines, "%s\t%s\n", settings[i].key, value);
    }
  return dyno_comm_compare (comm, lines->str, error);
}

gboolean
dyno_ranks_share_folder (DynoComm *comm, char **folder, GError **error)
{
  gboolean first = dyno_comm_get_rank (comm) == 0;
  g_autofree char *path = first && *folder ? g_canonicalize_filename (*folder, NULL) : NULL;
  guint64 length = path ? strlen (path) : 0;

  if (!dyno_comm_broadcast (comm, &length, sizeof length, 0, error))
    return FALSE;
  if (length == 0 || length > MAX_PATH_BYTES)
    return TRUE;
  path = g_realloc (path, length + 1);
  path[length] = '\0';
  if (!dyno_comm_broadcast (comm, path, length, 0, error))
    return FALSE;
  if (first) /* rank 0 keeps the path as it was given */
    return TRUE;
  g_free (*folder);
  *folder = g_steal_pointer (&path);
  return TRUE;
}

char *
dyno_ranks_describe_checkpoint (const DynoComm *comm, const char *folder)
{
  g_autofree char *path = folder ? dyno_checkpoint_find (folder, NULL) : NULL;
  g_autofree char *shown = folder ? g_filename_display_name (path ? path : folder) : NULL;

  if (path)
    return g_strdup_printf ("its last checkpoint is “%s”", shown);
  if (!folder || g_file_test (folder, G_FILE_TEST_IS_DIR))
    return NULL;
  return g_strdup_printf ("its last checkpoint is in “%s” of %s", shown,
                          dyno_comm_get_host (comm, 0));
}

void
dyno_ranks_add_json (DynoJson *json, const DynoRankReport *reports, guint n)
{
  dyno_json_begin_array (json, "ranks");
  for (guint rank = 0; rank < n; rank++)
    {
      const DynoRankRate *rate = &reports[rank].rate;

      dyno_json_begin_object (json, NULL);
      dyno_json_uint (json, "rank", rank);
      dyno_json_string (json, "host", reports[rank].host);
      dyno_json_string (json, "device", reports[rank].device);
      dyno_json_double (json, "samples_per_s", rate->samples_per_s);
      dyno_json_double (json, "own_ms", rate->own_ms);
      dyno_json_double (json, "wait_exchange_ms", rate->wait_ms);
      dyno_json_double (json, "wait_data_ms", rate->data_ms);
      dyno_json_double (json, "device_ms", rate->device_ms);
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
}
