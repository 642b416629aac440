/* SPDX-License-Identifier: MIT */
/* Decoding of images: all variants, scaling and cropping, and files that differ from their
 * headers. */
#include "data-test.h"
#include "image-codec.h"
#include "resize-kernels.h"
#include "resize.h"
#include <png.h>
#include <string.h>
#include <sys/resource.h>
#include <turbojpeg.h>
#include <webp/encode.h>
#include <zlib.h>

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
  static const guint sizes[][2] = { { 64, 64 },   { 600, 400 }, { 400, 600 },
                                    { 1000, 30 }, { 17, 901 },  { 8, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint progressive = 0; progressive < 2; progressive++)
      {
        g_autoptr (GByteArray) file =
            test_jpeg (sizes[i][0], sizes[i][1], 180, 90, 40, progressive);
        g_autoptr (GError) error = NULL;
        g_autofree guint8 *out = g_malloc (50 * 40 * 3);

        decode (file, 50, 40, out, &error);
        g_assert_no_error (error);
        /* the brighter half is still on the left, so the centre was cropped */
        assert_pixel (out, 200, 110, 60, 8);
        assert_pixel (out + (39 * 50 + 49) * 3, 180, 90, 40, 8);
      }
}

/* The smallest scale that covers both sides is used: a scale for one side only would leave the
 * other to be enlarged. */
static void
test_jpeg_scale_covers_both_sides (void)
{
  static const struct {
    guint32 width, height, wanted[2], expected[2];
  } cases[] = {
    { 800, 600, { 100, 75 }, { 100, 75 } },  { 800, 600, { 101, 75 }, { 200, 150 } },
    { 800, 600, { 100, 76 }, { 200, 150 } }, { 800, 600, { 401, 1 }, { 800, 600 } },
    { 1000, 30, { 50, 40 }, { 1000, 30 } },  { 30, 1000, { 40, 50 }, { 30, 1000 } },
    { 1001, 81, { 8, 11 }, { 126, 11 } },    { 64, 64, { 32, 32 }, { 32, 32 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoImageFacts facts = { .width = cases[i].width, .height = cases[i].height };
      guint32 size[2];

      dyno_jpeg_choose_size (&facts, cases[i].wanted[0], cases[i].wanted[1], &size[0], &size[1]);
      g_assert_cmpuint (size[0], ==, cases[i].expected[0]);
      g_assert_cmpuint (size[1], ==, cases[i].expected[1]);
    }
}

static void
test_png_variants (void)
{
  static const struct {
    int type, depth, red, green, blue;
  } cases[] = {
    { PNG_COLOR_TYPE_RGB, 8, 200, 200, 200 },
    { PNG_COLOR_TYPE_RGB, 16, 200, 200, 200 },
    { PNG_COLOR_TYPE_RGB_ALPHA, 8, 212, 212, 212 },
    { PNG_COLOR_TYPE_RGB_ALPHA, 16, 212, 212, 212 }, /* 200 of 255 on white */
    { PNG_COLOR_TYPE_GRAY, 8, 200, 200, 200 },
    { PNG_COLOR_TYPE_GRAY, 16, 200, 200, 200 },
    { PNG_COLOR_TYPE_GRAY_ALPHA, 8, 212, 212, 212 },
    { PNG_COLOR_TYPE_PALETTE, 8, 200, 100, 50 },
    { PNG_COLOR_TYPE_PALETTE, 1, 200, 100, 50 },
    { PNG_COLOR_TYPE_PALETTE, 4, 200, 100, 50 },
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

/* Alpha is composed on white: the colour disappears at 0, and is unchanged at 255. */
static void
test_alpha_on_white (void)
{
  static const guint8 alphas[] = { 0, 64, 128, 255 };

  for (guint a = 0; a < G_N_ELEMENTS (alphas); a++)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      guint8 pixels[24 * 24 * 4], out[8 * 8 * 3], *encoded = NULL;
      int expected[3], colour[3] = { 200, 100, 20 };
      gsize size;

      for (guint i = 0; i < 24 * 24; i++)
        memcpy (pixels + i * 4, (guint8[]){ 200, 100, 20, alphas[a] }, 4);
      for (guint c = 0; c < 3; c++)
        expected[c] = (colour[c] * alphas[a] + 255 * (255 - alphas[a])) / 255;
      size = WebPEncodeLosslessRGBA (pixels, 24, 24, 24 * 4, &encoded);
      g_byte_array_append (file, encoded, (guint) size);
      WebPFree (encoded);
      decode (file, 8, 8, out, &error);
      g_assert_no_error (error);
      assert_pixel (out, expected[0], expected[1], expected[2], 1);
    }
}

/* A palette entry that is declared transparent is shown as white, the other entry is not. */
static void
test_transparent_palette_is_white (void)
{
  g_autoptr (GByteArray) plain = test_png (20, 20, PNG_COLOR_TYPE_PALETTE, 8, FALSE);
  g_autoptr (GByteArray) file = g_byte_array_new ();
  static const guint8 first_only[13] = {
    0, 0, 0, 1, 't', 'R', 'N', 'S', 0, 0x40, 0xe6, 0xd8, 0x66
  };
  g_autoptr (GError) error = NULL;
  guint8 out[8 * 8 * 3];
  guint at = 0;

  while (memcmp (plain->data + at, "IDAT", 4) != 0)
    at++;
  g_byte_array_append (file, plain->data, at - 4);
  g_byte_array_append (file, first_only, sizeof first_only);
  g_byte_array_append (file, plain->data + at - 4, plain->len - at + 4);
  decode (file, 8, 8, out, &error);
  g_assert_no_error (error);
  assert_pixel (out, 255, 255, 255, 0);
}

/* Inks in Adobe's inverted form, with 255 for no ink; black darkens the other inks. */
static void
test_cmyk_jpeg (void)
{
  static const guint8 blacks[] = { 255, 128, 40, 0 };

  for (guint k = 0; k < G_N_ELEMENTS (blacks); k++)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      tjhandle handle = tjInitCompress ();
      guint8 pixels[32 * 32 * 4], out[8 * 8 * 3];
      unsigned char *encoded = NULL;
      unsigned long size = 0;
      int black = blacks[k];

      for (guint i = 0; i < 32 * 32; i++)
        memcpy (pixels + i * 4, (guint8[]){ 200, 100, 50, blacks[k] }, 4);
      g_assert_cmpint (
          tjCompress2 (handle, pixels, 32, 0, 32, TJPF_CMYK, &encoded, &size, TJSAMP_444, 98, 0),
          ==, 0);
      g_byte_array_append (file, encoded, (guint) size);
      tjFree (encoded);
      tjDestroy (handle);
      decode (file, 8, 8, out, &error);
      g_assert_no_error (error);
      assert_pixel (out, 200 * black / 255, 100 * black / 255, 50 * black / 255, 5);
    }
}

/* A JPEG of 48 x 32 whose quarters are red, green (top), blue and grey, with an EXIF segment before
 * them. */
static GByteArray *
make_turned (guint orientation, gboolean big, guint entries_before)
{
  static const guint8 colours[4][3] = {
    { 220, 30, 30 }, { 30, 200, 30 }, { 30, 30, 220 }, { 128, 128, 128 }
  };
  GByteArray *file = g_byte_array_new ();
  g_autoptr (GByteArray) exif = g_byte_array_new ();
  guint8 pixels[48 * 32 * 3], *encoded = NULL;
  unsigned long size = 0;
  tjhandle handle = tjInitCompress ();
  guint length = 8 + 8 + 2 + 12 * (entries_before + 1) + 4;

  for (guint i = 0; i < 48 * 32; i++)
    memcpy (pixels + i * 3, colours[(i / 48 >= 16) * 2 + (i % 48 >= 24)], 3);
  g_assert_cmpint (
      tjCompress2 (handle, pixels, 48, 0, 32, TJPF_RGB, &encoded, &size, TJSAMP_444, 95, 0), ==, 0);
  g_byte_array_append (exif,
                       (const guint8[]){ 0xff, 0xe1, (guint8) (length >> 8), (guint8) length }, 4);
  g_byte_array_append (exif, (const guint8 *) "Exif\0", 6);
  g_byte_array_append (exif, (const guint8 *) (big ? "MM\0*\0\0\0\10" : "II*\0\10\0\0"), 8);
  g_byte_array_append (exif,
                       big ? (const guint8[]){ 0, (guint8) (entries_before + 1) }
                           : (const guint8[]){ (guint8) (entries_before + 1), 0 },
                       2);
  for (guint i = 0; i <= entries_before; i++)
    {
      guint8 value = (guint8) (i == entries_before ? orientation : 99),
             tag = (guint8) (i == entries_before ? 0x12 : 0x0f);
      const guint8 motorola[12] = { 1, tag, 0, 3, 0, 0, 0, 1, 0, value },
                   intel[12] = { tag, 1, 3, 0, 1, 0, 0, 0, value };
      g_byte_array_append (exif, big ? motorola : intel, 12);
    }
  g_byte_array_append (exif, (const guint8[]){ 0, 0, 0, 0 }, 4);
  g_byte_array_append (file, encoded, 2);
  g_byte_array_append (file, exif->data, exif->len);
  g_byte_array_append (file, encoded + 2, (guint) size - 2);
  tjFree (encoded);
  tjDestroy (handle);
  return file;
}

/* The stored quarter (0: top left, 1: top right, 2: bottom left, 3: bottom right) that is shown at
 * top left, top right, bottom left, bottom right; EXIF 2.3, 4.6.4 defines where row 0 and column 0
 * are seen. */
static void
test_exif_orientation (void)
{
  static const guint8 colours[4][3] = {
    { 220, 30, 30 }, { 30, 200, 30 }, { 30, 30, 220 }, { 128, 128, 128 }
  };
  static const guint shown[9][4] = { { 0, 1, 2, 3 }, { 0, 1, 2, 3 }, { 1, 0, 3, 2 },
                                     { 3, 2, 1, 0 }, { 2, 3, 0, 1 }, { 0, 2, 1, 3 },
                                     { 2, 0, 3, 1 }, { 3, 1, 2, 0 }, { 1, 3, 0, 2 } };

  for (guint orientation = 0; orientation <= 9; orientation++)
    for (guint big = 0; big < 2; big++)
      {
        g_autoptr (GByteArray) file = make_turned (orientation, big, big * 3);
        guint known = orientation <= 8 ? orientation : 1;
        gboolean turned = known >= 5;
        guint width = turned ? 16 : 24, height = turned ? 24 : 16;
        g_autoptr (GError) error = NULL;
        guint8 out[24 * 16 * 3];
        DynoImageFacts facts;
        guint32 shown_width, shown_height;

        g_assert_true (dyno_image_probe (file->data, file->len, &facts, &error));
        dyno_image_get_shown (&facts, &shown_width, &shown_height);
        g_assert_cmpuint (shown_width, ==, turned ? 32 : 48);
        g_assert_cmpuint (shown_height, ==, turned ? 48 : 32);
        decode (file, width, height, out, &error);
        g_assert_no_error (error);
        for (guint quarter = 0; quarter < 4; quarter++)
          {
            guint x = width * (quarter % 2 * 2 + 1) / 4, y = height * (quarter / 2 * 2 + 1) / 4;
            const guint8 *colour = colours[shown[known][quarter]];
            assert_pixel (out + (y * width + x) * 3, colour[0], colour[1], colour[2], 12);
          }
      }
}

/* A damaged EXIF segment, which is truncated or has an offset or a count outside of it, leaves the
 * image as it is stored. */
static void
test_damaged_exif_is_passed_over (void)
{
  static const struct {
    guint at;
    guint8 value;
  } changes[] = { { 4, 'X' },   { 10, 'N' }, { 13, 41 }, { 14, 0xff }, { 16, 0xff },
                  { 17, 0xf0 }, { 19, 0 },   { 23, 9 },  { 27, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (GByteArray) file = make_turned (6, TRUE, 0);
      g_autoptr (GError) error = NULL;
      guint8 out[24 * 16 * 3];
      DynoImageFacts facts;

      file->data[2 + changes[i].at] = changes[i].value;
      g_assert_true (dyno_image_probe (file->data, file->len, &facts, &error));
      g_assert_cmpuint (facts.orientation, ==, 1);
      decode (file, 24, 16, out, &error);
      g_assert_no_error (error);
      assert_pixel (out, 220, 30, 30, 12);
    }
}

/* A directory with too large a count is read to the end of its segment only, since the bytes after
 * it are not part of it. */
static void
test_exif_ends_with_its_segment (void)
{
  static const guint8 comment[20] = { 0xff, 0xfe, 0, 18, 0, 0, 0, 0, 1, 0x12,
                                      0,    3,    0, 0,  0, 1, 0, 6, 0, 0 };
  g_autoptr (GByteArray) file = make_turned (6, TRUE, 0), longer = g_byte_array_new ();
  guint end = 4 + file->data[5];
  DynoImageFacts facts;

  file->data[21] = 9;    /* the number of entries */
  file->data[23] = 0x0f; /* the first entry has another tag */
  g_byte_array_append (longer, file->data, end);
  g_byte_array_append (longer, comment, sizeof comment);
  g_byte_array_append (longer, file->data + end, file->len - end);
  g_assert_true (dyno_image_probe (longer->data, longer->len, &facts, NULL));
  g_assert_cmpuint (facts.orientation, ==, 1);
}

/* --- orientation of other types ---------------------------------------------------------------- */

static void
put_be32 (GByteArray *out, guint32 number)
{
  const guint8 bytes[4] = { (guint8) (number >> 24), (guint8) (number >> 16),
                            (guint8) (number >> 8), (guint8) number };
  g_byte_array_append (out, bytes, 4);
}

static void
put_png_chunk (GByteArray *out, const char *type, const GByteArray *content)
{
  uLong sum = crc32 (0, (const Bytef *) type, 4);

  put_be32 (out, content->len);
  g_byte_array_append (out, (const guint8 *) type, 4);
  g_byte_array_append (out, content->data, content->len);
  put_be32 (out, (guint32) crc32 (sum, content->data, content->len));
}

static void
put_riff_chunk (GByteArray *out, const char *type, const guint8 *content, guint size)
{
  const guint8 length[4] = { (guint8) size, (guint8) (size >> 8), (guint8) (size >> 16), 0 };

  g_byte_array_append (out, (const guint8 *) type, 4);
  g_byte_array_append (out, length, 4);
  g_byte_array_append (out, content, size);
  if (size & 1)
    g_byte_array_append (out, (const guint8 *) "", 1);
}

/* The TIFF structure of an orientation, as in EXIF; 0: none. */
static GByteArray *
make_exif (guint orientation, gboolean named)
{
  const guint8 tiff[26] = { 'M', 'M',  0, '*', 0, 0, 0, 8, 0, 1,
                            1,   0x12, 0, 3,   0, 0, 0, 1, 0, (guint8) orientation,
                            0,   0 };
  GByteArray *exif = g_byte_array_new ();

  if (named)
    g_byte_array_append (exif, (const guint8 *) "Exif\0", 6);
  return g_byte_array_append (exif, tiff, sizeof tiff);
}

static GByteArray *
make_xmp (guint orientation, gboolean element)
{
  g_autofree char *text =
      g_strdup_printf (element ? "<x:xmpmeta><tiff:Orientation>%u</tiff:Orientation></x:xmpmeta>"
                               : "<x:xmpmeta tiff:Software=\"7\" tiff:Orientation=\"%u\"/>",
                       orientation);

  return g_byte_array_append (g_byte_array_new (), (const guint8 *) text, (guint) strlen (text));
}

/* A picture of 3 x 2 with its orientation in EXIF or XMP; either may be NULL. */
static GByteArray *
make_png (const GByteArray *exif, const GByteArray *xmp, gboolean after)
{
  g_autoptr (GByteArray) plain = test_png (3, 2, PNG_COLOR_TYPE_RGB, 8, FALSE);
  g_autoptr (GByteArray) text = g_byte_array_new ();
  GByteArray *file = g_byte_array_new ();
  guint at = after ? plain->len - 12 : 33;

  g_byte_array_append (file, plain->data, at);
  if (exif)
    put_png_chunk (file, "eXIf", exif);
  if (xmp)
    {
      g_byte_array_append (text, (const guint8 *) "XML:com.adobe.xmp\0\0\0\0", 22);
      g_byte_array_append (text, xmp->data, xmp->len);
      put_png_chunk (file, "iTXt", text);
    }
  return g_byte_array_append (file, plain->data + at, plain->len - at);
}

static GByteArray *
make_webp (const GByteArray *exif, const GByteArray *xmp)
{
  guint8 pixels[3 * 2 * 3], *encoded = NULL;
  const guint8 extended[10] = {
    (guint8) ((exif ? 0x08 : 0) | (xmp ? 0x04 : 0)), 0, 0, 0, 2, 0, 0, 1, 0, 0
  };
  GByteArray *file = g_byte_array_new ();
  gsize size;

  memset (pixels, 200, sizeof pixels);
  size = WebPEncodeLosslessRGB (pixels, 3, 2, 9, &encoded);
  g_byte_array_append (file, encoded, 12);
  put_riff_chunk (file, "VP8X", extended, sizeof extended);
  g_byte_array_append (file, encoded + 12, (guint) size - 12);
  if (exif)
    put_riff_chunk (file, "EXIF", exif->data, exif->len);
  if (xmp)
    put_riff_chunk (file, "XMP ", xmp->data, xmp->len);
  file->data[4] = (guint8) (file->len - 8);
  file->data[5] = (guint8) ((file->len - 8) >> 8);
  WebPFree (encoded);
  return file;
}

/* A JPEG with XMP after its start, and with EXIF before that. */
static GByteArray *
make_jpeg (const GByteArray *exif, const GByteArray *xmp)
{
  static const char name[] = "http://ns.adobe.com/xap/1.0/";
  g_autoptr (GByteArray) plain = test_jpeg (3, 2, 200, 200, 200, FALSE);
  GByteArray *file = g_byte_array_new ();

  g_byte_array_append (file, plain->data, 2);
  if (exif)
    {
      g_byte_array_append (file, (const guint8[]){ 0xff, 0xe1, 0, (guint8) (exif->len + 2) }, 4);
      g_byte_array_append (file, exif->data, exif->len);
    }
  if (xmp)
    {
      g_byte_array_append (
          file, (const guint8[]){ 0xff, 0xe1, 0, (guint8) (xmp->len + 2 + sizeof name) }, 4);
      g_byte_array_append (file, (const guint8 *) name, sizeof name);
      g_byte_array_append (file, xmp->data, xmp->len);
    }
  return g_byte_array_append (file, plain->data + 2, plain->len - 2);
}

static void
assert_orientation (GByteArray *file, guint orientation)
{
  g_autoptr (GByteArray) own = file;
  g_autoptr (GError) error = NULL;
  guint8 out[3 * 3 * 3];
  DynoImageFacts facts;
  guint32 width, height;

  g_assert_true (dyno_image_probe (own->data, own->len, &facts, &error));
  g_assert_cmpuint (facts.orientation, ==, orientation);
  dyno_image_get_shown (&facts, &width, &height);
  g_assert_cmpuint (width, ==, orientation >= 5 ? 2 : 3);
  decode (own, width, height, out, &error);
  g_assert_no_error (error);
  assert_pixel (out, 200, 200, 200, 24); /* the JPEG has a brighter half */
}

/* One rule for all types: the orientation is that of EXIF, else that of XMP; damaged data give
 * none. */
static void
test_orientation_of_all_types (void)
{
  for (guint orientation = 1; orientation <= 8; orientation++)
    for (guint way = 0; way < 2; way++)
      {
        g_autoptr (GByteArray) exif = make_exif (orientation, way),
                               xmp = make_xmp (orientation, way),
                               other = make_xmp (orientation % 8 + 1, way),
                               named = make_exif (orientation, TRUE);

        assert_orientation (make_png (exif, NULL, FALSE), orientation);
        assert_orientation (make_png (NULL, xmp, FALSE), orientation);
        assert_orientation (make_png (exif, other, FALSE), orientation);
        assert_orientation (make_webp (exif, NULL), orientation);
        assert_orientation (make_webp (NULL, xmp), orientation);
        assert_orientation (make_webp (exif, other), orientation);
        assert_orientation (make_jpeg (NULL, xmp), orientation);
        assert_orientation (make_jpeg (named, other), orientation);
      }
}

/* Truncated anywhere, a chunk with an orientation is an error or gives no orientation, and is not
 * read past its length. */
static void
test_damaged_orientation_says_nothing (void)
{
  g_autoptr (GByteArray) exif = make_exif (6, FALSE), wrong = make_exif (9, FALSE),
                         none = make_xmp (9, FALSE), far = make_exif (6, FALSE);

  assert_orientation (make_png (wrong, NULL, FALSE), 1);
  assert_orientation (make_png (NULL, none, FALSE), 1);
  assert_orientation (make_webp (wrong, none), 1);
  far->data[4] = 0x7f; /* the offset of its directory is past the end */
  assert_orientation (make_png (far, NULL, FALSE), 1);
  assert_orientation (make_webp (far, NULL), 1);
  /* EXIF after the pixels is not searched for. */
  assert_orientation (make_png (exif, NULL, TRUE), 1);
  for (guint size = 0; size < exif->len; size++)
    {
      g_autoptr (GByteArray) cut = g_byte_array_new ();
      DynoImageFacts facts;
      g_autoptr (GByteArray) png = NULL, webp = NULL;

      g_byte_array_append (cut, exif->data, size);
      png = make_png (cut, NULL, FALSE);
      webp = make_webp (cut, NULL);
      g_assert_true (dyno_image_probe (png->data, png->len, &facts, NULL));
      g_assert_cmpuint (facts.orientation, ==, size < 22 ? 1 : 6);
      g_assert_true (dyno_image_probe (webp->data, webp->len, &facts, NULL));
      g_assert_cmpuint (facts.orientation, ==, size < 22 ? 1 : 6);
    }
}

/* Bytes that belong to no segment of a JPEG: the image is decoded as by other programs, and the
 * bytes are counted. */
static void
test_stray_bytes_between_segments (void)
{
  static const guint8 stray[4] = { 0x12, 0x34, 0, 0x56 };

  for (guint progressive = 0; progressive < 2; progressive++)
    {
      g_autoptr (GByteArray) plain = test_jpeg (40, 30, 100, 50, 50, progressive);
      g_autoptr (GByteArray) file = g_byte_array_new (), many = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      guint after = 4 + (plain->data[4] << 8 | plain->data[5]);
      guint8 out[8 * 8 * 3], expected[8 * 8 * 3];
      DynoImageFacts facts;

      g_byte_array_append (file, plain->data, after);
      g_byte_array_append (file, stray, sizeof stray);
      g_byte_array_append (file, plain->data + after, plain->len - after);
      g_assert_true (dyno_image_probe (plain->data, plain->len, &facts, NULL));
      g_assert_false (facts.garbage);
      g_assert_true (dyno_image_probe (file->data, file->len, &facts, &error));
      g_assert_true (facts.garbage);
      decode (plain, 8, 8, expected, &error);
      decode (file, 8, 8, out, &error);
      g_assert_no_error (error);
      g_assert_cmpmem (out, sizeof out, expected, sizeof expected);
      g_byte_array_append (many, plain->data, after);
      g_byte_array_set_size (many, after + 70000);
      memset (many->data + after, 1, 70000);
      g_byte_array_append (many, plain->data + after, plain->len - after);
      g_assert_false (dyno_image_probe (many->data, many->len, &facts, &error));
      test_has_words (error, "garbage");
    }
}

/* A file that is truncated at any length neither crashes the decoder nor counts as complete while
 * rows are missing. */
static void
test_truncated_is_refused (void)
{
  for (guint kind = 0; kind < 3; kind++)
    {
      g_autoptr (GByteArray) whole = kind == 2 ? test_png (64, 64, PNG_COLOR_TYPE_RGB, 8, FALSE)
                                               : test_jpeg (64, 64, 1, 200, 3, kind == 1);
      g_autoptr (GByteArray) cut = g_byte_array_new ();
      guint8 out[32 * 32 * 3];

      for (guint length = 0; length + 8 < whole->len; length += 3)
        {
          g_autoptr (GError) error = NULL;
          g_byte_array_set_size (cut, 0);
          g_byte_array_append (cut, whole->data, length);
          if (decode (cut, 32, 32, out, &error) && length < whole->len / 2)
            g_error ("kind %u, %u of %u bytes: taken for whole", kind, length, whole->len);
          g_assert_true (!error || error->domain == DYNO_DATA_ERROR);
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

/* An image may have exactly 120 million pixels, and a side of exactly 32768; an image that exceeds
 * either limit is refused. */
static void
test_limits_are_exact (void)
{
  static const struct {
    guint32 width, height;
    gboolean fits;
  } cases[] = { { 12000, 10000, TRUE }, { 12000, 10001, FALSE }, { 12001, 10000, FALSE },
                { 32768, 3662, TRUE },  { 32769, 1, FALSE },     { 1, 32769, FALSE },
                { 1, 32768, TRUE } };
  g_autoptr (GByteArray) png = test_png (8, 8, PNG_COLOR_TYPE_RGB, 8, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      DynoImageFacts facts;

      put_be (png->data + 16, cases[i].width, 4);
      put_be (png->data + 20, cases[i].height, 4);
      g_assert_cmpint (dyno_image_probe (png->data, png->len, &facts, &error), ==, cases[i].fits);
      if (!cases[i].fits)
        g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE);
    }
}

static void
test_many_scans_are_refused (void)
{
  g_autoptr (GByteArray) file = test_jpeg (64, 64, 10, 20, 30, TRUE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) bomb = g_byte_array_new ();
  guint scan = 0, end = file->len - 2;
  guint8 out[8 * 8 * 3];

  /* The last scan is repeated many times. */
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

/* Compares with the definition in double: a triangle filter with the width of the scale around each
 * output's centre. */
static void
check_definition (const guint *sizes, guint channels)
{
  guint sw = sizes[0], sh = sizes[1], w = sizes[2], h = sizes[3];
  double step = MIN ((double) sw / w, (double) sh / h), support = MAX (step, 1.0);
  g_autofree guint8 *source = g_malloc (sw * sh * channels), *out = g_malloc (w * h * channels);
  g_autofree guint8 *scratch = g_malloc (dyno_resize_scratch_bytes (sw, sh, channels, w, h));

  for (guint i = 0; i < sw * sh * channels; i++)
    source[i] = (guint8) g_test_rand_int_range (0, 256);
  dyno_resize_cover (source, sw, sh, channels, w, h, out, scratch);
  for (guint at = 0; at < w * h * channels; at++)
    {
      guint y = at / channels / w, x = at / channels % w;
      double cx = (sw - step * w) / 2 + (x + 0.5) * step,
             cy = (sh - step * h) / 2 + (y + 0.5) * step;
      double sum = 0, weights = 0;
      for (guint j = 0; j < sh; j++)
        for (guint i = 0; i < sw; i++)
          {
            double wx = MAX (0, 1 - ABS (i + 0.5 - cx) / support),
                   wy = MAX (0, 1 - ABS (j + 0.5 - cy) / support);
            sum += wx * wy * source[(j * sw + i) * channels + at % channels];
            weights += wx * wy;
          }
      g_assert_cmpfloat_with_epsilon (out[at], sum / weights, 1.6);
    }
}

static void
test_resize_matches_definition (void)
{
  static const guint sizes[][4] = {
    { 30, 20, 13, 9 }, { 20, 30, 64, 50 }, { 7, 90, 10, 10 }, { 40, 40, 20, 10 }, { 1, 1, 5, 4 }
  };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint channels = 1; channels <= 4; channels++)
      check_definition (sizes[s], channels);
}

/* Makes `count` random weights with the sum that the weights of an axis have. */
static void
make_weights (gint16 *weights, guint32 count, guint32 max_taps)
{
  gint left = 1 << DYNO_RESIZE_WEIGHT_BITS;

  memset (weights, 0, max_taps * sizeof *weights);
  for (guint32 k = 0; k + 1 < count; k++)
    {
      weights[k] = (gint16) g_test_rand_int_range (0, left + 1);
      left -= weights[k];
    }
  weights[count - 1] = (gint16) left;
}

static void
compare_rows (const DynoResizeKernel *kernel, const DynoResizeKernel *plain)
{
  guint32 count = (guint32) g_test_rand_int_range (2, 20);
  gsize size = (gsize) g_test_rand_int_range (1, 400), stride = size + 5;
  g_autofree guint8 *rows = g_malloc (count * stride), *got = g_malloc0 (size + 1),
                    *want = g_malloc0 (size + 1);
  gint16 weights[20];

  make_weights (weights, count, 20);
  for (gsize i = 0; i < count * stride; i++)
    rows[i] = (guint8) g_test_rand_int_range (0, 256);
  kernel->rows (rows, stride, weights, count, got, size);
  plain->rows (rows, stride, weights, count, want, size);
  g_assert_cmpmem (got, size + 1, want, size + 1); /* nothing past the end */
}

static void
compare_columns (const DynoResizeKernel *kernel, const DynoResizeKernel *plain, guint32 channels)
{
  enum { SOURCE = 90, WIDTH = 41, TAPS = 12 };
  DynoResizeSpan spans[WIDTH];
  gint16 weights[WIDTH * TAPS];
  DynoResizeAxis axis = { spans, weights, TAPS, 0 };
  guint8 row[(SOURCE + TAPS) * 4 + DYNO_RESIZE_SLACK], got[WIDTH * 4 + 1] = { 0 },
                                                                       want[WIDTH * 4 + 1] = { 0 };

  for (guint i = 0; i < sizeof row; i++)
    row[i] = (guint8) g_test_rand_int_range (0, 256);
  for (guint x = 0; x < WIDTH; x++)
    {
      guint32 count = (guint32) g_test_rand_int_range (1, TAPS - 2);

      spans[x] = (DynoResizeSpan){ (guint32) g_test_rand_int_range (0, SOURCE - 10), count };
      make_weights (weights + x * TAPS, count, TAPS);
      axis.used_taps = MAX (axis.used_taps, (count + 3) / 4 * 4);
    }
  kernel->columns (row, &axis, channels, WIDTH, got);
  plain->columns (row, &axis, channels, WIDTH, want);
  g_assert_cmpmem (got, sizeof got, want, sizeof want);
}

/* Pixels do not depend on the instruction sets of a machine. */
static void
test_resize_kernels_agree (void)
{
  const DynoResizeKernel *const *kernels = dyno_resize_list_kernels ();
  guint n = 0;

  while (kernels[n + 1])
    n++;
  g_assert_cmpstr (kernels[n]->name, ==, "plain C");
  for (guint k = 0; k < n; k++)
    for (guint i = 0; i < 200; i++)
      {
        compare_rows (kernels[k], kernels[n]);
        compare_columns (kernels[k], kernels[n], 1 + i % 4);
      }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/image/jpeg-scales-and-crops", test_jpeg_scales_and_crops);
  g_test_add_func ("/data/image/jpeg-scale-covers-both-sides", test_jpeg_scale_covers_both_sides);
  g_test_add_func ("/data/image/png-variants", test_png_variants);
  g_test_add_func ("/data/image/webp", test_webp);
  g_test_add_func ("/data/image/alpha-on-white", test_alpha_on_white);
  g_test_add_func ("/data/image/transparent-palette-is-white", test_transparent_palette_is_white);
  g_test_add_func ("/data/image/cmyk-jpeg", test_cmyk_jpeg);
  g_test_add_func ("/data/image/exif-orientation", test_exif_orientation);
  g_test_add_func ("/data/image/orientation-of-all-types", test_orientation_of_all_types);
  g_test_add_func ("/data/image/damaged-orientation-says-nothing",
                   test_damaged_orientation_says_nothing);
  g_test_add_func ("/data/image/stray-bytes-between-segments", test_stray_bytes_between_segments);
  g_test_add_func ("/data/image/damaged-exif-is-passed-over", test_damaged_exif_is_passed_over);
  g_test_add_func ("/data/image/exif-ends-with-its-segment", test_exif_ends_with_its_segment);
  g_test_add_func ("/data/image/truncated-is-refused", test_truncated_is_refused);
  g_test_add_func ("/data/image/bombs-are-refused-flat", test_bombs_are_refused_flat);
  g_test_add_func ("/data/image/limits-are-exact", test_limits_are_exact);
  g_test_add_func ("/data/image/many-scans-are-refused", test_many_scans_are_refused);
  g_test_add_func ("/data/image/huge-profile-is-skipped", test_huge_profile_is_skipped);
  g_test_add_func ("/data/image/not-an-image", test_not_an_image);
  g_test_add_func ("/data/image/resize-matches-definition", test_resize_matches_definition);
  g_test_add_func ("/data/image/resize-kernels-agree-to-the-bit", test_resize_kernels_agree);
  return g_test_run ();
}
