/* SPDX-License-Identifier: MIT */
/* The output of the JSON writer is read by another parser; a diagnosis as JSON. */
#include "jsontext.h"
#include "diagnosistext.h"
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

/* --- a diagnosis ------------------------------------------------------------------------------ */

/* Each value has its own key; those of several ranks are there only with several. */
static void
test_diagnosis (void)
{
  DynoFinding findings[] = {
    { .id = "one", .level = DYNO_FINDING_WARNING, .text = (char *) "It waits" },
    { .id = "two", .level = DYNO_FINDING_WARNING, .text = (char *) "b", .action = (char *) "c" }
  };
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  DynoDiagnosis d = { .verdict = (char *) "All is well",
                      .knob = "workers",
                      .expected_gain = 0.5,
                      .rate = 100,
                      .loader_ceiling = 200,
                      .gpu_ceiling = 300,
                      .exchange_ceiling = 400,
                      .ranks = 1,
                      .findings = list,
                      .phases = { .wait_data_ms = 1,
                                  .copy_ms = 2,
                                  .forward_ms = 3,
                                  .backward_ms = 4,
                                  .optimizer_ms = 5,
                                  .validation_ms = 6,
                                  .saving_ms = 7,
                                  .idle_ms = 8,
                                  .step_ms = 9,
                                  .exchange_ms = 10 } };

  g_ptr_array_add (list, &findings[0]);
  g_ptr_array_add (list, &findings[1]);
  for (guint ranks = 1; ranks <= 2; ranks++)
    {
      g_autofree char *text = NULL, *expected = NULL;
      const char *level = dyno_finding_level_name (DYNO_FINDING_WARNING);

      d.ranks = ranks;
      text = dyno_diagnosis_to_json (&d, 0, ranks == 1 ? NULL : "diagnosis");
      expected = g_strdup_printf (
          "{%s\"verdict\": \"All is well\", \"knob\": \"workers\", \"expected_gain\": 0.5, "
          "\"samples_per_s\": 100, \"ceilings\": {\"loader\": 200, \"gpu\": 300%s}, "
          "\"phases_ms\": {\"wait_data\": 1, \"copy\": 2, \"forward\": 3, \"backward\": 4, "
          "\"optimizer\": 5, \"validation\": 6, \"saving\": 7, \"idle\": 8, \"step\": 9%s}, "
          "\"findings\": [{\"id\": \"one\", \"level\": \"%s\", \"text\": \"It waits\", "
          "\"action\": null}, {\"id\": \"two\", \"level\": \"%s\", \"text\": \"b\", \"action\": "
          "\"c\"}]}",
          ranks == 1 ? "" : "\"event\": \"diagnosis\", ", ranks == 1 ? "" : ", \"exchange\": 400",
          ranks == 1 ? "" : ", \"exchange\": 10", level, level);
      g_assert_cmpstr (text, ==, expected);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/export/jsontext/doubles-read-back", test_doubles);
  g_test_add_func ("/export/jsontext/nesting", test_nesting);
  g_test_add_func ("/export/jsontext/strings-of-any-bytes", test_strings);
  g_test_add_func ("/export/diagnosis/json", test_diagnosis);
  return g_test_run ();
}
