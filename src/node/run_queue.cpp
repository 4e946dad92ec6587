#include "node/run_queue.hpp"

#include "node/recycling_post.hpp"

#include <exception>
#include <utility>

namespace redlock::detail {

namespace {

/// The queue in which this thread works off a reply.
constinit thread_local run_queue* of_reply = nullptr;

}  // namespace

void sleepers::add(std::unique_ptr<queued> what) noexcept
{
    waiting_.push_back(*what.release());
    if (!is_linked())
        queue_.sleepers_.push_back(*this);
}

std::size_t sleepers::wake_all() noexcept
{
    // While the context shuts down, posting destroys, and what is destroyed may own this.
    run_queue& queue = queue_;
    queued_list woken;
    woken.swap(waiting_);
    unlink();

    std::size_t count = 0;
    for (; !woken.empty(); ++count)
    {
        std::unique_ptr<queued> first(&woken.front());
        woken.pop_front();
        queue.post(std::move(first));
    }
    return count;
}

void sleepers::destroy() noexcept
{
    run_queue::destroy(waiting_);
}

asio::execution_context::id run_queue::id;

run_queue::run_queue(asio::io_context& context)
    : service(context), loop_(context.get_executor())
{
}

run_queue* run_queue::of(const strand_type& strand)
{
    // A bare loop is a strand only if one thread runs it: see make_strand().
    const auto* bare = strand.target<loop>();
    return bare ? &asio::use_service<run_queue>(bare->context()) : nullptr;
}

void run_queue::post(std::unique_ptr<queued> what) noexcept
{
    if (shut_down_)
        return;
    queue_.push_back(*what.release());
    if (!running_)
        run_later();
}

bool run_queue::in_reply() const noexcept
{
    return of_reply == this;
}

bool run_queue::follow(const asio::any_io_executor& executor, std::unique_ptr<posted>& what)
{
    if (!of_reply)
        return false;
    const auto* bare = executor.target<loop>();
    if (!bare || &bare->context() != &of_reply->loop_.context())
        return false;
    of_reply->followers_.push_back(std::move(what));
    return true;
}

run_queue::reply_scope::reply_scope(run_queue& queue) noexcept
    : queue_(queue), before_(std::exchange(of_reply, &queue))
{
}

run_queue::reply_scope::~reply_scope()
{
    of_reply = before_;
    queue_.call_followers_later();
}

void run_queue::call_followers()
{
    while (!followers_.empty() && !loop_.context().stopped())
    {
        posted* const next = followers_.front().release();
        followers_.pop_front();
        next->call();
    }
}

void run_queue::call_followers_later() noexcept
{
    if (followers_.empty() || followers_scheduled_)
        return;
    try
    {
        recycling_post(loop_).execute([this]() {
            followers_scheduled_ = false;
            call_followers_later();
            call_followers();
        });
        followers_scheduled_ = true;
    }
    catch (const std::exception&)
    {
        // Out of memory: the next reply takes along what is left.
    }
}

void run_queue::go_on()
{
    if (queue_.empty())
        return;
    queued& next = queue_.front();
    queue_.pop_front();
    next.call();
}

void run_queue::run_later() noexcept
{
    if (queue_.empty() || scheduled_)
        return;
    try
    {
        recycling_post(loop_).execute([this]() {
            scheduled_ = false;
            run([]() {});
        });
        scheduled_ = true;
    }
    catch (const std::exception&)
    {
        // Out of memory: whatever runs here next takes it along.
    }
}

void run_queue::shutdown()
{
    // What is destroyed here may own others that wait or post.
    shut_down_ = true;
    while (!sleepers_.empty())
    {
        sleepers& next = sleepers_.front();
        sleepers_.pop_front();
        next.destroy();
    }
    destroy(queue_);
    while (!followers_.empty())
    {
        const auto uncalled = std::move(followers_.front());
        followers_.pop_front();
    }
}

void run_queue::destroy(queued_list& what) noexcept
{
    queued_list taken;
    taken.swap(what);
    taken.clear_and_dispose(std::default_delete<queued>());
}

void run_queue::executor_type::from_elsewhere(std::unique_ptr<queued> what) const
{
    recycling_post(queue_->behind()).execute([queue = queue_, what = std::move(what)]() mutable {
        queue->dispatch([&what]() { what.release()->call(); });
    });
}

}  // namespace redlock::detail
