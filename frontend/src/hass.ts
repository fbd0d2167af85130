/** The part of Home Assistant's `hass` object that custom panels may rely on. */

export interface Message {
  type: string;
  [field: string]: unknown;
}

export interface Connection {
  subscribeMessage<Event>(callback: (event: Event) => void, message: Message): Promise<() => Promise<void>>;
  addEventListener(type: "ready" | "disconnected", callback: () => void): void;
  removeEventListener(type: "ready" | "disconnected", callback: () => void): void;
}

export interface Hass {
  language: string;
  locale: { time_format: "language" | "system" | "12" | "24"; time_zone: "local" | "server" };
  config: { time_zone: string };
  /** How the side bar is shown; it is opened by a button of the page where it is hidden. */
  dockedSidebar?: "docked" | "always_hidden" | "auto";
  connection: Connection;
  callWS<Result>(message: Message): Promise<Result>;
  callApi<Result>(method: "POST", path: string, body: object): Promise<Result>;
}

/** An error of a WebSocket command; Home Assistant rejects with it. */
export interface CommandError {
  code: string;
  message: string;
  /** Of the section `exceptions` of our texts. */
  translation_key?: string;
  translation_placeholders?: Record<string, string>;
}

export function commandError(reason: unknown): CommandError {
  const isError = typeof reason === "object" && reason !== null && "code" in reason && "message" in reason;
  return isError ? (reason as CommandError) : { code: "unknown", message: String(reason) };
}

/** Open a path of this frontend, as a click on a link does. */
export function navigate(path: string, replace = false): void {
  if (replace) history.replaceState(history.state, "", path);
  else history.pushState(null, "", path);
  dispatchEvent(new CustomEvent("location-changed", { detail: { replace } }));
}
