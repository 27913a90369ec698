// SPDX-License-Identifier: BSD-3-Clause
// Motion that is stored where a plan wants it to be read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "motion/motion.hpp"

namespace particles {

// A transposed copy, an image, or where it is.
class MotionCopy {
 public:
  MotionCopy() = default;
  MotionCopy(const std::shared_ptr<Context>& context, const Motion& motion, const LinePlan& plan);

  // The same motion there. What another kernel has computed is copied each time, a velocity when it
  // has changed.
  Motion of(const Motion& motion);

 private:
  struct Copy {
    std::shared_ptr<Field> field;
    std::shared_ptr<Image> image;
    std::shared_ptr<Field> original;
    int64_t version = -1;
  };
  static void update(Copy& copy, const std::shared_ptr<Field>& original, bool is_kept);

  std::vector<Copy> copies_;  // one for each field, or none
};

}  // namespace particles
