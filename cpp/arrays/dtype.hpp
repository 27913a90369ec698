// SPDX-License-Identifier: BSD-3-Clause
// What numbers in memory of a device are, and how kernels are told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/buffer.hpp"
#include "runtime/context.hpp"

namespace particles {

// float16 is for storage: kernels load it as float32, compute, and store it rounded to nearest
// even. Fields hold the first three only. Truth values are bytes of 0 or 1.
enum class DType { float16, float32, float64, boolean, uint8, int32, uint32, int64, uint64 };

size_t size_of(DType dtype);
const char* name_of(DType dtype);
bool is_real(DType dtype);
bool is_signed(DType dtype);

// What numbers are while they are computed with.
DType arithmetic(DType dtype);

// The macros with which kernels of real numbers are told the dtype, and the one of what they only
// read. Integers are words there, which can be moved and no more.
std::string dtype_options(DType dtype);
std::string source_options(DType dtype);

// The macros that tell kernels how products and sums fuse, if they may.
std::string fma_option(const Device& device);

// The macros that every operator kernel of a device and a real dtype is built with.
std::string kernel_options(const Device& device, DType dtype);

// The type in OpenCL C; of float16, `half`.
const char* opencl_name_of(DType dtype);
// The integers of OpenCL C that are as wide as a number.
std::string signed_word_of(DType dtype);
std::string word_of(DType dtype);

// A number as a kernel of that dtype takes it: of integers, those that have its bits.
Argument real_argument(DType dtype, double value);
Argument integer_argument(DType dtype, uint64_t value);

// The first numbers that kernels of that dtype have left in a buffer.
std::vector<double> read_reals(const Buffer& buffer, DType dtype, size_t count);

// How many a device has in one allocation.
int64_t most_elements(const Context& context, DType dtype);

}  // namespace particles
