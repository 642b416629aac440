/* SPDX-License-Identifier: MIT */
/* The turn of an image before it is shown, by one rule for all types: EXIF gives it, else XMP.
 *
 * Invariants: nothing is allocated by a size of the file; the steps through chunks and packets are
 * bounded; damaged data give no orientation and are no error. */
#include "imagesource.h"
#include "datafile.h"
#include <string.h>

#define MAX_CHUNKS 256
#define MAX_XMP    65536 /* bytes of a packet that are searched */

const guint8 *
dyno_image_source_look (DynoImageSource *source, guint64 offset, gsize count)
{
  gssize n;

  if (offset >= source->file_size || count > source->file_size - offset)
    return NULL;
  if (source->fd < 0)
    return source->bytes + offset;
  if (offset < source->window_at || offset + count > source->window_at + source->size)
    {
      n = dyno_datafile_pread (source->fd, source->window, sizeof source->window,
                               source->file_at + offset);
      source->failed = n < 0;
      source->window_at = offset;
      source->size = n > 0 ? (gsize) n : 0;
      if (source->size < count)
        return NULL;
    }
  return source->window + (offset - source->window_at);
}

/* EXIF 2.3, 4.5 and 4.6.4: a TIFF header, and in the first directory the tag 0x0112. */
guint8
dyno_orientation_of_exif (DynoImageSource *source, guint64 offset, guint64 length)
{
  const guint8 *p = length >= 14 ? dyno_image_source_look (source, offset, 14) : NULL;
  guint64 tiff = offset, end = offset + length, at;
  gboolean big;
  guint32 count;

  if (p && memcmp (p, "Exif\0", 6) == 0)
    {
      p += 6;
      tiff += 6;
    }
  if (!p || (memcmp (p, "MM\0*", 4) != 0 && memcmp (p, "II*\0", 4) != 0))
    return 0;
  big = p[0] == 'M';
  at = tiff + dyno_tiff32 (p + 4, big);
  p = at + 2 <= end ? dyno_image_source_look (source, at, 2) : NULL;
  count = p ? dyno_tiff16 (p, big) : 0;
  for (at += 2; count > 0 && at + 12 <= end; count--, at += 12)
    {
      guint32 value;

      p = dyno_image_source_look (source, at, 12);
      if (!p)
        return 0;
      value = dyno_tiff16 (p + 8, big);
      if (dyno_tiff16 (p, big) == 0x0112 && dyno_tiff16 (p + 2, big) == 3
          && dyno_tiff32 (p + 4, big) == 1)
        return value >= 1 && value <= 8 ? (guint8) value : 0;
    }
  return 0;
}

/* tiff:Orientation="6" or <tiff:Orientation>6</tiff:Orientation>; the prefix is the one that all
 * programs write. */
guint8
dyno_orientation_of_xmp (DynoImageSource *source, guint64 offset, guint64 length)
{
  static const char word[] = "tiff:Orientation";
  const gsize word_size = sizeof word - 1;
  gsize matched = 0;

  length = MIN (length, MAX_XMP);
  for (guint64 i = 0; i < length; i++)
    {
      const guint8 *p = dyno_image_source_look (source, offset + i, 1);

      if (!p)
        return 0;
      matched = *p == (guint8) word[matched] ? matched + 1 : *p == (guint8) word[0];
      if (matched < word_size)
        continue;
      matched = 0;
      for (guint64 k = i + 1; k < MIN (length, i + 8); k++)
        {
          p = dyno_image_source_look (source, offset + k, 1);
          if (p && *p >= '1' && *p <= '8')
            return (guint8) (*p - '0');
          if (!p || !strchr (" =\"'>", *p))
            break;
        }
    }
  return 0;
}

guint8
dyno_orientation_of_app1_xmp (DynoImageSource *source, guint64 offset, guint64 length)
{
  static const char name[] = "http://ns.adobe.com/xap/1.0/"; /* with its zero */
  const guint8 *p =
      length > sizeof name ? dyno_image_source_look (source, offset, sizeof name) : NULL;

  if (!p || memcmp (p, name, sizeof name) != 0)
    return 0;
  return dyno_orientation_of_xmp (source, offset + sizeof name, length - sizeof name);
}

void
dyno_orientation_set (DynoImageFacts *facts, guint8 by_exif, guint8 by_xmp)
{
  facts->orientation = by_exif > 0 ? by_exif : by_xmp;
}

/* PNG 3, 11.3.4.5 and 11.3.5: chunks of length, type, content and CRC. */
void
dyno_orientation_find_png (DynoImageSource *source, DynoImageFacts *facts)
{
  static const char keyword[] = "XML:com.adobe.xmp"; /* with its zero */
  guint8 by_exif = 0, by_xmp = 0;
  guint64 at = 8;
  const guint8 *p;

  for (guint i = 0; i < MAX_CHUNKS && (p = dyno_image_source_look (source, at, 8)); i++)
    {
      guint64 length = dyno_be32 (p);

      if (memcmp (p + 4, "IDAT", 4) == 0 || memcmp (p + 4, "IEND", 4) == 0)
        break;
      if (memcmp (p + 4, "eXIf", 4) == 0)
        by_exif = dyno_orientation_of_exif (source, at + 8, length);
      else if (memcmp (p + 4, "iTXt", 4) == 0 && length > sizeof keyword
               && (p = dyno_image_source_look (source, at + 8, sizeof keyword + 1))
               && memcmp (p, keyword, sizeof keyword) == 0 && p[sizeof keyword] == 0)
        by_xmp = dyno_orientation_of_xmp (source, at + 8 + sizeof keyword, length - sizeof keyword);
      at += 12 + length;
    }
  dyno_orientation_set (facts, by_exif, by_xmp);
}

/* RIFF: chunks of type, length and content, to an even length. */
void
dyno_orientation_find_webp (DynoImageSource *source, DynoImageFacts *facts)
{
  guint8 by_exif = 0, by_xmp = 0;
  guint64 at = 12;
  const guint8 *p;

  for (guint i = 0; i < MAX_CHUNKS && (p = dyno_image_source_look (source, at, 8)); i++)
    {
      guint64 length = dyno_tiff32 (p + 4, FALSE);

      if (memcmp (p, "EXIF", 4) == 0)
        by_exif = dyno_orientation_of_exif (source, at + 8, length);
      else if (memcmp (p, "XMP ", 4) == 0)
        by_xmp = dyno_orientation_of_xmp (source, at + 8, length);
      at += 8 + length + (length & 1);
    }
  dyno_orientation_set (facts, by_exif, by_xmp);
}
