/* SPDX-License-Identifier: MIT */
/* Conversion of parameters between torchvision's layout and the layout in memory, and start values.
 *
 * Large parameters are initialised and packed by several threads: a value depends only on its
 * index.
 * In memory the output channel is the fastest index and channels are padded to 8, as the matrix
 * kernels load them; pads are zero and stay zero, since their gradients are zero. */
#include "network.h"
#include "checked.h"
#include "hash.h"
#include "parallel.h"
#include "rng.h"
#include <math.h>
#include <string.h>

/* The place in memory of element (o, i, y, x) of torchvision's array, taken with the layout's
 * axes. */
typedef struct {
  guint64 extent[DYNO_LAYOUT_N_AXES];
  guint64 stride[DYNO_LAYOUT_N_AXES]; /* in memory */
  guint64 merged, group_outputs;      /* as in the layout; merged 1: every output has all inputs */
} Shape;

static Shape
shape_of (const DynoParameter *parameter)
{
  const DynoParameterLayout *layout = &parameter->layout;
  guint64 stride = 1;
  Shape s = { .merged = MAX (layout->merged, 1), .group_outputs = MAX (layout->group_outputs, 1) };
  for (guint i = DYNO_LAYOUT_N_AXES; i-- > 0;)
    {
      guint axis = layout->order[i];
      s.extent[axis] = layout->extent[axis];
      s.stride[axis] = stride;
      stride *= layout->padded[axis];
    }
  return s;
}

/* r is the index in the last two axes, taken as one */
static inline guint64
torch_index (const Shape *s, guint64 o, guint64 i, guint64 r)
{
  return (o * s->extent[1] + i) * s->extent[2] * s->extent[3] + r;
}

static inline guint64
packed_index (const Shape *s, guint64 o, guint64 i, guint64 y, guint64 x)
{
  if (s->merged > 1)
    i += o / s->group_outputs % s->merged * s->extent[1];
  return o * s->stride[0] + i * s->stride[1] + y * s->stride[2] + x * s->stride[3];
}

/* The number of elements from which on several threads are used; and the inputs and the values that
 * a thread takes at a time. */
#define LARGE       (1u << 16)
#define PACK_INPUTS 8
#define VALUES      (1u << 15)

static void
run_turns (guint64 n_elements, guint64 n_turns, DynoParallelFunc func, gpointer data)
{
  if (n_elements >= LARGE)
    dyno_parallel_for ((guint) n_turns, func, data);
  else
    for (guint i = 0; i < n_turns; i++)
      func (i, data);
}

typedef struct {
  Shape shape;
  const float *torch;
  float *packed;
} Packing;

/* Packs some inputs of every output: few enough that the cache lines of one output's row are used
 * before they are evicted. */
static void
pack_inputs (guint index, gpointer data)
{
  const Packing *p = data;
  const Shape *s = &p->shape;
  guint64 first = (guint64) index * PACK_INPUTS, end = MIN (first + PACK_INPUTS, s->extent[1]);
  for (guint64 o = 0; o < s->extent[0]; o++)
    for (guint64 i = first; i < end; i++)
      for (guint64 y = 0; y < s->extent[2]; y++)
        for (guint64 x = 0; x < s->extent[3]; x++)
          p->packed[packed_index (s, o, i, y, x)] =
              p->torch[torch_index (s, o, i, y * s->extent[3] + x)];
}

void
dyno_parameter_pack (const DynoParameter *parameter, const float *torch, float *packed)
{
  Packing packing = { shape_of (parameter), torch, packed };
  memset (packed, 0, parameter->n_elements * sizeof (float));
  run_turns (parameter->n_elements, (packing.shape.extent[1] + PACK_INPUTS - 1) / PACK_INPUTS,
             pack_inputs, &packing);
}

void
dyno_parameter_unpack (const DynoParameter *parameter, const float *packed, float *torch)
{
  Shape s = shape_of (parameter);
  for (guint64 r = 0; r < s.extent[2] * s.extent[3]; r++)
    for (guint64 i = 0; i < s.extent[1]; i++)
      for (guint64 o = 0; o < s.extent[0]; o++)
        torch[torch_index (&s, o, i, r)] =
            packed[packed_index (&s, o, i, r / s.extent[3], r % s.extent[3])];
}

void
dyno_parameter_places (const DynoParameter *parameter, guint32 *places)
{
  Shape s = shape_of (parameter);
  for (guint64 o = 0; o < s.extent[0]; o++)
    for (guint64 i = 0; i < s.extent[1]; i++)
      for (guint64 r = 0; r < s.extent[2] * s.extent[3]; r++)
        places[torch_index (&s, o, i, r)] =
            (guint32) packed_index (&s, o, i, r / s.extent[3], r % s.extent[3]);
}

guint64
dyno_parameter_count (const DynoParameter *parameter)
{
  guint64 count = 1;
  for (guint i = 0; i < parameter->n_dims; i++)
    count *= parameter->dims[i];
  return count;
}

typedef struct {
  const DynoParameter *parameter;
  guint64 seed, stream, count;
  float *torch;
} Start;

/* Each normal value takes two random numbers, each uniform one takes one. */
static void
start_values (guint index, gpointer data)
{
  const Start *start = data;
  const DynoParameter *parameter = start->parameter;
  guint64 first = (guint64) index * VALUES, end = MIN (first + VALUES, start->count);
  double bound = 1.0 / sqrt (MAX (parameter->fan_in, 1));
  double deviation = parameter->init == DYNO_INIT_NORMAL_001   ? 0.01
                     : parameter->init == DYNO_INIT_NORMAL_002 ? 0.02
                     : parameter->init == DYNO_INIT_KAIMING_NORMAL_IN
                         ? sqrt (2.0 / MAX (parameter->fan_in, 1))
                         : sqrt (2.0 / MAX (parameter->fan_out, 1));
  DynoRng rng = dyno_rng_init (start->seed, start->stream);
  rng.counter = parameter->init == DYNO_INIT_KAIMING_UNIFORM ? first : 2 * first;
  for (guint64 i = first; i < end; i++)
    switch (parameter->init)
      {
      case DYNO_INIT_ZERO:
        start->torch[i] = 0.0f;
        break;
      case DYNO_INIT_ONE:
        start->torch[i] = 1.0f;
        break;
      case DYNO_INIT_QUARTER:
        start->torch[i] = 0.25f;
        break;
      case DYNO_INIT_MILLIONTH:
        start->torch[i] = 1e-6f;
        break;
      case DYNO_INIT_KAIMING_UNIFORM:
        start->torch[i] = (float) ((2.0 * dyno_rng_uniform (&rng) - 1.0) * bound);
        break;
      case DYNO_INIT_KAIMING_NORMAL_OUT:
      case DYNO_INIT_KAIMING_NORMAL_IN:
      case DYNO_INIT_NORMAL_001:
      case DYNO_INIT_NORMAL_002:
        start->torch[i] = (float) (dyno_rng_normal (&rng) * deviation);
        break;
      }
}

void
dyno_parameter_initialise (const DynoParameter *parameter, guint64 seed, float *torch)
{
  Start start = { .parameter = parameter,
                  .seed = seed,
                  .stream = dyno_hash_string (DYNO_HASH_START, parameter->name),
                  .count = dyno_parameter_count (parameter),
                  .torch = torch };
  run_turns (start.count, (start.count + VALUES - 1) / VALUES, start_values, &start);
}
