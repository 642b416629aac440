/* SPDX-License-Identifier: MIT */
/* timm's names.  Its MobileNetV2 and EfficientNet-B0 have torchvision's tensors in the same order
 * and shapes; stages are "blocks.N" from 0, their blocks "blocks.N.M".  Its ViT-B also has
 * torchvision's tensors, except for the order of the positions and the patches. */
#include "timmnames.h"
#include "network.h"
#include <string.h>

/* After "conv." or "block." of a block: torchvision's name, timm's in the first stage, whose blocks
 * do not expand, and timm's in the others. */
typedef struct {
  const char *ours, *first, *others;
} Part;

static const Part mobilenetv2[] = {
  { "0.0", "conv_dw", "conv_pw" },
  { "0.1", "bn1", "bn1" },
  { "1.0", NULL, "conv_dw" },
  { "1.1", NULL, "bn2" },
  { "1", "conv_pw", NULL },
  { "2", "bn2", "conv_pwl" },
  { "3", NULL, "bn3" },
};
static const Part efficientnet[] = {
  { "0.0", "conv_dw", "conv_pw" },     { "0.1", "bn1", "bn1" },
  { "1.0", NULL, "conv_dw" },          { "1.1", NULL, "bn2" },
  { "1.fc1", "se.conv_reduce", NULL }, { "1.fc2", "se.conv_expand", NULL },
  { "2.fc1", NULL, "se.conv_reduce" }, { "2.fc2", NULL, "se.conv_expand" },
  { "2.0", "conv_pw", NULL },          { "2.1", "bn2", NULL },
  { "3.0", NULL, "conv_pwl" },         { "3.1", NULL, "bn3" },
};

/* torchvision numbers the blocks of MobileNetV2 consecutively from 1; timm numbers them in each
 * stage. */
static const guint8 mobilenetv2_blocks[] = { 1, 2, 3, 4, 3, 3, 1 };

/* Reads a number, and skips it and the dot after it. */
static gboolean
take_number (const char **at, guint *number)
{
  guint value = 0;
  const char *digit = *at;

  for (; g_ascii_isdigit (*digit) && value < 1000; digit++)
    value = 10 * value + (guint) (*digit - '0');
  if (digit == *at || *digit != '.')
    return FALSE;
  *at = digit + 1;
  *number = value;
  return TRUE;
}

static char *
name_part (const Part *parts, gsize n, const char *name, guint stage, guint block)
{
  const char *kind = strrchr (name, '.'); /* ".weight", ".running_mean" */
  gsize length = kind ? (gsize) (kind - name) : 0;

  for (gsize i = 0; i < n; i++)
    {
      const char *theirs = stage == 0 ? parts[i].first : parts[i].others;

      if (theirs && strlen (parts[i].ours) == length && strncmp (parts[i].ours, name, length) == 0)
        return g_strdup_printf ("blocks.%u.%u.%s%s", stage, block, theirs, kind);
    }
  return NULL;
}

/* Names the part after "features.N.": a block, or the first or the last convolution with its batch
 * norm. */
static char *
name_feature (const char *name, guint n)
{
  guint stage = 0, block = n - 1;

  if (n > 0 && g_str_has_prefix (name, "conv."))
    {
      for (; stage < G_N_ELEMENTS (mobilenetv2_blocks) && block >= mobilenetv2_blocks[stage];
           stage++)
        block -= mobilenetv2_blocks[stage];
      return name_part (mobilenetv2, G_N_ELEMENTS (mobilenetv2), name + strlen ("conv."), stage,
                        block);
    }
  if (!take_number (&name, &block))
    return NULL;
  if (n > 0 && g_str_has_prefix (name, "block."))
    return name_part (efficientnet, G_N_ELEMENTS (efficientnet), name + strlen ("block."), n - 1,
                      block);
  if (!*name || strchr (name, '.') || block > 1)
    return NULL;
  return g_strdup_printf (
      "%s.%s", n == 0 ? (block ? "bn1" : "conv_stem") : (block ? "bn2" : "conv_head"), name);
}

/* Beginnings of names in ViT-B, torchvision's and timm's: outside of blocks, and after the number
 * of a block; the rest of a name is the same. */
static const char *const vit[][2] = { { "class_token", "cls_token" },
                                      { "encoder.pos_embedding", "pos_embed" },
                                      { "conv_proj.", "patch_embed.proj." },
                                      { "encoder.ln.", "norm." },
                                      { "heads.head.", "head." } };
static const char *const vit_block[][2] = { { "ln_1.", "norm1." },
                                            { "self_attention.in_proj_", "attn.qkv." },
                                            { "self_attention.out_proj.", "attn.proj." },
                                            { "ln_2.", "norm2." },
                                            { "mlp.0.", "mlp.fc1." },
                                            { "mlp.3.", "mlp.fc2." } };

static char *
name_vit (const char *name)
{
  static const char layer[] = "encoder.layers.encoder_layer_";
  guint n;

  for (gsize i = 0; i < G_N_ELEMENTS (vit); i++)
    if (g_str_has_prefix (name, vit[i][0]))
      return g_strconcat (vit[i][1], name + strlen (vit[i][0]), NULL);
  if (!g_str_has_prefix (name, layer))
    return NULL;
  name += strlen (layer);
  if (!take_number (&name, &n))
    return NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (vit_block); i++)
    if (g_str_has_prefix (name, vit_block[i][0]))
      return g_strdup_printf ("blocks.%u.%s%s", n, vit_block[i][1],
                              name + strlen (vit_block[i][0]));
  return NULL;
}

char *
dyno_timm_find_tensor (const char *name)
{
  static const char head[] = "classifier.1.", features[] = "features.";
  guint n;

  if (g_str_has_prefix (name, head))
    return g_strconcat ("classifier.", name + strlen (head), NULL);
  if (!g_str_has_prefix (name, features))
    return name_vit (name);
  name += strlen (features);
  return take_number (&name, &n) ? name_feature (name, n) : NULL;
}

const char *
dyno_timm_find_model (const char *architecture, double *width)
{
  /* tf_efficientnet_b0 is not listed: its padding and its batch norm's epsilon differ. */
  static const struct {
    const char *theirs, *ours;
    double width;
  } rows[] = {
    { "mobilenetv2_100", "mobilenetv2", 1 },
    { "mobilenetv2_035", "mobilenetv2", 0.35 },
    { "mobilenetv2_050", "mobilenetv2", 0.5 },
    { "mobilenetv2_075", "mobilenetv2", 0.75 },
    { "mobilenetv2_140", "mobilenetv2", 1.4 },
    { "mobilenet_v2", "mobilenetv2", 1 },
    { "vit_base_patch16_224", "vit_b_16", 1 },
    { "deit_tiny_patch16_224", "vit_tiny_patch16_224", 1 },
    { "deit_small_patch16_224", "vit_small_patch16_224", 1 },
    { "deit_base_patch16_224", "vit_b_16", 1 },
  };
  g_autofree char *name = g_strndup (architecture, strcspn (architecture, "."));
  const DynoModel *model = dyno_model_find (name, NULL);

  *width = 1;
  if (model)
    return model->name;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (rows[i].theirs, name) == 0)
      {
        *width = rows[i].width;
        return rows[i].ours;
      }
  return NULL;
}
