// Counts the findings of the checkers of the vendors' descriptions by kind.
import { judge } from './judged.mjs'

/** Collects findings. `side` is `request` for what an adapter sends, `response` for what a fake returns. */
export class Findings {
  #counts = new Map()
  /** False while an exchange is checked whose request a test sent by itself. */
  isOwnRequest = true

  add(side, where, what, example = '') {
    if (side === 'request' && !this.isOwnRequest) return
    const text = shortText(example)
    const reason = judge({ side, where, what, example: text })
    const key = JSON.stringify([side, where, what, reason])
    const found = this.#counts.get(key) ?? { side, where, what, reason, count: 0, example: text }
    found.count += 1
    this.#counts.set(key, found)
  }

  list() {
    return [...this.#counts.values()].sort((left, right) => orderKey(left).localeCompare(orderKey(right)))
  }
}

function orderKey({ side, where, what }) {
  return `${side} ${where} ${what}`
}

function shortText(example) {
  const text = typeof example === 'string' ? example : JSON.stringify(example)
  return (text ?? '').slice(0, 160)
}

/** Undefined for a text that is not JSON. */
export function parseJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
