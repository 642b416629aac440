# SPDX-License-Identifier: MIT
"""Writes small ONNX files field by field, as far as the tests of the window need the format
(onnx.proto of onnx 1.14), without the package onnx."""
import struct

FLOAT = 1  # TensorProto.DataType
INTS, INT = 7, 2  # AttributeProto.AttributeType


def varint(n):
    encoded = b''
    while n > 0x7f:
        encoded += bytes((n & 0x7f | 0x80,))
        n >>= 7
    return encoded + bytes((n,))


def field(number, value):
    """Encodes a field: a number, a text, or bytes, which may be an encoded message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(number, values):
    return b''.join(field(number, value) for value in values)


def value_info(name, dims):
    """dims: sizes, or names of axes without a size."""
    shape = fields(1, (field(2, dim) if isinstance(dim, str) else field(1, dim) for dim in dims))
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


def weight(name, *dims):
    """A tensor of small values that differ."""
    count = 1
    for dim in dims:
        count *= dim
    values = struct.pack(f'<{count}f', *((i % 7 - 3) / 40 for i in range(count)))
    return fields(1, dims) + field(2, FLOAT) + field(8, name) + field(9, values)


def attribute(name, value):
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, INT)
    return field(1, name) + fields(8, value) + field(20, INTS)


def node(op_type, inputs, output, **attributes):
    return (fields(1, inputs) + field(2, output) + field(3, output) + field(4, op_type)
            + fields(5, (attribute(*pair) for pair in attributes.items())))


def write(path, inputs, outputs, nodes, weights):
    """inputs and outputs: dictionaries of names and dims."""
    graph = (fields(1, nodes) + field(2, 'graph') + fields(5, weights) + fields(11, (value_info(*pair) for pair in inputs.items()))
             + fields(12, (value_info(*pair) for pair in outputs.items())))
    with open(path, 'wb') as file:
        file.write(field(1, 8) + field(7, graph) + field(8, field(2, 17)))
    return path


def write_network(path, activation='Relu', outputs=10):
    """Writes a network for images of three channels and any size: two convolutions, global average
    pooling, a dense layer for the classes, and a softmax."""
    nodes = [node('Conv', ['image', 'first.weight'], 'first', pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
             node(activation, ['first'], 'active'),
             node('Conv', ['active', 'second.weight'], 'second', pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
             node('GlobalAveragePool', ['second'], 'mean'),
             node('Flatten', ['mean'], 'flat'),
             node('Gemm', ['flat', 'head.weight', 'head.bias'], 'logits', transB=1),
             node('Softmax', ['logits'], 'shares', axis=1)]
    weights = [weight('first.weight', 8, 3, 3, 3), weight('second.weight', 16, 8, 3, 3), weight('head.weight', outputs, 16),
               weight('head.bias', outputs)]
    return write(path, {'image': ['batch', 3, 'height', 'width']}, {'shares': ['batch', outputs]}, nodes, weights)


def write_gaps(path, n):
    """Writes a network with n dilated pools, which are not supported."""
    nodes = [node('Conv', ['image', 'first.weight'], 'first', pads=[1, 1, 1, 1], kernel_shape=[3, 3])]
    nodes += [node('MaxPool', ['first'], f'pool{i}', kernel_shape=[3, 3], dilations=[2, 2]) for i in range(n)]
    nodes += [node('Concat', [f'pool{i}' for i in range(n)], 'joined', axis=1), node('GlobalAveragePool', ['joined'], 'mean'),
              node('Flatten', ['mean'], 'flat'), node('Gemm', ['flat', 'head.weight', 'head.bias'], 'logits', transB=1)]
    weights = [weight('first.weight', 8, 3, 3, 3), weight('head.weight', 10, 8 * n), weight('head.bias', 10)]
    return write(path, {'image': ['batch', 3, 32, 32]}, {'logits': ['batch', 10]}, nodes, weights)
