/* SPDX-License-Identifier: MIT */
/* The certificate with which the server speaks TLS. */
#pragma once
#include "serve-error.h"
#include <gio/gio.h>

G_BEGIN_DECLS

/* Reads the certificate, with its chain, and its key, from files in PEM form, and checks by a
 * handshake that they belong together.  key NULL: it is in the file of the certificate.  Blocking;
 * g_object_unref.  Errors: OPTION (names both files), MISSING (GLib was installed without TLS). */
GTlsCertificate *dyno_certificate_read (const char *certificate, const char *key, GError **error);

G_END_DECLS
