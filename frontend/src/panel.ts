/** The page of the side bar: its header, its tabs, and the view that the address names. */
import { LitElement, css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { PageInfo } from "./api";
import { commandError, type CommandError, type Hass } from "./hass";
import { style } from "./style";
import { Texts } from "./texts";
import type { Page } from "./view";
import "./evaluate";
import "./now";
import "./permissions";
import "./turn";
import "./turns";

function isAnother(hass: Hass, earlier: Hass | undefined): boolean {
  return (["language", "locale", "connection"] as const).some((field) => hass[field] !== earlier?.[field]);
}

@customElement("chatterbox-panel")
export class ChatterboxPanel extends LitElement {
  /** Always the latest; the page is drawn anew only where a person would notice. */
  @property({ attribute: false, hasChanged: isAnother }) hass!: Hass;
  @property({ type: Boolean, reflect: true }) narrow = false;
  @property({ attribute: false }) route: { path: string } | undefined;
  @state() private page: Page | undefined;
  @state() private failure: CommandError | undefined;
  private readonly ready = () => void this.open();

  override connectedCallback(): void {
    super.connectedCallback();
    // Home Assistant takes a panel out of a page that has been hidden for minutes, and puts it back later.
    if (this.hasUpdated) void this.open();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.hass.connection.removeEventListener("ready", this.ready);
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("hass")) void this.open();
  }

  /** Load what all views need, when the page opens, is shown again, and when its connection is back. */
  private async open(): Promise<void> {
    const panel = this;
    this.hass.connection.addEventListener("ready", this.ready);
    try {
      const [texts, info] = await Promise.all([
        Texts.load(this.hass),
        this.hass.callWS<PageInfo>({ type: "chatterbox/page" }),
      ]);
      this.page = {
        get hass() {
          return panel.hass;
        },
        texts,
        info,
      };
      this.failure = undefined;
    } catch (reason) {
      this.failure = commandError(reason);
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { page } = this;
    if (!page) return this.failure ? html`<p class="page" role="alert">${this.failure.message}</p>` : nothing;
    const [, name = "", ...rest] = (this.route?.path ?? "").split("/");
    const view = name || "now";
    return html`
      <header>
        ${
          this.narrow
            ? html`<button class="sign bare" aria-label=${page.texts.text("page.menu")} @click=${this.openMenu}>
                ☰
              </button>`
            : nothing
        }
        <h1>Chatterbox</h1>
        <nav aria-label="Chatterbox">
          ${this.tab("now", view)} ${this.tab("turns", view)}
          ${page.info.is_admin ? this.tab("permissions", view) : nothing}
        </nav>
      </header>
      <main>${this.view(page, view, rest.join("/"))}</main>
    `;
  }

  private tab(name: string, current: string): TemplateResult {
    return html`<a href="/chatterbox/${name}" aria-current=${name === current ? "page" : "false"}
      >${this.page?.texts.text(`page.${name}`)}</a
    >`;
  }

  private view(page: Page, name: string, path: string): TemplateResult {
    switch (name) {
      case "turns":
        return path
          ? html`<chatterbox-turn .page=${page} .path=${decodeURIComponent(path)}></chatterbox-turn>`
          : html`<chatterbox-turns .page=${page}></chatterbox-turns>`;
      case "permissions":
        return html`<chatterbox-permissions .page=${page}></chatterbox-permissions>`;
      case "evaluate":
        return html`<chatterbox-evaluate .page=${page}></chatterbox-evaluate>`;
      default:
        return html`<chatterbox-now .page=${page}></chatterbox-now>`;
    }
  }

  private openMenu(): void {
    this.dispatchEvent(new CustomEvent("hass-toggle-menu", { bubbles: true, composed: true }));
  }

  static override styles = [
    style,
    css`
      :host {
        display: flex;
        flex-direction: column;
        height: calc(100dvh - var(--safe-area-inset-top, 0px) - var(--safe-area-inset-bottom, 0px));
        color: var(--primary-text-color);
        background: var(--primary-background-color);
        font-family: var(--ha-font-family-body, Roboto, sans-serif);
        font-size: 14px;
        line-height: 20px;
      }
      header {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        column-gap: 16px;
        padding: 0 16px;
        min-height: var(--header-height, 56px);
        color: var(--app-header-text-color, var(--primary-text-color));
        background: var(--app-header-background-color, var(--card-background-color));
        border-bottom: var(--app-header-border-bottom, 1px solid var(--divider-color));
      }
      h1 {
        font-size: 20px;
        font-weight: 400;
      }
      .sign {
        margin-inline-start: -8px;
        font-size: 20px;
      }
      nav {
        display: flex;
        align-self: stretch;
      }
      :host([narrow]) nav {
        flex-basis: 100%;
        justify-content: space-between;
      }
      nav a {
        display: flex;
        align-items: center;
        min-height: 44px;
        padding: 2px 10px 0;
        text-align: center;
        text-decoration: none;
        color: inherit;
        border-bottom: 2px solid transparent;
      }
      nav a[aria-current="page"] {
        border-color: var(--primary-color);
        font-weight: 500;
      }
      main {
        flex: 1;
        min-height: 0;
        display: flex;
        flex-direction: column;
      }
      main > * {
        flex: 1;
        min-height: 0;
        overflow-y: auto;
      }
    `,
  ];
}
