/* SPDX-License-Identifier: MIT */
/* BIWI Kinect head poses: folders 01 to 24 (or some of them, also within hpdb or faces_0), one per
 * sequence, with frame_NNNNN_rgb.png and frame_NNNNN_pose.txt: the head's rotation matrix and the
 * place of its centre in mm, in the depth camera's axes.
 *
 * Choices:
 * - Angles are taken from the matrix as in Hopenet's loader.
 * - The protocol is 70/30 by sequence: in the order of their names the first 70 %, rounded down,
 *   train (16 of the 24), the others validate, so that no face's frames are in both.
 * - The image is cut to a square of 300 mm about the head's centre, projected by the sequence's
 *   rgb.cal; where that is missing, by the sensor's nominal focal length and centre, as if both
 *   cameras were at one place; they are about 25 mm apart, which the margin of the square
 *   covers. */
#include "headpose.h"
#include "datafile.h"
#include "foldernames.h"
#include "intl.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FOCAL        517.679
#define CENTRE_X     320.0
#define CENTRE_Y     240.5
#define HALF_MM      150.0
#define CAL_NUMBERS  25 /* intrinsics, distortion, rotation, translation */
#define MAX_POSE     4096
#define TRAIN_SHARE  0.7
#define POSE_SUFFIX  "_pose.txt"
#define IMAGE_SUFFIX "_rgb.png"

typedef struct {
  double intrinsics[9], rotation[9], translation[3];
} Camera;

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  DynoImageList *list;
  GByteArray *scratch;
  guint64 n_beyond;
} Load;

static gboolean
is_sequence (const char *name)
{
  return g_ascii_isdigit (name[0]) && g_ascii_isdigit (name[1]) && name[2] == '\0';
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* The wanted names in a folder, in their order. */
static GPtrArray *
list_names (const char *path, gboolean (*wanted) (const char *name))
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir && (name = dyno_folder_next_name (dir)))
    if (wanted (name))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

static gboolean
is_pose (const char *name)
{
  return g_str_has_prefix (name, "frame_") && g_str_has_suffix (name, POSE_SUFFIX);
}

static gboolean
has_poses (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir && (name = dyno_folder_next_name (dir)))
    if (is_pose (name))
      return TRUE;
  return FALSE;
}

/* The folder of the sequences: the location or a folder in it; NULL: there is none. */
static char *
find_root (const char *location)
{
  static const char *const within[] = { "", "hpdb", "faces_0" };

  for (guint i = 0; i < G_N_ELEMENTS (within); i++)
    {
      g_autofree char *root = g_build_filename (location, within[i], NULL);
      g_autoptr (GPtrArray) names = list_names (root, is_sequence);

      for (guint k = 0; k < names->len; k++)
        {
          g_autofree char *folder = g_build_filename (root, g_ptr_array_index (names, k), NULL);
          if (has_poses (folder))
            return g_steal_pointer (&root);
        }
    }
  return NULL;
}

static gboolean
biwi_matches (const DynoLocation *location)
{
  g_autofree char *root =
      !location->scheme && location->is_folder ? find_root (location->body) : NULL;

  return root != NULL;
}

static void
read_camera (Load *load, const char *folder, Camera *camera)
{
  static const Camera nominal = { { FOCAL, 0, CENTRE_X, 0, FOCAL, CENTRE_Y, 0, 0, 1 },
                                  { 1, 0, 0, 0, 1, 0, 0, 0, 1 },
                                  { 0 } };
  g_autofree char *path = g_build_filename (folder, "rgb.cal", NULL);
  double numbers[CAL_NUMBERS];
  gsize size;

  *camera = nominal;
  if (!dyno_datafile_read (path, MAX_POSE, load->scratch, &size, NULL)
      || dyno_head_pose_numbers ((const char *) load->scratch->data, size, numbers, CAL_NUMBERS)
             != CAL_NUMBERS)
    return;
  memcpy (camera->intrinsics, numbers, sizeof camera->intrinsics);
  memcpy (camera->rotation, numbers + 13, sizeof camera->rotation);
  memcpy (camera->translation, numbers + 22, sizeof camera->translation);
}

static void
multiply (const double *matrix, const double *vector, double *product)
{
  for (int i = 0; i < 3; i++)
    product[i] =
        matrix[3 * i] * vector[0] + matrix[3 * i + 1] * vector[1] + matrix[3 * i + 2] * vector[2];
}

/* FALSE: the head is not in front of the camera, or the box is too small, too large or far outside
 * the image. */
static gboolean
project (const Camera *camera, const double *place, DynoImageBox *box)
{
  double seen[3], pixel[3], half;

  multiply (camera->rotation, place, seen);
  for (int i = 0; i < 3; i++)
    seen[i] += camera->translation[i];
  multiply (camera->intrinsics, seen, pixel);
  if (!(seen[2] > 1) || !(pixel[2] > 0))
    return FALSE;
  half = camera->intrinsics[0] * HALF_MM / seen[2];
  pixel[0] /= pixel[2];
  pixel[1] /= pixel[2];
  if (!(half >= 4) || !(half < 4096) || !(fabs (pixel[0]) < 8192) || !(fabs (pixel[1]) < 8192))
    return FALSE;
  *box = (DynoImageBox){ .x = (gint32) lround (pixel[0] - half),
                         .y = (gint32) lround (pixel[1] - half),
                         .width = (gint32) lround (2 * half),
                         .height = (gint32) lround (2 * half) };
  return TRUE;
}

static gboolean
take_frame (Load *load, const char *sequence, const char *name, const Camera *camera,
            gboolean validation, GError **error)
{
  DynoImageList *list = load->list;
  g_autofree char *within = g_build_filename (sequence, name, NULL),
                  *path = g_build_filename (list->root, within, NULL),
                  *stem = g_strndup (within, strlen (within) - strlen (POSE_SUFFIX)),
                  *image = g_strconcat (stem, IMAGE_SUFFIX, NULL);
  g_autoptr (GError) problem = NULL;
  DynoHeadPose pose;
  DynoImageBox box;
  float values[3];
  gsize size;

  if (!dyno_datafile_read (path, MAX_POSE, load->scratch, &size, &problem)
      || !dyno_head_pose_parse ((const char *) load->scratch->data, size, &pose, &problem))
    {
      dyno_image_list_note (load->dataset, load->context, within, 0, problem->message);
      return TRUE;
    }
  if (!project (camera, pose.place, &box))
    {
      dyno_image_list_note (load->dataset, load->context, within, 0,
                            _ ("its head is not before the camera"));
      return TRUE;
    }
  dyno_head_pose_angles (pose.matrix, values);
  return dyno_head_pose_add (list, image, values, &box, validation, &load->n_beyond, error);
}

static gboolean
take_sequence (Load *load, const char *sequence, gboolean validation, GError **error)
{
  g_autofree char *folder = g_build_filename (load->list->root, sequence, NULL);
  g_autoptr (GPtrArray) names = list_names (folder, is_pose);
  Camera camera;

  read_camera (load, folder, &camera);
  for (guint i = 0; i < names->len; i++)
    {
      if (g_cancellable_set_error_if_cancelled (load->context->cancellable, error)
          || !take_frame (load, sequence, g_ptr_array_index (names, i), &camera, validation, error))
        return FALSE;
      if (i % 64 == 0 && load->context->progress)
        load->context->progress (load->list->items->len, load->context->progress_data);
    }
  return TRUE;
}

static gboolean
take_sequences (Load *load, GError **error)
{
  g_autoptr (GPtrArray) names = list_names (load->list->root, is_sequence);
  guint n_train = (guint) (names->len * TRAIN_SHARE);

  for (guint i = 0; i < names->len; i++)
    if (!take_sequence (load, g_ptr_array_index (names, i), n_train > 0 && i >= n_train, error))
      return FALSE;
  if (n_train > 0)
    g_ptr_array_add (
        load->dataset->notes,
        g_strdup_printf (ngettext ("Protocol: BIWI 70/30 by sequence; %u sequence trains, %u "
                                   "validate",
                                   "Protocol: BIWI 70/30 by sequence; %u sequences train, %u "
                                   "validate",
                                   (gulong) n_train),
                         n_train, names->len - n_train));
  return TRUE;
}

static gboolean
biwi_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autofree char *root = find_root (context->location->body);
  Load load = { .dataset = dataset, .context = context, .scratch = scratch };

  load.list = dyno_head_pose_begin (dataset, root ? g_steal_pointer (&root)
                                                  : g_strdup (context->location->body));
  if (!take_sequences (&load, error))
    return FALSE;
  dyno_head_pose_note_beyond (dataset, load.n_beyond);
  return dyno_image_list_finish (load.list, dataset, context, error);
}

const DynoDatasetClass dyno_dataset_class_biwi =
    DYNO_HEAD_POSE_CLASS ("biwi", "Head poses (BIWI)", biwi_matches, biwi_open);
