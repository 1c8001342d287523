const MAX_NOTES = 3

/** Collects the parts of an object that could not be read. */
export class Notes {
  readonly #sentences = new Set<string>()

  add(sentence: string): void {
    if (this.#sentences.size < MAX_NOTES) this.#sentences.add(sentence)
  }

  get text(): string | null {
    return this.#sentences.size === 0 ? null : [...this.#sentences].join(' ')
  }
}
