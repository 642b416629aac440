/* SPDX-License-Identifier: MIT */
/* The server of a program that was built without libsoup. */
#include "server.h"

DynoServer *
dyno_server_new (const DynoServerParams *params, const DynoServedModel *models, guint n,
                 GError **error)
{
  (void) params;
  (void) models;
  (void) n;
  dyno_serve_refuse (error, DYNO_SERVE_ERROR_MISSING,
                     "this program was built without its server; build it again with libsoup 3 "
                     "(Debian: libsoup-3.0-dev)");
  return NULL;
}

void
dyno_server_free (DynoServer *server)
{
  (void) server;
}

guint16
dyno_server_get_port (DynoServer *server)
{
  (void) server;
  return 0;
}

gboolean
dyno_server_run (DynoServer *server, GCancellable *stop, GError **error)
{
  (void) server;
  (void) stop;
  (void) error;
  g_return_val_if_reached (FALSE);
}
