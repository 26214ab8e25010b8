# SPDX-License-Identifier: Apache-2.0
"""The figures of a program that is being recorded, in the dashboard that it logs to already:
gpubound.integrations.wandb, .mlflow, .tensorboard and .trackio, each with callbacks for stable-baselines3, Lightning
and transformers (TRL).

    from gpubound.integrations import wandb
    model.learn(100_000, callback=wandb.sb3_callback())

Where nobody records, all of it does nothing. A call takes what is newest, mostly nothing, in less than 5 ms.
"""
