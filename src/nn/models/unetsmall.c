/* SPDX-License-Identifier: MIT */
/* A small U-Net for small pictures and for CPUs: a class for each pixel.  Four levels of 8, 16, 32
 * and 64 channels, scaled by the width, each of two units of 3x3 convolution, batch norm and ReLU;
 * max pooling in the encoder, nearest-neighbour interpolation in the decoder, where a level also
 * reads the encoder's output of that level.  The level of the whole picture, which takes most of
 * the work, has the fewest channels.  Names: "down.<level>.<unit>.0" and ".1",
 * "up.<level>.<unit>.0", "head". */
#include "intl.h"
#include "models.h"

#define N_LEVELS 4

static DynoTensor *
level (DynoGraph *graph, DynoTensor *x, const char *way, guint i, double width)
{
  g_autofree char *name = g_strdup_printf ("%s.%u", way, i);
  const DynoModelUnit unit = { .channels = dyno_model_channels (8u << i, width),
                               .kernel = 3,
                               .activation = DYNO_ACTIVATION_RELU };
  for (guint k = 0; k < 2; k++)
    x = dyno_model_unit (graph, x, name, NULL, k, &unit);
  return x;
}

static DynoTensor *
go_up (DynoGraph *graph, DynoTensor *x, DynoTensor *skip, guint i, double width)
{
  g_autofree char *up = g_strdup_printf ("up.%u.up", i), *cat = g_strdup_printf ("up.%u.cat", i);
  if (!x || !skip)
    return NULL;
  x = dyno_model_resize_nearest (graph, x, up, skip->h, skip->w);
  x = dyno_concat (graph, (DynoTensor *[]){ x, skip }, 2, cat);
  return level (graph, x, "up", i, width);
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  DynoTensor *levels[N_LEVELS];
  const DynoConv2dParams head = { .out_channels = params->n_outputs,
                                  .kernel_h = 1,
                                  .kernel_w = 1,
                                  .bias = TRUE,
                                  .init = DYNO_INIT_KAIMING_UNIFORM };
  for (guint i = 0; i < N_LEVELS; i++)
    {
      g_autofree char *pool = g_strdup_printf ("down.%u.pool", i);
      if (i > 0)
        x = dyno_max_pool (graph, x, pool, 2, 2, 0);
      x = levels[i] = level (graph, x, "down", i, params->width);
    }
  for (guint i = N_LEVELS - 1; i-- > 0;)
    x = go_up (graph, x, levels[i], i, params->width);
  return dyno_conv2d (graph, x, "head", &head);
}

const DynoModel dyno_model_unet_small = {
  .name = "unet_small",
  .title = "Small U-Net",
  .summary = N_ ("A class for each pixel: small pictures, CPUs, first steps"),
  .min_size = 16,
  .of_pixels = TRUE,
  .build = build
};
