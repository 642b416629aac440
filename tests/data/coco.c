/* SPDX-License-Identifier: MIT */
/* COCO annotations: areas to the pixel, and annotation files as data sets with masks. */
#include "maskdraw.h"
#include "masks-test.h"
#include <math.h>
#include <unistd.h>
#include <string.h>

/* --- areas ------------------------------------------------------------------------------------ */

/* A mask of rows "010 111", and polygons.  The expected values come from a walk along the boundary
 * by hand, as pycocotools' rleFrPoly does it. */
static void
test_polygons (void)
{
  static const struct {
    gsize n;
    double xy[10];
    const char *rows;
  } cases[] = {
    /* whole pixels: the right and the lower edge are excluded */
    { 4, { 1, 1, 1, 3, 4, 3, 4, 1 }, "000000 011100 011100 000000 000000 000000" },
    /* the opposite direction gives the same */
    { 4, { 4, 1, 4, 3, 1, 3, 1, 1 }, "000000 011100 011100 000000 000000 000000" },
    { 3, { 0.5, 0.5, 5.5, 0.5, 0.5, 5.5 }, "000000 011110 011100 011000 010000 000000" },
    /* past all sides of the image */
    { 4, { -2, -2, -2, 9, 9, 9, 9, -2 }, "111111 111111 111111 111111 111111 111111" },
    /* a repeated corner, and a polygon without an area */
    { 5, { 1, 1, 1, 1, 1, 3, 4, 3, 4, 1 }, "000000 011100 011100 000000 000000 000000" },
    { 3, { 2, 2, 2, 2, 2, 2 }, "000000 000000 000000 000000 000000 000000" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint8 ids[36] = { 0 };
      g_autoptr (GString) rows = g_string_new (NULL);
      g_autoptr (GError) error = NULL;

      dyno_mask_draw_polygon (cases[i].xy, cases[i].n, 6, 6, 1, ids, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < 36; k++)
        g_string_append_printf (rows, "%s%u", k > 0 && k % 6 == 0 ? " " : "", ids[k]);
      g_assert_cmpstr (rows->str, ==, cases[i].rows);
    }
}

static void
test_odd_polygons (void)
{
  static const double bad[][6] = { { 0, 0, 1e9, 0, 0, 1 }, { 0, 0, NAN, 0, 0, 1 } };
  g_autofree double *loops = g_new0 (double, 2 * 1000);
  guint8 ids[4] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (dyno_mask_draw_polygon (bad[i], 3, 2, 2, 1, ids, &error));
      g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
    }
  for (guint i = 0; i < 1000; i++)
    loops[2 * i] = i % 2 ? 100000 : 0;
  g_assert_false (dyno_mask_draw_polygon (loops, 1000, 2, 2, 1, ids, NULL));
}

static void
test_runs (void)
{
  static const struct {
    const char *text;
    guint32 runs[8];
    guint n;
  } cases[] = { { "724000;", { 7, 2, 4, 2, 4, 2, 15 }, 7 },
                { "T3", { 100 }, 1 },
                { "555M", { 5, 5, 5, 2 }, 4 },
                { "", { 0 }, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (guint32));

      g_assert_true (dyno_mask_read_runs (cases[i].text, runs, NULL));
      g_assert_cmpmem (runs->data, runs->len * sizeof (guint32), cases[i].runs,
                       cases[i].n * sizeof (guint32));
    }
}

static void
test_damaged_runs (void)
{
  static const char *const texts[] = { "T", "5 5", "TTTTTTTTTTTT3", "M", "\x7f" };
  static const guint32 few[] = { 3, 2 }, many[] = { 3, 2, G_MAXUINT32 };
  guint8 ids[6];

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_autoptr (GError) error = NULL;

      g_assert_false (dyno_mask_read_runs (texts[i], runs, &error));
      g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
    }
  g_assert_false (dyno_mask_draw_runs (few, 2, 2, 3, 1, ids, NULL));
  g_assert_false (dyno_mask_draw_runs (many, 3, 2, 3, 1, ids, NULL));
}

/* --- data sets -------------------------------------------------------------------------------- */

#define CATEGORIES                                                                            \
  "\"categories\":[{\"id\":7,\"name\":\"dog\"},{\"name\":\"cat\",\"id\":3,\"supercategory\":" \
  "\"x\"}]"

static void
put_json (const char *folder, const char *name, const char *images, const char *annotations)
{
  g_autofree char *text = g_strdup_printf (
      "{\"info\":{\"year\":2017},\"annotations\":[%s],\"images\":[%s]," CATEGORIES "}\n",
      annotations, images);

  masks_put_text (folder, name, text);
}

/* A square of two pixels a side at (x, y). */
#define SQUARE(image, category, x0, y0, x1, y1, more)                                       \
  "{\"id\":1,\"image_id\":" #image ",\"category_id\":" #category ",\"segmentation\":[[" #x0 \
  "," #y0 "," #x0 "," #y1 "," #x1 "," #y1 "," #x1 "," #y0 "]],\"bbox\":[0,0,1,1]" more "}"

static void
test_areas_become_classes (void)
{
  g_autofree char *folder = test_folder_new (), *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  const DynoDatasetInfo *info;

  for (guint i = 1; i <= 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("images/%u.jpg", i);
      masks_put_image (folder, name, 4, 2);
    }
  put_json (folder, "annotations/instances_default.json",
            "{\"id\":1,\"file_name\":\"1.jpg\",\"width\":4,\"height\":2},"
            "{\"id\":2,\"file_name\":\"images/2.jpg\",\"height\":2,\"width\":4},"
            "{\"id\":3,\"file_name\":\"3.jpg\"},{\"id\":4,\"file_name\":\"4.jpg\"},"
            "{\"id\":5,\"file_name\":\"5.jpg\"}",
            /* the later area is on top; a crowd is ignored */
            SQUARE (1, 3, 0, 0, 2, 2, "") "," SQUARE (1, 7, 1, 0, 3, 1, "") "," SQUARE (
                1, 3, 1, 0, 4, 2, ",\"iscrowd\":1")
            /* in column-major order */
            ",{\"image_id\":2,\"category_id\":7,\"segmentation\":{\"size\":[2,4],"
            "\"counts\":[1,3,4]}}"
            ",{\"image_id\":3,\"category_id\":3,\"segmentation\":{\"size\":[2,4],"
            "\"counts\":\"134\"}}"
            ",{\"image_id\":4,\"category_id\":3,\"segmentation\":[]}"
            ",{\"image_id\":2,\"category_id\":99,\"segmentation\":[[0,0,1,0,1,1]]}"
            "," SQUARE (5, 3, 0, 0, 2, 2, ""));
  path = g_build_filename (folder, "annotations", "instances_default.json", NULL);
  dataset = test_open (path);
  info = dyno_dataset_get_info (dataset);
  g_assert_cmpstr (info->kind, ==, "coco");
  g_assert_cmpuint (info->n_samples, ==, 3);
  masks_check (dataset, 0, 4, 2, (guint8[]){ 1, 2, 2, 1, 1, 1, 1, 1 });
  masks_check (dataset, 1, 4, 2, (guint8[]){ 0, 2, 0, 0, 2, 2, 0, 0 });
  masks_check (dataset, 2, 4, 2, (guint8[]){ 0, 1, 0, 0, 1, 1, 0, 0 });
  masks_check_classes (dataset, "background:10 cat:9 dog:5");
  masks_has_note (dataset, "1 image has no annotation");
  masks_has_note (dataset, "1 annotation has only a box");
  masks_has_note (dataset, "1 annotation is of an image or a category");
  masks_has_refused (dataset, "5.jpg");
  g_assert_false (info->has_split);
  test_folder_remove (folder);
}

/* A folder with a file for each part: in COCO's layout, and in Roboflow's, which has the images
 * beside the file. */
static void
test_parts (void)
{
  static const char *const layouts[][4] = {
    { "annotations/instances_train2017.json", "train2017/", "annotations/instances_val2017.json",
      "val2017/" },
    { "train/_annotations.coco.json", "train/", "valid/_annotations.coco.json", "valid/" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (GArray) train = NULL, validation = NULL;

      for (guint part = 0; part < 2; part++)
        {
          g_autofree char *image = g_strdup_printf ("%s1.jpg", layouts[i][2 * part + 1]);

          masks_put_image (folder, image, 4, 2);
          put_json (folder, layouts[i][2 * part],
                    "{\"id\":1,\"file_name\":\"1.jpg\",\"width\":4,\"height\":2}",
                    part ? SQUARE (1, 7, 0, 0, 2, 2, "") : SQUARE (1, 3, 0, 0, 2, 2, ""));
        }
      dataset = test_open (folder);
      g_assert_cmpstr (dyno_dataset_get_info (dataset)->kind, ==, "coco");
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 0);
      dyno_dataset_split (dataset, 0.3, 1, &train, &validation);
      g_assert_cmpuint (train->len, ==, 1);
      g_assert_cmpuint (validation->len, ==, 1);
      masks_check (dataset, g_array_index (train, guint32, 0), 4, 2,
                   (guint8[]){ 1, 1, 0, 0, 1, 1, 0, 0 });
      masks_check (dataset, g_array_index (validation, guint32, 0), 4, 2,
                   (guint8[]){ 2, 2, 0, 0, 2, 2, 0, 0 });
      test_folder_remove (folder);
    }
}

static void
test_refused_masks (void)
{
  g_autofree char *folder = test_folder_new (),
                  *path = g_build_filename (folder, "coco.json", NULL);
  g_autoptr (DynoDataset) dataset = NULL;

  for (guint i = 1; i <= 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.jpg", i);
      masks_put_image (folder, name, 4, 2);
    }
  put_json (folder, "coco.json",
            "{\"id\":1,\"file_name\":\"1.jpg\"},"
            "{\"id\":2,\"file_name\":\"2.jpg\",\"width\":40,\"height\":20},"
            "{\"id\":3,\"file_name\":\"3.jpg\"},{\"id\":4,\"file_name\":\"4.jpg\"}",
            SQUARE (1, 3, 0, 0, 2, 2, "") "," SQUARE (
                2, 3, 0, 0, 2, 2,
                "") ",{\"image_id\":3,\"category_id\":7,\"segmentation\":{\"size\":[3,4],"
                    "\"counts\":[1,3,8]}}"
                    ",{\"image_id\":4,\"category_id\":7,\"segmentation\":{\"counts\":\"T\"}}");
  dataset = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 1);
  masks_has_refused (dataset, "2.jpg|40 × 20|4 × 2");
  masks_has_refused (dataset, "3.jpg|4 × 3");
  masks_has_refused (dataset, "4.jpg|damaged");
  test_folder_remove (folder);
}

static void
test_broken_files (void)
{
  static const struct {
    const char *text, *words;
  } cases[] = {
    { "{\"images\":[{\"id\":1,\"file_name\":\"1.jpg\"}],\"annotations\":[{\"image_id\":1",
      "coco.json|ends at byte" },
    { "{\"images\":[{\"id\":\"a\"}]}", "coco.json|a number is expected" },
    { "{\"images\":[{\"file_name\":\"1.jpg\"}]}", "no id" },
    { "{\"annotations\":[{\"image_id\":1}]}", "no category_id" },
    { "{\"images\":[]} x", "coco.json|at byte 14" },
    { "{\"categories\":[{\"id\":1,\"name\":\"a\"},{\"id\":1,\"name\":\"b\"}]}", "“a”|“b”" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new (),
                      *path = g_build_filename (folder, "coco.json", NULL);

      masks_put_image (folder, "1.jpg", 4, 2);
      masks_put_text (folder, "coco.json", cases[i].text);
      test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, cases[i].words);
      test_folder_remove (folder);
    }
}

static void
test_many_categories (void)
{
  g_autofree char *folder = test_folder_new (),
                  *path = g_build_filename (folder, "coco.json", NULL);
  g_autoptr (GString) text = g_string_new ("{\"categories\":[");

  for (guint i = 0; i < 255; i++)
    g_string_append_printf (text, "%s{\"id\":%u,\"name\":\"c%u\"}", i ? "," : "", i, i);
  g_string_append (text, "]}");
  masks_put_text (folder, "coco.json", text->str);
  test_open_fails (path, DYNO_DATA_ERROR_TOO_LARGE, "255 categories|254");
  test_folder_remove (folder);
}

/* The file is truncated after it was opened: its sample is bad, and nothing else happens. */
static void
test_changed_file (void)
{
  g_autofree char *folder = test_folder_new (),
                  *path = g_build_filename (folder, "coco.json", NULL);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GError) error = NULL;
  guint8 image[24], ids[8];
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { image, ids };

  masks_put_image (folder, "1.jpg", 4, 2);
  put_json (folder, "coco.json", "{\"id\":1,\"file_name\":\"1.jpg\"}",
            SQUARE (1, 3, 0, 0, 2, 2, ""));
  dataset = test_open (path);
  g_assert_cmpint (truncate (path, 60), ==, 0);
  g_assert_false (dyno_dataset_decode (dataset, 0, 4, 2, fields, scratch, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
  test_folder_remove (folder);
}

/* Each category with an annotation in the image is a label: by an area, a crowd or only a box.  An
 * image without an annotation has no label, and stays. */
static void
test_labels (void)
{
  g_autofree char *folder = test_folder_new (), *path = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  static const float expected[4][2] = { { 1, 1 }, { 0, 1 }, { 0, 0 }, { 1, 0 } };
  guint8 image[24];
  float target[2];

  for (guint i = 1; i <= 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("images/%u.jpg", i);
      masks_put_image (folder, name, 4, 2);
    }
  put_json (folder, "annotations/instances_default.json",
            "{\"id\":10,\"file_name\":\"images/1.jpg\"},{\"id\":11,\"file_name\":\"images/2.jpg\"},"
            "{\"id\":12,\"file_name\":\"images/3.jpg\"},{\"id\":13,\"file_name\":\"images/4.jpg\"}",
            SQUARE (10, 7, 0, 0, 2, 2, "") "," SQUARE (10, 3, 0, 0, 2, 2, "") "," SQUARE (
                10, 7, 2, 0, 4, 2, "") ",{\"image_id\":11,\"category_id\":7,\"bbox\":[0,0,1,1]}"
                                       ",{\"image_id\":13,\"category_id\":3,\"iscrowd\":1,"
                                       "\"segmentation\":{\"size\":[2,4],\"counts\":[0,8]}}"
                                       ",{\"image_id\":99,\"category_id\":3,\"bbox\":[0,0,1,1]}");
  path = g_build_filename (folder, "annotations/instances_default.json", NULL);
  for (guint way = 0; way < 2; way++)
    {
      g_autoptr (DynoDataset) dataset = masks_open (way ? path : folder, DYNO_TASK_LABELS);
      const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);

      g_assert_cmpstr (info->kind, ==, "coco");
      g_assert_cmpint (dyno_dataset_get_task (info), ==, DYNO_TASK_LABELS);
      g_assert_cmpuint (info->n_samples, ==, 4);
      g_assert_cmpuint (info->n_classes, ==, 2);
      g_assert_cmpstr (info->class_names[0], ==, "cat");
      g_assert_cmpstr (info->class_names[1], ==, "dog");
      g_assert_cmpuint (info->class_counts[0], ==, 2);
      g_assert_cmpuint (info->class_counts[1], ==, 2);
      for (guint i = 0; i < 4; i++)
        {
          g_assert_cmpmem (dyno_dataset_get_values (dataset, i), 8, expected[i], 8);
          g_assert_true (dyno_dataset_decode (dataset, i, 4, 2, (gpointer[]){ image, target },
                                              scratch, &error));
          g_assert_cmpmem (target, 8, expected[i], 8);
        }
      masks_has_note (dataset, "1 annotation is of an image or a category");
    }
  test_folder_remove (folder);
}

/* More categories than a mask can have classes. */
static void
test_many_labels (void)
{
  g_autofree char *folder = test_folder_new (),
                  *path = g_build_filename (folder, "coco.json", NULL);
  g_autoptr (GString) text = g_string_new (
      "{\"images\":[{\"id\":1,\"file_name\":\"1.jpg\"},{\"id\":2,\"file_name\":\"2.jpg\"}],"
      "\"annotations\":[{\"image_id\":2,\"category_id\":299}],\"categories\":[");

  for (guint i = 0; i < 300; i++)
    g_string_append_printf (text, "%s{\"id\":%u,\"name\":\"c%u\"}", i ? "," : "", i, i);
  g_string_append (text, "]}");
  masks_put_text (folder, "coco.json", text->str);
  masks_put_image (folder, "1.jpg", 4, 2);
  masks_put_image (folder, "2.jpg", 4, 2);
  g_autoptr (DynoDataset) dataset = masks_open (path, DYNO_TASK_LABELS);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 300);
  g_assert_cmpfloat (dyno_dataset_get_values (dataset, 1)[299], ==, 1);
  test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/coco/polygons-as-pycocotools", test_polygons);
  g_test_add_func ("/data/coco/polygons-without-bounds", test_odd_polygons);
  g_test_add_func ("/data/coco/runs-in-text", test_runs);
  g_test_add_func ("/data/coco/damaged-runs", test_damaged_runs);
  g_test_add_func ("/data/coco/areas-become-classes", test_areas_become_classes);
  g_test_add_func ("/data/coco/a-file-for-each-part", test_parts);
  g_test_add_func ("/data/coco/refused-masks", test_refused_masks);
  g_test_add_func ("/data/coco/broken-files", test_broken_files);
  g_test_add_func ("/data/coco/too-many-categories", test_many_categories);
  g_test_add_func ("/data/coco/file-that-is-shortened", test_changed_file);
  g_test_add_func ("/data/coco/labels", test_labels);
  g_test_add_func ("/data/coco/more-labels-than-masks-have", test_many_labels);
  return g_test_run ();
}
