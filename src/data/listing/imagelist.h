/* SPDX-License-Identifier: MIT */
/* Data sets of images that are listed one by one: in a manifest, or as members of archives.  This
 * is their shared part: a list of places with the target of each image, the reading of their
 * headers by a few threads, and the functions of a DynoDatasetClass on the list.
 *
 * Invariants: the list's names are bytes as they were found; after dyno_image_list_finish nothing
 * is written any more, so that samples are read in any thread without a lock; containers stay open
 * unless there are too many, so that a container that is removed or replaced meanwhile can still be
 * read as it was listed. */
#pragma once
#include "dataset-class.h"
#include "image.h"
#include "partnames.h"

G_BEGIN_DECLS

#define DYNO_IMAGE_LIST_NO_CONTAINER G_MAXUINT32
#define DYNO_MOST_LABELS             65536 /* labels of a data set */
/* floats of all samples: a GArray counts its elements in 32 bits */
#define DYNO_MOST_LABEL_VALUES (1u << 29)

/* A sample's image: a file of its own, or a piece of a container. */
typedef struct {
  guint64 at;        /* first byte in the container */
  guint64 stored;    /* bytes in the container */
  guint64 size;      /* bytes after inflating */
  guint32 container; /* index in containers, or DYNO_IMAGE_LIST_NO_CONTAINER */
  guint32 name;      /* offset in names: below root, or in the container */
  gint32 class_id;
  guint32 line;  /* line in the manifest, from 1; 0: there is none */
  guint32 group; /* an id of its group, where the data set has groups */
  guint8 part;   /* DynoPart; NONE: train */
  guint8 deflated;
} DynoListedImage;

typedef struct {
  char *path;
  guint64 size;
  int fd; /* -1: opened at each read, because there are too many containers */
} DynoContainer;

typedef struct _DynoMaskList DynoMaskList; /* masklist.h */

typedef struct {
  char *root;         /* folder of the separate image files; NULL: there are none */
  char *manifest;     /* name of the manifest that the lines are in, for messages; may be NULL */
  gboolean named;     /* the user named the manifest: its paths may lead out of the root */
  GArray *items;      /* DynoListedImage, in the order of the samples */
  GByteArray *names;  /* each ends with a zero byte */
  GArray *containers; /* DynoContainer */
  guint32 n_values;   /* values or labels of a sample; 0: samples have classes or masks */
  gboolean labels;    /* the values are labels (schema.h) */
  GArray *values;     /* float, (items, n_values) */
  /* DynoImageBox of each item, width 0: the whole image; an empty array: all images are used
     whole */
  GArray *boxes;
  DynoMaskList *masks; /* of each item; NULL: the items have classes, values or labels */
} DynoImageList;

DynoImageList *dyno_image_list_new (void);
void dyno_image_list_free (DynoImageList *list);

/* Adds a name to the names and stores its offset.  Errors: TOO_LARGE. */
gboolean dyno_image_list_add_name (DynoImageList *list, const char *name, gsize length,
                                   guint32 *offset, GError **error);
const char *dyno_image_list_get_name (const DynoImageList *list, const DynoListedImage *item);

/* Opens a container and adds it; members are read by its descriptor.  Errors: those of
 * dyno_datafile_open. */
gboolean dyno_image_list_add_container (DynoImageList *list, const char *path, guint32 *place,
                                        GError **error);

/* The path of a separate image file; g_free. */
char *dyno_image_list_get_path (const DynoImageList *list, const DynoListedImage *item);

/* Reads the bytes of sample index's image file to the start of scratch. */
gboolean dyno_image_list_read (const DynoImageList *list, guint64 index, GByteArray *scratch,
                               gsize *size, GError **error);

/* The piece of sample index's image that is used; NULL: the whole image. */
const DynoImageBox *dyno_image_list_get_box (const DynoImageList *list, guint64 index);

/* Removes the items for which keep is FALSE, with their values, boxes and masks. */
void dyno_image_list_keep (DynoImageList *list, const guint8 *keep);

/* Sets the parts of the items from parts: guint8, the DynoPart for which each item is listed. */
void dyno_image_list_take_parts (DynoImageList *list, const GArray *parts);

/* Called when a container has been indexed: where there are many, it is closed, and opened again at
 * each read. */
void dyno_image_list_rest_container (DynoImageList *list, guint32 place);

/* Counts an item that is not used, and lists it while there is room. */
void dyno_image_list_note (DynoDataset *dataset, const DynoOpenContext *context, const char *where,
                           guint64 line, const char *reason);

/* TRUE where a separate file lies within the list's root: by its name, which is checked before
 * anything outside is accessed, and by the targets of links.  real_root: the root's realpath.  With
 * links set in the params, all files are accepted; where the user named the manifest, all names are
 * accepted, but not all links.  Errors: UNSUPPORTED. */
gboolean dyno_image_list_check_inside (const DynoImageList *list, const DynoOpenContext *context,
                                       const char *real_root, const char *path, GError **error);

/* Fills the list, whose root is set, and the names of the data set's classes or values from a list
 * of files with their targets: the file at path, or the metadata files of a folder at path.
 * Errors: those of dyno_text_table_parse; UNSUPPORTED, EMPTY; G_IO_ERROR_CANCELLED. */
gboolean dyno_manifest_load (DynoImageList *list, DynoDataset *dataset,
                             const DynoOpenContext *context, const char *path, gboolean is_folder,
                             GError **error);

/* Reads the headers, drops and lists files that are no images, and fills the data set's facts
 * except the classes' names; the classes are set before.  Separate files that lie outside root, by
 * name or by a link, are refused unless the params allow them.  The list becomes the data set's
 * state.  Errors: G_IO_ERROR_CANCELLED. */
gboolean dyno_image_list_finish (DynoImageList *list, DynoDataset *dataset,
                                 const DynoOpenContext *context, GError **error);

/* The functions of a class whose state is a DynoImageList. */
void dyno_image_list_close (DynoDataset *dataset);
gboolean dyno_image_list_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch,
                                gsize *fetched, GError **error);
gboolean dyno_image_list_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                                 gpointer const *fields, GByteArray *scratch, gsize fetched,
                                 GError **error);
gboolean dyno_image_list_decode_crop (DynoDataset *dataset, guint64 index, const DynoCrop *crop,
                                      guint32 seed, guint32 width, guint32 height,
                                      gpointer const *fields, GByteArray *scratch, gsize fetched,
                                      GError **error);
/* Decode only the image of a sample; fetched: the bytes of its file. */
gboolean dyno_image_list_decode_image (DynoDataset *dataset, guint64 index, guint32 width,
                                       guint32 height, guint8 *out, GByteArray *scratch,
                                       gsize fetched, GError **error);
gboolean dyno_image_list_decode_image_crop (DynoDataset *dataset, guint64 index,
                                            const DynoCrop *crop, guint32 seed, guint32 width,
                                            guint32 height, guint8 *out, GByteArray *scratch,
                                            gsize fetched, GError **error);
gint32 dyno_image_list_label (DynoDataset *dataset, guint64 index);
const DynoImageBox *dyno_image_list_box (DynoDataset *dataset, guint64 index);
const float *dyno_image_list_values (DynoDataset *dataset, guint64 index);
/* Writes a sample's class, values or labels to its target. */
void dyno_image_list_put_target (DynoDataset *dataset, guint64 index, gpointer target);
gboolean dyno_image_list_probe (DynoDataset *dataset, guint64 index, GError **error);
char *dyno_image_list_describe (DynoDataset *dataset, guint64 index);
guint32 dyno_image_list_group (DynoDataset *dataset, guint64 index);
DynoPart dyno_image_list_part (DynoDataset *dataset, guint64 index);

/* Maps labels in text form to class ids: whole numbers in numeric order, others by the bytes of
 * their names. */
typedef struct {
  GHashTable *ids;   /* label to its index in labels */
  GPtrArray *labels; /* in the order in which they were added */
} DynoLabelTable;

void dyno_label_table_init (DynoLabelTable *table);
void dyno_label_table_clear (DynoLabelTable *table);
guint32 dyno_label_table_add (DynoLabelTable *table, const char *label);
/* Names the classes, and replaces each item's class_id, which is the index that _add returned, by
 * its class id.  numbers: labels that are all whole numbers are ordered as numbers; else all labels
 * are ordered by the bytes of their names. */
void dyno_label_table_finish (DynoLabelTable *table, DynoDatasetInfo *info, GArray *items,
                              gboolean numbers);

/* A label of a sample. */
typedef struct {
  guint32 item;  /* index of the sample */
  guint32 label; /* as dyno_label_table_add returned it; later the class id */
  float state;   /* 1: it has the label; NaN: that is not known */
} DynoLabelMark;

/* The same for samples with several labels: names the classes and makes the values of the list's
 * items, 0 where no mark is.  sorted: as by _finish; FALSE: the classes are in the order in which
 * they were added.  Errors: EMPTY (no label), TOO_LARGE, NO_MEMORY. */
gboolean dyno_label_table_finish_marks (DynoLabelTable *table, DynoDatasetInfo *info,
                                        DynoImageList *list, const GArray *marks, gboolean sorted,
                                        GError **error);

/* The same as _finish with given names and order; some names may have no sample.  A label has to
 * equal one of the names except for blanks at its ends.  FALSE, and nothing is changed: a label
 * equals no name, or two labels equal the same name. */
gboolean dyno_label_table_order (DynoLabelTable *table, DynoDatasetInfo *info, GArray *items,
                                 char **names);

G_END_DECLS
