#ifndef REDLOCK_SRC_WIRE_SOCKET_CONNECTION_HPP
#define REDLOCK_SRC_WIRE_SOCKET_CONNECTION_HPP

#include "loop/platform.hpp"
#include "wire/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

/// Initial size of the input: the replies to about a hundred commands.
inline constexpr std::size_t first_input_size = 4096;

/// The least room that a read has.
inline constexpr std::size_t least_room = 1024;

/// How long a look-up may take before the addresses that were found last are tried.
inline constexpr std::chrono::milliseconds head_start{250};

/** What TCP, Unix sockets and TLS have in common.

    @tparam Transport `plain_transport` or `tls_transport`: the stream, and how it begins.

    One asynchronous operation that leads to `on_closed` is always under way: first the one that
    connects, then the one that reads. Closing the socket ends it. Each one keeps the owner, which
    keeps this. This object keeps nothing alive, so nothing is left if the context is destroyed.
*/
template <class Transport>
class socket_connection final : public connection
{
public:
    /// @param more What else the transport needs.
    template <class... More>
    socket_connection(
        const ground& on,
        const node_config& config,
        std::shared_ptr<name_lookup> names,
        More&&... more
    )
        : ground_(on),
          config_(config),
          names_(std::move(names)),
          limit_(on.time->make_alarm()),
          transport_(on.strand, std::forward<More>(more)...),
          input_(first_input_size)
    {
    }

    socket_connection(const socket_connection&) = delete;
    socket_connection& operator=(const socket_connection&) = delete;

    ~socket_connection() override
    {
        if (looking_up_)
            names_->leave();
    }

    void open(const std::shared_ptr<owner>& of) override
    {
        owner_ = of;
        error_code not_an_address;
        const auto address = asio::ip::make_address(config_.host, not_an_address);
        if (!config_.unix_socket.empty())
            post([this]() { connect_to_path(); });
        else if (not_an_address)
            look_up();
        else
            post([this, address]() {
                endpoints_.push_back(asio::ip::tcp::endpoint(address, config_.port));
                connect_to_next({});
            });
    }

    void write(std::string_view bytes) override
    {
        if (closed_ || hung_up_)
            return;
        if constexpr (Transport::is_plain)
        {
            if (!writing_)
                bytes.remove_prefix(write_now(bytes));
        }
        output_.append(bytes);
        write_rest();
    }

    [[nodiscard]] std::string objection() const override { return transport_.objection(); }

    void close() noexcept override
    {
        if (std::exchange(closed_, true))
            return;
        limit_->hurry();
        error_code ignored;
        socket().close(ignored);
    }

private:
    platform::stream_socket& socket() noexcept { return transport_.socket(); }

    /// Calls a function as a turn.
    template <class Function>
    void work(Function function)
    {
        ground_.end_of_turn->work(function);
    }

    /// Calls a function as a turn, later.
    template <class Function>
    void post(Function function)
    {
        enter_later(ground_.strand, [this, kept = owner_.lock(), function]() { work(function); });
    }

    /// Waits for the addresses of the name, on a timer that the end of the look-up cuts short.
    void look_up()
    {
        looking_up_ = true;
        names_->begin([this, strand = ground_.strand, of = owner_]() {
            enter_later(strand, [this, of]() {
                const auto kept = of.lock();
                if (kept && looking_up_)
                    limit_->hurry();
            });
        });
        const auto longest = names_->has_addresses() ? head_start : open_timeout;
        limit_->set(now() + longest, [this, kept = owner_.lock()]() {
            work([&]() { on_looked_up(); });
        });
    }

    /// The look-up has ended, or the wait for it.
    void on_looked_up()
    {
        looking_up_ = false;
        names_->leave();
        if (closed_)
            return end({});
        const auto [found, failure] = names_->result();
        endpoints_.assign(found.begin(), found.end());
        connect_to_next(failure);
    }

    void connect_to_path()
    {
        try
        {
            endpoints_.push_back(asio::local::stream_protocol::endpoint(config_.unix_socket));
        }
        catch (const boost::system::system_error& too_long)
        {
            return end(too_long.code());
        }
        connect_to_next({});
    }

    /// @param before The result for the previous address.
    void connect_to_next(error_code before)
    {
        error_code ec = before;
        do
        {
            if (closed_ || next_ == endpoints_.size())
                return end(ec);
            error_code ignored;
            socket().close(ignored);
            ec = platform::open_socket(socket(), endpoints_[next_++].protocol());
        } while (ec);
        limit_attempt();
        socket().async_connect(
            endpoints_[next_ - 1],
            [this, kept = owner_.lock()](error_code failure) {
                work([&]() {
                    if (failure)
                        connect_to_next(failure);
                    else
                        on_connected();
                });
            }
        );
    }

    /// An address that never answers must leave time for the ones after it, and for the address
    /// that another Sentinel knows.
    void limit_attempt()
    {
        if (endpoints_.size() == 1 && !config_.sentinel)
            return;
        const std::chrono::milliseconds share = open_timeout / endpoints_.size();
        const auto longest = config_.sentinel ? std::min(share, open_timeout / 2) : share;
        limit_->set(now() + longest, [this, kept = owner_.lock(), attempt = next_]() {
            if (closed_ || attempt != next_)
                return;
            error_code ignored;
            socket().close(ignored);
        });
    }

    void on_connected()
    {
        if (closed_)
            return end({});
        limit_->cancel();
        error_code ec;
        // Nagle's algorithm costs 40 ms whenever two small writes meet.
        if (config_.unix_socket.empty())
            socket().set_option(asio::ip::tcp::no_delay(true), ec);
        socket().non_blocking(true, ec);
        if (ec)
            return end(ec);
        if constexpr (Transport::is_plain)
            on_open();
        else
            shake_hands();
    }

    /// Not called for a plain transport.
    void shake_hands()
    {
        const bool begun = transport_.shake_hands([this, kept = owner_.lock()](error_code ec) {
            work([&]() { ec ? end(ec) : on_open(); });
        });
        if (!begun)
            end(asio::error::invalid_argument);
    }

    void on_open()
    {
        if (!closed_)
            owner_.lock()->on_open();
        read();
    }

    void read()
    {
        if (closed_)
            return end({});
        if (input_.size() - input_end_ < least_room)
            input_.resize(2 * input_.size());
        transport_.stream().async_read_some(
            room(),
            [this, kept = owner_.lock()](error_code ec, std::size_t size) {
                work([&]() { on_read(ec, size); });
            }
        );
    }

    asio::mutable_buffer room() noexcept { return asio::buffer(input_) + input_end_; }

    void on_read(error_code ec, std::size_t size)
    {
        if (ec || closed_)
            return end(ec);
        input_end_ += size;
        const std::size_t used = owner_.lock()->on_input({input_.data(), input_end_});
        std::copy(input_.data() + used, input_.data() + input_end_, input_.data());
        input_end_ -= used;
        read();
    }

    /// @return How many bytes the socket took.
    std::size_t write_now(std::string_view bytes)
    {
        error_code ec;
        const std::size_t size = socket().write_some(asio::buffer(bytes), ec);
        if (ec && ec != asio::error::would_block && ec != asio::error::interrupted)
            on_write_failed(ec);
        return size;
    }

    void write_rest()
    {
        if (closed_ || hung_up_ || writing_ || output_.empty())
            return;
        written_.swap(output_);
        output_.clear();
        asio::async_write(
            transport_.stream(),
            asio::buffer(written_),
            [this, kept = owner_.lock()](error_code ec, std::size_t) noexcept {
                writing_ = false;
                if (ec)
                    return on_write_failed(ec);
                write({});
            }
        );
        writing_ = true;
    }

    /// What the server sent before it hung up is still there: the reader takes it and then finds
    /// the end. Windows reports a reset as an aborted connection.
    void on_write_failed(error_code why) noexcept
    {
        hung_up_ = why == asio::error::broken_pipe || why == asio::error::connection_reset ||
                   why == asio::error::connection_aborted;
        if (!hung_up_)
            return fail(why);
        if (!why_)
            why_ = why;
    }

    /// Ends the read, which then reports why.
    void fail(error_code why) noexcept
    {
        if (!why_ && !closed_)
            why_ = why;
        close();
    }

    /// Only this leads to `on_closed` now.
    void end(error_code why)
    {
        fail(why);
        if (std::exchange(over_, true))
            return;
        owner_.lock()->on_closed(why_ ? why_ : error_code(asio::error::operation_aborted));
    }

    time_point now() const noexcept { return ground_.time->now().steady; }

    ground ground_;
    node_config config_;
    std::weak_ptr<owner> owner_;
    std::shared_ptr<name_lookup> names_;

    /// For the look-up, then for the attempt to connect to one of several addresses.
    std::unique_ptr<alarm> limit_;
    std::vector<asio::generic::stream_protocol::endpoint> endpoints_;
    std::size_t next_ = 0;  ///< The endpoint to try next.
    Transport transport_;

    std::vector<char> input_;
    std::size_t input_end_ = 0;
    std::string output_;   ///< To be written after `written_`.
    std::string written_;  ///< Being written.
    bool looking_up_ = false;
    bool writing_ = false;
    bool hung_up_ = false;  ///< The other side has, so nothing can be written.
    bool closed_ = false;
    bool over_ = false;
    error_code why_;
};

}  // namespace redlock::detail

#endif
