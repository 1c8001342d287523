import {
  BACKSLASH,
  CLOSE_LIST,
  COMMA,
  type JsonLimits,
  JsonScanner,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from './json-limits.ts'

export interface IncrementalJsonOptions {
  limits: JsonLimits
  /** Longer strings are cut to about this many characters of their JSON form. Unlimited by default. */
  maxString?: number | undefined
}

/** Elements are parsed together until their text has this length. */
const GROUP_LENGTH = 64 * 1024
/** Values that are parsed without a pause: one group, or everything outside the lists. */
const GROUP_VALUES = 50_000

/**
 * Parses a JSON text while it arrives, with the result of `JSON.parse`. The elements of lists in the outermost object, which are
 * nearly all of a provider's page, are parsed in groups: the text is never held complete, no call takes long, and a limit is
 * noticed as soon as it is exceeded. Every method throws when the text is not JSON or exceeds a limit.
 */
export class IncrementalJson {
  readonly #scanner: JsonScanner
  readonly #maxString: number
  /** The text outside the lists, with the index of each list in its place. */
  #outside = ''
  readonly #lists: unknown[][] = []
  /** The list that is being read, and the text of its elements that are not parsed yet. */
  #list: unknown[] | undefined
  #elements = ''
  #isObject = false
  /** Values of the text when the group began, and those in all groups before. */
  #valuesBefore = 0
  #valuesInLists = 0
  /** Where the content of the string in progress begins in `#pending`. */
  #stringAt = 0
  #isCut = false

  constructor({ limits, maxString = Number.POSITIVE_INFINITY }: IncrementalJsonOptions) {
    this.#scanner = new JsonScanner(limits)
    this.#maxString = maxString
  }

  /** Reads the next chunk of the text. */
  write(text: string): void {
    let from = 0
    const take = (to: number) => {
      this.#append(text.slice(from, to))
      from = to
    }
    const exceeded = this.#scanner.scan(text, (code, at) => {
      const { depth, isInString } = this.#scanner
      if (code === QUOTE) {
        const position = this.#pendingLength + at - from
        if (isInString) this.#stringAt = position + 1
        else if (this.#isCut) from = at
        else if (position - this.#stringAt > this.#maxString) {
          take(at)
          this.#cut()
        }
        if (!isInString) this.#isCut = false
      } else if (code === OPEN_OBJECT && depth === 1) {
        this.#isObject = true
      } else if (code === OPEN_LIST && depth === 2 && this.#isObject && this.#list === undefined) {
        take(at + 1)
        this.#outside += this.#lists.length
        this.#list = []
        this.#valuesBefore = this.#scanner.values
      } else if (this.#list !== undefined && code === COMMA && depth === 2) {
        if (this.#elements.length + at - from < GROUP_LENGTH) return
        take(at)
        this.#parseGroup(this.#list, true)
        from = at + 1
      } else if (this.#list !== undefined && code === CLOSE_LIST && depth === 1) {
        take(at)
        this.#parseGroup(this.#list, this.#list.length > 0)
        this.#lists.push(this.#list)
        this.#list = undefined
      }
    })
    if (exceeded !== undefined) throw limitError(exceeded)
    if (!this.#isCut) take(text.length)
    if (this.#scanner.isInString && !this.#isCut && this.#pendingLength - this.#stringAt > this.#maxString) {
      this.#cut()
      this.#isCut = true
    }
  }

  /** The parsed value; undefined when there was no text. */
  end(): unknown {
    if (this.#outside === '') return undefined
    if (this.#scanner.values - this.#valuesInLists > GROUP_VALUES) throw limitError('values')
    const value: unknown = JSON.parse(this.#outside)
    if (!this.#isObject || typeof value !== 'object' || value === null) return value
    for (const member of Object.values(value)) {
      if (!Array.isArray(member)) continue
      const elements = this.#lists[member.pop()] ?? []
      for (const element of elements) member.push(element)
    }
    return value
  }

  get #pendingLength(): number {
    return this.#list === undefined ? this.#outside.length : this.#elements.length
  }

  #append(text: string): void {
    if (this.#list === undefined) this.#outside += text
    else this.#elements += text
  }

  #cut(): void {
    const pending = this.#list === undefined ? this.#outside : this.#elements
    const kept = pending.slice(0, endOfCharacters(pending, this.#stringAt, this.#stringAt + this.#maxString))
    if (this.#list === undefined) this.#outside = kept
    else this.#elements = kept
  }

  #parseGroup(list: unknown[], mustHaveElements: boolean): void {
    const values = this.#scanner.values - this.#valuesBefore
    if (values > GROUP_VALUES) throw limitError('values')
    const elements: unknown[] = JSON.parse(`[${this.#elements}]`)
    if (mustHaveElements && elements.length === 0) throw new SyntaxError('the JSON text lacks an element')
    for (const element of elements) list.push(element)
    this.#elements = ''
    this.#valuesBefore = this.#scanner.values
    this.#valuesInLists += values
  }
}

function limitError(exceeded: keyof JsonLimits): Error {
  return new Error(`the response exceeds the limit of ${exceeded}`)
}

/** The last position until `end` that is not within an escape sequence (two or six characters) of the string that begins at `start`. */
function endOfCharacters(text: string, start: number, end: number): number {
  const last = text.lastIndexOf('\\', end - 1)
  if (last < Math.max(start, end - 5)) return end
  let run = 1
  while (last - run >= start && text.charCodeAt(last - run) === BACKSLASH) run += 1
  const length = text[last + 1] === 'u' ? 6 : 2
  return run % 2 === 1 && last + length > end ? last : end
}
