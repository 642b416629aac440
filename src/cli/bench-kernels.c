/* SPDX-License-Identifier: MIT */
/* dynoctl bench --kernels: where a step's time goes, dispatch by dispatch.
 *
 * Profiling serialises the dispatches, so the sum is above the time of a step in which neighbours overlap. */
#include "bench.h"
#include "output.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
  const DynoDispatch *dispatch;
  double time_us;
} Row;

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static int
slower_first (gconstpointer a, gconstpointer b)
{
  double x = ((const Row *) a)->time_us, y = ((const Row *) b)->time_us;
  return (x < y) - (x > y);
}

/* "forward.comp MATRIX_KHR=1 TILE_M=128" */
static char *
variant (const DynoDispatch *dispatch)
{
  return g_strdup_printf ("%s%s%s", dispatch->spec.shader, *dispatch->spec.macros ? " " : "", dispatch->spec.macros);
}

static const char *
stage_name (DynoStage stage)
{
  return stage == DYNO_STAGE_FORWARD ? "forward" : stage == DYNO_STAGE_BACKWARD ? "backward" : "optimizer";
}

static double
rate (double amount, double time_us)
{
  return time_us > 0 ? amount / (time_us * 1e-6) : 0;
}

static gboolean
collect (DynoBench *bench, guint repeats, Row *rows, guint n, GError **error)
{
  g_autoptr (GArray) times = g_array_new (FALSE, TRUE, sizeof (double));
  g_autofree double *all = g_new0 (double, (gsize) n *repeats);

  for (guint r = 0; r < repeats; r++)
    {
      g_array_set_size (times, 0);
      if (!dyno_program_profile (bench->program, 0, times, error))
        return FALSE;
      for (guint i = 0; i < MIN (n, times->len); i++)
        all[(gsize) i * repeats + r] = g_array_index (times, double, i);
    }
  for (guint i = 0; i < n; i++)
    {
      qsort (all + (gsize) i * repeats, repeats, sizeof (double), compare_doubles);
      rows[i].time_us = all[(gsize) i * repeats + repeats / 2];
    }
  return TRUE;
}

static void
print_json (const Row *row)
{
  const DynoDispatch *d = row->dispatch;
  g_autofree char *kernel = variant (d);
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "kernel");
  dyno_json_string (&json, "name", d->node->name);
  dyno_json_string (&json, "op", d->node->op->name);
  dyno_json_string (&json, "stage", stage_name (d->node->stage));
  dyno_json_string (&json, "pass", d->pass);
  dyno_json_string (&json, "variant", kernel);
  dyno_json_double (&json, "us", row->time_us);
  dyno_json_double (&json, "gflop", (double) d->flops / 1e9);
  dyno_json_double (&json, "mb", (double) d->bytes / 1e6);
  dyno_json_double (&json, "gb_per_s", rate ((double) d->bytes, row->time_us) / 1e9);
  dyno_json_double (&json, "tflop_per_s", rate ((double) d->flops, row->time_us) / 1e12);
  dyno_json_begin_array (&json, "groups");
  for (guint i = 0; i < 3; i++)
    dyno_json_uint (&json, NULL, d->groups[i]);
  dyno_json_end_array (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

typedef struct {
  const char *name;
  guint count;
  double time_us, flops, bytes;
} Sum;

static int
slower_sum_first (gconstpointer a, gconstpointer b)
{
  const Sum *x = *(Sum *const *) a, *y = *(Sum *const *) b;
  return (x->time_us < y->time_us) - (x->time_us > y->time_us);
}

/* Sums over stage, op and pass, so that "all weight gradients" is one line. */
static void
print_groups (const Row *rows, guint n, double total_us)
{
  g_autoptr (GHashTable) sums = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  g_autoptr (DynoTable) table = dyno_table_new ("op", "count", "us", "share", "GFLOP", "MB", "TFLOP/s", "GB/s", NULL);
  GHashTableIter iter;
  gpointer value;

  for (guint i = 0; i < n; i++)
    {
      const DynoDispatch *d = rows[i].dispatch;
      char *name = g_strdup_printf ("%s %s", d->node->op->name, d->pass);
      Sum *sum = g_hash_table_lookup (sums, name);

      if (sum == NULL)
        {
          sum = g_new0 (Sum, 1);
          sum->name = name;
          g_hash_table_insert (sums, name, sum);
        }
      else
        g_free (name);
      sum->count++;
      sum->time_us += rows[i].time_us;
      sum->flops += (double) d->flops;
      sum->bytes += (double) d->bytes;
    }
  g_hash_table_iter_init (&iter, sums);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    g_ptr_array_add (list, value);
  g_ptr_array_sort (list, slower_sum_first);
  for (guint i = 0; i < list->len; i++)
    {
      const Sum *sum = g_ptr_array_index (list, i);
      dyno_table_add (table, g_strdup (sum->name), g_strdup_printf ("%u", sum->count),
                      g_strdup_printf ("%.1f", sum->time_us), g_strdup_printf ("%.1f %%", 100 * sum->time_us / total_us),
                      g_strdup_printf ("%.2f", sum->flops / 1e9), g_strdup_printf ("%.1f", sum->bytes / 1e6),
                      g_strdup_printf ("%.3g", rate (sum->flops, sum->time_us) / 1e12),
                      g_strdup_printf ("%.3g", rate (sum->bytes, sum->time_us) / 1e9), NULL);
    }
  dyno_out_line ("%s", "");
  dyno_table_print (table);
}

static void
print_rows (const Row *rows, guint n, double total_us)
{
  g_autoptr (DynoTable) table =
      dyno_table_new ("name", "pass", "us", "share", "GFLOP", "MB", "TFLOP/s", "GB/s", "kernel", NULL);

  for (guint i = 0; i < n; i++)
    {
      const DynoDispatch *d = rows[i].dispatch;
      dyno_table_add (table, g_strdup (d->node->name), g_strdup (d->pass), g_strdup_printf ("%.1f", rows[i].time_us),
                      g_strdup_printf ("%.1f %%", 100 * rows[i].time_us / total_us),
                      g_strdup_printf ("%.2f", (double) d->flops / 1e9), g_strdup_printf ("%.1f", (double) d->bytes / 1e6),
                      g_strdup_printf ("%.3g", rate ((double) d->flops, rows[i].time_us) / 1e12),
                      g_strdup_printf ("%.3g", rate ((double) d->bytes, rows[i].time_us) / 1e9), variant (d), NULL);
    }
  dyno_table_print (table);
}

gboolean
dyno_bench_kernels (DynoBench *bench, guint repeats, guint rows_shown, gboolean as_json, GError **error)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (bench->lowering);
  guint n = dispatches->len, shown = rows_shown ? MIN (rows_shown, n) : n;
  g_autofree Row *rows = g_new0 (Row, n + 1);
  double total_us = 0, flops = 0, bytes = 0;

  for (guint i = 0; i < n; i++)
    {
      rows[i].dispatch = dispatches->pdata[i];
      flops += (double) rows[i].dispatch->flops;
      bytes += (double) rows[i].dispatch->bytes;
    }
  /* One step before, so that the step input is in place and pages are touched. */
  if (!dyno_bench_steps (bench, 2, error) || !collect (bench, CLAMP (repeats, 1, 101), rows, n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    total_us += rows[i].time_us;
  qsort (rows, n, sizeof *rows, slower_first);
  if (!as_json)
    {
      dyno_out_line ("%s, batch %u, %s: %u dispatches, %u barriers, %.1f us one after the other, %.2f GFLOP, %.1f MB",
                     bench->workload->name, bench->batch, bench->amp ? "amp" : "fp32", n,
                     dyno_program_get_barriers (bench->program, DYNO_COMMAND_FULL), total_us, flops / 1e9, bytes / 1e6);
      if (total_us <= 0)
        dyno_out_line ("this device has no timestamps: times read 0");
      print_rows (rows, shown, MAX (total_us, 1e-9));
      print_groups (rows, n, MAX (total_us, 1e-9));
    }
  else
    {
      DynoJson json;

      for (guint i = 0; i < shown; i++)
        print_json (&rows[i]);
      dyno_json_init (&json, 0);
      dyno_json_begin_object (&json, NULL);
      dyno_json_string (&json, "event", "total");
      dyno_json_string (&json, "workload", bench->workload->name);
      dyno_json_uint (&json, "batch", bench->batch);
      dyno_json_string (&json, "mode", bench->amp ? "amp" : "fp32");
      dyno_json_uint (&json, "dispatches", n);
      dyno_json_uint (&json, "barriers", dyno_program_get_barriers (bench->program, DYNO_COMMAND_FULL));
      dyno_json_double (&json, "us", total_us);
      dyno_json_double (&json, "gflop", flops / 1e9);
      dyno_json_double (&json, "mb", bytes / 1e6);
      dyno_json_end_object (&json);
      dyno_out_json (&json);
      dyno_json_clear (&json);
    }
  dyno_out_flush ();
  return TRUE;
}
