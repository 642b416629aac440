/* SPDX-License-Identifier: MIT */
/* Shared by diagnosis.c (measures), diagnosis-rules.c (the table) and quick.c.  Private to the tune
 * layer. */
#pragma once
#include "diagnosis.h"

G_BEGIN_DECLS

/* The measures that the rules ask for, derived from an input; NaN: not known. */
typedef struct {
  const DynoDiagnosisInput *input;
  const DynoSettings *settings; /* NULL: not known */
  guint64 n_steps;              /* steps that were timed */
  double batch;                 /* samples of a step */
  double ranks, hosts;          /* both 1 for one process */
  double rate, loader_ceiling, gpu_ceiling, exchange_ceiling;
  gboolean loader_measured, gpu_measured;
  double decode_ms, fetch_ms; /* time of a sample in one worker; the part of it that reads */
  double workers;             /* workers that decode: 1 at least */
  gboolean software;          /* the device is a CPU */
  DynoPhases phases;
  double training_ms; /* time of a step, without the ends of epochs */
  double device_ms;   /* part of training_ms in which the device computes */
  double upload_ms;   /* time of a step's copies by the device and the host, hidden or not */
  double bandwidth_share, arithmetic_share;
  double early_ms, late_ms;     /* time of a step, in the second and the last quarter */
  double early_vram, late_vram; /* bytes, in the first and the last quarter */
  /* share of the last quarter's steps that waits for data; NaN: the run is too short */
  double late_wait_share;
  double wait_share, copy_share, idle_share, device_share; /* shares of training_ms */
  /* shares of training_ms: wait for sums over the ranks; for slower ranks */
  double exchange_share, ranks_share;
} DynoMeasures;

/* samples/s that this many workers would deliver if nobody waited, by the time of a sample in this
 * run; NaN: not known. */
double dyno_measures_loader_rate (const DynoMeasures *m, double workers);

void dyno_measures_init (DynoMeasures *m, const DynoDiagnosisInput *input);

/* The words that a rule puts into its sentences, and its advice. */
typedef struct {
  char *a, *b, *c, *d; /* {a} to {d} in the sentences */
  char *value;         /* {v}: the value of the setting */
  double gain;         /* {g}: "about +40 %"; NaN: no gain is known */
  /* Share of the rule's phase in a step, which includes its part of the ends of epochs; NaN: the
   * rule is about no phase. */
  double share;
  /* only where they differ from the rule's own */
  const char *text, *action, *key;
  gboolean no_key; /* no setting helps */
} DynoRuleWords;

void dyno_rule_words_clear (DynoRuleWords *words);

typedef struct {
  DynoRuleInfo info;
  /* The first limiting rule that applies is the verdict; among limiting rules about a phase it is
   * the rule with the longest phase. */
  gboolean limits;
  gboolean (*applies) (const DynoMeasures *m, double threshold, DynoRuleWords *words);
  const char *text, *action; /* N_() */
  const char *key;           /* the setting that the rule advises to change */
} DynoRule;

const DynoRule *dyno_rule_list (guint *n);

/* The conditions of the rules, defined in diagnosis-limits.c and diagnosis-checks.c. */
gboolean dyno_check_is_not_a_number (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_diverged (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_waited_at_first (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_disk_bound (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_cpu_bound (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_transfer_bound (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_exchange_bound (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_waits_for_ranks (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_launch_bound (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_idle (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_hot (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_amp_would_pay (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_small_batch (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_busy (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_has_more_workers_than_cores (const DynoMeasures *m, double threshold,
                                                 DynoRuleWords *w);
gboolean dyno_check_could_cache (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_near_memory (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_has_no_validation (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_software (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_saves_power (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_may_unload_driver (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_prepared (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_short_of_power (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_grows_in_vram (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_grows_in_ram (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_slows_down (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_swapped_out (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_swaps (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_shares_gpu (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_shares_cpu (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_skips_updates (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_has_long_ends (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_data_ahead (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_steady (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_explain_rest (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_explain_arithmetic (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_has_failed (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_is_at_chance (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_overfits (const DynoMeasures *m, double threshold, DynoRuleWords *w);
gboolean dyno_check_learns (const DynoMeasures *m, double threshold, DynoRuleWords *w);

/* The share of a step from which waiting for data counts as the limit. */
#define DYNO_DIAGNOSIS_WAITING 0.10

/* The share of a step that this many milliseconds of a phase take, for DynoRuleWords. */
double dyno_measures_share (const DynoMeasures *m, double ms);
/* TRUE where the device waits for data, in that share of a step at least. */
gboolean dyno_measures_wait (const DynoMeasures *m, double threshold);
/* TRUE where all decoded samples would fit the cache, which is off and would be used more than
 * once. */
gboolean dyno_measures_cache_fits (const DynoMeasures *m);

/* Quantities in words; g_free. */
char *dyno_word_percent (double share);
char *dyno_word_milliseconds (double ms);
char *dyno_word_rate (double per_second);
char *dyno_word_bytes (double amount);
char *dyno_word_whole (double number);

/* A translated sentence, with {a} to {d}, {v} and {g} replaced; g_free. */
char *dyno_rule_expand (const char *sentence, const DynoRuleWords *words);

void dyno_finding_free (DynoFinding *finding);
DynoFinding *dyno_finding_new (const DynoRule *rule, const DynoRuleWords *words);

G_END_DECLS
