/* A library between a program and the system that lets one of the calls by which a folder is changed fail.
   fault_arm says where, when and how; fault_calls counts; fault_hit names the call that failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[4096];
static long at = -1, calls = 0;
static int error = 0, sticky = 0, torn = 0;
static char hit[32] = "";

void fault_arm(const char *f, long n, int e, int s, int half) {
    strncpy(folder, f, sizeof folder - 1);
    at = n; error = e; sticky = s; torn = half; calls = 0; hit[0] = 0;
}
long fault_calls(void) { return calls; }
const char *fault_hit(void) { return hit; }

static int fails(const char *path, const char *name) {
    if (!folder[0] || !path || strncmp(path, folder, strlen(folder))) return 0;
    long n = calls++;
    if (at < 0 || n < at || (n > at && !sticky)) return 0;
    if (!hit[0]) strncpy(hit, name, sizeof hit - 1);
    errno = error;
    return 1;
}
static int fails_at(int fd, const char *name) {
    char link[64], path[4096];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return fails(path, name);
}
#define REAL(name, type) static __typeof__(type) real; if (!real) real = (__typeof__(type))dlsym(RTLD_NEXT, name)

static int opened(const char *name, const char *path, int flags, mode_t mode) {
    REAL(name, int (*)(const char *, int, ...));
    if ((flags & (O_CREAT | O_WRONLY | O_RDWR)) && fails(path, "open")) return -1;
    return real(path, flags, mode);
}
#define MODE(flags) mode_t mode = 0; if ((flags) & O_CREAT) { va_list l; va_start(l, flags); mode = va_arg(l, mode_t); va_end(l); }
int open(const char *path, int flags, ...) { MODE(flags) return opened("open", path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened("open64", path, flags, mode); }

ssize_t write(int fd, const void *data, size_t n) {
    REAL("write", ssize_t (*)(int, const void *, size_t));
    if (fails_at(fd, "write")) return torn && calls - 1 == at && n > 1 ? real(fd, data, n / 2) : -1;
    return real(fd, data, n);
}
static ssize_t pwritten(const char *name, int fd, const void *data, size_t n, off_t place) {
    REAL(name, ssize_t (*)(int, const void *, size_t, off_t));
    if (fails_at(fd, "pwrite")) return torn && calls - 1 == at && n > 1 ? real(fd, data, n / 2, place) : -1;
    return real(fd, data, n, place);
}
ssize_t pwrite(int fd, const void *d, size_t n, off_t p) { return pwritten("pwrite", fd, d, n, p); }
ssize_t pwrite64(int fd, const void *d, size_t n, off_t p) { return pwritten("pwrite64", fd, d, n, p); }

#define OF_FD(name) int name(int fd) { REAL(#name, int (*)(int)); return fails_at(fd, #name) ? -1 : real(fd); }
OF_FD(fsync)
OF_FD(fdatasync)
int ftruncate(int fd, off_t n) { REAL("ftruncate", int (*)(int, off_t)); return fails_at(fd, "ftruncate") ? -1 : real(fd, n); }
int ftruncate64(int fd, off_t n) { REAL("ftruncate64", int (*)(int, off_t)); return fails_at(fd, "ftruncate") ? -1 : real(fd, n); }
int rename(const char *a, const char *b) {
    REAL("rename", int (*)(const char *, const char *)); return fails(b, "rename") ? -1 : real(a, b);
}
int unlink(const char *p) { REAL("unlink", int (*)(const char *)); return fails(p, "unlink") ? -1 : real(p); }
int mkdir(const char *p, mode_t m) { REAL("mkdir", int (*)(const char *, mode_t)); return fails(p, "mkdir") ? -1 : real(p, m); }
