// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/program_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <system_error>

#include "runtime/sha256.hpp"

namespace particles {

namespace {

namespace fs = std::filesystem;

// An open file or folder.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  bool is_open() const { return number_ >= 0; }
  int get() const { return number_; }
  bool close() {
    const bool closed = is_open() && ::close(number_) == 0;
    number_ = -1;
    return closed;
  }

 private:
  int number_;
};

// What somebody else may have written is never run. What is asked is what has been opened.
bool is_ours_alone(const Descriptor& opened, mode_t kind, struct stat& found) {
  return opened.is_open() && fstat(opened.get(), &found) == 0 && (found.st_mode & S_IFMT) == kind &&
         found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Those above it are looked at by whoever names the folder.
bool is_own_folder(const Descriptor& folder) {
  struct stat found{};
  return is_ours_alone(folder, S_IFDIR, found);
}

int open_folder(const std::string& folder) {
  return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

std::string file_name(const std::string& key) { return key + ".clbin"; }

std::string header(const std::string& key, const std::string& binary) {
  return "particles program\nkey " + key + "\nlength " + std::to_string(binary.size()) +
         "\nsha256 " + sha256(binary) + "\n\n";
}

// Processes of several machines may share the folder, so a process number does not tell them apart.
std::string temporary_suffix() {
  std::random_device random;
  return "." + std::to_string(random()) + std::to_string(random()) + ".tmp";
}

bool write_all(const Descriptor& file, const std::string& content) {
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t count = write(file.get(), content.data() + done, content.size() - done);
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

std::optional<std::string> read_program_file(const std::string& folder, const std::string& key) {
  const Descriptor within(open_folder(folder));
  if (!is_own_folder(within)) return std::nullopt;
  // A FIFO would wait for its other end.
  const Descriptor file(
      openat(within.get(), file_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found{};
  if (!is_ours_alone(file, S_IFREG, found)) return std::nullopt;
  std::string content(static_cast<size_t>(found.st_size), '\0');
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t count = read(file.get(), content.data() + done, content.size() - done);
    if (count <= 0) return std::nullopt;
    done += static_cast<size_t>(count);
  }

  const size_t end_of_header = content.find("\n\n");
  if (end_of_header == std::string::npos) return std::nullopt;
  const std::string binary = content.substr(end_of_header + 2);
  if (content.substr(0, end_of_header + 2) != header(key, binary)) return std::nullopt;
  return binary;
}

void write_program_file(const std::string& folder, const std::string& key,
                        const std::string& binary) {
  std::error_code problem;
  fs::create_directories(fs::path(folder).parent_path(), problem);
  mkdir(folder.c_str(), S_IRWXU);  // unless it is there
  const Descriptor within(open_folder(folder));
  if (!is_own_folder(within)) return;
  const std::string name = file_name(key), temporary = name + temporary_suffix();
  struct stat found{};
  if (fstatat(within.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISREG(found.st_mode))
    return;
  Descriptor file(openat(within.get(), temporary.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return;
  const bool is_written = write_all(file, header(key, binary) + binary);
  if (!file.close() || !is_written ||
      renameat(within.get(), temporary.c_str(), within.get(), name.c_str()) != 0)
    unlinkat(within.get(), temporary.c_str(), 0);
}

}  // namespace particles
