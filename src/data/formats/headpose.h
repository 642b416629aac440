/* SPDX-License-Identifier: MIT */
/* What data sets of head poses share: the three angles as the field measures them, and their
 * limits. */
#pragma once
#include "imagelist.h"

G_BEGIN_DECLS

#define DYNO_HEAD_POSE_LIMIT 99 /* degrees to either side: the range that such networks learn */

typedef struct {
  double matrix[9]; /* rows; of a head that looks into the camera about the identity */
  double place[3];  /* of its centre, mm in the camera's axes */
} DynoHeadPose;

/* A BIWI frame_NNNNN_pose.txt: a matrix of 3 x 3 and a translation.  Errors: CORRUPT, also where
 * the
 * matrix is no rotation. */
gboolean dyno_head_pose_parse (const char *text, gsize size, DynoHeadPose *pose, GError **error);

/* At most n finite numbers of a text to numbers; how many there are, or -1 where something is
 * none. */
int dyno_head_pose_numbers (const char *text, gsize size, double *numbers, int n);

/* Yaw, pitch, roll in degrees, as Hopenet's loader of BIWI (natanielruiz/deep-head-pose,
 * code/datasets.py) takes them: with R the transpose of the file's matrix, pitch is
 * atan2 (R32, R33), yaw -atan2 (-R31, sqrt (R32^2 + R33^2)), roll -atan2 (R21, R11). */
void dyno_head_pose_angles (const double *matrix, float *values);

/* Adds an image below the list's root with its angles and box; beyond the limit it is counted in
 * *n_beyond and left out.  Errors: TOO_LARGE. */
gboolean dyno_head_pose_add (DynoImageList *list, const char *name, const float *values,
                             const DynoImageBox *box, gboolean validation, guint64 *n_beyond,
                             GError **error);

/* The class of a data set of head poses: what differs are the arguments.  What is opened is a list of
 * images with a box and three values each. */
#define DYNO_HEAD_POSE_CLASS(name, words, matches_func, open_func)                     \
  {                                                                                    \
    .kind = name, .title = words, .matches = matches_func, .open = open_func,          \
    .close = dyno_image_list_close, .fetch = dyno_image_list_fetch, .has_files = TRUE, \
    .box = dyno_image_list_box, .decode = dyno_image_list_decode,                      \
    .decode_crop = dyno_image_list_decode_crop, .values = dyno_image_list_values,      \
    .probe = dyno_image_list_probe, .describe = dyno_image_list_describe,              \
    .is_validation = dyno_image_list_is_validation,                                    \
  }

/* The list that a data set begins with, which has names and units of the three values; root is
 * taken. */
DynoImageList *dyno_head_pose_begin (DynoDataset *dataset, char *root);

/* What was left out, as a note. */
void dyno_head_pose_note_beyond (DynoDataset *dataset, guint64 n_beyond);

G_END_DECLS
