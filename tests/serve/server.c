/* SPDX-License-Identifier: MIT */
/* The server with a made-up engine, which computes 2 x a sample, and with clients in threads of
 * this process: several threads read and write HTTP at the same time.  No test depends on time. */
#include "serve-test.h"
#include "server.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_CLIENTS 8
#define N_EACH    40

typedef struct {
  GMutex mutex;
  GCond cond;
  gboolean open;                  /* the gate for collecting */
  guint n_submitted, n_collected; /* numbers of samples */
  float flight[64][2];
  guint32 n;
} Engine;

static gboolean
engine_submit (gpointer data, gconstpointer const *samples, const gint32 *lengths, guint32 n,
               GError **error)
{
  Engine *e = data;

  (void) lengths;
  for (guint32 i = 0; i < n; i++)
    for (guint k = 0; k < 2; k++)
      e->flight[i][k] = 2 * ((const float *) samples[i])[k];
  e->n = n;
  g_mutex_lock (&e->mutex);
  e->n_submitted += n;
  g_cond_broadcast (&e->cond);
  g_mutex_unlock (&e->mutex);
  return TRUE;
}

static gboolean
engine_collect (gpointer data, gpointer outputs, GError **error)
{
  Engine *e = data;

  g_mutex_lock (&e->mutex);
  while (!e->open)
    g_cond_wait (&e->cond, &e->mutex);
  e->n_collected += e->n;
  g_mutex_unlock (&e->mutex);
  memcpy (outputs, e->flight, e->n * sizeof e->flight[0]);
  return TRUE;
}

static gboolean
engine_is_lost (const GError *error)
{
  return FALSE;
}

static const DynoBatchEngine engine_class = { 1, engine_submit, engine_collect, engine_is_lost };

/* A server with its clients. */
typedef struct {
  Engine engine;
  DynoSignature signature;
  DynoServer *server;
  GCancellable *stop;
  guint n_each;
} Fixture;

typedef struct {
  Fixture *f;
  guint index;
  guint n_right;
} Client;

static GMutex clock_mutex;
static gboolean leaps;
static gint64 ahead_us;

/* Replaces GLib's for the server: while it leaps, each call is an hour after the one before. */
gint64
g_get_monotonic_time (void)
{
  struct timespec now;
  gint64 us;

  clock_gettime (CLOCK_MONOTONIC, &now);
  g_mutex_lock (&clock_mutex);
  if (leaps)
    ahead_us += G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC;
  us = (gint64) now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000 + ahead_us;
  g_mutex_unlock (&clock_mutex);
  return us;
}

static void
set_leaps (gboolean on)
{
  g_mutex_lock (&clock_mutex);
  leaps = on;
  g_mutex_unlock (&clock_mutex);
}

static void
fixture_init (Fixture *f, guint32 max_batch, gint64 max_delay_us)
{
  static char *names[] = { (char *) "yaw", (char *) "pitch", NULL };
  static const DynoWeightsInfo info = { .n_outputs = 2, .is_values = TRUE, .target_names = names };
  static const DynoBatchField input = { .name = "values",
                                        .role = DYNO_FIELD_INPUT,
                                        .element = DYNO_ELEMENT_F32,
                                        .n_axes = 1,
                                        .shape = { 2 },
                                        .axes = "C" };
  const DynoServedModel model = {
    .name = "pose", .info = &info, .input = &input, .klass = &engine_class, .engine = &f->engine
  };
  const DynoServerParams params = { .address = "127.0.0.1",
                                    .max_body = 1 << 20,
                                    .max_batch = max_batch,
                                    .max_delay_us = max_delay_us,
                                    .max_queue = 64,
                                    .timeout_s = 600,
                                    .workers = 2,
                                    .http_threads = 3 };
  g_autoptr (GError) error = NULL;

  g_mutex_init (&f->engine.mutex);
  g_cond_init (&f->engine.cond);
  f->stop = g_cancellable_new ();
  f->server = dyno_server_new (&params, &model, 1, &error);
  g_assert_no_error (error);
}

static void
fixture_clear (Fixture *f)
{
  dyno_server_free (f->server);
  g_object_unref (f->stop);
  g_cond_clear (&f->engine.cond);
  g_mutex_clear (&f->engine.mutex);
}

static GSocketConnection *
connect_client (Fixture *f)
{
  g_autoptr (GSocketClient) socket = g_socket_client_new ();
  GSocketConnection *connection;

  g_socket_client_set_enable_proxy (socket, FALSE);
  connection = g_socket_client_connect_to_host (socket, "127.0.0.1",
                                                dyno_server_get_port (f->server), NULL, NULL);
  g_assert_nonnull (connection);
  return connection;
}

/* Reads an answer including all of its body. */
static char *
read_answer (GInputStream *stream)
{
  GString *text = g_string_new (NULL);
  const char *body, *length;
  char part[4096];
  gssize n;

  while (TRUE)
    {
      body = strstr (text->str, "\r\n\r\n");
      length = strstr (text->str, "Content-Length: ");
      if (body && length && strlen (body + 4) >= (gsize) atoi (length + 16))
        return g_string_free (text, FALSE);
      n = g_input_stream_read (stream, part, sizeof part, NULL, NULL);
      if (n <= 0)
        return g_string_free (text, FALSE);
      g_string_append_len (text, part, n);
    }
}

/* Whether the values of the answer are twice those of the request. */
static gboolean
is_right (const char *answer, double one, double other)
{
  const char *data = strstr (answer, "\"data\": [");
  char *end;

  if (!g_str_has_prefix (answer, "HTTP/1.1 200") || !data)
    return FALSE;
  return g_ascii_strtod (data + 9, &end) == 2 * one && g_ascii_strtod (end + 1, NULL) == 2 * other;
}

static gpointer
client (gpointer data)
{
  Client *c = data;
  g_autoptr (GSocketConnection) connection = connect_client (c->f);

  for (guint i = 0; i < c->f->n_each; i++)
    {
      int one = (int) (c->index * 1000 + i), other = (int) i - 7;
      g_autofree char *body =
          g_strdup_printf ("{\"inputs\": [{\"name\": \"input\", \"datatype\": \"FP32\", \"shape\": "
                           "[1, 2], \"data\": [%d, %d]}]}",
                           one, other);
      g_autofree char *text =
          g_strdup_printf ("POST /v2/models/pose/infer HTTP/1.1\r\nHost: x\r\nContent-Type: "
                           "application/json\r\nContent-Length: %u\r\n\r\n%s",
                           (guint) strlen (body), body);
      g_autofree char *answer = NULL;
      gsize written;

      if (!g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)),
                                      text, strlen (text), &written, NULL, NULL))
        break;
      answer = read_answer (g_io_stream_get_input_stream (G_IO_STREAM (connection)));
      c->n_right += is_right (answer, one, other);
    }
  return NULL;
}

static void
run_clients (Fixture *f, Client *clients, GThread **threads, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      clients[i] = (Client){ .f = f, .index = i };
      threads[i] = g_thread_new ("client", client, &clients[i]);
    }
}

static void
check_clients (Client *clients, GThread **threads, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_thread_join (threads[i]);
      g_assert_cmpuint (clients[i].n_right, ==, clients[i].f->n_each);
    }
}

static gpointer
drive_many (gpointer data)
{
  Fixture *f = data;
  Client clients[N_CLIENTS];
  GThread *threads[N_CLIENTS];

  run_clients (f, clients, threads, N_CLIENTS);
  check_clients (clients, threads, N_CLIENTS);
  g_cancellable_cancel (f->stop);
  return NULL;
}

static void
run_with (Fixture *f, GThreadFunc drive)
{
  g_autoptr (GError) error = NULL;
  GThread *driver = g_thread_new ("driver", drive, f);

  g_assert_true (dyno_server_run (f->server, f->stop, &error));
  g_assert_no_error (error);
  g_mutex_lock (&f->engine.mutex);
  g_assert_cmpuint (f->engine.n_collected, ==, f->engine.n_submitted);
  g_mutex_unlock (&f->engine.mutex);
  g_thread_join (driver);
}

/* Each client gets the answers to its own requests, in order, whichever thread serves it. */
static void
test_many_clients (void)
{
  Fixture f = { .engine = { .open = TRUE }, .n_each = N_EACH };

  fixture_init (&f, 4, 0);
  run_with (&f, drive_many);
  g_assert_cmpuint (f.engine.n_submitted, ==, N_CLIENTS * N_EACH);
  fixture_clear (&f);
}

static gpointer
drive_stop (gpointer data)
{
  Fixture *f = data;
  Client clients[N_CLIENTS];
  GThread *threads[N_CLIENTS];

  run_clients (f, clients, threads, N_CLIENTS);
  g_mutex_lock (&f->engine.mutex);
  while (f->engine.n_submitted < N_CLIENTS)
    g_cond_wait (&f->engine.cond, &f->engine.mutex);
  g_mutex_unlock (&f->engine.mutex);
  g_cancellable_cancel (f->stop);
  g_mutex_lock (&f->engine.mutex);
  f->engine.open = TRUE;
  g_cond_broadcast (&f->engine.cond);
  g_mutex_unlock (&f->engine.mutex);
  check_clients (clients, threads, N_CLIENTS);
  return NULL;
}

/* All requests that the engine has when the server is stopped, on connections of all threads, are
 * answered before it ends. */
static void
test_stop_answers_what_was_accepted (void)
{
  Fixture f = { .n_each = 1 };

  fixture_init (&f, N_CLIENTS, G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC);
  run_with (&f, drive_stop);
  fixture_clear (&f);
}

static gpointer
drive_left (gpointer data)
{
  Fixture *f = data;
  g_autoptr (GSocketClient) socket = g_socket_client_new ();

  for (guint i = 0; i < 2 * N_CLIENTS; i++)
    g_object_unref (g_socket_client_connect_to_host (socket, "127.0.0.1",
                                                     dyno_server_get_port (f->server), NULL, NULL));
  g_cancellable_cancel (f->stop);
  return NULL;
}

/* Connections that are being passed to a thread, or that have sent no request, do not delay the
 * stop. */
static void
test_stop_with_idle_connections (void)
{
  Fixture f = { .engine = { .open = TRUE } };

  fixture_init (&f, 4, 0);
  run_with (&f, drive_left);
  fixture_clear (&f);
}

static gpointer
drive_slow (gpointer data)
{
  Fixture *f = data;
  GSocketConnection *idle[6];
  Client c;
  GThread *thread;
  char byte;

  for (guint i = 0; i < G_N_ELEMENTS (idle); i++)
    idle[i] = connect_client (f);
  run_clients (f, &c, &thread, 1);
  g_mutex_lock (&f->engine.mutex);
  while (f->engine.n_submitted < 1)
    g_cond_wait (&f->engine.cond, &f->engine.mutex);
  g_mutex_unlock (&f->engine.mutex);
  set_leaps (TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (idle); i++)
    {
      g_assert_cmpint (g_input_stream_read (g_io_stream_get_input_stream (G_IO_STREAM (idle[i])),
                                            &byte, 1, NULL, NULL),
                       ==, 0);
      g_object_unref (idle[i]);
    }
  set_leaps (FALSE);
  g_mutex_lock (&f->engine.mutex);
  f->engine.open = TRUE;
  g_cond_broadcast (&f->engine.cond);
  g_mutex_unlock (&f->engine.mutex);
  check_clients (&c, &thread, 1);
  g_cancellable_cancel (f->stop);
  return NULL;
}

/* The time of a request does not run while the engine has it: connections that are idle for as long
 * are closed, on each thread, and the request is answered. */
static void
test_slow_predictions_are_answered (void)
{
  Fixture f = { .n_each = 1 };

  fixture_init (&f, 4, 0);
  run_with (&f, drive_slow);
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/serve/server/many-clients", test_many_clients);
  g_test_add_func ("/serve/server/stop-answers-what-was-accepted",
                   test_stop_answers_what_was_accepted);
  g_test_add_func ("/serve/server/stop-with-idle-connections", test_stop_with_idle_connections);
  g_test_add_func ("/serve/server/slow-predictions-are-answered",
                   test_slow_predictions_are_answered);
  return g_test_run ();
}
