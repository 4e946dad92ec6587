/* Gives one server the same seed each time it is started. For LD_PRELOAD.

   Redis hashes keys and names of commands with a seed from /dev/urandom. It decides which of them
   collide, and so half a per cent of all instructions of a lock. Here it reads /dev/zero. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef FILE* open_function(const char*, const char*);

static FILE* open_by(const char* name, const char* path, const char* how)
{
    /* ISO C has no conversion from an object pointer to a function pointer. */
    open_function* real = NULL;
    *(void**)&real = dlsym(RTLD_NEXT, name);
    return real(strcmp(path, "/dev/urandom") == 0 ? "/dev/zero" : path, how);
}

FILE* fopen(const char* path, const char* how)
{
    return open_by("fopen", path, how);
}

FILE* fopen64(const char* path, const char* how)
{
    return open_by("fopen64", path, how);
}
