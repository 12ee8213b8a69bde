// Preloaded into tests that run under ThreadSanitizer (see `run`).
//
// A `Mutex` of Swift's Synchronization module is inlined into our code, where ThreadSanitizer sees it, but waits and
// wakes in the Swift library, which is not instrumented. Without the hints below every mutex that was ever contended
// would be reported as a race. So would what a continuation hands to a task that has not begun to wait for it: the
// library tells ThreadSanitizer of tasks that it switches to, and this one just goes on. Checked continuations are not
// covered: the library waits for them by calls within itself; tests use `awaitCallback`.
//
// The symbols of the mutex are those of `_MutexHandle._lockSlow` and `_unlockSlow`; should a later toolchain rename one, the
// false reports come back and nothing else happens.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define ASYNC __attribute__((swiftasynccall))
#define CONTEXT __attribute__((swift_async_context))

// Weak, since the processes that start the tests have no sanitizer.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);
// Weak, since not all of them have Swift's concurrency.
__attribute__((weak)) SWIFT void *swift_task_getCurrent(void);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK_SLOW);
SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK_SLOW);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
  SWIFT void (*original)(uint32_t, SELF void *) = dlsym(RTLD_NEXT, LOCK_SLOW);
  original(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) {
  SWIFT void (*original)(SELF void *) = dlsym(RTLD_NEXT, UNLOCK_SLOW);
  if (__tsan_release) __tsan_release(mutex);
  original(mutex);
}

SWIFT void swift_continuation_resume(void *task) {
  SWIFT void (*original)(void *) = dlsym(RTLD_NEXT, "swift_continuation_resume");
  if (__tsan_release) __tsan_release(task);
  original(task);
}

SWIFT void swift_continuation_throwingResume(void *task) {
  SWIFT void (*original)(void *) = dlsym(RTLD_NEXT, "swift_continuation_throwingResume");
  if (__tsan_release) __tsan_release(task);
  original(task);
}

SWIFT void swift_continuation_throwingResumeWithError(void *task, void *error) {
  SWIFT void (*original)(void *, void *) = dlsym(RTLD_NEXT, "swift_continuation_throwingResumeWithError");
  if (__tsan_release) __tsan_release(task);
  original(task, error);
}

// A task that finds its continuation resumed goes on at once. Only here: a call of acquire before the wait would miss what
// resumes it between the two. A task that has begun to wait is switched to by the library, which takes what it runs from
// elsewhere.
struct async_context {
  struct async_context *parent;
  ASYNC void (*resume)(CONTEXT struct async_context *);
};

static __thread ASYNC void (*goes_on)(CONTEXT struct async_context *);

static ASYNC void resumed(CONTEXT struct async_context *context) {
  context->resume = goes_on;
  if (__tsan_acquire && swift_task_getCurrent) __tsan_acquire(swift_task_getCurrent());
  __attribute__((musttail)) return context->resume(context);
}

ASYNC void swift_continuation_await(struct async_context *context) {
  ASYNC void (*original)(struct async_context *) = dlsym(RTLD_NEXT, "swift_continuation_await");
  goes_on = context->resume;
  context->resume = resumed;
  __attribute__((musttail)) return original(context);
}
