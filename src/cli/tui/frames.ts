/** At most so many frames are drawn: 20 a second. In milliseconds. */
const betweenFrames = 50;

/** Draws a frame after it was woken, and never more often than its span: what comes in between is in the same frame. */
export class Frames {
  readonly #draw: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  wake(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#draw();
    }, betweenFrames);
  }

  /** Drops the frame that is due: its content was drawn already, or is not wanted any more. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
