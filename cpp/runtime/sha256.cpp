// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/sha256.hpp"

#include <array>
#include <cstdint>

namespace particles {

namespace {

using State = std::array<uint32_t, 8>;

constexpr State kInitial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t rotate(uint32_t value, int count) { return value >> count | value << (32 - count); }

uint32_t big_endian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

std::array<uint32_t, 64> schedule(const unsigned char* block) {
  std::array<uint32_t, 64> words;
  for (int i = 0; i < 16; ++i) words[i] = big_endian(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = words[i - 15], b = words[i - 2];
    const uint32_t small0 = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3;
    const uint32_t small1 = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;
    words[i] = words[i - 16] + small0 + words[i - 7] + small1;
  }
  return words;
}

void absorb(State& state, const unsigned char* block) {
  const std::array<uint32_t, 64> words = schedule(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const uint32_t large1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const uint32_t first = h + large1 + ((e & f) ^ (~e & g)) + kRound[i] + words[i];
    const uint32_t large0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const uint32_t second = large0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + second;
  }
  const State worked = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state[i] += worked[i];
}

// A one bit, zeros, and the length in bits as the last eight bytes of the last block.
std::string pad(const std::string& bytes) {
  std::string padded = bytes + '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift);
  return padded;
}

}  // namespace

std::string sha256(const std::string& bytes) {
  const std::string padded = pad(bytes);
  State state = kInitial;
  for (size_t at = 0; at < padded.size(); at += 64) {
    absorb(state, reinterpret_cast<const unsigned char*>(padded.data()) + at);
  }
  std::string text;
  for (const uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  }
  return text;
}

}  // namespace particles
