/* SPDX-License-Identifier: MIT */
/* Vision transformers with patches of 16 x 16 pixels: ViT-Tiny and -Small with timm's names, ViT-B
 * with torchvision's.
 * Dosovitskiy et al., "An Image is Worth 16x16 Words" (2020); the small models are DeiT's.
 * Twelve blocks x + attention (norm (x)), then x + mlp (norm (x)), whose hidden layer is four times
 * as wide; the logits are computed from the class token of the last block.  There is a position for
 * every patch, so the number of positions follows from the size of the images.  The width scales
 * channels to multiples of 8 for each head, and keeps the heads.  Start values are timm's.  The
 * last norm takes only the class token, which gives the same logits as a norm of all tokens. */
#include "intl.h"
#include "models.h"

#define PATCH  16
#define BLOCKS 12
#define EPS    1e-6

/* Names of parameters and layers; the names in a block follow the block's number. */
typedef struct {
  const char *class_token, *positions, *patches, *block, *norm, *head;
  const char *norm1, *attention, *qkv, *qkv_weight, *qkv_bias, *proj, *norm2, *fc1, *gelu, *fc2;
} Names;

static const Names timm = {
  .class_token = "cls_token",
  .positions = "pos_embed",
  .patches = "patch_embed.proj",
  .block = "blocks.",
  .norm = "norm",
  .head = "head",
  .norm1 = "norm1",
  .attention = "attn",
  .qkv = "attn.qkv",
  .qkv_weight = "attn.qkv.weight",
  .qkv_bias = "attn.qkv.bias",
  .proj = "attn.proj",
  .norm2 = "norm2",
  .fc1 = "mlp.fc1",
  .gelu = "mlp.act",
  .fc2 = "mlp.fc2",
};

static const Names torchvision = {
  .class_token = "class_token",
  .positions = "encoder.pos_embedding",
  .patches = "conv_proj",
  .block = "encoder.layers.encoder_layer_",
  .norm = "encoder.ln",
  .head = "heads.head",
  .norm1 = "ln_1",
  .attention = "self_attention",
  .qkv = "self_attention.in_proj",
  .qkv_weight = "self_attention.in_proj_weight",
  .qkv_bias = "self_attention.in_proj_bias",
  .proj = "self_attention.out_proj",
  .norm2 = "ln_2",
  .fc1 = "mlp.0",
  .gelu = "mlp.1",
  .fc2 = "mlp.3",
};

/* A name inside a block. */
static char *
in_block (const Names *names, guint number, const char *name)
{
  return g_strdup_printf ("%s%u.%s", names->block, number, name);
}

static DynoTensor *
linear (DynoGraph *graph, DynoTensor *x, const Names *names, guint number, const char *name,
        guint32 out)
{
  g_autofree char *whole = in_block (names, number, name);
  return dyno_linear (graph, x, whole, out, DYNO_INIT_NORMAL_002);
}

static DynoTensor *
norm (DynoGraph *graph, DynoTensor *x, const Names *names, guint number, const char *name)
{
  g_autofree char *whole = in_block (names, number, name);
  return dyno_layer_norm_with_eps (graph, x, whole, EPS);
}

static DynoTensor *
add (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const Names *names, guint number,
     const char *name)
{
  g_autofree char *whole = in_block (names, number, name);
  return dyno_add (graph, a, b, whole);
}

static DynoTensor *
block (DynoGraph *graph, DynoTensor *x, const Names *names, guint number, guint32 heads)
{
  g_autofree char *qkv = in_block (names, number, names->qkv),
                  *qkv_weight = in_block (names, number, names->qkv_weight),
                  *qkv_bias = in_block (names, number, names->qkv_bias),
                  *attention = in_block (names, number, names->attention),
                  *gelu = in_block (names, number, names->gelu);
  guint32 channels = x ? x->c : 0;
  DynoTensor *y = norm (graph, x, names, number, names->norm1);
  y = dyno_linear_with_params (graph, y, qkv,
                               &(DynoLinearParams){ .out = 3 * channels,
                                                    .init = DYNO_INIT_NORMAL_002,
                                                    .weight_name = qkv_weight,
                                                    .bias_name = qkv_bias });
  y = dyno_attention (graph, y, attention, &(DynoAttentionParams){ .heads = heads });
  y = linear (graph, y, names, number, names->proj, channels);
  x = add (graph, y, x, names, number, "add1");
  y = norm (graph, x, names, number, names->norm2);
  y = linear (graph, y, names, number, names->fc1, 4 * channels);
  y = dyno_activation (graph, y, DYNO_ACTIVATION_GELU, gelu);
  y = linear (graph, y, names, number, names->fc2, channels);
  return add (graph, y, x, names, number, "add2");
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params, const Names *names,
       guint32 heads, guint32 channels)
{
  if (!x)
    return NULL;
  if (x->h % PATCH != 0 || x->w % PATCH != 0)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "A vision transformer takes images whose sides are multiples of %u "
                            "pixels, not %u x %u; set another image_size",
                            PATCH, x->w, x->h);
  guint32 patches = x->h / PATCH * (x->w / PATCH);
  channels = 8 * heads * dyno_model_channels (channels / (8 * heads), params->width);
  const DynoConv2dParams embedding = { .out_channels = channels,
                                       .kernel_h = PATCH,
                                       .kernel_w = PATCH,
                                       .stride_h = PATCH,
                                       .stride_w = PATCH,
                                       .bias = TRUE,
                                       .init = DYNO_INIT_KAIMING_UNIFORM };
  DynoParameter *class_token =
                    dyno_token_parameter (graph, names->class_token, 1, channels, DYNO_INIT_ZERO),
                *positions = NULL;
  /* before the embedding in timm's order, after it in torchvision's */
  if (names == &timm)
    positions =
        dyno_token_parameter (graph, names->positions, patches + 1, channels, DYNO_INIT_NORMAL_002);
  x = dyno_conv2d (graph, x, names->patches, &embedding);
  if (names != &timm)
    positions =
        dyno_token_parameter (graph, names->positions, patches + 1, channels, DYNO_INIT_NORMAL_002);
  x = dyno_tokens (graph, x, "tokens", class_token, positions);
  for (guint i = 0; i < BLOCKS; i++)
    x = block (graph, x, names, i, heads);
  x = dyno_first_step (graph, x, "class");
  x = dyno_layer_norm_with_eps (graph, x, names->norm, EPS);
  return dyno_linear (graph, x, names->head, params->n_outputs, DYNO_INIT_NORMAL_002);
}

static DynoTensor *
build_tiny (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &timm, 3, 192);
}

static DynoTensor *
build_small (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &timm, 6, 384);
}

static DynoTensor *
build_base (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &torchvision, 12, 768);
}

const DynoModel dyno_model_vit_tiny = { .name = "vit_tiny_patch16_224",
                                        .title = "ViT-Tiny/16",
                                        .summary =
                                            N_ ("Vision transformer of 6 million parameters"),
                                        .min_size = PATCH,
                                        .build = build_tiny };

const DynoModel dyno_model_vit_small = { .name = "vit_small_patch16_224",
                                         .title = "ViT-Small/16",
                                         .summary =
                                             N_ ("Vision transformer of 22 million parameters"),
                                         .min_size = PATCH,
                                         .build = build_small };

const DynoModel dyno_model_vit_b_16 = { .name = "vit_b_16",
                                        .title = "ViT-B/16",
                                        .summary =
                                            N_ ("Vision transformer of 87 million parameters"),
                                        .min_size = PATCH,
                                        .build = build_base };
