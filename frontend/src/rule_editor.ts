/** The dialog of a rule: its verdict, what it is about, and, closed at first, whom, where and when. */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { icon } from "./icons";
import type { Condition, Devices, Named, Permissions, Rule, Verdict } from "./api";
import { style } from "./style";
import { View, valueOf } from "./view";

const FIRST: readonly Condition[] = ["entities", "areas", "domains", "actions"];
const MORE: readonly Condition[] = ["device_classes", "labels", "users", "devices", "tools"];
const MOST_SUGGESTIONS = 20;

@customElement("chatterbox-rule-editor")
export class RuleEditor extends View {
  @property({ attribute: false }) permissions!: Permissions;
  /** The rule as it is; undefined for a new one. */
  @property({ attribute: false }) rule: Rule | undefined;
  /** Why the rule could not be saved. */
  @property() problem = "";
  @state() private draft: Rule = { verdict: "ask" };
  /** The tools of all agents, as soon as they are known. */
  @state() private tools: Named[] = [];
  /** Why it cannot be saved yet: nothing says what it is about, or a time has one end. */
  @state() private missing: "condition" | "time" | undefined;
  /** Devices that fit what is typed. */
  @state() private suggestions: Named[] = [];
  /** Names of devices that were added here. */
  private readonly added = new Map<string, string>();

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("rule")) this.draft = structuredClone(this.rule ?? { verdict: "ask" });
  }

  protected override async load(): Promise<void> {
    await this.suggest("");
    this.tools = await this.call<Named[]>("permissions/tools");
  }

  private async suggest(search: string): Promise<void> {
    const fields = { language: this.page.texts.language, search, limit: MOST_SUGGESTIONS };
    const { rows } = await this.call<Devices>("permissions/devices", fields);
    this.suggestions = rows.map(({ entity_id, name, area }) => ({
      id: entity_id,
      name: area ? `${name} (${area})` : name,
    }));
  }

  protected override render(): TemplateResult {
    const { draft } = this;
    const more = MORE.filter((name) => this.choices(name).length || draft[name]);
    return this.dialog(
      this.text(this.rule ? "permissions.edit" : "permissions.add"),
      html`${this.failureNote()} ${this.alert(this.problem)}
        <label
          >${this.permissions.fields["verdict"]}<select
            @change=${(event: Event) => this.set({ verdict: valueOf(event) as Verdict })}
          >
            ${this.permissions.choices.verdicts.map(
              ({ id, name }) => html`<option value=${id} .selected=${id === draft.verdict}>${name}</option>`,
            )}
          </select></label
        >
        ${FIRST.map((name) => this.condition(name))}
        ${this.missing === "condition" ? this.fieldError("", this.text("permissions.no_condition")) : nothing}
        <details ?open=${!!draft.window || MORE.some((name) => draft[name])}>
          <summary>${this.permissions.fields["more"]}</summary>
          <div class="cards more">
            <div class="row">${this.time("after")} ${this.time("before")}</div>
            ${this.missing === "time" ? this.fieldError("", this.text("permissions.both_times")) : nothing}
            ${more.map((name) => this.condition(name))}
          </div>
        </details>`,
      html`<button class="main" value="save">${this.text("page.save")}</button>`,
      () => this.dispatchEvent(new CustomEvent("closed")),
      (event) => this.close(event),
    );
  }

  private choices(name: Condition): Named[] {
    return name === "tools" && this.tools.length ? this.tools : this.permissions.choices[name];
  }

  /** What can be added to a condition: of actions, those of the chosen devices and their types. */
  private offered(name: Condition): Named[] {
    if (name !== "actions") return this.choices(name);
    const domains = [...(this.draft.domains ?? []), ...(this.draft.entities ?? []).map(domainOf)];
    return this.choices(name).filter(({ id }) => domains.includes(domainOf(id)));
  }

  private set(change: Partial<Rule>): void {
    this.draft = { ...this.draft, ...change };
    this.missing = undefined;
  }

  private condition(name: Condition): TemplateResult {
    const values = this.draft[name] ?? [];
    const field = this.permissions.fields[name] ?? name;
    return html`<div class="cards">
      ${name === "entities" ? this.search(field) : this.choice(name, field, values)}
      ${
        values.length
          ? html`<ul class="row" aria-label=${field}>
              ${values.map((value) => html`<li class="mark">${this.chip(name, value, values)}</li>`)}
            </ul>`
          : nothing
      }
    </div>`;
  }

  private choice(name: Condition, field: string, values: string[]): TemplateResult {
    const left = this.offered(name).filter(({ id }) => !values.includes(id));
    const isOfNone = name === "actions" && !this.offered(name).length;
    const none = isOfNone ? "permissions.kind_first" : values.length ? "permissions.or" : "permissions.any";
    return html`<label
      >${field}<select
        ?disabled=${!left.length}
        @change=${(event: Event) => {
          const select = event.target as HTMLSelectElement;
          if (select.value) this.set({ [name]: [...values, select.value] });
          select.value = "";
        }}
      >
        <option value="">${this.text(none)}</option>
        ${left.map(({ id, name: label }) => html`<option value=${id}>${label}</option>`)}
      </select></label
    >`;
  }

  private search(field: string): TemplateResult {
    return html`<label
        >${field}<input
          list="found"
          autocomplete="off"
          placeholder=${this.text("permissions.search")}
          @input=${(event: InputEvent) => this.typed(event.target as HTMLInputElement)}
      /></label>
      <datalist id="found">${this.suggestions.map(({ name }) => html`<option value=${name}></option>`)}</datalist>`;
  }

  private typed(field: HTMLInputElement): void {
    const found = this.suggestions.find(({ name }) => name === field.value);
    const values = this.draft.entities ?? [];
    if (!found) return void this.attempt(() => this.suggest(field.value));
    field.value = "";
    this.added.set(found.id, found.name);
    if (!values.includes(found.id)) this.set({ entities: [...values, found.id] });
  }

  private chip(name: Condition, value: string, values: string[]): TemplateResult {
    const known = this.choices(name).find(({ id }) => id === value)?.name;
    const label = known ?? this.added.get(value) ?? value;
    return html`${label}
      <button
        type="button"
        class="bare"
        aria-label="${this.text("permissions.remove")}: ${label}"
        @click=${() => this.set({ [name]: values.filter((one) => one !== value) })}
      >
        ${icon("close")}
      </button>`;
  }

  private time(end: "after" | "before"): TemplateResult {
    const { window } = this.draft;
    return html`<label
      >${this.permissions.fields[end]}<input type="time" name=${end} .value=${window?.[end].slice(0, 5) ?? ""}
    /></label>`;
  }

  /** Hand over the rule, if both ends of its time are there or none. The dialog stays open until it is saved. */
  private close(event: SubmitEvent): void {
    if ((event.submitter as HTMLButtonElement | null)?.value !== "save") return;
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const ends = [...form.querySelectorAll<HTMLInputElement>("[type=time]")];
    const isAlways = ends.every((end) => !end.value);
    const given = Object.entries(this.draft).filter(([, value]) => Array.isArray(value) && value.length);
    // A rule about everything is a slip, unless it was one before.
    const isOfAll = isAlways && !given.length && (!this.rule || Object.keys(this.rule).length > 1);
    this.missing = isOfAll ? "condition" : !isAlways && ends.some((end) => !end.value) ? "time" : undefined;
    if (this.missing) return;
    const { window: earlier, verdict } = this.draft;
    const kept = [earlier?.after, earlier?.before].map((end) => end ?? ""); // with its seconds, which are not shown
    const [after = "", before = ""] = ends.map(({ value }, at) =>
      kept[at]?.startsWith(value) ? kept[at] : `${value}:00`,
    );
    const rule = { verdict, ...Object.fromEntries(given), ...(isAlways ? {} : { window: { after, before } }) } as Rule;
    this.dispatchEvent(new CustomEvent("save", { detail: rule }));
  }

  static override styles = [
    style,
    css`
      label,
      label > * {
        display: grid;
        min-width: 0;
        width: 100%;
      }
      .more .row {
        display: grid;
        grid-template-columns: 1fr 1fr;
      }
      .mark {
        display: inline-flex;
        align-items: center;
        border-radius: 16px;
      }
      .mark button {
        min-height: 24px;
        padding: 0;
      }
    `,
  ];
}

/** Return the kind of a device or an action, by its id. */
function domainOf(id: string): string {
  return id.split(".")[0] ?? "";
}
