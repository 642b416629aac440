/* SPDX-License-Identifier: MIT */
/* Workgroups of attention's kernels with matrix units; see shaders/lib/attention-matrix.glsl. */
#include "attention-private.h"
#include "elementwise.h"

/* Subgroups of a workgroup, fragments of 16 own rows of a subgroup, and the number of rows of the
 * other side that are in shared memory at a time. */
typedef struct {
  guint32 subgroups, fragments, others;
} Shape;

/* Best first, as measured on an H100 for heads of 64 values.  Two fragments save loads; the
 * registers suffice for two fragments up to MOST_HEAD_DIM_OF_TWO.  The last shapes fit 16 KiB for
 * heads of up to 96 values. */
#define N_SHAPES 4
static const Shape shapes[][N_SHAPES] = {
  [DYNO_ATTENTION_FORWARD] = { { 8, 1, 64 }, { 4, 1, 64 }, { 4, 1, 32 }, { 2, 1, 32 } },
  [DYNO_ATTENTION_QUERIES] = { { 8, 1, 32 }, { 4, 1, 32 }, { 2, 1, 32 }, { 2, 1, 16 } },
  [DYNO_ATTENTION_KEYS] = { { 4, 2, 32 }, { 4, 1, 32 }, { 2, 1, 32 }, { 2, 1, 16 } },
};
#define MOST_HEAD_DIM_OF_TWO 64

static guint32
ceil_div (guint32 a, guint32 b)
{
  return (a + b - 1) / b;
}

/* Bytes of workgroup memory, as the kernels declare it. */
static guint32
shared_bytes (const Shape *s, DynoAttentionPass pass, guint32 head_dim)
{
  guint32 pitch = 2 * ceil_div (head_dim, 16) + 1, own = 16 * s->fragments * s->subgroups,
          columns = pass == DYNO_ATTENTION_FORWARD ? s->others
                    : pass == DYNO_ATTENTION_KEYS  ? 32
                                                   : 16,
          loop = 2 * s->others * pitch + own * (columns / 8 + 1),
          floats = pass == DYNO_ATTENTION_FORWARD ? 16 * s->subgroups + 16
                   : pass == DYNO_ATTENTION_KEYS  ? 2 * s->others
                                                  : 2 * own + 16;
  return 16 * MAX (loop, own * pitch) + 4 * floats;
}

/* The fewest subgroups that give the same number of workgroups, in whole subgroups of the device's
 * default size: see conv2d-tiles.c. */
static guint32
share_out (const Shape *s, guint32 t, guint32 subgroup_size)
{
  guint32 needed = ceil_div (t, 16 * s->fragments), blocks = ceil_div (needed, s->subgroups),
          step = MAX (subgroup_size / 32, 1);
  return ceil_div (ceil_div (needed, blocks), step) * step;
}

guint32
dyno_attention_matrix_spec (const DynoDeviceInfo *info, DynoAttentionPass pass, guint32 t,
                            guint32 head_dim, DynoDtype dtype, DynoKernelSpec *spec)
{
  if (dtype != DYNO_DTYPE_F16 || info->matrix == DYNO_MATRIX_NONE || info->subgroup_min > 32
      || info->subgroup_max < 32)
    return 0;
  for (guint i = 0; i < N_SHAPES; i++)
    {
      Shape s = shapes[pass][i];
      s.subgroups = share_out (&s, t, info->subgroup_size);
      if (shared_bytes (&s, pass, head_dim) > info->shared_bytes
          || 32 * s.subgroups > info->max_invocations
          || (s.fragments > 1 && head_dim > MOST_HEAD_DIM_OF_TWO))
        continue;
      spec->shader = pass == DYNO_ATTENTION_FORWARD ? "attention/attention_matrix_forward.comp"
                                                    : "attention/attention_matrix_backward.comp";
      spec->local_size[0] = 32 * s.subgroups;
      spec->local_size[1] = 1;
      spec->subgroup_size = 32;
      dyno_kernel_spec_macro (spec,
                              info->matrix == DYNO_MATRIX_NV ? "MATRIX_NV=1" : "MATRIX_KHR=1");
      dyno_kernel_spec_macro (spec, "FRAGMENTS=%u OTHERS=%u", s.fragments, s.others);
      return 16 * s.fragments * s.subgroups;
    }
  return 0;
}
