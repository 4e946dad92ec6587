# What the library is made of on this system, and what it links there besides Boost:
# REDLOCK_PLATFORM_SOURCES and REDLOCK_DEPENDENCIES.

find_package(Threads REQUIRED)
set(REDLOCK_DEPENDENCIES Threads::Threads)

# The servers of the tests and demos, and the program redlock in part, are written for it.
set(REDLOCK_ON_LINUX OFF)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(REDLOCK_ON_LINUX ON)
    set(REDLOCK_PLATFORM_SOURCES src/loop/platform_linux.cpp src/loop/platform_posix.cpp)
elseif(APPLE)
    set(REDLOCK_PLATFORM_SOURCES src/loop/platform_macos.cpp src/loop/platform_posix.cpp)
elseif(WIN32)
    set(REDLOCK_PLATFORM_SOURCES src/loop/platform_windows.cpp)
    list(APPEND REDLOCK_DEPENDENCIES ws2_32 mswsock bcrypt crypt32)
    if(MSVC)
        # Many templates of Asio in one file, and names of the language as they are now.
        add_compile_options(/bigobj /Zc:__cplusplus /utf-8)
    else()
        add_compile_options(-Wa,-mbig-obj)
    endif()
else()
    message(FATAL_ERROR
        "redlock knows Linux, macOS and Windows, and not ${CMAKE_SYSTEM_NAME}: "
        "write a src/loop/platform_*.cpp for it, and name it in cmake/Platform.cmake.")
endif()

if(REDLOCK_TLS)
    find_package(OpenSSL 3.0 QUIET)
    if(NOT OpenSSL_FOUND)
        message(FATAL_ERROR
            "OpenSSL 3 was not found: install its headers (Debian, Ubuntu: apt install "
            "libssl-dev), set OPENSSL_ROOT_DIR, or do without TLS by REDLOCK_TLS=OFF.")
    endif()
    list(PREPEND REDLOCK_DEPENDENCIES OpenSSL::SSL OpenSSL::Crypto)
    list(APPEND REDLOCK_PLATFORM_SOURCES
        src/wire/tls_connection.cpp
        src/wire/tls_context.cpp
        src/wire/tls_session.cpp
    )
else()
    list(APPEND REDLOCK_PLATFORM_SOURCES src/wire/no_tls.cpp)
endif()
