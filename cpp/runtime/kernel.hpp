// SPDX-License-Identifier: BSD-3-Clause
// A kernel of a program, and what it calls its arguments.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/entry_points.hpp"

namespace particles {

// True where PARTICLES_CHECK_ARGUMENTS is set, to anything but 0 or off, as it is in the tests:
// kernels are then built with the names of their arguments, and every launch is compared with them.
bool arguments_are_checked();

// Its owner's own: two operators never share one, so their arguments cannot mix. Copies are the
// same kernel. One that was made of nothing belongs to a dry context.
class Kernel {
 public:
  Kernel() = default;
  Kernel(cl_kernel kernel, std::string name, std::shared_ptr<const void> program);

  explicit operator bool() const { return made_ != nullptr; }
  cl_kernel get() const { return made_->kernel.get(); }
  const std::string& name() const { return made_->name; }
  size_t argument_count() const { return made_->argument_count; }
  // In order; empty where they are not checked, or where the driver does not know them.
  const std::vector<std::string>& argument_names() const { return made_->argument_names; }
  // Who holds it sets arguments and enqueues, which is one act.
  std::mutex& launching() const { return made_->launching; }

 private:
  struct Made {
    std::shared_ptr<const void> program;  // outlives the kernel
    std::shared_ptr<_cl_kernel> kernel;
    std::string name;
    size_t argument_count = 0;
    std::vector<std::string> argument_names;
    mutable std::mutex launching;
  };
  std::shared_ptr<const Made> made_;
};

}  // namespace particles
