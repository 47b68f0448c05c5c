"""The table of what computes each product, which a thread in the background fills from a store, and keeps up."""

import logging
import queue
import threading
import time
import weakref
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

import torch

from xetune_torch.checking import Operands, activated, check_numbers, draw, packed_addresses, time_in_turns
from xetune_torch.errors import KernelRefused, StoreFailed, WrongResult
from xetune_torch.gemm import CPU, Gemm, Weights
from xetune_torch.kernels.cpu_kernel import CpuKernel, Plan
from xetune_torch.kernels.row_blocks import nearest_rows
from xetune_torch.kernels.xpu_kernel import XpuKernel
from xetune_torch.repeats import Outlook, Repeats
from xetune_torch.stores import Answer, Store

Choose = Literal["faster", "always"]
"""Condition for using a kernel: it was faster than torch, interleaved, or its numbers are right."""
MOST_ENTRIES = 10_000
"""Calls beyond these shapes and strides are torch's own."""
_log = logging.getLogger("xetune_torch")


@dataclass(frozen=True, slots=True)
class Choice:
    """Choice for a product: `source` says which kernel was compared (None: there is none), with its time and
    torch's in microseconds, the least of a few, and its largest error relative to the bound.

    Of quantised products torch's time is that of the same product without quantization.
    """

    gemm: Gemm
    source: str | None
    used: bool
    ours_us: float | None = None
    torch_us: float | None = None
    error: float | None = None
    reason: str | None = None

    @property
    def ratio(self) -> float | None:
        """Torch's time over ours."""
        return None if self.ours_us is None or self.torch_us is None else self.torch_us / self.ours_us


@dataclass(slots=True)
class Chosen:
    """The plans for a product: `packed` for constant weights, `plain` for any; None: torch's own."""

    plain: Plan | None = None
    packed: Plan | None = None
    plain_us: float | None = None
    packed_us: float | None = None


Install = Callable[[Chosen], None]
Key = tuple[Gemm, bool]
"""A product, and whether its B is constant."""


@dataclass(slots=True)
class _Product:
    """A product that was asked for: who is told what was chosen, what was tried, and what the store said last."""

    chosen: Chosen = field(default_factory=Chosen)
    installs: list[Install] = field(default_factory=list[Install])
    tried: set[Hashable] = field(default_factory=set[Hashable])
    outlook: Outlook = Outlook.OPEN


Packed = tuple[int, torch.Tensor | None]
"""The address of a packed weight (0: it is not packed yet), and its memory, which lives as long as this is held."""


class Frozen:
    """A weight whose contents do not change, and its packed copies by the plan that reads them.

    It keeps the storage, so that no other tensor gets its address.
    """

    def __init__(self, weight: torch.Tensor) -> None:
        self._storage = weight.untyped_storage()
        self.layout = _layout(weight)
        self.version = weight._version
        self.packs: dict[int, tuple[Plan, Packed]] = {}


class Dispatcher:
    """Asks a store in the background for kernels, and keeps what it chose. Thread-safe; calls never wait.

    Products whose answer may become better are asked for again, as `repeats` says; a better kernel replaces the one
    before.
    """

    def __init__(self) -> None:
        self.store: Store | None = None
        self.choose: Choose = "faster"
        self.frozen: dict[int, Frozen] = {}
        self.choices: list[Choice] = []
        self._tables: list[dict[Hashable, object]] = []
        self._known: dict[Gemm, dict[int, CpuKernel]] = {}
        self._products: dict[Key, _Product] = {}
        self.repeats: Repeats[Key] = Repeats()
        self.waits: Callable[[], bool] = lambda: False  # whether a call is to wait for its answer
        self._questions: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._idle, self._deciding = threading.Condition(), threading.Lock()
        self._pending = 0
        self._threads = torch.get_num_threads()
        self._thread: threading.Thread | None = None

    def table(self) -> dict[Hashable, object]:
        """Return a new table, which `use` empties."""
        made: dict[Hashable, object] = {}
        self._tables.append(made)
        return made

    def use(self, store: Store | None, choose: Choose = "faster") -> None:
        """Take kernels from a store from now on; None: compute with torch alone."""
        self.wait()
        with self._deciding:
            self.store, self.choose = store, choose
            self._forget()

    def ask(self, gemm: Gemm, install: Install, *, constant_b: bool = False) -> None:
        """Have `install` called in the background with what was chosen, each time when that changes."""
        if self.store is None:
            return
        self._threads = torch.get_num_threads()
        self.later(lambda: self._answer(gemm, install, constant_b))
        if self.waits():
            self.wait()

    def later(self, work: Callable[[], None]) -> None:
        """Run something in the background."""
        with self._idle:
            self._pending += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="xetune-torch", daemon=True)
                self._thread.start()
        self._questions.put(work)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Return True once nothing is left to ask, or False after a time."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._pending, timeout_s)

    def freeze(self, weight: torch.Tensor) -> None:
        """Declare that the contents of a weight do not change, so that it may be packed once."""
        address = weight.data_ptr()
        self.frozen[address] = Frozen(weight)
        weakref.finalize(weight, self.frozen.pop, address, None)
        for product in list(self._products.values()):
            product.installs.clear()  # they belong to the entries that go
        for table in self._tables:
            table.clear()

    def freezes_like(self, weight: torch.Tensor) -> bool:
        """Return whether a frozen weight has this type, shape and strides."""
        return any(frozen.layout == _layout(weight) for frozen in list(self.frozen.values()))

    def packed(self, weight: torch.Tensor, address: int, plan: Plan) -> Packed:
        """Return a frozen weight packed for a plan; the address 0 until it is packed, or if it is not frozen."""
        frozen = self.frozen.get(address)
        if frozen is None or frozen.version != weight._version:
            return _NOT_PACKED
        found = frozen.packs.get(id(plan))
        if found is None:
            frozen.packs[id(plan)] = plan, _NOT_PACKED
            self.later(lambda: _pack(frozen, plan, address))
            return _NOT_PACKED
        return found[1]

    def decide(self, gemm: Gemm, *, constant_b: bool = False) -> Chosen:
        """Return what computes a product: verify and time what the store has now, unless this was done before."""
        if self.store is None:
            return Chosen()
        self._threads = torch.get_num_threads()
        key = gemm, constant_b
        with self._deciding:
            product = self._products.setdefault(key, _Product())
            self._look_up(key, product)
        self.later(lambda: None)  # the thread may have another time to wake
        return product.chosen

    def _answer(self, gemm: Gemm, install: Install, constant_b: bool) -> None:
        key = gemm, constant_b
        with self._deciding:  # `decide` may be called while the thread answers
            product = self._products.get(key)
            if product is not None:
                product.installs.append(install)
                install(product.chosen)
                return
            product = self._products[key] = _Product(installs=[install])
            self._look_up(key, product)

    def _repeat(self) -> None:
        """Look a product up again that is due, if one is."""
        key = self.repeats.due(time.monotonic())
        with self._deciding:
            product = None if key is None else self._products.get(key)
            if key is not None and product is not None:
                self._look_up(key, product, again=True)

    def _look_up(self, key: Key, product: _Product, *, again: bool = False) -> None:
        """Compare what the store has for a product with torch, and note when to look it up again.

        While its job is under way, a product is not looked up again.
        """
        store, outlook = self.store, Outlook.OPEN
        if store is None:
            return
        try:
            if again and product.outlook is Outlook.QUEUED:
                outlook = store.outlook(key[0])
            if outlook is not Outlook.QUEUED:
                self._compare(store, key, product)
                outlook = store.outlook(key[0])
        except StoreFailed as failure:
            outlook = Outlook.FAILED
            if product.outlook is not Outlook.FAILED:
                _log.warning("%s", failure)
                self.choices.append(Choice(key[0], None, used=False, reason=str(failure)))
        finally:
            product.outlook = outlook
            self.repeats.note(key, outlook, time.monotonic())

    def _compare(self, store: Store, key: Key, product: _Product) -> None:
        """Compare every kernel for a product that was not tried yet with torch; install what is chosen."""
        gemm, constant_b = key
        operands: Operands | None = None

        def consider(plan: Plan, source: str) -> None:
            nonlocal operands
            operands = draw(gemm) if operands is None else operands
            if self._try(gemm, plan, source, operands, product.chosen):
                for install in list(product.installs):
                    install(product.chosen)

        near = nearest_rows(self._known.get(gemm.family, {}), gemm) if product.chosen.plain is None else None
        if near is not None and near.kernel not in product.tried:
            product.tried.add(near.kernel)
            consider(near, "nearest rows")
        for answer in store.find(gemm, constant_b=constant_b):
            tried = sha256(answer.binary).digest(), self._threads
            if tried in product.tried:
                continue
            product.tried.add(tried)
            try:
                kernel = _load(gemm, answer)
            except KernelRefused as refusal:
                self.choices.append(Choice(gemm, answer.source, used=False, reason=str(refusal)))
                continue
            if isinstance(kernel, CpuKernel) and not kernel.prepacked:
                self._known.setdefault(gemm.family, {})[gemm.m] = kernel
            consider(kernel, answer.source)

    def _try(self, gemm: Gemm, plan: Plan, source: str, operands: Operands, chosen: Chosen) -> bool:
        """Verify and time a plan; keep it in `chosen` if it is to be used, and return whether it is."""
        if torch.get_num_threads() != self._threads:  # each thread has its own number
            torch.set_num_threads(self._threads)
        try:
            if plan.threads > self._threads:
                raise KernelRefused(f"the kernel runs on {plan.threads} threads, torch on {self._threads}")
            error = check_numbers(gemm, plan, operands)
        except (KernelRefused, WrongResult) as refusal:
            _log.warning("%s: %s", gemm, refusal)
            self.choices.append(Choice(gemm, source, used=False, reason=str(refusal)))
            return False
        addresses, _packed = packed_addresses(plan, operands)
        with torch.inference_mode():
            of_torch, device = _of_torch(gemm, operands), gemm.place.of_torch
            ours_s, torch_s = time_in_turns(lambda: plan.launch(*addresses), of_torch, device)
        ours_us, torch_us = ours_s * 1e6, torch_s * 1e6
        rivals_us = [chosen.plain_us, chosen.packed_us] if plan.prepacked else [chosen.plain_us]
        least_us = min([torch_us, *(us for us in rivals_us if us is not None)])
        used = ours_us < least_us or self.choose == "always"
        if isinstance(gemm.b, Weights):  # torch's time is that of a product without quantization
            used = used or chosen.plain_us is None or ours_us < chosen.plain_us
        self.choices.append(Choice(gemm, source, used, ours_us, torch_us, error))
        if used and plan.prepacked:
            before, chosen.packed, chosen.packed_us = chosen.packed, plan, ours_us
            if before is not None:
                for frozen in list(self.frozen.values()):
                    frozen.packs.pop(id(before), None)
        elif used:
            chosen.plain, chosen.plain_us = plan, ours_us
        return used

    def _work(self) -> None:
        while True:
            try:
                work = self._questions.get(timeout=self.repeats.wait_s(time.monotonic()))
            except queue.Empty:
                with self._idle:
                    self._pending += 1
                work = self._repeat
            try:
                work()
            except Exception:  # noqa: BLE001 - a call is never to fail for what happens here
                _log.exception("a kernel could not be chosen; torch's own is used")
            finally:
                with self._idle:
                    self._pending -= 1
                    self._idle.notify_all()

    def _forget(self) -> None:
        for table in self._tables:
            table.clear()
        self._products.clear()
        self.repeats.clear()
        self._known.clear()
        self.choices.clear()


_NOT_PACKED: Packed = 0, None


def _layout(weight: torch.Tensor) -> tuple[object, ...]:
    return weight.dtype, weight.shape, weight.stride()


def _load(gemm: Gemm, answer: Answer) -> CpuKernel | XpuKernel:
    if gemm.place == CPU:
        return CpuKernel(answer.manifest, answer.binary)
    return XpuKernel(gemm.place, answer)


def _pack(frozen: Frozen, plan: Plan, address: int) -> None:
    packed = plan.pack(address)
    frozen.packs[id(plan)] = plan, (packed.data_ptr(), packed)


def _of_torch(gemm: Gemm, operands: Operands) -> Callable[[], torch.Tensor]:
    """Return torch's own computation of a product."""
    a, b, bias = operands.a, operands.b, operands.bias
    if operands.offsets is not None:
        ends = operands.offsets[1:]
        return lambda: grouped_product(a, b, ends)
    if gemm.a in ("s8", "u8"):
        return lambda: integer_product(a, b)
    if bias is None and gemm.activation == "none":
        return lambda: torch.mm(a, b)
    weight, cast = b.t(), None if bias is None else bias.to(a.dtype)
    return lambda: activated(torch.nn.functional.linear(a, weight, cast), gemm.activation)


def integer_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the product of bytes as int32, by torch."""
    return torch._int_mm(a, b) if a.dtype is b.dtype is torch.int8 else torch.mm(a.int(), b.int())


def grouped_product(a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Return the products of groups of rows, which end at the offsets, by torch, one by one."""
    c, start = a.new_zeros((a.shape[0], b.shape[2])), 0
    for expert, end in enumerate(offsets.tolist()):
        if end > start:
            c[start:end] = a[start:end] @ b[expert]
        start = end
    return c


DISPATCHER = Dispatcher()
"""That of this process."""


@contextmanager
def using(store: Store | None, choose: Choose = "faster") -> Generator[Dispatcher]:
    """Use a store within a block, and the one before after it."""
    before = DISPATCHER.store, DISPATCHER.choose
    DISPATCHER.use(store, choose)
    try:
        yield DISPATCHER
    finally:
        DISPATCHER.use(*before)
