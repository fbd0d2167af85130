/** The base of all views: what they are given, and how they load, fail and tell about it. */
import { LitElement, html, nothing, type CSSResultGroup, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { ref } from "lit/directives/ref.js";
import type { PageInfo } from "./api";
import { commandError, type CommandError, type Hass } from "./hass";
import { icon, type IconName } from "./icons";
import { style } from "./style";
import type { Texts } from "./texts";

/** What the page hands to a view. It is another object only when the person, the language or the connection changes. */
export interface Page {
  /** Home Assistant as it is now; a state that changes does not draw a view anew. */
  readonly hass: Hass;
  readonly texts: Texts;
  readonly info: PageInfo;
  /** The address of the docs, from the manifest. */
  readonly docs: string;
}

export abstract class View extends LitElement {
  static override styles: CSSResultGroup = style;
  @property({ attribute: false }) page!: Page;
  /** What is left of the path after the name of the view. */
  @property() path = "";
  /** The dialog that asks before something, in views that do so. */
  @state() protected confirmation: TemplateResult | undefined;
  @state() protected failure: CommandError | undefined;
  /** The field at which the failure is shown; empty for the top of the view. */
  @state() protected failedField = "";
  private unsubscribe: (() => void)[] = [];
  private typing: number | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stop();
    clearTimeout(this.typing);
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has("page") || changed.has("path")) void this.start();
  }

  /** Load what the view shows, if anything; called again for another path, after an error, and when the connection is back. */
  protected async load(): Promise<void> {}

  protected async start(): Promise<void> {
    this.stop();
    await this.attempt(() => this.load());
  }

  /** Do something that may fail, and show how it failed, at a field if one is named. */
  protected async attempt<Result>(action: () => Promise<Result>, field = ""): Promise<Result | undefined> {
    try {
      const result = await action();
      this.failure = undefined;
      return result;
    } catch (reason) {
      [this.failure, this.failedField] = [commandError(reason), field];
      return undefined;
    }
  }

  protected async call<Result>(type: string, fields: object = {}): Promise<Result> {
    return this.page.hass.callWS<Result>({ type: `chatterbox/${type}`, ...fields });
  }

  /** Follow a subscription for as long as the view is shown. */
  protected async subscribe<Event>(type: string, callback: (event: Event) => void, fields: object = {}): Promise<void> {
    const end = await this.page.hass.connection.subscribeMessage<Event>(
      (event) => {
        if (this.isConnected) callback(event);
      },
      { type: `chatterbox/${type}`, ...fields },
    );
    const stop = () => void end().catch(() => undefined); // the connection may be gone, and the subscription with it
    if (this.isConnected) this.unsubscribe.push(stop);
    else stop();
  }

  private stop(): void {
    for (const end of this.unsubscribe.splice(0)) end();
  }

  /** Do something when nobody has typed for some milliseconds. */
  protected afterTyping(wait: number, action: () => void): void {
    clearTimeout(this.typing);
    this.typing = setTimeout(action, wait);
  }

  protected text(key: string, values: Record<string, string | number> = {}): string {
    return this.page.texts.text(key, values);
  }

  protected failureNote(): TemplateResult | typeof nothing {
    if (!this.failure || this.failedField) return nothing;
    return html`<div class="card row spread" role="alert">
      <span>${this.page.texts.failure(this.failure)}</span>
      <button @click=${() => void this.start()}>${this.text("page.retry")}</button>
    </div>`;
  }

  /** What is wrong with a field, below it: a text, or how the command about it failed. */
  protected fieldError(field: string, text = ""): TemplateResult | typeof nothing {
    const failed = this.failedField === field && this.failure ? this.page.texts.failure(this.failure) : "";
    return text || failed ? html`<span class="error small" role="alert">${text || failed}</span>` : nothing;
  }

  /** A button that is a glyph, with the name that a screen reader and a pointer get. */
  protected iconButton(name: IconName, label: string, action: () => void, isOff = false, of = ""): TemplateResult {
    return html`<button
      type="button"
      class="sign bare"
      title=${label}
      aria-label=${of ? `${label}: ${of}` : label}
      ?disabled=${isOff}
      @click=${action}
    >
      ${icon(name)}
    </button>`;
  }

  /** A sentence that everybody should see, if there is one. */
  protected alert(text: string | false | undefined): TemplateResult | typeof nothing {
    return text ? html`<p class="card" role="alert">${text}</p>` : nothing;
  }

  /** A list of cards, one for each item; items that have an `id` keep theirs. */
  protected cards<Item>(
    items: (Item & { id?: string })[],
    looks: string,
    content: (item: Item) => TemplateResult,
  ): TemplateResult {
    const card = (item: Item) => html`<li class="card ${looks}">${content(item)}</li>`;
    return html`<ul class="cards">
      ${repeat(items, ({ id }, place) => id ?? place, card)}
    </ul>`;
  }

  /** A value and its name, in a `dl`. */
  protected figure(name: string, value: string): TemplateResult {
    return html`<div>
      <dt class="quiet small">${name}</dt>
      <dd class="figure">${value}</dd>
    </div>`;
  }

  /** A dialog that is open from the start. */
  protected dialog(
    title: string,
    content: unknown,
    button: TemplateResult,
    closed: (event: Event) => void,
    submit?: (event: SubmitEvent) => void,
  ): TemplateResult {
    return html`<dialog ${ref(openModal)} aria-labelledby="title" @close=${closed}>
      <form method="dialog" @submit=${submit}>
        <div class="row title">
          <button value="" class="sign bare" formnovalidate aria-label=${this.text("page.close")}>
            ${icon("close")}
          </button>
          <h2 id="title" class="wide">${title}</h2>
        </div>
        ${content}
        <div class="row buttons">
          <button value="" class="bare" formnovalidate>${this.text("page.back")}</button>
          ${button}
        </div>
      </form>
    </dialog>`;
  }

  /** Ask before something that cannot be taken back. */
  protected async confirm(question: string, button: string): Promise<boolean> {
    return new Promise((answer) => {
      this.confirmation = this.dialog(
        question,
        nothing,
        html`<button value="yes" class="main bad">${button}</button>`,
        (event) => {
          this.confirmation = undefined;
          answer((event.target as HTMLDialogElement).returnValue === "yes");
        },
      );
    });
  }
}

/** The screens of "What it may do", by the rest of their path; each is reached from the others. */
export function sections(page: Page, current: string): TemplateResult {
  const link = (path: string, key: string) =>
    html`<a href="/chatterbox/permissions${path && `/${path}`}" aria-current=${path === current ? "page" : "false"}
      >${page.texts.text(key)}</a
    >`;
  return html`<nav class="row tabs" aria-label=${page.texts.text("page.permissions")}>
    ${link("", "permissions.devices")} ${link("rules", "permissions.rules")} ${link("try", "permissions.try")}
  </nav>`;
}

/** Return the text that was entered or chosen in a field. */
export function valueOf(event: Event): string {
  return (event.target as HTMLInputElement | HTMLSelectElement).value;
}

/** Open a dialog as soon as it is in the page. */
function openModal(dialog: Element | undefined): void {
  if (dialog instanceof HTMLDialogElement) queueMicrotask(() => dialog.isConnected && dialog.showModal());
}
