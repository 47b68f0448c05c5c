"""Commands of the documentation that no test here runs, each with the reason; the start of a command says which."""

from docs.site.gallery import ENTRIES

NEEDS_A_NETWORK = "needs a network or a package index"
NEEDS_A_GPU = "needs an Intel GPU"
TAKES_MINUTES = "takes minutes"
RUNS_ON = "runs until it is stopped"
OTHERS = "needs machines, services or files of others"

NOT_RUN = {
    # The whole project: CI runs these itself.
    "make": "CI runs it",
    "python -m pip": NEEDS_A_NETWORK + "; tests/system/test_wheels.py builds and installs both",
    "pip": NEEDS_A_NETWORK,
    "python3 -m venv": NEEDS_A_NETWORK,
    "venv/bin/pip": NEEDS_A_NETWORK,
    "venv/bin/python kit.pyz": "tests/service/cli/test_cli_kit.py runs kits",
    "xetune toolchain install": NEEDS_A_NETWORK,
    "docker": "no container engine here; tests/docker checks its files",
    "POSTGRES_PASSWORD=": "no container engine here",
    "helm install": "no cluster here; tests/docker/test_helm.py renders the chart and checks what it makes",
    "kubectl": "no cluster here",
    "systemctl enable": "tests/docker/test_systemd.py has systemd check the units",
    "uvx --from wheels": NEEDS_A_NETWORK + "; tests/system/test_wheels.py runs it",
    "xetune xray vllm_xpu_kernels": OTHERS,
    # Services and machines.
    "xetune serve": f"{RUNS_ON}: the service of these tests",
    "XETUNE_HOST=0.0.0.0": f"{RUNS_ON}: tests/system/test_serve.py",
    "XETUNE_DATABASE_URL=postgresql://xetune@db": f"{RUNS_ON}: tests/system/test_cluster.py",
    "xetune cluster scheduler": f"{RUNS_ON}: tests/system/test_cluster.py",
    "xetune worker": f"{RUNS_ON}: tests/system/test_cluster.py",
    "XETUNE_SERVER=https://tune.example": OTHERS,
    "sbatch": OTHERS,
    "cat worker.sh": OTHERS,
    "export": "sets a variable of the reader's shell",
    "XETUNE_DATA_DIR=/data/of/the/lab": OTHERS,
    "xetune --server URL": "tests/service/cli run these commands against a service",
    "xetune measure": NEEDS_A_GPU,
    "xetune import cache.json.gz": OTHERS,
    "xetune import results.json": OTHERS,
    "curl -s 'localhost:8752/v1/imports": OTHERS,
    "curl -s 'localhost:8752/v1/xray": OTHERS,
    "xetune records push": OTHERS,
    "xetune records pull": OTHERS,
    "xetune kernels from-lighthouse": OTHERS,
    "xetune kernels to-lighthouse": "needs a kernel of a B70; tests/service/cli/test_lighthouse_commands.py has one",
    "xetune replay cache.json --search mypackage": "a sampler of the reader's; tests/tuner/search runs one",
    "xetune tune --m 512 --n 384 --k 1024 --dtype f16 --search mypackage": "the same",
    "optuna-dashboard": f"{RUNS_ON}, and is not installed",
    # Long.
    "xetune tune --shapes shapes.csv": TAKES_MINUTES,
    "xetune tune --shapes four.txt": TAKES_MINUTES,
    "xetune tune --shapes qwen3": TAKES_MINUTES,
    "xetune tune --shapes llama-3.2-1b@tokens=1,16,128": TAKES_MINUTES,
    "python -m benchmarks": TAKES_MINUTES,
    "MLIR_TESTS=": TAKES_MINUTES,
    "python -m pytest": "is a test itself",
    "python examples/torch_model.py": "tests/xetune_torch run it",
    # Run by the test that the reason names.
    "pg_": "tests/docs/test_backup.py",
    "cp ": "tests/docs/test_backup.py",
    "rm -f $XETUNE_DATA_DIR": "tests/docs/test_backup.py",
    'python -c "import sqlite3': "tests/docs/test_backup.py",
    "xetune run examples/gemm_prefetch.mlir": "tests/codegen/xe/modules/test_examples.py runs the examples",
    "xetune compile gemm.mlir": "tests/codegen/xe show errors of texts",
    **{f"xetune tune {entry.tuned}": "docs/site/gallery.py runs it" for entry in ENTRIES},
}
