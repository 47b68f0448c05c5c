"""Tune the linear layers of a small model and use them from PyTorch.

    python examples/torch_model.py [--qwen3] [--quantize w4a16:128] [--trials 20] [--compile]

The model is the Llama of this file, or with `--qwen3` Qwen3 of the package transformers, with few and small layers. The
weights are random. The kernels are tuned by a worker of this machine and stored with its other results.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

import xetune_torch


@dataclass(frozen=True)
class Sizes:
    """Sizes of the model."""

    layers: int = 2
    width: int = 512
    hidden: int = 1408
    heads: int = 8
    vocabulary: int = 1024


class Block(nn.Module):
    """Attention and a gated MLP, each added to its input."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.norm1, self.norm2 = nn.RMSNorm(sizes.width), nn.RMSNorm(sizes.width)
        self.qkv = nn.Linear(sizes.width, 3 * sizes.width, bias=False)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)
        self.gate = nn.Linear(sizes.width, sizes.hidden, bias=False)
        self.up = nn.Linear(sizes.width, sizes.hidden, bias=False)
        self.down = nn.Linear(sizes.hidden, sizes.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        heads = (batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = self.qkv(self.norm1(x)).view(heads).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """Tokens [batch, length] to logits [batch, length, vocabulary]."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.embedding = nn.Embedding(sizes.vocabulary, sizes.width)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.norm = nn.RMSNorm(sizes.width)
        self.head = nn.Linear(sizes.width, sizes.vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def qwen3(sizes: Sizes) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    """Return Qwen3 of transformers, with twice as many heads of queries as of keys, and what computes its logits."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.width,
        intermediate_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.heads // 2,
        head_dim=sizes.width // sizes.heads,
    )
    model = Qwen3ForCausalLM(config)
    return model, lambda tokens: model(tokens, use_cache=False).logits


def main() -> None:
    """Replace the layers of a model, and compare its logits with those of the model before."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--qwen3", action="store_true", help="Qwen3 of transformers, which must be installed")
    options.add_argument("--quantize", help="weights, such as w4a16:128 (default: bf16)")
    options.add_argument("--tokens", type=int, default=64)
    options.add_argument("--trials", type=int, default=20, help="of each product; 0 uses what is stored")
    options.add_argument("--seconds", type=float, default=60.0, help="of tuning, for each product")
    options.add_argument("--compile", action="store_true", help="also run the model by torch.compile")
    given = options.parse_args()
    torch.manual_seed(0)
    sizes = Sizes()
    model = Llama(sizes)
    model, logits = qwen3(sizes) if given.qwen3 else (model, model)
    model.bfloat16().eval()
    tokens = torch.randint(0, sizes.vocabulary, (1, given.tokens))
    with torch.inference_mode():
        before = logits(tokens).float()
    store = xetune_torch.LocalStore()
    xetune_torch.use(store)
    try:
        report = xetune_torch.replace_linears(
            model, [(tokens,)], quantize_to=given.quantize, trials=given.trials, seconds=given.seconds
        )
    finally:
        store.close()
    print(report)
    run = torch.compile(logits) if given.compile else logits
    with torch.inference_mode():
        after = run(tokens).float()
    print(f"logits differ by {float((after - before).norm() / before.norm()):.2%} (Frobenius norm)")


if __name__ == "__main__":
    main()
