/* SPDX-License-Identifier: MIT */
/* Compilation of GLSL to SPIR-V.
 *
 * A request's key is the hash of everything that the result depends on: the shader and all its
 * includes (also ones that an #if would leave out), macros, workgroup size, target, optimisation
 * and compiler.  Results live in a table, and on disk.
 * An include is searched for beside the file that names it, then below shaders/, shaders/lib/ and
 * shaders/shared/.  The target is Vulkan 1.2; a kernel with matrix units gets 1.3 where the
 * compiler supports the extension only there. */
#include "shader.h"
#include "cachefile.h"
#include "dyno-shaders.h"
#include "hash.h"
#include <dlfcn.h>
#include <glib/gstdio.h>
#include <shaderc/shaderc.h>
#include <string.h>

#define RESOURCE_ROOT "/io/github/gpudyno/Dyno/shaders/"
#define SPIRV_MAGIC   0x07230203u
#define CACHE_MAGIC   "DYNOSPIR"
#define VULKAN_1_3    ((1u << 22) | (3u << 12))
#define MATRIX_SHADER "probe/matrix.comp"
#define MATRIX_PREFIX "MATRIX_"

typedef struct {
  DynoMatrix matrix;
  gboolean matrix_needs_1_3;
  char *version;
  guint64 fingerprint;
} Probe;

typedef struct {
  DynoCacheKey key;
  GBytes *spirv; /* NULL while it is being compiled */
} Entry;

struct _DynoShaderCompiler {
  shaderc_compiler_t shaderc;
  guint32 api_version;
  DynoOptimise optimise;
  GMutex lock;
  GCond done;
  GHashTable *entries; /* Entry by its key */
};

typedef struct {
  const char *shader;
  const char *macros;
  guint32 local_size[3];
  guint32 target; /* shaderc_env_version */
  guint32 optimise;
} Request;

/* A file of the resource, by its path below shaders/; NULL when there is none. */
static GBytes *
load (const char *name)
{
  g_autofree char *path = g_strconcat (RESOURCE_ROOT, name, NULL);

  return g_resource_lookup_data (dyno_shaders_get_resource (), path, G_RESOURCE_LOOKUP_FLAGS_NONE,
                                 NULL);
}

static GBytes *
resolve (const char *requested, const char *requesting, char **name)
{
  g_autofree char *folder = g_path_get_dirname (requesting);
  const char *const folders[] = { folder, "", "lib", "shared" };

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *joined = g_build_filename ("/", folders[i], requested, NULL);
      g_autofree char *whole = g_canonicalize_filename (joined, "/");
      GBytes *bytes = load (whole + 1);
      if (bytes)
        {
          *name = g_strdup (whole + 1);
          return bytes;
        }
    }
  return NULL;
}

/* The name in a line '#include "name"', or NULL. */
static char *
included_name (const char *line)
{
  const char *end;

  line += strspn (line, " \t");
  if (*line++ != '#')
    return NULL;
  line += strspn (line, " \t");
  if (!g_str_has_prefix (line, "include"))
    return NULL;
  line += strlen ("include");
  line += strspn (line, " \t");
  if (*line++ != '"' || !(end = strchr (line, '"')))
    return NULL;
  return g_strndup (line, (gsize) (end - line));
}

/* Hashes a file and its includes, each file once. */
static void
hash_source (const char *name, GBytes *source, GHashTable *seen, DynoCacheKey *key)
{
  gsize size;
  const char *text = g_bytes_get_data (source, &size);
  g_autofree char *copy = g_strndup (text, size);
  g_auto (GStrv) lines = g_strsplit (copy, "\n", -1);

  for (guint i = 0; i < 2; i++)
    {
      key->words[i] = dyno_hash_string (key->words[i], name);
      key->words[i] = dyno_hash_bytes (key->words[i], text, size);
    }
  for (guint i = 0; lines[i]; i++)
    {
      g_autofree char *requested = included_name (lines[i]);
      g_autofree char *found = NULL;
      g_autoptr (GBytes) bytes = requested ? resolve (requested, name, &found) : NULL;
      if (bytes && g_hash_table_add (seen, g_strdup (found)))
        hash_source (found, bytes, seen, key);
    }
}

static DynoCacheKey
make_key (const Request *request, GBytes *source, guint64 fingerprint)
{
  DynoCacheKey key = { { DYNO_HASH_START, ~DYNO_HASH_START } };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  hash_source (request->shader, source, seen, &key);
  for (guint i = 0; i < 2; i++)
    {
      key.words[i] = dyno_hash_string (key.words[i], request->macros);
      key.words[i] =
          dyno_hash_bytes (key.words[i], request->local_size, sizeof request->local_size);
      key.words[i] = dyno_hash_bytes (key.words[i], &request->target, sizeof request->target);
      key.words[i] = dyno_hash_bytes (key.words[i], &request->optimise, sizeof request->optimise);
      key.words[i] = dyno_hash_bytes (key.words[i], &fingerprint, sizeof fingerprint);
    }
  return key;
}

typedef struct {
  shaderc_include_result result;
  char *name;
  GBytes *bytes;
} Include;

static shaderc_include_result *
on_include (void *data, const char *requested, int type, const char *requesting, size_t depth)
{
  Include *include = g_new0 (Include, 1);

  include->bytes = resolve (requested, requesting, &include->name);
  if (include->bytes)
    {
      gsize size;
      include->result.content = g_bytes_get_data (include->bytes, &size);
      include->result.content_length = size;
      include->result.source_name = include->name;
      include->result.source_name_length = strlen (include->name);
    }
  else
    {
      /* An empty name means failure; the content is then the message. */
      include->name = g_strdup_printf ("no shader file “%s”", requested);
      include->result.content = include->name;
      include->result.content_length = strlen (include->name);
      include->result.source_name = "";
    }
  return &include->result;
}

static void
on_include_release (void *data, shaderc_include_result *result)
{
  Include *include = (Include *) result;

  g_clear_pointer (&include->bytes, g_bytes_unref);
  g_free (include->name);
  g_free (include);
}

static shaderc_compile_options_t
make_options (const Request *request)
{
  shaderc_compile_options_t options = shaderc_compile_options_initialize ();
  g_auto (GStrv) macros = g_strsplit (request->macros, " ", -1);
  static const char *const local_names[] = { "LOCAL_X", "LOCAL_Y", "LOCAL_Z" };

  shaderc_compile_options_set_source_language (options, shaderc_source_language_glsl);
  shaderc_compile_options_set_target_env (options, shaderc_target_env_vulkan, request->target);
  shaderc_compile_options_set_optimization_level (
      options,
      request->optimise ? shaderc_optimization_level_performance : shaderc_optimization_level_zero);
  shaderc_compile_options_set_include_callbacks (options, on_include, on_include_release, NULL);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *value = g_strdup_printf ("%u", MAX (request->local_size[i], 1));
      shaderc_compile_options_add_macro_definition (options, local_names[i],
                                                    strlen (local_names[i]), value, strlen (value));
    }
  for (guint i = 0; macros[i]; i++)
    {
      const char *equals = strchr (macros[i], '=');
      gsize length = equals ? (gsize) (equals - macros[i]) : strlen (macros[i]);
      const char *value = equals ? equals + 1 : "1";
      if (length > 0)
        shaderc_compile_options_add_macro_definition (options, macros[i], length, value,
                                                      strlen (value));
    }
  return options;
}

static GBytes *
compile (shaderc_compiler_t compiler, const Request *request, GBytes *source, GError **error)
{
  shaderc_compile_options_t options = make_options (request);
  gsize size;
  const char *text = g_bytes_get_data (source, &size);
  shaderc_compilation_result_t result = shaderc_compile_into_spv (
      compiler, text, size, shaderc_compute_shader, request->shader, "main", options);
  GBytes *spirv = NULL;

  shaderc_compile_options_release (options);
  if (result
      && shaderc_result_get_compilation_status (result) == shaderc_compilation_status_success)
    spirv = g_bytes_new (shaderc_result_get_bytes (result), shaderc_result_get_length (result));
  else
    g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER,
                 "Shader %s with macros “%s” does not compile: %s", request->shader,
                 request->macros, result ? shaderc_result_get_error_message (result) : "no result");
  shaderc_result_release (result);
  return spirv;
}

/* A shaderc in a shared library may be replaced while the program stays the same, so that library's
 * name, size and time are hashed. */
static guint64
hash_library (guint64 hash)
{
  Dl_info info;
  g_autofree char *base = NULL;
  GStatBuf status;

  if (dladdr ((void *) (gsize) &shaderc_compile_into_spv, &info) == 0 || !info.dli_fname)
    return hash;
  base = g_path_get_basename (info.dli_fname);
  if (!strstr (base, "shaderc") || g_stat (info.dli_fname, &status) != 0)
    return hash;
  hash = dyno_hash_string (hash, base);
  hash = dyno_hash_bytes (hash, &status.st_size, sizeof status.st_size);
  return dyno_hash_bytes (hash, &status.st_mtime, sizeof status.st_mtime);
}

static GBytes *
compile_probe (shaderc_compiler_t compiler, const char *macros, guint32 target)
{
  Request request = {
    .shader = MATRIX_SHADER, .macros = macros, .local_size = { 32, 1, 1 }, .target = target
  };
  g_autoptr (GBytes) source = load (MATRIX_SHADER);

  return source ? compile (compiler, &request, source, NULL) : NULL;
}

static gpointer
run_probe (gpointer data)
{
  static const struct {
    const char *macros;
    DynoMatrix matrix;
    guint32 target;
  } tries[] = {
    { "MATRIX_KHR=1", DYNO_MATRIX_KHR, shaderc_env_version_vulkan_1_2 },
    { "MATRIX_KHR=1", DYNO_MATRIX_KHR, VULKAN_1_3 },
    { "MATRIX_NV=1", DYNO_MATRIX_NV, shaderc_env_version_vulkan_1_2 },
  };
  Probe *probe = g_new0 (Probe, 1);
  shaderc_compiler_t compiler = shaderc_compiler_initialize ();
  g_autoptr (GBytes) plain = compile_probe (compiler, "", shaderc_env_version_vulkan_1_2);
  unsigned int version = 0, revision = 0, generator = 0;

  for (guint i = 0; i < G_N_ELEMENTS (tries) && probe->matrix == DYNO_MATRIX_NONE; i++)
    {
      g_autoptr (GBytes) spirv = compile_probe (compiler, tries[i].macros, tries[i].target);
      if (!spirv)
        continue;
      probe->matrix = tries[i].matrix;
      probe->matrix_needs_1_3 = tries[i].target == VULKAN_1_3;
    }
  /* The third word of SPIR-V is the generator's mark and version. */
  if (plain && g_bytes_get_size (plain) >= 12)
    memcpy (&generator, (const char *) g_bytes_get_data (plain, NULL) + 8, sizeof generator);
  shaderc_compiler_release (compiler);
  shaderc_get_spv_version (&version, &revision);
  probe->version =
      g_strdup_printf ("shaderc %s (SPIR-V %u.%u revision %u, generator %u.%u, matrix units: %s)",
                       DYNO_SHADERC_VERSION, (version >> 16) & 0xff, (version >> 8) & 0xff,
                       revision, generator >> 16, generator & 0xffff,
                       probe->matrix == DYNO_MATRIX_KHR  ? "KHR and NV"
                       : probe->matrix == DYNO_MATRIX_NV ? "NV"
                                                         : "none");
  probe->fingerprint = hash_library (dyno_hash_string (DYNO_HASH_START, probe->version));
  return probe;
}

static const Probe *
get_probe (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, run_probe, NULL);
}

const char *
dyno_shader_compiler_version (void)
{
  return get_probe ()->version;
}

DynoMatrix
dyno_shader_compiler_matrix (void)
{
  return get_probe ()->matrix;
}

static guint
entry_hash (gconstpointer data)
{
  const Entry *entry = data;

  return (guint) entry->key.words[0];
}

static gboolean
entry_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (&((const Entry *) a)->key, &((const Entry *) b)->key, sizeof (DynoCacheKey)) == 0;
}

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_clear_pointer (&entry->spirv, g_bytes_unref);
  g_free (entry);
}

DynoOptimise
dyno_shader_get_optimise (const DynoDeviceInfo *info)
{
  if (info->type == DYNO_DEVICE_TYPE_SOFTWARE)
    return DYNO_OPTIMISE_NOTHING;
  return g_str_has_prefix (info->driver, "NVIDIA ") ? DYNO_OPTIMISE_RECURRENT : DYNO_OPTIMISE_ALL;
}

DynoShaderCompiler *
dyno_shader_compiler_new (guint32 api_version, DynoOptimise optimise)
{
  DynoShaderCompiler *compiler = g_new0 (DynoShaderCompiler, 1);

  compiler->shaderc = shaderc_compiler_initialize ();
  compiler->api_version = api_version;
  compiler->optimise = optimise;
  g_mutex_init (&compiler->lock);
  g_cond_init (&compiler->done);
  compiler->entries = g_hash_table_new_full (entry_hash, entry_equal, entry_free, NULL);
  return compiler;
}

void
dyno_shader_compiler_free (DynoShaderCompiler *compiler)
{
  if (!compiler)
    return;
  g_hash_table_unref (compiler->entries);
  g_cond_clear (&compiler->done);
  g_mutex_clear (&compiler->lock);
  shaderc_compiler_release (compiler->shaderc);
  g_free (compiler);
}

static gboolean
is_spirv (GBytes *bytes)
{
  gsize size;
  const guint32 *words = g_bytes_get_data (bytes, &size);

  return size >= 20 && size % 4 == 0 && words[0] == SPIRV_MAGIC;
}

static GBytes *
read_or_compile (DynoShaderCompiler *compiler, const Request *request, GBytes *source,
                 DynoCacheKey key, GError **error)
{
  g_autofree char *path = dyno_cache_file_path ("shaders", key, ".spv");
  GBytes *spirv = dyno_cache_file_read (path, CACHE_MAGIC, key);

  if (spirv && is_spirv (spirv))
    return spirv;
  g_clear_pointer (&spirv, g_bytes_unref);
  spirv = compile (compiler->shaderc, request, source, error);
  if (spirv)
    dyno_cache_file_write (path, CACHE_MAGIC, key, g_bytes_get_data (spirv, NULL),
                           g_bytes_get_size (spirv));
  return spirv;
}

static gboolean
optimises (const DynoShaderCompiler *compiler, const char *shader)
{
  return compiler->optimise == DYNO_OPTIMISE_ALL
         || (compiler->optimise == DYNO_OPTIMISE_RECURRENT
             && (g_str_has_prefix (shader, "lstm/") || g_str_has_prefix (shader, "gru/")));
}

GBytes *
dyno_shader_compiler_get (DynoShaderCompiler *compiler, const char *shader, const char *macros,
                          const guint32 local_size[3], GError **error)
{
  const Probe *probe = get_probe ();
  Request request = { .shader = shader,
                      .macros = macros,
                      .target = shaderc_env_version_vulkan_1_2,
                      .optimise = optimises (compiler, shader) };
  g_autoptr (GBytes) source = load (shader);
  GBytes *spirv;
  Entry *entry;
  Entry wanted = { 0 };

  if (!source)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER,
                   "This program has no shader “%s”: it is not in the list of shaders/meson.build",
                   shader);
      return NULL;
    }
  memcpy (request.local_size, local_size, sizeof request.local_size);
  if (probe->matrix_needs_1_3 && compiler->api_version >= VULKAN_1_3
      && strstr (macros, MATRIX_PREFIX))
    request.target = VULKAN_1_3;
  wanted.key = make_key (&request, source, probe->fingerprint);

  g_mutex_lock (&compiler->lock);
  while ((entry = g_hash_table_lookup (compiler->entries, &wanted)) && !entry->spirv)
    g_cond_wait (&compiler->done, &compiler->lock);
  if (entry)
    {
      spirv = g_bytes_ref (entry->spirv);
      g_mutex_unlock (&compiler->lock);
      return spirv;
    }
  entry = g_memdup2 (&wanted, sizeof wanted);
  g_hash_table_add (compiler->entries, entry);
  g_mutex_unlock (&compiler->lock);

  spirv = read_or_compile (compiler, &request, source, wanted.key, error);

  g_mutex_lock (&compiler->lock);
  if (spirv)
    entry->spirv = g_bytes_ref (spirv);
  else
    g_hash_table_remove (compiler->entries, entry);
  g_cond_broadcast (&compiler->done);
  g_mutex_unlock (&compiler->lock);
  return spirv;
}

static guint64
hash_below (guint64 hash, const char *folder)
{
  g_auto (GStrv) names = g_resource_enumerate_children (dyno_shaders_get_resource (), folder,
                                                        G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

  for (guint i = 0; names && names[i]; i++)
    {
      g_autofree char *path = g_strconcat (folder, names[i], NULL);
      g_autoptr (GBytes) bytes = NULL;

      hash = dyno_hash_string (hash, names[i]);
      if (g_str_has_suffix (names[i], "/"))
        {
          hash = hash_below (hash, path);
          continue;
        }
      bytes = g_resource_lookup_data (dyno_shaders_get_resource (), path,
                                      G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
      if (bytes)
        hash = dyno_hash_bytes (hash, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
    }
  return hash;
}

guint64
dyno_shader_sources_hash (void)
{
  static gsize once;
  static guint64 hash;

  if (g_once_init_enter (&once))
    {
      hash = hash_below (DYNO_HASH_START, "/io/github/gpudyno/Dyno/shaders/");
      g_once_init_leave (&once, 1);
    }
  return hash;
}
