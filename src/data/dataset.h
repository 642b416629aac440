/* SPDX-License-Identifier: MIT */
/* A data set: samples by index, each with the fields of the data set's schema.
 *
 * A DynoDataset is immutable once open; every function may be called from any thread, _decode from
 * many threads at a time.  Reference counted.  A new format is one file in formats/ with a
 * DynoDatasetClass, named in formats/formats.c; no other code depends on formats. */
#pragma once
#include "data-error.h"
#include "schema.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _DynoDataset DynoDataset;
typedef struct _DynoGroups DynoGroups; /* groups.h */

/* The order of the axes of an array with four axes. */
typedef enum {
  /* NCHW where the second axis can be channels (1, 3 or 4) and the last axis cannot (more than 4),
   * else NHWC */
  DYNO_AXES_AUTO,
  DYNO_AXES_NHWC,
  DYNO_AXES_NCHW,
} DynoAxes;

/* The task that the targets of a data set define. */
typedef enum {
  DYNO_TASK_AUTO,    /* by the data */
  DYNO_TASK_CLASSES, /* one class of several */
  DYNO_TASK_VALUES,  /* numbers */
  DYNO_TASK_LABELS,  /* any number of several classes */
  DYNO_TASK_PIXELS,  /* one class of several for each pixel of an image */
} DynoTask;

/* The facts of a data set, shown before Start and by `dynoctl inspect`. */
typedef struct {
  /* "shapes", "waves", "poses", "synthetic", "npy", "npz", "sequences", "idx", "cifar", "biwi",
   * "300w-lp", "pixel-rows", "manifest", "archive", "webdataset", "packed-arrays", "masks", "coco",
   * "drawn-masks", "image-folder" */
  const char *kind;
  const char *title;    /* for people, untranslated: "Image folder" */
  char *name;           /* short: the name of the folder or of the built-in */
  char *location;       /* the DATA string from which it was opened */
  guint64 n_samples;    /* samples that can be read */
  guint64 n_unreadable; /* found but refused when scanned */
  /* the refused files that are samples: rows of a list, and files with the extension of an image or
   * array, also of an unsupported kind; and the first such file, "path: reason", or NULL */
  guint64 n_refused;
  char *first_refused;
  guint64 size_bytes; /* on disk; 0 for generated ones */
  /* the schema of a sample at its largest size, with the advised normalisation of the kind; see
   * dyno_dataset_get_schema */
  DynoBatchSchema schema;
  const char *axes; /* of an array's file: "NHWC", "NCHW", "NHW", "NTF", "NF"; else NULL */
  guint32 min_width, max_width, min_height, max_height; /* before resizing */
  /* decode can give any size (images, built-in shapes); else width and height are fixed */
  gboolean resizable;
  gboolean croppable; /* random crops can be decoded straight from its files */
  guint32 n_classes;  /* 0: the target is values, whose number is in the schema */
  char **class_names; /* n_classes + NULL */
  /* (n_classes): the samples of each class, or with this label; with masks, the pixels of each
   * class over all samples */
  guint64 *class_counts;
  guint64 n_ignored;   /* of masks: pixels that count for no class */
  char **target_names; /* of the values, NULL-terminated, from y.names; NULL: there are none */
  char **target_units; /* of each value, "": none; NULL as target_names is */
  /* The reason for which the task was guessed, where the data do not decide it; the setting
   * data.task overrides the guess.  NULL: the task is known. task_doubted: another task is about as
   * likely, which a note reports. */
  char *task_reason;
  gboolean task_doubted;
  gboolean knows_values; /* dyno_dataset_get_values gives the values, or the labels */
  /* it brings its own training part, and a validation part or both this and a test part: their
   * samples, which n_samples and class_counts count, too */
  gboolean has_split;
  guint64 n_validation, n_test;
  /* samples that belong together, by a column of the list, and that column's name; NULL: there are
   * no groups */
  DynoGroups *groups;
  char *group_column;
  gboolean generated; /* built in */
  gboolean grey;      /* images are converted to one channel: see packed.h */
  gboolean luma;      /* images in colour are converted to luma: see DynoDatasetParams */
  /* hash of names, sizes, labels and groups, by which a resumed run checks that it sees the same
   * data */
  guint64 content_hash;
} DynoDatasetInfo;

typedef struct {
  /* the y.npy of an X.npy, or an array's name in an .npz; NULL: the targets are found beside X
   * (y.npy, labels.npy, <stem>_y.npy) or in the archive; without any, opening fails */
  const char *targets;
  DynoAxes axes; /* of an X.npy with four axes */
  DynoTask task; /* AUTO: guessed where the data do not decide it */
  /* an X.npy with three axes, unless of bytes, has sequences (N, T, F), not images (N, H, W) */
  gboolean sequences;
  /* follow symbolic links out of the folder; FALSE: they are listed as unreadable */
  gboolean links;
  gboolean one_class; /* samples of a single class are no error */
  /* the column of a list that names the group of each sample, which is no target then; NULL or "":
   * there are no groups.  Data without this column are an error, unless they may lack it. */
  const char *group_column;
  gboolean may_lack_groups;
  guint threads;    /* cores that opening uses at most; 0: all of the calling thread's */
  guint max_listed; /* unreadable files listed by name; 0: 100 */
  /* a folder with at least this number of files has an index in the cache folder; 0: 10,000;
   * G_MAXUINT: no index is kept or read */
  guint index_from;
  /* The input of the weights that predict; NULL: not known, or the data set is for training.  Where
   * the input has one channel, images of bytes in RGB become luma (BT.601, rounded). */
  const DynoBatchField *wanted;
} DynoDatasetParams;

/* Progress of a scan: samples found so far. Called on the opening thread, at most about ten times a
 * second. */
typedef void (*DynoScanProgress) (guint64 found, gpointer data);

/* Opens DATA: a path of one of the formats in dyno_dataset_classes (such as a folder of images, a
 * list of files, an archive, arrays or COCO annotations),
 * "builtin:shapes[?size=64&samples=2000&classes=10&seed=1]",
 * "builtin:masks[?size=64&samples=2000&classes=4&seed=1]",
 * "builtin:waves[?length=64&channels=3&samples=2000&classes=10&seed=1]",
 * "builtin:poses[?size=64&samples=2000&seed=1]" or
 * "synthetic:HxWxC[?classes=1000&samples=N]".  params, progress and cancellable may be NULL.
 * Errors: all of DynoDataError; G_IO_ERROR_CANCELLED. */
DynoDataset *dyno_dataset_open (const char *location, const DynoDatasetParams *params,
                                DynoScanProgress progress, gpointer data, GCancellable *cancellable,
                                GError **error);
/* Opens samples for prediction, without labels, with n_classes 0 and a schema of only the input
 * (and length): image files, and folders with the images in them at any depth; .npy and .npz of
 * arrays, or .npy of sequences, and folders with them; or, where paths is a single DATA string of
 * another kind, its samples.  paths: at least one, NULL at the end.  Other files are listed
 * (dyno_dataset_get_unreadable), which is an error only where all files are listed.  wanted: as in
 * DynoDatasetParams.  Where wanted is (T, F), each array is a sequence, padded to the length of the
 * weights' input where it is shorter.  Where wanted is (H, W, C), an array with the shape of a
 * sample, or of an image in colour that becomes luma, is one sample; any other array has the
 * samples along its first axis. */
DynoDataset *dyno_dataset_open_unlabelled (const char *const *paths, const DynoBatchField *wanted,
                                           const DynoDatasetParams *params,
                                           DynoScanProgress progress, gpointer data,
                                           GCancellable *cancellable, GError **error);
/* The images of another data set, for prediction: sample 2 i is its sample i, and 2 i + 1 the same
 * image with its columns in reverse order.  It has neither labels nor notes.  Errors: UNSUPPORTED
 * (the samples are no images, or have masks). */
DynoDataset *dyno_dataset_new_mirrored (DynoDataset *source, GError **error);
DynoDataset *dyno_dataset_ref (DynoDataset *dataset);
void dyno_dataset_unref (DynoDataset *dataset);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoDataset, dyno_dataset_unref)

const DynoDatasetInfo *dyno_dataset_get_info (DynoDataset *dataset);

/* The task that the targets define, never AUTO; CLASSES where there are no targets. */
DynoTask dyno_dataset_get_task (const DynoDatasetInfo *info);

/* TRUE where each sample has one class; FALSE: samples have values, labels, a class for each pixel,
 * or no target. */
gboolean dyno_dataset_has_classes (const DynoDatasetInfo *info);

/* Files that the scan refused, with the reason: "path: reason"; NULL-terminated, owned by the data
 * set. */
const char *const *dyno_dataset_get_unreadable (DynoDataset *dataset);

/* Notes on likely mistakes, a sentence each: files left out, a folder that is not used,
 * classes without a sample, classes without a sample in the training or (where parts are given) the
 * validation part, and classes of very different size.  train, validation: the parts from
 * dyno_dataset_divide, or both NULL.  Free with g_strfreev. */
char **dyno_dataset_list_notes (DynoDataset *dataset, const GArray *train,
                                const GArray *validation);

/* Decodes every sample once.  Returns "sample: reason" for samples that fail, at most max_listed
 * (0: 100), in their order, and counts all failures.  progress: samples done so far.  Errors:
 * NO_MEMORY (no memory); G_IO_ERROR_CANCELLED. */
char **dyno_dataset_verify (DynoDataset *dataset, guint max_listed, DynoScanProgress progress,
                            gpointer data, GCancellable *cancellable, guint64 *n_failed,
                            GError **error);

/* The fields of a sample of this size.  Data sets that are not resizable have only one size. */
void dyno_dataset_get_schema (const DynoDatasetInfo *info, guint32 width, guint32 height,
                              DynoBatchSchema *schema);

/* Decodes sample index into fields, a pointer for each field of the schema of this size; a field of
 * role SEED belongs to the caller and is not touched.  Images are scaled to cover height x width
 * and centre-cropped, and their masks with them.  scratch: a GByteArray of the calling thread,
 * reused between calls.  Errors: CORRUPT, TOO_LARGE, READ, UNREACHABLE, NOT_FOUND (a file that
 * vanished). */
gboolean dyno_dataset_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                              gpointer const *fields, GByteArray *scratch, GError **error);

/* The size of a sample's image before it is scaled and cut: as shown by its orientation, or the
 * size of the piece of the image that is the sample.  Reads the file, as dyno_dataset_decode does,
 * with the same scratch.
 * Errors: those of decode; UNSUPPORTED (samples of different sizes that are no files). */
gboolean dyno_dataset_find_size (DynoDataset *dataset, guint64 index, GByteArray *scratch,
                                 guint32 *width, guint32 *height, GError **error);

/* Checks that the disk or server delivers some bytes of sample index, bypassing the page cache;
 * TRUE where samples lie in memory.  The bytes may still not decode.  Errors: READ, UNREACHABLE,
 * NOT_FOUND. */
gboolean dyno_dataset_probe (DynoDataset *dataset, guint64 index, GError **error);

/* The class id of a sample of a data set that has classes, without decoding it, and its name for
 * people ("cat/0001.jpg", "#17"; g_free). */
gint32 dyno_dataset_get_label (DynoDataset *dataset, guint64 index);
/* The values or the labels (schema.h) of a sample, without decoding it; owned by the data set.
 * NULL: in this kind of data set, values are known only by decoding. */
const float *dyno_dataset_get_values (DynoDataset *dataset, guint64 index);
char *dyno_dataset_describe_sample (DynoDataset *dataset, guint64 index);

typedef struct {
  guint64 seed;
  /* share of the samples in the test part, in [0, 1); 0: there is none */
  double test_fraction;
  double val_fraction; /* share of the other samples in the validation part, in [0, 1) */
  /* a cross-validation, in place of val_fraction: at least 2, and the fold that validates, from 0;
   * 0: none */
  guint n_folds, fold;
} DynoDivision;

/* Arrays of guint32 indices, in an order by seed. */
typedef struct {
  GArray *train, *validation, *test;
} DynoDatasetParts;

void dyno_dataset_parts_clear (DynoDatasetParts *parts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoDatasetParts, dyno_dataset_parts_clear)

/* Divides the data set into parts: where samples have classes, each class in the same proportion,
 * but a class of at least two samples has at least one in the training and the validation part;
 * where samples have labels, the samples in the same proportion whose rarest label is the same.
 * The test part depends only on its share and the seed.  Without a share for validation, and
 * without folds, the training part is in file order.
 *
 * Folds are as sklearn's StratifiedKFold makes them: each sample validates in one fold and trains
 * in the others, and folds differ by one sample at most, in each class too.
 *
 * Where samples have groups (the facts), whole groups are dealt out instead: see
 * dyno_groups_divide.  No group is in two parts.
 *
 * A data set with its own split keeps it, with each part in file order, except where folds are
 * asked for, which ignore it.  parts is overwritten. */
void dyno_dataset_divide (DynoDataset *dataset, const DynoDivision *division,
                          DynoDatasetParts *parts);

/* dyno_dataset_divide without folds and without a share for a test part; the test part that a data
 * set brings is left out. */
void dyno_dataset_split (DynoDataset *dataset, double val_fraction, guint64 seed, GArray **train,
                         GArray **validation);

G_END_DECLS
