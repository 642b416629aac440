/* SPDX-License-Identifier: MIT */
/* The rules of the diagnosis: one table, a row each with its condition, threshold, the source of
 * the threshold, sentence and action.  {a} to {d} stand for the findings of the condition, {v} for
 * the value that it advises, {g} for the expected gain.
 *
 * Invariants: a condition whose facts are not known does not apply (comparisons with NaN are
 * false); rows about limits stand in the order of precedence. */
#include "diagnosis-private.h"
#include "amount.h"
#include "intl.h"

char *
dyno_word_percent (double share)
{
  return g_strdup_printf (share < 0.0995 ? "%.1f %%" : "%.0f %%", 100 * share);
}

char *
dyno_word_milliseconds (double ms)
{
  return g_strdup_printf (ms < 10 ? "%.2f ms" : ms < 100 ? "%.1f ms" : "%.0f ms", ms);
}

char *
dyno_word_rate (double rate)
{
  return dyno_amount_rate (rate);
}

char *
dyno_word_bytes (double amount)
{
  return dyno_amount_bytes ((guint64) MAX (amount, 0), " ");
}

char *
dyno_word_whole (double number)
{
  return g_strdup_printf ("%.0f", number);
}

#define RULE(name, how, list, limit, of, from) \
  .info = { name, DYNO_FINDING_##how, DYNO_CHECK_##list, limit, of, from }

static const DynoRule rules[] = {
  /* rules for the verdict: first those about a broken run, then those about the limiting phase */
  { RULE ("not-a-number", PROBLEM, AFTER, 1, "steps", "a loss that is no number is never right"),
    .limits = TRUE, .applies = dyno_check_is_not_a_number,
    .text = N_ ("Steps whose loss was not finite: {a}{b}"),
    .action = N_ ("Take a lower lr, a longer warm-up or clip_norm=1; look for samples far out of "
                  "range; with AMP, see whether amp=false holds"),
    .key = "clip_norm" },
  { RULE ("diverged", PROBLEM, AFTER, 1000, "times the first loss",
          "the same that ends a run (health.h)"),
    .limits = TRUE, .applies = dyno_check_is_diverged, .text = N_ ("The loss rose from {a} to {b}"),
    .action = N_ ("Take a lower lr ({v}), a longer warm-up or clip_norm=1"), .key = "lr" },
  { RULE ("disk-bound", WARNING, DURING, 0.5, "of a worker's time",
          "beyond one half, reading takes longer than decoding"),
    .limits = TRUE, .applies = dyno_check_is_disk_bound,
    .text = N_ ("The disk limits: the device waits for data in {a} of each step, and reading files "
                "is {b} of the workers' time; {c} samples/s come, the device could take {d}"),
    .action = N_ ("Set workers={v}, so that more files are read at once ({g}); better, put the "
                  "data onto a faster disk"),
    .key = "workers" },
  { RULE ("cpu-bound", WARNING, DURING, DYNO_DIAGNOSIS_WAITING, "of a step",
          "three times the gain of 3 % that the search calls one; less comes of the first batches "
          "of an epoch"),
    .limits = TRUE, .applies = dyno_check_is_cpu_bound,
    .text =
        N_ ("The data pipeline limits: the device waits in {a} of each step; {b} can decode {c} "
            "samples/s, the device could take {d}"),
    .action = N_ ("Set workers={v} ({g})"), .key = "workers" },
  { RULE ("transfer-bound", WARNING, DURING, 0.10, "of a step",
          "as cpu-bound; copies that are hidden behind computing cost nothing"),
    .limits = TRUE, .applies = dyno_check_is_transfer_bound,
    .text = N_ ("Copies to the device limit: {a} of each step waits for them ({b} each)"),
    .action = N_ ("Set pinned=true: the device copies by itself, beside the computing ({g})"),
    .key = "pinned" },
  { RULE ("exchange-bound", WARNING, DURING, 0.10, "of a step",
          "as cpu-bound; what the backward pass hides of the exchange costs nothing"),
    .limits = TRUE, .applies = dyno_check_is_exchange_bound,
    .text = N_ ("The exchange of gradients limits: the devices wait for it in {a} of each step; "
                "sums of {b} over the ranks allow {c} samples/s, the devices could take {d}"),
    .action = N_ ("Set exchange.half=true: half the bytes travel ({g})"), .key = "exchange.half" },
  { RULE ("waits-for-ranks", WARNING, DURING, 0.10, "of a step", "as cpu-bound"), .limits = TRUE,
    .applies = dyno_check_waits_for_ranks,
    .text = N_ ("A slower rank limits: rank 0 waits for it in {a} of each step"),
    .action = N_ ("Look in the log for the rank that is named as slow, and why ({g})") },
  { RULE ("long-epoch-ends", NOTE, DURING, 0.25, "of the time",
          "a tenth of the samples validated costs about a thirtieth"),
    .limits = TRUE, .applies = dyno_check_has_long_ends,
    .text = N_ ("The ends of epochs take {a} of the time (saving {b})"),
    .action = N_ ("Validate on fewer samples (data.val_split), or make epochs longer"),
    .key = "data.val_split" },
  { RULE ("waited-at-first", NOTE, DURING, 0.05, "of a step in the last quarter",
          "half of what counts as limiting: the data pipeline has become fast enough"),
    .limits = TRUE, .applies = dyno_check_waited_at_first,
    .text = N_ ("Data was waited for at first: the device waits for it in {a} of each step over "
                "the whole run, in {b} of each step in its last quarter"),
    .action = N_ ("Nothing to change: files are cached by now, and each further epoch makes the "
                  "first one a smaller share") },
  { RULE ("launch-bound", WARNING, DURING, 6, "microseconds a kernel",
          "measured: a kernel that does nothing takes 2.4 us with its barrier, the smallest useful "
          "ones 4 to 7"),
    .limits = TRUE, .applies = dyno_check_is_launch_bound,
    .text =
        N_ ("Starting kernels limits: {a} of them in each batch take {b} each, hardly more than "
            "an empty one"),
    .action = N_ ("Set batch_size={v}: the same kernels do more work ({g})"), .key = "batch_size" },
  { RULE ("idle", WARNING, DURING, 0.15, "of a step",
          "a submit takes 4 to 13 us and runs two steps ahead: a device that idles longer is not "
          "fed by this process in time"),
    .limits = TRUE, .applies = dyno_check_is_idle,
    .text = N_ ("The device idles in {a} of each step without waiting for data or copies"),
    .action =
        N_ ("Look for other programs on this CPU or device; a larger batch_size makes the gaps "
            "rarer"),
    .key = "batch_size" },
  { RULE ("throttled-temperature", WARNING, DURING, 0.10, "of the readings",
          "a reading a second: less is a moment after the start"),
    .limits = TRUE, .applies = dyno_check_is_hot,
    .text = N_ ("The device slowed down for its temperature in {a} of the readings (up to {b})"),
    .action = N_ ("Check its fans, dust and the airflow of the case; a lower power limit costs "
                  "less speed than heat does") },
  { RULE ("amp-off", WARNING, BEFORE, 1.15, "times, by the device's measured rates",
          "below it what AMP costs (casts, loss scaling) is not sure to be won back"),
    .limits = TRUE, .applies = dyno_check_amp_would_pay,
    .text =
        N_ ("The device limits, and it computes in fp32: its matrix units do {a} times as much in "
            "fp16"),
    .action = N_ ("Set amp=true ({g})"), .key = "amp" },
  { RULE ("small-batch", NOTE, DURING, 0.30, "of the device's arithmetic rate",
          "measured: networks at a batch that fills the device reach 50 to 80 %"),
    .limits = TRUE, .applies = dyno_check_is_small_batch,
    .text = N_ ("The device limits, but batch {b} keeps it busy without filling it: {a} of its "
                "arithmetic rate; up to {c} would fit its memory"),
    .action = N_ ("Try batch_size={v}; dynoctl tune measures from where on more brings nothing"),
    .key = "batch_size" },
  { RULE ("gpu-bound", GOOD, DURING, 0.85, "of a step",
          "what is left is within the gaps between steps"),
    .limits = TRUE, .applies = dyno_check_is_busy,
    .text = N_ ("The device limits, as it should: it computes in {a} of each step") },

  /* before */
  { RULE ("workers-above-cores", WARNING, BEFORE, 1, "workers a core",
          "decoding is computing: more threads than cores take turns; reading is not"),
    .applies = dyno_check_has_more_workers_than_cores, .text = N_ ("{a} workers share {b} cores"),
    .action = N_ ("Set workers={v}"), .key = "workers" },
  { RULE ("cache-fits", NOTE, BEFORE, 0.05, "of a step spent waiting",
          "the cache takes at most half of the memory that is free (sample-cache.h)"),
    .applies = dyno_check_could_cache,
    .text = N_ ("All decoded samples are {a}, and {b} of main memory are free: they would fit"),
    .action = N_ ("Set cache=true: decoding is done once, in the first epoch"), .key = "cache" },
  { RULE ("memory-tight", NOTE, BEFORE, 0.95, "of the memory that may be used",
          "drivers and desktops take some 100 MiB when they like"),
    .applies = dyno_check_is_near_memory,
    .text = N_ ("The plan needs {a} of {b}: little is left for others"),
    .action = N_ ("Keep memory.shrink on, or take a smaller batch_size"), .key = "batch_size" },
  { RULE ("no-validation", NOTE, BEFORE, 0, "", ""), .applies = dyno_check_has_no_validation,
    .text = N_ ("No sample is kept for validation: overfitting cannot be detected"),
    .action = N_ ("Set data.val_split={v}"), .key = "data.val_split" },
  { RULE ("software-device", NOTE, BEFORE, 0, "", ""), .applies = dyno_check_is_software,
    .text = N_ ("{a} is a CPU: computing and decoding share its cores"),
    .action = N_ ("Small images, a small batch and model.width below 1; a GPU with a Vulkan driver "
                  "is some hundred times as fast") },
  { RULE ("cpu-governor", NOTE, BEFORE, 0, "", ""), .applies = dyno_check_saves_power,
    .text = N_ ("The CPU's governor is “{a}”: cores run slow until they are busy for a while"),
    .action = N_ ("For the length of a run, as root: cpupower frequency-set -g performance") },
  { RULE ("gpu-persistence", NOTE, BEFORE, 0, "", ""), .applies = dyno_check_may_unload_driver,
    .text = N_ ("NVIDIA's persistence daemon does not run: unless a display uses the card, its "
                "driver may be loaded anew for each program"),
    .action = N_ ("See nvidia-smi -q | grep Persistence; as root: nvidia-smi -pm 1") },
  { RULE ("prepared", GOOD, BEFORE, 0.95, "of the memory that may be used", "as memory-tight"),
    .applies = dyno_check_is_prepared,
    .text = N_ ("The plan fits with room to spare: {a} of {b}") },

  /* during */
  { RULE ("throttled-power", NOTE, DURING, 0.10, "of the readings", "as throttled-temperature"),
    .applies = dyno_check_is_short_of_power,
    .text = N_ ("The device ran at its power limit in {a} of the readings ({c} of {d})"),
    .action = N_ ("That is usual under full load; nvidia-smi -q -d POWER reports whether the limit "
                  "may be raised (nvidia-smi -pl, as root)") },
  { RULE ("memory-growing", PROBLEM, DURING, 0.01, "of the memory at the beginning",
          "a run allocates nothing after its first step: any growth is a fault"),
    .applies = dyno_check_grows_in_vram,
    .text = N_ ("The device memory that this run holds grew from {a} to {b}"),
    .action = N_ ("Please report it, with this folder's log; stop and resume frees what is held") },
  { RULE ("host-memory-growing", WARNING, DURING, 0.10, "of main memory",
          "a minute and more of readings; less is the system's own coming and going"),
    .applies = dyno_check_grows_in_ram,
    .text = N_ ("Main memory in use grew from {a} to {b} in this run"),
    .action =
        N_ ("See which program grows (top, sorted by RES); with cache=true growth is expected") },
  { RULE ("slowing-down", WARNING, DURING, 1.15, "times the earlier time of a step",
          "clocks and neighbours move steps by 2 to 5 %"),
    .applies = dyno_check_slows_down,
    .text = N_ ("Steps became slower: {a} early in the run, {b} late"),
    .action = N_ ("Look at temperature and clocks (dynoctl watch), other programs, and a disk that "
                  "fills") },
  { RULE ("vram-swapped", WARNING, DURING, 0.98, "of the device's memory",
          "drivers begin to move memory to the host when none is left"),
    .applies = dyno_check_is_swapped_out,
    .text = N_ ("All programs together held {a} of {b} of device memory: the driver may have moved "
                "some to the host"),
    .action = N_ ("Close other programs on the device, or set vram_budget to what they leave"),
    .key = "vram_budget" },
  { RULE ("host-swapping", WARNING, DURING, 1, "MiB a second", "what is read back was needed"),
    .applies = dyno_check_swaps, .text = N_ ("The system read {a} a second back from swap"),
    .action = N_ ("Take fewer workers or a smaller prefetch, and cache=false"), .key = "cache" },
  { RULE ("gpu-shared", WARNING, DURING, 1, "other programs",
          "one that computes takes turns with this one"),
    .applies = dyno_check_shares_gpu, .text = N_ ("{a} other programs used this device meanwhile"),
    .action = N_ ("What was measured holds for a shared device; end them, or choose another "
                  "--device") },
  { RULE ("cpu-shared", NOTE, DURING, 0.15, "of all cores", "what a desktop takes stays below it"),
    .applies = dyno_check_shares_cpu, .text = N_ ("Other programs took {a} of the CPU meanwhile"),
    .action = N_ ("Work on the CPU is slower by that much") },
  { RULE ("updates-skipped", WARNING, DURING, 0.05, "of the steps",
          "the loss scale doubles each 2000 steps: one overflow for each is usual"),
    .applies = dyno_check_skips_updates,
    .text = N_ ("{a} of the updates were skipped: overflow in fp16"),
    .action = N_ ("Take clip_norm=1 or a lower lr; amp={v} has no overflow"), .key = "amp" },
  { RULE ("data-ahead", GOOD, DURING, 0.02, "of a step spent waiting", "below what a gain is"),
    .applies = dyno_check_is_data_ahead,
    .text = N_ ("Data is ahead: the loader can give {a} samples/s, {b} are needed") },
  { RULE ("steady", GOOD, DURING, 1.05, "times the earlier time of a step", "as slowing-down"),
    .applies = dyno_check_is_steady,
    .text = N_ ("Steps ({a}) and device memory ({b}) stayed as they were") },
  { RULE ("why-not-all", NOTE, DURING, 0.98, "of the time", "what is left is rounding"),
    .applies = dyno_check_explain_rest,
    .text = N_ ("Why not 100 %? The device computes in {a} of the {b} that a step takes with its "
                "share of the epoch's end; the rest is {c}") },
  { RULE ("device-rates", NOTE, DURING, 0.001, "of a measured rate", "dynoctl devices --measure"),
    .applies = dyno_check_explain_arithmetic,
    .text = N_ ("While it computes, the device reaches {a} of its own measured arithmetic rate and "
                "at least {b} of its memory bandwidth") },

  /* after */
  { RULE ("failed", PROBLEM, AFTER, 0, "", ""), .applies = dyno_check_has_failed,
    .text = N_ ("The run failed: {a}"),
    .action = N_ ("Remove the cause, then resume from its last checkpoint (train --resume)") },
  { RULE ("stuck-at-chance", PROBLEM, AFTER, 0.98, "of the loss of a constant prediction",
          "the same that warns in a run (health.c), for 3 epochs"),
    .applies = dyno_check_is_at_chance,
    .text =
        N_ ("Nothing was learned: the training loss is {a}, and that of a constant prediction {b}"),
    .action = "{c}", .key = "lr" },
  { RULE ("overfitting", WARNING, AFTER, 1.05, "times the best validation loss",
          "for 3 epochs in a row, while the training loss falls: more than noise"),
    .applies = dyno_check_overfits,
    .text = N_ ("The model overfits: the validation loss was best in epoch {c} ({a}) and is now "
                "{b}, while the training loss kept falling"),
    .action =
        N_ ("The weights of epoch {c} are kept (weights.safetensors); train for {v} epochs, or "
            "take augment.flip, a larger weight_decay, more data"),
    .key = "epochs" },
  { RULE ("learns", GOOD, AFTER, 0.9, "of the loss of a constant prediction",
          "well below stuck-at-chance"),
    .applies = dyno_check_learns,
    .text = N_ ("It learns: the training loss fell from {a} to {b}") },
};

const DynoRule *
dyno_rule_list (guint *n)
{
  *n = G_N_ELEMENTS (rules);
  return rules;
}
