/* SPDX-License-Identifier: MIT */
/* dynoctl serve: serves trained weights over HTTP, until a signal is received. */
#include "certificate.h"
#include "checkpoint.h"
#include "cli.h"
#include "cores.h"
#include "feeder.h"
#include "feederengine.h"
#include "output.h"
#include "route.h"
#include "server.h"
#include "signals.h"
#include <string.h>

#define DEFAULT_BATCH     32
#define DEFAULT_DELAY_US  500
#define DEFAULT_QUEUE     256
#define DEFAULT_BODY_MIB  64
#define DEFAULT_TIMEOUT   60
#define MOST_WORKERS      8
#define MOST_HTTP_THREADS 8

typedef struct {
  char **runs; /* [NAME=]RUN */
  char *listen, *token_file, *certificate, *key;
  gboolean no_token, amp, json;
  gint64 max_batch, max_delay_us, queue, max_body_mib, image_size;
  int device, timeout_s, workers;
} Options;

static void
options_clear (Options *o)
{
  g_strfreev (o->runs);
  g_free (o->listen);
  g_free (o->token_file);
  g_free (o->certificate);
  g_free (o->key);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* A served model with its queue of requests. */
typedef struct {
  char *name, *weights;
  DynoFeeder *feeder;
} Model;

static void
model_free (gpointer data)
{
  Model *model = data;

  g_free (model->name);
  g_free (model->weights);
  dyno_feeder_free (model->feeder);
  g_free (model);
}

/* --- options ---------------------------------------------------------------------------------- */

static gboolean
check_range (const char *command, const char *option, gint64 value, gint64 least, gint64 most)
{
  if (value >= least && value <= most)
    return TRUE;
  dyno_cli_usage (command,
                  "--%s %" G_GINT64_FORMAT ": it is from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                  option, value, least, most);
  return FALSE;
}

static gboolean
check_options (const char *command, const Options *o)
{
  if (!o->runs || !o->runs[0])
    {
      dyno_cli_usage (command, "name the weights: --run RUN, or --run NAME=RUN");
      return FALSE;
    }
  if (o->token_file && o->no_token)
    {
      dyno_cli_usage (command, "--token-file and --no-token contradict each other: name one");
      return FALSE;
    }
  if (o->key && !o->certificate)
    {
      dyno_cli_usage (command, "--tls-key needs the certificate too: name it by --tls-certificate");
      return FALSE;
    }
  return check_range (command, "max-batch", o->max_batch, 1, 65536)
         && check_range (command, "max-delay-us", o->max_delay_us, 0, 10 * G_USEC_PER_SEC)
         && check_range (command, "queue", o->queue, 1, 65536)
         && check_range (command, "max-body", o->max_body_mib, 1,
                         (gint64) (DYNO_SERVE_MOST_BODY >> 20))
         && check_range (command, "image-size", o->image_size, 0, 65536)
         && check_range (command, "timeout", o->timeout_s, 1, 3600)
         && check_range (command, "workers", o->workers, 0, 256);
}

/* Parses "NAME=RUN", or "RUN" for a model with the name of the run's folder.  RUN may be a weights
 * file. */
static Model *
name_model (const char *command, const char *text)
{
  const char *equals = strchr (text, '='), *run = text;
  g_autofree char *name = equals ? g_strndup (text, (gsize) (equals - text)) : NULL;
  g_autofree char *shown = g_filename_display_name (text);
  Model *model;

  if (name && dyno_serve_name_is_good (name) && !g_file_test (text, G_FILE_TEST_EXISTS))
    run = equals + 1;
  else
    {
      g_autofree char *whole = g_canonicalize_filename (text, NULL);

      g_free (name);
      name = g_path_get_basename (whole);
    }
  if (!*run || !dyno_serve_name_is_good (name))
    {
      dyno_cli_usage (command,
                      "--run %s: a model's name has only letters, digits, “_”, “-” and “.”; give "
                      "it one by --run NAME=RUN",
                      shown);
      return NULL;
    }
  model = g_new0 (Model, 1);
  model->name = g_steal_pointer (&name);
  model->weights = g_file_test (run, G_FILE_TEST_IS_REGULAR)
                       ? g_strdup (run)
                       : g_build_filename (run, DYNO_WEIGHTS_NAME, NULL);
  return model;
}

static GPtrArray *
name_models (const char *command, char **runs)
{
  g_autoptr (GPtrArray) models = g_ptr_array_new_with_free_func (model_free);

  for (guint i = 0; runs[i]; i++)
    {
      Model *model = name_model (command, runs[i]);

      if (!model)
        return NULL;
      for (guint k = 0; k < models->len; k++)
        if (strcmp (((Model *) g_ptr_array_index (models, k))->name, model->name) == 0)
          {
            dyno_cli_usage (command,
                            "--run: two models are called “%s”; give one another name by "
                            "--run NAME=RUN",
                            model->name);
            model_free (model);
            return NULL;
          }
      g_ptr_array_add (models, model);
    }
  return g_steal_pointer (&models);
}

/* --- serving ---------------------------------------------------------------------------------- */

static gboolean
load_model (const char *command, const Options *o, Model *model, GError **error)
{
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  DynoPredictorParams params = { .weights = model->weights,
                                 .image_size = (guint32) o->image_size,
                                 .batch = (guint32) o->max_batch,
                                 .amp = o->amp,
                                 .device = o->device };

  model->feeder = dyno_feeder_new (&params, notes, dyno_signals_get_cancellable (), error);
  for (guint i = 0; i < notes->len; i++)
    dyno_error_line ("%s: warning: %s: %s", command, model->name,
                     (const char *) g_ptr_array_index (notes, i));
  return model->feeder != NULL;
}

static void
report_listening (const Options *o, const char *address, guint16 port, GPtrArray *models)
{
  gboolean is_v6 = strchr (address, ':') != NULL;
  g_autofree char *url = g_strdup_printf (is_v6 ? "%s://[%s]:%u" : "%s://%s:%u",
                                          o->certificate ? "https" : "http", address, port);
  Model *first = g_ptr_array_index (models, 0);
  DynoJson json;

  if (!o->json)
    {
      for (guint i = 0; i < models->len; i++)
        dyno_out_line ("%s/v2/models/%s", url, ((Model *) g_ptr_array_index (models, i))->name);
      dyno_error_line ("dynoctl serve: listening at %s, on %s", url,
                       dyno_feeder_get_device (first->feeder));
      dyno_out_flush ();
      return;
    }
  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "listening");
  dyno_json_string (&json, "url", url);
  dyno_json_string (&json, "device", dyno_feeder_get_device (first->feeder));
  dyno_json_begin_array (&json, "models");
  for (guint i = 0; i < models->len; i++)
    dyno_json_string (&json, NULL, ((Model *) g_ptr_array_index (models, i))->name);
  dyno_json_end_array (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_out_flush ();
  dyno_json_clear (&json);
}

static gboolean
serve (const Options *o, const char *address, guint16 port, const char *token,
       GTlsCertificate *certificate, GPtrArray *models, GError **error)
{
  g_autofree DynoServedModel *served = g_new0 (DynoServedModel, models->len);
  g_autoptr (DynoServer) server = NULL;
  DynoServerParams params = { .address = address,
                              .port = port,
                              .token = token,
                              .certificate = certificate,
                              .max_body = (guint64) o->max_body_mib << 20,
                              .max_batch = (guint32) o->max_batch,
                              .max_delay_us = o->max_delay_us,
                              .max_queue = (guint) o->queue,
                              .timeout_s = (guint) o->timeout_s,
                              .workers = (guint) o->workers,
                              .http_threads =
                                  CLAMP (dyno_cores_count () / 2, 2, MOST_HTTP_THREADS) };

  if (params.workers == 0)
    params.workers = MIN (dyno_cores_count (), MOST_WORKERS);
  for (guint i = 0; i < models->len; i++)
    {
      Model *model = g_ptr_array_index (models, i);

      served[i] = (DynoServedModel){ .name = model->name,
                                     .info = dyno_feeder_get_info (model->feeder),
                                     .input = dyno_feeder_get_input (model->feeder),
                                     .klass = &dyno_feeder_engine,
                                     .engine = model->feeder };
    }
  server = dyno_server_new (&params, served, models->len, error);
  if (!server)
    return FALSE;
  report_listening (o, address, dyno_server_get_port (server), models);
  return dyno_server_run (server, dyno_signals_get_cancellable (), error);
}

static int
fail (GError *error, const char *command, gboolean json)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) && dyno_signals_get ())
    {
      g_error_free (error);
      dyno_error_line ("%s: stopped", command);
      return DYNO_EXIT_OK;
    }
  return dyno_cli_fail (error, json);
}

/* Whether other machines may reach the address. */
static gboolean
is_exposed (const char *address)
{
  g_autoptr (GInetAddress) inet = g_inet_address_new_from_string (address);

  return !g_inet_address_get_is_loopback (inet);
}

static int
run (const char *command, const Options *o)
{
  g_autofree char *address = NULL, *token = NULL;
  g_autoptr (GTlsCertificate) certificate = NULL;
  g_autoptr (GPtrArray) models = NULL;
  GError *error = NULL;
  guint16 port;

  if (!dyno_listen_parse (o->listen ? o->listen : "", &address, &port, &error))
    return fail (error, command, o->json);
  if (o->token_file && !(token = dyno_token_read (o->token_file, &error)))
    return fail (error, command, o->json);
  if (o->certificate && !(certificate = dyno_certificate_read (o->certificate, o->key, &error)))
    return fail (error, command, o->json);
  if (is_exposed (address) && !token && !o->no_token)
    return dyno_cli_usage (command,
                           "--listen %s: other machines could use the models; name a --token-file, "
                           "or allow it by --no-token",
                           address);
  models = name_models (command, o->runs);
  if (!models)
    return DYNO_EXIT_USAGE;
  dyno_signals_catch ();
  for (guint i = 0; i < models->len; i++)
    if (!load_model (command, o, g_ptr_array_index (models, i), &error))
      return fail (error, command, o->json);
  if (!serve (o, address, port, token, certificate, models, &error))
    return fail (error, command, o->json);
  dyno_error_line ("%s: stopped, with every request answered", command);
  return DYNO_EXIT_OK;
}

int
dyno_verb_serve (int argc, char **argv)
{
  g_auto (Options) o = { .max_batch = DEFAULT_BATCH,
                         .max_delay_us = DEFAULT_DELAY_US,
                         .queue = DEFAULT_QUEUE,
                         .max_body_mib = DEFAULT_BODY_MIB,
                         .timeout_s = DEFAULT_TIMEOUT,
                         .device = -1 };
  int code;
  const GOptionEntry entries[] = {
    { "run", 'r', 0, G_OPTION_ARG_FILENAME_ARRAY, &o.runs,
      "Folder of a run, or a weights file; may be given many times", "[NAME=]RUN" },
    { "listen", 'l', 0, G_OPTION_ARG_STRING, &o.listen,
      "Address and port (default 127.0.0.1:8000); port 0: any", "ADDRESS:PORT" },
    { "token-file", 0, 0, G_OPTION_ARG_FILENAME, &o.token_file,
      "Clients must send this file's first line as a bearer token", "FILE" },
    { "tls-certificate", 0, 0, G_OPTION_ARG_FILENAME, &o.certificate,
      "Serve HTTPS with this certificate and its chain, in PEM form", "FILE" },
    { "tls-key", 0, 0, G_OPTION_ARG_FILENAME, &o.key,
      "Key of the certificate in PEM form (default: in the certificate's file)", "FILE" },
    { "no-token", 0, 0, G_OPTION_ARG_NONE, &o.no_token, "Let other machines in without a token",
      NULL },
    { "max-batch", 'b', 0, G_OPTION_ARG_INT64, &o.max_batch, "Samples of a batch (default 32)",
      "N" },
    { "max-delay-us", 0, 0, G_OPTION_ARG_INT64, &o.max_delay_us,
      "Microseconds that a request waits for a full batch (default 500)", "N" },
    { "queue", 0, 0, G_OPTION_ARG_INT64, &o.queue,
      "Requests of a model at a time; more get 503 (default 256)", "N" },
    { "max-body", 0, 0, G_OPTION_ARG_INT64, &o.max_body_mib,
      "Largest body of a request in MiB (default 64)", "N" },
    { "timeout", 0, 0, G_OPTION_ARG_INT, &o.timeout_s,
      "Seconds for a request to arrive, and for an idle connection (default 60)", "N" },
    { "image-size", 0, 0, G_OPTION_ARG_INT64, &o.image_size,
      "Height and width that images are brought to (default: as trained)", "N" },
    { "amp", 0, 0, G_OPTION_ARG_NONE, &o.amp, "Compute in fp16 where the device can", NULL },
    { "workers", 0, 0, G_OPTION_ARG_INT, &o.workers, "Threads that decode (default: the cores)",
      "N" },
    { "device", 0, 0, G_OPTION_ARG_INT, &o.device,
      "Device by its number in 'dynoctl devices' (default: the best)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o.json, "One JSON object a line on standard output", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, "--run [NAME=]RUN...",
                       "Answers requests over HTTP by the Open Inference Protocol (KServe v2).",
                       entries, NULL, NULL, 0, &code))
    return code;
  if (!check_options (argv[0], &o))
    return DYNO_EXIT_USAGE;
  return run (argv[0], &o);
}
