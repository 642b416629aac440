/* SPDX-License-Identifier: MIT */
/* BIWI's pose text: accepted text gives angles within a full turn. */
#include "headpose.h"
#include <math.h>

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  DynoHeadPose pose;
  float values[3];

  if (!dyno_head_pose_parse ((const char *) data, size, &pose, &error))
    {
      g_assert_nonnull (error);
      return 0;
    }
  dyno_head_pose_angles (pose.matrix, values);
  for (int i = 0; i < 3; i++)
    g_assert_cmpfloat (fabs ((double) values[i]), <=, 180.001);
  return 0;
}
