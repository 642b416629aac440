/* SPDX-License-Identifier: MIT */
/* The meaning of the numbers and colours in masks, the masks that are refused, and masks that are
 * transformed with their images into samples and batches. */
#include "dataset-class.h"
#include "loader-test.h"
#include "masks-test.h"
#include <png.h>
#include <string.h>
#include <unistd.h>

static const guint8 *
rows (guint8 a, guint8 b)
{
  static guint8 pixels[8];

  memset (pixels, a, 4);
  memset (pixels + 4, b, 4);
  return pixels;
}

/* Writes an image of 4 x 2 and its mask of the given type. */
static void
put (const char *folder, const char *name, int type, int depth, const guint8 *pixels)
{
  g_autofree char *image = g_strdup_printf ("images/%s.png", name),
                  *mask = g_strdup_printf ("masks/%s.png", name);

  masks_put_image (folder, image, 4, 2);
  masks_put (folder, mask, 4, 2, type, depth, pixels);
}

/* A mask of two colours. */
static void
put_colours (const char *folder, const char *name, guint32 a, guint32 b)
{
  guint8 pixels[8 * 3];

  for (guint i = 0; i < 8; i++)
    for (guint c = 0; c < 3; c++)
      pixels[3 * i + c] = (guint8) ((i < 4 ? a : b) >> (16 - 8 * c));
  put (folder, name, PNG_COLOR_TYPE_RGB, 8, pixels);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void
test_black_and_white (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;

  /* The masks may have any bit depth, also where a program saved some with fewer bits. */
  masks_put_pair (folder, "a", 0, 255);
  put (folder, "b", PNG_COLOR_TYPE_GRAY, 1, rows (1, 0));
  put (folder, "c", PNG_COLOR_TYPE_GRAY, 2, rows (0, 3));
  put (folder, "d", PNG_COLOR_TYPE_GRAY, 4, rows (15, 15));
  put (folder, "e", PNG_COLOR_TYPE_GRAY, 16, (guint8[16]){ 255, 255 });
  put_colours (folder, "f", 0xffffff, 0);
  dataset = test_open (folder);
  masks_check_classes (dataset, "background:23 foreground:25");
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_ignored, ==, 0);
  masks_check (dataset, 0, 4, 2, rows (0, 1));
  masks_check (dataset, 1, 4, 2, rows (1, 0));
  masks_check (dataset, 2, 4, 2, rows (0, 1));
  masks_check (dataset, 3, 4, 2, rows (1, 1));
  masks_check (dataset, 4, 4, 2, (guint8[8]){ 1 });
  masks_check (dataset, 5, 4, 2, rows (1, 0));
  masks_has_note (dataset, "black and white|class 1");
  test_folder_remove (folder);
}

/* With any other id in the set, 255 means ignored in all files. */
static void
test_white_is_ignored_among_ids (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;

  masks_put_pair (folder, "a", 0, 255);
  masks_put_pair (folder, "b", 0, 1);
  put (folder, "c", PNG_COLOR_TYPE_GRAY, 2, rows (0, 3));
  dataset = test_open (folder);
  masks_check_classes (dataset, "0:12 1:4 2:0 3:4");
  masks_check (dataset, 0, 4, 2, rows (0, DYNO_MASK_IGNORED));
  masks_check (dataset, 2, 4, 2, rows (0, 3));
  test_folder_remove (folder);
}

static void
test_one_bit_is_two_classes (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;

  put (folder, "a", PNG_COLOR_TYPE_GRAY, 1, rows (0, 1));
  put (folder, "b", PNG_COLOR_TYPE_PALETTE, 1, rows (1, 1));
  dataset = test_open (folder);
  masks_check_classes (dataset, "0:4 1:12");
  test_folder_remove (folder);
}

static void
test_names (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL, single = NULL;

  masks_put_pair (folder, "a", 0, 1);
  masks_put_pair (folder, "b", 0, 2);
  masks_put_pair (folder, "c", 0, 3);
  masks_put_text (folder, "classes.txt", "# classes\nground\n\ncar\n  tree \n");
  dataset = test_open (folder);
  masks_check_classes (dataset, "ground:8 car:4 tree:4");
  masks_has_refused (dataset, "c.png|class id 3|classes.txt|is 2");
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  test_folder_remove (folder);

  /* The only name in a black and white set is that of white. */
  g_free (folder);
  folder = test_folder_new ();
  masks_put_pair (folder, "a", 0, 255);
  masks_put_text (folder, "masks/names.txt", "road\n");
  single = test_open (folder);
  masks_check_classes (single, "background:4 road:4");
  test_folder_remove (folder);
}

/* --- colours ---------------------------------------------------------------------------------- */

static void
test_colours_of_a_table (void)
{
  static const char *const tables[][2] = {
    { "labelmap.txt",
      "# label:color_rgb:parts:actions\nsky:128,0,0::\nvoid:0,0,0::\ngrass:0,128,0::\n" },
    { "label_colors.txt", "128 0 0\tsky\r\n0 0 0\tVoid\r\n0 128 0 grass\r\n" },
    { "class_dict.csv", "name,r,g,b\nsky,128,0,0\nvoid,0,0,0\ngrass,0,128,0\n" },
    { "classes.txt", "\xef\xbb\xbf"
                     "sky: 128, 0, 0\nvoid: 0, 0, 0\ngrass: 0, 128, 0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;

      put_colours (folder, "a", 0x800000, 0x008000);
      put_colours (folder, "b", 0x000000, 0x008000);
      put_colours (folder, "c", 0x008000, 0x0000ff);
      put_colours (folder, "d", 0x000000, 0x000000);
      masks_put_text (folder, tables[i][0], tables[i][1]);
      dataset = test_open (folder);
      masks_check_classes (dataset, "sky:4 grass:8");
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_ignored, ==, 4);
      masks_check (dataset, 0, 4, 2, rows (0, 1));
      masks_check (dataset, 1, 4, 2, rows (DYNO_MASK_IGNORED, 1));
      masks_has_refused (dataset, "c.png|#0000ff");
      masks_has_refused (dataset, "d.png|all its pixels are ignored");
      masks_has_note (dataset, "oid”|ignored");
      test_folder_remove (folder);
    }
}

static void
test_colours_without_a_table (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;

  put_colours (folder, "a", 0x800000, 0x0080ff);
  put_colours (folder, "b", 0x0080fe, 0x800000);
  masks_put_pair (folder, "c", 0, 1);
  dataset = test_open (folder);
  masks_check_classes (dataset, "#0080fe:4 #0080ff:4 #800000:8");
  masks_check (dataset, 0, 4, 2, rows (2, 1));
  masks_check (dataset, 1, 4, 2, rows (0, 2));
  masks_has_note (dataset, "3 colours|classes.txt");
  masks_has_refused (dataset, "c.png|numbers|colours");
  test_folder_remove (folder);
}

/* Ids that a program stored as grey in three channels. */
static void
test_grey_colours_are_ids (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;

  put_colours (folder, "a", 0x000000, 0x030303);
  put_colours (folder, "b", 0xffffff, 0x010101);
  masks_put_pair (folder, "c", 2, 0);
  dataset = test_open (folder);
  masks_check_classes (dataset, "0:8 1:4 2:4 3:4");
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_ignored, ==, 4);
  masks_check (dataset, 0, 4, 2, rows (0, 3));
  masks_check (dataset, 1, 4, 2, rows (DYNO_MASK_IGNORED, 1));
  test_folder_remove (folder);
}

static void
test_too_many_colours (void)
{
  g_autofree char *folder = test_folder_new ();

  /* Blended colours: each mask has few, but all masks together have more than a byte can number. */
  for (guint i = 0; i < 130; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);
      put_colours (folder, name, 0x100000 + i, 0x200000 + i);
    }
  test_open_fails (folder, DYNO_DATA_ERROR_UNSUPPORTED, "260 colours|255|name: r,g,b");
  test_folder_remove (folder);
}

static void
test_broken_names (void)
{
  static const struct {
    const char *text, *words;
  } cases[] = {
    { "sky:128,0,0::\ngrass:0,128\nsea:0,0,1::", "Line 2|classes.txt|r,g,b" },
    { "# of the camera\n\nsky:128,0,0::\ngrass:0,128\nsea:0,0,1::", "Line 4|classes.txt|r,g,b" },
    { "sky:128,0,0::\nsea:0,0,1::\ngrass:0,128,300::", "Line 3|255" },
    { "sky:128,0,0::\n\ngrass:128,0,0::", "Line 3|another class" },
    { "0 sky\n1 sea\n1 land", "Line 3|another class" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new ();

      put_colours (folder, "a", 0x800000, 0x008000);
      masks_put_text (folder, "classes.txt", cases[i].text);
      test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, cases[i].words);
      test_folder_remove (folder);
    }
}

static void
test_names_with_ids (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;

  masks_put_pair (folder, "a", 0, 3);
  masks_put_text (folder, "codes.txt", "id,name\n0,ground\n3: race car\n1 tree 2\n");
  dataset = test_open (folder);
  masks_check_classes (dataset, "ground:4 tree 2:0 2:0 race car:4");
  test_folder_remove (folder);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void
test_refusals (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  const guint8 large[16] = { 0, 1, 2, 0 };

  for (guint i = 0; i < 6; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);
      masks_put_pair (folder, name, 0, 1);
    }
  masks_put_pair (folder, "size", 0, 1);
  masks_put_image (folder, "images/size.png", 5, 2);
  masks_put_pair (folder, "void", 255, 255);
  put (folder, "deep", PNG_COLOR_TYPE_GRAY, 16, large);
  masks_put_pair (folder, "broken", 0, 1);
  masks_put_text (folder, "masks/broken.png", "\x89PNG\r\n\x1a\nand no more");
  masks_put_pair (folder, "bad", 0, 1);
  masks_put_text (folder, "images/bad.png", "no image");
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 6);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_refused, ==, 5);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->max_width, ==, 4);
  masks_check_classes (dataset, "0:24 1:24");
  masks_has_refused (dataset, "images/size.png|masks/size.png|4 × 2|5 × 2");
  masks_has_refused (dataset, "void.png|ignored");
  masks_has_refused (dataset, "deep.png|16 bits");
  masks_has_refused (dataset, "masks/broken.png|PNG");
  masks_has_refused (dataset, "images/bad.png");
  test_folder_remove (folder);

  g_free (folder);
  folder = test_folder_new ();
  masks_put_pair (folder, "a", 1, 1);
  test_open_fails (folder, DYNO_DATA_ERROR_EMPTY, "one class only|data.one_class");
  test_folder_remove (folder);
}

static void
test_links_out_of_the_folder (void)
{
  g_autofree char *folder = test_folder_new (), *other = test_folder_new ();
  g_autofree char *target = NULL, *link = NULL;
  g_autoptr (DynoDataset) dataset = NULL, followed = NULL;
  const DynoDatasetParams params = { .links = TRUE };

  masks_put_pair (folder, "a", 0, 1);
  masks_put_pair (folder, "b", 0, 1);
  masks_put_image (folder, "images/c.png", 4, 2);
  masks_put (other, "c.png", 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows (0, 1));
  target = g_build_filename (other, "c.png", NULL);
  link = g_build_filename (folder, "masks", "c.png", NULL);
  g_assert_cmpint (symlink (target, link), ==, 0);
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  masks_has_refused (dataset, "c.png|data.links");
  followed = dyno_dataset_open (folder, &params, NULL, NULL, NULL, NULL);
  g_assert_cmpuint (dyno_dataset_get_info (followed)->n_samples, ==, 3);
  test_folder_remove (folder);
  test_folder_remove (other);
}

/* --- turned images ---------------------------------------------------------------------------- */

/* A JPEG with an orientation, as cameras write it. */
static void
put_turned (const char *folder, const char *name, guint width, guint height, guint8 orientation)
{
  const guint8 exif[] = { 0xff, 0xe1, 0, 34, 'E', 'x',         'i', 'f', 0, 0,  'M', 'M',
                          0,    42,   0, 0,  0,   8,           0,   1,   1, 18, 0,   3,
                          0,    0,    0, 1,  0,   orientation, 0,   0,   0, 0,  0,   0 };
  g_autoptr (GByteArray) jpeg = test_jpeg (width, height, 90, 90, 90, FALSE);
  g_autoptr (GByteArray) file = g_byte_array_new ();

  g_byte_array_append (file, jpeg->data, 2);
  g_byte_array_append (file, exif, sizeof exif);
  g_byte_array_append (file, jpeg->data + 2, jpeg->len - 2);
  g_free (test_write (folder, name, file->data, file->len));
}

static void
put_numbers (const char *folder, const char *name, guint width, guint height, guint8 first)
{
  g_autofree guint8 *pixels = g_malloc0 (width * height);

  pixels[0] = first;
  masks_put (folder, name, width, height, PNG_COLOR_TYPE_GRAY, 8, pixels);
}

/* With orientation 6 the first stored pixel is shown at the right of the first row. */
static void
test_turned_images (void)
{
  for (guint stored = 0; stored < 2; stored++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;
      guint8 shown[24] = { 0 };

      put_turned (folder, "images/a.jpg", 6, 4, 6); /* shown as 4 x 6 */
      put_numbers (folder, "masks/a.png", stored ? 6 : 4, stored ? 4 : 6, 1);
      put_turned (folder, "images/b.jpg", 4, 4, 6); /* matches in both orientations */
      put_numbers (folder, "masks/b.png", 4, 4, 1);
      put_turned (folder, "images/c.jpg", 6, 4, 3);
      put_numbers (folder, "masks/c.png", 6, 4, 1);
      put_turned (folder, "images/d.jpg", 6, 4, 1);
      put_numbers (folder, "masks/d.png", 6, 4, 1);
      dataset = test_open (folder);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 4);
      shown[stored ? 3 : 0] = 1;
      masks_check (dataset, 0, 4, 6, shown);
      masks_check (dataset, 1, 4, 4, shown);
      memset (shown, 0, sizeof shown);
      shown[stored ? 23 : 0] = 1;
      masks_check (dataset, 2, 6, 4, shown);
      memset (shown, 0, sizeof shown);
      shown[0] = 1;
      masks_check (dataset, 3, 6, 4, shown);
      masks_has_note (dataset, stored ? "2 images are turned|masks with them"
                                      : "2 images are turned|upright");
      test_folder_remove (folder);
    }
}

/* --- crops and batches ------------------------------------------------------------------------ */

/* Images of 60 x 40 whose red is 4 times the id of each pixel. */
static char *
make_blocks (guint n)
{
  char *folder = test_folder_new ();

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *image = g_strdup_printf ("images/%02u.png", i),
                      *mask = g_strdup_printf ("masks/%02u.png", i);
      guint8 rgb[60 * 40 * 3], ids[60 * 40];

      for (guint k = 0; k < 60 * 40; k++)
        {
          ids[k] = (guint8) (k % 60 / 20 + 3 * (k / 60 / 20) + i);
          memset (rgb + 3 * k, 4 * ids[k], 3);
        }
      masks_put (folder, image, 60, 40, PNG_COLOR_TYPE_RGB, 8, rgb);
      masks_put (folder, mask, 60, 40, PNG_COLOR_TYPE_GRAY, 8, ids);
    }
  return folder;
}

/* Counts the pixels of the image that belong wholly to one block, and those of them whose mask has
 * another block. */
static void
compare_pixels (const guint8 *rgb, const guint8 *ids, gsize n, guint *n_whole, guint *n_wrong)
{
  for (gsize i = 0; i < n; i++)
    {
      gboolean whole = rgb[3 * i] % 4 == 0;

      *n_whole += whole;
      *n_wrong += whole && ids[i] != rgb[3 * i] / 4;
    }
}

static void
test_crops (void)
{
  g_autofree char *folder = make_blocks (2);
  g_autoptr (DynoDataset) dataset = test_open (folder);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  const DynoCrop crop = { 0.1, 2 };
  guint n_whole = 0, n_wrong = 0, n_different = 0;
  guint8 rgb[16 * 16 * 3], ids[16 * 16], before[16 * 16] = { 0 };
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { rgb, ids };

  for (guint32 seed = 1; seed <= 50; seed++)
    {
      g_autoptr (GError) error = NULL;
      gsize fetched;

      g_assert_true (dataset->klass->fetch (dataset, 0, scratch, &fetched, &error));
      dataset->klass->decode_crop (dataset, 0, &crop, seed * 2654435761u, 16, 16, fields, scratch,
                                   fetched, &error);
      g_assert_no_error (error);
      compare_pixels (rgb, ids, 16 * 16, &n_whole, &n_wrong);
      n_different += memcmp (ids, before, sizeof ids) != 0;
      memcpy (before, ids, sizeof ids);
    }
  g_assert_cmpuint (n_whole, >, 50 * 16 * 16 / 2);
  /* A blend of two blocks can have the colour of a third. */
  g_assert_cmpuint (n_wrong, <, n_whole / 50);
  g_assert_cmpuint (n_different, >, 25);
  test_folder_remove (folder);
}

/* A loader over all samples, scaled to 20 x 20. */
static DynoLoader *
make_small_loader (DynoDataset *dataset, DynoLoaderParams params)
{
  g_autoptr (GArray) all = NULL, none = NULL;
  g_autoptr (GError) error = NULL;
  DynoLoader *loader;

  dyno_dataset_split (dataset, 0, 0, &all, &none);
  params.width = params.height = 20;
  loader = dyno_loader_new (dataset, all, &params, &error);
  g_assert_no_error (error);
  return loader;
}

static guint64
fold (DynoDataset *dataset, DynoLoaderParams params)
{
  g_autoptr (DynoLoader) loader = make_small_loader (dataset, params);

  return fold_epoch (loader, dataset, params, 3, 0, NULL);
}

static void
test_batches (void)
{
  g_autofree char *folder = make_blocks (21);
  g_autoptr (DynoDataset) dataset = test_open (folder);
  DynoLoaderParams params = {
    .batch = 8, .seed = 5, .shuffle = TRUE, .persistent = TRUE, .prefetch = 2, .balance = TRUE
  };
  g_autoptr (DynoLoader) loader = make_small_loader (dataset, params);
  guint64 expected;
  guint n_whole = 0, n_wrong = 0;
  DynoBatch *batch;

  g_assert_nonnull (dyno_schema_find_mask (dyno_loader_get_schema (loader)));
  g_assert_cmpuint (dyno_loader_get_layout (loader)->sample_bytes[DYNO_DATASET_TARGET], ==, 400);
  dyno_loader_start_epoch (loader, 0, 0);
  while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)))
    {
      const guint8 *ids = batch->fields[DYNO_DATASET_TARGET];

      compare_pixels (batch->fields[DYNO_DATASET_INPUT], ids, batch->n_valid * 400, &n_whole,
                      &n_wrong);
      for (guint i = batch->n_valid * 400; i < 8 * 400; i++)
        g_assert_cmpuint (ids[i], ==, DYNO_MASK_IGNORED);
      dyno_loader_release (loader, batch);
    }
  g_assert_cmpuint (n_whole, >, 21 * 400 / 2);
  g_assert_cmpuint (n_wrong, <, n_whole / 50);

  expected = fold (dataset, params);
  for (guint workers = 1; workers <= 4; workers += 3)
    for (guint cache = 0; cache < 2; cache++)
      {
        params.workers = workers;
        params.cache = cache;
        g_assert_cmpuint (fold (dataset, params), ==, expected);
      }
  test_folder_remove (folder);
}

/* A mask that is damaged after it was listed makes its sample bad: another sample replaces it, or,
 * in an evaluation, its pixels are ignored. */
static void
test_bad_samples (void)
{
  for (guint blank = 0; blank < 2; blank++)
    {
      g_autofree char *folder = make_blocks (6);
      g_autoptr (DynoDataset) dataset = test_open (folder);
      const DynoLoaderParams params = { .batch = 6,
                                        .persistent = TRUE,
                                        .prefetch = 1,
                                        .workers = 2,
                                        .max_bad_share = 0.5,
                                        .blank_bad = blank };
      g_autoptr (DynoLoader) loader = make_small_loader (dataset, params);
      g_auto (GStrv) bad = NULL;
      DynoBatch *batch;
      const guint8 *ids;

      masks_put_text (folder, "masks/02.png", "\x89PNG\r\n\x1a\n");
      masks_put (folder, "masks/04.png", 3, 3, PNG_COLOR_TYPE_GRAY, 8, (guint8[9]){ 0 });
      dyno_loader_start_epoch (loader, 0, 0);
      batch = dyno_loader_next (loader, NULL, NULL, NULL);
      g_assert_cmpuint (batch->n_valid, ==, 6);
      ids = batch->fields[DYNO_DATASET_TARGET];
      for (guint i = 0; i < 6; i++)
        {
          guint8 expected = (guint8) (blank && (i == 2 || i == 4)    ? DYNO_MASK_IGNORED
                                      : !blank && (i == 2 || i == 4) ? i + 1
                                                                     : i);
          g_assert_cmpuint (ids[i * 400], ==, expected);
        }
      bad = dyno_loader_list_bad (loader);
      g_assert_cmpuint (g_strv_length (bad), ==, 2);
      g_assert_nonnull (strstr (bad[0], "masks/02.png"));
      g_assert_nonnull (strstr (bad[1], "size of its image"));
      dyno_loader_release (loader, batch);
      test_folder_remove (folder);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/masks-content/black-and-white", test_black_and_white);
  g_test_add_func ("/data/masks-content/255-is-ignored-among-ids", test_white_is_ignored_among_ids);
  g_test_add_func ("/data/masks-content/one-bit-is-two-classes", test_one_bit_is_two_classes);
  g_test_add_func ("/data/masks-content/names", test_names);
  g_test_add_func ("/data/masks-content/names-with-ids", test_names_with_ids);
  g_test_add_func ("/data/masks-content/broken-names", test_broken_names);
  g_test_add_func ("/data/masks-content/colours-of-a-table", test_colours_of_a_table);
  g_test_add_func ("/data/masks-content/colours-without-a-table", test_colours_without_a_table);
  g_test_add_func ("/data/masks-content/grey-colours-are-ids", test_grey_colours_are_ids);
  g_test_add_func ("/data/masks-content/too-many-colours", test_too_many_colours);
  g_test_add_func ("/data/masks-content/refusals", test_refusals);
  g_test_add_func ("/data/masks-content/links-out-of-the-folder", test_links_out_of_the_folder);
  g_test_add_func ("/data/masks-content/turned-images", test_turned_images);
  g_test_add_func ("/data/masks-content/crops", test_crops);
  g_test_add_func ("/data/masks-content/batches", test_batches);
  g_test_add_func ("/data/masks-content/bad-samples", test_bad_samples);
  return g_test_run ();
}
