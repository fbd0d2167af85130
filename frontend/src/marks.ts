/** The marks of a turn: what came of it, in a few words. */
import { html, type TemplateResult } from "lit";
import type { Mark } from "./api";
import type { Texts } from "./texts";

const BAD: ReadonlySet<Mark["kind"]> = new Set(["failed", "not_done", "cut_short"]);
const NOTABLE: ReadonlySet<Mark["kind"]> = new Set(["asked", "stood_in", "outside"]);

export function markOf(mark: Mark, texts: Texts): TemplateResult {
  const looks = BAD.has(mark.kind)
    ? "mark sentence bad"
    : NOTABLE.has(mark.kind)
      ? "mark sentence notable"
      : "mark sentence";
  return html`<span class=${looks}>${wordsOf(mark, texts)}</span>`;
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
