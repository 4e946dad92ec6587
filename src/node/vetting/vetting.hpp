#ifndef REDLOCK_SRC_NODE_VETTING_VETTING_HPP
#define REDLOCK_SRC_NODE_VETTING_VETTING_HPP

#include <redlock/config.hpp>

#include "core/instant.hpp"
#include "node/answer.hpp"
#include "node/link_group.hpp"
#include "node/verbs.hpp"
#include "node/vetting/passed_entries.hpp"
#include "node/vetting/server_info.hpp"
#include "wire/request.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

/// A script that does nothing. It is loaded behind all the others, so a server that has it has
/// them.
[[nodiscard]] lua_script make_last_script(const script_set& scripts);

/// The first commands: log in, choose the database, ask who the server is and whether it has the
/// scripts.
/// @param name The client's, as operators see it.
[[nodiscard]] request make_vetting_request(
    const node_config& config,
    const script_set& scripts,
    std::string name
);

/// Loads the scripts.
[[nodiscard]] request make_script_request(const script_set& scripts);

/// A server's error to the first commands, safe to show: the original may quote the login.
[[nodiscard]] std::string without_login(const std::string& error, const node_config& config);

/// Asks for what makes a server durable.
[[nodiscard]] request make_settings_request();

/// Asks what makes a master wait for its replicas.
[[nodiscard]] request make_replica_settings_request();

/// @param told Names and values in turn. An error instead of them also means not durable.
[[nodiscard]] bool is_durable(const std::vector<std::string>& told);

/// What a node knows about earlier clients when it is vetted.
struct admission
{
    milliseconds quarantine{0};  ///< How long it must not vote.
    std::string marker{};        ///< Only for a link that looks. Empty if the node carries none.
    std::string polls{};         ///< Why the node doesn't wake waiters. Empty if it does.
    bool unmarked = false;       ///< It doesn't vote before it is marked.
};

/// Why a node wasn't marked. Both are empty if it was.
struct not_marked
{
    std::string marker;  ///< It carries this one.
    std::string error;   ///< The server's words.
};

/// Why a node that was admitted is vetted again.
inline constexpr const char* data_replaced =
    "the node has lost or replaced its data since it was admitted; rechecking it";

/** The checks on a new connection before it is used, step by step.

    Each step sends a request and judges the replies. The last one admits the node or refuses it;
    until then nothing else is on the wire. Later a probe asks an idle node whether it is still the
    one that was admitted. In guarded mode, a node without a marker gets one only after a quorum of
    the list has passed; until then it waits.
*/
class vetting final : private passed_entries::member
{
public:
    /// Judges the replies to a request.
    using step = void (vetting::*)(const texts&);

    /// The link that is vetted.
    class link
    {
    public:
        /// Sends a request, and passes on the replies when all of them are there.
        virtual void exchange(const request& what, step next) = 0;

        /// The vetting waits for other nodes. Until then only probes are on the wire.
        virtual void on_waiting() = 0;

        virtual void on_admitted(admission what) = 0;

        /// A node that was admitted without a marker has one now. It must not vote for this long.
        virtual void on_marked(milliseconds quarantine) = 0;

        /// The answer to `mark`.
        virtual void on_mark_answered(not_marked why) = 0;

        virtual void refuse(refusal why) = 0;
        void refuse(reason why, std::string text) { refuse(refusal{why, std::move(text)}); }
        [[nodiscard]] virtual time_point now() const noexcept = 0;

    protected:
        ~link() = default;
    };

    /// @param index Position of the node in the configuration.
    vetting(link& vetted, link_group group, std::size_t index, node_config config);
    vetting(const vetting&) = delete;
    vetting& operator=(const vetting&) = delete;
    ~vetting() { end(); }

    /// Logs in with these instead of the configured ones. To be called before `begin`.
    void use(credentials login);

    /// Begins. The connection is open, and nothing was sent yet.
    void begin();

    /// The connection is over.
    void end() noexcept;

    /// A server's error to the first commands, safe to show.
    [[nodiscard]] std::string shown(const std::string& error) const;

    /// Whether the server has introduced itself.
    [[nodiscard]] bool introduced() const noexcept { return !server_.run_id.empty(); }

    /// How the marker of an admitted server ends, for the scripts that compare it.
    [[nodiscard]] std::string marker_end() const;

    /// Probes an admitted server. Refuses it if it is no longer a master, or its data was
    /// replaced.
    void look_again() { on(event::idle); }

    /// Whether to probe a busy server too: no other answer shows its settings.
    [[nodiscard]] bool derives_overlap() const noexcept { return derives_overlap_; }

    /// Marks a node without a marker.
    void mark() { send_initialize("mark", &vetting::on_mark_answered); }

private:
    /// What an answer to a probe shows.
    enum class probe_kind : std::uint8_t
    {
        marker,  ///< Whether it has the data it was admitted with, and hasn't become a master anew.
        role,    ///< Whether the server is a master.
        life,    ///< Only that it answers.
    };

    /// What is done, and what is to come.
    enum class state : std::uint8_t
    {
        checking,         ///< The server says who it is and how it is set up.
        asking,           ///< The node was asked to admit, and then to wake us.
        asking_alone,     ///< It was asked to admit. What else is to come comes first.
        subscribing,      ///< It admits. It was asked to wake us.
        waiting,          ///< It has no marker. Not reported: at a start the others follow at once.
        asking_again,     ///< The same, and it was asked to admit once more.
        unmarked,         ///< It has no marker. It is admitted without a vote.
        asking_unmarked,  ///< The same, and it was asked to admit once more.
        admitted,         ///< It has our marker, or needs none.
    };

    /// What leads from one state to another.
    enum class event : std::uint8_t
    {
        marked,        ///< The node admits: it has our marker.
        unmarked,      ///< It has none, and must not get one yet.
        to_be_marked,  ///< It has none, and may get one now.
        subscribed,    ///< It has said whether it wakes us.
        quorum,        ///< A quorum of the list has passed.
        idle,          ///< The link looks whether the node is still there.
    };

    struct transition
    {
        state from;
        event by;
        state to;
        void (vetting::*act)();
    };

    static const std::array<transition, 18> transitions;
    void on(event what);

    [[nodiscard]] probe_kind probe_by() const noexcept;
    void probe();
    void on_looked_again(const texts& told);
    void look_at_replication(const std::string& told);
    void on_settings_again(const texts& told);
    [[nodiscard]] bool is_own_marker(const std::string& found) const;
    void on_introduced(const texts& told);
    void on_scripts_loaded(const texts& told);
    [[nodiscard]] bool recognize();
    void refuse_overlapping();
    [[nodiscard]] std::string incarnation() const;
    [[nodiscard]] std::string fingerprint() const;
    [[nodiscard]] milliseconds full_quarantine() const;
    void on_settings(const texts& told);
    void on_replica_settings(const texts& told);
    void introduce();
    void ask_to_admit();
    void on_asked_to_admit(const texts& told);
    void pass();
    void on_quorum() override { on(event::quorum); }
    void wait() { link_.on_waiting(); }
    void admit(admission what);
    void admit_marked();
    void admit_unmarked();
    void report_marker() { link_.on_marked(quarantine_); }
    [[nodiscard]] std::string mismatch(const texts& told) const;
    void subscribe();
    void on_subscribed(const texts& told);
    void on_tracking(const texts& told);
    void send_initialize(const char* what, step next);
    void on_looked(const texts& told);
    void on_mark_answered(const texts& told);

    link& link_;
    link_group group_;
    std::size_t index_;
    node_config node_;
    bool may_fail_over_;
    bool derives_overlap_;  ///< From settings that must stay.
    server_info server_;
    bool durable_ = false;  ///< The server is, as far as is known.

    /// For an entry that may fail over: promised, or derived from the server's settings.
    milliseconds overlap_{0};
    state state_ = state::checking;
    milliseconds quarantine_{0};  ///< See `admission::quarantine`.
    std::string polls_;           ///< See `admission::polls`.
    bool has_smaller_ = false;    ///< At admission the marker had the smaller `ttl_max`.
    bool overlaps_ = false;       ///< It is refused, but its quarantine may begin.
    bool may_ask_role_ = true;    ///< As far as is known.
};

}  // namespace redlock::detail

#endif
