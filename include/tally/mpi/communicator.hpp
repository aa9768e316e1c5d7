// One duplicate for each communicator of the caller, shared by all layouts and matrices over it,
// because MPI has few communicators (MPICH 2048).
//
// The duplicate is an attribute of the caller's communicator, freed with the last of: that
// communicator (or MPI_Finalize), its layouts and its matrices.
#pragma once

#include <tally/mpi/calls.hpp>

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace tally::mpi::detail {

/// Whether the code of MPI's callbacks is being unloaded.
inline std::atomic<bool> is_unloading = false;

/// Freed with the object unless MPI has been finalised.
template <class Handle, int (*release)(Handle*)>
class owned {
 public:
  explicit owned(Handle none) noexcept : handle_(none), none_(none) {}
  owned(owned&& other) noexcept
      : handle_(std::exchange(other.handle_, other.none_)), none_(other.none_) {}
  owned& operator=(owned&&) = delete;
  ~owned() {
    if (handle_ != none_ && mpi_is_usable() && !is_unloading) release(&handle_);
  }

  Handle get() const noexcept { return handle_; }
  Handle* place() noexcept { return &handle_; }

 private:
  Handle handle_, none_;
};

/// MPI_ERRORS_RETURN on the caller's communicator for the object's lifetime.
class returned_errors {
 public:
  explicit returned_errors(MPI_Comm comm) : comm_(comm) {
    check(MPI_Comm_get_errhandler(comm, &before_), "MPI_Comm_get_errhandler");
    check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  returned_errors(const returned_errors&) = delete;
  returned_errors& operator=(const returned_errors&) = delete;
  ~returned_errors() {
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// A communicator that returns errors, with cached MPI objects. Functions are collective, so caches
/// agree.
class communicator {
 public:
  /// Returns the duplicate of the caller's communicator, made at the first call. Collective.
  /// @throws error on all ranks invalid_argument for MPI_COMM_NULL or an intercommunicator,
  ///               device_failure if MPI cannot make it.
  static std::shared_ptr<communicator> of(MPI_Comm comm);

  /// The communicator whose rank r is rank `order[r]` of `all`. Collective.
  /// @throws error likewise.
  static std::shared_ptr<communicator> reordered(const std::shared_ptr<communicator>& all,
                                                 const std::vector<std::size_t>& order);

  explicit communicator(owned<MPI_Comm, MPI_Comm_free> duplicate) noexcept
      : handle_(std::move(duplicate)) {}

  MPI_Comm get() const noexcept { return handle_.get(); }

  /// Message tag of a new object. Tags repeat after 2^15 - 1, the least MPI_TAG_UB; messages of
  /// equal tag arrive in call order.
  int next_tag() noexcept { return last_tag_ = last_tag_ % 32767 + 1; }

  MPI_Op operation(MPI_User_function* function, bool commutes) {
    return kept(operations_, function, MPI_OP_NULL,
                [&](MPI_Op* op) { check(MPI_Op_create(function, commutes, op), "MPI_Op_create"); });
  }

  /// One element of `words` 8-byte words, because some MPI libraries reorder an array's elements
  /// even if the operation does not commute.
  MPI_Datatype type_of(int words) {
    return kept(types_, words, MPI_DATATYPE_NULL, [&](MPI_Datatype* type) {
      check(MPI_Type_contiguous(words, MPI_INT64_T, type), "MPI_Type_contiguous");
      check(MPI_Type_commit(type), "MPI_Type_commit");
    });
  }

  /// Whether (blocking or non-blocking) reductions of `words` words join in rank order; `check()`
  /// is called once.
  template <class Check>
  bool joins_in_order(int words, bool blocks, const Check& check) {
    const std::pair key(words, blocks);
    const auto found = in_order_.find(key);
    return found != in_order_.end() ? found->second : in_order_.emplace(key, check()).first->second;
  }

 private:
  using handle = owned<MPI_Comm, MPI_Comm_free>;
  static constexpr std::size_t max_orders = 8;

  /// Makes a communicator on all ranks of `over`, or throws on all.
  template <class Make, class Keep>
  static std::shared_ptr<communicator> made(MPI_Comm over, const char* function, const Make& make,
                                            const Keep& keep) {
    handle own(MPI_COMM_NULL);
    const int status = make(own.place());
    std::optional<failure> failed;
    std::shared_ptr<communicator> all;
    attempt(failed, [&] {
      check(status, function);
      check(MPI_Comm_set_errhandler(own.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
      all = std::make_shared<communicator>(std::move(own));
      keep(all);
    });
    agree(over, failed);
    return all;
  }

  /// Returns the cached handle, else makes it on all ranks.
  template <class Key, class Handle, int (*release)(Handle*), class Make>
  Handle kept(std::map<Key, owned<Handle, release>>& all, Key key, Handle none, const Make& make) {
    if (const auto found = all.find(key); found != all.end()) return found->second.get();
    std::optional<failure> failed;
    attempt(failed, [&] {
      owned<Handle, release> own(none);
      make(own.place());
      all.emplace(key, std::move(own));
    });
    try {
      agree(get(), failed);
    } catch (...) {
      all.erase(key);
      throw;
    }
    return all.find(key)->second.get();
  }

  handle handle_;
  int last_tag_ = 0;
  std::map<MPI_User_function*, owned<MPI_Op, MPI_Op_free>> operations_;
  std::map<int, owned<MPI_Datatype, MPI_Type_free>> types_;
  std::map<std::pair<int, bool>, bool> in_order_;
  /// Over this one, last used last. Eviction depends on the calls alone: ranks agree.
  std::vector<std::pair<std::vector<std::size_t>, std::shared_ptr<communicator>>> orders_;
};

class duplicates {
 public:
  /// One per library or program: <tally/mpi.hpp> is header-only.
  static duplicates& all() {
    static duplicates only;
    return only;
  }
  duplicates(const duplicates&) = delete;
  duplicates& operator=(const duplicates&) = delete;
  /// At exit, or when a library is unloaded: MPI must not call it afterwards.
  ~duplicates() {
    if (!mpi_is_usable()) return;
    is_unloading = true;
    if (at_end_ != MPI_KEYVAL_INVALID) MPI_Comm_delete_attr(MPI_COMM_SELF, at_end_);
    clear(MPI_COMM_NULL);
  }

  std::shared_ptr<communicator> of(MPI_Comm comm) const {
    void* kept = nullptr;
    int is_there = 0;
    check(MPI_Comm_get_attr(comm, key_, &kept, &is_there), "MPI_Comm_get_attr");
    return is_there ? *static_cast<std::shared_ptr<communicator>*>(kept) : nullptr;
  }
  void keep(MPI_Comm comm, const std::shared_ptr<communicator>& duplicate) {
    auto kept = std::make_unique<std::shared_ptr<communicator>>(duplicate);
    {
      const std::lock_guard lock(mutex_);
      callers_.push_back(comm);
    }
    auto* const attribute = kept.release();  // deleted by `drop`
    const int status = MPI_Comm_set_attr(comm, key_, attribute);
    if (status != MPI_SUCCESS) {
      kept.reset(attribute);
      forget(comm);
    }
    check(status, "MPI_Comm_set_attr");
  }
  void drop(MPI_Comm comm) noexcept {
    if (forget(comm)) MPI_Comm_delete_attr(comm, key_);
  }

 private:
  duplicates() {
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_delete, &key_, this),
          "MPI_Comm_create_keyval");
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (!initialized) return;  // MPI sessions without MPI_COMM_SELF
    // MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while communicators can be freed;
    // for others the time is unspecified.
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_end, &at_end_, this),
          "MPI_Comm_create_keyval");
    check(MPI_Comm_set_attr(MPI_COMM_SELF, at_end_, nullptr), "MPI_Comm_set_attr");
  }

  static int on_delete(MPI_Comm comm, int, void* value, void* self) {
    static_cast<duplicates*>(self)->forget(comm);
    delete static_cast<std::shared_ptr<communicator>*>(value);
    return MPI_SUCCESS;
  }
  static int on_end(MPI_Comm, int, void*, void* self) {
    static_cast<duplicates*>(self)->clear(MPI_COMM_SELF);  // attributes being deleted
    return MPI_SUCCESS;
  }

  /// Oldest first.
  void clear(MPI_Comm except) noexcept {
    for (std::size_t first = 0;;) {
      MPI_Comm comm = MPI_COMM_NULL;
      {
        const std::lock_guard lock(mutex_);
        if (first < callers_.size() && callers_[first] == except) ++first;
        if (first >= callers_.size()) return;
        comm = callers_[first];
      }
      drop(comm);
    }
  }
  /// Returns whether `comm` was listed.
  bool forget(MPI_Comm comm) noexcept {
    const std::lock_guard lock(mutex_);
    const auto at = std::find(callers_.begin(), callers_.end(), comm);
    if (at == callers_.end()) return false;
    callers_.erase(at);
    return true;
  }

  int key_ = MPI_KEYVAL_INVALID;
  int at_end_ = MPI_KEYVAL_INVALID;
  std::mutex mutex_;
  std::vector<MPI_Comm> callers_;
};

inline std::shared_ptr<communicator> communicator::of(MPI_Comm comm) {
  check_communicator(comm);
  duplicates& all = duplicates::all();
  if (std::shared_ptr<communicator> kept = all.of(comm)) return kept;
  const returned_errors errors(comm);
  try {
    return made(
        comm, "MPI_Comm_dup", [&](MPI_Comm* own) { return MPI_Comm_dup(comm, own); },
        [&](const auto& own) { all.keep(comm, own); });
  } catch (...) {  // also if another rank has failed
    all.drop(comm);
    throw;
  }
}

inline std::shared_ptr<communicator> communicator::reordered(
    const std::shared_ptr<communicator>& all, const std::vector<std::size_t>& order) {
  if (std::is_sorted(order.begin(), order.end())) return all;
  auto& orders = all->orders_;
  for (auto at = orders.begin(); at != orders.end(); ++at) {
    if (at->first != order) continue;
    std::rotate(at, at + 1, orders.end());
    return orders.back().second;
  }
  const auto rank = static_cast<std::size_t>(rank_in(all->get()));
  const auto key = static_cast<int>(std::find(order.begin(), order.end(), rank) - order.begin());
  std::vector<std::size_t> copy;
  std::shared_ptr<communicator> own = made(
      all->get(), "MPI_Comm_split",
      [&](MPI_Comm* handle) { return MPI_Comm_split(all->get(), 0, key, handle); },
      [&](const auto&) {
        copy = order;
        orders.reserve(max_orders);
      });
  if (orders.size() == max_orders) orders.erase(orders.begin());
  orders.emplace_back(std::move(copy), own);
  return own;
}

}  // namespace tally::mpi::detail
