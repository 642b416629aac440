/* SPDX-License-Identifier: MIT */
/* The table of settings: one row per setting with all facts about it.
 *
 * Invariants: the order of the table is the order in files, and within each group in the window; a
 * row names its key, type and member by FLAG, CHOICE, NUMBER or TEXT, and then only the members
 * that are not 0, FALSE or NULL. */
#include "intl.h"
#include "cores.h"
#include "settings.h"
#include <string.h>

#define MOST_SEED 9007199254740991.0 /* 2^53 - 1: exact as a double */
#define MOST_VRAM 17592186044416.0   /* 16 TiB */

static const char *const layouts[] = { "auto", "nhwc", "nchw", NULL }; /* DynoAxes */
/* DynoTask */
static const char *const tasks[] = { "auto", "classes", "values", "labels", "pixels", NULL };
static const char *const balances[] = { "none", "sampling", NULL };           /* DynoBalance */
static const char *const class_weights[] = { "none", "balanced", NULL };      /* DynoClassWeights */
static const char *const normalises[] = { "false", "true", "weights", NULL }; /* DynoNormalise */
static const char *const schedules[] = { "constant", "cosine", "step", NULL };
static const char *const crops_from[] = { "sample", "source", NULL }; /* DynoCropFrom */
static const char *const pads[] = { "zero", "reflect", NULL };        /* DynoPadMode */
static const char *optimizers[DYNO_N_OPTIMIZERS + 1];                 /* DynoOptimizer */
static char with_momentum[64];                                        /* "optimizer=sgd,rmsprop" */
static char default_workers[8];

#define FIELD(kind, member, name, value)                                \
  .key = (name), .type = DYNO_SETTING_##kind, .default_value = (value), \
  .offset = G_STRUCT_OFFSET (DynoSettings, member)
#define FLAG(member, name, value) FIELD (BOOL, member, name, value), .maximum = 1
#define CHOICE(member, name, value, names) \
  FIELD (ENUM, member, name, value), .values = (names), .maximum = G_N_ELEMENTS (names) - 2
#define NUMBER(kind, member, name, value, least, most) \
  FIELD (kind, member, name, value), .minimum = (least), .maximum = (most)
#define TEXT(member, name) FIELD (TEXT, member, name, ""), .maximum = G_MAXUINT32
#define GROUP(name)        .group = DYNO_SETTING_GROUP_##name
#define LIVE(name)         .live = DYNO_SETTING_LIVE_##name
#define RATE(name)         .rate = DYNO_SETTING_RATE_##name

static const DynoSettingInfo table[] = {
  { NUMBER (INT, epochs, "epochs", "10", 1, 1000000), GROUP (TRAINING), RATE (NONE), LIVE (STEP),
    .title = N_ ("Epochs"), .help = N_ ("How often the training goes through the data set.") },
  { NUMBER (INT, batch_size, "batch_size", "32", 1, 65536), GROUP (TRAINING), .by_preset = TRUE,
    .same_on_resume = TRUE, .tunable = { DYNO_TUNABLE_DOUBLED, 8, 4096, .baseline = 16 },
    .title = N_ ("Batch size"),
    .help = N_ ("Samples that go through the network at once; larger ones need more memory. An "
                "epoch leaves out the samples that fill no whole batch, other ones each time.") },
  { NUMBER (INT, accumulate, "accumulate", "1", 1, 1024), GROUP (TRAINING), .same_on_resume = TRUE,
    .tunable = { DYNO_TUNABLE_DOUBLED, 1, 16, .baseline = 1 }, .title = N_ ("Accumulation"),
    .help = N_ ("Batches whose gradients are added up before each update: a larger batch without "
                "more memory.") },
  { FLAG (amp, "amp", "true"), GROUP (TRAINING), .by_preset = TRUE, .same_on_resume = TRUE,
    .tunable = { DYNO_TUNABLE_EACH, 0, 1, .baseline = 0 }, .title = N_ ("Mixed precision (AMP)"),
    .help = N_ (
        "Computes in fp16 with fp32 master weights and loss scaling; fp32 throughout when off.") },

  { NUMBER (INT, workers, "workers", default_workers, 0, 256), GROUP (PIPELINE), RATE (LOADER),
    .same_weights = TRUE, LIVE (LOADER), .by_preset = TRUE,
    .tunable = { DYNO_TUNABLE_DOUBLED, 0, 256, .baseline = 0 }, .title = N_ ("Workers"),
    .help = N_ ("Threads that decode samples; with 0 the training thread decodes itself.") },
  { NUMBER (INT, threads, "threads", "0", 0, 1024), GROUP (PIPELINE), .same_weights = TRUE,
    .zero = N_ ("All"), .title = N_ ("CPU threads"),
    .help = N_ ("Cores of the processor that the run takes at most in all: to find and decode "
                "samples, and to compute where the device is a CPU. Fewer leave some to other "
                "programs.") },
  { NUMBER (INT, loader_nice, "loader.nice", "0", 0, 19), GROUP (ADVANCED), .same_weights = TRUE,
    .zero = N_ ("Off"), .title = N_ ("Nice workers"),
    .help = N_ ("Nice value of the workers: with 10 a busy desktop stays smooth, with 19 they use "
                "only processor time that no other program wants.") },
  { NUMBER (INT, prefetch, "prefetch", "2", 1, 64), GROUP (PIPELINE), RATE (LOADER),
    .same_weights = TRUE, LIVE (LOADER), .by_preset = TRUE,
    .tunable = { DYNO_TUNABLE_DOUBLED, 2, 16, .baseline = 2 }, .title = N_ ("Prefetch"),
    .help = N_ ("Batches that the workers prepare ahead of the step.") },
  { FLAG (pinned, "pinned", "true"), GROUP (PIPELINE), RATE (LOADER), .same_weights = TRUE,
    .by_preset = TRUE, .title = N_ ("Pinned memory"),
    .help = N_ ("Decodes into page-locked memory that the device copies from by itself.") },
  { FLAG (cache, "cache", "false"), GROUP (PIPELINE), RATE (LOADER), .same_weights = TRUE,
    .tunable = { DYNO_TUNABLE_EACH, 0, 1, .baseline = 0 }, .title = N_ ("Cache samples"),
    .help =
        N_ ("Keeps decoded samples in main memory, as many as fit into half of what is free.") },
  { FLAG (persistent_workers, "persistent_workers", "true"), GROUP (PIPELINE), RATE (LOADER),
    .same_weights = TRUE, .by_preset = TRUE, .title = N_ ("Persistent workers"),
    .help = N_ ("Keeps the worker threads from one epoch to the next.") },

  { CHOICE (optimizer, "optimizer", "sgd", optimizers), GROUP (TRAINING), .title = N_ ("Optimizer"),
    .help = N_ ("The rule by which gradients change the weights, as SGD with momentum or AdamW.") },
  { NUMBER (DOUBLE, lr, "lr", "0.05", 0, 100), GROUP (TRAINING), RATE (NONE), LIVE (STEP),
    .title = N_ ("Learning rate"),
    .help = N_ ("Size of the update at the peak of the schedule; usual values are 0.05 for SGD and "
                "0.001 for AdamW.") },
  { NUMBER (DOUBLE, head_lr_factor, "head_lr_factor", "1", 0.001, 1000), GROUP (ADVANCED),
    RATE (NONE), .title = N_ ("Head learning rate"),
    .help = N_ ("Factor of the last layer's learning rate over that of the others: 10 is usual "
                "where the others start from pretrained weights.") },
  { NUMBER (DOUBLE, layer_decay, "layer_decay", "1", 0.01, 1), GROUP (ADVANCED), RATE (NONE),
    .title = N_ ("Layer-wise decay"),
    .help = N_ ("Learning rate of each layer or block, as a multiple of that of the next one "
                "towards the head: 0.65 to 0.9 is usual for pretrained transformers.") },
  { NUMBER (DOUBLE, momentum, "momentum", "0.9", 0, 0.9999), GROUP (ADVANCED), RATE (NONE),
    LIVE (STEP), .depends_on = with_momentum, .title = N_ ("Momentum"),
    .help = N_ ("Share of the previous update that is added to the next one.") },
  { NUMBER (DOUBLE, weight_decay, "weight_decay", "0.0005", 0, 1), GROUP (ADVANCED), RATE (NONE),
    LIVE (STEP), .title = N_ ("Weight decay"),
    .help = N_ ("Pulls the weights towards zero a little with each update.") },
  { FLAG (weight_decay_norms, "weight_decay.norms", "true"), GROUP (ADVANCED), RATE (NONE),
    .same_on_resume = TRUE, .title = N_ ("Decay norms and biases"),
    .help =
        N_ ("Weight decay also pulls biases and the parameters of normalisations, as in PyTorch; "
            "off, it takes only the weights of layers, as usual for transformers and ConvNeXt.") },
  { CHOICE (schedule, "schedule", "cosine", schedules), GROUP (TRAINING), RATE (NONE),
    .title = N_ ("Schedule"),
    .help = N_ ("How the learning rate falls: not at all, along a cosine, or to a tenth after each "
                "third of the run.") },
  { NUMBER (DOUBLE, warmup_epochs, "warmup_epochs", "0.2", 0, 1000), GROUP (TRAINING), RATE (NONE),
    .title = N_ ("Epochs of warm-up"),
    .help = N_ ("Epochs over which the learning rate rises to its full value.") },
  { NUMBER (INT, schedule_epochs, "schedule_epochs", "0", 0, 1000000), GROUP (ADVANCED),
    RATE (NONE), LIVE (STEP), .zero = N_ ("All"), .title = N_ ("Epochs of the schedule"),
    .help = N_ (
        "Epochs that the schedule spans, after which its last rate is kept; 0 is the whole run.") },
  { NUMBER (DOUBLE, label_smoothing, "label_smoothing", "0", 0, 0.9), GROUP (ADVANCED), RATE (NONE),
    .needs = DYNO_SETTING_NEEDS_CLASSES, .title = N_ ("Label smoothing"),
    .help =
        N_ ("Share of the target that is spread over all classes; of labels, share by which each "
            "target moves from 0 or 1 towards 1/2.") },
  { NUMBER (DOUBLE, clip_norm, "clip_norm", "0", 0, 1e6), GROUP (ADVANCED), LIVE (STEP),
    .zero = N_ ("Off"), .title = N_ ("Gradient clipping"),
    .help = N_ ("Largest norm that the gradient may have; 0 switches clipping off.") },
  { NUMBER (DOUBLE, clip_value, "clip_value", "0", 0, 1e6), GROUP (ADVANCED), LIVE (STEP),
    .zero = N_ ("Off"), .title = N_ ("Clipping per value"),
    .help = N_ ("Largest absolute value that each element of the gradient may have, after the "
                "clipping by norm; 0 switches it off.") },
  { NUMBER (DOUBLE, ema_decay, "ema_decay", "0", 0, 0.999999), GROUP (ADVANCED),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Moving average of weights"),
    .help = N_ ("Decay of an exponential moving average of the weights, such as 0.999: validation "
                "and the saved weights use the average.") },
  { NUMBER (INT, early_stop_patience, "early_stop.patience", "0", 0, 1000000), GROUP (TRAINING),
    RATE (NONE), .same_weights = TRUE, LIVE (STEP), .zero = N_ ("Off"), .title = N_ ("Early stop"),
    .help = N_ ("Epochs without a better validation after which the run ends; 0 never ends it "
                "early.") },
  { NUMBER (DOUBLE, early_stop_delta, "early_stop.min_delta", "0", 0, 1e6), GROUP (ADVANCED),
    RATE (NONE), .same_weights = TRUE, LIVE (STEP), .title = N_ ("Least gain"),
    .help = N_ ("By how much a validation must be better to count for the early stop, in the "
                "metric's own unit.") },
  { TEXT (best_metric, "best_metric"), GROUP (ADVANCED), RATE (NONE), .same_on_resume = TRUE,
    .zero = N_ ("Automatic"), .title = N_ ("Best by"),
    .help = N_ ("Metric of the validation that decides the best epoch and the early stop, such as "
                "loss, accuracy, top5 or mean_abs_error; balanced_accuracy, f1_macro, "
                "precision_macro, roc_auc and calibration_error of classes, rms_error and r2 of "
                "values are measured only where one is named.") },

  { NUMBER (DOUBLE, model_width, "model.width", "1", 0.05, 8), GROUP (MODEL),
    .title = N_ ("Model width"), .help = N_ ("Scales the number of channels of the model.") },
  { NUMBER (DOUBLE, model_dropout, "model.dropout", "0.2", 0, 0.9), GROUP (MODEL), RATE (NONE),
    .needs = DYNO_SETTING_NEEDS_DROPOUT, .zero = N_ ("Off"), .title = N_ ("Dropout"),
    .help = N_ ("Share of the values before the last layer that are dropped in training, of models "
                "that have a dropout layer.") },
  { NUMBER (DOUBLE, model_stochastic_depth, "model.stochastic_depth", "0.1", 0, 0.9), GROUP (MODEL),
    RATE (NONE), .needs = DYNO_SETTING_NEEDS_STOCHASTIC_DEPTH, .zero = N_ ("Off"),
    .title = N_ ("Stochastic depth"),
    .help =
        N_ ("Share of the samples that skip the last residual block in training, of models that "
            "have stochastic depth; blocks before it are skipped by fewer.") },
  { TEXT (model_freeze, "model.freeze"), GROUP (MODEL), .same_on_resume = TRUE,
    .zero = N_ ("Nothing"), .title = N_ ("Frozen layers"),
    .help = N_ ("Names of layers with commas between, as conv1,layer1: their weights stay as they "
                "are, and batch norm in them uses its running statistics.") },
  { FLAG (loss_smooth_l1, "loss.smooth_l1", "false"), GROUP (MODEL),
    .needs = DYNO_SETTING_NEEDS_VALUES, .title = N_ ("Smooth L1 loss"),
    .help = N_ ("For values to predict: large errors count linearly instead of by their square.") },
  { NUMBER (DOUBLE, loss_focal, "loss.focal", "0", 0, 10), GROUP (MODEL), RATE (NONE),
    .needs = DYNO_SETTING_NEEDS_CLASSES, .zero = N_ ("Off"), .title = N_ ("Focal loss"),
    .help = N_ ("Exponent g: the training loss of a sample whose class is predicted with the "
                "probability p is multiplied by (1 − p)^g, so that samples which are already right "
                "count less; 2 is usual.") },
  { NUMBER (DOUBLE, loss_dice, "loss.dice", "0", 0, 1), GROUP (MODEL), RATE (NONE),
    .needs = DYNO_SETTING_NEEDS_MASKS, .zero = N_ ("Off"), .title = N_ ("Dice loss"),
    .help = N_ ("Share of the training loss that is 1 minus the Dice coefficient, averaged over "
                "the classes of a batch: a small class counts as much as a large one.") },
  { CHOICE (loss_class_weights, "loss.class_weights", "none", class_weights), GROUP (MODEL),
    .needs = DYNO_SETTING_NEEDS_CLASSES, .title = N_ ("Class weights"),
    .help =
        N_ ("balanced: the training loss weights each sample by the inverse frequency of its "
            "class; with labels, the samples that have a label by the number of samples without "
            "it for each of them; validation measures the loss without weights.") },
  { TEXT (loss_weights, "loss.weights"), GROUP (MODEL), .same_on_resume = TRUE,
    .needs = DYNO_SETTING_NEEDS_CLASSES, .zero = N_ ("Off"), .title = N_ ("Own class weights"),
    .help = N_ ("Weight of each class in the training loss: numbers in the order of the classes, "
                "as 1,2,0.5, or by name, as cat=2,dog=0.5, where the others have the weight 1; of "
                "labels, weight of the samples that have the label.") },

  { NUMBER (INT, image_size, "image_size", "0", 0, 8192), GROUP (PIPELINE), RATE (BOTH),
    .zero = N_ ("Own size"), .same_on_resume = TRUE, .title = N_ ("Image size"),
    .help = N_ ("Height and width to which images are scaled; 0 keeps the data set's own.") },
  { FLAG (augment_flip, "augment.flip", "false"), GROUP (AUGMENTATION), .same_on_resume = TRUE,
    .title = N_ ("Random flip"),
    .help = N_ ("Mirrors half of the training images from left to right, on the device.") },
  { FLAG (augment_flip_vertical, "augment.flip_vertical", "false"), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .title = N_ ("Random vertical flip"),
    .help = N_ ("Mirrors half of the training images from top to bottom.") },
  { NUMBER (DOUBLE, augment_crop, "augment.crop", "0", 0, 1), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random resized crop"),
    .help = N_ ("Takes a random part of each training image, of at least this share of its area, "
                "and enlarges it to the whole; 0 takes all of it.") },
  { NUMBER (DOUBLE, augment_crop_ratio, "augment.crop_ratio", "1.3333", 1, 10),
    GROUP (AUGMENTATION), .same_on_resume = TRUE, .title = N_ ("Ratio of crops"),
    .help = N_ ("How much wider than high, or higher than wide, a random crop may be.") },
  { CHOICE (augment_crop_from, "augment.crop_from", "sample", crops_from), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .title = N_ ("Crops are cut from"),
    .help = N_ ("sample: the image after it was scaled to its size; source: the image's file, of "
                "which only the crop is decoded: sharper and faster, but without a cache.") },
  { NUMBER (INT, augment_shift, "augment.shift", "0", 0, 1024), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random shift"),
    .help = N_ ("Moves each training image by up to so many pixels each way.") },
  { NUMBER (DOUBLE, augment_rotate, "augment.rotate", "0", 0, 180), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random rotation"),
    .help = N_ ("Turns each training image by up to so many degrees, both ways.") },
  { CHOICE (augment_pad, "augment.pad", "zero", pads), GROUP (AUGMENTATION), .same_on_resume = TRUE,
    .title = N_ ("Beyond the border"),
    .help = N_ ("Fills the area that shifts and rotations leave empty: black, or the image "
                "mirrored at its border.") },
  { NUMBER (DOUBLE, augment_brightness, "augment.brightness", "0", 0, 10), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random brightness"),
    .help = N_ ("Multiplies each training image by a random factor of at most this much above or "
                "below 1, on the device; 0 switches it off.") },
  { NUMBER (DOUBLE, augment_contrast, "augment.contrast", "0", 0, 10), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random contrast"),
    .help = N_ ("Multiplies the distance of each pixel from the mean grey of its image by a random "
                "factor of at most this much above or below 1.") },
  { NUMBER (DOUBLE, augment_saturation, "augment.saturation", "0", 0, 10), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random saturation"),
    .help = N_ ("Multiplies the distance of each pixel from its own grey by a random factor of at "
                "most this much above or below 1.") },
  { NUMBER (DOUBLE, augment_hue, "augment.hue", "0", 0, 0.5), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random hue"),
    .help = N_ ("Turns the colours of each training image round their circle by up to this share "
                "of it, both ways.") },
  { NUMBER (DOUBLE, augment_noise, "augment.noise", "0", 0, 10), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random noise"),
    .help = N_ ("Standard deviation of the Gaussian noise that is added to each normalised value "
                "of a training sample.") },
  { NUMBER (DOUBLE, augment_erase, "augment.erase", "0", 0, 1), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random erasing"),
    .help =
        N_ ("Share of the training images of which a random rectangle, of 2 to 33 percent of the "
            "area, is blotted out.") },
  { NUMBER (DOUBLE, augment_time_mask, "augment.time_mask", "0", 0, 1), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random time mask"),
    .help = N_ ("Blots out a random stretch of each training sequence, of up to this share of its "
                "steps.") },
  { NUMBER (DOUBLE, augment_time_shift, "augment.time_shift", "0", 0, 1), GROUP (AUGMENTATION),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Random time shift"),
    .help = N_ ("Moves each training sequence by up to this share of its steps, both ways; what "
                "goes out at one end comes in at the other.") },
  { NUMBER (DOUBLE, augment_mixup, "augment.mixup", "0", 0, 10), GROUP (AUGMENTATION),
    .needs = DYNO_SETTING_NEEDS_CLASSES, .same_on_resume = TRUE, .zero = N_ ("Off"),
    .title = N_ ("Mixup"),
    .help = N_ ("Blends each training image, and its class, with another of the batch; the share "
                "is drawn from a Beta distribution with this parameter: near 0 mostly one of the "
                "two, with 1 every share is equally likely.") },
  { NUMBER (DOUBLE, augment_cutmix, "augment.cutmix", "0", 0, 10), GROUP (AUGMENTATION),
    .needs = DYNO_SETTING_NEEDS_CLASSES, .same_on_resume = TRUE, .zero = N_ ("Off"),
    .title = N_ ("Cutmix"),
    .help = N_ ("Puts a rectangle of another image of the batch into each training image, and as "
                "much of its class; the share is drawn from a Beta distribution with this "
                "parameter. If mixup is on as well, each of the two takes half of the batches.") },
  { FLAG (data_shuffle, "data.shuffle", "true"), GROUP (PIPELINE), .same_on_resume = TRUE,
    .title = N_ ("Shuffle"), .help = N_ ("Takes the training samples in a new order each epoch.") },
  { CHOICE (data_balance, "data.balance", "none", balances), GROUP (PIPELINE),
    .needs = DYNO_SETTING_NEEDS_CLASSES, .same_on_resume = TRUE, .title = N_ ("Balance classes"),
    .help = N_ ("sampling: each class comes equally often in training, so samples of rare classes "
                "come several times in an epoch, in a new order each; validation stays as it "
                "is.") },
  { NUMBER (DOUBLE, data_val_split, "data.val_split", "0.1", 0, 0.9), GROUP (PIPELINE), RATE (NONE),
    .same_on_resume = TRUE, .title = N_ ("Validation share"),
    .help = N_ ("Share of the data set that is kept out of training for validation.") },
  { NUMBER (DOUBLE, data_test_split, "data.test_split", "0", 0, 0.9), GROUP (PIPELINE), RATE (NONE),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Test share"),
    .help = N_ ("Share of the data set that neither trains nor validates: the best weights are "
                "measured on it once, when the run ends. The validation share and the folds divide "
                "the rest.") },
  { NUMBER (INT, data_folds, "data.folds", "0", 0, DYNO_MOST_FOLDS), GROUP (PIPELINE), RATE (NONE),
    .same_on_resume = TRUE, .zero = N_ ("Off"), .title = N_ ("Folds"),
    .help = N_ ("Divides the data into so many equal parts, of which one validates in place of the "
                "validation share and the others train; “Add All Folds to Queue” in the menu, "
                "or dynoctl train --folds, has each of them validate a run.") },
  { NUMBER (INT, data_fold, "data.fold", "1", 1, DYNO_MOST_FOLDS), GROUP (PIPELINE), RATE (NONE),
    .same_on_resume = TRUE, .title = N_ ("Fold"),
    .help = N_ ("Which of the folds validates in this run.") },
  { TEXT (data_group_column, "data.group_column"), GROUP (PIPELINE), RATE (NONE),
    .opens_data = TRUE, .same_on_resume = TRUE, .zero = N_ ("No groups"),
    .title = N_ ("Group column"),
    .help = N_ ("Column of a list (CSV, TSV, JSON lines) that names the group of each sample, such "
                "as a patient or a site: all samples of a group come into the same part (training, "
                "validation, test) and the same fold. An empty cell is a group of its own.") },
  { CHOICE (data_normalise, "data.normalise", "true", normalises), GROUP (PIPELINE),
    .same_on_resume = TRUE, .title = N_ ("Normalise"),
    .help =
        N_ ("true: scales bytes to between 0 and 1, pixels as the data set advises, and values "
            "to predict to mean 0 and deviation 1; weights: the same, but the input by the mean "
            "and deviation that the pretrained weights were made with; false feeds all as they "
            "are.") },
  { NUMBER (DOUBLE, data_max_bad, "data.max_bad", "0.1", 0, 1), GROUP (ADVANCED), RATE (NONE),
    .title = N_ ("Unreadable share"),
    .help = N_ ("Share of the samples that may be unreadable; above it no run starts, and a run in "
                "progress stops.") },
  { FLAG (data_links, "data.links", "false"), GROUP (ADVANCED), RATE (NONE), .opens_data = TRUE,
    .title = N_ ("Follow links"),
    .help = N_ ("Takes files outside of the data set's folder that symbolic links in it lead "
                "to.") },
  { FLAG (data_one_class, "data.one_class", "false"), GROUP (ADVANCED), RATE (NONE),
    .opens_data = TRUE, .title = N_ ("Allow one class"),
    .help = N_ ("Accepts a data set whose samples are all of one class, from which nothing can be "
                "learned.") },

  { CHOICE (data_task, "data.task", "auto", tasks), GROUP (PIPELINE), .opens_data = TRUE,
    .same_on_resume = TRUE, .title = N_ ("Task"),
    .help =
        N_ ("Target of each sample: one of several classes, any number of several labels, values, "
            "which are numbers to predict, or the class of each pixel (pixels), from masks; auto: "
            "derived from the data, with a note where that is a guess.") },
  { CHOICE (data_layout, "data.layout", "auto", layouts), GROUP (ARRAYS), RATE (BOTH),
    .opens_data = TRUE, .same_on_resume = TRUE, .title = N_ ("Axes of arrays"),
    .help = N_ ("Order of the axes of a NumPy array: (N, H, W, C), (N, C, H, W), or derived from "
                "its shape (auto).") },

  { NUMBER (BYTES, vram_budget, "vram_budget", "0", 0, MOST_VRAM), GROUP (MEMORY), RATE (NONE),
    .same_weights = TRUE, .zero = N_ ("Automatic"), .by_preset = TRUE,
    .title = N_ ("Memory budget"),
    .help = N_ (
        "Device memory that the run may take, as 12GB or 512MB; 0 is all that the device has.") },
  { FLAG (checkpointing, "checkpointing", "false"), GROUP (MEMORY), .same_weights = TRUE,
    .tunable = { DYNO_TUNABLE_EACH, 0, 1, .baseline = 0 }, .title = N_ ("Activation checkpointing"),
    .help = N_ ("Computes activations a second time instead of keeping them: often half of the "
                "memory, for at most about a third more time a step.") },
  { FLAG (memory_shrink, "memory.shrink", "true"), GROUP (MEMORY), RATE (NONE),
    .same_weights = TRUE, .title = N_ ("Shrink to memory"),
    .help = N_ ("Where the device refuses memory that the plan counted on, continues with smaller "
                "micro-batches and more accumulation at the same effective batch.") },
  { FLAG (exchange_half, "exchange.half", "false"), GROUP (ADVANCED), RATE (NONE),
    .same_weights = TRUE, .depends_on = "amp=true", .title = N_ ("Exchange in fp16"),
    .help = N_ ("With several ranks, gradients travel between them in fp16 and are added up in "
                "fp32: half the bytes.") },
  { NUMBER (BYTES, exchange_bucket, "exchange.bucket", "0", 0, MOST_VRAM), GROUP (ADVANCED),
    RATE (NONE), .same_weights = TRUE, .zero = N_ ("Automatic"), .title = N_ ("Exchange bucket"),
    .help = N_ ("With several ranks, bytes of gradients that are exchanged at once during the "
                "backward pass; 0 chooses them by the size of the network.") },
  { FLAG (autotune, "autotune", "true"), GROUP (ADVANCED), .same_weights = TRUE,
    .depends_on = "deterministic=false", .title = N_ ("Kernel autotuning"),
    .help = N_ ("Measures the variants of each kernel on this device once, for some seconds, and "
                "keeps the fastest.") },
  { FLAG (deterministic, "deterministic", "false"), GROUP (ADVANCED), .same_weights = TRUE,
    .title = N_ ("Deterministic"),
    .help = N_ ("Chooses kernels by rule and never by timing, so that runs with the same seed are "
                "bit-identical.") },

  { NUMBER (INT, seed, "seed", "1", 0, MOST_SEED), GROUP (ADVANCED), RATE (NONE),
    .same_on_resume = TRUE, .title = N_ ("Seed"),
    .help = N_ (
        "Seed of all random choices: weights, split, order of samples, augmentation, dropout.") },
  { NUMBER (DOUBLE, checkpoint_minutes, "checkpoint_minutes", "5", 0, 1e6), GROUP (ADVANCED),
    RATE (NONE), .same_weights = TRUE, LIVE (STEP), .title = N_ ("Minutes per checkpoint"),
    .help = N_ ("Minutes after which a checkpoint is saved in the middle of an epoch; 0 saves only "
                "at the ends of epochs.") },
  { FLAG (log_trackio, "log.trackio", "false"), GROUP (ADVANCED), .same_weights = TRUE,
    .title = N_ ("Log for trackio"),
    .help = N_ ("Adds the steps of each epoch to trackio's project “dyno”, where its dashboard "
                "shows them (TRACKIO_DIR, or its own folder).") },
  { FLAG (log_mlflow, "log.mlflow", "false"), GROUP (ADVANCED), .same_weights = TRUE,
    .title = N_ ("Log for MLflow"),
    .help = N_ ("Adds the steps of each epoch to MLflow's experiment “dyno”, in the folder mlruns "
                "where the program was started (or MLFLOW_TRACKING_URI).") },
};

static const char *const group_titles[DYNO_SETTING_N_GROUPS] = {
  [DYNO_SETTING_GROUP_MODEL] = N_ ("Model"),
  [DYNO_SETTING_GROUP_TRAINING] = N_ ("Training"),
  [DYNO_SETTING_GROUP_PIPELINE] = N_ ("Data Pipeline"),
  [DYNO_SETTING_GROUP_AUGMENTATION] = N_ ("Augmentation"),
  [DYNO_SETTING_GROUP_MEMORY] = N_ ("Memory"),
  [DYNO_SETTING_GROUP_ADVANCED] = N_ ("Advanced"),
  [DYNO_SETTING_GROUP_ARRAYS] = N_ ("Arrays"),
};

static void
fill_table (void)
{
  static gsize once;

  if (!g_once_init_enter (&once))
    return;
  g_snprintf (default_workers, sizeof default_workers, "%u", MIN (4, dyno_cores_count ()));
  for (guint i = 0; i < DYNO_N_OPTIMIZERS; i++)
    {
      const DynoOptimizerInfo *optimizer = dyno_optimizer_get_info ((DynoOptimizer) i);

      optimizers[i] = optimizer->id;
      if (!optimizer->has_momentum)
        continue;
      g_strlcat (with_momentum, *with_momentum ? "," : "optimizer=", sizeof with_momentum);
      g_strlcat (with_momentum, optimizer->id, sizeof with_momentum);
    }
  g_once_init_leave (&once, 1);
}

const DynoSettingInfo *
dyno_setting_list (guint *n)
{
  fill_table ();
  if (n)
    *n = G_N_ELEMENTS (table);
  return table;
}

const DynoSettingInfo *
dyno_setting_find (const char *key)
{
  fill_table ();
  for (guint i = 0; key && i < G_N_ELEMENTS (table); i++)
    if (strcmp (table[i].key, key) == 0)
      return &table[i];
  return NULL;
}

const char *
dyno_setting_group_title (DynoSettingGroup group)
{
  g_return_val_if_fail ((guint) group < DYNO_SETTING_N_GROUPS, "");
  return group_titles[group];
}
