/* SPDX-License-Identifier: MIT */
/* Finds the folders of images and of their masks, and which mask belongs to which image. */
#pragma once
#include "masklist.h"

G_BEGIN_DECLS

/* A folder of images and the folder of their masks, below the root. */
typedef struct {
  char *images, *masks;
  DynoPart part; /* the part of all their files; NONE: sub-folders decide */
} DynoMaskFolders;

/* Adds the folders that root holds to `folders` (DynoMaskFolders; an array from _new): images/ and
 * masks/, or parts (train/, val/) with these, or train/ beside train_masks/.  FALSE: root has no
 * folder of images beside a folder of masks with PNG files. */
GArray *dyno_mask_folders_new (void);
gboolean dyno_mask_folders_find (const char *root, GArray *folders);

/* TRUE where one name is for a folder of images and the other for a folder of masks. */
gboolean dyno_mask_folders_are (const char *first, const char *second);

/* A found file. */
typedef struct {
  char *path; /* below the root */
  /* the sub-folders within the folder of images or masks, without a folder of a part */
  char *place;
  char *stem; /* name without its extension */
  DynoPart part;
  gboolean used; /* for a mask: an image has it */
} DynoMaskFile;

typedef struct {
  GPtrArray *images, *masks; /* DynoMaskFile *, in the order of their paths */
  GArray *mask_of;           /* gint of each image: the index of its mask, or a DynoMaskMatch */
  DynoMaskKind kind;
} DynoMaskPairs;

typedef enum {
  DYNO_MASK_NONE = -1,
  DYNO_MASK_AMBIGUOUS = -2, /* several masks match equally well */
} DynoMaskMatch;

/* Lists the files of the folders, at most most_masks of the masks (0: all), and matches them by
 * their stems, in upper or lower case; a mask, or else an image, may have an additional suffix,
 * such as "_mask" or "_image". */
DynoMaskPairs *dyno_mask_pairs_new (const char *root, const GArray *folders, guint most_masks);
void dyno_mask_pairs_free (DynoMaskPairs *pairs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoMaskPairs, dyno_mask_pairs_free)

G_END_DECLS
