// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "runtime/error.hpp"

namespace particles {

namespace {

std::string bytes_text(double bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  for (; bytes >= 1024; ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
  return text;
}

MemoryHandle create(const Context& context, cl_mem_flags flags, size_t bytes, void* host,
                    const std::string& what) {
  context.check_process();
  cl_int code = CL_SUCCESS;
  const cl_mem memory = cl().clCreateBuffer(context.context(), flags, bytes, host, &code);
  check(code, "clCreateBuffer", context.device().name,
        what + ", " + std::to_string(bytes) + " bytes");
  return MemoryHandle::adopt(memory);
}

struct Pages {
  Pages(void* address, size_t bytes) : address(address), bytes(bytes) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(address, bytes); }

  void* const address;
  const size_t bytes;
};

void CL_CALLBACK free_pages(cl_mem, void* pages) { delete static_cast<Pages*>(pages); }

// Memory of the host for a device that shares it. Large pages make the first touch of large fields
// several times as fast.
std::unique_ptr<Pages> fresh_pages(size_t bytes, const std::string& what) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    throw OutOfMemoryError(what + " needs " + bytes_text(static_cast<double>(bytes)) +
                           ", which the operating system does not give");
  }
  auto pages = std::make_unique<Pages>(address, bytes);
#ifdef MADV_HUGEPAGE
  constexpr size_t kWorthLargePages = size_t{1} << 22;
  if (bytes >= kWorthLargePages) madvise(address, bytes, MADV_HUGEPAGE);
#endif
  return pages;
}

// The pages live as long as the memory object, which may be shared with others.
MemoryHandle allocate_pages(const Context& context, size_t bytes, const std::string& what) {
  auto pages = fresh_pages(bytes, what);
  MemoryHandle memory =
      create(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, pages->address, what);
  check(cl().clSetMemObjectDestructorCallback(memory.get(), free_pages, pages.get()),
        "clSetMemObjectDestructorCallback", context.device().name);
  pages.release();
  return memory;
}

MemoryHandle allocate(const Context& context, size_t bytes, const std::string& what) {
  if (context.is_dry()) return {};
  check_allocation(context, bytes, what);
  return context.device().is_cpu() ? allocate_pages(context, bytes, what)
                                   : create(context, CL_MEM_READ_WRITE, bytes, nullptr, what);
}

template <class T>
T memory_value(cl_mem memory, cl_mem_info name) {
  T value{};
  check(cl().clGetMemObjectInfo(memory, name, sizeof(T), &value, nullptr), "clGetMemObjectInfo",
        "");
  return value;
}

// Pitches that were left at zero are those of closely packed rows and slices.
Rectangle with_pitches(Rectangle rectangle) {
  const auto complete = [&rectangle](size_t& row_pitch, size_t& slice_pitch) {
    if (row_pitch == 0) row_pitch = rectangle.region[0];
    if (slice_pitch == 0) slice_pitch = row_pitch * rectangle.region[1];
  };
  complete(rectangle.device_row_pitch, rectangle.device_slice_pitch);
  complete(rectangle.host_row_pitch, rectangle.host_slice_pitch);
  return rectangle;
}

bool is_one_row(const Rectangle& rectangle) {
  return rectangle.region[1] * rectangle.region[2] == 1;
}

std::array<size_t, 3> device_place(const Rectangle& rectangle) {
  const size_t in_slice = rectangle.device_origin % rectangle.device_slice_pitch;
  return {in_slice % rectangle.device_row_pitch, in_slice / rectangle.device_row_pitch,
          rectangle.device_origin / rectangle.device_slice_pitch};
}

// Reads and writes differ only in the two functions that move the bytes.
template <class Linear, class Rectangular, class Host>
void transfer(const Buffer& buffer, Linear linear, Rectangular rectangular, const char* call,
              Host host, const Rectangle& wanted) {
  Context& context = *buffer.context();
  context.check_process();
  if (context.is_dry()) return;
  const Rectangle rectangle = with_pitches(wanted);
  cl_int code = CL_SUCCESS;
  if (is_one_row(rectangle)) {
    code = linear(context.queue().get(), buffer.get(), CL_TRUE, rectangle.device_origin,
                  rectangle.region[0], host, 0, nullptr, nullptr);
  } else {
    const std::array<size_t, 3> host_origin{0, 0, 0}, origin = device_place(rectangle);
    code = rectangular(context.queue().get(), buffer.get(), CL_TRUE, origin.data(),
                       host_origin.data(), rectangle.region.data(), rectangle.device_row_pitch,
                       rectangle.device_slice_pitch, rectangle.host_row_pitch,
                       rectangle.host_slice_pitch, host, 0, nullptr, nullptr);
  }
  context.queue().check_wait(code, call);
}

}  // namespace

// Drivers allocate lazily: what passes clCreateBuffer may fail, or end the process, at first use.
void check_allocation(const Context& context, size_t bytes, const std::string& what) {
  context.check_process();
  const Device& device = context.device();
  const std::string asked = what + " needs " + bytes_text(static_cast<double>(bytes)) + " (" +
                            std::to_string(bytes) + " bytes), and " + device.name;
  if (bytes > device.largest_allocation) {
    throw OutOfMemoryError(asked + " allows " +
                           bytes_text(static_cast<double>(device.largest_allocation)) +
                           " in one buffer");
  }
  const auto held = static_cast<size_t>(context.bytes_held());
  if (bytes + held > device.global_memory) {
    throw OutOfMemoryError(asked + " has " + bytes_text(static_cast<double>(device.global_memory)) +
                           ", of which " + bytes_text(static_cast<double>(held)) +
                           " are in use here already");
  }
}

Buffer::Buffer(std::shared_ptr<Context> context, size_t bytes, const std::string& what)
    : context_(std::move(context)),
      memory_(allocate(*context_, std::max<size_t>(bytes, 1), what)),
      bytes_(std::max<size_t>(bytes, 1)) {
  context_->note_allocation(static_cast<int64_t>(bytes_), 1);
  context_->note_wanted(this, what, bytes_);
}

Buffer::Buffer(std::shared_ptr<Context> context, MemoryHandle memory, size_t bytes, bool owned)
    : context_(std::move(context)), memory_(std::move(memory)), bytes_(bytes), owned_(owned) {}

std::shared_ptr<Buffer> Buffer::adopt(std::shared_ptr<Context> context, cl_mem memory) {
  context->check_process();
  if (memory_value<cl_context>(memory, CL_MEM_CONTEXT) != context->context()) {
    throw DeviceError("the buffer belongs to another context than the one of " +
                      context->device().name);
  }
  const auto bytes = memory_value<size_t>(memory, CL_MEM_SIZE);
  return std::shared_ptr<Buffer>(
      new Buffer(std::move(context), MemoryHandle::share(memory), bytes, false));
}

Buffer::~Buffer() {
  if (!owned_) return;
  context_->note_allocation(-static_cast<int64_t>(bytes_), -1);
  context_->forget_wanted(this);
}

// The operating system hands out no other pages.
bool Buffer::begins_as_zeros() const { return context_->device().is_cpu(); }

Buffer::Origin Buffer::origin() const {
  if (context_->is_dry()) return {reinterpret_cast<std::uintptr_t>(this), 0};
  cl_mem whole = get();
  std::uintptr_t begin = 0;
  while (const auto parent = memory_value<cl_mem>(whole, CL_MEM_ASSOCIATED_MEMOBJECT)) {
    begin += memory_value<size_t>(whole, CL_MEM_OFFSET);
    whole = parent;
  }
  if (!(memory_value<cl_mem_flags>(whole, CL_MEM_FLAGS) & CL_MEM_USE_HOST_PTR))
    return {reinterpret_cast<std::uintptr_t>(whole), begin};
  const auto host = reinterpret_cast<std::uintptr_t>(memory_value<void*>(whole, CL_MEM_HOST_PTR));
  return {kHostMemory, host + begin};
}

// A CPU works in the memory that a buffer was made with.
void* Buffer::host_address() const {
  const Origin where = origin();
  if (!context_->device().is_cpu() || where.memory != kHostMemory) return nullptr;
  return reinterpret_cast<void*>(where.begin);
}

void Buffer::read(void* host, const Rectangle& rectangle) const {
  transfer(*this, cl().clEnqueueReadBuffer, cl().clEnqueueReadBufferRect, "clEnqueueReadBuffer",
           host, rectangle);
}

void Buffer::write(const void* host, const Rectangle& rectangle) {
  transfer(*this, cl().clEnqueueWriteBuffer, cl().clEnqueueWriteBufferRect, "clEnqueueWriteBuffer",
           host, rectangle);
}

void Buffer::fill(const void* pattern, size_t pattern_bytes, size_t offset, size_t bytes) {
  context_->check_process();
  if (context_->is_dry()) return;
  cl_event event = nullptr;
  check(cl().clEnqueueFillBuffer(context_->queue().get(), get(), pattern, pattern_bytes, offset,
                                 bytes, 0, nullptr, &event),
        "clEnqueueFillBuffer", context_->device().name);
  context_->queue().watch("clEnqueueFillBuffer", event);
}

HostArray::HostArray(const std::shared_ptr<Context>& context, const void* host, size_t bytes)
    : Buffer(context,
             create(*context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, bytes,
                    const_cast<void*>(host), "an array of the host"),
             bytes, false) {}

HostArray::HostArray(const std::shared_ptr<Context>& context, void* host, size_t bytes)
    : Buffer(context,
             create(*context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host,
                    "an array of the host"),
             bytes, false) {}

HostArray::~HostArray() {
  if (!is_idle_ && !opencl_is_forked()) cl().clFinish(context()->queue().get());
}

void HostArray::wait() {
  context()->queue().finish();
  is_idle_ = true;
}

// Drivers may keep a copy of the array: mapping it brings the values home. They may use the array
// until the buffer is released with nothing under way.
void HostArray::hand_back() {
  Context& device = *context();
  cl_int code = CL_SUCCESS;
  void* host = cl().clEnqueueMapBuffer(device.queue().get(), get(), CL_TRUE, CL_MAP_READ, 0,
                                       bytes(), 0, nullptr, nullptr, &code);
  check(code, "clEnqueueMapBuffer", device.device().name);
  check(cl().clEnqueueUnmapMemObject(device.queue().get(), get(), host, 0, nullptr, nullptr),
        "clEnqueueUnmapMemObject", device.device().name);
  wait();
}

}  // namespace particles
