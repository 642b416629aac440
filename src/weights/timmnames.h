/* SPDX-License-Identifier: MIT */
/* timm's names of the models and tensors for which Dyno uses torchvision's names.  Private to the
 * layers up to train. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* timm's name of a parameter of MobileNetV2, EfficientNet-B0 or ViT, whose name here is
 * torchvision's; g_free.  NULL: timm uses the same name, as for all of ResNet's. */
char *dyno_timm_find_tensor (const char *name);

/* The model with this name in timm, without or with the tag of its weights:
 * "mobilenetv2_100.ra_in1k".  *width: the value that model.width must have.  NULL: Dyno has no
 * equivalent model. */
const char *dyno_timm_find_model (const char *architecture, double *width);

G_END_DECLS
