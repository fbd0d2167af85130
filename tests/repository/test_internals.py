"""Nothing but `internals/` reaches inside Home Assistant: its components are used by their package and its constants.

The import contracts cannot hold that, because they see Home Assistant as one module.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests.repository.test_size import PRODUCT, modules

PUBLIC = re.compile(r"homeassistant\.components(\.\w+(\.const)?)?")
INSIDE = re.compile(r"homeassistant\.components\.\w+")
KEY = re.compile(
    r'(?:HassKey\[.+?\]\(\s*f"\{DOMAIN\}_|home_(?:singleton|collection)\(\s*")(\w+)"'
)


def for_types(tree: ast.Module) -> set[ast.AST]:
    """Return all that is only there for the type checker."""
    return {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }


def documentation(tree: ast.Module) -> set[ast.AST]:
    """Return the texts that explain."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def reaches(tree: ast.Module) -> Iterator[str]:
    """Yield what a module reaches inside Home Assistant."""
    ignored = for_types(tree) | documentation(tree)
    for node in ast.walk(tree):
        match node:
            case _ if node in ignored:
                pass
            case ast.ImportFrom(module=str(module), names=names, level=0) if (
                module.startswith("homeassistant.")
            ):
                private = [
                    name.name
                    for name in names
                    if name.name.startswith("_") and not name.name.endswith("_")
                ]
                yield from (
                    private
                    if PUBLIC.fullmatch(module) or ".components" not in module
                    else [module]
                )
            case ast.Import(names=names):
                yield from [
                    name.name
                    for name in names
                    if name.name.startswith("homeassistant.components")
                    and not PUBLIC.fullmatch(name.name)
                ]
            case ast.Attribute(
                value=ast.Name(id="hass" | "_hass")
                | ast.Attribute(attr="hass" | "_hass"),
                attr="data",
            ):
                yield "hass.data"
            case (
                ast.Attribute(value=ast.Name(id="self" | "cls"))
                | ast.Attribute(value=ast.Call(func=ast.Name("super")))
            ):
                pass
            case ast.Attribute(attr=str(name)) if (
                name.startswith("_") and not name.endswith("_") and name != "_replace"
            ):
                yield name
            case ast.Call(
                func=ast.Name("getattr"), args=[_, ast.Constant(str(name)), *_]
            ) if name.startswith("_") and not name.endswith("__"):
                yield name
            case ast.Constant(value=str(text)) if INSIDE.match(text):
                yield text
            case _:
                pass


def found_in(source: str) -> list[str]:
    """Return what a source text reaches inside Home Assistant."""
    return [*reaches(ast.parse(source))]


def test_the_inside_of_home_assistant_has_one_address() -> None:
    found = {
        f"{path}: {name}"
        for path, tree in modules().items()
        if path.parts[0] != "internals" and "agent" not in path.parts
        for name in reaches(tree)
    }
    assert found == set()


def test_no_two_values_of_a_home_share_a_key() -> None:
    keys = Counter(
        key
        for path in PRODUCT.rglob("*.py")
        for key in KEY.findall(path.read_text(encoding="utf-8"))
    )
    assert keys["plans"] == 1
    assert keys.total() > 30
    assert keys.most_common(1)[0][1] == 1


def test_every_way_inside_is_noticed() -> None:
    for source in (
        "from homeassistant.components.conversation.default_agent import DefaultAgent",
        "import homeassistant.components.conversation.gazetteer as gazetteer",
        "from homeassistant.components.conversation import _private",
        "agent._gazetteer",
        "getattr(agent, '_gazetteer', None)",
        "self._hass.data.get('assist_pipeline')",
        "TOOL = 'homeassistant.components.script.llm.ScriptTool'",
    ):
        assert found_in(source), source
    for source in (
        "from homeassistant.components.conversation import ChatLog",
        "from homeassistant.components.conversation.const import DOMAIN",
        "if TYPE_CHECKING:\n    from homeassistant.components.assist_pipeline.models import Pipeline",
        "self._own",
    ):
        assert not found_in(source), source
