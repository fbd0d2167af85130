/** The view "What it may do": the devices, the rules in plain words, a sentence to try, and the PIN. */
import { css, html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { ref } from "lit/directives/ref.js";
import type { Permissions, PinUse, Rule, Trial, TriedCall, WrittenRule } from "./api";
import { style } from "./style";
import { View } from "./view";
import "./devices";
import "./rule_editor";

const USES: readonly PinUse[] = ["unlock", "open", "disarm"];
const LONGEST_SENTENCE = 500;

@customElement("chatterbox-permissions")
export class PermissionsView extends View {
  @state() private permissions: Permissions | undefined;
  /** The number of the rule that is edited, or that of a new one. */
  @state() private edited: number | undefined;
  /** Why the rule that is edited could not be saved. */
  @state() private problem = "";
  @state() private trial: Trial | undefined;
  @state() private isTrying = false;
  /** What has just been done, for those who do not see it. */
  @state() private outcome = "";
  private requests = 0;
  /** The number of the request whose answer is shown. */
  private newest = 0;

  protected override async load(): Promise<void> {
    await Promise.all([
      this.list(),
      this.subscribe("permissions/subscribe", () => void (this.edited === undefined && this.refresh())),
    ]);
  }

  private async list(): Promise<void> {
    await this.showNewest(this.call<Permissions>("permissions/get", { language: this.page.texts.language }));
  }

  /** Show what was asked for, unless something that was asked for later is shown. */
  private async showNewest(answer: Promise<Permissions>): Promise<Permissions> {
    const number = ++this.requests;
    const permissions = await answer;
    if (number > this.newest) [this.newest, this.permissions] = [number, permissions];
    return permissions;
  }

  /** Show the rules as they are now, and still why a change of them failed. */
  private async refresh(): Promise<void> {
    const { failure } = this;
    await this.attempt(() => this.list());
    this.failure ??= failure;
  }

  /** Change the rules that are shown. If others have changed them meanwhile, theirs are shown. */
  private async change(command: string, fields: object): Promise<boolean> {
    const [language, version] = [this.page.texts.language, this.permissions?.version];
    const changed = await this.attempt(() =>
      this.showNewest(this.call<Permissions>(`permissions/${command}`, { language, version, ...fields })),
    );
    if (!changed && this.failure?.code === "changed") await this.refresh();
    this.outcome = changed ? this.text("permissions.saved") : "";
    return !!changed;
  }

  protected override render(): TemplateResult {
    const { permissions } = this;
    return html`<div class="page" aria-busy=${!permissions}>
      ${this.failureNote()}
      <p class="hidden" role="status">${this.outcome}</p>
      ${
        permissions
          ? html`
              ${this.alert(permissions.locked && this.text("error.rules_locked"))}
              <section aria-labelledby="devices">
                <h2 id="devices">${this.text("permissions.devices")}</h2>
                <p class="quiet">${this.text("permissions.devices_note")}</p>
                <chatterbox-devices
                  class="cards"
                  .page=${this.page}
                  .permissions=${permissions}
                  @choose=${(event: CustomEvent<object>) => void this.change("choose", event.detail)}
                ></chatterbox-devices>
              </section>
              <section aria-labelledby="rules">${this.rules(permissions)}</section>
              <section aria-labelledby="try">${this.trying()}</section>
              <section aria-labelledby="pin">${this.pin(permissions)}</section>
              ${this.editor(permissions)}
            `
          : nothing
      }
      ${this.confirmation}
    </div>`;
  }

  private rules({ rules, defaults, locked }: Permissions): TemplateResult {
    return html`
      <div class="row spread">
        <h2 id="rules">${this.text("permissions.rules")}</h2>
        <button ?disabled=${locked} @click=${() => this.edit(rules.length)}>${this.text("permissions.add")}</button>
      </div>
      <p class="quiet">${this.text("permissions.rules_note")}</p>
      ${
        rules.length
          ? html`<ol class="cards">
              ${rules.map((one, place) => this.rule(one, place, rules, locked))}
            </ol>`
          : html`<p>${this.text("permissions.no_rules")}</p>`
      }
      <details>
        <summary>${this.text("permissions.defaults")}</summary>
        <ul class="cards">
          ${defaults.map(({ text }) => html`<li>${text}</li>`)}
        </ul>
      </details>
    `;
  }

  private rule({ text }: WrittenRule, place: number, rules: WrittenRule[], locked: boolean): TemplateResult {
    const number = place + 1;
    const button = (key: string, sign: string, isOff: boolean, action: () => void) =>
      html`<button
        class="sign"
        title=${this.text(`permissions.${key}`)}
        aria-label=${`${this.text(`permissions.${key}`)}: ${this.text("permissions.rule", { number })}`}
        ?disabled=${locked || isOff}
        @click=${action}
      >
        ${sign}
      </button>`;
    return html`<li class="card row spread" id="rule-${number}" tabindex="-1">
      <p class="wide"><span class="quiet figure">${number}.</span> ${text}</p>
      <div class="row">
        ${button("up", "↑", place === 0, () => void this.move(rules, place, place - 1))}
        ${button("down", "↓", number === rules.length, () => void this.move(rules, place, place + 1))}
        ${button("edit", "✎", false, () => this.edit(place))}
        ${button("delete", "✕", false, () => void this.discard(rules, place, text))}
      </div>
    </li>`;
  }

  private async move(rules: WrittenRule[], from: number, to: number): Promise<void> {
    const moved = rules.map(({ rule }) => rule);
    moved.splice(to, 0, ...moved.splice(from, 1));
    await this.change("set_rules", { rules: moved });
  }

  private async discard(rules: WrittenRule[], place: number, text: string): Promise<void> {
    const version = this.permissions?.version; // others may change the rules before the answer
    if (await this.confirm(this.text("permissions.delete_question", { rule: text }), this.text("permissions.delete"))) {
      const left = rules.filter((_, at) => at !== place).map(({ rule }) => rule);
      await this.change("set_rules", { rules: left, version });
    }
  }

  private edit(place: number): void {
    [this.edited, this.problem] = [place, ""];
  }

  private editor(permissions: Permissions): TemplateResult | typeof nothing {
    const place = this.edited;
    if (place === undefined) return nothing;
    const rules = permissions.rules.map(({ rule }) => rule);
    return html`<chatterbox-rule-editor
      .page=${this.page}
      .permissions=${permissions}
      .rule=${rules[place]}
      .problem=${this.problem}
      @closed=${() => {
        this.edited = undefined;
        void this.refresh();
      }}
      @save=${async (event: CustomEvent<Rule>) => {
        const isSaved = await this.change("set_rules", { rules: rules.toSpliced(place, 1, event.detail) });
        const { failure } = this;
        if (isSaved || failure?.code === "changed") this.edited = undefined;
        else if (failure) this.problem = this.page.texts.failure(failure);
      }}
    ></chatterbox-rule-editor>`;
  }

  private trying(): TemplateResult {
    const { agents } = this.page.info;
    const asked = new URLSearchParams(location.search); // by the view of a turn
    return html`
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
    `;
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
        ${call.rules.map((number) => this.link(number))}
      </div>
      ${call.why && call.why !== text ? html`<p class="quiet">${call.why}</p>` : nothing}`;
  }

  private link(number: number): TemplateResult {
    return html`<button class="bare link" @click=${() => this.show(number)}>
      ${this.text("permissions.rule", { number })}
    </button>`;
  }

  private show(number: number): void {
    const card = this.renderRoot.querySelector<HTMLElement>(`#rule-${number}`);
    card?.scrollIntoView({ block: "center" });
    card?.focus();
  }

  private pin({ has_pin, pin_uses, locked }: Permissions): TemplateResult {
    return html`
      <h2 id="pin">${this.text("permissions.pin")}</h2>
      <p class="quiet">${this.text(has_pin ? "permissions.pin_is_set" : "permissions.no_pin")}</p>
      <form class="card cards" @submit=${(event: SubmitEvent) => void this.setPin(event, has_pin)}>
        <label class="narrow"
          >${this.text(has_pin ? "permissions.new_pin" : "now.pin")}<input
            name="pin"
            type="password"
            inputmode="numeric"
            autocomplete="off"
            ?required=${!has_pin}
        /></label>
        <fieldset>
          <legend class="small">${this.text("permissions.pin_for")}</legend>
          ${USES.map(
            (use) =>
              html`<label class="check"
                ><input type="checkbox" name="uses" value=${use} .checked=${pin_uses.includes(use) || !has_pin} /><span
                  >${this.page.texts.choice("pin_use", use)}</span
                ></label
              >`,
          )}
        </fieldset>
        <div class="row">
          <button class="main" ?disabled=${locked}>${this.text("page.save")}</button>
          ${
            has_pin
              ? html`<button type="button" class="bad" ?disabled=${locked} @click=${() => void this.removePin()}>
                  ${this.text("permissions.remove_pin")}
                </button>`
              : nothing
          }
        </div>
      </form>
    `;
  }

  private async setPin(event: SubmitEvent, hasPin: boolean): Promise<void> {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const entered = new FormData(form);
    const pin = String(entered.get("pin") ?? "");
    form.querySelector<HTMLInputElement>("[name=pin]")!.value = "";
    const fields = { uses: entered.getAll("uses"), ...(pin || !hasPin ? { new_password: pin } : {}) };
    await this.change("set_pin", fields);
  }

  private async removePin(): Promise<void> {
    if (await this.confirm(this.text("permissions.remove_pin_question"), this.text("permissions.remove_pin"))) {
      await this.change("set_pin", { new_password: null, uses: [] });
    }
  }

  static override styles = [
    style,
    css`
      .page > [role="alert"] {
        position: sticky;
        top: 8px;
        z-index: 1;
      }
      .narrow {
        justify-self: start;
      }
      .link {
        min-height: 0;
        text-decoration: underline;
      }
      fieldset {
        padding: 0;
        border: none;
        color: var(--secondary-text-color);
      }
    `,
  ];
}

function focus(field: Element | undefined): void {
  if (field instanceof HTMLElement) queueMicrotask(() => field.focus());
}
