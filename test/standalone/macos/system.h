// Names that macOS has and Linux does not, in headers that both have. Included before all others.
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>

#define SO_NOSIGPIPE 0x1022
#undef st_mtime
#undef st_ctime
#define st_mtimespec st_mtim
#define st_ctimespec st_ctim
