"""Routes and the optional module index of the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_retrieve.memoryset import MANIFEST
from mc_schema.routes import CATEGORIES, GENERAL, merged_specs, repeated_paths

from mc_cli.check.entries import holds_entries
from mc_cli.check.finding import ERROR, WARNING, Finding
from mc_cli.check.structure import CORE_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mc_schema.manifest import Manifest
    from mc_schema.routes import Route

    from mc_cli.check.inspection import Inspection


def route_findings(inspection: Inspection) -> Iterator[Finding]:
    """Yield what is wrong with the routes, what they require in vain, and what is not indexed."""
    manifest = inspection.manifest
    if manifest is None:
        return
    general = manifest.route(GENERAL)
    routes = {category: manifest.route(category) for category in CATEGORIES}
    for route in (general, *routes.values()):
        yield from _fault_findings(inspection, route)
    reported: set[int] = set()
    path = inspection.repo_path(MANIFEST)
    for category, route in routes.items():
        for spec in repeated_paths(general, route):
            if spec.line not in reported:
                reported.add(spec.line)
                message = f"`{spec.path}` is routed twice for {category}"
                line = inspection.manifest_line(spec.line)
                yield Finding(path, line, ERROR, "doubled_route", message, "keep one line")
    yield from _missing_findings(inspection, general, list(routes.values()))
    yield from _index_findings(inspection, manifest)


def _fault_findings(inspection: Inspection, route: Route) -> Iterator[Finding]:
    for fault in route.faults:
        severity = ERROR if fault.is_fatal else WARNING
        code = "invalid_route" if fault.is_fatal else "ignored_route_line"
        hint = "correct the section of the manifest"
        path, line = inspection.repo_path(MANIFEST), inspection.manifest_line(fault.line)
        yield Finding(path, line, severity, code, fault.message, hint)


def _missing_findings(
    inspection: Inspection, general: Route, routes: list[Route]
) -> Iterator[Finding]:
    seen: set[str] = set(CORE_FILES)
    path = inspection.repo_path(MANIFEST)
    for route in routes:
        for spec in merged_specs(general, route):
            if spec.required and spec.path not in seen and not inspection.exists(spec.path):
                message = f"the required file `{spec.path}` does not exist"
                hint = "create it, or move the line below `Load if present:`"
                line = inspection.manifest_line(spec.line)
                yield Finding(path, line, ERROR, "missing_required_file", message, hint)
            seen.add(spec.path)


def _index_findings(inspection: Inspection, manifest: Manifest) -> Iterator[Finding]:
    for path in inspection.listing.paths:
        if "/" in path and holds_entries(path) and not manifest.is_indexed(path):
            yield Finding(
                inspection.repo_path(path),
                0,
                WARNING,
                "unindexed_module",
                "the optional module index does not name this file",
                f"`memory-custodian enable {path.removesuffix('.md')}`",
            )
