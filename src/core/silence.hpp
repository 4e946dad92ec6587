#ifndef REDLOCK_SRC_CORE_SILENCE_HPP
#define REDLOCK_SRC_CORE_SILENCE_HPP

#include <chrono>
#include <cstdint>
#include <utility>

namespace redlock::core {

/// A connection that says nothing for so long has been given up: see `probe_interval` of the link.
inline constexpr std::chrono::milliseconds longest_silence{2500};

/** Tells a peer that is silent from one that was not listened to.

    It is looked at now and then. If nothing was heard since the last look, our own process may have
    stood still, and what the peer said is there and unread: so a first silence makes it suspected,
    and only a second one, after some time to read, makes it lost.
*/
class silence
{
public:
    enum class finding : std::uint8_t
    {
        none,       ///< Something was heard.
        suspected,  ///< Look again when there was time to read.
        lost,
    };

    void on_heard() noexcept { heard_ = true; }

    [[nodiscard]] finding look() noexcept
    {
        if (std::exchange(heard_, false))
        {
            suspected_ = false;
            return finding::none;
        }
        return std::exchange(suspected_, true) ? finding::lost : finding::suspected;
    }

private:
    bool heard_ = false;
    bool suspected_ = false;
};

}  // namespace redlock::core

#endif
