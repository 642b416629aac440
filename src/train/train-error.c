/* SPDX-License-Identifier: MIT */
/* The error domain of the train layer. */
#include "train-error.h"

G_DEFINE_QUARK (dyno - train - error - quark, dyno_train_error)
