/* SPDX-License-Identifier: MIT */
/* Data sets of images that are listed one by one: in a manifest, or as members of archives.  What
 * they share is here: a list of places with what is to be learned of each, whose headers are read
 * by a few threads, and the functions of a DynoDatasetClass on it.
 *
 * Invariants: the list's names are bytes as they were found; after dyno_image_list_finish nothing
 * is written any more, so that samples are read in any thread without a lock; containers stay open,
 * so that one that is removed or replaced meanwhile is still the one that was listed. */
#pragma once
#include "dataset-class.h"
#include "image.h"

G_BEGIN_DECLS

#define DYNO_IMAGE_LIST_NO_CONTAINER G_MAXUINT32

/* A sample's image: a file of its own, or a piece of a container. */
typedef struct {
  guint64 at;        /* first byte in the container */
  guint64 stored;    /* bytes there */
  guint64 size;      /* and when inflated */
  guint32 container; /* in containers, or DYNO_IMAGE_LIST_NO_CONTAINER */
  guint32 name;      /* offset in names: below root, or in the container */
  gint32 class_id;
  guint32 line; /* of the manifest, from 1; 0: there is none */
  guint8 validation, deflated;
} DynoListedImage;

typedef struct {
  char *path;
  guint64 size;
  int fd; /* -1: opened at each read, where there are too many */
} DynoContainer;

typedef struct {
  char *root;         /* folder of files of their own; NULL: there are none */
  char *manifest;     /* name of the manifest that lines are of, for messages; may be NULL */
  gboolean named;     /* the user named the manifest: its paths are followed out of the root */
  GArray *items;      /* DynoListedImage, in the order of the samples */
  GByteArray *names;  /* ended by 0 */
  GArray *containers; /* DynoContainer */
  guint32 n_values;   /* of a sample; 0: it has a class */
  GArray *values;     /* float, (items, n_values) */
  GArray
      *boxes; /* DynoImageBox of each item, with no width where it is used whole; empty: all are */
} DynoImageList;

DynoImageList *dyno_image_list_new (void);
void dyno_image_list_free (DynoImageList *list);

/* Adds a name to the names and gives its offset.  Errors: TOO_LARGE. */
gboolean dyno_image_list_add_name (DynoImageList *list, const char *name, gsize length,
                                   guint32 *offset, GError **error);
const char *dyno_image_list_get_name (const DynoImageList *list, const DynoListedImage *item);

/* Opens a container and adds it; its descriptor is for reading what is in it.  Errors: those of
 * dyno_datafile_open. */
gboolean dyno_image_list_add_container (DynoImageList *list, const char *path, guint32 *place,
                                        GError **error);

/* The path of a file of its own; g_free. */
char *dyno_image_list_get_path (const DynoImageList *list, const DynoListedImage *item);

/* The bytes of sample index's image file to the start of scratch. */
gboolean dyno_image_list_read (const DynoImageList *list, guint64 index, GByteArray *scratch,
                               gsize *size, GError **error);

/* The piece of sample index's image that is used; NULL: all of it. */
const DynoImageBox *dyno_image_list_get_box (const DynoImageList *list, guint64 index);

/* A container has been indexed: of many it is closed, and opened again at each read. */
void dyno_image_list_rest_container (DynoImageList *list, guint32 place);

/* Counts an item that is not used, and lists it while there is room. */
void dyno_image_list_note (DynoDataset *dataset, const DynoOpenContext *context, const char *where,
                           guint64 line, const char *reason);

/* Whether a file of its own lies within the list's root, by its name, before anything outside is even
 * looked at, and by where links lead; real_root: the root's realpath.  With the params' links all
 * do; by their names, those that a named list has.  Errors: UNSUPPORTED. */
gboolean dyno_image_list_check_inside (const DynoImageList *list, const DynoOpenContext *context,
                                       const char *real_root, const char *path, GError **error);

/* Fills the list, whose root is set, and the data set's classes or values' names from a list of
 * files with their targets: the file at path, or, where path is a folder, its metadata files.
 * Errors: those of dyno_text_table_parse; UNSUPPORTED, EMPTY; G_IO_ERROR_CANCELLED. */
gboolean dyno_manifest_load (DynoImageList *list, DynoDataset *dataset,
                             const DynoOpenContext *context, const char *path, gboolean is_folder,
                             GError **error);

/* Reads the headers, drops and lists what is no image, and fills the data set's facts but classes'
 * names; the classes are set before.  Files of their own that lie outside of root, by name or by a
 * link, are refused unless the params allow them.  The list becomes the data set's state.
 * Errors: G_IO_ERROR_CANCELLED. */
gboolean dyno_image_list_finish (DynoImageList *list, DynoDataset *dataset,
                                 const DynoOpenContext *context, GError **error);

/* The members of a class whose state is a DynoImageList. */
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
gint32 dyno_image_list_label (DynoDataset *dataset, guint64 index);
const DynoImageBox *dyno_image_list_box (DynoDataset *dataset, guint64 index);
const float *dyno_image_list_values (DynoDataset *dataset, guint64 index);
/* A sample's class or values to its target. */
void dyno_image_list_put_target (DynoDataset *dataset, guint64 index, gpointer target);
gboolean dyno_image_list_probe (DynoDataset *dataset, guint64 index, GError **error);
char *dyno_image_list_describe (DynoDataset *dataset, guint64 index);
gboolean dyno_image_list_is_validation (DynoDataset *dataset, guint64 index);

/* Labels as text to class ids: whole numbers in their order, else by the bytes of their names. */
typedef struct {
  GHashTable *ids;   /* label to its place in labels */
  GPtrArray *labels; /* in the order in which they came */
} DynoLabelTable;

void dyno_label_table_init (DynoLabelTable *table);
void dyno_label_table_clear (DynoLabelTable *table);
guint32 dyno_label_table_add (DynoLabelTable *table, const char *label);
/* Names the classes, and gives the items, whose class_id is what _add gave, their ids.  numbers:
 * labels that are all whole numbers are ordered as such; else all by the bytes of their names. */
void dyno_label_table_finish (DynoLabelTable *table, DynoDatasetInfo *info, GArray *items,
                              gboolean numbers);

/* The same with names and order as given, some of which may have no sample; a label is one of them
 * but for blanks at its ends.  FALSE, and nothing is done: a label is none of them, or two are one. */
gboolean dyno_label_table_order (DynoLabelTable *table, DynoDatasetInfo *info, GArray *items,
                                 char **names);

G_END_DECLS
