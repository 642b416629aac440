/* SPDX-License-Identifier: MIT */
/* One request: headers, body, preparation, prediction, answer.
 *
 * Invariants:
 * - Whatever can be refused by the headers is refused then: the body that follows is read and
 *   dropped.
 * - Between dyno_batcher_reserve and the answer the exchange is with the pool or the batcher: the
 *   message is paused, a reference keeps it, and its own thread touches neither request nor job.
 * - Each exchange is answered once; where the client went away the answer is dropped. */
#include "inferresponse.h"
#include "server-private.h"
#include <string.h>

#define KEY "dyno-exchange"

struct _DynoExchange {
  DynoServer *server;
  DynoHttpThread *thread;
  SoupServerMessage *message; /* its data own the exchange */
  DynoServeConnection *connection;
  GList *link; /* in thread->exchanges */
  DynoRoute route;
  DynoServerModel *model;       /* NULL: none */
  gint64 began_us, deadline_us; /* deadline 0: none */
  GByteArray *body;             /* NULL: the body is dropped */
  guint64 held_bytes;
  gboolean too_large, too_much; /* above the limit of one body, or of all bodies together */
  gboolean active, gone;        /* accepted and not yet answered; the client has disconnected */
  /* used by the pool and the batcher: */
  char *content_type;
  gboolean wants_png; /* respond to an image with the mask as a PNG */
  gint64 header_length;
  DynoInferRequest *request;
  DynoBatchJob job;
  gboolean predicted;
  GBytes *answer;
  gint64 answer_header_length;
  GError *error;
};

static void
drop_body (DynoExchange *e)
{
  g_clear_pointer (&e->body, g_byte_array_unref);
}

static void
end_active (DynoExchange *e)
{
  if (!e->active)
    return;
  e->active = FALSE;
  e->thread->n_active--;
  dyno_server_end_active (e->server);
}

static void
exchange_free (gpointer data)
{
  DynoExchange *e = data;

  g_queue_delete_link (&e->thread->exchanges, e->link);
  end_active (e);
  dyno_server_let_go (e->server, e->held_bytes);
  drop_body (e);
  dyno_route_clear (&e->route);
  if (e->connection)
    {
      e->connection->n_exchanges--;
      e->connection->idle_since_us = g_get_monotonic_time ();
      dyno_serve_connection_unref (e->connection);
    }
  g_free (e->content_type);
  dyno_infer_request_free (e->request);
  g_free (e->job.outputs);
  g_clear_pointer (&e->answer, g_bytes_unref);
  g_clear_error (&e->error);
  g_free (e);
}

/* --- answers ---------------------------------------------------------------------------------- */

static void
set_deadline (DynoExchange *e)
{
  e->deadline_us = g_get_monotonic_time () + (gint64) e->server->params.timeout_s * G_USEC_PER_SEC;
}

static void
answer (DynoExchange *e, guint status, const char *type, GBytes *bytes)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (e->message);
  DynoServeMetrics *metrics = e->model ? e->model->metrics : e->server->other;

  dyno_serve_metrics_add_request (metrics, status, g_get_monotonic_time () - e->began_us);
  soup_server_message_set_status (e->message, status, NULL);
  soup_message_headers_replace (headers, "Content-Type", type);
  if (dyno_server_is_stopping (e->server))
    soup_message_headers_replace (headers, "Connection", "close");
  soup_message_body_append_bytes (soup_server_message_get_response_body (e->message), bytes);
  set_deadline (e);
}

/* Takes ownership of text. */
static void
answer_text (DynoExchange *e, guint status, const char *type, char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (text, strlen (text));

  answer (e, status, type, bytes);
}

static void
answer_error (DynoExchange *e, const GError *error)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (e->message);
  guint status = dyno_serve_error_get_status (error);

  if (status == 401)
    soup_message_headers_replace (headers, "WWW-Authenticate", "Bearer");
  if (status == 405)
    soup_message_headers_replace (headers, "Allow", e->route.allow);
  if (status == 503)
    soup_message_headers_replace (headers, "Retry-After", "1");
  answer_text (e, status, "application/json", dyno_serve_error_text (error->message));
}

static char *
describe_server (void)
{
  DynoJson json;
  char *text;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "name", "dyno");
  dyno_json_string (&json, "version", DYNO_VERSION);
  dyno_json_begin_array (&json, "extensions");
  dyno_json_string (&json, NULL, "binary_tensor_data");
  dyno_json_string (&json, NULL, "classification");
  dyno_json_end_array (&json);
  dyno_json_end_object (&json);
  text = dyno_json_steal (&json);
  dyno_json_clear (&json);
  return text;
}

static char *
describe_metrics (DynoServer *server)
{
  g_autofree DynoServeMetricsRow *rows = g_new0 (DynoServeMetricsRow, server->n_models + 1);

  for (guint i = 0; i < server->n_models; i++)
    {
      rows[i].model = server->models[i].signature.name;
      rows[i].metrics = server->models[i].metrics;
      dyno_batcher_get_load (server->models[i].batcher, &rows[i].queue_requests,
                             &rows[i].queue_samples);
    }
  rows[server->n_models] = (DynoServeMetricsRow){ .model = "", .metrics = server->other };
  return dyno_serve_metrics_to_text (rows, server->n_models + 1);
}

/* Answers all routes except inference. */
static void
answer_route (DynoExchange *e)
{
  static const char json[] = "application/json";
  gboolean ready = !dyno_server_is_stopping (e->server);

  switch (e->route.kind)
    {
    case DYNO_ROUTE_SERVER:
      answer_text (e, 200, json, describe_server ());
      break;
    case DYNO_ROUTE_LIVE:
      answer_text (e, 200, json, g_strdup ("{\"live\": true}"));
      break;
    case DYNO_ROUTE_READY:
    case DYNO_ROUTE_MODEL_READY:
      answer_text (e, ready ? 200 : 503, json,
                   g_strdup (ready ? "{\"ready\": true}" : "{\"ready\": false}"));
      break;
    case DYNO_ROUTE_METRICS:
      answer_text (e, 200, "text/plain; version=0.0.4; charset=utf-8",
                   describe_metrics (e->server));
      break;
    case DYNO_ROUTE_MODEL:
      answer_text (e, 200, json, g_strdup (e->model->metadata));
      break;
    case DYNO_ROUTE_INFER:
    default:
      g_return_if_reached ();
    }
}

/* --- headers ---------------------------------------------------------------------------------- */

static gboolean
find_model (DynoExchange *e, GError **error)
{
  if (!e->route.model)
    return TRUE;
  e->model = dyno_server_find_model (e->server, e->route.model);
  return e->model
         || dyno_serve_refuse (error, DYNO_SERVE_ERROR_NOT_FOUND, "there is no model “%s” here",
                               e->route.model);
}

/* The length of the JSON before binary data; -1: there is no such header. */
static gboolean
read_header_length (DynoExchange *e, SoupMessageHeaders *headers, GError **error)
{
  const char *text = soup_message_headers_get_one (headers, "Inference-Header-Content-Length");
  guint64 length;

  e->header_length = -1;
  if (!text)
    return TRUE;
  if (!g_ascii_string_to_unsigned (text, 10, 0, DYNO_SERVE_MOST_BODY, &length, NULL))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BAD_REQUEST,
                              "Inference-Header-Content-Length: it is no number of bytes");
  e->header_length = (gint64) length;
  return TRUE;
}

/* Whether a PNG is preferred to JSON: the first of the accepted types decides. */
static gboolean
prefers_png (SoupMessageHeaders *headers)
{
  static const char *const json[] = { "application/json", "application/*", "*/*" };
  const char *accept = soup_message_headers_get_list (headers, "Accept");
  GSList *types = accept ? soup_header_parse_quality_list (accept, NULL) : NULL;
  gboolean png = FALSE, over = FALSE;

  for (GSList *at = types; at && !over; at = at->next)
    {
      png = g_ascii_strcasecmp (at->data, "image/png") == 0;
      over = png;
      for (guint i = 0; i < G_N_ELEMENTS (json) && !over; i++)
        over = g_ascii_strcasecmp (at->data, json[i]) == 0;
    }
  soup_header_free_list (types);
  return png;
}

static gboolean
check_inference (DynoExchange *e, SoupMessageHeaders *headers, GError **error)
{
  const char *coding = soup_message_headers_get_one (headers, "Content-Encoding");
  guint64 most = e->server->params.max_body;

  if (dyno_server_is_stopping (e->server))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_STOPPING, "the server is stopping");
  if (coding && g_ascii_strcasecmp (coding, "identity") != 0)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_MEDIA_TYPE,
                              "Content-Encoding: compressed bodies are not supported");
  if (soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CONTENT_LENGTH
      && (guint64) soup_message_headers_get_content_length (headers) > most)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_TOO_LARGE,
                              "the body is larger than %" G_GUINT64_FORMAT " MiB (--max-body)",
                              most >> 20);
  e->content_type = g_strdup (soup_message_headers_get_one (headers, "Content-Type"));
  e->wants_png = e->model->signature.info->of_pixels && prefers_png (headers);
  return read_header_length (e, headers, error);
}

static gboolean
check_headers (DynoExchange *e, const char *path, GError **error)
{
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (e->message);
  const char *token = e->server->params.token;
  g_autoptr (GError) problem = NULL;
  gboolean known =
      dyno_route_parse (&e->route, soup_server_message_get_method (e->message), path, &problem);

  if (token && !e->route.is_open
      && !dyno_token_matches (token, soup_message_headers_get_one (headers, "Authorization")))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_DENIED,
                              "a token is required: Authorization: Bearer TOKEN");
  if (!known)
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  return find_model (e, error)
         && (e->route.kind != DYNO_ROUTE_INFER || check_inference (e, headers, error));
}

void
dyno_exchange_on_headers (SoupServer *soup, SoupServerMessage *message, const char *path,
                          GHashTable *query, gpointer data)
{
  DynoExchange *e = g_object_get_data (G_OBJECT (message), KEY);
  g_autoptr (GError) error = NULL;

  (void) soup;
  (void) query;
  (void) data;
  e->began_us = g_get_monotonic_time ();
  soup_message_body_set_accumulate (soup_server_message_get_request_body (message), FALSE);
  if (!check_headers (e, path, &error))
    answer_error (e, error);
  else if (e->route.kind == DYNO_ROUTE_INFER)
    e->body = g_byte_array_new ();
}

/* --- the body --------------------------------------------------------------------------------- */

static void
on_chunk (SoupServerMessage *message, GBytes *chunk, gpointer data)
{
  DynoExchange *e = data;
  gsize size = g_bytes_get_size (chunk);

  (void) message;
  if (!e->body)
    return;
  e->too_large = e->body->len + size > e->server->params.max_body;
  e->too_much = !e->too_large && !dyno_server_hold (e->server, size);
  if (e->too_large || e->too_much)
    {
      drop_body (e);
      return;
    }
  e->held_bytes += size;
  g_byte_array_append (e->body, g_bytes_get_data (chunk, NULL), (guint) size);
}

static gboolean
accept_body (DynoExchange *e, GError **error)
{
  if (e->too_large)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_TOO_LARGE,
                              "the body is larger than %" G_GUINT64_FORMAT " MiB (--max-body)",
                              e->server->params.max_body >> 20);
  if (e->too_much)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_BUSY,
                              "the memory limit of the server is reached; try again later");
  if (!dyno_server_begin_active (e->server))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_STOPPING, "the server is stopping");
  if (dyno_batcher_reserve (e->model->batcher, error))
    return TRUE;
  dyno_server_end_active (e->server);
  return FALSE;
}

void
dyno_exchange_on_body (SoupServer *soup, SoupServerMessage *message, const char *path,
                       GHashTable *query, gpointer data)
{
  DynoExchange *e = g_object_get_data (G_OBJECT (message), KEY);
  g_autoptr (GError) error = NULL;

  (void) soup;
  (void) path;
  (void) query;
  (void) data;
  if (e->route.kind != DYNO_ROUTE_INFER)
    {
      answer_route (e);
      return;
    }
  if (!accept_body (e, &error))
    {
      answer_error (e, error);
      return;
    }
  e->deadline_us = 0;
  e->active = TRUE;
  e->thread->n_active++;
  g_object_ref (message);
  soup_server_message_pause (message);
  g_thread_pool_push (e->server->pool, e, NULL);
}

/* --- the pool --------------------------------------------------------------------------------- */

/* Completes an exchange, in its own thread. */
static gboolean
complete (gpointer data)
{
  DynoExchange *e = data;
  SoupServerMessage *message = e->message;

  if (e->gone)
    end_active (e);
  else if (e->error)
    answer_error (e, e->error);
  else
    {
      SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
      g_autofree char *length = g_strdup_printf ("%" G_GINT64_FORMAT, e->answer_header_length);
      gboolean binary = e->answer_header_length >= 0, png = e->wants_png && e->request->is_file;

      if (binary)
        soup_message_headers_replace (headers, "Inference-Header-Content-Length", length);
      answer (e, 200,
              png      ? "image/png"
              : binary ? "application/octet-stream"
                       : "application/json",
              e->answer);
    }
  if (!e->gone)
    soup_server_message_unpause (message);
  g_object_unref (message); /* may free e */
  return G_SOURCE_REMOVE;
}

static void
on_predicted (DynoBatchJob *job, gpointer data)
{
  DynoExchange *e = data;

  (void) job;
  e->predicted = TRUE;
  g_thread_pool_push (e->server->pool, e, NULL);
}

static void
free_scratch (gpointer scratch)
{
  g_byte_array_unref (scratch);
}

static gboolean
prepare (DynoExchange *e)
{
  static GPrivate own = G_PRIVATE_INIT (free_scratch);
  const DynoSignature *signature = &e->model->signature;
  GByteArray *scratch = g_private_get (&own);
  gsize bytes;
  guint64 work = 0;

  if (!scratch)
    {
      scratch = g_byte_array_new ();
      g_private_set (&own, scratch);
    }
  e->request =
      dyno_infer_request_new (signature, e->content_type, e->header_length, e->body->data,
                              e->body->len, e->server->params.max_body, scratch, &e->error);
  drop_body (e);
  if (!e->request)
    return FALSE;
  bytes = e->request->n * signature->output_bytes;
  if (e->wants_png && e->request->is_file)
    work = dyno_infer_response_png_bytes (e->request);
  if (work > e->server->params.max_body)
    return dyno_serve_refuse (
        &e->error, DYNO_SERVE_ERROR_TOO_LARGE,
        "the mask of a picture of %u x %u pixels takes more than --max-body; without Accept: "
        "image/png it has the size of the network's input",
        e->request->picture_width, e->request->picture_height);
  if (!dyno_server_hold (e->server, e->request->size_bytes + bytes + work))
    return dyno_serve_refuse (&e->error, DYNO_SERVE_ERROR_BUSY,
                              "the memory limit of the server is reached; try again later");
  e->held_bytes += e->request->size_bytes + bytes + work;
  e->job = (DynoBatchJob){ .samples = e->request->samples,
                           .lengths = e->request->lengths,
                           .n = e->request->n,
                           .outputs = g_try_malloc (bytes),
                           .done = on_predicted,
                           .data = e };
  return e->job.outputs
         || dyno_serve_refuse (&e->error, DYNO_SERVE_ERROR_TOO_LARGE,
                               "there is no memory for the outputs");
}

static void
finish (DynoExchange *e)
{
  if (e->job.error)
    e->error = g_steal_pointer (&e->job.error);
  else if (!e->error && e->wants_png && e->request->is_file)
    {
      e->answer =
          dyno_infer_response_new_png (&e->model->signature, e->request, e->job.outputs, &e->error);
      e->answer_header_length = -1;
    }
  else if (!e->error)
    e->answer = dyno_infer_response_new (&e->model->signature, e->request, e->job.outputs,
                                         &e->answer_header_length);
  dyno_http_thread_send (e->thread, complete, e);
}

void
dyno_exchange_work (gpointer exchange, gpointer server)
{
  DynoExchange *e = exchange;

  (void) server;
  if (e->predicted)
    finish (e);
  else if (prepare (e))
    dyno_batcher_push (e->model->batcher, &e->job);
  else
    {
      dyno_batcher_release (e->model->batcher);
      finish (e);
    }
}

/* Exchanges whose prediction is done come first. */
int
dyno_exchange_compare (gconstpointer one, gconstpointer other, gpointer data)
{
  const DynoExchange *a = one, *b = other;

  (void) data;
  return (b->predicted != 0) - (a->predicted != 0);
}

/* --- life ------------------------------------------------------------------------------------- */

static void
on_finished (SoupServerMessage *message, gpointer data)
{
  DynoExchange *e = data;

  (void) message;
  e->deadline_us = 0;
  e->gone = TRUE;
  if (soup_server_message_get_status (message) != 0)
    end_active (e);
}

void
dyno_exchange_attach (DynoHttpThread *thread, SoupServerMessage *message)
{
  DynoExchange *e = g_new0 (DynoExchange, 1);
  GSocketAddress *remote = soup_server_message_get_remote_address (message);
  DynoServeConnection *connection =
      remote ? g_object_get_data (G_OBJECT (remote), DYNO_CONNECTION_KEY) : NULL;

  e->server = thread->server;
  e->thread = thread;
  e->message = message;
  if (connection)
    {
      e->connection = g_rc_box_acquire (connection);
      connection->n_exchanges++;
      connection->used = TRUE;
    }
  g_queue_push_tail (&thread->exchanges, e);
  e->link = g_queue_peek_tail_link (&thread->exchanges);
  set_deadline (e);
  g_object_set_data_full (G_OBJECT (message), KEY, e, exchange_free);
  g_signal_connect (message, "got-chunk", G_CALLBACK (on_chunk), e);
  g_signal_connect (message, "finished", G_CALLBACK (on_finished), e);
}

void
dyno_exchange_sweep (DynoExchange *e, gint64 now_us)
{
  if (e->deadline_us == 0 || now_us < e->deadline_us || !e->connection)
    return;
  e->deadline_us = 0;
  g_socket_shutdown (e->connection->socket, TRUE, TRUE, NULL);
}
