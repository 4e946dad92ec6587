#ifndef REDLOCK_DETAIL_EXPORT_HPP
#define REDLOCK_DETAIL_EXPORT_HPP

/// What programs use of a shared library. All else in it is hidden, so that it cannot clash with
/// the program's own names, and may change.
#define REDLOCK_EXPORT [[gnu::visibility("default")]]

#endif
