/**
 * Rows in an order, of which some are taken. A taken row stays taken, so that finding the first free one takes few steps, however many
 * are taken.
 */
export class FreeRows<Row extends { id: string }> {
  readonly rows: readonly Row[]
  /** Where the first row that may be free is, by the position of a taken one. */
  readonly #skips = new Map<number, number>()

  constructor(rows: readonly Row[]) {
    this.rows = rows
  }

  /** The first row from this position on whose id is not taken. */
  findFirst(taken: ReadonlySet<string>, from = 0): Row | undefined {
    let position = from
    while (taken.has(this.rows[position]?.id ?? '')) position = this.#after(position)
    for (let passed = from; passed < position; ) {
      const next = this.#after(passed)
      this.#skips.set(passed, position)
      passed = next
    }
    return this.rows[position]
  }

  #after(position: number): number {
    return this.#skips.get(position) ?? position + 1
  }
}
