/* SPDX-License-Identifier: MIT */
/* Shared by data sets of head poses: the three angles by the field's conventions, and their
 * limits. */
#pragma once
#include "imagelist.h"

G_BEGIN_DECLS

/* degrees to either side: the usual range of networks for head poses */
#define DYNO_HEAD_POSE_LIMIT 99

typedef struct {
  double matrix[9]; /* rows; nearly the identity for a head that looks into the camera */
  double place[3];  /* position of its centre, mm in the camera's axes */
} DynoHeadPose;

/* Parses a BIWI frame_NNNNN_pose.txt: a matrix of 3 x 3 and a translation.  Errors: CORRUPT, also
 * where the matrix is no rotation. */
gboolean dyno_head_pose_parse (const char *text, gsize size, DynoHeadPose *pose, GError **error);

/* Parses at most n finite numbers of a text into numbers; returns their number, or -1 where a word
 * is no number. */
int dyno_head_pose_numbers (const char *text, gsize size, double *numbers, int n);

/* Yaw, pitch, roll in degrees, by the formulas of Hopenet's loader of BIWI
 * (natanielruiz/deep-head-pose, code/datasets.py): with R the transpose of the file's matrix, pitch
 * is atan2 (R32, R33), yaw -atan2 (-R31, sqrt (R32^2 + R33^2)), roll -atan2 (R21, R11). */
void dyno_head_pose_angles (const double *matrix, float *values);

/* Adds an image below the list's root with its angles and box; an image beyond the limit is counted
 * in *n_beyond and left out.  Errors: TOO_LARGE. */
gboolean dyno_head_pose_add (DynoImageList *list, const char *name, const float *values,
                             const DynoImageBox *box, gboolean validation, guint64 *n_beyond,
                             GError **error);

/* The class of a data set of head poses: the arguments are the differences between the formats.
 * The state is a list of images with a box and three values each. */
#define DYNO_HEAD_POSE_CLASS(name, words, matches_func, open_func)                     \
  {                                                                                    \
    .kind = name, .title = words, .matches = matches_func, .open = open_func,          \
    .close = dyno_image_list_close, .fetch = dyno_image_list_fetch, .has_files = TRUE, \
    .box = dyno_image_list_box, .decode = dyno_image_list_decode,                      \
    .decode_crop = dyno_image_list_decode_crop, .values = dyno_image_list_values,      \
    .probe = dyno_image_list_probe, .describe = dyno_image_list_describe,              \
    .part = dyno_image_list_part,                                                      \
  }

/* Makes the empty list of a data set, with names and units of the three values; takes ownership of
 * root. */
DynoImageList *dyno_head_pose_begin (DynoDataset *dataset, char *root);

/* Adds a note on the images that were left out. */
void dyno_head_pose_note_beyond (DynoDataset *dataset, guint64 n_beyond);

G_END_DECLS
