/* SPDX-License-Identifier: MIT */
/* Angles of heads; headpose.h defines them. */
#include "headpose.h"
#include "intl.h"
#include "targetnames.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_TEXT     4096
#define POSE_NUMBERS 12
#define TOLERANCE    0.02 /* tolerance of the products of the rows of a rotation matrix */

int
dyno_head_pose_numbers (const char *text, gsize size, double *numbers, int n)
{
  g_autofree char *copy = g_strndup (text, MIN (size, MAX_TEXT));
  const char *at = copy;
  int count = 0;

  for (; count < n; count++)
    {
      char *end;

      while (g_ascii_isspace (*at))
        at++;
      if (*at == '\0')
        return count;
      numbers[count] = g_ascii_strtod (at, &end);
      if (end == at || !isfinite (numbers[count]) || (*end != '\0' && !g_ascii_isspace (*end)))
        return -1;
      at = end;
    }
  return count;
}

static gboolean
is_rotation (const double *m)
{
  double determinant = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6])
                       + m[2] * (m[3] * m[7] - m[4] * m[6]);

  for (int i = 0; i < 3; i++)
    for (int k = i; k < 3; k++)
      {
        double product = 0;
        for (int c = 0; c < 3; c++)
          product += m[3 * i + c] * m[3 * k + c];
        if (!(fabs (product - (i == k)) < TOLERANCE))
          return FALSE;
      }
  return determinant > 0;
}

gboolean
dyno_head_pose_parse (const char *text, gsize size, DynoHeadPose *pose, GError **error)
{
  double numbers[POSE_NUMBERS];

  if (dyno_head_pose_numbers (text, size, numbers, POSE_NUMBERS) != POSE_NUMBERS
      || !is_rotation (numbers))
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT,
                           _ ("its pose is no rotation matrix of 3 × 3 and a place"));
      return FALSE;
    }
  memcpy (pose->matrix, numbers, sizeof pose->matrix);
  memcpy (pose->place, numbers + 9, sizeof pose->place);
  return TRUE;
}

void
dyno_head_pose_angles (const double *m, float *values)
{
  const double degrees = 180 / G_PI;

  values[0] = (float) (atan2 (m[2], sqrt (m[5] * m[5] + m[8] * m[8])) * degrees);
  values[1] = (float) (atan2 (m[5], m[8]) * degrees);
  values[2] = (float) (-atan2 (m[1], m[0]) * degrees);
}

static void
name_values (DynoDatasetInfo *info)
{
  static const char *const names[] = { "yaw (degrees)", "pitch (degrees)", "roll (degrees)" };

  dyno_target_names_take (info, names, G_N_ELEMENTS (names));
}

DynoImageList *
dyno_head_pose_begin (DynoDataset *dataset, char *root)
{
  DynoImageList *list = dyno_image_list_new ();

  list->n_values = 3;
  list->root = root;
  name_values (&dataset->info);
  dataset->state = list;
  return list;
}

gboolean
dyno_head_pose_add (DynoImageList *list, const char *name, const float *values,
                    const DynoImageBox *box, gboolean validation, guint64 *n_beyond, GError **error)
{
  DynoListedImage item = { .container = DYNO_IMAGE_LIST_NO_CONTAINER,
                           .part = validation ? DYNO_PART_VALIDATION : DYNO_PART_TRAIN };

  for (int i = 0; i < 3; i++)
    if (!(fabs ((double) values[i]) <= DYNO_HEAD_POSE_LIMIT))
      {
        (*n_beyond)++;
        return TRUE;
      }
  if (!dyno_image_list_add_name (list, name, strlen (name), &item.name, error))
    return FALSE;
  g_array_append_val (list->items, item);
  g_array_append_vals (list->values, values, 3);
  g_array_append_val (list->boxes, *box);
  return TRUE;
}

void
dyno_head_pose_note_beyond (DynoDataset *dataset, guint64 n_beyond)
{
  if (n_beyond > 0)
    g_ptr_array_add (
        dataset->notes,
        g_strdup_printf (ngettext ("%" PRIu64 " sample with an angle beyond %d degrees is "
                                   "left out, as is usual",
                                   "%" PRIu64 " samples with an angle beyond %d degrees are "
                                   "left out, as is usual",
                                   (gulong) n_beyond),
                         n_beyond, DYNO_HEAD_POSE_LIMIT));
}
