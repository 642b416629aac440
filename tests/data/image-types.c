/* SPDX-License-Identifier: MIT */
/* Variants of BMP and TIFF, complete and damaged. */
#include "data-test.h"
#include "image.h"
#include "palette.h"
#include <string.h>
#include <tiffio.h>
#include <unistd.h>

/* 3 x 2: the first row red, green, blue, the second black, white, (200, 100, 50). */
static const guint8 picture[2][3][3] = {
  { { 255, 0, 0 }, { 0, 255, 0 }, { 0, 0, 255 } },
  { { 0, 0, 0 }, { 255, 255, 255 }, { 200, 100, 50 } },
};

static void
put (GByteArray *file, guint size, guint32 value)
{
  for (guint i = 0; i < size; i++)
    {
      guint8 byte = (guint8) (value >> (8 * i));
      g_byte_array_append (file, &byte, 1);
    }
}

typedef enum {
  CORE_24,
  INFO_1,
  INFO_4,
  INFO_8,
  INFO_16,
  INFO_24,
  INFO_32,
  TOP_32,
  V4_ALPHA,
  N_BMP
} BmpKind;

static void
put_pixel (GByteArray *file, BmpKind kind, guint x, guint y)
{
  const guint8 *p = picture[y][x];

  if (kind == CORE_24 || kind == INFO_24)
    put (file, 3, (guint32) p[2] | (guint32) p[1] << 8 | (guint32) p[0] << 16);
  else if (kind == INFO_16)
    put (file, 2, (guint32) (p[0] >> 3) << 11 | (guint32) (p[1] >> 2) << 5 | p[2] >> 3);
  else if (kind == INFO_8)
    put (file, 1, y * 3 + x);
  else if (kind == V4_ALPHA)
    put (file, 4, (guint32) p[0] | (guint32) p[1] << 8 | (guint32) p[2] << 16 | 0xffu << 24);
  else
    put (file, 4, (guint32) p[2] | (guint32) p[1] << 8 | (guint32) p[0] << 16);
}

static GByteArray *
make_bmp (BmpKind kind)
{
  static const guint bits[] = { 24, 1, 4, 8, 16, 24, 32, 32, 32 };
  GByteArray *file = g_byte_array_new ();
  guint header = kind == CORE_24 ? 12 : kind == V4_ALPHA ? 108 : 40;
  gboolean masks = kind == INFO_16 || kind == V4_ALPHA;
  guint palette = bits[kind] <= 8 ? 4u << bits[kind] : 0;
  guint at = 14 + header + palette + (kind == INFO_16 ? 12 : 0);

  g_byte_array_append (file, (const guint8 *) "BM", 2);
  put (file, 4, 0);
  put (file, 4, 0);
  put (file, 4, at);
  put (file, 4, header);
  put (file, kind == CORE_24 ? 2 : 4, 3);
  put (file, kind == CORE_24 ? 2 : 4, kind == TOP_32 ? (guint32) -2 : 2);
  put (file, 2, 1);
  put (file, 2, bits[kind]);
  if (header > 12)
    {
      put (file, 4, masks ? 3 : 0);
      for (guint i = 0; i < 5; i++)
        put (file, 4, 0);
    }
  if (kind == INFO_16)
    for (guint i = 0; i < 3; i++)
      put (file, 4, i == 0 ? 0xf800 : i == 1 ? 0x7e0 : 0x1f);
  if (kind == V4_ALPHA)
    for (guint i = 0; i < 4; i++)
      put (file, 4, 0xffu << (8 * i));
  while (file->len < 14 + header)
    put (file, 1, 0);
  for (guint i = 0; i < palette / 4; i++)
    {
      const guint8 *p = picture[i / 3 % 2][i % 3];
      put (file, 4, (guint32) p[2] | (guint32) p[1] << 8 | (guint32) p[0] << 16);
    }
  for (guint row = 0; row < 2; row++)
    {
      guint y = kind == TOP_32 ? row : 1 - row, start = file->len;

      if (kind == INFO_1) /* only the first two colours of the palette */
        put (file, 1, y == 0 ? 0x40 : 0xa0);
      else if (kind == INFO_4)
        put (file, 2, y == 0 ? 0x2001 : 0x5034);
      else
        for (guint x = 0; x < 3; x++)
          put_pixel (file, kind, x, y);
      while ((file->len - start) % 4 != 0)
        put (file, 1, 0);
    }
  return file;
}

/* Nothing is written behind the pixels. */
static void
decode (GByteArray *file, guint8 out[2][3][3])
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 room[2 * 3 * 3 + 8], untouched[8];

  memset (room, 0xa5, sizeof room);
  memset (untouched, 0xa5, sizeof untouched);
  g_byte_array_append (scratch, file->data, file->len);
  dyno_image_decode (scratch, file->len, 3, 2, room, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (room + 18, 8, untouched, 8);
  memcpy (out, room, 18);
}

static void
assert_near (const guint8 *got, const guint8 *expected, int tolerance)
{
  for (guint c = 0; c < 3; c++)
    g_assert_cmpint (ABS (got[c] - expected[c]), <=, tolerance);
}

static void
test_bmp_of_all_bits (void)
{
  for (BmpKind kind = CORE_24; kind < N_BMP; kind++)
    {
      g_autoptr (GByteArray) file = make_bmp (kind);
      guint8 out[2][3][3];

      decode (file, out);
      for (guint y = 0; y < 2; y++)
        for (guint x = 0; x < 3; x++)
          if (kind == INFO_1)
            assert_near (out[y][x], picture[0][(x + y) % 2], 0);
          else
            assert_near (out[y][x], picture[y][x], kind == INFO_16 ? 7 : 0);
    }
}

static void
set32 (GByteArray *file, guint at, guint32 value)
{
  for (guint i = 0; i < 4; i++)
    file->data[at + i] = (guint8) (value >> (8 * i));
}

/* Programs that store the number of colours omit the rest of the palette. */
static void
test_bmp_of_few_colours (void)
{
  g_autoptr (GByteArray) file = make_bmp (INFO_8);
  const guint8 at = 14 + 40 + 6 * 4;
  guint8 out[2][3][3];

  g_byte_array_remove_range (file, at, (256 - 6) * 4);
  memset (file->data + 10, 0, 4);
  file->data[10] = at;
  file->data[46] = 6;
  decode (file, out);
  for (guint y = 0; y < 2; y++)
    for (guint x = 0; x < 3; x++)
      assert_near (out[y][x], picture[y][x], 0);
  /* Colours that the file does not give are black, whatever lies where they would be. */
  for (guint i = 0; i < 6; i++)
    file->data[14 + 40 + 4 * i + 3] = 0xff;
  file->data[file->len - 4] = 6; /* the first pixel of the top row */
  decode (file, out);
  assert_near (out[0][0], (guint8[]){ 0, 0, 0 }, 0);
  assert_near (out[0][1], picture[0][1], 0);
}

/* The pixels may lie before the palette, which then ends with the file. */
static void
test_bmp_of_colours_at_its_end (void)
{
  g_autoptr (GByteArray) file = make_bmp (INFO_8);
  guint8 out[2][3][3], colours[6 * 4];

  memcpy (colours, file->data + 14 + 40, sizeof colours);
  g_byte_array_remove_range (file, 14 + 40, 256 * 4);
  g_byte_array_append (file, colours, sizeof colours);
  set32 (file, 10, 14 + 40);
  set32 (file, 14, 48); /* the size of the header, which ends with the two rows */
  set32 (file, 46, 6);
  decode (file, out);
  for (guint y = 0; y < 2; y++)
    for (guint x = 0; x < 3; x++)
      assert_near (out[y][x], picture[y][x], 0);
}

/* The smallest file with masks: a row of one pixel. */
static void
test_bmp_of_one_pixel (void)
{
  g_autoptr (GByteArray) file = make_bmp (INFO_16), scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 out[3];

  set32 (file, 18, 1);
  set32 (file, 22, 1);
  g_byte_array_set_size (file, 14 + 40 + 12 + 4);
  file->data[14 + 40 + 12] = 0xe0; /* green */
  file->data[14 + 40 + 12 + 1] = 0x07;
  g_byte_array_append (scratch, file->data, file->len);
  dyno_image_decode (scratch, file->len, 1, 1, out, &error);
  g_assert_no_error (error);
  assert_near (out, (guint8[]){ 0, 255, 0 }, 0);
}

/* The mask of alpha belongs to headers from version 3 on, of 56 bytes; shorter headers have it only
 * where the compression says so. */
static void
test_bmp_alpha_is_composed_on_white (void)
{
  static const struct {
    guint32 header, compression;
    gboolean has_alpha;
  } cases[] = { { 108, 3, TRUE }, { 56, 3, TRUE }, { 52, 3, FALSE },
                { 40, 3, FALSE }, { 40, 6, TRUE }, { 52, 6, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) file = make_bmp (V4_ALPHA);
      guint8 out[2][3][3];

      set32 (file, 14, cases[i].header);
      set32 (file, 30, cases[i].compression);
      file->data[file->len - 12 + 3] = 0; /* the first pixel of the top row is transparent */
      decode (file, out);
      assert_near (out[0][0], cases[i].has_alpha ? (guint8[]){ 255, 255, 255 } : picture[0][0], 0);
      assert_near (out[0][1], picture[0][1], 0);
    }
}

/* The bits of a mask are scaled to 8 and rounded; a colour without a mask is 0. */
static void
test_bmp_of_other_masks (void)
{
  static const struct {
    guint32 masks[3], pixel;
    guint8 expected[3];
  } cases[] = {
    { { 0x3ff00000, 0xffc00, 0x3ff }, 0x3ff00000 | 512 << 10 | 1, { 255, 128, 0 } },
    { { 0, 0xf0, 0xf }, 0xffffff37, { 0, 51, 119 } },
    { { 0xffff0000, 0x8000, 0x7fff }, 0x0100ffff, { 1, 255, 255 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) file = make_bmp (V4_ALPHA);
      guint8 out[2][3][3];

      for (guint c = 0; c < 3; c++)
        set32 (file, 14 + 40 + 4 * c, cases[i].masks[c]);
      set32 (file, 14 + 40 + 12, 0);
      set32 (file, file->len - 12, cases[i].pixel);
      decode (file, out);
      assert_near (out[0][0], cases[i].expected, 0);
    }
}

static void
refuse (GByteArray *file, int code, const char *words)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 out[18];

  g_byte_array_append (scratch, file->data, file->len);
  g_assert_false (dyno_image_decode (scratch, file->len, 3, 2, out, &error));
  g_assert_error (error, DYNO_DATA_ERROR, code);
  test_has_words (error, words);
}

static void
test_damaged_bmp (void)
{
  for (BmpKind kind = CORE_24; kind < N_BMP; kind++)
    {
      g_autoptr (GByteArray) whole = make_bmp (kind);
      for (guint cut = 14; cut < whole->len - 3; cut += 7)
        {
          g_autoptr (GByteArray) file = g_byte_array_new ();
          g_byte_array_append (file, whole->data, cut);
          refuse (file, DYNO_DATA_ERROR_CORRUPT, "BMP");
        }
    }
  g_autoptr (GByteArray) bomb = make_bmp (INFO_24);
  set32 (bomb, 18, 65500);
  set32 (bomb, 22, 65500);
  refuse (bomb, DYNO_DATA_ERROR_TOO_LARGE, "65500 × 65500");
  set32 (bomb, 18, 10000);
  set32 (bomb, 22, 10000);
  refuse (bomb, DYNO_DATA_ERROR_CORRUPT, "ends early");
  set32 (bomb, 22, 0x80000000);
  refuse (bomb, DYNO_DATA_ERROR_TOO_LARGE, "2147483648");
  g_autoptr (GByteArray) packed = make_bmp (INFO_8);
  set32 (packed, 30, 1);
  refuse (packed, DYNO_DATA_ERROR_UNSUPPORTED, "compressed BMP");
  set32 (packed, 30, 3); /* masks of a palette */
  refuse (packed, DYNO_DATA_ERROR_UNSUPPORTED, "compressed BMP");
  g_autoptr (GByteArray) jpeg = make_bmp (INFO_32);
  set32 (jpeg, 30, 4);
  refuse (jpeg, DYNO_DATA_ERROR_UNSUPPORTED, "compressed BMP");
  g_autoptr (GByteArray) head = make_bmp (INFO_24);
  for (guint i = 0; i < 3; i++)
    {
      set32 (head, 14, (guint32[]){ 11, 13, 39 }[i]);
      refuse (head, DYNO_DATA_ERROR_CORRUPT, "unknown header");
    }
  /* The pixels are there, the palette is not: it would end, or begin, after the file. */
  g_autoptr (GByteArray) colourless = make_bmp (INFO_8);
  g_byte_array_remove_range (colourless, 14 + 40, 256 * 4);
  set32 (colourless, 10, 14 + 40);
  set32 (colourless, 46, 16);
  refuse (colourless, DYNO_DATA_ERROR_CORRUPT, "inside its palette");
  set32 (colourless, 14, 200);
  refuse (colourless, DYNO_DATA_ERROR_CORRUPT, "inside its palette");
  g_autoptr (GByteArray) beyond = make_bmp (INFO_8);
  set32 (beyond, 10, 0xffffffff);
  refuse (beyond, DYNO_DATA_ERROR_CORRUPT, "ends early");
}

/* --- TIFF ------------------------------------------------------------------------------------- */

typedef enum {
  RGB_8,
  RGB_16,
  GREY_8,
  GREY_16,
  PALETTE,
  RGBA,
  LZW,
  DEFLATE,
  TILED,
  BIG_ENDIAN_8,
  N_TIFF
} TiffKind;

static void
write_rows (TIFF *tiff, TiffKind kind)
{
  for (guint y = 0; y < 2; y++)
    {
      guint8 row[64] = { 0 };

      for (guint x = 0; x < 3; x++)
        {
          const guint8 *p = picture[y][x];
          guint16 wide[3] = { (guint16) (p[0] * 257), (guint16) (p[1] * 257),
                              (guint16) (p[2] * 257) };

          if (kind == RGB_16)
            memcpy (row + x * 6, wide, 6);
          else if (kind == GREY_8)
            row[x] = p[0];
          else if (kind == GREY_16)
            memcpy (row + x * 2, wide, 2);
          else if (kind == PALETTE)
            row[x] = (guint8) (y * 3 + x);
          else
            memcpy (row + x * (kind == RGBA ? 4 : 3), p, 3);
          if (kind == RGBA)
            row[x * 4 + 3] = x == 0 ? 0 : 255;
        }
      g_assert_cmpint (TIFFWriteScanline (tiff, row, y, 0), ==, 1);
    }
}

static GByteArray *
make_tiff (TiffKind kind, guint16 orientation)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = g_build_filename (folder, "x.tif", NULL);
  g_autofree char *content = NULL;
  gboolean grey = kind == GREY_8 || kind == GREY_16 || kind == PALETTE;
  TIFF *tiff = TIFFOpen (path, kind == BIG_ENDIAN_8 ? "wb" : "wl");
  GByteArray *file = g_byte_array_new ();
  gsize size;

  TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, 3);
  TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, 2);
  TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, kind == RGB_16 || kind == GREY_16 ? 16 : 8);
  TIFFSetField (tiff, TIFFTAG_SAMPLESPERPIXEL, grey ? 1 : kind == RGBA ? 4 : 3);
  TIFFSetField (tiff, TIFFTAG_PHOTOMETRIC,
                kind == PALETTE ? PHOTOMETRIC_PALETTE
                : grey          ? PHOTOMETRIC_MINISBLACK
                                : PHOTOMETRIC_RGB);
  TIFFSetField (tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField (tiff, TIFFTAG_ORIENTATION, orientation);
  TIFFSetField (tiff, TIFFTAG_COMPRESSION,
                kind == LZW       ? COMPRESSION_LZW
                : kind == DEFLATE ? COMPRESSION_ADOBE_DEFLATE
                                  : COMPRESSION_NONE);
  if (kind == RGBA)
    TIFFSetField (tiff, TIFFTAG_EXTRASAMPLES, 1, (guint16[]){ EXTRASAMPLE_UNASSALPHA });
  if (kind == PALETTE)
    {
      guint16 colours[3][256] = { { 0 } };
      for (guint i = 0; i < 6; i++)
        for (guint c = 0; c < 3; c++)
          colours[c][i] = (guint16) (picture[i / 3][i % 3][c] * 257);
      TIFFSetField (tiff, TIFFTAG_COLORMAP, colours[0], colours[1], colours[2]);
    }
  if (kind == TILED)
    {
      guint8 tile[16 * 16 * 3] = { 0 };
      TIFFSetField (tiff, TIFFTAG_TILEWIDTH, 16);
      TIFFSetField (tiff, TIFFTAG_TILELENGTH, 16);
      for (guint y = 0; y < 2; y++)
        memcpy (tile + y * 48, picture[y], 9);
      TIFFWriteTile (tiff, tile, 0, 0, 0, 0);
    }
  else
    write_rows (tiff, kind);
  TIFFClose (tiff);
  g_assert_true (g_file_get_contents (path, &content, &size, NULL));
  g_byte_array_append (file, (const guint8 *) content, (guint) size);
  test_folder_remove (folder);
  return file;
}

static void
test_tiff_of_all_kinds (void)
{
  for (TiffKind kind = RGB_8; kind < N_TIFF; kind++)
    {
      g_autoptr (GByteArray) file = make_tiff (kind, 1);
      guint8 out[2][3][3];

      decode (file, out);
      for (guint y = 0; y < 2; y++)
        for (guint x = 0; x < 3; x++)
          if (kind == GREY_8 || kind == GREY_16)
            assert_near (out[y][x],
                         (guint8[]){ picture[y][x][0], picture[y][x][0], picture[y][x][0] }, 0);
          else if (kind == RGBA && x == 0)
            assert_near (out[y][x], (guint8[]){ 255, 255, 255 }, 0);
          else
            assert_near (out[y][x], picture[y][x], 0);
    }
}

static void
test_tiff_is_turned (void)
{
  /* the stored position of the pixel that is shown at (0, 0) */
  static const guint first[9][2] = { { 0, 0 }, { 0, 0 }, { 0, 2 }, { 1, 2 }, { 1, 0 },
                                     { 0, 0 }, { 1, 0 }, { 1, 2 }, { 0, 2 } };

  for (guint16 orientation = 1; orientation <= 8; orientation++)
    {
      g_autoptr (GByteArray) file = make_tiff (RGB_8, orientation);
      g_autoptr (GByteArray) scratch = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      DynoImageFacts facts;
      guint32 width, height;
      guint8 out[18];

      g_byte_array_append (scratch, file->data, file->len);
      g_assert_true (dyno_image_probe (file->data, file->len, &facts, &error));
      dyno_image_get_shown (&facts, &width, &height);
      g_assert_cmpuint (width, ==, orientation >= 5 ? 2 : 3);
      g_assert_true (dyno_image_decode (scratch, file->len, width, height, out, &error));
      assert_near (out, picture[first[orientation][0]][first[orientation][1]], 0);
    }
}

static void
test_damaged_tiff (void)
{
  g_autoptr (GByteArray) whole = make_tiff (LZW, 1);

  for (guint cut = 12; cut < whole->len; cut += 5)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_byte_array_append (file, whole->data, cut);
      refuse (file, DYNO_DATA_ERROR_CORRUPT, "TIFF");
    }
  g_autoptr (GByteArray) bomb = make_tiff (RGB_8, 1);
  guint32 at = (guint32) bomb->data[4] | (guint32) bomb->data[5] << 8;
  for (guint i = 0; i < 2; i++) /* width and height are the first entries */
    {
      bomb->data[at + 2 + 12 * i + 8] = 0xdc;
      bomb->data[at + 2 + 12 * i + 9] = 0xff;
    }
  refuse (bomb, DYNO_DATA_ERROR_TOO_LARGE, "65500 × 65500");
}

/* The reason is the library's, where it gives one. */
static void
test_reason_of_a_damaged_tiff (void)
{
  guint n_told = 0;

  for (guint at = 8; at < 14; at++) /* the strip is in front of the directory */
    {
      g_autoptr (GByteArray) scratch = make_tiff (DEFLATE, 1);
      g_autoptr (GError) error = NULL;
      guint8 out[2][3][3];
      scratch->data[at] ^= 0xff;
      if (dyno_image_decode (scratch, scratch->len, 3, 2, out[0][0], &error))
        continue;
      g_assert_true (g_str_has_prefix (error->message, "TIFF: "));
      n_told += strstr (error->message, "it is damaged") == NULL;
    }
  g_assert_cmpuint (n_told, >=, 2);
}

/* --- encoding --------------------------------------------------------------------------------- */

/* A file that is written again is the same, and nothing is behind its end. */
static void
test_encoded_files (void)
{
  static const guint8 png_end[8] = { 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82 };
  g_autoptr (GByteArray) file = g_byte_array_new (), first = g_byte_array_new ();
  guint8 grey[6] = { 0, 50, 100, 150, 200, 250 };

  for (guint kind = 0; kind < 3; kind++)
    for (guint again = 0; again < 2; again++)
      {
        g_autoptr (GError) error = NULL;
        guint8 out[2][3][3];
        g_assert_true (kind == 0   ? dyno_image_encode_png (picture[0][0], 3, 2, 3, file, &error)
                       : kind == 1 ? dyno_image_encode_png (grey, 3, 2, 1, file, &error)
                                   : dyno_image_encode_jpeg (picture[0][0], 3, 2, file, &error));
        if (kind < 2)
          g_assert_cmpmem (file->data + file->len - 8, 8, png_end, 8);
        else
          g_assert_cmpmem (file->data + file->len - 2, 2, "\xff\xd9", 2);
        if (again)
          g_assert_cmpmem (file->data, file->len, first->data, first->len);
        g_byte_array_set_size (first, 0);
        g_byte_array_append (first, file->data, file->len);
        if (kind == 0)
          {
            decode (file, out);
            g_assert_cmpmem (out, sizeof out, picture, sizeof picture);
          }
        if (kind == 1)
          g_assert_cmpuint (file->data[25], ==, 0); /* the type of its colours: grey */
      }
}

/* Every class has its colour in the palette, whether it occurs or not. */
static void
test_palette_of_masks (void)
{
  static const guint8 ids[2] = { 0, 1 };
  g_autoptr (GBytes) bytes = dyno_image_encode_mask_png (ids, 2, 1, NULL);
  gsize size, at = 0;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  while (at + 8 < size && memcmp (data + at, "PLTE", 4) != 0)
    at++;
  g_assert_cmpuint ((guint) data[at - 2] << 8 | data[at - 1], ==, 256 * 3);
  for (guint id = 0; id < 256; id++)
    {
      guint8 colour[3];
      dyno_palette_get ((guint8) id, colour);
      g_assert_cmpmem (data + at + 4 + 3 * id, 3, colour, 3);
    }
  g_assert_cmpmem (data + size - 8, 4, "IEND", 4);
}

static void
test_folder_takes_both (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) bmp = make_bmp (INFO_24), tiff = make_tiff (GREY_16, 6);
  g_autoptr (DynoDataset) dataset = NULL;

  g_free (test_write (folder, "a/x.jpg", bmp->data, bmp->len));
  g_free (test_write (folder, "b/x.png", tiff->data, tiff->len));
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->min_width, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->max_width, ==, 3);
  test_folder_remove (folder);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/image-types/bmp-of-all-bits", test_bmp_of_all_bits);
  g_test_add_func ("/data/image-types/bmp-of-few-colours", test_bmp_of_few_colours);
  g_test_add_func ("/data/image-types/bmp-of-colours-at-its-end", test_bmp_of_colours_at_its_end);
  g_test_add_func ("/data/image-types/bmp-of-one-pixel", test_bmp_of_one_pixel);
  g_test_add_func ("/data/image-types/bmp-alpha-is-composed-on-white",
                   test_bmp_alpha_is_composed_on_white);
  g_test_add_func ("/data/image-types/bmp-of-other-masks", test_bmp_of_other_masks);
  g_test_add_func ("/data/image-types/damaged-bmp", test_damaged_bmp);
  g_test_add_func ("/data/image-types/tiff-of-all-kinds", test_tiff_of_all_kinds);
  g_test_add_func ("/data/image-types/tiff-is-turned", test_tiff_is_turned);
  g_test_add_func ("/data/image-types/damaged-tiff", test_damaged_tiff);
  g_test_add_func ("/data/image-types/reason-of-a-damaged-tiff", test_reason_of_a_damaged_tiff);
  g_test_add_func ("/data/image-types/encoded-files", test_encoded_files);
  g_test_add_func ("/data/image-types/palette-of-masks", test_palette_of_masks);
  g_test_add_func ("/data/image-types/folder-takes-both", test_folder_takes_both);
  return g_test_run ();
}
