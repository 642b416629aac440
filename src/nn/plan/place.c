/* SPDX-License-Identifier: MIT */
/* Placement of live ranges in an arena: greedy, in a few orders, such as the largest or the longest
 * range first, of which the smallest result is kept.
 *
 * Ranges that are a tiny share of the whole are put into the gaps that the large ranges leave, so
 * that orders are tried only for the large ranges.  Where no order by size or length comes near the
 * bound, each order is changed a few times: ranges that were placed too high are moved forward in
 * it.
 * Where the result is larger than one buffer may be, all ranges are placed once more, with the
 * addresses cut into buffers of that size.  No range straddles two buffers; the unused end of a
 * buffer is not counted.
 * Each range is put into the lowest gap (or the tightest) that is free over all its levels, as in
 * Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020), greedy by
 * size. */
#include "plan-private.h"
#include "checked.h"
#include <string.h>

/* A range below this share of the bound is tiny. */
#define TINY_FRACTION 1024
/* The search ends when a result exceeds the bound by at most 1 / NEAR_FRACTION of it; each order is
 * changed at most ROUNDS times. */
#define NEAR_FRACTION 256
#define ROUNDS        48

typedef enum { ORDER_SIZE, ORDER_AREA, ORDER_LENGTH, ORDER_TIME, ORDER_N } Order;

typedef struct {
  Order order;
  gboolean tight; /* the smallest gap that fits instead of the lowest */
  guint n;        /* number of large ranges */
  DynoLiveRange *ranges;
  guint *sequence; /* indices in the order of placing: of the large ranges, then of the tiny ones */
  guint *placed;   /* indices by offset */
  guint64 *offsets;     /* of each range */
  guint64 buffer_bytes; /* buffer size: no range straddles a multiple of it */
  /* end of the ranges in each buffer; the last entry: in all buffers past the limit */
  guint64 ends[DYNO_PLAN_MAX_ARENA_BUFFERS + 1];
} Placement;

static guint64
range_length (const DynoLiveRange *range)
{
  return (guint64) range->last - range->first + 1;
}

static gint
compare_ranges (gconstpointer a, gconstpointer b, gpointer data)
{
  const Placement *p = data;
  guint i = *(const guint *) a, k = *(const guint *) b;
  const DynoLiveRange *x = &p->ranges[i], *y = &p->ranges[k];
  double rank_x = (double) x->size_bytes, rank_y = (double) y->size_bytes;
  if (p->order == ORDER_AREA)
    {
      rank_x *= (double) range_length (x);
      rank_y *= (double) range_length (y);
    }
  else if (p->order == ORDER_LENGTH)
    {
      rank_x = (double) range_length (x);
      rank_y = (double) range_length (y);
    }
  else if (p->order == ORDER_TIME)
    {
      rank_x = -(double) x->first;
      rank_y = -(double) y->first;
    }
  if (rank_x != rank_y)
    return rank_x > rank_y ? -1 : 1;
  if (x->size_bytes != y->size_bytes)
    return x->size_bytes > y->size_bytes ? -1 : 1;
  return i < k ? -1 : i > k;
}

/* The first offset from `offset` on at which the range lies in one buffer. */
static guint64
keep_whole (const Placement *p, guint64 offset, guint64 size_bytes)
{
  guint64 left = p->buffer_bytes - offset % p->buffer_bytes;
  return size_bytes <= left || size_bytes > p->buffer_bytes ? offset : offset + left;
}

/* The offset for one range among the placed ranges. */
static guint64
find_gap (const Placement *p, const DynoLiveRange *range, guint n_placed)
{
  guint64 end = 0; /* end of the placed ranges that meet this range */
  guint64 best = G_MAXUINT64, best_size = G_MAXUINT64;
  for (guint i = 0; i < n_placed; i++)
    {
      const DynoLiveRange *other = &p->ranges[p->placed[i]];
      guint64 offset = p->offsets[p->placed[i]];
      if (other->last < range->first || other->first > range->last)
        continue;
      guint64 start = keep_whole (p, end, range->size_bytes);
      if (offset > start && offset - start >= range->size_bytes && offset - start < best_size)
        {
          best = start;
          best_size = offset - start;
          if (!p->tight)
            return best;
        }
      end = MAX (end, offset + other->size_bytes);
    }
  return best == G_MAXUINT64 ? keep_whole (p, end, range->size_bytes) : best;
}

static void
sort_sequence (Placement *p)
{
  g_qsort_with_data (p->sequence, (gint) p->n, sizeof (guint), compare_ranges, p);
}

static void
insert_placed (Placement *p, guint index, guint64 offset, guint n_placed)
{
  guint at = n_placed;
  while (at > 0 && p->offsets[p->placed[at - 1]] > offset)
    at--;
  memmove (p->placed + at + 1, p->placed + at, (n_placed - at) * sizeof (guint));
  p->placed[at] = index;
  p->offsets[index] = offset;
  guint64 buffer = MIN (offset / p->buffer_bytes, DYNO_PLAN_MAX_ARENA_BUFFERS);
  p->ends[buffer] =
      MAX (p->ends[buffer], offset + p->ranges[index].size_bytes - buffer * p->buffer_bytes);
}

/* The bytes of all buffers together. */
static guint64
count_bytes (const Placement *p)
{
  guint64 total = 0;
  for (guint i = 0; i < G_N_ELEMENTS (p->ends); i++)
    total += p->ends[i];
  return total;
}

static guint64
place_sequence (Placement *p)
{
  memset (p->ends, 0, sizeof p->ends);
  for (guint i = 0; i < p->n; i++)
    insert_placed (p, p->sequence[i], find_gap (p, &p->ranges[p->sequence[i]], i), i);
  return count_bytes (p);
}

/* Adds the tiny ranges to the best result. */
static guint64
place_tiny (Placement *p, guint n_ranges)
{
  memset (p->ends, 0, sizeof p->ends);
  for (guint i = 0; i < n_ranges; i++)
    {
      guint index = p->sequence[i];
      DynoLiveRange *range = &p->ranges[index];
      if (i >= p->n)
        range->offset = find_gap (p, range, i);
      insert_placed (p, index, range->offset, i);
    }
  return count_bytes (p);
}

/* Moves each range that was placed above the bound forward, to half its index in the sequence. */
static void
advance_high (Placement *p, guint64 bound)
{
  for (guint i = 0; i < p->n; i++)
    {
      guint index = p->sequence[i];
      if (p->offsets[index] + p->ranges[index].size_bytes <= bound)
        continue;
      memmove (p->sequence + i / 2 + 1, p->sequence + i / 2, (i - i / 2) * sizeof (guint));
      p->sequence[i / 2] = index;
    }
}

static void
keep_offsets (const Placement *p, guint64 total, guint64 *best)
{
  if (total >= *best)
    return;
  *best = total;
  for (guint i = 0; i < p->n; i++)
    p->ranges[p->sequence[i]].offset = p->offsets[p->sequence[i]];
}

guint64
dyno_live_ranges_bound (const DynoLiveRange *ranges, guint n_ranges)
{
  guint n_levels = 0;
  for (guint i = 0; i < n_ranges; i++)
    n_levels = MAX (n_levels, ranges[i].last + 1);
  g_autofree guint64 *change = g_new0 (guint64, n_levels + 1);
  for (guint i = 0; i < n_ranges; i++)
    {
      change[ranges[i].first] += ranges[i].size_bytes;
      /* unsigned: an underflow wraps, and the sum wraps back */
      change[ranges[i].last + 1] -= ranges[i].size_bytes;
    }
  guint64 live = 0, peak = 0;
  for (guint i = 0; i < n_levels; i++)
    {
      live += change[i];
      peak = MAX (peak, live);
    }
  return peak;
}

/* Places all ranges for this buffer size, in the order of `sequence`, large ranges first. */
static guint64
place_all (Placement *p, guint n_ranges, guint64 bound, guint64 buffer_bytes)
{
  guint64 best = G_MAXUINT64;
  p->buffer_bytes = buffer_bytes;
  for (guint rounds = 0; rounds <= ROUNDS; rounds += ROUNDS)
    for (guint attempt = 0;
         attempt < 2 * ORDER_N && best > bound + (rounds ? bound / NEAR_FRACTION : 0); attempt++)
      {
        p->order = (Order) (attempt / 2);
        p->tight = attempt % 2;
        sort_sequence (p);
        keep_offsets (p, place_sequence (p), &best);
        for (guint round = 0; round < rounds && best > bound + bound / NEAR_FRACTION; round++)
          {
            advance_high (p, bound);
            keep_offsets (p, place_sequence (p), &best);
          }
      }
  p->tight = TRUE;
  return place_tiny (p, n_ranges);
}

guint64
dyno_live_ranges_place (DynoLiveRange *ranges, guint n_ranges, guint64 buffer_bytes)
{
  if (n_ranges == 0)
    return 0;
  for (guint i = 0; i < n_ranges; i++)
    ranges[i].size_bytes = dyno_align_up (ranges[i].size_bytes, DYNO_TENSOR_ALIGNMENT);
  g_autofree guint *sequence = g_new (guint, n_ranges);
  g_autofree guint *placed = g_new (guint, n_ranges + 1);
  g_autofree guint64 *offsets = g_new (guint64, n_ranges);
  Placement p = { .ranges = ranges, .sequence = sequence, .placed = placed, .offsets = offsets };
  guint64 bound = dyno_live_ranges_bound (ranges, n_ranges);
  guint n_tiny = 0;
  for (guint i = 0; i < n_ranges; i++)
    if (ranges[i].size_bytes < bound / TINY_FRACTION)
      sequence[n_ranges - ++n_tiny] = i;
    else
      sequence[p.n++] = i;
  guint64 total = place_all (&p, n_ranges, bound, G_MAXUINT64);
  return total <= buffer_bytes ? total : place_all (&p, n_ranges, bound, buffer_bytes);
}
