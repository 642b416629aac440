/* SPDX-License-Identifier: MIT */
/* Decides which classes the numbers and colours of a set of masks stand for.  All masks are counted
 * before anything is decided, since the meaning of a number depends on the other numbers. */
#include "intl.h"
#include "masklist.h"
#include "schema.h"
#include <inttypes.h>
#include <string.h>

#define IGNORED DYNO_MASK_IGNORED

DynoMaskList *
dyno_mask_list_new (void)
{
  DynoMaskList *masks = g_new0 (DynoMaskList, 1);

  masks->items = g_array_new (FALSE, TRUE, sizeof (DynoListedMask));
  dyno_mask_names_init (&masks->names);
  return masks;
}

void
dyno_mask_list_free (DynoMaskList *masks)
{
  if (!masks)
    return;
  g_array_unref (masks->items);
  if (masks->free_drawing)
    masks->free_drawing (masks->drawing);
  dyno_mask_names_clear (&masks->names);
  g_free (masks);
}

void
dyno_mask_content_clear (DynoMaskContent *content)
{
  g_clear_pointer (&content->counts, g_array_unref);
  g_clear_pointer (&content->reason, g_free);
}

void
dyno_mask_content_refuse (DynoMaskContent *content, char *reason)
{
  dyno_mask_content_clear (content);
  content->reason = reason;
}

/* --- counting --------------------------------------------------------------------------------- */

static void
add_count (GArray *counts, guint32 value, guint32 n)
{
  for (guint i = 0; i < counts->len; i++)
    {
      DynoMaskCount *one = &g_array_index (counts, DynoMaskCount, i);

      if (one->value == value)
        {
          one->count += n;
          return;
        }
    }
  g_array_append_val (counts, ((DynoMaskCount){ value, n }));
}

static guint32
value_at (const guint8 *pixels, const DynoMaskFacts *facts, guint64 i)
{
  const guint8 *p = pixels + 3 * i;

  return facts->colours ? (guint32) p[0] << 16 | (guint32) p[1] << 8 | p[2] : pixels[i];
}

GArray *
dyno_mask_count_values (const guint8 *pixels, const DynoMaskFacts *facts, char **reason)
{
  guint64 n = (guint64) facts->width * facts->height;
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (DynoMaskCount));

  /* Counts runs of equal values, which masks mostly consist of. */
  for (guint64 i = 0, end; i < n && counts->len <= DYNO_MASK_MAX_CLASSES + 1; i = end)
    {
      guint32 value = value_at (pixels, facts, i);

      for (end = i + 1; end < n && value_at (pixels, facts, end) == value;)
        end++;
      add_count (counts, value, (guint32) (end - i));
    }
  if (counts->len <= DYNO_MASK_MAX_CLASSES + 1)
    return counts;
  g_array_unref (counts);
  *reason =
      g_strdup_printf (_ ("it has more than %d colours, and a mask has one for each class: it "
                          "was blended or compressed"),
                       DYNO_MASK_MAX_CLASSES + 1);
  return NULL;
}

/* --- colours ---------------------------------------------------------------------------------- */

typedef struct {
  DynoMaskList *masks;
  DynoMaskContent *contents;
  guint n;
  DynoDatasetInfo *info;
  GPtrArray *notes;
} Decision;

static gboolean
is_usable (const DynoMaskContent *content, gboolean colours)
{
  return content->counts && content->facts.colours == colours;
}

static guint
count_usable (const Decision *d, gboolean colours)
{
  guint n = 0;

  for (guint i = 0; i < d->n; i++)
    n += is_usable (&d->contents[i], colours);
  return n;
}

static int
compare_colours (gconstpointer a, gconstpointer b)
{
  guint32 first = *(const guint32 *) a, second = *(const guint32 *) b;

  return first < second ? -1 : first > second;
}

/* The colours that occur, ascending. */
static GArray *
collect_colours (const Decision *d)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GArray *colours = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < d->n; i++)
    for (guint k = 0; is_usable (&d->contents[i], TRUE) && k < d->contents[i].counts->len; k++)
      {
        guint32 rgb = g_array_index (d->contents[i].counts, DynoMaskCount, k).value;

        if (g_hash_table_add (seen, GUINT_TO_POINTER (rgb)))
          g_array_append_val (colours, rgb);
      }
  g_array_sort (colours, compare_colours);
  return colours;
}

static gboolean
are_grey (const GArray *colours)
{
  for (guint i = 0; i < colours->len; i++)
    {
      guint32 rgb = g_array_index (colours, guint32, i), grey = rgb & 0xff;

      if (rgb != (grey << 16 | grey << 8 | grey))
        return FALSE;
    }
  return TRUE;
}

/* colours are ascending. */
static void
set_colours (DynoMaskList *masks, const guint32 *colours, const guint8 *ids, guint n)
{
  memcpy (masks->colours, colours, n * sizeof *colours);
  memcpy (masks->of_colour, ids, n);
  masks->table.colours = masks->colours;
  masks->table.of_colour = masks->of_colour;
  masks->table.n_colours = n;
}

static void
name_class (DynoDatasetInfo *info, guint id, const char *name)
{
  g_free (info->class_names[id]);
  info->class_names[id] = g_strdup (name);
}

/* The colours of the names' file; a name such as “void” is no class. */
static void
take_named_colours (Decision *d)
{
  const DynoMaskNames *names = &d->masks->names;
  guint32 colours[DYNO_MASK_MAX_CLASSES];
  guint8 ids[DYNO_MASK_MAX_CLASSES], of_row[DYNO_MASK_MAX_CLASSES];
  guint n = names->colours->len, n_classes = 0;

  for (guint i = 0; i < n; i++)
    of_row[i] = dyno_mask_name_is_void (names->names->pdata[i]) ? IGNORED : (guint8) n_classes++;
  dyno_dataset_info_set_classes (d->info, n_classes);
  for (guint i = 0; i < n; i++)
    if (of_row[i] != IGNORED)
      name_class (d->info, of_row[i], names->names->pdata[i]);
    else
      g_ptr_array_add (d->notes,
                       g_strdup_printf (_ ("Pixels of the colour of “%s” in “%s” are ignored"),
                                        (char *) names->names->pdata[i], names->file));
  memcpy (colours, names->colours->data, n * sizeof *colours);
  qsort (colours, n, sizeof *colours, compare_colours);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < n; k++)
      if (g_array_index (names->colours, guint32, k) == colours[i])
        ids[i] = of_row[k];
  set_colours (d->masks, colours, ids, n);
}

static void
take_found_colours (Decision *d, const GArray *colours)
{
  const DynoMaskNames *names = &d->masks->names;
  guint8 ids[DYNO_MASK_MAX_CLASSES];

  dyno_dataset_info_set_classes (d->info, colours->len);
  for (guint i = 0; i < colours->len; i++)
    {
      g_autofree char *hex = g_strdup_printf ("#%06x", g_array_index (colours, guint32, i));

      ids[i] = (guint8) i;
      name_class (d->info, i, i < names->names->len ? names->names->pdata[i] : hex);
    }
  set_colours (d->masks, (const guint32 *) (gpointer) colours->data, ids, colours->len);
  g_ptr_array_add (
      d->notes,
      g_strdup_printf (_ ("The %u colours of the masks are the classes, in the order of their red, "
                          "green and blue: a file classes.txt with a line “name: r,g,b” for each "
                          "colour sets names and order"),
                       colours->len));
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* The number that is white in a mask of these bits; 0: its numbers are always ids. */
static guint32
white_of (const DynoMaskFacts *facts)
{
  if (facts->colours || facts->bits >= 8)
    return 255;
  return facts->palette || facts->bits == 1 ? 0 : (1u << facts->bits) - 1;
}

/* TRUE where each mask has only 0 and its white (1 where it has no white), and some mask has the
 * white. */
static gboolean
are_binary (const Decision *d)
{
  gboolean any = FALSE;

  for (guint i = 0; i < d->n; i++)
    for (guint k = 0; d->contents[i].counts && k < d->contents[i].counts->len; k++)
      {
        guint32 value = g_array_index (d->contents[i].counts, DynoMaskCount, k).value,
                white = white_of (&d->contents[i].facts);

        if (value == 0)
          continue;
        if (value != (white ? white : 1))
          return FALSE;
        any = any || white > 0;
      }
  return any;
}

static guint
find_most (const Decision *d)
{
  guint32 most = 0;

  for (guint i = 0; i < d->n; i++)
    for (guint k = 0; d->contents[i].counts && k < d->contents[i].counts->len; k++)
      {
        guint32 value = g_array_index (d->contents[i].counts, DynoMaskCount, k).value;
        most = value < IGNORED ? MAX (most, value) : most;
      }
  return most;
}

static void
take_names (Decision *d, guint n_classes, const char *const *names, guint n_names)
{
  dyno_dataset_info_set_classes (d->info, n_classes);
  for (guint i = 0; i < MIN (n_names, n_classes); i++)
    name_class (d->info, i, names[i]);
}

static void
take_binary (Decision *d)
{
  static const char *const usual[] = { "background", "foreground" };
  const DynoMaskNames *names = &d->masks->names;
  const char *only[] = { "background", NULL };

  memset (d->masks->table.of_number, 1, sizeof d->masks->table.of_number);
  d->masks->table.of_number[0] = 0;
  if (names->names->len == 1)
    {
      only[1] = names->names->pdata[0];
      take_names (d, 2, only, 2);
    }
  else if (names->names->len > 1)
    take_names (d, names->names->len, (const char *const *) names->names->pdata, names->names->len);
  else
    take_names (d, 2, usual, 2);
  g_ptr_array_add (d->notes,
                   g_strdup_printf (_ ("The masks have only black and white: black is class 0, "
                                       "“%s”, and white is class 1, “%s”"),
                                    d->info->class_names[0], d->info->class_names[1]));
}

static void
take_ids (Decision *d)
{
  const DynoMaskNames *names = &d->masks->names;
  guint8 *of_number = d->masks->table.of_number;
  guint most = find_most (d);

  for (guint i = 0; i < 256; i++)
    of_number[i] = (guint8) i;
  if (d->masks->kind == DYNO_MASKS_CITYSCAPES)
    for (guint i = 0; i < 256; i++)
      of_number[i] = dyno_mask_get_cityscapes_id (i);
  if (d->masks->kind == DYNO_MASKS_CITYSCAPES
      || (d->masks->kind == DYNO_MASKS_CITYSCAPES_TRAIN && most < 19))
    take_names (d, 19, dyno_mask_cityscapes_names, 19);
  else if (names->names->len > 0)
    take_names (d, names->names->len, (const char *const *) names->names->pdata, names->names->len);
  else if (d->masks->kind == DYNO_MASKS_VOC && most < 21)
    take_names (d, 21, dyno_mask_voc_names, 21);
  else
    take_names (d, most + 1, NULL, 0);
}

/* --- masks that do not fit -------------------------------------------------------------------- */

static gboolean
is_known (const Decision *d, const DynoMaskFacts *facts, guint32 value)
{
  const DynoMaskTable *table = &d->masks->table;

  if (!facts->colours)
    return d->masks->kind == DYNO_MASKS_CITYSCAPES || table->of_number[value] == IGNORED
           || table->of_number[value] < d->info->n_classes;
  for (guint i = 0; i < table->n_colours; i++)
    if (table->colours[i] == value)
      return TRUE;
  return FALSE;
}

static guint8
class_of (const DynoMaskTable *table, const DynoMaskFacts *facts, guint32 value)
{
  return facts->colours ? dyno_mask_find_colour (table, value) : table->of_number[value];
}

static char *
describe_unknown (const Decision *d, const DynoMaskFacts *facts, guint32 value)
{
  const char *file = d->masks->names.file;

  if (facts->colours)
    return file ? g_strdup_printf (_ ("it has the colour #%06x, which “%s” does not name"), value,
                                   file)
                : g_strdup_printf (_ ("it has the colour #%06x, which is no class"), value);
  return g_strdup_printf (_ ("it has the class id %u, and the last one that “%s” names is %u"),
                          value, file ? file : "?", d->info->n_classes - 1);
}

/* Refuses a mask with an unknown value, or without a pixel that counts; else counts its pixels. */
static void
take_content (Decision *d, DynoMaskContent *content)
{
  const DynoMaskTable *table = &d->masks->table;
  const DynoMaskFacts *facts = &content->facts;
  gboolean counts = FALSE;

  for (guint k = 0; k < content->counts->len; k++)
    {
      guint32 value = g_array_index (content->counts, DynoMaskCount, k).value;

      if (!is_known (d, facts, value))
        {
          dyno_mask_content_refuse (content, describe_unknown (d, facts, value));
          return;
        }
      counts = counts || class_of (table, facts, value) != IGNORED;
    }
  if (!counts)
    {
      dyno_mask_content_refuse (content, g_strdup (_ ("all its pixels are ignored")));
      return;
    }
  for (guint k = 0; k < content->counts->len; k++)
    {
      const DynoMaskCount *one = &g_array_index (content->counts, DynoMaskCount, k);
      guint8 id = class_of (table, facts, one->value);

      if (id == IGNORED)
        d->info->n_ignored += one->count;
      else
        d->info->class_counts[id] += one->count;
    }
}

static void
refuse_all (Decision *d, gboolean colours, const char *reason)
{
  for (guint i = 0; i < d->n; i++)
    if (is_usable (&d->contents[i], colours))
      dyno_mask_content_refuse (&d->contents[i], g_strdup (reason));
}

/* Converts grey colours to numbers. */
static void
read_greys (Decision *d)
{
  for (guint i = 0; i < d->n; i++)
    {
      DynoMaskContent *content = &d->contents[i];

      if (!is_usable (content, TRUE))
        continue;
      content->facts.colours = FALSE;
      content->facts.bits = 8;
      for (guint k = 0; k < content->counts->len; k++)
        g_array_index (content->counts, DynoMaskCount, k).value &= 0xff;
    }
}

/* Gives each grey colour the class of its number. */
static void
take_greys (Decision *d)
{
  guint32 colours[256];

  for (guint32 i = 0; i < 256; i++)
    colours[i] = i << 16 | i << 8 | i;
  set_colours (d->masks, colours, d->masks->table.of_number, 256);
}

gboolean
dyno_mask_list_decide (DynoMaskList *masks, DynoMaskContent *contents, guint n,
                       DynoDatasetInfo *info, GPtrArray *notes, GError **error)
{
  Decision d = { masks, contents, n, info, notes };
  guint n_coloured = count_usable (&d, TRUE), n_plain = count_usable (&d, FALSE);
  gboolean named = masks->names.colours->len > 0;
  g_autoptr (GArray) colours = collect_colours (&d);
  gboolean grey = n_coloured > 0 && !named && are_grey (colours);

  if (n_coloured > 0 && n_plain > 0 && !grey)
    {
      gboolean drop_plain = n_coloured >= n_plain;

      refuse_all (&d, !drop_plain,
                  drop_plain ? _ ("it has numbers for the classes, and most masks have colours")
                             : _ ("it has colours for the classes, and most masks have numbers"));
      n_coloured = drop_plain ? n_coloured : 0;
    }
  if (n_coloured == 0 || grey)
    {
      read_greys (&d);
      if (are_binary (&d))
        take_binary (&d);
      else
        take_ids (&d);
      if (grey)
        take_greys (&d);
    }
  else if (named)
    take_named_colours (&d);
  else if (colours->len <= DYNO_MASK_MAX_CLASSES)
    take_found_colours (&d, colours);
  else
    {
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
          _ ("The masks of “%s” have %u colours, and at most %d classes are possible: name the "
             "classes with their colours in a file classes.txt, a line “name: r,g,b” each"),
          info->name, colours->len, DYNO_MASK_MAX_CLASSES);
      return FALSE;
    }
  info->n_ignored = 0;
  for (guint i = 0; i < n; i++)
    if (contents[i].counts)
      take_content (&d, &contents[i]);
  return TRUE;
}
