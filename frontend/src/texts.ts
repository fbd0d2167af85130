/** Texts in the person's language, and dates, times and numbers as they are written in it. */
import type { CommandError, Hass } from "./hass";

type Values = Record<string, string | number>;

/** What the page shows, and the errors that its commands end with. */
const CATEGORIES = ["config_panel", "exceptions"];
const UNKNOWN = "–";
const DOLLARS = { style: "currency", currency: "USD" } as const;
const PREFIX = "component.chatterbox.";

export class Texts {
  readonly language: string;
  private readonly clock: Intl.DateTimeFormat;
  private readonly dayAndClock: Intl.DateTimeFormat;
  private readonly days: Intl.DateTimeFormat;
  private readonly zone: { timeZone?: string };

  private constructor(
    hass: Hass,
    private readonly texts: Record<string, string>,
  ) {
    const { time_format, time_zone } = hass.locale;
    this.language = hass.language;
    this.zone = time_zone === "server" ? { timeZone: hass.config.time_zone } : {};
    const hours = time_format === "12" || time_format === "24" ? { hour12: time_format === "12" } : {};
    const time = { ...this.zone, ...hours, hour: "numeric", minute: "2-digit" } as const;
    const day = { ...this.zone, weekday: "short", day: "numeric", month: "short" } as const;
    this.clock = new Intl.DateTimeFormat(this.language, time);
    this.days = new Intl.DateTimeFormat(this.language, day);
    this.dayAndClock = new Intl.DateTimeFormat(this.language, { ...day, ...time });
  }

  /** Load the texts of the page in the language of the person who looks at it. */
  static async load(hass: Hass): Promise<Texts> {
    const loaded = CATEGORIES.map((category) =>
      hass.callWS<{ resources: Record<string, string> }>({
        type: "frontend/get_translations",
        language: hass.language,
        category,
        integration: ["chatterbox"],
      }),
    );
    return new Texts(hass, Object.assign({}, ...(await Promise.all(loaded)).map(({ resources }) => resources)));
  }

  /** Return a text such as `turn.title`, its placeholders replaced. */
  text(key: string, values: Values = {}): string {
    return this.filled(`config_panel.${key}`, values) ?? key;
  }

  /** Return the text of one of several values, or another one where it has none. */
  choice(group: string, value: string, none = value): string {
    return this.filled(`config_panel.${group}.${value}`) ?? none;
  }

  /** Return why something is not possible, by its key in `exceptions`. */
  reason(key: string, values: Values = {}): string | undefined {
    return this.filled(`exceptions.${key}.message`, values);
  }

  /** Return how a command failed, for a person. */
  failure(error: CommandError): string {
    const { code, message, translation_key, translation_placeholders } = error;
    const reason = translation_key ? this.reason(translation_key, translation_placeholders) : undefined;
    return reason ?? this.filled(`config_panel.error.${code}`, translation_placeholders) ?? message;
  }

  private filled(key: string, values: Values = {}): string | undefined {
    return this.texts[PREFIX + key]?.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
  }

  number(value: number, options?: Intl.NumberFormatOptions): string {
    return new Intl.NumberFormat(this.language, options).format(value);
  }

  /** Return milliseconds in a unit and precision that a person can use. */
  duration(ms: number | null): string {
    if (ms === null) return UNKNOWN;
    const [amount, unit, digits]: [number, string, number] =
      ms < 100 ? [ms, "ms", 0] : ms < 100_000 ? [ms / 1000, "s", ms < 10_000 ? 1 : 0] : [ms / 60_000, "min", 0];
    const rounded = this.number(amount, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return `${rounded}\u00a0${this.text(`unit.${unit}`)}`;
  }

  /** Return minutes and seconds, as on a clock. */
  countdown(seconds: number): string {
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  /** Return US dollars; small amounts keep two digits that count. */
  money(value: number | null): string {
    if (value === null) return UNKNOWN;
    const digits = value === 0 || value >= 1 ? 2 : value >= 0.01 ? 3 : 5;
    return this.number(value, { ...DOLLARS, minimumFractionDigits: 2, maximumFractionDigits: digits });
  }

  /** Return the US dollars of a month, in cents. */
  sum(value: number | null): string {
    if (value === null) return UNKNOWN;
    return value > 0 && value < 0.01 ? `< ${this.number(0.01, DOLLARS)}` : this.number(value, DOLLARS);
  }

  time(seconds: number): string {
    return this.clock.format(seconds * 1000);
  }

  day(seconds: number): string {
    return this.days.format(seconds * 1000);
  }

  /** Return day and time. */
  fullMoment(seconds: number): string {
    return this.dayAndClock.format(seconds * 1000);
  }

  /** Return the time, with the day in front unless that is today. */
  moment(seconds: number): string {
    return this.day(seconds) === this.day(Date.now() / 1000) ? this.time(seconds) : this.fullMoment(seconds);
  }

  /** Return a moment as an input of type `datetime-local` has it. */
  fieldOf(seconds: number): string {
    const format = new Intl.DateTimeFormat("sv", { ...this.zone, dateStyle: "short", timeStyle: "short" });
    return format.format(seconds * 1000).replace(" ", "T");
  }

  /** Return the moment that a person has entered, in the same zone. */
  ofField(field: string): number {
    const wall = Date.parse(`${field}Z`) / 1000;
    const offset = (at: number) => Date.parse(`${this.fieldOf(at)}Z`) / 1000 - Math.floor(at / 60) * 60;
    return wall - offset(wall - offset(wall));
  }
}
