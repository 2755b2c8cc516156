/* Faults in the calls that touch files, for a program that loads this with LD_PRELOAD.

   Files below the folder THINFIT_FAULT_FOLDER count, and names relative to the working folder. Their calls are numbered
   from 1. THINFIT_FAULT_LOG gets a line "call<TAB>path" for each; call THINFIT_FAULT_AT suffers THINFIT_FAULT_KIND:

   full     no space on the device, for this call and all later ones that write
   denied   no permission, for this call and all later ones that name a file
   broken   an input or output error, once
   short    half the bytes are read or written
   cut      the file ends here
   torn     half the bytes are written, then the program is killed
   kill     the program is killed before the call */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES = 1024, PATH = 4096 };

/* Paths of the open files that count. */
static char *paths[FILES];
static long calls, at;
static const char *kind = "", *folder, *logged;

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("THINFIT_FAULT_AT");
    folder = getenv("THINFIT_FAULT_FOLDER");
    logged = getenv("THINFIT_FAULT_LOG");
    at = number ? atol(number) : 0;
    kind = getenv("THINFIT_FAULT_KIND") ? getenv("THINFIT_FAULT_KIND") : "";
}

static int counts(const char *path)
{
    return folder && path && (path[0] != '/' || !strncmp(path, folder, strlen(folder)));
}

static const char *path_of(int file)
{
    return file >= 0 && file < FILES ? paths[file] : NULL;
}

static int is(const char *name)
{
    return !strcmp(kind, name);
}

static void end_here(void)
{
    syscall(SYS_kill, getpid(), SIGKILL);
}

/* What a call may suffer. */
enum { WRITES = 1, NAMES = 2, MOVES = 4 };

/* Notes a call; returns the error it suffers, -1 if only part of it is done, or 0. */
static int suffer(const char *call, const char *path, int what)
{
    long now = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (logged) {
        char line[PATH + 32];
        int length = snprintf(line, sizeof line, "%s\t%s\n", call, path);
        int log = syscall(SYS_openat, AT_FDCWD, logged, O_WRONLY | O_CREAT | O_APPEND, 0600);
        syscall(SYS_write, log, line, length);
        syscall(SYS_close, log);
    }
    if (!at || now < at)
        return 0;
    if (is("full") && (what & WRITES))
        return ENOSPC;
    if (is("denied") && (what & NAMES))
        return EACCES;
    if (now > at)
        return 0;
    if (is("broken"))
        return EIO;
    if (is("kill"))
        end_here();
    return (what & MOVES) && (is("short") || is("cut") || is("torn")) ? -1 : 0;
}

/* Leaves the function if the call fails as a whole. */
#define FAIL_IF_ASKED(call, path, what)           \
    int fault = suffer(call, path, what);         \
    if (fault > 0) {                              \
        errno = fault;                            \
        return -1;                                \
    }

static int opened(const char *path, int file)
{
    if (file >= 0 && file < FILES)
        paths[file] = strdup(path);
    return file;
}

static int open_any(int at_folder, const char *path, int flags, mode_t mode)
{
    if (counts(path)) {
        int writes = (flags & O_ACCMODE) != O_RDONLY;
        FAIL_IF_ASKED(writes ? "create" : "open", path, NAMES | (writes ? WRITES : 0));
        return opened(path, syscall(SYS_openat, at_folder, path, flags, mode));
    }
    return syscall(SYS_openat, at_folder, path, flags, mode);
}

#define MODE(flags)                               \
    va_list rest;                                 \
    va_start(rest, flags);                        \
    mode_t mode = va_arg(rest, int);              \
    va_end(rest)

int open(const char *path, int flags, ...)
{
    MODE(flags);
    return open_any(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE(flags);
    return open_any(AT_FDCWD, path, flags, mode);
}

int openat(int at_folder, const char *path, int flags, ...)
{
    MODE(flags);
    return open_any(at_folder, path, flags, mode);
}

int openat64(int at_folder, const char *path, int flags, ...)
{
    MODE(flags);
    return open_any(at_folder, path, flags, mode);
}

/* The number of bytes that are moved where a call does only part of its work. */
static size_t part(size_t size)
{
    return is("cut") ? 0 : (size + 1) / 2;
}

ssize_t read(int file, void *bytes, size_t size)
{
    if (path_of(file)) {
        FAIL_IF_ASKED("read", path_of(file), MOVES);
        if (fault)
            size = part(size);
    }
    return syscall(SYS_read, file, bytes, size);
}

ssize_t pread64(int file, void *bytes, size_t size, off64_t place)
{
    if (path_of(file)) {
        FAIL_IF_ASKED("read", path_of(file), MOVES);
        if (fault)
            size = part(size);
    }
    return syscall(SYS_pread64, file, bytes, size, place);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    if (path_of(file)) {
        FAIL_IF_ASKED("write", path_of(file), WRITES | MOVES);
        if (fault) {
            ssize_t written = syscall(SYS_write, file, bytes, part(size));
            if (is("torn"))
                end_here();
            return written;
        }
    }
    return syscall(SYS_write, file, bytes, size);
}

ssize_t writev(int file, const struct iovec *pieces, int count)
{
    if (path_of(file)) {
        FAIL_IF_ASKED("write", path_of(file), WRITES | MOVES);
        if (fault) {
            ssize_t written = syscall(SYS_write, file, pieces[0].iov_base, part(pieces[0].iov_len));
            if (is("torn"))
                end_here();
            return written;
        }
    }
    return syscall(SYS_writev, file, pieces, count);
}

off64_t lseek64(int file, off64_t place, int from)
{
    if (path_of(file)) {
        FAIL_IF_ASKED("seek", path_of(file), 0);
    }
    return syscall(SYS_lseek, file, place, from);
}

/* Of a name, or with an empty one of an open file. The system's header would promise that no name is null, but the standard
   library of Rust asks for it to see whether there is such a call. */
struct statx;

int statx(int at_folder, const char *path, int flags, unsigned mask, struct statx *found)
{
    const char *what = path && *path ? path : path_of(at_folder);
    if (counts(what)) {
        FAIL_IF_ASKED("stat", what, path && *path ? NAMES : 0);
    }
    return syscall(SYS_statx, at_folder, path, flags, mask, found);
}

int flock(int file, int operation)
{
    if (path_of(file)) {
        FAIL_IF_ASKED("lock", path_of(file), 0);
    }
    return syscall(SYS_flock, file, operation);
}

int fsync(int file)
{
    if (path_of(file)) {
        FAIL_IF_ASKED("sync", path_of(file), WRITES);
    }
    return syscall(SYS_fsync, file);
}

int ftruncate64(int file, off64_t size)
{
    if (path_of(file)) {
        FAIL_IF_ASKED("truncate", path_of(file), WRITES);
    }
    return syscall(SYS_ftruncate, file, size);
}

int close(int file)
{
    if (path_of(file)) {
        char path[PATH];
        snprintf(path, sizeof path, "%s", path_of(file));
        free(paths[file]);
        paths[file] = NULL;
        /* A file is closed even where that says it failed. */
        int fault = suffer("close", path, WRITES);
        int closed = syscall(SYS_close, file);
        if (fault > 0)
            errno = fault;
        return fault > 0 ? -1 : closed;
    }
    return syscall(SYS_close, file);
}

int rename(const char *from, const char *to)
{
    if (counts(to)) {
        FAIL_IF_ASKED("rename", to, WRITES | NAMES);
    }
    return syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int mkdir(const char *path, mode_t mode)
{
    if (counts(path)) {
        FAIL_IF_ASKED("mkdir", path, WRITES | NAMES);
    }
    return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

/* A full device has room to remove files. */
int unlink(const char *path)
{
    if (counts(path)) {
        FAIL_IF_ASKED("unlink", path, NAMES);
    }
    return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    if (counts(path)) {
        FAIL_IF_ASKED("rmdir", path, NAMES);
    }
    return syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}
