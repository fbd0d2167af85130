/** The base of all views: what they are given, and how they load, fail and tell about it. */
import { LitElement, html, nothing, type CSSResultGroup, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { ref } from "lit/directives/ref.js";
import type { PageInfo } from "./api";
import { commandError, type CommandError, type Hass } from "./hass";
import { style } from "./style";
import type { Texts } from "./texts";

/** What the page hands to a view. It is another object only when the person, the language or the connection changes. */
export interface Page {
  /** Home Assistant as it is now; a state that changes does not draw a view anew. */
  readonly hass: Hass;
  readonly texts: Texts;
  readonly info: PageInfo;
}

export abstract class View extends LitElement {
  static override styles: CSSResultGroup = style;
  @property({ attribute: false }) page!: Page;
  /** What is left of the path after the name of the view. */
  @property() path = "";
  /** The dialog that asks before something, in views that do so. */
  @state() protected confirmation: TemplateResult | undefined;
  @state() protected failure: CommandError | undefined;
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

  /** Load what the view shows; called again for another path, after an error, and when the connection is back. */
  protected abstract load(): Promise<void>;

  protected async start(): Promise<void> {
    this.stop();
    await this.attempt(() => this.load());
  }

  /** Do something that may fail, and show how it failed. */
  protected async attempt<Result>(action: () => Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await action();
      this.failure = undefined;
      return result;
    } catch (reason) {
      this.failure = commandError(reason);
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
    if (!this.failure) return nothing;
    return html`<div class="card row spread" role="alert">
      <span>${this.page.texts.failure(this.failure)}</span>
      <button @click=${() => void this.start()}>${this.text("page.retry")}</button>
    </div>`;
  }

  /** A sentence that everybody should see, if there is one. */
  protected alert(text: string | false): TemplateResult | typeof nothing {
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

  /** A dialog that is open from the start, and labelled by the element `title` of its content. */
  protected dialog(
    content: unknown,
    button: TemplateResult,
    closed: (event: Event) => void,
    submit?: (event: SubmitEvent) => void,
  ): TemplateResult {
    return html`<dialog ${ref(openModal)} aria-labelledby="title" @close=${closed}>
      <form method="dialog" @submit=${submit}>
        ${content}
        <div class="row">
          <button value="" formnovalidate>${this.text("page.back")}</button>
          ${button}
        </div>
      </form>
    </dialog>`;
  }

  /** Ask before something that cannot be taken back. */
  protected async confirm(question: string, button: string): Promise<boolean> {
    return new Promise((answer) => {
      this.confirmation = this.dialog(
        html`<p id="title">${question}</p>`,
        html`<button value="yes" class="bad">${button}</button>`,
        (event) => {
          this.confirmation = undefined;
          answer((event.target as HTMLDialogElement).returnValue === "yes");
        },
      );
    });
  }
}

/** Return the text that was entered or chosen in a field. */
export function valueOf(event: Event): string {
  return (event.target as HTMLInputElement | HTMLSelectElement).value;
}

/** Open a dialog as soon as it is in the page. */
function openModal(dialog: Element | undefined): void {
  if (dialog instanceof HTMLDialogElement) queueMicrotask(() => dialog.isConnected && dialog.showModal());
}
