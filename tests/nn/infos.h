/* SPDX-License-Identifier: MIT */
/* Device infos for tests that need no device: a card with matrix units, and a CPU. */
#pragma once
#include "device.h"

static const DynoDeviceInfo info_card = { .name = "card",
                                          .type = DYNO_DEVICE_TYPE_DISCRETE,
                                          .vram_bytes = G_GUINT64_CONSTANT (8) << 30,
                                          .fp16 = TRUE,
                                          .matrix = DYNO_MATRIX_KHR,
                                          .matrix_khr_device = TRUE,
                                          .matrix_nv_device = TRUE,
                                          .subgroup_size = 32,
                                          .subgroup_min = 32,
                                          .subgroup_max = 32,
                                          .shared_bytes = 49152,
                                          .max_invocations = 1024,
                                          .max_groups_x = 0x7fffffff,
                                          .processors = 132,
                                          .timestamp_ns = 1.0 };

static const DynoDeviceInfo info_cpu = { .name = "cpu",
                                         .type = DYNO_DEVICE_TYPE_SOFTWARE,
                                         .vram_bytes = G_GUINT64_CONSTANT (8) << 30,
                                         .fp16 = TRUE,
                                         .subgroup_size = 8,
                                         .subgroup_min = 8,
                                         .subgroup_max = 8,
                                         .shared_bytes = 32768,
                                         .max_invocations = 1024,
                                         .max_groups_x = 65535,
                                         .timestamp_ns = 1.0 };
