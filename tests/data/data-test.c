/* SPDX-License-Identifier: MIT */
#include "data-test.h"
#include <dirent.h>
#include <png.h>
#include <string.h>
#include <sys/stat.h>
#include <turbojpeg.h>

char *
test_folder_new (void)
{
  g_autoptr (GError) error = NULL;
  char *path = g_dir_make_tmp ("dyno-data-XXXXXX", &error);

  g_assert_no_error (error);
  return path;
}

void
test_folder_remove (const char *path)
{
  DIR *dir = opendir (path);
  struct dirent *entry;

  while (dir && (entry = readdir (dir)))
    if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
      {
        g_autofree char *child = g_build_filename (path, entry->d_name, NULL);
        struct stat status;
        g_assert_cmpint (lstat (child, &status), ==, 0);
        if (S_ISDIR (status.st_mode))
          test_folder_remove (child);
        else
          g_assert_cmpint (g_unlink (child), ==, 0);
      }
  if (dir)
    closedir (dir);
  g_assert_cmpint (g_rmdir (path), ==, 0);
}

char *
test_write (const char *folder, const char *name, gconstpointer data, gsize size)
{
  char *path = g_build_filename (folder, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (parent, 0755), ==, 0);
  g_file_set_contents_full (path, data, (gssize) size, G_FILE_SET_CONTENTS_CONSISTENT, 0644,
                            &error);
  g_assert_no_error (error);
  return path;
}

GByteArray *
test_jpeg (guint width, guint height, guint8 red, guint8 green, guint8 blue, gboolean progressive)
{
  g_autofree guint8 *pixels = g_malloc ((gsize) width * height * 3);
  GByteArray *file = g_byte_array_new ();
  tjhandle handle = tjInitCompress ();
  unsigned char *out = NULL;
  unsigned long size = 0;

  for (gsize i = 0; i < (gsize) width * height; i++)
    {
      guint brighter = i % width < width / 2 ? 20 : 0;
      pixels[i * 3] = (guint8) MIN (red + brighter, 255);
      pixels[i * 3 + 1] = (guint8) MIN (green + brighter, 255);
      pixels[i * 3 + 2] = (guint8) MIN (blue + brighter, 255);
    }
  g_assert_cmpint (tjCompress2 (handle, pixels, (int) width, 0, (int) height, TJPF_RGB, &out, &size,
                                TJSAMP_420, 95, progressive ? TJFLAG_PROGRESSIVE : 0),
                   ==, 0);
  g_byte_array_append (file, out, (guint) size);
  tjFree (out);
  tjDestroy (handle);
  return file;
}

static void
write_png_bytes (png_structp png, png_bytep data, png_size_t size)
{
  g_byte_array_append (png_get_io_ptr (png), data, (guint) size);
}

static void
flush_nothing (png_structp png)
{
}

GByteArray *
test_png (guint width, guint height, int colour_type, int depth, gboolean interlaced)
{
  GByteArray *file = g_byte_array_new ();
  png_structp png = png_create_write_struct (PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct (png);
  png_color palette[2] = { { 200, 100, 50 }, { 10, 20, 30 } };
  g_autofree guint8 *row = NULL;
  int passes;

  png_set_write_fn (png, file, write_png_bytes, flush_nothing);
  png_set_IHDR (png, info, width, height, depth, colour_type,
                interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                PNG_FILTER_TYPE_DEFAULT);
  if (colour_type == PNG_COLOR_TYPE_PALETTE)
    png_set_PLTE (png, info, palette, 2);
  png_write_info (png, info);
  passes = png_set_interlace_handling (png);
  row = g_malloc (png_get_rowbytes (png, info));
  /* Every sample value is 200 (of 255), every palette index 0. */
  memset (row, colour_type == PNG_COLOR_TYPE_PALETTE ? 0 : 200, png_get_rowbytes (png, info));
  for (int pass = 0; pass < passes; pass++)
    for (guint y = 0; y < height; y++)
      png_write_row (png, row);
  png_write_end (png, info);
  png_destroy_write_struct (&png, &info);
  return file;
}

GByteArray *
test_mask (guint width, guint height, int colour_type, int depth, gboolean interlaced,
           const guint8 *pixels)
{
  GByteArray *file = g_byte_array_new ();
  png_structp png = png_create_write_struct (PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct (png);
  png_color palette[256];
  gsize row_bytes;
  int passes;

  for (int i = 0; i < 256; i++)
    palette[i] = (png_color){ (png_byte) (255 - i), (png_byte) (i / 2), 77 };
  png_set_write_fn (png, file, write_png_bytes, flush_nothing);
  png_set_IHDR (png, info, width, height, depth, colour_type,
                interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                PNG_FILTER_TYPE_DEFAULT);
  if (colour_type == PNG_COLOR_TYPE_PALETTE)
    png_set_PLTE (png, info, palette, 1 << depth);
  png_write_info (png, info);
  png_set_packing (png);
  passes = png_set_interlace_handling (png);
  row_bytes = (gsize) width * (depth == 16 ? 2 : 1)
              * (colour_type == PNG_COLOR_TYPE_RGB         ? 3
                 : colour_type == PNG_COLOR_TYPE_RGB_ALPHA ? 4
                                                           : 1);
  for (int pass = 0; pass < passes; pass++)
    for (guint y = 0; y < height; y++)
      png_write_row (png, pixels + y * row_bytes);
  png_write_end (png, info);
  png_destroy_write_struct (&png, &info);
  return file;
}

void
test_has_words (const GError *error, const char *words)
{
  g_auto (GStrv) parts = g_strsplit (words, "|", -1);

  for (guint i = 0; parts[i]; i++)
    if (!strstr (error->message, parts[i]))
      g_error ("“%s” lacks “%s”", error->message, parts[i]);
}

void
test_open_fails (const char *location, DynoDataError code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (location, NULL, NULL, NULL, NULL, &error);

  g_assert_null (dataset);
  g_assert_error (error, DYNO_DATA_ERROR, (int) code);
  test_has_words (error, words);
}

DynoDataset *
test_open (const char *location)
{
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset = dyno_dataset_open (location, NULL, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (dataset);
  return dataset;
}
