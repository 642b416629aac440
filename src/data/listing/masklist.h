/* SPDX-License-Identifier: MIT */
/* Masks of listed images: a DynoImageList with a mask for each of its images.
 *
 * A mask's numbers, or colours, become class ids by a table that the whole set decides: 255 is
 * ignored among other ids, and is the only other class of a set that has only 0 and 255.
 *
 * Invariants: masks and items of the list have the same places; after dyno_mask_list_finish nothing
 * is written any more.  masktable.c does not depend on image lists, so that a list can own its
 * masks. */
#pragma once
#include "imagelist.h"
#include "mask.h"
#include "masknames.h"

G_BEGIN_DECLS

/* A number or a colour in a mask, and the number of its pixels. */
typedef struct {
  guint32 value, count;
} DynoMaskCount;

/* The content of a mask file, while the data set is opened. */
typedef struct {
  DynoMaskFacts facts;
  guint64 size_bytes;
  GArray *counts;  /* DynoMaskCount; NULL: the mask cannot be used, and reason is set */
  char *reason;    /* or NULL */
  gboolean stored; /* the mask has the size of the stored image, before EXIF turns it */
  gboolean shown;  /* the mask has the size of the turned image */
} DynoMaskContent;

typedef struct {
  guint32 name; /* offset in the list's names: below the root, or absolute */
  /* the EXIF orientation by which the mask is turned like its image; 1: it is not turned */
  guint8 orientation;
  DynoImageFacts image; /* from the image's header */
  guint64 image_hash, image_bytes;
  /* For a mask that is drawn from annotations: the first annotation and their number, and the size
   * for which they were made (0: the size of the shown image). */
  guint32 first, n, width, height;
  guint32 shown[256 / 32]; /* a bit for each class of which the mask has pixels */
} DynoListedMask;

/* Draws the mask into ids (height, width); any thread. */
typedef gboolean (*DynoMaskDraw) (gconstpointer drawing, const DynoListedMask *mask, guint32 width,
                                  guint32 height, guint8 *ids, GError **error);

typedef enum {
  DYNO_MASKS_PLAIN,
  DYNO_MASKS_VOC,              /* PASCAL VOC's folders, with its names of classes */
  DYNO_MASKS_CITYSCAPES,       /* label ids of Cityscapes, which become training ids */
  DYNO_MASKS_CITYSCAPES_TRAIN, /* training ids of Cityscapes */
} DynoMaskKind;

struct _DynoMaskList {
  GArray *items; /* DynoListedMask */
  DynoMaskKind kind;
  DynoMaskDraw draw; /* NULL: masks are files */
  gpointer drawing;
  GDestroyNotify free_drawing;
  DynoMaskNames names;
  DynoMaskTable table;
  guint32 colours[256]; /* the colours of the table */
  guint8 of_colour[256];
};

DynoMaskList *dyno_mask_list_new (void);
void dyno_mask_list_free (DynoMaskList *masks);

void dyno_mask_content_clear (DynoMaskContent *content);
/* Drops the content of a mask that cannot be used; takes ownership of the reason. */
void dyno_mask_content_refuse (DynoMaskContent *content, char *reason);
/* Counts the values of decoded pixels.  NULL, and a reason (g_free): the mask has too many
 * colours. */
GArray *dyno_mask_count_values (const guint8 *pixels, const DynoMaskFacts *facts, char **reason);

/* Fills the table and the data set's classes from the contents of all masks, refuses masks that do
 * not fit, and counts the pixels of the others.  notes: those of the data set.  Errors: UNSUPPORTED
 * (more colours than the greatest number of classes). */
gboolean dyno_mask_list_decide (DynoMaskList *masks, DynoMaskContent *contents, guint n,
                                DynoDatasetInfo *info, GPtrArray *notes, GError **error);

/* As dyno_image_list_finish, for a list that has masks: reads every mask too. */
gboolean dyno_mask_list_finish (DynoImageList *list, DynoDataset *dataset,
                                const DynoOpenContext *context, GError **error);

/* Functions of a class whose state is a DynoImageList; a list without masks is handled as an image
 * list.  _fetch reads the image file, the mask file, and after them the size of the image file as a
 * guint64. */
gboolean dyno_mask_list_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch,
                               gsize *fetched, GError **error);
gboolean dyno_mask_list_shows (DynoDataset *dataset, guint64 index, guint32 class_id);
gboolean dyno_mask_list_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                                gpointer const *fields, GByteArray *scratch, gsize fetched,
                                GError **error);
gboolean dyno_mask_list_decode_crop (DynoDataset *dataset, guint64 index, const DynoCrop *crop,
                                     guint32 seed, guint32 width, guint32 height,
                                     gpointer const *fields, GByteArray *scratch, gsize fetched,
                                     GError **error);

/* The methods of a class of images with masks, all but matches, can_be and open. */
/* clang-format off */
#define DYNO_MASK_LIST_METHODS \
  .close = dyno_image_list_close, .fetch = dyno_mask_list_fetch, .has_files = TRUE, \
  .decode = dyno_mask_list_decode, .decode_crop = dyno_mask_list_decode_crop, \
  .shows = dyno_mask_list_shows, .probe = dyno_image_list_probe, \
  .describe = dyno_image_list_describe, .part = dyno_image_list_part
/* clang-format on */

G_END_DECLS
