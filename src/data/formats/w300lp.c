/* SPDX-License-Identifier: MIT */
/* Head poses of 300W-LP and AFLW2000: images with a MATLAB file of the same name beside each, which
 * has Pose_Para (pitch, yaw, roll in radians, then place and scale) and pt2d, the points of the
 * face.
 *
 * Choices:
 * - The protocol is 300W-LP for training, AFLW2000 for validation: where both are in the folder,
 *   the samples in a folder named AFLW2000 validate.
 * - Images are cut as Hopenet's loaders cut them: the points' box, widened by a margin k.  For
 *   300W-LP k is between 0.2 and 0.4 and follows from the sample's name.  For AFLW2000 it is 0.2,
 *   with more room at the sides.
 * - Points that AFLW2000 marks as not visible (-1) are left out; where there are any, the 68 points
 *   of pt3d_68 are taken instead.
 * - Samples with an angle beyond 99 degrees are left out, and counted. */
#include "headpose.h"
#include "cores.h"
#include "datafile.h"
#include "foldernames.h"
#include "hash.h"
#include "intl.h"
#include "matfile.h"
#include "scanthreads.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RUN         16
#define MAX_THREADS 8
#define MAX_MAT     (G_GUINT64_CONSTANT (16) << 20)
#define MAX_DEPTH   6
#define PEEKED      64 /* entries of a folder, and folders, that decide the kind */
#define PEEKED_DEEP 3

typedef struct {
  char *name; /* of the image, below the root */
  char *mat;
  gboolean aflw;
  gboolean readable;
  float values[3];
  DynoImageBox box;
} Sample;

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  DynoImageList *list;
  char *real_root;
  GArray *samples; /* Sample */
} Load;

/* The image beside the .mat of this path, with its extension; NULL: there is none. */
static char *
find_image (const char *mat)
{
  static const char *const extensions[] = { ".jpg", ".png", ".jpeg", ".JPG" };
  g_autofree char *stem = g_strndup (mat, strlen (mat) - 4);

  for (guint i = 0; i < G_N_ELEMENTS (extensions); i++)
    {
      g_autofree char *path = g_strconcat (stem, extensions[i], NULL);
      if (g_file_test (path, G_FILE_TEST_EXISTS))
        return g_steal_pointer (&path);
    }
  return NULL;
}

static gboolean
holds_poses (const char *path, guint depth)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  g_autoptr (GPtrArray) within = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  for (guint i = 0; dir && i < PEEKED && (name = dyno_folder_next_name (dir)); i++)
    {
      g_autofree char *child = g_build_filename (path, name, NULL), *image = NULL;

      if (name[0] == '.')
        continue;
      image = g_str_has_suffix (name, ".mat") ? find_image (child) : NULL;
      if (image)
        return TRUE;
      if (!strchr (name, '.') && g_file_test (child, G_FILE_TEST_IS_DIR))
        g_ptr_array_add (within, g_steal_pointer (&child));
    }
  for (guint i = 0; i < within->len && depth + 1 < PEEKED_DEEP; i++)
    if (holds_poses (g_ptr_array_index (within, i), depth + 1))
      return TRUE;
  return FALSE;
}

static gboolean
w300lp_matches (const DynoLocation *location)
{
  return !location->scheme && location->is_folder && holds_poses (location->body, 0);
}

/* --- detection -------------------------------------------------------------------------------- */

static void
sample_clear (gpointer data)
{
  Sample *sample = data;

  g_free (sample->name);
  g_free (sample->mat);
}

static gboolean
is_aflw (const char *name)
{
  g_autofree char *lower = g_ascii_strdown (name, -1);
  return strstr (lower, "aflw2000") != NULL;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static const char *
below_root (const Load *load, const char *path)
{
  const char *within = path + strlen (load->list->root);

  while (*within == '/')
    within++;
  return within;
}

static gboolean walk (Load *load, const char *path, guint depth, gboolean aflw, GError **error);

static gboolean
walk_entry (Load *load, const char *folder, const char *name, guint depth, gboolean aflw,
            GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL), *image = NULL;
  struct stat status;

  if (g_str_has_suffix (name, ".mat"))
    {
      image = find_image (path);
      if (image)
        {
          Sample sample = { .name = g_strdup (below_root (load, image)),
                            .mat = g_steal_pointer (&path),
                            .aflw = aflw };
          g_array_append_val (load->samples, sample);
          if (load->samples->len % 256 == 0 && load->context->progress)
            load->context->progress (load->samples->len, load->context->progress_data);
        }
      return TRUE;
    }
  if (strchr (name, '.')
      || (load->context->params->links ? stat (path, &status) : lstat (path, &status)) != 0
      || !S_ISDIR (status.st_mode))
    return TRUE;
  return walk (load, path, depth + 1, aflw || is_aflw (name), error);
}

static gboolean
walk (Load *load, const char *path, guint depth, gboolean aflw, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  if (g_cancellable_set_error_if_cancelled (load->context->cancellable, error))
    return FALSE;
  while (dir && depth < MAX_DEPTH && (name = dyno_folder_next_name (dir)))
    if (name[0] != '.')
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    if (g_cancellable_set_error_if_cancelled (load->context->cancellable, error)
        || !walk_entry (load, path, g_ptr_array_index (names, i), depth, aflw, error))
      return FALSE;
  return TRUE;
}

/* --- one .mat --------------------------------------------------------------------------------- */

typedef struct {
  double x_min, y_min, x_max, y_max;
  guint n, unseen;
} Bounds;

/* Finds the bounds of points, whose x and y are the first two rows of a matrix, or its first two
 * columns. */
static void
measure (const DynoMatArray *points, Bounds *bounds)
{
  gboolean turned = points->shape[0] > 3 && (points->shape[1] == 2 || points->shape[1] == 3);
  guint64 n = points->n_items > 0 ? points->shape[turned ? 0 : 1] : 0,
          rows = points->shape[turned ? 1 : 0];

  *bounds =
      (Bounds){ .x_min = HUGE_VAL, .y_min = HUGE_VAL, .x_max = -HUGE_VAL, .y_max = -HUGE_VAL };
  if (points->n_dims != 2 || rows < 2)
    return;
  for (guint64 i = 0; i < n; i++)
    {
      double x = points->items[turned ? i : i * rows],
             y = points->items[turned ? n + i : i * rows + 1];

      if (!isfinite (x) || !isfinite (y) || (x < 0 && y < 0))
        {
          bounds->unseen++;
          continue;
        }
      bounds->x_min = MIN (bounds->x_min, x);
      bounds->y_min = MIN (bounds->y_min, y);
      bounds->x_max = MAX (bounds->x_max, x);
      bounds->y_max = MAX (bounds->y_max, y);
      bounds->n++;
    }
}

static gboolean
find_box (const GPtrArray *arrays, double k, gboolean aflw, DynoImageBox *box)
{
  const DynoMatArray *points = dyno_mat_find (arrays, "pt2d"),
                     *all = dyno_mat_find (arrays, "pt3d_68");
  Bounds b = { 0 }, other;

  if (points)
    measure (points, &b);
  if (all && (b.n < 2 || b.unseen > 0))
    {
      measure (all, &other);
      if (other.n >= b.n)
        b = other;
    }
  if (b.n < 2 || !(b.x_max > b.x_min) || !(b.y_max > b.y_min) || b.x_max > DYNO_IMAGE_MAX_SIDE / 8.0
      || b.y_max > DYNO_IMAGE_MAX_SIDE / 8.0 || b.x_min < -DYNO_IMAGE_MAX_SIDE / 8.0
      || b.y_min < -DYNO_IMAGE_MAX_SIDE / 8.0)
    return FALSE;
  /* The sides are widened one after another, as in the original, so each margin is computed from
     the box with the margins before it. */
  b.x_min -= (aflw ? 2 : 0.6) * k * (b.x_max - b.x_min);
  b.y_min -= 2 * k * (b.y_max - b.y_min);
  b.x_max += (aflw ? 2 : 0.6) * k * (b.x_max - b.x_min);
  b.y_max += 0.6 * k * (b.y_max - b.y_min);
  box->x = (gint32) b.x_min;
  box->y = (gint32) b.y_min;
  box->width = MAX ((gint32) b.x_max - box->x, 1);
  box->height = MAX ((gint32) b.y_max - box->y, 1);
  return dyno_image_box_is_good (box);
}

/* The margin of a training sample, between 0.2 and 0.4. */
static double
margin_of (const char *name)
{
  return 0.2 + 0.2 * (double) (dyno_hash_string (DYNO_HASH_START, name) >> 11) * 0x1p-53;
}

static gboolean
read_sample (const Load *load, Sample *sample, GByteArray *scratch, GError **error)
{
  static const char *const wanted[] = { "Pose_Para", "pt2d", "pt3d_68", NULL };
  static const int order[3] = { 1, 0, 2 }; /* yaw, pitch, roll from pitch, yaw, roll */
  g_autoptr (GPtrArray) arrays = NULL;
  const DynoMatArray *pose;
  gsize size;

  if (!dyno_image_list_check_inside (load->list, load->context, load->real_root, sample->mat, error)
      || !dyno_datafile_read (sample->mat, MAX_MAT, scratch, &size, error))
    return FALSE;
  arrays = dyno_mat_parse (scratch->data, size, wanted, error);
  if (!arrays)
    return FALSE;
  pose = dyno_mat_find (arrays, "Pose_Para");
  if (!pose || pose->n_items < 3
      || !find_box (arrays, sample->aflw ? 0.2 : margin_of (sample->name), sample->aflw,
                    &sample->box))
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                   pose && pose->n_items >= 3 ? _ ("its .mat has no points of a face (pt2d)")
                                              : _ ("its .mat has no pose (Pose_Para)"));
      return FALSE;
    }
  for (int i = 0; i < 3; i++)
    {
      sample->values[i] = (float) (pose->items[order[i]] * (180 / G_PI));
      if (isfinite (sample->values[i]))
        continue;
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                           _ ("its .mat has a pose that is no finite number (Pose_Para)"));
      return FALSE;
    }
  return TRUE;
}

static void
read_run (guint64 first, guint64 end, gpointer data)
{
  const Load *load = data;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  for (guint64 i = first; i < end; i++)
    {
      Sample *sample = &g_array_index (load->samples, Sample, i);
      sample->readable = read_sample (load, sample, scratch, NULL);
    }
}

/* --- the data set ----------------------------------------------------------------------------- */

static void
note_refused (Load *load, Sample *sample)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;

  if (load->dataset->unreadable->len < load->context->max_listed)
    read_sample (load, sample, scratch, &error);
  dyno_image_list_note (load->dataset, load->context, sample->name, 0,
                        error ? error->message : _ ("it changed while it was read"));
}

static gboolean
take_samples (Load *load, GError **error)
{
  guint64 n_beyond = 0, n_aflw = 0;
  gboolean both;

  for (guint i = 0; i < load->samples->len; i++)
    n_aflw += g_array_index (load->samples, Sample, i).aflw;
  both = n_aflw > 0 && n_aflw < load->samples->len;
  for (guint i = 0; i < load->samples->len; i++)
    {
      Sample *sample = &g_array_index (load->samples, Sample, i);

      if (!sample->readable)
        note_refused (load, sample);
      else if (!dyno_head_pose_add (load->list, sample->name, sample->values, &sample->box,
                                    both && sample->aflw, &n_beyond, error))
        return FALSE;
    }
  dyno_head_pose_note_beyond (load->dataset, n_beyond);
  if (both)
    g_ptr_array_add (load->dataset->notes,
                     g_strdup (_ ("Protocol: 300W-LP for training, AFLW2000 for validation")));
  else if (n_aflw == 0)
    g_ptr_array_add (load->dataset->notes,
                     g_strdup (_ ("300W-LP has several turned copies of each photograph, and a "
                                  "random validation part shares photographs with the training "
                                  "part: put AFLW2000 into the folder to validate by")));
  return TRUE;
}

static gboolean
load_all (Load *load, GError **error)
{
  const DynoOpenContext *context = load->context;
  g_autofree char *absolute = g_canonicalize_filename (load->list->root, NULL),
                  *base = g_path_get_basename (absolute);

  return walk (load, load->list->root, 0, is_aflw (base), error)
         && dyno_scan_threads_run (
             load->samples->len, RUN, MIN (dyno_cores_count () + 1, MAX_THREADS), read_run, load,
             context->progress, context->progress_data, context->cancellable, error)
         && take_samples (load, error);
}

static gboolean
w300lp_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  Load load = { .dataset = dataset, .context = context };
  gboolean ok;

  load.list = dyno_head_pose_begin (dataset, g_strdup (context->location->body));
  load.real_root = realpath (load.list->root, NULL);
  load.samples = g_array_new (FALSE, FALSE, sizeof (Sample));
  g_array_set_clear_func (load.samples, sample_clear);
  ok = load_all (&load, error);
  g_array_unref (load.samples);
  free (load.real_root);
  return ok && dyno_image_list_finish (load.list, dataset, context, error);
}

const DynoDatasetClass dyno_dataset_class_w300lp =
    DYNO_HEAD_POSE_CLASS ("300w-lp", "Head poses (300W-LP, AFLW2000)", w300lp_matches, w300lp_open);
