#ifndef REDLOCK_DETAIL_EXPORT_HPP
#define REDLOCK_DETAIL_EXPORT_HPP

/// Marks the names that a shared library exports. All others are hidden, so they cannot clash with
/// the program's names, and may change.
#define REDLOCK_EXPORT [[gnu::visibility("default")]]

#endif
