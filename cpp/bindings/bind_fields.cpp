// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays/reductions.hpp"
#include "bindings/bindings.hpp"
#include "fields/assignment.hpp"
#include "fields/field.hpp"
#include "fields/neighbours.hpp"

namespace particles {

namespace {

using Integers = std::vector<int64_t>;
using Reals = std::vector<double>;

using Names = std::vector<std::array<std::string, 2>>;

// Every number of elements and bytes that follows from these is one of 64 bits, padding included.
constexpr int64_t kMostPoints = int64_t{1} << 40;
constexpr int kMostFieldComponents = 1 << 10;

Boundary boundary_from(const std::string& name) {
  if (name == "periodic") return Boundary::periodic;
  if (name == "wall") return Boundary::wall;
  if (name == "outflow") return Boundary::outflow;
  if (name == "inflow") return Boundary::inflow;
  throw std::invalid_argument("boundary: expected periodic, wall, outflow or inflow, got " + name);
}

// A rank's object of Python, which outlives the interpreter's own end.
class RanksOfPython : public Neighbours {
 public:
  explicit RanksOfPython(py::object ranks) : ranks_(new py::object(std::move(ranks))) {}
  RanksOfPython(const RanksOfPython&) = delete;
  ~RanksOfPython() override {
    if (!Py_IsInitialized()) return;
    const py::gil_scoped_acquire gil;
    delete ranks_;
  }

  void fetch(const std::shared_ptr<Field>& own, const std::shared_ptr<Field>& extended, int axis,
             int64_t before, int64_t behind) const override {
    const py::gil_scoped_acquire gil;
    ranks_->attr("fetch")(own, extended, axis, before, behind);
  }

  std::array<int64_t, 2> whole_lines(int axis, int64_t all) const override {
    const py::gil_scoped_acquire gil;
    return ranks_->attr("whole_lines")(axis, all).cast<std::array<int64_t, 2>>();
  }

  void gather_lines(const std::shared_ptr<Field>& own, int axis,
                    const std::shared_ptr<Field>& whole) const override {
    const py::gil_scoped_acquire gil;
    ranks_->attr("gather_lines")(own, axis, whole);
  }

  void scatter_lines(const std::shared_ptr<Field>& whole, const std::shared_ptr<Field>& own,
                     int axis) const override {
    const py::gil_scoped_acquire gil;
    ranks_->attr("scatter_lines")(whole, own, axis);
  }

  std::vector<double> told_at_end(const std::vector<double>& numbers, int axis,
                                  int end) const override {
    const py::gil_scoped_acquire gil;
    return ranks_->attr("told_at_end")(numbers, axis, end).cast<std::vector<double>>();
  }

  int64_t most_rows(int axis) const override {
    const py::gil_scoped_acquire gil;
    return ranks_->attr("most_rows")(axis).cast<int64_t>();
  }

  std::vector<double> greatest(const std::vector<double>& numbers) const override {
    const py::gil_scoped_acquire gil;
    return ranks_->attr("greatest")(numbers).cast<std::vector<double>>();
  }

 private:
  py::object* ranks_;
};

Grid make_grid(const Integers& shape, const Reals& origin, const Reals& spacing,
               const Names& boundary, const Integers& begin, const Integers& whole,
               const py::object& neighbours) {
  if (shape.empty() || shape.size() > 3 || origin.size() != shape.size() ||
      spacing.size() != shape.size() || boundary.size() != shape.size()) {
    throw std::invalid_argument(
        "grid: expected 1 to 3 entries of shape, origin, spacing and boundary");
  }
  int64_t points = kMostPoints;
  for (const int64_t n : shape) {
    if (n < 1 || n > points)
      throw std::invalid_argument("shape: expected 1 to 2**40 points in all, got " +
                                  std::to_string(n) + " along an axis");
    points /= n;
  }
  Grid grid;
  grid.ndim = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), grid.shape.begin());
  std::copy(origin.begin(), origin.end(), grid.origin.begin());
  std::copy(spacing.begin(), spacing.end(), grid.spacing.begin());
  std::transform(boundary.begin(), boundary.end(), grid.boundary.begin(), [](const auto& ends) {
    return Ends{boundary_from(ends[0]), boundary_from(ends[1])};
  });
  if ((!begin.empty() && begin.size() != shape.size()) || whole.size() != begin.size())
    throw std::invalid_argument("begin, whole: expected none or one for each axis");
  for (size_t axis = 0; axis < begin.size(); axis++) {
    if (begin[axis] < 0 || begin[axis] + shape[axis] > whole[axis] || whole[axis] > kMostPoints)
      throw std::invalid_argument("begin, whole: expected a part of the whole grid");
    if (shape[axis] == whole[axis]) continue;
    grid.begin[axis] = begin[axis];
    grid.whole[axis] = whole[axis];
  }
  if (!neighbours.is_none()) grid.neighbours = std::make_shared<RanksOfPython>(neighbours);
  return grid;
}

void check_components(int components) {
  if (components < 1 || components > kMostFieldComponents)
    throw std::invalid_argument("components: expected 1 to " +
                                std::to_string(kMostFieldComponents) + ", got " +
                                std::to_string(components));
}

std::shared_ptr<Field> make_field(const std::shared_ptr<Context>& context, const Grid& grid,
                                  int components, const std::string& dtype,
                                  const std::string& name) {
  check_components(components);
  const GilReleased no_gil;
  return std::make_shared<Field>(context, grid, components, dtype_from(dtype), name);
}

// `strides` count elements: of the component first, then of each axis.
std::shared_ptr<Field> adopt_field(const std::shared_ptr<Context>& context, const Grid& grid,
                                   int components, const std::string& dtype,
                                   const std::string& name, std::uintptr_t memory, int64_t offset,
                                   const Integers& strides) {
  check_components(components);
  if (strides.size() != static_cast<size_t>(grid.ndim) + 1) {
    throw std::invalid_argument("strides: expected one of the component and one of each axis");
  }
  Layout layout;
  layout.offset = offset;
  layout.component_stride = strides[0];
  std::copy(strides.begin() + 1, strides.end(), layout.stride.begin());
  return std::make_shared<Field>(context, grid, components, dtype_from(dtype), name,
                                 Buffer::adopt(context, reinterpret_cast<cl_mem>(memory)), layout);
}

Integers strides_of(const Field& field) {
  const Layout& layout = field.layout();
  Integers strides{layout.component_stride};
  strides.insert(strides.end(), layout.stride.begin(), layout.stride.begin() + field.grid().ndim);
  return strides;
}

Selection selection_from(const Field& field, const Integers& start, const Integers& count,
                         const Integers& step) {
  const auto axes = static_cast<size_t>(field.grid().ndim) + 1;
  if (start.size() != axes || count.size() != axes || step.size() != axes) {
    throw std::invalid_argument("selection: expected one entry of the component and of each axis");
  }
  Selection selection;
  std::copy(start.begin(), start.end(), selection.start.begin());
  std::copy(count.begin(), count.end(), selection.count.begin());
  std::copy(step.begin(), step.end(), selection.step.begin());
  return selection;
}

DType real_dtype_of(const py::array& array) {
  return dtype_from(py::cast<std::string>(array.dtype().attr("name")));
}

void check_host(const Selection& selection, const py::array& host, DType expected) {
  const auto& count = selection.count;
  const int64_t points = count[0] * count[1] * count[2] * count[3];
  if (!(host.flags() & py::array::c_style) || host.size() != points ||
      !host.dtype().equal(py::dtype(name_of(expected)))) {
    throw std::invalid_argument("host array: expected " + std::to_string(points) +
                                " contiguous elements of " + name_of(expected));
  }
}

void read_field(const Field& field, const Integers& start, const Integers& count,
                const Integers& step, py::array& host) {
  const Selection selection = selection_from(field, start, count, step);
  check_host(selection, host, field.dtype());
  void* data = host.mutable_data();
  const GilReleased no_gil;
  field.read(selection, data);
}

void write_field(Field& field, const Integers& start, const Integers& count, const Integers& step,
                 const py::array& host) {
  const Selection selection = selection_from(field, start, count, step);
  const DType dtype = real_dtype_of(host);
  check_host(selection, host, dtype);
  const void* data = host.data();
  const GilReleased no_gil;
  field.write(selection, data, dtype);
}

// Rows of an extended field along an axis, counted from its own first one on, which may be beyond
// its own.
void write_rows(Field& field, int axis_of_grid, int64_t place, const py::array& host) {
  if (axis_of_grid < 0 || axis_of_grid >= field.grid().ndim || axis_of_grid >= host.ndim())
    throw std::invalid_argument("axis: expected one of the field's");
  Region region = field.everything();
  const int axis = 4 - field.grid().ndim + axis_of_grid;
  region.offset += place * region.stride[axis];
  region.count[axis] = host.shape(axis_of_grid);
  const DType dtype = real_dtype_of(host);
  if (!(host.flags() & py::array::c_style) || host.size() != region.points() ||
      dtype != field.dtype())
    throw std::invalid_argument("host array: expected whole rows of the field's dtype");
  const void* data = host.data();
  const GilReleased no_gil;
  field.array().write(region, data, dtype);
}

// Rows along the first axis of one field, at a place in another one.
void copy_rows(Field& field, int64_t place, const Field& source, int64_t first, int64_t rows) {
  if (place < 0 || first < 0 || rows < 0 || place + rows > field.grid().shape[0] ||
      first + rows > source.grid().shape[0] || field.components() != source.components() ||
      field.context() != source.context())
    throw std::invalid_argument("rows: expected some of two fields of one kind");
  const auto region_of = [&](const Field& one, int64_t begin) {
    Region region = one.everything();
    const int axis = 4 - one.grid().ndim;
    region.offset += begin * region.stride[axis];
    region.count[axis] = rows;
    return region;
  };
  const GilReleased no_gil;
  field.array().copy(region_of(field, place), source.array(), region_of(source, first));
}

// The values where they lie, as an array that keeps them alive, or None where the host has none.
py::object values_of_field(const std::shared_ptr<Field>& field) {
  auto* memory = static_cast<char*>(field->buffer().host_address());
  if (!memory) return py::none();
  const auto itemsize = static_cast<py::ssize_t>(size_of(field->dtype()));
  std::vector<py::ssize_t> shape{field->components()}, strides;
  shape.insert(shape.end(), field->grid().shape.begin(),
               field->grid().shape.begin() + field->grid().ndim);
  for (const int64_t stride : strides_of(*field)) strides.push_back(stride * itemsize);
  if (field->components() == 1) {
    shape.erase(shape.begin());
    strides.erase(strides.begin());
  }
  return py::array(py::dtype(name_of(field->dtype())), shape, strides,
                   memory + field->layout().offset * itemsize, py::cast(field));
}

void fill_field(Field& field, const Integers& start, const Integers& count, const Integers& step,
                double value) {
  const Selection selection = selection_from(field, start, count, step);
  const GilReleased no_gil;
  field.fill(selection, value);
}

void assign_to(Field& field, const Integers& start, const Integers& count, const Integers& step,
               const Operands& operands, const std::string& text, const Reals& numbers,
               const std::string& real, bool by_component) {
  const Selection selection = selection_from(field, start, count, step);
  const PointFormula formula{text, numbers, dtype_from(real), by_component};
  const GilReleased no_gil;
  assign(field, selection, operands, formula);
}

template <Reduction reduction>
double reduce_to(const Field& field) {
  return reduce(field.array(), field.everything(), reduction, field.planes());
}

py::array_t<int64_t> as_array(const ExactSum& sum) {
  const ExactSum::Digits digits = sum.digits();
  return py::array_t<int64_t>(static_cast<py::ssize_t>(digits.size()), digits.data());
}

template <Reduction reduction>
py::array_t<int64_t> digits_of(const Field& field) {
  const ExactSum sum = [&] {
    const GilReleased no_gil;
    return exact_sum(field.array(), field.everything(), reduction, field.planes());
  }();
  return as_array(sum);
}

ExactSum squared_deviations(const Field& field, double centre) {
  return sum_squared_deviations(field.array(), field.everything(), centre, field.planes());
}

double value_of_digits(const py::array_t<int64_t, py::array::c_style>& array) {
  ExactSum::Digits digits{};
  if (array.size() != static_cast<py::ssize_t>(digits.size()))
    throw std::invalid_argument("digits: expected those of a sum");
  std::copy(array.data(), array.data() + array.size(), digits.begin());
  return ExactSum(digits).value();
}

// Of the axes of a region, which are reduced.
std::array<bool, 4> along_axes(const Field& field, const std::vector<bool>& axes) {
  const int ndim = field.grid().ndim;
  if (static_cast<int>(axes.size()) != ndim + 1 ||
      std::none_of(axes.begin(), axes.end(), [](bool along) { return along; }))
    throw std::invalid_argument("axes: expected whether each is reduced, and one that is");
  std::array<bool, 4> along{};
  along[0] = axes[0];
  for (int k = 0; k < ndim; k++) along[k + 4 - ndim] = axes[k + 1];
  return along;
}

// In C order of the axes that are left.
template <Reduction reduction>
py::array_t<double> reduce_to_array(const Field& field, const std::vector<bool>& axes) {
  std::vector<double> values;
  {
    const auto along = along_axes(field, axes);
    const GilReleased no_gil;
    values = reduce_along(field.array(), field.everything(), reduction, along);
  }
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::array_t<double> sum_squared_deviations_to_array(const Field& field,
                                                    const std::vector<bool>& axes,
                                                    const py::array_t<double>& centres) {
  const std::vector<double> of_results(centres.data(), centres.data() + centres.size());
  std::vector<double> values;
  {
    const auto along = along_axes(field, axes);
    const GilReleased no_gil;
    values = sum_squared_deviations_along(field.array(), field.everything(), along, of_results);
  }
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::tuple summary(const Field& field) {
  const Summary found = [&] {
    const GilReleased no_gil;
    return summary_of(field.array(), field.everything(), field.planes());
  }();
  return py::make_tuple(found.sum, found.sum_squares, found.min, found.max);
}

}  // namespace

DType dtype_from(const std::string& name) {
  if (name == "float16") return DType::float16;
  if (name == "float32") return DType::float32;
  if (name == "float64") return DType::float64;
  throw std::invalid_argument("dtype: expected float16, float32 or float64, got " + name);
}

void bind_fields(py::module_& module) {
  py::class_<Grid>(module, "Grid")
      .def(py::init(&make_grid), py::arg("shape"), py::arg("origin"), py::arg("spacing"),
           py::arg("boundary"), py::arg("begin") = Integers(), py::arg("whole") = Integers(),
           py::arg("neighbours") = py::none())
      .def_readonly("ndim", &Grid::ndim)
      .def("__eq__", &Grid::operator==);

  py::class_<Field, std::shared_ptr<Field>>(module, "Field")
      .def(py::init(&make_field), py::arg("context"), py::arg("grid"), py::arg("components"),
           py::arg("dtype"), py::arg("name"))
      .def_static("adopt", &adopt_field, py::arg("context"), py::arg("grid"), py::arg("components"),
                  py::arg("dtype"), py::arg("name"), py::arg("memory"), py::arg("offset"),
                  py::arg("strides"), NoGil())
      .def("component", &Field::component, py::arg("index"))
      .def("read", &read_field, py::arg("start"), py::arg("count"), py::arg("step"),
           py::arg("host"))
      .def("write", &write_field, py::arg("start"), py::arg("count"), py::arg("step"),
           py::arg("host"))
      .def("write_rows", &write_rows, py::arg("axis"), py::arg("place"), py::arg("host"))
      .def("copy_rows", &copy_rows, py::arg("place"), py::arg("source"), py::arg("first"),
           py::arg("rows"))
      .def("fill", &fill_field, py::arg("start"), py::arg("count"), py::arg("step"),
           py::arg("value"))
      .def("assign", &assign_to, py::arg("start"), py::arg("count"), py::arg("step"),
           py::arg("operands"), py::arg("text"), py::arg("numbers"), py::arg("real"),
           py::arg("by_component"))
      .def("copy_from", &Field::copy_from, py::arg("other"), NoGil())
      .def("host_values", &values_of_field)
      .def("mark_shared", &Field::mark_shared)
      .def("touch", &Field::touch)
      .def_property_readonly("is_shared", &Field::is_shared)
      .def_property_readonly("version", &Field::version)
      .def_property_readonly("bytes_moved", &Field::bytes_moved)
      .def_property_readonly("components", &Field::components)
      .def_property_readonly("dtype", [](const Field& self) { return name_of(self.dtype()); })
      .def_property_readonly("shape",
                             [](const Field& self) {
                               const Grid& grid = self.grid();
                               return Integers(grid.shape.begin(), grid.shape.begin() + grid.ndim);
                             })
      .def_property_readonly("strides", &strides_of)
      .def_property_readonly("offset", [](const Field& self) { return self.layout().offset; })
      .def_property_readonly("origin",
                             [](const Field& self) {
                               const auto where = self.buffer().origin();
                               const auto offset = static_cast<std::uintptr_t>(
                                   self.layout().offset * size_of(self.dtype()));
                               return py::make_tuple(where.memory, where.begin + offset);
                             })
      .def_property_readonly(
          "memory",
          [](const Field& self) {
            const Buffer& buffer = self.buffer();
            return buffer.get() ? reinterpret_cast<std::uintptr_t>(buffer.get())
                                : reinterpret_cast<std::uintptr_t>(&buffer);  // of a dry context
          })
      .def("sum", &reduce_to<Reduction::sum>, NoGil())
      .def("sum_abs", &reduce_to<Reduction::sum_abs>, NoGil())
      .def("sum_squares", &reduce_to<Reduction::sum_squares>, NoGil())
      .def("min", &reduce_to<Reduction::min>, NoGil())
      .def("max", &reduce_to<Reduction::max>, NoGil())
      .def("max_abs", &reduce_to<Reduction::max_abs>, NoGil())
      .def(
          "sum_squared_deviations",
          [](const Field& self, double centre) { return squared_deviations(self, centre).value(); },
          py::arg("centre"), NoGil())
      .def("digits_of_sum", &digits_of<Reduction::sum>)
      .def("digits_of_sum_abs", &digits_of<Reduction::sum_abs>)
      .def("digits_of_sum_squares", &digits_of<Reduction::sum_squares>)
      .def(
          "digits_of_squared_deviations",
          [](const Field& self, double centre) {
            const ExactSum sum = [&] {
              const GilReleased no_gil;
              return squared_deviations(self, centre);
            }();
            return as_array(sum);
          },
          py::arg("centre"))
      .def("sum_squared_deviations_along", &sum_squared_deviations_to_array, py::arg("axes"),
           py::arg("centres"))
      .def("sum_along", &reduce_to_array<Reduction::sum>, py::arg("axes"))
      .def("min_along", &reduce_to_array<Reduction::min>, py::arg("axes"))
      .def("max_along", &reduce_to_array<Reduction::max>, py::arg("axes"))
      .def("summary", &summary)
      .def(
          "count_between",
          [](const Field& self, double lower, double upper) {
            return count_between(self.array(), self.everything(), lower, upper);
          },
          py::arg("lower"), py::arg("upper"), NoGil());

  module.def("value_of_digits", &value_of_digits, py::arg("digits"));
  module.def("unit_of_planes", &unit_of, py::arg("planes"));
}

}  // namespace particles
