/* SPDX-License-Identifier: MIT */
/* The interface of a format: one DynoDatasetClass per file in formats/, named in formats/formats.c.
 *
 * Invariants of a class:
 * - matches is cheap: it reads only the location's name and first bytes, and names in a folder.
 * - open fills dataset->info (kind, title, name and location are set before it) and dataset->state.
 *   When it fails, close is still called, with the state so far; close accepts a NULL state.
 * - After open the state is never written again, so decode, label and describe run in any thread
 *   without a lock. */
#pragma once
#include "crop.h"
#include "datapart.h"
#include "dataset.h"
#include "location.h"

G_BEGIN_DECLS

typedef struct {
  const DynoLocation *location;
  const DynoDatasetParams *params; /* never NULL */
  guint max_listed;                /* > 0 */
  DynoScanProgress progress;       /* may be NULL */
  gpointer progress_data;
  GCancellable *cancellable; /* may be NULL */
  /* NULL unless the data set is opened without labels (unlabelled.c): its files and folders, and
   * the input of the weights, which may be NULL. */
  const char *const *paths;
  const DynoBatchField *wanted;
} DynoOpenContext;

typedef struct {
  const char *kind;
  const char *title;
  gboolean (*matches) (const DynoLocation *location);
  /* For a class of masks: TRUE where a folder can be of this class if DYNO_TASK_PIXELS is
   * requested; where another task is requested, no folder is, but labels are also in COCO's
   * annotations.  May be NULL. */
  gboolean (*can_be) (const DynoLocation *location);
  gboolean (*open) (DynoDataset *dataset, const DynoOpenContext *context, GError **error);
  void (*close) (DynoDataset *dataset);
  /* Reads the bytes of a sample that decode needs, which may take any time (a file), to the start
   * of scratch; *fetched is their number.  NULL: decode needs none. */
  gboolean (*fetch) (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched,
                     GError **error);
  gboolean has_files; /* fetch gives the whole image file */
  /* The piece of the image file from which a sample is cut; NULL: the whole image is used.  May be
   * NULL. */
  const DynoImageBox *(*box) (DynoDataset *dataset, guint64 index);
  /* Fills every byte of a sample's fields except SEED, in the schema's order, from the bytes of
   * fetch; it never waits.  The fields may lie in memory that is slow to read: they are only
   * written. */
  gboolean (*decode) (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                      gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error);
  /* Like decode, but decodes only the crop that the seed draws from the image, or from its box.
   * May be NULL. */
  gboolean (*decode_crop) (DynoDataset *dataset, guint64 index, const DynoCrop *crop, guint32 seed,
                           guint32 width, guint32 height, gpointer const *fields,
                           GByteArray *scratch, gsize fetched, GError **error);
  /* Fetches and decodes a sample without waiting and without a copy in scratch; FALSE: that is not
   * possible now.  May be NULL. */
  gboolean (*decode_at_once) (DynoDataset *dataset, guint64 index, gpointer const *fields);
  /* NULL: samples have no labels */
  gint32 (*label) (DynoDataset *dataset, guint64 index);
  /* TRUE where a sample's mask has pixels of a class; NULL: not known before the sample is
   * decoded */
  gboolean (*shows) (DynoDataset *dataset, guint64 index, guint32 class_id);
  /* NULL: not known before a sample is decoded */
  const float *(*values) (DynoDataset *dataset, guint64 index);
  /* Reads a little of a sample from its disk or server; NULL: samples are in memory. */
  gboolean (*probe) (DynoDataset *dataset, guint64 index, GError **error);
  char *(*describe) (DynoDataset *dataset, guint64 index); /* NULL: "#index" */
  /* An id of a sample's group, equal within the group only, where open has set has_groups; NULL:
   * samples of this class have no columns. */
  guint32 (*group) (DynoDataset *dataset, guint64 index);
  /* For a data set with its own split, else NULL: the part of a sample by its name, never NONE. */
  DynoPart (*part) (DynoDataset *dataset, guint64 index);
} DynoDatasetClass;

struct _DynoDataset {
  const DynoDatasetClass *klass;
  gatomicrefcount references;
  DynoDatasetInfo info;
  GPtrArray *unreadable;   /* "path: reason", NULL-terminated once open */
  GPtrArray *notes;        /* sentences on unused files and on assumptions */
  gboolean test_validates; /* it brings a test part and no validation part */
  gboolean has_groups;     /* open has read the column of the groups, which the params name */
  gpointer state;
};

/* The part of a sample: TRAIN where the data set has no split of its own; a test part validates
 * where there is no validation part.  Any thread. */
DynoPart dyno_dataset_get_part (DynoDataset *dataset, guint64 index);

/* All formats, in the order in which they are tried; NULL-terminated. */
extern const DynoDatasetClass *const dyno_dataset_classes[];

extern const DynoDatasetClass dyno_dataset_class_shapes;
extern const DynoDatasetClass dyno_dataset_class_waves;
extern const DynoDatasetClass dyno_dataset_class_poses;
extern const DynoDatasetClass dyno_dataset_class_synthetic;
extern const DynoDatasetClass dyno_dataset_class_npy;
extern const DynoDatasetClass dyno_dataset_class_npz;
extern const DynoDatasetClass dyno_dataset_class_sequences;
extern const DynoDatasetClass dyno_dataset_class_idx;
extern const DynoDatasetClass dyno_dataset_class_cifar;
extern const DynoDatasetClass dyno_dataset_class_biwi;
extern const DynoDatasetClass dyno_dataset_class_w300lp;
extern const DynoDatasetClass dyno_dataset_class_pixelrows;
extern const DynoDatasetClass dyno_dataset_class_manifest;
extern const DynoDatasetClass dyno_dataset_class_archive;
extern const DynoDatasetClass dyno_dataset_class_webdataset;
extern const DynoDatasetClass dyno_dataset_class_packedarrays;
extern const DynoDatasetClass dyno_dataset_class_masks;
extern const DynoDatasetClass dyno_dataset_class_coco;
extern const DynoDatasetClass dyno_dataset_class_drawnmasks;
extern const DynoDatasetClass dyno_dataset_class_imagefolder;

/* Classes outside the table, for data sets that are opened without labels. */
extern const DynoDatasetClass dyno_dataset_class_imagefiles;
extern const DynoDatasetClass dyno_dataset_class_arrayfiles;
extern const DynoDatasetClass dyno_dataset_class_sequencefiles;

/* Makes a data set that this class opens at once; also for classes outside the table. */
DynoDataset *dyno_dataset_new (const DynoDatasetClass *klass, const DynoOpenContext *context,
                               GError **error);

/* Ends the opening of a data set: pops the cancellable, if there is one, from GLib's current ones.
 * A data set that was cancelled meanwhile fails, since names may be missing in it.  Takes ownership
 * of dataset and problem, which may be NULL. */
DynoDataset *dyno_dataset_end_open (DynoDataset *dataset, GCancellable *cancellable,
                                    GError *problem, GError **error);

/* The first class of the table that matches; NULL: no class does. */
const DynoDatasetClass *dyno_dataset_find_class (const DynoLocation *location);
/* The same for a requested task, which decides whether two folders are two classes, or images and
 * their masks. */
const DynoDatasetClass *dyno_dataset_find_class_for (const DynoLocation *location, DynoTask task);
/* For a folder that no special format matches: the folder in it, one or more levels deeper, that is
 * the data set; NULL: the folder itself is the data set.  one_class: a single folder may be a
 * class.  g_free. */
char *dyno_dataset_see_through (const DynoLocation *root, gboolean one_class);

/* Indices of the fields in most schemas. */
enum { DYNO_DATASET_INPUT, DYNO_DATASET_TARGET };

/* Sets n_classes and makes room for names and counts; names are "0", "1", ... until they are
 * set. */
void dyno_dataset_info_set_classes (DynoDatasetInfo *info, guint32 n_classes);
/* Adds the labels of one sample, n_classes floats, to class_counts. */
void dyno_dataset_info_count_labels (DynoDatasetInfo *info, const float *labels);

/* Counts a file that is not used, "path: reason"; is_sample: the file is a sample by its content;
 * FALSE: the extension in path decides. */
void dyno_dataset_info_refuse (DynoDatasetInfo *info, const char *path, gboolean is_sample,
                               const char *reason);
gboolean dyno_name_is_sample (const char *name);

/* Records that the task was guessed, and takes ownership of the reason: "“y.npy” holds floats". */
void dyno_dataset_info_guess (DynoDatasetInfo *info, gboolean doubted, char *reason);

/* For data sets that are opened without labels: the schema has only the input, with neither target
 * nor seed. */
void dyno_dataset_info_drop_targets (DynoDatasetInfo *info);

/* The schema of RGB images of the largest size with a mask each, and of a seed. */
void dyno_dataset_info_set_mask_schema (DynoDatasetInfo *info);

/* The input is scaled from bytes to 0..1, then standardised, each channel alike.  To be called
 * after the schema is set. */
void dyno_dataset_info_standardise (DynoDatasetInfo *info, float mean, float deviation);

/* The same with the statistics of ImageNet's photographs, which the weights of torchvision and timm
 * expect. */
void dyno_dataset_info_photographs (DynoDatasetInfo *info);

/* Images of bytes in RGB are read as luma from now on, where `wanted` has one channel.  wanted: the
 * input of the weights, or NULL. */
void dyno_dataset_read_luma (DynoDataset *dataset, const DynoBatchField *wanted);

/* Calls the class's decode, and converts the result to luma where the data set is read so.
 * decode_crop and decode_at_once do not handle luma. */
gboolean dyno_dataset_decode_fetched (DynoDataset *dataset, guint64 index, guint32 width,
                                      guint32 height, gpointer const *fields, GByteArray *scratch,
                                      gsize fetched, GError **error);

/* Groups the samples of a data set that open has read, where the params ask for it: fills the facts
 * and their hash, and adds the notes.  Errors: UNSUPPORTED (the data have no columns). */
gboolean dyno_dataset_find_groups (DynoDataset *dataset, const DynoOpenContext *context,
                                   GError **error);

/* Refuses a data set without a sample, with a single class unless that is allowed, or with more
 * samples than fit the type of an index. */
gboolean dyno_dataset_check (DynoDataset *dataset, gboolean one_class, GError **error);

G_END_DECLS
