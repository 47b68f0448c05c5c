"""Weight matrices of language models.

A layer multiplies activations [tokens, K] by weights [K, N]. The functions return the layers of a part of a model from
the numbers in its `config.json`; projections of the same input that run as one GEMM are one layer:

    qkv           N = (heads + 2 * kv_heads) * head_dim                      K = hidden
    o             N = hidden                                                 K = heads * head_dim
    linear_qkvz   N = 2 * key_heads * key_dim + 2 * value_heads * value_dim  K = hidden
    linear_ba     N = 2 * value_heads                                        K = hidden
    linear_o      N = hidden                                                 K = value_heads * value_dim
    qkv_a         N = q_rank + kv_rank + rope_dim                            K = hidden
    q_b           N = heads * (nope_dim + rope_dim)                          K = q_rank
    kv_b          N = heads * (nope_dim + value_dim)                         K = kv_rank
    gate_up       N = 2 * intermediate                                       K = hidden
    down          N = hidden                                                 K = intermediate
    router        N = experts                                                K = hidden
    lm_head       N = vocabulary                                             K = hidden
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Experts:
    """Experts of a block, each with weights of its own: a token passes `per_token` of `count`."""

    count: int
    per_token: int


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights of [N, K] elements, used `times` in one pass.

    With `experts` a layer is that many matrices of these sizes, and each has only the rows of its tokens. `gated`
    weights are two projections of N / 2 columns, one of which passes the activation function and scales the other.
    `quantised` weights are those that a quantisation of the model is for.
    """

    name: str
    n: int
    k: int
    times: int
    experts: Experts | None = None
    gated: bool = False
    quantised: bool = True


def attention(
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    times: int,
    *,
    kind: str = "",
    output_gate: bool = False,
    keys_are_values: bool = False,
) -> tuple[Layer, ...]:
    """Return the projections of attention with grouped heads; `kind` is a prefix of their names.

    With `output_gate` Q brings a gate of its own size, and with `keys_are_values` V is K.
    """
    columns = heads * (2 if output_gate else 1) + kv_heads * (1 if keys_are_values else 2)
    return (
        Layer(f"{kind}qkv", columns * head_dim, hidden, times),
        Layer(f"{kind}o", hidden, heads * head_dim, times),
    )


def linear_attention(
    hidden: int, key_heads: int, value_heads: int, head_dim: int, times: int
) -> tuple[Layer, Layer, Layer]:
    """Return the projections of a gated delta rule (Gated DeltaNet) whose keys and values are equally wide."""
    keys, values = key_heads * head_dim, value_heads * head_dim
    return (
        Layer("linear_qkvz", 2 * keys + 2 * values, hidden, times),
        Layer("linear_ba", 2 * value_heads, hidden, times),
        Layer("linear_o", hidden, values, times),
    )


def latent_attention(
    hidden: int, heads: int, q_rank: int, kv_rank: int, nope_dim: int, rope_dim: int, value_dim: int, times: int
) -> tuple[Layer, ...]:
    """Return the projections of multi-head latent attention, as they are without absorption of kv_b."""
    return (
        Layer("qkv_a", q_rank + kv_rank + rope_dim, hidden, times),
        Layer("q_b", heads * (nope_dim + rope_dim), q_rank, times),
        Layer("kv_b", heads * (nope_dim + value_dim), kv_rank, times),
        Layer("o", hidden, heads * value_dim, times),
    )


def mlp(hidden: int, intermediate: int, times: int, *, kind: str = "") -> tuple[Layer, Layer]:
    """Return a gated MLP that all tokens pass; `kind` is a prefix of the names."""
    return (
        Layer(f"{kind}gate_up", 2 * intermediate, hidden, times, gated=True),
        Layer(f"{kind}down", hidden, intermediate, times),
    )


def experts(hidden: int, intermediate: int, count: int, per_token: int, times: int) -> tuple[Layer, Layer, Layer]:
    """Return the router and the gated experts of blocks; `intermediate` is that of one expert."""
    of = Experts(count, per_token)
    return (
        Layer("router", count, hidden, times, quantised=False),
        Layer("expert_gate_up", 2 * intermediate, hidden, times, of, gated=True),
        Layer("expert_down", hidden, intermediate, times, of),
    )


def lm_head(hidden: int, vocabulary: int) -> tuple[Layer]:
    """Return the projection to the vocabulary."""
    return (Layer("lm_head", vocabulary, hidden, 1, quantised=False),)
