/** What the page sends to the WebSocket commands `chatterbox/…`, and what it reads of their results. `_at` is in Unix seconds, `_ms` in milliseconds. */

export interface Named {
  id: string;
  name: string;
}

/** `chatterbox/page` */
export interface PageInfo {
  is_admin: boolean;
  /** Whether people who are no administrators see the page. */
  everyone: boolean;
  agents: Named[];
  people: Named[];
  /** Satellites, by the id of their device. */
  places: Named[];
  /** Whether any agent stores conversations. */
  keeps_history: boolean;
}

/** An event of `chatterbox/now/subscribe` */
export interface Now {
  agents: AgentNow[];
  questions: WaitingQuestion[];
  plans: Plan[];
  /** The stored files that cannot be read, such as `later`. */
  unreadable: string[];
  /** Since when guest mode is on; null while it is off. */
  guests_since: number | null;
}

export interface AgentNow {
  id: string;
  name: string;
  state: "ok" | "failing" | "down" | "key" | "credit" | "model_gone" | "budget" | "offline" | "not_loaded";
  since_at: number | null;
  /** Who answers in its place. */
  stands_in: string | null;
  /** What helps, as a sentence. */
  detail: string;
  turns_today: number | null;
  usual_wait_ms: number | null;
  /** In US dollars, as all costs; null where a price is unknown. */
  cost_month: number | null;
}

/** Names of the agent that had a turn, of the person who spoke, and of the satellite. */
export interface Origin {
  agent: string;
  person: string | null;
  place: string | null;
}

export interface WaitingQuestion extends Origin {
  id: string;
  text: string;
  /** The request that led to it. */
  words: string;
  expires_at: number;
  needs_pin: boolean;
  calls: { sentence: string }[];
  /** Null where the person may say yes; otherwise the reason against it. */
  may_answer: string | null;
  who: "control" | "admin";
  turn_id: string | null;
}

export interface Plan extends Origin {
  id: string;
  kind: "act" | "routine" | "remind" | "tell";
  text: string;
  due_at: number | null;
  every: string;
  /** How it comes again, in words; empty if it does not. */
  repeats: string;
  condition: string | null;
  /** Whether the person may change its time. */
  can_change: boolean;
  can_rename: boolean;
  can_cancel: boolean;
  can_automate: boolean;
}

export type TurnKind = "failed" | "slow" | "asked";

export interface TurnList {
  turns: TurnRow[];
  /** Continues after the last of them; null at the end. */
  next: string | null;
  /** Null where a list is continued. */
  total: number | null;
  /** Names of the databases that cannot be read now, whose turns are missing. */
  unreachable: string[];
}

export interface TurnRow extends Origin {
  id: string;
  at: number;
  /** The automation that spoke. */
  caller: string | null;
  agent_id: string;
  words: string;
  answer: string;
  duration_ms: number;
  first_words_ms: number | null;
  marks: Mark[];
}

export interface Mark {
  kind: "changed" | "asked" | "stood_in" | "cut_short" | "not_done" | "failed" | "outside";
  text: string;
}

/** `chatterbox/turns/get` */
export interface Turn extends TurnRow {
  words_full: string;
  answer_full: string;
  /** Why the words are not shown. */
  withheld: "pin" | "refused" | null;
  /** What the model was told of that moment. */
  context: string;
  phases: { phase: string; at_ms: number }[];
  inferences: Inference[];
  tools: ToolTime[];
  handovers: { at_ms: number; to: string; reason: string }[];
  calls: Call[];
  changes: Change[];
  usage: { input_tokens: number; cached_tokens: number; output_tokens: number };
  cost: number | null;
  /** Tools that brought text from outside the home. */
  outside: string[];
  previous: string | null;
  next: string | null;
}

export interface Inference {
  began_ms: number;
  /** From `began_ms`. */
  first_token_ms: number | null;
  duration_ms: number | null;
  answered_by: string;
  input_tokens: number | null;
  cached_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
}

export interface ToolTime {
  name: string;
  began_ms: number | null;
  duration_ms: number | null;
  is_error: boolean | null;
}

export interface Call {
  id: string;
  name: string;
  sentence: string;
  arguments: object;
  result: unknown;
  is_error: boolean;
  has_run: boolean;
  is_outside: boolean;
}

export interface Change {
  tool_call_id: string | null;
  message: string;
  verdict: string | null;
  decided_by: string[];
  answered_by: string | null;
  error: string;
  /** The rules of the home that decided, in plain words. */
  rules: string[];
}

/** In the order of their strictness. */
export type Verdict = "allow" | "ask" | "pin" | "deny";

/** The conditions of a rule that are lists. */
export type Condition =
  "entities" | "areas" | "domains" | "actions" | "device_classes" | "labels" | "users" | "devices" | "tools";

/** A rule of the home as it is stored: all given conditions hold, each by any of its values. */
export type Rule = { verdict: Verdict; window?: { after: string; before: string } } & {
  [name in Condition]?: string[];
};

export interface WrittenRule {
  rule: Rule;
  text: string;
  /** Whether it is one of those for the uses of the PIN, which are chosen together. */
  is_of_pin: boolean;
}

export type PinUse = "unlock" | "open" | "disarm";

/** `chatterbox/permissions/get`, and the result of each change */
export interface Permissions {
  /** A change names the version that it is one of. */
  version: string;
  /** Whether the stored rules cannot be read, so that agents change nothing. */
  locked: boolean;
  has_pin: boolean;
  pin_uses: PinUse[];
  rules: WrittenRule[];
  /** Those that come after them. */
  defaults: WrittenRule[];
  choices: Record<Condition | "verdicts", Named[]>;
  /** The names of the verdict and of the conditions. */
  fields: Record<string, string>;
}

/** `chatterbox/permissions/devices` */
export interface Devices {
  total: number;
  /** The strictest first. */
  rows: Device[];
  /** Areas with devices with which everything is allowed, and how many. */
  rooms: { area: string; count: number }[];
}

export interface Device {
  entity_id: string;
  name: string;
  area: string;
  verdict: Verdict;
  /** Names of the first actions with the verdict. */
  actions: string[];
  more_actions: number;
  why: "nothing" | "rule" | "default" | "source" | "unknown";
  rule: number | null;
  /** The verdict of the rule for this device alone. */
  chosen: Verdict | null;
}

/** `chatterbox/permissions/try` */
export interface Trial {
  text: string;
  calls: TriedCall[];
}

export interface TriedCall {
  sentence: string;
  tool: string;
  outcome: "runs" | "planned" | "held" | "refused" | "fails";
  verdict: Verdict;
  why: string;
  rules: number[];
}
