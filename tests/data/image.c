/* SPDX-License-Identifier: MIT */
/* Decoding of images: every variant, scaling and cropping, and files that are not what they say. */
#include "data-test.h"
#include "image.h"
#include "resize.h"
#include <png.h>
#include <string.h>
#include <sys/resource.h>
#include <webp/encode.h>

static gboolean
decode (const GByteArray *file, guint width, guint height, guint8 *out, GError **error)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  g_byte_array_append (scratch, file->data, file->len);
  return dyno_image_decode (scratch, file->len, width, height, out, error);
}

static void
assert_pixel (const guint8 *pixel, int red, int green, int blue, int slack)
{
  g_assert_cmpint (ABS (pixel[0] - red), <=, slack);
  g_assert_cmpint (ABS (pixel[1] - green), <=, slack);
  g_assert_cmpint (ABS (pixel[2] - blue), <=, slack);
}

static void
test_jpeg_scales_and_crops (void)
{
  static const guint sizes[][2] = { { 64, 64 }, { 600, 400 }, { 400, 600 }, { 1000, 30 }, { 17, 901 }, { 8, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint progressive = 0; progressive < 2; progressive++)
      {
        g_autoptr (GByteArray) file = test_jpeg (sizes[i][0], sizes[i][1], 180, 90, 40, progressive);
        g_autoptr (GError) error = NULL;
        g_autofree guint8 *out = g_malloc (50 * 40 * 3);

        decode (file, 50, 40, out, &error);
        g_assert_no_error (error);
        assert_pixel (out, 200, 110, 60, 8); /* the brighter left half is still left: the middle was cut */
        assert_pixel (out + (39 * 50 + 49) * 3, 180, 90, 40, 8);
      }
}

static void
test_png_variants (void)
{
  static const struct {
    int type, depth, red, green, blue;
  } cases[] = {
    { PNG_COLOR_TYPE_RGB, 8, 200, 200, 200 },        { PNG_COLOR_TYPE_RGB, 16, 200, 200, 200 },
    { PNG_COLOR_TYPE_RGB_ALPHA, 8, 200, 200, 200 },  { PNG_COLOR_TYPE_RGB_ALPHA, 16, 200, 200, 200 },
    { PNG_COLOR_TYPE_GRAY, 8, 200, 200, 200 },       { PNG_COLOR_TYPE_GRAY, 16, 200, 200, 200 },
    { PNG_COLOR_TYPE_GRAY_ALPHA, 8, 200, 200, 200 }, { PNG_COLOR_TYPE_PALETTE, 8, 200, 100, 50 },
    { PNG_COLOR_TYPE_PALETTE, 1, 200, 100, 50 },     { PNG_COLOR_TYPE_PALETTE, 4, 200, 100, 50 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint interlaced = 0; interlaced < 2; interlaced++)
      {
        g_autoptr (GByteArray) file = test_png (33, 21, cases[i].type, cases[i].depth, interlaced);
        g_autoptr (GError) error = NULL;
        guint8 out[16 * 16 * 3];

        decode (file, 16, 16, out, &error);
        g_assert_no_error (error);
        for (guint p = 0; p < 16 * 16; p++)
          assert_pixel (out + p * 3, cases[i].red, cases[i].green, cases[i].blue, 1);
      }
}

static void
test_webp (void)
{
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 pixels[40 * 30 * 3], out[20 * 20 * 3], *encoded = NULL;
  gsize size;

  memset (pixels, 77, sizeof pixels);
  for (guint lossless = 0; lossless < 2; lossless++)
    {
      size = lossless ? WebPEncodeLosslessRGB (pixels, 40, 30, 120, &encoded)
                      : WebPEncodeRGB (pixels, 40, 30, 120, 90, &encoded);
      g_assert_cmpuint (size, >, 0);
      g_byte_array_set_size (file, 0);
      g_byte_array_append (file, encoded, (guint) size);
      WebPFree (encoded);
      decode (file, 20, 20, out, &error);
      g_assert_no_error (error);
      assert_pixel (out, 77, 77, 77, 2);
      g_byte_array_set_size (file, file->len / 2);
      g_assert_false (decode (file, 20, 20, out, &error));
      g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
      g_clear_error (&error);
    }
}

/* Cut at every length: never a crash, and never taken for whole while rows are missing. */
static void
test_truncated_is_refused (void)
{
  for (guint kind = 0; kind < 3; kind++)
    {
      g_autoptr (GByteArray) whole =
          kind == 2 ? test_png (64, 64, PNG_COLOR_TYPE_RGB, 8, FALSE) : test_jpeg (64, 64, 1, 200, 3, kind == 1);
      g_autoptr (GByteArray) cut = g_byte_array_new ();
      guint8 out[32 * 32 * 3];

      for (guint length = 0; length + 8 < whole->len; length += 3)
        {
          g_autoptr (GError) error = NULL;
          g_byte_array_set_size (cut, 0);
          g_byte_array_append (cut, whole->data, length);
          if (decode (cut, 32, 32, out, &error) && length < whole->len / 2)
            g_error ("kind %u, %u of %u bytes: taken for whole", kind, length, whole->len);
          g_assert_true (error == NULL || error->domain == DYNO_DATA_ERROR);
        }
    }
}

static void
put_be (guint8 *at, guint value, guint bytes)
{
  for (guint i = 0; i < bytes; i++)
    at[i] = (guint8) (value >> 8 * (bytes - 1 - i));
}

static long
peak_kilobytes (void)
{
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void
test_bombs_are_refused_flat (void)
{
  g_autoptr (GByteArray) png = test_png (8, 8, PNG_COLOR_TYPE_RGB, 8, FALSE);
  g_autoptr (GByteArray) jpeg = test_jpeg (8, 8, 1, 2, 3, FALSE);
  long before = peak_kilobytes ();
  guint8 out[8 * 8 * 3];

  put_be (png->data + 16, 65500, 4);
  put_be (png->data + 20, 65500, 4);
  for (guint i = 0; i + 9 < jpeg->len; i++)
    if (jpeg->data[i] == 0xff && jpeg->data[i + 1] == 0xc0)
      {
        put_be (jpeg->data + i + 5, 65500, 2);
        put_be (jpeg->data + i + 7, 65500, 2);
        break;
      }
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_false (decode (i == 0 ? png : jpeg, 8, 8, out, &error));
      g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE);
      test_has_words (error, "65500");
    }
  g_assert_cmpint (peak_kilobytes () - before, <, 4096);
}

static void
test_many_scans_are_refused (void)
{
  g_autoptr (GByteArray) file = test_jpeg (64, 64, 10, 20, 30, TRUE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) bomb = g_byte_array_new ();
  guint scan = 0, end = file->len - 2;
  guint8 out[8 * 8 * 3];

  /* The last scan again and again. */
  for (guint i = 0; i + 1 < file->len; i++)
    if (file->data[i] == 0xff && file->data[i + 1] == 0xda)
      scan = i;
  g_byte_array_append (bomb, file->data, end);
  for (guint i = 0; i < 1000; i++)
    g_byte_array_append (bomb, file->data + scan, end - scan);
  g_byte_array_append (bomb, file->data + end, 2);
  g_assert_false (decode (bomb, 8, 8, out, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE);
  test_has_words (error, "scans");
}

/* An iCCP chunk that inflates without end is not inflated. */
static void
test_huge_profile_is_skipped (void)
{
  g_autoptr (GByteArray) plain = test_png (8, 8, PNG_COLOR_TYPE_RGB, 8, FALSE);
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *chunk = g_malloc0 (12 + (20 << 20));
  long before = peak_kilobytes ();
  guint8 out[8 * 8 * 3];
  guint32 crc = 0xffffffff;
  guint size = 20 << 20;

  put_be (chunk, size, 4);
  memcpy (chunk + 4, "iCCPname", 8);
  for (guint i = 4; i < size + 8; i++)
    {
      crc ^= chunk[i];
      for (guint b = 0; b < 8; b++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
  put_be (chunk + 8 + size, ~crc, 4);
  g_byte_array_append (file, plain->data, 33);
  g_byte_array_append (file, chunk, size + 12);
  g_byte_array_append (file, plain->data + 33, plain->len - 33);
  decode (file, 8, 8, out, &error);
  g_assert_no_error (error);
  assert_pixel (out, 200, 200, 200, 0);
  g_assert_cmpint (peak_kilobytes () - before, <, 160 * 1024);
}

static void
test_not_an_image (void)
{
  g_autoptr (GError) error = NULL;
  DynoImageFacts facts;

  g_assert_false (dyno_image_probe ((const guint8 *) "this is only some text", 22, &facts, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_false (dyno_image_probe ((const guint8 *) "", 0, &facts, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
}

/* Against the definition in doubles: triangle filter of the scale's width around each output's centre. */
static void
test_resize_matches_definition (void)
{
  static const guint sizes[][4] = {
    { 30, 20, 13, 9 }, { 20, 30, 64, 50 }, { 7, 90, 10, 10 }, { 40, 40, 20, 10 }, { 1, 1, 5, 4 }
  };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    {
      guint sw = sizes[s][0], sh = sizes[s][1], w = sizes[s][2], h = sizes[s][3];
      double step = MIN ((double) sw / w, (double) sh / h), support = MAX (step, 1.0);
      g_autofree guint8 *source = g_malloc (sw * sh), *out = g_malloc (w * h);
      g_autofree guint8 *scratch = g_malloc (dyno_resize_scratch_bytes (sw, sh, 1, w, h));

      for (guint i = 0; i < sw * sh; i++)
        source[i] = (guint8) g_test_rand_int_range (0, 256);
      dyno_resize_cover (source, sw, sh, 1, w, h, out, scratch);
      for (guint y = 0; y < h; y++)
        for (guint x = 0; x < w; x++)
          {
            double cx = (sw - step * w) / 2 + (x + 0.5) * step, cy = (sh - step * h) / 2 + (y + 0.5) * step;
            double sum = 0, weights = 0;
            for (guint j = 0; j < sh; j++)
              for (guint i = 0; i < sw; i++)
                {
                  double wx = MAX (0, 1 - ABS (i + 0.5 - cx) / support), wy = MAX (0, 1 - ABS (j + 0.5 - cy) / support);
                  sum += wx * wy * source[j * sw + i];
                  weights += wx * wy;
                }
            g_assert_cmpfloat_with_epsilon (out[y * w + x], sum / weights, 1.6);
          }
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/image/jpeg-scales-and-crops", test_jpeg_scales_and_crops);
  g_test_add_func ("/data/image/png-variants", test_png_variants);
  g_test_add_func ("/data/image/webp", test_webp);
  g_test_add_func ("/data/image/truncated-is-refused", test_truncated_is_refused);
  g_test_add_func ("/data/image/bombs-are-refused-flat", test_bombs_are_refused_flat);
  g_test_add_func ("/data/image/many-scans-are-refused", test_many_scans_are_refused);
  g_test_add_func ("/data/image/huge-profile-is-skipped", test_huge_profile_is_skipped);
  g_test_add_func ("/data/image/not-an-image", test_not_an_image);
  g_test_add_func ("/data/image/resize-matches-definition", test_resize_matches_definition);
  return g_test_run ();
}
