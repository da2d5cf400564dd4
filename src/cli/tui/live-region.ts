/** The part of a terminal's stream that `LiveRegion` needs. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

export interface LiveRows {
  /** None may be wider than the screen. */
  readonly rows: readonly string[];
  /** The row, and the cells before the cursor. */
  readonly cursor: { readonly row: number; readonly column: number };
}

const beginFrame = "\x1b[?2026h\x1b[?25l";
const endFrame = "\x1b[?25h\x1b[?2026l";

/**
 * The last rows of a terminal, drawn again and again, with everything that is printed for good above them. The terminal's own screen is
 * used: what was printed can be scrolled and selected as usual. Memory does not grow with what is printed.
 */
export class LiveRegion {
  readonly #screen: Screen;
  #drawn: LiveRows = { rows: [], cursor: { row: 0, column: 0 } };
  #columns: number;
  #rows: number;
  /** The last printed row has a text. */
  #hasText = false;

  constructor(screen: Screen) {
    this.#screen = screen;
    this.#columns = screen.columns;
    this.#rows = screen.rows;
  }

  /** Prints rows above, never two empty ones, and draws the live rows anew. Writes nothing if nothing would change. */
  draw(live: LiveRows, rowsToPrint: readonly string[] = []): void {
    const before = this.#drawn;
    const printed = this.#spaced(rowsToPrint);
    if (printed.length === 0 && !this.#isResized && isSame(before, live)) return;
    const above = printed.map((row) => `${row}\x1b[K\r\n`).join("");
    const rows = live.rows.map((row) => `${row}\x1b[K`).join("\r\n");
    const up = live.rows.length - 1 - live.cursor.row;
    const cursor = `\r${up > 0 ? `\x1b[${up}A` : ""}${live.cursor.column > 0 ? `\x1b[${live.cursor.column}C` : ""}`;
    this.#screen.write(`${beginFrame}${this.#toTop()}${above}${rows}\x1b[J${cursor}${endFrame}`);
    this.#drawn = live;
    this.#keepSize();
  }

  /** Erases the live rows; the cursor stands where they began. */
  erase(): void {
    this.#screen.write(`${this.#toTop()}\x1b[J`);
    this.forget();
  }

  /** Takes the live rows for gone: another program has used the terminal. */
  forget(): void {
    this.#drawn = { rows: [], cursor: { row: 0, column: 0 } };
    this.#keepSize();
  }

  #keepSize(): void {
    this.#columns = this.#screen.columns;
    this.#rows = this.#screen.rows;
  }

  get #isResized(): boolean {
    return this.#columns !== this.#screen.columns || this.#rows !== this.#screen.rows;
  }

  #spaced(rows: readonly string[]): readonly string[] {
    return rows.filter((row) => {
      const isKept = row !== "" || this.#hasText;
      this.#hasText = row !== "";
      return isKept;
    });
  }

  /**
   * Moves to the first live row. Terminals that change their size break rows, join them, or cut them off, each in its own way, and some
   * leave the cursor at another row: then nothing says how far up the live rows begin, and those above the cursor stay. A step too
   * far would erase what was printed.
   */
  #toTop(): string {
    const above = this.#isResized ? 0 : this.#drawn.cursor.row;
    return `\r${above > 0 ? `\x1b[${above}A` : ""}${this.#isResized ? "\x1b[J" : ""}`;
  }
}

function isSame(one: LiveRows, other: LiveRows): boolean {
  return (
    one.cursor.row === other.cursor.row &&
    one.cursor.column === other.cursor.column &&
    one.rows.length === other.rows.length &&
    one.rows.every((row, index) => row === other.rows[index])
  );
}
