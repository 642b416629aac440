/* SPDX-License-Identifier: MIT */
#include "certificate.h"
#include <sys/socket.h>
#include <unistd.h>

static gboolean
accept_any (GTlsConnection *connection, GTlsCertificate *peer, GTlsCertificateFlags errors,
            gpointer data)
{
  return TRUE;
}

/* The server's side; returns its GError, or NULL. */
static gpointer
answer (gpointer connection)
{
  GError *error = NULL;

  g_tls_connection_handshake (connection, NULL, &error);
  g_io_stream_close (connection, NULL, NULL);
  return error;
}

static GIOStream *
new_stream (int fd, GError **error)
{
  g_autoptr (GSocket) socket = g_socket_new_from_fd (fd, error);

  if (!socket)
    close (fd);
  return socket ? G_IO_STREAM (g_socket_connection_factory_create_connection (socket)) : NULL;
}

/* Whether a client that accepts any certificate can connect to a server with this one: the key has
 * to be that of the certificate. */
static gboolean
try_handshake (GTlsCertificate *certificate, GError **error)
{
  g_autoptr (GIOStream) near = NULL, far = NULL, client = NULL, server = NULL;
  g_autoptr (GError) own = NULL, other = NULL;
  GThread *thread;
  int fds[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return TRUE; /* the server itself says what the system refuses */
  near = new_stream (fds[0], error);
  far = new_stream (fds[1], near ? error : NULL);
  client = near && far ? g_tls_client_connection_new (near, NULL, error) : NULL;
  server = client ? g_tls_server_connection_new (far, certificate, error) : NULL;
  if (!server)
    return FALSE;
  g_signal_connect (client, "accept-certificate", G_CALLBACK (accept_any), NULL);
  thread = g_thread_try_new ("dyno-handshake", answer, server, error);
  if (!thread)
    return FALSE;
  g_tls_connection_handshake (G_TLS_CONNECTION (client), NULL, &own);
  g_io_stream_close (near, NULL, NULL);
  other = g_thread_join (thread);
  if (other || own) /* the client knows only that the server has ended */
    g_propagate_error (error, g_error_copy (other ? other : own));
  return !other && !own;
}

static gboolean
has_key (GTlsCertificate *certificate)
{
  g_autofree char *key = NULL;

  g_object_get (certificate, "private-key-pem", &key, NULL);
  return key != NULL;
}

GTlsCertificate *
dyno_certificate_read (const char *certificate, const char *key, GError **error)
{
  g_autofree char *shown = g_filename_display_name (certificate),
                  *shown_key = g_filename_display_name (key ? key : certificate);
  g_autoptr (GTlsCertificate) read = NULL;
  g_autoptr (GError) problem = NULL;

  if (!g_tls_backend_supports_tls (g_tls_backend_get_default ()))
    {
      dyno_serve_refuse (error, DYNO_SERVE_ERROR_MISSING,
                         "GLib has no TLS here: install glib-networking");
      return NULL;
    }
  read = key ? g_tls_certificate_new_from_files (certificate, key, &problem)
             : g_tls_certificate_new_from_file (certificate, &problem);
  if (read && !key && !has_key (read))
    g_set_error (&problem, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                 "it has no key; name the file of the key by --tls-key");
  else if (read && try_handshake (read, &problem))
    return g_steal_pointer (&read);
  dyno_serve_refuse (error, DYNO_SERVE_ERROR_OPTION,
                     "the certificate “%s” with the key “%s” cannot be used: %s", shown, shown_key,
                     problem->message);
  return NULL;
}
