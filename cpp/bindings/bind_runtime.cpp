// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "bindings/bindings.hpp"
#include "runtime/bandwidth.hpp"
#include "runtime/context.hpp"
#include "runtime/device.hpp"
#include "runtime/drivers.hpp"
#include "runtime/entry_points.hpp"
#include "runtime/error.hpp"
#include "runtime/kernel_source.hpp"
#include "runtime/processor_name.hpp"
#include "runtime/self_test.hpp"
#include "runtime/sha256.hpp"

namespace particles {

namespace {

// Python's exception classes; they live as long as the interpreter.
struct ErrorClasses {
  py::object device, build, out_of_memory;
};

ErrorClasses& error_classes() {
  static ErrorClasses* classes = new ErrorClasses;
  return *classes;
}

py::object new_error_class(py::module_& module, const char* name, const py::object& bases,
                           const char* doc) {
  const std::string full_name = std::string("particles.") + name;
  const auto made = py::reinterpret_steal<py::object>(
      PyErr_NewExceptionWithDoc(full_name.c_str(), doc, bases.ptr(), nullptr));
  if (!made) throw py::error_already_set();
  module.attr(name) = made;
  return made;
}

// What drivers and compilers write need not be UTF-8.
py::object text(const std::string& bytes) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()), "replace"));
}

void raise(const py::object& error_class, const DeviceError& error) {
  PyErr_SetObject(error_class.ptr(), text(error.what()).ptr());
}

void raise_build_error(const BuildError& error) {
  const py::object instance = error_classes().build(text(error.what()));
  instance.attr("log") = text(error.log());
  PyErr_SetObject(error_classes().build.ptr(), instance.ptr());
}

void bind_errors(py::module_& module) {
  ErrorClasses& classes = error_classes();
  const auto builtin = [](PyObject* error_class) {
    return py::reinterpret_borrow<py::object>(error_class);
  };
  classes.device = new_error_class(module, "DeviceError", builtin(PyExc_RuntimeError),
                                   "An OpenCL device, or the lack of one, stopped the work.");
  classes.build =
      new_error_class(module, "BuildError", classes.device,
                      "A program did not build; `log` is what the device's compiler wrote.");
  classes.out_of_memory = new_error_class(
      module, "OutOfMemoryError", py::make_tuple(classes.device, builtin(PyExc_MemoryError)),
      "A device has less memory than was asked for.");
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      std::rethrow_exception(pointer);
    } catch (const BuildError& error) {
      raise_build_error(error);
    } catch (const OutOfMemoryError& error) {
      raise(error_classes().out_of_memory, error);
    } catch (const DeviceError& error) {
      raise(error_classes().device, error);
    }
  });
}

template <class T>
T from_pointer(std::uintptr_t pointer) {
  return reinterpret_cast<T>(pointer);
}

template <class T>
std::uintptr_t to_pointer(T object) {
  return reinterpret_cast<std::uintptr_t>(object);
}

// What kernels may use was found out. A device is never changed: other threads may be at it.
Device with_vectors(Device device, size_t bytes, bool fma) {
  device.widest_vector = bytes;
  device.vector_fma = fma;
  return device;
}

void bind_devices(py::module_& module) {
  py::class_<Device>(module, "DeviceInfo")
      .def_property_readonly("pointer", [](const Device& device) { return to_pointer(device.id); })
      .def_readonly("index", &Device::index)
      .def_readonly("name", &Device::name)
      .def_readonly("platform_name", &Device::platform_name)
      .def_readonly("platform_version", &Device::platform_version)
      .def_readonly("vendor", &Device::vendor)
      .def_readonly("version", &Device::version)
      .def_readonly("c_version", &Device::c_version)
      .def_readonly("driver", &Device::driver)
      .def_readonly("extensions", &Device::extensions)
      .def_readonly("compute_units", &Device::compute_units)
      .def_readonly("global_memory", &Device::global_memory)
      .def_readonly("largest_allocation", &Device::largest_allocation)
      .def_readonly("local_memory", &Device::local_memory)
      .def_readonly("cache_size", &Device::cache_size)
      .def_readonly("largest_work_group", &Device::largest_work_group)
      .def_readonly("native_float_width", &Device::native_float_width)
      .def_readonly("has_double", &Device::has_double)
      .def_readonly("has_images", &Device::has_images)
      .def_readonly("has_fma", &Device::has_fma)
      .def_readonly("widest_vector", &Device::widest_vector)
      .def_readonly("vector_fma", &Device::vector_fma)
      .def_property_readonly("is_cpu", &Device::is_cpu)
      .def_property_readonly("is_gpu", &Device::is_gpu)
      .def_property_readonly("is_simulator", &Device::is_simulator)
      .def_property_readonly("is_pocl", &Device::is_pocl)
      .def_property_readonly("caches_programs", &Device::caches_programs)
      .def_property_readonly("needs_linker", &Device::needs_linker)
      .def("with_vectors", &with_vectors, py::arg("bytes"), py::arg("fma"));
  py::class_<Platform>(module, "PlatformInfo")
      .def_readonly("name", &Platform::name)
      .def_readonly("vendor", &Platform::vendor)
      .def_readonly("version", &Platform::version)
      .def_readonly("devices", &Platform::devices)
      .def_readonly("error", &Platform::error);
  module.def("load_opencl", &load_opencl, py::arg("path"), NoGil());
  module.def("add_driver", &add_driver, py::arg("path"), NoGil());
  module.def("list_platforms", &list_platforms, NoGil());
  module.def("library_of", &library_of, py::arg("device"));
  module.def(
      "tell_processor",
      [](const Device& device, size_t processor, size_t operations, size_t build_hash,
         size_t compilers, const std::string& name, const std::string& hash) {
        tell_processor(device, {processor, operations, build_hash, compilers}, name, hash);
      },
      py::arg("device"), py::arg("processor"), py::arg("operations"), py::arg("build_hash"),
      py::arg("compilers"), py::arg("name"), py::arg("hash"));
  module.def(
      "describe_device",
      [](std::uintptr_t pointer) { return describe(from_pointer<cl_device_id>(pointer)); },
      py::arg("pointer"), NoGil());
}

std::shared_ptr<Context> adopt(const Device& device, std::uintptr_t context_pointer,
                               std::uintptr_t queue_pointer, const std::string& cache_folder) {
  return Context::adopt(device, from_pointer<cl_context>(context_pointer),
                        from_pointer<cl_command_queue>(queue_pointer), cache_folder);
}

py::dict stop_profile(Context& context, int64_t whose) {
  std::map<std::string, KernelProfile> profile;
  {
    const GilReleased no_gil;
    profile = context.queue().stop_profile(whose);
  }
  py::dict kernels;
  for (const auto& [name, total] : profile) {
    kernels[py::str(name)] = py::make_tuple(total.launches, total.seconds, total.bytes);
  }
  return kernels;
}

// What is handed out is used without the core, which could not refuse it after a fork any more.
std::uintptr_t context_pointer(const Context& context) {
  context.check_process();
  return to_pointer(context.context());
}

std::uintptr_t queue_pointer(const Context& context) {
  context.check_process();
  return to_pointer(context.queue().get());
}

void bind_context(py::module_& module) {
  py::class_<Context, std::shared_ptr<Context>>(module, "Context")
      .def_static("open", &Context::open, py::arg("device"), py::arg("cache_folder"), NoGil())
      .def_static("adopt", &adopt, py::arg("device"), py::arg("context_pointer"),
                  py::arg("queue_pointer"), py::arg("cache_folder"), NoGil())
      .def_static("dry", &Context::dry, py::arg("device"))
      .def_property_readonly("is_dry", &Context::is_dry)
      .def_property_readonly("device", &Context::device)
      .def(
          "build",
          [](Context& self, const std::string& source, const std::string& options) {
            self.build(source, options);
          },
          py::arg("source"), py::arg("options") = "", NoGil())
      .def(
          "finish", [](Context& self) { self.queue().finish(); }, NoGil())
      .def(
          "start_profile", [](Context& self, int64_t whose) { self.queue().start_profile(whose); },
          py::arg("whose"), NoGil())
      .def("stop_profile", &stop_profile, py::arg("whose"))
      .def("run_self_test", &run_self_test, py::arg("options") = "", NoGil())
      .def("measure_triad", &measure_triad, NoGil())
      .def("measure_axpy", &measure_axpy, NoGil())
      .def("check_process", &Context::check_process)
      .def_property_readonly("context_pointer", &context_pointer)
      .def_property_readonly("queue_pointer", &queue_pointer)
      .def_property_readonly("cache_folder",
                             [](const Context& self) { return self.programs().folder(); })
      .def_property_readonly("bytes_held", &Context::bytes_held);
}

}  // namespace

void bind_runtime(py::module_& module) {
  bind_errors(module);
  bind_devices(module);
  bind_context(module);
  module.def("embedded_kernels", &embedded_kernels);
  module.def("sha256", [](const py::bytes& bytes) { return sha256(bytes); }, py::arg("content"));
}

}  // namespace particles
