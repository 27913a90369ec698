// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/reductions.hpp"
#include "arrays/scan.hpp"
#include "arrays/sort.hpp"
#include "bindings/bindings.hpp"

namespace particles {

namespace {

using Pair = std::array<int64_t, 2>;

// Every number of elements and bytes that follows from these is one of 64 bits.
constexpr int64_t kMostRows = int64_t{1} << 40;
constexpr int kMostArrayComponents = 4;

void check_shape(int64_t count, int components) {
  if (count < 0 || count > kMostRows || components < 1 || components > kMostArrayComponents)
    throw std::invalid_argument("shape: expected 0 to 2**40 rows of 1 to 4 components, got " +
                                std::to_string(count) + " of " + std::to_string(components));
}

std::shared_ptr<Array> make_array(const std::shared_ptr<Context>& context, int64_t count,
                                  int components, const std::string& dtype,
                                  const std::string& name) {
  check_shape(count, components);
  const GilReleased no_gil;
  return std::make_shared<Array>(context, count, components, any_dtype_from(dtype), name);
}

std::shared_ptr<Array> adopt_array(const std::shared_ptr<Context>& context, int64_t count,
                                   int components, const std::string& dtype,
                                   const std::string& name, std::uintptr_t memory, int64_t offset,
                                   int64_t stride) {
  check_shape(count, components);
  return std::make_shared<Array>(context, count, components, any_dtype_from(dtype), name,
                                 Buffer::adopt(context, reinterpret_cast<cl_mem>(memory)), offset,
                                 stride);
}

Region region_from(const Array& array, const Pair& start, const Pair& count, const Pair& step) {
  return array.region({start, count, step});
}

DType any_dtype_of(const py::array& host) {
  const DType dtype = any_dtype_from(py::cast<std::string>(host.dtype().attr("name")));
  if (!host.dtype().equal(py::dtype(name_of(dtype))))
    throw std::invalid_argument("host array: expected the byte order of this machine");
  return dtype;
}

void check_host(const Region& region, const py::array& host, DType expected) {
  if (!(host.flags() & py::array::c_style) || host.size() != region.points() ||
      any_dtype_of(host) != expected)
    throw std::invalid_argument("host array: expected " + std::to_string(region.points()) +
                                " contiguous elements of " + name_of(expected));
}

void read_array(const Array& array, const Pair& start, const Pair& count, const Pair& step,
                py::array& host) {
  const Region region = region_from(array, start, count, step);
  check_host(region, host, array.dtype());
  void* data = host.mutable_data();
  const GilReleased no_gil;
  array.read(region, data);
}

void write_array(Array& array, const Pair& start, const Pair& count, const Pair& step,
                 const py::array& host) {
  const Region region = region_from(array, start, count, step);
  const DType dtype = any_dtype_of(host);
  check_host(region, host, dtype);
  const void* data = host.data();
  const GilReleased no_gil;
  array.write(region, data, dtype);
}

void fill_array(Array& array, const Pair& start, const Pair& count, const Pair& step,
                const Number& value) {
  const Region region = region_from(array, start, count, step);
  const GilReleased no_gil;
  array.fill(region, value);
}

// The values where they lie, as an array that keeps them alive, or None where the host has none.
py::object values_of_array(const std::shared_ptr<Array>& array) {
  auto* memory = static_cast<char*>(array->buffer().host_address());
  if (!memory) return py::none();
  const auto itemsize = static_cast<py::ssize_t>(size_of(array->dtype()));
  std::vector<py::ssize_t> shape{array->count()}, strides{array->stride() * itemsize};
  if (array->components() > 1) {
    shape.push_back(array->components());
    strides.push_back(itemsize);
  }
  return py::array(py::dtype(name_of(array->dtype())), shape, strides,
                   memory + array->offset() * itemsize, py::cast(array));
}

void check_has_elements(const Array& array) {
  if (!array.elements())
    throw std::invalid_argument("array: expected one element at least, got none");
}

py::object python_integer(const Array& array, uint64_t bits) {
  if (is_signed(array.dtype())) return py::int_(static_cast<int64_t>(bits));
  return py::int_(bits);
}

double reduced(const Array& array, Reduction reduction) {
  const GilReleased no_gil;
  return reduce(array, array.everything(), reduction);
}

IntegerSummary integers_of(const Array& array) {
  const GilReleased no_gil;
  return integer_summary_of(array, array.everything());
}

py::object sum(const Array& array) {
  if (is_real(array.dtype()))
    return py::float_(array.elements() ? reduced(array, Reduction::sum) : 0.0);
  return python_integer(array, array.elements() ? integers_of(array).sum : 0);
}

py::object least(const Array& array) {
  check_has_elements(array);
  if (is_real(array.dtype())) return py::float_(reduced(array, Reduction::min));
  return python_integer(array, integers_of(array).min);
}

py::object greatest(const Array& array) {
  check_has_elements(array);
  if (is_real(array.dtype())) return py::float_(reduced(array, Reduction::max));
  return python_integer(array, integers_of(array).max);
}

void check_is_real(const Array& array) {
  if (!is_real(array.dtype()))
    throw std::invalid_argument("array: expected real numbers, got " +
                                std::string(name_of(array.dtype())));
}

double max_abs(const Array& array) {
  check_has_elements(array);
  check_is_real(array);
  return reduced(array, Reduction::max_abs);
}

double sum_abs(const Array& array) {
  check_is_real(array);
  return array.elements() ? reduced(array, Reduction::sum_abs) : 0.0;
}

double squared_deviations(const Array& array, double centre) {
  check_is_real(array);
  if (!array.elements()) return 0;
  const GilReleased no_gil;
  return sum_squared_deviations(array, array.everything(), centre).value();
}

int64_t count_between_of(const Array& array, double lower, double upper) {
  check_is_real(array);
  if (!array.elements()) return 0;
  const GilReleased no_gil;
  return count_between(array, array.everything(), lower, upper);
}

}  // namespace

DType any_dtype_from(const std::string& name) {
  for (const DType dtype : {DType::float16, DType::float32, DType::float64, DType::boolean,
                            DType::uint8, DType::int32, DType::uint32, DType::int64, DType::uint64})
    if (name == name_of(dtype)) return dtype;
  throw std::invalid_argument(
      "dtype: expected float16, float32, float64, bool, uint8, int32, uint32, int64 or uint64, "
      "got " +
      name);
}

void bind_arrays(py::module_& module) {
  py::class_<Array, std::shared_ptr<Array>>(module, "Array")
      .def(py::init(&make_array), py::arg("context"), py::arg("count"), py::arg("components"),
           py::arg("dtype"), py::arg("name"))
      .def_static("adopt", &adopt_array, py::arg("context"), py::arg("count"),
                  py::arg("components"), py::arg("dtype"), py::arg("name"), py::arg("memory"),
                  py::arg("offset"), py::arg("stride"))
      .def("component", &Array::component, py::arg("index"))
      .def("rows", &Array::rows, py::arg("first"), py::arg("count"))
      .def("read", &read_array, py::arg("start"), py::arg("count"), py::arg("step"),
           py::arg("host"))
      .def("write", &write_array, py::arg("start"), py::arg("count"), py::arg("step"),
           py::arg("host"))
      .def("fill", &fill_array, py::arg("start"), py::arg("count"), py::arg("step"),
           py::arg("value"))
      .def("copy_from", &Array::copy_from, py::arg("other"), NoGil())
      .def("host_values", &values_of_array)
      .def("mark_shared", &Array::mark_shared)
      .def("touch", &Array::touch)
      .def_property_readonly("is_shared", &Array::is_shared)
      .def_property_readonly("version", &Array::version)
      .def_property_readonly("bytes_moved", &Array::bytes_moved)
      .def_property_readonly("count", &Array::count)
      .def_property_readonly("components", &Array::components)
      .def_property_readonly("dtype", [](const Array& self) { return name_of(self.dtype()); })
      .def_property_readonly("offset", &Array::offset)
      .def_property_readonly("stride", &Array::stride)
      .def_property_readonly("shape",
                             [](const Array& self) { return py::make_tuple(self.count()); })
      .def_property_readonly(
          "strides", [](const Array& self) { return py::make_tuple(int64_t{1}, self.stride()); })
      .def_property_readonly(
          "origin",
          [](const Array& self) {
            const auto where = self.buffer().origin();
            const auto offset = static_cast<std::uintptr_t>(self.offset() * size_of(self.dtype()));
            return py::make_tuple(where.memory, where.begin + offset);
          })
      .def_property_readonly(
          "memory",
          [](const Array& self) { return reinterpret_cast<std::uintptr_t>(self.buffer().get()); })
      .def("sum", &sum)
      .def("min", &least)
      .def("max", &greatest)
      .def("max_abs", &max_abs)
      .def("sum_abs", &sum_abs)
      .def("sum_squared_deviations", &squared_deviations, py::arg("centre"))
      .def("count_between", &count_between_of, py::arg("lower"), py::arg("upper"));

  module.def("scan", &scan, py::arg("source"), py::arg("target"), NoGil());
  module.def("sort", &sort, py::arg("keys"), py::arg("order"), NoGil());
  module.def("sort_rows", &sort_rows, py::arg("keys"), py::arg("rows"), py::arg("target"), NoGil());
  module.def("distribute", &distribute, py::arg("source"), py::arg("places"), py::arg("target"),
             NoGil());
  module.def("permute", &permute, py::arg("source"), py::arg("order"), py::arg("target"), NoGil());
}

}  // namespace particles
