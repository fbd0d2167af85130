/** The view "What it may do": a screen with the devices, and one with the rules in plain words and the PIN. */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import type { Permissions, PinUse, Rule, WrittenRule } from "./api";
import { style } from "./style";
import { View, sections } from "./view";
import "./devices";
import "./rule_editor";

const USES: readonly PinUse[] = ["unlock", "open", "disarm"];

/** Rules that are one line: the ones for the uses of the PIN that follow each other, or a single one. */
interface Line {
  at: number;
  rules: WrittenRule[];
}

@customElement("chatterbox-permissions")
export class PermissionsView extends View {
  @state() private permissions: Permissions | undefined;
  /** The number of the rule that is edited, or that of a new one. */
  @state() private edited: number | undefined;
  /** Why the rule that is edited could not be saved. */
  @state() private problem = "";
  @state() private isPinOpen = false;
  /** What has just been done, for those who do not see it. */
  @state() private outcome = "";
  /** The number of the rule that a link leads to, until it is shown. */
  private wanted = 0;
  private requests = 0;
  /** The number of the request whose answer is shown. */
  private newest = 0;

  protected override async load(): Promise<void> {
    await Promise.all([
      this.list(),
      this.subscribe("permissions/subscribe", () => void (this.edited === undefined && this.refresh())),
    ]);
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    if (changed.has("path")) this.wanted = Number(new URLSearchParams(location.search).get("rule"));
    const card = this.wanted ? this.renderRoot.querySelector<HTMLElement>(`[data-rules~="${this.wanted}"]`) : null;
    if (!card) return;
    this.wanted = 0;
    card.scrollIntoView({ block: "center" });
    card.focus();
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
  private async change(command: string, fields: object, field = ""): Promise<boolean> {
    const [language, version] = [this.page.texts.language, this.permissions?.version];
    const changed = await this.attempt(
      () => this.showNewest(this.call<Permissions>(`permissions/${command}`, { language, version, ...fields })),
      field,
    );
    if (!changed && this.failure?.code === "changed") {
      this.failedField = ""; // a dialog with the field is closed
      await this.refresh();
    }
    this.outcome = changed ? this.text("permissions.saved") : "";
    return !!changed;
  }

  protected override render(): TemplateResult {
    const { permissions } = this;
    return html`<div class="page" aria-busy=${!permissions}>
      ${sections(this.page, this.path)} ${this.failureNote()}
      <p class="hidden" role="status">${this.outcome}</p>
      ${
        permissions
          ? html`
              ${this.alert(permissions.locked && this.text("error.rules_locked"))}
              ${
                this.path === "rules"
                  ? html`<section aria-labelledby="rules">${this.rules(permissions)}</section>`
                  : html`<section aria-labelledby="devices">
                      <h2 id="devices">${this.text("permissions.devices")}</h2>
                      <p class="quiet">${this.text("permissions.devices_note")}</p>
                      <chatterbox-devices
                        class="cards"
                        .page=${this.page}
                        .permissions=${permissions}
                        @choose=${(event: CustomEvent<object>) => void this.change("choose", event.detail)}
                      ></chatterbox-devices>
                    </section>`
              }
              ${this.isPinOpen ? this.pin(permissions) : nothing} ${this.editor(permissions)}
            `
          : nothing
      }
      ${this.confirmation}
    </div>`;
  }

  private rules(permissions: Permissions): TemplateResult {
    const { rules, defaults, locked } = permissions;
    const lines: Line[] = [];
    for (const [at, one] of rules.entries()) {
      const last = lines.at(-1);
      if (one.is_of_pin && last?.rules[0]?.is_of_pin) last.rules.push(one);
      else lines.push({ at, rules: [one] });
    }
    return html`
      <div class="row spread">
        <h2 id="rules">${this.text("permissions.rules")}</h2>
        <button ?disabled=${locked} @click=${() => this.edit(rules.length)}>${this.text("permissions.add")}</button>
      </div>
      <p class="quiet">${this.text("permissions.rules_note")}</p>
      ${
        rules.length
          ? html`<ol class="cards">
              ${lines.map((line, place) => this.line(line, lines[place - 1], lines[place + 1], permissions))}
            </ol>`
          : html`<p ?hidden=${locked}>${this.text("permissions.no_rules")}</p>`
      }
      ${
        permissions.pin_uses.length || locked
          ? nothing
          : html`<div class="card row spread">
              <p class="wide">${this.text(permissions.has_pin ? "permissions.pin_is_set" : "permissions.no_pin")}</p>
              <button ?disabled=${locked} @click=${() => this.openPin()}>
                ${this.text(permissions.has_pin ? "permissions.change_pin" : "permissions.set_pin")}
              </button>
            </div>`
      }
      <details>
        <summary>${this.text("permissions.defaults")}</summary>
        <ul class="cards">
          ${defaults.map(({ text }) => html`<li>${text}</li>`)}
        </ul>
      </details>
    `;
  }

  private line(
    line: Line,
    before: Line | undefined,
    after: Line | undefined,
    permissions: Permissions,
  ): TemplateResult {
    const { locked, rules } = permissions;
    const [number, count] = [line.at + 1, line.rules.length];
    const isOfPin = !!line.rules[0]?.is_of_pin;
    const numbers = line.rules.map((_, place) => number + place);
    const uses = permissions.pin_uses.map((use) => this.page.texts.choice("pin_use", use)).join("; ");
    const text = isOfPin ? this.text("permissions.pin_rule", { uses }) : (line.rules[0]?.text ?? "");
    const name = this.text("permissions.rule", { number });
    const button = (key: "up" | "down" | "edit" | "delete", isOff: boolean, action: () => void) =>
      this.iconButton(key, this.text(`permissions.${key}`), action, locked || isOff, name);
    return html`<li class="card row spread" data-rules=${numbers.join(" ")} tabindex="-1">
      <p class="wide">
        <span class="quiet figure">${count > 1 ? `${number}–${number + count - 1}` : number}.</span> ${text}
      </p>
      <div class="row">
        ${button("up", !before, () => void this.move(rules, line, before?.at ?? 0))}
        ${button("down", !after, () => void this.move(rules, line, line.at + (after?.rules.length ?? 0)))}
        ${button("edit", false, () => (isOfPin ? this.openPin() : this.edit(line.at)))}
        ${button("delete", false, () => void (isOfPin ? this.removePin() : this.discard(rules, line.at, text)))}
      </div>
    </li>`;
  }

  private async move(rules: WrittenRule[], { at, rules: those }: Line, to: number): Promise<void> {
    const moved = rules.map(({ rule }) => rule);
    moved.splice(to, 0, ...moved.splice(at, those.length));
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

  private openPin(): void {
    [this.isPinOpen, this.failure] = [true, undefined];
  }

  private pin({ has_pin, pin_uses }: Permissions): TemplateResult {
    return this.dialog(
      this.text(has_pin ? "permissions.change_pin" : "permissions.set_pin"),
      html`${has_pin ? html`<p class="quiet">${this.text("permissions.pin_is_set")}</p>` : nothing}
        <label
          >${this.text(has_pin ? "permissions.new_pin" : "now.pin")}<input
            name="pin"
            type="password"
            inputmode="numeric"
            autocomplete="off"
            ?required=${!has_pin}
          />${this.fieldError("pin")}</label
        >
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
          ${this.fieldError("uses")}
        </fieldset>`,
      html`${
          has_pin
            ? html`<button type="button" class="bad" @click=${() => void this.removePin()}>
                ${this.text("permissions.remove_pin")}
              </button>`
            : nothing
        } <button class="main" value="save">${this.text("page.save")}</button>`,
      () => (this.isPinOpen = false),
      (event) => void this.setPin(event, has_pin),
    );
  }

  /** Set the PIN and its uses. The dialog stays open until they are. */
  private async setPin(event: SubmitEvent, hasPin: boolean): Promise<void> {
    if ((event.submitter as HTMLButtonElement | null)?.value !== "save") return;
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const entered = new FormData(form);
    const pin = String(entered.get("pin") ?? "");
    form.querySelector<HTMLInputElement>("[name=pin]")!.value = "";
    const fields = { uses: entered.getAll("uses"), ...(pin || !hasPin ? { new_password: pin } : {}) };
    const isSet = await this.change("set_pin", fields, pin && fields.uses.length ? "pin" : "uses");
    if (isSet || this.failure?.code === "changed") this.isPinOpen = false;
  }

  private async removePin(): Promise<void> {
    this.isPinOpen = false;
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
      fieldset {
        padding: 0;
        border: none;
        color: var(--secondary-text-color);
      }
    `,
  ];
}
