// SPDX-License-Identifier: BSD-3-Clause
// A plugin of Oclgrind that counts what crosses the memory of a GPU whose sub-groups of 32
// work-items run in step: sectors of 32 bytes, banks of local memory, and lanes that are idle
// because their neighbours run something else.
//
// THE MODEL. Oclgrind runs the work-items of a group one after the other, so the lanes of a
// sub-group are put side by side afterwards: the n-th time that a lane runs an instruction belongs
// to the n-th time of its neighbours, which is exact where they do not diverge. `moved` has no
// cache at all. `l1` lets each group use a cache of 32 KiB (lines of 128 bytes filled by sectors,
// what was used least recently goes first). `merged` is what leaves a write-back cache as large,
// as an L2 has for each group. `unique` is what a launch touches at all: a perfect cache.
//
// COUNT_MEMORY is a folder: each launch adds a line to its counts.jsonl; a program's text is in
// <its number>.cl, its build options in <its number>.options.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "Context.h"
#include "Kernel.h"
#include "KernelInvocation.h"
#include "Memory.h"
#include "Plugin.h"
#include "Program.h"
#include "WorkGroup.h"
#include "WorkItem.h"

using namespace oclgrind;

namespace {

constexpr size_t kLanes = 32, kSector = 32, kSegment = 128, kBanks = 32, kWord = 4;
constexpr size_t kCacheBytes = 32 * 1024;

struct Access {  // of all lanes at once
  bool store = false, local = false;
  int lanes = 0;
  size_t size = 0, address[kLanes];
};

struct Site {  // an instruction of a sub-group that reads or writes memory
  uint32_t times[kLanes] = {};
  std::vector<size_t> accesses;  // the n-th one
};

struct SubGroup {
  std::unordered_map<const llvm::Instruction*, Site> sites;
  std::vector<Access> accesses;  // as they begin
  std::unordered_map<const llvm::Instruction*, std::vector<uint64_t>> executed;
};

class Cache {
 public:
  bool holds(size_t sector) {  // and does from now on
    const size_t line = sector / (kSegment / kSector);
    const unsigned bit = 1u << (sector % (kSegment / kSector));
    const auto found = where_.find(line);
    if (found != where_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      const bool held = order_.front().second & bit;
      order_.front().second |= bit;
      return held;
    }
    order_.emplace_front(line, bit);
    where_[line] = order_.begin();
    if (order_.size() > kCacheBytes / kSegment) {
      where_.erase(order_.back().first);
      order_.pop_back();
    }
    return false;
  }

 private:
  std::list<std::pair<size_t, unsigned>> order_;
  std::unordered_map<size_t, decltype(order_)::iterator> where_;
};

struct Way {  // loads or stores
  uint64_t asked = 0, sectors = 0, cached = 0;
  std::unordered_set<size_t> unique;
};

struct Counts {
  Way loads, stores;
  uint64_t local_requests = 0, local_passes = 0, lanes_ran = 0, lanes_held = 0, atomics = 0;
  uint64_t items = 0, group = 0, local_bytes = 0;
};

class CountMemory : public Plugin {
 public:
  using Plugin::Plugin;
  bool isThreadSafe() const override { return false; }

  void kernelBegin(const KernelInvocation* run) override {
    counts_ = Counts();
    const Size3 global = run->getGlobalSize(), local = run->getLocalSize();
    counts_.items = global.x * global.y * global.z;
    counts_.group = local.x * local.y * local.z;
  }

  void workGroupBegin(const WorkGroup* group) override {
    const Size3 size = group->getGroupSize();
    sub_groups_.assign((size.x * size.y * size.z + kLanes - 1) / kLanes, SubGroup());
  }

  void memoryLoad(const Memory* memory, const WorkItem* item, size_t address,
                  size_t size) override {
    note(memory, item, address, size, false);
  }
  void memoryStore(const Memory* memory, const WorkItem* item, size_t address, size_t size,
                   const uint8_t*) override {
    note(memory, item, address, size, true);
  }
  void memoryAtomicLoad(const Memory*, const WorkItem*, AtomicOp, size_t, size_t) override {
    counts_.atomics++;
  }

  void instructionExecuted(const WorkItem* item, const llvm::Instruction* instruction,
                           const TypedValue&) override {
    auto& times = sub_group_of(item).executed[instruction];
    times.resize(kLanes);
    times[index_of(item) % kLanes]++;
  }

  void workGroupComplete(const WorkGroup* group) override {
    counts_.local_bytes =
        std::max<uint64_t>(counts_.local_bytes, group->getLocalMemory()->getTotalAllocated());
    Cache loaded, stored;
    size_t longest = 0;
    for (const SubGroup& one : sub_groups_) longest = std::max(longest, one.accesses.size());
    for (size_t i = 0; i < longest; i++)  // in turn, one instruction each
      for (const SubGroup& one : sub_groups_)
        if (i < one.accesses.size()) count(one.accesses[i], loaded, stored);
    for (const SubGroup& one : sub_groups_)
      for (const auto& executed : one.executed) {
        uint64_t most = 0;
        for (const uint64_t times : executed.second) {
          counts_.lanes_ran += times;
          most = std::max(most, times);
        }
        counts_.lanes_held += most * kLanes;
      }
    sub_groups_.clear();
  }

  void kernelEnd(const KernelInvocation* run) override {
    const char* folder = std::getenv("COUNT_MEMORY");
    if (!folder) return;
    const Program* program = run->getKernel()->getProgram();
    const std::string name = std::string(folder) + "/" + std::to_string(program->getUID());
    if (!std::ifstream(name + ".cl")) {
      std::ofstream(name + ".cl") << program->getSource();
      std::ofstream(name + ".options") << program->getBuildOptions();
    }
    std::ofstream file(std::string(folder) + "/counts.jsonl", std::ios::app);
    file << "{\"kernel\": \"" << run->getKernel()->getName() << "\", \"program\": \""
         << program->getUID() << "\"";
    const auto write = [&file](const char* key, uint64_t value) {
      file << ", \"" << key << "\": " << value;
    };
    write("items", counts_.items);
    write("group", counts_.group);
    write("local_bytes", counts_.local_bytes);
    write("loads_asked", counts_.loads.asked);
    write("loads_moved", counts_.loads.sectors * kSector);
    write("loads_cached", counts_.loads.cached * kSector);
    write("loads_unique", counts_.loads.unique.size() * kSector);
    write("stores_asked", counts_.stores.asked);
    write("stores_moved", counts_.stores.sectors * kSector);
    write("stores_cached", counts_.stores.cached * kSector);
    write("stores_unique", counts_.stores.unique.size() * kSector);
    write("atomics", counts_.atomics);
    write("local_requests", counts_.local_requests);
    write("local_passes", counts_.local_passes);
    write("lanes_ran", counts_.lanes_ran);
    write("lanes_held", counts_.lanes_held);
    file << "}\n";
  }

 private:
  static size_t index_of(const WorkItem* item) {
    const Size3 id = item->getLocalID(), size = item->getWorkGroup()->getGroupSize();
    return id.x + size.x * (id.y + size.y * id.z);
  }
  SubGroup& sub_group_of(const WorkItem* item) { return sub_groups_.at(index_of(item) / kLanes); }

  void note(const Memory* memory, const WorkItem* item, size_t address, size_t size, bool store) {
    const unsigned space = memory->getAddressSpace();
    if (space != AddrSpaceGlobal && space != AddrSpaceLocal) return;
    SubGroup& one = sub_group_of(item);
    Site& site = one.sites[item->getCurrentInstruction()];
    const uint32_t time = site.times[index_of(item) % kLanes]++;
    if (time == site.accesses.size()) {
      site.accesses.push_back(one.accesses.size());
      one.accesses.emplace_back();
      one.accesses.back().store = store;
      one.accesses.back().local = space == AddrSpaceLocal;
      one.accesses.back().size = size;
    }
    Access& access = one.accesses[site.accesses[time]];
    access.address[access.lanes++] = address;
  }

  void count(const Access& access, Cache& loaded, Cache& stored) {
    if (access.local) return count_banks(access);
    std::set<size_t> sectors;
    for (int i = 0; i < access.lanes; i++)
      for (size_t s = access.address[i] / kSector;
           s <= (access.address[i] + access.size - 1) / kSector; s++)
        sectors.insert(s);
    Way& way = access.store ? counts_.stores : counts_.loads;
    way.asked += access.lanes * access.size;
    way.sectors += sectors.size();
    for (const size_t sector : sectors) {
      if (!(access.store ? stored : loaded).holds(sector)) way.cached++;
      way.unique.insert(sector);
    }
  }

  // As many passes as the fullest bank has different words; wide words in parts of a sub-group.
  void count_banks(const Access& access) {
    const int at_once = static_cast<int>(kLanes * kWord / std::max(access.size, kWord));
    for (int first = 0; first < access.lanes; first += at_once) {
      std::map<size_t, std::unordered_set<size_t>> banks;
      for (int i = first; i < std::min(access.lanes, first + at_once); i++)
        for (size_t w = access.address[i] / kWord;
             w <= (access.address[i] + access.size - 1) / kWord; w++)
          banks[w % kBanks].insert(w);
      size_t most = 0;
      for (const auto& bank : banks) most = std::max(most, bank.second.size());
      counts_.local_requests++;
      counts_.local_passes += most;
    }
  }

  Counts counts_;
  std::vector<SubGroup> sub_groups_;
};

}  // namespace

extern "C" void initializePlugins(Context* context) {
  context->registerPlugin(new CountMemory(context));
}
extern "C" void releasePlugins(Context*) {}
