export interface OpenElement {
  /** By which an end tag finds it. */
  name: string
  /** As written. */
  element: string
  startTag: string
}

/** The elements that are open, outermost first. Finds the innermost of a name without a search, because there may be many at each tag. */
export class OpenElements {
  readonly #all: OpenElement[] = []
  readonly #byName = new Map<string, number[]>()
  readonly #byElement = new Map<string, number[]>()

  get depth(): number {
    return this.#all.length
  }

  /** The element at this depth, `''` outside of all. */
  at(depth: number): string {
    return this.#all[depth]?.element ?? ''
  }

  /** -1 when none is open. */
  lastNamed(name: string): number {
    return this.#byName.get(name)?.at(-1) ?? -1
  }

  /** The innermost of these elements. -1 when none is open. */
  last(elements: readonly string[]): number {
    let last = -1
    for (const element of elements) last = Math.max(last, this.#byElement.get(element)?.at(-1) ?? -1)
    return last
  }

  push(opened: OpenElement): void {
    add(this.#byName, opened.name, this.depth)
    add(this.#byElement, opened.element, this.depth)
    this.#all.push(opened)
  }

  pop(): OpenElement | undefined {
    const popped = this.#all.pop()
    if (popped === undefined) return undefined
    this.#byName.get(popped.name)?.pop()
    this.#byElement.get(popped.element)?.pop()
    return popped
  }
}

function add(positions: Map<string, number[]>, name: string, depth: number): void {
  const depths = positions.get(name)
  if (depths === undefined) positions.set(name, [depth])
  else depths.push(depth)
}
