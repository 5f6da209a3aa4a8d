// SPDX-License-Identifier: Apache-2.0
//
// Preloaded: after THREADS_MAX threads of a process none can be started, as in a container with a limit of them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef void *(*Work)(void *);
static atomic_int started;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, Work work, void *argument) {
  int (*real)(pthread_t *, const pthread_attr_t *, Work, void *) = dlsym(RTLD_NEXT, "pthread_create");
  const char *max = getenv("THREADS_MAX");
  if (max && atomic_fetch_add(&started, 1) >= atoi(max)) return EAGAIN;
  return real(thread, attributes, work, argument);
}
