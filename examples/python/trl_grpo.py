#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GRPO of TRL on a language model of two small layers that knows 64 words, on the CPU.

    pip install trl==1.16.0 torch==2.8.0
    gpubound run -- python examples/python/trl_grpo.py 6

One process makes completions and learns from them in turn. gpubound sees when TRL does which, without an
edit: `gpubound report` has a role `rollout` and a role `train` of that process, and says what either of
them would save if it took no time. At the end the program says on stderr what its own clocks say.
"""
import sys
import tempfile
import time

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

WORDS = ["<pad>", "<eos>", "<unk>", *(f"w{number}" for number in range(61))]


def reward(completions, **_):
    return [float(len(set(completion.split()))) for completion in completions]


def make_tokenizer():
    words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)},
                                       unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>",
                                   unk_token="<unk>", padding_side="left")


def make_model():
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=len(WORDS), hidden_size=128, intermediate_size=256, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=4, pad_token_id=0, eos_token_id=1, bos_token_id=1))


class ClockedTrainer(GRPOTrainer):
    """Notes when it begins to make completions, and when to learn from them."""

    turns = []  # "rollout", "train" or "none", and since when

    def turn(self, role):
        if not self.turns or self.turns[-1][0] != role:
            self.turns.append((role, time.perf_counter()))

    def _generate_and_score_completions(self, inputs):
        self.turn("rollout")
        return super()._generate_and_score_completions(inputs)

    def compute_loss(self, *arguments, **named):
        self.turn("train")
        return super().compute_loss(*arguments, **named)


def main():
    updates = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    prompts = Dataset.from_dict({"prompt": [f"w{i % 60} w{i * 7 % 60}" for i in range(64)]})
    with tempfile.TemporaryDirectory() as folder:
        make_model().save_pretrained(folder)  # the reference model is loaded from there
        make_tokenizer().save_pretrained(folder)
        trainer = ClockedTrainer(
            model=folder, reward_funcs=reward, processing_class=make_tokenizer(),
            train_dataset=prompts,
            args=GRPOConfig(output_dir=folder, per_device_train_batch_size=16, num_generations=4,
                            max_completion_length=24, max_steps=updates, logging_steps=updates,
                            report_to=[], use_cpu=True, save_strategy="no", bf16=False, beta=0.04,
                            seed=0))
        trainer.train()
        trainer.turn("none")
    seconds = {"rollout": 0.0, "train": 0.0}
    # The first iteration is warm-up.
    for (role, since), (_, until) in list(zip(trainer.turns, trainer.turns[1:]))[2:]:
        seconds[role] += until - since
    print(f"after the first iteration: rollout {seconds['rollout']:.3f} s, "
          f"train {seconds['train']:.3f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
