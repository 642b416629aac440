#version 460
/* SPDX-License-Identifier: MIT */
/* One pass over the flat memory: weights, moments, the fp16 copy (HALF_COPY=1), and the gradients
 * set to zero.
 * SGD:     g += decay * w; v = first ? g : momentum * v + g; w -= lr * v.
 * ADAMW=1: w *= 1 - lr * decay; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
 *          w -= lr / c1 * m / (sqrt (v) / sqrt (c2) + epsilon), c = 1 - b^t.
 * ADAM=1:  g += decay * w; m, v and w as with ADAMW after its decay.
 * RMSPROP=1: g += decay * w; v = b2 v + (1 - b2) g^2; m = momentum * m + g / (sqrt (v) + epsilon);
 *          w -= lr * m.
 * LION=1:  w *= 1 - lr * decay; w -= lr * sign (b1 m + (1 - b1) g), where the sign of 0 is 0;
 *          m = b2 m + (1 - b2) g.
 * g is the gradient times update_scale (1 / loss scale, times the clipping factor of the norm),
 * then clamped to -clip_value .. clip_value where clip_value > 0, as PyTorch's clip_grad_value_
 * does.  The clamp precedes the product, so that compilers fuse the product with the sums after it
 * as they do without a limit.  After an overflow only the gradients change.  Sources: PyTorch's
 * SGD, Adam (Kingma and Ba 2015), AdamW (Loshchilov and Hutter 2019) and RMSprop (Hinton 2012);
 * Lion (Chen et al. 2023).  RATES=1: lr is multiplied by the factor of the element's range.
 * UNDECAYED=1: decay is 0 from UNDECAYED_START to before UNDECAYED_END.  AVERAGE=1: the weights'
 * moving average is updated, with its fp16 copy.  An invocation takes 8 elements. */
#include "types.glsl"
#include "optimizer-push.h"
#include "step.h"
#ifdef AVERAGE
#include "average.glsl"
#endif

layout (constant_id = DYNO_OPTIMIZER_COUNT) const uint COUNT = 1; /* elements / 8 */
#ifdef UNDECAYED
layout (constant_id = DYNO_OPTIMIZER_UNDECAYED_START) const uint UNDECAYED_START = 0;
layout (constant_id = DYNO_OPTIMIZER_UNDECAYED_END) const uint UNDECAYED_END = 0;
#endif
#ifdef AVERAGE
layout (constant_id = DYNO_OPTIMIZER_DECAY) const float AVERAGE_DECAY = 0.0;
#endif
DYNO_PUSH (DynoOptimizerUpdatePush, p);
DYNO_BUFFER_INOUT (Floats, vec4, 16);
DYNO_BUFFER_OUT (Halves, uvec4, 16);
DYNO_BUFFER_IN (Corrections, float, 4);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);
DYNO_BUFFER_IN (Scaler, DynoScalerState, 4);
DYNO_BUFFER_IN (Rates, DynoRateRange, 4);

void
main ()
{
  StepIn step_input = StepIn (p.step_input);
  Scaler scaler = Scaler (p.scaler);
  const bool skip = scaler.v[0].overflow != 0;
  const float update_scale = scaler.v[0].update_scale;
  const float base_lr = step_input.v[0].lr;
  const float momentum = step_input.v[0].momentum;
  const float usual_decay = step_input.v[0].weight_decay;
  const float beta2 = step_input.v[0].beta2;
  const float epsilon = step_input.v[0].epsilon;
  const bool first = step_input.v[0].first_update != 0;
  const float clip_value = step_input.v[0].clip_value;
  const float most = 3.402823466e38;
  const float limit =
      clip_value > 0.0 && update_scale > 0.0 ? min (clip_value / update_scale, most) : most;
#ifdef CORRECTIONS
  Corrections corrections = Corrections (p.corrections);
  const float root = 1.0 / sqrt (corrections.v[1]);
#endif
#ifdef AVERAGE
  const float share = average_share (AVERAGE_DECAY, scaler.v[0].applied);
  Floats average = Floats (p.average);
#endif
  Floats master = Floats (p.master), gradient = Floats (p.gradient), moment1 = Floats (p.moment1);
#ifdef MOMENT2
  Floats moment2 = Floats (p.moment2);
#endif
#ifdef RATES
  uint n_ranges = 0; /* before this one */
  DynoRateRange range = Rates (p.rates).v[0];
#endif

  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
#ifdef RATES
      while (i >= range.end) /* i only grows */
        range = Rates (p.rates).v[++n_ranges];
      const float lr = base_lr * range.factor;
#else
      const float lr = base_lr;
#endif
#ifdef UNDECAYED
      const float decay = i >= UNDECAYED_START && i < UNDECAYED_END ? 0.0 : usual_decay;
#else
      const float decay = usual_decay;
#endif
#ifdef CORRECTIONS
      const float step_size = lr / corrections.v[0];
#endif
      if (!skip)
        {
          vec4 weights[2];
          [[unroll]] for (uint j = 0; j < 2; j++)
            {
              const uint at = i * 2 + j;
              vec4 g = clamp (gradient.v[at], -limit, limit) * update_scale;
              vec4 w = master.v[at];
#if defined ADAMW
              const vec4 m = momentum * moment1.v[at] + (1.0 - momentum) * g;
              const vec4 v = beta2 * moment2.v[at] + (1.0 - beta2) * g * g;
              w = w * (1.0 - lr * decay) - step_size * m / (sqrt (v) * root + epsilon);
              moment1.v[at] = m;
              moment2.v[at] = v;
#elif defined ADAM
              g += decay * w;
              const vec4 m = momentum * moment1.v[at] + (1.0 - momentum) * g;
              const vec4 v = beta2 * moment2.v[at] + (1.0 - beta2) * g * g;
              w -= step_size * m / (sqrt (v) * root + epsilon);
              moment1.v[at] = m;
              moment2.v[at] = v;
#elif defined RMSPROP
              g += decay * w;
              const vec4 v = beta2 * moment2.v[at] + (1.0 - beta2) * g * g;
              const vec4 m = momentum * moment1.v[at] + g / (sqrt (v) + epsilon);
              w -= lr * m;
              moment1.v[at] = m;
              moment2.v[at] = v;
#elif defined LION
              const vec4 m = moment1.v[at];
              const vec4 direction = sign (momentum * m + (1.0 - momentum) * g);
              w = w * (1.0 - lr * decay) - lr * direction;
              moment1.v[at] = beta2 * m + (1.0 - beta2) * g;
#else
              g += decay * w;
              const vec4 v = first ? g : momentum * moment1.v[at] + g;
              w -= lr * v;
              moment1.v[at] = v;
#endif
              master.v[at] = w;
              weights[j] = w;
            }
#ifdef HALF_COPY
          Halves (p.half_copy).v[i] = uvec4 (
              packFloat2x16 (f16vec2 (weights[0].xy)), packFloat2x16 (f16vec2 (weights[0].zw)),
              packFloat2x16 (f16vec2 (weights[1].xy)), packFloat2x16 (f16vec2 (weights[1].zw)));
#endif
#ifdef AVERAGE
          [[unroll]] for (uint j = 0; j < 2; j++)
            {
              const vec4 a = average.v[i * 2 + j];
              weights[j] = a + share * (weights[j] - a);
              average.v[i * 2 + j] = weights[j];
            }
#ifdef HALF_COPY
          Halves (p.average_half).v[i] = uvec4 (
              packFloat2x16 (f16vec2 (weights[0].xy)), packFloat2x16 (f16vec2 (weights[0].zw)),
              packFloat2x16 (f16vec2 (weights[1].xy)), packFloat2x16 (f16vec2 (weights[1].zw)));
#endif
#endif
        }
      gradient.v[i * 2] = vec4 (0.0);
      gradient.v[i * 2 + 1] = vec4 (0.0);
    }
}
