/* SPDX-License-Identifier: MIT */
/* Every kernel includes this first, right after its #version line: extensions, workgroup size,
 * buffer types.
 *
 * Buffers are reached by address.  A kernel declares the views it needs, each of one element type
 * and one direction:
 *
 *   DYNO_BUFFER_IN (SourceF32, float, 4);        readonly  buffer, address a multiple of 4
 *   DYNO_BUFFER_OUT (TargetF16x4, f16vec4, 8);   writeonly buffer, address a multiple of 8
 *   DYNO_BUFFER_INOUT (Sums, float, 4);          both; only where a kernel really reads and writes
 *   ...
 *   SourceF32 source = SourceF32 (p.source);     p.source is a uint64_t of the push constants
 *   x = source.v[i];
 *
 * Push constants: DYNO_PUSH (DynoFillPush, p); with a struct of shared/<op>-push.h.
 *
 * llvmpipe (Mesa 22.3) ends the loops of an invocation, silently, after 65535 iterations in all,
 * where nested iterations each count and unrolled ones do not: split long reductions over more
 * invocations. */
#ifndef DYNO_TYPES_GLSL
#define DYNO_TYPES_GLSL

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int32 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float32 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
#if defined (MATRIX_KHR) || defined (MATRIX_NV)
#extension GL_KHR_memory_scope_semantics : require
#endif
#ifdef MATRIX_KHR
#extension GL_KHR_cooperative_matrix : require
#endif
#ifdef MATRIX_NV
#extension GL_NV_cooperative_matrix : require
#endif

layout (local_size_x = LOCAL_X, local_size_y = LOCAL_Y, local_size_z = LOCAL_Z) in;

#define DYNO_BUFFER_IN(Name, type, alignment) \
  layout (buffer_reference, scalar, buffer_reference_align = alignment) \
  readonly buffer Name { type v[]; }
#define DYNO_BUFFER_OUT(Name, type, alignment) \
  layout (buffer_reference, scalar, buffer_reference_align = alignment) \
  writeonly buffer Name { type v[]; }
#define DYNO_BUFFER_INOUT(Name, type, alignment) \
  layout (buffer_reference, scalar, buffer_reference_align = alignment) \
  buffer Name { type v[]; }

#define DYNO_PUSH(Struct, name) \
  layout (push_constant, std430) uniform Struct##Block { Struct name; }

#endif
