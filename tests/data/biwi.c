/* SPDX-License-Identifier: MIT */
/* BIWI head poses: angles, the crop around the head, the split by sequence; and boxes of images. */
#include "convert.h"
#include "data-test.h"
#include "headpose.h"
#include <math.h>
#include <png.h>
#include <string.h>

/* Computes the matrix from which Hopenet's loader computes these angles: Rx (-pitch) Ry (yaw) Rz
 * (roll). */
static void
make_matrix (double yaw, double pitch, double roll, double *m)
{
  const double radians = G_PI / 180;
  double cy = cos (yaw * radians), sy = sin (yaw * radians), cp = cos (pitch * radians),
         sp = -sin (pitch * radians), cr = cos (roll * radians), sr = sin (roll * radians);
  const double matrix[9] = { cy * cr,
                             -cy * sr,
                             sy,
                             cp * sr + sp * sy * cr,
                             cp * cr - sp * sy * sr,
                             -sp * cy,
                             sp * sr - cp * sy * cr,
                             sp * cr + cp * sy * sr,
                             cp * cy };

  memcpy (m, matrix, sizeof matrix);
}

static void
put_pose (const char *folder, const char *sequence, guint frame, double yaw, double pitch,
          double roll, const double *place)
{
  g_autofree char *name = g_strdup_printf ("%s/frame_%05u_pose.txt", sequence, frame);
  double m[9];
  g_autoptr (GString) text = g_string_new (NULL);

  make_matrix (yaw, pitch, roll, m);
  for (guint i = 0; i < 9; i++)
    g_string_append_printf (text, i % 3 == 2 ? "%.6f \n" : "%.6f ", m[i]);
  g_string_append_printf (text, "\n%.4f %.4f %.4f \n", place[0], place[1], place[2]);
  g_free (test_write (folder, name, text->str, text->len));
}

static void
put_frame (const char *folder, const char *sequence, guint frame, double yaw, double pitch,
           double roll)
{
  static const double place[3] = { 10, -20, 900 };
  g_autofree char *name = g_strdup_printf ("%s/frame_%05u_rgb.png", sequence, frame);
  g_autoptr (GByteArray) png = test_png (640, 480, PNG_COLOR_TYPE_RGB, 8, FALSE);

  g_free (test_write (folder, name, png->data, png->len));
  put_pose (folder, sequence, frame, yaw, pitch, roll, place);
}

static void
test_angles (void)
{
  static const double cases[][3] = {
    { 0, 0, 0 }, { 30, 0, 0 }, { 0, 25, 0 }, { 0, 0, -40 }, { -60, 20, 10 }, { 80, -50, -30 },
  };
  double m[9];
  float values[3];

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      make_matrix (cases[i][0], cases[i][1], cases[i][2], m);
      dyno_head_pose_angles (m, values);
      for (guint k = 0; k < 3; k++)
        g_assert_cmpfloat_with_epsilon ((double) values[k], cases[i][k], 1e-4);
    }
  /* A matrix by hand: a quarter turn around the vertical axis. */
  dyno_head_pose_angles ((const double[]){ 0, 0, 1, 0, 1, 0, -1, 0, 0 }, values);
  g_assert_cmpfloat_with_epsilon ((double) values[0], 90, 1e-4);
}

/* Rotates a vector around an axis, by Rodrigues' formula. */
static void
turn (double *v, int axis, double degrees)
{
  double a = degrees * G_PI / 180, k[3] = { axis == 0, axis == 1, axis == 2 };
  double along = v[axis], cross[3] = { k[1] * v[2] - k[2] * v[1], k[2] * v[0] - k[0] * v[2],
                                       k[0] * v[1] - k[1] * v[0] };

  for (int i = 0; i < 3; i++)
    v[i] = v[i] * cos (a) + cross[i] * sin (a) + k[i] * along * (1 - cos (a));
}

/* The expected angles come from rotating the axes one after the other, and not from a closed form:
 * roll around z, then yaw around y, then pitch around x in the opposite direction.  The camera's
 * axes are x to the right, y down and z away from it. */
static void
test_angles_of_turned_axes (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (guint n = 0; n < 500; n++)
    {
      double want[3] = { g_rand_double_range (rand, -89, 89), g_rand_double_range (rand, -89, 89),
                         g_rand_double_range (rand, -179, 179) };
      double m[9];
      float got[3];

      for (int column = 0; column < 3; column++)
        {
          double v[3] = { column == 0, column == 1, column == 2 };

          turn (v, 2, want[2]);
          turn (v, 1, want[0]);
          turn (v, 0, -want[1]);
          for (int row = 0; row < 3; row++)
            m[3 * row + column] = v[row];
        }
      dyno_head_pose_angles (m, got);
      for (int k = 0; k < 3; k++)
        g_assert_cmpfloat_with_epsilon ((double) got[k], want[k], 1e-3);
    }
}

static void
test_packed_set_keeps_angles_and_heads (void)
{
  g_autofree char *folder = test_folder_new (), *out = test_folder_new (),
                  *path = g_build_filename (out, "packed.tar", NULL);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GArray) train = NULL, validation = NULL;
  g_autoptr (GError) error = NULL;
  DynoConverted converted;

  for (guint s = 1; s <= 4; s++)
    {
      g_autofree char *sequence = g_strdup_printf ("%02u", s);
      put_frame (folder, sequence, 1, 10.0 * s, -5.0 * s, 2.0 * s);
    }
  g_autoptr (DynoDataset) dataset = test_open (folder);
  g_assert_true (
      dyno_dataset_convert (dataset, path, 0, NULL, NULL, NULL, NULL, &converted, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (converted.n_written, ==, 4);
  /* only the heads are stored, not the frames from which they are cropped */
  g_assert_cmpuint (converted.n_copied, ==, 0);
  g_autoptr (DynoDataset) again = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (again)->n_samples, ==, 4);
  g_assert_cmpuint (dyno_dataset_get_info (again)->max_width, ==,
                    dyno_dataset_get_info (dataset)->max_width);
  g_assert_cmpstr (dyno_dataset_get_info (again)->target_names[2], ==, "roll");
  g_assert_cmpstr (dyno_dataset_get_info (again)->target_units[2], ==, "degrees");
  dyno_dataset_split (again, 0, 0, &train, &validation);
  g_assert_cmpuint (train->len, ==, 2);
  g_assert_cmpuint (validation->len, ==, 2);
  for (guint i = 0; i < 4; i++)
    {
      const float *values = dyno_dataset_get_values (again, i),
                  *same = dyno_dataset_get_values (dataset, i);
      guint8 image[2][173 * 173 * 3];
      float decoded[3];

      g_assert_true (dyno_dataset_decode (again, i, 173, 173, (gpointer[]){ image[0], decoded },
                                          scratch, NULL));
      g_assert_true (dyno_dataset_decode (dataset, i, 173, 173, (gpointer[]){ image[1], decoded },
                                          scratch, NULL));
      g_assert_cmpmem (values, 12, same, 12);
      g_assert_cmpmem (image[0], sizeof image[0], image[1], sizeof image[1]);
    }
  test_folder_remove (folder);
  test_folder_remove (out);
}

static void
test_opens_by_sequence (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GArray) train = NULL, validation = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 image[32 * 32 * 3];
  float values[3];

  for (guint s = 1; s <= 10; s++)
    {
      g_autofree char *sequence = g_strdup_printf ("hpdb/%02u", s);
      put_frame (folder, sequence, 3, s, -2.0 * s, 3);
    }
  put_frame (folder, "hpdb/01", 4, 120, 0, 0);
  g_autoptr (DynoDataset) dataset = test_open (folder);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_auto (GStrv) notes = dyno_dataset_list_notes (dataset, NULL, NULL);
  g_autofree char *all = g_strjoinv ("\n", notes),
                  *name = dyno_dataset_describe_sample (dataset, 0);

  g_assert_cmpstr (info->kind, ==, "biwi");
  g_assert_cmpuint (info->n_samples, ==, 10);
  g_assert_cmpstr (info->target_names[0], ==, "yaw");
  g_assert_cmpstr (info->target_units[2], ==, "degrees");
  g_assert_nonnull (strstr (all, "70/30 by sequence; 7 sequences train, 3 validate"));
  g_assert_nonnull (strstr (all, "1 sample with an angle beyond 99 degrees"));
  g_assert_cmpstr (name, ==, "01/frame_00003_rgb.png");
  dyno_dataset_split (dataset, 0.5, 1, &train, &validation);
  g_assert_cmpuint (train->len, ==, 7);
  g_assert_cmpuint (validation->len, ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (g_array_index (validation, guint32, i), >=, 7);
  /* The crop is 2 * 517.679 * 150 / 900 pixels wide. */
  g_assert_cmpuint (info->max_width, ==, 173);
  g_assert_true (
      dyno_dataset_decode (dataset, 4, 32, 32, (gpointer[]){ image, values }, scratch, NULL));
  g_assert_cmpfloat_with_epsilon ((double) values[0], 5, 1e-3);
  g_assert_cmpfloat_with_epsilon ((double) values[1], -10, 1e-3);
  g_assert_cmpfloat_with_epsilon ((double) values[2], 3, 1e-3);
  g_assert_cmpuint (image[0], ==, 200);
  test_folder_remove (folder);
}

/* A calibration moves the crop: this camera is 300 mm to the side and magnifies twice as much. */
static void
test_calibration_is_used (void)
{
  static const char cal[] = "1000 0 320\n0 1000 240\n0 0 1\n\n0 0 0 0\n\n1 0 0\n0 1 0\n0 0 1\n\n"
                            "-310 20 100\n\n640 480\n",
                    moved[] = "1000 0 320\n0 1000 240\n0 0 1\n\n0 0 0 0\n\n1 0 0\n0 1 0\n0 0 1\n\n"
                              "-210 20 100\n\n640 480\n";
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 image[30 * 30 * 3];
  float values[3];

  put_frame (folder, "01", 1, 0, 0, 0);
  put_frame (folder, "02", 1, 0, 0, 0);
  g_free (test_write (folder, "02/rgb.cal", cal, sizeof cal - 1));
  g_autoptr (DynoDataset) dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->min_width, ==, 173);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->max_width, ==, 300);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->min_height, ==, 173);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->max_height, ==, 300);
  /* The crop begins at 320 - 300 - 150, so its left 130 of 300 pixels are outside of the image. */
  g_assert_true (
      dyno_dataset_decode (dataset, 1, 30, 30, (gpointer[]){ image, values }, scratch, NULL));
  for (guint x = 0; x < 30; x++)
    if (x != 12 && x != 13)
      g_assert_cmpuint (image[(15 * 30 + x) * 3], ==, x < 13 ? 0 : 200);
  /* Another crop of the same file is other content. */
  g_free (test_write (folder, "02/rgb.cal", moved, sizeof moved - 1));
  g_autoptr (DynoDataset) other = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (other)->size_bytes, ==,
                    dyno_dataset_get_info (dataset)->size_bytes);
  g_assert_cmphex (dyno_dataset_get_info (other)->content_hash, !=,
                   dyno_dataset_get_info (dataset)->content_hash);
  test_folder_remove (folder);
}

static void
test_damaged_poses_are_listed (void)
{
  static const char *const texts[] = { "",
                                       "1 0 0\n0 1 0\n0 0 1\n",
                                       "1 0 0 0 1 0 0 0 2 0 0 900",
                                       "1 0 0 0 1 0 0 0 -1 0 0 900",
                                       "1 0 0 0 1 0 0 0 1 0 0 nan",
                                       "a b c d e f g h i j k l",
                                       "2 0 0 0 1 0 0 0 1 0 0 900",
                                       "1 0 0 0.5 1 0 0 0 1 0 0 900",
                                       "1 0 0 0 1 0 0 0 0 0 0 900" };
  g_autofree char *folder = test_folder_new ();
  static const double behind[3] = { 0, 0, -900 }, place[3] = { 0, 0, 900 };

  put_frame (folder, "01", 0, 1, 2, 3);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *name = g_strdup_printf ("01/frame_%05u_pose.txt", i + 1);
      g_free (test_write (folder, name, texts[i], strlen (texts[i])));
    }
  put_pose (folder, "01", 20, 0, 0, 0, behind);
  put_pose (folder, "01", 21, 0, 0, 0, place); /* without an image */
  g_autoptr (DynoDataset) dataset = test_open (folder);
  const char *const *bad = dyno_dataset_get_unreadable (dataset);

  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 1);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, G_N_ELEMENTS (texts) + 2);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_assert_nonnull (strstr (bad[i], "no rotation matrix"));
  g_assert_nonnull (strstr (bad[G_N_ELEMENTS (texts)], "before the camera"));
  g_assert_nonnull (strstr (bad[G_N_ELEMENTS (texts) + 1], "frame_00021_rgb.png"));
  test_folder_remove (folder);
}

/* A box in a JPEG that is decoded at a reduced size has the same place as in the full image. */
static void
test_box_of_a_reduced_jpeg (void)
{
  g_autoptr (GByteArray) jpeg = test_jpeg (800, 400, 100, 50, 20, FALSE);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  const DynoImageBox box = { .x = 300, .y = 0, .width = 200, .height = 200 };
  guint8 out[20 * 20 * 3];
  gsize size = jpeg->len;

  g_byte_array_append (scratch, jpeg->data, jpeg->len);
  g_assert_true (dyno_image_decode_box (scratch, size, &box, 20, 20, out, NULL));
  /* The left half of the image, and so that of the box, is brighter. */
  g_assert_cmpuint (out[(10 * 20 + 4) * 3], >, out[(10 * 20 + 15) * 3] + 10u);
  for (guint x = 0; x < 20; x++)
    if (x != 9 && x != 10)
      g_assert_cmpuint (
          (guint) ABS (out[(10 * 20 + x) * 3] - out[(10 * 20 + (x < 10 ? 2 : 17)) * 3]), <, 8);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/headpose/angles-are-those-of-the-field", test_angles);
  g_test_add_func ("/data/biwi/angles-of-turned-axes", test_angles_of_turned_axes);
  g_test_add_func ("/data/biwi/packed-set-keeps-angles-and-heads",
                   test_packed_set_keeps_angles_and_heads);
  g_test_add_func ("/data/headpose/box-of-a-reduced-jpeg", test_box_of_a_reduced_jpeg);
  g_test_add_func ("/data/biwi/opens-by-sequence", test_opens_by_sequence);
  g_test_add_func ("/data/biwi/calibration-is-used", test_calibration_is_used);
  g_test_add_func ("/data/biwi/damaged-poses-are-listed", test_damaged_poses_are_listed);
  return g_test_run ();
}
