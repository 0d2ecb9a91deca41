// What a key asks for, and the commands that Python has not heard of yet.

const COMMANDS: Readonly<Record<string, string>> = {
  "]": "image+1",
  "[": "image-1",
  PageDown: "page+1",
  PageUp: "page-1",
  b: "step",
  Backspace: "step",
  ".": "class+1",
  ",": "class-1",
  "+": "T+1",
  "=": "T+1",
  "-": "T-1",
  "−": "T-1",
  p: "present",
};
const FIELDS = "input:not([type=checkbox], [type=radio], [type=button], [type=range]), textarea, select";

/** The command of a key as `keyOf` has it, undefined where it has none. */
export function commandOf(key: string): string | undefined {
  return Object.hasOwn(COMMANDS, key) ? COMMANDS[key] : undefined;
}

/** Whether a key belongs to what has the focus: a field that takes text, what says so, or a slider that pages. */
export function belongsToField(target: EventTarget | undefined, key: string, presenting: boolean): boolean {
  if (!(target instanceof Element)) return false;
  if ((target instanceof HTMLElement && target.isContentEditable) || target.matches(FIELDS)) return true;
  if (target.getAttribute("aria-keyshortcuts")?.split(" ").includes(key)) return true;
  // Clickers send Page Up and Page Down, and a speaker has mostly moved a slider before.
  return !presenting && key.startsWith("Page") && target.matches("input[type=range], [role=slider]");
}

/**
 * Commands that Python has not heard of yet, each with a number that only grows. One batch is on its way at a time, so
 * that a page is drawn between two presses; should nobody answer, all of them are sent again.
 */
export class Commands {
  /** Milliseconds after which nobody will answer. */
  static readonly PATIENCE = 4000;

  waiting: [number, string][] = [];
  private sent = 0;
  private sentAt = 0;
  private last = 0;

  add(command: string, now: number): void {
    this.waiting.push([Math.max(now, 1 + (this.waiting.at(-1)?.[0] ?? this.last)), command]);
  }

  /** Python has acknowledged all commands up to a number. */
  acknowledged(number: number): void {
    this.last = number;
    this.waiting = this.waiting.filter(([each]) => each > number);
  }

  /** Another page has begun: the one before may have heard what was sent while it was left, and nothing counts twice. */
  begun(): void {
    this.sent = this.last;
  }

  /** Whether Python has still to hear of a command that turns something about, and will be left with it turned. */
  turns(command: string): boolean {
    return this.waiting.filter(([, each]) => each === command).length % 2 === 1;
  }

  /** The batch to send at a time in milliseconds; null where there is none, or one is on its way. */
  due(now: number): [number, string][] | null {
    const youngest = this.waiting.at(-1);
    if (!youngest || (this.sent > this.last && now - this.sentAt < Commands.PATIENCE)) return null;
    [this.sent, this.sentAt] = [youngest[0], now];
    return this.waiting;
  }
}
