/** Where a command writes: one call, one line. */
export interface Terminal {
  out(text: string): void
  error(text: string): void
}
