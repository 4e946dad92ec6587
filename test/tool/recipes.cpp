// The lines of shell in examples/recipes/README.md, each run as it stands.

#include "tool/tool.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_tool_recipes,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// A folder with the programs that a recipe names.
struct kitchen : tool_nodes
{
    /// A program that the recipe finds in its folder.
    void add_program(const std::string& name, const std::string& script) const
    {
        const auto file = folder.path() / name;
        write_file(file, "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }

    /// Runs a recipe.
    /// @param before Lines of shell before it.
    child_process cook(const std::string& recipe, const std::string& before = "")
    {
        std::string text = read_file(std::filesystem::path(REDLOCK_RECIPES) / recipe);
        const auto at = text.find("/usr/local/bin/");
        if (at != std::string::npos)
            text.replace(at, 15, "./");
        // A leader that its shell waits for would outlive the shell.
        const auto leads = text.find("redlock lead");
        if (leads != std::string::npos)
            text.insert(leads, "exec ");
        const std::string tool_folder = std::filesystem::path(REDLOCK_TOOL).parent_path();
        const std::string line = "cd " + folder.path().string() + "; PATH=" + tool_folder +
                                 ":$PATH; " + before + "\n" + text;
        return child_process(
            {.program = "/bin/sh",
             .arguments = {"sh", "-c", line},
             .environment = {"REDLOCK_NODES=" + list_of(nodes)},
             .output = folder.path() / "output"}
        );
    }

    [[nodiscard]] std::string output() const { return read_file(folder.path() / "output"); }

    static bool ends(child_process& cooked, int status)
    {
        const bool ended = eventually([&] { return cooked.has_ended(); }, patience);
        return ended && cooked.exit_status() == status;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(one_of_several_machines_makes_the_backup, kitchen)
{
    add_program("backup", "echo backup $1; sleep 1");
    child_process first = cook("cron.sh");
    BOOST_TEST(eventually([&] { return output() == "backup --full\n"; }));
    child_process second = cook("cron.sh");
    BOOST_TEST(ends(second, 0));
    BOOST_TEST(ends(first, 0));
    BOOST_TEST(output().find("backup --full\n", 1) == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_report_is_written_once_a_minute, kitchen)
{
    add_program("write_report", "echo written");
    child_process first = cook("once_a_minute.sh");
    BOOST_TEST(ends(first, 0));
    child_process second = cook("once_a_minute.sh");
    BOOST_TEST(ends(second, 0));
    BOOST_TEST(output().find("written") == output().rfind("written"));
}

BOOST_FIXTURE_TEST_CASE(a_report_is_written_once_a_night_though_it_takes_a_second, kitchen)
{
    add_program("write_report", "echo written; mkdir failed 2>/dev/null && exit 1; sleep 1");
    for (const int status : {1, 0, 0, 0})
    {
        child_process machine = cook("once_a_night.sh");
        BOOST_TEST(ends(machine, status));
    }
    // The first one failed, so the second one was not kept out.
    BOOST_TEST(output() == "written\nwritten\n");
}

BOOST_FIXTURE_TEST_CASE(a_leader_writes_with_its_token, kitchen)
{
    add_program("store", "echo \"$@\"");
    child_process leads = cook("fenced_leader.sh");
    BOOST_TEST(
        eventually([&] { return output().find("--write tick") != std::string::npos; }, patience)
    );
    BOOST_TEST(output().starts_with("--fence 1"));
}

BOOST_FIXTURE_TEST_CASE(what_a_late_holder_writes_is_not_read, kitchen)
{
    child_process writes = cook("fenced_file.sh", "file=data; echo first |");
    BOOST_TEST(ends(writes, 0));
    BOOST_TEST(output() == "first\n");
    // A later holder has written.
    write_file(folder.path() / "data.00009007199254740991", "latest\n");
    child_process late = cook("fenced_file.sh", "file=data; echo late |");
    BOOST_TEST(ends(late, 0));
    BOOST_TEST(output() == "first\nlatest\n");
}

BOOST_AUTO_TEST_SUITE_END()
