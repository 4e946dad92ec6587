#include "client/life.hpp"

#include <boost/asio/error.hpp>

namespace redlock::detail {

namespace asio = boost::asio;

life::life(const client_loop& loop)
    : loop_(loop),
      operations_(*loop.end_of_turn),
      for_connections_(*loop.end_of_turn),
      releasing_(*loop.end_of_turn),
      for_nodes_(*loop.end_of_turn),
      for_ends_(*loop.end_of_turn),
      for_run_(*loop.end_of_turn)
{
}

life::absence life::why_not_running() const
{
    if (!at_home())
        return {"the client belongs to the parent of this process", log_level::error};
    if (state_ == state::idle)
        return {"async_run was not called in time", log_level::error};
    return {"the client has ended", log_level::info};
}

error_code life::begin()
{
    if (!at_home() || state_ == state::stopped)
        return error::not_running;
    if (state_ != state::idle)
        return error::already_running;
    state_ = state::running;
    operations_.wake_all({});
    return {};
}

bool life::begin_close()
{
    if (!running())
        return false;
    state_ = state::closing;
    for (waiting_list* waiting : {&operations_, &for_connections_, &for_nodes_})
        waiting->wake_all(asio::error::operation_aborted);
    return true;
}

void life::begin_stop()
{
    if (state_ == state::idle)
        state_ = state::stopped;
    if (state_ == state::running || state_ == state::closing)
        state_ = state::stopping;
    for (waiting_list* waiting :
         {&operations_, &for_connections_, &releasing_, &for_ends_, &for_nodes_})
        waiting->wake_all(asio::error::operation_aborted);
    for_run_.wake_all({});
}

void life::end()
{
    state_ = state::stopped;
    for (waiting_list* waiting : {&operations_, &for_connections_, &releasing_})
        waiting->wake_all(asio::error::operation_aborted);
    for_nodes_.wake_all({});
}

task<error_code> life::until_running(time_point limit)
{
    pause start(*loop_.end_of_turn);
    if (idle() && loop_.now().steady < limit)
    {
        loop_.timer->add(start, limit);
        if (const error_code ec = co_await start.wait(operations_.list()))
            co_return ec;
    }
    co_return running() ? error_code() : error::not_running;
}

task<error_code> life::sleep_until(pause& sleep, time_point at)
{
    return sleep_until(sleep, at, operations_.list());
}

task<error_code> life::sleep_until(pause& sleep, time_point at, suspension::list& among)
{
    // An operation that was about to continue when the client was stopped hasn't been told.
    if (over())
        co_return asio::error::operation_aborted;
    loop_.timer->add(sleep, at);
    const error_code ec = co_await sleep.wait(among);
    sleep.forget();
    co_return ec;
}

task<error_code> life::let_others_run()
{
    pause next(*loop_.end_of_turn);
    co_return co_await next.wait_for_next_turn(operations_.list());
}

void life::note_end()
{
    if (closing())
        for_ends_.wake_all({});
}

void life::shut_down() noexcept
{
    for (waiting_list* waiting :
         {&operations_, &for_connections_, &releasing_, &for_ends_, &for_nodes_, &for_run_})
        waiting->drop_all();
}

}  // namespace redlock::detail
