/* SPDX-License-Identifier: MIT */
/* Pixels of masks: as stored, and resampled like their image. */
#include "data-test.h"
#include "image-codec.h"
#include "palette.h"
#include "schema.h"
#include <png.h>
#include <string.h>

/* Returns the pixels of a mask file, at the end of scratch. */
static const guint8 *
decode (const GByteArray *file, GByteArray *scratch, DynoMaskFacts *facts, GError **error)
{
  gsize at;

  /* The file need not be at the start of the buffer. */
  g_byte_array_set_size (scratch, 0);
  g_byte_array_append (scratch, (const guint8 *) "image", 5);
  g_byte_array_append (scratch, file->data, file->len);
  return dyno_mask_decode (scratch, 5, file->len, facts, &at, error) ? scratch->data + at : NULL;
}

/* --- files ------------------------------------------------------------------------------------ */

static void
test_numbers (void)
{
  static const struct {
    int type, depth;
    guint8 pixels[6];
  } cases[] = {
    { PNG_COLOR_TYPE_GRAY, 8, { 0, 1, 2, 100, 254, 255 } },
    { PNG_COLOR_TYPE_GRAY, 4, { 0, 1, 2, 15, 14, 7 } },
    { PNG_COLOR_TYPE_GRAY, 2, { 0, 1, 2, 3, 3, 0 } },
    { PNG_COLOR_TYPE_GRAY, 1, { 0, 1, 1, 1, 0, 1 } },
    { PNG_COLOR_TYPE_PALETTE, 8, { 0, 1, 2, 20, 255, 21 } },
    { PNG_COLOR_TYPE_PALETTE, 4, { 0, 1, 2, 15, 14, 7 } },
    { PNG_COLOR_TYPE_PALETTE, 2, { 0, 1, 2, 3, 3, 0 } },
    { PNG_COLOR_TYPE_PALETTE, 1, { 0, 1, 1, 1, 0, 1 } },
  };
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++)
    {
      const guint k = i / 2;
      g_autoptr (GByteArray) file =
          test_mask (3, 2, cases[k].type, cases[k].depth, i % 2 == 1, cases[k].pixels);
      g_autoptr (GError) error = NULL;
      DynoMaskFacts facts;
      const guint8 *pixels = decode (file, scratch, &facts, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (facts.width, ==, 3);
      g_assert_cmpuint (facts.height, ==, 2);
      g_assert_cmpuint (facts.bits, ==, (guint) cases[k].depth);
      g_assert_cmpint (facts.palette, ==, cases[k].type == PNG_COLOR_TYPE_PALETTE);
      g_assert_false (facts.colours);
      g_assert_cmpmem (pixels, 6, cases[k].pixels, 6);
    }
}

static void
test_sixteen_bits (void)
{
  static const guint8 good[] = { 0, 0, 0, 7, 0, 255, 255, 255 };
  static const guint8 bad[] = { 0, 0, 0, 7, 1, 44, 0, 1 };
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GByteArray) file = test_mask (2, 2, PNG_COLOR_TYPE_GRAY, 16, FALSE, good),
                         large = test_mask (2, 2, PNG_COLOR_TYPE_GRAY, 16, FALSE, bad);
  g_autoptr (GError) error = NULL;
  DynoMaskFacts facts;
  const guint8 *pixels = decode (file, scratch, &facts, &error);
  static const guint8 expected[] = { 0, 7, 255, 255 };

  g_assert_no_error (error);
  g_assert_cmpmem (pixels, 4, expected, sizeof expected);
  g_assert_null (decode (large, scratch, &facts, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  test_has_words (error, "16 bits|id 300|8 bits");
}

static void
test_colours (void)
{
  static const guint8 rgb[] = { 128, 0, 64, 1, 2, 3 }, rgba[] = { 128, 0, 64, 0, 1, 2, 3, 255 };
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GByteArray) plain = test_mask (2, 1, PNG_COLOR_TYPE_RGB, 8, FALSE, rgb),
                         alpha = test_mask (2, 1, PNG_COLOR_TYPE_RGB_ALPHA, 8, FALSE, rgba);
  DynoMaskFacts facts;

  g_assert_cmpmem (decode (plain, scratch, &facts, NULL), 6, rgb, 6);
  g_assert_true (facts.colours);
  /* A transparent pixel keeps its colour, which stands for a class. */
  g_assert_cmpmem (decode (alpha, scratch, &facts, NULL), 6, rgb, 6);
  g_assert_true (facts.colours);
}

static void
test_refusals (void)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GByteArray) jpeg = test_jpeg (8, 8, 1, 2, 3, FALSE),
                         cut = test_mask (2, 2, PNG_COLOR_TYPE_GRAY, 8, FALSE, (guint8[4]){ 0 });
  g_autoptr (GError) error = NULL, corrupt = NULL;
  DynoMaskFacts facts;

  g_assert_null (decode (jpeg, scratch, &facts, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  test_has_words (error, "JPEG|PNG");
  g_byte_array_set_size (cut, cut->len - 20);
  g_assert_null (decode (cut, scratch, &facts, &corrupt));
  g_assert_error (corrupt, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
}

/* A written mask of predictions is read back by its indices, and drawn in their colours. */
static void
test_written (void)
{
  static const guint8 ids[] = { 0, 1, 20, 255, 7, 7 };
  g_autoptr (GByteArray) scratch = g_byte_array_new (), file = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = dyno_image_encode_mask_png (ids, 3, 2, &error);
  guint8 drawn[18], rgb[3];
  DynoMaskFacts facts;

  g_assert_no_error (error);
  g_byte_array_append (file, g_bytes_get_data (bytes, NULL), (guint) g_bytes_get_size (bytes));
  g_assert_cmpmem (decode (file, scratch, &facts, &error), 6, ids, 6);
  g_assert_true (facts.palette);
  g_assert_cmpuint (facts.bits, ==, 8);
  g_byte_array_set_size (scratch, 0);
  g_byte_array_append (scratch, file->data, file->len);
  g_assert_true (dyno_image_decode (scratch, file->len, 3, 2, drawn, &error));
  for (guint i = 0; i < 6; i++)
    {
      dyno_palette_get (ids[i], rgb);
      g_assert_cmpmem (drawn + 3 * i, 3, rgb, 3);
    }
}

/* --- resampling ------------------------------------------------------------------------------- */

static const DynoMaskTable *
identity (void)
{
  static DynoMaskTable table;

  for (guint i = 0; i < 256; i++)
    table.of_number[i] = (guint8) i;
  return &table;
}

static void
check (const guint8 *pixels, guint32 picture_width, guint32 picture_height, guint32 width,
       guint32 height, const guint8 *expected)
{
  const DynoMaskFacts facts = { .width = picture_width, .height = picture_height, .bits = 8 };
  DynoResizeWindow window = dyno_mask_cover (picture_width, picture_height, width, height);
  g_autofree guint8 *out = g_malloc0 (width * height);

  dyno_mask_sample (pixels, &facts, 1, &window, identity (), width, height, out);
  g_assert_cmpmem (out, width * height, expected, width * height);
}

static void
test_nearest (void)
{
  static const guint8 pixels[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }; /* 4 x 3 */

  check (pixels, 4, 3, 4, 3, pixels);
  /* cropped to the centre: columns 0.5 to 3.5, so that sampling points are on borders of pixels */
  check (pixels, 4, 3, 3, 3, (guint8[]){ 1, 2, 3, 5, 6, 7, 9, 10, 11 });
  /* rows 0.5 to 2.5 */
  check (pixels, 4, 3, 4, 2, (guint8[]){ 4, 5, 6, 7, 8, 9, 10, 11 });
  /* halved: the centre of two pixels is the border between them */
  check (pixels, 4, 3, 2, 1, (guint8[]){ 5, 7 });
  /* enlarged */
  check (pixels, 2, 2, 4, 4, (guint8[]){ 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3 });
  check (pixels, 1, 1, 2, 3, (guint8[]){ 0, 0, 0, 0, 0, 0 });
}

/* Image and mask have the same content, so the border between two halves is at the same place, with
 * the same scale and crop. */
static void
test_mask_moves_as_its_image (void)
{
  static const guint32 sizes[][4] = { { 90, 60, 30, 30 },
                                      { 60, 90, 24, 40 },
                                      { 33, 21, 64, 64 },
                                      { 101, 67, 50, 50 },
                                      { 64, 64, 64, 64 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      guint32 w = sizes[i][0], h = sizes[i][1], width = sizes[i][2], height = sizes[i][3];
      g_autofree guint8 *ids = g_malloc (w * h), *rgb = g_malloc (3 * w * h),
                        *mask = g_malloc (width * height), *image = g_malloc (3 * width * height);
      g_autoptr (GByteArray) scratch = g_byte_array_new ();
      const DynoMaskFacts facts = { .width = w, .height = h, .bits = 8 };
      DynoResizeWindow window = dyno_mask_cover (w, h, width, height);
      guint n_wrong = 0;

      for (guint32 k = 0; k < w * h; k++)
        {
          ids[k] = 3 * (k % w) > w && 2 * (k / w) > h;
          memset (rgb + 3 * k, ids[k] ? 255 : 0, 3);
        }
      g_assert_true (dyno_image_encode_png (rgb, w, h, 3, scratch, NULL));
      g_assert_true (dyno_image_decode (scratch, scratch->len, width, height, image, NULL));
      dyno_mask_sample (ids, &facts, 1, &window, identity (), width, height, mask);
      /* A pixel across the border is grey; all others agree with the mask. */
      for (guint32 k = 0; k < width * height; k++)
        n_wrong += image[3 * k] == 255 ? mask[k] != 1 : image[3 * k] == 0 && mask[k] != 0;
      g_assert_cmpuint (n_wrong, ==, 0);
    }
}

/* A mask that was drawn on the stored pixels is rotated with them. */
static void
test_turns (void)
{
  enum { W = 5, H = 3 };
  guint8 ids[W * H], stored[W * H * 3], shown[W * H * 3];
  const DynoMaskFacts facts = { .width = W, .height = H, .bits = 8 };

  for (guint i = 0; i < W * H; i++)
    {
      ids[i] = (guint8) (i + 1);
      memset (stored + 3 * i, ids[i], 3);
    }
  for (guint8 o = 1; o <= 8; o++)
    {
      guint32 width = o >= 5 ? H : W, height = o >= 5 ? W : H;
      DynoResizeWindow window = dyno_mask_cover (width, height, width, height);
      guint8 out[W * H];

      dyno_image_turn (stored, o, width, height, shown);
      dyno_mask_sample (ids, &facts, o, &window, identity (), width, height, out);
      for (guint i = 0; i < W * H; i++)
        g_assert_cmpuint (out[i], ==, shown[3 * i]);
    }
}

static void
test_table (void)
{
  static const guint32 colours[] = { 0x000000, 0x00ff00, 0x800000 };
  static const guint8 of_colour[] = { 2, 0, 1 };
  const DynoMaskTable table = {
    .of_number = { 0, 1, 255 }, .n_colours = 3, .colours = colours, .of_colour = of_colour
  };
  static const guint8 rgb[] = { 0x80, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0xff, 1, 0, 0xff, 0 },
                      ids[] = { 1, 2, 0, DYNO_MASK_IGNORED, 0 }, numbers[] = { 2, 1, 0, 1, 2 },
                      mapped[] = { 255, 1, 0, 1, 255 };
  const DynoMaskFacts coloured = { .width = 5, .height = 1, .colours = TRUE, .bits = 8 },
                      plain = { .width = 5, .height = 1, .bits = 8 };
  DynoResizeWindow window = dyno_mask_cover (5, 1, 5, 1);
  guint8 out[5];

  dyno_mask_sample (rgb, &coloured, 1, &window, &table, 5, 1, out);
  g_assert_cmpmem (out, 5, ids, 5);
  dyno_mask_sample (numbers, &plain, 1, &window, &table, 5, 1, out);
  g_assert_cmpmem (out, 5, mapped, 5);
}

/* --- restored to the size of the picture ------------------------------------------------------ */

static void
test_restored_pixels (void)
{
  static const guint8 ids[] = { 1, 2, 3, 4 };
  static const guint8 wide[] = { 255, 1, 1, 2, 2, 255, 255, 1, 1, 2, 2, 255,
                                 255, 3, 3, 4, 4, 255, 255, 3, 3, 4, 4, 255 },
                      tall[] = { 255, 255, 1, 2, 3, 4, 255, 255 }, small[] = { 1 },
                      odd[] = { 255, 1, 2, 255, 3, 4 };
  static const struct {
    guint32 width, height;
    const guint8 *expected;
  } cases[] = { { 6, 4, wide }, { 2, 4, tall }, { 1, 1, small }, { 3, 2, odd }, { 2, 2, ids } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gsize size = (gsize) cases[i].width * cases[i].height;
      guint8 out[26];

      memset (out, 99, sizeof out);
      dyno_mask_restore (ids, 2, 2, cases[i].width, cases[i].height, out + 1);
      g_assert_cmpmem (out + 1, size, cases[i].expected, size);
      g_assert_cmpuint (out[0], ==, 99);
      g_assert_cmpuint (out[size + 1], ==, 99);
    }
}

/* Preparing the restored mask gives the same ids again. */
static void
test_restored_is_sampled_back (void)
{
  static const guint32 sides[] = { 5, 6, 7, 11, 16, 23, 40 };
  const guint32 width = 5, height = 3;
  DynoMaskTable table = { .n_colours = 0 };
  guint8 ids[15], back[15], restored[40 * 40];

  for (guint i = 0; i < 256; i++)
    table.of_number[i] = (guint8) i;
  for (guint i = 0; i < sizeof ids; i++)
    ids[i] = (guint8) (i + 1);
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    for (guint k = 0; k < G_N_ELEMENTS (sides); k++)
      {
        const DynoMaskFacts facts = { .width = sides[i], .height = sides[k], .bits = 8 };
        DynoResizeWindow window = dyno_mask_cover (sides[i], sides[k], width, height);

        dyno_mask_restore (ids, width, height, sides[i], sides[k], restored);
        dyno_mask_sample (restored, &facts, 1, &window, &table, width, height, back);
        g_assert_cmpmem (back, sizeof back, ids, sizeof ids);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/mask-pixels/numbers-stay-as-they-are-stored", test_numbers);
  g_test_add_func ("/data/mask-pixels/ids-of-16-bits-fit-a-byte", test_sixteen_bits);
  g_test_add_func ("/data/mask-pixels/colours-have-no-alpha", test_colours);
  g_test_add_func ("/data/mask-pixels/refuses-what-is-no-whole-png", test_refusals);
  g_test_add_func ("/data/mask-pixels/written-by-index-and-palette", test_written);
  g_test_add_func ("/data/mask-pixels/takes-the-nearest-pixel", test_nearest);
  g_test_add_func ("/data/mask-pixels/moves-as-its-image", test_mask_moves_as_its_image);
  g_test_add_func ("/data/mask-pixels/turns-as-its-image", test_turns);
  g_test_add_func ("/data/mask-pixels/maps-numbers-and-colours-to-classes", test_table);
  g_test_add_func ("/data/mask-pixels/restored-at-the-size-of-the-picture", test_restored_pixels);
  g_test_add_func ("/data/mask-pixels/restored-is-sampled-back", test_restored_is_sampled_back);
  return g_test_run ();
}
