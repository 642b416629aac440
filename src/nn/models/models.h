/* SPDX-License-Identifier: MIT */
/* The models of this folder, for the table in network.c.  Private to the nn layer. */
#pragma once
#include "network.h"
#include "ops.h"

G_BEGIN_DECLS

extern const DynoModel dyno_model_simplecnn;
extern const DynoModel dyno_model_resnet18;
extern const DynoModel dyno_model_resnet34;
extern const DynoModel dyno_model_resnet50;
extern const DynoModel dyno_model_mlp;

/* A channel count under a width factor: at least 1. */
static inline guint32
dyno_model_channels (guint32 channels, double width)
{
  double scaled = (double) channels * width + 0.5;
  return scaled < 1.0 ? 1 : (guint32) scaled;
}

G_END_DECLS
