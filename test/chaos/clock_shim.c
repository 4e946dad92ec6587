/* Shifts the wall clock of one process while it runs. For LD_PRELOAD.

   REDLOCK_CLOCK_FILE names a file that begins with the offset, a signed 64 bit number of
   nanoseconds in the byte order of the machine. The file is mapped once and the offset is read at
   each call, so whoever writes to the file steps the clock at that moment. Clocks that do not tell
   the time of day are left alone.

   Why not libfaketime: it resolves the real functions at their first use. With jemalloc, which
   Debian's Redis is linked with, that use is inside of malloc, and resolving allocates. Here calls
   before the constructor has resolved them go straight to the kernel and are not shifted.

   Not covered: waits until an absolute time of day (`pthread_cond_timedwait` on the default clock,
   `timerfd` with TFD_TIMER_ABSTIME), which the kernel ends by its own clock, and programs that
   make system calls without the C library. Neither Redis nor Asio has such waits. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Where these differ the C library has a second set of functions for 64 bit times. */
_Static_assert(sizeof(time_t) == 8 && sizeof(long) == 8, "a 64 bit machine");

enum
{
    second = 1000000000
};

typedef int clock_gettime_function(clockid_t, struct timespec*);

static clock_gettime_function* real_clock_gettime;
static const int64_t* offset;

/* A program that wants a shifted clock and silently gets the true one would prove nothing. */
_Noreturn static void stop(const char* why, size_t length)
{
    const ssize_t ignored = write(2, why, length);
    (void)ignored;
    _exit(126);
}

#define STOP(why) stop(why "\n", sizeof(why))

static void map_offset(const char* path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        STOP("clock shim: cannot open the file of REDLOCK_CLOCK_FILE");
    void* const page = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (page == MAP_FAILED)
        STOP("clock shim: cannot map the file of REDLOCK_CLOCK_FILE");
    offset = page;
}

__attribute__((constructor)) static void load(void)
{
    const char* const path = getenv("REDLOCK_CLOCK_FILE");
    if (path != NULL)
        map_offset(path);

    /* ISO C has no conversion from an object pointer to a function pointer. */
    void* const found = dlsym(RTLD_NEXT, "clock_gettime");
    *(void**)&real_clock_gettime = found;
}

static int unshifted(clockid_t clock, struct timespec* now)
{
    if (real_clock_gettime != NULL)
        return real_clock_gettime(clock, now);
    return (int)syscall(SYS_clock_gettime, clock, now);
}

static int tells_time_of_day(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static void shift(struct timespec* now)
{
    const int64_t by = offset != NULL ? __atomic_load_n(offset, __ATOMIC_RELAXED) : 0;
    now->tv_sec += by / second;
    now->tv_nsec += by % second;
    if (now->tv_nsec < 0)
    {
        now->tv_nsec += second;
        --now->tv_sec;
    }
    else if (now->tv_nsec >= second)
    {
        now->tv_nsec -= second;
        ++now->tv_sec;
    }
}

int clock_gettime(clockid_t clock, struct timespec* now)
{
    const int outcome = unshifted(clock, now);
    if (outcome == 0 && tells_time_of_day(clock))
        shift(now);
    return outcome;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone)
{
    (void)zone; /* Obsolete, and always zero on Linux. */
    struct timespec precise;
    const int outcome = clock_gettime(CLOCK_REALTIME, &precise);
    if (outcome == 0)
    {
        now->tv_sec = precise.tv_sec;
        now->tv_usec = precise.tv_nsec / 1000;
    }
    return outcome;
}

int timespec_get(struct timespec* now, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

time_t time(time_t* also)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return (time_t)-1;
    if (also != NULL)
        *also = now.tv_sec;
    return now.tv_sec;
}
