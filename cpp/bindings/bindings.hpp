// SPDX-License-Identifier: BSD-3-Clause
// What each file of this folder adds to the extension module.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <string>

#include "arrays/dtype.hpp"

namespace particles {

namespace py = pybind11;

// Lets other threads run Python. A thread that comes back when the interpreter is ending is ended
// by Python 3.13 and older: its stack is unwound, which must not leave a destructor. Such a thread
// stays where it is, as with Python 3.14.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;
  ~GilReleased() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // no exception, but the thread's end
      for (;;) pause();
    }
  }

 private:
  PyThreadState* state_;
};

// For functions, and for constructors as py::init<...>. Not for a factory, py::init(&make): what it
// returns is entered into pybind11's table under the same guard, and two threads would write there
// at once. A factory releases the GIL itself.
using NoGil = py::call_guard<GilReleased>;

// Throws std::invalid_argument where it is none of float16, float32 and float64.
DType dtype_from(const std::string& name);
// Of any that arrays have.
DType any_dtype_from(const std::string& name);

void bind_runtime(py::module_& module);
void bind_arrays(py::module_& module);
void bind_fields(py::module_& module);
void bind_sets(py::module_& module);
void bind_interpolation(py::module_& module);
void bind_operators(py::module_& module);
void bind_testing(py::module_& module);

}  // namespace particles
