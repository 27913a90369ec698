// SPDX-License-Identifier: BSD-3-Clause
#include "motion/motion_copy.hpp"

#include <algorithm>
#include <array>

namespace particles {
namespace {

// Of an image of one component with its padding, which lies in one piece.
std::array<size_t, 3> image_size(const Grid& grid, const Layout& layout) {
  const auto row = static_cast<size_t>(layout.stride[std::max(grid.ndim - 2, 0)]);
  const auto points = [&](int axis) { return static_cast<size_t>(grid.shape[axis]); };
  if (grid.ndim == 1) return {points(0), 1, 1};
  if (grid.ndim == 2) return {row, points(0), 1};
  return {row, static_cast<size_t>(layout.stride[0]) / row, points(0)};
}

}  // namespace

MotionCopy::MotionCopy(const std::shared_ptr<Context>& context, const Motion& motion,
                       const LinePlan& plan) {
  if (!plan.images && !plan.transposed) return;
  for (const auto& original : motion.fields()) {
    const Grid& grid = original->grid();
    Copy copy;
    if (plan.images) {
      if (!motion.is_padded())
        copy.field = std::make_shared<Field>(context, grid, 1, motion.dtype(), "packed velocity");
      const Layout layout = copy.field ? copy.field->layout() : original->layout();
      copy.image = std::make_shared<Image>(context, image_size(grid, layout), "velocity");
    } else {
      copy.field = transposed_field(context, grid, motion.dtype(), "transposed velocity");
    }
    copies_.push_back(std::move(copy));
  }
}

Motion MotionCopy::of(const Motion& motion) {
  if (copies_.empty()) return motion;
  std::vector<std::shared_ptr<Field>> fields;
  std::vector<std::shared_ptr<Image>> images;
  for (size_t level = 0; level < copies_.size(); level++) {
    Copy& copy = copies_[level];
    update(copy, motion.fields()[level], !motion.is_given());
    fields.push_back(copy.field);
    if (copy.image) images.push_back(copy.image);
  }
  return images.empty() ? motion.read_from(fields) : motion.read_from(images);
}

void MotionCopy::update(Copy& copy, const std::shared_ptr<Field>& original, bool is_kept) {
  const int64_t version = original->version();  // before copying: a later write makes it stale
  if (is_kept && !original->is_shared() && copy.original == original && copy.version == version)
    return;
  if (copy.field) copy.field->copy_from(*original);
  if (copy.image) {
    const Field& padded = copy.field ? *copy.field : *original;
    copy.image->copy_from(padded.buffer(), padded.layout().offset * size_of(padded.dtype()));
  }
  copy.original = original;
  copy.version = version;
}

}  // namespace particles
