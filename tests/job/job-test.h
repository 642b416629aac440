/* SPDX-License-Identifier: MIT */
/* Shared helpers for the tests of settings, and of everything that depends on them. */
#pragma once
#include "settings.h"

G_BEGIN_DECLS

/* A valid value of the setting other than its default; g_free. */
char *test_other_value (const DynoSettingInfo *info);

G_END_DECLS
