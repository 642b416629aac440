/* SPDX-License-Identifier: MIT */
/* This file states why build.c, vet.c, selftest.c and autotune.c call each other.
 *
 * A network is built with kernels that were vetted (dyno_vet_lower) and measured (dyno_autotune_*)
 * before; both run single nodes, which are built in the same way as a network
 * (dyno_build_new_graph).  The recursion ends there, since the choices of such a build are given or
 * follow the rules: with DynoBuildParams.device NULL nothing is vetted, and code that vets or
 * measures never calls dyno_build_tune.  Private to the nn layer. */
#pragma once
#include "autotune.h"
#include "build.h"
#include "selftest.h"
