import type { Json } from '../../../src/platform/http/openapi/components.ts'

/**
 * The differences in shape between an example and a JSON response: members and types. Values may differ, and null equals any
 * type, because times and counts differ between two runs. Each item of a list needs an item of its shape.
 */
export function shapeDifferences(example: Json | undefined, actual: Json | undefined, path = 'body'): string[] {
  if (example === null || actual === null) return []
  if (Array.isArray(example) && Array.isArray(actual)) {
    return example.flatMap((item, index) => {
      const tried = actual.map((other) => shapeDifferences(item, other, `${path}.${index}`))
      if (tried.some((differences) => differences.length === 0)) return []
      return tried[index] ?? tried[0] ?? [`${path}.${index}: the response has no item of this shape`]
    })
  }
  if (isObject(example) && isObject(actual)) {
    const names = [...new Set([...Object.keys(example), ...Object.keys(actual)])]
    return names.flatMap((name) => {
      if (!(name in actual)) return [`${path}.${name}: only in the example`]
      if (!(name in example)) return [`${path}.${name}: only in the response`]
      return shapeDifferences(example[name], actual[name], `${path}.${name}`)
    })
  }
  return typeof example === typeof actual
    ? []
    : [`${path}: ${describe(example)} in the example, ${describe(actual)} now`]
}

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The differences between two texts, except for ids, numbers, and the words of pages. "…" matches any text, also its white space. */
export function textDifferences(example: string, actual: string): string[] {
  const text = comparable(actual)
  let at = 0
  for (const part of comparable(example).split(/\s*…\s*/)) {
    const found = text.indexOf(part, at)
    if (found === -1) return [`the response has no ${JSON.stringify(part)} after ${JSON.stringify(text.slice(0, at))}`]
    at = found + part.length
  }
  return []
}

function comparable(text: string): string {
  const isPage = text.startsWith('<!doctype html>')
  return (isPage ? text.replaceAll(/>[^<>…]+</g, '><') : text)
    .replaceAll(/\b([a-z]{3})_[0-9a-z]{16,26}\b/g, '$1_')
    .replaceAll(/\d+/g, '0')
}

function describe(value: Json | undefined): string {
  return value === undefined ? 'nothing' : Array.isArray(value) ? 'a list' : typeof value
}
