// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/dtype.hpp"

#include <array>

namespace particles {

namespace {

struct Facts {
  size_t size;
  const char *name, *opencl_name;
  bool is_real, is_signed;
};

const Facts& facts_of(DType dtype) {
  // In the order of DType.
  static constexpr std::array<Facts, 9> kFacts{{{2, "float16", "half", true, true},
                                                {4, "float32", "float", true, true},
                                                {8, "float64", "double", true, true},
                                                {1, "bool", "uchar", false, false},
                                                {1, "uint8", "uchar", false, false},
                                                {4, "int32", "int", false, true},
                                                {4, "uint32", "uint", false, false},
                                                {8, "int64", "long", false, true},
                                                {8, "uint64", "ulong", false, false}}};
  return kFacts[static_cast<size_t>(dtype)];
}

template <class Real>
std::vector<double> read_as(const Buffer& buffer, size_t count) {
  std::vector<Real> values(count);
  Rectangle rectangle;
  rectangle.region[0] = count * sizeof(Real);
  buffer.read(values.data(), rectangle);
  return {values.begin(), values.end()};
}

}  // namespace

size_t size_of(DType dtype) { return facts_of(dtype).size; }

const char* name_of(DType dtype) { return facts_of(dtype).name; }

const char* opencl_name_of(DType dtype) { return facts_of(dtype).opencl_name; }

bool is_real(DType dtype) { return facts_of(dtype).is_real; }

bool is_signed(DType dtype) { return facts_of(dtype).is_signed; }

std::string signed_word_of(DType dtype) {
  switch (size_of(dtype)) {
    case 1:
      return "char";
    case 2:
      return "short";
    case 4:
      return "int";
    default:
      return "long";
  }
}

std::string word_of(DType dtype) { return "u" + signed_word_of(dtype); }

DType arithmetic(DType dtype) { return dtype == DType::float16 ? DType::float32 : dtype; }

std::string dtype_options(DType dtype) {
  if (!is_real(dtype)) return "-DWORD=" + signed_word_of(dtype);
  if (dtype == DType::float16) return "-DSTORED_IS_HALF";
  return dtype == DType::float64 ? "-DREAL_IS_DOUBLE" : "";
}

std::string fma_option(const Device& device) {
  if (!device.has_vector_fma()) return "";
  return device.fuses_by_contraction() ? " -DUSE_FMA -DFUSE_BY_CONTRACTION" : " -DUSE_FMA";
}

std::string kernel_options(const Device& device, DType dtype) {
  return dtype_options(dtype) + fma_option(device) + (device.is_cpu() ? " -DON_CPU" : "");
}

std::string source_options(DType dtype) {
  if (dtype == DType::float16) return " -DSOURCE_IS_HALF";
  return dtype == DType::float64 ? " -DSOURCE_IS_DOUBLE" : "";
}

Argument real_argument(DType dtype, double value) {
  if (dtype == DType::float64) return value;
  return static_cast<float>(value);
}

Argument integer_argument(DType dtype, uint64_t value) {
  switch (size_of(dtype)) {
    case 1:
      return static_cast<cl_uchar>(value);
    case 4:
      return static_cast<cl_uint>(value);
    default:
      return cl_ulong{value};
  }
}

std::vector<double> read_reals(const Buffer& buffer, DType dtype, size_t count) {
  return dtype == DType::float64 ? read_as<double>(buffer, count) : read_as<float>(buffer, count);
}

int64_t most_elements(const Context& context, DType dtype) {
  return static_cast<int64_t>(context.device().largest_allocation / size_of(dtype));
}

}  // namespace particles
