/* SPDX-License-Identifier: MIT */
/* Targets of the rows of cross entropy.  Include after the constant C and push constants p with
 * targets and step_input.  RANDOM_TARGETS=1: they are drawn from (seed, step, micro-step, row).
 * MIX=1: a row has a second target, of the sample before. */
#ifndef DYNO_LOSS_TARGETS_GLSL
#define DYNO_LOSS_TARGETS_GLSL

DYNO_BUFFER_IN (Targets, uint, 4);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);

#define NO_CLASS 0xffffffffu

uint
row_target (uint row)
{
  StepIn step_input = StepIn (p.step_input);
  const uint n_valid = step_input.v[0].n_valid;
#ifdef RANDOM_TARGETS
  const uint key =
      dyno_random_key (step_input.v[0].seed_low, step_input.v[0].seed_high, step_input.v[0].step,
                       step_input.v[0].micro_step, DYNO_RANDOM_STREAM_TARGET);
  const uint target = dyno_random_at (key, row) % C;
#else
  const uint target = Targets (p.targets).v[row];
#endif
  return SAMPLE_OF (row) < n_valid && target < C ? target : NO_CLASS;
}

#ifdef MIX
/* The target of the same step of the sample before; for the first sample, of the last valid
 * sample. */
uint
row_other (uint row)
{
#ifdef PER_SAMPLE
  const uint step = PER_SAMPLE;
#else
  const uint step = 1;
#endif
  const uint n_valid = StepIn (p.step_input).v[0].n_valid;
  if (n_valid == 0)
    return NO_CLASS;
  return row_target (row >= step ? row - step : row + (n_valid - 1) * step);
}
#endif
#endif
