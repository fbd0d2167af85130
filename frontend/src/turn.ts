/** The view of one turn: what was said, where the time went, what was done and why it was let through. */
import { css, html, nothing, svg, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import type { Call, Change, Inference, Turn } from "./api";
import { navigate } from "./hass";
import { markOf } from "./marks";
import { style } from "./style";
import { View } from "./view";

/** One line of the time bar; times in milliseconds since the turn began. */
interface Span {
  label: string;
  note: string;
  begin: number;
  /** When the waiting ended and the writing began. */
  middle: number;
  end: number;
  looks: "model" | "tool" | "handover" | "bad";
}

@customElement("chatterbox-turn")
export class TurnView extends View {
  @state() private turn: Turn | undefined;
  @state() private notice = "";

  protected override async load(): Promise<void> {
    this.turn = undefined;
    this.notice = "";
    this.turn = await this.call<Turn>("turns/get", { turn_id: this.path, language: this.page.texts.language });
  }

  protected override render(): TemplateResult {
    const { turn } = this;
    return html`<div class="page" aria-busy=${!turn && !this.failure}>
      ${
        turn?.previous || turn?.next
          ? html`<nav class="row spread" aria-label=${this.text("turn.conversation")}>
              ${this.neighbour("turn.previous", turn.previous)} ${this.neighbour("turn.next", turn.next)}
            </nav>`
          : nothing
      }
      ${this.failureNote()}
      ${turn ? [this.summary(turn), this.actions(turn), this.times(turn), this.background(turn), this.footer(turn)] : nothing}
      ${this.confirmation}
    </div>`;
  }

  private neighbour(label: string, id: string | null | undefined): unknown {
    if (!id) return nothing;
    const path = `/chatterbox/turns/${encodeURIComponent(id)}`;
    const go = (event: Event) => {
      event.preventDefault();
      navigate(path, true); // so that the arrow leads back to the list
    };
    return html`<a href=${path} @click=${go}>${this.text(label)}</a>`;
  }

  private summary(turn: Turn): TemplateResult {
    const { texts } = this.page;
    const who = [turn.person ?? turn.caller, turn.place, turn.agent].filter(Boolean).join(" · ");
    const words = turn.withheld ? this.text(`turn.withheld_${turn.withheld}`) : turn.words_full;
    return html`<section class="card cards">
      <p class="quiet">${texts.fullMoment(turn.at)} · ${who}</p>
      <h2>${words || this.text("turns.no_words")}</h2>
      <p class="answer">${turn.answer_full || html`<span class="quiet">${this.text("turn.no_answer")}</span>`}</p>
      ${turn.marks.length ? html`<div class="row">${turn.marks.map((mark) => markOf(mark, texts))}</div>` : nothing}
    </section>`;
  }

  private times(turn: Turn): TemplateResult {
    const { texts } = this.page;
    const spans = this.spans(turn);
    const { usage } = turn;
    const percent = (ms: number) => Math.min(100, Math.max(0, (100 * ms) / Math.max(1, turn.duration_ms)));
    return html`<section>
      <h2>${this.text("turn.times")}</h2>
      <div class="card cards">
        <dl>
          ${this.figure(this.text("turn.whole"), texts.duration(turn.duration_ms))}
          ${this.figure(this.text("turn.first_words"), texts.duration(turn.first_words_ms))}
          ${
            usage.input_tokens
              ? html`
                  ${this.figure(this.text("turn.read"), texts.number(usage.input_tokens))}
                  ${this.figure(this.text("turn.cached"), texts.number(usage.cached_tokens))}
                  ${this.figure(this.text("turn.written"), texts.number(usage.output_tokens))}
                  ${this.figure(this.text("turn.price"), texts.money(turn.cost))}
                `
              : nothing
          }
        </dl>
        <ol class="cards">
          ${spans.map(
            (span) =>
              html`<li>
                <div class="row spread">
                  <span class=${span.looks === "model" ? "" : "sentence"}>${span.label}</span>
                  <span class="figure quiet"
                    >${span.looks === "handover" ? nothing : texts.duration(span.end - span.begin)}</span
                  >
                </div>
                <svg class=${span.looks} width="100%" height="10" aria-hidden="true">
                  <rect class="track" width="100%" height="10" rx="2"></rect>
                  ${svg`<rect class="wait" x="${percent(span.begin)}%" width="${percent(span.middle - span.begin)}%" height="10"></rect>
                <rect class="write" x="${percent(span.middle)}%" width="max(2px, ${percent(span.end - span.middle)}%)" height="10"></rect>`}
                  ${
                    turn.first_words_ms === null
                      ? nothing
                      : svg`<line x1="${percent(turn.first_words_ms)}%" x2="${percent(turn.first_words_ms)}%" y2="10"></line>`
                  }
                </svg>
                ${span.note ? html`<div class="quiet small">${span.note}</div>` : nothing}
              </li>`,
          )}
        </ol>
        ${turn.inferences.length ? html`<p class="quiet small">${this.text("turn.key")}</p>` : nothing}
        <details>
          <summary>${this.text("turn.phases")}</summary>
          <ol class="phases">
            ${turn.phases.map(
              ({ phase, at_ms }) =>
                html`<li>
                  <span class="figure quiet">${texts.duration(at_ms)}</span>
                  ${texts.choice("phase", phase.toLowerCase())}
                </li>`,
            )}
          </ol>
        </details>
      </div>
    </section>`;
  }

  private spans(turn: Turn): Span[] {
    const cutOff = turn.duration_ms;
    const inferences = turn.inferences.map((one): Span => {
      const end = one.duration_ms === null ? cutOff : one.began_ms + one.duration_ms;
      const middle = one.first_token_ms === null ? end : one.began_ms + one.first_token_ms;
      const label = one.answered_by || this.text("turn.inference");
      return { label, note: this.tokens(one), begin: one.began_ms, middle, end, looks: "model" };
    });
    const calls = [...turn.calls];
    const tools = turn.tools.flatMap((tool): Span[] => {
      const at = calls.findIndex(({ name }) => name === tool.name);
      const [call] = at < 0 ? [] : calls.splice(at, 1);
      if (tool.began_ms === null) return [];
      const end = tool.duration_ms === null ? cutOff : tool.began_ms + tool.duration_ms;
      const looks = tool.is_error ? "bad" : "tool";
      const label = call?.sentence || tool.name;
      return [{ label, note: "", begin: tool.began_ms, middle: tool.began_ms, end, looks }];
    });
    const handovers = turn.handovers.map(({ at_ms, to, reason }): Span => {
      const label = this.text("turn.handover", { name: to });
      return { label, note: reason, begin: at_ms, middle: at_ms, end: at_ms, looks: "handover" };
    });
    return [...inferences, ...tools, ...handovers].sort((one, other) => one.begin - other.begin);
  }

  private tokens(inference: Inference): string {
    const { texts } = this.page;
    const { input_tokens, cached_tokens, output_tokens, cost } = inference;
    if (input_tokens === null) return this.text("turn.no_tokens");
    if (input_tokens === 0) return ""; // Home Assistant itself
    const values = {
      read: texts.number(input_tokens),
      cached: texts.number(cached_tokens ?? 0),
      written: texts.number(output_tokens ?? 0),
    };
    return [this.text("turn.tokens", values), ...(cost ? [texts.money(cost)] : [])].join(" · ");
  }

  private actions(turn: Turn): unknown {
    const ofCalls = new Set(turn.calls.map((call) => call.id));
    const others = turn.changes.filter(({ tool_call_id }) => tool_call_id === null || !ofCalls.has(tool_call_id));
    if (!turn.calls.length && !others.length) return nothing;
    return html`<section>
      <h2>${this.text("turn.actions")}</h2>
      <ul class="cards">
        ${turn.calls.map((call) => {
          const changes = turn.changes.filter(({ tool_call_id }) => tool_call_id === call.id);
          return html`<li class="card cards">${this.action(call, changes)}</li>`;
        })}
        ${others.map((change) => html`<li class="card cards">${this.change(change)}</li>`)}
      </ul>
    </section>`;
  }

  private action(call: Call, changes: Change[]): TemplateResult {
    const outcome = call.is_error ? (call.has_run ? "turn.failed" : "turn.not_run") : "";
    return html`
      <div class="row spread">
        <h3 class="sentence">${call.sentence || call.name}</h3>
        <span class="row">
          ${outcome ? html`<span class="mark bad">${this.text(outcome)}</span>` : nothing}
          ${call.is_outside ? html`<span class="mark notable">${this.text("mark.outside")}</span>` : nothing}
        </span>
      </div>
      ${changes.map((change, at) => this.change(change, call.sentence, changes[at - 1]))}
      <details>
        <summary class="quiet">${this.text("turn.raw")}</summary>
        <div class="cards">
          <p class="small">${call.name}</p>
          <pre>${raw(call.arguments)}</pre>
          <pre>${raw(call.result)}</pre>
        </div>
      </details>
    `;
  }

  /** What came of a call, and which rule or answer let it through or kept it; what stands above is not repeated. */
  private change(change: Change, title = "", earlier?: Change): TemplateResult {
    const why = this.reasons(change);
    return html`<div>
      ${change.message === title ? nothing : html`<p class="sentence">${change.message}</p>`}
      ${why && !(earlier && this.reasons(earlier) === why) ? html`<p class="quiet">${why}</p>` : nothing}
    </div>`;
  }

  private reasons(change: Change): string {
    const { texts } = this.page;
    const verdict = change.verdict === null ? "" : texts.choice("verdict", change.verdict);
    const { rules } = change;
    const reasons = change.decided_by.map((reason) => texts.choice("decided", reason));
    const decided = rules.length ? rules.join(" ") : reasons.join(", ");
    const why = verdict && decided ? `${verdict}: ${decided}` : verdict || decided;
    return [why, change.answered_by, change.error].filter(Boolean).join(" · ");
  }

  private background(turn: Turn): unknown {
    if (!turn.context && !turn.outside.length) return nothing;
    return html`<section>
      <h2>${this.text("turn.background")}</h2>
      <div class="card">
        ${turn.outside.length ? html`<p>${this.text("turn.outside", { tools: turn.outside.join(", ") })}</p>` : nothing}
        ${
          turn.context
            ? html`<details>
                <summary>${this.text("turn.context")}</summary>
                <pre>${turn.context}</pre>
              </details>`
            : nothing
        }
      </div>
    </section>`;
  }

  private footer(turn: Turn): TemplateResult {
    return html`<section>
      <div class="row">
        ${
          this.page.info.is_admin && turn.words_full && !turn.withheld
            ? html`<a
                href="/chatterbox/permissions/try?${new URLSearchParams({ sentence: turn.words_full.slice(0, 500), agent: turn.agent_id })}"
                >${this.text("turn.again")}</a
              >`
            : nothing
        }
        <button @click=${() => void this.copy(turn)}>${this.text("turn.copy")}</button>
        <button class="bad" @click=${() => void this.delete(turn)}>${this.text("turn.delete")}</button>
        <span role="status">${this.notice}</span>
      </div>
      <p class="quiet small">${this.text("turn.copy_note")}</p>
    </section>`;
  }

  private async copy(turn: Turn): Promise<void> {
    await this.attempt(async () => {
      const { report } = await this.call<{ report: string }>("turns/report", { turn_id: turn.id });
      this.notice = this.text((await copied(report, this.renderRoot)) ? "turn.copied" : "turn.not_copied");
    });
  }

  private async delete(turn: Turn): Promise<void> {
    if (!(await this.confirm(this.text("turn.delete_question"), this.text("turn.delete")))) return;
    const deleted = await this.attempt(() => this.call<object>("turns/delete", { turn_id: turn.id }));
    if (deleted) navigate("/chatterbox/turns", true);
  }

  static override styles = [
    style,
    css`
      .answer {
        white-space: pre-line;
        font-size: 16px;
        line-height: 24px;
      }
      svg {
        display: block;
      }
      .track {
        fill: var(--secondary-background-color);
      }
      .wait {
        fill: var(--primary-color);
        opacity: 0.4;
      }
      .write {
        fill: var(--primary-color);
      }
      .tool .write {
        fill: var(--success-color, #43a047);
      }
      .handover .write {
        fill: var(--warning-color);
      }
      .bad .write {
        fill: var(--error-color);
      }
      line {
        stroke: var(--primary-text-color);
        stroke-dasharray: 2;
      }
      .phases .figure {
        display: inline-block;
        min-width: 72px;
      }
    `,
  ];
}

function raw(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Put a text on the clipboard; pages without HTTPS may do it only by way of a selection. */
async function copied(text: string, root: ParentNode & Node): Promise<boolean> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = document.createElement("textarea");
  field.value = text;
  root.appendChild(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  return isCopied;
}
