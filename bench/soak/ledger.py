"""What was acknowledged, to be found again in the database; and how long each call took."""

import itertools
import random
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field


@dataclass
class Ledger:
    """Filled by many threads. A write counts once its caller was told that it is done."""

    sent: set[str] = field(default_factory=set)
    asked: dict[int, str] = field(default_factory=dict)
    answered: dict[str, int] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    plans: set[int] = field(default_factory=set)
    tasks: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    descriptions: list[tuple[str, bool]] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def mark(self) -> str:
        """Return a word that no other write has, noted as sent."""
        with self.lock:
            mark = f"marque-{len(self.sent)}-"
            self.sent.add(mark)
            return mark

    def took(self, name: str, milliseconds: float) -> None:
        """Note a call that was answered."""
        with self.lock:
            self.times[name].append(milliseconds)

    def count(self, name: str) -> None:
        """Count something that may happen."""
        with self.lock:
            self.counts[name] += 1

    def fault(self, sentence: str) -> None:
        """Note something that must not happen."""
        with self.lock:
            self.faults.append(sentence)

    def some_question(self) -> int | None:
        """Return a question that was acknowledged, a late one rather."""
        with self.lock:
            ids = list(itertools.islice(reversed(self.asked), 50))
        return random.choice(ids) if ids else None
