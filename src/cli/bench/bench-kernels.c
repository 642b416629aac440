/* SPDX-License-Identifier: MIT */
/* dynoctl bench --kernels and --trace: the time of a step, dispatch by dispatch.
 *
 * Each dispatch is listed with the minimum time that the device's measured ceilings allow for its
 * bytes and FLOPs; a kernel whose data are in the caches may be faster.  Profiling serialises the
 * dispatches, so their sum exceeds the time of a step, in which successive dispatches overlap. */
#include "bench.h"
#include "layertimes.h"
#include "output.h"
#include "text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const DynoDispatch *dispatch;
  double time_us, floor_us; /* time_us: measured; floor_us: the minimum by the ceilings */
} Row;

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
  return g_strdup_printf ("%s%s%s", dispatch->spec.shader, *dispatch->spec.macros ? " " : "",
                          dispatch->spec.macros);
}

static double
rate (double amount, double time_us)
{
  return time_us > 0 ? amount / (time_us * 1e-6) : 0;
}

static gboolean
collect (DynoBench *bench, guint repeats, Row *rows, guint n, GError **error)
{
  g_autofree double *times_us = g_new0 (double, (gsize) n + 1);

  if (!dyno_program_time_dispatches (dyno_build_get_program (bench->build), repeats, times_us, NULL,
                                     error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    rows[i].time_us = times_us[i];
  return TRUE;
}

gboolean
dyno_bench_ceilings (DynoBench *bench, GError **error)
{
  const DynoDeviceInfo *info = dyno_device_get_info (bench->device);

  if (dyno_ceilings_load (info, &bench->ceilings))
    return TRUE;
  dyno_error_line ("dynoctl bench: measuring what %s can do at best; it is kept for the next time",
                   info->name);
  if (!dyno_ceilings_measure (bench->device, &bench->ceilings, error))
    return FALSE;
  dyno_ceilings_keep (info, &bench->ceilings);
  return TRUE;
}

/* The ceiling for a kernel's FLOPs. */
static double
flops_ceiling (const DynoCeilings *ceilings, const DynoDispatch *dispatch)
{
  return dyno_ceilings_on_matrix (&dispatch->spec) ? ceilings->matrix_flops_per_s
                                                   : ceilings->fma_flops_per_s;
}

/* a / b as text and for JSON; "-" and null where it is not defined. */
static char *
ratio_text (double a, double b)
{
  return a > 0 && b > 0 ? dyno_text_rate (a / b) : g_strdup ("-");
}

static char *
percent_text (double a, double b)
{
  return a > 0 && b > 0 ? g_strdup_printf ("%.1f %%", 100 * a / b) : g_strdup ("-");
}

static double
ratio_value (double a, double b)
{
  return a > 0 && b > 0 ? a / b : NAN;
}

static void
print_json (const Row *row, const DynoCeilings *ceilings)
{
  const DynoDispatch *d = row->dispatch;
  double bytes_per_s = rate ((double) d->bytes, row->time_us),
         flops_per_s = rate ((double) d->flops, row->time_us);
  g_autofree char *kernel = variant (d);
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "kernel");
  dyno_json_string (&json, "name", d->node->name);
  dyno_json_string (&json, "op", d->node->op->name);
  dyno_json_string (&json, "stage", dyno_stage_name (d->node->stage));
  dyno_json_string (&json, "pass", d->pass);
  dyno_json_string (&json, "variant", kernel);
  dyno_json_double (&json, "us", row->time_us);
  dyno_json_double (&json, "gflop", (double) d->flops / 1e9);
  dyno_json_double (&json, "mb", (double) d->bytes / 1e6);
  dyno_json_double (&json, "gb_per_s", bytes_per_s / 1e9);
  dyno_json_double (&json, "tflop_per_s", flops_per_s / 1e12);
  dyno_json_double (&json, "of_bandwidth", ratio_value (bytes_per_s, ceilings->copy_bytes_per_s));
  dyno_json_double (&json, "of_flops", ratio_value (flops_per_s, flops_ceiling (ceilings, d)));
  dyno_json_double (&json, "floor_us", row->floor_us);
  dyno_json_double (&json, "over_floor", ratio_value (row->time_us, row->floor_us));
  dyno_json_begin_array (&json, "groups");
  for (guint i = 0; i < 3; i++)
    dyno_json_uint (&json, NULL, d->groups[i]);
  dyno_json_end_array (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

typedef struct {
  char *name; /* "conv2d.wgrad reduce"; owned */
  guint count;
  double time_us, floor_us, flops, bytes;
} Sum;

static void
sum_free (gpointer data)
{
  Sum *sum = data;
  g_free (sum->name);
  g_free (sum);
}

static void
sum_add (Sum *sum, const Row *row)
{
  sum->count++;
  sum->time_us += row->time_us;
  sum->floor_us += row->floor_us;
  sum->flops += (double) row->dispatch->flops;
  sum->bytes += (double) row->dispatch->bytes;
}

static int
slower_sum_first (gconstpointer a, gconstpointer b)
{
  const Sum *x = *(Sum *const *) a, *y = *(Sum *const *) b;
  return (x->time_us < y->time_us) - (x->time_us > y->time_us);
}

/* Sums the times by op and pass, so that all weight gradients are in one row. */
static GPtrArray *
sum_up (const Row *rows, guint n)
{
  g_autoptr (GHashTable) sums = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *list = g_ptr_array_new_with_free_func (sum_free);

  for (guint i = 0; i < n; i++)
    {
      const DynoDispatch *d = rows[i].dispatch;
      g_autofree char *name = g_strdup_printf ("%s %s", d->node->op->name, d->pass);
      Sum *sum = g_hash_table_lookup (sums, name);

      if (!sum)
        {
          sum = g_new0 (Sum, 1);
          sum->name = g_steal_pointer (&name);
          g_hash_table_insert (sums, sum->name, sum);
          g_ptr_array_add (list, sum);
        }
      sum_add (sum, &rows[i]);
    }
  g_ptr_array_sort (list, slower_sum_first);
  return list;
}

static void
add_sum (DynoTable *table, const Sum *sum, double total_us)
{
  dyno_table_add (
      table, g_strdup (sum->name), g_strdup_printf ("%u", sum->count),
      g_strdup_printf ("%.1f", sum->time_us), percent_text (sum->time_us, total_us),
      g_strdup_printf ("%.2f", sum->flops / 1e9), g_strdup_printf ("%.1f", sum->bytes / 1e6),
      dyno_text_rate (rate (sum->flops, sum->time_us) / 1e12),
      dyno_text_rate (rate (sum->bytes, sum->time_us) / 1e9),
      g_strdup_printf ("%.1f", sum->floor_us), ratio_text (sum->time_us, sum->floor_us), NULL);
}

static void
print_sums (const GPtrArray *sums, const Sum *total)
{
  g_autoptr (DynoTable) table = dyno_table_new ("op", "count", "us", "share", "GFLOP", "MB",
                                                "TFLOP/s", "GB/s", "floor us", "us/floor", NULL);

  for (guint i = 0; i < sums->len; i++)
    add_sum (table, sums->pdata[i], total->time_us);
  add_sum (table, total, total->time_us);
  dyno_out_line ("%s", "");
  dyno_table_print (table);
}

static void
print_sum_json (const Sum *sum)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "sum");
  dyno_json_string (&json, "kind", sum->name);
  dyno_json_uint (&json, "count", sum->count);
  dyno_json_double (&json, "us", sum->time_us);
  dyno_json_double (&json, "gflop", sum->flops / 1e9);
  dyno_json_double (&json, "mb", sum->bytes / 1e6);
  dyno_json_double (&json, "floor_us", sum->floor_us);
  dyno_json_double (&json, "over_floor", ratio_value (sum->time_us, sum->floor_us));
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static void
print_rows (const Row *rows, guint n, double total_us, const DynoCeilings *ceilings)
{
  g_autoptr (DynoTable) table =
      dyno_table_new ("name", "pass", "us", "share", "GFLOP", "MB", "TFLOP/s", "of max", "GB/s",
                      "of max", "floor us", "us/floor", "kernel", NULL);

  for (guint i = 0; i < n; i++)
    {
      const DynoDispatch *d = rows[i].dispatch;
      double bytes_per_s = rate ((double) d->bytes, rows[i].time_us),
             flops_per_s = rate ((double) d->flops, rows[i].time_us);
      dyno_table_add (
          table, g_strdup (d->node->name), g_strdup (d->pass),
          g_strdup_printf ("%.1f", rows[i].time_us), percent_text (rows[i].time_us, total_us),
          g_strdup_printf ("%.2f", (double) d->flops / 1e9),
          g_strdup_printf ("%.1f", (double) d->bytes / 1e6), dyno_text_rate (flops_per_s / 1e12),
          percent_text (flops_per_s, flops_ceiling (ceilings, d)),
          dyno_text_rate (bytes_per_s / 1e9),
          percent_text (bytes_per_s, ceilings->copy_bytes_per_s),
          g_strdup_printf ("%.1f", rows[i].floor_us),
          ratio_text (rows[i].time_us, rows[i].floor_us), variant (d), NULL);
    }
  dyno_table_print (table);
}

static void
print_text (const DynoBench *bench, const Row *rows, guint shown, const GPtrArray *sums,
            const Sum *total)
{
  const DynoCeilings *c = &bench->ceilings;
  g_autofree char *copy = dyno_text_rate (c->copy_bytes_per_s / 1e9),
                  *fma = dyno_text_rate (c->fma_flops_per_s / 1e12),
                  *matrix = dyno_text_rate (c->matrix_flops_per_s / 1e12);

  dyno_out_line (
      "%s, batch %u, %s: %u %s, %u %s, %.1f us one after the other, %.2f "
      "GFLOP, %.1f MB",
      bench->workload->name, bench->batch, bench->amp ? "amp" : "fp32", total->count,
      dyno_plural (total->count, "dispatch", "dispatches"),
      dyno_program_get_barriers (dyno_build_get_program (bench->build), dyno_bench_command (bench)),
      dyno_plural (dyno_program_get_barriers (dyno_build_get_program (bench->build),
                                              dyno_bench_command (bench)),
                   "barrier", "barriers"),
      total->time_us, total->flops / 1e9, total->bytes / 1e6);
  dyno_out_line ("at most: %s GB/s, %s TFLOP/s in fp32%s%s%s", copy, fma,
                 c->matrix_flops_per_s > 0 ? ", " : "", c->matrix_flops_per_s > 0 ? matrix : "",
                 c->matrix_flops_per_s > 0 ? " on matrix units" : "");
  if (total->time_us <= 0)
    dyno_out_line ("this device has no timestamps: times read 0");
  print_rows (rows, shown, total->time_us, c);
  print_sums (sums, total);
}

static void
print_total_json (const DynoBench *bench, const Sum *total)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "total");
  dyno_json_string (&json, "workload", bench->workload->name);
  dyno_json_uint (&json, "batch", bench->batch);
  dyno_json_string (&json, "mode", bench->amp ? "amp" : "fp32");
  dyno_json_uint (&json, "dispatches", total->count);
  dyno_json_uint (&json, "barriers",
                  dyno_program_get_barriers (dyno_build_get_program (bench->build),
                                             dyno_bench_command (bench)));
  dyno_json_double (&json, "us", total->time_us);
  dyno_json_double (&json, "gflop", total->flops / 1e9);
  dyno_json_double (&json, "mb", total->bytes / 1e6);
  dyno_json_double (&json, "floor_us", total->floor_us);
  dyno_json_double (&json, "over_floor", ratio_value (total->time_us, total->floor_us));
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

/* --- as a trace ------------------------------------------------------------------------------- */

static void
trace_dispatch (DynoTrace *trace, guint process, const Row *row, double at_us,
                const DynoCeilings *ceilings)
{
  const DynoDispatch *d = row->dispatch;
  g_autofree char *kernel = variant (d), *name = g_strdup_printf ("%s %s", d->node->name, d->pass);
  double flops_per_s = rate ((double) d->flops, row->time_us),
         bytes_per_s = rate ((double) d->bytes, row->time_us);
  DynoJson *json = dyno_trace_begin (trace, process, 1, name, dyno_stage_name (d->node->stage),
                                     at_us, row->time_us);

  dyno_json_string (json, "op", d->node->op->name);
  dyno_json_string (json, "pass", d->pass);
  dyno_json_string (json, "kernel", kernel);
  dyno_json_double (json, "us", row->time_us);
  dyno_json_double (json, "gflop", (double) d->flops / 1e9);
  dyno_json_double (json, "mb", (double) d->bytes / 1e6);
  dyno_json_double (json, "tflop_per_s", flops_per_s / 1e12);
  dyno_json_double (json, "gb_per_s", bytes_per_s / 1e9);
  dyno_json_double (json, "floor_us", dyno_ceilings_floor_us (ceilings, d));
  dyno_trace_end (trace);
}

/* Adds a span over successive dispatches of one stage; returns its end. */
static double
trace_stage (DynoTrace *trace, guint process, const Row *rows, guint n, double at_us)
{
  double sum_us = 0;
  DynoJson *json;

  for (guint i = 0; i < n; i++)
    sum_us += rows[i].time_us;
  json = dyno_trace_begin (trace, process, 1, dyno_stage_name (rows[0].dispatch->node->stage),
                           "stage", at_us, sum_us);
  dyno_json_uint (json, "dispatches", n);
  dyno_json_double (json, "us", sum_us);
  dyno_trace_end (trace);
  return at_us + sum_us;
}

gboolean
dyno_bench_trace (DynoBench *bench, guint repeats, GError **error)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (dyno_build_get_lowering (bench->build));
  guint n = dispatches->len, end;
  g_autofree Row *rows = g_new0 (Row, n + 1);
  g_autofree char *title = g_strdup_printf ("%s, batch %u, %s", bench->workload->name, bench->batch,
                                            bench->amp ? "amp" : "fp32");
  DynoTrace *trace = bench->trace;
  guint process = ++bench->n_traced;
  double at_us = 0;

  for (guint i = 0; i < n; i++)
    rows[i].dispatch = dispatches->pdata[i];
  if (!collect (bench, CLAMP (repeats, 1, 101), rows, n, error))
    return FALSE;
  dyno_trace_name_process (trace, process, title);
  dyno_trace_name_thread (trace, process, 1, dyno_device_get_info (bench->device)->name);
  for (guint first = 0; first < n; first = end)
    {
      double stage_end_us;

      for (end = first + 1;
           end < n && rows[end].dispatch->node->stage == rows[first].dispatch->node->stage;)
        end++;
      stage_end_us = trace_stage (trace, process, rows + first, end - first, at_us);
      for (guint i = first; i < end; i++)
        {
          trace_dispatch (trace, process, &rows[i], at_us, &bench->ceilings);
          at_us += rows[i].time_us;
        }
      at_us = stage_end_us;
    }
  return TRUE;
}

gboolean
dyno_bench_kernels (DynoBench *bench, guint repeats, guint rows_shown, gboolean as_json,
                    GError **error)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (dyno_build_get_lowering (bench->build));
  guint n = dispatches->len, shown = rows_shown ? MIN (rows_shown, n) : n;
  g_autofree Row *rows = g_new0 (Row, n + 1);
  g_autoptr (GPtrArray) sums = NULL;
  Sum total = { .name = (char *) "sum" };

  for (guint i = 0; i < n; i++)
    {
      rows[i].dispatch = dispatches->pdata[i];
      rows[i].floor_us = dyno_ceilings_floor_us (&bench->ceilings, rows[i].dispatch);
    }
  if (!collect (bench, CLAMP (repeats, 1, 101), rows, n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    sum_add (&total, &rows[i]);
  qsort (rows, n, sizeof *rows, slower_first);
  sums = sum_up (rows, n);
  if (!as_json)
    print_text (bench, rows, shown, sums, &total);
  else
    {
      for (guint i = 0; i < shown; i++)
        print_json (&rows[i], &bench->ceilings);
      for (guint i = 0; i < sums->len; i++)
        print_sum_json (sums->pdata[i]);
      print_total_json (bench, &total);
    }
  dyno_out_flush ();
  return TRUE;
}
