/* SPDX-License-Identifier: MIT */
/* Answers of a model with a class for each pixel: masks as tensors and as images. */
#include "mask.h"
#include "serve-test.h"
#include <string.h>

#define MASK_REQUEST(members)                                                                     \
  "{" members "\"inputs\": [{\"name\": \"input\", \"datatype\": \"UINT8\", \"shape\": [2, 1, 1, " \
  "1], \"data\": [1, 2]}]}"

static const guint8 two_masks[] = { 0, 2, 2, 1, 0, 2, 1, 1, 1, 1, 1, 1 };

static char *
answer_masks (const char *json, gint64 *header_length, gsize *size)
{
  g_autoptr (DynoInferRequest) request = NULL;
  g_autoptr (GError) error = NULL;
  DynoSignature signature;

  test_signature_masks (&signature);
  request = test_request (&signature, json, NULL, 0, &error);
  g_assert_no_error (error);
  return g_bytes_unref_to_data (
      dyno_infer_response_new (&signature, request, two_masks, header_length), size);
}

static void
test_mask_answers (void)
{
  gint64 header_length;
  gsize size;
  g_autofree char *text = answer_masks (MASK_REQUEST (""), &header_length, &size);
  g_autofree char *shown = g_strndup (text, size), *binary = NULL, *header = NULL;

  g_assert_cmpint (header_length, ==, -1);
  g_assert_cmpstr (
      shown, ==,
      "{\"model_name\": \"road\", \"model_version\": \"1\", \"outputs\": [{\"name\": \"mask\", "
      "\"datatype\": \"UINT8\", \"shape\": [2, 2, 3], \"data\": [0, 2, 2, 1, 0, 2, 1, 1, 1, 1, 1, "
      "1]}, {\"name\": \"shares\", \"datatype\": \"FP32\", \"shape\": [2, 3], \"data\": "
      "[0.3333333432674408, 0.1666666716337204, 0.5, 0, 1, 0], \"parameters\": {\"labels\": "
      "[\"ant\", \"bee \\\"b\\\"\", \"cat\"]}}]}");
  binary = answer_masks (MASK_REQUEST ("\"outputs\": [{\"name\": \"mask\", \"parameters\": "
                                       "{\"binary_data\": true}}], "),
                         &header_length, &size);
  header = g_strndup (binary, (gsize) header_length);
  g_assert_nonnull (strstr (header, "\"shape\": [2, 2, 3], \"parameters\": {\"binary_data_size\": "
                                    "12}}]}"));
  g_assert_cmpmem (binary + header_length, size - (gsize) header_length, two_masks,
                   sizeof two_masks);
}

/* An image file is answered with the shares and a text on the mask, or with the mask in the size of
 * the image. */
static void
test_mask_of_a_file (void)
{
  static const guint8 ids[] = { 0, 1, 2, 2, 1, 0 };
  static const guint8 expected[] = { 255, 0, 0, 1, 1, 2, 2, 255, 255, 0, 0, 1, 1, 2, 2, 255,
                                     255, 2, 2, 1, 1, 0, 0, 255, 255, 2, 2, 1, 1, 0, 0, 255 };
  const guint8 rgb[8 * 4 * 3] = { 0 };
  g_autoptr (GByteArray) file = test_png (rgb, 8, 4, 3), scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  DynoSignature signature;
  DynoMaskFacts facts;
  gint64 header_length;
  gsize size, at;

  test_signature_masks (&signature);
  g_autoptr (DynoInferRequest) request = dyno_infer_request_new (
      &signature, "image/png", -1, file->data, file->len, 4096, scratch, &error);
  g_assert_no_error (error);
  g_autofree char *text = g_bytes_unref_to_data (
      dyno_infer_response_new (&signature, request, ids, &header_length), &size);
  g_autofree char *shown = g_strndup (text, size);
  g_assert_null (strstr (shown, "\"name\": \"mask\""));
  g_assert_nonnull (strstr (shown, "\"mask\": \"send the image file with Accept: image/png"));

  g_assert_cmpuint (dyno_infer_response_png_bytes (request), ==, 64);
  g_autoptr (GBytes) png = dyno_infer_response_new_png (&signature, request, ids, &error);
  g_assert_no_error (error);
  g_byte_array_set_size (scratch, 0);
  g_byte_array_append (scratch, g_bytes_get_data (png, NULL), (guint) g_bytes_get_size (png));
  g_assert_true (dyno_mask_decode (scratch, 0, scratch->len, &facts, &at, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (facts.width, ==, 8);
  g_assert_true (facts.palette);
  g_assert_cmpmem (scratch->data + at, sizeof expected, expected, sizeof expected);
}

/* An image that is turned by its EXIF orientation is prepared as it is shown, and its mask has the
 * size that it is shown in. */
static void
test_mask_of_a_turned_file (void)
{
  /* a chunk of 26 bytes with the orientation 6: the first stored column is the first shown row */
  static const guint8 chunk[] = { 0, 0, 0, 26, 'e', 'X', 'I',  'f', 'M', 'M', 0, '*', 0,
                                  0, 0, 8, 0,  1,   1,   0x12, 0,   3,   0,   0, 0,   1,
                                  0, 6, 0, 0,  0,   0,   0,    0,   0,   0,   0, 0 };
  static const guint8 ids[] = { 0, 1, 2, 2, 1, 0 };
  static const guint8 expected[] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                     255, 0,   1,   1,   2,   2,   1,   1,   0,   255, 255,
                                     255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };
  guint8 rgb[8 * 4 * 3] = { 0 };
  g_autoptr (GByteArray) turned = g_byte_array_new (), scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  DynoSignature signature;
  DynoMaskFacts facts;
  gsize at;

  for (guint i = 0; i < 8 * 4; i++)
    rgb[3 * i + (i % 8 < 4 ? 0 : 2)] = 255; /* the left half is red, the right one blue */
  g_autoptr (GByteArray) file = test_png (rgb, 8, 4, 3);
  g_byte_array_append (turned, file->data, 33);
  g_byte_array_append (turned, chunk, sizeof chunk);
  g_byte_array_append (turned, file->data + 33, file->len - 33);
  test_signature_masks (&signature);
  g_autoptr (DynoInferRequest) request = dyno_infer_request_new (
      &signature, "image/png", -1, turned->data, turned->len, 4096, scratch, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (request->picture_width, ==, 4);
  g_assert_cmpuint (request->picture_height, ==, 8);
  for (guint i = 0; i < 2 * 3; i++)
    {
      g_assert_cmpuint (request->samples[3 * i + (i < 3 ? 0 : 2)], >, 200);
      g_assert_cmpuint (request->samples[3 * i + (i < 3 ? 2 : 0)], <, 55);
    }
  g_autoptr (GBytes) png = dyno_infer_response_new_png (&signature, request, ids, &error);
  g_assert_no_error (error);
  g_byte_array_set_size (scratch, 0);
  g_byte_array_append (scratch, g_bytes_get_data (png, NULL), (guint) g_bytes_get_size (png));
  g_assert_true (dyno_mask_decode (scratch, 0, scratch->len, &facts, &at, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (facts.width, ==, 4);
  g_assert_cmpmem (scratch->data + at, sizeof expected, expected, sizeof expected);
}

static void
test_mask_refusals (void)
{
  static const struct {
    const char *json, *names;
    DynoServeError code;
  } cases[] = {
    { MASK_REQUEST ("\"outputs\": [{\"name\": \"class\"}], "), "“mask” and “shares”",
      DYNO_SERVE_ERROR_BAD_REQUEST },
    { MASK_REQUEST (
          "\"outputs\": [{\"name\": \"mask\", \"parameters\": {\"classification\": 1}}], "),
      "classification", DYNO_SERVE_ERROR_BAD_REQUEST },
    { "{\"inputs\": [{\"name\": \"input\", \"datatype\": \"UINT8\", \"shape\": [33, 1, 1, 1], "
      "\"data\": [1]}]}",
      "send fewer", DYNO_SERVE_ERROR_TOO_LARGE },
  };
  DynoSignature signature;

  test_signature_masks (&signature);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (test_request (&signature, cases[i].json, NULL, 0, &error));
      g_assert_error (error, DYNO_SERVE_ERROR, (int) cases[i].code);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, cases[i].names));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/serve/masks/as-tensors", test_mask_answers);
  g_test_add_func ("/serve/masks/of-an-image-file", test_mask_of_a_file);
  g_test_add_func ("/serve/masks/of-a-turned-image-file", test_mask_of_a_turned_file);
  g_test_add_func ("/serve/masks/refusals", test_mask_refusals);
  return g_test_run ();
}
