#ifndef REDLOCK_TEST_CHAOS_NEMESIS_HPP
#define REDLOCK_TEST_CHAOS_NEMESIS_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "chaos/faults.hpp"
#include "chaos/history.hpp"
#include "chaos/stage.hpp"

namespace redlock::test {

/** Does harm to a stage: draws faults from the menu, and undoes each when its time is over.

    Several faults last at a time, one of each node, link and worker. A minority of the nodes is
    harmed, and a minority of the workers; now and then all nodes that are not harmed otherwise. A
    fault of links is that of one link, of all links of a worker or of a node, or of half of all.
*/
class nemesis
{
public:
    /// @param names Faults to draw from, each as often. Empty: all that leases of the mode survive,
    /// as often as their weights say.
    nemesis(
        stage& on,
        const std::string& mode,
        const std::vector<std::string>& names,
        std::uint64_t seed
    );

    /// Undoes what is over, and does something new.
    void act();

    /// Undoes everything.
    void heal_all();

    /// Restarts a node, as an operator does: nothing else is wrong. It is ready again later.
    void restart_in_turn(std::size_t node);

    /// How often each fault was done, by name.
    [[nodiscard]] const std::map<std::string, std::size_t>& counts() const noexcept
    {
        return counts_;
    }

    /// What was done and undone when, a line each.
    [[nodiscard]] const std::string& diary() const noexcept { return diary_; }

    /// The last lines of the diary.
    [[nodiscard]] std::string last_notes() const;

private:
    /// A fault that lasts, at one place.
    struct wound
    {
        const fault* what;
        harm kind;
        std::size_t node;
        std::size_t worker;
        moment until;
        heal undo;
    };

    /// A place for a fault.
    struct place
    {
        std::size_t node = 0;
        std::size_t worker = 0;
    };

    [[nodiscard]] bool suits(const fault& what, std::size_t node);
    [[nodiscard]] bool is_free(harm kind, const place& at) const;
    [[nodiscard]] std::size_t harmed(harm kind) const;
    [[nodiscard]] std::vector<place> places_for(const fault& what);
    [[nodiscard]] std::vector<place> some_nodes(const fault& what);
    [[nodiscard]] std::vector<place> some_links();
    [[nodiscard]] std::size_t draw(std::size_t count);
    void strike(const fault& what, const place& at, std::chrono::milliseconds lasting);
    void undo(const wound& one);
    void note(const char* what, const fault& which, const place& at);

    stage& on_;
    std::mt19937_64 random_;
    std::vector<const fault*> menu_;  ///< Each as often as it's to be drawn.
    std::vector<wound> wounds_;
    std::map<std::string, std::size_t> counts_;
    std::string diary_;
};

}  // namespace redlock::test

#endif
