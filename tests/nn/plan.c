/* SPDX-License-Identifier: MIT */
/* Plans without a device: no two live tensors overlap, sums are right, all barriers are needed. */
#include "buffer.h"
#include "graph-private.h"
#include "infos.h"
#include "layertimes.h"
#include "lowering-private.h"
#include "network.h"
#include "rng.h"
#include "command-list.h"
#include "step.h"

typedef struct {
  DynoGraph *graph;
  DynoLowering *lowering;
  DynoPlan plan;
} Planned;

static DynoNetworkParams
params_of (const char *model, gboolean training)
{
  return (DynoNetworkParams){ .model = model,
                              .batch = 16,
                              .schema = dyno_schema_image (DYNO_ELEMENT_U8, 64, 64, 3, 0),
                              .augmentation = { .flip = 0.5 },
                              .n_outputs = 10,
                              .precision = dyno_precision_of_amp (TRUE),
                              .mode = training ? DYNO_MODE_TRAIN : DYNO_MODE_EVALUATE };
}

/* in_order: the dispatches keep the order in which the nodes were appended. */
static Planned
plan_network_of (const DynoNetworkParams *params, const DynoDeviceInfo *info, gboolean in_order,
                 DynoPlanFlags flags)
{
  g_autoptr (GError) error = NULL;
  Planned p = { .graph = dyno_network_build (params, &error) };
  g_assert_no_error (error);
  p.lowering = in_order ? dyno_lowering_new_in_order (p.graph, info, NULL, &error)
                        : dyno_lowering_new (p.graph, info, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (dyno_plan_compute (p.lowering, 2, flags, &p.plan, &error));
  g_assert_no_error (error);
  return p;
}

static Planned
plan_network (const DynoNetworkParams *params, const DynoDeviceInfo *info, DynoPlanFlags flags)
{
  return plan_network_of (params, info, FALSE, flags);
}

static void
planned_clear (Planned *p)
{
  dyno_lowering_free (p->lowering);
  dyno_graph_free (p->graph);
}

/* Follows the contents of memory dispatch by dispatch: a read finds the last write of the same
 * tensor, in every byte. */
static void
assert_values_survive (const Planned *p)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (p->lowering);
  guint64 arena_end = (p->plan.n_arena_buffers - 1) * p->plan.buffer_bytes
                      + p->plan.arena_bytes[p->plan.n_arena_buffers - 1];
  gsize n_blocks = arena_end / 256;
  g_autofree const DynoTensor **owner = g_new0 (const DynoTensor *, n_blocks);
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      for (guint pass = 0; pass < 2; pass++) /* all reads, then all writes */
        for (guint b = 0; b < dispatch->n_bindings; b++)
          {
            const DynoBinding *binding = &dispatch->bindings[b];
            const DynoTensor *tensor = binding->tensor;
            if (tensor->space != DYNO_SPACE_ARENA)
              continue;
            g_assert_cmpuint (tensor->offset % 256, ==, 0);
            guint64 buffer = tensor->offset / p->plan.buffer_bytes,
                    start = buffer * p->plan.buffer_bytes;
            g_assert_cmpuint (buffer, <, p->plan.n_arena_buffers);
            g_assert_cmpuint (tensor->offset + tensor->size_bytes, <=,
                              start + p->plan.arena_bytes[buffer]);
            gsize first = tensor->offset / 256,
                  last = (tensor->offset + tensor->size_bytes - 1) / 256;
            for (gsize k = first; k <= last; k++)
              {
                if (pass == 0 && (binding->access & DYNO_ACCESS_READ))
                  g_assert_true (owner[k] == tensor);
                if (pass == 1 && (binding->access & DYNO_ACCESS_WRITE))
                  owner[k] = tensor;
              }
          }
    }
}

static const char *const models[] = { "simplecnn", "resnet18", "resnet50", "mlp" };

static void
test_values_survive (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    for (guint variant = 0; variant < 4; variant++)
      {
        DynoNetworkParams params = params_of (models[i], TRUE);
        params.no_fusion = variant & 1;
        params.checkpointing = (variant & 2) != 0;
        Planned p = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
        assert_values_survive (&p);
        planned_clear (&p);
      }
}

static void
copy_offsets (const Planned *p, GArray *offsets)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (p->lowering);
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        g_array_append_val (offsets, dispatch->bindings[b].tensor->offset);
    }
}

/* With a small limit for a buffer, each tensor lies wholly in one of several buffers, the same in
 * each run, for little more memory in total. */
static void
test_arena_of_several_buffers (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    for (guint flags = 0; flags < 2; flags++)
      {
        DynoNetworkParams params = params_of (models[i], TRUE);
        params.batch = 64;
        params.model_width = 0.25; /* the activations outweigh the weights */
        Planned whole =
            plan_network (&params, &info_card, flags ? DYNO_PLAN_NO_ALIAS : DYNO_PLAN_DEFAULT);
        g_assert_cmpuint (whole.plan.n_arena_buffers, ==, 1);
        g_assert_true (dyno_plan_fits_buffers (&whole.plan));
        DynoDeviceInfo info = info_card;
        info.max_buffer_bytes = MAX (whole.plan.largest_bytes + DYNO_BUFFER_GRANULARITY,
                                     whole.plan.space_bytes[DYNO_SPACE_ARENA] / 5);
        g_autoptr (GArray) first = g_array_new (FALSE, FALSE, 8),
                           second = g_array_new (FALSE, FALSE, 8);
        Planned again =
            plan_network (&params, &info, flags ? DYNO_PLAN_NO_ALIAS : DYNO_PLAN_DEFAULT);
        Planned p = plan_network (&params, &info, flags ? DYNO_PLAN_NO_ALIAS : DYNO_PLAN_DEFAULT);
        copy_offsets (&again, first);
        copy_offsets (&p, second);
        g_assert_cmpmem (first->data, first->len * 8, second->data, second->len * 8);
        assert_values_survive (&p);
        g_assert_true (dyno_plan_fits_buffers (&p.plan));
        guint64 sum = 0;
        for (guint k = 0; k < p.plan.n_arena_buffers; k++)
          {
            g_assert_cmpuint (p.plan.arena_bytes[k], <=, info.max_buffer_bytes);
            sum += p.plan.arena_bytes[k];
          }
        g_assert_cmpuint (sum, ==, p.plan.kind_bytes[DYNO_MEMORY_ACTIVATIONS]);
        g_test_message ("%s: %u buffers, %.4f", models[i], p.plan.n_arena_buffers,
                        (double) sum / (double) whole.plan.space_bytes[DYNO_SPACE_ARENA]);
        if (!g_str_equal (models[i], "mlp"))
          g_assert_cmpuint (p.plan.n_arena_buffers, >=, 4);
        g_assert_cmpuint (sum, <=, whole.plan.space_bytes[DYNO_SPACE_ARENA] * 6 / 5);
        planned_clear (&whole);
        planned_clear (&again);
        planned_clear (&p);
      }
}

/* A limit that the arena just meets changes nothing. */
static void
test_unreached_limit_moves_nothing (void)
{
  DynoNetworkParams params = params_of ("resnet18", TRUE);
  Planned whole = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
  DynoDeviceInfo info = info_card;
  info.max_buffer_bytes = MAX (whole.plan.largest_bytes, whole.plan.space_bytes[DYNO_SPACE_ARENA]);
  Planned p = plan_network (&params, &info, DYNO_PLAN_DEFAULT);
  g_autoptr (GArray) first = g_array_new (FALSE, FALSE, 8), second = g_array_new (FALSE, FALSE, 8);
  copy_offsets (&whole, first);
  copy_offsets (&p, second);
  g_assert_cmpmem (first->data, first->len * 8, second->data, second->len * 8);
  g_assert_cmpuint (p.plan.total_bytes, ==, whole.plan.total_bytes);
  planned_clear (&whole);
  planned_clear (&p);
}

/* The plan reports a tensor, or parameters, that no buffer can hold. */
static void
test_larger_than_a_buffer (void)
{
  DynoNetworkParams params = params_of ("simplecnn", TRUE);
  Planned whole = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
  DynoDeviceInfo info = info_card;
  info.max_buffer_bytes = whole.plan.largest_bytes - DYNO_BUFFER_GRANULARITY;
  Planned p = plan_network (&params, &info, DYNO_PLAN_DEFAULT);
  g_assert_false (dyno_plan_fits_buffers (&p.plan));
  g_assert_cmpuint (p.plan.largest_bytes, ==, whole.plan.largest_bytes);
  planned_clear (&whole);
  planned_clear (&p);

  params = params_of ("mlp", TRUE);
  params.batch = 1;
  info.max_buffer_bytes = 1 << 20;
  p = plan_network (&params, &info, DYNO_PLAN_DEFAULT);
  g_assert_cmpuint (p.plan.space_bytes[DYNO_SPACE_MASTER], >, 1 << 20);
  g_assert_false (dyno_plan_fits_buffers (&p.plan));
  planned_clear (&p);
}

/* Random live ranges: no two that meet in time overlap in memory; the size is never below the lower
 * bound, and is near it. */
static void
test_random_live_ranges (void)
{
  DynoRng rng = dyno_rng_init (5, 0);
  double worst = 0;
  for (guint round = 0; round < 50; round++)
    {
      DynoLiveRange ranges[120];
      guint64 live[100] = { 0 }, bound = 0;
      guint n = 1 + (guint) dyno_rng_below (&rng, G_N_ELEMENTS (ranges));
      for (guint i = 0; i < n; i++)
        {
          guint first = (guint) dyno_rng_below (&rng, 90);
          guint64 unit = i % 4 ? 4096 : 1; /* every fourth is tiny compared with the others */
          ranges[i] = (DynoLiveRange){ unit * (1 + dyno_rng_below (&rng, 20000)), first,
                                       first + (guint) dyno_rng_below (&rng, 10), 0 };
        }
      guint64 total = dyno_live_ranges_place (ranges, n, G_MAXUINT64);
      for (guint i = 0; i < n; i++)
        {
          g_assert_cmpuint (ranges[i].offset + ranges[i].size_bytes, <=, total);
          for (guint level = ranges[i].first; level <= ranges[i].last; level++)
            {
              live[level] += ranges[i].size_bytes;
              bound = MAX (bound, live[level]);
            }
          for (guint k = 0; k < i; k++)
            if (ranges[i].first <= ranges[k].last && ranges[k].first <= ranges[i].last)
              g_assert_true (ranges[i].offset + ranges[i].size_bytes <= ranges[k].offset
                             || ranges[k].offset + ranges[k].size_bytes <= ranges[i].offset);
        }
      g_assert_cmpuint (total, >=, bound);
      worst = MAX (worst, (double) total / (double) bound);
    }
  g_assert_cmpfloat (worst, <, 1.01);
}

/* Ranges that fill two buffers to the last byte need no third one. */
static void
test_ranges_fill_buffers (void)
{
  DynoLiveRange ranges[] = { { 4096, 0, 1, 0 }, { 8192, 0, 1, 0 }, { 4096, 1, 2, 0 } };
  guint64 in_buffer[2] = { 0 };
  g_assert_cmpuint (dyno_live_ranges_place (ranges, G_N_ELEMENTS (ranges), 8192), ==, 16384);
  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++)
    {
      guint64 buffer = ranges[i].offset / 8192;
      g_assert_cmpuint (buffer, <, 2);
      g_assert_cmpuint (ranges[i].offset + ranges[i].size_bytes, <=, (buffer + 1) * 8192);
      in_buffer[buffer] += ranges[i].size_bytes;
    }
  g_assert_true (in_buffer[0] == 8192 && in_buffer[1] == 8192);
}

static void
test_aliasing_saves (void)
{
  DynoNetworkParams params = params_of ("resnet18", TRUE);
  Planned shared = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
  g_assert_cmpuint (shared.plan.space_bytes[DYNO_SPACE_ARENA], <,
                    shared.plan.naive_arena_bytes * 7 / 10);
  planned_clear (&shared);
  params.mode = DYNO_MODE_EVALUATE;
  Planned evaluation = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
  g_assert_cmpuint (evaluation.plan.space_bytes[DYNO_SPACE_ARENA], <,
                    evaluation.plan.naive_arena_bytes / 3);
  planned_clear (&evaluation);
}

/* Seconds of the forward pass, or of the rest, by the plan's estimate. */
static double
estimate (const Planned *p, gboolean forward)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (p->lowering);
  g_autoptr (GPtrArray) stage = g_ptr_array_new ();
  for (guint i = 0; i < dispatches->len; i++)
    {
      DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      if ((dispatch->stage == DYNO_STAGE_FORWARD) == forward)
        g_ptr_array_add (stage, dispatch);
    }
  return dyno_dispatches_seconds (stage, &info_card);
}

/* Large images: about half of the activation memory of deep networks, in exchange for the allowed
 * recomputing time; the plan reports that time's share, and no node runs more often than twice. */
static void
test_checkpointing_saves (void)
{
  static const struct {
    const char *model;
    double most[2]; /* of the arena, fp32 and AMP */
  } goals[] = {
    { "resnet18", { 0.75, 0.85 } },
    { "resnet50", { 0.5, 0.5 } },
    { "mobilenetv2", { 0.5, 0.5 } },
    { "efficientnet_b0", { 0.3, 0.3 } },
    { "vit_tiny_patch16_224", { 0.25, 0.25 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (goals); i++)
    for (guint amp = 0; amp < 2; amp++)
      {
        DynoNetworkParams params = params_of (goals[i].model, TRUE);
        params.batch = 64;
        params.precision = dyno_precision_of_amp (amp);
        params.schema = dyno_schema_image (DYNO_ELEMENT_U8, 224, 224, 3, 0);
        Planned kept = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
        params.checkpointing = TRUE;
        Planned dropped = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
        double before = estimate (&kept, TRUE) + estimate (&kept, FALSE),
               after = estimate (&dropped, TRUE) + estimate (&dropped, FALSE);
        g_test_message ("%s: arena %.2f, time %.2f", goals[i].model,
                        (double) dropped.plan.space_bytes[DYNO_SPACE_ARENA]
                            / (double) kept.plan.space_bytes[DYNO_SPACE_ARENA],
                        after / before);
        g_assert_cmpfloat ((double) dropped.plan.space_bytes[DYNO_SPACE_ARENA], <,
                           goals[i].most[amp] * (double) kept.plan.space_bytes[DYNO_SPACE_ARENA]);
        g_assert_cmpfloat_with_epsilon (estimate (&dropped, TRUE), estimate (&kept, TRUE), 1e-9);
        g_assert_cmpfloat (dropped.plan.recomputed_share, >, 0.05);
        g_assert_cmpfloat (dropped.plan.recomputed_share, <=, 0.35);
        g_assert_cmpfloat_with_epsilon (after / before, 1 + dropped.plan.recomputed_share, 0.025);
        planned_clear (&kept);
        planned_clear (&dropped);
      }
}

/* Each layer is listed once, by its name in the model; a forward kernel that runs a second time
 * counts in the backward pass; no time, FLOP or kernel is lost. */
static void
test_layer_times (void)
{
  for (guint checkpointing = 0; checkpointing < 2; checkpointing++)
    {
      DynoNetworkParams params = params_of ("resnet18", TRUE);
      params.checkpointing = checkpointing != 0;
      params.schema = dyno_schema_image (DYNO_ELEMENT_U8, 224, 224, 3, 0);
      Planned p = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
      GPtrArray *dispatches = dyno_lowering_get_dispatches (p.lowering);
      g_autofree double *times_us = g_new0 (double, dispatches->len);
      g_autofree guint *layer_of = g_new0 (guint, dispatches->len);
      g_autofree guint64 *live = dyno_dispatches_live_bytes (dispatches);
      g_autofree guint64 *most_of = g_new0 (guint64, dispatches->len);
      g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
      double us[DYNO_STAGE_OPTIMIZER + 1] = { 0 }, sums[DYNO_STAGE_OPTIMIZER + 1] = { 0 };
      guint64 flops = 0, most = 0, peak = dyno_dispatches_peak (dispatches);
      guint n = 0;

      for (guint i = 0; i < dispatches->len; i++)
        {
          const DynoDispatch *d = g_ptr_array_index (dispatches, i);
          times_us[i] = 1 + i;
          us[d->stage] += times_us[i];
          flops += d->flops;
          most = MAX (most, live[i]);
        }
      g_autoptr (GArray) layers = dyno_layer_times_list (p.lowering, times_us, layer_of);
      for (guint i = 0; i < layers->len; i++)
        {
          const DynoLayerTimes *layer = &g_array_index (layers, DynoLayerTimes, i);
          g_assert_true (g_hash_table_add (names, layer->name));
          for (guint stage = 0; stage <= DYNO_STAGE_OPTIMIZER; stage++)
            sums[stage] += layer->us[stage];
          flops -= layer->flops;
          n += layer->dispatches;
          if (g_str_equal (layer->name, "layer1.0.bn1"))
            g_assert_cmpstr (layer->kind, ==, "batch_norm");
          if (g_str_equal (layer->name, "layer2.0.conv2"))
            g_assert_cmpfloat (layer->us[DYNO_STAGE_BACKWARD], >, layer->us[DYNO_STAGE_FORWARD]);
        }
      g_assert_cmpuint (flops, ==, 0);
      g_assert_cmpuint (n, ==, dispatches->len);
      for (guint stage = 0; stage <= DYNO_STAGE_OPTIMIZER; stage++)
        g_assert_cmpfloat (sums[stage], ==, us[stage]);
      for (guint i = 0; i < dispatches->len; i++)
        {
          const DynoDispatch *d = g_ptr_array_index (dispatches, i);
          const char *name = g_array_index (layers, DynoLayerTimes, layer_of[i]).name;
          g_assert_true (g_str_has_prefix (d->node->name, name));
          most_of[layer_of[i]] = MAX (most_of[layer_of[i]], live[i]);
        }
      for (guint i = 0; i < layers->len; i++)
        g_assert_cmpuint (g_array_index (layers, DynoLayerTimes, i).live_bytes, ==, most_of[i]);
      const char *const wanted[] = { "prepare",        "conv1",          "bn1",
                                     "layer1.0.conv1", "layer4.1.conv2", "fc",
                                     "loss",           "optimizer",      "layer2.0.downsample.0" };
      for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
        g_assert_true (g_hash_table_contains (names, wanted[i]));
      g_assert_false (g_hash_table_contains (names, "bn1.stats"));
      g_assert_false (g_hash_table_contains (names, "conv1.wgrad"));
      g_assert_cmpuint (most, <=, peak);
      g_assert_cmpuint (most, >, peak / 2);
      planned_clear (&p);
    }
}

/* Batches of large images with AMP on a GPU, in MiB: three quarters of PyTorch 2.11's memory for
 * the same step. */
static void
test_resnet18_fits (void)
{
  static const struct {
    guint32 batch;
    guint64 mib;
  } goals[] = { { 128, 1300 }, { 256, 2448 } };
  for (guint i = 0; i < G_N_ELEMENTS (goals); i++)
    {
      DynoNetworkParams params = params_of ("resnet18", TRUE);
      params.batch = goals[i].batch;
      params.schema = dyno_schema_image (DYNO_ELEMENT_F32, 224, 224, 3, 0);
      params.n_outputs = 1000;
      params.augmentation.flip = 0;
      Planned p = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
      g_assert_cmpuint (p.plan.total_bytes, <=, goals[i].mib << 20);
      planned_clear (&p);
    }
}

static guint
count_rematerialised (const Planned *p)
{
  g_autoptr (GHashTable) found = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < p->lowering->dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (p->lowering->dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        if (g_str_has_suffix (dispatch->bindings[b].tensor->name, ".rematerialised"))
          g_hash_table_add (found, dispatch->bindings[b].tensor);
    }
  return g_hash_table_size (found);
}

/* Reordering the backward pass keeps the same dispatches, with the unmoved ones in their order,
 * does not raise the peak, and each dispatch still reads the values written for it.  Outputs that
 * convolutions compute in their loads need no rematerialisation. */
static void
check_reorder (gboolean in_loads)
{
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    for (guint checkpointing = 0; checkpointing < 2; checkpointing++)
      {
        DynoNetworkParams params = params_of (models[i], TRUE);
        params.checkpointing = checkpointing != 0;
        Planned p = plan_network_of (&params, &info_card, TRUE, DYNO_PLAN_DEFAULT);
        guint before = p.lowering->dispatches->len, rematerialised = count_rematerialised (&p);
        guint64 peak = dyno_dispatches_peak (p.lowering->dispatches);
        dyno_lowering_reorder (p.lowering, TRUE);
        g_assert_cmpuint (dyno_dispatches_peak (p.lowering->dispatches), <=, peak);
        g_assert_cmpuint (p.lowering->dispatches->len, ==, before);
        g_assert_true (dyno_plan_compute (p.lowering, 2, DYNO_PLAN_DEFAULT, &p.plan, NULL));
        assert_values_survive (&p);
        if (!in_loads && !checkpointing && !g_str_equal (models[i], "mlp"))
          g_assert_cmpuint (count_rematerialised (&p), >, rematerialised + 2);
        DynoStage stage = DYNO_STAGE_FORWARD;
        for (guint k = 0; k < before; k++)
          {
            const DynoDispatch *dispatch = g_ptr_array_index (p.lowering->dispatches, k);
            g_assert_cmpint (dispatch->stage, >=, stage);
            stage = dispatch->stage;
          }
        planned_clear (&p);
      }
}

static void
test_reorder (void)
{
  check_reorder (TRUE);
  g_setenv ("DYNO_NORM_LOADS", "0", TRUE);
  check_reorder (FALSE);
  g_unsetenv ("DYNO_NORM_LOADS");
}

/* Where memory is small anyway, the order does not change. */
static void
test_small_gains_move_nothing (void)
{
  DynoNetworkParams params = params_of ("simplecnn", TRUE);
  params.schema = dyno_schema_image (DYNO_ELEMENT_U8, 32, 32, 3, 0);
  Planned p = plan_network_of (&params, &info_card, TRUE, DYNO_PLAN_DEFAULT);
  GPtrArray *dispatches = dyno_lowering_get_dispatches (p.lowering);
  g_autofree gpointer *before = g_memdup2 (dispatches->pdata, dispatches->len * sizeof (gpointer));
  dyno_lowering_reorder (p.lowering, FALSE);
  g_assert_true (dyno_lowering_get_dispatches (p.lowering) == dispatches);
  g_assert_cmpmem (before, dispatches->len * sizeof (gpointer), dispatches->pdata,
                   dispatches->len * sizeof (gpointer));
  planned_clear (&p);
}

static void
test_sums (void)
{
  DynoNetworkParams params = params_of ("resnet18", TRUE);
  Planned p = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
  const guint64 *space = p.plan.space_bytes, *kind = p.plan.kind_bytes;
  guint64 total = 0;
  for (guint i = 0; i < DYNO_MEMORY_N_KINDS; i++)
    total += kind[i];
  for (guint i = 0; i < DYNO_SPACE_N; i++)
    g_assert_cmpuint (space[i] % DYNO_BUFFER_GRANULARITY, ==, 0);
  g_assert_cmpuint (p.plan.total_bytes, ==, total);
  g_assert_cmpuint (kind[DYNO_MEMORY_WEIGHTS], ==,
                    space[DYNO_SPACE_MASTER] + space[DYNO_SPACE_HALF] + space[DYNO_SPACE_STATE]);
  g_assert_cmpuint (
      kind[DYNO_MEMORY_STAGING], ==,
      2 * (space[DYNO_SPACE_INPUT] + space[DYNO_SPACE_STEP_IN] + space[DYNO_SPACE_STEP_OUT]));
  g_assert_cmpuint (kind[DYNO_MEMORY_ACTIVATIONS], ==, space[DYNO_SPACE_ARENA]);
  g_assert_cmpuint (kind[DYNO_MEMORY_GRADIENTS], ==, space[DYNO_SPACE_MASTER]);
  g_assert_cmpuint (space[DYNO_SPACE_INPUT], >=, 16 * (64 * 64 * 3 + 4 + 4));
  g_assert_cmpuint (space[DYNO_SPACE_INPUT], <,
                    16 * (64 * 64 * 3 + 4 + 4) + DYNO_BUFFER_GRANULARITY + 768);
  planned_clear (&p);
  for (guint i = 0; i < DYNO_N_OPTIMIZERS; i++)
    {
      params.optimizer = (DynoOptimizer) i;
      Planned other = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
      guint n_moments = dyno_optimizer_get_info (params.optimizer)->n_moments;
      guint64 master = other.plan.space_bytes[DYNO_SPACE_MASTER];
      g_assert_cmpuint (other.plan.space_bytes[DYNO_SPACE_MOMENT1], ==, master);
      g_assert_cmpuint (other.plan.space_bytes[DYNO_SPACE_MOMENT2], ==, n_moments > 1 ? master : 0);
      g_assert_cmpuint (other.plan.kind_bytes[DYNO_MEMORY_OPTIMIZER], ==,
                        n_moments * master + other.plan.space_bytes[DYNO_SPACE_SCALER]);
      planned_clear (&other);
    }
}

static void
test_evaluation_shares_parameters (void)
{
  DynoNetworkParams params = params_of ("resnet18", TRUE);
  Planned training = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
  params.mode = DYNO_MODE_EVALUATE;
  params.batch = 100;
  Planned evaluation = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
  GPtrArray *a = dyno_graph_get_parameters (training.graph),
            *b = dyno_graph_get_parameters (evaluation.graph);
  g_assert_cmpuint (a->len, ==, b->len);
  for (guint i = 0; i < a->len; i++)
    {
      const DynoParameter *x = g_ptr_array_index (a, i), *y = g_ptr_array_index (b, i);
      g_assert_cmpstr (x->name, ==, y->name);
      g_assert_cmpuint (x->element_offset, ==, y->element_offset);
      g_assert_null (y->gradient);
    }
  DynoPlan merged = evaluation.plan;
  dyno_plan_merge (&merged, &training.plan);
  for (guint i = 0; i < DYNO_SPACE_N; i++)
    g_assert_cmpuint (merged.space_bytes[i], ==,
                      MAX (training.plan.space_bytes[i], evaluation.plan.space_bytes[i]));
  g_assert_cmpuint (merged.total_bytes, >=, training.plan.total_bytes);
  g_assert_cmpuint (evaluation.plan.space_bytes[DYNO_SPACE_GRADIENT], ==, 0);
  planned_clear (&training);
  planned_clear (&evaluation);
}

/* Values that share memory need no barrier that the values themselves would not need. */
static void
test_aliasing_costs_no_barrier (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      DynoNetworkParams params = params_of (models[i], TRUE);
      guint n[2] = { 0, 0 };
      for (guint flags = 0; flags < 2; flags++)
        {
          Planned p =
              plan_network (&params, &info_card, flags ? DYNO_PLAN_NO_ALIAS : DYNO_PLAN_DEFAULT);
          GPtrArray *dispatches = dyno_lowering_get_dispatches (p.lowering);
          g_autofree guint8 *before = dyno_barriers_find (dispatches);
          for (guint k = 0; k < dispatches->len; k++)
            n[flags] += before[k];
          planned_clear (&p);
        }
      g_assert_cmpuint (n[0], ==, n[1]);
      g_assert_cmpuint (n[0], >, 5);
    }
}

static void
test_every_barrier_is_needed (void)
{
  DynoNetworkParams params = params_of ("resnet18", TRUE);
  Planned p = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
  GPtrArray *dispatches = dyno_lowering_get_dispatches (p.lowering);
  g_autoptr (GArray) list = dyno_command_list_new (
      dispatches, 7, NULL, &(DynoDeviceInfo){ .type = DYNO_DEVICE_TYPE_SOFTWARE });
  char *conflict;
  g_assert_true (dyno_command_list_check (list, dispatches, &conflict));
  guint removed = 0;
  for (guint i = 0; i < list->len; i++)
    {
      DynoCommandListItem *item = &g_array_index (list, DynoCommandListItem, i);
      if (item->kind != DYNO_COMMAND_LIST_BARRIER)
        continue;
      item->kind = DYNO_COMMAND_LIST_TIMESTAMP;
      g_assert_false (dyno_command_list_check (list, dispatches, &conflict));
      g_assert_nonnull (conflict);
      g_free (conflict);
      item->kind = DYNO_COMMAND_LIST_BARRIER;
      removed++;
    }
  g_assert_cmpuint (removed, >, 50);
  planned_clear (&p);
}

static void
test_long_steps_are_split (void)
{
  DynoNetworkParams params = params_of ("resnet50", TRUE);
  params.batch = 64;
  params.schema = dyno_schema_image (DYNO_ELEMENT_U8, 224, 224, 3, 0);
  Planned p = plan_network (&params, &info_card, DYNO_PLAN_DEFAULT);
  GPtrArray *dispatches = dyno_lowering_get_dispatches (p.lowering);
  enum { ANY, CARD, SOFTWARE, N };
  guint splits[N];
  for (guint kind = 0; kind < N; kind++)
    {
      const DynoDeviceInfo info = { .type = kind == SOFTWARE ? DYNO_DEVICE_TYPE_SOFTWARE
                                                             : DYNO_DEVICE_TYPE_DISCRETE,
                                    .matrix = kind == CARD ? DYNO_MATRIX_KHR : DYNO_MATRIX_NONE };
      g_autoptr (GArray) list = dyno_command_list_new (dispatches, 7, NULL, &info);
      guint count[4] = { 0 };
      for (guint i = 0; i < list->len; i++)
        {
          DynoCommandListItem item = g_array_index (list, DynoCommandListItem, i);
          if (item.kind == DYNO_COMMAND_LIST_DISPATCH || item.kind == DYNO_COMMAND_LIST_TIMESTAMP)
            g_assert_cmpuint (item.index, ==, count[item.kind]);
          count[item.kind]++;
        }
      char *conflict;
      g_assert_true (dyno_command_list_check (list, dispatches, &conflict));
      g_assert_cmpuint (count[DYNO_COMMAND_LIST_DISPATCH], ==, dispatches->len);
      g_assert_cmpuint (count[DYNO_COMMAND_LIST_TIMESTAMP], ==, DYNO_COMMAND_LIST_TIMESTAMPS);
      splits[kind] = count[DYNO_COMMAND_LIST_SUBMIT_SPLIT];
    }
  g_assert_cmpuint (splits[ANY], >, 5);
  g_assert_cmpuint (splits[CARD], <, splits[ANY]);
  g_assert_cmpuint (splits[SOFTWARE], ==, 0);
  planned_clear (&p);
}

/* Fusion leaves no tensor that only the fused nodes would have written, and every residual is read
 * after it was written. */
static void
test_fusion (void)
{
  DynoNetworkParams params = params_of ("resnet18", TRUE);
  params.no_fusion = TRUE;
  g_autoptr (DynoGraph) plain = dyno_network_build (&params, NULL);
  params.no_fusion = FALSE;
  g_autoptr (DynoGraph) fused = dyno_network_build (&params, NULL);
  guint relus[2] = { 0, 0 }, adds[2] = { 0, 0 };
  for (guint g = 0; g < 2; g++)
    {
      GPtrArray *nodes = dyno_graph_get_nodes (g ? fused : plain);
      g_autoptr (GHashTable) written = g_hash_table_new (NULL, NULL);
      for (guint i = 0; i < nodes->len; i++)
        {
          const DynoNode *node = g_ptr_array_index (nodes, i);
          if (node->stage == DYNO_STAGE_FORWARD)
            {
              relus[g] += node->op->traits.activation == DYNO_ACTIVATION_RELU;
              adds[g] += node->op->traits.elementwise == DYNO_ELEMENTWISE_SUM;
              for (guint k = 0; k < node->n_inputs; k++)
                if (node->inputs[k] && node->inputs[k]->space == DYNO_SPACE_ARENA)
                  g_assert_true (g_hash_table_contains (written, node->inputs[k]));
            }
          for (guint k = 0; k < node->n_outputs; k++)
            if (node->outputs[k])
              g_hash_table_add (written, node->outputs[k]);
        }
    }
  g_assert_cmpuint (relus[0], ==, 17);
  g_assert_cmpuint (adds[0], ==, 8);
  g_assert_cmpuint (relus[1], ==, 0);
  g_assert_cmpuint (adds[1], ==, 0);
}

/* No kernel of a network needs a larger workgroup than Vulkan guarantees. */
static void
test_small_workgroups (void)
{
  const DynoDeviceInfo *const infos[] = { &info_card, &info_cpu };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (infos); i++)
    for (guint amp = 0; amp < 2; amp++)
      for (guint m = 0; dyno_model_list ()[m]; m++)
        {
          g_autoptr (GError) error = NULL;
          DynoDeviceInfo info = *infos[i / 2];
          const DynoModel *model = dyno_model_list ()[m];
          guint32 values = model->n_values ? model->n_values : m % 2 ? 10 : 0;
          DynoNetworkParams params = { .model = model->name,
                                       .batch = 8,
                                       .schema =
                                           dyno_schema_image (DYNO_ELEMENT_U8, 64, 64, 3, values),
                                       .n_outputs = values ? values : 10,
                                       .loss = values ? DYNO_LOSS_MSE : DYNO_LOSS_CROSS_ENTROPY,
                                       .precision = dyno_precision_of_amp (amp),
                                       .mode = i % 2 == 0 ? DYNO_MODE_TRAIN : DYNO_MODE_EVALUATE,
                                       .optimizer =
                                           amp ? DYNO_OPTIMIZER_ADAMW : DYNO_OPTIMIZER_SGD };
          info.max_invocations = 128;
          if (model->of_pixels)
            {
              params.schema = dyno_schema_image_with_mask (DYNO_ELEMENT_U8, 64, 64, 3);
              params.loss = DYNO_LOSS_CROSS_ENTROPY;
            }
          g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
          g_assert_no_error (error);
          g_autoptr (DynoLowering) lowering = dyno_lowering_new (graph, &info, NULL, &error);
          g_assert_no_error (error);
          GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);
          for (guint d = 0; d < dispatches->len; d++)
            {
              const guint32 *local =
                  ((const DynoDispatch *) g_ptr_array_index (dispatches, d))->spec.local_size;
              g_assert_cmpuint (local[0] * MAX (local[1], 1) * MAX (local[2], 1), <=, 128);
            }
        }
}

static void
many_macros (DynoLowering *lowering, DynoNode *node)
{
  DynoKernelSpec spec = { .shader = "activation/activation_forward.comp", .local_size = { 64 } };
  for (guint i = 0; i < 40; i++)
    dyno_kernel_spec_macro (&spec, "MACRO_%u=1", i);
  dyno_lowering_dispatch (lowering, node, "forward", &spec, 1, 1, 1);
}

/* A kernel is never compiled without some of its macros, since it would compute something else. */
static void
test_macros_that_do_not_fit (void)
{
  static const DynoOpClass op = { .name = "many", .lower = many_macros };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  dyno_graph_node (graph, &op, "node", NULL, 0, NULL, 0, NULL, 0);
  g_assert_null (dyno_lowering_new (graph, &info_cpu, NULL, &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_UNSUPPORTED);
  g_assert_nonnull (
      strstr (error->message, "the macros of activation/activation_forward.comp do not fit"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/plan/values-survive-until-their-last-read", test_values_survive);
  g_test_add_func ("/nn/plan/arena-of-several-buffers", test_arena_of_several_buffers);
  g_test_add_func ("/nn/plan/unreached-limit-moves-nothing", test_unreached_limit_moves_nothing);
  g_test_add_func ("/nn/plan/larger-than-a-buffer", test_larger_than_a_buffer);
  g_test_add_func ("/nn/plan/random-live-ranges-never-overlap", test_random_live_ranges);
  g_test_add_func ("/nn/plan/live-ranges-fill-buffers-to-the-end", test_ranges_fill_buffers);
  g_test_add_func ("/nn/plan/aliasing-saves-memory", test_aliasing_saves);
  g_test_add_func ("/nn/plan/checkpointing-saves-memory", test_checkpointing_saves);
  g_test_add_func ("/nn/plan/layers-take-all-of-a-step", test_layer_times);
  g_test_add_func ("/nn/plan/resnet18-takes-three-quarters", test_resnet18_fits);
  g_test_add_func ("/nn/plan/reordered-values-survive", test_reorder);
  g_test_add_func ("/nn/plan/small-gains-move-nothing", test_small_gains_move_nothing);
  g_test_add_func ("/nn/plan/components-add-up", test_sums);
  g_test_add_func ("/nn/plan/evaluation-shares-parameters", test_evaluation_shares_parameters);
  g_test_add_func ("/nn/plan/aliasing-costs-no-barrier", test_aliasing_costs_no_barrier);
  g_test_add_func ("/nn/command-list/every-barrier-is-needed", test_every_barrier_is_needed);
  g_test_add_func ("/nn/command-list/long-steps-are-split-on-hardware", test_long_steps_are_split);
  g_test_add_func ("/nn/fuse/resnet18-has-no-relu-and-add-left", test_fusion);
  g_test_add_func ("/nn/plan/workgroups-of-128-are-enough", test_small_workgroups);
  g_test_add_func ("/nn/lowering/macros-that-do-not-fit-are-an-error", test_macros_that_do_not_fit);
  return g_test_run ();
}
