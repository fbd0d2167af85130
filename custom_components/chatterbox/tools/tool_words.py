"""What the words in the name of a tool tell of it, where it says nothing of itself, too little, or the opposite.

A name is the server's. It can make a tool need an approval; it saves one only if nothing in it could be a change.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SEARCHING: Final = frozenset({"search", "lookup"})
_READING: Final = _SEARCHING | {"get", "list", "find", "read", "fetch", "describe"}
_LOOKING: Final = _READING | {
    *("analyze", "are", "calculate", "check", "compare", "compute", "convert", "count", "explain", "has", "how"),
    *("inspect", "is", "look", "preview", "query", "show", "summarize", "validate", "view", "what", "when", "where"),
}
"""First words that agree with a tool that declares itself read-only."""
_REPORTS: Final = frozenset({"history", "info", "list", "log", "logs", "queue", "search", "state", "status"})
_REPORTED: Final = frozenset({"call", "charge", "heat", "lock", "open", "order", "play", "print"})
"""Words that are nouns before a report, as in `lock_status` and `order_history`."""
_JOINING: Final = frozenset({"and", "or", "then"})
_SOURCES: Final = frozenset(
    {
        *("advanced", "api", "arxiv", "bing", "brave", "code", "company", "deep", "doc", "docs", "document"),
        *("documents", "duckduckgo", "exa", "file", "files", "flight", "full", "github", "google", "hotel", "http"),
        *("https", "hybrid", "image", "images", "internet", "kagi", "knowledge", "local", "maps", "music", "news"),
        *("notion", "paper", "papers", "perplexity", "places", "product", "pubmed", "recipe", "reddit", "repository"),
        *("research", "scholar", "searxng", "semantic", "serp", "tavily", "vector", "video", "videos", "weather"),
        *("web", "wiki", "wikipedia", "youtube"),
    }
)
"""Words before a reading one that tell only where it is read."""
_HARMING: Final = frozenset(
    {
        *("approve", "buy", "bypass", "checkout", "deactivate", "delete", "deploy", "destroy", "disable", "disarm"),
        *("drop", "erase", "eval", "exec", "execute", "grant", "install", "kill", "lock", "order", "overwrite", "pay"),
        *("publish", "purchase", "purge", "reboot", "refund", "reload", "remove", "reset", "restart", "revert"),
        *("revoke", "rollback", "shut", "shutdown", "terminate", "transfer", "truncate", "uninstall", "unlock"),
        *("upgrade", "wipe", "withdraw"),
    }
)
_CHANGING: Final = _HARMING | {
    *("accept", "activate", "add", "adjust", "aloud", "and", "announce", "answer", "append", "apply", "archive", "arm"),
    *("assign", "attach", "authorize", "begin", "block", "book", "broadcast", "call", "cancel", "cast", "change"),
    *("charge", "clean", "clear", "click", "clone", "close", "complete", "confirm", "connect", "copy", "create"),
    *("decline", "decrease", "deny", "dim", "disconnect", "dismiss", "dispatch", "dispense", "down", "edit", "eject"),
    *("enable", "feed", "fill", "fire", "flash", "flush", "forget", "forward", "hang", "heat", "import", "increase"),
    *("insert", "invite", "invoke", "join", "kick", "launch", "leave", "lower", "make", "mark", "merge", "modify"),
    *("move", "mow", "mute", "notify", "off", "open", "or", "park", "patch", "pause", "perform", "phone", "play"),
    *("post", "pour", "press", "print", "provision", "push", "put", "raise", "rebuild", "recover", "redeem", "redo"),
    *("register", "reject", "rename", "renew", "replace", "reply", "reserve", "resize", "respond", "restore", "resume"),
    *("rid", "ring", "rotate", "run", "save", "sell", "send", "set", "shuffle", "silence", "skip", "snooze", "speak"),
    *("spend", "spray", "start", "stop", "submit", "subscribe", "suspend", "swap", "switch", "sync", "take", "then"),
    *("toggle", "trade", "trash", "trigger", "turn", "tweet", "unblock", "undo", "unmute", "unpublish", "unsubscribe"),
    *("up", "update", "upload", "upsert", "vote", "wake", "warm", "wash", "write", "zap"),
}
"""Words in the names of tools that may do more than read, such as `get_or_create_list` and `get_garage_up`."""
_CHANGING_AT_THE_END: Final = frozenset(
    {"away", "back", "done", "going", "in", "on", "out", "over", "ready", "through"}
)
"""As in `get_lights_on`."""
_OF_CONSEQUENCE: Final = _HARMING | {
    *("config", "configuration", "configure", "credential", "credentials", "door", "doors", "factory", "firmware"),
    *("garage", "gate", "password", "permission", "permissions", "shell", "valve"),
}
"""What is asked about, even if the tool says that it does no harm."""
_NAMING: Final = frozenset(
    {
        *("action", "cmd", "command", "function", "functionname", "method", "op", "operation", "service", "tool"),
        "toolname",
    }
)
"""Arguments by which a tool that does several things is told what to do, as `_naming_values` compares them."""


def reads_by_name(name: str) -> bool:
    """Return whether the name of a tool, such as `list_events` or `brave_web_search`, leaves nothing but reading."""
    words = _words_after_source(name)
    if not words or words[0] not in _READING:
        return False
    return _CHANGING.isdisjoint(words) and words[-1] not in _CHANGING_AT_THE_END


def acts_by_name(name: str) -> bool:
    """Return whether the name of a tool that declares itself read-only means an effect: `unlock_front_door`."""
    words = _words_after_source(name)
    changing = _CHANGING.intersection(words)
    if words and words[0] in _LOOKING:
        return not _JOINING.isdisjoint(changing) and not changing <= _JOINING
    return bool(changing - _REPORTED if words and words[-1] in _REPORTS else changing)


def has_consequences(name: str, arguments: Mapping[str, object]) -> bool:
    """Return whether the name or the arguments of a tool name an action that people want to be asked about."""
    return any(not _OF_CONSEQUENCE.isdisjoint(_words(one)) for one in (name, *_naming_values(arguments)))


def _naming_values(arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield what a tool is told to do, at any depth, in one argument or in lists."""
    waiting: list[tuple[str, object]] = [("", arguments)]
    while waiting:
        key, value = waiting.pop()
        match value:
            case str() if key.replace("_", "").casefold().removesuffix("s") in _NAMING:
                yield value
            case list():
                waiting += [(key, one) for one in value]
            case Mapping():
                waiting += value.items()
            case _:
                pass


def _words_after_source(name: str) -> list[str]:
    words = _words(name)
    while words and words[0] in _SOURCES:
        words = words[1:]
    return words


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]
