/* SPDX-License-Identifier: MIT */
#include "signalrule.h"
#include <signal.h>

#define MS_NS           1000000
#define REPEATED_NS     (100 * MS_NS)
#define INT_REPEATED_NS (10 * MS_NS)

gboolean
dyno_signal_repeats (const DynoSignal *first, const DynoSignal *next)
{
  gboolean both_int = first->number == SIGINT && next->number == SIGINT;

  if (both_int && first->sender == 0 && next->sender == 0)
    return FALSE;
  return next->at_ns - first->at_ns < (next->number == SIGINT ? INT_REPEATED_NS : REPEATED_NS);
}
