// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/kernel.hpp"

#include <cstdlib>
#include <utility>

#include "runtime/error.hpp"

namespace particles {

namespace {

std::vector<std::string> names_of(cl_kernel kernel, size_t count) {
  std::vector<std::string> names;
  for (size_t index = 0; index < count; ++index) {
    char name[256] = "";
    const cl_int code = cl().clGetKernelArgInfo(kernel, static_cast<cl_uint>(index),
                                                CL_KERNEL_ARG_NAME, sizeof(name), name, nullptr);
    if (code != CL_SUCCESS || !*name) return {};  // a driver need not keep them
    names.emplace_back(name);
  }
  return names;
}

}  // namespace

bool arguments_are_checked() {
  static const bool checked = [] {
    const char* const value = std::getenv("PARTICLES_CHECK_ARGUMENTS");
    const std::string wanted = value ? value : "";
    return !wanted.empty() && wanted != "0" && wanted != "off";
  }();
  return checked;
}

Kernel::Kernel(cl_kernel kernel, std::string name, std::shared_ptr<const void> program) {
  auto made = std::make_shared<Made>();
  made->program = std::move(program);
  made->kernel = std::shared_ptr<_cl_kernel>(kernel, [](cl_kernel released) {
    if (!opencl_is_forked()) cl().clReleaseKernel(released);
  });
  made->name = std::move(name);
  cl_uint count = 0;
  check(cl().clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr),
        "clGetKernelInfo", "", "kernel " + made->name);
  made->argument_count = count;
  if (arguments_are_checked()) made->argument_names = names_of(kernel, count);
  made_ = std::move(made);
}

}  // namespace particles
