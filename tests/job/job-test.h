/* SPDX-License-Identifier: MIT */
/* Helpers that the tests of settings, and of all that depends on them, share. */
#pragma once
#include "settings.h"

G_BEGIN_DECLS

/* A value that the setting may have and that is not its default; g_free. */
char *test_other_value (const DynoSettingInfo *info);

G_END_DECLS
