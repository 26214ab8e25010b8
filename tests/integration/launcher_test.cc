// SPDX-License-Identifier: Apache-2.0
//
// `gpubound run` as the parent of somebody's program: statuses, signals, streams, directories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

using Launcher = CommandRun;

TEST_F(Launcher, ExitsAsTheProgramDid) {
  Shell("exit 0");
  EXPECT_EQ(RunRecordJson()["exit_code"], 0);
}

TEST_F(Launcher, HandsOnAFailure) {
  Shell("exit 7", 7);
  EXPECT_EQ(RunRecordJson()["exit_code"], 7);
}

TEST_F(Launcher, SaysASignalAsAShellDoes) {
  Shell("kill -SEGV $$", 128 + SIGSEGV);
  const Json record = RunRecordJson();
  EXPECT_EQ(record["signal"], SIGSEGV);
  EXPECT_FALSE(record.contains("exit_code"));
}

TEST_F(Launcher, AProgramThatIsNotThereIs127AndLeavesNothing) {
  const Outcome outcome = Profile({"no-such-program"}, 127);
  EXPECT_THAT(outcome.err, HasSubstr("'no-such-program': found no such program in PATH"));
  EXPECT_FALSE(fs::exists(run_path()));
}

TEST_F(Launcher, AProgramThatCannotBeExecutedIs126) {
  std::ofstream(File("data.txt")) << "data\n";
  const Outcome outcome = Profile({File("data.txt")}, 126);
  EXPECT_THAT(outcome.err, HasSubstr("chmod +x"));
  EXPECT_FALSE(fs::exists(run_path()));
}

TEST_F(Launcher, AScriptWhoseInterpreterIsMissingIsExplained) {
  std::ofstream(File("script")) << "#!/no/such/interpreter\n";
  fs::permissions(File("script"), fs::perms::owner_all);
  const Outcome outcome = Profile({File("script")}, 127);
  EXPECT_THAT(outcome.err, HasSubstr("interpreter"));
}

TEST_F(Launcher, WrongUseIs125) {
  EXPECT_EQ(Gpubound({"run"}).exit_code, 125);
  EXPECT_EQ(Gpubound({"run", "--no-such-option", "--", "true"}).exit_code, 125);
}

TEST_F(Launcher, IgnoresInterruptAndQuitAndWaits) {
  Shell("kill -INT $PPID; kill -QUIT $PPID; exit 3", 3);
}

TEST_F(Launcher, AnInterruptFromTheTerminalEndsTheProgramAndIsReported) {
  Shell("kill -INT 0; sleep 100", 128 + SIGINT);
  EXPECT_EQ(RunRecordJson()["signal"], SIGINT);
}

TEST_F(Launcher, HandsOnTerminateAndHangUp) {
  for (const std::string signal : {"TERM", "HUP"}) {
    const std::string script =
        "trap 'exit 9' " + signal + "; kill -" + signal + " $PPID; while :; do sleep 0.01; done";
    const Outcome outcome = Gpubound({"run", "-o", File(signal), "--", "/bin/sh", "-c", script});
    EXPECT_EQ(outcome.exit_code, 9) << outcome.Describe();
  }
}

TEST_F(Launcher, LeavesTheProgramsOutputAsItIs) {
  const std::string script = "printf 'a\\000b\\377\\n%s' \"$*\"; printf 'own words' >&2";
  const Outcome plain = runner().Run({"/bin/sh", "-c", script, "sh", "x y"});
  const Outcome profiled = Profile({"/bin/sh", "-c", script, "sh", "x y"});
  EXPECT_EQ(profiled.out, plain.out);
  EXPECT_THAT(profiled.out, SizeIs(8));
  EXPECT_THAT(profiled.err, testing::StartsWith("own words"));
}

TEST_F(Launcher, PrintsItsSummaryOnStderr) {
  const Outcome outcome = Victim("train", 3);
  EXPECT_EQ(outcome.out, "trained 3\n");
  EXPECT_THAT(outcome.err, HasSubstr("backpropagation"));
  EXPECT_THAT(outcome.err, HasSubstr("trace: " + run_path()));
  EXPECT_THAT(outcome.err, HasSubstr("gpubound report " + run_path()));
}

TEST_F(Launcher, AFailureOfTheProgramIsSaidBeforeAnythingElse) {
  const Outcome nothing = Shell("exit 7", 7);
  EXPECT_THAT(nothing.err, testing::StartsWith("gpubound: the program failed (exit status 7), and "
                                               "nothing was recorded.\nrun directory: "));
  EXPECT_THAT(nothing.err, Not(HasSubstr("hooked"))) << "the failure is the reason";
  const std::string script = GPUBOUND_TEST_VICTIM " train 1; exit 7";
  const Outcome some = Gpubound({"run", "-o", File("some"), "--", "/bin/sh", "-c", script});
  EXPECT_THAT(some.err, testing::StartsWith("The program failed with exit status 7: all figures "
                                            "are of a failed program."));
  const std::string killed = GPUBOUND_TEST_VICTIM " train 1; kill -TERM $$";
  const Outcome ended = Gpubound({"run", "-o", File("killed"), "--", "/bin/sh", "-c", killed});
  EXPECT_THAT(ended.err, testing::StartsWith("Signal 15 ended the program: "));
}

TEST_F(Launcher, QuietPrintsNothing) {
  const Outcome outcome =
      Gpubound({"run", "-q", "-o", run_path(), "--", GPUBOUND_TEST_VICTIM, "train", "3"});
  EXPECT_EQ(outcome.out, "trained 3\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(Databases(), SizeIs(1));
}

TEST_F(Launcher, SaysWhyNothingMayHaveBeenRecorded) {
  EXPECT_THAT(Profile({"/bin/true"}).err, HasSubstr("nothing was recorded"));
}

TEST_F(Launcher, SaysThatRecordingIsSwitchedOff) {
  runner().Set("GPUBOUND_DISABLE", "1");
  EXPECT_THAT(Victim("train", 1).err, HasSubstr("GPUBOUND_DISABLE is set"));
  EXPECT_THAT(Databases(), IsEmpty());
}

TEST_F(Launcher, WithoutRecordingTheProgramFindsThePythonPackageToo) {
  if (!kPythonLoadsTheExtension) GTEST_SKIP() << "extension with the thread sanitizer";
  runner().Set("GPUBOUND_DISABLE", "1");
  runner().Unset("PYTHONPATH");
  const Outcome outcome =
      Profile({GPUBOUND_TEST_PYTHON, "-c",
               "import gpubound\nwith gpubound.operation('work'): print('worked')"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(outcome.out, "worked\n");
  EXPECT_THAT(Databases(), IsEmpty());
}

TEST_F(Launcher, ARunFolderThatTheProgramRemovesIsWhatTheMessageNames) {
  const Outcome outcome = Shell("until rm -rf \"$GPUBOUND_RUN\"; do :; done");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("removed while the program ran"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("Free some space")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("nothing was recorded")));
}

TEST_F(Launcher, ChoosesAPrivateDirectoryHere) {
  const Outcome outcome = Gpubound({"run", "--", GPUBOUND_TEST_VICTIM, "annotate", "3"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(File("."))) {
    names.push_back(entry.path().filename().string());
    EXPECT_EQ(ModeOf(entry.path()), 0700u);
  }
  EXPECT_THAT(
      names,
      ElementsAre(testing::MatchesRegex("integration_victim-[0-9]{8}-[0-9]{6}-[0-9]+\\.gpubound")));
}

TEST_F(Launcher, KeepsAnExistingPreload) {
  runner().Set("LD_PRELOAD", "libm.so.6");
  EXPECT_EQ(Shell("printf %s \"$LD_PRELOAD\"").out, "libm.so.6:" GPUBOUND_TEST_SHIM);
}

// As scripts do for the sake of tcmalloc: CUDA still loads the recorder, and nobody else does.
TEST_F(Launcher, AScriptThatSetsThePreloadAnewGetsNoReportThatSaysComplete) {
  const std::string train = std::string(GPUBOUND_TEST_VICTIM) + " train 20";
  ASSERT_EQ(Shell("export LD_PRELOAD=libm.so.6; exec " + train).exit_code, 0);
  const Json report = Report();
  EXPECT_THAT(report["run"]["verdict"].get<std::string>(), testing::StartsWith("incomplete: "));
  EXPECT_THAT(report["ledger"].dump(), HasSubstr("LD_PRELOAD did not bring libgpubound.so"));
}

TEST_F(Launcher, DoesNotWriteIntoTheTraceOfAnotherRun) {
  Victim("annotate", 1);
  const Outcome outcome = Victim("annotate", 1, 125);
  EXPECT_THAT(outcome.err, HasSubstr("trace of another run"));
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Launcher, InsideOfARunJoinsIt) {
  const Outcome outcome =
      Profile({GPUBOUND_TEST_COMMAND, "run", "--", GPUBOUND_TEST_VICTIM, "annotate", "3"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(RunRecordJson()["command"][1], "run");
  EXPECT_EQ(Report()["processes"].size(), 1u);
  EXPECT_FALSE(fs::exists(File("integration_victim")));
}

TEST_F(Launcher, AFolderThatCannotBeMadeIsNamedBeforeTheProgramStarts) {
  std::ofstream(File("file")) << "";
  const Outcome outcome =
      Gpubound({"run", "-o", File("file") + "/x.gpubound", "--", "/bin/sh", "-c", "echo ran"});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(File("file") + "/x.gpubound"));
  EXPECT_THAT(outcome.err, HasSubstr("-o DIR"));
}

// What comes afterwards is recorded at the old path, where nothing else tells of what was there.
TEST_F(Launcher, ARunDirectoryThatSomebodyMovesAwayIsMissedInTheReport) {
  const std::string victim = std::string(GPUBOUND_TEST_VICTIM) + " train 3";
  const Outcome outcome =
      Shell(victim + "; mv " + run_path() + " " + File("moved") + "; " + victim);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(Report()["run"]["verdict"], HasSubstr("incomplete"));
  EXPECT_THAT(Load().problems, testing::Contains(HasSubstr("directory was moved, removed or")));
}

TEST_F(Launcher, MissingLibrariesAreNamed) {
  runner().Set("GPUBOUND_LIBRARY_DIR", File("nowhere"));
  const Outcome outcome = Shell("echo ran", 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(File("nowhere")));
  EXPECT_THAT(Gpubound({"doctor"}).out, HasSubstr("problem libraries"));
}

TEST_F(Launcher, TheProgramSeesItsOwnEnvironmentBesides) {
  runner().Set("MINE", "a b");
  EXPECT_EQ(Shell("printf %s \"$MINE\"").out, "a b");
  EXPECT_THAT(Gpubound({"run", "-o", File("y"), "--", "env"}).out,
              Not(HasSubstr("GPUBOUND_LIBRARY_DIR")));
}

}  // namespace
}  // namespace gpubound
