// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/scan.hpp"

#include <stdexcept>
#include <string>

namespace particles {

Scan::Scan(Workspace& workspace, DType number, int64_t count)
    : workspace_(workspace),
      number_(number),
      count_(count),
      shares_(shares_of(workspace.device(), count, size_of(number))) {}

size_t Scan::scratch_bytes() const {
  return static_cast<size_t>(shares_.groups + 1) * size_of(number_);
}

Kernel Scan::kernel(const char* name) const {
  return workspace_.kernel("arrays/scan.cl", "-DNUMBER=" + word_of(number_) + shares_.options(),
                           name);
}

void Scan::enqueue(const Span& source, const Span& target, bool with_total,
                   const Buffer& scratch) const {
  Context& context = workspace_.context();
  const auto bytes = static_cast<double>(count_) * size_of(number_);
  if (shares_.groups > 1) {
    Shares one = shares_;
    one.groups = 1;
    context.queue().launch(Launch(kernel("scan_sums"))
                               .buffer("source", source.buffer)
                               .int64("offset", source.offset)
                               .int64("n", count_)
                               .buffer("sums", scratch)
                               .range(shares_.range())
                               .traffic(bytes));
    context.queue().launch(Launch(kernel("scan_before"))
                               .buffer("sums", scratch)
                               .int64("n", shares_.groups)
                               .range(one.range()));
  }
  context.queue().launch(Launch(kernel("scan"))
                             .buffer("source", source.buffer)
                             .int64("source_offset", source.offset)
                             .buffer("target", target.buffer)
                             .int64("target_offset", target.offset)
                             .int64("n", count_)
                             .int32("with_total", with_total)
                             .buffer("before", scratch)
                             .range(shares_.range())
                             .traffic(2 * bytes));
}

void scan(const Array& source, Array& target) {
  const DType dtype = source.dtype();
  if (is_real(dtype) || size_of(dtype) < sizeof(int32_t) || target.dtype() != dtype ||
      !source.is_packed() || !target.is_packed())
    throw std::invalid_argument("scan: expected packed integers of 32 or 64 bits of one dtype");
  const bool with_total = target.count() == source.count() + 1;
  check_fits(source, target, source.count(), 1, "scan");
  check_fits(target, source, source.count() + with_total, 1, "scan");
  if (!target.count()) return;
  Workspace& workspace = target.workspace();
  const Scan scan(workspace, dtype, source.count());
  const auto scratch = workspace.scratch({scan.scratch_bytes()}, "sums of parts of an array");
  scan.enqueue({source.buffer(), source.offset()}, {target.buffer(), target.offset()}, with_total,
               *scratch.buffers[0]);
  target.touch();
}

}  // namespace particles
