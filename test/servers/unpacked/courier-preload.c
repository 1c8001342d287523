/*
 * Preloaded into Courier. The path of its authentication socket is compiled in, so that two servers would share it,
 * it waits for five seconds after a wrong password, and its library for watching files tries for 1.2 seconds of each
 * command to reach a service that does not run.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define COMPILED_IN "/run/courier/authdaemon/socket"

int connect(int socket, const struct sockaddr *address, socklen_t length) {
  static int (*original)(int, const struct sockaddr *, socklen_t);
  const char *path = getenv("COURIER_AUTH_SOCKET");
  if (original == NULL) original = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
  if (address->sa_family == AF_UNIX && path != NULL) {
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    if (strcmp(((const struct sockaddr_un *)address)->sun_path, COMPILED_IN) == 0) {
      strncpy(own.sun_path, path, sizeof own.sun_path - 1);
      return original(socket, (struct sockaddr *)&own, sizeof own);
    }
  }
  return original(socket, address, length);
}

unsigned sleep(unsigned seconds) {
  usleep(seconds * 10000);
  return 0;
}

int FAMOpen(void *connection) {
  return -1;
}

int FAMOpen2(void *connection, const char *name) {
  return -1;
}
