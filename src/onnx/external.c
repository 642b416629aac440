/* SPDX-License-Identifier: MIT */
/* Values of tensors in files beside the model (onnx.proto, TensorProto.external_data).
 * Invariants: a file lies inside the folder of the model, also after links are resolved; it is a
 * regular file; and it is read, not mapped, since a mapped file that is truncated meanwhile would
 * raise a signal. */
#include "checked.h"
#include "model-private.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No absolute path, and no part "..". */
static gboolean
check_location (const DynoOnnxTensor *tensor, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (tensor->location, "/", -1);

  if (!*tensor->location)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                           "tensor “%s” is in another file, which it does not name", tensor->name);
  if (g_path_is_absolute (tensor->location) || g_strv_contains ((const char *const *) parts, ".."))
    return dyno_onnx_fail (
        error, DYNO_ONNX_ERROR_CORRUPT,
        "tensor “%s” is in the file “%s”, which is not inside the folder of the model",
        tensor->name, tensor->location);
  return TRUE;
}

static gboolean
refuse_file (GError **error, const DynoOnnxTensor *tensor, const char *why)
{
  return dyno_onnx_fail (error, DYNO_ONNX_ERROR_IO, "the file “%s” with tensor “%s”: %s",
                         tensor->location, tensor->name, why);
}

/* The file's path without links, checked to lie below the folder's; NULL: error is set. */
static char *
resolve (const char *folder, const DynoOnnxTensor *tensor, GError **error)
{
  g_autofree char *joined = g_build_filename (folder, tensor->location, NULL);
  char *root = realpath (folder, NULL), *file = root ? realpath (joined, NULL) : NULL;
  int code = errno;
  char *result = NULL;
  gsize length = root ? strlen (root) : 0;

  if (!file)
    refuse_file (error, tensor, g_strerror (code));
  else if (strncmp (file, root, length) != 0
           || (file[length] != '/' && !(length > 0 && root[length - 1] == '/')))
    dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                    "tensor “%s” is in the file “%s”, which leads out of the folder of the model",
                    tensor->name, tensor->location);
  else
    result = g_strdup (file);
  free (root);
  free (file);
  return result;
}

/* Whether the values lie inside the file, and take size_bytes by the length that the model
 * gives. */
static gboolean
check_range (const DynoOnnxTensor *tensor, guint64 size_bytes, guint64 file_bytes, GError **error)
{
  guint64 end = 0, length;

  if (tensor->offset > file_bytes || !dyno_size_add (tensor->offset, size_bytes, &end)
      || end > file_bytes)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                           "tensor “%s” needs %" G_GUINT64_FORMAT " %s from byte %" G_GUINT64_FORMAT
                           " of the file “%s”, which ends at %" G_GUINT64_FORMAT,
                           tensor->name, size_bytes, dyno_plural (size_bytes, "byte", "bytes"),
                           tensor->offset, tensor->location, file_bytes);
  length = tensor->length < 0 ? file_bytes - tensor->offset : (guint64) tensor->length;
  if (length != size_bytes)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                           "tensor “%s” has %" G_GUINT64_FORMAT " %s in the file “%s”, its shape "
                           "asks for %" G_GUINT64_FORMAT,
                           tensor->name, length, dyno_plural (length, "byte", "bytes"),
                           tensor->location, size_bytes);
  return TRUE;
}

int
dyno_onnx_external_open (const char *folder, const DynoOnnxTensor *tensor, guint64 size_bytes,
                         GError **error)
{
  g_autofree char *path = NULL;
  struct stat facts;
  int fd;

  if (!folder)
    {
      dyno_onnx_fail (error, DYNO_ONNX_ERROR_UNSUPPORTED,
                      "the values of tensor “%s” are in the file “%s”; save the model in one file",
                      tensor->name, tensor->location);
      return -1;
    }
  if (!check_location (tensor, error) || !(path = resolve (folder, tensor, error)))
    return -1;
  fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat (fd, &facts) < 0)
    refuse_file (error, tensor, g_strerror (errno));
  else if (!S_ISREG (facts.st_mode))
    refuse_file (error, tensor, "it is no regular file");
  else if (check_range (tensor, size_bytes, (guint64) facts.st_size, error))
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

gboolean
dyno_onnx_read_range (int fd, guint8 *to, gsize size, guint64 offset)
{
  gsize done = 0;

  while (done < size)
    {
      gssize n = pread (fd, to + done, size - done, (off_t) (offset + done));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          errno = n < 0 ? errno : 0;
          return FALSE;
        }
      done += (gsize) n;
    }
  return TRUE;
}
