"""One retrieval peer as a process: read the files, build what it needs, answer, print.

    python benchmarks/measuring/peer_search.py ENGINE ACTION ROOT [WORDS]

ENGINE is `bm25s`, `rank-bm25` or `sqlite-fts5`; ACTION is `search` (print the ten best ids),
`status` (print how many records there are) or `rebuild` (write the index to a folder).
"""

from __future__ import annotations

import json
import pickle
import re
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN: Final = re.compile("[a-z0-9]+")
BEST: Final = 10


def main() -> None:
    """Answer once."""
    engine, action, root, *words = sys.argv[1:]
    query = " ".join(words)
    if action == "status":
        sys.stdout.write(f"{count(engine, root)}\n")
    else:
        sys.stdout.write(f"{ENGINES[engine](root, action, query)}\n")


def records(root: str) -> Iterator[tuple[str, str]]:
    """Yield id and text of each record, read from its line."""
    for path in sorted(Path(root).rglob("*.jsonl")):
        with path.open(encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                yield record["id"], f"{record['title']} {record['content']}"


def count(engine: str, root: str) -> int:
    """Return the number of records: parsed lines, or rows where the engine has tables."""
    if engine != "sqlite-fts5":
        return sum(1 for _ in records(root))
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE record (id TEXT, text TEXT)")
    base.executemany("INSERT INTO record VALUES (?, ?)", records(root))
    return int(base.execute("SELECT count(*) FROM record").fetchone()[0])


def run_bm25s(root: str, action: str, query: str) -> Any:
    """Index with bm25s, its own tokenizer without stop words."""
    import bm25s

    pairs = list(records(root))
    engine = bm25s.BM25()
    texts = [text for _, text in pairs]
    engine.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
    if action == "rebuild":
        with tempfile.TemporaryDirectory() as folder:
            engine.save(folder)
        return len(pairs)
    asked = bm25s.tokenize(query, stopwords=None, show_progress=False)
    found, _ = engine.retrieve(asked, k=BEST, show_progress=False)
    return [pairs[number][0] for number in found[0]]


def run_rank_bm25(root: str, action: str, query: str) -> Any:
    """Index with rank-bm25, tokens as the contract has them."""
    from rank_bm25 import BM25Okapi

    pairs = list(records(root))
    engine = BM25Okapi([TOKEN.findall(text.lower()) for _, text in pairs])
    if action == "rebuild":
        with tempfile.TemporaryFile() as file:
            pickle.dump(engine, file)
        return len(pairs)
    return engine.get_top_n(TOKEN.findall(query.lower()), [name for name, _ in pairs], n=BEST)


def run_sqlite(root: str, action: str, query: str) -> Any:
    """Index with SQLite FTS5, in memory for a search and in a file for a rebuild."""
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder, "index.db")) if action == "rebuild" else ":memory:"
        base = sqlite3.connect(place)
        base.execute("CREATE VIRTUAL TABLE record USING fts5(id UNINDEXED, text)")
        base.executemany("INSERT INTO record VALUES (?, ?)", records(root))
        base.commit()
        asked = " OR ".join(f'"{word}"' for word in TOKEN.findall(query.lower()))
        rows = base.execute(
            "SELECT id FROM record WHERE record MATCH ? ORDER BY bm25(record) LIMIT ?",
            (asked or '"none"', BEST),
        ).fetchall()
        base.close()
    return [row[0] for row in rows]


ENGINES: Final = {"bm25s": run_bm25s, "rank-bm25": run_rank_bm25, "sqlite-fts5": run_sqlite}


if __name__ == "__main__":
    main()
