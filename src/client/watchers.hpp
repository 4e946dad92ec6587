#ifndef REDLOCK_SRC_CLIENT_WATCHERS_HPP
#define REDLOCK_SRC_CLIENT_WATCHERS_HPP

#include <redlock/detail/hashed_name.hpp>

#include "loop/suspension.hpp"

#include <map>
#include <string_view>
#include <utility>

namespace redlock::detail {

class watchers;

/// An operation while it watches a resource.
class watching
{
public:
    /// @param resource Must outlive this.
    watching(watchers& among, std::string_view resource, turn& end_of_turn);
    watching(const watching&) = delete;
    watching& operator=(const watching&) = delete;
    ~watching();

    /// Something has changed, or may have.
    void on_change()
    {
        changed_ = true;
        sleep_.wake({});
    }

    [[nodiscard]] bool changed() const noexcept { return changed_; }

    /// What has changed so far is about to be seen.
    void forget_changes() noexcept { changed_ = false; }

    /// What it sleeps in. Woken by a change.
    [[nodiscard]] pause& sleep() noexcept { return sleep_; }

private:
    friend class watchers;

    watchers& among_;
    std::multimap<hashed_name, watching*>::iterator at_;
    pause sleep_;
    bool changed_ = false;
};

/** The operations of a client that watch, by resource.

    Nodes push what others change, but not what this client changes, and stop tracking the key after
    either. So whatever this client does that may change a key is reported here too. Used on the
    strand only.
*/
class watchers
{
public:
    void on_change(std::string_view resource);

private:
    friend class watching;

    std::multimap<hashed_name, watching*> all_;
};

}  // namespace redlock::detail

#endif
