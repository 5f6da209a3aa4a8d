// SPDX-License-Identifier: Apache-2.0
//
// The threads and locks of C11 by those of POSIX, for programs under ThreadSanitizer: it follows only the latter, and a
// thread that began with thrd_create makes it crash at its first allocation. librdkafka begins its threads so.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t) && sizeof(cnd_t) >= sizeof(pthread_cond_t));

pthread_mutex_t* Posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* Posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int Answer(int error) {
  if (error == 0) return thrd_success;
  if (error == EBUSY) return thrd_busy;
  if (error == ETIMEDOUT) return thrd_timedout;
  return error == ENOMEM || error == EAGAIN ? thrd_nomem : thrd_error;
}

struct Work {
  thrd_start_t function;
  void* argument;
};

void* Run(void* started) {
  const std::unique_ptr<Work> work(static_cast<Work*>(started));
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(work->function(work->argument)));
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto work = std::make_unique<Work>(function, argument);
  const int error = pthread_create(thread, nullptr, Run, work.get());
  if (error == 0) (void)work.release();
  return Answer(error);
}

int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  const int error = pthread_join(thread, &value);
  if (error == 0 && result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return Answer(error);
}

int thrd_detach(thrd_t thread) { return Answer(pthread_detach(thread)); }

void thrd_exit(int result) { pthread_exit(reinterpret_cast<void*>(static_cast<std::intptr_t>(result))); }

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, (type & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  const int error = pthread_mutex_init(Posix(mutex), &kind);
  pthread_mutexattr_destroy(&kind);
  return Answer(error);
}

int mtx_lock(mtx_t* mutex) { return Answer(pthread_mutex_lock(Posix(mutex))); }
int mtx_trylock(mtx_t* mutex) { return Answer(pthread_mutex_trylock(Posix(mutex))); }
int mtx_timedlock(mtx_t* mutex, const timespec* until) { return Answer(pthread_mutex_timedlock(Posix(mutex), until)); }
int mtx_unlock(mtx_t* mutex) { return Answer(pthread_mutex_unlock(Posix(mutex))); }
void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(Posix(mutex)); }

int cnd_init(cnd_t* condition) { return Answer(pthread_cond_init(Posix(condition), nullptr)); }
int cnd_signal(cnd_t* condition) { return Answer(pthread_cond_signal(Posix(condition))); }
int cnd_broadcast(cnd_t* condition) { return Answer(pthread_cond_broadcast(Posix(condition))); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) { return Answer(pthread_cond_wait(Posix(condition), Posix(mutex))); }
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return Answer(pthread_cond_timedwait(Posix(condition), Posix(mutex), until));
}
void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(Posix(condition)); }

void call_once(once_flag* flag, void (*function)()) { pthread_once(reinterpret_cast<pthread_once_t*>(flag), function); }

}  // extern "C"
