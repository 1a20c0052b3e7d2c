/* A library between a program and the system that writes down every call by which a folder is changed, in order.
   recorder_start names the folder and the file for the record; recorder_mark adds a note of the program's own.
   A record: one letter, three 64-bit numbers (offset or size, length of the path, length of the data), path, data. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[4096];
static int out = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put(const void *data, size_t n) {
    const char *at = data;
    while (n) { long k = syscall(SYS_write, out, at, n); if (k <= 0) return; at += k; n -= k; }
}
static void note(char what, int64_t number, const char *path, const void *data, int64_t n) {
    if (out < 0) return;
    int saved = errno;
    int64_t head[3] = {number, (int64_t)strlen(path), n};
    pthread_mutex_lock(&lock);
    put(&what, 1); put(head, sizeof head); put(path, head[1]); put(data, n);
    pthread_mutex_unlock(&lock);
    errno = saved;
}
void recorder_start(const char *f, const char *file) {
    strncpy(folder, f, sizeof folder - 1);
    out = open(file, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
}
void recorder_stop(void) { if (out >= 0) syscall(SYS_close, out); out = -1; }
void recorder_mark(long number) { note('k', number, "", "", 0); }

static int inside(const char *path) { return out >= 0 && path && !strncmp(path, folder, strlen(folder)); }
static int find(int fd, char *path, size_t size) {
    char link[64];
    if (out < 0) return 0;
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, size - 1);
    errno = saved;
    if (n < 0) return 0;
    path[n] = 0;
    return inside(path);
}
#define REAL(name, type) static __typeof__(type) real; if (!real) real = (__typeof__(type))dlsym(RTLD_NEXT, name)
#define PATH char path[4096]

static int opened(const char *name, const char *p, int flags, mode_t mode) {
    REAL(name, int (*)(const char *, int, ...));
    struct stat s;
    int is_new = inside(p) && (flags & O_CREAT) && lstat(p, &s);
    int fd = real(p, flags, mode);
    if (fd >= 0 && is_new) note('c', 0, p, "", 0);
    if (fd >= 0 && !is_new && inside(p) && (flags & O_TRUNC)) note('t', 0, p, "", 0);
    return fd;
}
#define MODE(flags) mode_t mode = 0; if ((flags) & O_CREAT) { va_list l; va_start(l, flags); mode = va_arg(l, mode_t); va_end(l); }
int open(const char *p, int flags, ...) { MODE(flags) return opened("open", p, flags, mode); }
int open64(const char *p, int flags, ...) { MODE(flags) return opened("open64", p, flags, mode); }

ssize_t write(int fd, const void *data, size_t n) {
    REAL("write", ssize_t (*)(int, const void *, size_t));
    PATH; int is_inside = find(fd, path, sizeof path);
    off_t at = is_inside ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t k = real(fd, data, n);
    if (k > 0 && is_inside) note('w', at, path, data, k);
    return k;
}
static ssize_t pwritten(const char *name, int fd, const void *data, size_t n, off_t at) {
    REAL(name, ssize_t (*)(int, const void *, size_t, off_t));
    ssize_t k = real(fd, data, n, at);
    PATH; if (k > 0 && find(fd, path, sizeof path)) note('w', at, path, data, k);
    return k;
}
ssize_t pwrite(int fd, const void *d, size_t n, off_t p) { return pwritten("pwrite", fd, d, n, p); }
ssize_t pwrite64(int fd, const void *d, size_t n, off_t p) { return pwritten("pwrite64", fd, d, n, p); }

#define OF_FD(name) int name(int fd) { REAL(#name, int (*)(int)); int k = real(fd); PATH; \
    if (!k && find(fd, path, sizeof path)) note('s', 0, path, "", 0); return k; }
OF_FD(fsync)
OF_FD(fdatasync)
#define TRUNCATE(name) int name(int fd, off_t n) { REAL(#name, int (*)(int, off_t)); int k = real(fd, n); PATH; \
    if (!k && find(fd, path, sizeof path)) note('t', n, path, "", 0); return k; }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)
int rename(const char *a, const char *b) {
    REAL("rename", int (*)(const char *, const char *)); int k = real(a, b);
    if (!k && inside(b)) note('r', 0, a, b, strlen(b));
    return k;
}
int unlink(const char *p) {
    REAL("unlink", int (*)(const char *)); int k = real(p);
    if (!k && inside(p)) note('u', 0, p, "", 0);
    return k;
}
