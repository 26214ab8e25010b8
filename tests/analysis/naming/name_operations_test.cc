// SPDX-License-Identifier: Apache-2.0
//
// Programs as strings, a character for each thing that their thread does:
//   M m    a module is called, gradients on, off     J T  a jitted function, one that trains
//   E      an environment is stepped                 S B O  sample, backward(), optimizer's step
//   c s t  a call of the framework, one that stores a result, one that hands it over
//   l d    one that is called a loss, that detaches a result
//   a v    one that makes a tensor of what the program has, or changes how it lies
//   p w    Python for as long, a wait                < >  an operation of the program's own
//   [ ]    a rollout of a framework                  ^ $  a range that a library opens
//   ( / \  the loop's hook sees a rollout begin, an update after it, a rollout after that
// and what is made of them, a character for each but these marks: the operation that owns its
// time, and the stage that encloses it, by their first letters ('.': none).
#include "analysis/naming/name_operations.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/scope_domains.h"

namespace gpubound {
namespace {

constexpr int64_t kLength = 10;
constexpr int64_t kLongTime = 50'000'000;
constexpr std::string_view kMarks = "<>[]{}^$(/\\";

class Program {
 public:
  Program() {
    process_.labels.emplace_back();
    Name('M', LabelKind::kAnnotation, kModuleWithGradientsDomain, "Net");
    Name('m', LabelKind::kAnnotation, kModuleDomain, "Net");
    Name('J', LabelKind::kAnnotation, kJittedCallDomain, "act");
    Name('T', LabelKind::kAnnotation, kJittedTrainingDomain, "zero_loss");
    Name('E', LabelKind::kOperation, "", "simulation");
    Name('S', LabelKind::kOperation, "", "sample");
    Name('B', LabelKind::kOperation, "", "backpropagation");
    Name('O', LabelKind::kOperation, "", "optimizer");
    Name('<', LabelKind::kOperation, "", "user");
    Name('{', LabelKind::kOperation, "", "inference");
    Name('[', LabelKind::kOperation, "", "rollout");
    Name('(', LabelKind::kOperation, kStageDomain, "rollout");
    Name('/', LabelKind::kOperation, kStageDomain, "update");
    Name('c', LabelKind::kLayer, "", "torch.add");
    Name('s', LabelKind::kLayer, "", "Tensor.__setitem__");
    Name('t', LabelKind::kLayer, "", "Tensor.cpu");
    Name('a', LabelKind::kLayer, "", "torch.as_tensor");
    Name('l', LabelKind::kLayer, "", "nn.smooth_l1_loss");
    Name('d', LabelKind::kLayer, "", "Tensor.detach");
    Name('v', LabelKind::kLayer, "", "Tensor.unsqueeze");
    Name('o', LabelKind::kLayer, "", "OpOverloadPacket.__call__");
    Name('z', LabelKind::kAnnotation, "torch", "Optimizer.zero_grad#Adam.zero_grad");
    Name('w', LabelKind::kLayer, "", "Queue.get");
    Name('^', LabelKind::kAnnotation, "torch", "enumerate(DataLoader)#__next__");
    for (const char c : {'c', 's', 't', 'a', 'l', 'd', 'v', 'o'})
      process_.labels[Raw(labels_[c])].layer = Layer::kBackend;
    process_.labels[Raw(labels_['w'])].layer = Layer::kWait;
    process_.threads.emplace_back();
  }

  // The operations, a blank, the stages, of the last thread.
  std::string Named(const std::string& program) {
    const std::vector<int64_t> times = Run(program);
    NameOperations(&process_);
    return Said(times, false) + " " + Said(times, true);
  }

  // When it does what it does.
  std::vector<int64_t> Run(const std::string& program) {
    std::vector<int64_t> times;
    for (const char c : program) {
      if (kMarks.find(c) == std::string_view::npos) times.push_back(now_ns_ + kLength / 2);
      Do(c);
    }
    if (in_update_) Put(SlotKind::kEnd, labels_['/']);
    if (in_rollout_) Put(SlotKind::kEnd, labels_['(']);
    in_update_ = in_rollout_ = false;
    return times;
  }

  void NextThread() { process_.threads.emplace_back(); }

  const std::vector<ThreadEvent>& events() const { return process_.threads.back().events; }
  // How often an operation of this name begins.
  int CountOf(const std::string& name) const {
    int count = 0;
    for (const ThreadEvent& event : events()) {
      const Label& label = process_.labels[Raw(event.label)];
      const bool is_operation = label.kind == LabelKind::kOperation && label.text == name;
      count += is_operation && event.kind == SlotKind::kBegin ? 1 : 0;
    }
    return count;
  }

 private:
  void Name(char c, LabelKind kind, const char* domain, const char* text) {
    labels_[c] = static_cast<LabelId>(process_.labels.size());
    process_.labels.push_back({kind, Layer::kUnset, domain, text});
  }

  void Put(SlotKind kind, LabelId label) {
    process_.threads.back().events.push_back({now_ns_, 0, label, kind});
  }

  void Do(char c) {
    switch (c) {
      case '<':
        return Put(SlotKind::kBegin, labels_['<']);
      case '>':
        return Put(SlotKind::kEnd, labels_['<']);
      case '[':
        return Put(SlotKind::kBegin, labels_['[']);
      case ']':
        return Put(SlotKind::kEnd, labels_['[']);
      case '{':
        return Put(SlotKind::kBegin, labels_['{']);
      case '}':
        return Put(SlotKind::kEnd, labels_['{']);
      case '^':
        return Put(SlotKind::kBegin, labels_['^']);
      case '$':
        return Put(SlotKind::kEnd, labels_['^']);
      case '(':
        in_rollout_ = true;
        return Put(SlotKind::kBegin, labels_['(']);
      case '/':
        Put(SlotKind::kEnd, labels_['(']);
        std::tie(in_rollout_, in_update_) = std::pair(false, true);
        return Put(SlotKind::kBegin, labels_['/']);
      case '\\':
        Put(SlotKind::kEnd, labels_['/']);
        Put(SlotKind::kStep, LabelId{});
        std::tie(in_rollout_, in_update_) = std::pair(true, false);
        return Put(SlotKind::kBegin, labels_['(']);
      case 'p':
        now_ns_ += kLength;
        return;
      case 'P':
        now_ns_ += kLongTime;
        return;
      default:
        now_ns_ += 1;
        Put(SlotKind::kBegin, labels_[c]);
        now_ns_ += kLength - 2;
        Put(SlotKind::kEnd, labels_[c]);
        now_ns_ += 1;
    }
  }

  std::string Said(const std::vector<int64_t>& times, bool stages) const {
    std::string said;
    for (const int64_t time_ns : times) {
      std::string of = ".";
      std::vector<LabelId> open;
      for (const ThreadEvent& event : events()) {
        if (event.time_ns > time_ns) break;
        if (event.kind == SlotKind::kBegin) open.push_back(event.label);
        if (event.kind != SlotKind::kEnd) continue;
        EXPECT_FALSE(open.empty());
        EXPECT_EQ(open.back(), event.label) << "scopes cross in front of " << event.time_ns;
        if (!open.empty()) open.pop_back();
      }
      for (const LabelId label : open) {
        const Label& row = process_.labels[Raw(label)];
        const bool is_stage = row.text == "rollout" || row.text == "update";
        if (row.kind == LabelKind::kOperation && is_stage == stages)
          of = row.text == "simulation" ? "e" : row.text.substr(0, 1);
      }
      said += of;
    }
    return said;
  }

  ProcessTrace process_;
  std::map<char, LabelId> labels_;
  int64_t now_ns_ = 0;
  bool in_rollout_ = false;
  bool in_update_ = false;
};

std::string Named(const std::string& program) { return Program().Named(program); }

TEST(NameOperations, APolicyThatIsAskedWithGradientsOnIsInference) {
  EXPECT_EQ(Named("MctEp"), "iiie. rrrr.");
  EXPECT_EQ(Named("pMct(EpMctEp"), ".iiie.iiie. .rrrrrrrrrr");
}

TEST(NameOperations, TargetsAndTheForwardPassOfAnUpdateAreNoInference) {
  EXPECT_EQ(Named("Mct(EMctEpSmcMc/BOp"), "iiieiiie.sttffbo. rrrrrrrruuuuuuuuu");
}

TEST(NameOperations, WhatIsAskedWithoutGradientsIsATargetBeforeAndAfterTheEstimate) {
  EXPECT_EQ(Named("E(ESmMmM/B"), "eestftfb .ruuuuuu");
  EXPECT_EQ(Named("E(EMcmccl/BO"), "eefftttfbo .ruuuuuuuu");
  EXPECT_EQ(Named("E(EMcmcscl/BO"), "eeffttttfbo .ruuuuuuuuu") << "gathered by a mask";
  EXPECT_EQ(Named("E(EMcmcM/BO"), "eeffttfbo .ruuuuuuu") << "a module that is a loss";
  EXPECT_EQ(Named("E(EMcmMc/BO"), "eefftffbo .ruuuuuuu") << "an actor, a target, a critic";
  EXPECT_EQ(Named("mcBO"), "ffbo ....") << "gradients were never on";
}

TEST(NameOperations, TheRolloutBeginsWithThePolicyThatIsAskedBeforeTheEnvironment) {
  EXPECT_EQ(Named("Mct(EMc/BOpMct\\EpMc/BO"), "iiieffbo.iiie.ffbo rrrruuuuurrrruuuuu");
}

TEST(NameOperations, AnUpdateBeginsBehindTheRangeOfALibraryThatTheEnvironmentWasSteppedIn) {
  EXPECT_EQ(Named("^$(^EmctEp$pMc/BO^$\\^EmctE$Mc/BO"),
            "eiiie..ffboeiiieffbo rrrrrruuuuurrrrruuuu");
}

TEST(NameOperations, TheInputOfAPolicyIsPartOfTheQuestion) {
  EXPECT_EQ(Named("capaMt(EpcaM/BaM\\E"), "...iiie..ffbiie ...rrrruuuuurrr");
}

TEST(NameOperations, WhatWasMadeBeforeTheInputIsNoPartOfTheQuestion) {
  EXPECT_EQ(Named("MEapavpMEvME"), "ie..iiiieiie rrrrrrrrrrrr");
}

// As an import between the first observation and the policy.
TEST(NameOperations, WhatLiesLongBeforeAQuestionIsNotItsInput) {
  EXPECT_EQ(Named("apMEaPME"), "iiie..ie rrrrrrrr");
  EXPECT_EQ(Named("aPMEapME"), "..ieiiie ..rrrrrr");
}

TEST(NameOperations, AnIterationEndsWhereItsUpdateDoes) {
  Program program;
  program.Named("M(EM/BOpM\\E");
  std::vector<int64_t> ends_ns;
  for (const ThreadEvent& event : program.events()) {
    if (event.kind == SlotKind::kStep) ends_ns.push_back(event.time_ns);
  }
  EXPECT_EQ(ends_ns, std::vector<int64_t>{61});
}

TEST(NameOperations, WhatAPolicyIsAskedEndsWhereItsResultsAreStored) {
  EXPECT_EQ(Named("mccmcsscct(E"), "iiiii....ie rrrrrrrrrrr");
}

TEST(NameOperations, AValueThatEndsARolloutIsATargetOfTheUpdate) {
  EXPECT_EQ(Named("mc(EmcEmcscMcc/BOMcBO"), "iieiiett..fffboffbo rrrrrruuuuuuuuuuuuu");
}

TEST(NameOperations, WhatTheProgramDoesWithALossIsNoPartOfTheForwardPass) {
  EXPECT_EQ(Named("E(EMctpctpMc/BO"), "eefff....ffbo .ruuuuuuuuuuu");
  EXPECT_EQ(Named("E(EMctpcpc/BO"), "eefff.fffbo .ruuuuuuuuu");
}

TEST(NameOperations, WhatIsDoneWithADetachedResultIsNoPartOfTheForwardPass) {
  EXPECT_EQ(Named("E(EMcldpvdavp/B"), "eeffff......b .ruuuuuuuuuuu") << "a framework's logging";
  EXPECT_EQ(Named("E(EMcdpcp/B"), "eefff.f.b .ruuuuuuu") << "the loss goes on";
  EXPECT_EQ(Named("E(EMcdtpcdtp/B"), "eefff......b .ruuuuuuuuuu") << "two results, both logged";
  EXPECT_EQ(Named("E(EMcmdvcl/BO"), "eeffttttfbo .ruuuuuuuuu");
  EXPECT_EQ(Named("Mcdvt(E"), "iiiiie rrrrrr");
}

TEST(NameOperations, ARangeThatTorchOpensAfterALossIsNoPartOfTheForwardPass) {
  EXPECT_EQ(Named("E(EMcop/B"), "eeff..b .ruuuuu");
  EXPECT_EQ(Named("E(EMocp/B"), "eefff.b .ruuuuu");
  EXPECT_EQ(Named("E(EMcozc/B"), "eeff...b .ruuuuuu");
}

TEST(NameOperations, ScopesOfTheProgramStayAndNothingCrossesThem) {
  EXPECT_EQ(Named("<Mc>pEp"), "ii.e. .....");
  EXPECT_EQ(Named("<McEp>p"), "iieu. .....");
}

TEST(NameOperations, AJittedFunctionKeepsItsNameUnlessAnEnvironmentFollows) {
  EXPECT_EQ(Named("JcEJpTp"), "iiea.z. rrr....");
}

TEST(NameOperations, AnActorThatNeverLearnsIsInRolloutFromItsFirstQuestionToItsLastStep) {
  EXPECT_EQ(Named("ppmcEpmcEpp"), "..iie.iie.. ..rrrrrrr..");
}

TEST(NameOperations, WhatIsLearnedAfterAFrameworksRolloutIsAnUpdate) {
  EXPECT_EQ(Named("[mE]pSMBOp[mE]pMBOp"), "ie.sfbo.ie.fbo. rruuuuu.rruuuu.");
  EXPECT_EQ(Named("<[mE]p>pMBO"), "ieu.fbo rr.uuuu");
}

TEST(NameOperations, AServerOfAPolicyIsInference) {
  EXPECT_EQ(Named("mpmpMp"), "i.i.i. ......");
  EXPECT_EQ(Named("wmcwmwE"), ".ii.i.e .rrrrrr");
}

TEST(NameOperations, WhatAutogradRecomputesOnAThreadOfItsOwnIsNoInference) {
  Program program;
  program.NextThread();
  EXPECT_EQ(program.Named("MpM"), "i.i ...");
  Program learner;
  learner.Run("MBO");
  learner.NextThread();
  EXPECT_EQ(learner.Named("MpMm"), "...i ....");
}

TEST(NameOperations, ARolloutBeginsWithAQuestionThatHasItsNameAlready) {
  EXPECT_EQ(Named("{p}p(EpMc/BOp{p}\\EpMc/BO"), "i.e.ffbo.ie.ffbo rrruuuuuurruuuuu");
  EXPECT_EQ(Named("p{m}Ep{m}E"), ".ie.ie .rrrrr");
}

TEST(NameOperations, CallsWithinAQuestionThatHasItsNameAreNoQuestionsOfTheirOwn) {
  Program program;
  EXPECT_EQ(program.Named("{mct}E"), "iiie rrrr");
  EXPECT_EQ(program.CountOf("inference"), 1);
}

TEST(NameOperations, AProcessWithoutFactsStaysAsItIs) {
  Program program;
  EXPECT_EQ(program.Named("EpBO"), "e.bo ....");
  EXPECT_EQ(program.events().size(), 6u);
}

}  // namespace
}  // namespace gpubound
