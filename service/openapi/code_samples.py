"""Code samples of the API contract: each operation as a command of curl and as a program in Python."""

import json
from collections.abc import Mapping
from typing import Any, TypeGuard
from urllib.parse import quote, urlencode

SERVER = "http://127.0.0.1:8752"
_PROBLEM = {"m": 512, "n": 384, "k": 1024, "dtype_a": "f16", "dtype_b": "f16"}
_JOB = {"problem": _PROBLEM, "device": "auto", "budget": {"trials": 20, "seconds": 300}}
_ID = "01970a3c-0000-7000-8000-000000000000"
_PYTHON_ID = f'UUID("{_ID}")'
_SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_SCHEDULE = {"name": "nightly", "cron": "0 2 * * *", "timezone": "UTC", "job": _JOB}

BODIES: Mapping[str, object] = {
    "look_up_kernel": {"problem": _PROBLEM, "device": "b580"},
    "look_up_kernels": {"problems": [_PROBLEM, {**_PROBLEM, "m": 16}], "device": "b580"},
    "create_job": _JOB,
    "withdraw_kernel": {"reason": "wrong results with driver 26.31"},
    "create_schedule": _SCHEDULE,
    "replace_schedule": {**_SCHEDULE, "cron": "0 3 * * *"},
    "create_shape_set": {"csv": "m,n,k,weight,name\n16,96,64,3,qkv\n32,160,64,1,down\n", "device": "b580"},
    "store_records": {
        "records": [
            {
                "tuner": "triton",
                "kernel": "matmul_kernel",
                "problem": {"M": 512, "N": 384, "K": 1024},
                "device": {"pci_id": "8086:E211"},
                "config": {"BLOCK_M": 64, "num_warps": 8},
                "time_us": 41.5,
            }
        ]
    },
    "compile_kernels": {"problem": _PROBLEM, "device": "b580"},
    "explain_configuration": {"problem": _PROBLEM, "device": "b580"},
    "create_key": {"name": "a laptop", "scope": "read"},
}
"""JSON body of each operation that takes one, unless the body is a file."""

_FILES = {"import_results": ("results.jsonl", "application/json"), "xray_uploaded_file": ("kernels.whl", "")}
"""File sent by each operation that takes one, and its content type; application/octet-stream by default."""

_CALLS = {
    "look_up_kernel": "client.lookup(models.LookupBody.model_validate(body))",
    "look_up_kernels": "client.lookup_batch(models.BatchBody.model_validate(body))",
    "find_kernel": 'client.find(512, 384, 1024, dtype="f16", device="b580")',
    "create_job": "client.create_job(models.JobBody.model_validate(body))",
    "list_jobs": 'client.jobs(device="b580", limit=20)',
    "read_job": "client.job({id})",
    "list_trials": "client.trials({id})",
    "stream_events": "next(client.events({id}))",
    "cancel_job": "client.cancel({id})",
    "retry_job": "client.retry({id})",
    "list_kernels": 'client.kernels(device="b580", limit=20)',
    "read_kernel": "client.kernel({id})",
    "withdraw_kernel": 'client.withdraw_kernel({id}, "wrong results with driver 26.31")',
    "restore_kernel": "client.restore_kernel({id})",
    "read_artifact": f'client.artifact("{_SHA256}")',
    "head_artifact": f'client.artifact_size("{_SHA256}")',
    "read_kernel_file": 'client.kernel_file({id}, "kernel.spv")',
    "head_kernel_file": 'client.kernel_file_size({id}, "kernel.spv")',
    "list_binaries": "client.binaries({id})",
    "build_binary": "client.build_binary({id})",
    "rebuild_binaries": "client.rebuild_binaries(most=5)",
    "list_host_code": "client.host_codes({id})",
    "read_host_code": "client.host_code({id}, models.Language.PYOPENCL)",
    "list_devices": "client.devices()",
    "release_device": 'client.release_device("b580")',
    "read_device": 'client.device("b580")',
    "read_accuracy": 'client.accuracy("b580")',
    "read_fleet_over_time": 'client.fleet(periods=8, device="b580")',
    "create_schedule": "client.create_schedule(models.ScheduleBody.model_validate(body))",
    "list_schedules": "client.schedules()",
    "read_schedule": "client.schedule({id})",
    "replace_schedule": "client.replace_schedule({id}, models.ScheduleBody.model_validate(body))",
    "delete_schedule": "client.delete_schedule({id})",
    "pause_schedule": "client.pause_schedule({id})",
    "resume_schedule": "client.resume_schedule({id})",
    "run_schedule": "client.run_schedule({id})",
    "list_next_times": "client.next_times({id}, count=5)",
    "list_fires": "client.fires({id})",
    "create_shape_set": "client.create_shape_set(models.ShapeSetBody.model_validate(body))",
    "list_shape_sets": "client.shape_sets()",
    "list_presets": "client.presets()",
    "read_shape_set": "client.shape_set({id})",
    "delete_shape_set": "client.delete_shape_set({id})",
    "cancel_shape_set": "client.cancel_shape_set({id})",
    "import_results": 'client.import_results(Path("results.jsonl").read_bytes())',
    "export_results": 'client.export_results(device="b580")',
    "list_recordings": "client.recordings()",
    "read_recording": "client.recording({id})",
    "store_records": "client.store_records(models.RecordsBody.model_validate(body))",
    "list_records": 'client.records(tuner="triton")',
    "look_up_record": 'client.find_record("triton", "matmul_kernel", {{"M": 512, "N": 384, "K": 1024}}, "8086:E211")',
    "read_record_schema": "client.record_schema()",
    "read_record": "client.record({id})",
    "delete_record": "client.delete_record({id})",
    "compile_kernels": "client.compile(models.CompileBody.model_validate(body))",
    "explain_configuration": "client.explain(models.ExplainBody.model_validate(body))",
    "xray_uploaded_file": 'client.xray(Path("kernels.whl").read_bytes(), name="kernels.whl", device="b580")',
    "xray_stored_kernel": "client.xray_kernel({id})",
    "create_key": "client.create_key(models.KeyBody.model_validate(body))",
    "list_keys": "client.keys()",
    "revoke_key": "client.revoke_key({id})",
    "list_audit_events": "client.audit(limit=20)",
    "read_metrics": "client.metrics()",
    "read_health": "client.health()",
    "read_readiness": "client.readiness()",
}
"""Call of the client for each operation; `{id}` stands for the id of the path."""


def add_samples(paths: Mapping[str, Mapping[str, dict[str, Any]]]) -> None:
    """Add the samples to each operation of a contract, and the example to its JSON body."""
    for path, operations in paths.items():
        for method, operation in operations.items():
            name = operation["operationId"]
            if name in BODIES:
                operation["requestBody"]["content"]["application/json"]["example"] = BODIES[name]
            operation["x-codeSamples"] = [
                {"lang": "Shell", "label": "curl", "source": _curl(path, method, operation)},
                {"lang": "Python", "label": "Python", "source": _python(name)},
            ]


def _curl(path: str, method: str, operation: Mapping[str, Any]) -> str:
    name, query = operation["operationId"], dict[str, str]()
    for parameter in operation.get("parameters", ()):
        example = str(_example(parameter["schema"]))
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", quote(example, safe=""))
        elif parameter["in"] == "query" and parameter.get("required"):
            query[parameter["name"]] = example
    if name == "find_kernel":
        query |= {"dtype": "f16", "device": "b580"}
    options = {"get": "", "head": " --head", "post": " -X POST", "put": " -X PUT", "delete": " -X DELETE"}[method]
    words = [f"curl -sS{options} '{SERVER}{path}{'?' if query else ''}{urlencode(query)}'"]
    if name in _FILES:
        file, kind = _FILES[name]
        words += [f"-H 'Content-Type: {kind or 'application/octet-stream'}'", f"--data-binary @{file}"]
    elif name in BODIES:
        words += ["-H 'Content-Type: application/json'", f"-d '{json.dumps(BODIES[name])}'"]
    return " \\\n  ".join(words)


def _python(name: str) -> str:
    call = _CALLS[name].format(id=_PYTHON_ID)
    imports = [
        *(["from pathlib import Path"] if "Path(" in call else []),
        *(["from uuid import UUID"] if "UUID(" in call else []),
    ]
    names = "Client, models" if "models." in call else "Client"
    lines = [*imports, *([""] if imports else []), f"from xetune_client import {names}", ""]
    if "(body)" in call or ", body" in call:
        lines += [f"body = {_literal(BODIES[name])}", ""]
    return "\n".join([*lines, f'with Client("{SERVER}") as client:', f"    print({call})", ""])


def _literal(value: object, indent: str = "") -> str:
    """Return a value of JSON as Python writes it: a line for each entry of an object."""
    inner = indent + "    "
    if _is_object(value):
        entries = "".join(f'{inner}"{name}": {_literal(of, inner)},\n' for name, of in value.items())
        return f"{{\n{entries}{indent}}}"
    if isinstance(value, list):
        return f"[{', '.join(_literal(of, indent) for of in value)}]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, dict)


def _example(schema: Mapping[str, Any]) -> object:
    return schema["examples"][0] if "examples" in schema else schema.get("default", "")
