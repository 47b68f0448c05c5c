"""Language models whose layers can be tuned, with the sizes of their published configuration files.

Each row names the model card whose `config.json` has the numbers, and when the model was published. Of a model for
text and images these are the layers of the text model. Left out: layers of one column (gates of shared experts),
and the blocks that draft tokens (multi-token prediction).

The numbers were read from copies of these files, or from code that names the model:
- Qwen3, Qwen3.5 from 27B, DeepSeek, Llama 4, Gemma 4 26B and gpt-oss: aiconfigurator-core 0.12.0, which ships copies;
  Qwen3.6: there, the copies of checkpoints that NVIDIA quantized. Qwen3 4B and 14B: litgpt 0.5.13, `config.py`.
- Gemma 3 and 4: transformers, `convert_gemma3_weights.py` and `convert_gemma4_weights.py`, by Google.
- Mistral Small: transformers 5.23, the defaults of `Mistral3Config` and `Mistral4Config`.
- Qwen3.5 4B and 9B: two copies each in tests of public repositories.
The layers that follow from an architecture (gates, shared keys): transformers 5.23, `modeling_*.py`.
"""

from dataclasses import dataclass

from tuner.shapes.layers import Layer, attention, experts, latent_attention, linear_attention, lm_head, mlp


@dataclass(frozen=True, slots=True)
class Model:
    """A decoder-only model. `card` and `published` are the source of its layers, whose names are unique."""

    name: str
    card: str
    published: str
    layers: tuple[Layer, ...]

    @property
    def source(self) -> str:
        """URL of its configuration file."""
        return f"https://huggingface.co/{self.card}/blob/main/config.json"


def _dense(
    hidden: int, intermediate: int, blocks: int, heads: int, kv_heads: int, head_dim: int, vocabulary: int
) -> tuple[Layer, ...]:
    """Return the layers of a model whose blocks are all equal."""
    return (
        *attention(hidden, heads, kv_heads, head_dim, blocks),
        *mlp(hidden, intermediate, blocks),
        *lm_head(hidden, vocabulary),
    )


def _qwen3_5_attention(hidden: int, heads: int, kv_heads: int, value_heads: int, blocks: int) -> tuple[Layer, ...]:
    """Return the attention of Qwen3.5: of 4 blocks, 3 are linear and one has full attention with a gate."""
    return (
        *attention(hidden, heads, kv_heads, 256, blocks // 4, output_gate=True),
        *linear_attention(hidden, 16, value_heads, 128, blocks - blocks // 4),
    )


def _qwen3_5_dense(
    hidden: int, intermediate: int, blocks: int, heads: int, kv_heads: int, value_heads: int
) -> tuple[Layer, ...]:
    return (
        *_qwen3_5_attention(hidden, heads, kv_heads, value_heads, blocks),
        *mlp(hidden, intermediate, blocks),
        *lm_head(hidden, 248320),
    )


def _qwen3_5_experts(hidden: int, intermediate: int, blocks: int, heads: int, value_heads: int) -> tuple[Layer, ...]:
    return (
        *_qwen3_5_attention(hidden, heads, 2, value_heads, blocks),
        *experts(hidden, intermediate, 256, 8, blocks),
        *mlp(hidden, intermediate, blocks, kind="shared_"),
        *lm_head(hidden, 248320),
    )


def _gemma_4_small(
    hidden: int, kv_heads: int, *, local: tuple[int, int], full: tuple[int, int], mlps: tuple[Layer, ...]
) -> tuple[Layer, ...]:
    """Return the layers of a Gemma 4 with embeddings for each block (E2B, E4B).

    `local` and `full` count the blocks with keys and values of their own, and those that take these of an earlier one.
    """
    blocks, heads, per_block = sum(local) + sum(full), 8, 256
    return (
        Layer("qkv", (heads + 2 * kv_heads) * 256, hidden, local[0]),
        Layer("q", heads * 256, hidden, local[1]),
        Layer("o", hidden, heads * 256, sum(local)),
        Layer("global_qkv", (heads + 2 * kv_heads) * 512, hidden, full[0]),
        Layer("global_q", heads * 512, hidden, full[1]),
        Layer("global_o", hidden, heads * 512, sum(full)),
        *mlps,
        Layer("per_layer_model_projection", blocks * per_block, hidden, 1),
        Layer("per_layer_input_gate", per_block, hidden, blocks),
        Layer("per_layer_projection", hidden, per_block, blocks),
        *lm_head(hidden, 262144),
    )


def _gpt_oss(count: int, blocks: int) -> tuple[Layer, ...]:
    return (*attention(2880, 64, 8, 64, blocks), *experts(2880, 2880, count, 4, blocks), *lm_head(2880, 201088))


_QWEN_27B = _qwen3_5_dense(5120, 17408, 64, 24, 4, 48)
_QWEN_35B = _qwen3_5_experts(2048, 512, 40, 16, 32)

MODELS = {
    model.name: model
    for model in (
        Model("llama-2-7b", "meta-llama/Llama-2-7b-hf", "2023-07", _dense(4096, 11008, 32, 32, 32, 128, 32000)),
        Model("llama-3-8b", "meta-llama/Meta-Llama-3-8B", "2024-04", _dense(4096, 14336, 32, 32, 8, 128, 128256)),
        Model("llama-3-70b", "meta-llama/Meta-Llama-3-70B", "2024-04", _dense(8192, 28672, 80, 64, 8, 128, 128256)),
        Model("llama-3.2-1b", "meta-llama/Llama-3.2-1B", "2024-09", _dense(2048, 8192, 16, 32, 8, 64, 128256)),
        Model(
            "llama-4-scout",
            "meta-llama/Llama-4-Scout-17B-16E-Instruct",
            "2025-04",
            (
                *attention(5120, 40, 8, 128, 48),
                *experts(5120, 8192, 16, 1, 48),
                *mlp(5120, 8192, 48, kind="shared_"),
                *lm_head(5120, 202048),
            ),
        ),
        Model(
            "llama-4-maverick",
            "meta-llama/Llama-4-Maverick-17B-128E-Instruct",
            "2025-04",
            (
                *attention(5120, 40, 8, 128, 48),
                *mlp(5120, 16384, 24),
                *experts(5120, 8192, 128, 1, 24),
                *mlp(5120, 8192, 24, kind="shared_"),
                *lm_head(5120, 202048),
            ),
        ),
        Model("mistral-7b", "mistralai/Mistral-7B-v0.1", "2023-09", _dense(4096, 14336, 32, 32, 8, 128, 32000)),
        Model(
            "mistral-small-3.1-24b",
            "mistralai/Mistral-Small-3.1-24B-Instruct-2503",
            "2025-03",
            _dense(5120, 32768, 40, 32, 8, 128, 131072),
        ),
        Model(
            "mistral-small-4-119b",
            "mistralai/Mistral-Small-4-119B-2603",
            "2026-03",
            (
                *latent_attention(4096, 32, 1024, 256, 64, 64, 128, 36),
                *experts(4096, 2048, 128, 4, 36),
                *mlp(4096, 2048, 36, kind="shared_"),
                *lm_head(4096, 131072),
            ),
        ),
        Model(
            "deepseek-v3",
            "deepseek-ai/DeepSeek-V3",
            "2024-12",
            (
                *latent_attention(7168, 128, 1536, 512, 128, 64, 128, 61),
                *mlp(7168, 18432, 3),
                *experts(7168, 2048, 256, 8, 58),
                *mlp(7168, 2048, 58, kind="shared_"),
                *lm_head(7168, 129280),
            ),
        ),
        Model("qwen2.5-7b", "Qwen/Qwen2.5-7B", "2024-09", _dense(3584, 18944, 28, 28, 4, 128, 152064)),
        Model("qwen3-0.6b", "Qwen/Qwen3-0.6B", "2025-04", _dense(1024, 3072, 28, 16, 8, 128, 151936)),
        Model("qwen3-1.7b", "Qwen/Qwen3-1.7B", "2025-04", _dense(2048, 6144, 28, 16, 8, 128, 151936)),
        Model("qwen3-4b", "Qwen/Qwen3-4B", "2025-04", _dense(2560, 9728, 36, 32, 8, 128, 151936)),
        Model("qwen3-8b", "Qwen/Qwen3-8B", "2025-04", _dense(4096, 12288, 36, 32, 8, 128, 151936)),
        Model("qwen3-14b", "Qwen/Qwen3-14B", "2025-04", _dense(5120, 17408, 40, 40, 8, 128, 151936)),
        Model("qwen3-32b", "Qwen/Qwen3-32B", "2025-04", _dense(5120, 25600, 64, 64, 8, 128, 151936)),
        Model(
            "qwen3-30b-a3b",
            "Qwen/Qwen3-30B-A3B",
            "2025-04",
            (*attention(2048, 32, 4, 128, 48), *experts(2048, 768, 128, 8, 48), *lm_head(2048, 151936)),
        ),
        Model("qwen3.5-4b", "Qwen/Qwen3.5-4B", "2026-03", _qwen3_5_dense(2560, 9216, 32, 16, 4, 32)),
        Model("qwen3.5-9b", "Qwen/Qwen3.5-9B", "2026-03", _qwen3_5_dense(4096, 12288, 32, 16, 4, 32)),
        Model("qwen3.5-27b", "Qwen/Qwen3.5-27B", "2026-02", _QWEN_27B),
        Model("qwen3.5-35b-a3b", "Qwen/Qwen3.5-35B-A3B", "2026-02", _QWEN_35B),
        Model("qwen3.5-122b-a10b", "Qwen/Qwen3.5-122B-A10B", "2026-02", _qwen3_5_experts(3072, 1024, 48, 32, 64)),
        Model("qwen3.6-27b", "Qwen/Qwen3.6-27B", "2026-04", _QWEN_27B),
        Model("qwen3.6-35b-a3b", "Qwen/Qwen3.6-35B-A3B", "2026-04", _QWEN_35B),
        Model("gemma-2-9b", "google/gemma-2-9b", "2024-06", _dense(3584, 14336, 42, 16, 8, 256, 256000)),
        Model("gemma-3-1b", "google/gemma-3-1b-pt", "2025-03", _dense(1152, 6912, 26, 4, 1, 256, 262144)),
        Model("gemma-3-4b", "google/gemma-3-4b-pt", "2025-03", _dense(2560, 10240, 34, 8, 4, 256, 262208)),
        Model("gemma-3-12b", "google/gemma-3-12b-pt", "2025-03", _dense(3840, 15360, 48, 16, 8, 256, 262208)),
        Model("gemma-3-27b", "google/gemma-3-27b-pt", "2025-03", _dense(5376, 21504, 62, 32, 16, 128, 262208)),
        Model(
            "gemma-4-e2b",
            "google/gemma-4-E2B",
            "2026-04",
            _gemma_4_small(
                1536,
                1,
                local=(12, 16),
                full=(3, 4),
                mlps=(*mlp(1536, 6144, 15), *mlp(1536, 12288, 20, kind="wide_")),
            ),
        ),
        Model(
            "gemma-4-e4b",
            "google/gemma-4-E4B",
            "2026-04",
            _gemma_4_small(2560, 2, local=(20, 15), full=(4, 3), mlps=mlp(2560, 10240, 42)),
        ),
        Model(
            "gemma-4-26b-a4b",
            "google/gemma-4-26B-A4B",
            "2026-04",
            (
                *attention(2816, 16, 8, 256, 25),
                *attention(2816, 16, 2, 512, 5, kind="global_", keys_are_values=True),
                *experts(2816, 704, 128, 8, 30),
                *mlp(2816, 2112, 30, kind="shared_"),
                *lm_head(2816, 262144),
            ),
        ),
        Model(
            "gemma-4-31b",
            "google/gemma-4-31B",
            "2026-04",
            (
                *attention(5376, 32, 16, 256, 50),
                *attention(5376, 32, 4, 512, 10, kind="global_", keys_are_values=True),
                *mlp(5376, 21504, 60),
                *lm_head(5376, 262144),
            ),
        ),
        Model("gpt-oss-20b", "openai/gpt-oss-20b", "2025-08", _gpt_oss(32, 24)),
        Model("gpt-oss-120b", "openai/gpt-oss-120b", "2025-08", _gpt_oss(128, 36)),
        Model("phi-3-mini", "microsoft/Phi-3-mini-4k-instruct", "2024-04", _dense(3072, 8192, 32, 32, 32, 96, 32064)),
    )
}
