// Names that macOS has and Linux does not, in headers that both have. Included before all others.
#pragma once

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define SO_NOSIGPIPE 0x1022
#undef st_mtime
#undef st_ctime
#define st_mtimespec st_mtim
#define st_ctimespec st_ctim

// Functions that are macros there.
#define sigemptyset(set) (*(set) = sigset_t{}, 0)
#define sigfillset(set) (*(set) = sigset_t{}, 0)
#define sigaddset(set, number) (static_cast<void>(set), static_cast<void>(number), 0)
