/* SPDX-License-Identifier: MIT */
/* The fields of a sample, and the layout of a batch of samples in memory.
 *
 * A data set declares a DynoBatchSchema: named fields, each with a role, an element type and a
 * shape.  The loader's slots, the copies to the device, the inputs of a graph, the planner and the
 * evaluation all follow from it.  Normalisation and augmentation are described here and run on the
 * device.
 *
 * Invariants:
 * - In a batch each field is one array of batch samples, packed, the batch axis slowest; fields
 *   follow each other in the order of the schema, each at a multiple of DYNO_FIELD_ALIGNMENT.
 * - A sample always takes its whole shape: a shorter sample is filled up with the pad value. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_SCHEMA_MAX_FIELDS 8
#define DYNO_SCHEMA_MAX_AXES   4
#define DYNO_FIELD_ALIGNMENT   256
/* The class id of a pixel that does not count: it has no loss and is in no metric (void in Pascal
 * VOC). */
#define DYNO_MASK_IGNORED 255

typedef enum {
  DYNO_ELEMENT_U8, /* 0..255 */
  DYNO_ELEMENT_I32,
  DYNO_ELEMENT_F32,
} DynoElement;

typedef enum {
  DYNO_FIELD_INPUT, /* read by the network */
  /* to be learned: an I32 class id, F32 values, F32 labels, or a mask of U8 class ids */
  DYNO_FIELD_TARGET,
  DYNO_FIELD_LENGTH, /* I32: valid steps of the variable axis; the others do not count */
  DYNO_FIELD_SEED,   /* I32: a random word per sample, filled by the loader */
} DynoFieldRole;

/* (value * (1/255 with scale_255) - mean) / deviation; mean and deviation apply only with
 * standardise, and channels past the fourth use the fourth channel's. */
typedef struct {
  gboolean scale_255, standardise;
  float mean[4], deviation[4];
} DynoNormalisation;

/* The values outside an image that a random change reads. */
typedef enum {
  DYNO_PAD_ZERO,    /* black */
  DYNO_PAD_REFLECT, /* mirrored at the centres of its outermost pixels, as PyTorch's "reflect" */
} DynoPadMode;

/* Random changes to the input in training, drawn per sample only from its seed; 0: none.  Images
 * are changed in the order of the members up to hue, by torchvision's transforms (v2) without their
 * rounding to bytes, then normalised; noise, erase and time_mask apply to normalised values.  Crop,
 * shift, rotation and flips are combined into one map of the pixels, with one bilinear sample; a
 * crop is at most as large as the image and so never scaled down: antialiasing would change
 * nothing. */
typedef struct {
  /* RandomResizedCrop: the least share of the area, its ratio of the sides in
   * [1 / crop_ratio, crop_ratio] */
  double crop, crop_ratio;
  guint32 shift; /* RandomCrop (padding): pixels that it may be moved by, each way */
  DynoPadMode pad;
  double rotate;        /* RandomRotation: degrees, at most, both ways; about the centre */
  double flip;          /* probability that an image is mirrored left to right */
  double flip_vertical; /* top to bottom */
  /* The target values that change their sign where an image is mirrored left to right: one bit
   * each, for the first 32. */
  guint32 negated;
  /* ColorJitter: b stands for a factor in [max (0, 1 - b), 1 + b], hue for a share of the circle in
   * [-hue, hue); each result is clipped at 255 (U8) or 1 (F32).  Contrast needs 1 or 3 channels;
   * saturation and hue need 3, and change nothing of images with 1. */
  double brightness, contrast, saturation, hue;
  double noise;      /* deviation of normal noise */
  double erase;      /* probability that a rectangle is zero: RandomErasing's scale and ratio */
  double time_mask;  /* of (T, F): a stretch of fewer than this share of the steps is zero */
  double time_shift; /* of (T, F): shifted cyclically by up to this share of the steps */
  /* MixUp and CutMix mix each changed and normalised image of a batch, and its class, with the
   * image before it.  The share is drawn once a batch from Beta (a, a); this is a.  With both, each
   * applies to half of the batches */
  double mixup, cutmix;
} DynoAugmentation;

typedef struct {
  /* static: "image", "class", "values", "labels", "mask", "sequence", "length", "seed" */
  const char *name;
  DynoFieldRole role;
  DynoElement element;
  guint n_axes; /* of one sample; the batch axis is not counted; 0: one element */
  guint32 shape[DYNO_SCHEMA_MAX_AXES]; /* slowest axis first: (H, W, C), (T, F), (C) */
  char axes[DYNO_SCHEMA_MAX_AXES + 1]; /* their meaning: "HWC", "TF", "C" */
  gboolean variable; /* axis 0 (time) may be shorter: shape[0] is the longest, the rest is pad */
  double pad;
  DynoNormalisation normalisation;
} DynoBatchField;

typedef struct {
  guint n_fields;
  DynoBatchField fields[DYNO_SCHEMA_MAX_FIELDS];
  /* input and class ids are noise that the device makes itself: nothing is decoded or copied */
  gboolean generated;
} DynoBatchSchema;

/* Sizes and places of the fields of a batch in one block of memory. */
typedef struct {
  guint32 batch;
  guint n_fields;
  guint64 sample_bytes[DYNO_SCHEMA_MAX_FIELDS]; /* of one sample */
  guint64 field_bytes[DYNO_SCHEMA_MAX_FIELDS];  /* of the batch */
  guint64 offset[DYNO_SCHEMA_MAX_FIELDS];       /* in the block */
  guint64 total_bytes;                          /* of the block, a multiple of the alignment */
} DynoBatchLayout;

/* batch > 0.  Errors: DYNO_BASE_ERROR_OVERFLOW, where a product overflows or the block passes
 * 2^40 bytes. */
gboolean dyno_batch_layout_init (DynoBatchLayout *layout, const DynoBatchSchema *schema,
                                 guint32 batch, GError **error);

/* The first field of a role, or NULL; its place in the schema, or -1. */
const DynoBatchField *dyno_schema_find_role (const DynoBatchSchema *schema, DynoFieldRole role);
int dyno_schema_find_index (const DynoBatchSchema *schema, DynoFieldRole role);

/* Channels (features) of the input, 0: there is no input; the values to learn per sample, 0: the
 * target is a class id, labels or a mask, or there is none; the labels of a sample, 0: the target
 * is no labels; and the floats of the target, either values or labels. */
guint32 dyno_schema_count_channels (const DynoBatchSchema *schema);
guint32 dyno_schema_count_values (const DynoBatchSchema *schema);
guint32 dyno_schema_count_labels (const DynoBatchSchema *schema);
guint32 dyno_schema_count_floats (const DynoBatchSchema *schema);

/* Appends a field without normalisation and returns it. */
DynoBatchField *dyno_schema_add (DynoBatchSchema *schema, const DynoBatchField *field);

/* Append the target, n_values floats ("values") or with 0 a class id ("class"); and a seed per
 * sample. */
void dyno_schema_add_target (DynoBatchSchema *schema, guint32 n_values);
void dyno_schema_add_seed (DynoBatchSchema *schema);

/* Appends a target of n_labels floats ("labels"), one for each class: 1 where the sample has the
 * label, 0 where it has not, and NaN where that is not known.  A label that is not known has no
 * loss and is in no metric. */
void dyno_schema_add_labels (DynoBatchSchema *schema, guint32 n_labels);

/* Appends a target of a class id for each pixel ("mask", (height, width) of U8); ids from the
 * number of classes on, DYNO_MASK_IGNORED among them, do not count. */
void dyno_schema_add_mask (DynoBatchSchema *schema, guint32 height, guint32 width);
/* The field that dyno_schema_add_mask appends; NULL: the target is no mask. */
const DynoBatchField *dyno_schema_find_mask (const DynoBatchSchema *schema);

/* Fields "image" (height, width, channels), target and seed. */
DynoBatchSchema dyno_schema_image (DynoElement element, guint32 height, guint32 width,
                                   guint32 channels, guint32 n_values);
/* The same with n_labels labels as the target, and with a mask. */
DynoBatchSchema dyno_schema_image_with_labels (DynoElement element, guint32 height, guint32 width,
                                               guint32 channels, guint32 n_labels);
DynoBatchSchema dyno_schema_image_with_mask (DynoElement element, guint32 height, guint32 width,
                                             guint32 channels);

guint32 dyno_element_size (DynoElement element);
const char *dyno_element_name (DynoElement element); /* "uint8", "int32", "float32" */

/* Elements of one sample; G_MAXUINT64 where that overflows. */
guint64 dyno_field_count (const DynoBatchField *field);

/* Length of the axis of a letter, 1 where the field has none: 'C' of "HWC". */
guint32 dyno_field_axis (const DynoBatchField *field, char axis);

/* The shape of a sample as a network reads it: (H, W, C) as it is, (T, F) as (1, T, F), (C) as (1,
 * 1, C).  A field of more axes has 0 channels. */
void dyno_field_get_image (const DynoBatchField *field, guint32 *height, guint32 *width,
                           guint32 *channels);

/* Fills a sample of a variable field from step `length` on with the pad value. */
void dyno_field_pad (const DynoBatchField *field, gpointer sample, guint32 length);

gboolean dyno_augmentation_is_on (const DynoAugmentation *augmentation);

G_END_DECLS
