#ifndef REDLOCK_SRC_CORE_SILENCE_HPP
#define REDLOCK_SRC_CORE_SILENCE_HPP

#include <chrono>
#include <cstdint>
#include <utility>

namespace redlock::core {

/// A connection is given up before it has been silent for this long: see the link's
/// `probe_interval`.
inline constexpr std::chrono::milliseconds longest_silence{2500};

/** Distinguishes a silent peer from one that we didn't listen to.

    The owner looks now and then. If nothing was heard since the last look, our own process may have
    stood still, and the peer's data is there but unread. So a first silence makes the peer
    suspected. Only a second one, after some time to read, makes it lost.
*/
class silence
{
public:
    enum class finding : std::uint8_t
    {
        none,       ///< Something was heard.
        suspected,  ///< Look again after some time to read.
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
