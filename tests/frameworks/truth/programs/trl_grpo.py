# SPDX-License-Identifier: Apache-2.0
"""GRPO of TRL on a language model of two small layers that knows 64 words: trl_grpo.py UPDATES [TRACKER]."""
import sys
import tempfile

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

WORDS = ["<pad>", "<eos>", "<unk>", *(f"w{number}" for number in range(61))]


def reward(completions, **_):
    return [float(len(set(completion.split()))) for completion in completions]


def main():
    words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>",
                                        padding_side="left")
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=64, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, pad_token_id=0, eos_token_id=1, bos_token_id=1))
    prompts = Dataset.from_dict({"prompt": [f"w{i % 60} w{i * 7 % 60}" for i in range(64)]})
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)  # the reference model is loaded from where the model came
        tokenizer.save_pretrained(folder)
        trainer = GRPOTrainer(
            model=folder, reward_funcs=reward, processing_class=tokenizer, train_dataset=prompts,
            args=GRPOConfig(output_dir=folder, per_device_train_batch_size=16, num_generations=4, max_completion_length=24,
                            max_steps=int(sys.argv[1]), logging_steps=1 if sys.argv[2:] else 10, report_to=sys.argv[2:],
                            use_cpu=True, save_strategy="no", bf16=False, beta=0.04, seed=0))
        trainer.train()


if __name__ == "__main__":
    main()
