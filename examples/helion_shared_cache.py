"""A Helion kernel whose tuned configurations are shared through a XeTune service; needs helion, torch and a GPU.

    export XETUNE_SERVER=http://host:8752 XETUNE_API_KEY=...
    export HELION_AUTOTUNE_CACHE=RemoteAutotuneCache
    export HELION_REMOTE_CACHE_BACKEND=xetune_client.tuners.helion.RecordsBackend
    python examples/helion_shared_cache.py

The first machine tunes; every other one with the same GPU and driver starts with its result.
"""

import helion
import helion.language as hl
import torch


@helion.kernel()
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return x + y, of two matrices of one shape."""
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile]
    return out


if __name__ == "__main__":
    device = "xpu" if torch.xpu.is_available() else "cuda"
    x, y = (torch.randn(512, 384, device=device) for _ in range(2))
    torch.testing.assert_close(add(x, y), x + y)
