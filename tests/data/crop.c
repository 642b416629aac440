/* SPDX-License-Identifier: MIT */
/* Random resized crops when files are decoded: places as the device draws them, pixels as in
 * torchvision's RandomResizedCrop, and loaders that make them. */
#include "crop.h"
#include "data-test.h"
#include "image-codec.h"
#include "loader-test.h"
#include "reference/augment.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <turbojpeg.h>

static const DynoCrop eighth = { 0.08, 4.0 / 3 };

/* Waves of several lengths, and a little noise. */
static guint8 *
make_pixels (guint32 width, guint32 height)
{
  guint8 *pixels = g_malloc ((gsize) width * height * 3);

  for (guint32 y = 0; y < height; y++)
    for (guint32 x = 0; x < width; x++)
      for (guint32 c = 0; c < 3; c++)
        pixels[((gsize) y * width + x) * 3 + c] =
            (guint8) (120 + 60 * sin (x * 0.11 * (c + 1)) + 50 * cos (y * 0.07 + c)
                      + g_test_rand_int_range (0, 16));
  return pixels;
}

static GByteArray *
make_jpeg (const guint8 *pixels, guint32 width, guint32 height, int sampling, int flags)
{
  GByteArray *file = g_byte_array_new ();
  tjhandle handle = tjInitCompress ();
  unsigned char *out = NULL;
  unsigned long size = 0;

  g_assert_cmpint (tjCompress2 (handle, pixels, (int) width, 0, (int) height, TJPF_RGB, &out, &size,
                                sampling, 90, flags),
                   ==, 0);
  g_byte_array_append (file, out, (guint) size);
  tjFree (out);
  tjDestroy (handle);
  return file;
}

static GByteArray *
make_png (const guint8 *pixels, guint32 width, guint32 height)
{
  GByteArray *file = g_byte_array_new ();

  g_assert_true (dyno_image_encode_png (pixels, width, height, 3, file, NULL));
  return file;
}

static void
decode_crop (const GByteArray *file, const DynoImageBox *piece, const DynoCrop *crop, guint32 seed,
             guint32 width, guint32 height, guint8 *out, GError **error)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  /* The memory is not black before it is used; an array that shrinks is cleared under
   * G_DEBUG=gc-friendly, and keeps its memory. */
  g_byte_array_set_size (scratch, 1 << 20);
  g_byte_array_set_size (scratch, 0);
  g_byte_array_append (scratch, file->data, file->len);
  memset (scratch->data + scratch->len, 0xff, (1 << 20) - scratch->len);
  dyno_image_decode_crop (scratch, file->len, piece, crop, seed, width, height, out, error);
}

/* --- places ----------------------------------------------------------------------------------- */

static void
test_place_is_the_one_of_the_formula (void)
{
  static const struct {
    DynoCrop crop;
    guint32 width, height;
  } cases[] = { { { 0.08, 4.0 / 3 }, 500, 375 }, { { 0.5, 2 }, 31, 64 }, { { 0.9, 1 }, 1000, 10 },
                { { 1, 4.0 / 3 }, 7, 300 },      { { 0.25, 10 }, 1, 1 }, { { 1, 1 }, 20, 20 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint32 k = 0; k < 2000; k++)
      {
        const DynoAugmentation a = { .crop = cases[i].crop.area,
                                     .crop_ratio = cases[i].crop.ratio };
        guint32 seed = k * 2654435761u;
        ReferenceDraw d = reference_draw (&a, cases[i].width, cases[i].height, seed);
        DynoImageBox box = dyno_crop_draw (&cases[i].crop, seed, cases[i].width, cases[i].height);

        g_assert_cmpint (box.x, ==, (gint32) d.left);
        g_assert_cmpint (box.y, ==, (gint32) d.top);
        g_assert_cmpint (box.width, ==, (gint32) d.width);
        g_assert_cmpint (box.height, ==, (gint32) d.height);
        g_assert_true (box.x >= 0 && box.y >= 0 && box.width > 0 && box.height > 0);
        g_assert_cmpint (box.x + box.width, <=, (gint32) cases[i].width);
        g_assert_cmpint (box.y + box.height, <=, (gint32) cases[i].height);
      }
}

/* Area and place over many seeds have the means of their distributions, and reach both ends. */
static void
test_moments (void)
{
  enum { N = 20000, SIDE = 1000 };
  const DynoCrop crop = { 0.25, 1 };
  double area = 0, place = 0, least = 1, most = 0;

  for (guint32 k = 0; k < N; k++)
    {
      DynoImageBox box = dyno_crop_draw (&crop, k * 2246822519u + 7, SIDE, SIDE);
      double share = (double) box.width * box.height / (SIDE * SIDE);

      area += share / N;
      place += (box.x + box.width / 2.0) / SIDE / N;
      least = MIN (least, share);
      most = MAX (most, share);
    }
  g_assert_cmpfloat_with_epsilon (area, 0.625, 0.005);
  g_assert_cmpfloat_with_epsilon (place, 0.5, 0.005);
  g_assert_cmpfloat (least, <, 0.255);
  g_assert_cmpfloat (most, >, 0.99);
}

/* --- pixels ----------------------------------------------------------------------------------- */

/* torchvision's method: crop, then resize with antialiasing, by a triangle filter as wide as the
 * scale, which does not reach outside of the crop. */
static double
weigh_axis (double *weights, gint32 box, guint32 outputs, guint32 at)
{
  double step = (double) box / outputs, support = MAX (step, 1), total = 0;

  for (gint32 k = 0; k < box; k++)
    total += weights[k] = MAX (0, 1 - fabs (k + 0.5 - (at + 0.5) * step) / support);
  return total;
}

static double
pixel_of (const guint8 *pixels, guint32 width, const DynoImageBox *box, guint32 out_width,
          guint32 out_height, guint32 x, guint32 y, guint32 c)
{
  g_autofree double *wx = g_new (double, box->width), *wy = g_new (double, box->height);
  double total = weigh_axis (wx, box->width, out_width, x)
                 * weigh_axis (wy, box->height, out_height, y),
         sum = 0;

  for (gint32 j = 0; j < box->height; j++)
    for (gint32 i = 0; wy[j] > 0 && i < box->width; i++)
      sum += wx[i] * wy[j] * pixels[((gsize) (box->y + j) * width + (gsize) (box->x + i)) * 3 + c];
  return sum / total;
}

static void
check_pixels (const GByteArray *file, const guint8 *pixels, guint32 width, guint32 height,
              guint32 seed, guint32 out_width, guint32 out_height, double slack, double mean_slack)
{
  g_autofree guint8 *out = g_malloc ((gsize) out_width * out_height * 3);
  g_autoptr (GError) error = NULL;
  DynoImageBox box = dyno_crop_draw (&eighth, seed, width, height);
  double sum = 0;

  decode_crop (file, NULL, &eighth, seed, out_width, out_height, out, &error);
  g_assert_no_error (error);
  for (guint32 at = 0; at < out_width * out_height * 3; at++)
    {
      guint32 x = at / 3 % out_width, y = at / 3 / out_width;
      double expected = pixel_of (pixels, width, &box, out_width, out_height, x, y, at % 3);
      g_assert_cmpfloat_with_epsilon (out[at], expected, slack);
      sum += fabs (out[at] - expected) / (out_width * out_height * 3);
    }
  g_assert_cmpfloat (sum, <, mean_slack);
}

static void
test_pixels_are_torchvisions (void)
{
  enum { W = 150, H = 100 };
  g_autofree guint8 *pixels = make_pixels (W, H), *decoded = g_malloc (W * H * 4);
  g_autoptr (GByteArray) png = make_png (pixels, W, H),
                         jpeg = make_jpeg (pixels, W, H, TJSAMP_420, 0);
  DynoImageFacts facts;

  g_assert_true (dyno_image_probe (jpeg->data, jpeg->len, &facts, NULL));
  g_assert_true (dyno_jpeg_decode (jpeg->data, jpeg->len, &facts, W, H, decoded, NULL));
  for (guint32 seed = 1; seed < 12; seed++)
    {
      check_pixels (png, pixels, W, H, seed * 77777777, 24, 16, 1.6, 0.6);
      check_pixels (png, pixels, W, H, seed * 77777777, 90, 130, 1.6, 0.6);
      /* decoding uses no scale where the crop is not at least twice as large */
      check_pixels (jpeg, decoded, W, H, seed * 77777777, 80, 60, 1.6, 0.6);
    }
}

/* Decoding at a reduced scale gives nearly the same pixels at the same place. */
static void
test_scaled_pixels_are_near_them (void)
{
  enum { W = 601, H = 403 };
  g_autofree guint8 *pixels = g_malloc (W * H * 3);
  g_autoptr (GByteArray) jpeg = NULL;

  for (guint32 y = 0; y < H; y++)
    for (guint32 x = 0; x < W; x++)
      for (guint32 c = 0; c < 3; c++)
        pixels[(y * W + x) * 3 + c] = (guint8) (120 + 60 * sin (x * 0.03) + 50 * cos (y * 0.04));
  jpeg = make_jpeg (pixels, W, H, TJSAMP_444, 0);
  for (guint32 seed = 1; seed < 20; seed++)
    check_pixels (jpeg, pixels, W, H, seed * 77777777, 24, 20, 6, 1.2);
}

static void
check_region (const GByteArray *file, const DynoImageFacts *facts, guint32 width, guint32 height,
              const guint8 *whole)
{
  gint32 x = g_test_rand_int_range (0, (gint32) width),
         y = g_test_rand_int_range (0, (gint32) height);
  const DynoImageBox asked = { x, y, g_test_rand_int_range (1, (gint32) width - x + 1),
                               g_test_rand_int_range (1, (gint32) height - y + 1) };
  DynoImageBox given = asked;
  gsize room = dyno_jpeg_count_region_bytes (&asked);
  g_autofree guint8 *out = g_malloc (room + 16);
  g_autoptr (GError) error = NULL;

  memset (out + room, 0xaa, 16);
  dyno_jpeg_decode_region (file->data, file->len, facts, width, height, &given, out, &error);
  g_assert_no_error (error);
  g_assert_cmpuint ((guint64) given.width * (guint64) given.height * 3, <=, room);
  for (guint i = 0; i < 16; i++)
    g_assert_cmpuint (out[room + i], ==, 0xaa);
  g_assert_true (given.x <= asked.x && given.y <= asked.y);
  g_assert_cmpint (given.x + given.width, >=, asked.x + asked.width);
  g_assert_cmpint (given.y + given.height, >=, asked.y + asked.height);
  for (gint32 row = 0; row < asked.height; row++)
    {
      const guint8 *from = out
                           + ((gsize) (asked.y - given.y + row) * (gsize) given.width
                              + (gsize) (asked.x - given.x))
                                 * 3,
                   *to = whole + ((gsize) (asked.y + row) * width + (gsize) asked.x) * 3;
      g_assert_cmpmem (from, (gsize) asked.width * 3, to, (gsize) asked.width * 3);
    }
}

/* A decoded region is bit-identical to that part of the whole image, for any chroma sampling,
 * coding process and scale. */
static void
test_region_is_a_part_of_the_whole (void)
{
  static const int samplings[] = { TJSAMP_444, TJSAMP_422, TJSAMP_420,
                                   TJSAMP_440, TJSAMP_411, TJSAMP_GRAY };
  static const guint32 sizes[][2] = { { 203, 149 }, { 64, 48 }, { 17, 130 }, { 5, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (samplings) * G_N_ELEMENTS (sizes) * 2; i++)
    {
      const guint32 *size = sizes[i / 2 % G_N_ELEMENTS (sizes)];
      g_autofree guint8 *pixels = make_pixels (size[0], size[1]),
                        *whole = g_malloc (size[0] * size[1] * 4);
      g_autoptr (GByteArray) file =
          make_jpeg (pixels, size[0], size[1], samplings[i / 2 / G_N_ELEMENTS (sizes)],
                     i % 2 ? TJFLAG_PROGRESSIVE : 0);
      DynoImageFacts facts;

      g_assert_true (dyno_image_probe (file->data, file->len, &facts, NULL));
      for (guint eighths = 1; eighths <= 8; eighths *= 2)
        {
          guint32 width = (size[0] * eighths + 7) / 8, height = (size[1] * eighths + 7) / 8;

          g_assert_true (
              dyno_jpeg_decode (file->data, file->len, &facts, width, height, whole, NULL));
          for (guint k = 0; k < 6; k++)
            check_region (file, &facts, width, height, whole);
        }
    }
}

/* --- orientation, pieces, damage -------------------------------------------------------------- */

/* Inserts an orientation into a JPEG: an APP1 segment with EXIF after its SOI. */
static GByteArray *
turn (const GByteArray *jpeg, guint8 orientation)
{
  const guint8 exif[] = { 0xff, 0xe1, 0, 34, 'E', 'x',         'i', 'f', 0, 0,    'M', 'M',
                          0,    42,   0, 0,  0,   8,           0,   1,   1, 0x12, 0,   3,
                          0,    0,    0, 1,  0,   orientation, 0,   0,   0, 0,    0,   0 };
  GByteArray *file = g_byte_array_new ();

  g_byte_array_append (file, jpeg->data, 2);
  g_byte_array_append (file, exif, sizeof exif);
  g_byte_array_append (file, jpeg->data + 2, jpeg->len - 2);
  return file;
}

/* The crop is taken from the image as it is shown. */
static void
test_turned_images (void)
{
  enum { W = 120, H = 70 };
  g_autofree guint8 *pixels = make_pixels (W, H), *shown = g_malloc (W * H * 3);
  g_autoptr (GByteArray) jpeg = make_jpeg (pixels, W, H, TJSAMP_444, 0);

  for (guint8 orientation = 1; orientation <= 8; orientation++)
    {
      guint32 width = orientation >= 5 ? H : W, height = orientation >= 5 ? W : H;
      g_autoptr (GByteArray) file = turn (jpeg, orientation), scratch = g_byte_array_new ();

      g_byte_array_append (scratch, file->data, file->len);
      g_assert_true (dyno_image_decode (scratch, file->len, width, height, shown, NULL));
      for (guint32 seed = 1; seed < 5; seed++)
        check_pixels (file, shown, width, height, seed * 55555555, 60, 50, 1.6, 0.6);
    }
}

/* The size of a sample is that of the image as it is shown; drawn images all have the same size. */
static void
test_sizes (void)
{
  enum { W = 50, H = 30 };
  g_autofree char *folder = test_folder_new ();
  g_autofree guint8 *pixels = make_pixels (W, H);
  g_autoptr (GByteArray) jpeg = make_jpeg (pixels, W, H, TJSAMP_444, 0), turned = turn (jpeg, 6),
                         png = test_png (7, 9, 2, 8, FALSE), scratch = g_byte_array_new ();
  static const guint32 expected[][2] = { { H, W }, { 7, 9 } };
  g_autoptr (GError) error = NULL;
  guint32 width, height;

  g_free (test_write (folder, "a.jpg", turned->data, turned->len));
  g_autofree char *second = test_write (folder, "b.png", png->data, png->len);
  g_autoptr (DynoDataset) files = dyno_dataset_open_unlabelled (
      (const char *const[]){ folder, NULL }, NULL, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (DynoDataset) drawn =
      dyno_dataset_open ("builtin:masks?size=24&samples=4", NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);

  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (dyno_dataset_find_size (files, i, scratch, &width, &height, &error));
      g_assert_cmpuint (width, ==, expected[i][0]);
      g_assert_cmpuint (height, ==, expected[i][1]);
    }
  g_assert_true (dyno_dataset_find_size (drawn, 3, scratch, &width, &height, &error));
  g_assert_cmpuint (width, ==, 24);
  g_assert_cmpuint (height, ==, 24);
  g_assert_cmpint (g_unlink (second), ==, 0);
  g_assert_false (dyno_dataset_find_size (files, 1, scratch, &width, &height, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NOT_FOUND);
  test_folder_remove (folder);
}

/* A crop of a piece; its parts outside of the image are black. */
static void
test_pieces (void)
{
  enum { W = 90, H = 60, SIDE = 40 };
  static const DynoImageBox pieces[] = { { 20, 10, 50, 30 },
                                         { -30, -20, 60, 45 },
                                         { 60, 40, 70, 80 },
                                         { -10, -10, 110, 80 },
                                         { 200, 0, 40, 40 } };
  g_autofree guint8 *pixels = make_pixels (W, H), *wide = g_malloc0 (400 * 400 * 3);
  g_autoptr (GByteArray) png = make_png (pixels, W, H),
                         jpeg = make_jpeg (pixels, W, H, TJSAMP_420, 0);
  g_autofree guint8 *decoded = g_malloc (W * H * 4);
  DynoImageFacts facts;
  guint8 out[SIDE * SIDE * 3];

  g_assert_true (dyno_image_probe (jpeg->data, jpeg->len, &facts, NULL));
  g_assert_true (dyno_jpeg_decode (jpeg->data, jpeg->len, &facts, W, H, decoded, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (pieces) * 2 * 6; i++)
    {
      const DynoImageBox *piece = &pieces[i % G_N_ELEMENTS (pieces)];
      const gboolean is_jpeg = i / G_N_ELEMENTS (pieces) % 2;
      guint32 seed = i * 99999;
      DynoImageBox box =
          dyno_crop_draw (&eighth, seed, (guint32) piece->width, (guint32) piece->height);
      g_autoptr (GError) error = NULL;

      for (guint y = 0; y < H; y++) /* the image, surrounded by black */
        memcpy (wide + ((y + 100) * 400 + 100) * 3, (is_jpeg ? decoded : pixels) + y * W * 3,
                W * 3);
      decode_crop (is_jpeg ? jpeg : png, piece, &eighth, seed, SIDE, SIDE, out, &error);
      g_assert_no_error (error);
      box.x += piece->x + 100;
      box.y += piece->y + 100;
      for (guint at = 0; at < sizeof out; at++)
        g_assert_cmpfloat_with_epsilon (
            out[at], pixel_of (wide, 400, &box, SIDE, SIDE, at / 3 % SIDE, at / 3 / SIDE, at % 3),
            1.6);
    }
  /* Whole pieces that leave the image at one side, by a pixel; and one of an image that is turned
   * when it is shown, whose pieces are of the stored pixels. */
  static const DynoImageBox edges[] = {
    { 10, 21, 40, 40 }, { 51, 10, 40, 40 }, { -1, 5, 40, 40 }, { 5, -1, 40, 40 }, { 7, 9, 40, 40 }
  };
  static const DynoCrop whole = { 1, 1 };
  g_autoptr (GByteArray) turned = turn (jpeg, 6);
  for (guint i = 0; i < G_N_ELEMENTS (edges); i++)
    {
      const DynoImageBox box = { edges[i].x + 100, edges[i].y + 100, 40, 40 };
      const gboolean is_last = i + 1 == G_N_ELEMENTS (edges);
      g_autoptr (GError) error = NULL;
      for (guint y = 0; y < H; y++)
        memcpy (wide + ((y + 100) * 400 + 100) * 3, (is_last ? decoded : pixels) + y * W * 3,
                W * 3);
      decode_crop (is_last ? turned : png, &edges[i], &whole, 1, SIDE, SIDE, out, &error);
      g_assert_no_error (error);
      for (guint at = 0; at < sizeof out; at++)
        g_assert_cmpfloat_with_epsilon (
            out[at], pixel_of (wide, 400, &box, SIDE, SIDE, at / 3 % SIDE, at / 3 / SIDE, at % 3),
            is_last ? 1.6 : 0.6);
    }
}

/* A JPEG is decoded at the size that its longer way to the sample needs. */
static void
test_oblong_samples_are_sharp (void)
{
  enum { SIDE = 320 };
  static const guint32 sizes[][2] = { { 16, 320 }, { 320, 16 } };
  static const DynoCrop whole = { 1, 1 };
  g_autofree guint8 *pixels = g_malloc (SIDE * SIDE * 3);

  for (guint i = 0; i < SIDE * SIDE * 3; i++)
    pixels[i] = (guint8) (128 + 60 * sin (i / 3 % SIDE * 0.9) + 60 * sin (i / 3 / SIDE * 0.9));
  g_autoptr (GByteArray) png = make_png (pixels, SIDE, SIDE),
                         jpeg = make_jpeg (pixels, SIDE, SIDE, TJSAMP_444, 0);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      static guint8 out[2][16 * 320 * 3];
      g_autoptr (GError) error = NULL;
      double sum = 0;
      decode_crop (png, NULL, &whole, 1, sizes[i][0], sizes[i][1], out[0], &error);
      g_assert_no_error (error);
      decode_crop (jpeg, NULL, &whole, 1, sizes[i][0], sizes[i][1], out[1], &error);
      g_assert_no_error (error);
      for (guint at = 0; at < sizeof out[0]; at++)
        sum += abs (out[0][at] - out[1][at]);
      g_test_message ("mean difference %g", sum / sizeof out[0]);
      g_assert_cmpfloat (sum / sizeof out[0], <, 2);
    }
}

static void
test_damage_is_an_error (void)
{
  g_autofree guint8 *pixels = make_pixels (200, 150);
  const DynoCrop all = { 1, 4.0 / 3 };
  guint8 out[30 * 30 * 3];

  for (guint progressive = 0; progressive < 2; progressive++)
    {
      g_autoptr (GByteArray) file =
          make_jpeg (pixels, 200, 150, TJSAMP_420, progressive ? TJFLAG_PROGRESSIVE : 0);
      guint whole = file->len;

      for (guint share = 1; share < 10; share++)
        {
          g_autoptr (GError) error = NULL;

          file->len = whole * share / 10;
          decode_crop (file, NULL, &all, 5, 30, 30, out, &error);
          g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
        }
      file->len = whole;
    }
}

/* --- loaders ---------------------------------------------------------------------------------- */

static DynoDataset *
open_folder (const char *folder)
{
  for (guint i = 0; i < 12; i++)
    {
      g_autofree guint8 *pixels = make_pixels (60 + 7 * i, 90);
      g_autoptr (GByteArray) file = i % 4 == 3 ? make_png (pixels, 60 + 7 * i, 90)
                                               : make_jpeg (pixels, 60 + 7 * i, 90, TJSAMP_420, 0);
      g_autofree char *name =
          g_strdup_printf ("%c/%u.%s", 'a' + i % 2, i, i % 4 == 3 ? "png" : "jpg");

      g_free (test_write (folder, name, file->data, file->len));
    }
  return test_open (folder);
}

static DynoLoader *
new_loader (DynoDataset *dataset, guint workers, guint32 side, gboolean cache, double area)
{
  const DynoLoaderParams params = { .batch = 5,
                                    .width = side,
                                    .height = side,
                                    .seed = 3,
                                    .shuffle = TRUE,
                                    .workers = workers,
                                    .prefetch = 2,
                                    .persistent = TRUE,
                                    .crop = { area, 4.0 / 3 },
                                    .cache = cache };
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  DynoLoader *loader;

  for (guint32 i = 0; i < 12; i++)
    g_array_append_val (indices, i);
  loader = dyno_loader_new (dataset, indices, &params, NULL);
  g_assert_nonnull (loader);
  return loader;
}

/* Collects the pixels of an epoch from a batch on, in the order of delivery. */
static GByteArray *
take_epoch (DynoLoader *loader, guint64 epoch, guint64 first)
{
  GByteArray *all = g_byte_array_new ();
  gsize bytes = dyno_loader_get_layout (loader)->sample_bytes[0];
  DynoBatch *batch;

  dyno_loader_start_epoch (loader, epoch, first);
  while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)))
    {
      g_byte_array_append (all, batch->fields[0], (guint) (bytes * batch->n_valid));
      dyno_loader_release (loader, batch);
    }
  return all;
}

/* Samples of 12 pixels are grouped into tasks and decoded into a buffer, those of 120 are decoded
 * into their slot. */
static void
test_loader_gives_the_same (void)
{
  static const guint workers[] = { 1, 2, 8 };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = open_folder (folder);

  g_assert_true (dyno_dataset_get_info (dataset)->croppable);
  for (guint32 side = 12; side <= 120; side += 108)
    {
      g_autoptr (DynoLoader) none = new_loader (dataset, 0, side, FALSE, 0.1);
      g_autoptr (GByteArray) first = take_epoch (none, 0, 0), second = take_epoch (none, 1, 0);
      gsize bytes = (gsize) side * side * 3;

      g_assert_cmpuint (first->len, ==, 12 * bytes);
      g_assert_true (memcmp (first->data, second->data, first->len) != 0);
      for (guint i = 0; i < G_N_ELEMENTS (workers); i++)
        {
          g_autoptr (DynoLoader) loader = new_loader (dataset, workers[i], side, i == 1, 0.1);
          g_autoptr (GByteArray) resumed = take_epoch (loader, 1, 1),
                                 again = take_epoch (loader, 1, 0),
                                 begin = take_epoch (loader, 0, 0);
          DynoLoaderStats stats;

          g_assert_cmpmem (again->data, again->len, second->data, second->len);
          g_assert_cmpmem (begin->data, begin->len, first->data, first->len);
          g_assert_cmpmem (resumed->data, resumed->len, second->data + 5 * bytes, 7 * bytes);
          dyno_loader_get_stats (loader,
                                 &stats); /* nothing is cached: each epoch has its own crops */
          g_assert_cmpuint (stats.cached_bytes, ==, 0);
        }
    }
  test_folder_remove (folder);
}

/* The crop depends on the seed of the row, with which the device augments the sample further. */
static void
test_loader_crops_by_the_seed (void)
{
  enum { SIDE = 32 };
  const DynoCrop crop = { 0.1, 4.0 / 3 };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = open_folder (folder);
  g_autoptr (DynoLoader) loader = new_loader (dataset, 2, SIDE, FALSE, crop.area);
  guint8 expected[12][SIDE * SIDE * 3];
  guint n = 0;
  DynoBatch *batch;

  dyno_loader_start_epoch (loader, 2, 0);
  while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)))
    {
      for (guint32 row = 0; row < batch->n_valid; row++, n++)
        {
          const guint8 *pixels = (const guint8 *) batch->fields[0] + row * sizeof expected[0];
          guint found = 0;

          for (guint32 i = 0; i < 12; i++) /* the pixels of one of the files */
            {
              g_autofree char *name = dyno_dataset_describe_sample (dataset, i),
                              *path = g_build_filename (folder, name, NULL), *bytes = NULL;
              g_autoptr (GByteArray) file = NULL;
              gsize size;

              g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
              file = g_byte_array_new_take ((guint8 *) g_steal_pointer (&bytes), size);
              decode_crop (file, NULL, &crop, ((const guint32 *) batch->fields[2])[row], SIDE, SIDE,
                           expected[i], NULL);
              found += memcmp (expected[i], pixels, sizeof expected[0]) == 0;
            }
          g_assert_cmpuint (found, ==, 1);
        }
      dyno_loader_release (loader, batch);
    }
  g_assert_cmpuint (n, ==, 12);
  test_folder_remove (folder);
}

/* Samples that are not separate files are not cropped. */
static void
test_others_come_whole (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:shapes?size=16&samples=12&classes=3");
  g_autoptr (DynoLoader) crops = new_loader (dataset, 1, 16, TRUE, 0.1),
                         whole = new_loader (dataset, 1, 16, FALSE, 0);
  g_autoptr (GByteArray) a = take_epoch (crops, 0, 0), b = take_epoch (whole, 0, 0);

  g_assert_false (dyno_dataset_get_info (dataset)->croppable);
  g_assert_cmpmem (a->data, a->len, b->data, b->len);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/crop/place-is-the-one-of-the-formula",
                   test_place_is_the_one_of_the_formula);
  g_test_add_func ("/data/crop/moments", test_moments);
  g_test_add_func ("/data/crop/pixels-are-torchvisions", test_pixels_are_torchvisions);
  g_test_add_func ("/data/crop/scaled-pixels-are-near-them", test_scaled_pixels_are_near_them);
  g_test_add_func ("/data/crop/region-is-a-part-of-the-whole", test_region_is_a_part_of_the_whole);
  g_test_add_func ("/data/crop/turned-images", test_turned_images);
  g_test_add_func ("/data/crop/sizes-are-those-that-are-shown", test_sizes);
  g_test_add_func ("/data/crop/pieces", test_pieces);
  g_test_add_func ("/data/crop/oblong-samples-are-sharp", test_oblong_samples_are_sharp);
  g_test_add_func ("/data/crop/damage-is-an-error", test_damage_is_an_error);
  g_test_add_func ("/data/crop/loader-gives-the-same", test_loader_gives_the_same);
  g_test_add_func ("/data/crop/loader-crops-by-the-seed", test_loader_crops_by_the_seed);
  g_test_add_func ("/data/crop/others-come-whole", test_others_come_whole);
  return g_test_run ();
}
