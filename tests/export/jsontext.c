/* SPDX-License-Identifier: MIT */
/* The output of the JSON writer is read by another parser. */
#include "jsontext.h"
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

static char *
one_double (double value)
{
  DynoJson json;
  char *text;

  dyno_json_init (&json, 0);
  dyno_json_double (&json, NULL, value);
  text = dyno_json_steal (&json);
  dyno_json_clear (&json);
  return text;
}

static void
assert_double (double value, const char *expected)
{
  g_autofree char *text = one_double (value);
  g_assert_cmpstr (text, ==, expected);
}

static void
test_doubles (void)
{
  assert_double (0.1, "0.1");
  assert_double (0, "0");
  assert_double (-2.5, "-2.5");
  assert_double (1e300, "1e+300");
  assert_double (1.0 / 3, "0.3333333333333333");
  assert_double ((double) NAN, "null");
  assert_double ((double) INFINITY, "null");
  for (guint i = 0; i < 20000; i++)
    {
      double value = ldexp (g_test_rand_double () - 0.5, g_test_rand_int_range (-200, 200));
      g_autofree char *text = one_double (value);
      g_assert_cmpfloat (g_ascii_strtod (text, NULL), ==, value);
    }
}

static void
test_nesting (void)
{
  DynoJson json;
  g_autofree char *text = NULL;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_begin_array (&json, "a");
  dyno_json_int (&json, NULL, -1);
  dyno_json_begin_object (&json, NULL);
  dyno_json_end_object (&json);
  dyno_json_begin_array (&json, NULL);
  dyno_json_end_array (&json);
  dyno_json_end_array (&json);
  dyno_json_bool (&json, "b", TRUE);
  dyno_json_null (&json, "c");
  dyno_json_uint (&json, "d", G_MAXUINT64);
  dyno_json_end_object (&json);
  text = dyno_json_steal (&json);
  dyno_json_clear (&json);
  g_assert_cmpstr (text, ==,
                   "{\"a\": [-1, {}, []], \"b\": true, \"c\": null, \"d\": 18446744073709551615}");
}

/* Any bytes are returned by json-glib unchanged, or as far as they are UTF-8. */
static void
test_strings (void)
{
  static const char *const samples[] = { "",
                                         "plain",
                                         "quote \" and \\ back",
                                         "line\nbreak\ttab",
                                         "\x01\x1f\x7f",
                                         "ä 漢 🙂",
                                         "\xff broken" };

  for (guint pretty = 0; pretty < 2; pretty++)
    for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
      {
        g_autoptr (JsonParser) parser = json_parser_new ();
        g_autoptr (GError) error = NULL;
        g_autofree char *text = NULL, *valid = g_utf8_make_valid (samples[i], -1);
        DynoJson json;

        dyno_json_init (&json, pretty ? 2 : 0);
        dyno_json_begin_object (&json, NULL);
        dyno_json_string (&json, "k", samples[i]);
        dyno_json_end_object (&json);
        text = dyno_json_steal (&json);
        dyno_json_clear (&json);
        json_parser_load_from_data (parser, text, -1, &error);
        g_assert_no_error (error);
        g_assert_cmpstr (json_object_get_string_member (
                             json_node_get_object (json_parser_get_root (parser)), "k"),
                         ==, valid);
        g_assert_true (pretty || !strchr (text, '\n'));
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/export/jsontext/doubles-read-back", test_doubles);
  g_test_add_func ("/export/jsontext/nesting", test_nesting);
  g_test_add_func ("/export/jsontext/strings-of-any-bytes", test_strings);
  return g_test_run ();
}
