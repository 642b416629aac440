/* SPDX-License-Identifier: MIT */
/* Code shared by models: torchvision's unit of convolution, batch norm and activation for mobile
 * networks, its rule for scaled channels and its squeeze-and-excitation; a block of convolution and
 * pooling for models over sequences; and resizing for models of pixels. */
#include "models.h"

guint32
dyno_model_channels_by_8 (guint32 channels, double width)
{
  double wanted = (double) channels * width;
  guint32 whole = MAX (8, (guint32) (wanted + 4) / 8 * 8);
  return (double) whole < 0.9 * wanted ? whole + 8 : whole;
}

DynoTensor *
dyno_model_conv_norm (DynoGraph *graph, DynoTensor *x, const char *conv, const char *norm,
                      const DynoModelUnit *unit)
{
  guint32 stride = MAX (unit->stride, 1), pad = unit->kernel / 2 * MAX (unit->dilation, 1);
  const DynoConv2dParams params = { .out_channels = unit->channels,
                                    .kernel_h = unit->kernel,
                                    .kernel_w = unit->kernel,
                                    .stride_h = stride,
                                    .stride_w = stride,
                                    .pad_h = pad,
                                    .pad_w = pad,
                                    .groups = unit->groups,
                                    .dilation_h = unit->dilation,
                                    .dilation_w = unit->dilation,
                                    .init = DYNO_INIT_KAIMING_NORMAL_OUT };
  return dyno_batch_norm_with_params (graph, dyno_conv2d (graph, x, conv, &params), norm,
                                      &unit->norm);
}

DynoTensor *
dyno_model_named_unit (DynoGraph *graph, DynoTensor *x, const char *name, const DynoModelUnit *unit)
{
  g_autofree char *conv = g_strconcat (name, ".0", NULL), *norm = g_strconcat (name, ".1", NULL),
                  *activation = g_strconcat (name, ".2", NULL);
  x = dyno_model_conv_norm (graph, x, conv, norm, unit);
  return unit->activation ? dyno_activation (graph, x, unit->activation, activation) : x;
}

DynoTensor *
dyno_model_unit (DynoGraph *graph, DynoTensor *x, const char *block, const char *list, guint place,
                 const DynoModelUnit *unit)
{
  g_autofree char *name = list ? g_strdup_printf ("%s.%s.%u", block, list, place)
                               : g_strdup_printf ("%s.%u", block, place);
  return dyno_model_named_unit (graph, x, name, unit);
}

DynoTensor *
dyno_model_residual (DynoGraph *graph, DynoTensor *branch, DynoTensor *x, const char *block,
                     double share)
{
  g_autofree char *skip = g_strconcat (block, ".stochastic_depth", NULL),
                  *add = g_strconcat (block, ".add", NULL);
  return dyno_add (graph, dyno_stochastic_depth (graph, branch, skip, share), x, add);
}

DynoTensor *
dyno_model_squeeze_excitation (DynoGraph *graph, DynoTensor *x, const char *name,
                               const DynoModelExcitation *params)
{
  g_autofree char *pool = g_strconcat (name, ".avgpool", NULL),
                  *fc1 = g_strconcat (name, ".fc1", NULL),
                  *activation = g_strconcat (name, ".activation", NULL),
                  *fc2 = g_strconcat (name, ".fc2", NULL),
                  *factors = g_strconcat (name, ".scale_activation", NULL);
  DynoConv2dParams point = { .out_channels = params->squeezed,
                             .kernel_h = 1,
                             .kernel_w = 1,
                             .bias = TRUE,
                             .init = DYNO_INIT_KAIMING_NORMAL_OUT };
  DynoTensor *s = dyno_conv2d (graph, dyno_global_avg_pool (graph, x, pool), fc1, &point);
  s = dyno_activation (graph, s, params->activation, activation);
  point.out_channels = x ? x->c : 1;
  s = dyno_conv2d (graph, s, fc2, &point);
  return dyno_scale (graph, x, dyno_activation (graph, s, params->factors, factors), name);
}

static char *
name_place (const char *list, guint place)
{
  return list ? g_strdup_printf ("%s.%u", list, place) : g_strdup_printf ("%u", place);
}

DynoTensor *
dyno_model_steps_block (DynoGraph *graph, DynoTensor *x, const char *list, guint place,
                        guint32 channels)
{
  g_autofree char *conv = name_place (list, place), *norm = name_place (list, place + 1),
                  *relu = name_place (list, place + 2), *pool = name_place (list, place + 3);
  const DynoConv2dParams params = {
    .out_channels = channels, .kernel_w = 5, .pad_w = 2, .init = DYNO_INIT_KAIMING_UNIFORM
  };
  x = dyno_conv1d (graph, x, conv, &params);
  x = dyno_batch_norm (graph, x, norm);
  x = dyno_relu (graph, x, relu);
  return dyno_max_pool1d (graph, x, pool, DYNO_MODEL_STEPS, DYNO_MODEL_STEPS, 0);
}

DynoTensor *
dyno_model_resize_linear (DynoGraph *graph, DynoTensor *x, const char *name, guint32 height,
                          guint32 width)
{
  return dyno_resize (graph, x, name,
                      &(DynoResizeParams){ .height = height,
                                           .width = width,
                                           .mode = DYNO_RESIZE_LINEAR,
                                           .places = DYNO_RESIZE_HALF_PIXEL });
}

DynoTensor *
dyno_model_classify_pixels (DynoGraph *graph, DynoTensor *x, guint32 n_outputs,
                            const DynoTensor *input)
{
  const DynoConv2dParams params = { .out_channels = n_outputs,
                                    .kernel_h = 1,
                                    .kernel_w = 1,
                                    .bias = TRUE,
                                    .init = DYNO_INIT_KAIMING_UNIFORM };

  x = dyno_conv2d (graph, x, "classifier.4", &params);
  return dyno_model_resize_linear (graph, x, "resize", input->h, input->w);
}

DynoTensor *
dyno_model_resize_nearest (DynoGraph *graph, DynoTensor *x, const char *name, guint32 height,
                           guint32 width)
{
  return dyno_resize (graph, x, name,
                      &(DynoResizeParams){ .height = height,
                                           .width = width,
                                           .mode = DYNO_RESIZE_FLOOR,
                                           .places = DYNO_RESIZE_ASYMMETRIC });
}
