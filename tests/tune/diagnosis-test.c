/* SPDX-License-Identifier: MIT */
#include "diagnosis-test.h"
#include <math.h>
#include <string.h>

void
machine_init (Machine *m)
{
  memset (m, 0, sizeof *m);
  dyno_diagnosis_input_init (&m->in);
  m->in.has_settings = TRUE;
  m->in.settings.workers = 8;
  m->in.settings.batch_size = 64;
  m->in.settings.amp = TRUE;
  m->in.settings.epochs = 4;
  m->in.settings.pinned = TRUE;
  m->in.facts = (DynoRunFacts){ .device = "Test GPU",
                                .vendor_id = 0x1002,
                                .fp16 = TRUE,
                                .matrix = TRUE,
                                .timestamps = TRUE,
                                .device_bytes = (guint64) 8 << 30,
                                .limit_bytes = (guint64) 8 << 30,
                                .planned_bytes = (guint64) 1 << 30,
                                .fitting_batch = 512,
                                .cores = 16,
                                .ram_free_bytes = (guint64) 16 << 30,
                                .n_train = 100000,
                                .n_validation = 10000,
                                .batch_size = 64,
                                .accumulate = 1,
                                .parts = 1,
                                .amp = TRUE,
                                /* 100 GiB in total, too much for a cache. */
                                .sample_bytes = 1 << 20,
                                .flops_per_sample = 5e9,
                                .batch_dispatches = 200,
                                .batch_bytes = 2e9,
                                .copy_bytes_per_s = 400e9,
                                .single_flops_per_s = 10e12,
                                .matrix_flops_per_s = 50e12,
                                .guess_loss = 2.3,
                                .state = DYNO_SESSION_FINISHED };
  m->n = 200;
  m->step_ms = 10;
  m->upload_ms = 1;
  m->forward_ms = 3.2;
  m->backward_ms = 6;
  m->optimizer_ms = 0.5;
  m->decode_ms = 0.5;
  m->workers = 8;
  m->batch = 64;
  m->late_factor = 1;
  m->loss0 = 2.4;
  m->loss1 = 0.8;
  m->n_epochs = 4;
  for (guint i = 0; i < 8; i++)
    {
      m->train_loss[i] = 1.5 - 0.2 * i;
      m->val_loss[i] = 1.6 - 0.2 * i;
    }
  m->validation_s = 0.02;
  m->saving_s = 0.005;
}

static void
add_epoch (Machine *m, guint epoch, guint64 step, double *clock)
{
  DynoEpochMetrics row = { .epoch = epoch + 1,
                           .step = step,
                           .train_loss = m->train_loss[epoch],
                           .val_loss = m->val_loss[epoch],
                           .validation_seconds = m->validation_s,
                           .saving_seconds = epoch > 0 ? m->saving_s : 0 };

  *clock += m->validation_s + m->saving_s;
  dyno_stretches_add_epoch (&m->in.log, &row);
}

DynoDiagnosis *
diagnose (Machine *m)
{
  double clock = 0;
  guint each = m->n_epochs > 0 ? m->n / m->n_epochs : m->n;

  for (guint i = 0; i < m->n; i++)
    {
      double late = i >= m->n / 2 ? m->late_factor : 1, x = (double) i / (m->n - 1),
             wait = m->wait_until > 0 && x > m->wait_until ? 0 : m->wait_ms;
      DynoStepMetrics step = {
        .step = i + 1,
        .epoch = i / each + 1,
        .loss = i + m->n_bad >= m->n ? (double) NAN : m->loss0 + (m->loss1 - m->loss0) * x,
        .step_ms = (m->step_ms - m->wait_ms + wait) * late,
        .wait_data_ms = wait * late,
        .upload_ms = m->upload_ms,
        .host_copy_ms = m->host_copy_ms,
        .forward_ms = m->forward_ms * late,
        .backward_ms = m->backward_ms * late,
        .optimizer_ms = m->optimizer_ms * late,
        .skipped = fmod (i * m->skipped_share, 1) + m->skipped_share > 1,
        .vram_bytes = ((guint64) 1 << 30) + (guint64) (x * (double) m->vram_growth),
        .vram_all_bytes = m->vram_all,
        .samples = m->batch,
        .decoded = m->decode_ms > 0 ? m->batch : 0,
        .workers = m->workers,
        .decode_ms = m->decode_ms * m->batch,
        .fetch_ms = m->fetch_ms * m->batch,
      };

      clock += step.step_ms / 1e3;
      step.seconds = clock;
      dyno_stretches_add_step (&m->in.log, &step);
      if (m->n_epochs > 0 && (i + 1) % each == 0)
        add_epoch (m, i / each, i + 1, &clock);
    }
  return dyno_diagnose (&m->in);
}

void
wait_for_data (Machine *m, double wait_ms, double decode_ms)
{
  m->wait_ms = wait_ms;
  m->step_ms = 9.7 + wait_ms;
  m->decode_ms = decode_ms;
  m->workers = (guint) m->in.settings.workers;
}

void
exchange_for (Machine *m, double exchange_ms)
{
  m->in.facts.ranks = 2;
  m->in.facts.hosts = 1;
  m->in.facts.exchange_bytes = 100 << 20;
  m->in.facts.exchange_buckets = 8;
  m->in.facts.exchange_sum_ms = 8;
  m->in.facts.exchange_wait_ms = exchange_ms;
  m->upload_ms = 0;
  m->batch = 128;
  m->step_ms = 9.7 + m->in.facts.exchange_wait_ms;
}
