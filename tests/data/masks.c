/* SPDX-License-Identifier: MIT */
/* Folders of images and masks: how they are recognised, how masks are matched with images, and the
 * functions of data sets with masks. */
#include "dataset-class.h"
#include "masks-test.h"
#include "maskpairs.h"
#include "survey.h"
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

/* --- opening ---------------------------------------------------------------------------------- */

static void
test_opens_images_and_masks (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  const DynoDatasetInfo *info;
  DynoBatchSchema schema;

  masks_put_pair (folder, "b", 0, 2);
  masks_put_pair (folder, "a", 1, 255);
  masks_put_pair (folder, "c", 2, 2);
  dataset = test_open (folder);
  info = dyno_dataset_get_info (dataset);
  g_assert_cmpstr (info->kind, ==, "masks");
  g_assert_cmpuint (info->n_samples, ==, 3);
  g_assert_cmpuint (info->n_unreadable, ==, 0);
  masks_check_classes (dataset, "0:4 1:4 2:12");
  g_assert_cmpuint (info->n_ignored, ==, 4);
  g_assert_false (dyno_dataset_has_classes (info));
  g_assert_false (info->has_split);
  g_assert_true (info->resizable && info->croppable);
  masks_check (dataset, 0, 4, 2, rows (1, DYNO_MASK_IGNORED));
  masks_check (dataset, 1, 4, 2, rows (0, 2));
  masks_check (dataset, 1, 2, 2, (guint8[]){ 0, 0, 2, 2 });
  masks_has_note (dataset, "guess|“images” and “masks”|data.task=classes");

  dyno_dataset_get_schema (info, 32, 16, &schema);
  g_assert_cmpuint (schema.n_fields, ==, 3);
  g_assert_true (dyno_schema_find_mask (&schema) == &schema.fields[DYNO_DATASET_TARGET]);
  g_assert_cmpuint (schema.fields[DYNO_DATASET_TARGET].shape[0], ==, 16);
  g_assert_cmpuint (schema.fields[DYNO_DATASET_TARGET].shape[1], ==, 32);
  g_assert_cmpuint (schema.fields[DYNO_DATASET_INPUT].shape[0], ==, 16);
  test_folder_remove (folder);
}

static void
test_task_decides (void)
{
  g_autofree char *folder = test_folder_new (), *classes = test_folder_new ();
  g_autoptr (DynoDataset) pixels = NULL, whole = NULL;
  DynoDatasetParams params = { .task = DYNO_TASK_PIXELS };
  g_autoptr (GError) error = NULL, values = NULL;

  masks_put_pair (folder, "a", 0, 1);
  masks_put_pair (folder, "b", 0, 1);
  whole = masks_open (folder, DYNO_TASK_CLASSES);
  g_assert_cmpstr (dyno_dataset_get_info (whole)->kind, ==, "image-folder");
  g_assert_cmpuint (dyno_dataset_get_info (whole)->n_samples, ==, 4);
  pixels = masks_open (folder, DYNO_TASK_PIXELS);
  g_assert_cmpuint (dyno_dataset_get_info (pixels)->n_samples, ==, 2);
  g_assert_null (dyno_dataset_get_info (pixels)->task_reason);

  masks_put_image (classes, "cat/1.png", 4, 4);
  masks_put_image (classes, "dog/1.png", 4, 4);
  g_assert_null (dyno_dataset_open (classes, &params, NULL, NULL, NULL, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  test_has_words (error, "no masks|images and masks|data.task");
  params.task = DYNO_TASK_VALUES;
  g_assert_null (dyno_dataset_open ("builtin:masks", &params, NULL, NULL, NULL, &values));
  g_assert_error (values, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  test_has_words (values, "has masks|data.task");
  test_folder_remove (folder);
  test_folder_remove (classes);
}

/* Two folders whose file names do not match are classes; with masks requested, the few matches are
 * samples. */
static void
test_other_names_are_classes (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) guessed = NULL, asked = NULL;

  masks_put_pair (folder, "a", 0, 1);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("masks/other%u.png", i);
      masks_put_image (folder, name, 4, 2);
    }
  guessed = test_open (folder);
  g_assert_cmpstr (dyno_dataset_get_info (guessed)->kind, ==, "image-folder");
  asked = masks_open (folder, DYNO_TASK_PIXELS);
  g_assert_cmpuint (dyno_dataset_get_info (asked)->n_samples, ==, 1);
  g_assert_cmpuint (dyno_dataset_get_info (asked)->n_unreadable, ==, 3);
  test_folder_remove (folder);
}

/* The data are one folder below, as after unpacking an archive. */
static void
test_looks_further_in (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;

  masks_put_image (folder, "set/img/a.jpg", 8, 8);
  masks_put (folder, "set/labels/a.png", 8, 8, PNG_COLOR_TYPE_GRAY, 8, (guint8[64]){ 0, 1, 2, 3 });
  dataset = test_open (folder);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->kind, ==, "masks");
  masks_has_note (dataset, "“set”");
  test_folder_remove (folder);
}

/* --- matching --------------------------------------------------------------------------------- */

static void
test_matches_stems (void)
{
  static const char *const pairs[][2] = {
    { "a.png", "a.png" },
    { "b.jpg", "b_mask.png" },
    { "C.jpg", "c.PNG" },
    { "d_sat.jpg", "d_mask.png" },
    { "e.jpg", "e_L.png" },
    { "f/x.png", "f/x.png" },
    { "g/x.png", "g/x_label.png" },
    { "h.png", "deep/h.png" },
    { "St. Louis/x.png", "St. Louis/x.png" },
    { "i.jpg", "i_P.png" },
  };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  const guint n = G_N_ELEMENTS (pairs);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *image = g_build_filename ("images", pairs[i][0], NULL),
                      *mask = g_build_filename ("annotations", pairs[i][1], NULL);

      masks_put_image (folder, image, 4, 2);
      masks_put (folder, mask, 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows ((guint8) i, 9));
    }
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, n);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 0);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = dyno_dataset_describe_sample (dataset, i);
      guint k = 0;

      while (!g_str_has_suffix (name, pairs[k][0]))
        k++;
      masks_check (dataset, i, 4, 2, rows ((guint8) k, 9));
    }
  test_folder_remove (folder);
}

static void
test_says_what_has_no_match (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;

  masks_put_pair (folder, "a", 0, 1);
  masks_put_pair (folder, "b", 0, 1);
  masks_put_image (folder, "images/alone.png", 4, 2);
  masks_put_image (folder, "images/two.png", 4, 2);
  masks_put (folder, "masks/two_mask.png", 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows (0, 1));
  masks_put (folder, "masks/two_label.png", 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows (0, 1));
  masks_put (folder, "masks/left.png", 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows (0, 1));
  dataset = masks_open (folder, DYNO_TASK_PIXELS);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  masks_has_note (dataset, "1 image has no mask|images/alone.png");
  masks_has_refused (dataset, "images/two.png|several masks");
  masks_has_refused (dataset, "masks/left.png|no image");
  test_folder_remove (folder);
}

/* Every folder and file that opening reads is closed again. */
static void
test_nothing_stays_open (void)
{
  g_autofree char *folder = test_folder_new ();
  int before = dup (STDERR_FILENO), after;

  close (before);
  masks_put_pair (folder, "sub/a", 0, 1);
  dyno_dataset_unref (test_open (folder));
  after = dup (STDERR_FILENO);
  close (after);
  g_assert_cmpint (before, ==, after);
  test_folder_remove (folder);
}

/* A symbolic link to its own parent folder is not followed repeatedly. */
static void
test_links_that_lead_back (void)
{
  g_autofree char *folder = test_folder_new (),
                  *link = g_build_filename (folder, "images", "again", NULL);
  g_autoptr (DynoDataset) dataset = NULL;

  masks_put_pair (folder, "a", 0, 1);
  g_assert_cmpint (symlink ("../images", link), ==, 0);
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 1);
  test_folder_remove (folder);
}

/* --- parts ------------------------------------------------------------------------------------ */

static void
test_parts (void)
{
  static const char *const layouts[][4] = {
    { "images/train/", "masks/train/", "images/val/", "masks/val/" },
    { "train/images/", "train/masks/", "val/images/", "val/masks/" },
    { "images/training/", "annotations/training/", "images/validation/",
      "annotations/validation/" },
    { "train/", "train_labels/", "val/", "val_labels/" },
    { "train_images/", "train_masks/", "test_images/", "test_masks/" },
    { "train/", "trainannot/", "val/", "valannot/" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (GArray) train = NULL, validation = NULL;

      /* The stems of both parts are the same. */
      for (guint k = 0; k < 5; k++)
        {
          guint part = k / 3 * 2;
          g_autofree char *image = g_strdup_printf ("%s%u.jpg", layouts[i][part], k % 3),
                          *mask = g_strdup_printf ("%s%u.png", layouts[i][part + 1], k % 3);

          masks_put_image (folder, image, 4, 2);
          masks_put (folder, mask, 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows (part ? 1 : 0, 2));
        }
      /* An image of one part is not matched with a mask of another. */
      {
        g_autofree char *alone = g_strdup_printf ("%s2.jpg", layouts[i][2]);
        masks_put_image (folder, alone, 4, 2);
      }
      dataset = test_open (folder);
      g_assert_cmpstr (dyno_dataset_get_info (dataset)->kind, ==, "masks");
      g_assert_true (dyno_dataset_get_info (dataset)->has_split);
      masks_has_note (dataset, "1 image has no mask|2.jpg");
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_validation, ==, 2);
      dyno_dataset_split (dataset, 0.5, 1, &train, &validation);
      g_assert_cmpuint (train->len, ==, 3);
      g_assert_cmpuint (validation->len, ==, 2);
      for (guint k = 0; k < 3; k++)
        masks_check (dataset, g_array_index (train, guint32, k), 4, 2, rows (0, 2));
      for (guint k = 0; k < 2; k++)
        masks_check (dataset, g_array_index (validation, guint32, k), 4, 2, rows (1, 2));
      test_folder_remove (folder);
    }
}

static void
test_voc (void)
{
  g_autofree char *folder = test_folder_new (), *all = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  g_auto (GStrv) notes = NULL;
  const DynoDatasetInfo *info;

  for (guint i = 0; i < 5; i++)
    {
      g_autofree char *image = g_strdup_printf ("JPEGImages/2007_%u.jpg", i),
                      *mask = g_strdup_printf ("SegmentationClass/2007_%u.png", i);

      masks_put_image (folder, image, 4, 2);
      if (i < 4)
        masks_put (folder, mask, 4, 2, PNG_COLOR_TYPE_PALETTE, 8, rows (15, i == 0 ? 255 : 0));
    }
  masks_put_text (folder, "ImageSets/Segmentation/train.txt", "2007_0\r\n2007_1\n2007_9\n");
  masks_put_text (folder, "ImageSets/Segmentation/val.txt", "2007_3\n2007_1\n");
  masks_put_text (folder, "Annotations/2007_0.xml", "<annotation/>");
  dataset = test_open (folder);
  info = dyno_dataset_get_info (dataset);
  g_assert_cmpuint (info->n_samples, ==, 3); /* 2007_2 is in no list */
  g_assert_cmpuint (info->n_classes, ==, 21);
  g_assert_cmpstr (info->class_names[15], ==, "person");
  g_assert_cmpuint (info->class_counts[15], ==, 12);
  g_assert_cmpuint (info->n_ignored, ==, 4);
  g_assert_cmpuint (info->n_validation, ==, 2); /* 2007_1 is in both lists, and is not trained on */
  g_assert_null (info->task_reason);
  masks_check (dataset, 0, 4, 2, rows (15, DYNO_MASK_IGNORED));
  masks_has_refused (dataset, "2007_9|ImageSets");
  notes = dyno_dataset_list_notes (dataset, NULL, NULL);
  all = g_strjoinv ("\n", notes);
  g_assert_nonnull (
      strstr (all, "1 image is in train.txt and in val.txt, and is not trained on: 2007_1"));
  test_folder_remove (folder);
}

static void
test_cityscapes (void)
{
  for (guint train_ids = 0; train_ids < 2; train_ids++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;
      const DynoDatasetInfo *info;

      masks_put_image (folder, "leftImg8bit/train/bochum/bochum_1_leftImg8bit.png", 4, 2);
      masks_put_image (folder, "leftImg8bit/val/ulm/ulm_1_leftImg8bit.png", 4, 2);
      masks_put (folder, "gtFine/train/bochum/bochum_1_gtFine_labelIds.png", 4, 2,
                 PNG_COLOR_TYPE_GRAY, 8, rows (7, 3));
      masks_put (folder, "gtFine/val/ulm/ulm_1_gtFine_labelIds.png", 4, 2, PNG_COLOR_TYPE_GRAY, 8,
                 rows (33, 26));
      masks_put_image (folder, "gtFine/val/ulm/ulm_1_gtFine_color.png", 4, 2);
      masks_put_image (folder, "gtFine/val/ulm/ulm_1_gtFine_instanceIds.png", 4, 2);
      if (train_ids)
        {
          masks_put (folder, "gtFine/train/bochum/bochum_1_gtFine_labelTrainIds.png", 4, 2,
                     PNG_COLOR_TYPE_GRAY, 8, rows (1, 255));
          masks_put (folder, "gtFine/val/ulm/ulm_1_gtFine_labelTrainIds.png", 4, 2,
                     PNG_COLOR_TYPE_GRAY, 8, rows (2, 3));
        }
      dataset = test_open (folder);
      info = dyno_dataset_get_info (dataset);
      g_assert_cmpuint (info->n_samples, ==, 2);
      g_assert_cmpuint (info->n_unreadable, ==, 0);
      g_assert_cmpuint (info->n_validation, ==, 1);
      g_assert_cmpuint (info->n_classes, ==, 19);
      g_assert_cmpstr (info->class_names[13], ==, "car");
      masks_check (dataset, 0, 4, 2, train_ids ? rows (1, 255) : rows (0, 255));
      masks_check (dataset, 1, 4, 2, train_ids ? rows (2, 3) : rows (18, 13));
      test_folder_remove (folder);
    }
}

/* --- lists ------------------------------------------------------------------------------------ */

static void
test_list (void)
{
  g_autofree char *folder = test_folder_new (), *list = g_build_filename (folder, "list.csv", NULL);
  g_autoptr (DynoDataset) dataset = NULL;
  const DynoDatasetInfo *info;

  masks_put_image (folder, "pictures/a.jpg", 4, 2);
  masks_put_image (folder, "pictures/b.jpg", 4, 2);
  masks_put_image (folder, "pictures/c.jpg", 4, 2);
  masks_put (folder, "truth/1.png", 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows (0, 1));
  masks_put (folder, "truth/2.png", 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows (1, 2));
  masks_put_text (folder, "names.txt", "sky\nsea\nland\n");
  masks_put_text (folder, "list.csv",
                  "image,mask,weather,split\n"
                  "pictures/b.jpg,truth/2.png,sun,val\n"
                  "pictures/a.jpg,truth\\1.png,rain,train\n"
                  "pictures/c.jpg,,rain,train\n"
                  "pictures/c.jpg,truth/3.png,rain,train\n");
  dataset = test_open (list);
  info = dyno_dataset_get_info (dataset);
  g_assert_cmpstr (info->kind, ==, "manifest");
  g_assert_cmpuint (info->n_samples, ==, 2);
  g_assert_true (info->has_split);
  g_assert_cmpuint (info->n_validation, ==, 1);
  masks_check_classes (dataset, "sky:4 sea:8 land:4");
  masks_check (dataset, 0, 4, 2, rows (1, 2));
  masks_check (dataset, 1, 4, 2, rows (0, 1));
  masks_has_refused (dataset, "line 4|no mask");
  masks_has_refused (dataset, "line 5|truth/3.png");
  masks_has_note (dataset, "“weather”|not used");
  g_assert_false (dyno_dataset_has_classes (info));
  test_folder_remove (folder);
}

/* With classes requested, the column is ordinary text; with masks requested, it is required. */
static void
test_list_and_task (void)
{
  g_autofree char *folder = test_folder_new (), *list = g_build_filename (folder, "list.csv", NULL);
  const DynoDatasetParams params = { .task = DYNO_TASK_PIXELS };
  g_autoptr (DynoDataset) classes = NULL, named = NULL;
  g_autoptr (GError) error = NULL;

  masks_put_pair (folder, "a", 0, 1);
  masks_put_pair (folder, "b", 0, 1);
  masks_put_text (folder, "list.csv",
                  "image,label\nimages/a.png,masks/a.png\nimages/b.png,masks/b.png\n");
  classes = test_open (list);
  g_assert_true (dyno_dataset_has_classes (dyno_dataset_get_info (classes)));
  named = masks_open (list, DYNO_TASK_PIXELS);
  masks_check_classes (named, "0:8 1:8");
  masks_put_text (folder, "list.csv", "image,label\nimages/a.png,cat\nimages/b.png,dog\n");
  g_assert_null (dyno_dataset_open (list, &params, NULL, NULL, NULL, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  test_has_words (error, "“mask”|“label”");
  test_folder_remove (folder);
}

/* --- functions of a data set with masks ------------------------------------------------------- */

static void
test_splits_without_labels (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL;
  guint64 indices[8];

  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);
      masks_put_pair (folder, name, 0, (guint8) (1 + i % 2));
    }
  dataset = test_open (folder);
  dyno_dataset_split (dataset, 0.2, 7, &train, &validation);
  g_assert_cmpuint (train->len, ==, 8);
  g_assert_cmpuint (validation->len, ==, 2);
  g_assert_cmpuint (dyno_dataset_pick_examples (dataset, 5, indices), ==, 5);
  for (guint i = 0; i < 5; i++)
    g_assert_cmpuint (indices[i], ==, 2 * i);
  test_folder_remove (folder);
}

static void
test_survey_and_notes (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL;
  g_autoptr (DynoSurvey) survey = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) notes = NULL;

  masks_put_pair (folder, "a", 0, 3);
  masks_put_pair (folder, "b", 0, 3);
  masks_put_text (folder, "classes.txt", "sky\nsea\nSea\nland\n");
  dataset = test_open (folder);
  survey = dyno_dataset_survey (dataset, 0, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  /* Few samples of a class are no problem, since a sample has many pixels. */
  g_assert_cmpuint (survey->n_harmful, ==, 1);
  g_assert_nonnull (strstr (survey->sentences[0], "the same as another"));
  dyno_dataset_split (dataset, 0.5, 1, &train, &validation);
  notes = dyno_dataset_list_notes (dataset, train, validation);
  masks_has_note (dataset, "no pixel of class “sea”, “Sea”");
  masks_has_note (dataset, "differ in capitals");
  test_folder_remove (folder);
}

/* Some classes occur in one of the parts only. */
static void
test_classes_of_the_parts (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL;
  g_auto (GStrv) notes = NULL;
  g_autofree char *all = NULL;

  masks_put_image (folder, "images/train/a.png", 4, 2);
  masks_put_image (folder, "images/val/b.png", 4, 2);
  masks_put (folder, "masks/train/a.png", 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows (0, 33));
  masks_put (folder, "masks/val/b.png", 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows (0, 34));
  dataset = test_open (folder);
  dyno_dataset_split (dataset, 0, 1, &train, &validation);
  notes = dyno_dataset_list_notes (dataset, train, validation);
  all = g_strjoinv ("\n", notes);
  g_assert_nonnull (strstr (all, "no training sample with pixels of class “34”:"));
  g_assert_nonnull (strstr (all, "no validation sample with pixels of class “33”:"));
  test_folder_remove (folder);
}

/* Predictions on a folder are made for its images, not for its masks. */
static void
test_unlabelled (void)
{
  g_autofree char *folder = test_folder_new ();
  const char *const paths[] = { folder, NULL };
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GError) error = NULL;

  masks_put_pair (folder, "a", 0, 1);
  masks_put_pair (folder, "b", 0, 1);
  dataset = dyno_dataset_open_unlabelled (paths, NULL, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  test_folder_remove (folder);
}

/* A changed image with the same mask, or a changed mask with the same image, is other data. */
static void
test_content_hash (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) before = NULL, same = NULL, other = NULL;

  masks_put_pair (folder, "a", 0, 1);
  masks_put_pair (folder, "b", 0, 1);
  before = test_open (folder);
  same = test_open (folder);
  masks_put (folder, "masks/b.png", 4, 2, PNG_COLOR_TYPE_GRAY, 8, rows (1, 1));
  other = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (before)->content_hash, ==,
                    dyno_dataset_get_info (same)->content_hash);
  g_assert_cmpuint (dyno_dataset_get_info (before)->content_hash, !=,
                    dyno_dataset_get_info (other)->content_hash);
  test_folder_remove (folder);
}

static void
test_luma (void)
{
  const DynoBatchField grey = { .role = DYNO_FIELD_INPUT,
                                .element = DYNO_ELEMENT_U8,
                                .n_axes = 3,
                                .shape = { 8, 8, 1 },
                                .axes = "HWC" };
  const DynoDatasetParams params = { .wanted = &grey };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  guint8 image[8], ids[8];
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { image, ids };

  masks_put_pair (folder, "a", 0, 1);
  dataset = dyno_dataset_open (folder, &params, NULL, NULL, NULL, NULL);
  g_assert_true (dyno_dataset_get_info (dataset)->luma);
  g_assert_false (dyno_dataset_get_info (dataset)->croppable);
  g_assert_true (dyno_dataset_decode (dataset, 0, 4, 2, fields, scratch, NULL));
  g_assert_cmpmem (ids, 8, rows (0, 1), 8);
  g_assert_cmpuint (image[7], ==, 200);
  test_folder_remove (folder);
}

static void
count_progress (guint64 found, gpointer data)
{
  *(guint64 *) data = found;
}

static void
test_cancelled (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  guint64 found = 0;

  masks_put_pair (folder, "a", 0, 1);
  g_cancellable_cancel (cancellable);
  g_assert_null (dyno_dataset_open (folder, NULL, count_progress, &found, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  test_folder_remove (folder);
}

/* --- names of folders ------------------------------------------------------------------------- */

static guint
count_folders (const char *root)
{
  g_autoptr (GArray) folders = dyno_mask_folders_new ();

  return dyno_mask_folders_find (root, folders) ? folders->len : 0;
}

static void
test_names_of_folders (void)
{
  static const struct {
    const char *first, *second;
    gboolean good;
  } names[] = { { "images", "masks", TRUE },   { "Masks", "IMAGES", TRUE },
                { "images", "images", FALSE }, { "masks", "masks", FALSE },
                { "masks", "other", FALSE },   { "other", "images", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpint (dyno_mask_folders_are (names[i].first, names[i].second), ==, names[i].good);
}

/* Masks lie at most four folders below that of the masks. */
static void
test_depth_of_masks (void)
{
  g_autoptr (GString) deep = g_string_new ("masks/");

  for (guint depth = 0; depth <= 5; depth++)
    {
      g_autofree char *folder = test_folder_new (), *path = g_strconcat (deep->str, "a.png", NULL);

      masks_put_image (folder, "images/a.jpg", 8, 8);
      masks_put (folder, path, 8, 8, PNG_COLOR_TYPE_GRAY, 8, (guint8[64]){ 0, 1 });
      g_assert_cmpuint (count_folders (folder), ==, depth <= 4);
      g_string_append (deep, "d/");
      test_folder_remove (folder);
    }
}

/* The folders of masks beside those of the parts, in whatever order their names are. */
static void
test_masks_beside_parts (void)
{
  static const char *const masks[][2] = { { "masks_train", "masks_val" },
                                          { "train_masks", "val_masks" },
                                          { "trainannot", "valannot" } };

  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    {
      g_autofree char *folder = test_folder_new ();

      for (guint k = 0; k < 2; k++)
        {
          g_autofree char *image = g_strdup_printf ("%s/a%u.jpg", k ? "val" : "train", k),
                          *mask = g_strdup_printf ("%s/a%u.png", masks[i][k], k);

          masks_put_image (folder, image, 8, 8);
          masks_put (folder, mask, 8, 8, PNG_COLOR_TYPE_GRAY, 8, (guint8[64]){ 0, 1 });
        }
      g_assert_cmpuint (count_folders (folder), ==, 2);
      test_folder_remove (folder);
    }
}

/* Folders of images and masks need a match for half of the masks. */
static void
test_half_of_the_masks (void)
{
  for (guint extra = 0; extra <= 2; extra++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;

      masks_put_pair (folder, "a", 0, 2);
      masks_put_image (folder, "images/other.jpg", 8, 8);
      for (guint i = 0; i < extra; i++)
        {
          g_autofree char *name = g_strdup_printf ("masks/x%u.png", i);

          masks_put (folder, name, 8, 8, PNG_COLOR_TYPE_GRAY, 8, (guint8[64]){ 0, 1 });
        }
      dataset = test_open (folder);
      g_assert_cmpstr (dyno_dataset_get_info (dataset)->kind, ==,
                       extra <= 1 ? "masks" : "image-folder");
      test_folder_remove (folder);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/masks/opens-images-and-masks", test_opens_images_and_masks);
  g_test_add_func ("/data/masks/the-task-decides", test_task_decides);
  g_test_add_func ("/data/masks/other-names-are-classes", test_other_names_are_classes);
  g_test_add_func ("/data/masks/looks-further-in", test_looks_further_in);
  g_test_add_func ("/data/masks/matches-stems", test_matches_stems);
  g_test_add_func ("/data/masks/says-what-has-no-match", test_says_what_has_no_match);
  g_test_add_func ("/data/masks/links-that-lead-back", test_links_that_lead_back);
  g_test_add_func ("/data/masks/nothing-stays-open", test_nothing_stays_open);
  g_test_add_func ("/data/masks/parts-at-either-level", test_parts);
  g_test_add_func ("/data/masks/voc", test_voc);
  g_test_add_func ("/data/masks/cityscapes", test_cityscapes);
  g_test_add_func ("/data/masks/list-of-images-and-masks", test_list);
  g_test_add_func ("/data/masks/list-and-task", test_list_and_task);
  g_test_add_func ("/data/masks/splits-without-labels", test_splits_without_labels);
  g_test_add_func ("/data/masks/survey-and-notes", test_survey_and_notes);
  g_test_add_func ("/data/masks/classes-of-the-parts", test_classes_of_the_parts);
  g_test_add_func ("/data/masks/predictions-are-of-images", test_unlabelled);
  g_test_add_func ("/data/masks/hash-of-the-content", test_content_hash);
  g_test_add_func ("/data/masks/luma-has-its-mask", test_luma);
  g_test_add_func ("/data/masks/cancelled", test_cancelled);
  g_test_add_func ("/data/masks/names-of-folders", test_names_of_folders);
  g_test_add_func ("/data/masks/depth", test_depth_of_masks);
  g_test_add_func ("/data/masks/beside-parts", test_masks_beside_parts);
  g_test_add_func ("/data/masks/half-of-them", test_half_of_the_masks);
  return g_test_run ();
}
