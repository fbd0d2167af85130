/** The view "Try a sentence": what an agent would do and say, without it being done. */
import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { ref } from "lit/directives/ref.js";
import type { Trial, TriedCall } from "./api";
import { View, sections } from "./view";

const LONGEST_SENTENCE = 500;

@customElement("chatterbox-trying")
export class TryingView extends View {
  @state() private trial: Trial | undefined;
  @state() private isTrying = false;

  protected override render(): TemplateResult {
    const { agents } = this.page.info;
    const asked = new URLSearchParams(location.search); // by the view of a turn
    return html`<div class="page">
      ${sections(this.page, "try")} ${this.failureNote()}
      <section aria-labelledby="try">
        <h2 id="try">${this.text("permissions.try")}</h2>
        <p class="quiet">${this.text("permissions.try_note")}</p>
        ${
          agents.length
            ? html`<form class="row" @submit=${(event: SubmitEvent) => void this.try(event)}>
                <label class="wide"
                  >${this.text("permissions.sentence")}<input
                    name="sentence"
                    required
                    maxlength=${LONGEST_SENTENCE}
                    value=${asked.get("sentence") ?? ""}
                    ${ref(asked.has("sentence") ? focus : undefined)}
                /></label>
                <label
                  >${this.text("turns.agent")}<select name="agent">
                    ${agents.map(({ id, name }) => html`<option value=${id} ?selected=${id === asked.get("agent")}>${name}</option>`)}
                  </select></label
                >
                <button class="main" ?disabled=${this.isTrying}>${this.text("permissions.try_button")}</button>
              </form>`
            : html`<p>${this.text("now.no_agents")}</p>`
        }
        <div role="status" aria-busy=${this.isTrying}>${this.trial ? this.tried(this.trial) : nothing}</div>
      </section>
    </div>`;
  }

  private async try(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const { sentence, agent } = Object.fromEntries(new FormData(event.target as HTMLFormElement));
    const fields = { language: this.page.texts.language, sentence, agent };
    [this.isTrying, this.trial] = [true, undefined];
    this.trial = await this.attempt(() => this.call<Trial>("permissions/try", fields));
    this.isTrying = false;
  }

  private tried({ text, calls }: Trial): TemplateResult {
    return html`<div class="card cards">
      ${
        calls.length
          ? html`<ul class="cards">
              ${calls.map((call) => html`<li>${this.triedCall(call, text)}</li>`)}
            </ul>`
          : html`<p>${this.text("permissions.nothing_done")}</p>`
      }
      ${text ? html`<p class="quiet">${this.text("permissions.answer")} <q>${text}</q></p>` : nothing}
    </div>`;
  }

  private triedCall(call: TriedCall, text: string): TemplateResult {
    const key = call.outcome === "held" && call.verdict === "pin" ? "held_pin" : call.outcome;
    return html`<div class="row">
        <span class="mark ${call.outcome === "runs" ? "" : "notable"}">${this.page.texts.choice("tried", key)}</span>
        <span class="sentence">${call.sentence || call.tool}</span>
        ${call.rules.map(
          (number) =>
            html`<a href="/chatterbox/permissions/rules?rule=${number}"
              >${this.text("permissions.rule", { number })}</a
            >`,
        )}
      </div>
      ${call.why && call.why !== text ? html`<p class="quiet">${call.why}</p>` : nothing}`;
  }
}

function focus(field: Element | undefined): void {
  if (field instanceof HTMLElement) queueMicrotask(() => field.focus());
}
