/* SPDX-License-Identifier: MIT */
/* Paths and methods, the token, the address, and the text of the counters. */
#include "route.h"
#include "servemetrics.h"
#include "signature.h"
#include <glib/gstdio.h>
#include <string.h>

static void
test_routes (void)
{
  static const struct {
    const char *method, *path, *model;
    int kind, error; /* -1: none */
  } cases[] = {
    { "GET", "/v2", NULL, DYNO_ROUTE_SERVER, -1 },
    { "HEAD", "/v2/", NULL, DYNO_ROUTE_SERVER, -1 },
    { "GET", "/v2/health/live", NULL, DYNO_ROUTE_LIVE, -1 },
    { "GET", "/v2/health/ready", NULL, DYNO_ROUTE_READY, -1 },
    { "GET", "/metrics", NULL, DYNO_ROUTE_METRICS, -1 },
    { "GET", "/v2/models/a.b-c", "a.b-c", DYNO_ROUTE_MODEL, -1 },
    { "GET", "/v2/models/a/ready", "a", DYNO_ROUTE_MODEL_READY, -1 },
    { "GET", "/v2/models/a/versions/1", "a", DYNO_ROUTE_MODEL, -1 },
    { "GET", "/v2/models/a/versions/1/ready", "a", DYNO_ROUTE_MODEL_READY, -1 },
    { "POST", "/v2/models/a/versions/1/infer", "a", DYNO_ROUTE_INFER, -1 },
    { "POST", "/v2/models/versions/infer", "versions", DYNO_ROUTE_INFER, -1 },
    { "HEAD", "/v2/models/a", "a", DYNO_ROUTE_MODEL, -1 },
    { "GET", "/v2/models/a/infer", "a", DYNO_ROUTE_INFER, DYNO_SERVE_ERROR_METHOD },
    { "HEAD", "/v2/models/a/infer", "a", DYNO_ROUTE_INFER, DYNO_SERVE_ERROR_METHOD },
    { "POST", "/v2/models/a", "a", DYNO_ROUTE_MODEL, DYNO_SERVE_ERROR_METHOD },
    { "DELETE", "/metrics", NULL, DYNO_ROUTE_METRICS, DYNO_SERVE_ERROR_METHOD },
    { "POST", "/v2/models/a/versions/2/infer", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
    { "POST", "/v2/models/a/versions", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
    { "POST", "/v2/models/a/infer/b", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
    { "POST", "/v2/models/a/versions/1/infer/b", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
    { "POST", "/v2/models/a/infer/", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
    { "GET", "/v2/models/", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
    { "GET", "/v2/models", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
    { "GET", "/v2/models//infer", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
    { "GET", "/v1/models/a", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
    { "GET", "/", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
    { "GET", "*", NULL, -1, DYNO_SERVE_ERROR_NOT_FOUND },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_auto (DynoRoute) route = { 0 };
      gboolean ok = dyno_route_parse (&route, cases[i].method, cases[i].path, &error);

      g_test_message ("%s %s", cases[i].method, cases[i].path);
      g_assert_cmpint (ok, ==, cases[i].error < 0);
      if (!ok)
        g_assert_error (error, DYNO_SERVE_ERROR, cases[i].error);
      if (cases[i].error == DYNO_SERVE_ERROR_METHOD)
        g_assert_cmpstr (route.allow, ==, cases[i].kind == DYNO_ROUTE_INFER ? "POST" : "GET, HEAD");
      if (cases[i].kind >= 0)
        {
          g_assert_cmpint ((int) route.kind, ==, cases[i].kind);
          g_assert_cmpstr (route.model, ==, cases[i].model);
          g_assert_cmpint (route.is_open, ==,
                           route.kind == DYNO_ROUTE_LIVE || route.kind == DYNO_ROUTE_READY);
        }
    }
}

static void
test_token (void)
{
  static const char token[] = "0123456789abcdef";

  g_assert_true (dyno_token_matches (token, "Bearer 0123456789abcdef"));
  g_assert_true (dyno_token_matches (token, "bearer  0123456789abcdef"));
  g_assert_false (dyno_token_matches (token, NULL));
  g_assert_false (dyno_token_matches (token, ""));
  g_assert_false (dyno_token_matches (token, "Bearer "));
  g_assert_false (dyno_token_matches (token, "Bearer 0123456789abcde"));
  g_assert_false (dyno_token_matches (token, "Bearer 0123456789abcdef0"));
  g_assert_false (dyno_token_matches (token, "Bearer 0123456789abcdeF"));
  g_assert_false (dyno_token_matches (token, "Bearer 1123456789abcdef"));
  g_assert_false (dyno_token_matches (token, "Basic 0123456789abcdef"));
  g_assert_false (dyno_token_matches (token, "0123456789abcdef"));
}

static void
test_token_file (void)
{
  static const struct {
    const char *text, *token;
  } cases[] = {
    { "0123456789abcdef", "0123456789abcdef" },
    { "0123456789abcdef\nmore\n", "0123456789abcdef" },
    { "0123456789abcdef\r\n", "0123456789abcdef" },
    { "0123456789abcde\n", NULL },
    { "0123456789 abcdef\n", NULL },
    { "", NULL },
    { "\n0123456789abcdef", NULL },
  };
  g_autofree char *folder = g_dir_make_tmp ("dyno-token-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "token", NULL),
                  *longest = g_strnfill (1024, 'x'), *longer = g_strnfill (1025, 'x');
  GError *error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (g_file_set_contents (path, i ? longer : longest, -1, NULL));
      g_autofree char *token = dyno_token_read (path, NULL);
      g_assert_cmpstr (token, ==, i ? NULL : longest);
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *token = NULL;

      g_assert_true (g_file_set_contents (path, cases[i].text, -1, NULL));
      token = dyno_token_read (path, &error);
      g_assert_cmpstr (token, ==, cases[i].token);
      if (!token)
        g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_OPTION);
      g_clear_error (&error);
    }
  g_remove (path);
  g_assert_null (dyno_token_read (path, &error));
  g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_OPTION);
  g_clear_error (&error);
  g_rmdir (folder);
}

static void
test_listen (void)
{
  static const struct {
    const char *text, *address;
    guint port;
  } cases[] = {
    { "", "127.0.0.1", 8000 },
    { ":0", "127.0.0.1", 0 },
    { "localhost:81", "127.0.0.1", 81 },
    { "0.0.0.0", "0.0.0.0", 8000 },
    { "10.0.0.1:65535", "10.0.0.1", 65535 },
    { "[::1]:9", "::1", 9 },
    { "[::]", "::", 8000 },
    { "host:80", NULL, 0 },
    { "127.0.0.1:65536", NULL, 0 },
    { "127.0.0.1:-1", NULL, 0 },
    { "127.0.0.1:", NULL, 0 },
    { "127.0.0.1:80x", NULL, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *address = NULL;
      guint16 port = 0;
      gboolean ok = dyno_listen_parse (cases[i].text, &address, &port, &error);

      g_test_message ("%s", cases[i].text);
      g_assert_cmpint (ok, ==, cases[i].address != NULL);
      g_assert_cmpstr (address, ==, cases[i].address);
      if (ok)
        g_assert_cmpuint (port, ==, cases[i].port);
      else
        g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_OPTION);
    }
}

static void
test_names (void)
{
  g_autofree char *longest = g_strnfill (128, 'a'), *longer = g_strnfill (129, 'a');

  g_assert_true (dyno_serve_name_is_good ("run-1_a.B"));
  g_assert_true (dyno_serve_name_is_good (longest));
  g_assert_false (dyno_serve_name_is_good (longer));
  g_assert_false (dyno_serve_name_is_good (""));
  g_assert_false (dyno_serve_name_is_good (".."));
  g_assert_false (dyno_serve_name_is_good ("."));
  g_assert_true (dyno_serve_name_is_good ("..."));
  g_assert_false (dyno_serve_name_is_good ("a/b"));
  g_assert_false (dyno_serve_name_is_good ("a\"b"));
  g_assert_false (dyno_serve_name_is_good ("ä"));
}

static void
has_line (const char *text, const char *line)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  g_test_message ("%s", line);
  g_assert_true (g_strv_contains ((const char *const *) lines, line));
}

/* Buckets are cumulative, and each has the right bound. */
static void
test_metrics (void)
{
  DynoServeMetrics *of_model = dyno_serve_metrics_new (6), *other = dyno_serve_metrics_new (1);
  DynoServeMetricsRow rows[] = { { "zoo", of_model, 3, 17 }, { "", other, 0, 0 } };

  dyno_serve_metrics_add_request (of_model, 200, 1000);
  dyno_serve_metrics_add_request (of_model, 200, 1001);
  dyno_serve_metrics_add_request (of_model, 400, 20000000);
  dyno_serve_metrics_add_request (other, 404, 1);
  dyno_serve_metrics_add_batch (of_model, 1);
  dyno_serve_metrics_add_batch (of_model, 4);
  dyno_serve_metrics_add_batch (of_model, 5);
  g_autofree char *text = dyno_serve_metrics_to_text (rows, 2);
  has_line (text, "# TYPE dyno_requests_total counter");
  has_line (text, "dyno_requests_total{model=\"zoo\",code=\"200\"} 2");
  has_line (text, "dyno_requests_total{model=\"zoo\",code=\"400\"} 1");
  has_line (text, "dyno_requests_total{model=\"\",code=\"404\"} 1");
  has_line (text, "dyno_request_seconds_bucket{model=\"zoo\",le=\"0.001\"} 1");
  has_line (text, "dyno_request_seconds_bucket{model=\"zoo\",le=\"0.0025\"} 2");
  has_line (text, "dyno_request_seconds_bucket{model=\"zoo\",le=\"10\"} 2");
  has_line (text, "dyno_request_seconds_bucket{model=\"zoo\",le=\"+Inf\"} 3");
  has_line (text, "dyno_request_seconds_sum{model=\"zoo\"} 20.002001");
  has_line (text, "dyno_request_seconds_count{model=\"zoo\"} 3");
  has_line (text, "dyno_batch_samples_bucket{model=\"zoo\",le=\"1\"} 1");
  has_line (text, "dyno_batch_samples_bucket{model=\"zoo\",le=\"4\"} 2");
  has_line (text, "dyno_batch_samples_bucket{model=\"zoo\",le=\"8\"} 3");
  has_line (text, "dyno_batch_samples_sum{model=\"zoo\"} 10");
  has_line (text, "dyno_queue_requests{model=\"zoo\"} 3");
  has_line (text, "dyno_queue_samples{model=\"zoo\"} 17");
  g_assert_null (strstr (text, "le=\"16\""));
  g_assert_null (strstr (text, "dyno_queue_samples{model=\"\"}"));
  dyno_serve_metrics_free (of_model);
  dyno_serve_metrics_free (other);
}

/* Batches have buckets up to the largest one, which may be a power of two or not; a status that no
 * answer should have counts as the last one, and a model without requests has a line. */
static void
test_metrics_at_the_ends (void)
{
  static const struct {
    guint32 most;
    const char *last, *next;
  } rows[] = {
    { 1, "1", "2" },
    { 2, "2", "4" },
    { 8, "8", "16" },
    { 9, "16", "32" },
    { 65535, "65536", "131072" },
    { 65536, "65536", "131072" },
    { 1u << 20, "65536", "131072" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoServeMetrics *metrics = dyno_serve_metrics_new (rows[i].most);
      DynoServeMetricsRow row = { "zoo", metrics, 0, 0 };
      g_autofree char *before = dyno_serve_metrics_to_text (&row, 1),
                      *last =
                          g_strdup_printf ("dyno_batch_samples_bucket{model=\"zoo\",le=\"%s\"} %u",
                                           rows[i].last, rows[i].most <= 65536),
                      *next = g_strdup_printf ("le=\"%s\"", rows[i].next);
      has_line (before, "dyno_requests_total{model=\"zoo\",code=\"200\"} 0");
      g_assert_null (strstr (before, "code=\"500\""));
      dyno_serve_metrics_add_request (metrics, 418, 10000000);
      dyno_serve_metrics_add_request (metrics, 503, 10000001);
      dyno_serve_metrics_add_batch (metrics, rows[i].most);
      g_autofree char *text = dyno_serve_metrics_to_text (&row, 1);
      has_line (text, "dyno_requests_total{model=\"zoo\",code=\"200\"} 0");
      has_line (text, "dyno_requests_total{model=\"zoo\",code=\"500\"} 1");
      has_line (text, "dyno_requests_total{model=\"zoo\",code=\"503\"} 1");
      has_line (text, "dyno_request_seconds_bucket{model=\"zoo\",le=\"10\"} 1");
      has_line (text, "dyno_request_seconds_bucket{model=\"zoo\",le=\"+Inf\"} 2");
      has_line (text, last);
      has_line (text, "dyno_batch_samples_bucket{model=\"zoo\",le=\"+Inf\"} 1");
      g_assert_null (strstr (text, next));
      dyno_serve_metrics_free (metrics);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/serve/route/paths-and-methods", test_routes);
  g_test_add_func ("/serve/token/matches", test_token);
  g_test_add_func ("/serve/token/file", test_token_file);
  g_test_add_func ("/serve/listen/forms", test_listen);
  g_test_add_func ("/serve/names/good-ones", test_names);
  g_test_add_func ("/serve/metrics/text", test_metrics);
  g_test_add_func ("/serve/metrics/at-the-ends", test_metrics_at_the_ends);
  return g_test_run ();
}
