import { EnvelopeReader, type MessageEnvelope } from "./message-envelope.ts";

/** Bytes of one message. A worker takes 10 MB of attachments unless it says more, which base64 makes a third larger. */
export const longestLine = 32 * 1024 * 1024;

const newline = 0x0a;

export interface LineBounds {
  /** Sends an answer to the client: one line. */
  readonly answer: (line: string) => void;
  readonly onNote: (note: string) => void;
}

/**
 * Yields the lines of a client, each whole and in one piece: the libraries of the protocols join pieces in quadratic time, and end the
 * connection at a line that is too long. Such a line is skipped in bounded memory, and its request is answered by an error. A reply that
 * is too long becomes a failed reply, so that its question does not stay open.
 */
export async function* boundLines(input: AsyncIterable<Uint8Array>, bounds: LineBounds): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let skipped: EnvelopeReader | undefined;
  const take = (piece: Uint8Array) => {
    size += piece.length;
    if (!skipped && size <= longestLine) return void pieces.push(piece);
    if (!skipped) {
      skipped = new EnvelopeReader();
      for (const earlier of pieces) skipped.read(earlier);
      pieces = [];
      bounds.onNote(`a message of the client has more than ${longestLine} bytes: it is left out`);
    }
    skipped.read(piece);
  };
  const end = (): Uint8Array | undefined => {
    const line = skipped ? refuse(skipped.envelope(), bounds) : Buffer.concat(pieces);
    pieces = [];
    size = 0;
    skipped = undefined;
    return line;
  };
  for await (const chunk of input) {
    let from = 0;
    for (let to = chunk.indexOf(newline); to >= 0; to = chunk.indexOf(newline, from)) {
      take(chunk.subarray(from, to + 1));
      from = to + 1;
      const line = end();
      if (line) yield line;
    }
    if (from < chunk.length) take(chunk.subarray(from));
  }
}

/** Answers a request. Returns the line that stands for a reply; undefined for all else. */
function refuse({ id, isReply }: MessageEnvelope, { answer }: LineBounds): Uint8Array | undefined {
  if (id === undefined) return undefined;
  const error = { code: -32600, message: `the message has more than ${longestLine} bytes` };
  const line = `${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`;
  if (isReply) return Buffer.from(line);
  answer(line);
  return undefined;
}
