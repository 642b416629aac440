/* SPDX-License-Identifier: MIT */
/* The table of settings, and text to value and back.
 *
 * Invariants: the order of the table is the order in files and in the window; a value that is
 * refused leaves the struct as it was; what dyno_settings_get writes, dyno_settings_set reads to
 * the same
 * bits, in any locale. */
#include "settings.h"
#include "intl.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define MOST_SEED 9007199254740991.0 /* 2^53 - 1: exact as a double */
#define GIB       (G_GINT64_CONSTANT (1) << 30)
#define MIB       (G_GINT64_CONSTANT (1) << 20)
#define KIB       (G_GINT64_CONSTANT (1) << 10)

static const char *const optimizers[] = { "sgd", "adamw", NULL };
static const char *const layouts[] = { "auto", "nhwc", "nchw", NULL }; /* DynoAxes */
static const char *const schedules[] = { "constant", "cosine", "step", NULL };
static char default_workers[8];

#define AT(member) .offset = G_STRUCT_OFFSET (DynoSettings, member)
#define BOOL(member, name, value, words, sentence)                                          \
  {                                                                                         \
    .key = name, .title = words, .help = sentence, .type = DYNO_SETTING_BOOL, .maximum = 1, \
    .default_value = value, AT (member)                                                     \
  }
#define NUMBER(kind, member, name, least, most, value, may_change, words, sentence)               \
  {                                                                                               \
    .key = name, .title = words, .help = sentence, .type = DYNO_SETTING_##kind, .minimum = least, \
    .maximum = most, .default_value = value, .live = may_change, AT (member)                      \
  }
#define ENUM(member, name, names, value, words, sentence)                                      \
  {                                                                                            \
    .key = name, .title = words, .help = sentence, .type = DYNO_SETTING_ENUM, .values = names, \
    .default_value = value, .maximum = G_N_ELEMENTS (names) - 2, AT (member)                   \
  }

static const DynoSettingInfo table[] = {
  NUMBER (INT, batch_size, "batch_size", 1, 65536, "32", FALSE, N_ ("Batch size"),
          N_ ("Samples that go through the network at once; larger ones need more memory.")),
  BOOL (
      amp, "amp", "true", N_ ("Mixed precision (AMP)"),
      N_ ("Computes in fp16 with fp32 master weights and loss scaling; fp32 throughout when off.")),
  NUMBER (INT, workers, "workers", 0, 256, default_workers, TRUE, N_ ("Workers"),
          N_ ("Threads that decode samples; with 0 the training thread decodes itself.")),
  NUMBER (INT, prefetch, "prefetch", 1, 64, "2", TRUE, N_ ("Prefetch"),
          N_ ("Batches that the workers prepare ahead of the step.")),
  BOOL (pinned, "pinned", "true", N_ ("Pinned memory"),
        N_ ("Decodes into page-locked memory that the device copies from by itself.")),
  BOOL (persistent_workers, "persistent_workers", "true", N_ ("Persistent workers"),
        N_ ("Keeps the worker threads from one epoch to the next.")),
  BOOL (cache, "cache", "false", N_ ("Cache samples"),
        N_ ("Keeps decoded samples in main memory, as many as fit into half of what is free.")),
  NUMBER (INT, accumulate, "accumulate", 1, 1024, "1", FALSE, N_ ("Accumulation"),
          N_ ("Batches whose gradients are added up before each update: a larger batch without "
              "more memory.")),
  NUMBER (DOUBLE, clip_norm, "clip_norm", 0, 1e6, "0", TRUE, N_ ("Gradient clipping"),
          N_ ("Largest norm that the gradient may have; 0 switches clipping off.")),
  BOOL (checkpointing, "checkpointing", "false", N_ ("Activation checkpointing"),
        N_ ("Computes cheap activations a second time instead of keeping them: less memory, a "
            "little slower.")),
  BOOL (autotune, "autotune", "true", N_ ("Kernel autotuning"),
        N_ ("Measures the variants of each kernel on this GPU once, for some seconds, and keeps "
            "the fastest.")),
  BOOL (deterministic, "deterministic", "false", N_ ("Deterministic"),
        N_ ("Takes kernels by rule and never by timing, so that runs with one seed are equal to "
            "the bit.")),
  ENUM (optimizer, "optimizer", optimizers, "sgd", N_ ("Optimizer"),
        N_ ("How gradients change the weights: SGD with momentum, or AdamW.")),
  NUMBER (DOUBLE, lr, "lr", 0, 100, "0.05", TRUE, N_ ("Learning rate"),
          N_ ("Size of the update at the height of the schedule; usual are 0.05 for SGD and 0.001 "
              "for AdamW.")),
  NUMBER (DOUBLE, momentum, "momentum", 0, 0.9999, "0.9", TRUE, N_ ("Momentum"),
          N_ ("Share of the last update that SGD carries on.")),
  NUMBER (DOUBLE, weight_decay, "weight_decay", 0, 1, "0.0005", TRUE, N_ ("Weight decay"),
          N_ ("Pulls the weights towards zero a little with each update.")),
  ENUM (schedule, "schedule", schedules, "cosine", N_ ("Schedule"),
        N_ ("How the learning rate falls: not at all, along a cosine, or to a tenth after each "
            "third of the run.")),
  NUMBER (DOUBLE, warmup_epochs, "warmup_epochs", 0, 1000, "0.2", FALSE, N_ ("Warm-up"),
          N_ ("Epochs over which the learning rate rises to its height.")),
  NUMBER (DOUBLE, label_smoothing, "label_smoothing", 0, 0.9, "0", FALSE, N_ ("Label smoothing"),
          N_ ("Share of the target that is spread over all classes.")),
  NUMBER (INT, epochs, "epochs", 1, 1000000, "10", TRUE, N_ ("Epochs"),
          N_ ("How often the training goes through the data set.")),
  NUMBER (DOUBLE, checkpoint_minutes, "checkpoint_minutes", 0, 1e6, "5", TRUE,
          N_ ("Checkpoint every"),
          N_ ("Minutes after which a checkpoint is saved in the middle of an epoch; 0 saves at the "
              "ends of epochs alone.")),
  NUMBER (
      INT, seed, "seed", 0, MOST_SEED, "1", FALSE, N_ ("Seed"),
      N_ ("Start of all random choices: weights, split, order of samples, augmentation, dropout.")),
  NUMBER (
      BYTES, vram_budget, "vram_budget", 0, 17592186044416.0, "0", FALSE, N_ ("VRAM budget"),
      N_ ("Device memory that the run may take, as 12GB or 512MB; 0 is all that the device has.")),
  NUMBER (INT, image_size, "image_size", 0, 8192, "0", FALSE, N_ ("Image size"),
          N_ ("Height and width that images are brought to; 0 keeps the data set's own.")),
  BOOL (augment_flip, "augment.flip", "false", N_ ("Random flip"),
        N_ ("Mirrors half of the training images from left to right, on the device.")),
  BOOL (data_shuffle, "data.shuffle", "true", N_ ("Shuffle"),
        N_ ("Takes the training samples in a new order each epoch.")),
  NUMBER (DOUBLE, data_val_split, "data.val_split", 0, 0.9, "0.1", FALSE, N_ ("Validation share"),
          N_ ("Part of the data set that is kept out of training to check on it.")),
  BOOL (data_normalise, "data.normalise", "true", N_ ("Normalise"),
        N_ ("Scales bytes to between 0 and 1, pixels as the data set advises, and values to "
            "predict to mean 0 and deviation "
            "1; "
            "off feeds all as they are.")),
  ENUM (data_layout, "data.layout", layouts, "auto", N_ ("Axes of arrays"),
        N_ ("Order of the axes of a NumPy array: (N, H, W, C), (N, C, H, W), or as its shape "
            "tells.")),
  NUMBER (DOUBLE, data_max_bad, "data.max_bad", 0, 1, "0.1", FALSE, N_ ("Unreadable share"),
          N_ ("Share of the samples that may be unreadable; past it the run stops.")),
  BOOL (data_links, "data.links", "false", N_ ("Follow links"),
        N_ ("Takes files outside of the data set's folder that symbolic links in it lead to.")),
  BOOL (data_one_class, "data.one_class", "false", N_ ("Allow one class"),
        N_ ("Takes a data set whose samples are all of one class, which teaches nothing.")),
  NUMBER (DOUBLE, model_width, "model.width", 0.05, 8, "1", FALSE, N_ ("Model width"),
          N_ ("Scales the number of channels of the model.")),
};

static void
fill_default_values (void)
{
  static gsize once;

  if (!g_once_init_enter (&once))
    return;
  g_snprintf (default_workers, sizeof default_workers, "%u", MIN (4, g_get_num_processors ()));
  g_once_init_leave (&once, 1);
}

const DynoSettingInfo *
dyno_setting_list (guint *n)
{
  fill_default_values ();
  if (n)
    *n = G_N_ELEMENTS (table);
  return table;
}

const DynoSettingInfo *
dyno_setting_find (const char *key)
{
  fill_default_values ();
  for (guint i = 0; key && i < G_N_ELEMENTS (table); i++)
    if (strcmp (table[i].key, key) == 0)
      return &table[i];
  return NULL;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* The fewest digits that read back to the same bits. */
static char *
double_to_text (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];

  for (int digits = 1; digits <= 17; digits++)
    {
      g_snprintf (format, sizeof format, "%%.%dg", digits);
      g_ascii_formatd (text, sizeof text, format, value);
      if (g_ascii_strtod (text, NULL) == value)
        break;
    }
  return g_strdup (text);
}

static char *
bytes_to_text (gint64 bytes)
{
  if (bytes > 0 && bytes % GIB == 0)
    return g_strdup_printf ("%" G_GINT64_FORMAT "GB", bytes / GIB);
  if (bytes > 0 && bytes % MIB == 0)
    return g_strdup_printf ("%" G_GINT64_FORMAT "MB", bytes / MIB);
  return g_strdup_printf ("%" G_GINT64_FORMAT, bytes);
}

/* A plain decimal number without sign, hexadecimals or words; *rest is what follows. */
static gboolean
read_decimal (const char *text, double *value, const char **rest)
{
  gsize length = strspn (text, "0123456789.");
  g_autofree char *number = NULL;
  char *end;

  if (length > 0 && (text[length] == 'e' || text[length] == 'E'))
    {
      gsize exponent = 1 + (text[length + 1] == '+' || text[length + 1] == '-');
      gsize digits = strspn (text + length + exponent, "0123456789");
      length += digits > 0 ? exponent + digits : 0;
    }
  if (length == 0 || length > 64)
    return FALSE;
  number = g_strndup (text, length);
  *value = g_ascii_strtod (number, &end);
  *rest = text + length;
  return *end == '\0' && isfinite (*value);
}

static gboolean
read_bytes (const char *text, double *value)
{
  static const struct {
    const char *unit;
    gint64 scale;
  } units[] = { { "", 1 },      { "B", 1 },    { "K", KIB },  { "KB", KIB },
                { "KiB", KIB }, { "M", MIB },  { "MB", MIB }, { "MiB", MIB },
                { "G", GIB },   { "GB", GIB }, { "GiB", GIB } };
  const char *rest;

  if (!read_decimal (text, value, &rest))
    return FALSE;
  rest += strspn (rest, " ");
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_ascii_strcasecmp (rest, units[i].unit) == 0)
      {
        *value = floor (*value * (double) units[i].scale + 0.5);
        return TRUE;
      }
  return FALSE;
}

static gboolean
read_bool (const char *text, double *value)
{
  static const char *const words[][4] = { { "false", "no", "off", "0" },
                                          { "true", "yes", "on", "1" } };

  for (guint is_true = 0; is_true < 2; is_true++)
    for (guint i = 0; i < 4; i++)
      if (g_ascii_strcasecmp (text, words[is_true][i]) == 0)
        {
          *value = is_true;
          return TRUE;
        }
  return FALSE;
}

static gboolean
read_enum (const DynoSettingInfo *info, const char *text, double *value)
{
  for (guint i = 0; info->values[i]; i++)
    if (g_ascii_strcasecmp (text, info->values[i]) == 0)
      {
        *value = i;
        return TRUE;
      }
  return FALSE;
}

static gboolean
read_value (const DynoSettingInfo *info, const char *text, double *value)
{
  const char *rest;

  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
      return read_bool (text, value);
    case DYNO_SETTING_ENUM:
      return read_enum (info, text, value);
    case DYNO_SETTING_BYTES:
      return read_bytes (text, value);
    case DYNO_SETTING_INT:
      return text[0] && strspn (text, "0123456789") == strlen (text)
             && read_decimal (text, value, &rest);
    case DYNO_SETTING_DOUBLE:
    default:
      return read_decimal (text, value, &rest) && *rest == '\0';
    }
}

/* --- words ------------------------------------------------------------------------------------ */

static char *
allowed_words (const DynoSettingInfo *info)
{
  g_autofree char *least = double_to_text (info->minimum), *most = double_to_text (info->maximum);

  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
      return g_strdup (_ ("true or false"));
    case DYNO_SETTING_ENUM:
      return g_strjoinv (", ", (char **) info->values);
    case DYNO_SETTING_BYTES:
      return g_strdup (_ ("a number of bytes or a size as 12GB or 512MB, up to 16384GB; 0 is all "
                          "that the device has"));
    case DYNO_SETTING_INT:
      return g_strdup_printf (_ ("a whole number from %.0f to %.0f"), info->minimum, info->maximum);
    case DYNO_SETTING_DOUBLE:
    default:
      return g_strdup_printf (_ ("a number from %s to %s"), least, most);
    }
}

static gboolean
refuse (const DynoSettingInfo *info, const char *value, GError **error)
{
  g_autofree char *allowed = allowed_words (info),
                  *shown = g_utf8_make_valid (value, (gssize) strnlen (value, 60));

  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING, "%s cannot be “%s”; it is %s",
               info->key, shown, allowed);
  return FALSE;
}

/* Edits between two short words (Levenshtein). */
static guint
distance (const char *a, const char *b)
{
  guint row[64];
  gsize n = MIN (strlen (b), G_N_ELEMENTS (row) - 1);

  for (guint j = 0; j <= n; j++)
    row[j] = j;
  for (guint i = 1; a[i - 1] && i < G_N_ELEMENTS (row); i++)
    {
      guint diagonal = row[0];
      row[0] = i;
      for (guint j = 1; j <= n; j++)
        {
          guint substituted = diagonal + (g_ascii_tolower (a[i - 1]) != b[j - 1]);
          diagonal = row[j];
          row[j] = MIN (substituted, 1 + MIN (row[j], row[j - 1]));
        }
    }
  return row[n];
}

/* The key that was probably meant: one that holds the word, or is held by it, or is a few edits
 * away. */
static const char *
guess_key (const char *key)
{
  static const char *const others[][2] = {
    { "learning_rate", "lr" },    { "num_workers", "workers" }, { "mixed_precision", "amp" },
    { "grad_clip", "clip_norm" }, { "pin_memory", "pinned" },   { "budget", "vram_budget" }
  };
  const char *best = NULL;
  guint least = MAX (2, (guint) strlen (key) / 3) + 1;

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_ascii_strcasecmp (key, others[i][0]) == 0)
      return others[i][1];
  for (guint i = 0; strlen (key) >= 3 && i < G_N_ELEMENTS (table); i++)
    if (strstr (table[i].key, key) || (strlen (table[i].key) > 2 && strstr (key, table[i].key)))
      return table[i].key;
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (distance (key, table[i].key) < least)
      {
        least = distance (key, table[i].key);
        best = table[i].key;
      }
  return best;
}

static const DynoSettingInfo *
find_or_fail (const char *key, GError **error)
{
  const DynoSettingInfo *info = dyno_setting_find (key);
  g_autofree char *shown = NULL;
  const char *guess;

  if (info)
    return info;
  guess = guess_key (key);
  shown = g_utf8_make_valid (key, (gssize) strnlen (key, 60));
  if (guess)
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                 _ ("There is no setting “%s”; did you mean “%s”?"), shown, guess);
  else
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING, _ ("There is no setting “%s”"),
                 shown);
  return NULL;
}

/* --- fields ----------------------------------------------------------------------------------- */

static double
get_field (const DynoSettings *settings, const DynoSettingInfo *info)
{
  gconstpointer field = G_STRUCT_MEMBER_P (settings, info->offset);

  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
    case DYNO_SETTING_ENUM:
      return *(const gint *) field;
    case DYNO_SETTING_INT:
    case DYNO_SETTING_BYTES:
      return (double) *(const gint64 *) field;
    case DYNO_SETTING_DOUBLE:
    default:
      return *(const double *) field;
    }
}

/* FALSE when out of range, or not whole where it must be. */
static gboolean
set_field (DynoSettings *settings, const DynoSettingInfo *info, double value)
{
  gpointer field = G_STRUCT_MEMBER_P (settings, info->offset);

  if (!(value >= info->minimum && value <= info->maximum))
    return FALSE;
  if (info->type != DYNO_SETTING_DOUBLE && value != floor (value))
    return FALSE;
  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
    case DYNO_SETTING_ENUM:
      *(gint *) field = (gint) value;
      break;
    case DYNO_SETTING_INT:
    case DYNO_SETTING_BYTES:
      *(gint64 *) field = (gint64) value;
      break;
    case DYNO_SETTING_DOUBLE:
    default:
      *(double *) field = value == 0 ? 0 : value; /* no negative zero */
      break;
    }
  return TRUE;
}

void
dyno_settings_init (DynoSettings *settings)
{
  fill_default_values ();
  memset (settings, 0, sizeof *settings);
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      double value = 0;
      gboolean good = read_value (&table[i], table[i].default_value, &value)
                      && set_field (settings, &table[i], value);
      g_assert (good);
    }
}

gboolean
dyno_settings_set (DynoSettings *settings, const char *key, const char *text, GError **error)
{
  const DynoSettingInfo *info = find_or_fail (key, error);
  g_autofree char *stripped = g_strstrip (g_strdup (text ? text : ""));
  double value = 0;

  if (!info)
    return FALSE;
  return (read_value (info, stripped, &value) && set_field (settings, info, value))
         || refuse (info, stripped, error);
}

char *
dyno_settings_get (const DynoSettings *settings, const char *key)
{
  const DynoSettingInfo *info = dyno_setting_find (key);
  double value;

  g_return_val_if_fail (info, NULL);
  value = get_field (settings, info);
  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
      return g_strdup (value != 0 ? "true" : "false");
    case DYNO_SETTING_ENUM:
      return g_strdup (info->values[(guint) value]);
    case DYNO_SETTING_BYTES:
      return bytes_to_text ((gint64) value);
    case DYNO_SETTING_INT:
      return g_strdup_printf ("%.0f", value);
    case DYNO_SETTING_DOUBLE:
    default:
      return double_to_text (value);
    }
}

double
dyno_settings_get_number (const DynoSettings *settings, const char *key)
{
  const DynoSettingInfo *info = dyno_setting_find (key);

  g_return_val_if_fail (info, 0);
  return get_field (settings, info);
}

gboolean
dyno_settings_set_number (DynoSettings *settings, const char *key, double value, GError **error)
{
  const DynoSettingInfo *info = find_or_fail (key, error);
  g_autofree char *text = NULL;

  if (!info)
    return FALSE;
  if (set_field (settings, info, value))
    return TRUE;
  text = double_to_text (value);
  return refuse (info, text, error);
}

gboolean
dyno_settings_equal (const DynoSettings *a, const DynoSettings *b)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (get_field (a, &table[i]) != get_field (b, &table[i]))
      return FALSE;
  return TRUE;
}
