/* SPDX-License-Identifier: MIT */
/* Errors of the model server: of requests, each with an HTTP status, and of its start. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_SERVE_ERROR (dyno_serve_error_quark ())
GQuark dyno_serve_error_quark (void);

typedef enum {
  DYNO_SERVE_ERROR_BAD_REQUEST, /* 400; the message names the field and what is expected */
  DYNO_SERVE_ERROR_DENIED,      /* 401: no token, or a wrong one */
  DYNO_SERVE_ERROR_NOT_FOUND,   /* 404: no such path or model */
  DYNO_SERVE_ERROR_METHOD,      /* 405 */
  DYNO_SERVE_ERROR_TOO_LARGE,   /* 413: past a limit, before anything of that size is allocated */
  DYNO_SERVE_ERROR_MEDIA_TYPE,  /* 415 */
  DYNO_SERVE_ERROR_FAILED,      /* 500: the device failed */
  DYNO_SERVE_ERROR_BUSY,        /* 503: the queue is full for now */
  DYNO_SERVE_ERROR_STOPPING,    /* 503 */
  DYNO_SERVE_ERROR_OPTION,      /* of the start: an address, name or token that cannot be used */
  /* of the start: this program was built without libsoup, or GLib has no TLS */
  DYNO_SERVE_ERROR_MISSING,
} DynoServeError;

/* The HTTP status for an error; errors of other domains give 500. */
guint dyno_serve_error_get_status (const GError *error);

/* Sets a DYNO_SERVE_ERROR; FALSE. */
gboolean dyno_serve_refuse (GError **error, DynoServeError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

G_END_DECLS
