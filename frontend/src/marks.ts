/** The marks of a turn: what came of it, in a few words. */
import { html, type TemplateResult } from "lit";
import type { Mark } from "./api";
import type { Texts } from "./texts";

const LOOKS: Partial<Record<Mark["kind"], "bad" | "notable">> = {
  failed: "bad",
  not_done: "bad",
  cut_short: "bad",
  asked: "notable",
  stood_in: "notable",
  outside: "notable",
};

export function markOf(mark: Mark, texts: Texts): TemplateResult {
  return html`<span class="mark sentence ${LOOKS[mark.kind] ?? ""}">${wordsOf(mark, texts)}</span>`;
}

function wordsOf({ kind, text }: Mark, texts: Texts): string {
  if ((kind === "changed" || kind === "not_done") && text) return text;
  const isEnd = kind === "failed" || kind === "cut_short";
  return (isEnd && texts.choice("stop", text, "")) || texts.text(`mark.${kind}`, { name: text });
}
