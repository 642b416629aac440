/* SPDX-License-Identifier: MIT */
/* The paths of the server with their methods, and the check of the token.  Pure; any thread. */
#pragma once
#include "serve-error.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_ROUTE_SERVER,      /* GET /v2 */
  DYNO_ROUTE_LIVE,        /* GET /v2/health/live */
  DYNO_ROUTE_READY,       /* GET /v2/health/ready */
  DYNO_ROUTE_MODEL,       /* GET /v2/models/NAME[/versions/1] */
  DYNO_ROUTE_MODEL_READY, /* GET .../ready */
  DYNO_ROUTE_INFER,       /* POST .../infer */
  DYNO_ROUTE_METRICS,     /* GET /metrics */
} DynoRouteKind;

typedef struct {
  DynoRouteKind kind;
  char *model;       /* g_free; NULL: the route concerns no model */
  gboolean is_open;  /* no token is needed, as for the health of the server */
  const char *allow; /* "GET, HEAD" or "POST": the methods of the path */
} DynoRoute;

void dyno_route_clear (DynoRoute *route);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoRoute, dyno_route_clear)

/* path is decoded.  Errors: NOT_FOUND, METHOD (the route is set). */
gboolean dyno_route_parse (DynoRoute *route, const char *method, const char *path, GError **error);

/* Reads the token from the text of a token file: its first line, 16 to 1024 visible ASCII
 * characters.  g_free.  Errors: OPTION. */
char *dyno_token_read (const char *path, GError **error);
/* Whether the value of the header Authorization (NULL: none) is "Bearer" and the token.  The time
 * taken does not depend on the position of the first difference. */
gboolean dyno_token_matches (const char *token, const char *authorization);

/* Parses "ADDRESS:PORT", "[IPv6]:PORT", "ADDRESS" or ":PORT".  *address is an IP address (g_free),
 * by default, and for "localhost", 127.0.0.1.  Errors: OPTION. */
gboolean dyno_listen_parse (const char *text, char **address, guint16 *port, GError **error);

G_END_DECLS
