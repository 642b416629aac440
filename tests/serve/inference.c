/* SPDX-License-Identifier: MIT */
/* Requests and answers of the protocol: valid ones in all forms, and hostile ones, each of which is
 * refused with a message that names the field. */
#include "serve-test.h"
#include <math.h>
#include <string.h>

#define PICTURE "\"name\": \"input\", \"datatype\": \"UINT8\", \"shape\": [1, 2, 2, 3]"
#define PIXELS  "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255"

static const guint8 pixels[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255 };

static void
check_pixels (DynoInferRequest *request, const GError *error)
{
  g_assert_no_error (error);
  g_assert_cmpuint (request->n, ==, 1);
  g_assert_cmpmem (request->samples, request->size_bytes, pixels, sizeof pixels);
  dyno_infer_request_free (request);
}

/* --- valid ------------------------------------------------------------------------------------ */

static void
test_json (void)
{
  static const char *const forms[] = {
    "{\"inputs\": [{" PICTURE ", \"data\": [" PIXELS "]}]}",
    "{\"inputs\": [{\"data\": [[[[1,2,3],[4,5,6]],[[7,8,9],[10,11,255]]]], " PICTURE "}]}",
    "{\"later\": {\"a\": [1]}, \"parameters\": {\"priority\": 1}, \"inputs\": [{" PICTURE
    ", \"parameters\": {\"x\": 1}, \"y\": [2], \"data\": [ " PIXELS " ] }] }\n",
    "{\"inputs\": [{\"shape\": [7, 7, 7], \"name\": \"x\", \"datatype\": \"FP32\", \"data\": "
    "[1], " PICTURE ", \"data\": [" PIXELS
    "]}]}", /* of members that are there twice, the last ones count */
  };
  DynoSignature signature;

  test_signature_image (&signature, 3);
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      g_autoptr (GError) error = NULL;

      check_pixels (test_request (&signature, forms[i], NULL, 0, &error), error);
    }
}

static void
test_binary (void)
{
  static const char *const forms[] = {
    "{\"inputs\": [{" PICTURE ", \"parameters\": {\"binary_data_size\": 12}}]}",
    "{\"inputs\": [{\"parameters\": {\"binary_data_size\": 12}, " PICTURE "}], \"id\": \"x\"}",
  };
  DynoSignature signature;

  test_signature_image (&signature, 3);
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      g_autoptr (GError) error = NULL;

      check_pixels (test_request (&signature, forms[i], pixels, sizeof pixels, &error), error);
    }
}

/* An image file as the body, in base64, and as binary data, where two files make two samples. */
static void
test_image_files (void)
{
  g_autoptr (GByteArray) file = test_png (pixels, 2, 2, 3), scratch = g_byte_array_new (),
                         twice = g_byte_array_new ();
  g_autofree char *base64 = g_base64_encode (file->data, file->len), *json = NULL, *header = NULL;
  g_autoptr (GError) error = NULL;
  guint32 length = GUINT32_TO_LE (file->len);
  DynoSignature signature;

  test_signature_image (&signature, 3);
  check_pixels (dyno_infer_request_new (&signature, "image/png", -1, file->data, file->len, 4096,
                                        scratch, &error),
                error);
  json = g_strdup_printf ("{\"inputs\": [{\"name\": \"input\", \"datatype\": \"BYTES\", \"shape\": "
                          "[1], \"data\": [\"%s\"]}]}",
                          base64);
  check_pixels (test_request (&signature, json, NULL, 0, &error), error);
  for (guint i = 0; i < 2; i++)
    {
      g_byte_array_append (twice, (const guint8 *) &length, 4);
      g_byte_array_append (twice, file->data, file->len);
    }
  header = g_strdup_printf ("{\"inputs\": [{\"name\": \"input\", \"datatype\": \"BYTES\", "
                            "\"shape\": [2], \"parameters\": {\"binary_data_size\": %u}}]}",
                            twice->len);
  g_autoptr (DynoInferRequest) request =
      test_request (&signature, header, twice->data, twice->len, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (request->n, ==, 2);
  g_assert_cmpmem (request->samples + 12, 12, pixels, sizeof pixels);
  /* Neither more files nor fewer than the shape has. */
  for (guint n = 1; n <= 3; n += 2)
    {
      g_autofree char *other = g_strdup_printf (
          "{\"inputs\": [{\"name\": \"input\", \"datatype\": \"BYTES\", \"shape\": "
          "[%u], \"parameters\": {\"binary_data_size\": %u}}]}",
          n, twice->len);
      g_autoptr (GError) problem = NULL;
      g_assert_null (test_request (&signature, other, twice->data, twice->len, &problem));
      g_assert_error (problem, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_BAD_REQUEST);
      g_assert_nonnull (strstr (problem->message, "its size in 4 bytes"));
    }
}

/* Pixels of another size are prepared as a file with these pixels is, for each number of
 * channels. */
static void
test_pictures_are_prepared_as_files (void)
{
  guint8 large[7 * 5 * 3];

  for (guint i = 0; i < sizeof large; i++)
    large[i] = (guint8) (i * 37 + i * i);
  for (guint channels = 1; channels <= 3; channels += 2)
    for (guint own = 1; own <= 3; own += 2)
      {
        g_autoptr (GByteArray) file = test_png (large, 7, 5, channels),
                               scratch = g_byte_array_new ();
        g_autofree char *json =
            g_strdup_printf ("{\"inputs\": [{\"name\": \"input\", \"datatype\": \"UINT8\", "
                             "\"shape\": [1, 5, 7, %u], "
                             "\"parameters\": {\"binary_data_size\": %u}}]}",
                             channels, 35 * channels);
        g_autoptr (GError) error = NULL;
        DynoSignature signature;

        test_signature_image (&signature, own);
        g_autoptr (DynoInferRequest) sent =
            test_request (&signature, json, large, 35 * channels, &error);
        g_assert_no_error (error);
        g_autoptr (DynoInferRequest) read = dyno_infer_request_new (
            &signature, "image/png", -1, file->data, file->len, 4096, scratch, &error);
        g_assert_no_error (error);
        g_assert_cmpmem (sent->samples, sent->size_bytes, read->samples, read->size_bytes);
      }
}

static void
test_numbers (void)
{
  static const float floats[] = { -1.5f, 0.1f, 3e38f, 4 };
  static const gint32 words[] = { G_MININT32, 7, 0, G_MAXINT32 };
  g_autoptr (GError) error = NULL;
  DynoSignature signature;

  test_signature_values (&signature);
  g_autoptr (DynoInferRequest) values = test_request (
      &signature,
      "{\"inputs\": [{\"name\": \"input\", \"datatype\": \"FP32\", \"shape\": [2, 2], \"data\": "
      "[-1.5, 0.1, 3e38, 4]}]}",
      NULL, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (values->samples, values->size_bytes, floats, sizeof floats);
  g_assert_cmpuint (values->n_outputs, ==, 1);
  test_signature_tokens (&signature);
  g_autoptr (DynoInferRequest) tokens = test_request (
      &signature,
      "{\"inputs\": [{\"name\": \"input\", \"datatype\": \"INT32\", \"shape\": [1, 4], \"data\": "
      "[[-2147483648, 7, 0, 2147483647]]}]}",
      NULL, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (tokens->samples, tokens->size_bytes, words, sizeof words);
  g_autoptr (DynoInferRequest) digits =
      test_request (&signature,
                    "{\"inputs\":[{\"name\":\"input\",\"datatype\":\"INT32\",\"shape\":[1,4],"
                    "\"data\":[1,2,3,4]}]}",
                    NULL, 0, &error);
  g_assert_no_error (error); /* the shortest text that holds so many */
  g_assert_cmpint (((const gint32 *) (gconstpointer) digits->samples)[3], ==, 4);
}

/* Each sample is padded to the longest one, and has its length. */
static void
test_sequences (void)
{
  static const float floats[] = { 1, 2, 3, 4, 9, 9, 5, 6, 7, 8, 9, 9 };
  g_autoptr (GError) error = NULL;
  DynoSignature signature;

  test_signature_sequence (&signature);
  g_autoptr (DynoInferRequest) request = test_request (
      &signature,
      "{\"inputs\": [{\"name\": \"input\", \"datatype\": \"FP32\", \"shape\": [2, 2, 2], \"data\": "
      "[1, 2, 3, 4, 5, 6, 7, 8]}]}",
      NULL, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (request->samples, request->size_bytes, floats, sizeof floats);
  g_assert_cmpint (request->lengths[0], ==, 2);
  g_assert_cmpint (request->lengths[1], ==, 2);
  for (gint32 n = 1; n <= 4; n++)
    {
      static const float three[] = { 1, 2, 3, 4, 5, 6 };
      g_autofree char *json = g_strdup_printf (
          "{\"inputs\": [{\"name\": \"input\", \"datatype\": \"FP32\", \"shape\": [1, %d, 2], "
          "\"data\": [%.*s]}]}",
          n, 6 * n - 2, "1, 2, 3, 4, 5, 6, 7, 8");
      g_autoptr (GError) problem = NULL;
      g_autoptr (DynoInferRequest) one = test_request (&signature, json, NULL, 0, &problem);
      if (n == 4) /* longer than the longest one */
        {
          g_assert_error (problem, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_BAD_REQUEST);
          g_assert_nonnull (strstr (problem->message, "[N, 1 to 3, 2]"));
          continue;
        }
      g_assert_no_error (problem);
      g_assert_cmpint (one->lengths[0], ==, n);
      g_assert_cmpmem (one->samples, 8 * (gsize) n, three, 8 * (gsize) n);
      for (gint32 i = 2 * n; i < 6; i++)
        g_assert_cmpfloat (((const float *) (gconstpointer) one->samples)[i], ==, 9);
    }
}

/* --- hostile ---------------------------------------------------------------------------------- */

#define INPUT(members) "{\"inputs\": [{" members "}]}"
#define BYTES          "\"name\": \"input\", \"datatype\": \"BYTES\", "
#define UINT8          "\"name\": \"input\", \"datatype\": \"UINT8\", "

static const struct {
  const char *json, *binary, *names;
  DynoServeError code;
} hostile[] = {
  { "", NULL, "byte 0", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "[]", NULL, "an object", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{}", NULL, "inputs", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"inputs\": 1}", NULL, "an array", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"inputs\": []}", NULL, "inputs", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"inputs\": [1]}", NULL, "inputs[0]", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"inputs\": [{}]}", NULL, "inputs[0].name", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"inputs\": [{}, {}]}", NULL, "one input", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [" PIXELS "]") "x", NULL, "the end", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"inputs\": [], \"inputs\": []}", NULL, "inputs", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"id\": 5, \"inputs\": []}", NULL, "id", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT ("\"name\": \"other\""), NULL, "inputs[0].name", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT ("\"name\": [\"input\"]"), NULL, "a string", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT ("\"name\": \"input\", \"datatype\": \"UINT8\""), NULL, "inputs[0].shape",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT ("\"name\": \"input\", \"shape\": [1]"), NULL, "inputs[0].datatype",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT ("\"name\": \"input\", \"datatype\": \"FP64\", \"shape\": [1, 2, 2, 3]"), NULL,
    "inputs[0].datatype", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": []"), NULL, "inputs[0].shape", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [1, 2, 3]"), NULL, "inputs[0].shape", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [1, 2, 2, 3, 1]"), NULL, "inputs[0].shape",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [1, 2, 2, 3, 1, 1]"), NULL, "axes", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [-1, 2, 2, 3]"), NULL, "-1 is no size", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [0, 2, 2, 3]"), NULL, "inputs[0].shape",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [1, 2, 2, 4]"), NULL, "inputs[0].shape",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [1, 2.0, 2, 3]"), NULL, "integer", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [99999999999999999999, 2, 2, 3]"), NULL, "integer",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [9223372036854775807, 2, 2, 3]"), NULL, "is no size",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [2147483647, 32768, 3000, 3]"), NULL, "send fewer",
    DYNO_SERVE_ERROR_TOO_LARGE },
  { INPUT (UINT8 "\"shape\": [1, 32768, 32768, 3]"), NULL, "pixels", DYNO_SERVE_ERROR_TOO_LARGE },
  { INPUT (UINT8 "\"shape\": [1, 32769, 1, 3]"), NULL, "inputs[0].shape",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (UINT8 "\"shape\": [342, 1, 1, 3], \"data\": [1]"), NULL, "send fewer",
    DYNO_SERVE_ERROR_TOO_LARGE },
  { INPUT (UINT8 "\"shape\": [1, 10000, 10000, 3], \"data\": [1]"), NULL, "fewer",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE), NULL, "inputs[0].data", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [1, 2]"), NULL, "inputs[0].data", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [" PIXELS ", 1]"), NULL, "more elements than",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [256, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"), NULL, "element 0",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [1, -1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"), NULL, "element 1",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [1, 2.5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"), NULL, "element 1",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [1, \"2\", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"), NULL, "a number",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": {\"a\": \"bbbbbbbbbbbbbbbbbbbbbb\"}"), NULL, "an array",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [[" PIXELS "]]"), NULL, "axis 1", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [[[[1,2,3],[4,5]],[[6,7,8],[9,10,11,12]]]]"), NULL, "axis 3",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [[[[[1,2,3],[4,5,6]],[[7,8,9],[10,11,12]]]]]"), NULL, "nested",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"data\": [" PIXELS "]"), "left over", "binary_data_size",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"parameters\": {\"binary_data_size\": 12}"), NULL, "binary_data_size",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"parameters\": {\"binary_data_size\": -12}"), "123456789012",
    "binary_data_size", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"parameters\": {\"binary_data_size\": 13}"), "123456789012",
    "binary_data_size", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"parameters\": {\"binary_data_size\": 11}"), "12345678901",
    "its shape is of 12", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (PICTURE ", \"parameters\": {\"binary_data_size\": \"12\"}"), "123456789012", "inputs[0]",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (BYTES "\"shape\": [1, 1], \"data\": [\"aaaa\"]"), NULL, "inputs[0].shape",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (BYTES "\"shape\": [1], \"data\": [\"%%%%\"]"), NULL, "base64",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (BYTES "\"shape\": [1], \"data\": [\"\"]"), NULL, "base64",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (BYTES "\"shape\": [1], \"data\": [1]"), NULL, "a string", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (BYTES "\"shape\": [1], \"data\": [\"aaaa\", \"aaaa\"]"), NULL, "2 texts",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (BYTES "\"shape\": [1], \"data\": [\"aaaa\"]"), NULL, "inputs[0].data: element 0",
    DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (BYTES "\"shape\": [2147483647], \"data\": [\"aaaa\"]"), NULL, "send fewer",
    DYNO_SERVE_ERROR_TOO_LARGE },
  { INPUT (BYTES "\"shape\": [1], \"parameters\": {\"binary_data_size\": 8}"),
    "\xff\xff\xff\x7f"
    "abcd",
    "its size in 4 bytes", DYNO_SERVE_ERROR_BAD_REQUEST },
  { INPUT (BYTES "\"shape\": [1], \"parameters\": {\"binary_data_size\": 3}"), "abc",
    "its size in 4 bytes", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"outputs\": [{}], \"inputs\": [{" PICTURE ", \"data\": [" PIXELS "]}]}", NULL,
    "outputs[0].name", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"outputs\": [{\"name\": \"values\"}], \"inputs\": [{" PICTURE ", \"data\": [" PIXELS "]}]}",
    NULL, "outputs[0].name", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"outputs\": [], \"outputs\": [], \"inputs\": [{" PICTURE ", \"data\": [" PIXELS "]}]}", NULL,
    "outputs: it is there twice", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"outputs\": [{\"name\": \"class\"}, {\"name\": \"class\"}], \"inputs\": [{" PICTURE
    ", \"data\": [" PIXELS "]}]}",
    NULL, "outputs[1]", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"outputs\": [{\"name\": \"class\", \"parameters\": {\"classification\": 1}}], \"inputs\": "
    "[{" PICTURE ", \"data\": [" PIXELS "]}]}",
    NULL, "outputs[0].parameters.classification", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"outputs\": [{\"name\": \"probabilities\", \"parameters\": {\"classification\": 1}}, "
    "{\"name\": "
    "\"probabilities\", \"parameters\": {\"classification\": 2}}], \"inputs\": [{" PICTURE
    ", \"data\": [" PIXELS "]}]}",
    NULL, "outputs[1]", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"outputs\": [{\"name\": \"probabilities\", \"parameters\": {\"classification\": -1}}], "
    "\"inputs\": [{" PICTURE ", \"data\": [" PIXELS "]}]}",
    NULL, "classification", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"outputs\": [{\"name\": \"class\", \"parameters\": {\"binary_data\": 1}}], \"inputs\": "
    "[{" PICTURE ", \"data\": [" PIXELS "]}]}",
    NULL, "outputs[0]", DYNO_SERVE_ERROR_BAD_REQUEST },
  { "{\"parameters\": {\"binary_data_output\": 1}, \"inputs\": []}", NULL,
    "parameters.binary_data_output", DYNO_SERVE_ERROR_BAD_REQUEST },
};

static void
test_hostile (void)
{
  DynoSignature signature;

  test_signature_image (&signature, 3);
  for (guint i = 0; i < G_N_ELEMENTS (hostile); i++)
    {
      g_autoptr (GError) error = NULL;
      DynoInferRequest *request =
          test_request (&signature, hostile[i].json, hostile[i].binary,
                        hostile[i].binary ? strlen (hostile[i].binary) : 0, &error);

      g_test_message ("%s: %s", hostile[i].json, error ? error->message : "no error");
      g_assert_null (request);
      g_assert_error (error, DYNO_SERVE_ERROR, (int) hostile[i].code);
      g_assert_nonnull (strstr (error->message, hostile[i].names));
    }
}

/* A body that is truncated anywhere is refused, and nothing past it is read. */
static void
test_cut_bodies (void)
{
  static const char whole[] =
      "{\"id\": \"\\u00e9\", \"inputs\": [{" PICTURE ", \"data\": [" PIXELS
      "]}], \"outputs\": [{\"name\": \"class\", \"parameters\": {\"binary_data\": true}}]}";
  DynoSignature signature;

  test_signature_image (&signature, 3);
  for (gsize length = 0; length < strlen (whole); length++)
    {
      g_autofree char *cut = g_strndup (whole, length);
      g_autoptr (GError) error = NULL;

      g_assert_null (test_request (&signature, cut, NULL, 0, &error));
      g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_BAD_REQUEST);
    }
}

static void
test_hostile_headers (void)
{
  static const char body[] = "{\"inputs\": []}";
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  DynoSignature image, values;
  GError *error = NULL;

  test_signature_image (&image, 3);
  test_signature_values (&values);
  g_assert_null (dyno_infer_request_new (&image, NULL, sizeof body + 1, (const guint8 *) body,
                                         strlen (body), 4096, scratch, &error));
  g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_BAD_REQUEST);
  g_assert_nonnull (strstr (error->message, "Inference-Header-Content-Length"));
  g_clear_error (&error);
  g_assert_null (dyno_infer_request_new (&values, "image/jpeg", -1, (const guint8 *) body,
                                         strlen (body), 4096, scratch, &error));
  g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_MEDIA_TYPE);
  g_clear_error (&error);
  g_assert_null (dyno_infer_request_new (&image, "image/jpeg", -1, NULL, 0, 4096, scratch, &error));
  g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_BAD_REQUEST);
  g_clear_error (&error);
}

/* A small file that declares a huge picture is refused because of its header. */
static void
test_picture_bomb (void)
{
  g_autoptr (GByteArray) file = test_png (pixels, 2, 2, 3), scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  DynoSignature signature;

  test_signature_image (&signature, 3);
  memcpy (file->data + 16, "\x00\x00\x7f\xff\x00\x00\x7f\xff", 8); /* IHDR: width, height */
  g_assert_null (dyno_infer_request_new (&signature, "image/png", -1, file->data, file->len, 4096,
                                         scratch, &error));
  g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_TOO_LARGE);
  g_assert_cmpuint (scratch->len, <=, 4096);
}

static void
test_number_beyond_fp32 (void)
{
  g_autoptr (GError) error = NULL;
  DynoSignature signature;

  test_signature_values (&signature);
  g_assert_null (test_request (
      &signature,
      INPUT ("\"name\": \"input\", \"datatype\": \"FP32\", \"shape\": [1, 2], \"data\": [1, 1e39]"),
      NULL, 0, &error));
  g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_BAD_REQUEST);
  g_assert_nonnull (strstr (error->message, "element 1"));
}

/* --- answers ---------------------------------------------------------------------------------- */

static char *
answer (const DynoSignature *signature, const char *members, gint64 *header_length, gsize *size)
{
  static const float outputs[] = { 0.25f, 0.5f, 0.25f };
  g_autofree char *json =
      g_strdup_printf ("{%s \"inputs\": [{" PICTURE ", \"data\": [" PIXELS "]}]}", members);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoInferRequest) request = test_request (signature, json, NULL, 0, &error);

  g_assert_no_error (error);
  return g_bytes_unref_to_data (
      dyno_infer_response_new (signature, request, outputs, header_length), size);
}

static void
check_answer (const char *members, const char *expected)
{
  DynoSignature signature;
  gint64 header_length;
  gsize size;

  test_signature_image (&signature, 3);
  g_autofree char *text = answer (&signature, members, &header_length, &size);
  g_autofree char *shown = g_strndup (text, size);
  g_assert_cmpint (header_length, ==, -1);
  g_assert_cmpstr (shown, ==, expected);
}

static void
test_answers (void)
{
  check_answer ("\"id\": \"a\\n7\",",
                "{\"model_name\": \"zoo\", \"model_version\": \"1\", \"id\": \"a\\n7\", "
                "\"outputs\": [{\"name\": \"probabilities\", \"datatype\": \"FP32\", \"shape\": "
                "[1, 3], \"data\": [0.25, 0.5, 0.25]}, {\"name\": \"class\", \"datatype\": "
                "\"BYTES\", \"shape\": [1], \"data\": [\"bee \\\"b\\\"\"]}]}");
  check_answer ("\"outputs\": [{\"name\": \"probabilities\", \"parameters\": {\"classification\": "
                "2}}],",
                "{\"model_name\": \"zoo\", \"model_version\": \"1\", \"outputs\": [{\"name\": "
                "\"probabilities\", \"datatype\": \"BYTES\", \"shape\": [1, 2], \"data\": "
                "[\"0.5:1:bee \\\"b\\\"\", \"0.25:0:ant\"]}]}");
  /* No more than there are; the first of equal ones; and beside all of them. */
  check_answer (
      "\"outputs\": [{\"name\": \"probabilities\"}, {\"name\": \"probabilities\", "
      "\"parameters\": {\"classification\": 9}}],",
      "{\"model_name\": \"zoo\", \"model_version\": \"1\", \"outputs\": [{\"name\": "
      "\"probabilities\", \"datatype\": \"FP32\", \"shape\": [1, 3], \"data\": [0.25, 0.5, "
      "0.25]}, {\"name\": \"probabilities\", \"datatype\": \"BYTES\", \"shape\": [1, 3], "
      "\"data\": [\"0.5:1:bee \\\"b\\\"\", \"0.25:0:ant\", \"0.25:2:cat\"]}]}");
}

/* Each sample of a request has its own outputs, in JSON and in binary data. */
static void
test_answers_of_two_samples (void)
{
  static const float outputs[] = { 0.25f, 0.5f, 0.25f, 0, 0.25f, 0.75f };
  static const char members[] =
      "\"inputs\": [{\"name\": \"input\", \"datatype\": \"UINT8\", \"shape\": [2, 2, 2, 3], "
      "\"data\": "
      "[" PIXELS ", " PIXELS "]}], \"outputs\": [{\"name\": \"class\"}, {\"name\": "
      "\"probabilities\", \"parameters\": {\"binary_data\": true}}, {\"name\": \"probabilities\", "
      "\"parameters\": {\"classification\": 1}}]";
  g_autofree char *json = g_strdup_printf ("{%s}", members);
  g_autoptr (GError) error = NULL;
  DynoSignature signature;
  gint64 header_length;
  gsize size;

  test_signature_image (&signature, 3);
  g_autoptr (DynoInferRequest) request = test_request (&signature, json, NULL, 0, &error);
  g_assert_no_error (error);
  g_autofree char *text = g_bytes_unref_to_data (
      dyno_infer_response_new (&signature, request, outputs, &header_length), &size);
  g_autofree char *shown = g_strndup (text, (gsize) header_length);
  g_assert_nonnull (strstr (shown, "\"shape\": [2], \"data\": [\"bee \\\"b\\\"\", \"cat\"]"));
  g_assert_nonnull (
      strstr (shown, "\"shape\": [2, 3], \"parameters\": {\"binary_data_size\": 24}"));
  g_assert_nonnull (
      strstr (shown, "\"shape\": [2, 1], \"data\": [\"0.5:1:bee \\\"b\\\"\", \"0.75:2:cat\"]"));
  g_assert_cmpmem (text + header_length, size - (gsize) header_length, outputs, sizeof outputs);
}

/* A sample has the labels that are at least as likely as not, the most probable first. */
static void
test_labels (void)
{
  static const struct {
    float outputs[3];
    const char *members, *expected;
  } cases[] = {
    { { 0.5f, 0.9375f, 0.25f },
      "",
      "[{\"name\": \"probabilities\", \"datatype\": \"FP32\", \"shape\": [1, 3], \"data\": [0.5, "
      "0.9375, 0.25]}, {\"name\": \"labels\", \"datatype\": \"BYTES\", \"shape\": [1], \"data\": "
      "[\"bee \\\"b\\\"|ant\"]}]}" },
    { { 0.125f, 0.25f, 0.0625f },
      "\"outputs\": [{\"name\": \"labels\"}],",
      "[{\"name\": \"labels\", \"datatype\": \"BYTES\", \"shape\": [1], \"data\": [\"\"]}]}" },
    { { 0.5f, 0.9375f, 0.25f },
      "\"outputs\": [{\"name\": \"probabilities\", \"parameters\": {\"classification\": 2}}],",
      "[{\"name\": \"probabilities\", \"datatype\": \"BYTES\", \"shape\": [1, 2], \"data\": "
      "[\"0.9375:1:bee \\\"b\\\"\", \"0.5:0:ant\"]}]}" },
  };
  DynoSignature signature;

  test_signature_labels (&signature);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *json = g_strdup_printf (
          "{%s \"inputs\": [{" PICTURE ", \"data\": [" PIXELS "]}]}", cases[i].members);
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoInferRequest) request = test_request (&signature, json, NULL, 0, &error);
      g_autofree char *whole = g_strconcat (
          "{\"model_name\": \"zoo\", \"model_version\": \"1\", \"outputs\": ", cases[i].expected,
          NULL);
      gint64 header_length;
      gsize size;

      g_assert_no_error (error);
      g_autofree char *text = g_bytes_unref_to_data (
          dyno_infer_response_new (&signature, request, cases[i].outputs, &header_length), &size);
      g_autofree char *shown = g_strndup (text, size);
      g_assert_cmpstr (shown, ==, whole);
    }
  g_autoptr (GError) error = NULL;
  g_assert_null (test_request (&signature,
                               "{\"outputs\": [{\"name\": \"class\"}], \"inputs\": [{" PICTURE
                               ", \"data\": [" PIXELS "]}]}",
                               NULL, 0, &error));
  g_assert_nonnull (strstr (error->message, "“probabilities” and “labels”"));
}

/* The JSON has the number of bytes of each output that follows it. */
static void
test_binary_answer (void)
{
  static const float shares[] = { 0.25f, 0.5f, 0.25f };
  DynoSignature signature;
  gint64 header_length;
  gsize size;

  test_signature_image (&signature, 3);
  g_autofree char *text =
      answer (&signature, "\"parameters\": {\"binary_data_output\": true},", &header_length, &size);
  g_autofree char *json = g_strndup (text, (gsize) header_length);
  g_assert_cmpstr (json, ==,
                   "{\"model_name\": \"zoo\", \"model_version\": \"1\", \"outputs\": [{\"name\": "
                   "\"probabilities\", \"datatype\": \"FP32\", \"shape\": [1, 3], \"parameters\": "
                   "{\"binary_data_size\": 12}}, {\"name\": \"class\", \"datatype\": \"BYTES\", "
                   "\"shape\": [1], \"parameters\": {\"binary_data_size\": 11}}]}");
  g_assert_cmpuint (size, ==, (gsize) header_length + 12 + 11);
  g_assert_cmpmem (text + header_length, 12, shares, sizeof shares);
  g_assert_cmpmem (text + header_length + 12, 11,
                   "\x07\x00\x00\x00"
                   "bee \"b\"",
                   11);
}

/* Each output may be binary or JSON, independently of the others. */
static void
test_mixed_answer (void)
{
  DynoSignature signature;
  gint64 header_length;
  gsize size;

  test_signature_image (&signature, 3);
  g_autofree char *text =
      answer (&signature,
              "\"outputs\": [{\"name\": \"class\"}, {\"name\": \"probabilities\", \"parameters\": "
              "{\"binary_data\": true}}],",
              &header_length, &size);
  g_assert_cmpuint (size, ==, (gsize) header_length + 12);
  g_assert_nonnull (g_strstr_len (text, header_length, "\"data\": [\"bee"));
}

/* The parameter of the request is for the outputs that have none of their own. */
static void
test_own_parameter_of_an_output (void)
{
  static const struct {
    const char *all, *own;
    gboolean binary[2];
  } cases[] = {
    { "true", "true", { TRUE, TRUE } },
    { "true", "false", { TRUE, FALSE } },
    { "false", "true", { FALSE, TRUE } },
    { "false", "false", { FALSE, FALSE } },
  };
  DynoSignature signature;

  test_signature_image (&signature, 3);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++)
    {
      gboolean first = i % 2;
      g_autofree char *own = g_strdup_printf ("{\"name\": \"class\", \"parameters\": "
                                              "{\"binary_data\": %s}}",
                                              cases[i / 2].own),
                      *json = g_strdup_printf (
                          "{\"outputs\": [%s%s{\"name\": \"probabilities\"}%s%s"
                          "], \"inputs\": [{" PICTURE ", \"data\": [" PIXELS "]}], "
                          "\"parameters\": {\"binary_data_output\": %s}}",
                          first ? own : "", first ? ", " : "", first ? "" : ", ", first ? "" : own,
                          cases[i / 2].all);
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoInferRequest) request = test_request (&signature, json, NULL, 0, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (request->n_outputs, ==, 2);
      g_assert_cmpint (request->outputs[first].binary, ==, cases[i / 2].binary[0]);
      g_assert_cmpint (request->outputs[!first].binary, ==, cases[i / 2].binary[1]);
    }
}

static char *
describe (const DynoSignature *signature)
{
  DynoJson json;
  char *text;

  dyno_json_init (&json, 0);
  dyno_signature_write (signature, &json);
  text = dyno_json_steal (&json);
  dyno_json_clear (&json);
  return text;
}

static void
test_metadata (void)
{
  DynoSignature image, values, sequence, masks, labels;

  test_signature_image (&image, 1);
  test_signature_values (&values);
  test_signature_sequence (&sequence);
  test_signature_masks (&masks);
  test_signature_labels (&labels);
  g_autofree char *of_image = describe (&image), *of_values = describe (&values),
                  *of_sequence = describe (&sequence), *of_masks = describe (&masks),
                  *of_labels = describe (&labels);
  g_assert_nonnull (strstr (of_image, "\"datatype\": \"UINT8\", \"shape\": [-1, -1, -1, 1]"));
  g_assert_nonnull (strstr (of_image, "\"labels\": [\"ant\", \"bee \\\"b\\\"\", \"cat\"]"));
  g_assert_nonnull (strstr (of_image, "\"colour\": \"grey\""));
  g_assert_nonnull (strstr (of_image, "\"cat\"]}}, {\"name\": \"class\", \"datatype\": \"BYTES\", "
                                      "\"shape\": [-1]}]"));
  g_assert_nonnull (strstr (of_labels,
                            "\"cat\"], \"of\": \"each label by itself: their sum is not 1\""
                            "}}, {\"name\": \"labels\", \"datatype\": \"BYTES\", "
                            "\"shape\": [-1], \"parameters\": {\"of\": \"the names of"));
  g_assert_nonnull (strstr (of_labels, "a probability of 0.5 or more, the most probable first"));
  g_assert_null (strstr (of_labels, "threshold"));
  DynoWeightsInfo calibrated = *labels.info;
  float thresholds[] = { 0.25f, 0.5f, 0.75f };
  calibrated.thresholds = thresholds;
  labels.info = &calibrated;
  g_autofree char *of_calibrated = describe (&labels);
  g_assert_nonnull (strstr (of_calibrated, "a probability of their threshold or more, the most"));
  g_assert_nonnull (strstr (of_calibrated, "\"thresholds\": [0.25, 0.5, 0.75]"));
  g_assert_nonnull (strstr (of_values, "\"datatype\": \"FP32\", \"shape\": [-1, 2]"));
  g_assert_nonnull (strstr (of_values, "\"names\": [\"yaw\", \"pitch\"]"));
  g_assert_nonnull (strstr (of_values, "\"units\": [\"degrees\", \"\"]"));
  g_assert_nonnull (strstr (of_sequence, "\"shape\": [-1, -1, 2]"));
  g_assert_nonnull (strstr (of_sequence, "\"longest\": 3"));
  g_assert_nonnull (strstr (of_masks,
                            "\"outputs\": [{\"name\": \"mask\", \"datatype\": \"UINT8\", "
                            "\"shape\": [-1, 2, 3], \"parameters\": {\"labels\": [\"ant\""));
  g_assert_nonnull (strstr (of_masks, "\"also\": \"send the image file with Accept: image/png"));
  g_assert_nonnull (strstr (of_masks, "{\"name\": \"shares\", \"datatype\": \"FP32\", \"shape\": "
                                      "[-1, 3]"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/serve/request/json", test_json);
  g_test_add_func ("/serve/request/binary", test_binary);
  g_test_add_func ("/serve/request/image-files", test_image_files);
  g_test_add_func ("/serve/request/pictures-are-prepared-as-files",
                   test_pictures_are_prepared_as_files);
  g_test_add_func ("/serve/request/numbers", test_numbers);
  g_test_add_func ("/serve/request/sequences", test_sequences);
  g_test_add_func ("/serve/request/hostile", test_hostile);
  g_test_add_func ("/serve/request/cut-bodies", test_cut_bodies);
  g_test_add_func ("/serve/request/hostile-headers", test_hostile_headers);
  g_test_add_func ("/serve/request/picture-bomb", test_picture_bomb);
  g_test_add_func ("/serve/request/number-beyond-fp32", test_number_beyond_fp32);
  g_test_add_func ("/serve/response/json", test_answers);
  g_test_add_func ("/serve/response/labels", test_labels);
  g_test_add_func ("/serve/response/two-samples", test_answers_of_two_samples);
  g_test_add_func ("/serve/response/binary", test_binary_answer);
  g_test_add_func ("/serve/response/mixed", test_mixed_answer);
  g_test_add_func ("/serve/request/own-parameter-of-an-output", test_own_parameter_of_an_output);
  g_test_add_func ("/serve/signature/metadata", test_metadata);
  return g_test_run ();
}
