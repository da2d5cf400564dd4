/** Which files a call of a worker takes. */
export interface AttachmentPolicy {
  readonly maxAttachments: number;
  readonly maxTotalBytes: number;
  /** Lower-case with the dot; empty: any. */
  readonly allowedSuffixes: readonly string[];
  readonly deniedSuffixes: readonly string[];
  /** Globs of media types; empty: any. */
  readonly mediaTypes: readonly string[];
}
