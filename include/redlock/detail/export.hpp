#ifndef REDLOCK_DETAIL_EXPORT_HPP
#define REDLOCK_DETAIL_EXPORT_HPP

/// Marks the names that a shared library exports. All others are hidden, so they can't clash with
/// the program's names and may change.
#if !defined(_WIN32)
#define REDLOCK_EXPORT [[gnu::visibility("default")]]
#elif defined(REDLOCK_MAKES_DLL)  // By CMake, for the library itself.
#define REDLOCK_EXPORT __declspec(dllexport)
#elif defined(REDLOCK_USES_DLL)  // By CMake, for those who link it.
#define REDLOCK_EXPORT __declspec(dllimport)
#else
#define REDLOCK_EXPORT
#endif

#endif
