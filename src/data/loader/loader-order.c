/* SPDX-License-Identifier: MIT */
/* The order of an epoch follows only from the seed and the epoch's number and is made anew for each
 * epoch, so that a run that is resumed in any epoch continues as if it had not stopped. */
#include "loader-private.h"
#include "dataset-class.h"
#include "rng.h"
#include <string.h>

#define SEED_KEY G_GUINT64_CONSTANT (0x666c6970)

guint32
dyno_loader_get_seed (const DynoLoader *loader, guint64 epoch, guint64 position)
{
  return (guint32) (dyno_rng_at (loader->params.seed ^ SEED_KEY, epoch, position) >> 32);
}

/* Memory to take samples from all classes in turn, allocated with the loader. */
struct _DynoClassTurns {
  guint32 n_classes;
  guint32 *starts;  /* (n_classes + 1): indices in places */
  guint32 *next;    /* (n_classes): samples of a class taken since it was shuffled */
  guint32 *present; /* (n_present): classes that have a sample */
  guint32 n_present;
  guint32 *places; /* (n_samples), by class */
};

void
dyno_class_turns_free (DynoClassTurns *turns)
{
  if (!turns)
    return;
  g_free (turns->starts);
  g_free (turns->next);
  g_free (turns->present);
  g_free (turns->places);
  g_free (turns);
}

static guint32
class_of (const DynoLoader *loader, guint32 place)
{
  return (guint32) dyno_dataset_get_label (loader->dataset, loader->indices[place]);
}

DynoClassTurns *
dyno_class_turns_new (const DynoLoader *loader)
{
  DynoClassTurns *turns = g_new0 (DynoClassTurns, 1);
  guint32 n_classes = loader->dataset->info.n_classes;

  turns->n_classes = n_classes;
  turns->starts = g_try_new0 (guint32, (gsize) n_classes + 1);
  turns->next = g_try_new0 (guint32, (gsize) n_classes + 1);
  turns->present = g_try_new0 (guint32, (gsize) n_classes + 1);
  turns->places = g_try_new0 (guint32, (gsize) loader->n_samples + 1);
  if (!turns->starts || !turns->next || !turns->present || !turns->places)
    {
      dyno_class_turns_free (turns);
      return NULL;
    }
  for (guint32 i = 0; i < loader->n_samples; i++)
    turns->starts[class_of (loader, i) + 1]++;
  for (guint32 c = 0; c < n_classes; c++)
    {
      if (turns->starts[c + 1] > 0)
        turns->present[turns->n_present++] = c;
      turns->starts[c + 1] += turns->starts[c];
    }
  return turns;
}

static void
shuffle_class (DynoClassTurns *turns, DynoRng *rng, guint32 c)
{
  dyno_rng_shuffle (rng, turns->places + turns->starts[c], turns->starts[c + 1] - turns->starts[c]);
  turns->next[c] = 0;
}

/* Classes take turns, so that their numbers of samples differ by one at most; within a class all
 * samples come before one comes again.  Each epoch begins with another class. */
static void
take_turns (DynoLoader *loader, DynoRng *rng, guint64 epoch)
{
  DynoClassTurns *turns = loader->turns;

  memset (turns->next, 0, turns->n_classes * sizeof *turns->next);
  for (guint32 i = 0; i < loader->n_samples; i++)
    {
      guint32 c = class_of (loader, i);
      turns->places[turns->starts[c] + turns->next[c]++] = i;
    }
  for (guint32 k = 0; k < turns->n_present; k++)
    shuffle_class (turns, rng, turns->present[k]);
  for (guint32 i = 0; i < loader->n_samples; i++)
    {
      guint32 c = turns->present[(i + epoch) % turns->n_present];

      if (turns->next[c] == turns->starts[c + 1] - turns->starts[c])
        shuffle_class (turns, rng, c);
      loader->order[i] = turns->places[turns->starts[c] + turns->next[c]++];
    }
}

guint64
dyno_loader_find_position (const DynoLoader *loader, guint64 batch)
{
  const DynoLoaderParams *params = &loader->params;
  guint64 turn = MAX (params->turn, 1);

  if (params->ranks > 1)
    batch = (batch / turn * params->ranks + params->rank) * turn + batch % turn;
  return batch * params->batch;
}

void
dyno_loader_make_order (DynoLoader *loader, guint64 epoch)
{
  DynoRng rng = dyno_rng_init (loader->params.seed, epoch);

  for (guint32 i = 0; i < loader->n_samples; i++)
    loader->order[i] = i;
  if (loader->turns)
    take_turns (loader, &rng, epoch);
  if (loader->params.shuffle || loader->turns)
    dyno_rng_shuffle (&rng, loader->order, loader->n_samples);
}
