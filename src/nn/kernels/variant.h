/* SPDX-License-Identifier: MIT */
/* A way to run a matrix op's kernel: its tile, its split of the K axis and its path.  A label
 * ("khr-patch2 256x64x32/64x64 k4"), as it stands in reports and in the choices on disk, is its
 * print, and nothing else goes by it. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_PATH_F32,   /* multiply-adds of fp32 values */
  DYNO_PATH_F16,   /* of fp16 values */
  DYNO_PATH_KHR,   /* matrix units by VK_KHR_cooperative_matrix */
  DYNO_PATH_NV,    /* by VK_NV_cooperative_matrix */
  DYNO_PATH_LANES, /* a subgroup of 8 without shared memory, on a CPU */
} DynoVariantPath;

typedef enum {
  DYNO_SCHEME_PLAIN,
  DYNO_SCHEME_PATCH,       /* taps out of a patch in shared memory */
  DYNO_SCHEME_PATCH_AHEAD, /* the same, the next patch loaded ahead */
  DYNO_SCHEME_FIRST,       /* few channels */
  DYNO_SCHEME_IMAGES,      /* a tile's rows are images at one pixel */
} DynoVariantScheme;

typedef struct {
  DynoVariantPath path;
  DynoVariantScheme scheme;
  guint32 m, n, k;        /* tile of a workgroup */
  guint32 part_m, part_n; /* of an invocation or a subgroup; 0: it has no parts */
  guint32 splits;         /* of the K axis; 0: the pass has none */
} DynoVariant;

#define DYNO_VARIANT_LABEL 56

/* Into a buffer of DYNO_VARIANT_LABEL. */
void dyno_variant_print (const DynoVariant *variant, char *label);
/* FALSE: that is no print of a variant. */
gboolean dyno_variant_parse (const char *label, DynoVariant *variant);
gboolean dyno_variant_equal (const DynoVariant *a, const DynoVariant *b);
/* Without its splits, and whether two differ in them at most. */
DynoVariant dyno_variant_tile (const DynoVariant *variant);
gboolean dyno_variant_same_tile (const DynoVariant *a, const DynoVariant *b);

G_END_DECLS
