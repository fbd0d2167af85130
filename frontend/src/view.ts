/** The base of all views: what they are given, and how they load, fail and tell about it. */
import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { ref } from "lit/directives/ref.js";
import type { PageInfo } from "./api";
import { commandError, type CommandError, type Hass } from "./hass";
import type { Texts } from "./texts";

/** What the page hands to a view. It is another object only when the person, the language or the connection changes. */
export interface Page {
  /** Home Assistant as it is now; a state that changes does not draw a view anew. */
  readonly hass: Hass;
  readonly texts: Texts;
  readonly info: PageInfo;
}

interface Confirmation {
  question: string;
  button: string;
  answer: (yes: boolean) => void;
}

export abstract class View extends LitElement {
  @property({ attribute: false }) page!: Page;
  /** What is left of the path after the name of the view. */
  @property() path = "";
  @state() private confirmation: Confirmation | undefined;
  @state() protected failure: CommandError | undefined;
  private unsubscribe: (() => void)[] = [];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stop();
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

  protected text(key: string, values: Record<string, string | number> = {}): string {
    return this.page.texts.text(key, values);
  }

  protected failureNote(): TemplateResult | typeof nothing {
    if (!this.failure) return nothing;
    return html`<div class="note" role="alert">
      <span>${this.page.texts.failure(this.failure)}</span>
      <button @click=${() => void this.start()}>${this.text("page.retry")}</button>
    </div>`;
  }

  /** Ask before something that cannot be taken back. */
  protected async confirm(question: string, button: string): Promise<boolean> {
    return new Promise((answer) => {
      this.confirmation = { question, button, answer };
    });
  }

  protected confirmationDialog(): TemplateResult | typeof nothing {
    if (!this.confirmation) return nothing;
    const { question, button, answer } = this.confirmation;
    return html`<dialog
      ${ref(openModal)}
      aria-labelledby="question"
      @close=${(event: Event) => {
        this.confirmation = undefined;
        answer((event.target as HTMLDialogElement).returnValue === "yes");
      }}
    >
      <form method="dialog">
        <p id="question">${question}</p>
        <div class="row">
          <button value="">${this.text("page.back")}</button>
          <button value="yes" class="danger">${button}</button>
        </div>
      </form>
    </dialog>`;
  }
}

/** Open a dialog as soon as it is in the page; used with `ref`. */
export function openModal(dialog: Element | undefined): void {
  if (dialog instanceof HTMLDialogElement) queueMicrotask(() => dialog.isConnected && dialog.showModal());
}
