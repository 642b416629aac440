/* SPDX-License-Identifier: MIT */
#include "route.h"
#include "datafile.h"
#include "signature.h"
#include <gio/gio.h>
#include <string.h>

#define DEFAULT_ADDRESS "127.0.0.1"
#define DEFAULT_PORT    8000
#define LEAST_TOKEN     16
#define MOST_TOKEN      1024

void
dyno_route_clear (DynoRoute *route)
{
  g_free (route->model);
  *route = (DynoRoute){ 0 };
}

/* The routes of a model, from the words after /v2/models/. */
static gboolean
parse_model (DynoRoute *route, char **words)
{
  guint at = 1;

  if (!words[0] || !*words[0])
    return FALSE;
  if (words[at] && strcmp (words[at], "versions") == 0)
    {
      if (!words[at + 1] || strcmp (words[at + 1], DYNO_SERVE_VERSION) != 0)
        return FALSE;
      at += 2;
    }
  if (!words[at])
    route->kind = DYNO_ROUTE_MODEL;
  else if (words[at + 1])
    return FALSE;
  else if (strcmp (words[at], "ready") == 0)
    route->kind = DYNO_ROUTE_MODEL_READY;
  else if (strcmp (words[at], "infer") == 0)
    route->kind = DYNO_ROUTE_INFER;
  else
    return FALSE;
  route->model = g_strdup (words[0]);
  return TRUE;
}

static gboolean
find (DynoRoute *route, const char *path)
{
  static const struct {
    const char *path;
    DynoRouteKind kind;
    gboolean is_open;
  } plain[] = {
    { "/v2", DYNO_ROUTE_SERVER, FALSE },          { "/v2/", DYNO_ROUTE_SERVER, FALSE },
    { "/v2/health/live", DYNO_ROUTE_LIVE, TRUE }, { "/v2/health/ready", DYNO_ROUTE_READY, TRUE },
    { "/metrics", DYNO_ROUTE_METRICS, FALSE },
  };
  static const char models[] = "/v2/models/";
  g_auto (GStrv) words = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    if (strcmp (path, plain[i].path) == 0)
      {
        route->kind = plain[i].kind;
        route->is_open = plain[i].is_open;
        return TRUE;
      }
  if (!g_str_has_prefix (path, models))
    return FALSE;
  words = g_strsplit (path + strlen (models), "/", 6);
  return parse_model (route, words);
}

gboolean
dyno_route_parse (DynoRoute *route, const char *method, const char *path, GError **error)
{
  gboolean ok;

  *route = (DynoRoute){ 0 };
  if (!find (route, path))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_NOT_FOUND,
                              "there is no such path; the models are at /v2/models/NAME");
  if (route->kind == DYNO_ROUTE_INFER)
    {
      route->allow = "POST";
      ok = strcmp (method, "POST") == 0;
    }
  else
    {
      route->allow = "GET, HEAD";
      ok = strcmp (method, "GET") == 0 || strcmp (method, "HEAD") == 0;
    }
  return ok
         || dyno_serve_refuse (error, DYNO_SERVE_ERROR_METHOD, "the path takes %s only",
                               route->allow);
}

/* --- the token -------------------------------------------------------------------------------- */

char *
dyno_token_read (const char *path, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GError) problem = NULL;
  gsize size, length = 0;

  if (!dyno_datafile_read (path, 64 << 10, bytes, &size, &problem))
    {
      dyno_serve_refuse (error, DYNO_SERVE_ERROR_OPTION, "the token file “%s” cannot be read: %s",
                         shown, problem->message);
      return NULL;
    }
  while (length < size && g_ascii_isgraph (bytes->data[length]))
    length++;
  if (length >= LEAST_TOKEN && length <= MOST_TOKEN
      && (length == size || bytes->data[length] == '\n' || bytes->data[length] == '\r'))
    return g_strndup ((const char *) bytes->data, length);
  dyno_serve_refuse (error, DYNO_SERVE_ERROR_OPTION,
                     "the token file “%s” does not begin with a line of %d to %d visible ASCII "
                     "characters; one is made by: openssl rand -hex 32",
                     shown, LEAST_TOKEN, MOST_TOKEN);
  return NULL;
}

gboolean
dyno_token_matches (const char *token, const char *authorization)
{
  static const char scheme[] = "Bearer ";
  gsize length = strlen (token), given;
  guint difference = 0;

  if (!authorization || g_ascii_strncasecmp (authorization, scheme, strlen (scheme)) != 0)
    return FALSE;
  authorization += strlen (scheme);
  while (*authorization == ' ')
    authorization++;
  given = strlen (authorization);
  for (gsize i = 0; i < length; i++)
    difference |= (guint) (guchar) token[i] ^ (guchar) authorization[i < given ? i : given];
  return difference == 0 && given == length;
}

/* --- the address ------------------------------------------------------------------------------ */

gboolean
dyno_listen_parse (const char *text, char **address, guint16 *port, GError **error)
{
  const char *colon = strrchr (text, ':'), *bracket = strrchr (text, ']');
  g_autofree char *host = NULL;
  g_autoptr (GInetAddress) inet = NULL;
  guint64 number = DEFAULT_PORT;

  if (colon && bracket && colon < bracket)
    colon = NULL;
  if (colon && !g_ascii_string_to_unsigned (colon + 1, 10, 0, G_MAXUINT16, &number, NULL))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_OPTION,
                              "--listen %s: the port is from 0 (any free one) to 65535", text);
  host = colon ? g_strndup (text, (gsize) (colon - text)) : g_strdup (text);
  if (*host == '[' && g_str_has_suffix (host, "]"))
    {
      memmove (host, host + 1, strlen (host));
      host[strlen (host) - 1] = '\0';
    }
  if (!*host || strcmp (host, "localhost") == 0)
    {
      g_free (host);
      host = g_strdup (DEFAULT_ADDRESS);
    }
  inet = g_inet_address_new_from_string (host);
  if (!inet)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_OPTION,
                              "--listen %s: it is ADDRESS:PORT, as 127.0.0.1:8000, 0.0.0.0:8000 "
                              "(all of IPv4) or [::1]:8000",
                              text);
  *address = g_steal_pointer (&host);
  *port = (guint16) number;
  return TRUE;
}
