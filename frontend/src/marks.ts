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
  switch (kind) {
    case "changed":
    case "not_done":
      return text || texts.text(`mark.${kind}`);
    case "failed":
    case "cut_short":
      return texts.choice("stop", text) === text ? texts.text(`mark.${kind}`) : texts.choice("stop", text);
    default:
      return texts.text(`mark.${kind}`, { name: text });
  }
}
