// SPDX-License-Identifier: BSD-3-Clause
// The order of keys, and arrays in an order.
#pragma once

#include "arrays/array.hpp"

namespace particles {

// Sets `order` to the places of the keys from the least to the greatest; equal keys stay as they
// are, so there is one result. Keys are integers of 32 or 64 bits, the order too, of 64 where
// there are 2^31 keys or more; both have one component and are packed. Enqueued, in memory that
// the keys keep for the next time. Throws std::invalid_argument.
void sort(const Array& keys, Array& order);

// Sets the target to the rows in that order, which travel with the keys: cheaper than an order and
// a permutation, whose reads are far apart. The rest as for `sort`.
void sort_rows(const Array& keys, const Array& rows, Array& target);

// target[i] = source[order[i]], row by row. The order holds rows of the source alone: nobody looks.
// Enqueued. Throws std::invalid_argument.
void permute(const Array& source, const Array& order, Array& target);

// target[places[i]] = source[i]: the same the other way round, and faster where the order has no
// order, as what is written is kept in a cache until a line of it is full.
void distribute(const Array& source, const Array& places, Array& target);

}  // namespace particles
