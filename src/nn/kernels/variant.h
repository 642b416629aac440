/* SPDX-License-Identifier: MIT */
/* A way to run a matrix op's kernel: its tile, its split of the K axis and its path.  Its printed
 * form is a label ("khr-patch2 256x64x32/64x64 k4"), which is used only in reports and in the
 * choices on disk. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_PATH_F32,   /* multiply-adds of fp32 values */
  DYNO_PATH_F16,   /* multiply-adds of fp16 values */
  DYNO_PATH_KHR,   /* matrix units by VK_KHR_cooperative_matrix */
  DYNO_PATH_NV,    /* matrix units by VK_NV_cooperative_matrix */
  DYNO_PATH_LANES, /* a subgroup of 8 without shared memory, on a CPU */
} DynoVariantPath;

typedef enum {
  DYNO_SCHEME_PLAIN,
  DYNO_SCHEME_PATCH,       /* taps are read from a patch in shared memory */
  DYNO_SCHEME_PATCH_AHEAD, /* the same, with the next patch loaded ahead */
  DYNO_SCHEME_FIRST,       /* few channels */
  DYNO_SCHEME_IMAGES,      /* a tile's rows are images at one pixel */
  DYNO_SCHEME_STRIP,       /* rows of pixels, loaded once for all taps of a column */
} DynoVariantScheme;

typedef struct {
  DynoVariantPath path;
  DynoVariantScheme scheme;
  guint32 m, n, k;        /* tile that a workgroup computes */
  guint32 part_m, part_n; /* part of an invocation or a subgroup; 0: the tile has no parts */
  guint32 splits;         /* number of parts of the K axis; 0: the pass has no splits */
} DynoVariant;

#define DYNO_VARIANT_LABEL 56

/* Prints into a buffer of DYNO_VARIANT_LABEL bytes. */
void dyno_variant_print (const DynoVariant *variant, char *label);
/* FALSE: the label is not a printed variant. */
gboolean dyno_variant_parse (const char *label, DynoVariant *variant);
gboolean dyno_variant_equal (const DynoVariant *a, const DynoVariant *b);
/* The variant without its splits; and a comparison that ignores splits. */
DynoVariant dyno_variant_tile (const DynoVariant *variant);
gboolean dyno_variant_same_tile (const DynoVariant *a, const DynoVariant *b);

G_END_DECLS
