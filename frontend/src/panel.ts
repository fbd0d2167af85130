/** The page of the side bar: its header, its tabs, and the view that the address names. */
import { LitElement, css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { PageInfo } from "./api";
import { commandError, navigate, type CommandError, type Hass } from "./hass";
import { icon, type IconName } from "./icons";
import { style } from "./style";
import { Texts } from "./texts";
import type { Page } from "./view";
import "./evaluate";
import "./now";
import "./permissions";
import "./trying";
import "./turn";
import "./turns";

/** The section of the docs that explains a view, by its path. */
const SECTIONS: Record<string, string> = {
  now: "panel/#now",
  turns: "panel/#conversations",
  permissions: "panel/#what-it-may-do",
  "permissions/rules": "permissions/#confirmations",
  evaluate: "evaluate/#try-a-model",
};

function isAnother(hass: Hass, earlier: Hass | undefined): boolean {
  return (["language", "locale", "connection", "dockedSidebar"] as const).some(
    (field) => hass[field] !== earlier?.[field],
  );
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
      const [texts, info, { documentation }] = await Promise.all([
        Texts.load(this.hass),
        this.hass.callWS<PageInfo>({ type: "chatterbox/page" }),
        this.hass.callWS<{ documentation: string }>({ type: "manifest/get", integration: "chatterbox" }),
      ]);
      this.page = {
        get hass() {
          return panel.hass;
        },
        texts,
        info,
        docs: documentation,
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
    const path = rest.join("/");
    const isBelow = view === "evaluate" || (view === "turns" && !!path);
    const hasMenu = this.narrow || this.hass.dockedSidebar === "always_hidden";
    const tabs = html`<nav class="views" aria-label="Chatterbox">
      ${this.tab("now", view)} ${this.tab("turns", view)}
      ${page.info.is_admin ? this.tab("permissions", view) : nothing}
    </nav>`;
    return html`
      <header>
        ${
          isBelow
            ? this.button("back", page.texts.text("page.back"), () => this.back(view))
            : hasMenu
              ? this.button("menu", page.texts.text("page.menu"), () => this.openMenu())
              : nothing
        }
        <h1>Chatterbox</h1>
        ${this.narrow ? nothing : tabs} ${this.help(page, view, path)}
      </header>
      <main>${this.view(page, view, path)}</main>
      ${this.narrow ? tabs : nothing}
    `;
  }

  private button(name: IconName, label: string, action: () => void): TemplateResult {
    return html`<button class="sign bare" aria-label=${label} title=${label} @click=${action}>${icon(name)}</button>`;
  }

  private help({ texts, docs }: Page, view: string, path: string): TemplateResult {
    const label = texts.text("page.help");
    const section = SECTIONS[`${view}/${path}`] ?? SECTIONS[view] ?? "panel/";
    return html`<a
      class="sign help"
      href=${docs + section}
      target="_blank"
      rel="noreferrer"
      aria-label=${label}
      title=${label}
      >${icon("help")}</a
    >`;
  }

  /** Go back to where the person came from, or to the view above. */
  private back(view: string): void {
    if (history.length > 1) history.back();
    else navigate(view === "turns" ? "/chatterbox/turns" : "/chatterbox/now", true);
  }

  private tab(name: IconName & ("now" | "turns" | "permissions"), current: string): TemplateResult {
    return html`<a href="/chatterbox/${name}" aria-current=${name === current ? "page" : "false"}
      >${icon(name)}${this.page?.texts.text(`page.${name}`)}</a
    >`;
  }

  private view(page: Page, name: string, path: string): TemplateResult {
    switch (name) {
      case "turns":
        return path
          ? html`<chatterbox-turn .page=${page} .path=${decodeURIComponent(path)}></chatterbox-turn>`
          : html`<chatterbox-turns .page=${page}></chatterbox-turns>`;
      case "permissions":
        return path === "try"
          ? html`<chatterbox-trying .page=${page}></chatterbox-trying>`
          : html`<chatterbox-permissions .page=${page} .path=${path}></chatterbox-permissions>`;
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
        align-items: center;
        column-gap: 12px;
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
      }
      .help {
        display: grid;
        place-items: center;
        height: 40px;
        margin-inline: auto -8px;
        border-radius: 50%;
      }
      .help:hover {
        background: var(--secondary-background-color);
      }
      .views {
        display: flex;
        align-self: stretch;
        background: var(--card-background-color);
      }
      .views a {
        display: flex;
        align-items: center;
        gap: 8px;
        min-height: 44px;
        padding: 2px 12px 0;
        text-decoration: none;
        border-bottom: 2px solid transparent;
      }
      .views a[aria-current="page"] {
        border-color: var(--primary-color);
        font-weight: 500;
      }
      .views a[aria-current="page"] .icon {
        fill: var(--primary-color);
      }
      :host([narrow]) .views {
        border-top: 1px solid var(--divider-color);
      }
      :host([narrow]) .views a {
        flex: 1 1 0;
        flex-direction: column;
        gap: 0;
        padding: 6px 2px;
        border-bottom: none;
        font-size: 12px;
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
