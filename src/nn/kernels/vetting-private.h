/* SPDX-License-Identifier: MIT */
/* Why build.c, vet.c, selftest.c and autotune.c call each other.
 *
 * A network is built with kernels that were vetted (dyno_vet_lower) and measured (dyno_autotune_*)
 * before; both need single nodes that run, and those are built the same one way as a network
 * (dyno_build_new_graph), not by a second one.  It ends there, since such a build is given its
 * choices or lowered by rule: with DynoBuildParams.device NULL nothing is vetted, and nothing that is
 * vetted or measured asks for dyno_build_tune.  Private to the nn layer. */
#pragma once
#include "autotune.h"
#include "build.h"
#include "selftest.h"
