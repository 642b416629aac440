/* SPDX-License-Identifier: MIT */
/* Finds the folders of images and of their masks, and which mask belongs to which image. */
#pragma once
#include "masklist.h"

G_BEGIN_DECLS

/* A folder of images and the folder of their masks, below the root. */
typedef struct {
  char *images, *masks;
  DynoPart part; /* of all that is in them; NONE: sub-folders decide */
} DynoMaskFolders;

/* Fills folders (DynoMaskFolders, of an array from _new) with what root holds: images/ and masks/,
 * or parts (train/, val/) with these, or train/ beside train_masks/.  FALSE: there is no folder of
 * images beside one of masks with PNG files. */
GArray *dyno_mask_folders_new (void);
gboolean dyno_mask_folders_find (const char *root, GArray *folders);

/* TRUE where one is a name for a folder of images and the other for one of masks. */
gboolean dyno_mask_folders_are (const char *first, const char *second);

/* A found file. */
typedef struct {
  char *path;  /* below the root */
  char *place; /* folders within that of the images, or masks, without a part's */
  char *stem;  /* name without its ending */
  DynoPart part;
  gboolean used; /* of a mask: it has an image */
} DynoMaskFile;

typedef struct {
  GPtrArray *images, *masks; /* DynoMaskFile *, in the order of their paths */
  GArray *mask_of;           /* gint of each image: its mask, or one of DynoMaskMatch */
  DynoMaskKind kind;
} DynoMaskPairs;

typedef enum {
  DYNO_MASK_NONE = -1,
  DYNO_MASK_AMBIGUOUS = -2, /* several masks match alike */
} DynoMaskMatch;

/* Lists the files of the folders, at most most_masks of the masks (0: all), and matches them: by
 * their place and stem, else by the stem in any case, where a mask may have a usual suffix
 * ("_mask") more than its image. */
DynoMaskPairs *dyno_mask_pairs_new (const char *root, const GArray *folders, guint most_masks);
void dyno_mask_pairs_free (DynoMaskPairs *pairs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoMaskPairs, dyno_mask_pairs_free)

G_END_DECLS
