// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/image_format.hpp"

#include <algorithm>
#include <vector>

#include "runtime/entry_points.hpp"
#include "runtime/error.hpp"

namespace particles {

bool images_hold_floats(const Device& device, cl_context context) {
  const auto list = [&](std::vector<cl_image_format>& formats, cl_uint* count) {
    check(cl().clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE3D,
                                          static_cast<cl_uint>(formats.size()),
                                          formats.empty() ? nullptr : formats.data(), count),
          "clGetSupportedImageFormats", device.name);
  };
  std::vector<cl_image_format> formats;
  cl_uint count = 0;
  list(formats, &count);
  formats.resize(count);
  if (count > 0) list(formats, nullptr);
  return std::any_of(formats.begin(), formats.end(), [](const cl_image_format& format) {
    return format.image_channel_order == kFloats.image_channel_order &&
           format.image_channel_data_type == kFloats.image_channel_data_type;
  });
}

}  // namespace particles
