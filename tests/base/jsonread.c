/* SPDX-License-Identifier: MIT */
/* The JSON reader: valid documents are read exactly, others are refused at their first wrong
 * byte. */
#include "jsonread.h"
#include <string.h>

/* Skips the document in memory that ends with the text; returns the error message, or NULL. */
static char *
skip_whole (const char *text)
{
  gsize size = strlen (text);
  g_autofree char *copy = g_memdup2 (text, MAX (size, 1));
  g_autoptr (GError) error = NULL;
  DynoJsonReader r;

  dyno_json_reader_init (&r, copy, size, G_MARKUP_ERROR, G_MARKUP_ERROR_PARSE);
  if (dyno_json_skip (&r, &error) && dyno_json_read_end (&r, &error))
    return NULL;
  g_assert_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_PARSE);
  return g_strdup (error->message);
}

static void
test_valid (void)
{
  static const char *const texts[] = {
    "{}",
    "[]",
    " [ ] ",
    "\"\"",
    "true ",
    "false",
    "null",
    "[0, -0, 1.5e+10, -12.25E-3, 1e5]",
    "{\"a\": [{\"b\": null}, \"\\u00e9\\ud83d\\ude00\\n\\\"\\/\"], \"a\": 2 }",
    "\"\xc3\xa9\"",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]" /* 32 levels */
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *problem = skip_whole (texts[i]);
      g_assert_cmpstr (problem, ==, NULL);
    }
}

static void
test_wrong (void)
{
  static const struct {
    const char *text, *place;
  } cases[] = {
    { "", "byte 0" },
    { "{", "byte 1" },
    { "{\"a\"", "byte 4" },
    { "{\"a\": }", "byte 6" },
    { "{\"a\": 1,}", "byte 8" },
    { "{a: 1}", "byte 1" },
    { "[1,]", "byte 3" },
    { "[1 2]", "byte 3" },
    { "[01]", "byte 2" },
    { "[1.]", "byte 3" },
    { "[1e]", "byte 3" },
    { "[-]", "byte 2" },
    { "[+1]", "byte 1" },
    { "[0x10]", "byte 2" },
    { "[1.5.2]", "byte 4" },
    { "[NaN]", "byte 1" },
    { "[1", "byte 2" },
    { "1", "byte 1" },
    { "[tru]", "byte 1" },
    { "nul", "byte 0" },
    { "[truefalse]", "byte 5" },
    { "\"a", "byte 2" },
    { "\"\\x\"", "byte 3" },
    { "\"\\u12\"", "byte 3" },
    { "\"\\u0000\"", "byte 7" },
    { "\"\\ud800\"", "byte 7" },
    { "\"\\ud800\\u0041\"", "byte 13" },
    { "\"\\ud800\\ue000\"", "byte 13" },
    { "\"\\udc00\"", "byte 7" },
    { "\"\\udfff\"", "byte 7" },
    { "\"\\ude00\"", "byte 7" },
    { "\"\n\"", "byte 1" },
    { "\"\xff\"", "UTF-8" },
    { "[] []", "byte 3" },
    { "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", "32 deep" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *problem = skip_whole (cases[i].text);

      g_test_message ("%s: %s", cases[i].text, problem ? problem : "no error");
      g_assert_nonnull (problem);
      g_assert_nonnull (strstr (problem, cases[i].place));
    }
}

static void
test_nesting_takes_no_stack (void)
{
  g_autofree char *deep = g_strnfill (1 << 20, '[');
  g_autofree char *problem = skip_whole (deep);

  g_assert_nonnull (strstr (problem, "nested"));
}

/* Writes the key, a colon and the value of a member, which is read by its type. */
static gboolean
print_member (DynoJsonReader *r, const char *key, gpointer data, GError **error)
{
  GString *seen = data;
  g_autofree char *string = NULL;
  gint64 number;
  gboolean value;

  g_string_append_printf (seen, "%s:", key ? key : "-");
  switch (dyno_json_peek (r))
    {
    case DYNO_JSON_STRING:
      if (!dyno_json_read_string (r, &string, error))
        return FALSE;
      g_string_append_printf (seen, "%s ", string);
      return TRUE;
    case DYNO_JSON_NUMBER:
      if (!dyno_json_read_integer (r, &number, error))
        return FALSE;
      g_string_append_printf (seen, "%" G_GINT64_FORMAT " ", number);
      return TRUE;
    case DYNO_JSON_ARRAY:
      return dyno_json_read_members (r, DYNO_JSON_ARRAY, print_member, seen, error);
    default:
      if (!dyno_json_read_boolean (r, &value, error))
        return FALSE;
      g_string_append_printf (seen, "%d ", value);
      return TRUE;
    }
}

static void
test_values (void)
{
  static const char text[] =
      " { \"k\\u00fc\" : \"a\\tb\\ud83d\\ude00\" , \"n\":-9223372036854775807,"
      "\"b\":[true,false, [] ],\"b\":1 } ";
  g_autoptr (GString) seen = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  DynoJsonReader r;

  dyno_json_reader_init (&r, text, strlen (text), G_MARKUP_ERROR, G_MARKUP_ERROR_PARSE);
  g_assert_cmpint (dyno_json_peek (&r), ==, DYNO_JSON_OBJECT);
  g_assert_true (dyno_json_read_members (&r, DYNO_JSON_OBJECT, print_member, seen, &error));
  g_assert_cmpstr (seen->str, ==, "kü:a\tb😀 n:-9223372036854775807 b:-:1 -:0 -:b:1 ");
  g_assert_true (dyno_json_read_end (&r, &error));
  g_assert_no_error (error);
}

/* A member callback that refuses its value ends the walk, which returns the callback's error. */
static void
test_a_member_refuses (void)
{
  static const char text[] = "[true, \"no\", 1.5, 2]";
  g_autoptr (GString) seen = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  DynoJsonReader r;

  dyno_json_reader_init (&r, text, strlen (text), G_MARKUP_ERROR, G_MARKUP_ERROR_PARSE);
  g_assert_false (dyno_json_read_members (&r, DYNO_JSON_ARRAY, print_member, seen, &error));
  g_assert_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_PARSE);
  g_assert_cmpstr (seen->str, ==, "-:1 -:no -:");
}

static void
test_integers (void)
{
  static const char *const texts[] = { "[9223372036854775808]", "[1.0]", "[1e3]", "[\"1\"]" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      DynoJsonReader r;
      gint64 number;

      dyno_json_reader_init (&r, texts[i] + 1, strlen (texts[i]) - 1, G_MARKUP_ERROR,
                             G_MARKUP_ERROR_PARSE);
      g_assert_false (dyno_json_read_integer (&r, &number, &error));
      g_assert_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_PARSE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/jsonread/valid", test_valid);
  g_test_add_func ("/base/jsonread/wrong", test_wrong);
  g_test_add_func ("/base/jsonread/nesting-takes-no-stack", test_nesting_takes_no_stack);
  g_test_add_func ("/base/jsonread/values", test_values);
  g_test_add_func ("/base/jsonread/a-member-refuses", test_a_member_refuses);
  g_test_add_func ("/base/jsonread/integers", test_integers);
  return g_test_run ();
}
