/* SPDX-License-Identifier: MIT */
/* Fields of ONNX's messages, by their numbers (github.com/onnx/onnx, onnx/onnx.proto): the reader
 * and the writer (export/model) take them from here. */
#pragma once

/* ModelProto */
enum {
  DYNO_ONNX_MODEL_IR = 1,
  DYNO_ONNX_MODEL_PRODUCER = 2,
  DYNO_ONNX_MODEL_VERSION = 3,
  DYNO_ONNX_MODEL_GRAPH = 7,
  DYNO_ONNX_MODEL_OPSET = 8,
  DYNO_ONNX_MODEL_METADATA = 14
};

/* OperatorSetIdProto */
enum { DYNO_ONNX_OPSET_DOMAIN = 1, DYNO_ONNX_OPSET_VERSION = 2 };

/* StringStringEntryProto */
enum { DYNO_ONNX_PAIR_KEY = 1, DYNO_ONNX_PAIR_VALUE = 2 };

/* GraphProto */
enum {
  DYNO_ONNX_GRAPH_NODE = 1,
  DYNO_ONNX_GRAPH_NAME = 2,
  DYNO_ONNX_GRAPH_INITIALIZER = 5,
  DYNO_ONNX_GRAPH_INPUT = 11,
  DYNO_ONNX_GRAPH_OUTPUT = 12
};

/* NodeProto */
enum {
  DYNO_ONNX_NODE_INPUT = 1,
  DYNO_ONNX_NODE_OUTPUT = 2,
  DYNO_ONNX_NODE_NAME = 3,
  DYNO_ONNX_NODE_OP = 4,
  DYNO_ONNX_NODE_ATTRIBUTE = 5
};

/* AttributeProto */
enum {
  DYNO_ONNX_ATTRIBUTE_NAME = 1,
  DYNO_ONNX_ATTRIBUTE_F = 2,
  DYNO_ONNX_ATTRIBUTE_I = 3,
  DYNO_ONNX_ATTRIBUTE_TEXT = 4,
  DYNO_ONNX_ATTRIBUTE_INTS = 8,
  DYNO_ONNX_ATTRIBUTE_TYPE = 20
};

/* AttributeProto.AttributeType */
enum { DYNO_ONNX_IS_FLOAT = 1, DYNO_ONNX_IS_INT = 2, DYNO_ONNX_IS_TEXT = 3, DYNO_ONNX_IS_INTS = 7 };

/* TensorProto */
enum {
  DYNO_ONNX_TENSOR_DIMS = 1,
  DYNO_ONNX_TENSOR_TYPE = 2,
  DYNO_ONNX_TENSOR_FLOATS = 4,
  DYNO_ONNX_TENSOR_NAME = 8,
  DYNO_ONNX_TENSOR_RAW = 9,
  DYNO_ONNX_TENSOR_LOCATION = 14
};

/* TensorProto.DataType */
enum {
  DYNO_ONNX_FLOAT = 1,
  DYNO_ONNX_INT32 = 6,
  DYNO_ONNX_INT64 = 7,
  DYNO_ONNX_BOOL = 9,
  DYNO_ONNX_FLOAT16 = 10,
  DYNO_ONNX_DOUBLE = 11,
  DYNO_ONNX_BFLOAT16 = 16
};

/* ValueInfoProto */
enum { DYNO_ONNX_VALUE_NAME = 1, DYNO_ONNX_VALUE_TYPE = 2 };

/* TypeProto */
enum { DYNO_ONNX_TYPE_TENSOR = 1 };

/* TypeProto.Tensor */
enum { DYNO_ONNX_TENSOR_TYPE_ELEMENT = 1, DYNO_ONNX_TENSOR_TYPE_SHAPE = 2 };

/* TensorShapeProto, and its Dimension */
enum { DYNO_ONNX_SHAPE_DIM = 1, DYNO_ONNX_DIM_VALUE = 1, DYNO_ONNX_DIM_NAME = 2 };
