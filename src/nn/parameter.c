/* SPDX-License-Identifier: MIT */
/* Parameters between torchvision's layout and the one in memory, and their start values.
 *
 * In memory the output channel is the fastest index and channels are padded to 8, which is what the matrix kernels load;
 * pads are zero and stay zero, since their gradients are. */
#include "network.h"
#include "checked.h"
#include "hash.h"
#include "rng.h"
#include <math.h>
#include <string.h>

/* Where element (o, i, r) of torchvision's array lies in memory; r = kh * KW + kw, or h * W + w of a flattened input. */
typedef struct {
  guint64 out, in, receptive;    /* counts in torchvision's array */
  guint64 out_padded, in_padded; /* in memory */
} Shape;

static Shape
shape_of (const DynoParameter *parameter)
{
  Shape s = { .out = parameter->dims[0], .in = 1, .receptive = 1, .in_padded = 1 };
  s.out_padded = dyno_align_up (s.out, 8);
  if (parameter->layout == DYNO_LAYOUT_CONV)
    {
      s.in = parameter->dims[1];
      s.receptive = (guint64) parameter->dims[2] * parameter->dims[3];
      s.in_padded = dyno_align_up (s.in, 8);
    }
  else if (parameter->layout == DYNO_LAYOUT_LINEAR)
    {
      s.in = parameter->flat_c;
      s.receptive = (guint64) parameter->flat_h * parameter->flat_w;
      s.in_padded = dyno_align_up (s.in, 8);
    }
  return s;
}

static inline guint64
torch_index (const Shape *s, guint64 o, guint64 i, guint64 r)
{
  return (o * s->in + i) * s->receptive + r;
}

static inline guint64
packed_index (const Shape *s, guint64 o, guint64 i, guint64 r)
{
  return (r * s->in_padded + i) * s->out_padded + o;
}

void
dyno_parameter_pack (const DynoParameter *parameter, const float *torch, float *packed)
{
  Shape s = shape_of (parameter);
  memset (packed, 0, parameter->n_elements * sizeof (float));
  for (guint64 r = 0; r < s.receptive; r++)
    for (guint64 i = 0; i < s.in; i++)
      for (guint64 o = 0; o < s.out; o++)
        packed[packed_index (&s, o, i, r)] = torch[torch_index (&s, o, i, r)];
}

void
dyno_parameter_unpack (const DynoParameter *parameter, const float *packed, float *torch)
{
  Shape s = shape_of (parameter);
  for (guint64 r = 0; r < s.receptive; r++)
    for (guint64 i = 0; i < s.in; i++)
      for (guint64 o = 0; o < s.out; o++)
        torch[torch_index (&s, o, i, r)] = packed[packed_index (&s, o, i, r)];
}

guint64
dyno_parameter_count (const DynoParameter *parameter)
{
  guint64 count = 1;
  for (guint i = 0; i < parameter->n_dims; i++)
    count *= parameter->dims[i];
  return count;
}

void
dyno_parameter_initialise (const DynoParameter *parameter, guint64 seed, float *torch)
{
  guint64 count = dyno_parameter_count (parameter);
  DynoRng rng = dyno_rng_init (seed, dyno_hash_string (DYNO_HASH_START, parameter->name));
  double bound = 1.0 / sqrt (MAX (parameter->fan_in, 1));
  double deviation = sqrt (2.0 / MAX (parameter->fan_out, 1));
  for (guint64 i = 0; i < count; i++)
    switch (parameter->init)
      {
      case DYNO_INIT_ZERO:
        torch[i] = 0.0f;
        break;
      case DYNO_INIT_ONE:
        torch[i] = 1.0f;
        break;
      case DYNO_INIT_KAIMING_UNIFORM:
        torch[i] = (float) ((2.0 * dyno_rng_uniform (&rng) - 1.0) * bound);
        break;
      case DYNO_INIT_KAIMING_NORMAL_OUT:
        torch[i] = (float) (dyno_rng_normal (&rng) * deviation);
        break;
      case DYNO_INIT_NORMAL_001:
        torch[i] = (float) (dyno_rng_normal (&rng) * 0.01);
        break;
      }
}
